// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: mappings split and merge as the kernel's do: by flags, file and offset, policy, name and anon_vma.
#include "lib/mm/tests/space.h"

#include <memory>

namespace kmirror::mm_tests {
namespace {

struct FileCloser {
    void operator()(mm_file *file) const { mm_file_put(file); }
};
using File = std::unique_ptr<mm_file, FileCloser>;

File open_file(const char *name, unsigned flags = MM_FILE_READ | MM_FILE_WRITE)
{
    return File(mm_file_open(name, flags));
}

// ---- a new mapping beside old ones

struct NewCase {
    const char *what;
    unsigned long below, above; // protection of the neighbours; ~0: none
    const char *expected;
};

TEST(MmMerge, of_a_new_mapping_with_either_neighbour_or_both)
{
    constexpr unsigned long none = ~0ul;
    const NewCase cases[] = {
        {"none", none, none, "10002000-10004000 rw-p"},
        {"below", kRW, none, "10000000-10004000 rw-p"},
        {"above", none, kRW, "10002000-10006000 rw-p"},
        {"both", kRW, kRW, "10000000-10006000 rw-p"},
        {"below, other above", kRW, PROT_READ, "10000000-10004000 rw-p; 10004000-10006000 r--p"},
        {"other below, above", PROT_READ, kRW, "10000000-10002000 r--p; 10002000-10006000 rw-p"},
        {"others", PROT_READ, PROT_NONE,
         "10000000-10002000 r--p; 10002000-10004000 rw-p; 10004000-10006000 ---p"},
    };
    for (const NewCase &each : cases) {
        Space s;
        if (each.below != none)
            s.map(0, 2, each.below);
        if (each.above != none)
            s.map(4, 2, each.above);
        s.map(2, 2);
        EXPECT_EQ(s.lines(), each.expected) << each.what;
    }
}

TEST(MmMerge, of_files_wants_the_same_open_file_and_offsets_that_go_on)
{
    const File file = open_file("/lib/a"), again = open_file("/lib/a");
    Space s;
    s.map(0, 2, PROT_READ, MAP_PRIVATE, file.get(), 10);
    s.map(2, 2, PROT_READ, MAP_PRIVATE, file.get(), 12);  // goes on
    s.map(4, 2, PROT_READ, MAP_PRIVATE, file.get(), 15);  // leaves a page out
    s.map(6, 2, PROT_READ, MAP_PRIVATE, again.get(), 17); // the same name, opened again
    EXPECT_EQ(s.lines(), "10000000-10004000 r--p; 10004000-10006000 r--p; 10006000-10008000 r--p");
}

TEST(MmMerge, of_shared_anonymous_memory_never_happens)
{
    Space s;
    const unsigned long shared = MAP_SHARED | MAP_ANONYMOUS;
    EXPECT_EQ(vm_mmap(s.mm, nullptr, s.at(0), kPage, kRW, shared | MAP_FIXED, 0), s.at(0));
    EXPECT_EQ(vm_mmap(s.mm, nullptr, s.at(1), kPage, kRW, shared | MAP_FIXED, 0), s.at(1));
    EXPECT_EQ(s.lines(), "10000000-10001000 rw-s; 10001000-10002000 rw-s");
    EXPECT_EQ(mm_validate(s.mm), 0u);
}

// ---- anon_vma

TEST(MmMerge, fills_a_hole_between_two_faulted_mappings_on_one_side_only)
{
    Space s;
    s.map(0, 2);
    s.map(4, 2);
    s.fault(0);
    s.fault(4); // each has an anon_vma of its own: they were not neighbours
    s.map(2, 2);
    EXPECT_EQ(s.lines(), "10000000-10004000 rw-p; 10004000-10006000 rw-p");
}

TEST(MmMerge, heals_a_hole_cut_into_one_faulted_mapping)
{
    Space s;
    s.map(0, 6);
    s.fault(0);
    s.unmap(2, 2);
    s.map(2, 2);
    EXPECT_EQ(s.lines(), "10000000-10006000 rw-p");
}

TEST(MmMerge, with_a_forked_childs_written_memory_does_not_happen)
{
    Space s;
    s.map(0, 2);
    s.fault(0);
    Space child(dup_mm(s.mm));
    child.model = s.model;
    child.map(2, 2);
    EXPECT_EQ(child.lines(), "10000000-10002000 rw-p; 10002000-10004000 rw-p");
    s.map(2, 2); // the parent's own still does
    EXPECT_EQ(s.lines(), "10000000-10004000 rw-p");
}

TEST(MmMerge, a_neighbours_anon_vma_is_shared_if_mprotect_could_make_them_equal)
{
    Space s;
    s.map(0, 2, kRW);
    s.map(2, 2, kRW | PROT_EXEC);
    s.fault(0);
    s.fault(2);
    s.protect(2, 2, kRW);
    EXPECT_EQ(s.lines(), "10000000-10004000 rw-p");
}

// ---- a mapping that changes

struct ChangeCase {
    const char *what;
    unsigned long first, count; // pages of the change to read-only, in six pages rw
    const char *expected;
};

TEST(MmSplit, at_the_start_the_end_both_or_neither)
{
    const ChangeCase cases[] = {
        {"all", 0, 6, "10000000-10006000 r--p"},
        {"start", 0, 2, "10000000-10002000 r--p; 10002000-10006000 rw-p"},
        {"end", 4, 2, "10000000-10004000 rw-p; 10004000-10006000 r--p"},
        {"middle", 2, 2, "10000000-10002000 rw-p; 10002000-10004000 r--p; 10004000-10006000 rw-p"},
    };
    for (const ChangeCase &each : cases)
        for (const bool faulted : {false, true}) {
            Space s;
            s.map(0, 6);
            if (faulted)
                s.fault(0);
            s.protect(each.first, each.count, PROT_READ);
            EXPECT_EQ(s.lines(), each.expected) << each.what;
            s.protect(each.first, each.count, kRW);
            EXPECT_EQ(s.lines(), "10000000-10006000 rw-p") << each.what << ": and back";
        }
}

// Three mappings of two pages; the middle one, or a part of it, becomes what its neighbours are.
TEST(MmMerge, of_a_changed_part_moves_the_border_or_swallows_the_mapping)
{
    struct {
        unsigned long below, above, first, count;
        const char *expected;
    } const cases[] = {
        {kRW, kRW, 2, 2, "10000000-10006000 rw-p"},
        {kRW, PROT_NONE, 2, 2, "10000000-10004000 rw-p; 10004000-10006000 ---p"},
        {PROT_NONE, kRW, 2, 2, "10000000-10002000 ---p; 10002000-10006000 rw-p"},
        {kRW, PROT_NONE, 2, 1, "10000000-10003000 rw-p; 10003000-10004000 r--p; 10004000-10006000 ---p"},
        {PROT_NONE, kRW, 3, 1, "10000000-10002000 ---p; 10002000-10003000 r--p; 10003000-10006000 rw-p"},
        {PROT_NONE, kRW, 2, 1,
         "10000000-10002000 ---p; 10002000-10003000 rw-p; 10003000-10004000 r--p; 10004000-10006000 rw-p"},
    };
    for (const auto &each : cases) {
        Space s;
        s.map(0, 2, each.below);
        s.map(2, 2, PROT_READ);
        s.map(4, 2, each.above);
        s.protect(each.first, each.count, kRW);
        // What was written to once stays charged, so a mapping that never was does not merge with it for
        // that.
        EXPECT_EQ(s.lines(), each.expected);
    }
}

TEST(MmMerge, over_many_mappings_in_one_call)
{
    Space s;
    for (unsigned long i = 0; i < 20; i++)
        s.map(i, 1, i % 2 ? PROT_READ : PROT_NONE);
    s.protect(3, 14, kRW);
    s.protect(0, 20, kRW);
    EXPECT_EQ(s.lines(), "10000000-10014000 rw-p");
}

TEST(MmSplit, by_policy_name_lock_and_advice_and_merges_when_they_go)
{
    const auto name = open_file("arena");
    Space s;
    s.map(0, 6);
    const char *split = "10000000-10002000 rw-p; 10002000-10004000 rw-p; 10004000-10006000 rw-p";
    const char *whole = "10000000-10006000 rw-p";
    const struct {
        int advice, undo;
    } pairs[] = {{MADV_DONTFORK, MADV_DOFORK},       {MADV_DONTDUMP, MADV_DODUMP},
                 {MADV_WIPEONFORK, MADV_KEEPONFORK}, {MADV_RANDOM, MADV_NORMAL},
                 {MADV_SEQUENTIAL, MADV_NORMAL},     {MADV_MERGEABLE, MADV_UNMERGEABLE}};
    for (const auto &pair : pairs) {
        EXPECT_EQ(vm_madvise(s.mm, s.at(2), 2 * kPage, pair.advice), 0);
        EXPECT_EQ(s.lines(), split) << pair.advice;
        EXPECT_EQ(vm_madvise(s.mm, s.at(2), 2 * kPage, pair.undo), 0);
        EXPECT_EQ(s.lines(), whole) << pair.undo;
        EXPECT_TRUE(s.agrees());
    }
    EXPECT_EQ(vm_mlock(s.mm, s.at(2), 2 * kPage, VM_LOCKED), 0);
    EXPECT_EQ(s.lines(), split);
    EXPECT_EQ(vm_mlock(s.mm, s.at(0), 6 * kPage, 0), 0);
    EXPECT_EQ(s.lines(), whole);
    EXPECT_EQ(vm_mbind(s.mm, s.at(2), 2 * kPage, 7), 0);
    EXPECT_EQ(s.lines(), split);
    EXPECT_EQ(vm_mbind(s.mm, s.at(0), 6 * kPage, 0), 0);
    EXPECT_EQ(s.lines(), whole);
    EXPECT_EQ(vm_set_name(s.mm, s.at(2), 2 * kPage, name.get()), 0);
    EXPECT_EQ(s.lines(), split);
    EXPECT_EQ(vm_set_name(s.mm, s.at(2), 2 * kPage, nullptr), 0);
    EXPECT_EQ(s.lines(), whole);
    EXPECT_TRUE(s.agrees());
}

// VM_HUGEPAGE replaces VM_NOHUGEPAGE, so undoing is never complete.
TEST(MmSplit, by_advice_on_huge_pages)
{
    Space s;
    s.map(0, 6);
    EXPECT_EQ(vm_madvise(s.mm, s.at(2), 2 * kPage, MADV_HUGEPAGE), 0);
    EXPECT_EQ(vm_madvise(s.mm, s.at(2), 2 * kPage, MADV_NOHUGEPAGE), 0);
    EXPECT_EQ(s.lines(), "10000000-10002000 rw-p; 10002000-10004000 rw-p; 10004000-10006000 rw-p");
    EXPECT_EQ(vm_madvise(s.mm, s.at(0), 6 * kPage, MADV_NOHUGEPAGE), 0);
    EXPECT_EQ(s.lines(), "10000000-10006000 rw-p");
    EXPECT_EQ(vm_madvise(s.mm, s.at(0), 7 * kPage, MADV_NOHUGEPAGE), -ENOMEM);
    EXPECT_EQ(vm_madvise(s.mm, s.at(0), kPage, 12345), -EINVAL);
}

} // namespace
} // namespace kmirror::mm_tests
