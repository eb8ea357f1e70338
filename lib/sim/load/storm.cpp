// SPDX-License-Identifier: GPL-2.0-only
//
// The storm of `kmirror contention`: each task holds kLive objects of 256 bytes in shuffled order, frees kBurst of them at
// once and takes as many: slabs come and go from the partial lists.
//
// Owns     a cache; its objects are their task's.
// Locking  none of its own.
// Fails    an allocation, or an object that somebody else wrote to.
#include "lib/sim/load/load.h"

#include <linux/slab.h>
#include <linux/vmalloc.h>

namespace kmirror::sim {
namespace {

constexpr unsigned kSize = 256, kLive = 4096, kBurst = 2048;

struct Object {
    Object *self;
};

struct Hands {
    std::uint64_t random;
    unsigned at;      // of the burst
    bool taking;
    Object *objects[kLive];

    std::uint64_t draw(std::uint64_t below)
    {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        return (random >> 33) % below;
    }
};

kmem_cache *cache;

void prepare(int sheaf_capacity)
{
    kmem_cache_args args = {};
    args.sheaf_capacity = sheaf_capacity < 0 ? 32 : static_cast<unsigned>(sheaf_capacity);
    cache = kmem_cache_create("stress_256", kSize, &args, SLAB_HWCACHE_ALIGN | SLAB_NO_MERGE);
}

bool take(Hands *hands, unsigned slot)
{
    auto *object = static_cast<Object *>(kmem_cache_alloc(cache, GFP_KERNEL));
    hands->objects[slot] = object;
    if (!object)
        return false;
    object->self = object;
    return true;
}

bool give(Hands *hands, unsigned slot)
{
    Object *object = hands->objects[slot];
    hands->objects[slot] = nullptr;
    if (!object)
        return false;
    const bool fine = object->self == object;
    kmem_cache_free(cache, object);
    return fine;
}

void swap(Hands *hands, unsigned a, unsigned b)
{
    Object *const kept = hands->objects[a];
    hands->objects[a] = hands->objects[b];
    hands->objects[b] = kept;
}

void *begin(unsigned, std::uint64_t seed)
{
    auto *hands = static_cast<Hands *>(kmalloc(sizeof(Hands), GFP_KERNEL));
    if (!hands)
        return nullptr;
    hands->random = seed * 2862933555777941757ull + 3037000493ull;
    hands->at = 0;
    hands->taking = false;
    for (unsigned i = 0; i < kLive; i++)
        if (!take(hands, i))
            return nullptr;
    for (unsigned i = kLive - 1; i != 0; i--)
        swap(hands, i, static_cast<unsigned>(hands->draw(i + 1)));
    return hands;
}

// Other objects the next time.
void shuffle(Hands *hands)
{
    for (unsigned i = 0; i < kBurst; i++)
        swap(hands, i, i + static_cast<unsigned>(hands->draw(kLive - i)));
}

bool step(Hands *hands)
{
    const bool fine = hands->taking ? take(hands, hands->at) : give(hands, hands->at);
    if (++hands->at < kBurst)
        return fine;
    hands->at = 0;
    hands->taking = !hands->taking;
    if (!hands->taking)
        shuffle(hands);
    return fine;
}

// 2048 frees in a row, then 2048 allocations: two steps an iteration make one of each on average.
bool iterate(void *state)
{
    auto *hands = static_cast<Hands *>(state);
    return step(hands) && step(hands);
}

unsigned end(void *state)
{
    auto *hands = static_cast<Hands *>(state);
    unsigned wrong = 0;
    for (unsigned i = 0; i < kLive; i++)
        if (hands->objects[i])
            wrong += !give(hands, i);
    kfree(hands);
    return wrong;
}

unsigned long finish()
{
    kmem_cache_destroy(cache);
    return 0;
}

} // namespace

const Load kStormLoad = {"list_lock_storm", "an object freed into a random slab and one allocated",
                         prepare, begin, iterate, end, finish, 1};

} // namespace kmirror::sim
