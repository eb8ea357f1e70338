// SPDX-License-Identifier: GPL-2.0-only
//
// Scenarios of the allocator. An object tells who has it: two owners, or an owner who did not write what is there, and
// the allocator gave it away twice. The mark is relaxed, so that it orders nothing; what is written into objects is
// plain, so that a missing order of the allocator's shows as a data race.
//
// Owns     the cache of one scenario at a time; what is in a mailbox is nobody's.
#include "lib/sim/scenario/scenario.h"

#include <kmirror/slab_info.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

namespace kmirror::sim {
namespace {

struct Object {
    unsigned owner;            // CPU + 1; 0: nobody's
    unsigned long words[7];
};
static_assert(sizeof(Object) == 64);

kmem_cache *cache;

// With a constructor the link of a free object lies behind it, and the mark stays.
void construct(void *memory) { static_cast<Object *>(memory)->owner = 0; }

void create(unsigned size)
{
    kmem_cache_args args = {};
    args.ctor = construct;
    args.sheaf_capacity = 4; // opts in, where sheaves are by wish
    cache = kmem_cache_create("explored", size, &args, SLAB_NO_MERGE);
    kmirror_slab_set_min_partial(cache, 0);
}

void prepare() { create(sizeof(Object)); }
// Two in a slab: it is full, partial and empty in turn.
void prepare_large() { create(15000); }

Object *take(unsigned cpu)
{
    auto *object = static_cast<Object *>(kmem_cache_alloc(cache, GFP_KERNEL));
    if (!object) {
        scenario_wrong("an allocation failed");
        return nullptr;
    }
    if (__atomic_exchange_n(&object->owner, cpu + 1, __ATOMIC_RELAXED) != 0)
        scenario_wrong("an object was given to two");
    object->words[0] = cpu;
    return object;
}

// `from`: who allocated it.
void give(Object *object, unsigned from)
{
    if (!object)
        return;
    if (object->words[0] != from)
        scenario_wrong("somebody else wrote into an object");
    if (__atomic_exchange_n(&object->owner, 0u, __ATOMIC_RELAXED) != from + 1)
        scenario_wrong("an object was freed by two");
    kmem_cache_free(cache, object);
}

// Everything is free: every list and counter agrees, and the cache can go.
void finish()
{
    if (kmirror_slab_validate(cache) != 0)
        scenario_wrong("lists and counters do not agree");
    kmem_cache_destroy(cache);
}

// Bursts longer than two sheaves: full and empty ones go to the barn and come back.
void bursts(unsigned cpu)
{
    constexpr unsigned kBurst = 40, kRounds = 2;
    Object *objects[kBurst];
    for (unsigned round = 0; round < kRounds; round++) {
        for (Object *&object : objects)
            object = take(cpu);
        for (unsigned i = 0; i < kBurst; i++)
            give(objects[(i * 7 + cpu) % kBurst], cpu);
    }
}

// Each object is freed by whoever comes next: slabs of one CPU are emptied by others.
Object *mailbox[2];

void pass_on(unsigned cpu)
{
    constexpr unsigned kPasses = 8;
    for (unsigned i = 0; i < kPasses; i++) {
        Object *const mine = take(cpu);
        Object *const theirs = __atomic_exchange_n(&mailbox[i % 2], mine, __ATOMIC_ACQ_REL);
        if (theirs)
            give(theirs, static_cast<unsigned>(theirs->words[0]));
        give(take(cpu), cpu);
    }
}

void finish_mailbox()
{
    for (Object *&left : mailbox) {
        if (left)
            give(left, static_cast<unsigned>(left->words[0]));
        left = nullptr;
    }
    finish();
}

// One CPU empties all others' sheaves and slabs while they work.
void shrink_or_work(unsigned cpu)
{
    if (cpu != 0) {
        pass_on(cpu);
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        kmem_cache_shrink(cache);
}

// ---- freed behind readers

struct Published {
    unsigned long magic;
    rcu_head rcu;
    unsigned long words[4];
};
constexpr unsigned long kMagic = 0x600dul;

Published *published;

Published *make()
{
    auto *object = static_cast<Published *>(kmem_cache_alloc(cache, GFP_KERNEL));
    if (!object)
        scenario_wrong("an allocation failed");
    else
        object->magic = kMagic;
    return object;
}

void prepare_published()
{
    cache = kmem_cache_create("explored_rcu", sizeof(Published), nullptr, SLAB_NO_MERGE);
    published = make();
}

void replace(unsigned)
{
    for (unsigned i = 0; i < 30; i++) {
        Published *const next = make();
        Published *const old = published;
        rcu_assign_pointer(published, next);
        kfree_rcu(old, rcu);
        // Whoever gets the old one's memory too early writes over it.
        Published *const other = make();
        other->magic = ~kMagic;
        kmem_cache_free(cache, other);
    }
}

void replace_or_read(unsigned cpu)
{
    if (cpu == 0) {
        replace(cpu);
        return;
    }
    for (unsigned i = 0; i < 8; i++) {
        rcu_read_lock();
        const Published *const seen = rcu_dereference(published);
        for (unsigned again = 0; again < 2; again++)
            if (seen->magic != kMagic)
                scenario_wrong("a reader saw memory that was freed");
        rcu_read_unlock();
    }
}

// A third CPU empties the sheaves of all, those that wait for readers too, and the slabs below.
void prepare_flushed()
{
    create(sizeof(Published));
    published = make();
}

void replace_read_or_flush(unsigned cpu)
{
    if (cpu != 2) {
        replace_or_read(cpu);
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        kmem_cache_shrink(cache);
}

// Nothing may be in two places when all callbacks have run.
void finish_flushed()
{
    kfree_rcu(published, rcu);
    kvfree_rcu_barrier();
    finish();
}

// With callbacks on their way.
void finish_published()
{
    kfree_rcu(published, rcu);
    kmem_cache_destroy(cache);
}

} // namespace

extern const Scenario kBarnScenario = {
    "barn", "bursts of 40 objects on three CPUs, sheaves of 4", "numa:1 core:3 pu:1", "sheaves", 4, prepare, bursts, finish};
extern const Scenario kListScenario = {
    "list_lock", "objects freed by the next CPU, no sheaves", "numa:1 core:3 pu:1", "sheaves", 0, prepare, pass_on, finish_mailbox};
extern const Scenario kNodesScenario = {
    "nodes", "the same on two nodes, sheaves of 4", "numa:2 core:2 pu:1", "sheaves", 4, prepare, pass_on, finish_mailbox};
extern const Scenario kCpuSlabScenario = {
    "freelist", "the same on the lock-free lists of per-CPU slabs", "numa:1 core:3 pu:1", "cpu-slab", 0, prepare, pass_on,
    finish_mailbox};
extern const Scenario kAbaScenario = {
    "aba", "the same with two objects a slab: freelists that are empty again", "numa:1 core:3 pu:1", "cpu-slab", 0,
    prepare_large, pass_on, finish_mailbox};
extern const Scenario kDoubleScenario = {
    "double", "the same with sheaves of 4 over per-CPU slabs", "numa:1 core:3 pu:1", "double", 4, prepare, pass_on,
    finish_mailbox};
extern const Scenario kShrinkScenario = {
    "shrink", "one CPU shrinks the cache while two work", "numa:1 core:3 pu:1", "sheaves", 4, prepare, shrink_or_work,
    finish_mailbox};
extern const Scenario kRcuScenario = {
    "kfree_rcu", "an object is replaced under two readers, then the cache goes", "numa:1 core:3 pu:1", "sheaves", 4,
    prepare_published, replace_or_read, finish_published};
extern const Scenario kFlushScenario = {
    "flush", "the same over per-CPU slabs, with one reader, while the third CPU empties all sheaves", "numa:1 core:3 pu:1",
    "double", 4, prepare_flushed, replace_read_or_flush, finish_flushed};

} // namespace kmirror::sim
