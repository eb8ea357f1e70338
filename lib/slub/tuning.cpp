// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/tuning.cpp: the settings of tuning.h and where they come from.
//
// Owns     see tuning.h.
// Bounds   see kNumbers.
// Locking  see tuning.h.
// Fails    see tuning.h; a call with a value out of range changes nothing.
#include <linux/errno.h>

#include "lib/kernel/setting.h"
#include "lib/slub/tuning.h"

namespace kmirror::slub {

namespace {

struct Number {
    const char *variable;
    long most; // values are 0 to this
    long value;
};

constexpr long kUnset = -2; // not set by anybody yet

Number numbers[KMIRROR_SLAB_NR_NUMBERS] = {
    {"KMIRROR_SLAB_KEEP_SPARE", 1, kUnset},
    {"KMIRROR_SLAB_REMOTE_TRYLOCK", 1, kUnset},
    {"KMIRROR_SLAB_BARN_FULL", 10000, kUnset},
    {"KMIRROR_SLAB_BARN_EMPTY", 10000, kUnset},
    {"KMIRROR_SLAB_MIN_PARTIAL", 1000000, kUnset},
    {"KMIRROR_SLAB_CPU_PARTIAL", 1000000, kUnset},
    {"KMIRROR_SLAB_DEFRAG_RATIO", 1024, kUnset},
};

void number_init(Number &one)
{
    if (READ_ONCE(one.value) != kUnset)
        return;
    const u64 otherwise = (u64)one.most + 1;
    const u64 value = kernel::setting_u64(one.variable, 0, (u64)one.most, otherwise);
    WRITE_ONCE(one.value, value == otherwise ? kByRule : (long)value);
}

} // namespace

void tuning_init()
{
    for (Number &one : numbers)
        number_init(one);
}

long tuned(enum kmirror_slab_number which)
{
    return READ_ONCE(numbers[which].value);
}

bool anything_tuned()
{
    for (const Number &one : numbers)
        if (READ_ONCE(one.value) >= 0)
            return true;
    return false;
}

Generation tuned_generation()
{
    Generation generation = generation_row(generation_now());

    generation.keep_empty_spare = tuned_or(KMIRROR_SLAB_KEEP_SPARE, generation.keep_empty_spare);
    generation.remote_trylock = tuned_or(KMIRROR_SLAB_REMOTE_TRYLOCK, generation.remote_trylock);
    return generation;
}

} // namespace kmirror::slub

using namespace kmirror::slub;

long kmirror_slab_number(enum kmirror_slab_number which)
{
    if ((unsigned int)which >= KMIRROR_SLAB_NR_NUMBERS)
        return kByRule;
    number_init(numbers[which]);
    return tuned(which);
}

int kmirror_slab_set_number(enum kmirror_slab_number which, long value)
{
    if ((unsigned int)which >= KMIRROR_SLAB_NR_NUMBERS || value < kByRule || value > numbers[which].most)
        return -EINVAL;
    WRITE_ONCE(numbers[which].value, value);
    return 0;
}
