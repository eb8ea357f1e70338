// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/dump_obj.cpp: whose memory is this address?
//
// Owns     nothing.
// Bounds   one line of the log, and one for each frame of two stacks.
// Locking  none; the answer is of a moment, unless the caller keeps the object alive.
// Fails    an address outside of slabs is said to be that.
#include <linux/kallsyms.h>
#include <linux/stackdepot.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <kmirror/slab_info.h>

#include "lib/slub/debug.h"

namespace kmirror::slub {

namespace {

void copy_stack(void **to, unsigned int handle)
{
    const unsigned long *frames;
    const unsigned int count = handle ? stack_depot_fetch(handle, &frames) : 0;

    for (unsigned int i = 0; i < count && i < KS_ADDRS_COUNT; i++)
        to[i] = reinterpret_cast<void *>(frames[i]);
}

// Which object of its slab: the bytes behind one, with the red zone of the next, are still its own.
unsigned int index_of(const struct kmem_cache *s, const struct slab *slab, unsigned long offset)
{
    const unsigned long into = offset > s->red_left_pad ? offset - s->red_left_pad : 0;
    const unsigned int last = slab_objects(slab) - 1;
    return into / s->size > last ? last : (unsigned int)(into / s->size);
}

void say_stack(void *const *stack)
{
    char symbol[KSYM_SYMBOL_LEN];

    for (unsigned int i = 0; i < KS_ADDRS_COUNT && stack[i]; i++) {
        sprint_symbol(symbol, shown(stack[i]));
        pr_info("    %s\n", symbol);
    }
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

bool kmem_valid_obj(void *object)
{
    return virt_addr_valid(object) && virt_to_slab(object);
}

void kmem_obj_info(struct kmem_obj_info *info, void *object)
{
    const struct slab *slab = slab_of_object(object);
    struct kmem_cache *s = slab->slab_cache;
    info->kp_ptr = object;
    info->kp_slab_cache = s;
    void *base = slab_address(slab);
    const unsigned long offset = bytes_between(base, object);
    info->kp_objp = byte_at(base, (unsigned long)index_of(s, slab, offset) * s->size);
    const unsigned long into = bytes_between(info->kp_objp, object);
    info->kp_data_offset = into < s->red_left_pad ? into : s->red_left_pad;
    if (!(s->flags & SLAB_STORE_USER))
        return;
    void *tracked = fixup_red_left(s, info->kp_objp);
    const struct track *track = get_track(s, tracked, TRACK_ALLOC);
    info->kp_ret = reinterpret_cast<void *>(track->addr);
    copy_stack(info->kp_stack, READ_ONCE(track->handle));
    copy_stack(info->kp_free_stack, READ_ONCE(get_track(s, tracked, TRACK_FREE)->handle));
}

bool kmem_dump_obj(void *object)
{
    struct kmem_obj_info info;
    char symbol[KSYM_SYMBOL_LEN];

    memset(&info, 0, sizeof(info));
    if (!kmem_valid_obj(object))
        return false;
    kmem_obj_info(&info, object);
    pr_cont(" slab %s start %p", info.kp_slab_cache->name, info.kp_objp);
    if (info.kp_data_offset)
        pr_cont(" data offset %lu", info.kp_data_offset);
    pr_cont(" pointer offset %lu size %u", bytes_between(info.kp_objp, object) - info.kp_data_offset,
            info.kp_slab_cache->object_size);
    if (info.kp_ret) {
        sprint_symbol(symbol, shown(info.kp_ret));
        pr_cont(" allocated at %s", symbol);
    }
    pr_cont("\n");
    say_stack(info.kp_stack);
    if (info.kp_free_stack[0])
        pr_cont(" Free path:\n");
    say_stack(info.kp_free_stack);
    return true;
}

void mem_dump_obj(void *object)
{
    unsigned long start, bytes;

    if (kmem_dump_obj(object))
        return;
    if (vmalloc_area(object, &start, &bytes))
        pr_cont(" %lu-page vmalloc region starting at %#lx\n", PAGE_ALIGN(bytes) / PAGE_SIZE, start);
    else if (is_vmalloc_addr(object))
        pr_cont(" vmalloc memory\n");
    else if (virt_addr_valid(object))
        pr_cont(" non-slab/vmalloc memory\n");
    else if (!object)
        pr_cont(" NULL pointer\n");
    else if (object == ZERO_SIZE_PTR)
        pr_cont(" zero-size pointer\n");
    else
        pr_cont(" non-paged memory\n");
}
