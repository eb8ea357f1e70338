/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maple tree from C, as a user of <linux/maple_tree.h> writes it: small jobs, each ending with an empty
 * tree. Runs through <cmocka.h>.
 */
#include <cmocka.h>

#include <linux/maple_tree.h>
#include <linux/slab.h>
#include <linux/xarray.h>

static int new_tree(void **state)
{
    struct maple_tree *tree = kmalloc(sizeof(*tree), GFP_KERNEL);

    assert_non_null(tree);
    mt_init_flags(tree, MT_FLAGS_ALLOC_RANGE);
    *state = tree;
    return 0;
}

static int free_tree(void **state)
{
    struct maple_tree *tree = *state;

    mtree_destroy(tree);
    assert_true(mtree_empty(tree));
    kfree(tree);
    return 0;
}

static void ranges(void **state)
{
    struct maple_tree *tree = *state;

    assert_int_equal(mtree_store_range(tree, 10, 19, xa_mk_value(1), GFP_KERNEL), 0);
    assert_int_equal(mtree_store_range(tree, 15, 24, xa_mk_value(2), GFP_KERNEL), 0);
    assert_ptr_equal(mtree_load(tree, 14), xa_mk_value(1));
    assert_ptr_equal(mtree_load(tree, 15), xa_mk_value(2));
    assert_null(mtree_load(tree, 25));
    assert_int_equal(mtree_insert(tree, 14, xa_mk_value(3), GFP_KERNEL), -EEXIST);
    assert_ptr_equal(mtree_erase(tree, 12), xa_mk_value(1));
    assert_null(mtree_load(tree, 10));
    assert_ptr_equal(mtree_load(tree, 24), xa_mk_value(2));
    assert_int_equal(mtree_store_range(tree, 5, 4, xa_mk_value(1), GFP_KERNEL), -EINVAL);
}

static void many(void **state)
{
    struct maple_tree *tree = *state;
    unsigned long index = 0, count = 0;
    void *entry;

    for (unsigned long i = 0; i < 2000; i++)
        assert_int_equal(mtree_store_range(tree, i * 10, i * 10 + 4, xa_mk_value(i), GFP_KERNEL), 0);
    mt_for_each(tree, entry, index, ULONG_MAX)
        assert_ptr_equal(entry, xa_mk_value(count++));
    assert_uint_equal(count, 2000);
    assert_true(mt_height(tree) > 2);
}

static void cursor(void **state)
{
    struct maple_tree *tree = *state;
    MA_STATE(mas, tree, 0, 0);
    unsigned long sum = 0;
    void *entry;

    mas_lock(&mas);
    for (unsigned long i = 1; i <= 100; i++) {
        mas_set_range(&mas, i * 4, i * 4 + 1);
        assert_int_equal(mas_store_gfp(&mas, xa_mk_value(i), GFP_KERNEL), 0);
    }
    mas_set(&mas, 0);
    mas_for_each(&mas, entry, 40)
        sum += xa_to_value(entry);
    assert_uint_equal(sum, 55);
    assert_ptr_equal(mas_find(&mas, ULONG_MAX), xa_mk_value(11));
    assert_ptr_equal(mas_prev(&mas, 0), xa_mk_value(10));
    assert_ptr_equal(mas_next(&mas, ULONG_MAX), xa_mk_value(11));
    assert_ptr_equal(mas_erase(&mas), xa_mk_value(11));
    assert_null(mas_walk(&mas));
    assert_uint_equal(mas.index, 42);
    assert_uint_equal(mas.last, 47);
    mas_unlock(&mas);
}

static void gaps(void **state)
{
    struct maple_tree *tree = *state;
    unsigned long start = 0;
    MA_STATE(mas, tree, 0, 0);

    assert_int_equal(mtree_store_range(tree, 0, 99, xa_mk_value(1), GFP_KERNEL), 0);
    assert_int_equal(mtree_alloc_range(tree, &start, xa_mk_value(2), 50, 0, 1000, GFP_KERNEL), 0);
    assert_uint_equal(start, 100);
    assert_int_equal(mtree_alloc_rrange(tree, &start, xa_mk_value(3), 50, 0, 999, GFP_KERNEL), 0);
    assert_uint_equal(start, 950);
    assert_int_equal(mtree_alloc_range(tree, &start, xa_mk_value(4), 900, 0, 1000, GFP_KERNEL), -EBUSY);
    mas_lock(&mas);
    assert_int_equal(mas_empty_area_rev(&mas, 0, 999, 800), 0);
    assert_uint_equal(mas.index, 150);
    assert_uint_equal(mas.last, 949);
    mas_unlock(&mas);
}

static void duplicate(void **state)
{
    struct maple_tree *tree = *state;
    struct maple_tree copy;

    mt_init_flags(&copy, MT_FLAGS_ALLOC_RANGE);
    for (unsigned long i = 0; i < 500; i++)
        assert_int_equal(mtree_insert(tree, i * 3, xa_mk_value(i), GFP_KERNEL), 0);
    assert_int_equal(mtree_dup(tree, &copy, GFP_KERNEL), 0);
    assert_ptr_equal(mtree_erase(tree, 30), xa_mk_value(10));
    assert_ptr_equal(mtree_load(&copy, 30), xa_mk_value(10));
    assert_int_equal(mtree_dup(tree, &copy, GFP_KERNEL), -EINVAL);
    mtree_destroy(&copy);
}

static void preallocation(void **state)
{
    struct maple_tree *tree = *state;
    MA_STATE(mas, tree, 100, 199);

    mas_lock(&mas);
    assert_int_equal(mas_preallocate(&mas, xa_mk_value(7), GFP_KERNEL), 0);
    mas_store_prealloc(&mas, xa_mk_value(7));
    mas_unlock(&mas);
    assert_ptr_equal(mtree_load(tree, 150), xa_mk_value(7));
}

static void ends(void **state)
{
    struct maple_tree *tree = *state;

    assert_int_equal(mtree_store_range(tree, 0, ULONG_MAX, xa_mk_value(1), GFP_KERNEL), 0);
    assert_int_equal(mtree_store(tree, 0, xa_mk_value(2), GFP_KERNEL), 0);
    assert_int_equal(mtree_store(tree, ULONG_MAX, xa_mk_value(3), GFP_KERNEL), 0);
    assert_ptr_equal(mtree_load(tree, 0), xa_mk_value(2));
    assert_ptr_equal(mtree_load(tree, 1), xa_mk_value(1));
    assert_ptr_equal(mtree_load(tree, ULONG_MAX - 1), xa_mk_value(1));
    assert_ptr_equal(mtree_load(tree, ULONG_MAX), xa_mk_value(3));
}

#define WITH_TREE(name) cmocka_unit_test_setup_teardown(name, new_tree, free_tree)

int main(void)
{
    const struct CMUnitTest tree_in_c[] = {
        WITH_TREE(ranges), WITH_TREE(many),      WITH_TREE(cursor),        WITH_TREE(gaps),
        WITH_TREE(ends),   WITH_TREE(duplicate), WITH_TREE(preallocation),
    };
    return cmocka_run_group_tests(tree_in_c, NULL, NULL);
}
