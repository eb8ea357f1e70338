/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/slab.h>: object caches, sheaves and kmalloc, for C11 and C++20.
 *
 * Owns     the public names of lib/slub: flags, creation arguments, entry points.
 * Bounds   objects of a cache up to KMALLOC_MAX_SIZE bytes; kmalloc up to
 *          KMALLOC_MAX_SIZE, above KMALLOC_MAX_CACHE_SIZE straight from pages.
 * Locking  no function here wants a lock held. Those that may sleep say so; all
 *          others may be called with any lock of the caller's own held.
 * Fails    NULL, false or -ENOMEM when memory ran out, with nothing taken; the
 *          caches stay as they were. Misuse warns and changes nothing.
 *
 * A gfp mask without __GFP_DIRECT_RECLAIM (GFP_NOWAIT, GFP_ATOMIC) never sleeps.
 */
#ifndef _LINUX_SLAB_H
#define _LINUX_SLAB_H

#include <linux/kconfig.h>
#include <linux/types.h>
#include <linux/stddef.h>
#include <linux/cache.h>
#include <linux/bug.h>
#include <linux/err.h>
#include <linux/numa.h>
#include <linux/gfp.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kmem_cache;
struct slab_sheaf;
struct list_lru;

/*
 * Flag bits, numbered as in a kernel with FAILSLAB and MEMCG, without
 * DEBUG_OBJECTS, KASAN, KFENCE and object extensions.
 */
enum _slab_flag_bits {
    _SLAB_CONSISTENCY_CHECKS,
    _SLAB_RED_ZONE,
    _SLAB_POISON,
    _SLAB_KMALLOC,
    _SLAB_HWCACHE_ALIGN,
    _SLAB_CACHE_DMA,
    _SLAB_CACHE_DMA32,
    _SLAB_STORE_USER,
    _SLAB_PANIC,
    _SLAB_TYPESAFE_BY_RCU,
    _SLAB_TRACE,
    _SLAB_NOLEAKTRACE,
    _SLAB_NO_MERGE,
    _SLAB_FAILSLAB,
    _SLAB_ACCOUNT,
    _SLAB_MAY_ACCOUNT,
    _SLAB_NO_USER_FLAGS,
    _SLAB_RECLAIM_ACCOUNT,
    _SLAB_OBJECT_POISON,
    _SLAB_CMPXCHG_DOUBLE,
    _SLAB_NO_SHEAVES,
    _SLAB_FLAGS_LAST_BIT
};

#define __SLAB_FLAG_BIT(nr)     ((slab_flags_t)(1U << (nr)))
#define __SLAB_FLAG_UNUSED      ((slab_flags_t)0U)

/*
 * Debugging, see lib/slub/debug.h: every allocation and free checks the object and its slab;
 * bytes around it are watched; free objects hold a pattern; who had it is kept; everything is
 * said in the log. Such a cache has no sheaves and is slow.
 */
#define SLAB_CONSISTENCY_CHECKS __SLAB_FLAG_BIT(_SLAB_CONSISTENCY_CHECKS)
#define SLAB_RED_ZONE           __SLAB_FLAG_BIT(_SLAB_RED_ZONE)
#define SLAB_POISON             __SLAB_FLAG_BIT(_SLAB_POISON)
#define SLAB_STORE_USER         __SLAB_FLAG_BIT(_SLAB_STORE_USER)
#define SLAB_TRACE              __SLAB_FLAG_BIT(_SLAB_TRACE)

/* One of the size classes behind kmalloc(); set by the allocator alone. */
#define SLAB_KMALLOC            __SLAB_FLAG_BIT(_SLAB_KMALLOC)
/*
 * Objects start on a cache line; objects of half a line or less on the
 * matching fraction of one (32, 16, ... bytes). A larger args->align wins.
 */
#define SLAB_HWCACHE_ALIGN      __SLAB_FLAG_BIT(_SLAB_HWCACHE_ALIGN)
#define SLAB_CACHE_DMA          __SLAB_FLAG_BIT(_SLAB_CACHE_DMA)
#define SLAB_CACHE_DMA32        __SLAB_FLAG_BIT(_SLAB_CACHE_DMA32)
/* A creation that fails ends the program instead of returning NULL. */
#define SLAB_PANIC              __SLAB_FLAG_BIT(_SLAB_PANIC)
/*
 * A slab's pages outlive its last free by a grace period. The *object* does
 * not: after kmem_cache_free() a reader may find another object of the same
 * cache at the same address, so it has to check whose it is after pinning it.
 */
#define SLAB_TYPESAFE_BY_RCU    __SLAB_FLAG_BIT(_SLAB_TYPESAFE_BY_RCU)
#define SLAB_DEBUG_OBJECTS      __SLAB_FLAG_UNUSED
#define SLAB_NOLEAKTRACE        __SLAB_FLAG_BIT(_SLAB_NOLEAKTRACE)
/* Never share this cache's slabs with another cache of like geometry. */
#define SLAB_NO_MERGE           __SLAB_FLAG_BIT(_SLAB_NO_MERGE)
/* The failslab attribute's cache filter looks for this mark. */
#define SLAB_FAILSLAB           __SLAB_FLAG_BIT(_SLAB_FAILSLAB)
#define SLAB_ACCOUNT            __SLAB_FLAG_BIT(_SLAB_ACCOUNT)
#define SLAB_MAY_ACCOUNT        __SLAB_FLAG_BIT(_SLAB_MAY_ACCOUNT)
#define SLAB_KASAN              __SLAB_FLAG_UNUSED
#define SLAB_NO_USER_FLAGS      __SLAB_FLAG_BIT(_SLAB_NO_USER_FLAGS)
#define SLAB_SKIP_KFENCE        __SLAB_FLAG_UNUSED
/* Pages are taken with __GFP_RECLAIMABLE. */
#define SLAB_RECLAIM_ACCOUNT    __SLAB_FLAG_BIT(_SLAB_RECLAIM_ACCOUNT)
#define SLAB_TEMPORARY          SLAB_RECLAIM_ACCOUNT
#define SLAB_NO_OBJ_EXT         __SLAB_FLAG_UNUSED
#define SLAB_OBJ_EXT_IN_OBJ     __SLAB_FLAG_UNUSED
/* No sheaves whatever the rules say; set by the allocator for its boot caches. */
#define SLAB_NO_SHEAVES         __SLAB_FLAG_BIT(_SLAB_NO_SHEAVES)

/* What kmalloc(0) returns: may be passed to kfree(), krealloc(), ksize(); never read. */
#define ZERO_SIZE_PTR           ((void *)16)
#define ZERO_OR_NULL_PTR(x)     ((unsigned long)(x) <= (unsigned long)ZERO_SIZE_PTR)

#define ARCH_KMALLOC_MINALIGN   8
#define ARCH_SLAB_MINALIGN      8
#define KMALLOC_SHIFT_LOW       3
#define KMALLOC_SHIFT_HIGH      (PAGE_SHIFT + 1)
#define KMALLOC_SHIFT_MAX       (MAX_PAGE_ORDER + PAGE_SHIFT)
/* Bytes: largest request, largest one served from a size class, smallest class. */
#define KMALLOC_MAX_SIZE        (1UL << KMALLOC_SHIFT_MAX)
#define KMALLOC_MAX_CACHE_SIZE  (1UL << KMALLOC_SHIFT_HIGH)
#define KMALLOC_MAX_ORDER       (KMALLOC_SHIFT_MAX - PAGE_SHIFT)
#define KMALLOC_MIN_SIZE        (1 << KMALLOC_SHIFT_LOW)
#define SLAB_OBJ_MIN_SIZE       (KMALLOC_MIN_SIZE < 16 ? (KMALLOC_MIN_SIZE) : 16)

/*
 * struct kmem_cache_args - the rarer wishes of a cache. Zeroed means none.
 * @align:              bytes, a power of two; 0: no wish.
 * @useroffset:         first byte of the part that may go to user space.
 * @usersize:           length of that part in bytes; 0: there is none.
 * @freeptr_offset:     byte at which a free object holds its link, a multiple of
 *                      the pointer size inside the object. Only for caches with
 *                      @ctor or SLAB_TYPESAFE_BY_RCU, which otherwise keep the
 *                      link behind the object.
 * @use_freeptr_offset: @freeptr_offset counts (0 is a valid offset).
 * @ctor:               run once on each object when its slab is new. Who frees an
 *                      object returns it in that state.
 * @sheaf_capacity:     objects a sheaf should hold at least; also keeps the cache
 *                      from being merged. 0: by the rule for its size.
 */
struct kmem_cache_args {
    unsigned int align;
    unsigned int useroffset;
    unsigned int usersize;
    unsigned int freeptr_offset;
    bool use_freeptr_offset;
    void (*ctor)(void *object);
    unsigned int sheaf_capacity;
};

/*
 * slab_is_available() - may objects be allocated yet?
 * Context: any. Return: true from the end of kmem_cache_init() on. Nobody has to
 * ask: the first creation or kmalloc() starts the allocator.
 */
bool slab_is_available(void);

/*
 * kmem_cache_init() - start the allocator: boot caches, then the size classes.
 * Context: may sleep; any thread, any number of times, also at once. Only the
 * first call does something; all return when it is done.
 */
void kmem_cache_init(void);

/*
 * __kmem_cache_create_args() - make a cache, or join one of like geometry.
 * @name:        copied; shown in statistics and reports.
 * @object_size: bytes, 1 to KMALLOC_MAX_SIZE.
 * @args:        may be NULL: all defaults.
 * @flags:       SLAB_HWCACHE_ALIGN, _PANIC, _TYPESAFE_BY_RCU, _ACCOUNT, _NO_MERGE,
 *               _RECLAIM_ACCOUNT, _CACHE_DMA(32), _NO_USER_FLAGS, _NOLEAKTRACE,
 *               and for debugging _CONSISTENCY_CHECKS, _RED_ZONE, _POISON, _STORE_USER, _TRACE.
 *
 * Context: may sleep; takes the cache mutex.
 * Return: the cache, with one more user to be ended by kmem_cache_destroy(); NULL
 * (program end with SLAB_PANIC) when memory ran out, a flag is unknown,
 * or a size, alignment or offset is impossible; then nothing is left over.
 */
struct kmem_cache *__kmem_cache_create_args(const char *name, unsigned int object_size,
                        struct kmem_cache_args *args,
                        slab_flags_t flags);

/* __kmem_cache_create() - the same with the older five arguments. */
struct kmem_cache *__kmem_cache_create(const char *name, unsigned int size,
                       unsigned int align, slab_flags_t flags,
                       void (*ctor)(void *object));

/* kmem_cache_create_usercopy() - the same with a region that may go to user space. */
struct kmem_cache *kmem_cache_create_usercopy(const char *name, unsigned int size,
                          unsigned int align, slab_flags_t flags,
                          unsigned int useroffset,
                          unsigned int usersize,
                          void (*ctor)(void *object));

/*
 * kmem_cache_destroy() - end one use of a cache, and with the last one the cache.
 * @s: may be NULL.
 *
 * Context: may sleep. Waits until every object given to kfree_rcu() is back.
 * With live objects the kernel's report is printed, a warning raised, and the cache
 * stays: out of the list of caches, its remaining objects valid and freeable, its
 * memory kept. The caller must not allocate from @s again.
 */
void kmem_cache_destroy(struct kmem_cache *s);

/*
 * kmem_cache_shrink() - give back what no object needs.
 * Context: may sleep. Empties all sheaves and barns, frees empty slabs and sorts the
 * partial lists, fullest first. Return: 0 when no slab is left, else 1.
 */
int kmem_cache_shrink(struct kmem_cache *s);

/* kmem_cache_size() - usable bytes of one object. Context: any. */
unsigned int kmem_cache_size(struct kmem_cache *s);

/*
 * kmem_cache_alloc() - one object.
 * Context: any, may sleep if @flags allow it. Return: an object aligned as asked,
 * its bytes undefined unless __GFP_ZERO or a constructor says otherwise; NULL when
 * memory ran out.
 */
void *kmem_cache_alloc(struct kmem_cache *s, gfp_t flags);

/* kmem_cache_alloc_lru() - as kmem_cache_alloc(); @lru is not looked at. */
void *kmem_cache_alloc_lru(struct kmem_cache *s, struct list_lru *lru, gfp_t flags);

/*
 * kmem_cache_alloc_node() - one object of @node's memory if there is some.
 * @node: a node, or NUMA_NO_NODE. With __GFP_THISNODE no other node will do.
 * Context and return: as kmem_cache_alloc().
 */
void *kmem_cache_alloc_node(struct kmem_cache *s, gfp_t flags, int node);

/*
 * kmem_cache_charge() - charge an object to the caller's group, see <linux/memcontrol.h>, unless
 * it is charged already. Context: any. Return: false beyond the group's limit.
 */
bool kmem_cache_charge(void *objp, gfp_t gfpflags);

/*
 * kmem_cache_free() - give one object back.
 * @objp: an object of @s, not NULL. Of another cache, or none: a warning, nothing freed.
 * Context: any; never sleeps, may take list_lock.
 */
void kmem_cache_free(struct kmem_cache *s, void *objp);

/*
 * kmem_cache_alloc_bulk() - @size objects or none.
 * Context: as kmem_cache_alloc(), not in a section that may not spin.
 * Return: true and @size objects in @p; false, nothing allocated, @p undefined.
 */
bool kmem_cache_alloc_bulk(struct kmem_cache *s, gfp_t flags, size_t size, void **p);

/*
 * kmem_cache_free_bulk() - give @size objects back.
 * @s: their cache, or NULL: each object's own (kmalloc memory too).
 * @p: the objects; the array may be overwritten, and may lie inside another
 *     object of the cache that is freed next.
 * Context: any; never sleeps.
 */
void kmem_cache_free_bulk(struct kmem_cache *s, size_t size, void **p);

/* kfree_bulk() - kmem_cache_free_bulk() over objects of any caches. */
static inline void kfree_bulk(size_t size, void **p)
{
    kmem_cache_free_bulk(NULL, size, p);
}

/*
 * kmem_cache_prefill_sheaf() - reserve objects, so that later allocations cannot fail.
 * @size: objects wanted; above the cache's sheaf capacity a larger one-off sheaf.
 *
 * Context: as kmem_cache_alloc(). Return: a sheaf with at least @size objects, the
 * caller's until kmem_cache_return_sheaf(); NULL when memory ran out, and then no
 * object has left the cache.
 */
struct slab_sheaf *kmem_cache_prefill_sheaf(struct kmem_cache *s, gfp_t gfp,
                        unsigned int size);

/*
 * kmem_cache_refill_sheaf() - bring a reserved sheaf up to @size objects.
 * Context: as kmem_cache_alloc(). Return: 0, *@sheafp possibly a new, larger sheaf;
 * -EINVAL when @sheafp or *@sheafp is NULL, -ENOMEM: *@sheafp unchanged and valid,
 * holding what it held, or more.
 */
int kmem_cache_refill_sheaf(struct kmem_cache *s, gfp_t gfp, struct slab_sheaf **sheafp,
                unsigned int size);

/*
 * kmem_cache_return_sheaf() - end a reservation; unused objects go back.
 * Context: as kmem_cache_alloc() (@gfp is for topping the sheaf up; failing is fine).
 */
void kmem_cache_return_sheaf(struct kmem_cache *s, gfp_t gfp, struct slab_sheaf *sheaf);

/*
 * kmem_cache_alloc_from_sheaf() - one of the reserved objects.
 * Context: any; takes no lock. @gfp: only __GFP_ZERO and accounting matter.
 * Return: an object; NULL when the sheaf is empty.
 */
void *kmem_cache_alloc_from_sheaf(struct kmem_cache *s, gfp_t gfp, struct slab_sheaf *sheaf);

/* kmem_cache_sheaf_size() - objects left in a reserved sheaf. Context: its owner's. */
unsigned int kmem_cache_sheaf_size(struct slab_sheaf *sheaf);

/* Kinds of size classes; a request's gfp mask picks one, see kmalloc_type(). */
enum kmalloc_cache_type {
    KMALLOC_NORMAL = 0,
    KMALLOC_DMA = KMALLOC_NORMAL,
    KMALLOC_NO_OBJ_EXT = KMALLOC_NORMAL,
    KMALLOC_RECLAIM,
    KMALLOC_CGROUP,
    NR_KMALLOC_TYPES
};

typedef struct kmem_cache *kmem_buckets[KMALLOC_SHIFT_HIGH + 1];
/* By type and index, see kmalloc_index(); NULL until the allocator has started. */
extern kmem_buckets kmalloc_caches[NR_KMALLOC_TYPES];

#define KMALLOC_NOT_NORMAL_BITS (__GFP_RECLAIMABLE | __GFP_ACCOUNT)

/* kmalloc_type() - reclaimable beats accounted beats normal. Context: any. */
static inline __attribute__((__always_inline__)) enum kmalloc_cache_type
kmalloc_type(gfp_t flags)
{
    if (__builtin_expect((flags & KMALLOC_NOT_NORMAL_BITS) == 0, 1))
        return KMALLOC_NORMAL;
    return flags & __GFP_RECLAIMABLE ? KMALLOC_RECLAIM : KMALLOC_CGROUP;
}

/*
 * kmalloc_index() - the size class of a request of 1 to KMALLOC_MAX_CACHE_SIZE bytes:
 * 1 for 65 to 96 bytes, 2 for 129 to 192, else n for 2^(n-1)+1 to 2^n, at least 3.
 * 0 bytes have index 0, which is no class. Folds to a constant. Context: any.
 */
static inline __attribute__((__always_inline__)) unsigned int kmalloc_index(size_t size)
{
    if (!size)
        return 0;
    if (size <= KMALLOC_MIN_SIZE)
        return KMALLOC_SHIFT_LOW;
    if (size > 64 && size <= 96)
        return 1;
    if (size > 128 && size <= 192)
        return 2;
    return 64 - (unsigned int)__builtin_clzll((unsigned long long)size - 1);
}

/* The class of a request within KMALLOC_MAX_CACHE_SIZE; NULL until the allocator has started. */
static inline __attribute__((__always_inline__)) struct kmem_cache *
__kmalloc_bucket(size_t size, gfp_t flags)
{
    return __atomic_load_n(&kmalloc_caches[kmalloc_type(flags)][kmalloc_index(size)],
                           __ATOMIC_ACQUIRE);
}

/* Behind kmalloc() and its family; call those instead. A NULL cache is looked up. */
void *__kmalloc(size_t size, gfp_t flags);
void *__kmalloc_node(size_t size, gfp_t flags, int node);
void *__kmalloc_cache(struct kmem_cache *s, gfp_t flags, size_t size);
void *__kmalloc_cache_node(struct kmem_cache *s, gfp_t flags, int node, size_t size);
void *__kmalloc_large(size_t size, gfp_t flags);
void *__kmalloc_large_node(size_t size, gfp_t flags, int node);

/*
 * kmalloc() - @size bytes, aligned to 8 and to the largest power of two dividing the
 * class (a power of two request is aligned to itself).
 * Context: any, may sleep if @flags allow it. Return: the memory, bytes undefined
 * without __GFP_ZERO; ZERO_SIZE_PTR for 0 bytes; NULL when memory ran out or @size is
 * above KMALLOC_MAX_SIZE (which warns unless __GFP_NOWARN).
 */
static inline __attribute__((__always_inline__)) void *kmalloc(size_t size, gfp_t flags)
{
    if (__builtin_constant_p(size) && size) {
        if (size > KMALLOC_MAX_CACHE_SIZE)
            return __kmalloc_large(size, flags);
        return __kmalloc_cache(__kmalloc_bucket(size, flags), flags, size);
    }
    return __kmalloc(size, flags);
}

/* kmalloc_node() - as kmalloc(), from @node's memory if there is some. */
static inline __attribute__((__always_inline__)) void *kmalloc_node(size_t size, gfp_t flags,
                                    int node)
{
    if (__builtin_constant_p(size) && size) {
        if (size > KMALLOC_MAX_CACHE_SIZE)
            return __kmalloc_large_node(size, flags, node);
        return __kmalloc_cache_node(__kmalloc_bucket(size, flags), flags, node, size);
    }
    return __kmalloc_node(size, flags, node);
}

/* kzalloc(), kzalloc_node(), kmem_cache_zalloc() - all bytes 0, else as without the z. */
static inline void *kzalloc(size_t size, gfp_t flags)
{
    return kmalloc(size, flags | __GFP_ZERO);
}

static inline void *kzalloc_node(size_t size, gfp_t flags, int node)
{
    return kmalloc_node(size, flags | __GFP_ZERO, node);
}

static inline void *kmem_cache_zalloc(struct kmem_cache *s, gfp_t flags)
{
    return kmem_cache_alloc(s, flags | __GFP_ZERO);
}

/*
 * kmalloc_array(), kcalloc() and their _node forms - @n elements of @size bytes; NULL
 * also when the product does not fit a size_t. Context: as kmalloc().
 */
static inline void *kmalloc_array_node(size_t n, size_t size, gfp_t flags, int node)
{
    size_t bytes;

    return __builtin_mul_overflow(n, size, &bytes) ? NULL : __kmalloc_node(bytes, flags, node);
}

static inline void *kmalloc_array(size_t n, size_t size, gfp_t flags)
{
    size_t bytes;

    return __builtin_mul_overflow(n, size, &bytes) ? NULL : kmalloc(bytes, flags);
}

static inline void *kcalloc(size_t n, size_t size, gfp_t flags)
{
    return kmalloc_array(n, size, flags | __GFP_ZERO);
}

static inline void *kcalloc_node(size_t n, size_t size, gfp_t flags, int node)
{
    return kmalloc_array_node(n, size, flags | __GFP_ZERO, node);
}

/*
 * krealloc_node_align() - change the size of kmalloc memory.
 * @p:        may be NULL or ZERO_SIZE_PTR: then as kmalloc().
 * @new_size: bytes; 0 frees @p and returns ZERO_SIZE_PTR.
 * @align:    bytes the result must be aligned to; not above what kmalloc() gives.
 * @nid:      a node, or NUMA_NO_NODE. @p on another node is moved.
 *
 * Context: as kmalloc(). Return: the memory, its first bytes as they were, @p itself
 * when the class is large enough; with __GFP_ZERO what follows is 0, provided that
 * every earlier step asked for it too. NULL: no memory, @p still valid.
 */
void *krealloc_node_align(const void *p, size_t new_size, unsigned long align, gfp_t flags,
              int nid) __attribute__((__warn_unused_result__));

/* krealloc(), krealloc_array() - without alignment and node; else the same. */
static inline __attribute__((__warn_unused_result__)) void *
krealloc(const void *p, size_t new_size, gfp_t flags)
{
    return krealloc_node_align(p, new_size, 1, flags, NUMA_NO_NODE);
}

static inline __attribute__((__warn_unused_result__)) void *
krealloc_array(void *p, size_t new_n, size_t new_size, gfp_t flags)
{
    size_t bytes;

    return __builtin_mul_overflow(new_n, new_size, &bytes) ? NULL : krealloc(p, bytes, flags);
}

/*
 * kfree() - give back kmalloc memory or an object of any cache.
 * @objp: NULL and ZERO_SIZE_PTR are no-ops. Memory of neither kind: warns.
 * Context: any; never sleeps.
 */
void kfree(const void *objp);

/*
 * kmalloc_nolock() - kmalloc() where no lock may be waited for: a signal handler, a section
 * between nmi_enter() and nmi_exit(), or any other.
 * @gfp: __GFP_ACCOUNT, __GFP_ZERO, __GFP_NOWARN, __GFP_NOMEMALLOC or 0; other bits warn.
 * Context: any; locks are tried only. Never boots the allocator.
 * Return: the memory, perhaps of the next larger class; NULL when @size is above
 * KMALLOC_MAX_CACHE_SIZE, when every lock on the way was taken, or without memory.
 */
void *kmalloc_nolock(size_t size, gfp_t gfp, int node);

/*
 * kfree_nolock() - give such memory back from such a place. Memory of a cache will do as
 * well; a large kmalloc warns and stays. Context: any. An object that fits no sheaf at
 * once is kept aside until somebody leaves the allocator's fast paths or asks for
 * kvfree_rcu_barrier(), kmem_cache_shrink() or kmem_cache_destroy().
 */
void kfree_nolock(const void *objp);

/* kfree_sensitive() - kfree() after overwriting all usable bytes with 0. */
void kfree_sensitive(const void *objp);

/*
 * ksize() - usable bytes behind @objp: its class or page count; 0 for NULL and
 * ZERO_SIZE_PTR. Bytes beyond the requested size stay out of bounds for the caller
 * (the address sanitizer reports them); krealloc() makes them usable. Context: any.
 */
size_t ksize(const void *objp);

/* kmalloc_size_roundup() - usable bytes a kmalloc(@size) would have. Context: any. */
size_t kmalloc_size_roundup(size_t size);

/*
 * kmem_dump_obj() - add to the line that is being logged whose memory @object is: cache,
 * start, offset into it, size.
 * @object: any address. Context: any. Return: true when it lies in a slab.
 */
bool kmem_dump_obj(void *object);

/* mem_dump_obj() - the same for an address of any kind; says so when it is nobody's. */
void mem_dump_obj(void *object);

/*
 * kmem_buckets_create() - size classes of one's own, apart from everybody else's.
 * @name: "@name-64" and so on are the caches' names. @flags: as for a cache.
 * @useroffset, @usersize: bytes of each object that may go to user space; cut to its size.
 * @ctor: may be NULL.
 * Context: may sleep. Return: NULL without memory; they are never destroyed.
 */
kmem_buckets *kmem_buckets_create(const char *name, slab_flags_t flags, unsigned int useroffset,
                                  unsigned int usersize, void (*ctor)(void *object));

/* kmem_buckets_alloc() - kmalloc() from such classes; kfree() takes it back. */
void *kmem_buckets_alloc(kmem_buckets *buckets, size_t size, gfp_t flags);

/*
 * kvmalloc_node_align() - memory by kmalloc(), and when there is no such block, by vmalloc().
 * @align: bytes the result must be aligned to; not above what kmalloc() gives, or a page.
 *
 * Up to a page it is kmalloc(). Above, kmalloc() is only tried: without reclaim (unless
 * __GFP_RETRY_MAYFAIL) and without a word; __GFP_NOFAIL then holds for vmalloc().
 * Context: as kmalloc(). Return: the memory, to be given back by kvfree(); NULL without
 * any, or above INT_MAX bytes, which warns unless __GFP_NOWARN.
 */
void *kvmalloc_node_align(size_t size, unsigned long align, gfp_t flags, int node);

static inline void *kvmalloc_node(size_t size, gfp_t flags, int node)
{
    return kvmalloc_node_align(size, 1, flags, node);
}

static inline void *kvmalloc(size_t size, gfp_t flags)
{
    return kvmalloc_node(size, flags, NUMA_NO_NODE);
}

static inline void *kvzalloc(size_t size, gfp_t flags)
{
    return kvmalloc(size, flags | __GFP_ZERO);
}

static inline void *kvmalloc_array(size_t n, size_t size, gfp_t flags)
{
    size_t bytes;

    return __builtin_mul_overflow(n, size, &bytes) ? NULL : kvmalloc(bytes, flags);
}

static inline void *kvcalloc(size_t n, size_t size, gfp_t flags)
{
    return kvmalloc_array(n, size, flags | __GFP_ZERO);
}

/* kmem_buckets_valloc() - kvmalloc() that begins with buckets of one's own. */
void *kmem_buckets_valloc(kmem_buckets *buckets, size_t size, gfp_t flags);

/*
 * kvrealloc() - change the size of memory of either kind; it may change from kmalloc() to
 * vmalloc(), never back. Context and return: as krealloc().
 */
void *kvrealloc(const void *p, size_t size, gfp_t flags) __attribute__((__warn_unused_result__));

/* kvfree(), kvfree_sensitive() - give it back; the second clears @len bytes before. Any kmalloc memory too. */
void kvfree(const void *addr);
void kvfree_sensitive(const void *addr, size_t len);

/*
 * kvfree_call_rcu() - behind kfree_rcu(): free @ptr after a grace period.
 * @head: the rcu_head inside the object, overwritten when the object cannot wait in a
 *        sheaf; NULL for kfree_rcu_mightsleep(), which may wait for the grace period.
 * @ptr:  kmalloc memory or an object of any cache.
 * Context: any with @head; may sleep without. Cannot fail.
 */
void kvfree_call_rcu(struct rcu_head *head, void *ptr);

/*
 * kvfree_rcu_barrier() - wait until everything given to kfree_rcu() so far is freed.
 * kvfree_rcu_barrier_on_cache() - the same for the objects of one cache.
 * Context: may sleep; not inside a read-side section.
 */
void kvfree_rcu_barrier(void);
void kvfree_rcu_barrier_on_cache(struct kmem_cache *s);

#ifdef __cplusplus
} /* extern "C" */

/*
 * kmem_cache_create() - the older form, and the one with the rarer wishes in @args
 * (nullptr: none). See __kmem_cache_create_args() for context and return.
 */
static inline struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
                           unsigned int align, slab_flags_t flags,
                           void (*ctor)(void *object))
{
    return __kmem_cache_create(name, size, align, flags, ctor);
}

static inline struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
                           struct kmem_cache_args *args,
                           slab_flags_t flags)
{
    return __kmem_cache_create_args(name, size, args, flags);
}

#else /* C: told apart by the number of arguments */

#define __KMEM_CACHE_CREATE_PICK(n, s, a, f, c, function, ...) function
#define kmem_cache_create(...)                                                  \
    __KMEM_CACHE_CREATE_PICK(__VA_ARGS__, __kmem_cache_create,      \
                 __kmem_cache_create_args, 0)(__VA_ARGS__)
#endif

/* KMEM_CACHE() - a cache for objects of a struct, with its name and alignment. */
#define KMEM_CACHE(__struct, __flags)                                           \
    __kmem_cache_create(#__struct, sizeof(struct __struct),         \
                __alignof__(struct __struct), (__flags), NULL)

/* KMEM_CACHE_USERCOPY() - the same; the member __field may go to user space. */
#define KMEM_CACHE_USERCOPY(__struct, __flags, __field)                         \
    kmem_cache_create_usercopy(#__struct, sizeof(struct __struct),      \
                   __alignof__(struct __struct), (__flags), \
                   offsetof(struct __struct, __field),      \
                   sizeof(((struct __struct *)0)->__field), NULL)

#endif /* _LINUX_SLAB_H */
