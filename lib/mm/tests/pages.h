// SPDX-License-Identifier: GPL-2.0-only
//
// An address space as pages: what a model that knows nothing of mappings compares with. Without GoogleTest.
#pragma once

#include <kmirror/mm.h>
#include <linux/mm.h>

#include <map>
#include <string>

namespace kmirror::mm_tests {

inline constexpr unsigned long kPage = PAGE_SIZE;

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

} // namespace kmirror::mm_tests
