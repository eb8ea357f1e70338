// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/debug_track.cpp: who had an object, and how large he wanted it.
//
// Owns     two tracks and one number behind each object of a cache that stores them.
// Bounds   the stack of a track has up to STACK_DEPOT_ADDRS_MAX frames.
// Locking  a free is noted under list_lock, an allocation by who has just got the object.
// Fails    without room for the stack the caller alone is noted.
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "lib/slub/debug.h"

namespace kmirror::slub {

namespace {

unsigned long *orig_size_place(const struct kmem_cache *s, const void *object)
{
    return static_cast<unsigned long *>(
        byte_at(const_cast<void *>(object), get_info_end(s) + 2 * sizeof(struct track)));
}

void print_track(const char *what, const struct track *track, unsigned long now)
{
    char symbol[KSYM_SYMBOL_LEN];

    if (!track->addr)
        return;
    sprint_symbol(symbol, track->addr);
    pr_err("%s in %s age=%lu cpu=%d pid=%d\n", what, symbol, now - track->when, track->cpu,
           track->pid);
    if (track->handle)
        stack_depot_print(track->handle);
    else
        pr_err("object allocation/free stack trace missing\n");
}

} // namespace

struct track *get_track(const struct kmem_cache *s, void *object, track_item item)
{
    return static_cast<struct track *>(byte_at(object, get_info_end(s))) + item;
}

void init_tracking(const struct kmem_cache *s, void *object)
{
    if (s->flags & SLAB_STORE_USER)
        memset_no_sanitize_memory(get_track(s, object, TRACK_ALLOC), 0, 2 * sizeof(struct track));
}

unsigned int set_track_prepare(const struct kmem_cache *s, const void *caller)
{
    return s->flags & SLAB_STORE_USER ? stack_depot_save_caller(caller, __GFP_NOWARN) : 0;
}

void set_track_update(const struct kmem_cache *s, void *object, track_item item, const void *caller,
                      unsigned int handle)
{
    struct track *track = get_track(s, object, item);
    const unsigned long *frames;

    // Who is not told who called takes the innermost frame.
    if (!caller && stack_depot_fetch(handle, &frames))
        caller = reinterpret_cast<const void *>(frames[0]);
    track->handle = handle;
    track->addr = shown(caller);
    track->cpu = (int)raw_smp_processor_id();
    track->pid = kmirror_task_pid();
    track->when = jiffies;
}

void print_tracking(const struct kmem_cache *s, void *object)
{
    const unsigned long now = jiffies;

    if (!(s->flags & SLAB_STORE_USER))
        return;
    print_track("Allocated", get_track(s, object, TRACK_ALLOC), now);
    print_track("Freed", get_track(s, object, TRACK_FREE), now);
}

unsigned int get_orig_size(const struct kmem_cache *s, const void *object)
{
    return slub_debug_orig_size(s) ? (unsigned int)*orig_size_place(s, object) : s->object_size;
}

void set_orig_size(const struct kmem_cache *s, void *object, unsigned int bytes)
{
    if (slub_debug_orig_size(s))
        *orig_size_place(s, object) = bytes;
}

} // namespace kmirror::slub
