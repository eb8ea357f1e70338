// SPDX-License-Identifier: GPL-2.0-only
//
// The words of a run: print_message() and print_error(), the choice of formats, the filters, and the
// listener through which GoogleTest drives the formats.
//
// Fails    a name in CMOCKA_MESSAGE_OUTPUT that is no format ends the process with status 2.

#include "lib/cmocka/output.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "include/cmocka.h"
#include "lib/cmocka/format.h"
#include "lib/cmocka/run.h"

namespace kmirror::cmocka {
namespace {

CMCallbacks callbacks;
uint32_t chosen_output;  // 0: GoogleTest's
const char* test_filter;
const char* skip_filter;

const char* or_variable(const char* given, const char* variable) {
    return given != nullptr ? given : std::getenv(variable);
}

uint32_t format_called(std::string name) {
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (name == "STANDARD" || name == "STDOUT") return CM_OUTPUT_STANDARD;
    if (name == "SUBUNIT") return CM_OUTPUT_SUBUNIT;
    if (name == "TAP") return CM_OUTPUT_TAP;
    if (name == "XML") return CM_OUTPUT_XML;
    std::fprintf(stderr, "CMOCKA_MESSAGE_OUTPUT: %s is no format; it is a comma list of standard, subunit, "
                         "tap, xml\n", name.c_str());
    std::exit(2);
}

uint32_t wanted_output() {
    const char* wish = std::getenv("CMOCKA_MESSAGE_OUTPUT");
    if (wish == nullptr || *wish == '\0') return chosen_output;
    uint32_t all = 0;
    std::string name;
    for (;; ++wish) {
        if (*wish != ',' && *wish != '\0') {
            name += *wish;
            continue;
        }
        all |= format_called(name);
        name.clear();
        if (*wish == '\0') return all;
    }
}

}  // namespace

class FormatsScope::Listener : public ::testing::EmptyTestEventListener {
public:
    Listener(Group& group, uint32_t output) : group_(group), formats_(make_formats(output)) {}

    void OnTestSuiteStart(const ::testing::TestSuite& suite) override {
        number_ = 0;
        each([&](Format& f) { f.group_starts(static_cast<size_t>(suite.test_to_run_count())); });
    }
    void OnTestStart(const ::testing::TestInfo& test) override {
        if (!group_.setup_message.empty()) return;
        ++number_;
        each([&](Format& f) { f.case_starts(test.name()); });
    }
    void OnTestEnd(const ::testing::TestInfo&) override {
        if (group_.last_run != nullptr) each([&](Format& f) { f.case_ends(number_, *group_.last_run); });
    }
    void OnTestSuiteEnd(const ::testing::TestSuite&) override {
        each([&](Format& f) { f.group_ends(group_); });
    }

private:
    template <typename F>
    void each(F what) {
        for (const auto& format : formats_) what(*format);
    }

    Group& group_;
    std::vector<std::unique_ptr<Format>> formats_;
    size_t number_ = 0;
};

FormatsScope::FormatsScope(Group& group) {
    const uint32_t output = wanted_output();
    if (output == 0) return;
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listener_ = new Listener(group, output);
    listeners.Append(listener_);
}

FormatsScope::~FormatsScope() {
    if (listener_ == nullptr) return;
    delete ::testing::UnitTest::GetInstance()->listeners().Release(listener_);
}

bool matches(const char* name, const char* pattern) {
    for (; *pattern != '*'; ++name, ++pattern) {
        if (*pattern == '\0') return *name == '\0';
        if (*name == '\0' || (*pattern != '?' && *pattern != *name)) return false;
    }
    for (;; ++name) {
        if (matches(name, pattern + 1)) return true;
        if (*name == '\0') return false;
    }
}

bool passes_filters(const char* name) {
    const char* const only = or_variable(test_filter, "CMOCKA_TEST_FILTER");
    const char* const without = or_variable(skip_filter, "CMOCKA_SKIP_FILTER");
    return (only == nullptr || matches(name, only)) && (without == nullptr || !matches(name, without));
}

void message(const std::string& text) { print_message("%s", text.c_str()); }
void error(const std::string& text) { print_error("%s", text.c_str()); }

}  // namespace kmirror::cmocka

using namespace kmirror::cmocka;

extern "C" {

void vprint_message(const char* const format, va_list args) {
    if (callbacks.vprint_message != nullptr) return callbacks.vprint_message(format, args);
    std::vfprintf(stdout, format, args);
    std::fflush(stdout);
}

void vprint_error(const char* const format, va_list args) {
    if (callbacks.vprint_error != nullptr) return callbacks.vprint_error(format, args);
    std::vfprintf(stderr, format, args);
    std::fflush(stderr);
}

void print_message(const char* const format, ...) {
    va_list args;
    va_start(args, format);
    vprint_message(format, args);
    va_end(args);
}

void print_error(const char* const format, ...) {
    va_list args;
    va_start(args, format);
    vprint_error(format, args);
    va_end(args);
}

void cmocka_print_error(const char* const format, ...) {
    va_list args;
    va_start(args, format);
    vprint_error(format, args);
    va_end(args);
}

void cmocka_set_callbacks(const struct CMCallbacks* f_callbacks) {
    callbacks = f_callbacks != nullptr ? *f_callbacks : CMCallbacks{};
}

void cmocka_set_message_output(uint32_t output) { chosen_output = output; }
void cmocka_set_test_filter(const char* pattern) { test_filter = pattern; }
void cmocka_set_skip_filter(const char* pattern) { skip_filter = pattern; }

}  // extern "C"
