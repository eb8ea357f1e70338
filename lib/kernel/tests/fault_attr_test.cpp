// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: each attribute of a fault point does what the kernel's does, alone and in the kernel's order;
// what cannot be set changes nothing.

#include <kmirror/fault.h>
#include <kmirror/slab_sysfs.h>
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/local_lock.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <csignal>
#include <fiu-control.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tools/testing/harness.h"

namespace {

using ::testing::HasSubstr;

// Faults are process-wide: leaves none switched on.
class FaultAttr : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (!KMIRROR_FAULTS)
            GTEST_SKIP() << "this build has FAULTS=0";
        kmirror_fault_log_clear();
    }
    void TearDown() override
    {
        kmirror_make_it_fail(false);
        for (unsigned int i = 0; kmirror_fault_point(i) != nullptr; ++i)
            kmirror_fault_disable(kmirror_fault_point(i));
    }
};

// A setting that fails every request of a point without a word, and then @more.
void set_point(const std::string &point, const std::string &more)
{
    char error[256] = "";
    const std::string text = point + ":probability=100,times=-1,verbose=0,ignore-gfp-wait=N," + more;
    ASSERT_EQ(kmirror_fault_configure(text.c_str(), error, sizeof(error)), 0) << error;
}

bool page_fails(unsigned int order = 0, gfp_t gfp = GFP_KERNEL)
{
    struct page *const page = alloc_frozen_pages(gfp | __GFP_NOWARN, order);
    if (page == nullptr)
        return true;
    free_frozen_pages(page, order);
    return false;
}

// Which of the next requests fail, as a string of . and X.
std::string pages(unsigned int count)
{
    std::string text;
    while (count-- != 0)
        text += page_fails() ? 'X' : '.';
    return text;
}

[[gnu::noinline]] bool fault_test_below_this_one()
{
    const bool fails = page_fails();
    asm volatile("" ::: "memory");   // no tail call
    return fails;
}

TEST_F(FaultAttr, IntervalFailsEveryNth)
{
    set_point("fail_page_alloc", "min-order=0,interval=3");
    EXPECT_EQ(pages(9), "..X..X..X");
}

TEST_F(FaultAttr, TimesIsTheNumberOfFailures)
{
    set_point("fail_page_alloc", "min-order=0,times=2");
    EXPECT_EQ(pages(5), "XX...");
    struct kmirror_fault_attr attr;
    ASSERT_EQ(kmirror_fault_get("fail_page_alloc", &attr), 0);
    EXPECT_EQ(attr.times, 0);
}

TEST_F(FaultAttr, SpaceIsGrantedFirst)
{
    set_point("fail_page_alloc", "min-order=0,space=" + std::to_string(2 * PAGE_SIZE + 1));
    EXPECT_EQ(pages(4), "..XX");
}

TEST_F(FaultAttr, ProbabilityIsAChanceThatTheSeedRepeats)
{
    set_point("fail_page_alloc", "min-order=0,probability=30");
    std::string drawn[2];
    for (std::string &one : drawn)
        std::thread([&] {
            kmirror_random_seed(kmirror::testing::seed());
            one = pages(300);
        }).join();
    EXPECT_EQ(drawn[0], drawn[1]);
    const auto failures = std::count(drawn[0].begin(), drawn[0].end(), 'X');
    EXPECT_GT(failures, 40);
    EXPECT_LT(failures, 150);
}

TEST_F(FaultAttr, MinOrderSparesSmallBlocks)
{
    set_point("fail_page_alloc", "min-order=2");
    EXPECT_FALSE(page_fails(1));
    EXPECT_TRUE(page_fails(2));
    EXPECT_TRUE(page_fails(3));
}

TEST_F(FaultAttr, IgnoreGfpWaitSparesWhoMayReclaim)
{
    set_point("fail_page_alloc", "min-order=0,ignore-gfp-wait=Y");
    EXPECT_FALSE(page_fails(0, GFP_KERNEL));
    EXPECT_TRUE(page_fails(0, GFP_NOWAIT));
}

TEST_F(FaultAttr, IgnoreGfpHighmemSparesHighMemory)
{
    set_point("fail_page_alloc", "min-order=0");
    EXPECT_FALSE(page_fails(0, GFP_NOWAIT | __GFP_HIGHMEM));
    EXPECT_TRUE(page_fails(0, GFP_NOWAIT));
    set_point("fail_page_alloc", "min-order=0,ignore-gfp-highmem=N");
    EXPECT_TRUE(page_fails(0, GFP_NOWAIT | __GFP_HIGHMEM));
    EXPECT_EQ(kmirror_fault_configure("failslab:ignore-gfp-highmem=N", nullptr, 0), -EINVAL);
}

TEST_F(FaultAttr, TaskFilterMeansMarkedThreads)
{
    set_point("fail_page_alloc", "min-order=0,task-filter=Y");
    EXPECT_FALSE(page_fails());
    EXPECT_FALSE(kmirror_make_it_fail(true));
    EXPECT_TRUE(page_fails());
    bool elsewhere = true;
    std::thread([&] { elsewhere = page_fails(); }).join();
    EXPECT_FALSE(elsewhere);
    EXPECT_TRUE(kmirror_make_it_fail(false));
    EXPECT_FALSE(page_fails());
}

TEST_F(FaultAttr, OnlyBelowARequiredFunction)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "builds of 32 bit name exported functions only";
    set_point("fail_page_alloc", "min-order=0,require-func=fault_test_below_this_one");
    EXPECT_FALSE(page_fails());
    EXPECT_TRUE(fault_test_below_this_one());
}

TEST_F(FaultAttr, NeverBelowARejectedFunction)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "builds of 32 bit name exported functions only";
    set_point("fail_page_alloc", "min-order=0,reject-func=fault_test_below_this_one");
    EXPECT_TRUE(page_fails());
    EXPECT_FALSE(fault_test_below_this_one());
}

TEST_F(FaultAttr, AShallowStackDoesNotReachTheFunction)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "builds of 32 bit name exported functions only";
    set_point("fail_page_alloc", "min-order=0,require-func=fault_test_below_this_one,stacktrace-depth=1");
    EXPECT_FALSE(fault_test_below_this_one());
}

TEST_F(FaultAttr, CachesByNameAndByMark)
{
    struct kmem_cache *const plain = kmem_cache_create("fault_plain", 40, 0, SLAB_NO_MERGE, nullptr);
    struct kmem_cache *const marked = kmem_cache_create("fault_marked", 40, 0, SLAB_NO_MERGE, nullptr);
    ASSERT_EQ(kmirror_slab_attr_store(marked, "failslab", "1"), 0);
    const auto fails = [](struct kmem_cache *s) {
        void *const object = kmem_cache_alloc(s, GFP_KERNEL | __GFP_NOWARN);
        if (object != nullptr)
            kmem_cache_free(s, object);
        return object == nullptr;
    };
    set_point("failslab", "cache=fault_p*");
    EXPECT_TRUE(fails(plain));
    EXPECT_FALSE(fails(marked));
    set_point("failslab", "cache-filter=Y");
    EXPECT_FALSE(fails(plain));
    EXPECT_TRUE(fails(marked));
    kmirror_fault_disable("failslab");

    // libfiu's own settings may name a cache.
    kmirror_fault_watch(true);
    ASSERT_EQ(fiu_enable("failslab/fault_plain", 1, nullptr, 0), 0);
    EXPECT_TRUE(fails(plain));
    EXPECT_FALSE(fails(marked));
    fiu_disable("failslab/fault_plain");
    kmirror_fault_watch(false);
    kmem_cache_destroy(plain);
    kmem_cache_destroy(marked);
}

TEST_F(FaultAttr, PerCpuMemoryFails)
{
    set_point("fail_percpu", "times=1");
    EXPECT_EQ(__alloc_percpu(64, 8), nullptr);
    void *const extent = __alloc_percpu(64, 8);
    EXPECT_NE(extent, nullptr);
    free_percpu(extent);
}

TEST_F(FaultAttr, TriesForLocksFailAndTheLocksStayFree)
{
    spinlock_t lock;
    spin_lock_init(&lock);
    auto *const local = static_cast<local_trylock_t *>(__alloc_percpu(sizeof(local_trylock_t), 8));
    set_point("fail_trylock", "interval=1");
    EXPECT_FALSE(spin_trylock(&lock));
    EXPECT_FALSE(local_trylock(local));
    spin_lock(&lock);   // waits for no failure
    spin_unlock(&lock);
    local_lock(local);
    local_unlock(local);
    kmirror_fault_disable("fail_trylock");
    EXPECT_TRUE(spin_trylock(&lock));
    spin_unlock(&lock);
    EXPECT_TRUE(local_trylock(local));
    local_unlock(local);
    free_percpu(local);
}

KMIRROR_TEST_IN(FaultAttrInAChild, ACpuThatCannotGoStays, "KMIRROR_MACHINE=core:2 pu:1")
{
    set_point("fail_cpu_offline", "times=1");
    EXPECT_EQ(cpu_down(1), -EBUSY);
    EXPECT_TRUE(cpu_online(1));
    EXPECT_EQ(cpu_down(1), 0);
    EXPECT_EQ(cpu_up(1), 0);
}

TEST_F(FaultAttr, TheNthFailureOverridesEverything)
{
    set_point("fail_page_alloc", "min-order=0,probability=0");
    kmirror_fail_nth(2);
    EXPECT_EQ(pages(3), ".X.");
    kmirror_fail_nth(0);
}

// But for the stack, and it takes one of the times.
TEST_F(FaultAttr, TheNthFailureCountsWhereTheStackIsRight)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "builds of 32 bit name exported functions only";
    set_point("fail_page_alloc", "probability=0,times=3,require-func=fault_test_below_this_one");
    kmirror_fail_nth(2);
    EXPECT_EQ(pages(3), "...");
    EXPECT_FALSE(fault_test_below_this_one());
    EXPECT_TRUE(fault_test_below_this_one());
    kmirror_fail_nth(0);
    struct kmirror_fault_attr attr;
    ASSERT_EQ(kmirror_fault_get("fail_page_alloc", &attr), 0);
    EXPECT_EQ(attr.times, 2);
}

// The stack is looked at before space and interval, as the kernel does: elsewhere they are not used up.
TEST_F(FaultAttr, TheStackComesBeforeSpaceAndInterval)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "builds of 32 bit name exported functions only";
    set_point("fail_page_alloc", "min-order=0,interval=2,require-func=fault_test_below_this_one");
    EXPECT_EQ(pages(3), "...");
    EXPECT_FALSE(fault_test_below_this_one());
    EXPECT_TRUE(fault_test_below_this_one());
}

// ---- text, files, environment -----------------------------------------------------------------------------

TEST_F(FaultAttr, TheBootParameterHasFourFigures)
{
    ASSERT_EQ(kmirror_fault_configure("fail_page_alloc=5,10,4096,7", nullptr, 0), 0);
    struct kmirror_fault_attr attr;
    ASSERT_EQ(kmirror_fault_get("fail_page_alloc", &attr), 0);
    EXPECT_EQ(attr.interval, 5u);
    EXPECT_NEAR(attr.probability, 10, 1e-6);
    EXPECT_EQ(attr.space, 4096u);
    EXPECT_EQ(attr.times, 7);
    EXPECT_EQ(attr.verbose, 2u);
    EXPECT_TRUE(attr.ignore_gfp_wait);
}

TEST_F(FaultAttr, WhatCannotBeSetChangesNothing)
{
    set_point("fail_page_alloc", "min-order=0,interval=4");
    const struct {
        const char *text, *words;
    } cases[] = {
        {"nothing:times=1", "there is no failure point nothing; there are: failslab, fail_page_alloc"},
        {"failslab", "'failslab' is no setting; it is POINT:ATTRIBUTE=VALUE"},
        {"failslab:times", "'times' is no attribute of failslab"},
        {"failslab:color=1", "failslab has no attribute color; it has: at, probability"},
        {"failslab:min-order=1", "failslab has no attribute min-order"},
        {"failslab:probability=101", "probability=101 is not possible; it is a number from 0 to 100"},
        {"failslab:probability=nan", "probability=nan is not possible"},
        {"failslab:probability=", "probability= is not possible"},
        {"failslab:space=1\n2", "space=1?2 is not possible"},
        {"failslab:interval=0", "interval=0 is not possible; it is a whole number from 1"},
        {"failslab:interval=1.5", "interval=1.5 is not possible"},
        {"failslab:times=-2", "times=-2 is not possible"},
        {"failslab:task-filter=maybe", "task-filter=maybe is not possible; it is Y or N"},
        {"failslab:require-func=no_such_function_here", "it is the name of a function of this program"},
        {"failslab:cache=a_name_that_is_longer_than_a_cache_may_have", "shorter than 32 characters"},
        {"failslab:at=17", "at=17 is not possible; it is a list such as 1:17+1:23"},
        {"failslab=1,2,3", "failslab=1,2,3 is not possible; it is INTERVAL,PROBABILITY,SPACE,TIMES"},
        {"fail_page_alloc:interval=7;failslab:times=x", "times=x is not possible"},
    };
    for (const auto &one : cases) {
        char error[256] = "";
        EXPECT_EQ(kmirror_fault_configure(one.text, error, sizeof(error)), -EINVAL) << one.text;
        EXPECT_THAT(error, HasSubstr(one.words));
        EXPECT_THAT(error, ::testing::Not(HasSubstr("\n")));
    }
    struct kmirror_fault_attr attr;
    ASSERT_EQ(kmirror_fault_get("fail_page_alloc", &attr), 0);
    EXPECT_EQ(attr.interval, 4u);
    attr.interval = 0;
    EXPECT_EQ(kmirror_fault_set("fail_page_alloc", &attr), -EINVAL);
    EXPECT_EQ(kmirror_fault_get("nothing", &attr), -EINVAL);
}

TEST_F(FaultAttr, EachPointSaysWhichAttributesItHas)
{
    EXPECT_TRUE(kmirror_fault_has("failslab", "cache-filter"));
    EXPECT_TRUE(kmirror_fault_has("fail_sheaf_alloc", "cache"));
    EXPECT_FALSE(kmirror_fault_has("fail_sheaf_alloc", "cache-filter"));
    EXPECT_FALSE(kmirror_fault_has("failslab", "min-order"));
    EXPECT_FALSE(kmirror_fault_has("failslab", "color"));
    EXPECT_FALSE(kmirror_fault_has("nothing", "times"));
    unsigned int attributes = 0;
    while (kmirror_fault_attribute(attributes) != nullptr) {
        EXPECT_FALSE(kmirror_fault_has("harness_budget", kmirror_fault_attribute(attributes)));
        EXPECT_TRUE(kmirror_fault_has("failslab", kmirror_fault_attribute(attributes)) ||
                    kmirror_fault_has("fail_page_alloc", kmirror_fault_attribute(attributes)));
        ++attributes;
    }
    EXPECT_EQ(attributes, 16u);
}

TEST_F(FaultAttr, FilesInDebugfsShapeGoOutAndComeBack)
{
    namespace fs = std::filesystem;
    const fs::path dir = fs::temp_directory_path() / ("kmirror-faults-" + std::to_string(getpid()));
    set_point("fail_page_alloc", "min-order=0,interval=3");
    ASSERT_EQ(kmirror_fault_export(dir.c_str()), 0);
    std::string line;
    std::getline(std::ifstream(dir / "fail_page_alloc" / "interval"), line);
    EXPECT_EQ(line, "3");
    EXPECT_TRUE(fs::exists(dir / "failslab" / "cache-filter"));
    EXPECT_FALSE(fs::exists(dir / "failslab" / "min-order"));

    std::ofstream(dir / "fail_page_alloc" / "interval") << "2\n";
    char error[256] = "";
    ASSERT_EQ(kmirror_fault_import(dir.c_str(), error, sizeof(error)), 0) << error;
    EXPECT_EQ(pages(4), ".X.X");
    std::ofstream(dir / "fail_page_alloc" / "times") << "many\n";
    EXPECT_EQ(kmirror_fault_import(dir.c_str(), error, sizeof(error)), -EINVAL);
    EXPECT_THAT(error, HasSubstr("fail_page_alloc/times=many is not possible"));
    EXPECT_EQ(kmirror_fault_import("/nonexistent", error, sizeof(error)), -ENOENT);
    fs::remove_all(dir);
}

KMIRROR_TEST_IN(FaultAttrInAChild, TheEnvironmentSetsPoints,
                "KMIRROR_FAULT=fail_page_alloc:min-order=0,ignore-gfp-wait=N,verbose=0,"
                "probability=100,times=-1")
{
    EXPECT_TRUE(page_fails());
}

// ---- the log ----------------------------------------------------------------------------------------------

TEST_F(FaultAttr, TheLogSaysWhatWasInjectedAndHowToHaveItAgain)
{
    set_point("fail_page_alloc", "min-order=0,interval=3");
    EXPECT_EQ(pages(7), "..X..X.");
    struct kmirror_injection log[8];
    ASSERT_EQ(kmirror_fault_log(log, 8), 2u);
    EXPECT_EQ(kmirror_fault_log_total(), 2u);
    EXPECT_STREQ(log[0].point, "fail_page_alloc");
    EXPECT_EQ(log[0].thread, 1u);
    EXPECT_EQ(log[0].request, 3u);
    EXPECT_EQ(log[1].request, 6u);
    EXPECT_EQ(log[1].number, 2u);
    EXPECT_EQ(log[1].size, PAGE_SIZE);
    EXPECT_GT(log[1].frames, 3u);

    char *text = nullptr;
    size_t size = 0;
    std::FILE *const out = open_memstream(&text, &size);
    kmirror_fault_log_print(out);
    std::fclose(out);
    EXPECT_THAT(text, HasSubstr("injected failure 2: fail_page_alloc, request 6 of thread 1"));
    EXPECT_THAT(text, HasSubstr("alloc_frozen_pages"));
    EXPECT_THAT(text, HasSubstr("these requests again: KMIRROR_FAULT='fail_page_alloc:at=1:3+1:6'"));
    free(text);

    // And they do fail again.
    kmirror_fault_log_clear();
    ASSERT_EQ(kmirror_fault_configure("fail_page_alloc:at=1:3+1:6,verbose=0", nullptr, 0), 0);
    EXPECT_EQ(pages(7), "..X..X.");
}

TEST_F(FaultAttr, ThreadsAreCountedApart)
{
    ASSERT_EQ(kmirror_fault_configure("fail_page_alloc:at=2:2,verbose=0", nullptr, 0), 0);
    std::string first = pages(3), second;
    std::thread([&] { second = pages(3); }).join();
    EXPECT_EQ(first, "...");
    EXPECT_EQ(second, ".X.");
}

// What a child prints that runs `body` in this same test.
std::string printed(void (*body)())
{
    if (kmirror::testing::in_child()) {
        body();
        return "";
    }
    return kmirror::testing::rerun_this_test({}).output;
}

size_t times_in(const std::string &text, const char *word)
{
    size_t count = 0;
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at)
        ++count;
    return count;
}

TEST_F(FaultAttr, MessagesMayBeLimited)
{
    const std::string output = printed([] {
        set_point("fail_page_alloc", "min-order=0,verbose=1,verbose_ratelimit_burst=2,"
                                     "verbose_ratelimit_interval_ms=100000");
        for (int i = 0; i < 5; i++)
            alloc_frozen_pages(GFP_KERNEL, 0);
    });
    EXPECT_EQ(times_in(output, "FAULT_INJECTION"), kmirror::testing::in_child() ? 0u : 2u);
}

TEST_F(FaultAttr, VerboseIsNothingOrALineOrTheStackAsWell)
{
    const std::string output = printed([] {
        for (const char *const verbose : {"verbose=0", "verbose=1", "verbose=2"}) {
            set_point("fail_page_alloc", std::string("min-order=0,times=1,") + verbose);
            alloc_frozen_pages(GFP_KERNEL, 0);
        }
    });
    if (kmirror::testing::in_child())
        return;
    EXPECT_EQ(times_in(output, "FAULT_INJECTION"), 2u);
    EXPECT_EQ(times_in(output, "injected failure"), 1u) << "with the stack, of the third";
    EXPECT_THAT(output, HasSubstr("injected failure 3: fail_page_alloc"));
}

// ---- a process that dies --------------------------------------------------------------------------------

const auto kSaysWhatAndHow = [](const std::string &command) {
    return ::testing::AllOf(HasSubstr("injected failure 1: fail_page_alloc, request 2 of thread 1"),
                            HasSubstr("these requests again: KMIRROR_FAULT='fail_page_alloc:at=1:2'"),
                            HasSubstr(command));
};

void inject_one()
{
    kmirror_fault_log_clear();
    kmirror_fail_nth(2);
    page_fails();
    page_fails();
    kmirror_fail_nth(0);
}

TEST_F(FaultAttr, AnAbortSaysWhatWasInjected)
{
    EXPECT_DEATH(
        {
            inject_one();
            std::abort();
        },
        kSaysWhatAndHow("again: KMIRROR_SEED="));
}

// A sanitizer's report, or the signal itself where there is none.
TEST_F(FaultAttr, AWildPointerSaysWhatWasInjected)
{
    EXPECT_DEATH(
        {
            inject_one();
            volatile int *volatile nowhere = nullptr;
            *nowhere = 1;
        },
        kSaysWhatAndHow("again: KMIRROR_SEED="));
}

TEST_F(FaultAttr, AnotherCommandMayBeNamed)
{
    EXPECT_DEATH(
        {
            kmirror_fault_log_command("make me");
            inject_one();
            raise(SIGFPE);
        },
        kSaysWhatAndHow("again: make me\n"));
}

TEST_F(FaultAttr, AHandlerOfTheProgramStays)
{
    EXPECT_EXIT(
        {
            signal(SIGILL, [](int) { _exit(7); });
            inject_one();
            raise(SIGILL);
        },
        ::testing::ExitedWithCode(7), "");
}

TEST_F(FaultAttr, AWarningSaysWhatWasInjected)
{
    const std::string output = printed([] {
        const kmirror::testing::ExpectWarnings one(1);
        inject_one();
        WARN(true, "look\n");
    });
    if (!kmirror::testing::in_child()) {
        EXPECT_THAT(output, kSaysWhatAndHow("look"));
    }
}

TEST_F(FaultAttr, VerboseReportsInTheKernelsForm)
{
    const std::string output = printed([] {
        char error[256];
        kmirror_fault_configure("fail_page_alloc:min-order=0,ignore-gfp-wait=N,probability=100", error,
                                sizeof(error));
        struct page *const page = alloc_frozen_pages(GFP_KERNEL, 0);
        if (page != nullptr)
            free_frozen_pages(page, 0);
    });
    if (kmirror::testing::in_child())
        return;
    EXPECT_THAT(output, HasSubstr("FAULT_INJECTION: forcing a failure.\n"
                                        "name fail_page_alloc, interval 1, probability 100, space 0, "
                                        "times 1\n"));
    EXPECT_THAT(output, HasSubstr("injected failure 1: fail_page_alloc"));
}

}  // namespace
