// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/runtime.cpp: what -fsanitize=thread makes of memory accesses, in place of the sanitizer's own runtime.
//
// Every entry point of gcc 12 and clang 14: plain, unaligned and volatile accesses of 1 to 16 bytes, ranges, virtual
// tables, atomics of 8 to 128 bits, fences, entry and exit of functions; and the memory functions that the build
// leads here. Each charges its time, may let other CPUs run, and then the access happens, at once and whole: there
// is one host thread.
//
// What order an atomic asks for: on the machines simulated loads acquire and stores release by themselves. A
// sequentially consistent store and every read-modify-write is a locked operation and waits for the store buffer.
//
// Owns nothing. Locking: none. Fails never.
#include "lib/sim/explore.h"
#include "lib/sim/world/world.h"

#include <linux/percpu-defs.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

using namespace kmirror::sim;

namespace {

// `place` of an access is the return address of its hook: the instruction behind the call.
#define HERE __builtin_return_address(0)
#define HOOK extern "C" __attribute__((visibility("default")))

enum { kRelaxed, kConsume, kAcquire, kRelease, kAcqRel, kSeqCst };

Order order_of(int number)
{
    constexpr Order orders[] = {Order::Relaxed, Order::Acquire, Order::Acquire,
                                Order::Release, Order::AcqRel,  Order::SeqCst};
    return orders[number & 7];
}

// An explorer decides, and a CPU runs.
bool explored() { return explorer && engine.cpu; }

bool in_memory(const volatile void *address)
{
    return engine.lines.number(const_cast<const void *>(address)) != kNoLine;
}

// What is volatile is ordered by nothing and races with nothing that is marked.
void marked(const void *address, std::size_t size, bool write, const void *place)
{
    explorer->point(address, place);
    if (!in_memory(address))
        return;
    if (write)
        explorer->store(address, size, Order::Relaxed, place);
    else
        explorer->load(address, size, Order::Relaxed, place);
}

// The short way: a line at hand. Stacks and the host's heap have no number.
template <unsigned size, bool write, bool is_marked = false>
inline void access(const void *address, const void *place)
{
    Cpu *const cpu = engine.cpu;
    if (!cpu)
        return;
    if (explorer) [[unlikely]] {
        is_marked ? marked(address, size, write, place) : explorer->plain(address, size, write, place);
        return;
    }
    cpu->counts.accesses++;
    cpu->now += cpu->access;
    const std::uint32_t number = engine.lines.number(address);
    if (number != kNoLine) {
        constexpr std::uintptr_t last = (1u << kLineShift) - size;
        const bool crosses = size > 1 && (reinterpret_cast<std::uintptr_t>(address) & 63) > last;
        if (crosses || !engine.at_hand(number, write)) [[unlikely]] {
            engine.touch(address, size, write ? Touch::Write : Touch::Read, place);
            return;
        }
    }
    if (cpu->now > cpu->limit) [[unlikely]]
        engine.limit_passed();
}

void range(const void *address, std::size_t size, bool write, const void *place)
{
    Cpu *const cpu = engine.cpu;
    if (!cpu || size == 0)
        return;
    if (explorer) {
        const char *const first = static_cast<const char *>(address);
        for (std::size_t at = 0; at < size; at += 16)
            explorer->plain(first + at, std::min<std::size_t>(16, size - at), write, place);
        return;
    }
    cpu->counts.accesses++;
    // 16 bytes an instruction.
    cpu->now += cpu->access * static_cast<Ps>((size + 15) / 16);
    engine.touch(address, size, write ? Touch::Write : Touch::Read, place);
}

// Per-CPU data of the running CPU are changed without a lock prefix, as the kernel's this_cpu operations are.
bool per_cpu_data(const void *address)
{
    const std::uintptr_t base = kmirror_sim_percpu_base;
    return base != 0 && reinterpret_cast<std::uintptr_t>(address) - base < kmirror_sim_percpu_bytes;
}

template <class Word> void locked(const volatile Word *address, int order, const void *place)
{
    Cpu *const cpu = engine.cpu;
    if (!cpu)
        return;
    cpu->counts.accesses++;
    const void *const plain = const_cast<const Word *>(address);
    const bool local = per_cpu_data(plain);
    if (local && order == kRelaxed)
        engine.touch(plain, sizeof(Word), Touch::Write, place);
    else
        engine.rmw(plain, sizeof(Word), local, place);
}

template <class Word> Word load(const volatile Word *address, int order, const void *place)
{
    if (explored()) {
        const void *const plain = const_cast<const Word *>(address);
        explorer->point(plain, place);
        if (in_memory(plain))
            explorer->load(plain, sizeof(Word), order_of(order), place);
        return *address;
    }
    access<sizeof(Word), false>(const_cast<const Word *>(address), place);
    return *address;
}

template <class Word> void store(volatile Word *address, Word value, int order, const void *place)
{
    if (explored()) {
        const void *const plain = const_cast<const Word *>(address);
        explorer->point(plain, place);
        if (in_memory(plain))
            explorer->store(plain, sizeof(Word), order_of(order), place);
        *address = value;
        return;
    }
    if (order == kSeqCst)
        locked(address, order, place);
    else
        access<sizeof(Word), true>(const_cast<const Word *>(address), place);
    *address = value;
}

template <class Word, class Change>
Word change(volatile Word *address, int order, const void *place, Change next)
{
    locked(address, order, place);
    if (explored() && in_memory(address))
        explorer->exchange(const_cast<const Word *>(address), sizeof(Word), order_of(order), place);
    const Word before = *address;
    *address = next(before);
    return before;
}

template <class Word> bool same(Word a, Word b)
{
    if (sizeof(Word) == 16 && explorer && explorer->plant().half_compare)
        return static_cast<std::uint64_t>(a) == static_cast<std::uint64_t>(b);
    return a == b;
}

template <class Word>
bool compare_exchange(volatile Word *address, Word *expected, Word value, int order, const void *place)
{
    locked(address, order, place);
    const Word found = *address;
    const bool equal = same(found, *expected);
    if (explored() && in_memory(address)) {
        const void *const plain = const_cast<const Word *>(address);
        if (equal)
            explorer->exchange(plain, sizeof(Word), order_of(order), place);
        else
            explorer->load(plain, sizeof(Word), order_of(order), place);
    }
    if (equal) {
        *address = value;
        return true;
    }
    *expected = found;
    return false;
}

void fence(int order)
{
    if (explored()) {
        explorer->fence(order_of(order));
        return;
    }
    if (engine.cpu && order == kSeqCst) {
        engine.drain();
        engine.spend(engine.machine.costs.rmw);
    }
}

} // namespace

// ---- plain accesses

#define PLAIN(size)                                                                                              \
    HOOK void __tsan_read##size(void *p) { access<size, false>(p, HERE); }                                        \
    HOOK void __tsan_write##size(void *p) { access<size, true>(p, HERE); }                                        \
    HOOK void __tsan_unaligned_read##size(const void *p) { access<size, false>(p, HERE); }                        \
    HOOK void __tsan_unaligned_write##size(void *p) { access<size, true>(p, HERE); }                              \
    HOOK void __tsan_volatile_read##size(void *p) { access<size, false, true>(p, HERE); }                               \
    HOOK void __tsan_volatile_write##size(void *p) { access<size, true, true>(p, HERE); }                               \
    HOOK void __tsan_unaligned_volatile_read##size(void *p) { access<size, false, true>(p, HERE); }                     \
    HOOK void __tsan_unaligned_volatile_write##size(void *p) { access<size, true, true>(p, HERE); }                     \
    HOOK void __tsan_read_write##size(void *p) { access<size, true>(p, HERE); }                                   \
    HOOK void __tsan_unaligned_read_write##size(void *p) { access<size, true>(p, HERE); }                         \
    HOOK void __tsan_read##size##_pc(void *p, void *pc) { access<size, false>(p, pc); }                           \
    HOOK void __tsan_write##size##_pc(void *p, void *pc) { access<size, true>(p, pc); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

HOOK void __tsan_read_range(void *p, unsigned long size) { range(p, size, false, HERE); }
HOOK void __tsan_write_range(void *p, unsigned long size) { range(p, size, true, HERE); }
HOOK void __tsan_read_range_pc(void *p, unsigned long size, void *pc) { range(p, size, false, pc); }
HOOK void __tsan_write_range_pc(void *p, unsigned long size, void *pc) { range(p, size, true, pc); }
HOOK void __tsan_vptr_read(void **p) { access<8, false>(p, HERE); }
HOOK void __tsan_vptr_update(void **p, void *) { access<8, true>(p, HERE); }

HOOK void __tsan_init() {}
HOOK void __tsan_func_entry(void *) {}
HOOK void __tsan_func_exit() {}
HOOK void __tsan_ignore_thread_begin() {}
HOOK void __tsan_ignore_thread_end() {}

// ---- atomics

#define FETCH(bits, name, operation)                                                                             \
    HOOK Word##bits __tsan_atomic##bits##_fetch_##name(volatile Word##bits *p, Word##bits v, int order)           \
    {                                                                                                            \
        return change(p, order, HERE, [v](Word##bits before) { return static_cast<Word##bits>(operation); });     \
    }
#define EXCHANGE_IF(bits, kind)                                                                                   \
    HOOK bool __tsan_atomic##bits##_compare_exchange_##kind(volatile Word##bits *p, Word##bits *expected,         \
                                                            Word##bits v, int order, int)                         \
    {                                                                                                            \
        return compare_exchange(p, expected, v, order, HERE);                                                     \
    }
#define ATOMIC(bits)                                                                                             \
    HOOK Word##bits __tsan_atomic##bits##_load(const volatile Word##bits *p, int order) { return load(p, order, HERE); }       \
    HOOK void __tsan_atomic##bits##_store(volatile Word##bits *p, Word##bits v, int order)                        \
    {                                                                                                            \
        store(p, v, order, HERE);                                                                                 \
    }                                                                                                            \
    HOOK Word##bits __tsan_atomic##bits##_exchange(volatile Word##bits *p, Word##bits v, int order)               \
    {                                                                                                            \
        return change(p, order, HERE, [v](Word##bits) { return v; });                                             \
    }                                                                                                            \
    FETCH(bits, add, before + v)                                                                                  \
    FETCH(bits, sub, before - v)                                                                                  \
    FETCH(bits, and, before & v)                                                                                  \
    FETCH(bits, or, before | v)                                                                                   \
    FETCH(bits, xor, before ^ v)                                                                                  \
    FETCH(bits, nand, ~(before & v))                                                                              \
    EXCHANGE_IF(bits, strong)                                                                                     \
    EXCHANGE_IF(bits, weak)                                                                                       \
    HOOK Word##bits __tsan_atomic##bits##_compare_exchange_val(volatile Word##bits *p, Word##bits expected,       \
                                                               Word##bits v, int order, int)                      \
    {                                                                                                            \
        compare_exchange(p, &expected, v, order, HERE);                                                           \
        return expected;                                                                                          \
    }
using Word8 = std::uint8_t;
using Word16 = std::uint16_t;
using Word32 = std::uint32_t;
using Word64 = std::uint64_t;
using Word128 = unsigned __int128;
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)
ATOMIC(128)

HOOK void __tsan_atomic_thread_fence(int order) { fence(order); }
HOOK void __tsan_atomic_signal_fence(int) {}

// ---- memory functions

HOOK void *kmirror_memcpy(void *to, const void *from, size_t bytes)
{
    range(from, bytes, false, HERE);
    range(to, bytes, true, HERE);
    return std::memcpy(to, from, bytes);
}

HOOK void *kmirror_memmove(void *to, const void *from, size_t bytes)
{
    range(from, bytes, false, HERE);
    range(to, bytes, true, HERE);
    return std::memmove(to, from, bytes);
}

HOOK void *kmirror_memset(void *to, int byte, size_t bytes)
{
    range(to, bytes, true, HERE);
    return std::memset(to, byte, bytes);
}

HOOK int kmirror_memcmp(const void *a, const void *b, size_t bytes)
{
    range(a, bytes, false, HERE);
    range(b, bytes, false, HERE);
    return std::memcmp(a, b, bytes);
}
