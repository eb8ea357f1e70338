// SPDX-License-Identifier: GPL-2.0-only
/*
 * The public header as a C program sees it: the layout that kernel tests rely on, checked by the C compiler,
 * and every macro and function used once. The C++ side (layout_test.cpp) compares its own view of the layout.
 *
 * Owns     its trees, which are empty again when a function returns.
 * Fails    with the number of the line that was wrong.
 */
#include "radix-tree-tests/public_in_c.h"

#include <linux/maple_tree.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#define CHECK(cond) do { if (!(cond)) return __LINE__; } while (0)

#define AT(type, member, offset)                                                                             \
    _Static_assert(__builtin_offsetof(type, member) == (offset), #type "." #member)

_Static_assert(sizeof(struct maple_node) == 256, "maple_node");
_Static_assert(MAPLE_NODE_MASK == 255, "tags live below the alignment of a node");
#ifdef CONFIG_64BIT
_Static_assert(sizeof(struct maple_tree) == 56, "maple_tree");
_Static_assert(sizeof(struct ma_state) == 88, "ma_state");
_Static_assert(sizeof(struct ma_wr_state) == 88, "ma_wr_state");
_Static_assert(sizeof(spinlock_t) == 40, "spinlock_t");
_Static_assert(MAPLE_NODE_SLOTS == 31 && MAPLE_RANGE64_SLOTS == 16 && MAPLE_ARANGE64_SLOTS == 10, "slots");

AT(struct maple_tree, ma_lock, 0);
AT(struct maple_tree, ma_external_lock, 0);
AT(struct maple_tree, ma_flags, 40);
AT(struct maple_tree, ma_root, 48);
AT(struct maple_node, parent, 0);
AT(struct maple_node, slot, 8);
AT(struct maple_node, rcu, 8);
AT(struct maple_node, piv_parent, 24);
AT(struct maple_node, parent_slot, 32);
AT(struct maple_node, type, 36);
AT(struct maple_node, slot_len, 40);
AT(struct maple_range_64, pivot, 8);
AT(struct maple_range_64, slot, 128);
AT(struct maple_range_64, meta, 248);
AT(struct maple_arange_64, pivot, 8);
AT(struct maple_arange_64, slot, 80);
AT(struct maple_arange_64, gap, 160);
AT(struct maple_arange_64, meta, 240);
AT(struct ma_state, tree, 0);
AT(struct ma_state, index, 8);
AT(struct ma_state, last, 16);
AT(struct ma_state, node, 24);
AT(struct ma_state, sheaf, 48);
AT(struct ma_state, alloc, 56);
AT(struct ma_state, node_request, 64);
AT(struct ma_state, status, 72);
AT(struct ma_state, store_type, 80);
#else
_Static_assert(MAPLE_NODE_SLOTS == 63 && MAPLE_RANGE64_SLOTS == 32 && MAPLE_ARANGE64_SLOTS == 21, "slots");
AT(struct maple_node, slot, 4);
AT(struct maple_node, rcu, 4);
AT(struct maple_range_64, slot, 128);
AT(struct maple_range_64, meta, 252);
AT(struct maple_arange_64, slot, 84);
AT(struct maple_arange_64, gap, 168);
AT(struct maple_arange_64, meta, 252);
#endif

unsigned long layout_in_c(int number)
{
    switch (number) {
    case 0: return sizeof(struct maple_tree);
    case 1: return sizeof(struct ma_state);
    case 2: return sizeof(struct ma_wr_state);
    case 3: return sizeof(struct maple_node);
    case 4: return sizeof(struct maple_copy);
    case 5: return sizeof(struct ma_topiary);
    case 6: return __builtin_offsetof(struct ma_state, offset);
    case 7: return __builtin_offsetof(struct ma_state, end);
    case 8: return __builtin_offsetof(struct ma_wr_state, vacant_height);
    case 9: return __builtin_offsetof(struct maple_copy, height);
    default: return 0;
    }
}

static DEFINE_MTREE(plain_tree);
static struct maple_tree gap_tree = MTREE_INIT(gap_tree, MT_FLAGS_ALLOC_RANGE);

int public_macros_in_c(void)
{
    unsigned long index = 0, flags, seen = 0;
    void *entry;
    MA_STATE(mas, &plain_tree, 5, 9);
    MA_WR_STATE(wr_mas, &mas, xa_mk_value(1));
    MA_TOPIARY(list, &plain_tree);

    CHECK(mas.tree == &plain_tree && mas.index == 5 && mas.last == 9 && mas.max == ULONG_MAX);
    CHECK(mas.status == ma_start && mas.store_type == wr_invalid && !mas.node && !mas.alloc && !mas.sheaf);
    CHECK(wr_mas.mas == &mas && wr_mas.entry == xa_mk_value(1) && !wr_mas.content);
    CHECK(list.mtree == &plain_tree && !list.head && !list.tail);
    CHECK(MA_ERROR(-ENOMEM) != MA_ERROR(-EINVAL));

    mas_lock(&mas);
    CHECK(mas_store_gfp(&mas, xa_mk_value(1), GFP_KERNEL) == 0);
    mas_unlock(&mas);
    mtree_lock(&plain_tree);
    mtree_lock_nested(&gap_tree, SINGLE_DEPTH_NESTING);
    mtree_unlock(&gap_tree);
    mtree_unlock(&plain_tree);
    mas_lock_irqsave(&mas, flags);
    mas_unlock_irqrestore(&mas, flags);
    mas_lock_nested(&mas, SINGLE_DEPTH_NESTING);
    mas_unlock(&mas);

    CHECK(mtree_store(&plain_tree, 20, xa_mk_value(2), GFP_KERNEL) == 0);
    mt_for_each(&plain_tree, entry, index, ULONG_MAX)
        seen += xa_to_value(entry);
    CHECK(seen == 3 && index == 21);
    mas_set(&mas, 0);
    rcu_read_lock();
    mas_for_each(&mas, entry, ULONG_MAX)
        seen += xa_to_value(entry);
    mas_set(&mas, ULONG_MAX);
    mas_for_each_rev(&mas, entry, 0)
        seen += xa_to_value(entry);
    rcu_read_unlock();
    CHECK(seen == 9);

    MT_BUG_ON(&plain_tree, 0);
    MAS_BUG_ON(&mas, 0);
    MAS_WR_BUG_ON(&wr_mas, 0);
    CHECK(!MT_WARN_ON(&plain_tree, 0) && !MAS_WARN_ON(&mas, 0) && !MAS_WR_WARN_ON(&wr_mas, 0));
    mtree_destroy(&plain_tree);
    CHECK(mtree_empty(&plain_tree));
    return 0;
}

int public_functions_in_c(void)
{
    unsigned long index = 0, next = 0;
    struct maple_tree tree, copy;

    maple_tree_init();
    mt_init(&tree);
    CHECK(mtree_empty(&tree) && mt_height(&tree) == 0 && !mt_in_rcu(&tree) && !mt_external_lock(&tree));
    mt_init_flags(&tree, MT_FLAGS_ALLOC_RANGE);
    mt_init_flags(&copy, MT_FLAGS_ALLOC_RANGE);
    CHECK(mtree_insert(&tree, 3, xa_mk_value(3), GFP_KERNEL) == 0);
    CHECK(mtree_insert(&tree, 3, xa_mk_value(3), GFP_KERNEL) == -EEXIST);
    CHECK(mtree_insert_range(&tree, 10, 19, xa_mk_value(10), GFP_KERNEL) == 0);
    CHECK(mtree_store_range(&tree, 18, 21, xa_mk_value(18), GFP_KERNEL) == 0);
    CHECK(mtree_load(&tree, 17) == xa_mk_value(10) && mtree_load(&tree, 18) == xa_mk_value(18));
    CHECK(mtree_alloc_range(&tree, &index, xa_mk_value(1), 4, 0, 100, GFP_KERNEL) == 0 && index == 4);
    CHECK(mtree_alloc_rrange(&tree, &index, xa_mk_value(1), 4, 0, 100, GFP_KERNEL) == 0 && index == 97);
    CHECK(mtree_alloc_cyclic(&tree, &index, xa_mk_value(1), 50, 60, &next, GFP_KERNEL) == 0 && index == 50);
    index = 4;
    CHECK(mt_find(&tree, &index, 100) == xa_mk_value(1) && index == 8);
    CHECK(mt_find_after(&tree, &index, 100) == xa_mk_value(10) && index == 18);
    CHECK(mt_next(&tree, 3, 100) == xa_mk_value(1) && mt_prev(&tree, 3, 0) == NULL);
    CHECK(mtree_dup(&tree, &copy, GFP_KERNEL) == 0 && mtree_load(&copy, 99) == xa_mk_value(1));
    CHECK(mtree_erase(&tree, 99) == xa_mk_value(1) && mtree_load(&tree, 98) == NULL);
    mt_set_in_rcu(&tree);
    CHECK(mt_in_rcu(&tree));
    mt_clear_in_rcu(&tree);
    mtree_lock(&tree);
    mt_validate(&tree);
    __mt_destroy(&tree);
    mtree_unlock(&tree);
    mtree_destroy(&copy);
    mt_cache_shrink();
    return 0;
}

int public_cursor_in_c(void)
{
    unsigned long index = 0, next = 0;
    struct ma_state mas;

    mas_init(&mas, &gap_tree, 10);
    mas_lock(&mas);
    mas_set_range(&mas, 10, 14);
    mas_store(&mas, xa_mk_value(1));
    CHECK(!mas_is_err(&mas));
    mas_set_range(&mas, 20, 24);
    CHECK(mas_preallocate(&mas, xa_mk_value(2), GFP_KERNEL) == 0);
    mas_store_prealloc(&mas, xa_mk_value(2));
    mas_set(&mas, 12);
    CHECK(mas_walk(&mas) == xa_mk_value(1) && mas_is_active(&mas) && mas.index == 10 && mas.last == 14);
    CHECK(mas_next(&mas, ULONG_MAX) == xa_mk_value(2) && mas_prev(&mas, 0) == xa_mk_value(1));
    CHECK(mas_next_range(&mas, ULONG_MAX) == NULL && mas.index == 15 && mas.last == 19);
    CHECK(mas_prev_range(&mas, 0) == xa_mk_value(1));
    mas_pause(&mas);
    CHECK(mas_find(&mas, ULONG_MAX) == xa_mk_value(2));
    mas_reset(&mas);
    CHECK(mas_find_rev(&mas, 0) == xa_mk_value(2) && mas_find_rev(&mas, 0) == xa_mk_value(1));
    mas_set(&mas, 15);
    CHECK(mas_find_range(&mas, ULONG_MAX) == xa_mk_value(2));
    mas_set(&mas, 19);
    CHECK(mas_find_range_rev(&mas, 0) == xa_mk_value(1));
    mas_reset(&mas);
    CHECK(mas_empty_area(&mas, 0, 100, 11) == 0 && mas.index == 25);
    mas_reset(&mas);
    CHECK(mas_empty_area_rev(&mas, 0, 24, 5) == 0 && mas.index == 15);
    __mas_set_range(&mas, 15, 16);
    CHECK(mas_store_gfp(&mas, xa_mk_value(3), GFP_KERNEL) == 0);
    mas_set(&mas, 16);
    CHECK(mas_erase(&mas) == xa_mk_value(3));
    CHECK(mas_alloc_cyclic(&mas, &index, xa_mk_value(4), 10, 30, &next, GFP_KERNEL) == 0 && index == 15);
    CHECK(mas_expected_entries(&mas, 10) == 0);
    mas_destroy(&mas);
    CHECK(!mas_nomem(&mas, GFP_KERNEL) && !mas_nomem_nofail(&mas, 0, 0));
    mas_unlock(&mas);
    mtree_destroy(&gap_tree);
    return 0;
}

int public_outside_lock_in_c(void)
{
    static DECLARE_RWSEM(outside);
    struct maple_tree tree, copy;
    struct ma_state mas;

    mt_init_flags(&tree, MT_FLAGS_LOCK_EXTERN);
    mt_init_flags(&copy, MT_FLAGS_LOCK_EXTERN);
    mt_on_stack(tree);
    mt_on_stack(copy);
    CHECK(mt_external_lock(&tree) && mt_lock_is_held(&tree));
    mt_set_external_lock(&tree, &outside);
    down_write(&outside);
    CHECK(mt_lock_is_held(&tree) && mt_write_lock_is_held(&tree));
    mas_init(&mas, &tree, 3);
    CHECK(mas_store_gfp(&mas, xa_mk_value(3), GFP_KERNEL) == 0);
    CHECK(__mt_dup(&tree, &copy, GFP_KERNEL) == 0 && mtree_load(&copy, 3) == xa_mk_value(3));
    CHECK(__mt_dup(&tree, &copy, GFP_KERNEL) == -EINVAL);
    __mt_destroy(&copy);
    __mt_destroy(&tree);
    up_write(&outside);
    return 0;
}

/* Prints. */
void public_dumps_in_c(void)
{
    struct maple_tree tree;
    MA_STATE(mas, &tree, 7, 9);
    MA_WR_STATE(wr_mas, &mas, NULL);

    mt_init(&tree);
    mtree_store_range(&tree, 7, 9, xa_mk_value(7), GFP_KERNEL);
    mt_dump(&tree, mt_dump_dec);
    mt_dump(&tree, mt_dump_hex);
    mas_dump(&mas);
    mas_wr_dump(&wr_mas);
    mtree_destroy(&tree);
}

static unsigned int calls;

static void count_call(void *times)
{
    calls += *(unsigned int *)times;
}

/* In mock mode only, in a process that has no tree yet. */
int public_harness_in_c(void)
{
    struct maple_tree tree;
    unsigned int three = 3;
    struct ma_state mas;

    mt_init(&tree);
    mt_zero_nr_tallocated();
    mas_init(&mas, &tree, 5);
    mas_lock(&mas);
    mt_set_private(&three);
    mt_set_callback(count_call);
    mas_store(&mas, xa_mk_value(1));
    CHECK(mas_is_err(&mas) && mt_nr_allocated() == 0 && mtree_empty(&tree));
    mt_set_non_kernel(1);
    mas_reset(&mas);
    mas_store(&mas, xa_mk_value(1));
    CHECK(!mas_is_err(&mas) && calls == 3);
    mas_unlock(&mas);
    mt_set_callback(NULL);
    CHECK(mt_nr_allocated() == 1 && mt_nr_tallocated() == 1);
    CHECK(mt_get_alloc_size() == sizeof(struct maple_node));
    mtree_destroy(&tree);
    CHECK(mt_nr_allocated() == 0);
    return 0;
}
