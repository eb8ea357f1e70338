// SPDX-License-Identifier: GPL-2.0-only
//
// The live line, with the terminal's own erase sequence.

#include "tools/kmirror/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/kmirror/table.h"

namespace kmirror::command {
namespace {

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Progress::Progress(double total_seconds, bool quiet)
    : total_seconds_(total_seconds),
      show_(!quiet && isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() { clear(); }

void Progress::update(const std::string& what, std::uint64_t operations) {
    if (!show_) return;
    const Clock::time_point now = Clock::now();
    const std::uint64_t since = operations >= last_operations_ ? operations - last_operations_ : operations;
    const double rate = static_cast<double>(since) / std::max(seconds_between(last_, now), 1e-3);
    const double elapsed = seconds_between(start_, now);
    fmt::print(stderr, "\r\033[K{}: {} operations/s, {:.0f} s elapsed", what, short_number(rate), elapsed);
    if (total_seconds_ > 0) fmt::print(stderr, ", {:.0f} s left", std::max(0.0, total_seconds_ - elapsed));
    std::fflush(stderr);
    shown_ = true;
    last_ = now;
    last_operations_ = operations;
}

void Progress::share(double done) {
    if (done > 0) total_seconds_ = seconds_between(start_, Clock::now()) / done;
}

void Progress::clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
}

}  // namespace kmirror::command
