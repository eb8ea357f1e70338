// SPDX-License-Identifier: GPL-2.0-only
/* Puts the kernel tree's maple tree (implement, with the prefix kdir_) under the tests of radix-tree-tests. */
#include <kmirror/maple_ops.h>

const struct maple_ops *kdir_kmirror_maple_ops(void);
const struct maple_ops *kmirror_maple_ops_under_test(void);

const struct maple_ops *kmirror_maple_ops_under_test(void)
{
    return kdir_kmirror_maple_ops();
}
