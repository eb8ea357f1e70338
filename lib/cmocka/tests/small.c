/* SPDX-License-Identifier: GPL-2.0-only */
/* Two small groups, for what is printed and for GoogleTest's own options. */
#include <cmocka.h>

static void one(void **state) { (void)state; }
static void two(void **state)
{
    (void)state;
    fail_msg("<%s & \"%d\">", "words", 7);
}
static void three(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest a[] = {cmocka_unit_test(one), cmocka_unit_test(two), cmocka_unit_test(three)};
    const struct CMUnitTest b[] = {cmocka_unit_test(one)};
    const int failures = cmocka_run_group_tests(a, NULL, NULL);
    return failures + cmocka_run_group_tests(b, NULL, NULL);
}
