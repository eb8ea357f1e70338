// SPDX-License-Identifier: GPL-2.0-only
/* Puts the kernel tree's allocator (implement-slab, with the prefix kdir_) under the tests of slab/. */
#include <kmirror/slab_ops.h>

const struct slab_ops *kdir_kmirror_slab_ops(void);
const struct slab_ops *kmirror_slab_ops_under_test(void);

const struct slab_ops *kmirror_slab_ops_under_test(void)
{
    return kdir_kmirror_slab_ops();
}
