/* SPDX-License-Identifier: GPL-2.0-only */
/* A test that fails after a failure was injected into it, between two that do not. */
#include <cmocka.h>

#include <kmirror/fault.h>
#include <linux/slab.h>

static void *with_one_failure(void)
{
    void *block;

    kmirror_fail_nth(1);
    block = kmalloc(64, GFP_KERNEL | __GFP_NOWARN);
    kmirror_fail_nth(0);
    return block;
}

static void passes_with_a_failure(void **state)
{
    (void)state;
    assert_null(with_one_failure());
}

static void fails_with_a_failure(void **state)
{
    (void)state;
    assert_non_null(with_one_failure());
}

static void fails_without_one(void **state)
{
    (void)state;
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_with_a_failure), cmocka_unit_test(fails_with_a_failure),
                                       cmocka_unit_test(fails_without_one)};

    if (!KMIRROR_FAULTS)
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
