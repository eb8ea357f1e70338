// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/fault.h: what the fault points and the test harness share.
#pragma once

#include <linux/types.h>

struct kmem_cache;

namespace kmirror::fault {

// Raises (+1) or lowers (-1) the number of reasons to ask at the fault points. While it is 0 they cost one
// branch.
void arm(int change);

// Mock mode's answer for one object: runs an armed callback, then charges the budget. True: refuse.
bool harness_refuses(struct kmem_cache *s, gfp_t gfp);

}  // namespace kmirror::fault
