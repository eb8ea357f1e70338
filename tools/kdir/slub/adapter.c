// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel tree's own mm/slub.c, unmodified, behind our table of operations. tools/kdir/implement-slab compiles this
 * file with
 *   KDIR_NAME      what the table is called: "linux 7.3"
 *   KDIR_GENERATION  "cpu-slab", "double" or "sheaves"
 *   KDIR_HAS_...   what probing the tree has found, see there
 * What can be read from a cache's files in sysfs is read there, so that it means what it means in a kernel; the rest
 * from the allocator's own structures, which this file sees because it includes the source.
 *
 * Owns     the table, which never changes once it was asked for.
 * Locking  start-up is under pthread_once(); operations as the kernel's.
 * Fails    as the kernel's functions.
 */
#include "slub.c"

#include "tools/kdir/slub/boot.h"

#include <kmirror/slab_ops_fill.h>

#include <stdlib.h>

/* ---- what a file of sysfs says ----------------------------------------------------------------------------- */

/* The number in front, or behind " N<node>="; -ENOENT: no such file. */
static long sysfs_number(struct kmem_cache *s, const char *file, int node)
{
    char *text = calloc(1, PAGE_SIZE), mark[16];
    const ssize_t length = kdir_sysfs_show(&s->kobj, file, text);
    const char *at = text;
    long number = length;

    if (length >= 0 && node >= 0) {
        snprintf(mark, sizeof(mark), " N%d=", node);
        at = strstr(text, mark);
        if (at)
            at += strlen(mark);
    }
    if (length >= 0)
        number = at ? atol(at) : 0;
    free(text);
    return number;
}

static unsigned long sysfs_count(struct kmem_cache *s, const char *file, int node)
{
    const long number = sysfs_number(s, file, node);

    return number < 0 ? 0 : (unsigned long)number;
}

static void sysfs_set(struct kmem_cache *s, const char *file, unsigned long number)
{
    char text[24];

    snprintf(text, sizeof(text), "%lu\n", number);
    kdir_sysfs_store(&s->kobj, file, text);
}

/* ---- caches ------------------------------------------------------------------------------------------------ */

/* What set_sheaf_capacity() asked for; -1: nothing. */
static int wanted_capacity = -1;

static struct slab_ops_cache *create(const char *name, const struct slab_ops_cache_args *args)
{
    struct kmem_cache_args made = {
        .align = args->align,
        .useroffset = args->useroffset,
        .usersize = args->usersize,
        .freeptr_offset = args->freeptr_offset,
        .use_freeptr_offset = args->use_freeptr_offset,
        .ctor = args->ctor,
#ifdef KDIR_HAS_SHEAVES
        .sheaf_capacity = wanted_capacity < 0 ? args->sheaf_capacity : (unsigned int)wanted_capacity,
#endif
    };
    slab_flags_t flags = ops_slab_flags(args->flags);

    if (wanted_capacity == 0)
        flags |= SLAB_NOLEAKTRACE; /* of which calculate_sheaf_capacity() says that they have none */
    return ops_handle(__kmem_cache_create_args(name, args->size, &made, flags));
}

static struct slab_ops_cache *create_plain(const char *name, const struct slab_ops_cache_args *args)
{
    const struct slab_ops_cache_args plain = {
        .size = args->size, .align = args->align, .flags = args->flags, .ctor = args->ctor};

    return create(name, &plain);
}

static void destroy(struct slab_ops_cache *cache)
{
    kmem_cache_destroy(ops_cache(cache));
}

static int shrink(struct slab_ops_cache *cache)
{
    return kmem_cache_shrink(ops_cache(cache));
}

static long validate(struct slab_ops_cache *cache)
{
    return validate_slab_cache(ops_cache(cache));
}

static void geometry(struct slab_ops_cache *cache, struct slab_ops_geometry *out)
{
    struct kmem_cache *s = ops_cache(cache);

    *out = (struct slab_ops_geometry){
        .object_size = s->object_size,
        .size = s->size,
        .align = s->align,
        .inuse = s->inuse,
        .freeptr_offset = s->offset,
        .order = oo_order(s->oo),
        .objects = oo_objects(s->oo),
        .min_order = oo_order(s->min),
#ifdef KDIR_HAS_SHEAVES
        .sheaf_capacity = s->sheaf_capacity,
#endif
        .min_partial = s->min_partial,
        .generation = KDIR_GENERATION,
#ifdef KDIR_HAS_CPU_SLAB
        .cpu_partial_slabs = s->cpu_partial_slabs,
#endif
    };
}

static const char *cache_name(struct slab_ops_cache *cache)
{
    return ops_cache(cache)->name;
}

/* ---- objects ----------------------------------------------------------------------------------------------- */

static void *alloc(struct slab_ops_cache *cache, unsigned int gfp)
{
    return kmem_cache_alloc(ops_cache(cache), ops_slab_gfp(gfp));
}

static void *alloc_node(struct slab_ops_cache *cache, unsigned int gfp, int node)
{
    return kmem_cache_alloc_node(ops_cache(cache), ops_slab_gfp(gfp), node);
}

static void free_object(struct slab_ops_cache *cache, void *object)
{
    kmem_cache_free(ops_cache(cache), object);
}

static bool alloc_bulk(struct slab_ops_cache *cache, unsigned int gfp, size_t n, void **objects)
{
    return kmem_cache_alloc_bulk(ops_cache(cache), ops_slab_gfp(gfp), n, objects);
}

static void free_bulk(struct slab_ops_cache *cache, size_t n, void **objects)
{
    kmem_cache_free_bulk(ops_cache(cache), n, objects);
}

static void free_rcu(void *object, size_t rcu_offset)
{
    kvfree_call_rcu((void *)((char *)object + rcu_offset), object);
}

/* ---- sheaves ----------------------------------------------------------------------------------------------- */

#ifdef KDIR_HAS_SHEAVES
#define SHEAF(sheaf) ((struct slab_sheaf *)(sheaf))

static struct slab_ops_sheaf *prefill(struct slab_ops_cache *cache, unsigned int gfp, unsigned int n)
{
    return (struct slab_ops_sheaf *)kmem_cache_prefill_sheaf(ops_cache(cache), ops_slab_gfp(gfp), n);
}

static int refill(struct slab_ops_cache *cache, unsigned int gfp, struct slab_ops_sheaf **sheaf, unsigned int n)
{
    return kmem_cache_refill_sheaf(ops_cache(cache), ops_slab_gfp(gfp), (struct slab_sheaf **)sheaf, n);
}

static void return_sheaf(struct slab_ops_cache *cache, unsigned int gfp, struct slab_ops_sheaf *sheaf)
{
    kmem_cache_return_sheaf(ops_cache(cache), ops_slab_gfp(gfp), SHEAF(sheaf));
}

static void *alloc_from_sheaf(struct slab_ops_cache *cache, unsigned int gfp, struct slab_ops_sheaf *sheaf)
{
    return kmem_cache_alloc_from_sheaf(ops_cache(cache), ops_slab_gfp(gfp), SHEAF(sheaf));
}

static unsigned int sheaf_size(struct slab_ops_sheaf *sheaf)
{
    return kmem_cache_sheaf_size(SHEAF(sheaf));
}
#else
/* Before there were sheaves who wanted objects ahead took them in bulk: the same, kept in an array. */
struct slab_ops_sheaf {
    unsigned int nr, room;
    void *objects[];
};

static struct slab_ops_sheaf *prefill(struct slab_ops_cache *cache, unsigned int gfp, unsigned int n)
{
    struct slab_ops_sheaf *sheaf = malloc(sizeof(*sheaf) + n * sizeof(void *));

    if (!sheaf || !alloc_bulk(cache, gfp, n, sheaf->objects)) {
        free(sheaf);
        return NULL;
    }
    sheaf->nr = sheaf->room = n;
    return sheaf;
}

static int refill(struct slab_ops_cache *cache, unsigned int gfp, struct slab_ops_sheaf **place, unsigned int n)
{
    struct slab_ops_sheaf *sheaf = *place;

    if (n > sheaf->room) {
        struct slab_ops_sheaf *larger = realloc(sheaf, sizeof(*sheaf) + n * sizeof(void *));

        if (!larger)
            return -ENOMEM;
        *place = sheaf = larger;
        sheaf->room = n;
    }
    if (n > sheaf->nr && !alloc_bulk(cache, gfp, n - sheaf->nr, sheaf->objects + sheaf->nr))
        return -ENOMEM;
    sheaf->nr = max(sheaf->nr, n);
    return 0;
}

static void return_sheaf(struct slab_ops_cache *cache, unsigned int gfp, struct slab_ops_sheaf *sheaf)
{
    (void)gfp;
    if (sheaf->nr)
        free_bulk(cache, sheaf->nr, sheaf->objects);
    free(sheaf);
}

static void *alloc_from_sheaf(struct slab_ops_cache *cache, unsigned int gfp, struct slab_ops_sheaf *sheaf)
{
    void *object = sheaf->nr ? sheaf->objects[--sheaf->nr] : NULL;

    if (object && gfp & SLAB_OPS_ZERO)
        memset(object, 0, ops_cache(cache)->object_size);
    return object;
}

static unsigned int sheaf_size(struct slab_ops_sheaf *sheaf)
{
    return sheaf->nr;
}
#endif

static size_t loop_sheaf(struct slab_ops_cache *cache, unsigned int n, void **objects, size_t rounds)
{
    size_t round;
    unsigned int i;

    for (round = 0; round < rounds; round++) {
        struct slab_ops_sheaf *sheaf = prefill(cache, 0, n);

        if (!sheaf)
            return round * n;
        for (i = 0; i < n; i++)
            objects[i] = alloc_from_sheaf(cache, 0, sheaf);
        return_sheaf(cache, 0, sheaf);
        free_bulk(cache, n, objects);
    }
    return rounds * n;
}

/* ---- size classes ------------------------------------------------------------------------------------------ */

static void *size_alloc(size_t bytes, unsigned int gfp)
{
    return kmalloc(bytes, ops_slab_gfp(gfp));
}

static void *size_alloc_node(size_t bytes, unsigned int gfp, int node)
{
    return kmalloc_node(bytes, ops_slab_gfp(gfp), node);
}

static void *size_realloc(const void *object, size_t bytes, unsigned int gfp)
{
    return krealloc(object, bytes, ops_slab_gfp(gfp));
}

static struct slab_ops_cache *cache_of(const void *object)
{
    struct slab *slab = virt_to_slab(object);

    return slab ? ops_handle(slab->slab_cache) : NULL;
}

/* ---- looking ----------------------------------------------------------------------------------------------- */

#ifdef KDIR_HAS_SHEAVES
static struct node_barn *barn_of(struct kmem_cache *s, int node)
{
#ifdef KDIR_HAS_BARN_NODES
    return get_barn_node(s, node);
#else
    struct kmem_cache_node *n = get_node(s, node);

    return n ? n->barn : NULL;
#endif
}

static void count_barn(struct kmem_cache *s, int node, struct slab_ops_counts *out)
{
    struct node_barn *barn = barn_of(s, node);
    struct slab_sheaf *sheaf;
    unsigned long flags;

    if (!barn)
        return;
    spin_lock_irqsave(&barn->lock, flags);
    out->barn_full += barn->nr_full;
    out->barn_empty += barn->nr_empty;
    list_for_each_entry(sheaf, &barn->sheaves_full, barn_list)
        out->barn_objects += sheaf->size;
    spin_unlock_irqrestore(&barn->lock, flags);
}
#endif

#ifdef KDIR_HAS_CPU_SLAB
/* A slab that a CPU allocates from: its free objects stand in the CPU's own list and in the slab's. */
static void count_cpu_slab(struct kmem_cache *s, int cpu, int node, struct slab_ops_counts *out)
{
    struct kmem_cache_cpu *c = per_cpu_ptr(s->cpu_slab, cpu);
    struct slab *slab = READ_ONCE(c->slab);
    void *object;

    if (slab && (node < 0 || slab_nid(slab) == node)) {
        out->cpu_slabs++;
        out->cpu_objects += slab->objects - slab->inuse;
        for (object = c->freelist; object; object = get_freepointer(s, object))
            out->cpu_objects++;
    }
    for (slab = READ_ONCE(c->partial); slab; slab = slab->next) {
        if (node < 0 || slab_nid(slab) == node) {
            out->cpu_chained++;
            out->cpu_objects += slab->objects - slab->inuse;
        }
    }
}
#endif

static void counts(struct slab_ops_cache *cache, int node, struct slab_ops_counts *out)
{
    struct kmem_cache *s = ops_cache(cache);
    struct kmem_cache_node *n;
    int at;

    memset(out, 0, sizeof(*out));
    for_each_kmem_cache_node(s, at, n) {
        struct slab *slab;
        unsigned long flags;

        if (node >= 0 && at != node)
            continue;
        out->slabs += node_nr_slabs(n);
        out->total_objects += node_nr_objs(n);
        out->used_objects += node_nr_objs(n);
        spin_lock_irqsave(&n->list_lock, flags);
        out->partial_slabs += n->nr_partial;
        list_for_each_entry(slab, &n->partial, slab_list)
            out->used_objects -= slab->objects - slab->inuse;
        spin_unlock_irqrestore(&n->list_lock, flags);
    }
#ifdef KDIR_HAS_SHEAVES
    for_each_online_node(at) {
        if (node < 0 || at == node)
            count_barn(s, at, out);
    }
#endif
#ifdef KDIR_HAS_CPU_SLAB
    for_each_possible_cpu(at)
        count_cpu_slab(s, at, node, out);
    out->used_objects -= out->cpu_objects;
#endif
}

static void cpu_sheaves(struct slab_ops_cache *cache, int cpu, struct slab_ops_cpu_sheaves *out)
{
    out->main = out->spare = out->rcu_free = -1;
#ifdef KDIR_HAS_SHEAVES
    if (ops_cache(cache)->cpu_sheaves && ops_cache(cache)->sheaf_capacity) {
        struct slub_percpu_sheaves *pcs = per_cpu_ptr(ops_cache(cache)->cpu_sheaves, cpu);

        out->main = pcs->main ? (int)pcs->main->size : -1;
        out->spare = pcs->spare ? (int)pcs->spare->size : -1;
        out->rcu_free = pcs->rcu_free ? (int)pcs->rcu_free->size : -1;
    }
#else
    (void)cache;
    (void)cpu;
#endif
}

/* ---- checking: with nobody else at work, and nothing is flushed --------------------------------------------- */

static long wrong(struct kmem_cache *s, const char *what, unsigned long is, unsigned long wanted)
{
    if (is == wanted)
        return 0;
    pr_err("%s: %s: %lu, not %lu\n", s->name, what, is, wanted);
    return 1;
}

/* Objects on a slab's own list of free ones. */
static unsigned long nr_listed(struct kmem_cache *s, struct slab *slab)
{
    unsigned long listed = 0;
    void *object;

    for (object = slab->freelist; object && listed <= slab->objects; object = get_freepointer(s, object))
        listed++;
    return listed;
}

static long check_node(struct kmem_cache *s, struct kmem_cache_node *n)
{
    unsigned long partial = 0, flags;
    struct slab *slab;
    long found = 0;

    spin_lock_irqsave(&n->list_lock, flags);
    list_for_each_entry(slab, &n->partial, slab_list) {
        partial++;
        found += wrong(s, "free objects of a partial slab", nr_listed(s, slab), slab->objects - slab->inuse);
        found += wrong(s, "the cache of a partial slab is another", slab->slab_cache != s, 0);
        found += wrong(s, "a partial slab is frozen", slab->frozen, 0);
    }
    found += wrong(s, "partial slabs of a node", partial, n->nr_partial);
    found += wrong(s, "a node has more partial slabs than slabs", partial > node_nr_slabs(n), 0);
    spin_unlock_irqrestore(&n->list_lock, flags);
    return found;
}

#ifdef KDIR_HAS_SHEAVES
static long check_barn(struct kmem_cache *s, struct node_barn *barn)
{
    unsigned long full = 0, empty = 0, flags;
    struct slab_sheaf *sheaf;
    long found = 0;

    if (!barn)
        return 0;
    spin_lock_irqsave(&barn->lock, flags);
    list_for_each_entry(sheaf, &barn->sheaves_full, barn_list) {
        full++;
        found += wrong(s, "objects of a full sheaf in a barn", sheaf->size, s->sheaf_capacity);
    }
    list_for_each_entry(sheaf, &barn->sheaves_empty, barn_list) {
        empty++;
        found += wrong(s, "objects of an empty sheaf in a barn", sheaf->size, 0);
    }
    found += wrong(s, "full sheaves of a barn", full, barn->nr_full);
    found += wrong(s, "empty sheaves of a barn", empty, barn->nr_empty);
    spin_unlock_irqrestore(&barn->lock, flags);
    return found;
}

static long check_sheaves(struct kmem_cache *s)
{
    struct slab_ops_cpu_sheaves held;
    long found = 0;
    int at;

    if (!s->sheaf_capacity)
        return 0;
    for_each_online_node(at)
        found += check_barn(s, barn_of(s, at));
    for_each_possible_cpu(at) {
        cpu_sheaves(ops_handle(s), at, &held);
        found += wrong(s, "a CPU has no main sheaf", held.main < 0, 0);
        found += wrong(s, "a CPU's sheaf is too full",
                       held.main > (int)s->sheaf_capacity || held.spare > (int)s->sheaf_capacity ||
                           held.rcu_free > (int)s->sheaf_capacity, 0);
    }
    return found;
}
#endif

static long check(struct slab_ops_cache *cache)
{
    struct kmem_cache *s = ops_cache(cache);
    struct kmem_cache_node *n;
    long found = 0;
    int at;

    for_each_kmem_cache_node(s, at, n)
        found += check_node(s, n);
#ifdef KDIR_HAS_SHEAVES
    found += check_sheaves(s);
#endif
    return found;
}

/* ---- statistics -------------------------------------------------------------------------------------------- */

/* Files that can be written and are no statistics. */
static bool is_setting(const char *file)
{
    static const char *const settings[] = {"min_partial", "cpu_partial", "shrink", "validate", "trace", "failslab",
                                           "remote_node_defrag_ratio", "skip_kfence", "sanity_checks"};
    unsigned int i;

    for (i = 0; i < ARRAY_SIZE(settings); i++) {
        if (strcmp(settings[i], file) == 0)
            return true;
    }
    return false;
}

static const char *stat_name(unsigned int index)
{
    const char *file;
    unsigned int i;

    for (i = 0; (file = kdir_sysfs_name(&kmem_cache->kobj, i)); i++) {
        if (kdir_sysfs_writable(&kmem_cache->kobj, file) && !is_setting(file) && index-- == 0)
            return file;
    }
    return NULL;
}

static long stat_of(struct slab_ops_cache *cache, const char *name)
{
    const char *file;
    unsigned int i;

    for (i = 0; (file = stat_name(i)); i++) {
        if (strcmp(file, name) == 0)
            return sysfs_number(ops_cache(cache), name, -1);
    }
    return -ENOENT;
}

static void stat_clear(struct slab_ops_cache *cache)
{
    const char *file;
    unsigned int i;

    for (i = 0; (file = stat_name(i)); i++)
        sysfs_set(ops_cache(cache), file, 0);
}

static int object_node(const void *object)
{
    return page_to_nid(virt_to_head_page(object));
}

/* ---- tuning ------------------------------------------------------------------------------------------------ */

static void store_min_partial(struct slab_ops_cache *cache, unsigned long slabs)
{
    sysfs_set(ops_cache(cache), "min_partial", slabs);
}

/* Where a kernel has a rule for every cache, it is what a cache has at least. */
static int set_sheaf_capacity(int objects)
{
    const int before = wanted_capacity;

    wanted_capacity = objects;
    return before;
}

static const char *set_generation(const char *name)
{
    return !name || strcmp(name, KDIR_GENERATION) == 0 ? KDIR_GENERATION : NULL;
}

static void store_cpu_partial(struct slab_ops_cache *cache, unsigned int objects)
{
    sysfs_set(ops_cache(cache), "cpu_partial", objects);
}

/* ---- what a tree before 6.14 has elsewhere ------------------------------------------------------------------ */

#ifndef KDIR_HAS_KVFREE_INIT
/* kernel/rcu/tree.c gathers objects in pages; here each has a callback of its own, which finds its start. */
static void *start_of(void *inside)
{
    struct slab *slab = virt_to_slab(inside);

    if (!slab)
        return is_vmalloc_addr(inside) ? (void *)PAGE_ALIGN_DOWN((unsigned long)inside)
                                       : page_address(virt_to_head_page(inside));
    return nearest_obj(slab->slab_cache, slab, inside);
}

static void free_after_grace_period(struct rcu_head *head)
{
    kvfree(start_of(head));
}

void kvfree_call_rcu(struct rcu_head *head, void *object)
{
    if (head) {
        call_rcu(head, free_after_grace_period);
        return;
    }
    synchronize_rcu();
    kvfree(object);
}

void kvfree_rcu_barrier(void)
{
    rcu_barrier();
}

void kvfree(const void *object)
{
    if (is_vmalloc_addr(object))
        vfree(object);
    else
        kfree(object);
}
#endif

/* ---- the table --------------------------------------------------------------------------------------------- */

static const struct slab_ops table = {
    .version = KMIRROR_SLAB_OPS_VERSION,
    .nr_bytes = sizeof(struct slab_ops),
    .name = KDIR_NAME,
    .create = create,
    .create_plain = create_plain,
    .destroy = destroy,
    .shrink = shrink,
    .validate = validate,
    .check = check,
    .geometry = geometry,
    .cache_name = cache_name,
    .alloc = alloc,
    .alloc_node = alloc_node,
    .free = free_object,
    .alloc_bulk = alloc_bulk,
    .free_bulk = free_bulk,
    .free_rcu = free_rcu,
    .prefill = prefill,
    .refill = refill,
    .return_sheaf = return_sheaf,
    .alloc_from_sheaf = alloc_from_sheaf,
    .sheaf_size = sheaf_size,
    .kmalloc = size_alloc,
    .kmalloc_node = size_alloc_node,
    .krealloc = size_realloc,
    .kfree = kfree,
    .ksize = ksize,
    .kmalloc_size_roundup = kmalloc_size_roundup,
    .cache_of = cache_of,
    .free_rcu_barrier = kdir_free_rcu_barrier,
    .free_rcu_barrier_on = kdir_free_rcu_barrier_on,
    .counts = counts,
    .cpu_sheaves = cpu_sheaves,
    .stat = stat_of,
    .stat_name = stat_name,
    .stat_clear = stat_clear,
    .object_node = object_node,
    .set_min_partial = store_min_partial,
    .set_sheaf_capacity = set_sheaf_capacity,
    OPS_CPU_ENTRIES,
    OPS_LOOP_ENTRIES(loop_sheaf),
    .set_generation = set_generation,
    .set_cpu_partial = store_cpu_partial,
};

const struct slab_ops *kmirror_slab_ops(void)
{
    kdir_boot();
    return &table;
}
