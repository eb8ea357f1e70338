// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/lines.h: where every cache line of the simulated memory is.
//
// Simulated memory is one stretch of address space, handed out in order, and the writable data of the program.
// Lines are numbered from its start, so that no decision depends on where the host put it:
//
//   number   0 .. stretch lines - 1            | stretch lines .. + data lines - 1
//            the stretch (pages, per-CPU, ...) | .data and .bss
//
// What lies elsewhere (stacks, the host's heap) has no number; it costs a constant.
#pragma once

#include "lib/sim/machine.h"

#include <cstddef>
#include <cstdint>

namespace kmirror::sim {

inline constexpr unsigned kLineShift = 6;
inline constexpr std::uint32_t kNoLine = ~0u;

// One line's state. Which caches hold it: the groups (L3s) in `groups`; `sole` says that it is one CPU's alone,
// `owner`'s, who may write it without asking. `owner` is whoever last had it alone.
struct Line {
    Ps stamp;               // when it was last moved or written: it is busy until then
    std::uint32_t groups;   // bit n: L3 groups with number n modulo 32
    std::uint16_t owner;    // CPU + 1; 0: nobody ever had it
    std::uint8_t sole;
    std::uint8_t shared;    // a second CPU has touched it at some time
};
static_assert(sizeof(Line) == 16);

class Lines {
public:
    Lines() = default;
    ~Lines();
    Lines(const Lines &) = delete;
    Lines &operator=(const Lines &) = delete;

    // Reserves `bytes` of simulated memory and adopts the data segment [data, data + data_bytes). Ends the process
    // when the host refuses. Once for each process.
    void init(std::size_t bytes, const void *data, std::size_t data_bytes);
    // A piece of the stretch for `bytes`, page aligned and zero; null when it is used up.
    void *take(std::size_t bytes);

    // The number of the line that holds the address, or kNoLine.
    std::uint32_t number(const void *address) const
    {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        if (at - base_ < bytes_)
            return static_cast<std::uint32_t>((at - base_) >> kLineShift);
        if (at - data_ < data_bytes_)
            return first_data_ + static_cast<std::uint32_t>((at - data_) >> kLineShift);
        return kNoLine;
    }
    // The first byte of a line.
    const void *address(std::uint32_t number) const
    {
        const std::uintptr_t start = number < first_data_
                                         ? base_ + (std::uintptr_t{number} << kLineShift)
                                         : data_ + (std::uintptr_t{number - first_data_} << kLineShift);
        return reinterpret_cast<const void *>(start);
    }
    Line &operator[](std::uint32_t number) { return table_[number]; }

    // Numbers are below it.
    std::uint32_t count() const { return first_data_ + static_cast<std::uint32_t>(data_bytes_ >> kLineShift) + 1; }
    bool in_data(std::uint32_t number) const { return number >= first_data_; }
    std::uintptr_t base() const { return base_; }

private:
    std::uintptr_t base_ = 0, bytes_ = 0, data_ = 0, data_bytes_ = 0;
    std::uint32_t first_data_ = 0;
    std::size_t taken_ = 0, table_bytes_ = 0;
    Line *table_ = nullptr;
};

} // namespace kmirror::sim
