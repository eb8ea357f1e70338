// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/boot.cpp: how an allocator that allocates its own structures gets started.
//
//   1. kmem_cache_node   its node structures are cut from its own first slabs by hand
//   2. kmem_cache        its nodes come from 1; both caches then move into objects of 2
//   3. size classes      from 2, without sheaves
//   4. their sheaves     from 3: a class's sheaves come from other classes' slabs
//
// Owns     the two static caches of step 1 and 2 until they have moved, the size classes.
// Bounds   once a process.
// Locking  boot_mutex. Nobody else has a cache before start-up is done, so nothing else is
//          taken; users wait in kmem_cache_init().
// Fails    never returns a failure: without memory for this the program ends.
#include <linux/cpu.h>
#include <linux/poison.h>
#include <linux/string.h>
#include <kmirror/fault.h>

#include "lib/slub/cpu_slab.h"
#include "lib/slub/create.h"
#include "lib/slub/debug.h"
#include "lib/slub/fastpath.h"
#include "lib/slub/geometry.h"
#include "lib/slub/hotplug.h"
#include "lib/slub/kmalloc.h"
#include "lib/slub/node.h"
#include "lib/slub/switches.h"
#include "lib/slub/tuning.h"

namespace kmirror::slub {

namespace {

DEFINE_MUTEX(boot_mutex);
struct kmem_cache boot_kmem_cache;
struct kmem_cache boot_kmem_cache_node;

// "kmalloc-rcl-192", "kmalloc-1k"
constexpr unsigned int kNameBytes = 24;
char kmalloc_names[NR_KMALLOC_TYPES][KMALLOC_SHIFT_HIGH + 1][kNameBytes];

void create_boot_cache(struct kmem_cache *s, const char *name, unsigned int size,
                       slab_flags_t flags, unsigned int usersize)
{
    struct kmem_cache_args args;
    unsigned int align = ARCH_KMALLOC_MINALIGN;

    memset(&args, 0, sizeof(args));
    // kmalloc() promises the largest power of two that divides the size.
    if (flags & SLAB_KMALLOC)
        align = max_t(unsigned int, align, size & -size);
    args.align = calculate_alignment(flags, align, size);
    args.usersize = usersize;
    const int error = do_kmem_cache_create(s, name, size, &args, flags);
    if (error)
        panic("Creation of kmalloc slab %s size=%u failed. Reason %d\n", name, size, error);
    s->refcount = -1; // never merged, never destroyed
}

// A node's struct for the cache of node structs: the first object of its first slab there.
void early_kmem_cache_node_alloc(int node)
{
    struct slab *slab = new_slab(kmem_cache_node, GFP_NOWAIT, node);
    BUG_ON(!slab || slab_nid(slab) != node);

    SlabObjectIterator iterator(kmem_cache_node, slab);
    auto *n = static_cast<struct kmem_cache_node *>(iterator.next(kmem_cache_node));
    build_slab_freelist(kmem_cache_node, slab, iterator, 1);
    if (kmem_cache_debug(kmem_cache_node)) [[unlikely]] {
        init_object(kmem_cache_node, n, SLUB_RED_ACTIVE);
        // As if it had been taken off the list: a check wants a link that leads somewhere.
        set_freepointer(kmem_cache_node, n, slab_word_read(slab->word).freelist);
    }
    slab_post_alloc_hook(kmem_cache_node, GFP_KERNEL, n, sizeof(struct kmem_cache_node));

    init_kmem_cache_node(n);
    kmem_cache_node->per_node[node].node = n;
    inc_slabs_node(kmem_cache_node, node, slab_objects(slab));
    ListHold hold(n);
    add_partial_head(n, slab);
}

// Moves a cache from its static place into an object, and tells its slabs.
struct kmem_cache *bootstrap(struct kmem_cache *static_cache)
{
    struct kmem_cache *s = alloc_kmem_cache(GFP_KERNEL);
    unsigned int cpu;
    BUG_ON(!s);

    // Only slabs on lists can be told.
    if (static_cache->cpu_slab)
        for_each_possible_cpu (cpu)
            __flush_cpu_slab(static_cache, cpu);
    memcpy(s, static_cache, kmem_cache->object_size);
    INIT_LIST_HEAD(&s->alias_names);
    for_each_cache_node(s, [&](int, struct kmem_cache_node *n) {
        for (struct slab *slab : SlabsOn(&n->partial))
            WRITE_ONCE(slab->slab_cache, s);
        for (struct slab *slab : SlabsOn(&n->full))
            WRITE_ONCE(slab->slab_cache, s);
    });
    list_add(&s->list, &slab_caches);
    return s;
}

void boot_caches()
{
    constexpr slab_flags_t flags = SLAB_HWCACHE_ALIGN | SLAB_NO_SHEAVES;
    int node;

    kmem_cache_node = &boot_kmem_cache_node;
    kmem_cache = &boot_kmem_cache;
    create_boot_cache(kmem_cache_node, "kmem_cache_node", sizeof(struct kmem_cache_node), flags, 0);
    for_each_node_mask (node, slab_nodes)
        early_kmem_cache_node_alloc(node);
    WRITE_ONCE(slab_state, PARTIAL); // others ask for FULL meanwhile

    const unsigned int bytes = offsetof(struct kmem_cache, per_node) +
                               nr_node_ids * sizeof(struct kmem_cache_per_node_ptrs);
    create_boot_cache(kmem_cache, "kmem_cache", bytes, flags, 0);
    kmem_cache = bootstrap(&boot_kmem_cache);
    kmem_cache_node = bootstrap(&boot_kmem_cache_node);
}

char *append(char *end, const char *text)
{
    const size_t length = strlen(text);
    memcpy(end, text, length + 1);
    return end + length;
}

char *append_number(char *end, unsigned int number)
{
    if (number >= 10)
        end = append_number(end, number / 10);
    *end++ = (char)('0' + number % 10);
    *end = '\0';
    return end;
}

const char *kmalloc_name(unsigned int type, unsigned int index)
{
    static constexpr const char *kPrefixes[NR_KMALLOC_TYPES] = {"kmalloc-", "kmalloc-rcl-",
                                                                "kmalloc-cg-"};
    const unsigned int bytes = kmalloc_class_bytes(index);
    char *name = kmalloc_names[type][index];

    char *end = append(name, kPrefixes[type]);
    if (bytes < 1024)
        append_number(end, bytes);
    else
        append(append_number(end, bytes / 1024), "k");
    return name;
}

slab_flags_t kmalloc_type_flags(unsigned int type)
{
    switch (type) {
    case KMALLOC_RECLAIM:
        return SLAB_RECLAIM_ACCOUNT | SLAB_MAY_ACCOUNT;
    case KMALLOC_CGROUP:
        return SLAB_ACCOUNT | SLAB_MAY_ACCOUNT;
    default:
        // Nobody's accounted objects among those that are not.
        return SLAB_NO_MERGE;
    }
}

void create_kmalloc_cache(unsigned int type, unsigned int index)
{
    struct kmem_cache *s = alloc_kmem_cache(GFP_KERNEL);
    const unsigned int bytes = kmalloc_class_bytes(index);

    if (!s)
        panic("Out of memory when creating slab %s\n", kmalloc_name(type, index));
    create_boot_cache(s, kmalloc_name(type, index), bytes,
                      kmalloc_type_flags(type) | SLAB_KMALLOC, bytes);
    list_add(&s->list, &slab_caches);
    s->refcount = 1;
    size_classes[type][index] = s;
}

void create_kmalloc_caches()
{
    for (unsigned int type = 0; type < NR_KMALLOC_TYPES; type++)
        for (unsigned int index = 1; index <= KMALLOC_SHIFT_HIGH; index++)
            create_kmalloc_cache(type, index);
    WRITE_ONCE(slab_state, UP);
}

// What creation does for other caches, once there is memory for it.
void bootstrap_cache_sheaves(struct kmem_cache *s)
{
    const unsigned int capacity = calculate_sheaf_capacity(s, 0);
    bool failed = false;
    unsigned int cpu;

    if (!capacity)
        return;
    failed = init_cache_barns(s) != 0;
    for_each_possible_cpu (cpu) {
        struct slab_sheaf *main = __alloc_empty_sheaf(s, GFP_KERNEL, SLAB_ALLOC_DEFAULT, capacity);
        failed |= !main;
        if (main)
            per_cpu_ptr(s->cpu_sheaves, cpu)->main = main;
    }
    if (failed)
        panic("Out of memory when creating kmem_cache %s\n", s->name);
    s->sheaf_capacity = capacity;
}

void boot()
{
    int node;

    generation_init();
    tuning_init();
    switches_init();
    slab_debug_init();
    // Which nodes have memory is known when the page allocator has started.
    BUG_ON(totalram_pages() == 0);
    for_each_node_state (node, N_MEMORY)
        node_set(node, slab_nodes);
    for_each_online_node (node)
        node_set(node, slab_barn_nodes);

    boot_caches();
    create_kmalloc_caches();
    for (kmem_buckets &table : size_classes)
        for (struct kmem_cache *s : table)
            if (s && !cache_has_sheaves(s))
                bootstrap_cache_sheaves(s);
    hotplug_init();
    publish_kmalloc_caches();
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

void kmem_cache_init(void)
{
    // (B3) acquire, pairs with (B4): who sees FULL sees everything start-up has made.
    if (smp_load_acquire(&slab_state) == FULL) [[likely]]
        return;
    mutex_lock(&boot_mutex);
    if (slab_state != FULL) {
        kmirror_fault_pause(); // a failure asked for by the caller is not meant for this
        boot();
        kmirror_fault_resume();
        smp_store_release(&slab_state, FULL); // (B4)
    }
    mutex_unlock(&boot_mutex);
}

bool slab_is_available(void)
{
    return smp_load_acquire(&slab_state) == FULL;
}
