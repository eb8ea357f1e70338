// SPDX-License-Identifier: GPL-2.0-only
//
// Reads the operations of `kmirror tree`; the format stands in tree_script.h.

#include "tools/kmirror/tree_script.h"

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace kmirror::command {
namespace {

using Words = std::vector<std::string>;
using Kind = TreeStep::Kind;

struct Syntax {
    const char* name;
    Kind kind;
    std::size_t arguments;
    std::size_t optional;
    const char* usage;
};

constexpr Syntax kSyntax[] = {
    {"store", Kind::Store, 3, 0, "store FIRST LAST VALUE"},
    {"insert", Kind::Insert, 3, 0, "insert FIRST LAST VALUE"},
    {"clear", Kind::Clear, 2, 0, "clear FIRST LAST"},
    {"erase", Kind::Erase, 1, 0, "erase INDEX"},
    {"alloc", Kind::Alloc, 2, 2, "alloc SIZE VALUE [MIN MAX]"},
    {"alloc_high", Kind::AllocHigh, 2, 2, "alloc_high SIZE VALUE [MIN MAX]"},
};

Words words_of(const std::string& line) {
    std::istringstream in(line.substr(0, line.find('#')));
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

std::string joined(const Words& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

bool number(const std::string& word, unsigned long& result) {
    if (word == "max") return result = ULONG_MAX, true;
    const bool hex = word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
    const char *first = word.data() + (hex ? 2 : 0), *last = word.data() + word.size();
    const auto [end, error] = std::from_chars(first, last, result, hex ? 16 : 10);
    return error == std::errc() && end == last;
}

const Syntax* syntax_of(const std::string& name) {
    for (const Syntax& syntax : kSyntax)
        if (name == syntax.name) return &syntax;
    return nullptr;
}

bool is_alloc(Kind kind) { return kind == Kind::Alloc || kind == Kind::AllocHigh; }

// Puts the numbers where the kind wants them.
void assign(TreeStep& step, const std::vector<unsigned long>& numbers) {
    if (is_alloc(step.kind)) {
        step.size = numbers[0];
        step.value = numbers[1];
        step.first = numbers.size() == 4 ? numbers[2] : 0;
        step.last = numbers.size() == 4 ? numbers[3] : ULONG_MAX;
        return;
    }
    step.first = numbers[0];
    step.last = numbers.size() > 1 ? numbers[1] : numbers[0];
    step.value = numbers.size() > 2 ? numbers[2] : 0;
}

// Empty: possible.
std::string impossible(const TreeStep& step, const TreeScript& script) {
    if (step.first > step.last) return "the range ends before it begins";
    if (step.value > LONG_MAX) return "a value is below 2^63";
    if (!is_alloc(step.kind)) return "";
    if (!script.gaps) return "only a tree with gaps can do that (tree alloc)";
    if (step.size == 0) return "the size is at least 1";
    return step.last - step.first < step.size - 1 ? "the size does not fit between the limits" : "";
}

std::string read_step(const Words& words, unsigned line, TreeScript& script) {
    const Syntax* syntax = syntax_of(words[0]);
    if (syntax == nullptr) {
        std::string names = "tree";
        for (const Syntax& known : kSyntax) names += std::string(", ") + known.name;
        return words[0] + " is no operation; known are " + names;
    }
    const std::size_t given = words.size() - 1;
    if (given != syntax->arguments && given != syntax->arguments + syntax->optional)
        return std::string(syntax->usage) + " has " + std::to_string(given) + " arguments here";
    TreeStep step{syntax->kind, line, joined(words)};
    std::vector<unsigned long> numbers(given);
    for (std::size_t i = 0; i < given; ++i)
        if (!number(words[i + 1], numbers[i]))
            return words[i + 1] + " is no number from 0 to 2^64 - 1, decimal or with 0x, and not max";
    assign(step, numbers);
    if (const std::string why = impossible(step, script); !why.empty()) return step.text + ": " + why;
    script.steps.push_back(step);
    return "";
}

std::string read_kind(const Words& words, TreeScript& script) {
    if (!script.steps.empty()) return "tree comes before the first operation";
    script.gaps = script.rcu = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i] != "alloc" && words[i] != "rcu")
            return words[i] + " is no kind of tree; alloc and rcu are";
        (words[i] == "alloc" ? script.gaps : script.rcu) = true;
    }
    return "";
}

bool read_lines(std::istream& in, const std::string& name, TreeScript& script, std::string& error) {
    unsigned number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const Words words = words_of(line);
        if (words.empty()) continue;
        error = words[0] == "tree" ? read_kind(words, script) : read_step(words, number, script);
        if (error.empty()) continue;
        error = name + ":" + std::to_string(number) + ": " + error;
        return false;
    }
    if (!in.bad()) return true;
    error = name + ": " + std::strerror(errno);
    return false;
}

}  // namespace

bool read_tree_script(const std::string& file, TreeScript& script, std::string& error) {
    if (file == "-") return read_lines(std::cin, "stdin", script, error);
    errno = 0;
    std::ifstream in(file);
    in.peek();  // a folder opens, but cannot be read
    if (errno == 0) {
        in.clear();
        return read_lines(in, file, script, error);
    }
    error = file + ": " + std::strerror(errno);
    return false;
}

}  // namespace kmirror::command
