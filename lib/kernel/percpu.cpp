// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/percpu.cpp: memory with one copy per possible CPU.
//
//   base            + unit          + 2 units                  one reservation, pages on first use
//   | CPU 0's unit  | CPU 1's unit  | ...
//       ^ p             ^ p + unit
//
// All units are laid out alike, so one map of offsets serves all of them.
//
// Owns     the reservation and the map: free extents by offset, live areas by offset.
// Bounds   PERCPU_UNIT_SIZE bytes per CPU; alignment up to a page. Under the address sanitizer each area is
//          followed by a poisoned gap, and freed areas are poisoned in every unit.
// Locking  `lock`, a leaf. Areas come and go with caches, so it is taken rarely.
// Fails    __alloc_percpu() with NULL when no extent is large enough, or when told to (fail_percpu). A free
//          of anything else is a BUG.
//
// (PC1) free and live extents do not overlap and cover the unit; no two free ones touch
// (PC2) bytes at and above `touched` are zero in every unit: nobody had them yet

#include "lib/kernel/topology.h"

#include <linux/align.h>
#include <linux/bug.h>
#include <linux/fault-inject.h>
#include <linux/log2.h>
#include <linux/percpu.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include <sys/mman.h>

#if KMIRROR_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace kmirror::kernel {
namespace {

constexpr std::size_t kGranule = 16;
constexpr std::size_t kGap = KMIRROR_ASAN ? 16 : 0;
constexpr std::size_t kMaxAlign = std::size_t{1} << KMIRROR_PAGE_SHIFT;

struct Area {
    std::size_t bytes; // what the caller asked for
    std::size_t room;  // what it takes up
};

class Unit {
public:
    void *take(std::size_t bytes, std::size_t align);
    void give(void *pointer);
    std::size_t used() const { return used_; }

private:
    bool reserve();
    char *copy(std::size_t offset, unsigned int cpu) const { return base_ + per_cpu_offset(cpu) + offset; }
    void open(std::size_t offset, const Area &area);
    void close(std::size_t offset, const Area &area);
    void merge_free(std::size_t offset, std::size_t room);

    char *base_ = nullptr;
    std::size_t used_ = 0;
    std::size_t touched_ = 0;                // (PC2)
    std::map<std::size_t, std::size_t> free_; // offset -> length
    std::map<std::size_t, Area> live_;
};

std::mutex lock;

// Never destroyed: caches outlive static destructors.
Unit &unit()
{
    static Unit &only = *new Unit;
    return only;
}

bool Unit::reserve()
{
    if (base_)
        return true;
    machine_pin();
    void *start = mmap(nullptr, nr_cpu_ids * PERCPU_UNIT_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return false;
    // A huge page per CPU for a few counters would be gigabytes.
    madvise(start, nr_cpu_ids * PERCPU_UNIT_SIZE, MADV_NOHUGEPAGE);
    base_ = static_cast<char *>(start);
    // Offset 0 stays unused, so that no area is at the very start of the reservation.
    free_[kGranule] = PERCPU_UNIT_SIZE - kGranule;
    return true;
}

// Zeroes the area in every unit and shows it to the address sanitizer.
void Unit::open(std::size_t offset, const Area &area)
{
    for (unsigned int cpu = 0; cpu < nr_cpu_ids; ++cpu) {
#if KMIRROR_ASAN
        ASAN_POISON_MEMORY_REGION(copy(offset, cpu), area.room);
        ASAN_UNPOISON_MEMORY_REGION(copy(offset, cpu), area.bytes);
#endif
        if (offset < touched_)
            std::memset(copy(offset, cpu), 0, area.bytes);
    }
    touched_ = std::max(touched_, offset + area.room);
}

void Unit::close([[maybe_unused]] std::size_t offset, [[maybe_unused]] const Area &area)
{
#if KMIRROR_ASAN
    for (unsigned int cpu = 0; cpu < nr_cpu_ids; ++cpu)
        ASAN_POISON_MEMORY_REGION(copy(offset, cpu), area.room);
#endif
}

void *Unit::take(std::size_t bytes, std::size_t align)
{
    if (!reserve())
        return nullptr;
    const std::size_t room = ALIGN(bytes + kGap, kGranule);
    for (auto extent = free_.begin(); extent != free_.end(); ++extent) {
        const auto [start, length] = *extent;
        const std::size_t offset = ALIGN(start, align);
        if (offset + room > start + length)
            continue;
        free_.erase(extent);
        if (offset > start)
            free_[start] = offset - start;
        if (start + length > offset + room)
            free_[offset + room] = start + length - offset - room;
        const Area area = {bytes, room};
        live_[offset] = area;
        used_ += room;
        open(offset, area);
        return copy(offset, 0);
    }
    return nullptr;
}

// Keeps (PC1): the extent joins the free ones it touches.
void Unit::merge_free(std::size_t offset, std::size_t room)
{
    auto after = free_.lower_bound(offset);
    if (after != free_.end() && after->first == offset + room) {
        room += after->second;
        after = free_.erase(after);
    }
    if (after != free_.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second == offset) {
            before->second += room;
            return;
        }
    }
    free_[offset] = room;
}

void Unit::give(void *pointer)
{
    const auto area = live_.find(static_cast<std::size_t>(static_cast<char *>(pointer) - base_));
    BUG_ON(!base_ || area == live_.end());
    close(area->first, area->second);
    used_ -= area->second.room;
    merge_free(area->first, area->second.room);
    live_.erase(area);
}

bool possible(std::size_t size, std::size_t align)
{
    return size != 0 && size <= PERCPU_UNIT_SIZE && is_power_of_2(align) && align <= kMaxAlign;
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" {

void *__alloc_percpu(size_t size, size_t align)
{
    if (WARN(!possible(size, align), "no per-CPU data has %zu bytes aligned to %zu\n", size, align))
        return nullptr;
    if (should_fail_percpu(size))
        return nullptr;
    const std::lock_guard guard(lock);
    return unit().take(size, std::max(align, kGranule));
}

void *__alloc_percpu_gfp(size_t size, size_t align, gfp_t)
{
    return __alloc_percpu(size, align);
}

void free_percpu(void *pointer)
{
    if (!pointer)
        return;
    const std::lock_guard guard(lock);
    unit().give(pointer);
}

size_t kmirror_percpu_used(void)
{
    const std::lock_guard guard(lock);
    return unit().used();
}

}  // extern "C"
