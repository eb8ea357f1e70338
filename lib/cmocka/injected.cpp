// SPDX-License-Identifier: GPL-2.0-only
//
// The log of <kmirror/fault.h>, if the program has it: the references are weak, and name nothing in a program that
// is linked without libkmirror or that never asks for a fault.
//
// Owns     nothing.
// Fails    never; without memory for it the log is not told.

#include "lib/cmocka/injected.h"

#include <cstdio>
#include <cstdlib>

#include "lib/cmocka/report.h"

extern "C" {
[[gnu::weak]] void kmirror_fault_log_clear(void);
[[gnu::weak]] void kmirror_fault_log_command(const char* command);
[[gnu::weak]] void kmirror_fault_log_print(std::FILE* out);
}

namespace kmirror::cmocka {

void forget_injections(const std::string& test) {
    if (kmirror_fault_log_clear == nullptr || kmirror_fault_log_command == nullptr) return;
    kmirror_fault_log_clear();
    kmirror_fault_log_command((program_name() + " --gtest_filter='" + test + "'").c_str());
}

std::string take_injections() {
    char* text = nullptr;
    size_t size = 0;
    std::FILE* const out = kmirror_fault_log_print != nullptr ? open_memstream(&text, &size) : nullptr;
    if (out == nullptr) return "";
    kmirror_fault_log_print(out);
    std::fclose(out);
    std::string log(text, size);
    std::free(text);
    if (!log.empty()) log.pop_back();   // the last line's end
    return log;
}

}  // namespace kmirror::cmocka
