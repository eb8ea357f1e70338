// SPDX-License-Identifier: GPL-2.0-only
//
// The words of one line of a strace or perf-trace log: arguments, numbers, flags, descriptors, strings.
//
// Fails    with an empty optional or LogError; the caller knows the line.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kmirror::replay {

// A log or maps file that cannot be right; what() says what is wrong and `line` where (0: the file as a
// whole).
struct LogError : std::runtime_error {
    LogError(std::size_t at, const std::string &what) : std::runtime_error(what), line(at) {}
    std::size_t line;
};

// Splits at the commas that are in no quotes, brackets or braces; blanks around the parts are taken off,
// and so are comments.
std::vector<std::string_view> split_arguments(std::string_view text);

// "4096", "0x7f00", "0666", "-1", "NULL", also with a path or comment behind it, as descriptors have.
std::optional<std::int64_t> number(std::string_view text);

// A sum of flags: names with or without their prefix (PROT_READ, READ), numbers, 21<<MAP_HUGE_SHIFT.
std::optional<std::uint64_t> flags(std::string_view text, std::string_view prefix);

// The text between quotes, with escapes undone; empty if there are none.
std::string quoted(std::string_view text);

// What strace -y adds to a descriptor: "3</usr/lib/libc.so.6>"; empty without.
std::string path_of_descriptor(std::string_view text);

// Undoes \n, \t, \", \\, \ooo and \xhh.
std::string unescape(std::string_view text);

std::string_view trim(std::string_view text);

} // namespace kmirror::replay
