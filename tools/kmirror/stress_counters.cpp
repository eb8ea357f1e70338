// SPDX-License-Identifier: GPL-2.0-only
//
// perf_event_open(2), for user space only, which needs the least permission.

#include "tools/kmirror/stress_counters.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kmirror::command {
namespace {

constexpr std::uint64_t kEvents[] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                     PERF_COUNT_HW_CACHE_MISSES};

int open_event(std::uint64_t event)
{
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = event;
    attributes.inherit = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::uint64_t value_of(int event)
{
    std::uint64_t value = 0;
    return read(event, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

} // namespace

CounterGroup::CounterGroup()
{
    for (std::size_t i = 0; i < std::size(kEvents); i++) {
        events_[i] = open_event(kEvents[i]);
        if (events_[i] < 0 && missing_.empty())
            missing_ = std::strerror(errno);
    }
}

CounterGroup::~CounterGroup()
{
    for (const int event : events_)
        if (event >= 0)
            close(event);
}

Counters CounterGroup::read() const
{
    if (!missing_.empty())
        return {};
    return {true, value_of(events_[0]), value_of(events_[1]), value_of(events_[2])};
}

Counters operator-(const Counters &after, const Counters &before)
{
    return {after.known && before.known, after.cycles - before.cycles, after.instructions - before.instructions,
            after.cache_misses - before.cache_misses};
}

} // namespace kmirror::command
