// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/stackdepot.cpp: stacks, each kept once.
//
// Owns     one reserved range of memory, of which the pages that hold stacks are touched, and a hash table in
//          front of it. A handle is the place of its record in that range.
// Bounds   kPoolBytes: several hundred thousand different stacks; what comes after that has no handle.
// Locking  none: a record is complete before its bucket leads to it, and never changes.
// Fails    handle 0.

#include <linux/stackdepot.h>

#include "lib/kernel/stacktrace.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

#include <sys/mman.h>

namespace kmirror::kernel {
namespace {

constexpr size_t kPoolBytes = size_t{64} << 20;
constexpr size_t kUnit = 8;   // bytes a handle counts in
constexpr size_t kBuckets = 1 << 14;

struct Record {
    u32 next;    // handle of the next in this bucket
    u32 hash;
    u32 count;
    unsigned long entries[STACK_DEPOT_ADDRS_MAX];
};

std::atomic<char *> pool;
std::atomic<size_t> pool_used{kUnit};   // handle 0 stays free
std::atomic<u32> buckets[kBuckets];

char *pool_start()
{
    char *start = pool.load(std::memory_order_acquire);
    if (start != nullptr)
        return start;
    void *const fresh = mmap(nullptr, kPoolBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
        return nullptr;
    if (pool.compare_exchange_strong(start, static_cast<char *>(fresh), std::memory_order_acq_rel))
        return static_cast<char *>(fresh);
    munmap(fresh, kPoolBytes);
    return start;
}

Record *record_at(char *start, u32 handle)
{
    return reinterpret_cast<Record *>(start + handle * kUnit);
}

u32 hash_of(std::span<const unsigned long> entries)
{
    u64 hash = entries.size();
    for (const unsigned long entry : entries)
        hash = (hash ^ entry) * 0x9e3779b97f4a7c15ull;
    return static_cast<u32>(hash >> 32);
}

bool same_stack(const Record &record, u32 hash, std::span<const unsigned long> entries)
{
    return record.hash == hash && record.count == entries.size() &&
           std::equal(entries.begin(), entries.end(), record.entries);
}

// The handle of that stack among the records from `first` up to, not including, `end`; or 0.
u32 find_stack(char *start, u32 first, u32 end, u32 hash, std::span<const unsigned long> entries)
{
    for (u32 at = first; at != end; at = record_at(start, at)->next)
        if (same_stack(*record_at(start, at), hash, entries))
            return at;
    return 0;
}

u32 new_record(char *start, u32 hash, std::span<const unsigned long> entries)
{
    const size_t bytes = offsetof(Record, entries) + entries.size_bytes();
    const size_t rounded = (bytes + kUnit - 1) / kUnit * kUnit;
    if (pool_used.load(std::memory_order_relaxed) + rounded > kPoolBytes)
        return 0;
    const size_t place = pool_used.fetch_add(rounded, std::memory_order_relaxed);
    if (place + rounded > kPoolBytes)
        return 0;
    const u32 handle = static_cast<u32>(place / kUnit);
    Record &record = *record_at(start, handle);
    record.hash = hash;
    record.count = static_cast<u32>(entries.size());
    std::copy(entries.begin(), entries.end(), record.entries);
    return handle;
}

u32 keep_stack(std::span<const unsigned long> entries)
{
    char *const start = pool_start();
    if (start == nullptr || entries.empty())
        return 0;
    const u32 hash = hash_of(entries);
    std::atomic<u32> &bucket = buckets[hash % kBuckets];
    u32 head = bucket.load(std::memory_order_acquire);
    if (const u32 found = find_stack(start, head, 0, hash, entries))
        return found;
    const u32 fresh = new_record(start, hash, entries);
    if (fresh == 0)
        return 0;
    u32 looked_at = head;
    for (;;) {
        record_at(start, fresh)->next = head;
        if (bucket.compare_exchange_weak(head, fresh, std::memory_order_acq_rel, std::memory_order_acquire))
            return fresh;
        // Others came first: perhaps with this stack, and then the room for ours is lost.
        if (const u32 found = find_stack(start, head, looked_at, hash, entries))
            return found;
        looked_at = head;
    }
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" depot_stack_handle_t stack_depot_save(const unsigned long *entries, unsigned int nr_entries, gfp_t)
{
    return keep_stack({entries, std::min<size_t>(nr_entries, STACK_DEPOT_ADDRS_MAX)});
}

extern "C" depot_stack_handle_t stack_depot_save_caller(const void *caller, gfp_t gfp_flags)
{
    void *frames[STACK_DEPOT_ADDRS_MAX];
    unsigned long entries[STACK_DEPOT_ADDRS_MAX];

    const unsigned count = stack_save(frames, caller);
    std::transform(frames, frames + count, entries,
                   [](void *frame) { return reinterpret_cast<unsigned long>(frame); });
    return stack_depot_save(entries, count, gfp_flags);
}

extern "C" unsigned int stack_depot_fetch(depot_stack_handle_t handle, const unsigned long **entries)
{
    char *const start = pool.load(std::memory_order_acquire);
    if (handle == 0 || start == nullptr || handle * kUnit >= pool_used.load(std::memory_order_relaxed))
        return 0;
    const Record &record = *record_at(start, handle);
    *entries = record.entries;
    return record.count;
}

extern "C" void stack_depot_print(depot_stack_handle_t handle)
{
    const unsigned long *entries;
    void *frames[STACK_DEPOT_ADDRS_MAX];

    const unsigned count = stack_depot_fetch(handle, &entries);
    for (unsigned i = 0; i < count; ++i)
        frames[i] = reinterpret_cast<void *>(entries[i]);
    stack_print(stderr, std::span(frames, count));
}
