// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/debug_check.cpp: is an object, and its slab, as it was left?
//
//   what                where                           found as               then
//   left red zone       before the object               Left Redzone           written anew
//   right red zone      behind it, up to inuse          Right Redzone          written anew
//   kmalloc's rest      behind the bytes asked for      kmalloc Redzone        written anew
//   poison              a free object                   Poison, End Poison     written anew
//   alignment padding   behind it, without red zones    Alignment padding      written anew
//   gap                 behind link, tracks and size    Object padding         written anew
//   link                of a free object, or outside    Freepointer corrupt    cut off
//   free list           the slab                        Freechain corrupt ...  cut off or dropped
//   counts              the slab                        Wrong object count     set right
//   rest of the slab    behind the last object          Padding overwritten    written anew
//
// Owns     nothing.
// Bounds   one object, or one slab's free list.
// Locking  list_lock, or the slab is nobody else's.
// Fails    false, after a report and the repair.
#include <linux/panic.h>
#include <linux/poison.h>
#include <linux/string.h>

#include "lib/slub/debug.h"

namespace kmirror::slub {

namespace {

unsigned char *bytes_of(void *object)
{
    return static_cast<unsigned char *>(object);
}

unsigned int slab_bytes(const struct slab *slab)
{
    return (unsigned int)PAGE_SIZE << slab_order(slab);
}

unsigned int max_objects_of(const struct kmem_cache *s, const struct slab *slab)
{
    const unsigned int fit = slab_bytes(slab) / s->size;
    return fit < SlabCounters::kObjectsMax ? fit : SlabCounters::kObjectsMax;
}

// The bytes from the first to the last that are not `value`; first NULL: there are none.
struct Damage {
    unsigned char *first;
    unsigned char *end;

    Damage(unsigned char *start, unsigned char value, unsigned int bytes)
        : first(static_cast<unsigned char *>(memchr_inv(start, value, bytes))), end(start + bytes)
    {
        while (first && end > first && end[-1] == value)
            end--;
    }
};

void restore_bytes(const struct kmem_cache *s, const char *what, unsigned char value,
                   const Damage &damage)
{
    slab_fix(s, "Restoring %s 0x%016lx-0x%016lx=0x%x", what, shown(damage.first),
             shown(damage.end - 1), value);
    memset_no_sanitize_memory(damage.first, value, bytes_between(damage.first, damage.end));
}

// One look at one object: it is shown once, however much of it is damaged.
struct Look {
    const struct kmem_cache *s;
    struct slab *slab;
    void *object;
    bool sound = true;

    void expect(const char *what, unsigned int offset, unsigned char value, unsigned int bytes)
    {
        expect_at(what, bytes_of(object) + offset, value, bytes);
    }

    void expect_at(const char *what, unsigned char *start, unsigned char value, unsigned int bytes)
    {
        const Damage damage(start, value, bytes);
        if (!damage.first)
            return;
        if (!slab_add_kunit_errors()) {
            pr_err("[%s overwritten] 0x%016lx-0x%016lx @offset=%lu. First byte 0x%x instead of 0x%x\n",
                   what, shown(damage.first), shown(damage.end - 1),
                   bytes_between(slab_address(slab), damage.first), *damage.first, value);
            if (sound)
                show_object_err(s, slab, object, "Object corrupt");
        }
        restore_bytes(s, what, value, damage);
        sound = false;
    }
};

void check_red_zones(Look &look, unsigned char red)
{
    const struct kmem_cache *s = look.s;

    look.expect_at("Left Redzone", bytes_of(look.object) - s->red_left_pad, red, s->red_left_pad);
    look.expect("Right Redzone", s->object_size, red, s->inuse - s->object_size);
    if (!slub_debug_orig_size(s) || red != SLUB_RED_ACTIVE)
        return;
    const unsigned int asked = get_orig_size(s, look.object);
    if (asked < s->object_size)
        look.expect("kmalloc Redzone", asked, red, s->object_size - asked);
}

void check_poison(Look &look, unsigned char red)
{
    const struct kmem_cache *s = look.s;

    if (red != SLUB_RED_ACTIVE && (s->flags & __OBJECT_POISON)) {
        if (s->object_size > 1)
            look.expect("Poison", 0, POISON_FREE, s->object_size - 1);
        look.expect("End Poison", s->object_size - 1, POISON_END, 1);
    }
    const unsigned int end = get_metadata_end(s);
    if (end != size_from_object(s))
        look.expect("Object padding", end, POISON_INUSE, size_from_object(s) - end);
}

// Drops a free list that leads nowhere: all objects count as used.
void clear_freelist(const struct kmem_cache *s, struct slab *slab)
{
    const SlabCounters counters = slab_counters(slab);

    slab_word_init(slab->word, {nullptr, counters.with_inuse(counters.objects())});
    slab_fix(s, "Freelist cleared");
}

// Where a walk along a free list ended.
enum class Walk { found, end, cleared };

// Counts along the list. A link out of the slab is cut off.
Walk walk_freelist(const struct kmem_cache *s, struct slab *slab, const void *search,
                   unsigned int *length)
{
    const FreelistCounters word = slab_word_read(slab->word);
    void *object = nullptr;
    void *next = word.freelist;

    for (*length = 0; next && *length <= word.counters.objects(); ++*length) {
        if (next == search)
            return Walk::found;
        if (!check_valid_pointer(s, slab, next)) {
            if (object) {
                object_err(s, slab, object, "Freechain corrupt");
                set_freepointer(s, object, nullptr);
                return Walk::end;
            }
            slab_err(s, slab, "Freepointer corrupt");
            clear_freelist(s, slab);
            return Walk::cleared;
        }
        object = next;
        next = get_freepointer(s, object);
    }
    if (*length <= word.counters.objects())
        return Walk::end;
    slab_err(s, slab, "Freelist cycle detected");
    clear_freelist(s, slab);
    return Walk::cleared;
}

// Sets the counts right for a free list of that length.
void check_counts(const struct kmem_cache *s, struct slab *slab, unsigned int length)
{
    FreelistCounters word = slab_word_read(slab->word);
    const unsigned int objects = max_objects_of(s, slab);

    if (word.counters.objects() != objects) {
        slab_err(s, slab, "Wrong number of objects. Found %u but should be %u",
                 word.counters.objects(), objects);
        word.counters = SlabCounters::of(word.counters.inuse(), objects);
        slab_word_init(slab->word, word);
        slab_fix(s, "Number of objects adjusted");
    }
    if (word.counters.inuse() != objects - length) {
        slab_err(s, slab, "Wrong object count. Counter is %u but counted were %u",
                 word.counters.inuse(), objects - length);
        word.counters = word.counters.with_inuse(objects - length);
        slab_word_init(slab->word, word);
        slab_fix(s, "Object count adjusted");
    }
}

} // namespace

void init_object(const struct kmem_cache *s, void *object, unsigned char red)
{
    unsigned char *p = bytes_of(object);
    unsigned int poisoned = s->object_size;

    if (s->flags & SLAB_RED_ZONE) {
        memset_no_sanitize_memory(p - s->red_left_pad, red, s->red_left_pad);
        // What was not asked for is red zone as well.
        if (slub_debug_orig_size(s) && red == SLUB_RED_ACTIVE)
            poisoned = get_orig_size(s, object);
    }
    if ((s->flags & __OBJECT_POISON) && poisoned) {
        memset_no_sanitize_memory(p, POISON_FREE, poisoned - 1);
        memset_no_sanitize_memory(p + poisoned - 1, POISON_END, 1);
    }
    if (s->flags & SLAB_RED_ZONE)
        memset_no_sanitize_memory(p + poisoned, red, s->inuse - poisoned);
}

void setup_object_debug(const struct kmem_cache *s, void *object)
{
    init_object(s, object, SLUB_RED_INACTIVE);
    init_tracking(s, object);
}

void setup_slab_debug(const struct kmem_cache *s, const struct slab *slab)
{
    if (kmem_cache_debug_flags(s, SLAB_POISON)) [[unlikely]]
        memset_no_sanitize_memory(slab_address(slab), POISON_INUSE, slab_bytes(slab));
}

bool check_valid_pointer(const struct kmem_cache *s, const struct slab *slab, const void *object)
{
    if (!object)
        return true;
    // Below the first object this wraps around and is too large.
    const unsigned long offset = bytes_between(fixup_red_left(s, slab_address(slab)), object);
    return offset < (unsigned long)slab_objects(slab) * s->size && offset % s->size == 0;
}

void slab_pad_check(const struct kmem_cache *s, struct slab *slab)
{
    unsigned char *start = bytes_of(slab_address(slab));
    const unsigned int bytes = slab_bytes(slab);
    const unsigned int rest = bytes % s->size;

    if (!(s->flags & SLAB_POISON) || !rest)
        return;
    const Damage damage(start + bytes - rest, POISON_INUSE, rest);
    if (!damage.first)
        return;
    // A test counts the repair only.
    if (!slab_in_kunit_test()) {
        slab_bug(s, "Padding overwritten. 0x%016lx-0x%016lx @offset=%lu", shown(damage.first),
                 shown(damage.end - 1), bytes_between(start, damage.first));
        print_section(KERN_ERR, "Padding ", start + bytes - rest, rest);
        __slab_err(slab);
    }
    restore_bytes(s, "slab padding", POISON_INUSE, damage);
}

bool check_object(const struct kmem_cache *s, struct slab *slab, void *object, unsigned char red)
{
    Look look = {s, slab, object};

    if (s->flags & SLAB_RED_ZONE)
        check_red_zones(look, red);
    else if ((s->flags & SLAB_POISON) && s->object_size < s->inuse)
        look.expect("Alignment padding", s->object_size, POISON_INUSE, s->inuse - s->object_size);
    if (s->flags & SLAB_POISON)
        check_poison(look, red);

    // A live object's link may be its user's bytes.
    const bool has_link = freeptr_outside_object(s) || red != SLUB_RED_ACTIVE;
    if (has_link && !check_valid_pointer(s, slab, get_freepointer(s, object))) {
        object_err(s, slab, object, "Freepointer corrupt");
        // The free objects behind it are lost, and the count is wrong now.
        set_freepointer(s, object, nullptr);
        return false;
    }
    return look.sound;
}

bool check_slab(const struct kmem_cache *s, struct slab *slab)
{
    const SlabCounters counters = slab_counters(slab);
    const unsigned int most = slab_bytes(slab) / s->size;

    if (counters.objects() > most) {
        slab_err(s, slab, "objects %u > max %u", counters.objects(), most);
        return false;
    }
    if (counters.inuse() > counters.objects()) {
        slab_err(s, slab, "inuse %u > max %u", counters.inuse(), counters.objects());
        return false;
    }
    if (counters.frozen()) {
        slab_err(s, slab, "Slab disabled since SLUB metadata consistency check failed");
        return false;
    }
    slab_pad_check(s, slab);
    return true;
}

bool on_freelist(const struct kmem_cache *s, struct slab *slab, const void *search)
{
    unsigned int length;

    switch (walk_freelist(s, slab, search, &length)) {
    case Walk::found:
        return true;
    case Walk::cleared:
        return false;
    case Walk::end:
        break;
    }
    check_counts(s, slab, length);
    return search == nullptr;
}

void check_free_slab(const struct kmem_cache *s, struct slab *slab)
{
    slab_pad_check(s, slab);
    for_each_object(s, slab, [&](void *object) {
        check_object(s, slab, object, SLUB_RED_INACTIVE);
        return true;
    });
}

} // namespace kmirror::slub
