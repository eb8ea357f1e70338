// SPDX-License-Identifier: GPL-2.0-only
//
// Pages: how many a process has mapped, how many all of them may write to, and the limits of both.
//
// Owns     mm_sysctl and the count of committed pages.
// Locking  the commit count is atomic; an mm's counts are under its mmap_lock.
// Fails    by saying no; then nothing is counted.
#include "lib/mm/vma.h"

struct mm_sysctl mm_sysctl = {
    .max_map_count = 65530,
    .overcommit_memory = 0,
    .commit_limit = ULONG_MAX,
    .total_pages = ULONG_MAX,
    .stack_guard_gap = 256UL << PAGE_SHIFT,
    .mmap_min_addr = 65536,
    .thp = true,
    .ksm = true,
    .anon_name = true,
};

namespace kmirror::mm {

namespace {

unsigned long committed_pages;

constexpr int kOvercommitAlways = 1;
constexpr int kOvercommitNever = 2;

bool is_exec_mapping(unsigned long flags)
{
    return (flags & (VM_EXEC | VM_WRITE | VM_GROWSDOWN)) == VM_EXEC;
}

bool is_data_mapping(unsigned long flags)
{
    return (flags & (VM_WRITE | VM_SHARED | VM_GROWSDOWN)) == VM_WRITE;
}

} // namespace

bool may_expand_vm(const mm_struct *mm, unsigned long flags, unsigned long pages)
{
    if (mm->total_vm + pages > mm->limits.as >> PAGE_SHIFT)
        return false;
    return !is_data_mapping(flags) || mm->data_vm + pages <= mm->limits.data >> PAGE_SHIFT;
}

void vm_stat_account(mm_struct *mm, unsigned long flags, long pages)
{
    mm->total_vm += pages;
    if (is_exec_mapping(flags))
        mm->exec_vm += pages;
    else if (flags & VM_GROWSDOWN)
        mm->stack_vm += pages;
    else if (is_data_mapping(flags))
        mm->data_vm += pages;
}

void vm_acct_memory(unsigned long pages)
{
    __atomic_fetch_add(&committed_pages, pages, __ATOMIC_RELAXED);
}

bool vm_enough_memory(unsigned long pages)
{
    const unsigned long now = __atomic_add_fetch(&committed_pages, pages, __ATOMIC_RELAXED);
    bool enough = true;
    if (mm_sysctl.overcommit_memory == kOvercommitNever)
        enough = now <= mm_sysctl.commit_limit;
    else if (mm_sysctl.overcommit_memory != kOvercommitAlways)
        enough = pages <= mm_sysctl.total_pages;
    if (!enough)
        vm_unacct_memory(pages);
    return enough;
}

void vm_unacct_memory(unsigned long pages)
{
    __atomic_fetch_sub(&committed_pages, pages, __ATOMIC_RELAXED);
}

} // namespace kmirror::mm

unsigned long mm_committed(void)
{
    return __atomic_load_n(&kmirror::mm::committed_pages, __ATOMIC_RELAXED);
}
