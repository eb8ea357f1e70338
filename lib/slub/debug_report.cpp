// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/debug_report.cpp: what is said about a damaged object, in the kernel's form.
//
//   =====...
//   BUG kmalloc-64 (Not tainted): Object already free
//   -----...
//   Allocated in ... / Freed in ...    who had it, with stacks
//   Slab 0x... objects=.. used=.. fp=0x... flags=..
//   Object 0x... @offset=.. fp=0x...
//   Redzone / Bytes b4, Object, Redzone, Padding    as hex and text
//
// Owns     the count of errors found.
// Bounds   an object is shown up to a page.
// Locking  list_lock is usually held. Lines of reports by several threads may mix.
// Fails    never; nothing of an object that does not exist is looked at.
#include <linux/minmax.h>
#include <linux/panic.h>
#include <linux/sched.h>
#include <kmirror/slab_info.h>

#include "lib/slub/debug.h"

namespace kmirror::slub {

namespace {

constexpr unsigned int kBytesBefore = 16;

unsigned long errors_found;

void print_slab_info(const struct slab *slab)
{
    const FreelistCounters word = slab_word_read(slab->word);

    pr_err("Slab 0x%016lx objects=%u used=%u fp=0x%016lx flags=0x%lx(node=%d%s)\n", shown(slab),
           word.counters.objects(), word.counters.inuse(), shown(word.freelist), slab->flags,
           slab_nid(slab), slab_test_pfmemalloc(slab) ? "|pfmemalloc" : "");
}

// The object, what surrounds it, and who had it.
void print_trailer(const struct kmem_cache *s, const struct slab *slab, void *object)
{
    void *start = slab_address(slab);
    const unsigned int end = get_metadata_end(s);

    print_tracking(s, object);
    print_slab_info(slab);
    pr_err("Object 0x%016lx @offset=%lu fp=0x%016lx\n\n", shown(object),
           bytes_between(start, object), shown(get_freepointer(s, object)));

    const bool red_zones = s->flags & SLAB_RED_ZONE;
    const unsigned int filler = size_from_object(s) - end;
    const auto show = [object](const char *title, long from, unsigned int bytes) {
        print_section(KERN_ERR, title, static_cast<char *>(object) + from, bytes);
    };
    if (red_zones)
        show("Redzone  ", -(long)s->red_left_pad, s->red_left_pad);
    else if (bytes_between(start, object) > kBytesBefore)
        show("Bytes b4 ", -(long)kBytesBefore, kBytesBefore);
    show("Object   ", 0, min_t(unsigned int, PAGE_SIZE, s->object_size));
    if (red_zones)
        show("Redzone  ", s->object_size, s->inuse - s->object_size);
    if (filler)
        show("Padding  ", end, filler);
}

} // namespace

bool slab_add_kunit_errors()
{
    int *expected = KM_CURRENT->slab_errors;

    __atomic_fetch_add(&errors_found, 1, __ATOMIC_RELAXED);
    if (!expected)
        return false;
    ++*expected;
    return true;
}

bool slab_in_kunit_test()
{
    return KM_CURRENT->slab_errors;
}

void slab_bug_begin()
{
    pr_err("=============================================================================\n");
}

void slab_bug_end()
{
    pr_err("-----------------------------------------------------------------------------\n\n");
}

void __slab_err(const struct slab *slab)
{
    if (slab_in_kunit_test())
        return;
    print_slab_info(slab);
    add_taint(TAINT_BAD_PAGE, LOCKDEP_NOW_UNRELIABLE);
    WARN_ON(true);
}

void print_section(const char *level, const char *text, const void *place, unsigned int bytes)
{
    print_hex_dump(level, text, DUMP_PREFIX_ADDRESS, 16, 1, place, bytes, true);
}

void object_err(const struct kmem_cache *s, struct slab *slab, void *object, const char *reason)
{
    if (!slab_add_kunit_errors())
        show_object_err(s, slab, object, reason);
}

void show_object_err(const struct kmem_cache *s, struct slab *slab, void *object, const char *reason)
{
    slab_bug(s, "%s", reason);
    if (object && check_valid_pointer(s, slab, object)) {
        print_trailer(s, slab, object);
    } else {
        print_slab_info(slab);
        pr_err("Invalid pointer 0x%016lx\n", shown(object));
    }
    add_taint(TAINT_BAD_PAGE, LOCKDEP_NOW_UNRELIABLE);
    WARN_ON(true);
}

} // namespace kmirror::slub

using namespace kmirror::slub;

int *kmirror_slab_errors_into(int *counter)
{
    int *before = KM_CURRENT->slab_errors;
    KM_CURRENT->slab_errors = counter;
    return before;
}

unsigned long kmirror_slab_errors(void)
{
    return __atomic_load_n(&errors_found, __ATOMIC_RELAXED);
}
