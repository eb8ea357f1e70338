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

#include "lib/mm/tests/pages.h"
#include "tools/testing/harness.h"

#include <kmirror/mm.h>
#include <linux/err.h>

#include <string>

namespace kmirror::mm_tests {

inline constexpr unsigned long kLow = 0x10000000; // where the tests' fixed mappings begin
inline constexpr unsigned long kRW = PROT_READ | PROT_WRITE;
inline constexpr unsigned long kAnon = MAP_PRIVATE | MAP_ANONYMOUS;

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
