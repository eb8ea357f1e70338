// SPDX-License-Identifier: GPL-2.0-only
//
// The live line of a long run: what, rate, elapsed, left. Rewritten in place on a terminal; without one (or
// when quiet) nothing is printed, so that a log holds results only.
//
// Locking  for one thread: the one that waits for the workers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace kmirror::command {

class Progress {
public:
    // `total_seconds` of the whole run; the line goes to stderr.
    Progress(double total_seconds, bool quiet);
    // For a run whose length nobody knows before: share() tells how far it is.
    explicit Progress(bool quiet) : Progress(0, quiet) {}
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Shows `what` and the operations per second since the last call; `operations` is the sum so far in this
    // phase. A smaller sum than before starts a new phase.
    void update(const std::string& what, std::uint64_t operations);

    // This share of the whole, 0 to 1, is done: from it and the time so far follows what is left.
    void share(double done);

    // Takes the line away.
    void clear();

private:
    using Clock = std::chrono::steady_clock;

    double total_seconds_;
    bool show_;
    bool shown_ = false;
    Clock::time_point start_;
    Clock::time_point last_;
    std::uint64_t last_operations_ = 0;
};

}  // namespace kmirror::command
