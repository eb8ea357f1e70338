/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maple tree: a B-tree of ranges over the whole of unsigned long, safe for lockless readers.
 *
 * Every index maps to exactly one entry (NULL where nothing is stored) and neighbouring indices that were stored
 * together form one range. Ranges are inclusive: [first, last]. The simple API (mtree_*) takes the tree's lock by
 * itself; the advanced API (mas_*) works on a cursor, struct ma_state, and leaves locking to the caller.
 *
 * What may be stored: any pointer or xa_mk_value() integer, except values whose low bits are '10' below 4096, which
 * the tree keeps for itself (the simple API answers -EINVAL to them).
 *
 * Layout, constants and names agree with Linux 7.3, because kernel tests read them; C11 and C++20 alike.
 */
#ifndef KMIRROR_LINUX_MAPLE_TREE_H
#define KMIRROR_LINUX_MAPLE_TREE_H

#include <linux/kconfig.h>
#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ geometry */

/* Nodes are 256 bytes, aligned to 256: the low eight bits of a node address carry tags. */
#define MAPLE_NODE_MASK         255UL
#ifdef CONFIG_64BIT
#define MAPLE_NODE_SLOTS        31      /* words of a node behind ->parent */
#define MAPLE_RANGE64_SLOTS     16
#define MAPLE_ARANGE64_SLOTS    10
#else
#define MAPLE_NODE_SLOTS        63
#define MAPLE_RANGE64_SLOTS     32      /* the names are the kernel's: indices have 32 bits here */
#define MAPLE_ARANGE64_SLOTS    21
#endif
#define MAPLE_HEIGHT_MAX        31      /* what five bits of ma_flags can say */
#define MAPLE_RESERVED_RANGE    4096

/* Position and width of the node type in an encoded node pointer. */
#define MAPLE_NODE_TYPE_SHIFT   0x03
#define MAPLE_NODE_TYPE_MASK    0x0F

/* ------------------------------------------------------------------ tree flags (ma_flags) */

#define MT_FLAGS_ALLOC_RANGE    0x01    /* inner nodes record the largest gap below each slot */
#define MT_FLAGS_USE_RCU        0x02    /* readers hold no lock: replaced nodes wait for a grace period */
#define MT_FLAGS_HEIGHT_MASK    0x7C
#define MT_FLAGS_HEIGHT_OFFSET  0x02
#define MT_FLAGS_LOCK_IRQ       0x100
#define MT_FLAGS_LOCK_BH        0x200
#define MT_FLAGS_LOCK_EXTERN    0x300   /* ma_lock is unused, the caller brings a lock */
#define MT_FLAGS_LOCK_MASK      0x300
#define MT_FLAGS_ALLOC_WRAPPED  0x0800  /* a cyclic allocation has gone round once */

/* ------------------------------------------------------------------ enumerations */

enum store_type {
    wr_invalid,
    wr_new_root,            /* the store covers every index */
    wr_store_root,          /* the tree has no node yet */
    wr_exact_fit,           /* same range, other entry */
    wr_spanning_store,      /* first and last lie in different leaves */
    wr_split_store,         /* one leaf becomes two */
    wr_rebalance,           /* one leaf falls below its minimum */
    wr_append,              /* behind the last entry of a leaf */
    wr_node_store,          /* a new copy of one leaf */
    wr_slot_store,          /* one or two slots in place */
};

enum maple_type {
    maple_dense,
    maple_leaf_64,
    maple_range_64,
    maple_arange_64,
    maple_copy,             /* never in a tree: work space of a store */
};

enum maple_status {
    ma_active,              /* standing on a slot of a node */
    ma_start,               /* nothing looked up yet */
    ma_root,                /* the only entry lies in the root pointer */
    ma_none,                /* nothing there */
    ma_pause,               /* the lock was dropped: look up again */
    ma_overflow,            /* the last step met the upper limit */
    ma_underflow,           /* the last step met the lower limit */
    ma_error,               /* node holds MA_ERROR(errno) */
};

/* ------------------------------------------------------------------ nodes */

struct maple_enode;         /* opaque: node address | type << 3 | tag bits */
struct maple_pnode;         /* opaque: parent address | slot << 3 | kind, or tree | 1 in the root */
struct maple_node;
struct slab_sheaf;

/* Where a node's data ends and which slot has its largest gap; shares the last slot of a node that is not full. */
struct maple_metadata {
    unsigned char end;
    unsigned char gap;
};

/* Leaf and inner node without gaps: entry i covers (pivot[i - 1], pivot[i]]. */
struct maple_range_64 {
    struct maple_pnode *parent;
    unsigned long pivot[MAPLE_RANGE64_SLOTS - 1];
    union {
        void __rcu *slot[MAPLE_RANGE64_SLOTS];
        struct {
            void __rcu *pad[MAPLE_RANGE64_SLOTS - 1];
            struct maple_metadata meta;
        };
    };
};

/* Inner node of a tree with MT_FLAGS_ALLOC_RANGE: gap[i] is the largest run of NULL below slot[i]. */
struct maple_arange_64 {
    struct maple_pnode *parent;
    unsigned long pivot[MAPLE_ARANGE64_SLOTS - 1];
    void __rcu *slot[MAPLE_ARANGE64_SLOTS];
    unsigned long gap[MAPLE_ARANGE64_SLOTS];
    struct maple_metadata meta;
};

/* A node cut off the tree, linked to the next one to be freed. */
struct maple_topiary {
    struct maple_pnode *parent;
    struct maple_enode *next;
};

/*
 * Plan of a store that replaces whole nodes (split, rebalance, span): data flow from up to four sources (the third
 * of them may be the simulated node slot/pivot/gap, which holds what the store itself brings) into up to three new nodes.
 */
struct maple_copy {
    struct {
        struct maple_node *node;
        unsigned long max;
        enum maple_type mt;
    } dst[3];
    struct {
        struct maple_node *node;
        unsigned long max;
        unsigned char start, end;
        enum maple_type mt;
    } src[4];
    void __rcu *slot[3];
    unsigned long gap[3];
    unsigned long min;
    union {
        unsigned long pivot[3];
        struct {
            void *_pad[2];
            unsigned long max;
        };
    };
    unsigned char end;
    unsigned char s_count;      /* sources in use */
    unsigned char d_count;      /* destinations in use */
    unsigned char split;
    unsigned char data;         /* slots to place */
    unsigned char height;
};

struct maple_node {
    union {
        struct {
            struct maple_pnode *parent;
            void __rcu *slot[MAPLE_NODE_SLOTS];
        };
        struct {                /* on its way out: what the callback after the grace period needs */
            void *pad;
            struct rcu_head rcu;
            struct maple_enode *piv_parent;
            unsigned char parent_slot;
            enum maple_type type;
            unsigned char slot_len;
            unsigned int ma_flags;
        };
        struct maple_range_64 mr64;
        struct maple_arange_64 ma64;
        struct maple_copy cp;
    };
};

/* ------------------------------------------------------------------ the tree */

/* An all-zero tree is valid and empty. Users take ma_lock through mtree_lock() or mas_lock(). */
struct maple_tree {
    union {
        spinlock_t ma_lock;
        const void *ma_external_lock;   /* with MT_FLAGS_LOCK_EXTERN: whose holder may write; NULL: unchecked */
    };
    unsigned int ma_flags;
    void __rcu *ma_root;
};

#define MTREE_INIT(name, __flags) \
    { { .ma_lock = __SPIN_LOCK_UNLOCKED((name).ma_lock) }, (__flags), NULL }
#define MTREE_INIT_EXT(name, __flags, __lock) \
    { { .ma_external_lock = &(__lock) }, (__flags), NULL }
#define DEFINE_MTREE(name) struct maple_tree name = MTREE_INIT(name, 0)

/* ------------------------------------------------------------------ the cursor */

/*
 * One position in one tree, and the nodes reserved for the store that will happen there.
 *
 * index and last: in, the range asked for; out, the range found. min and max: what node covers. Between two calls the
 * caller must have kept the lock (or the read section), or call mas_pause() or mas_reset() first.
 */
struct ma_state {
    struct maple_tree *tree;
    unsigned long index;
    unsigned long last;
    struct maple_enode *node;       /* or MA_ERROR(errno) */
    unsigned long min;
    unsigned long max;
    struct slab_sheaf *sheaf;       /* reserved nodes, when more than one */
    struct maple_node *alloc;       /* the one reserved node */
    unsigned long node_request;     /* nodes still to be reserved */
    enum maple_status status;
    unsigned char depth;
    unsigned char offset;
    unsigned char mas_flags;
    unsigned char end;
    enum store_type store_type;
};

/* The write side's view of the slot run that a store replaces. */
struct ma_wr_state {
    struct ma_state *mas;
    struct maple_node *node;
    unsigned long r_min;            /* what the slot at mas->offset covers */
    unsigned long r_max;
    enum maple_type type;
    unsigned char offset_end;       /* slot in which mas->last lies */
    unsigned long *pivots;
    unsigned long end_piv;          /* last index covered by offset_end */
    void __rcu **slots;
    void *entry;                    /* what is stored */
    void *content;                  /* what was there */
    unsigned char vacant_height;    /* lowest level with room for one more slot */
    unsigned char sufficient_height;/* lowest level that can lose one slot */
};

/* Dead nodes waiting to be freed together. */
struct ma_topiary {
    struct maple_enode *head;
    struct maple_enode *tail;
    struct maple_tree *mtree;
};

#define MA_ERROR(err) ((struct maple_enode *)(((unsigned long)(err) << 2) | 2UL))

/* Every member is named, in order: one definition for C and for C++. */
#define MA_STATE(name, mt, first, end_)                                                                           \
    struct ma_state name = { .tree = (mt), .index = (first), .last = (end_), .node = NULL, .min = 0,              \
                             .max = ULONG_MAX, .sheaf = NULL, .alloc = NULL, .node_request = 0,                   \
                             .status = ma_start, .depth = 0, .offset = 0, .mas_flags = 0, .end = 0,               \
                             .store_type = wr_invalid }
#define MA_WR_STATE(name, ma_state, wr_entry)                                                                     \
    struct ma_wr_state name = { .mas = (ma_state), .node = NULL, .r_min = 0, .r_max = 0, .type = maple_dense,     \
                                .offset_end = 0, .pivots = NULL, .end_piv = 0, .slots = NULL,                     \
                                .entry = (wr_entry), .content = NULL, .vacant_height = 0,                         \
                                .sufficient_height = 0 }
#define MA_TOPIARY(name, tree) struct ma_topiary name = { .head = NULL, .tail = NULL, .mtree = (tree) }

/* ------------------------------------------------------------------ layout, in both languages */

#ifdef __cplusplus
#define KMIRROR_LAYOUT(what) static_assert(what, #what)
#else
#define KMIRROR_LAYOUT(what) _Static_assert(what, #what)
#endif
#ifdef CONFIG_64BIT
KMIRROR_LAYOUT(sizeof(void *) == 8);
KMIRROR_LAYOUT(sizeof(struct maple_tree) == 56);
KMIRROR_LAYOUT(sizeof(struct ma_state) == 88);
KMIRROR_LAYOUT(sizeof(struct ma_wr_state) == 88);
#else
KMIRROR_LAYOUT(sizeof(void *) == 4);
#endif
KMIRROR_LAYOUT(sizeof(struct maple_node) == 256);
KMIRROR_LAYOUT(sizeof(struct maple_range_64) == 256);
KMIRROR_LAYOUT(sizeof(struct maple_copy) <= 256);
KMIRROR_LAYOUT(__builtin_offsetof(struct maple_node, rcu) == sizeof(void *));
#undef KMIRROR_LAYOUT

/* ------------------------------------------------------------------ locking */

#define mtree_lock(mt)                      spin_lock(&(mt)->ma_lock)
#define mtree_lock_nested(mt, subclass)     spin_lock_nested(&(mt)->ma_lock, subclass)
#define mtree_unlock(mt)                    spin_unlock(&(mt)->ma_lock)
#define mas_lock(mas)                       spin_lock(&(mas)->tree->ma_lock)
#define mas_lock_nested(mas, subclass)      spin_lock_nested(&(mas)->tree->ma_lock, subclass)
#define mas_lock_irqsave(mas, flags)        spin_lock_irqsave(&(mas)->tree->ma_lock, flags)
#define mas_unlock(mas)                     spin_unlock(&(mas)->tree->ma_lock)
#define mas_unlock_irqrestore(mas, flags)   spin_unlock_irqrestore(&(mas)->tree->ma_lock, flags)

/* Who holds an external lock is only known while held-lock checks are on (KMIRROR_LOCKDEP=1); else the answer is yes. */
#define mt_set_external_lock(mt, lock)      ((mt)->ma_external_lock = (lock))
#define mt_on_stack(mt)                     ((mt).ma_external_lock = NULL)
#define mt_lock_is_held(mt)                 (!(mt)->ma_external_lock || lockdep_is_held((mt)->ma_external_lock))
#define mt_write_lock_is_held(mt)           mt_lock_is_held(mt)

static inline bool mt_external_lock(const struct maple_tree *mt)
{
    return (mt->ma_flags & MT_FLAGS_LOCK_MASK) == MT_FLAGS_LOCK_EXTERN;
}

/* ------------------------------------------------------------------ a tree's life */

/**
 * mt_init_flags() - Make an empty tree.
 * @mt: The tree; what it held before is forgotten, not freed.
 * @flags: MT_FLAGS_* ; the height bits must be zero.
 *
 * Context: Any; nobody else may use @mt yet.
 */
static inline void mt_init_flags(struct maple_tree *mt, unsigned int flags)
{
    mt->ma_flags = flags;
    if (mt_external_lock(mt))
        mt->ma_external_lock = NULL;
    else
        spin_lock_init(&mt->ma_lock);
    rcu_assign_pointer(mt->ma_root, NULL);
}

/** mt_init() - Make an empty tree without any flag. */
static inline void mt_init(struct maple_tree *mt)
{
    mt_init_flags(mt, 0);
}

/**
 * mtree_empty() - Does the tree hold no entry at all?
 *
 * Context: Any. Return: true when every index maps to NULL.
 */
static inline bool mtree_empty(const struct maple_tree *mt)
{
    return READ_ONCE(mt->ma_root) == NULL;
}

/** mt_height() - Levels of nodes: 0 for a tree without nodes, 1 when the root is a leaf. */
static inline unsigned int mt_height(const struct maple_tree *mt)
{
    return (mt->ma_flags & MT_FLAGS_HEIGHT_MASK) >> MT_FLAGS_HEIGHT_OFFSET;
}

static inline bool mt_in_rcu(const struct maple_tree *mt)
{
    return (mt->ma_flags & MT_FLAGS_USE_RCU) != 0;
}

/**
 * mt_set_in_rcu() - From now on readers may walk the tree without its lock.
 * mt_clear_in_rcu() - From now on only lock holders may; nodes are reused at once.
 *
 * Context: Take the tree's lock themselves; with an external lock the caller holds it (else WARN).
 */
void mt_set_in_rcu(struct maple_tree *mt);
void mt_clear_in_rcu(struct maple_tree *mt);

/**
 * mtree_destroy() - Free every node; the entries are the caller's. Takes the lock.
 * __mt_destroy() - The same for a caller that holds the lock.
 *
 * Afterwards the tree is empty and usable. In RCU mode nodes are freed after a grace period: rcu_barrier() waits.
 */
void mtree_destroy(struct maple_tree *mt);
void __mt_destroy(struct maple_tree *mt);

/**
 * mtree_dup() - Copy a whole tree, node by node. Takes both locks, the copy's first.
 * __mt_dup() - The same for a caller that holds both.
 * @mt: Source.
 * @new_tree: Empty tree with the same flags.
 *
 * Return: 0; -EINVAL when @new_tree is not empty or its flags differ; -ENOMEM, @new_tree being empty again.
 */
int mtree_dup(struct maple_tree *mt, struct maple_tree *new_tree, gfp_t gfp);
int __mt_dup(struct maple_tree *mt, struct maple_tree *new_tree, gfp_t gfp);

/** maple_tree_init() - Create the node cache. Idempotent; also happens by itself at the first node. */
void maple_tree_init(void);

/* ------------------------------------------------------------------ simple API */

/** mtree_load() - The entry at @index, NULL if none (XA_ZERO_ENTRY reads as NULL). Takes the RCU read lock. */
void *mtree_load(struct maple_tree *mt, unsigned long index);

/**
 * mtree_load_batch() - What mtree_load() would answer for each of @count indices.
 * @indices: In any order; the same one may come twice.
 * @entries: Out: @count entries, NULL where there is none.
 *
 * Eight walks go down the tree side by side, so that their cache misses overlap: worth it from about a dozen random
 * indices on, in trees that do not fit into the cache. Not a snapshot: each entry was there at some moment of the
 * call, but two of them need not have been there together.
 *
 * Context: Any; takes the RCU read lock once. Never fails.
 */
#define KMIRROR_MTREE_LOAD_BATCH 1
void mtree_load_batch(struct maple_tree *mt, const unsigned long *indices, void **entries, size_t count);

/**
 * mtree_store_range() - Overwrite [first, last] with @entry. mtree_store(): one index.
 *
 * Context: Takes the lock; may drop it to allocate when @gfp allows blocking.
 * Return: 0; -EINVAL for a reserved value or first > last; -ENOMEM. On error the tree is as it was.
 */
int mtree_store_range(struct maple_tree *mt, unsigned long first, unsigned long last, void *entry, gfp_t gfp);
int mtree_store(struct maple_tree *mt, unsigned long index, void *entry, gfp_t gfp);

/**
 * mtree_insert_range() - Store only if [first, last] is all NULL. mtree_insert(): one index.
 *
 * Return: 0; -EEXIST when something is there; -EINVAL; -ENOMEM. On error the tree is as it was.
 */
int mtree_insert_range(struct maple_tree *mt, unsigned long first, unsigned long last, void *entry, gfp_t gfp);
int mtree_insert(struct maple_tree *mt, unsigned long index, void *entry, gfp_t gfp);

/** mtree_erase() - Erase the whole range that holds @index. Return: the entry that was there. Allocates, never fails. */
void *mtree_erase(struct maple_tree *mt, unsigned long index);

/**
 * mtree_alloc_range() - Store at the lowest gap of @size indices inside [min, max]; mtree_alloc_rrange(): at the highest.
 * @startp: Out: the first index of the new range.
 *
 * Needs MT_FLAGS_ALLOC_RANGE (else -EINVAL). Return: 0; -EBUSY when there is no such gap; -EINVAL; -ENOMEM.
 */
int mtree_alloc_range(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long size,
                      unsigned long min, unsigned long max, gfp_t gfp);
int mtree_alloc_rrange(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long size,
                       unsigned long min, unsigned long max, gfp_t gfp);

/**
 * mtree_alloc_cyclic() - Store at the first free index at or after *@next, going round inside [range_lo, range_hi].
 *
 * Return: 0; 1 when the search went round; -EBUSY when nothing is free; -EINVAL; -ENOMEM. *@next moves on success only.
 */
int mtree_alloc_cyclic(struct maple_tree *mt, unsigned long *startp, void *entry, unsigned long range_lo,
                       unsigned long range_hi, unsigned long *next, gfp_t gfp);

/**
 * mt_find() - The first entry at or after *@index, up to @max; *@index moves behind its range.
 * mt_find_after() - The same, but ends when *@index has wrapped to 0. For mt_for_each().
 * mt_next(), mt_prev() - The nearest entry above (below) @index within the limit.
 *
 * Context: Take the RCU read lock. XA_ZERO_ENTRY is passed over. Return: the entry or NULL.
 */
void *mt_find(struct maple_tree *mt, unsigned long *index, unsigned long max);
void *mt_find_after(struct maple_tree *mt, unsigned long *index, unsigned long max);
void *mt_next(struct maple_tree *mt, unsigned long index, unsigned long max);
void *mt_prev(struct maple_tree *mt, unsigned long index, unsigned long min);

#define mt_for_each(tree_, entry_, index_, max_) \
    for (entry_ = mt_find(tree_, &(index_), max_); entry_; entry_ = mt_find_after(tree_, &(index_), max_))

/* ------------------------------------------------------------------ advanced API: reading */
/* Context of all of these: the caller holds the lock or is inside rcu_read_lock(). */

/** mas_walk() - Stand on mas->index. Return: the entry there; index and last become its range. */
void *mas_walk(struct ma_state *mas);

/** mas_next() - The next entry up to @max. mas_next_range(): the next range, even if it is NULL. */
void *mas_next(struct ma_state *mas, unsigned long max);
void *mas_next_range(struct ma_state *mas, unsigned long max);

/** mas_prev() - The previous entry down to @min. mas_prev_range(): the previous range, even if it is NULL. */
void *mas_prev(struct ma_state *mas, unsigned long min);
void *mas_prev_range(struct ma_state *mas, unsigned long min);

/** mas_find() - First call: the entry at or after mas->index; then like mas_next(). The _range form stops at NULL ranges. */
void *mas_find(struct ma_state *mas, unsigned long max);
void *mas_find_range(struct ma_state *mas, unsigned long max);

/** mas_find_rev() - First call: the entry at or before mas->index; then like mas_prev(). */
void *mas_find_rev(struct ma_state *mas, unsigned long min);
void *mas_find_range_rev(struct ma_state *mas, unsigned long min);

#define mas_for_each(mas_, entry_, max_)     while (((entry_) = mas_find_inside((mas_), (max_))) != NULL)
#define mas_for_each_rev(mas_, entry_, min_) while (((entry_) = mas_find_rev((mas_), (min_))) != NULL)

/**
 * mas_empty_area() - The lowest gap of @size in [min, max]; index and last become the answer.
 * mas_empty_area_rev() - The highest one.
 *
 * Context: The tree's lock: a gap search does not notice that a writer has replaced the nodes it stands on.
 * Return: 0; -EBUSY when there is none; -EINVAL when the window is smaller than @size or @size is 0.
 */
int mas_empty_area(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size);
int mas_empty_area_rev(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size);

/** mas_pause() - The lock is about to be dropped: the next call looks its place up again, behind the current range. */
void mas_pause(struct ma_state *mas);

/* ------------------------------------------------------------------ advanced API: writing */
/* Context of all of these: the caller holds the tree's lock for writing. */

/** mas_store() - Store over [index, last] with nodes from GFP_NOWAIT. Return: the first old entry; check mas_is_err(). */
void *mas_store(struct ma_state *mas, void *entry);

/** mas_store_gfp() - The same with @gfp; may drop the lock. Return: 0, -EINVAL or -ENOMEM (the tree is as it was). */
int mas_store_gfp(struct ma_state *mas, void *entry, gfp_t gfp);

/**
 * mas_preallocate() - Reserve what storing @entry over [index, last] needs. Return: 0 or -ENOMEM.
 * mas_store_prealloc() - Store with the reservation. Cannot fail; gives back what was not used.
 * mas_destroy() - Give a reservation back.
 */
int mas_preallocate(struct ma_state *mas, void *entry, gfp_t gfp);
void mas_store_prealloc(struct ma_state *mas, void *entry);
void mas_destroy(struct ma_state *mas);

/** mas_erase() - Erase the range that holds mas->index. Return: the entry. May drop the lock; allocates with GFP_KERNEL. */
void *mas_erase(struct ma_state *mas);

/** mas_alloc_cyclic() - mtree_alloc_cyclic() for a caller that holds the lock; may drop it. */
int mas_alloc_cyclic(struct ma_state *mas, unsigned long *startp, void *entry, unsigned long range_lo,
                     unsigned long range_hi, unsigned long *next, gfp_t gfp);

/**
 * mas_nomem() - After a store failed: if it failed for memory, allocate with @gfp, dropping the lock if it may block.
 *
 * Return: true when the store is to be tried again.
 */
bool mas_nomem(struct ma_state *mas, gfp_t gfp);

/** mas_nomem_nofail() - mas_nomem() with GFP_KERNEL | __GFP_NOFAIL for a store over [index, last], which it restores. */
bool mas_nomem_nofail(struct ma_state *mas, unsigned long index, unsigned long last);

/**
 * mas_expected_entries() - Reserve for about @nr_entries appends (Linux 6.12's API; the harness budget does not bound it).
 *
 * Return: 0 or -ENOMEM. End with mas_destroy().
 */
int mas_expected_entries(struct ma_state *mas, unsigned long nr_entries);

/* ------------------------------------------------------------------ cursor helpers */

static inline bool mas_is_active(const struct ma_state *mas)
{
    return mas->status == ma_active;
}

static inline bool mas_is_err(const struct ma_state *mas)
{
    return mas->status == ma_error;
}

/** mas_init() - Start at @addr. */
static inline void mas_init(struct ma_state *mas, struct maple_tree *tree, unsigned long addr)
{
    memset(mas, 0, sizeof(*mas));
    mas->tree = tree;
    mas->index = addr;
    mas->last = addr;
    mas->max = ULONG_MAX;
    mas->status = ma_start;
}

/** mas_reset() - Forget the position: the next call starts at the root. */
static inline void mas_reset(struct ma_state *mas)
{
    mas->node = NULL;
    mas->status = ma_start;
}

/**
 * mas_find_inside() - mas_find(), saving the call while the cursor stays inside its leaf. For mas_for_each().
 *
 * What it reads, and in which order, is what mas_find() reads there: two pivots, the slot, then the dead mark. When
 * anything is out of the ordinary (another status, the end of the leaf, a dead node, a limit), the cursor is as it was and
 * mas_find() does it all.
 */
static inline void *mas_find_inside(struct ma_state *mas, unsigned long max)
{
    unsigned int offset = mas->offset;
    unsigned long last = mas->last;

    while (likely(mas->status == ma_active && offset < mas->end && last < max)) {
        struct maple_node *node = (struct maple_node *)((unsigned long)mas->node & ~MAPLE_NODE_MASK);
        const unsigned long first = READ_ONCE(node->mr64.pivot[offset]) + 1;
        void *entry;

        offset++;
        last = offset < mas->end ? READ_ONCE(node->mr64.pivot[offset]) : mas->max;
        entry = __atomic_load_n(&node->mr64.slot[offset], __ATOMIC_ACQUIRE);
        smp_rmb();
        if (unlikely(((unsigned long)READ_ONCE(node->parent) & ~MAPLE_NODE_MASK) == (unsigned long)node || last < first))
            break;
        if (!entry)
            continue;
        mas->index = first;
        mas->last = last;
        mas->offset = (unsigned char)offset;
        return entry;
    }
    return mas_find(mas, max);
}

/* ------------------------------------------------------------------ checks and dumps */

enum mt_dump_format {
    mt_dump_dec,
    mt_dump_hex,
};

/* How many checks ran and how many of them held, in this process. */
extern atomic_t maple_tree_tests_run;
extern atomic_t maple_tree_tests_passed;

/** mt_validate() - Check every rule of the tree (each is a counted check). Context: the write lock. */
void mt_validate(struct maple_tree *mt);
/** mt_dump() - Print the tree, node by node. */
void mt_dump(const struct maple_tree *mt, enum mt_dump_format format);
/** mas_dump(), mas_wr_dump() - Print a cursor. */
void mas_dump(const struct ma_state *mas);
void mas_wr_dump(const struct ma_wr_state *wr_mas);
/** mt_cache_shrink() - Give free nodes back to the page allocator. */
void mt_cache_shrink(void);

/* Count one check; on failure say where, show @show, and print a stack. The value is whether it failed. */
#define KMIRROR_MT_CHECK(word, cond, show)                                                                        \
    __extension__({                                                                                               \
        const int failed_ = !!(cond);                                                                             \
        atomic_inc(&maple_tree_tests_run);                                                                        \
        if (failed_) {                                                                                            \
            pr_info(word " at %s:%d (%u)\n", __func__, __LINE__, (unsigned int)failed_);                          \
            show;                                                                                                 \
            pr_info("Pass: %u Run:%u\n", (unsigned int)atomic_read(&maple_tree_tests_passed),                     \
                    (unsigned int)atomic_read(&maple_tree_tests_run));                                            \
            dump_stack();                                                                                         \
        } else {                                                                                                  \
            atomic_inc(&maple_tree_tests_passed);                                                                 \
        }                                                                                                         \
        unlikely(failed_);                                                                                        \
    })
#define KMIRROR_SHOW_MT(mt)     mt_dump(mt, mt_dump_hex)
#define KMIRROR_SHOW_MAS(mas)   do { mas_dump(mas); mt_dump((mas)->tree, mt_dump_hex); } while (0)
#define KMIRROR_SHOW_WR(wr)     do { mas_wr_dump(wr); KMIRROR_SHOW_MAS((wr)->mas); } while (0)
#define MT_BUG_ON(mt, cond)         do { (void)KMIRROR_MT_CHECK("BUG", cond, KMIRROR_SHOW_MT(mt)); } while (0)
#define MAS_BUG_ON(mas, cond)       do { (void)KMIRROR_MT_CHECK("BUG", cond, KMIRROR_SHOW_MAS(mas)); } while (0)
#define MAS_WR_BUG_ON(wr, cond)     do { (void)KMIRROR_MT_CHECK("BUG", cond, KMIRROR_SHOW_WR(wr)); } while (0)
#define MT_WARN_ON(mt, cond)        KMIRROR_MT_CHECK("WARN", cond, KMIRROR_SHOW_MT(mt))
#define MAS_WARN_ON(mas, cond)      KMIRROR_MT_CHECK("WARN", cond, KMIRROR_SHOW_MAS(mas))
#define MAS_WR_WARN_ON(wr, cond)    KMIRROR_MT_CHECK("WARN", cond, KMIRROR_SHOW_WR(wr))

/** __mas_set_range() - Ask for [start, last] from where the cursor stands; both must lie in its current range. */
static inline void __mas_set_range(struct ma_state *mas, unsigned long start, unsigned long last)
{
    (void)MAS_WARN_ON(mas, mas_is_active(mas) && (mas->index > start || mas->last < start));
    mas->index = start;
    mas->last = last;
}

/** mas_set_range(), mas_set() - Ask for another range (index); the next call starts at the root. */
static inline void mas_set_range(struct ma_state *mas, unsigned long start, unsigned long last)
{
    mas_reset(mas);
    mas->index = start;
    mas->last = last;
}

static inline void mas_set(struct ma_state *mas, unsigned long index)
{
    mas_set_range(mas, index, index);
}

/* ------------------------------------------------------------------ hooks of the kernel's userspace harness */
/* They act on the maple_node cache; see <kmirror/harness.h> for the two modes. */

void mt_set_non_kernel(unsigned int val);
void mt_set_callback(void (*callback)(void *));
void mt_set_private(void *private_data);
unsigned long mt_get_alloc_size(void);
unsigned long mt_nr_allocated(void);
unsigned long mt_nr_tallocated(void);
void mt_zero_nr_tallocated(void);

#ifdef __cplusplus
}
#endif

#endif
