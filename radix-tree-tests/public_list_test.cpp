// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: every function and macro that <linux/maple_tree.h> offers is called by a test of this folder. The
// header and the tests are read as text, so a name that is added without a test fails here.
#include <gtest/gtest.h>

#include "tools/testing/harness.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace kmirror::testing {
namespace {

constexpr const char *kHeader = "include/linux/maple_tree.h";
constexpr const char *kTests = "radix-tree-tests";

// Who calls a name from the outside: mt_, mtree_, mas_, maple_ and their macros.
bool is_of_the_tree(std::string_view name)
{
    for (const std::string_view prefix : {"mt_", "mtree_", "mas_", "maple_", "__mt_", "__mas_", "MT_",
                                          "MTREE_", "MA_", "MAS_", "DEFINE_MTREE"})
        if (name.substr(0, prefix.size()) == prefix)
            return true;
    return false;
}

bool is_word(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// The text without comments and strings, line ends kept.
std::string code_of(const std::filesystem::path &path)
{
    std::ifstream in(path);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::string code;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end;
        if (text.compare(i, 2, "//") == 0) {
            end = text.find('\n', i);
        } else if (text.compare(i, 2, "/*") == 0) {
            end = text.find("*/", i + 2);
            end = end == std::string::npos ? end : end + 2;
        } else if (text[i] == '"') {
            for (end = i + 1; end < text.size() && text[end] != '"'; end++)
                end += text[end] == '\\';
            end++;
        } else {
            code += text[i++];
            continue;
        }
        i = end;
        code += ' ';
        if (end == std::string::npos)
            break;
    }
    return code;
}

// Names with '(' behind them, each with how often: a call, a declaration or a macro.
std::map<std::string, int> called_names(const std::string &code)
{
    std::map<std::string, int> names;
    for (std::size_t i = 0; i < code.size();) {
        if (!is_word(code[i])) {
            i++;
            continue;
        }
        const std::size_t begin = i;
        while (i < code.size() && is_word(code[i]))
            i++;
        if (i < code.size() && code[i] == '(' && is_of_the_tree({code.data() + begin, i - begin}))
            names[code.substr(begin, i - begin)]++;
    }
    return names;
}

TEST(MaplePublicList, every_function_and_macro_of_the_header_is_called_by_a_test)
{
    if (!std::filesystem::exists(kHeader))
        GTEST_SKIP() << "not started in the project's folder";
    std::map<std::string, int> called;
    for (const auto &file : std::filesystem::recursive_directory_iterator(kTests))
        if (const auto ext = file.path().extension(); ext == ".cpp" || ext == ".c" || ext == ".h")
            for (const auto &[name, count] : called_names(code_of(file)))
                called[name] += count;

    const std::map<std::string, int> offered = called_names(code_of(kHeader));
    EXPECT_GT(offered.size(), 90u) << "the header was not understood";
    std::string missing;
    for (const auto &[name, count] : offered)
        if (called.count(name) == 0)
            missing += " " + name;
    EXPECT_EQ(missing, "") << "no test calls these";
}

} // namespace
} // namespace kmirror::testing
