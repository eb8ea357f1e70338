// SPDX-License-Identifier: GPL-2.0-only
//
// The answer of slab/implementation.h for a program without another one.
//
// Owns     nothing.
#include "slab/implementation.h"

extern "C" [[gnu::weak]] const slab_ops *kmirror_slab_ops_under_test(void)
{
    return kmirror_slab_ops();
}
