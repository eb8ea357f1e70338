// SPDX-License-Identifier: GPL-2.0-only
//
// What the tests of slab debugging share: a cache with its flags, bytes that nobody should touch, and what a
// piece of code made the allocator say.
//
// Owns     a DebugCache owns its kmem_cache.
// Locking  each object belongs to one thread; while a Watch collects, stderr is the test's alone.
// Fails    as failures of the running test.
#pragma once

#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/poison.h>
#include <linux/slab.h>
#include <kmirror/slab_info.h>

#include "slab/slab_test.h"

#include <string>

namespace kmirror::slab_test {

inline constexpr slab_flags_t kAllChecks =
    SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER;

using Geometry = struct kmirror_slab_geometry;

// Reads and writes that the address sanitizer does not look at: red zones and freed objects are closed.
__attribute__((no_sanitize("address"))) inline void poke(void *at, long offset, unsigned char value)
{
    static_cast<volatile unsigned char *>(at)[offset] = value;
}

__attribute__((no_sanitize("address"))) inline unsigned char peek(const void *at, long offset)
{
    return static_cast<const volatile unsigned char *>(at)[offset];
}

// Are these bytes all `value`?
inline bool all_are(const void *at, long first, long end, unsigned char value)
{
    for (long i = first; i < end; i++)
        if (peek(at, i) != value)
            return false;
    return true;
}

// Fills a live object, as its user may.
inline void fill(void *object, unsigned char value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        static_cast<unsigned char *>(object)[i] = value;
}

class DebugCache {
public:
    explicit DebugCache(slab_flags_t flags, unsigned size = 64, kmem_cache_args args = {},
                        const char *name = "slab_debug_test")
        : s_(kmem_cache_create(name, size, &args, flags | SLAB_NO_USER_FLAGS))
    {
        EXPECT_NE(s_, nullptr);
    }
    ~DebugCache() { close(); }
    DebugCache(const DebugCache &) = delete;
    DebugCache &operator=(const DebugCache &) = delete;

    operator kmem_cache *() const { return s_; }
    void *alloc(gfp_t gfp = GFP_KERNEL) { return kmem_cache_alloc(s_, gfp); }
    void free(void *object) { kmem_cache_free(s_, object); }
    // An object that was handed out and is free again.
    void *freed()
    {
        void *object = alloc();
        free(object);
        return object;
    }
    Geometry geometry() const
    {
        Geometry out;
        kmirror_slab_geometry(s_, &out);
        return out;
    }
    long validate() { return validate_slab_cache(s_); }
    void close()
    {
        kmem_cache_destroy(s_);
        s_ = nullptr;
    }

private:
    kmem_cache *s_;
};

// What was said on stderr, and counted.
struct Said {
    std::string text;
    unsigned long errors;

    bool has(const std::string &part) const { return text.find(part) != std::string::npos; }
    size_t count(const std::string &part) const
    {
        size_t found = 0;
        for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
            found++;
        return found;
    }
};

#define EXPECT_SAID(said, part) EXPECT_TRUE((said).has(part)) << "not said: " << (part) << "\n" << (said).text

// Does something that warns `warnings` times.
template <class Doing>
Said said_by(unsigned long warnings, Doing doing)
{
    const testing::ExpectWarnings expected(warnings);
    const unsigned long before = kmirror_slab_errors();
    ::testing::internal::CaptureStderr();
    kasan_disable_current();
    doing();
    kasan_enable_current();
    return {::testing::internal::GetCapturedStderr(), kmirror_slab_errors() - before};
}

// The same for a validation. An object is shown, and warned of, once.
inline Said said_by_validation(DebugCache &cache, unsigned long warnings)
{
    return said_by(warnings, [&] { cache.validate(); });
}

inline unsigned long errors_of_validation(DebugCache &cache)
{
    const unsigned long before = kmirror_slab_errors();
    cache.validate();
    return kmirror_slab_errors() - before;
}

// An address as a report shows it.
inline unsigned long address_of(const void *place, long offset = 0)
{
    return reinterpret_cast<unsigned long>(place) + static_cast<unsigned long>(offset);
}

// A slab is seen as the struct page it lies over. The library's own headers are not used: their inline
// functions, compiled here, would be watched by the address sanitizer in the library as well.
using slab = struct page;

inline slab *slab_of(const void *object) { return virt_to_head_page(object); }

namespace slub {

struct SlabCounters {
    unsigned long raw;

    static SlabCounters of(unsigned long inuse, unsigned long objects) { return {inuse | objects << 16}; }
    unsigned inuse() const { return raw & 0xffff; }
    unsigned objects() const { return raw >> 16 & 0x7fff; }
    unsigned free() const { return objects() - inuse(); }
    bool frozen() const { return raw >> 31 & 1; }
    SlabCounters with_inuse(unsigned long inuse) const { return {(raw & ~0xfffful) | inuse}; }
};

struct FreelistCounters {
    void *freelist;
    SlabCounters counters;
};

inline FreelistCounters slab_word_read(const slab &slab)
{
    return {reinterpret_cast<void *>(slab.words[0]), {slab.words[1]}};
}

inline void slab_word_init(slab &slab, FreelistCounters value)
{
    slab.words[0] = address_of(value.freelist);
    slab.words[1] = value.counters.raw;
}

inline SlabCounters slab_counters(const slab *slab) { return slab_word_read(*slab).counters; }
inline unsigned slab_objects(const slab *slab) { return slab_counters(slab).objects(); }
inline void *slab_address(const slab *slab) { return page_address(slab); }

// Links of a cache that does not hide them.
inline void *get_freepointer(const DebugCache &cache, const void *object)
{
    unsigned long link = 0;
    for (int i = 7; i >= 0; i--)
        link = link << 8 | peek(object, cache.geometry().freeptr_offset + i);
    return reinterpret_cast<void *>(link);
}

inline void set_freepointer(const DebugCache &cache, void *object, const void *next)
{
    for (int i = 0; i < 8; i++) {
        const auto byte = static_cast<unsigned char>(address_of(next) >> 8 * i);
        poke(object, cache.geometry().freeptr_offset + i, byte);
    }
}

} // namespace slub

} // namespace kmirror::slab_test
