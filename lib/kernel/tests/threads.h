// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/tests/threads.h: threads that run one body each, for the tests of lib/kernel.
#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace kmirror::testing {

// Runs body(0 .. count-1), one thread each, and returns when all are done.
inline void run_threads(int count, const std::function<void(int)> &body)
{
    std::vector<std::jthread> threads;
    for (int index = 0; index < count; ++index)
        threads.emplace_back([&body, index] { body(index); });
}

// Waits until condition() is true, ten seconds at most. Returns whether it became so.
inline bool wait_until(const std::function<bool()> &condition)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
}

}  // namespace kmirror::testing
