// SPDX-License-Identifier: GPL-2.0-only
//
// Comparing the values of asserts and parameter checks: each judge returns nothing when the wish holds, else
// the words of the failure. The kinds are cm_kind's; CM_NOT turns the wish round.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "include/cmocka.h"

namespace kmirror::cmocka {

using Verdict = std::optional<std::string>;

// Floating-point expectations arrive as doubles; they are rounded to float where the kind is CM_FLOAT.
// Two numbers are equal when they differ by epsilon at most, or by the last digit of the larger; so are two
// NaNs, and two infinities of one sign.
Verdict judge_value(int kind, CMockaValueData value, CMockaValueData wanted, double epsilon);
Verdict judge_range(int kind, CMockaValueData value, CMockaValueData minimum, CMockaValueData maximum,
                    double epsilon);
// values: number elements of value_size bytes each, integers or floating-point numbers as the kind says.
Verdict judge_set(int kind, CMockaValueData value, const void* values, size_t value_size, size_t number,
                  double epsilon);
Verdict judge_string(int kind, const char* value, const char* wanted);
Verdict judge_memory(int kind, const void* value, const void* wanted, size_t size);

}  // namespace kmirror::cmocka
