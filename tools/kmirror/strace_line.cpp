// SPDX-License-Identifier: GPL-2.0-only
//
// Words of a log line, see strace_line.h.
#include "tools/kmirror/strace_line.h"

#include <fcntl.h>
#include <kmirror/mm.h>
#include <sched.h>

#include <charconv>

namespace kmirror::replay {
namespace {

struct FlagName {
    std::string_view name; // with prefix
    std::uint64_t value;
};

constexpr FlagName kFlags[] = {
    {"PROT_NONE", PROT_NONE},
    {"PROT_READ", PROT_READ},
    {"PROT_WRITE", PROT_WRITE},
    {"PROT_EXEC", PROT_EXEC},
    {"PROT_GROWSDOWN", PROT_GROWSDOWN},
    {"PROT_GROWSUP", PROT_GROWSUP},
    {"PROT_SEM", 8},
    {"MAP_SHARED", MAP_SHARED},
    {"MAP_PRIVATE", MAP_PRIVATE},
    {"MAP_SHARED_VALIDATE", MAP_SHARED_VALIDATE},
    {"MAP_DROPPABLE", MAP_DROPPABLE},
    {"MAP_FIXED", MAP_FIXED},
    {"MAP_ANONYMOUS", MAP_ANONYMOUS},
    {"MAP_32BIT", MAP_32BIT},
    {"MAP_ABOVE4G", MAP_ABOVE4G},
    {"MAP_GROWSDOWN", MAP_GROWSDOWN},
    {"MAP_DENYWRITE", MAP_DENYWRITE},
    {"MAP_EXECUTABLE", MAP_EXECUTABLE},
    {"MAP_LOCKED", MAP_LOCKED},
    {"MAP_NORESERVE", MAP_NORESERVE},
    {"MAP_POPULATE", MAP_POPULATE},
    {"MAP_NONBLOCK", MAP_NONBLOCK},
    {"MAP_STACK", MAP_STACK},
    {"MAP_HUGETLB", MAP_HUGETLB},
    {"MAP_SYNC", MAP_SYNC},
    {"MAP_FIXED_NOREPLACE", MAP_FIXED_NOREPLACE},
    {"MAP_UNINITIALIZED", 0x4000000},
    {"MAP_FILE", 0},
    {"MREMAP_MAYMOVE", MREMAP_MAYMOVE},
    {"MREMAP_FIXED", MREMAP_FIXED},
    {"MREMAP_DONTUNMAP", 4},
    {"MADV_NORMAL", MADV_NORMAL},
    {"MADV_RANDOM", MADV_RANDOM},
    {"MADV_SEQUENTIAL", MADV_SEQUENTIAL},
    {"MADV_WILLNEED", MADV_WILLNEED},
    {"MADV_DONTNEED", MADV_DONTNEED},
    {"MADV_FREE", MADV_FREE},
    {"MADV_REMOVE", MADV_REMOVE},
    {"MADV_DONTFORK", MADV_DONTFORK},
    {"MADV_DOFORK", MADV_DOFORK},
    {"MADV_MERGEABLE", MADV_MERGEABLE},
    {"MADV_UNMERGEABLE", MADV_UNMERGEABLE},
    {"MADV_HUGEPAGE", MADV_HUGEPAGE},
    {"MADV_NOHUGEPAGE", MADV_NOHUGEPAGE},
    {"MADV_DONTDUMP", MADV_DONTDUMP},
    {"MADV_DODUMP", MADV_DODUMP},
    {"MADV_WIPEONFORK", MADV_WIPEONFORK},
    {"MADV_KEEPONFORK", MADV_KEEPONFORK},
    {"MADV_COLD", 20},
    {"MADV_PAGEOUT", 21},
    {"MADV_POPULATE_READ", 22},
    {"MADV_POPULATE_WRITE", 23},
    {"MADV_DONTNEED_LOCKED", 24},
    {"MADV_COLLAPSE", MADV_COLLAPSE},
    {"MADV_GUARD_INSTALL", MADV_GUARD_INSTALL},
    {"MADV_GUARD_REMOVE", MADV_GUARD_REMOVE},
    {"CLONE_VM", CLONE_VM},
    {"CLONE_FILES", CLONE_FILES},
    {"CLONE_THREAD", CLONE_THREAD},
    {"CLONE_VFORK", CLONE_VFORK},
    {"O_RDONLY", O_RDONLY},
    {"O_WRONLY", O_WRONLY},
    {"O_RDWR", O_RDWR},
    {"MCL_CURRENT", MCL_CURRENT},
    {"MCL_FUTURE", MCL_FUTURE},
    {"MCL_ONFAULT", 4},
    {"MLOCK_ONFAULT", 1},
    {"SHM_RDONLY", 010000},
    {"SHM_REMAP", 040000},
    {"SHM_EXEC", 0100000},
};

// Prefixes whose other names change nothing here.
bool may_be_unknown(std::string_view prefix)
{
    return prefix == "CLONE_" || prefix == "O_" || prefix == "SHM_";
}

std::optional<std::uint64_t> one_flag(std::string_view word, std::string_view prefix)
{
    for (const FlagName &flag : kFlags)
        if (flag.name.substr(0, prefix.size()) == prefix &&
            (flag.name == word || flag.name.substr(prefix.size()) == word))
            return flag.value;
    if (const std::size_t shift = word.find("<<MAP_HUGE_SHIFT"); shift != std::string_view::npos)
        return static_cast<std::uint64_t>(number(word.substr(0, shift)).value_or(0)) << 26;
    if (const auto value = number(word))
        return static_cast<std::uint64_t>(*value);
    if (may_be_unknown(prefix))
        return 0;
    return std::nullopt;
}

bool is_open(char c)
{
    return c == '(' || c == '[' || c == '{';
}

bool is_close(char c)
{
    return c == ')' || c == ']' || c == '}';
}

int escaped_number(std::string_view text, std::size_t &at, int base, std::size_t most)
{
    int value = 0;
    std::size_t used = 0;
    while (used < most && at < text.size()) {
        int digit = 0;
        const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 1, digit, base);
        if (error != std::errc())
            break;
        value = value * base + digit;
        at++;
        used++;
    }
    return value;
}

} // namespace

std::string_view trim(std::string_view text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
        text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> split_arguments(std::string_view text)
{
    std::vector<std::string_view> parts;
    int depth = 0;
    bool in_quotes = false;
    bool in_path = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        if (c == '\\') {
            i++;
        } else if (c == '"' && !in_path) {
            in_quotes = !in_quotes;
        } else if (!in_quotes && c == '<' && i + 1 < text.size() && text[i + 1] != '<' &&
                   (i == 0 || text[i - 1] != '<')) {
            in_path = true;
        } else if (!in_quotes && c == '>') {
            in_path = false;
        } else if (!in_quotes && !in_path) {
            depth += is_open(c) - is_close(c);
            if (c == ',' && depth == 0) {
                parts.push_back(trim(text.substr(begin, i - begin)));
                begin = i + 1;
            }
        }
    }
    const std::string_view last = trim(text.substr(begin));
    if (!last.empty() || !parts.empty())
        parts.push_back(last);
    for (std::string_view &part : parts)
        if (part.empty() || part.front() != '"')
            part = trim(part.substr(0, part.find("/*")));
    return parts;
}

std::optional<std::int64_t> number(std::string_view text)
{
    text = trim(text);
    if (text.substr(0, 4) == "NULL")
        return 0;
    const bool negative = !text.empty() && text.front() == '-';
    if (negative)
        text.remove_prefix(1);
    int base = 10;
    if (text.substr(0, 2) == "0x") {
        base = 16;
        text.remove_prefix(2);
    } else if (text.size() > 1 && text.front() == '0') {
        base = 8;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    const std::size_t used = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || (used < text.size() && text[used] != '<' && text[used] != ' '))
        return std::nullopt;
    return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

std::optional<std::uint64_t> flags(std::string_view text, std::string_view prefix)
{
    std::uint64_t sum = 0;
    while (!text.empty()) {
        const std::size_t bar = text.find('|');
        const auto value = one_flag(trim(text.substr(0, bar)), prefix);
        if (!value)
            return std::nullopt;
        sum |= *value;
        text = bar == std::string_view::npos ? std::string_view() : text.substr(bar + 1);
    }
    return sum;
}

std::string unescape(std::string_view text)
{
    std::string plain;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            plain += text[i++];
            continue;
        }
        const char c = text[++i];
        if (c >= '0' && c <= '7') {
            plain += static_cast<char>(escaped_number(text, i, 8, 3));
        } else if (c == 'x') {
            plain += static_cast<char>(escaped_number(text, ++i, 16, 2));
        } else {
            plain += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
            i++;
        }
    }
    return plain;
}

std::string quoted(std::string_view text)
{
    const std::size_t begin = text.find('"');
    if (begin == std::string_view::npos)
        return {};
    std::size_t end = begin + 1;
    while (end < text.size() && text[end] != '"')
        end += text[end] == '\\' ? 2 : 1;
    return unescape(text.substr(begin + 1, end - begin - 1));
}

std::string path_of_descriptor(std::string_view text)
{
    const std::size_t begin = text.find('<');
    const std::size_t end = text.rfind('>');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
        return {};
    std::string path = unescape(text.substr(begin + 1, end - begin - 1));
    // strace 6 writes the deleted mark behind the bracket.
    if (text.substr(end + 1).substr(0, 9) == "(deleted)")
        path += " (deleted)";
    return path;
}

} // namespace kmirror::replay
