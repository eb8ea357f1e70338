// SPDX-License-Identifier: GPL-2.0-only
//
// What the tests of lib/mm share: an address space beside a model that knows nothing of mappings, only of
// pages.
//
//   Space s;
//   s.map(0x10000, 4);                      // four pages, private anonymous, read and write; judged
//   EXPECT_EQ(s.lines(), "10000-14000 rw-p");
//
// The model holds for each mapped page its flags, file and offset. agrees() compares page by page and runs
// mm_validate(); lines() is the shape: where mappings begin and end.
#pragma once

#include "tools/testing/harness.h"

#include <kmirror/mm.h>
#include <linux/err.h>
#include <linux/mm.h>

#include <map>
#include <string>

namespace kmirror::mm_tests {

inline constexpr unsigned long kPage = PAGE_SIZE;
inline constexpr unsigned long kLow = 0x10000000; // where the tests' fixed mappings begin
inline constexpr unsigned long kRW = PROT_READ | PROT_WRITE;
inline constexpr unsigned long kAnon = MAP_PRIVATE | MAP_ANONYMOUS;

// What a call can change and a program can see; not what accounting adds.
inline constexpr unsigned long kSeen = VM_ACCESS_FLAGS | VM_SHARED | VM_MAYSHARE | VM_GROWSDOWN |
                                       VM_LOCKED_MASK | VM_SEQ_READ | VM_RAND_READ | VM_DONTCOPY |
                                       VM_WIPEONFORK | VM_DONTDUMP | VM_HUGEPAGE | VM_NOHUGEPAGE |
                                       VM_MERGEABLE | VM_PKEY_MASK | VM_SEALED;

struct Page {
    unsigned long flags;
    const mm_file *file;
    unsigned long offset; // pages; 0 without a file
    unsigned int policy;

    bool operator==(const Page &) const = default;
};

using Pages = std::map<unsigned long, Page>;

// The pages of an address space, read mapping by mapping.
Pages pages_of(mm_struct *mm);
// "start-end rwxp" of each mapping in [from, to), in hexadecimal, separated by "; ".
std::string lines_of(mm_struct *mm, unsigned long from = 0, unsigned long to = TASK_SIZE_MM);
// Empty, or the first difference.
std::string difference(const Pages &expected, const Pages &seen);

// Restores mm_sysctl at its end.
struct mm_sysctl_saver {
    const struct mm_sysctl saved = mm_sysctl;
    mm_sysctl_saver() = default;
    mm_sysctl_saver(const mm_sysctl_saver &) = delete;
    mm_sysctl_saver &operator=(const mm_sysctl_saver &) = delete;
    ~mm_sysctl_saver() { mm_sysctl = saved; }
};

class Space {
public:
    Space() : mm(mm_alloc()) {}
    explicit Space(mm_struct *taken) : mm(taken) {}
    ~Space()
    {
        if (mm)
            mmput(mm);
    }
    Space(const Space &) = delete;
    Space &operator=(const Space &) = delete;

    // Fixed mappings in pages from kLow, with what the model must hold afterwards.
    unsigned long map(unsigned long page, unsigned long count, unsigned long prot = kRW,
                      unsigned long flags = kAnon, mm_file *file = nullptr, unsigned long offset_pages = 0);
    void unmap(unsigned long page, unsigned long count);
    void protect(unsigned long page, unsigned long count, unsigned long prot);
    void fault(unsigned long page) { EXPECT_EQ(vm_fault(mm, at(page)), 0); }

    static unsigned long at(unsigned long page) { return kLow + page * kPage; }
    std::string lines() const { return lines_of(mm); }
    ::testing::AssertionResult agrees() const;

    mm_struct *mm;
    Pages model;
};

} // namespace kmirror::mm_tests
