// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/create.cpp: kmem_cache_create(), and caches that share one set of slabs.
//
// Owns     the list of caches, together with destroy.cpp.
// Bounds   no limit on the number of caches.
// Locking  slab_mutex over each creation. Memory for the cache is allocated under it; the
//          allocator's fast and slow paths never take it.
// Fails    -EINVAL for impossible arguments, -ENOMEM; the public functions turn that into
//          NULL with a message and a stack, or the end of the program with SLAB_PANIC.
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/fault-inject.h>
#include <linux/log2.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/string.h>

#include "lib/slub/cpu_slab.h"
#include "lib/slub/create.h"
#include "lib/slub/debug.h"
#include "lib/slub/fastpath.h"
#include "lib/slub/geometry.h"
#include "lib/slub/kmalloc.h"
#include "lib/slub/node.h"
#include "lib/slub/switches.h"
#include "lib/slub/tuning.h"

namespace kmirror::slub {

slab_state_t slab_state;
DEFINE_MUTEX(slab_mutex);
LIST_HEAD(slab_caches);
struct kmem_cache *kmem_cache;
struct kmem_cache *kmem_cache_node;
nodemask_t slab_nodes;
nodemask_t slab_barn_nodes;

namespace {

constexpr slab_flags_t kNeverMerge = SLAB_DEBUG_FLAGS | SLAB_TYPESAFE_BY_RCU | SLAB_NOLEAKTRACE |
                                     SLAB_FAILSLAB | SLAB_NO_MERGE;
constexpr slab_flags_t kMergeSame = SLAB_RECLAIM_ACCOUNT | SLAB_CACHE_DMA | SLAB_CACHE_DMA32 |
                                    SLAB_ACCOUNT | SLAB_MAY_ACCOUNT;
constexpr unsigned int kDefragRatio = 1000; // of 1024: nearly always

bool slab_args_unmergeable(const struct kmem_cache_args *args, slab_flags_t flags)
{
    // A capacity that is in force now need not be that of a cache made before.
    return !switch_on(KMIRROR_SLAB_MERGE) || forced_sheaf_capacity() >= 0 || anything_tuned() || args->ctor ||
           args->usersize || (flags & kNeverMerge);
}

// A cache whose slots are as good for these objects as slots of their own.
struct kmem_cache *find_mergeable(const char *name, unsigned int size, slab_flags_t flags,
                                  const struct kmem_cache_args *args)
{
    flags = kmem_cache_flags(flags, name);
    if (slab_args_unmergeable(args, flags))
        return nullptr;
    size = ALIGN(size, (unsigned int)sizeof(void *));
    const unsigned int align = calculate_alignment(flags, args->align, size);
    size = ALIGN(size, align);

    struct kmem_cache *s;
    list_for_each_entry_reverse (s, &slab_caches, list) {
        const bool fits = size <= s->size && s->size - size < sizeof(void *);
        const bool same = (flags & kMergeSame) == (s->flags & kMergeSame) &&
                          s->generation.number == generation_now() &&
                          s->init_on_alloc == switch_on(KMIRROR_SLAB_INIT_ON_ALLOC) &&
                          s->init_on_free == switch_on(KMIRROR_SLAB_INIT_ON_FREE);
        if (fits && same && IS_ALIGNED(s->size, align) && !slab_unmergeable(s))
            return s;
    }
    return nullptr;
}

struct slab_alias *find_alias(const struct kmem_cache *s, const char *name)
{
    struct slab_alias *alias;
    list_for_each_entry (alias, &s->alias_names, list)
        if (!strcmp(alias->name, name))
            return alias;
    return nullptr;
}

void forget_alias(struct slab_alias *alias)
{
    list_del(&alias->list);
    kfree_internal(alias);
}

// A name is of one cache at a time; the last one to use it has it.
void forget_alias_elsewhere(const char *name)
{
    struct kmem_cache *s;
    list_for_each_entry (s, &slab_caches, list)
        if (struct slab_alias *alias = find_alias(s, name))
            forget_alias(alias);
}

// Notes a further name. Without memory for it the cache is the same, one name short.
void remember_alias(struct kmem_cache *s, const char *name)
{
    const size_t bytes = strlen(name) + 1;

    if (!strcmp(s->name, name) || find_alias(s, name))
        return;
    forget_alias_elsewhere(name);
    struct slab_alias *alias = nullptr;
    if (!should_fail_at(FAIL_CACHE_ALIAS, name, 0, sizeof(struct slab_alias) + bytes))
        alias = static_cast<struct slab_alias *>(kmalloc_flags(
            sizeof(struct slab_alias) + bytes, GFP_KERNEL, SLAB_ALLOC_NO_HOOKS, NUMA_NO_NODE));
    if (!alias) {
        pr_warn("SLUB: Unable to add cache alias %s\n", name);
        return;
    }
    memcpy(alias->name, name, bytes);
    list_add_tail(&alias->list, &s->alias_names);
}

struct kmem_cache *kmem_cache_alias(const char *name, unsigned int size, slab_flags_t flags,
                                    const struct kmem_cache_args *args)
{
    struct kmem_cache *s = find_mergeable(name, size, flags, args);
    if (!s)
        return nullptr;
    s->refcount++;
    // Zeroing an object must reach the end of the larger of the two.
    WRITE_ONCE(s->object_size, max_t(unsigned int, s->object_size, size));
    s->inuse = max_t(unsigned int, s->inuse, ALIGN(size, (unsigned int)sizeof(void *)));
    remember_alias(s, name);
    return s;
}

// The order in which a new slab's objects are used first, as offsets; shuffled.
int init_cache_random_seq(struct kmem_cache *s)
{
    const unsigned int count = s->oo.objects;

    if (!switch_on(KMIRROR_SLAB_FREELIST_RANDOM) || count < 2 || slab_state < UP)
        return 0;
    if (should_fail_at(FAIL_CACHE_RANDOM_SEQ, s->name, 0, count * sizeof(unsigned int)))
        return -ENOMEM;
    auto *sequence = static_cast<unsigned int *>(
        kmalloc_flags(count * sizeof(unsigned int), GFP_KERNEL, SLAB_ALLOC_DEFAULT, NUMA_NO_NODE));
    if (!sequence)
        return -ENOMEM;
    for (unsigned int i = 0; i < count; i++) {
        // Each new offset takes a random earlier place, whose owner moves to the end.
        const unsigned int place = get_random_u32_below(i + 1);
        sequence[i] = sequence[place];
        sequence[place] = i * s->size;
    }
    s->random_seq = sequence;
    return 0;
}

int init_node_list(struct kmem_cache *s, int node)
{
    if (should_fail_at(FAIL_CACHE_NODES, s->name, 0, sizeof(struct kmem_cache_node)))
        return -ENOMEM;
    auto *n = static_cast<struct kmem_cache_node *>(
        slab_alloc_node(kmem_cache_node, GFP_KERNEL, node, sizeof(struct kmem_cache_node)));
    if (!n)
        return -ENOMEM;
    init_kmem_cache_node(n);
    s->per_node[node].node = n;
    return 0;
}

int init_node_barn(struct kmem_cache *s, int node)
{
    if (should_fail_at(FAIL_BARN_ALLOC, s->name, 0, sizeof(struct node_barn)))
        return -ENOMEM;
    auto *barn = static_cast<struct node_barn *>(
        kmalloc_flags(sizeof(struct node_barn), GFP_KERNEL, SLAB_ALLOC_DEFAULT, node));
    if (!barn)
        return -ENOMEM;
    barn_init(barn);
    s->per_node[node].barn = barn;
    return 0;
}

int init_cache_nodes(struct kmem_cache *s)
{
    int error = 0;
    int node;

    for_each_node_mask (node, slab_nodes)
        if (!error)
            error = init_node_list(s, node);
    return error;
}

int init_percpu_sheaves(struct kmem_cache *s)
{
    unsigned int cpu;

    for_each_possible_cpu (cpu) {
        struct slub_percpu_sheaves *pcs = per_cpu_ptr(s->cpu_sheaves, cpu);

        local_trylock_init(&pcs->lock);
        pcs->main = cache_has_sheaves(s) ? alloc_empty_sheaf(s, GFP_KERNEL, SLAB_ALLOC_DEFAULT)
                                         : &bootstrap_sheaf;
        if (!pcs->main)
            return -ENOMEM;
    }
    return 0;
}

// Sheaves on which nobody is ever alone: who begins with them takes the general way.
struct slub_percpu_sheaves __percpu *general_way_only()
{
    static struct slub_percpu_sheaves __percpu *held;
    unsigned int cpu;

    if (held)
        return held;
    held = static_cast<struct slub_percpu_sheaves *>(
        __alloc_percpu(sizeof(struct slub_percpu_sheaves), L1_CACHE_BYTES));
    if (held)
        for_each_possible_cpu (cpu)
            per_cpu_ptr(held, cpu)->lock.owner = 1;
    return held;
}

// The parts of a cache that take memory, in the order of their release.
int init_cache_parts(struct kmem_cache *s)
{
    if (should_fail_at(FAIL_CACHE_PERCPU, s->name, 0, sizeof(struct slub_percpu_sheaves)))
        return -ENOMEM;
    s->cpu_sheaves = static_cast<struct slub_percpu_sheaves *>(
        __alloc_percpu(sizeof(struct slub_percpu_sheaves), L1_CACHE_BYTES));
    s->fast_sheaves = s->init_on_alloc || s->init_on_free ? general_way_only() : s->cpu_sheaves;
    if (!s->cpu_sheaves || !s->fast_sheaves)
        return -ENOMEM;
    int error = s->generation.cpu_slabs && !(s->flags & SLAB_DEBUG_FLAGS) ? alloc_kmem_cache_cpus(s) : 0;
    if (!error)
        error = init_cache_random_seq(s);
    // The first cache of all is given its nodes by hand, see boot.cpp.
    if (!error && slab_state != DOWN)
        error = init_cache_nodes(s);
    if (!error && cache_has_sheaves(s))
        error = init_cache_barns(s);
    return error ? error : init_percpu_sheaves(s);
}

// A wish for the link's place: only where it could matter, and inside the object.
bool freeptr_offset_valid(const struct kmem_cache_args *args, slab_flags_t flags,
                          unsigned int object_size)
{
    if (!args->use_freeptr_offset)
        return true;
    if (!args->ctor && !(flags & SLAB_TYPESAFE_BY_RCU))
        return false;
    return args->freeptr_offset < object_size && args->freeptr_offset % sizeof(void *) == 0;
}

int check_arguments(const char *name, unsigned int object_size, const struct kmem_cache_args *args,
                    slab_flags_t flags)
{
    if (!name || !object_size || object_size > KMALLOC_MAX_SIZE || in_interrupt()) {
        pr_err("kmem_cache_create(%s) integrity check failed\n", name ? name : "(NULL)");
        return -EINVAL;
    }
    if (flags & ~(SLAB_CORE_FLAGS | SLAB_DEBUG_FLAGS))
        return -EINVAL;
    if (args->align && !is_power_of_2(args->align))
        return -EINVAL;
    if (args->align > PAGE_SIZE << MAX_PAGE_ORDER)
        return -EINVAL;
    return freeptr_offset_valid(args, flags, object_size) ? 0 : -EINVAL;
}

// A region for user space that does not lie in the object counts as none.
void check_usercopy(unsigned int object_size, struct kmem_cache_args *args)
{
    const unsigned long end = (unsigned long)args->useroffset + args->usersize;
    const bool offset_alone = args->useroffset && !args->usersize;

    if (WARN_ON(offset_alone) || WARN_ON(args->usersize && end > object_size)) {
        args->useroffset = 0;
        args->usersize = 0;
    }
}

char *duplicate_name(const char *name)
{
    const size_t bytes = strlen(name) + 1;
    if (should_fail_at(FAIL_CACHE_NAME, name, 0, bytes))
        return nullptr;
    void *copy = kmalloc_flags(bytes, GFP_KERNEL, SLAB_ALLOC_DEFAULT, NUMA_NO_NODE);
    return static_cast<char *>(copy ? memcpy(copy, name, bytes) : nullptr);
}

// A cache of its own, on the list, or NULL and *error.
struct kmem_cache *create_cache(const char *name, unsigned int object_size,
                                const struct kmem_cache_args *args, slab_flags_t flags, int *error)
{
    *error = -ENOMEM;
    char *own_name = duplicate_name(name);
    if (!own_name)
        return nullptr;
    struct kmem_cache *s = nullptr;
    if (!should_fail_at(FAIL_CACHE_ALLOC, name, 0, kmem_cache->object_size))
        s = alloc_kmem_cache(GFP_KERNEL);
    if (s) {
        *error = do_kmem_cache_create(s, own_name, object_size, args, flags);
        if (!*error) {
            s->refcount = 1;
            list_add(&s->list, &slab_caches);
            return s;
        }
        free_kmem_cache(s);
    }
    kfree_internal(own_name);
    return nullptr;
}

// As CONFIG_DEBUG_VM: two caches of one name cannot be told apart in any list, and a blank ends a
// name there. Further names of shared caches do not count.
void check_name(const char *name)
{
    const struct kmem_cache *s;
    bool used = false;
    bool blank = false;

    if constexpr (KMIRROR_RELEASE)
        return;
    list_for_each_entry (s, &slab_caches, list)
        used |= !strcmp(s->name, name);
    WARN(used, "kmem_cache of name '%s' already exists\n", name);
    for (const char *at = name; *at; at++)
        blank |= *at == ' ';
    WARN_ON(blank);
}

// Joins or creates. slab_mutex held.
struct kmem_cache *find_or_create(const char *name, unsigned int object_size,
                                  struct kmem_cache_args *args, slab_flags_t flags, int *error)
{
    flags |= SLAB_MAY_ACCOUNT;
    check_name(name);
    check_usercopy(object_size, args);
    if (struct kmem_cache *s = kmem_cache_alias(name, object_size, flags, args))
        return s;
    args->align = calculate_alignment(flags, args->align, object_size);
    return create_cache(name, object_size, args, flags, error);
}

void destroy_percpu_sheaves(struct kmem_cache *s)
{
    unsigned int cpu;

    if (!s->cpu_sheaves)
        return;
    for_each_possible_cpu (cpu) {
        struct slub_percpu_sheaves *pcs = per_cpu_ptr(s->cpu_sheaves, cpu);

        if (!pcs->main || pcs->main == &bootstrap_sheaf)
            continue;
        // All was flushed before; rather leak than free a sheaf with objects.
        WARN_ON(pcs->spare);
        WARN_ON(pcs->rcu_free);
        if (!WARN_ON(pcs->main->size))
            free_empty_sheaf(s, pcs->main);
        pcs->main = nullptr;
    }
    free_percpu(s->cpu_sheaves);
    s->cpu_sheaves = nullptr;
}

void free_cache_nodes(struct kmem_cache *s)
{
    for (struct kmem_cache_per_node_ptrs *per = s->per_node; per < s->per_node + nr_node_ids; per++) {
        if (per->barn) {
            WARN_ON(per->barn->nr_full || per->barn->nr_empty);
            kfree_internal(per->barn);
        }
        if (per->node)
            kfree_internal(per->node);
    }
}

} // namespace

bool slab_unmergeable(const struct kmem_cache *s)
{
    return !switch_on(KMIRROR_SLAB_MERGE) || (s->flags & kNeverMerge) || s->ctor || s->usersize ||
           s->refcount < 0;
}

struct kmem_cache *alloc_kmem_cache(gfp_t gfp)
{
    return static_cast<struct kmem_cache *>(
        slab_alloc_node(kmem_cache, gfp | __GFP_ZERO, NUMA_NO_NODE, kmem_cache->object_size));
}

void free_kmem_cache(struct kmem_cache *s)
{
    kfree_internal(s);
}

int init_cache_barns(struct kmem_cache *s)
{
    const nodemask_t *nodes = s->generation.mem_node_barn ? &slab_nodes : &slab_barn_nodes;
    int error = 0;
    int node;

    for_each_node_mask (node, *nodes)
        if (!error)
            error = init_node_barn(s, node);
    return error;
}

int init_cache_node(struct kmem_cache *s, int node)
{
    int error = get_node(s, node) ? 0 : init_node_list(s, node);
    if (!error && cache_has_sheaves(s) && !get_barn_node(s, node))
        error = init_node_barn(s, node);
    return error;
}

// Sizes and order. Letter O of the debugging options: not at the price of a larger slab.
static bool calculate_debug_sizes(const struct kmem_cache_args *args, struct kmem_cache *s)
{
    constexpr slab_flags_t kMetadata = SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER;

    if (!calculate_sizes(args, s))
        return false;
    if (!higher_order_debug_disabled() || get_order(s->size) <= get_order(s->object_size))
        return true;
    s->flags &= ~kMetadata;
    s->offset = 0;
    return calculate_sizes(args, s);
}

// Objects whose bytes stay as the constructor, or a reader, or poison needs them, are not zeroed.
static void decide_zeroing(struct kmem_cache *s)
{
    const bool kept = s->ctor || (s->flags & (SLAB_TYPESAFE_BY_RCU | SLAB_POISON));

    s->init_on_alloc = !kept && switch_on(KMIRROR_SLAB_INIT_ON_ALLOC);
    s->init_on_free = !kept && switch_on(KMIRROR_SLAB_INIT_ON_FREE);
}

int do_kmem_cache_create(struct kmem_cache *s, const char *name, unsigned int size,
                         const struct kmem_cache_args *args, slab_flags_t flags)
{
    s->name = name;
    s->object_size = size;
    s->flags = kmem_cache_flags(flags, name);
    s->align = args->align;
    s->ctor = args->ctor;
    s->useroffset = args->useroffset;
    s->usersize = args->usersize;
    s->remote_node_defrag_ratio = (unsigned int)tuned_or(KMIRROR_SLAB_DEFRAG_RATIO, kDefragRatio);
    INIT_LIST_HEAD(&s->alias_names);
    s->generation = tuned_generation();
    if (switch_on(KMIRROR_SLAB_CMPXCHG_DOUBLE))
        s->flags |= __CMPXCHG_DOUBLE;
    if (switch_on(KMIRROR_SLAB_FREELIST_HARDENED))
        s->link_key = {get_random_long(), ~0UL};
    if (!calculate_debug_sizes(args, s))
        return -EINVAL;
    decide_zeroing(s);
    // The larger the object, the more empty slabs are kept from the page allocator.
    const unsigned long wanted = ilog2(s->size) / 2;
    s->min_partial = tuned_or(KMIRROR_SLAB_MIN_PARTIAL,
                              clamp_t(unsigned long, wanted, MIN_PARTIAL, MAX_PARTIAL));
    if (s->generation.cpu_slabs)
        set_cpu_partial(s);

    const int error = init_cache_parts(s);
    if (error)
        __kmem_cache_release(s);
    return error;
}

void __kmem_cache_release(struct kmem_cache *s)
{
    struct slab_alias *alias, *next;

    list_for_each_entry_safe (alias, next, &s->alias_names, list)
        forget_alias(alias);
    if (s->random_seq)
        kfree_internal(s->random_seq);
    s->random_seq = nullptr;
    destroy_percpu_sheaves(s);
    free_percpu(s->cpu_slab);
    s->cpu_slab = nullptr;
    free_cache_nodes(s);
}

} // namespace kmirror::slub

using namespace kmirror::slub;

struct kmem_cache *__kmem_cache_create_args(const char *name, unsigned int object_size,
                                            struct kmem_cache_args *args, slab_flags_t flags)
{
    struct kmem_cache_args own;
    struct kmem_cache *s = nullptr;

    kmem_cache_init();
    if (args)
        memcpy(&own, args, sizeof(own));
    else
        memset(&own, 0, sizeof(own));
    if (own.sheaf_capacity)
        flags |= SLAB_NO_MERGE;
    int error = check_arguments(name, object_size, &own, flags);
    if (!error) {
        mutex_lock(&slab_mutex);
        s = find_or_create(name, object_size, &own, flags, &error);
        mutex_unlock(&slab_mutex);
    }
    if (!error)
        return s;
    if (flags & SLAB_PANIC)
        panic("%s: Failed to create slab '%s'. Error %d\n", __func__, name, error);
    pr_warn("%s(%s) failed with error %d\n", __func__, name ? name : "(NULL)", error);
    dump_stack();
    return nullptr;
}

struct kmem_cache *__kmem_cache_create(const char *name, unsigned int size, unsigned int align,
                                       slab_flags_t flags, void (*ctor)(void *object))
{
    return kmem_cache_create_usercopy(name, size, align, flags, 0, 0, ctor);
}

struct kmem_cache *kmem_cache_create_usercopy(const char *name, unsigned int size,
                                              unsigned int align, slab_flags_t flags,
                                              unsigned int first, unsigned int length,
                                              void (*constructor)(void *object))
{
    struct kmem_cache_args args;

    memset(&args, 0, sizeof(args));
    args.align = align;
    args.useroffset = first;
    args.usersize = length;
    args.ctor = constructor;
    return __kmem_cache_create_args(name, size, &args, flags);
}
