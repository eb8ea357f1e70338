// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/generation.h: the four allocators in one, and where they differ.
//
//   generation        kernel           cpu slabs  sheaves        prefill  kfree_rcu()
//   cpu-slab          6.12, 6.17       yes        none           -        one by one
//   cpu-slab+sheaves  their first      yes        where asked    -        one by one
//                     commit
//   double            6.18, 6.19       yes        where asked    yes      in sheaves
//   sheaves           7.3              no         everywhere     yes      in sheaves
//
// Owns     the table of differences. A cache has a copy of its generation's row, in which
//          the switches of <kmirror/slab_info.h> may have replaced single fields.
// Bounds   what follows from cpu_slabs alone has no field: a cache with cpu slabs refills
//          its sheaves from them, all or nothing, and flushes sheaves into them.
// Locking  constant.
// Fails    never.
#pragma once

#include <kmirror/slab_info.h>

namespace kmirror::slub {

enum class SheafRule : unsigned char {
    none,
    asked, // caches created with a sheaf_capacity, which is taken as it is
    all    // every cache, size classes too, at least by a rule of its own
};

// What a generation does, each field named after it.
struct Generation {
    unsigned char number;    // enum kmirror_slab_generation
    bool cpu_slabs;          // a CPU's slab and chain of slabs, between sheaves and node lists
    SheafRule sheaves;
    bool prefill;            // prefilled sheaves are the CPUs' own; else one-off arrays
    bool rcu_sheaves;        // kfree_rcu() collects in sheaves; else one call_rcu() an object
    bool refill_blocks;      // only who may block fills a sheaf from slabs; else who may spin
    bool keep_empty_spare;   // a main sheaf found empty after a refill becomes the spare, if
                             // there is none; else it always goes to the barn
    bool remote_trylock;     // a refill only tries other nodes' list_lock
    bool reserves_kept_out;  // objects from emergency reserves stay out of sheaves
    bool mem_node_barn;      // a CPU without memory uses the barn of the nearest memory node,
                             // and has none of its own
};

const Generation &generation_row(enum kmirror_slab_generation which);

// Of caches created from now on.
enum kmirror_slab_generation generation_now();

// Reads KMIRROR_SLAB, once, unless a call has set the generation before.
void generation_init();

} // namespace kmirror::slub
