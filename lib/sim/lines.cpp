// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/lines.cpp: see lines.h.
//
// Owns     the stretch and the table; both are reserved whole and take memory as they are used: a line's entry is a
//          quarter of the line.
// Locking  none: one thread. Fails by ending the process when the host has no address space.
#include "lib/sim/lines.h"

#include <cstdio>
#include <cstdlib>

#include <sys/mman.h>

extern "C" void *kmirror_sim_host_mmap(size_t bytes);

namespace kmirror::sim {

void Lines::init(std::size_t bytes, const void *data, std::size_t data_bytes)
{
    constexpr std::uintptr_t line = std::uintptr_t{1} << kLineShift;
    data_ = reinterpret_cast<std::uintptr_t>(data) & ~(line - 1);
    data_bytes_ = reinterpret_cast<std::uintptr_t>(data) + data_bytes - data_;
    bytes_ = bytes;
    first_data_ = static_cast<std::uint32_t>(bytes >> kLineShift);
    void *const stretch = kmirror_sim_host_mmap(bytes);
    table_bytes_ = (first_data_ + (data_bytes_ >> kLineShift) + 1) * sizeof(Line);
    table_ = static_cast<Line *>(kmirror_sim_host_mmap(table_bytes_));
    if (!stretch || !table_) {
        std::perror("kmirror: no address space for the simulated memory");
        std::exit(2);
    }
    madvise(stretch, bytes, MADV_NOHUGEPAGE);
    base_ = reinterpret_cast<std::uintptr_t>(stretch);
}

Lines::~Lines()
{
    if (table_)
        munmap(table_, table_bytes_);
    if (base_)
        munmap(reinterpret_cast<void *>(base_), bytes_);
}

void *Lines::take(std::size_t bytes)
{
    constexpr std::size_t page = 4096;
    bytes = (bytes + page - 1) & ~(page - 1);
    if (taken_ + bytes > bytes_)
        return nullptr;
    void *const piece = reinterpret_cast<void *>(base_ + taken_);
    taken_ += bytes;
    return piece;
}

} // namespace kmirror::sim
