// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/switches.h: settings that decide how caches are made from now on.
//
// Owns     the on/off switches and the sheaf capacity of <kmirror/slab_info.h>.
// Bounds   a sheaf capacity of 0 to kSheafCapacityMax.
// Locking  single words, read and set whole; a cache that is being made while one is
//          changed has either value.
// Fails    a bad environment value ends the process with one line, see lib/kernel/setting.h.
#pragma once

#include <linux/compiler.h>
#include <kmirror/slab_info.h>

namespace kmirror::slub {

inline constexpr unsigned int kSheafCapacityMax = 4096;

// Reads the environment, once, when the allocator starts; what was set by a call stays.
void switches_init();

struct Switch {
    const char *variable;
    signed char otherwise;
    signed char value; // -1: not set by anybody yet
};

extern Switch switches[KMIRROR_SLAB_NR_SWITCHES];

inline bool switch_on(enum kmirror_slab_switch which)
{
    return READ_ONCE(switches[which].value) > 0;
}

// The capacity all new caches get, or -1: each by its own rule.
int forced_sheaf_capacity();

} // namespace kmirror::slub
