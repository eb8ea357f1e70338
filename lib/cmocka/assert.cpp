// SPDX-License-Identifier: GPL-2.0-only
//
// The assert_ macros: a judge, and the test is left when it objects.

#include <cstring>

#include "lib/cmocka/run.h"
#include "lib/cmocka/values.h"

using namespace kmirror::cmocka;

namespace {

// Records what a judge objects to. The test is left by the caller, where the words are freed already.
bool objects(const Verdict& verdict, const char* file, int line) {
    if (verdict) record_failure(file, line, *verdict);
    return verdict.has_value();
}

}  // namespace

extern "C" {

void _assert_true(int holds, const char* expression, const char* file, int line) {
    if (holds != 0) return;
    record_failure(file, line, text_of("%s is false", expression));
    leave(End::Failed);
}

void _assert_return_code(uintmax_t result, size_t result_size, uintmax_t error, const char* expression,
                         const char* file, int line) {
    const uintmax_t largest = UINTMAX_MAX >> (8 * (sizeof(uintmax_t) - result_size) + 1);
    if (result <= largest) return;
    record_failure(file, line, text_of("%s < 0, errno(%ju): %s", expression, error,
                                       error > 0 ? std::strerror(static_cast<int>(error)) : "no error"));
    leave(End::Failed);
}

void cm_assert_value(int kind, CMockaValueData a, CMockaValueData b, double epsilon, const char* file,
                     int line) {
    if (objects(judge_value(kind, a, b, epsilon), file, line)) leave(End::Failed);
}

void cm_assert_pointer(int kind, const void* a, const void* b, const char* message, const char* file,
                       int line) {
    if ((a == b) != (kind == CM_NOT)) return;
    record_failure(file, line, text_of("%s%s%p %s %p", message != nullptr ? message : "",
                                       message != nullptr ? ": " : "", a, kind == CM_NOT ? "==" : "!=", b));
    leave(End::Failed);
}

void cm_assert_string(int kind, const char* a, const char* b, const char* file, int line) {
    if (objects(judge_string(kind, a, b), file, line)) leave(End::Failed);
}

void cm_assert_memory(int kind, const void* a, const void* b, size_t size, const char* file, int line) {
    if (objects(judge_memory(kind, a, b, size), file, line)) leave(End::Failed);
}

void cm_assert_range(int kind, CMockaValueData value, CMockaValueData minimum, CMockaValueData maximum,
                     double epsilon, const char* file, int line) {
    if (objects(judge_range(kind, value, minimum, maximum, epsilon), file, line)) leave(End::Failed);
}

void cm_assert_set(int kind, CMockaValueData value, const void* values, size_t value_size, size_t number,
                   double epsilon, const char* file, int line) {
    if ((kind & ~(CM_NOT | CM_UNSIGNED_SET)) == CM_FLOAT) value = cm_value_double(value.float_val);
    if (objects(judge_set(kind, value, values, value_size, number, epsilon), file, line)) leave(End::Failed);
}

}  // extern "C"
