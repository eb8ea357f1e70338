/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How tests run: states and fixtures, skips and stops, blocks of test_malloc, crashes, second threads, two
 * groups in one program. The name says the verdict that the checker wants.
 */
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- states and fixtures ------------------------------------------------------------------------------- */

static int teardowns;

static int allocate(void **state)
{
    *state = test_malloc(8);
    strcpy(*state, "set up");
    return 0;
}
static int release(void **state)
{
    ++teardowns;
    test_free(*state);
    return 0;
}
static int says_no(void **state)
{
    (void)state;
    return -1;
}
static int asserts(void **state)
{
    (void)state;
    fail();
    return 0;
}
static int skips(void **state)
{
    (void)state;
    skip();
    return 0;
}
static void passes_with_state(void **state) { assert_string_equal(*state, "set up"); }
static void fails_and_is_torn_down(void **state) { fail_msg("%s", (char *)*state); }
static void passes_torn_down_twice(void **state)
{
    (void)state;
    assert_int_equal(teardowns, 2);
}
static void passes_with_prestate(void **state) { assert_string_equal(*state, "before"); }
static void errs_setup_says_no(void **state) { (void)state; }
static void errs_setup_asserts(void **state) { (void)state; }
static void errs_teardown_says_no(void **state) { (void)state; }
static void skips_by_setup(void **state) { (void)state; }
static void skips_itself(void **state)
{
    (void)state;
    skip();
    fail();
}
static void passes_stopped(void **state)
{
    (void)state;
    stop();
    fail();
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

static void passes_blocks(void **state)
{
    unsigned char *block = test_malloc(10);
    unsigned char *zero = test_calloc(3, 5);
    (void)state;
    assert_int_equal((uintptr_t)block % 16, 0);
    assert_int_equal(block[9], 0xBA);
    assert_int_equal(zero[14], 0);
    block[9] = 7;
    block = test_realloc(block, 100);
    assert_int_equal(block[9], 7);
    assert_null(test_calloc(SIZE_MAX / 2, 3));
    assert_null(test_realloc(zero, 0));
    test_free(block);
    test_free(NULL);
}
static void fails_leak(void **state)
{
    (void)state;
    (void)test_malloc(10);
}
static void fails_double_free(void **state)
{
    void *block = test_malloc(1);
    (void)state;
    test_free(block);
    test_free(block);
}
static void fails_foreign_pointer(void **state)
{
    (void)state;
    test_free(&teardowns);
}

/* ---- crashes ------------------------------------------------------------------------------------------- */

static void fails_segv(void **state)
{
    (void)state;
    raise(SIGSEGV);
}
static void fails_fpe(void **state)
{
    (void)state;
    raise(SIGFPE);
}

/* ---- second threads ------------------------------------------------------------------------------------ */

static int went_on;
static int value(void) { return mock_type(int); }

static void *fails_here(void *argument)
{
    (void)argument;
    assert_int_equal(1, 2);
    went_on = 1;
    return NULL;
}
static void *takes_value(void *argument)
{
    *(int *)argument = value();
    return NULL;
}
static void in_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, body, argument), 0);
    pthread_join(thread, NULL);
}
static void fails_in_second_thread(void **state)
{
    (void)state;
    in_thread(fails_here, NULL);
}
static void passes_second_thread_ended(void **state)
{
    (void)state;
    assert_int_equal(went_on, 0);
}
static void fails_in_second_thread_that_goes_on(void **state)
{
    (void)state;
    cmocka_set_thread_failure(CM_THREAD_CONTINUE);
    in_thread(fails_here, NULL);
}
static void passes_second_thread_went_on(void **state)
{
    (void)state;
    cmocka_set_thread_failure(CM_THREAD_EXIT);
    assert_int_equal(went_on, 1);
}
static void passes_mock_in_second_thread(void **state)
{
    int result = 0;
    (void)state;
    will_return(value, 5);
    in_thread(takes_value, &result);
    assert_int_equal(result, 5);
}
static void fails_mock_in_second_thread(void **state)
{
    int result = 0;
    (void)state;
    in_thread(takes_value, &result);
}

/* ---- groups -------------------------------------------------------------------------------------------- */

static int group_setup(void **state)
{
    *state = "group";
    return 0;
}
static void passes_with_group_state(void **state)
{
    assert_string_equal(*state, "group");
    *state = "test";
}
static void passes_with_group_state_again(void **state) { assert_string_equal(*state, "group"); }

int main(void)
{
    static char before[] = "before";
    const struct CMUnitTest runs[] = {
        cmocka_unit_test_setup_teardown(passes_with_state, allocate, release),
        cmocka_unit_test_setup_teardown(fails_and_is_torn_down, allocate, release),
        cmocka_unit_test(passes_torn_down_twice),
        cmocka_unit_test_prestate(passes_with_prestate, before),
        cmocka_unit_test_setup(errs_setup_says_no, says_no),
        cmocka_unit_test_setup(errs_setup_asserts, asserts),
        cmocka_unit_test_teardown(errs_teardown_says_no, says_no),
        cmocka_unit_test_setup(skips_by_setup, skips),
        cmocka_unit_test(skips_itself),
        cmocka_unit_test(passes_stopped),
        cmocka_unit_test(passes_blocks),
        cmocka_unit_test(fails_leak),
        cmocka_unit_test(fails_double_free),
        cmocka_unit_test(fails_foreign_pointer),
        cmocka_unit_test(fails_segv),
        cmocka_unit_test(fails_fpe),
        cmocka_unit_test(fails_in_second_thread),
        cmocka_unit_test(passes_second_thread_ended),
        cmocka_unit_test(fails_in_second_thread_that_goes_on),
        cmocka_unit_test(passes_second_thread_went_on),
        cmocka_unit_test(passes_mock_in_second_thread),
        cmocka_unit_test(fails_mock_in_second_thread),
    };
    const struct CMUnitTest with_state[] = {
        cmocka_unit_test(passes_with_group_state),
        cmocka_unit_test(passes_with_group_state_again),
    };
    const struct CMUnitTest not_run[] = {
        cmocka_unit_test(passes_with_prestate),
    };
    int failures = cmocka_run_group_tests(runs, NULL, NULL);
    failures += cmocka_run_group_tests(with_state, group_setup, NULL);
    failures += cmocka_run_group_tests_name("no setup", not_run, says_no, NULL);
    return failures;
}
