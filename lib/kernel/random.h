// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/random.h: the seed of the process, for who has to say how to repeat something.
#pragma once

#include <linux/types.h>

namespace kmirror::kernel {

// KMIRROR_SEED, or what was drawn in its place. Any context; the first call may read the environment.
u64 process_seed();

}  // namespace kmirror::kernel
