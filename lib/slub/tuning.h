// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/tuning.h: numbers that replace a rule for caches made from now on.
//
// Owns     the settings of enum kmirror_slab_number, each with its range and its variable.
// Bounds   see tuning.cpp; kByRule stands for "as the kernel does it".
// Locking  single words, read and set whole.
// Fails    a bad environment value ends the process with one line, see lib/kernel/setting.h.
#pragma once

#include "lib/slub/cache.h"

namespace kmirror::slub {

inline constexpr long kByRule = -1;

// Reads the environment, once, when the allocator starts; what was set by a call stays.
void tuning_init();

long tuned(enum kmirror_slab_number which);

// What is set, else what the rule says.
inline unsigned long tuned_or(enum kmirror_slab_number which, unsigned long rule)
{
    const long value = tuned(which);
    return value == kByRule ? rule : (unsigned long)value;
}

// Is any of them set? Then caches are not like those made before.
bool anything_tuned();

// The row of the process's generation, with what is set in place of its fields.
Generation tuned_generation();

} // namespace kmirror::slub
