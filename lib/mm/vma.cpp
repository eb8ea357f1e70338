// SPDX-License-Identifier: GPL-2.0-only
//
// One mapping: its cache, its copy, its split, and the steps of the iterator that change the tree.
//
// Owns     the cache of vm_area_structs: SLAB_TYPESAFE_BY_RCU, sheaves of 32, the free pointer over vm_start.
// Locking  mmap_lock for writing; the cache is made once, under a mutex.
// Fails    -ENOMEM before anything is changed.
#include "lib/mm/vma.h"

#include <linux/mutex.h>

namespace kmirror::mm {

namespace {

kmem_cache *vma_cache;
DEFINE_MUTEX(vma_cache_mutex);

constexpr unsigned kVmaSheafCapacity = 32;

kmem_cache *make_cache()
{
    kmem_cache_args args = {};
    args.use_freeptr_offset = true;
    args.freeptr_offset = __builtin_offsetof(vm_area_struct, vm_freeptr);
    args.sheaf_capacity = kVmaSheafCapacity;
    const slab_flags_t flags = SLAB_HWCACHE_ALIGN | SLAB_TYPESAFE_BY_RCU | SLAB_ACCOUNT | SLAB_NO_MERGE;
    return kmem_cache_create("vm_area_struct", sizeof(vm_area_struct), &args, flags);
}

kmem_cache *cache()
{
    kmem_cache *made = __atomic_load_n(&vma_cache, __ATOMIC_ACQUIRE);
    if (made)
        return made;
    mutex_lock(&vma_cache_mutex);
    made = vma_cache;
    if (!made) {
        made = make_cache();
        __atomic_store_n(&vma_cache, made, __ATOMIC_RELEASE);
    }
    mutex_unlock(&vma_cache_mutex);
    return made;
}

int renew_cache()
{
    mutex_lock(&vma_cache_mutex);
    kmem_cache *old = vma_cache;
    const bool unused = !old || kmem_cache_shrink(old) == 0;
    if (unused)
        __atomic_store_n(&vma_cache, static_cast<kmem_cache *>(nullptr), __ATOMIC_RELAXED); // nobody looks
    mutex_unlock(&vma_cache_mutex);
    if (unused)
        kmem_cache_destroy(old);
    return unused ? 0 : -EBUSY;
}

} // namespace

// ---- iterator

vm_area_struct *VmaIterator::next_rewind(vm_area_struct **below)
{
    vm_area_struct *above = next();
    vm_area_struct *under = prev();

    // Forward again over the end of the lower one; without one this already is where the gap begins.
    if (under)
        next_range();
    if (below)
        *below = under;
    return above;
}

void VmaIterator::config(unsigned long first, unsigned long end)
{
    if (mas.status != ma_active || mas.index > first || mas.last < first)
        mas_reset(&mas);
    mas.index = first;
    mas.last = end - 1;
}

int VmaIterator::prealloc(vm_area_struct *vma)
{
    return mas_preallocate(&mas, vma, GFP_KERNEL);
}

void VmaIterator::tell(const vm_area_struct *vma) const
{
    if (mm->store_hook)
        mm->store_hook(mm->store_arg, mas.index, mas.last, vma);
}

void VmaIterator::store(vm_area_struct *vma)
{
    config(vma->vm_start, vma->vm_end);
    tell(vma);
    vma->attached = true;
    mas_store_prealloc(&mas, vma);
}

void VmaIterator::clear()
{
    tell(nullptr);
    mas_store_prealloc(&mas, nullptr);
}

int VmaIterator::store_gfp(vm_area_struct *vma, gfp_t gfp)
{
    config(vma->vm_start, vma->vm_end);
    const int error = mas_store_gfp(&mas, vma, gfp);
    if (error)
        return error;
    vma->attached = true;
    tell(vma);
    return 0;
}

int VmaIterator::clear_gfp(unsigned long first, unsigned long end, gfp_t gfp)
{
    config(first, end);
    const int error = mas_store_gfp(&mas, nullptr, gfp);
    if (!error)
        tell(nullptr);
    return error;
}

// ---- life

vm_area_struct *vm_area_alloc(mm_struct *mm)
{
    kmem_cache *from = cache();
    auto *vma = static_cast<vm_area_struct *>(from ? kmem_cache_alloc(from, GFP_KERNEL) : nullptr);
    if (!vma)
        return nullptr;
    memset(vma, 0, sizeof(*vma));
    vma->vm_mm = mm;
    return vma;
}

vm_area_struct *vm_area_dup(const vm_area_struct *from)
{
    vm_area_struct *copy = vm_area_alloc(from->vm_mm);
    if (!copy)
        return nullptr;
    *copy = *from;
    copy->attached = false;
    mm_file_get(copy->vm_file);
    mm_file_get(copy->anon_name);
    return copy;
}

void vm_area_free(vm_area_struct *vma)
{
    mm_file_put(vma->vm_file);
    mm_file_put(vma->anon_name);
    vma->attached = false;
    kmem_cache_free(vma_cache, vma);
}

void vma_set_range(vm_area_struct *vma, unsigned long start, unsigned long end, unsigned long pgoff,
                   unsigned long anon_pgoff)
{
    vma->vm_start = start;
    vma->vm_end = end;
    vma->vm_pgoff = pgoff;
    vma->vm_anon_pgoff = anon_pgoff;
}

// ---- split

namespace {

void move_start(vm_area_struct *vma, unsigned long start)
{
    const unsigned long pages = (start - vma->vm_start) >> PAGE_SHIFT;
    vma_set_range(vma, start, vma->vm_end, vma->vm_pgoff + pages, vma->vm_anon_pgoff + pages);
}

} // namespace

int split_vma_uncounted(VmaIterator &it, vm_area_struct *vma, unsigned long addr, bool new_below)
{
    vm_area_struct *part = vm_area_dup(vma);
    if (!part)
        return -ENOMEM;
    if (new_below)
        part->vm_end = addr;
    else
        move_start(part, addr);

    it.config(part->vm_start, part->vm_end);
    if (it.prealloc(part)) {
        vm_area_free(part);
        return -ENOMEM;
    }
    if (new_below)
        move_start(vma, addr);
    else
        vma->vm_end = addr;
    it.store(part);
    vma->vm_mm->map_count++;

    if (new_below)
        it.next();
    else
        it.prev();
    return 0;
}

int split_vma(VmaIterator &it, vm_area_struct *vma, unsigned long addr, bool new_below)
{
    if (vma->vm_mm->map_count >= mm_sysctl.max_map_count)
        return -ENOMEM;
    return split_vma_uncounted(it, vma, addr, new_below);
}

} // namespace kmirror::mm

kmem_cache *mm_vma_cache(void)
{
    return kmirror::mm::cache();
}

int mm_vma_cache_renew(void)
{
    return kmirror::mm::renew_cache();
}
