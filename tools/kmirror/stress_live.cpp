// SPDX-License-Identifier: GPL-2.0-only
//
// The live table, with the terminal's own sequences; and what SIGINT does.

#include "tools/kmirror/stress_live.h"

#include <kmirror/lockstat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <vector>

#include "slab/stress_load.h"
#include "tools/kmirror/stress.h"
#include "tools/kmirror/table.h"

namespace kmirror::command {
namespace {

constexpr std::size_t kHottest = 6;
constexpr auto kEvery = std::chrono::milliseconds(200);

std::vector<kmirror_lock_stat> hottest()
{
    std::vector<kmirror_lock_stat> locks(kmirror_lockstat_snapshot(nullptr, 0) + 16);
    locks.resize(std::min(kmirror_lockstat_snapshot(locks.data(), locks.size()), locks.size()));
    std::sort(locks.begin(), locks.end(), [](const kmirror_lock_stat &a, const kmirror_lock_stat &b) {
        return a.wait_ns_total != b.wait_ns_total ? a.wait_ns_total > b.wait_ns_total
                                                  : a.acquisitions > b.acquisitions;
    });
    locks.resize(std::min(locks.size(), kHottest));
    return locks;
}

} // namespace

void stop_on_interrupt()
{
    struct sigaction action = {};
    action.sa_handler = [](int) { stress::request_stop(); };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
}

Live::Live(bool wanted) : on_(wanted && isatty(STDERR_FILENO) == 1) {}

Live::~Live() { erase(); }

void Live::erase()
{
    if (lines_)
        std::fprintf(stderr, "\033[%uA\r\033[J", lines_);
    lines_ = 0;
    std::fflush(stderr);
}

void Live::update(const std::string &label, std::uint64_t operations)
{
    const auto now = std::chrono::steady_clock::now();
    if (!on_ || now < next_)
        return;
    next_ = now + kEvery;
    Table table({"lock", "acquisitions", "contended", "waited ms", "longest us", "held avg ns"});
    const std::vector<kmirror_lock_stat> locks = hottest();
    for (const kmirror_lock_stat &lock : locks)
        table.row({lock.name, count(lock.acquisitions), percent(share(lock.contended, lock.acquisitions)),
                   fixed(static_cast<double>(lock.wait_ns_total) / 1e6, 1),
                   fixed(static_cast<double>(lock.wait_ns_max) / 1e3, 1),
                   fixed(share(lock.hold_ns_total, lock.acquisitions), 0)});
    erase();
    std::fprintf(stderr, "%s: %s operations\n", label.c_str(), count(operations).c_str());
    table.print(stderr);
    lines_ = static_cast<unsigned>(locks.size()) + 3;
}

} // namespace kmirror::command
