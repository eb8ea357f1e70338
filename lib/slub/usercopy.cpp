// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/usercopy.cpp: the bounds of what may be copied to and from user space.
//
// Owns     nothing.
// Bounds   one object, or one compound block.
// Locking  none: the caller owns the memory it asks about.
// Fails    by ending the program with the kernel's report; an address that is nobody's passes.
#include <linux/ucopysize.h>
#include <linux/vmalloc.h>

#include "lib/slub/slab.h"

namespace kmirror::slub {

namespace {

void check_bogus_address(const void *address, unsigned long bytes, bool to_user)
{
    const auto start = reinterpret_cast<unsigned long>(address);

    if (start + (bytes - 1) < start)
        usercopy_abort("wrapped address", nullptr, to_user, 0, start + bytes);
    if (ZERO_OR_NULL_PTR(address))
        usercopy_abort("null address", nullptr, to_user, start, bytes);
}

// A block of pages that is no slab. Only a compound one knows where it ends.
void check_pages(const void *address, unsigned long bytes, bool to_user)
{
    const struct page *head = virt_to_head_page(address);
    const unsigned long offset = bytes_between(page_address(head), address);

    if (compound_order(head) && bytes > page_size(head) - offset)
        usercopy_abort("page alloc", nullptr, to_user, offset, bytes);
}

void check_vmalloc(const void *address, unsigned long bytes, bool to_user)
{
    const auto at = reinterpret_cast<unsigned long>(address);
    unsigned long start, length;

    if (!vmalloc_area(address, &start, &length))
        usercopy_abort("vmalloc", "no area", to_user, 0, bytes);
    const unsigned long offset = at - start;
    if (bytes > PAGE_ALIGN(length) - offset)
        usercopy_abort("vmalloc", nullptr, to_user, offset, bytes);
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

void usercopy_abort(const char *name, const char *detail, bool to_user, unsigned long offset,
                    unsigned long bytes)
{
    pr_emerg("Kernel memory %s attempt detected %s %s", to_user ? "exposure" : "overwrite",
             to_user ? "from" : "to", name);
    if (detail)
        pr_cont(" '%s'", detail);
    pr_cont(" (offset %lu, size %lu)!\n", offset, bytes);
    BUG();
}

void __check_heap_object(const void *address, unsigned long bytes, const struct slab *slab,
                         bool to_user)
{
    const struct kmem_cache *s = slab->slab_cache;
    auto offset = (unsigned int)(bytes_between(slab_address(slab), address) % s->size);

    if (offset < s->red_left_pad)
        usercopy_abort("SLUB object in left red zone", s->name, to_user, offset, bytes);
    offset -= s->red_left_pad;
    const unsigned int into = offset - s->useroffset;

    if (offset < s->useroffset || into > s->usersize || bytes > s->usersize - into)
        usercopy_abort("SLUB object", s->name, to_user, offset, bytes);
}

void __check_object_size(const void *address, unsigned long bytes, bool to_user)
{
    if (!bytes)
        return;
    check_bogus_address(address, bytes, to_user);
    if (is_vmalloc_addr(address))
        return check_vmalloc(address, bytes, to_user);
    if (!virt_addr_valid(address))
        return;
    if (const struct slab *slab = virt_to_slab(address))
        __check_heap_object(address, bytes, slab, to_user);
    else
        check_pages(address, bytes, to_user);
}
