// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror stress --live: the hottest locks as a small table that is drawn over itself on a terminal, and Ctrl-C.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace kmirror::command {

// Ctrl-C ends the run under way from now on; a second one ends the process as it always did.
void stop_on_interrupt();

class Live {
public:
    // Off without a terminal on stderr.
    explicit Live(bool wanted);
    ~Live();
    Live(const Live &) = delete;
    Live &operator=(const Live &) = delete;

    bool on() const { return on_; }
    // Draws `label`, the operations so far and the locks that were waited for longest, at most five times a second.
    void update(const std::string &label, std::uint64_t operations);

private:
    void erase();

    bool on_;
    unsigned lines_ = 0;
    std::chrono::steady_clock::time_point next_;
};

}  // namespace kmirror::command
