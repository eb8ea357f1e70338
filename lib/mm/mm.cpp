// SPDX-License-Identifier: GPL-2.0-only
//
// Life of an address space: made empty, shared by threads, duplicated by fork, taken apart by the last
// user. And the life of the files that its mappings name.
//
// Owns     mm_structs and files; both are counted.
// Locking  counts are atomic; the tree is under mmap_lock.
// Fails    NULL, with everything undone.
#include "lib/mm/vma.h"

namespace kmirror::mm {

namespace {

constexpr unsigned kTreeFlags = MT_FLAGS_ALLOC_RANGE | MT_FLAGS_LOCK_EXTERN | MT_FLAGS_USE_RCU;
constexpr unsigned long kStackRoom = 128UL << 20; // what the kernel leaves at least below TASK_SIZE

void init_tree(mm_struct *mm)
{
    mt_init_flags(&mm->mm_mt, kTreeFlags);
    mt_set_external_lock(&mm->mm_mt, &mm->mmap_lock);
    init_rwsem(&mm->mmap_lock);
}

// Free mappings from the lowest up to, not including, `stop`; then all nodes.
void exit_mmap(mm_struct *mm, const vm_area_struct *stop)
{
    VmaIterator it(mm, 0);
    unsigned long accounted = 0;
    while (vm_area_struct *vma = it.next()) {
        if (vma == stop)
            break;
        if (vma->vm_flags & VM_ACCOUNT)
            accounted += vma_pages(vma);
        vm_area_free(vma);
    }
    vm_unacct_memory(accounted);
    __mt_destroy(&mm->mm_mt);
}

void free_mm(mm_struct *mm, const vm_area_struct *stop)
{
    mmap_write_lock(mm);
    exit_mmap(mm, stop);
    mmap_write_unlock(mm);
    kfree(mm);
}

// The child's own mapping in the place of the parent's; NULL: no memory.
vm_area_struct *fork_vma(mm_struct *mm, const vm_area_struct *from)
{
    vm_area_struct *vma = vm_area_dup(from);
    if (!vma)
        return nullptr;
    vma->vm_mm = mm;
    vma->vm_flags &= ~VM_LOCKED_MASK;
    vma->anon_forked = from->anon_vma != 0;
    vma->anon_vma = from->anon_vma ? new_anon_vma() : 0;
    if (vma->vm_flags & VM_WIPEONFORK) {
        vma->anon_vma = 0;
        vma->anon_forked = false;
    }
    return vma;
}

int leave_out(VmaIterator &it, const vm_area_struct *from)
{
    vm_stat_account(it.mm, from->vm_flags, -static_cast<long>(vma_pages(from)));
    return it.clear_gfp(from->vm_start, from->vm_end, GFP_KERNEL);
}

int copy_one(VmaIterator &it, const vm_area_struct *from)
{
    if (from->vm_flags & VM_DONTCOPY)
        return leave_out(it, from);
    const unsigned long charge = from->vm_flags & VM_ACCOUNT ? vma_pages(from) : 0;
    if (!vm_enough_memory(charge))
        return -ENOMEM;
    vm_area_struct *vma = fork_vma(it.mm, from);
    if (!vma) {
        vm_unacct_memory(charge);
        return -ENOMEM;
    }
    // The same range with another entry needs no node.
    it.config(vma->vm_start, vma->vm_end);
    mas_store(&it.mas, vma);
    vma->attached = true;
    it.mm->map_count++;
    return 0;
}

// Give the duplicated tree mappings of its own. `*stop` becomes the first one that still is the parent's.
int copy_all(mm_struct *mm, const vm_area_struct **stop)
{
    VmaIterator it(mm, 0);
    while (const vm_area_struct *from = it.next()) {
        *stop = from;
        const int error = copy_one(it, from);
        if (error)
            return error;
    }
    *stop = nullptr;
    return 0;
}

} // namespace

} // namespace kmirror::mm

using namespace kmirror::mm;

mm_file *mm_file_open(const char *name, unsigned int flags)
{
    const size_t bytes = strlen(name) + 1;
    auto *file = static_cast<mm_file *>(kmalloc(sizeof(mm_file) + bytes, GFP_KERNEL));
    if (!file)
        return nullptr;
    file->refs = 1;
    file->flags = flags;
    memcpy(file->name, name, bytes);
    return file;
}

mm_file *mm_file_get(mm_file *file)
{
    if (file)
        __atomic_add_fetch(&file->refs, 1, __ATOMIC_RELAXED);
    return file;
}

void mm_file_put(mm_file *file)
{
    if (file && __atomic_sub_fetch(&file->refs, 1, __ATOMIC_ACQ_REL) == 0)
        kfree(file);
}

mm_struct *mm_alloc(void)
{
    auto *mm = static_cast<mm_struct *>(kzalloc(sizeof(mm_struct), GFP_KERNEL));
    if (!mm)
        return nullptr;
    init_tree(mm);
    mm->mm_users = 1;
    mm->topdown = true;
    mm->mmap_base = page_align(TASK_SIZE_MM - kStackRoom);
    mm->mmap_legacy_base = page_align(TASK_SIZE_MM / 3);
    mm->limits = {ULONG_MAX, ULONG_MAX, ULONG_MAX};
    return mm;
}

void mmget(mm_struct *mm)
{
    __atomic_add_fetch(&mm->mm_users, 1, __ATOMIC_RELAXED);
}

void mmput(mm_struct *mm)
{
    if (__atomic_sub_fetch(&mm->mm_users, 1, __ATOMIC_ACQ_REL) == 0)
        free_mm(mm, nullptr);
}

mm_struct *dup_mm(mm_struct *oldmm)
{
    mm_struct *mm = mm_alloc();
    if (!mm)
        return nullptr;
    WriteLock lock(oldmm);
    down_write_nested(&mm->mmap_lock, SINGLE_DEPTH_NESTING);

    mm->mmap_base = oldmm->mmap_base;
    mm->mmap_legacy_base = oldmm->mmap_legacy_base;
    mm->topdown = oldmm->topdown;
    mm->vsyscall = oldmm->vsyscall;
    mm->total_vm = oldmm->total_vm;
    mm->data_vm = oldmm->data_vm;
    mm->exec_vm = oldmm->exec_vm;
    mm->stack_vm = oldmm->stack_vm;
    mm->start_brk = oldmm->start_brk;
    mm->brk = oldmm->brk;
    mm->start_data = oldmm->start_data;
    mm->end_data = oldmm->end_data;
    mm->start_stack = oldmm->start_stack;
    mm->limits = oldmm->limits;

    const vm_area_struct *stop = nullptr;
    int error = __mt_dup(&oldmm->mm_mt, &mm->mm_mt, GFP_KERNEL);
    if (!error)
        error = copy_all(mm, &stop);
    if (error)
        exit_mmap(mm, stop);
    up_write(&mm->mmap_lock);
    if (error) {
        kfree(mm);
        return nullptr;
    }
    return mm;
}
