// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a mapping without an address goes where the kernel's search puts it, and a hint is taken when
// it fits.
#include "lib/mm/tests/space.h"

#include <random>

namespace kmirror::mm_tests {
namespace {

constexpr unsigned long kHuge = MM_PMD_SIZE;

unsigned long place(Space &s, unsigned long len, unsigned long flags = kAnon, unsigned long hint = 0,
                    mm_file *file = nullptr, unsigned long offset = 0)
{
    const unsigned long predicted = vm_predict(s.mm, file, hint, len, kRW, flags, offset);
    const unsigned long got = vm_mmap(s.mm, file, hint, len, kRW, flags, offset);
    EXPECT_EQ(got, predicted);
    EXPECT_EQ(mm_validate(s.mm), 0u);
    return got;
}

TEST(MmArea, is_the_highest_gap_below_mmap_base)
{
    Space s;
    const unsigned long base = s.mm->mmap_base;
    EXPECT_EQ(place(s, kPage), base - kPage);
    EXPECT_EQ(place(s, 3 * kPage), base - 4 * kPage);
    vm_munmap(s.mm, base - 3 * kPage, kPage);
    EXPECT_EQ(place(s, 2 * kPage), base - 6 * kPage); // the hole is too small
    EXPECT_EQ(place(s, kPage), base - 3 * kPage);
}

TEST(MmArea, of_as_much_as_a_huge_page_is_aligned_if_its_length_is)
{
    Space s;
    s.mm->mmap_base -= 5 * kPage;
    const unsigned long base = s.mm->mmap_base;
    const unsigned long top = base & ~(kHuge - 1);
    EXPECT_EQ(place(s, kHuge), top - kHuge);
    EXPECT_EQ(place(s, kHuge + kPage), top - 2 * kHuge - kPage);
    EXPECT_EQ(place(s, kPage), base - kPage);
    const mm_sysctl_saver saved;
    mm_sysctl.thp = false;
    EXPECT_EQ(place(s, kHuge), top - 3 * kHuge - kPage);
}

TEST(MmArea, of_a_file_is_aligned_as_its_offset_on_file_systems_that_ask_for_it)
{
    mm_file *ext4 = mm_file_open("/big", MM_FILE_READ | MM_FILE_WRITE | MM_FILE_THP_ALIGN);
    mm_file *plain = mm_file_open("/memfd:x", MM_FILE_READ | MM_FILE_WRITE);
    Space s;
    s.mm->mmap_base -= 5 * kPage;
    EXPECT_EQ(place(s, 2 * kHuge + kPage, MAP_PRIVATE, 0, ext4, 3 * kPage) % kHuge, 3 * kPage);
    // No whole huge page of the file lies in this one.
    const unsigned long unaligned = vm_predict(s.mm, plain, 0, kHuge, kRW, MAP_PRIVATE, 0);
    EXPECT_EQ(place(s, kHuge, MAP_PRIVATE, 0, ext4, kPage), unaligned);
    EXPECT_NE(place(s, 2 * kHuge, MAP_PRIVATE, 0, plain) % kHuge, 0u);
    mm_file_put(ext4);
    mm_file_put(plain);
}

TEST(MmArea, hint_is_taken_if_nothing_is_there)
{
    Space s;
    EXPECT_EQ(place(s, kPage, kAnon, kLow + 5), kLow);
    EXPECT_EQ(place(s, kPage, kAnon, kLow), s.mm->mmap_base - kPage);
    EXPECT_EQ(place(s, kPage, kAnon, 1), s.mm->mmap_base - 2 * kPage); // rounds down to no hint at all
    EXPECT_EQ(place(s, kPage, kAnon, 4 * kPage), 65536u);              // below mmap_min_addr
}

TEST(MmArea, of_MAP_32BIT_is_the_lowest_of_its_gigabyte)
{
    Space s;
    EXPECT_EQ(place(s, kPage, kAnon | MAP_32BIT), 0x40000000u);
    EXPECT_EQ(place(s, kPage, kAnon | MAP_32BIT), 0x40001000u);
    EXPECT_EQ(vm_mmap(s.mm, nullptr, 0, 0x40000000, kRW, kAnon | MAP_32BIT, 0),
              static_cast<unsigned long>(-ENOMEM));
}

TEST(MmArea, stays_a_guard_gap_below_a_stack)
{
    Space s;
    const unsigned long base = s.mm->mmap_base;
    const unsigned long stack = base - 10 * kPage;
    vm_mmap(s.mm, nullptr, stack, 10 * kPage, kRW, kAnon | MAP_FIXED | MAP_GROWSDOWN, 0);
    EXPECT_EQ(place(s, kPage), stack - mm_sysctl.stack_guard_gap - kPage);
    EXPECT_NE(place(s, kPage, kAnon, stack - kPage), stack - kPage);
    EXPECT_EQ(place(s, kPage, kAnon, stack - mm_sysctl.stack_guard_gap - 4 * kPage),
              stack - mm_sysctl.stack_guard_gap - 4 * kPage);
}

TEST(MmArea, goes_up_when_nothing_is_left_below)
{
    Space s;
    s.mm->mmap_base = 0x200000;
    s.mm->mmap_legacy_base = 0x10000000;
    EXPECT_EQ(place(s, 0x400000 + kPage), 0x10000000u);
    s.mm->topdown = false;
    EXPECT_EQ(place(s, kPage), 0x10401000u);
}

TEST(MmStack, grows_down_to_its_limits)
{
    Space s;
    vm_mmap(s.mm, nullptr, s.at(4096), 4 * kPage, kRW, kAnon | MAP_FIXED | MAP_GROWSDOWN, 0);
    EXPECT_EQ(vm_fault(s.mm, s.at(4090)), 0);
    EXPECT_EQ(s.lines(), "10ffa000-11004000 rw-p");
    EXPECT_EQ(mm_validate(s.mm), 0u);
    s.mm->limits.stack = 16 * kPage;
    EXPECT_EQ(vm_fault(s.mm, s.at(4080)), -ENOMEM);
    s.mm->limits.stack = ULONG_MAX;
    vm_mmap(s.mm, nullptr, s.at(3800), kPage, kRW, kAnon | MAP_FIXED, 0);
    EXPECT_EQ(vm_fault(s.mm, s.at(3900)), -ENOMEM); // the guard gap would be gone
    EXPECT_EQ(vm_fault(s.mm, s.at(100)), -EFAULT);
    EXPECT_EQ(mm_validate(s.mm), 0u);
}

// The search of the tree against a walk over all gaps.
TEST(MmArea, agrees_with_a_walk_over_the_gaps)
{
    std::mt19937_64 random(testing::seed());
    Space s;
    s.mm->mmap_base = s.at(300);
    for (int round = 0; round < 400; round++) {
        const unsigned long len = (1 + random() % 12) * kPage;
        const Pages pages = pages_of(s.mm);
        unsigned long expected = s.mm->mmap_base - len;
        while (pages.lower_bound(expected) != pages.end() &&
               pages.lower_bound(expected)->first < expected + len)
            expected -= kPage;
        ASSERT_EQ(place(s, len), expected) << "round " << round;
        const unsigned long hole = s.at(300 - random() % 200);
        vm_munmap(s.mm, hole, (1 + random() % 8) * kPage);
    }
}

} // namespace
} // namespace kmirror::mm_tests
