// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/random.cpp: one SplitMix64 generator a thread, all from one seed.
//
// Owns     each thread's state, and the count of threads that have one.
// Locking  none: only its own thread touches a state.
// Fails    never; an unusable KMIRROR_SEED ends the process, see setting.h.

#include <linux/random.h>
#include <linux/hash.h>

#include "lib/kernel/random.h"
#include "lib/kernel/setting.h"

#include <atomic>
#include <cstring>
#include <random>

namespace kmirror::kernel {
namespace {

constexpr u64 kStep = 0x9e3779b97f4a7c15ULL;

__thread u64 state;
__thread bool seeded;
std::atomic<u64> threads_seeded;

u64 scramble(u64 value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

u64 draw_seed()
{
    std::random_device source;
    return static_cast<u64>(source()) << 32 | source();
}

[[gnu::noinline, gnu::cold]] void seed_thread()
{
    const u64 ordinal = threads_seeded.fetch_add(1, std::memory_order_relaxed);
    kmirror_random_seed(scramble(process_seed() + ordinal * kStep));
}

}  // namespace

u64 process_seed()
{
    static const u64 seed = [] {
        const u64 drawn = draw_seed();
        return setting_u64("KMIRROR_SEED", 0, ~0ULL, drawn);
    }();
    return seed;
}

}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" void kmirror_random_seed(u64 seed)
{
    state = seed;
    seeded = true;
}

extern "C" u64 get_random_u64(void)
{
    if (!seeded) [[unlikely]]
        seed_thread();
    state += kStep;
    return scramble(state);
}

extern "C" void get_random_bytes(void *buf, size_t len)
{
    auto *at = static_cast<unsigned char *>(buf);
    while (len != 0) {
        const u64 word = get_random_u64();
        const size_t part = len < sizeof(word) ? len : sizeof(word);
        std::memcpy(at, &word, part);
        at += part;
        len -= part;
    }
}
