// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: every function of the public headers that may allocate is swept. The headers are read as text, so one
// that is added without a case fails here.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "tools/sweep/cases.h"

namespace {

using namespace kmirror::sweeping;
using Names = std::set<std::string>;

std::string without_comments(const std::string& file) {
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::string code;
    for (std::size_t i = 0; i < text.size();) {
        if (text.compare(i, 2, "/*") != 0) {
            code += text[i++];
            continue;
        }
        i = text.find("*/", i) + 2;
    }
    return code;
}

// Functions and function-like macros, each with its parameters: a name and a parenthesis on a line that begins in
// the first column and is no part of a body.
std::map<std::string, std::string> functions_of(const std::string& file) {
    static const std::regex shape(
        "(?:^|\n)(?:#define[ \t]+|[a-z][^\n;={]*?[ *]|)([a-z_][a-z0-9_]*)"
        "\\(((?!\\()[^;{]*?)(?:\\)[^()\n]*|\\))(?=\n|;| *\\{|$)");
    std::map<std::string, std::string> found;
    const std::string code = without_comments(file);
    for (std::sregex_iterator it(code.begin(), code.end(), shape), end; it != end; ++it) {
        found[(*it)[1].str()] += (*it)[2].str() + ";";
    }
    return found;
}

// Asks for memory, as far as its declaration says: a mask, or a name that means something new.
bool may_allocate(const std::string& name, const std::string& parameters) {
    static const std::regex mask("\\bgfp(_t|_mask|)\\b");
    static const std::regex maker("(^|_)(alloc|vmalloc|vzalloc|create|store|insert|erase|dup|prefill|open)(_|$)|^vm_");
    return std::regex_search(parameters, mask) || std::regex_search(name, maker);
}

Names swept_names() {
    static const std::regex word("[a-z_][a-z0-9_]*");
    Names names;
    for (const Case& one : all_cases()) {
        for (std::sregex_iterator it(one.call.begin(), one.call.end(), word), end; it != end; ++it) {
            names.insert(it->str());
        }
    }
    return names;
}

// What a name suggests and does not hold.
const Names kNeedNone = {
    "gfpflags_allow_blocking", "gfpflags_allow_spinning", "gfp_has_io_fs", "gfp_pfmemalloc_allowed",
    "vmalloc_area", "mt_get_alloc_size", "__kmalloc_bucket", "kmalloc_type",
    "alloc_percpu", "alloc_percpu_gfp",   // macros of what is swept
    "page_alloc_init", "mm_store_hook",   // start, a type
    "vm_predict", "vm_fault_all",         // a question; vm_fault() page by page
};

const char* const kHeaders[] = {"include/linux/slab.h",  "include/linux/gfp.h",        "include/linux/vmalloc.h",
                                "include/linux/percpu.h", "include/linux/maple_tree.h", "include/kmirror/mm.h"};

TEST(SweepCoverage, EveryFunctionThatMayAllocateIsSwept) {
    if (!std::filesystem::exists(kHeaders[0])) GTEST_SKIP() << "not started in the project's folder";
    const Names swept = swept_names();
    unsigned found = 0;
    std::string missing;
    for (const char* const header : kHeaders) {
        for (const auto& [name, parameters] : functions_of(header)) {
            if (!may_allocate(name, parameters) || kNeedNone.count(name) != 0) continue;
            ++found;
            if (swept.count(name) == 0) missing += " " + name;
        }
    }
    EXPECT_GT(found, 75u) << "the headers were not understood";
    EXPECT_EQ(missing, "") << "no case of tools/sweep calls these";
}

}  // namespace
