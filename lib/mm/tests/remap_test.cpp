// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: mremap shrinks, grows, moves and duplicates as the kernel's; fork gives the child what it
// should have.
#include "lib/mm/tests/space.h"

namespace kmirror::mm_tests {
namespace {

long remap(Space &s, unsigned long page, unsigned long old_pages, unsigned long new_pages,
           unsigned long flags = 0, unsigned long to = 0)
{
    const auto got = static_cast<long>(
        vm_mremap(s.mm, s.at(page), old_pages * kPage, new_pages * kPage, flags, to ? s.at(to) : 0));
    EXPECT_EQ(mm_validate(s.mm), 0u);
    return got;
}

TEST(MmRemap, refuses)
{
    Space s;
    s.map(0, 4);
    s.map(4, 4, PROT_READ);
    const unsigned long fixed = MREMAP_MAYMOVE | MREMAP_FIXED;
    EXPECT_EQ(remap(s, 0, 4, 0), -EINVAL);
    EXPECT_EQ(remap(s, 0, 4, 4, 0x80), -EINVAL);
    EXPECT_EQ(remap(s, 0, 4, 4, MREMAP_FIXED, 20), -EINVAL);       // without MAYMOVE
    EXPECT_EQ(remap(s, 0, 4, 4, fixed, 2), -EINVAL);               // onto itself
    EXPECT_EQ(remap(s, 0, 4, 5, MREMAP_MAYMOVE | 4, 20), -EINVAL); // DONTUNMAP of another size
    EXPECT_EQ(remap(s, 0, 0, 4, MREMAP_MAYMOVE), -EINVAL);         // private, to be duplicated
    EXPECT_EQ(remap(s, 20, 4, 5, MREMAP_MAYMOVE), -EFAULT);
    EXPECT_EQ(remap(s, 2, 4, 6, MREMAP_MAYMOVE), -EFAULT); // over two mappings
    EXPECT_EQ(remap(s, 0, 4, 6), -ENOMEM);                 // no room, may not move
    EXPECT_TRUE(s.agrees());
}

TEST(MmRemap, shrinks_and_grows_in_place)
{
    Space s;
    s.map(0, 6);
    EXPECT_EQ(remap(s, 0, 6, 2), static_cast<long>(s.at(0)));
    EXPECT_EQ(s.lines(), "10000000-10002000 rw-p");
    EXPECT_EQ(remap(s, 0, 2, 5), static_cast<long>(s.at(0)));
    EXPECT_EQ(s.lines(), "10000000-10005000 rw-p");
    EXPECT_EQ(remap(s, 1, 4, 9), static_cast<long>(s.at(1))); // its end, from inside
    EXPECT_EQ(s.lines(), "10000000-1000a000 rw-p");
    EXPECT_EQ(remap(s, 4, 2, 1), static_cast<long>(s.at(4))); // a hole inside
    EXPECT_EQ(s.lines(), "10000000-10005000 rw-p; 10006000-1000a000 rw-p");
}

TEST(MmRemap, moves_and_merges_what_was_never_written)
{
    Space s;
    s.map(0, 4);
    s.map(20, 2);
    EXPECT_EQ(remap(s, 1, 2, 2, MREMAP_MAYMOVE | MREMAP_FIXED, 22), static_cast<long>(s.at(22)));
    EXPECT_EQ(s.lines(), "10000000-10001000 rw-p; 10003000-10004000 rw-p; 10014000-10018000 rw-p");
    s.fault(0);
    EXPECT_EQ(remap(s, 0, 1, 1, MREMAP_MAYMOVE | MREMAP_FIXED, 24), static_cast<long>(s.at(24)));
    EXPECT_EQ(s.lines(), "10003000-10004000 rw-p; 10014000-10018000 rw-p; 10018000-10019000 rw-p");
}

TEST(MmRemap, grows_by_moving_and_gives_the_charge_along)
{
    Space s;
    const unsigned long before = mm_committed();
    s.map(0, 4);
    s.map(4, 1, PROT_READ);
    const long moved = remap(s, 0, 4, 10, MREMAP_MAYMOVE);
    EXPECT_EQ(moved, static_cast<long>(s.mm->mmap_base - 10 * kPage));
    EXPECT_EQ(mm_committed(), before + 10);
    EXPECT_EQ(lines_of(s.mm, 0, s.at(100)), "10004000-10005000 r--p");
    vm_munmap(s.mm, static_cast<unsigned long>(moved), 10 * kPage);
    EXPECT_EQ(mm_committed(), before);
}

TEST(MmRemap, dontunmap_leaves_the_source_and_zero_size_duplicates_what_is_shared)
{
    Space s;
    s.map(0, 4);
    s.fault(0);
    EXPECT_EQ(remap(s, 0, 4, 4, MREMAP_MAYMOVE | 4, 30), static_cast<long>(s.at(30)));
    EXPECT_EQ(s.lines(), "10000000-10004000 rw-p; 1001e000-10022000 rw-p");
    mm_file *file = mm_file_open("/shared", MM_FILE_READ | MM_FILE_WRITE);
    s.model = pages_of(s.mm);
    s.map(40, 2, kRW, MAP_SHARED, file, 5);
    EXPECT_EQ(remap(s, 41, 0, 1, MREMAP_MAYMOVE | MREMAP_FIXED, 50), static_cast<long>(s.at(50)));
    s.model[s.at(50)] = s.model[s.at(41)];
    EXPECT_TRUE(s.agrees());
    mm_file_put(file);
}

TEST(MmRemap, fixed_moves_several_mappings_with_their_holes)
{
    Space s;
    s.map(0, 2);
    s.map(2, 2, PROT_READ);
    s.map(5, 1);
    s.map(22, 4, PROT_NONE); // is replaced
    EXPECT_EQ(remap(s, 1, 5, 5, MREMAP_MAYMOVE | MREMAP_FIXED, 21), static_cast<long>(s.at(21)));
    EXPECT_EQ(s.lines(), "10000000-10001000 rw-p; 10015000-10016000 rw-p; 10016000-10018000 r--p; "
                         "10018000-10019000 ---p; 10019000-1001a000 rw-p");
}

TEST(MmRemap, refuses_a_range_that_ends_behind_the_last_address)
{
    Space s;
    s.map(0, 1);
    const unsigned long flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    for (const unsigned long bytes : {2 * kPage, 3 * kPage}) {
        const unsigned long last = 0 - 2 * kPage;
        EXPECT_EQ(long(vm_mremap(s.mm, last, bytes, bytes, flags, s.at(20))), -EFAULT);
        EXPECT_EQ(long(vm_mremap(s.mm, last, bytes, 4 * kPage, MREMAP_MAYMOVE, 0)), -EFAULT);
    }
    EXPECT_EQ(s.lines(), "10000000-10001000 rw-p");
}

// ---- fork and exit

TEST(MmFork, gives_the_child_equal_pages_without_locks)
{
    Space s;
    for (unsigned long i = 0; i < 40; i++)
        s.map(i * 3, 2, i % 2 ? PROT_READ : kRW);
    EXPECT_EQ(vm_mlock(s.mm, s.at(0), 2 * kPage, VM_LOCKED), 0);
    Space child(dup_mm(s.mm));
    child.model = s.model;
    EXPECT_TRUE(child.agrees());
    child.unmap(0, 60);
    child.map(4, 9);
    EXPECT_EQ(mm_validate(s.mm), 0u);
    EXPECT_EQ(pages_of(s.mm).size(), s.model.size());
}

TEST(MmFork, leaves_out_dontfork_and_forgets_the_writes_of_wipeonfork)
{
    Space s;
    s.map(0, 6);
    s.fault(0);
    EXPECT_EQ(vm_madvise(s.mm, s.at(1), 2 * kPage, MADV_DONTFORK), 0);
    EXPECT_EQ(vm_madvise(s.mm, s.at(4), 2 * kPage, MADV_WIPEONFORK), 0);
    Space child(dup_mm(s.mm));
    EXPECT_EQ(child.lines(), "10000000-10001000 rw-p; 10003000-10004000 rw-p; 10004000-10006000 rw-p");
    EXPECT_EQ(mm_validate(child.mm), 0u);
    // Never written to in the child, so it merges.
    EXPECT_EQ(vm_madvise(child.mm, child.at(4), 2 * kPage, MADV_KEEPONFORK), 0);
    vm_mmap(child.mm, nullptr, child.at(6), kPage, kRW, kAnon | MAP_FIXED, 0);
    EXPECT_EQ(child.lines(), "10000000-10001000 rw-p; 10003000-10004000 rw-p; 10004000-10007000 rw-p");
}

TEST(MmExit, gives_everything_back)
{
    const unsigned long before = mm_committed();
    mm_file *file = mm_file_open("/held", MM_FILE_READ);
    {
        Space s;
        s.map(0, 100);
        s.map(200, 10, PROT_READ, MAP_PRIVATE, file);
        EXPECT_EQ(file->refs, 2u);
        mmget(s.mm);
        mmput(s.mm);
        EXPECT_EQ(mm_committed(), before + 100);
    }
    EXPECT_EQ(mm_committed(), before);
    EXPECT_EQ(file->refs, 1u);
    mm_file_put(file);
}

TEST(MmMaps, shows_what_proc_shows)
{
    mm_file *file = mm_file_open("/usr/lib/libx.so", MM_FILE_READ), *name = mm_file_open("arena", 0);
    Space s;
    s.map(0, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 2);
    s.map(1, 1);
    EXPECT_EQ(vm_set_name(s.mm, s.at(1), kPage, name), 0);
    s.mm->start_brk = s.mm->brk = s.at(4);
    EXPECT_EQ(vm_brk(s.mm, s.at(5)), s.at(5));
    EXPECT_EQ(mm_install(s.mm, s.at(9), s.at(10), VM_READ | VM_WRITE | VM_GROWSDOWN, 0, nullptr, nullptr), 0);
    s.mm->start_stack = s.at(9) + 8;
    s.mm->vsyscall = true;
    char text[1024];
    EXPECT_LT(mm_maps(s.mm, text, sizeof(text)), sizeof(text));
    EXPECT_STREQ(text,
                 "10000000-10001000 r-xp 00002000 00:00 0                                  /usr/lib/libx.so\n"
                 "10001000-10002000 rw-p 00000000 00:00 0                                  [anon:arena]\n"
                 "10004000-10005000 rw-p 00000000 00:00 0                                  [heap]\n"
                 "10009000-1000a000 rw-p 00000000 00:00 0                                  [stack]\n"
                 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n");
    mm_file_put(file);
    mm_file_put(name);
}

} // namespace
} // namespace kmirror::mm_tests
