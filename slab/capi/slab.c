/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The allocator from C, as a user of <linux/slab.h> writes it. Each test destroys its cache, which must be
 * empty by then. Runs through <cmocka.h>.
 */
#include <cmocka.h>

#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

struct thing {
    unsigned long key;
    struct rcu_head rcu;
    char text[40];
};

static void construct(void *object)
{
    struct thing *thing = object;

    thing->key = 17;
}

static int new_cache(void **state)
{
    *state = kmem_cache_create("thing", sizeof(struct thing), 0, 0, NULL);
    assert_non_null(*state);
    return 0;
}

static int destroy_cache(void **state)
{
    kvfree_rcu_barrier();
    kmem_cache_destroy(*state);
    return 0;
}

static void objects(void **state)
{
    struct thing *a = kmem_cache_alloc(*state, GFP_KERNEL);
    struct thing *b = kmem_cache_zalloc(*state, GFP_KERNEL);

    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    assert_uint_equal(b->key, 0);
    assert_uint_equal(kmem_cache_size(*state), sizeof(struct thing));
    kmem_cache_free(*state, a);
    kmem_cache_free(*state, b);
}

static void bulk(void **state)
{
    void *all[100];

    assert_true(kmem_cache_alloc_bulk(*state, GFP_KERNEL, 100, all));
    for (int i = 0; i < 100; i++)
        memset(all[i], i, sizeof(struct thing));
    for (int i = 0; i < 100; i++)
        assert_int_equal(((char *)all[i])[0], i);
    kmem_cache_free_bulk(*state, 100, all);
}

static void freed_after_a_grace_period(void **state)
{
    struct thing *thing = kmem_cache_alloc(*state, GFP_KERNEL);

    assert_non_null(thing);
    thing->key = 5;
    rcu_read_lock();
    kfree_rcu(thing, rcu);
    assert_uint_equal(thing->key, 5);
    rcu_read_unlock();
}

static void constructor(void **state)
{
    struct kmem_cache *cache = kmem_cache_create("made", sizeof(struct thing), 64, 0, construct);
    struct thing *thing;

    (void)state;
    assert_non_null(cache);
    thing = kmem_cache_alloc(cache, GFP_KERNEL);
    assert_non_null(thing);
    assert_uint_equal(thing->key, 17);
    assert_uint_equal((unsigned long)thing % 64, 0);
    kmem_cache_free(cache, thing);
    kmem_cache_destroy(cache);
}

static void kmallocs(void **state)
{
    char *text = kmalloc(10, GFP_KERNEL);
    unsigned long *numbers = kcalloc(4, sizeof(*numbers), GFP_KERNEL);

    (void)state;
    assert_non_null(text);
    assert_non_null(numbers);
    assert_uint_equal(numbers[3], 0);
    strcpy(text, "maple");
    text = krealloc(text, 5000, GFP_KERNEL);
    assert_string_equal(text, "maple");
    assert_true(ksize(text) >= 5000);
    kfree(text);
    kfree(numbers);
    kfree(NULL);
    assert_ptr_equal(kmalloc(0, GFP_KERNEL), ZERO_SIZE_PTR);
    assert_null(kmalloc_array(SIZE_MAX / 2, 4, GFP_KERNEL));
}

#define WITH_CACHE(name) cmocka_unit_test_setup_teardown(name, new_cache, destroy_cache)

int main(void)
{
    const struct CMUnitTest slab_in_c[] = {
        WITH_CACHE(objects),
        WITH_CACHE(bulk),
        WITH_CACHE(freed_after_a_grace_period),
        cmocka_unit_test(constructor),
        cmocka_unit_test(kmallocs),
    };
    return cmocka_run_group_tests(slab_in_c, NULL, NULL);
}
