// SPDX-License-Identifier: GPL-2.0-only
//
// will-it-scale's mmap2 in process mode: each task maps 128 MiB of a file and unmaps it, in an address space of its own.
//
// What of it meets others is here as it is in lib/mm: the search for a gap, a vm_area_struct from its cache, the two
// stores into the tree, each of which replaces a leaf. The layout is fixed, that of `kmirror contention`:
// kNeighbours mappings with gaps, which nothing merges with. The rest of the two system calls is costs.mmap_base.
//
// Owns     the cache of mappings; an address space for each task.
// Locking  an address space is its task's, behind a semaphore as mmap_lock.
// Fails    a call that does not give what it should.
#include "lib/sim/load/load.h"

#include <linux/maple_tree.h>
#include <linux/rwsem.h>
#include <linux/slab.h>

namespace kmirror::sim {
namespace {

constexpr unsigned long kMiB = 1ul << 20, kPage = 4096;
constexpr unsigned long kMemory = 128 * kMiB;
constexpr unsigned kNeighbours = 20;
constexpr unsigned long kNeighbourSize = 64 * kPage, kGap = 4 * kPage;
constexpr unsigned long kLowest = 0x10000, kTop = 0x7ffff7fff000;
constexpr unsigned kHalf = 512;

// As large as the kernel's, which has a few more fields in its four lines.
struct Area {
    unsigned long start, end;
    void *space;
    unsigned long protection, flags;
    unsigned long page_offset;
    void *file;
    unsigned long rest[17];
};
static_assert(sizeof(Area) == 192);

struct Space {
    maple_tree tree;
    rw_semaphore lock;
    unsigned long areas, pages;
};

kmem_cache *area_cache;

void prepare(int)
{
    kmem_cache_args args = {};
    args.use_freeptr_offset = true;
    args.freeptr_offset = __builtin_offsetof(Area, start);
    args.sheaf_capacity = 32;
    area_cache = kmem_cache_create("vm_area_struct", sizeof(Area), &args,
                                   SLAB_HWCACHE_ALIGN | SLAB_TYPESAFE_BY_RCU | SLAB_NO_MERGE);
    maple_tree_init();
}

void fill(Area *area, Space *space, unsigned long start, unsigned long size)
{
    for (unsigned long &word : area->rest)
        word = 0;
    area->start = start;
    area->end = start + size;
    area->space = space;
    area->protection = 3;
    area->flags = 0x73;
    area->page_offset = 0;
    area->file = space;
}

bool put(Space *space, ma_state *mas, unsigned long start, unsigned long size)
{
    Area *area = static_cast<Area *>(kmem_cache_alloc(area_cache, GFP_KERNEL));
    if (!area)
        return false;
    fill(area, space, start, size);
    mas_set_range(mas, start, start + size - 1);
    if (mas_preallocate(mas, area, GFP_KERNEL)) {
        kmem_cache_free(area_cache, area);
        return false;
    }
    mas_store_prealloc(mas, area);
    space->areas++;
    space->pages += size / kPage;
    return true;
}

bool map(Space *space, unsigned long &start)
{
    MA_STATE(mas, &space->tree, 0, 0);
    down_write(&space->lock);
    bool fine = mas_empty_area_rev(&mas, kLowest, kTop - 1, kMemory) == 0;
    start = mas.last + 1 - kMemory;
    fine = fine && put(space, &mas, start, kMemory);
    up_write(&space->lock);
    return fine;
}

bool unmap(Space *space, unsigned long start)
{
    MA_STATE(mas, &space->tree, start, start);
    down_write(&space->lock);
    Area *area = static_cast<Area *>(mas_find(&mas, start));
    bool fine = area && area->start == start && area->space == space;
    if (fine) {
        mas_set_range(&mas, area->start, area->end - 1);
        fine = mas_store_gfp(&mas, nullptr, GFP_KERNEL) == 0;
        space->areas--;
        space->pages -= (area->end - area->start) / kPage;
        kmem_cache_free(area_cache, area);
    }
    up_write(&space->lock);
    return fine;
}

void *begin(unsigned, std::uint64_t)
{
    auto *space = static_cast<Space *>(kzalloc(sizeof(Space), GFP_KERNEL));
    if (!space)
        return nullptr;
    init_rwsem(&space->lock);
    mt_init_flags(&space->tree, MT_FLAGS_ALLOC_RANGE | MT_FLAGS_LOCK_EXTERN | MT_FLAGS_USE_RCU);
    mt_set_external_lock(&space->tree, &space->lock);
    down_write(&space->lock);
    unsigned long at = kTop - kNeighbours * (kNeighbourSize + kGap);
    bool fine = true;
    for (unsigned i = 0; i < kNeighbours; i++, at += kNeighbourSize + kGap) {
        MA_STATE(mas, &space->tree, 0, 0);
        fine = fine && put(space, &mas, at, kNeighbourSize);
    }
    up_write(&space->lock);
    return fine ? space : nullptr;
}

bool iterate(void *state)
{
    auto *space = static_cast<Space *>(state);
    unsigned long start = 0;
    if (!map(space, start))
        return false;
    kmirror_sim_spend_base(kHalf);
    const bool fine = unmap(space, start);
    kmirror_sim_spend_base(kHalf);
    return fine;
}

unsigned end(void *state)
{
    auto *space = static_cast<Space *>(state);
    unsigned areas = 0;
    down_write(&space->lock);
    MA_STATE(mas, &space->tree, 0, 0);
    void *entry;
    mas_for_each(&mas, entry, ~0ul)
    {
        kmem_cache_free(area_cache, entry);
        areas++;
    }
    __mt_destroy(&space->tree);
    up_write(&space->lock);
    kfree(space);
    return areas != kNeighbours;
}

unsigned long finish()
{
    kmem_cache_destroy(area_cache);
    return 0;
}

} // namespace

const Load kMmapLoad = {"mmap2", "mmap and munmap of 128 MiB of a file", prepare, begin, iterate, end, finish, 1};

} // namespace kmirror::sim
