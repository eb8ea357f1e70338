/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every assert with a wish that holds and with one that does not. The name says the verdict that the checker
 * (tools/testing/cmocka-check) wants: passes_, fails_, skips_, errs_.
 */
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PASSES(name, ...) static void passes_##name(void **state) { (void)state; __VA_ARGS__; }
#define FAILS(name, ...) static void fails_##name(void **state) { (void)state; __VA_ARGS__; }

static const int ints[] = {-3, 5, 8};
static const unsigned char bytes[] = {1, 200};
static const float floats[] = {0.5f, 2.5f};

PASSES(true, assert_true(1); assert_true(0.5); assert_true("x"))
FAILS(true, assert_true(0))
FAILS(true_null, assert_true((void *)0))
PASSES(false, assert_false(0); assert_false(0.0))
FAILS(false, assert_false(0.25))
PASSES(return_code, assert_return_code(0, 0); assert_return_code(INT32_MAX, 0);
       assert_return_code((char)127, 0))
FAILS(return_code, assert_return_code(-1, ENOMEM))
FAILS(return_code_long, assert_return_code(-1L, 0))
PASSES(null, assert_null(NULL); assert_non_null(ints))
FAILS(null, assert_null(ints))
FAILS(non_null, assert_non_null(NULL))
FAILS(non_null_msg, assert_non_null_msg(NULL, "words"))
PASSES(ptr, assert_ptr_equal(ints, ints); assert_ptr_not_equal(ints, bytes))
FAILS(ptr_equal, assert_ptr_equal(ints, bytes))
FAILS(ptr_not_equal, assert_ptr_not_equal(ints, ints))
PASSES(int, assert_int_equal(-1, -1L); assert_int_not_equal(-1, UINT32_MAX))
FAILS(int_equal, assert_int_equal(1, 2))
FAILS(int_equal_sign, assert_int_equal(-1, UINT32_MAX))
FAILS(int_not_equal, assert_int_not_equal(-7, -7))
PASSES(uint, assert_uint_equal(UINT64_MAX, UINT64_MAX); assert_uint_not_equal(1, 2))
FAILS(uint_equal, assert_uint_equal(1, 2))
FAILS(uint_not_equal, assert_uint_not_equal(2, 2))
PASSES(float, assert_float_equal(0.1f, 0.1, 0); assert_float_equal(1.0, 1.05, 0.1);
       assert_float_not_equal(1.0, 1.2, 0.1))
FAILS(float_equal, assert_float_equal(1.0, 1.2, 0.1))
FAILS(float_not_equal, assert_float_not_equal(1.0, 1.05, 0.1))
PASSES(double, assert_double_equal(0.1 + 0.2, 0.3, 0); assert_double_equal(NAN, NAN, 0);
       assert_double_equal(INFINITY, INFINITY, 0); assert_double_not_equal(0.1, 0.1f, 0))
FAILS(double_equal, assert_double_equal(1.0, 1.0 + 8 * DBL_EPSILON, 0))
FAILS(double_infinite, assert_double_equal(INFINITY, -INFINITY, 1e300))
FAILS(double_nan, assert_double_equal(NAN, 0, 1e300))
PASSES(string, assert_string_equal("abc", "abc"); assert_string_not_equal("abc", "ab"))
FAILS(string_equal, assert_string_equal("abc", "abd"))
FAILS(string_equal_null, assert_string_equal(NULL, "abd"))
FAILS(string_not_equal, assert_string_not_equal("abc", "abc"))
PASSES(memory, assert_memory_equal("abc", "abd", 2); assert_memory_not_equal("abc", "abd", 3))
FAILS(memory_equal, assert_memory_equal("abc", "abd", 3))
FAILS(memory_not_equal, assert_memory_not_equal("abc", "abd", 2))
PASSES(range, assert_in_range(5, 5, 5); assert_not_in_range(5, 6, 7);
       assert_uint_in_range(UINT64_MAX, 1, UINT64_MAX);
       assert_int_in_range(-5, -5, 0); assert_int_not_in_range(-6, -5, 0); assert_uint_not_in_range(0, 1, 2);
       assert_float_in_range(1.0, 1.05, 2, 0.1); assert_float_not_in_range(1.0, 1.2, 2, 0.1))
FAILS(in_range, assert_in_range(-1, 0, 5))
FAILS(not_in_range, assert_not_in_range(5, 5, 6))
FAILS(int_in_range, assert_int_in_range(1, -5, 0))
FAILS(int_not_in_range, assert_int_not_in_range(-5, -5, 0))
FAILS(float_in_range, assert_float_in_range(1.0, 1.2, 2, 0.1))
FAILS(float_not_in_range, assert_float_not_in_range(1.0, 1.05, 2, 0.1))
PASSES(set, assert_int_in_set(-3, ints, 3); assert_int_not_in_set(-4, ints, 3);
       assert_uint_in_set(200, bytes, 2); assert_in_set(5, ints, 3); assert_not_in_set(8, ints, 2); assert_uint_not_in_set(7, bytes, 2);
       assert_float_in_set(2.5, floats, 2, 0); assert_float_not_in_set(2.4, floats, 2, 0.01))
FAILS(int_in_set, assert_int_in_set(8, ints, 2))
FAILS(int_not_in_set, assert_int_not_in_set(-3, ints, 3))
FAILS(uint_in_set, assert_uint_in_set(201, bytes, 2))
FAILS(not_in_set, assert_not_in_set(200, bytes, 2))
FAILS(float_in_set, assert_float_in_set(2.4, floats, 2, 0.01))
FAILS(empty_set, assert_in_set(0, ints, 0))
FAILS(fail, fail())
FAILS(fail_msg, fail_msg("%d words", 2))

/* The statements behind a failure are not reached. */
static int reached;
FAILS(leaves, assert_true(0); reached = 1)
PASSES(left, assert_int_equal(reached, 0))

/* ---- the asserts of the tested code -------------------------------------------------------------------- */

static void demand(int holds) { mock_assert(holds, "holds", __FILE__, __LINE__); }
static void demand_twice(void)
{
    expect_assert_failure(demand(0));
    demand(0);
}

PASSES(assert_failure, expect_assert_failure(demand(0));
       assert_string_equal(global_last_failed_assert, "holds");
       assert_int_equal(global_expecting_assert, 0))
PASSES(assert_failure_nested, expect_assert_failure(demand_twice()))
FAILS(assert_failure_missing, expect_assert_failure(demand(1)))
FAILS(assert_failure_unexpected, demand(0))
FAILS(assert_within_assert_failure, expect_assert_failure(assert_true(0)))
PASSES(after_assert_within, expect_assert_failure(demand(0)))

#define T(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest asserts[] = {
        T(passes_true), T(fails_true), T(fails_true_null), T(passes_false), T(fails_false),
        T(passes_return_code), T(fails_return_code), T(fails_return_code_long), T(passes_null), T(fails_null),
        T(fails_non_null), T(fails_non_null_msg), T(passes_ptr), T(fails_ptr_equal), T(fails_ptr_not_equal),
        T(passes_int), T(fails_int_equal), T(fails_int_equal_sign), T(fails_int_not_equal), T(passes_uint),
        T(fails_uint_equal), T(fails_uint_not_equal), T(passes_float), T(fails_float_equal),
        T(fails_float_not_equal), T(passes_double), T(fails_double_equal), T(fails_double_infinite),
        T(fails_double_nan), T(passes_string), T(fails_string_equal), T(fails_string_equal_null),
        T(fails_string_not_equal), T(passes_memory), T(fails_memory_equal), T(fails_memory_not_equal),
        T(passes_range), T(fails_in_range), T(fails_not_in_range), T(fails_int_in_range),
        T(fails_int_not_in_range), T(fails_float_in_range), T(fails_float_not_in_range), T(passes_set),
        T(fails_int_in_set), T(fails_int_not_in_set), T(fails_uint_in_set), T(fails_not_in_set),
        T(fails_float_in_set), T(fails_empty_set), T(fails_fail), T(fails_fail_msg), T(fails_leaves),
        T(passes_left), T(passes_assert_failure), T(passes_assert_failure_nested),
        T(fails_assert_failure_missing), T(fails_assert_failure_unexpected),
        T(fails_assert_within_assert_failure), T(passes_after_assert_within),
    };
    return cmocka_run_group_tests(asserts, NULL, NULL);
}
