// SPDX-License-Identifier: GPL-2.0-only
//
// What kmirror replay reads: any bytes are a log of strace or perf trace, or are refused with the line; the
// same for a copy of /proc/PID/maps.
#include "fuzz/target.h"

#include "tools/kmirror/replay_maps.h"
#include "tools/kmirror/strace_log.h"

#include <algorithm>
#include <sstream>

namespace kmirror::fuzz {
namespace {

template <class Read>
void read(const std::string &text, std::size_t lines, Read reader)
{
    try {
        std::istringstream in(text);
        reader(in);
    } catch (const replay::LogError &error) {
        if (error.line > lines || std::string(error.what()).empty())
            fail("a mistake is said to be in line " + std::to_string(error.line) + ": " + error.what());
    }
}

void run_log(std::span<const std::uint8_t> input)
{
    const std::string text(input.begin(), input.end());
    const auto lines = std::size_t(std::count(text.begin(), text.end(), '\n')) + 1;
    read(text, lines, [&](std::istream &in) {
        const replay::Log log = replay::read_log(in, [](std::size_t) {});
        for (const replay::Call &call : log.calls)
            if (call.first_line == 0 || call.first_line > call.line || call.line > lines)
                fail("a call is in lines " + std::to_string(call.first_line) + " to " +
                     std::to_string(call.line));
    });
    read(text, lines, [](std::istream &in) {
        for (const replay::MapLine &line : replay::read_maps(in))
            if (line.start >= line.end)
                fail("a mapping is empty: " + to_string(line));
    });
}

} // namespace

const Target replay_log_fuzz = {"replay_log_fuzz", nullptr, run_log};

} // namespace kmirror::fuzz
