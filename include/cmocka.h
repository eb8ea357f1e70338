/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cmocka's API, implemented on GoogleTest: the whole of 1.1.5 and the typed macros of 2.0. A C test written
 * for cmocka compiles unchanged; linked with -lkmirror-cmocka (pkg-config kmirror-cmocka) it runs as
 * GoogleTest tests, so --gtest_filter, sharding, --gtest_repeat and --gtest_output work.
 *
 * Context  a test is left by a jump: locks that it holds stay held, and no C++ destructor between the test
 *          and the failing macro runs. C++ code without a cmocka test around it is left by an exception
 *          instead (testing::AssertionException), so the macros also work inside TEST().
 * Threads  values and expectations are shared by all threads. A macro that fails in a thread which is not
 *          the test's own fails the test and ends that thread; cmocka_set_thread_failure() lets it go on.
 * Names    in C++ mock(), has_mock(), function_called(), fail(), skip() and stop() are functions, so that
 *          ios::fail() stays what it was; CMOCKA_NO_SHORT_NAMES leaves them out, in C too.
 * Source   the names and meanings are cmocka's (cmocka.org); where 1.1.5 and 2.0 differ in a figure that
 *          only a message shows, the message shows decimal and hexadecimal.
 */
#ifndef CMOCKA_H_
#define CMOCKA_H_

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types --------------------------------------------------------------------------------------------- */

#ifndef LargestIntegralType
#define LargestIntegralType uintmax_t
#endif
#if defined(__LP64__)
#define LargestIntegralTypePrintfFormat "%#lx"
#define LargestIntegralTypePrintfFormatDecimal "%lu"
#else
#define LargestIntegralTypePrintfFormat "%#llx"
#define LargestIntegralTypePrintfFormatDecimal "%llu"
#endif
#define FloatPrintfFormat "%f"

#define cast_to_largest_integral_type(value) ((LargestIntegralType)(value))
#define cast_to_pointer_integral_type(value) ((uintptr_t)((size_t)(value)))
#define cast_ptr_to_largest_integral_type(value) ((LargestIntegralType)(uintptr_t)(value))

#if defined(__GNUC__)
#define CMOCKA_PRINTF_ATTRIBUTE(a, b) __attribute__((__format__(__printf__, a, b)))
#define CMOCKA_DEPRECATED __attribute__((deprecated))
#define CMOCKA_NORETURN __attribute__((noreturn))
#else
#define CMOCKA_PRINTF_ATTRIBUTE(a, b)
#define CMOCKA_DEPRECATED
#define CMOCKA_NORETURN
#endif

/* One value of any of the kinds that mocks and checks deal in. */
typedef union {
    intmax_t int_val;
    uintmax_t uint_val;
    float float_val;
    double real_val;
    void *ptr;
    const void *const_ptr;
} CMockaValueData;

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func;
    CMFixtureFunction teardown_func;
    void *initial_state;
};

typedef struct SourceLocation {
    const char *file;
    int line;
} SourceLocation;

/* Non-zero when the value is the wanted one. */
typedef int (*CheckParameterValue)(const uintmax_t value, const uintmax_t check_value_data);
typedef int (*CheckParameterValueData)(const CMockaValueData value, const CMockaValueData check_value_data);

typedef struct CheckParameterEvent {
    SourceLocation location;
    const char *parameter_name;
    CheckParameterValue check_value;
    uintmax_t check_value_data;
} CheckParameterEvent;

typedef struct CheckParameterEventData {
    SourceLocation location;
    const char *parameter_name;
    CheckParameterValueData check_value;
    CMockaValueData check_value_data;
} CheckParameterEventData;

/* How often a queued value is used: n times, or one of these. */
#define WILL_RETURN_ALWAYS (-1) /* at least once */
#define WILL_RETURN_ONCE (-2)   /* any number of times, also never */
#define EXPECT_ALWAYS WILL_RETURN_ALWAYS
#define EXPECT_MAYBE WILL_RETURN_ONCE

/* What two values are compared as; CM_NOT turns the wish round, CM_UNSIGNED_SET is how a set is stored. */
enum cm_kind { CM_UINT, CM_INT, CM_FLOAT, CM_DOUBLE, CM_NOT = 16, CM_UNSIGNED_SET = 32 };

#define CM_HERE __FILE__, __LINE__
#define cmocka_tostring(val) #val

#define CM_MAKE_VALUE(name, type, member)                                                                    \
    static __inline__ CMockaValueData name(type value)                                                       \
    {                                                                                                        \
        CMockaValueData data;                                                                                \
        data.uint_val = 0;                                                                                   \
        data.member = value;                                                                                 \
        return data;                                                                                         \
    }
CM_MAKE_VALUE(cm_value_int, intmax_t, int_val)
CM_MAKE_VALUE(cm_value_uint, uintmax_t, uint_val)
CM_MAKE_VALUE(cm_value_float, float, float_val)
CM_MAKE_VALUE(cm_value_double, double, real_val)
CM_MAKE_VALUE(cm_value_ptr, const void *, const_ptr)
#undef CM_MAKE_VALUE

#define cast_to_intmax_type(value) ((intmax_t)(value))
#define cast_to_uintmax_type(value) ((uintmax_t)(value))
#define cast_to_float_type(value) ((float)(value))
#define cast_to_double_type(value) ((double)(value))
#define cast_ptr_to_uintmax_type(value) ((uintmax_t)(uintptr_t)(value))
#define cast_to_void_pointer(ptr) ((void *)(uintptr_t)(ptr))
#define assign_int_to_cmocka_value(value) cm_value_int((intmax_t)(value))
#define assign_uint_to_cmocka_value(value) cm_value_uint((uintmax_t)(value))
#define assign_float_to_cmocka_value(value) cm_value_float((float)(value))
#define assign_double_to_cmocka_value(value) cm_value_double((double)(value))
#define cast_int_to_cmocka_value(value) cm_value_uint((uintmax_t)(value))
#define cast_ptr_to_cmocka_value(value) cm_value_ptr((const void *)(uintptr_t)(value))

/* ---- what mocked functions return ---------------------------------------------------------------------- */

/* The next value queued for function; the test fails when there is none, or when type is named and differs
 * from the one it was queued with. */
CMockaValueData _mock(const char *function, const char *file, int line, const char *type);
CMockaValueData _mock_parameter(const char *function, const char *name, const char *file, int line,
                                const char *type);
int _has_mock(const char *function);
void _will_return(const char *function, const char *file, int line, const char *type, CMockaValueData value,
                  int count);
void _will_set_parameter(const char *function, const char *name, const char *file, int line,
                         const char *type, CMockaValueData value, int count);

#define mock_int() (_mock(__func__, CM_HERE, NULL).int_val)
#define mock_uint() (_mock(__func__, CM_HERE, "uintmax_t").uint_val)
#define mock_float() (_mock(__func__, CM_HERE, NULL).float_val)
#define mock_double() (_mock(__func__, CM_HERE, NULL).real_val)
#define mock_type(type) ((type)_mock(__func__, CM_HERE, NULL).uint_val)
#define mock_ptr_type(type) ((type)_mock(__func__, CM_HERE, NULL).ptr)
#define mock_ptr_type_checked(type) ((type)_mock(__func__, CM_HERE, #type).ptr)

#define CM_RETURN(function, type, value, count) _will_return(#function, CM_HERE, type, value, count)
#define will_return_count(function, value, count)                                                            \
    CM_RETURN(function, NULL, cast_int_to_cmocka_value(value), count)
#define will_return(function, value) will_return_count(function, value, 1)
#define will_return_always(function, value) will_return_count(function, value, WILL_RETURN_ALWAYS)
#define will_return_maybe(function, value) will_return_count(function, value, WILL_RETURN_ONCE)
#define will_return_int_count(function, value, count)                                                        \
    CM_RETURN(function, "intmax_t", assign_int_to_cmocka_value(value), count)
#define will_return_int(function, value) will_return_int_count(function, value, 1)
#define will_return_int_always(function, value) will_return_int_count(function, value, WILL_RETURN_ALWAYS)
#define will_return_int_maybe(function, value) will_return_int_count(function, value, WILL_RETURN_ONCE)
#define will_return_uint_count(function, value, count)                                                       \
    CM_RETURN(function, "uintmax_t", assign_uint_to_cmocka_value(value), count)
#define will_return_uint(function, value) will_return_uint_count(function, value, 1)
#define will_return_uint_always(function, value) will_return_uint_count(function, value, WILL_RETURN_ALWAYS)
#define will_return_uint_maybe(function, value) will_return_uint_count(function, value, WILL_RETURN_ONCE)
#define will_return_float_count(function, value, count)                                                      \
    CM_RETURN(function, "float", assign_float_to_cmocka_value(value), count)
#define will_return_float(function, value) will_return_float_count(function, value, 1)
#define will_return_float_always(function, value)                                                            \
    will_return_float_count(function, value, WILL_RETURN_ALWAYS)
#define will_return_float_maybe(function, value) will_return_float_count(function, value, WILL_RETURN_ONCE)
#define will_return_double_count(function, value, count)                                                     \
    CM_RETURN(function, "double", assign_double_to_cmocka_value(value), count)
#define will_return_double(function, value) will_return_double_count(function, value, 1)
#define will_return_double_always(function, value)                                                           \
    will_return_double_count(function, value, WILL_RETURN_ALWAYS)
#define will_return_double_maybe(function, value) will_return_double_count(function, value, WILL_RETURN_ONCE)
#define will_return_ptr_count(function, value, count)                                                        \
    CM_RETURN(function, NULL, cast_ptr_to_cmocka_value(value), count)
#define will_return_ptr(function, value) will_return_ptr_count(function, value, 1)
#define will_return_ptr_always(function, value) will_return_ptr_count(function, value, WILL_RETURN_ALWAYS)
#define will_return_ptr_maybe(function, value) will_return_ptr_count(function, value, WILL_RETURN_ONCE)
#define will_return_ptr_type(function, value, type)                                                          \
    CM_RETURN(function, #type, cast_ptr_to_cmocka_value(value), 1)

/* ---- what mocked functions hand out through their parameters, and errno -------------------------------- */

#define mock_parameter(name) (_mock_parameter(__func__, #name, CM_HERE, NULL).uint_val)
#define mock_parameter_type(name, type) ((type)mock_parameter(name))
#define mock_parameter_int(name) (_mock_parameter(__func__, #name, CM_HERE, "intmax_t").int_val)
#define mock_parameter_uint(name) (_mock_parameter(__func__, #name, CM_HERE, "uintmax_t").uint_val)
#define mock_parameter_float(name) (_mock_parameter(__func__, #name, CM_HERE, "float").float_val)
#define mock_parameter_double(name) (_mock_parameter(__func__, #name, CM_HERE, "double").real_val)
#define mock_parameter_ptr(name) (_mock_parameter(__func__, #name, CM_HERE, NULL).ptr)
#define mock_parameter_ptr_type(name, type) ((type)_mock_parameter(__func__, #name, CM_HERE, #type).ptr)

#define CM_PARAMETER(function, name, type, value, count)                                                     \
    _will_set_parameter(#function, name, CM_HERE, type, value, count)
#define will_set_parameter_count(function, name, value, count)                                               \
    CM_PARAMETER(function, #name, NULL, cast_int_to_cmocka_value(value), count)
#define will_set_parameter(function, name, value) will_set_parameter_count(function, name, value, 1)
#define will_set_parameter_always(function, name, value)                                                     \
    will_set_parameter_count(function, name, value, WILL_RETURN_ALWAYS)
#define will_set_parameter_maybe(function, name, value)                                                      \
    will_set_parameter_count(function, name, value, WILL_RETURN_ONCE)
#define will_set_parameter_int_count(function, name, value, count)                                           \
    CM_PARAMETER(function, #name, "intmax_t", assign_int_to_cmocka_value(value), count)
#define will_set_parameter_int(function, name, value) will_set_parameter_int_count(function, name, value, 1)
#define will_set_parameter_int_always(function, name, value)                                                 \
    will_set_parameter_int_count(function, name, value, WILL_RETURN_ALWAYS)
#define will_set_parameter_int_maybe(function, name, value)                                                  \
    will_set_parameter_int_count(function, name, value, WILL_RETURN_ONCE)
#define will_set_parameter_uint_count(function, name, value, count)                                          \
    CM_PARAMETER(function, #name, "uintmax_t", assign_uint_to_cmocka_value(value), count)
#define will_set_parameter_uint(function, name, value)                                                       \
    will_set_parameter_uint_count(function, name, value, 1)
#define will_set_parameter_uint_always(function, name, value)                                                \
    will_set_parameter_uint_count(function, name, value, WILL_RETURN_ALWAYS)
#define will_set_parameter_uint_maybe(function, name, value)                                                 \
    will_set_parameter_uint_count(function, name, value, WILL_RETURN_ONCE)
#define will_set_parameter_float_count(function, name, value, count)                                         \
    CM_PARAMETER(function, #name, "float", assign_float_to_cmocka_value(value), count)
#define will_set_parameter_float(function, name, value)                                                      \
    will_set_parameter_float_count(function, name, value, 1)
#define will_set_parameter_float_always(function, name, value)                                               \
    will_set_parameter_float_count(function, name, value, WILL_RETURN_ALWAYS)
#define will_set_parameter_float_maybe(function, name, value)                                                \
    will_set_parameter_float_count(function, name, value, WILL_RETURN_ONCE)
#define will_set_parameter_double_count(function, name, value, count)                                        \
    CM_PARAMETER(function, #name, "double", assign_double_to_cmocka_value(value), count)
#define will_set_parameter_double(function, name, value)                                                     \
    will_set_parameter_double_count(function, name, value, 1)
#define will_set_parameter_double_always(function, name, value)                                              \
    will_set_parameter_double_count(function, name, value, WILL_RETURN_ALWAYS)
#define will_set_parameter_double_maybe(function, name, value)                                               \
    will_set_parameter_double_count(function, name, value, WILL_RETURN_ONCE)
#define will_set_parameter_ptr_count(function, name, value, count)                                           \
    CM_PARAMETER(function, #name, NULL, cast_ptr_to_cmocka_value(value), count)
#define will_set_parameter_ptr(function, name, value) will_set_parameter_ptr_count(function, name, value, 1)
#define will_set_parameter_ptr_always(function, name, value)                                                 \
    will_set_parameter_ptr_count(function, name, value, WILL_RETURN_ALWAYS)
#define will_set_parameter_ptr_maybe(function, name, value)                                                  \
    will_set_parameter_ptr_count(function, name, value, WILL_RETURN_ONCE)
#define will_set_parameter_ptr_type(function, name, value, type)                                             \
    CM_PARAMETER(function, #name, #type, cast_ptr_to_cmocka_value(value), 1)

/* errno is kept like a parameter of that name; 0 leaves it alone. */
#define will_set_errno_count(function, value, count)                                                         \
    CM_PARAMETER(function, "/errno", "errno", assign_int_to_cmocka_value(value), count)
#define will_set_errno(function, value) will_set_errno_count(function, value, 1)
#define will_set_errno_always(function, value) will_set_errno_count(function, value, WILL_RETURN_ALWAYS)
/* With its semicolon, as 2.0 has it: there are tests that leave it out. */
#define will_set_errno_maybe(function, value) will_set_errno_count(function, value, WILL_RETURN_ONCE);
#define mock_errno()                                                                                         \
    do {                                                                                                     \
        const intmax_t cm_errno = _mock_parameter(__func__, "/errno", CM_HERE, "errno").int_val;             \
        if (cm_errno != 0) errno = (int)cm_errno;                                                            \
    } while (0)

/* ---- what mocked functions must be called with --------------------------------------------------------- */

/* Queues one check for parameter of function; the data is copied, check_data and event are the caller's. */
void _expect_check(const char *function, const char *parameter, const char *file, int line,
                   CheckParameterValue check_function, uintmax_t check_data, CheckParameterEvent *event,
                   int count);
void _expect_check_data(const char *function, const char *parameter, const char *file, int line,
                        CheckParameterValueData check_function, CMockaValueData check_data,
                        CheckParameterEventData *event, int count);
void _expect_any(const char *function, const char *parameter, const char *file, int line, int count);
void cm_expect_value(const char *function, const char *parameter, const char *file, int line, int kind,
                     CMockaValueData value, double epsilon, int count);
void cm_expect_range(const char *function, const char *parameter, const char *file, int line, int kind,
                     CMockaValueData minimum, CMockaValueData maximum, double epsilon, int count);
void cm_expect_set(const char *function, const char *parameter, const char *file, int line, int kind,
                   const void *values, size_t value_size, size_t number, double epsilon, int count);
void cm_expect_memory(const char *function, const char *parameter, const char *file, int line, int kind,
                      const void *memory, size_t size, int count);
void cm_expect_string(const char *function, const char *parameter, const char *file, int line, int kind,
                      const char *string, int count);

/* Takes the next check queued for parameter of function and applies it; no check, or a wrong value, fails
 * the test. */
void _check_expected(const char *function, const char *parameter, const char *file, int line,
                     CMockaValueData value);

#define expect_check_count(function, parameter, check_function, check_data, count)                           \
    _expect_check(#function, #parameter, CM_HERE, check_function, cast_to_uintmax_type(check_data), NULL,    \
                  count)
#define expect_check(function, parameter, check_function, check_data)                                        \
    expect_check_count(function, parameter, check_function, check_data, 1)
#define expect_check_data_count(function, parameter, check_function, check_data, count)                      \
    _expect_check_data(#function, #parameter, CM_HERE, check_function, check_data, NULL, count)
#define expect_check_data(function, parameter, check_function, check_data)                                   \
    expect_check_data_count(function, parameter, check_function, check_data, 1)
#define expect_any_count(function, parameter, count) _expect_any(#function, #parameter, CM_HERE, count)
#define expect_any(function, parameter) expect_any_count(function, parameter, 1)
#define expect_any_always(function, parameter) expect_any_count(function, parameter, WILL_RETURN_ALWAYS)

#define CM_EXPECT_VALUE(function, parameter, kind, value, epsilon, count)                                    \
    cm_expect_value(#function, #parameter, CM_HERE, kind, value, epsilon, count)
#define expect_value_count(function, parameter, value, count)                                                \
    CM_EXPECT_VALUE(function, parameter, CM_UINT, cast_int_to_cmocka_value(value), 0, count)
#define expect_value(function, parameter, value) expect_value_count(function, parameter, value, 1)
#define expect_not_value_count(function, parameter, value, count)                                            \
    CM_EXPECT_VALUE(function, parameter, CM_UINT | CM_NOT, cast_int_to_cmocka_value(value), 0, count)
#define expect_not_value(function, parameter, value) expect_not_value_count(function, parameter, value, 1)
#define expect_int_value_count(function, parameter, value, count)                                            \
    CM_EXPECT_VALUE(function, parameter, CM_INT, assign_int_to_cmocka_value(value), 0, count)
#define expect_int_value(function, parameter, value) expect_int_value_count(function, parameter, value, 1)
#define expect_int_not_value_count(function, parameter, value, count)                                        \
    CM_EXPECT_VALUE(function, parameter, CM_INT | CM_NOT, assign_int_to_cmocka_value(value), 0, count)
#define expect_int_not_value(function, parameter, value)                                                     \
    expect_int_not_value_count(function, parameter, value, 1)
#define expect_uint_value_count(function, parameter, value, count)                                           \
    CM_EXPECT_VALUE(function, parameter, CM_UINT, assign_uint_to_cmocka_value(value), 0, count)
#define expect_uint_value(function, parameter, value) expect_uint_value_count(function, parameter, value, 1)
#define expect_uint_not_value_count(function, parameter, value, count)                                       \
    CM_EXPECT_VALUE(function, parameter, CM_UINT | CM_NOT, assign_uint_to_cmocka_value(value), 0, count)
#define expect_uint_not_value(function, parameter, value)                                                    \
    expect_uint_not_value_count(function, parameter, value, 1)
#define expect_float_count(function, parameter, value, epsilon, count)                                       \
    CM_EXPECT_VALUE(function, parameter, CM_FLOAT, assign_double_to_cmocka_value(value), epsilon, count)
#define expect_float(function, parameter, value, epsilon)                                                    \
    expect_float_count(function, parameter, value, epsilon, 1)
#define expect_not_float_count(function, parameter, value, epsilon, count)                                   \
    CM_EXPECT_VALUE(function, parameter, CM_FLOAT | CM_NOT, assign_double_to_cmocka_value(value), epsilon,   \
                    count)
#define expect_not_float(function, parameter, value, epsilon)                                                \
    expect_not_float_count(function, parameter, value, epsilon, 1)
#define expect_double_count(function, parameter, value, epsilon, count)                                      \
    CM_EXPECT_VALUE(function, parameter, CM_DOUBLE, assign_double_to_cmocka_value(value), epsilon, count)
#define expect_double(function, parameter, value, epsilon)                                                   \
    expect_double_count(function, parameter, value, epsilon, 1)
#define expect_not_double_count(function, parameter, value, epsilon, count)                                  \
    CM_EXPECT_VALUE(function, parameter, CM_DOUBLE | CM_NOT, assign_double_to_cmocka_value(value), epsilon,  \
                    count)
#define expect_not_double(function, parameter, value, epsilon)                                               \
    expect_not_double_count(function, parameter, value, epsilon, 1)

#define CM_SET_KIND(kind, set) ((kind) | ((__typeof__((set)[0]))-1 > 0 ? CM_UNSIGNED_SET : 0))
#define CM_EXPECT_SET(function, parameter, kind, array, epsilon, count)                                      \
    cm_expect_set(#function, #parameter, CM_HERE, CM_SET_KIND(kind, array), array, sizeof((array)[0]),       \
                  sizeof(array) / sizeof((array)[0]), epsilon, count)
#define expect_in_set_count(function, parameter, value_array, count)                                         \
    CM_EXPECT_SET(function, parameter, CM_UINT, value_array, 0, count)
#define expect_in_set(function, parameter, value_array)                                                      \
    expect_in_set_count(function, parameter, value_array, 1)
#define expect_not_in_set_count(function, parameter, value_array, count)                                     \
    CM_EXPECT_SET(function, parameter, CM_UINT | CM_NOT, value_array, 0, count)
#define expect_not_in_set(function, parameter, value_array)                                                  \
    expect_not_in_set_count(function, parameter, value_array, 1)
#define expect_int_in_set_count(function, parameter, value_array, count)                                     \
    CM_EXPECT_SET(function, parameter, CM_INT, value_array, 0, count)
#define expect_int_in_set(function, parameter, value_array)                                                  \
    expect_int_in_set_count(function, parameter, value_array, 1)
#define expect_int_not_in_set_count(function, parameter, value_array, count)                                 \
    CM_EXPECT_SET(function, parameter, CM_INT | CM_NOT, value_array, 0, count)
#define expect_int_not_in_set(function, parameter, value_array)                                              \
    expect_int_not_in_set_count(function, parameter, value_array, 1)
#define expect_uint_in_set_count(function, parameter, value_array, count)                                    \
    CM_EXPECT_SET(function, parameter, CM_UINT, value_array, 0, count)
#define expect_uint_in_set(function, parameter, value_array)                                                 \
    expect_uint_in_set_count(function, parameter, value_array, 1)
#define expect_uint_not_in_set_count(function, parameter, value_array, count)                                \
    CM_EXPECT_SET(function, parameter, CM_UINT | CM_NOT, value_array, 0, count)
#define expect_uint_not_in_set(function, parameter, value_array)                                             \
    expect_uint_not_in_set_count(function, parameter, value_array, 1)
#define expect_float_in_set_count(function, parameter, value_array, epsilon, count)                          \
    CM_EXPECT_SET(function, parameter, CM_FLOAT, value_array, epsilon, count)
#define expect_float_in_set(function, parameter, value_array, epsilon)                                       \
    expect_float_in_set_count(function, parameter, value_array, epsilon, 1)
#define expect_float_not_in_set_count(function, parameter, value_array, epsilon, count)                      \
    CM_EXPECT_SET(function, parameter, CM_FLOAT | CM_NOT, value_array, epsilon, count)
#define expect_float_not_in_set(function, parameter, value_array, epsilon)                                   \
    expect_float_not_in_set_count(function, parameter, value_array, epsilon, 1)

#define CM_EXPECT_RANGE(function, parameter, kind, minimum, maximum, epsilon, count)                         \
    cm_expect_range(#function, #parameter, CM_HERE, kind, minimum, maximum, epsilon, count)
#define CM_EXPECT_UINTS(function, parameter, kind, minimum, maximum, count)                                  \
    CM_EXPECT_RANGE(function, parameter, kind, assign_uint_to_cmocka_value(minimum),                         \
                    assign_uint_to_cmocka_value(maximum), 0, count)
#define CM_EXPECT_INTS(function, parameter, kind, minimum, maximum, count)                                   \
    CM_EXPECT_RANGE(function, parameter, kind, assign_int_to_cmocka_value(minimum),                          \
                    assign_int_to_cmocka_value(maximum), 0, count)
#define CM_EXPECT_FLOATS(function, parameter, kind, minimum, maximum, epsilon, count)                        \
    CM_EXPECT_RANGE(function, parameter, kind, assign_double_to_cmocka_value(minimum),                       \
                    assign_double_to_cmocka_value(maximum), epsilon, count)
#define expect_in_range_count(function, parameter, minimum, maximum, count)                                  \
    CM_EXPECT_UINTS(function, parameter, CM_UINT, minimum, maximum, count)
#define expect_in_range(function, parameter, minimum, maximum)                                               \
    expect_in_range_count(function, parameter, minimum, maximum, 1)
#define expect_not_in_range_count(function, parameter, minimum, maximum, count)                              \
    CM_EXPECT_UINTS(function, parameter, CM_UINT | CM_NOT, minimum, maximum, count)
#define expect_not_in_range(function, parameter, minimum, maximum)                                           \
    expect_not_in_range_count(function, parameter, minimum, maximum, 1)
#define expect_uint_in_range_count(function, parameter, minimum, maximum, count)                             \
    CM_EXPECT_UINTS(function, parameter, CM_UINT, minimum, maximum, count)
#define expect_uint_in_range(function, parameter, minimum, maximum)                                          \
    expect_uint_in_range_count(function, parameter, minimum, maximum, 1)
#define expect_uint_not_in_range_count(function, parameter, minimum, maximum, count)                         \
    CM_EXPECT_UINTS(function, parameter, CM_UINT | CM_NOT, minimum, maximum, count)
#define expect_uint_not_in_range(function, parameter, minimum, maximum)                                      \
    expect_uint_not_in_range_count(function, parameter, minimum, maximum, 1)
#define expect_int_in_range_count(function, parameter, minimum, maximum, count)                              \
    CM_EXPECT_INTS(function, parameter, CM_INT, minimum, maximum, count)
#define expect_int_in_range(function, parameter, minimum, maximum)                                           \
    expect_int_in_range_count(function, parameter, minimum, maximum, 1)
#define expect_int_not_in_range_count(function, parameter, minimum, maximum, count)                          \
    CM_EXPECT_INTS(function, parameter, CM_INT | CM_NOT, minimum, maximum, count)
#define expect_int_not_in_range(function, parameter, minimum, maximum)                                       \
    expect_int_not_in_range_count(function, parameter, minimum, maximum, 1)
#define expect_float_in_range_count(function, parameter, minimum, maximum, epsilon, count)                   \
    CM_EXPECT_FLOATS(function, parameter, CM_FLOAT, minimum, maximum, epsilon, count)
#define expect_float_in_range(function, parameter, minimum, maximum, epsilon)                                \
    expect_float_in_range_count(function, parameter, minimum, maximum, epsilon, 1)
#define expect_float_not_in_range_count(function, parameter, minimum, maximum, epsilon, count)               \
    CM_EXPECT_FLOATS(function, parameter, CM_FLOAT | CM_NOT, minimum, maximum, epsilon, count)
#define expect_float_not_in_range(function, parameter, minimum, maximum, epsilon)                            \
    expect_float_not_in_range_count(function, parameter, minimum, maximum, epsilon, 1)

#define expect_string_count(function, parameter, string, count)                                              \
    cm_expect_string(#function, #parameter, CM_HERE, 0, (const char *)(string), count)
#define expect_string(function, parameter, string) expect_string_count(function, parameter, string, 1)
#define expect_not_string_count(function, parameter, string, count)                                          \
    cm_expect_string(#function, #parameter, CM_HERE, CM_NOT, (const char *)(string), count)
#define expect_not_string(function, parameter, string) expect_not_string_count(function, parameter, string, 1)
#define expect_memory_count(function, parameter, memory, size, count)                                        \
    cm_expect_memory(#function, #parameter, CM_HERE, 0, (const void *)(memory), size, count)
#define expect_memory(function, parameter, memory, size)                                                     \
    expect_memory_count(function, parameter, memory, size, 1)
#define expect_not_memory_count(function, parameter, memory, size, count)                                    \
    cm_expect_memory(#function, #parameter, CM_HERE, CM_NOT, (const void *)(memory), size, count)
#define expect_not_memory(function, parameter, memory, size)                                                 \
    expect_not_memory_count(function, parameter, memory, size, 1)

#define CM_CHECK(parameter, value) _check_expected(__func__, #parameter, CM_HERE, value)
#define check_expected(parameter) CM_CHECK(parameter, cast_int_to_cmocka_value(parameter))
#define check_expected_any(parameter) CM_CHECK(parameter, cast_ptr_to_cmocka_value(&(parameter)))
#define check_expected_ptr(parameter) CM_CHECK(parameter, cast_ptr_to_cmocka_value(parameter))
#define check_expected_int(parameter) CM_CHECK(parameter, assign_int_to_cmocka_value(parameter))
#define check_expected_uint(parameter) CM_CHECK(parameter, assign_uint_to_cmocka_value(parameter))
#define check_expected_float(parameter) CM_CHECK(parameter, assign_float_to_cmocka_value(parameter))
#define check_expected_double(parameter) CM_CHECK(parameter, assign_double_to_cmocka_value(parameter))

/* ---- in which order functions must be called ----------------------------------------------------------- */

/* A count of 0 expects nothing, so that a call is one too many. */
void _expect_function_call(const char *function, const char *file, int line, int count);
void _function_called(const char *function, const char *file, int line);

#define expect_function_calls(function, times) _expect_function_call(#function, CM_HERE, times)
#define expect_function_call(function) expect_function_calls(function, 1)
#define expect_function_call_any(function) expect_function_calls(function, -1) /* once or more */
#define ignore_function_calls(function) expect_function_calls(function, -2)    /* never or more */

/* ---- asserts ------------------------------------------------------------------------------------------- */

/* Each returns when the wish holds, else it fails the test at file and line. */
void _assert_true(int holds, const char *expression, const char *file, int line);
void _assert_return_code(uintmax_t result, size_t result_size, uintmax_t error, const char *expression,
                         const char *file, int line);
void cm_assert_value(int kind, CMockaValueData a, CMockaValueData b, double epsilon, const char *file,
                     int line);
void cm_assert_pointer(int kind, const void *a, const void *b, const char *message, const char *file,
                       int line);
void cm_assert_string(int kind, const char *a, const char *b, const char *file, int line);
void cm_assert_memory(int kind, const void *a, const void *b, size_t size, const char *file, int line);
void cm_assert_range(int kind, CMockaValueData value, CMockaValueData minimum, CMockaValueData maximum,
                     double epsilon, const char *file, int line);
void cm_assert_set(int kind, CMockaValueData value, const void *values, size_t value_size, size_t number,
                   double epsilon, const char *file, int line);

#define assert_true(c) _assert_true((c) ? 1 : 0, #c, CM_HERE)
#define assert_false(c) _assert_true((c) ? 0 : 1, "!(" #c ")", CM_HERE)
#define assert_return_code(rc, error)                                                                        \
    _assert_return_code(cast_to_uintmax_type(rc), sizeof(rc), cast_to_uintmax_type(error), #rc, CM_HERE)

#define assert_ptr_equal_msg(a, b, msg)                                                                      \
    cm_assert_pointer(0, cast_to_void_pointer(a), cast_to_void_pointer(b), msg, CM_HERE)
#define assert_ptr_equal(a, b) assert_ptr_equal_msg(a, b, NULL)
#define assert_ptr_not_equal_msg(a, b, msg)                                                                  \
    cm_assert_pointer(CM_NOT, cast_to_void_pointer(a), cast_to_void_pointer(b), msg, CM_HERE)
#define assert_ptr_not_equal(a, b) assert_ptr_not_equal_msg(a, b, NULL)
#define assert_non_null(c) assert_ptr_not_equal_msg(c, NULL, #c)
#define assert_non_null_msg(c, msg) assert_ptr_not_equal_msg(c, NULL, msg)
#define assert_null(c) assert_ptr_equal_msg(c, NULL, #c)
#define assert_null_msg(c, msg) assert_ptr_equal_msg(c, NULL, msg)

#define CM_INTS(a, b) assign_int_to_cmocka_value(a), assign_int_to_cmocka_value(b)
#define CM_UINTS(a, b) assign_uint_to_cmocka_value(a), assign_uint_to_cmocka_value(b)
#define CM_DOUBLES(a, b) assign_double_to_cmocka_value(a), assign_double_to_cmocka_value(b)
#define assert_int_equal(a, b) cm_assert_value(CM_INT, CM_INTS(a, b), 0, CM_HERE)
#define assert_int_not_equal(a, b) cm_assert_value(CM_INT | CM_NOT, CM_INTS(a, b), 0, CM_HERE)
#define assert_uint_equal(a, b) cm_assert_value(CM_UINT, CM_UINTS(a, b), 0, CM_HERE)
#define assert_uint_not_equal(a, b) cm_assert_value(CM_UINT | CM_NOT, CM_UINTS(a, b), 0, CM_HERE)
#define assert_float_equal(a, b, epsilon) cm_assert_value(CM_FLOAT, CM_DOUBLES(a, b), epsilon, CM_HERE)
#define assert_float_not_equal(a, b, epsilon)                                                                \
    cm_assert_value(CM_FLOAT | CM_NOT, CM_DOUBLES(a, b), epsilon, CM_HERE)
#define assert_double_equal(a, b, epsilon) cm_assert_value(CM_DOUBLE, CM_DOUBLES(a, b), epsilon, CM_HERE)
#define assert_double_not_equal(a, b, epsilon)                                                               \
    cm_assert_value(CM_DOUBLE | CM_NOT, CM_DOUBLES(a, b), epsilon, CM_HERE)

#define assert_string_equal(a, b) cm_assert_string(0, (const char *)(a), (const char *)(b), CM_HERE)
#define assert_string_not_equal(a, b) cm_assert_string(CM_NOT, (const char *)(a), (const char *)(b), CM_HERE)
#define assert_memory_equal(a, b, size)                                                                      \
    cm_assert_memory(0, (const void *)(a), (const void *)(b), size, CM_HERE)
#define assert_memory_not_equal(a, b, size)                                                                  \
    cm_assert_memory(CM_NOT, (const void *)(a), (const void *)(b), size, CM_HERE)

#define CM_ASSERT_UINTS(kind, value, minimum, maximum)                                                       \
    cm_assert_range(kind, assign_uint_to_cmocka_value(value), CM_UINTS(minimum, maximum), 0, CM_HERE)
#define CM_ASSERT_INTS(kind, value, minimum, maximum)                                                        \
    cm_assert_range(kind, assign_int_to_cmocka_value(value), CM_INTS(minimum, maximum), 0, CM_HERE)
#define CM_ASSERT_FLOATS(kind, value, minimum, maximum, epsilon)                                             \
    cm_assert_range(kind, assign_double_to_cmocka_value(value), CM_DOUBLES(minimum, maximum), epsilon,       \
                    CM_HERE)
#define assert_in_range(value, minimum, maximum) CM_ASSERT_UINTS(CM_UINT, value, minimum, maximum)
#define assert_not_in_range(value, minimum, maximum)                                                         \
    CM_ASSERT_UINTS(CM_UINT | CM_NOT, value, minimum, maximum)
#define assert_uint_in_range(value, minimum, maximum) CM_ASSERT_UINTS(CM_UINT, value, minimum, maximum)
#define assert_uint_not_in_range(value, minimum, maximum)                                                    \
    CM_ASSERT_UINTS(CM_UINT | CM_NOT, value, minimum, maximum)
#define assert_int_in_range(value, minimum, maximum) CM_ASSERT_INTS(CM_INT, value, minimum, maximum)
#define assert_int_not_in_range(value, minimum, maximum)                                                     \
    CM_ASSERT_INTS(CM_INT | CM_NOT, value, minimum, maximum)
#define assert_float_in_range(value, minimum, maximum, epsilon)                                              \
    CM_ASSERT_FLOATS(CM_DOUBLE, value, minimum, maximum, epsilon)
#define assert_float_not_in_range(value, minimum, maximum, epsilon)                                          \
    CM_ASSERT_FLOATS(CM_DOUBLE | CM_NOT, value, minimum, maximum, epsilon)

#define CM_ASSERT_SET(kind, value, values, number, epsilon)                                                  \
    cm_assert_set(CM_SET_KIND(kind, values), value, values, sizeof((values)[0]), number, epsilon, CM_HERE)
#define assert_in_set(value, values, number)                                                                 \
    CM_ASSERT_SET(CM_UINT, assign_uint_to_cmocka_value(value), values, number, 0)
#define assert_not_in_set(value, values, number)                                                             \
    CM_ASSERT_SET(CM_UINT | CM_NOT, assign_uint_to_cmocka_value(value), values, number, 0)
#define assert_uint_in_set(value, values, number) assert_in_set(value, values, number)
#define assert_uint_not_in_set(value, values, number) assert_not_in_set(value, values, number)
#define assert_int_in_set(value, values, number)                                                             \
    CM_ASSERT_SET(CM_INT, assign_int_to_cmocka_value(value), values, number, 0)
#define assert_int_not_in_set(value, values, number)                                                         \
    CM_ASSERT_SET(CM_INT | CM_NOT, assign_int_to_cmocka_value(value), values, number, 0)
#define assert_float_in_set(value, values, number, epsilon)                                                  \
    CM_ASSERT_SET(CM_FLOAT, assign_float_to_cmocka_value(value), values, number, epsilon)
#define assert_float_not_in_set(value, values, number, epsilon)                                              \
    CM_ASSERT_SET(CM_FLOAT | CM_NOT, assign_float_to_cmocka_value(value), values, number, epsilon)

/* ---- the end of a test --------------------------------------------------------------------------------- */

/* They do not return to a test; in a thread that goes on after a failure they do. */
void _fail(const char *file, int line);
void _skip(const char *file, int line);
void _stop(void);
void cm_fail_msg(const char *file, int line, const char *format, ...) CMOCKA_PRINTF_ATTRIBUTE(3, 4);
#define fail_msg(...) cm_fail_msg(CM_HERE, __VA_ARGS__)

/* What a failing macro does with a thread that is not the test's: ends it (the default), or records the
 * failure and lets it go on, as threads of a pool need it. */
enum cm_thread_failure { CM_THREAD_EXIT, CM_THREAD_CONTINUE };
void cmocka_set_thread_failure(enum cm_thread_failure what);

/* ---- asserts of the tested code that must fire --------------------------------------------------------- */

extern __thread int global_expecting_assert;             /* depth of expect_assert_failure() in this thread */
extern __thread const char *global_last_failed_assert;   /* its expression */

struct cm_assert_frame {
    jmp_buf env;
    struct cm_assert_frame *outer;
};
void cm_assert_frame_push(struct cm_assert_frame *frame);
void cm_assert_frame_pop(struct cm_assert_frame *frame);

/* The tested code's assert(): with result 0 it goes back to the innermost expect_assert_failure() of this
 * thread, or fails the test when there is none. */
void mock_assert(const int result, const char *const expression, const char *const file, const int line);

#define expect_assert_failure(function_call)                                                                 \
    {                                                                                                        \
        struct cm_assert_frame cm_frame;                                                                     \
        cm_assert_frame_push(&cm_frame);                                                                     \
        if (setjmp(cm_frame.env)) {                                                                          \
            print_message("Expected assertion %s occurred\n", global_last_failed_assert);                    \
        } else {                                                                                             \
            function_call;                                                                                   \
            cm_assert_frame_pop(&cm_frame);                                                                  \
            cm_fail_msg(CM_HERE, "Expected assert in %s", #function_call);                                   \
        }                                                                                                    \
    }

/* ---- allocations that a test must free ----------------------------------------------------------------- */

/* Guarded on both sides (16 bytes of 0xEF), filled with 0xBA, and with 0xCD when freed. A damaged guard, a
 * pointer that is not from here, and a block left at the end of a test fail the test. */
void *_test_malloc(const size_t size, const char *file, const int line);
void *_test_calloc(const size_t number, const size_t size, const char *file, const int line);
void *_test_realloc(void *ptr, const size_t size, const char *file, const int line);
void _test_free(void *const ptr, const char *file, const int line);

#define test_malloc(size) _test_malloc(size, CM_HERE)
#define test_calloc(num, size) _test_calloc(num, size, CM_HERE)
#define test_realloc(ptr, size) _test_realloc(ptr, size, CM_HERE)
#define test_free(ptr) _test_free(ptr, CM_HERE)

/* UNIT_TESTING redirects the tested code, as in 1.1.5; with CMOCKA_API=2 it does so as in 2.0, only together
 * with ALLOCATION_TESTING. */
#ifndef CMOCKA_API
#define CMOCKA_API 1
#endif
#if defined(UNIT_TESTING) && (CMOCKA_API < 2 || defined(ALLOCATION_TESTING))
#define malloc test_malloc
#define calloc test_calloc
#define realloc test_realloc
#define free test_free
#endif

/* ---- tests and groups ---------------------------------------------------------------------------------- */

#define cmocka_unit_test(f) { #f, f, NULL, NULL, NULL }
#define cmocka_unit_test_setup(f, setup) { #f, f, setup, NULL, NULL }
#define cmocka_unit_test_teardown(f, teardown) { #f, f, NULL, teardown, NULL }
#define cmocka_unit_test_setup_teardown(f, setup, teardown) { #f, f, setup, teardown, NULL }
#define cmocka_unit_test_prestate(f, state) { #f, f, NULL, NULL, state }
#define cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, state) { #f, f, setup, teardown, state }

#define CM_ALL_OF(array) array, sizeof(array) / sizeof((array)[0])
#define cmocka_run_group_tests(group_tests, group_setup, group_teardown)                                     \
    _cmocka_run_group_tests(#group_tests, CM_ALL_OF(group_tests), group_setup, group_teardown)
#define cmocka_run_group_tests_name(group_name, group_tests, group_setup, group_teardown)                    \
    _cmocka_run_group_tests(group_name, CM_ALL_OF(group_tests), group_setup, group_teardown)

/* Runs the tests as the GoogleTest suite group_name (a second group of one name gets "#2").
 * Returns the number of tests that failed or could not run, plus one for a failed group fixture; -1 when
 * blocks of test_malloc() are left that no test was charged with. */
int _cmocka_run_group_tests(const char *group_name, const struct CMUnitTest *tests, size_t num_tests,
                            CMFixtureFunction group_setup, CMFixtureFunction group_teardown);

/* ---- the runner of cmocka's first years (cmockery) ----------------------------------------------------- */

typedef void (*UnitTestFunction)(void **state);
typedef enum UnitTestFunctionType {
    UNIT_TEST_FUNCTION_TYPE_TEST = 0,
    UNIT_TEST_FUNCTION_TYPE_SETUP,
    UNIT_TEST_FUNCTION_TYPE_TEARDOWN,
    UNIT_TEST_FUNCTION_TYPE_GROUP_SETUP,
    UNIT_TEST_FUNCTION_TYPE_GROUP_TEARDOWN
} UnitTestFunctionType;

typedef struct UnitTest {
    const char *name;
    UnitTestFunction function;
    UnitTestFunctionType function_type;
} UnitTest;

typedef struct GroupTest {
    UnitTestFunction setup;
    UnitTestFunction teardown;
    const UnitTest *tests;
    const size_t number_of_tests;
} GroupTest;

static __inline__ void _unit_test_dummy(void **state)
{
    (void)state;
}

#define unit_test(f) { #f, f, UNIT_TEST_FUNCTION_TYPE_TEST }
#define _unit_test_setup(test, setup) { #test "_" #setup, setup, UNIT_TEST_FUNCTION_TYPE_SETUP }
#define _unit_test_teardown(test, teardown)                                                                  \
    { #test "_" #teardown, teardown, UNIT_TEST_FUNCTION_TYPE_TEARDOWN }
#define unit_test_setup_teardown(test, setup, teardown)                                                      \
    _unit_test_setup(test, setup), unit_test(test), _unit_test_teardown(test, teardown)
#define unit_test_setup(test, setup) unit_test_setup_teardown(test, setup, _unit_test_dummy)
#define unit_test_teardown(test, teardown) unit_test_setup_teardown(test, _unit_test_dummy, teardown)
#define group_test_setup(setup) { "group_" #setup, setup, UNIT_TEST_FUNCTION_TYPE_GROUP_SETUP }
#define group_test_teardown(teardown) { "group_" #teardown, teardown, UNIT_TEST_FUNCTION_TYPE_GROUP_TEARDOWN }
#define run_test(f) _run_test(#f, f, NULL, UNIT_TEST_FUNCTION_TYPE_TEST, NULL)
#define run_tests(tests) _run_tests(CM_ALL_OF(tests))
#define run_group_tests(tests) _run_group_tests(CM_ALL_OF(tests))

int _run_test(const char *const function_name, const UnitTestFunction Function, void **state,
              const UnitTestFunctionType function_type, const void *const heap_check_point);
CMOCKA_DEPRECATED int _run_tests(const UnitTest *const tests, const size_t number_of_tests);
CMOCKA_DEPRECATED int _run_group_tests(const UnitTest *const tests, const size_t number_of_tests);

/* ---- words, formats, filters --------------------------------------------------------------------------- */

void print_message(const char *const format, ...) CMOCKA_PRINTF_ATTRIBUTE(1, 2);
void print_error(const char *const format, ...) CMOCKA_PRINTF_ATTRIBUTE(1, 2);
void vprint_message(const char *const format, va_list args) CMOCKA_PRINTF_ATTRIBUTE(1, 0);
void vprint_error(const char *const format, va_list args) CMOCKA_PRINTF_ATTRIBUTE(1, 0);
void cmocka_print_error(const char *const format, ...) CMOCKA_PRINTF_ATTRIBUTE(1, 2);
#define cm_print_error cmocka_print_error

struct CMCallbacks {
    void (*vprint_message)(const char *const format, va_list args); /* NULL: to stdout */
    void (*vprint_error)(const char *const format, va_list args);   /* NULL: to stderr */
};
void cmocka_set_callbacks(const struct CMCallbacks *f_callbacks);

/* Formats, to be or-ed. Without a call and without CMOCKA_MESSAGE_OUTPUT (a comma list of standard, subunit,
 * tap, xml, which wins over the call) GoogleTest's own lines are printed. CMOCKA_XML_FILE names the file of
 * xml, %g in it the group; a file that is there already is left alone. */
enum cm_message_output {
    CM_OUTPUT_STANDARD = 1,
    CM_OUTPUT_STDOUT = 1,
    CM_OUTPUT_SUBUNIT = 2,
    CM_OUTPUT_TAP = 4,
    CM_OUTPUT_XML = 8
};
void cmocka_set_message_output(uint32_t output);

/* Whole names with * and ?; tests outside are not registered. CMOCKA_TEST_FILTER and CMOCKA_SKIP_FILTER are
 * read where these were not called. */
void cmocka_set_test_filter(const char *pattern);
void cmocka_set_skip_filter(const char *pattern);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- short names --------------------------------------------------------------------------------------- */

#ifndef CMOCKA_NO_SHORT_NAMES
#ifdef __cplusplus
inline uintmax_t mock(const char *function = __builtin_FUNCTION(), const char *file = __builtin_FILE(),
                      int line = __builtin_LINE())
{
    return _mock(function, file, line, nullptr).uint_val;
}
inline bool has_mock(const char *function = __builtin_FUNCTION())
{
    return _has_mock(function) != 0;
}
inline void function_called(const char *function = __builtin_FUNCTION(), const char *file = __builtin_FILE(),
                            int line = __builtin_LINE())
{
    _function_called(function, file, line);
}
inline void fail(const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    _fail(file, line);
}
inline void skip(const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    _skip(file, line);
}
inline void stop()
{
    _stop();
}
#else
#define mock() (_mock(__func__, CM_HERE, NULL).uint_val)
#define has_mock() _has_mock(__func__)
#define function_called() _function_called(__func__, CM_HERE)
#define fail() _fail(CM_HERE)
#define skip() _skip(CM_HERE)
#define stop() _stop()
#endif
#endif

#endif /* CMOCKA_H_ */
