// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: every call changes the pages it should and no other, and refuses what the system call refuses,
// changing nothing.
#include "lib/mm/tests/space.h"

namespace kmirror::mm_tests {
namespace {

long error_of(unsigned long address)
{
    return static_cast<long>(address);
}

class MmCall : public ::testing::Test {
protected:
    void TearDown() override { mm_file_put(file); }

    long mmap(unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags,
              mm_file *of = nullptr, unsigned long offset = 0)
    {
        return error_of(vm_mmap(s.mm, of, addr, len, prot, flags, offset));
    }

    Space s;
    mm_file *file = mm_file_open("/data", MM_FILE_READ);
};

TEST_F(MmCall, mmap_refuses)
{
    s.map(2, 2);
    const struct {
        const char *what;
        long got, expected;
    } cases[] = {
        {"no length", mmap(0, 0, kRW, kAnon), -EINVAL},
        {"offset", mmap(0, kPage, kRW, kAnon, nullptr, 5), -EINVAL},
        {"too long", mmap(0, TASK_SIZE_MM + kPage, kRW, kAnon), -ENOMEM},
        {"length that wraps", mmap(0, ~0ul, kRW, kAnon), -ENOMEM},
        {"no kind", mmap(0, kPage, kRW, MAP_ANONYMOUS), -EINVAL},
        {"fixed, not aligned", mmap(kLow + 1, kPage, kRW, kAnon | MAP_FIXED), -EINVAL},
        {"fixed, above the end", mmap(TASK_SIZE_MM, kPage, kRW, kAnon | MAP_FIXED), -ENOMEM},
        {"noreplace", mmap(s.at(3), kPage, kRW, kAnon | MAP_FIXED_NOREPLACE), -EEXIST},
        {"shared writable of a file open for reading", mmap(0, kPage, kRW, MAP_SHARED, file), -EACCES},
        {"offset that wraps", mmap(0, 2 * kPage, PROT_READ, MAP_PRIVATE, file, ~0ul & PAGE_MASK), 0},
        {"file that grows down", mmap(0, kPage, PROT_READ, MAP_PRIVATE | MAP_GROWSDOWN, file), -EINVAL},
        {"shared that grows down", mmap(0, kPage, kRW, MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN), -EINVAL},
        {"droppable and locked", mmap(0, kPage, kRW, MAP_DROPPABLE | MAP_ANONYMOUS | MAP_LOCKED), -EINVAL},
    };
    for (const auto &each : cases)
        if (each.expected)
            EXPECT_EQ(each.got, each.expected) << each.what;
        else
            vm_munmap(s.mm, static_cast<unsigned long>(each.got), 2 * kPage);
    EXPECT_TRUE(s.agrees());
}

TEST_F(MmCall, mmap_fixed_replaces_and_noreplace_fits_beside)
{
    s.map(0, 8);
    s.map(2, 2, PROT_READ);
    s.map(1, 6, PROT_NONE);
    s.map(3, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 7);
    EXPECT_EQ(mmap(s.at(8), kPage, PROT_NONE, kAnon | MAP_FIXED_NOREPLACE), error_of(s.at(8)));
}

TEST_F(MmCall, mmap_flags_become_the_mappings)
{
    const struct {
        unsigned long flags, expected;
    } cases[] = {
        {MAP_LOCKED, VM_LOCKED},
        {MAP_STACK, VM_NOHUGEPAGE},
        {MAP_GROWSDOWN, VM_GROWSDOWN},
        {MAP_NORESERVE, VM_NORESERVE},
        {0, VM_ACCOUNT},
    };
    for (const auto &each : cases) {
        const unsigned long at = vm_mmap(s.mm, nullptr, 0, kPage, kRW, kAnon | each.flags, 0);
        mmap_read_lock(s.mm);
        EXPECT_EQ(find_vma(s.mm, at)->vm_flags & each.expected, each.expected) << each.flags;
        mmap_read_unlock(s.mm);
        vm_munmap(s.mm, at, kPage);
        EXPECT_EQ(mm_validate(s.mm), 0u);
    }
}

TEST_F(MmCall, munmap_cuts_and_swallows)
{
    s.map(0, 10);
    s.unmap(4, 2);
    s.unmap(3, 4);
    s.unmap(0, 1);
    s.unmap(0, 10);
    EXPECT_EQ(s.lines(), "");
    EXPECT_EQ(vm_munmap(s.mm, s.at(0), kPage), 0); // nothing there is no error
    EXPECT_EQ(vm_munmap(s.mm, s.at(0) + 1, kPage), -EINVAL);
    EXPECT_EQ(vm_munmap(s.mm, s.at(0), 0), -EINVAL);
    EXPECT_EQ(vm_munmap(s.mm, TASK_SIZE_MM, kPage), -EINVAL);
}

TEST_F(MmCall, brk_moves_the_heaps_end)
{
    s.mm->start_brk = s.mm->brk = s.at(0);
    EXPECT_EQ(vm_brk(s.mm, 0), s.at(0));
    EXPECT_EQ(vm_brk(s.mm, s.at(2) + 5), s.at(2) + 5);
    EXPECT_EQ(s.lines(), "10000000-10003000 rw-p");
    EXPECT_EQ(vm_brk(s.mm, s.at(2) + 9), s.at(2) + 9);
    EXPECT_EQ(vm_brk(s.mm, s.at(8)), s.at(8));
    EXPECT_EQ(vm_brk(s.mm, s.at(1)), s.at(1));
    EXPECT_EQ(s.lines(), "10000000-10001000 rw-p");
    EXPECT_EQ(mm_validate(s.mm), 0u);
    // A mapping in the way, or a page before it.
    vm_mmap(s.mm, nullptr, s.at(5), kPage, kRW, kAnon | MAP_FIXED, 0);
    EXPECT_EQ(vm_brk(s.mm, s.at(5)), s.at(1));
    EXPECT_EQ(vm_brk(s.mm, s.at(4)), s.at(4));
    s.mm->limits.data = 4 * kPage;
    EXPECT_EQ(vm_brk(s.mm, s.at(4) + 1), s.at(4));
    EXPECT_EQ(mm_validate(s.mm), 0u);
}

TEST_F(MmCall, mprotect_refuses)
{
    s.map(0, 2);
    s.map(2, 2, PROT_READ, MAP_SHARED, file);
    EXPECT_EQ(vm_mprotect(s.mm, s.at(0) + 1, kPage, kRW, -1), -EINVAL);
    EXPECT_EQ(vm_mprotect(s.mm, s.at(0), kPage, 0x100, -1), -EINVAL);
    EXPECT_EQ(vm_mprotect(s.mm, s.at(2), kPage, kRW, -1), -EACCES);
    EXPECT_EQ(vm_mprotect(s.mm, s.at(9), kPage, kRW, -1), -ENOMEM);
    EXPECT_EQ(vm_mprotect(s.mm, s.at(0), 0, kRW, -1), 0);
    EXPECT_TRUE(s.agrees());
    // Over a hole: what lies before it has changed.
    EXPECT_EQ(vm_mprotect(s.mm, s.at(2), 4 * kPage, PROT_NONE, -1), -ENOMEM);
    s.model[s.at(2)].flags &= ~VM_READ;
    s.model[s.at(3)].flags &= ~VM_READ;
    EXPECT_TRUE(s.agrees());
}

TEST_F(MmCall, mprotect_with_a_key_splits_by_it)
{
    s.map(0, 4);
    EXPECT_EQ(vm_mprotect(s.mm, s.at(1), kPage, kRW, 3), 0);
    s.model[s.at(1)].flags |= 3ul << VM_PKEY_SHIFT;
    EXPECT_TRUE(s.agrees());
    EXPECT_EQ(s.lines(), "10000000-10001000 rw-p; 10001000-10002000 rw-p; 10002000-10004000 rw-p");
}

TEST_F(MmCall, mseal_keeps_a_mapping_as_it_is)
{
    s.map(0, 4);
    EXPECT_EQ(vm_mseal(s.mm, s.at(0), 6 * kPage), -ENOMEM);
    EXPECT_EQ(vm_mseal(s.mm, s.at(1), 2 * kPage), 0);
    for (const unsigned long page : {1ul, 2ul})
        s.model[s.at(page)].flags |= VM_SEALED;
    EXPECT_TRUE(s.agrees());
    EXPECT_EQ(vm_munmap(s.mm, s.at(0), 4 * kPage), -EPERM);
    EXPECT_EQ(vm_mprotect(s.mm, s.at(1), kPage, PROT_NONE, -1), -EPERM);
    EXPECT_EQ(mmap(s.at(2), kPage, kRW, kAnon | MAP_FIXED), -EPERM);
    EXPECT_EQ(error_of(vm_mremap(s.mm, s.at(1), kPage, 2 * kPage, MREMAP_MAYMOVE, 0)), -EPERM);
    EXPECT_TRUE(s.agrees());
}

TEST_F(MmCall, mlock_stops_at_a_hole_and_mlockall_locks_what_comes)
{
    s.map(0, 2);
    s.map(4, 2);
    EXPECT_EQ(vm_mlock(s.mm, s.at(1), 4 * kPage, VM_LOCKED), -ENOMEM);
    s.model[s.at(1)].flags |= VM_LOCKED;
    EXPECT_TRUE(s.agrees());
    EXPECT_EQ(vm_mlockall(s.mm, MCL_CURRENT | MCL_FUTURE), 0);
    for (auto &[at, page] : s.model)
        page.flags |= VM_LOCKED;
    EXPECT_TRUE(s.agrees());
    EXPECT_EQ(s.mm->locked_vm, 4u);
    EXPECT_EQ(vm_mlockall(s.mm, 0x80), -EINVAL);
    EXPECT_EQ(vm_mlockall(s.mm, 0), 0);
    for (auto &[at, page] : s.model)
        page.flags &= ~VM_LOCKED;
    EXPECT_TRUE(s.agrees());
}

// ---- limits

TEST_F(MmCall, limits_refuse_and_change_nothing)
{
    s.map(0, 4);
    s.mm->limits.as = 6 * kPage;
    EXPECT_EQ(mmap(s.at(8), 3 * kPage, kRW, kAnon | MAP_FIXED), -ENOMEM);
    EXPECT_EQ(mmap(s.at(2), 5 * kPage, kRW, kAnon | MAP_FIXED), -ENOMEM);
    EXPECT_TRUE(s.agrees());
    s.map(2, 4); // what it replaces counts
    s.mm->limits.as = ULONG_MAX;
    s.mm->limits.data = 6 * kPage;
    EXPECT_EQ(mmap(s.at(8), kPage, kRW, kAnon | MAP_FIXED), -ENOMEM);
    s.map(8, 1, PROT_READ);
    EXPECT_EQ(vm_mprotect(s.mm, s.at(8), kPage, kRW, -1), -ENOMEM);
    EXPECT_TRUE(s.agrees());
}

TEST_F(MmCall, the_commit_limit_refuses_and_is_given_back)
{
    const mm_sysctl_saver saved;
    const unsigned long before = mm_committed();
    mm_sysctl.overcommit_memory = 2;
    mm_sysctl.commit_limit = before + 8;
    s.map(0, 6);
    EXPECT_EQ(mm_committed(), before + 6);
    EXPECT_EQ(mmap(s.at(10), 3 * kPage, kRW, kAnon | MAP_FIXED), -ENOMEM);
    EXPECT_EQ(error_of(vm_mremap(s.mm, s.at(0), 6 * kPage, 9 * kPage, MREMAP_MAYMOVE, 0)), -ENOMEM);
    EXPECT_EQ(dup_mm(s.mm), nullptr);
    EXPECT_TRUE(s.agrees());
    s.map(10, 20, PROT_READ); // not charged
    EXPECT_EQ(vm_mprotect(s.mm, s.at(10), 3 * kPage, kRW, -1), -ENOMEM);
    s.unmap(0, 30);
    EXPECT_EQ(mm_committed(), before);
}

TEST_F(MmCall, the_map_count_limit_refuses_and_changes_nothing)
{
    const mm_sysctl_saver saved;
    for (unsigned long i = 0; i < 10; i++)
        s.map(i * 4, 3, i % 2 ? PROT_READ : kRW);
    mm_sysctl.max_map_count = 10;
    EXPECT_EQ(vm_munmap(s.mm, s.at(1), kPage), -ENOMEM); // a hole would make eleven
    EXPECT_EQ(vm_mprotect(s.mm, s.at(1), kPage, PROT_NONE, -1), -ENOMEM);
    EXPECT_EQ(vm_madvise(s.mm, s.at(1), kPage, MADV_DONTFORK), -EAGAIN);
    EXPECT_EQ(error_of(vm_mremap(s.mm, s.at(0), kPage, 8 * kPage, MREMAP_MAYMOVE, 0)), -ENOMEM);
    EXPECT_TRUE(s.agrees());
    s.unmap(1, 2); // takes none more
    s.map(100, 1); // one past the limit is let through, as in the kernel
    EXPECT_EQ(mmap(s.at(200), kPage, kRW, kAnon | MAP_FIXED), -ENOMEM);
    EXPECT_TRUE(s.agrees());
}

} // namespace
} // namespace kmirror::mm_tests
