// SPDX-License-Identifier: GPL-2.0-only
//
// A patch that adds a generated test to lib/test_maple_tree.c; see maple_print.h. The file's own lines around
// the two places are its context, so it fits whatever version the file is of.
#include "fuzz/maple_print.h"

namespace kmirror::fuzz {
namespace {

constexpr std::size_t kContext = 3;

std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

// New lines before line `at` (from 0) of the file, as one hunk. `added`: lines of the hunks before it.
std::string hunk(const std::vector<std::string> &file, std::size_t at, const std::vector<std::string> &fresh,
                 std::size_t added)
{
    const std::size_t from = at < kContext ? 0 : at - kContext;
    const std::size_t to = std::min(at + kContext, file.size());
    std::string text = "@@ -" + std::to_string(from + 1) + "," + std::to_string(to - from) + " +" +
                       std::to_string(from + 1 + added) + "," + std::to_string(to - from + fresh.size()) +
                       " @@\n";
    for (std::size_t i = from; i < at; i++)
        text += " " + file[i] + "\n";
    for (const std::string &line : fresh)
        text += "+" + line + "\n";
    for (std::size_t i = at; i < to; i++)
        text += " " + file[i] + "\n";
    return text;
}

} // namespace

std::string kernel_test_patch(const std::string &test_file, const std::string &function,
                              const std::string &name, std::string &wrong)
{
    const std::vector<std::string> file = lines_of(test_file);
    std::size_t seed = 0;
    while (seed < file.size() && (file[seed].find("maple_tree_seed(void)") == std::string::npos ||
                                  file[seed].back() == ';'))
        seed++;
    std::size_t start = seed;
    while (start < file.size() && file[start].find("TEST STARTING") == std::string::npos)
        start++;
    // Above the function, and above the tree that stands right before it.
    std::size_t above = seed;
    while (above > 0 && above < file.size() && !file[above - 1].empty() && file[above - 1] != "}")
        above--;
    if (start == file.size()) {
        wrong = "maple_tree_seed() with its TEST STARTING is not in it";
        return {};
    }
    std::vector<std::string> fresh = lines_of(function);
    fresh.push_back("");
    const std::string path = "lib/test_maple_tree.c";
    return "diff --git a/" + path + " b/" + path + "\n--- a/" + path + "\n+++ b/" + path + "\n" +
           hunk(file, above, fresh, 0) + hunk(file, start + 1, {"", "\t" + name + "();"}, fresh.size());
}

} // namespace kmirror::fuzz
