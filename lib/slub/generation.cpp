// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/generation.cpp: the table of generation.h, and which row new caches get.
//
// Owns     see generation.h.
// Bounds   see generation.h.
// Locking  the choice is one word, read and set whole.
// Fails    a bad environment value ends the process with one line, see lib/kernel/setting.h.
#include <linux/compiler.h>
#include <linux/string.h>

#include "lib/kernel/setting.h"
#include "lib/slub/generation.h"

namespace kmirror::slub {

namespace {

constexpr int kUnset = -1;
int chosen = kUnset;

constexpr const char *kNames[KMIRROR_SLAB_NR_GENERATIONS] = {"cpu-slab", "cpu-slab+sheaves", "double",
                                                             "sheaves"};

constexpr Generation kRows[KMIRROR_SLAB_NR_GENERATIONS] = {
    {
        .number = KMIRROR_SLAB_CPU_SLAB,
        .cpu_slabs = true,
        .sheaves = SheafRule::none,
        .prefill = false,
        .rcu_sheaves = false,
        .refill_blocks = true,
        .keep_empty_spare = false,
        .remote_trylock = false,
        .reserves_kept_out = false,
        .mem_node_barn = true,
    },
    {
        .number = KMIRROR_SLAB_CPU_SLAB_SHEAVES,
        .cpu_slabs = true,
        .sheaves = SheafRule::asked,
        .prefill = false,
        .rcu_sheaves = false,
        .refill_blocks = true,
        .keep_empty_spare = false,
        .remote_trylock = false,
        .reserves_kept_out = false,
        .mem_node_barn = true,
    },
    {
        .number = KMIRROR_SLAB_DOUBLE,
        .cpu_slabs = true,
        .sheaves = SheafRule::asked,
        .prefill = true,
        .rcu_sheaves = true,
        .refill_blocks = true,
        .keep_empty_spare = false,
        .remote_trylock = false,
        .reserves_kept_out = false,
        .mem_node_barn = true,
    },
    {
        .number = KMIRROR_SLAB_SHEAVES,
        .cpu_slabs = false,
        .sheaves = SheafRule::all,
        .prefill = true,
        .rcu_sheaves = true,
        .refill_blocks = false,
        .keep_empty_spare = true,
        .remote_trylock = true,
        .reserves_kept_out = true,
        .mem_node_barn = false,
    },
};

} // namespace

const Generation &generation_row(enum kmirror_slab_generation which)
{
    return kRows[which];
}

void generation_init()
{
    if (READ_ONCE(chosen) == kUnset)
        WRITE_ONCE(chosen, kernel::setting_choice("KMIRROR_SLAB", kNames, KMIRROR_SLAB_NR_GENERATIONS,
                                                  KMIRROR_SLAB_SHEAVES));
}

enum kmirror_slab_generation generation_now()
{
    return static_cast<enum kmirror_slab_generation>(READ_ONCE(chosen));
}

} // namespace kmirror::slub

using namespace kmirror::slub;

const char *kmirror_slab_generation_name(int generation)
{
    return generation >= 0 && generation < KMIRROR_SLAB_NR_GENERATIONS ? kNames[generation] : nullptr;
}

int kmirror_slab_generation_by_name(const char *name)
{
    for (int generation = 0; generation < KMIRROR_SLAB_NR_GENERATIONS; generation++)
        if (strcmp(kNames[generation], name) == 0)
            return generation;
    return -1;
}

int kmirror_slab_set_generation(int generation)
{
    generation_init();
    const int before = READ_ONCE(chosen);
    if (kmirror_slab_generation_name(generation))
        WRITE_ONCE(chosen, generation);
    return before;
}
