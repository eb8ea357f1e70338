// SPDX-License-Identifier: GPL-2.0-only
//
// What a run prints: GoogleTest's own lines, or cmocka's formats.
#pragma once

#include <memory>
#include <string>

#include "lib/cmocka/group.h"

namespace kmirror::cmocka {

// Puts the formats that are asked for in the place of GoogleTest's printer, while group runs.
class FormatsScope {
public:
    explicit FormatsScope(Group& group);
    ~FormatsScope();
    FormatsScope(const FormatsScope&) = delete;
    FormatsScope& operator=(const FormatsScope&) = delete;

private:
    class Listener;
    Listener* listener_ = nullptr;
};

// True when name passes cmocka_set_test_filter() and cmocka_set_skip_filter(), or their variables.
bool passes_filters(const char* name);

// To stdout and stderr, or where cmocka_set_callbacks() sends them.
void message(const std::string& text);
void error(const std::string& text);

// The whole name against a pattern of * and ?.
bool matches(const char* name, const char* pattern);

}  // namespace kmirror::cmocka
