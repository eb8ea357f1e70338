// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/setting.cpp: see setting.h. Reads the environment, owns nothing. Locking: none; like getenv() it
// must not run beside a setenv(). Fails through kmirror_bad_setting().

#include "lib/kernel/setting.h"

#include <kmirror/topology.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kmirror::kernel {

bool parse_u64(const char *text, u64 *out)
{
    if (!std::isdigit(static_cast<unsigned char>(text[0])))
        return false;
    char *end = nullptr;
    errno = 0;
    const u64 value = std::strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
    if (errno != 0 || *end != '\0')
        return false;
    *out = value;
    return true;
}

u64 setting_u64(const char *name, u64 lowest, u64 highest, u64 otherwise)
{
    const char *text = std::getenv(name);
    if (text == nullptr || *text == '\0')
        return otherwise;
    u64 value = 0;
    if (parse_u64(text, &value) && value >= lowest && value <= highest)
        return value;
    char allowed[80];
    std::snprintf(allowed, sizeof(allowed), "it is a number from %llu to %llu", lowest, highest);
    kmirror_bad_setting(name, text, allowed);
}

int setting_choice(const char *name, const char *const *words, int count, int otherwise)
{
    const char *text = std::getenv(name);
    if (text == nullptr || *text == '\0')
        return otherwise;
    for (int choice = 0; choice < count; choice++)
        if (std::strcmp(text, words[choice]) == 0)
            return choice;
    char allowed[160] = "it is one of";
    size_t length = std::strlen(allowed);
    for (int choice = 0; choice < count && length < sizeof(allowed); choice++)
        length += static_cast<size_t>(
            std::snprintf(allowed + length, sizeof(allowed) - length, "%s%s", choice ? ", " : " ", words[choice]));
    kmirror_bad_setting(name, text, allowed);
}

const char *setting_text(const char *name, size_t most)
{
    const char *text = std::getenv(name);
    if (text == nullptr || *text == '\0')
        return nullptr;
    if (std::strlen(text) <= most)
        return text;
    char allowed[80];
    std::snprintf(allowed, sizeof(allowed), "it has at most %zu characters", most);
    kmirror_bad_setting(name, text, allowed);
}

}  // namespace kmirror::kernel
