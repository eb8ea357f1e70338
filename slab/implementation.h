// SPDX-License-Identifier: GPL-2.0-only
//
// Which allocator the tests of slab/, the stress and the command drive: this library's, unless the program is linked
// with another answer (tools/kdir/slub/under_test.c).
//
// Owns     nothing.
#pragma once

#include <kmirror/slab_ops.h>

extern "C" const slab_ops *kmirror_slab_ops_under_test(void);

namespace kmirror {

inline const slab_ops &slab_under_test() { return *kmirror_slab_ops_under_test(); }

} // namespace kmirror
