// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/debug.h: caches that watch their objects.
//
//   slab     red zone | object | pad | link | alloc | free | size | gap | red zone | object ...
//            left       0        ^ object_size                    ^ inuse counts to the pad,
//                                  right red zone to inuse          size to the next object
//
//   F  SLAB_CONSISTENCY_CHECKS  every allocation and free looks at the object and its slab
//   Z  SLAB_RED_ZONE            bytes around the object: 0xbb free, 0xcc in use
//   P  SLAB_POISON              free objects: 0x6b ... 0xa5, gaps: 0x5a
//   U  SLAB_STORE_USER          who allocated it and who freed it; full slabs are listed
//   T  SLAB_TRACE               every allocation and free is said in the log
//
// Owns     what lies in a slab beside the objects, and the way of an object of such a cache:
//          single, straight from and to its slab.
// Bounds   one object a list_lock section. No such cache has sheaves.
// Locking  list_lock over every look at, and every change of, a slab's free list; so the
//          word of such a slab needs no swap. The reports come under that lock.
// Fails    an allocation: NULL. What is found damaged is reported, then repaired, or the
//          object, or its slab, is never used again.
#pragma once

#include "lib/slub/node.h"

namespace kmirror::slub {

// SLAB_POISON, and nobody but the allocator writes to a free object.
inline constexpr slab_flags_t __OBJECT_POISON = __SLAB_FLAG_BIT(_SLAB_OBJECT_POISON);

inline bool kmem_cache_debug_flags(const struct kmem_cache *s, slab_flags_t flags)
{
    return s->flags & flags;
}

inline bool kmem_cache_debug(const struct kmem_cache *s)
{
    return kmem_cache_debug_flags(s, SLAB_DEBUG_FLAGS);
}

// Does the object of a size class know how many bytes were asked for?
inline bool slub_debug_orig_size(const struct kmem_cache *s)
{
    return (s->flags & (SLAB_STORE_USER | SLAB_KMALLOC)) == (SLAB_STORE_USER | SLAB_KMALLOC);
}

// Who had an object, last or now.
struct track {
    unsigned long addr;  // of the caller; 0: nobody
    unsigned int handle; // stack, see <linux/stackdepot.h>
    int cpu;
    int pid;
    unsigned long when;  // jiffies
};

enum track_item { TRACK_ALLOC, TRACK_FREE };

// Bytes from an object to the end of its link, when that lies behind it.
inline unsigned int get_info_end(const struct kmem_cache *s)
{
    return freeptr_outside_object(s) ? s->inuse + sizeof(void *) : s->inuse;
}

// Bytes from an object to the left red zone of the next one.
inline unsigned int size_from_object(const struct kmem_cache *s)
{
    return s->size - s->red_left_pad;
}

// Bytes from an object to what nobody has: behind link, tracks and size.
inline unsigned int get_metadata_end(const struct kmem_cache *s)
{
    unsigned int end = get_info_end(s);

    if (s->flags & SLAB_STORE_USER)
        end += 2 * sizeof(struct track);
    if (slub_debug_orig_size(s))
        end += sizeof(unsigned long);
    return end;
}

// ---- debug_track.cpp: who had an object, and how large he wanted it

struct track *get_track(const struct kmem_cache *s, void *object, track_item item);
void init_tracking(const struct kmem_cache *s, void *object);

// The caller's stack, taken before a lock is; 0 for a cache that does not want it.
unsigned int set_track_prepare(const struct kmem_cache *s, const void *caller);
void set_track_update(const struct kmem_cache *s, void *object, track_item item, const void *caller,
                      unsigned int handle);

// Says both in the log, with stacks. May be called for a cache that does not keep them.
void print_tracking(const struct kmem_cache *s, void *object);

// Bytes that were asked for; object_size in a cache that does not keep them.
unsigned int get_orig_size(const struct kmem_cache *s, const void *object);
void set_orig_size(const struct kmem_cache *s, void *object, unsigned int bytes);

// ---- debug_report.cpp: what is said, and counted

// One more error. True: it is counted for a test that waits for it, and nothing is printed.
bool slab_add_kunit_errors();
bool slab_in_kunit_test();

// The heading of a report, and what the slab looks like at its end.
void slab_bug_begin();
void slab_bug_end();
void __slab_err(const struct slab *slab);
void print_section(const char *level, const char *text, const void *place, unsigned int bytes);
void object_err(const struct kmem_cache *s, struct slab *slab, void *object, const char *reason);
// The report alone, of an error that is counted.
void show_object_err(const struct kmem_cache *s, struct slab *slab, void *object, const char *reason);

inline unsigned long shown(const void *place)
{
    return reinterpret_cast<unsigned long>(place);
}

#define slab_bug(s, fmt, ...)                                                                    \
    do {                                                                                         \
        slab_bug_begin();                                                                        \
        pr_err("BUG %s (%s): " fmt "\n", (s) ? (s)->name : "<unknown>", print_tainted(),         \
               ##__VA_ARGS__);                                                                   \
        slab_bug_end();                                                                          \
    } while (0)

#define slab_fix(s, fmt, ...)                                                                    \
    do {                                                                                         \
        if (!slab_add_kunit_errors())                                                            \
            pr_err("FIX %s: " fmt "\n", (s)->name, ##__VA_ARGS__);                               \
    } while (0)

#define slab_err(s, slab, fmt, ...)                                                              \
    do {                                                                                         \
        if (!slab_add_kunit_errors()) {                                                          \
            slab_bug(s, fmt, ##__VA_ARGS__);                                                     \
            __slab_err(slab);                                                                    \
        }                                                                                        \
    } while (0)

// ---- debug_check.cpp: is it as it was left? Each says what is not, repairs what it can,
//      and returns false.

// The bytes of an object and of what surrounds it, as of a free or a live one.
void init_object(const struct kmem_cache *s, void *object, unsigned char red);
void setup_object_debug(const struct kmem_cache *s, void *object);
void setup_slab_debug(const struct kmem_cache *s, const struct slab *slab);

bool check_valid_pointer(const struct kmem_cache *s, const struct slab *slab, const void *object);
void slab_pad_check(const struct kmem_cache *s, struct slab *slab);
bool check_object(const struct kmem_cache *s, struct slab *slab, void *object, unsigned char red);
bool check_slab(const struct kmem_cache *s, struct slab *slab);

// Is `search` on the free list? With NULL: is the free list what it should be?
bool on_freelist(const struct kmem_cache *s, struct slab *slab, const void *search);

// All objects of a slab that is going to be freed.
void check_free_slab(const struct kmem_cache *s, struct slab *slab);

// Calls visit(object) for each object of a slab until it returns false.
template <class Visit>
inline void for_each_object(const struct kmem_cache *s, const struct slab *slab, Visit visit)
{
    char *object = static_cast<char *>(fixup_red_left(s, slab_address(slab)));
    for (unsigned int i = 0; i < slab_objects(slab); i++, object += s->size)
        if (!visit(static_cast<void *>(object)))
            return;
}

// ---- debug_alloc.cpp: the way of an object

// A slab whose free list a check has dropped is full, and goes where full ones are: nobody may take an object
// of it. list_lock held. Linux 7.3 leaves it where it is, and dies at the next allocation or shrink.
void leave_partial_if_full(struct kmem_cache *s, struct kmem_cache_node *n, struct slab *slab);

// One object, `orig_size` bytes of which are wanted by `caller`.
[[gnu::noinline, gnu::cold]] void *debug_slab_alloc(struct kmem_cache *s, gfp_t gfp, int node,
                                                    size_t orig_size, const void *caller,
                                                    unsigned int alloc_flags);

// All `size` objects, or none and false.
bool debug_alloc_bulk(struct kmem_cache *s, gfp_t gfp, size_t size, void **p, const void *caller);

// `count` objects of `slab`, linked from `head` to `tail`, by `caller`.
[[gnu::noinline, gnu::cold]] void free_to_partial_list(struct kmem_cache *s, struct slab *slab,
                                                       void *head, void *tail, unsigned int count,
                                                       const void *caller);

// ---- debug_options.cpp: which caches

// The flags a cache of that name is made with: what was asked for and what slab_debug= adds.
slab_flags_t kmem_cache_flags(slab_flags_t flags, const char *name);

// Letter O: no debugging that would need larger slabs.
bool higher_order_debug_disabled();

// Reads KMIRROR_SLAB_DEBUG, once, when the allocator starts.
void slab_debug_init();

// ---- debug_validate.cpp

// Every slab on the lists of a node. Returns how many.
unsigned long validate_slab_node(struct kmem_cache *s, struct kmem_cache_node *n);

// The report of a slab that still has objects when its cache ends.
void list_slab_objects(struct kmem_cache *s, struct slab *slab);

} // namespace kmirror::slub
