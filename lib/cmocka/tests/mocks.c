/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queued values, checks of parameters, the order of calls: used as queued, used up, left over, missing.
 * The name says the verdict that the checker wants.
 */
#include <cmocka.h>
#include <string.h>

static int next(void) { return mock_type(int); }
static int next_int(void) { return (int)mock_int(); }
static const char *next_word(void) { return mock_ptr_type(const char *); }
static float next_float(void) { return mock_float(); }
static void fill(int *out)
{
    mock_errno();
    *out = (int)mock_parameter_int(out);
}
static void take(int value) { check_expected_int(value); }
static void take_word(const char *word) { check_expected_ptr(word); }
static void take_float(float number) { check_expected_float(number); }
static void first(void) { function_called(); }
static void second(void) { function_called(); }

#define PASSES(name, ...) static void passes_##name(void **state) { (void)state; __VA_ARGS__; }
#define FAILS(name, ...) static void fails_##name(void **state) { (void)state; __VA_ARGS__; }

/* ---- returned values ----------------------------------------------------------------------------------- */

PASSES(in_order, will_return(next, 1); will_return(next, 2); assert_int_equal(next(), 1);
       assert_int_equal(next(), 2))
PASSES(counted, will_return_count(next, 7, 2); next(); assert_int_equal(next(), 7))
PASSES(always, will_return_always(next, 7); next(); next(); assert_int_equal(next(), 7))
PASSES(maybe_never, will_return_maybe(next, 7))
PASSES(typed, will_return_int(next_int, -4); assert_int_equal(next_int(), -4);
       will_return_ptr(next_word, "w"); assert_string_equal(next_word(), "w"); will_return_float(next_float, 0.5);
       assert_float_equal(next_float(), 0.5, 0))
PASSES(has_mock, assert_false(_has_mock("next")); will_return(next, 1); assert_true(_has_mock("next"));
       next())
FAILS(nothing_queued, next())
FAILS(used_up, will_return(next, 1); next(); next())
FAILS(left_over, will_return(next, 1))
FAILS(left_over_count, will_return_count(next, 1, 3); next(); next())
FAILS(always_never_used, will_return_always(next, 1))
FAILS(wrong_type, will_return_float(fill, 1); _mock("fill", __FILE__, __LINE__, "intmax_t"))
FAILS(count_of_zero, will_return_count(next, 1, 0))
FAILS(count_below, will_return_count(next, 1, -3))

/* ---- values handed out, errno -------------------------------------------------------------------------- */

static void passes_parameter_and_errno(void **state)
{
    int out = 0;
    (void)state;
    errno = 0;
    will_set_errno(fill, ENOMEM);
    will_set_parameter_int(fill, out, 12);
    fill(&out);
    assert_int_equal(out, 12);
    assert_int_equal(errno, ENOMEM);
}
FAILS(parameter_missing, int out; will_set_errno(fill, 0); fill(&out))
FAILS(parameter_left_over, will_set_parameter(fill, out, 12))

/* ---- checks of parameters ------------------------------------------------------------------------------ */

static int is_even(const uintmax_t value, const uintmax_t data)
{
    assert_int_not_equal(value, 666);
    return value % 2 == data;
}
static const int in[] = {1, 2, 3};

PASSES(value, expect_value(take, value, 3); take(3); expect_not_value(take, value, 3); take(4))
PASSES(range, expect_in_range(take, value, 3, 5); take(5);
       expect_int_not_in_range(take, value, -1, 5); take(-2))
PASSES(set, expect_int_in_set(take, value, in); take(2); expect_not_in_set(take, value, in); take(4))
PASSES(any, expect_any_always(take, value); take(1); take(2))
PASSES(string, expect_string(take_word, word, "abc"); take_word("abc");
       expect_not_string(take_word, word, "abc"); take_word("abd"))
PASSES(memory, expect_memory(take_word, word, "abX", 2); take_word("abY"))
PASSES(float, expect_float(take_float, number, 0.1, 0); take_float(0.1f))
PASSES(own_check, expect_check(take, value, is_even, 0); take(4))
FAILS(value, expect_value(take, value, 3); take(4))
FAILS(not_value, expect_not_value(take, value, 3); take(3))
FAILS(range, expect_in_range(take, value, 3, 5); take(6))
FAILS(set, expect_int_in_set(take, value, in); take(4))
FAILS(string, expect_string(take_word, word, "abc"); take_word("abd"))
FAILS(memory, expect_memory(take_word, word, "abX", 3); take_word("abY"))
FAILS(float, expect_float(take_float, number, 0.1, 0); take_float(0.2f))
FAILS(own_check, expect_check(take, value, is_even, 0); take(3))
FAILS(own_check_that_asserts, expect_check(take, value, is_even, 0); take(666))
FAILS(no_check, take(1))
FAILS(check_left_over, expect_value(take, value, 3))
FAILS(checks_in_order, expect_value(take, value, 1); expect_value(take, value, 2); take(2); take(1))

/* A string is copied when it is queued. */
static void passes_string_is_copied(void **state)
{
    char word[] = "abc";
    (void)state;
    expect_string(take_word, word, word);
    word[0] = 'x';
    take_word("abc");
}

/* ---- the order of calls -------------------------------------------------------------------------------- */

PASSES(order, expect_function_call(first); expect_function_call(second); first(); second())
PASSES(calls, expect_function_calls(first, 2); first(); first())
PASSES(any_calls, expect_function_call_any(first); first(); first(); first())
PASSES(ignored, ignore_function_calls(first); expect_function_call(second); first(); second(); first())
PASSES(never_called, expect_function_calls(first, 0))
FAILS(order, expect_function_call(first); expect_function_call(second); second(); first())
FAILS(not_called, expect_function_call(first))
FAILS(not_expected, first())
FAILS(any_not_called, expect_function_call_any(first))
FAILS(too_often, expect_function_call(first); first(); first())
FAILS(ignored_other, ignore_function_calls(first); second())

/* ---- what one function queues does not reach the next -------------------------------------------------- */

static int queues(void **state)
{
    (void)state;
    will_return_maybe(next, 1);
    return 0;
}
static int leaves_over(void **state)
{
    (void)state;
    will_return(next, 1);
    return 0;
}
FAILS(without_setups_value, next())
static void errs_setup_leaves_over(void **state) { (void)state; }

#define T(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest mocks[] = {
        T(passes_in_order), T(passes_counted), T(passes_always), T(passes_maybe_never), T(passes_typed),
        T(passes_has_mock), T(fails_nothing_queued), T(fails_used_up), T(fails_left_over),
        T(fails_left_over_count), T(fails_always_never_used), T(fails_wrong_type), T(fails_count_of_zero),
        T(fails_count_below), T(passes_parameter_and_errno), T(fails_parameter_missing),
        T(fails_parameter_left_over), T(passes_value), T(passes_range), T(passes_set), T(passes_any),
        T(passes_string), T(passes_memory), T(passes_float), T(passes_own_check), T(fails_value),
        T(fails_not_value), T(fails_range), T(fails_set), T(fails_string), T(fails_memory), T(fails_float),
        T(fails_own_check), T(fails_own_check_that_asserts), T(fails_no_check), T(fails_check_left_over),
        T(fails_checks_in_order), T(passes_string_is_copied), T(passes_order), T(passes_calls),
        T(passes_any_calls), T(passes_ignored), T(passes_never_called), T(fails_order), T(fails_not_called),
        T(fails_not_expected), T(fails_any_not_called), T(fails_too_often), T(fails_ignored_other),
        cmocka_unit_test_setup(fails_without_setups_value, queues),
        cmocka_unit_test_setup(errs_setup_leaves_over, leaves_over),
    };
    return cmocka_run_group_tests(mocks, NULL, NULL);
}
