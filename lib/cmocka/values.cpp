// SPDX-License-Identifier: GPL-2.0-only
//
// The judges of asserts and checks, and the words for what they find.

#include "lib/cmocka/values.h"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "lib/cmocka/run.h"

namespace kmirror::cmocka {
namespace {

int base(int kind) { return kind & ~(CM_NOT | CM_UNSIGNED_SET); }
bool wants_not(int kind) { return (kind & CM_NOT) != 0; }
bool is_floating(int kind) { return base(kind) == CM_FLOAT || base(kind) == CM_DOUBLE; }

std::string words(int kind, CMockaValueData value) {
    switch (base(kind)) {
    case CM_INT:
        return text_of("%jd (%#jx)", value.int_val, value.uint_val);
    case CM_UINT:
        return text_of("%ju (%#jx)", value.uint_val, value.uint_val);
    default:
        return text_of("%.*g", base(kind) == CM_FLOAT ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG, value.real_val);
    }
}

bool near(double a, double b, double epsilon, double last_digit) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return a == b;
    const double difference = std::fabs(a - b);
    return difference <= epsilon || difference <= std::fmax(std::fabs(a), std::fabs(b)) * last_digit;
}

bool equal(int kind, CMockaValueData a, CMockaValueData b, double epsilon) {
    switch (base(kind)) {
    case CM_FLOAT:
        return near(static_cast<float>(a.real_val), static_cast<float>(b.real_val),
                    static_cast<float>(epsilon), FLT_EPSILON);
    case CM_DOUBLE:
        return near(a.real_val, b.real_val, epsilon, DBL_EPSILON);
    default:
        return a.uint_val == b.uint_val;
    }
}

bool less(int kind, CMockaValueData a, CMockaValueData b) {
    if (is_floating(kind)) return a.real_val < b.real_val;
    return base(kind) == CM_INT ? a.int_val < b.int_val : a.uint_val < b.uint_val;
}

template <typename T>
T read(const void* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

CMockaValueData element(int kind, const void* at, size_t size) {
    if (is_floating(kind)) {
        return cm_value_double(size == sizeof(float) ? read<float>(at) : read<double>(at));
    }
    const bool with_sign = (kind & CM_UNSIGNED_SET) == 0;
    switch (size) {
    case 1:
        return cm_value_int(with_sign ? read<int8_t>(at) : intmax_t{read<uint8_t>(at)});
    case 2:
        return cm_value_int(with_sign ? read<int16_t>(at) : intmax_t{read<uint16_t>(at)});
    case 4:
        return cm_value_int(with_sign ? read<int32_t>(at) : intmax_t{read<uint32_t>(at)});
    default:
        return cm_value_uint(read<uint64_t>(at));
    }
}

}  // namespace

Verdict judge_value(int kind, CMockaValueData value, CMockaValueData wanted, double epsilon) {
    if (equal(kind, value, wanted, epsilon) != wants_not(kind)) return {};
    return words(kind, value) + (wants_not(kind) ? " == " : " != ") + words(kind, wanted);
}

Verdict judge_range(int kind, CMockaValueData value, CMockaValueData minimum, CMockaValueData maximum,
                    double epsilon) {
    const bool above = less(kind, minimum, value) || equal(kind, value, minimum, epsilon);
    const bool below = less(kind, value, maximum) || equal(kind, value, maximum, epsilon);
    const bool inside = above && below;
    if (inside != wants_not(kind)) return {};
    return words(kind, value) + (wants_not(kind) ? " is within [" : " is not within [") +
           words(kind, minimum) + ", " + words(kind, maximum) + "]";
}

Verdict judge_set(int kind, CMockaValueData value, const void* values, size_t value_size, size_t number,
                  double epsilon) {
    std::string all;
    bool found = false;
    for (size_t i = 0; i < number; ++i) {
        const void* const at = static_cast<const char*>(values) + i * value_size;
        const CMockaValueData one = element(kind, at, value_size);
        found |= equal(kind, value, one, epsilon);
        all += (i > 0 ? ", " : "") + words(kind, one);
    }
    if (found != wants_not(kind)) return {};
    return words(kind, value) + (wants_not(kind) ? " is in the set (" : " is not in the set (") + all + ")";
}

Verdict judge_string(int kind, const char* value, const char* wanted) {
    const bool strings = value != nullptr && wanted != nullptr;
    const bool same = strings ? std::strcmp(value, wanted) == 0 : value == wanted;
    if (same != wants_not(kind)) return {};
    const auto quoted = [](const char* s) {
        return s == nullptr ? std::string("NULL") : text_of("\"%s\"", s);
    };
    return quoted(value) + (wants_not(kind) ? " == " : " != ") + quoted(wanted);
}

Verdict judge_memory(int kind, const void* value, const void* wanted, size_t size) {
    if (value == nullptr || wanted == nullptr) {
        if ((value == wanted) != wants_not(kind)) return {};
        return text_of("memory at %p against memory at %p", value, wanted);
    }
    const auto* a = static_cast<const unsigned char*>(value);
    const auto* b = static_cast<const unsigned char*>(wanted);
    size_t different = 0;
    std::string first;
    for (size_t i = 0; i < size; ++i) {
        if (a[i] == b[i] || ++different > 16) continue;
        first += text_of("difference at offset %zu: 0x%02x 0x%02x\n", i, a[i], b[i]);
    }
    if ((different == 0) != wants_not(kind)) return {};
    if (wants_not(kind)) return text_of("%zu bytes of %p and %p are the same", size, value, wanted);
    return first + text_of("%zu of %zu bytes of %p and %p differ", different, size, value, wanted);
}

}  // namespace kmirror::cmocka
