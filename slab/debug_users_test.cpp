// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a cache that stores users knows who allocated and who freed each object, and says so in reports
// and when the cache ends with objects left; tracing says every step.

#include "slab/debug_test.h"

#include <unistd.h>

namespace kmirror::slab_test {
namespace {

constexpr slab_flags_t kUsers = SLAB_STORE_USER | SLAB_RED_ZONE | SLAB_CONSISTENCY_CHECKS;

[[gnu::noinline]] void *debug_test_takes(DebugCache &cache)
{
    void *object = cache.alloc();
    asm volatile("" ::: "memory");
    return object;
}

[[gnu::noinline]] void debug_test_gives(DebugCache &cache, void *object)
{
    cache.free(object);
    asm volatile("" ::: "memory");
}

TEST(SlabDebugUsers, a_report_names_who_allocated_and_who_freed)
{
    DebugCache cache(kUsers);
    debug_test_gives(cache, debug_test_takes(cache));
    void *object = debug_test_takes(cache);
    poke(object, -1, 1);
    const Said said = said_by_validation(cache, 1);
    const size_t allocated = said.text.find("Allocated in ");
    const size_t freed = said.text.find("Freed in ");
    const size_t end = said.text.find("Slab 0x");
    ASSERT_TRUE(allocated < freed && freed < end) << said.text;
    const std::string allocation = said.text.substr(allocated, freed - allocated);
    EXPECT_NE(allocation.find("debug_test_takes"), std::string::npos) << said.text;
    EXPECT_NE(said.text.substr(freed, end - freed).find("debug_test_gives"), std::string::npos) << said.text;
    EXPECT_SAID(said, " pid=" + std::to_string(gettid()) + "\n");
    EXPECT_SAID(said, " cpu=" + std::to_string(ops().cpu()) + " pid=");
    cache.free(object);
}

TEST(SlabDebugUsers, nobody_has_freed_what_is_new)
{
    DebugCache cache(kUsers);
    void *object = debug_test_takes(cache);
    poke(object, -1, 1);
    const Said said = said_by_validation(cache, 1);
    EXPECT_SAID(said, "Allocated in ");
    EXPECT_FALSE(said.has("Freed in ")) << said.text;
    cache.free(object);
}

// The slab of 64 bytes and red zones has more room than eight objects; those of 1024 are full of them.
void expect_leaks_listed(unsigned size, unsigned count, unsigned long warnings)
{
    SCOPED_TRACE("size " + std::to_string(size));
    DebugCache cache(kUsers, size);
    for (unsigned i = 0; i < count; i++)
        debug_test_takes(cache);
    const Said said = said_by(warnings, [&] { cache.close(); });
    EXPECT_SAID(said, "): Objects remaining on __kmem_cache_shutdown()\n");
    EXPECT_EQ(said.count("\nObject 0x"), count);
    EXPECT_GE(said.count("debug_test_takes"), count);
    EXPECT_SAID(said, "kmem_cache_destroy slab_debug_test: Slab cache still has objects when called from ");
}

TEST(SlabDebugUsers, objects_left_at_the_end_are_listed_with_their_allocation)
{
    expect_leaks_listed(64, 3, 2);
    DebugCache cache(kUsers, 1024);
    const unsigned per_slab = cache.geometry().objects;
    cache.close();
    expect_leaks_listed(1024, per_slab, 2);
    expect_leaks_listed(1024, per_slab + 1, 3);
}

TEST(SlabDebugUsers, a_leak_costs_a_counting_thread_two_errors)
{
    DebugCache cache(SLAB_NO_MERGE);
    cache.alloc();
    int errors = 0;
    const Said said = said_by(0, [&] {
        kmirror_slab_errors_into(&errors);
        cache.close();
        kmirror_slab_errors_into(nullptr);
    });
    EXPECT_EQ(errors, 2);
    EXPECT_EQ(said.text, "");
}

TEST(SlabDebugUsers, tracing_says_each_step)
{
    DebugCache cache(SLAB_TRACE | SLAB_POISON);
    void *object = nullptr;
    std::string text;
    const Said stacks = said_by(0, [&] {
        ::testing::internal::CaptureStdout();
        object = cache.alloc();
        fill(object, 'x', 64);
        cache.free(object);
        std::fflush(stdout);
        text = ::testing::internal::GetCapturedStdout();
    });
    char line[100];
    const unsigned long at = address_of(object);
    std::snprintf(line, sizeof line, "TRACE slab_debug_test alloc 0x%016lx inuse=1 fp=0x", at);
    EXPECT_NE(text.find(line), std::string::npos) << text;
    std::snprintf(line, sizeof line, "TRACE slab_debug_test free 0x%016lx inuse=1 fp=0x", at);
    EXPECT_NE(text.find(line), std::string::npos) << text;
    EXPECT_NE(text.find(": 78 78 78 78 "), std::string::npos) << "what is freed is shown\n" << text;
    EXPECT_EQ(stacks.count("Call trace:"), 2u);
}

} // namespace
} // namespace kmirror::slab_test
