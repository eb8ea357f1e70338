// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: validation finds every kind of damage to an object and what surrounds it, reports it in the
// kernel's words, counts one for the finding and one for the repair, and has repaired it.

#include "slab/debug_test.h"

namespace kmirror::slab_test {
namespace {

// Where a byte is spoilt, and what is said then.
struct Damage {
    const char *what;
    slab_flags_t flags;
    unsigned size;
    bool live;
    long (*place)(const Geometry &geometry);   // bytes from the object
    unsigned char sound;                                    // what was there
};

long left(const Geometry &) { return -1; }
long first_of_left(const Geometry &g) { return -long(g.red_left_pad); }
long first(const Geometry &) { return 0; }
long fiftieth(const Geometry &) { return 50; }
long last(const Geometry &g) { return long(g.object_size) - 1; }
long behind(const Geometry &g) { return long(g.object_size); }
long before_inuse(const Geometry &g) { return long(g.inuse) - 1; }
long end_of_gap(const Geometry &g) { return long(g.size - g.red_left_pad) - 1; }

const Damage kDamages[] = {
    {"Left Redzone", SLAB_RED_ZONE, 64, true, left, SLUB_RED_ACTIVE},
    {"Left Redzone", SLAB_RED_ZONE, 64, true, first_of_left, SLUB_RED_ACTIVE},
    {"Left Redzone", SLAB_RED_ZONE | SLAB_STORE_USER, 24, false, left, SLUB_RED_INACTIVE},
    {"Right Redzone", SLAB_RED_ZONE, 64, true, behind, SLUB_RED_ACTIVE},
    {"Right Redzone", SLAB_RED_ZONE, 61, true, before_inuse, SLUB_RED_ACTIVE},
    {"Right Redzone", SLAB_RED_ZONE, 64, false, behind, SLUB_RED_INACTIVE},
    {"Right Redzone", kAllChecks, 8, false, behind, SLUB_RED_INACTIVE},
    {"Poison", SLAB_POISON, 64, false, first, POISON_FREE},
    {"Poison", SLAB_POISON, 64, false, fiftieth, POISON_FREE},
    {"End Poison", SLAB_POISON, 64, false, last, POISON_END},
    {"End Poison", kAllChecks, 1, false, first, POISON_END},
    {"Alignment padding", SLAB_POISON, 60, true, behind, POISON_INUSE},
    {"Alignment padding", SLAB_POISON, 60, false, before_inuse, POISON_INUSE},
    {"Object padding", SLAB_POISON | SLAB_RED_ZONE, 64, true, end_of_gap, POISON_INUSE},
    {"Object padding", kAllChecks, 64, false, end_of_gap, POISON_INUSE},
};

void expect_found_and_repaired(const Damage &damage)
{
    DebugCache cache(damage.flags, damage.size);
    const long place = damage.place(cache.geometry());
    SCOPED_TRACE(std::string(damage.what) + " size " + std::to_string(damage.size) + " at " +
                 std::to_string(place) + (damage.live ? " live" : " free"));
    void *object = damage.live ? cache.alloc() : cache.freed();
    EXPECT_EQ(errors_of_validation(cache), 0u);
    EXPECT_EQ(peek(object, place), damage.sound);

    poke(object, place, 0x12);
    const Said said = said_by_validation(cache, 1);
    EXPECT_EQ(said.errors, 2u) << said.text;
    char found[160];
    const unsigned long at = address_of(object, place);
    std::snprintf(found, sizeof found,
                  "[%s overwritten] 0x%016lx-0x%016lx @offset=%lu. First byte 0x12 instead of 0x%x\n",
                  damage.what, at, at, at - address_of(slub::slab_address(slab_of(object))), damage.sound);
    EXPECT_SAID(said, found);
    EXPECT_SAID(said, "BUG slab_debug_test (");
    EXPECT_SAID(said, "): Object corrupt\n");
    EXPECT_SAID(said, std::string("FIX slab_debug_test: Restoring ") + damage.what + " 0x");

    EXPECT_EQ(peek(object, place), damage.sound) << "it is repaired";
    EXPECT_EQ(errors_of_validation(cache), 0u);
    if (damage.live)
        cache.free(object);
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

TEST(SlabDebugCorruption, every_kind_is_found_reported_counted_and_repaired)
{
    for (const Damage &damage : kDamages)
        expect_found_and_repaired(damage);
}

TEST(SlabDebugCorruption, an_object_is_shown_once_however_much_of_it_is_damaged)
{
    DebugCache cache(kAllChecks);
    void *object = cache.freed();
    poke(object, -1, 1);
    poke(object, 3, 2);
    poke(object, 7, 3);
    poke(object, 64, 4);
    const Said said = said_by_validation(cache, 1);
    EXPECT_EQ(said.count("Object corrupt"), 1u);
    EXPECT_SAID(said, "[Left Redzone overwritten]");
    EXPECT_SAID(said, "[Right Redzone overwritten]");
    EXPECT_SAID(said, "[Poison overwritten]");
    // From the first damaged byte to the last, in one repair.
    char range[80];
    std::snprintf(range, sizeof range, "Restoring Poison 0x%016lx-0x%016lx=0x6b", address_of(object, 3),
                  address_of(object, 7));
    EXPECT_SAID(said, range);
    EXPECT_EQ(said.errors, 6u);
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

TEST(SlabDebugCorruption, a_report_shows_the_object_and_what_surrounds_it)
{
    DebugCache cache(kAllChecks, 24);
    void *object = cache.alloc();
    fill(object, 'A', 24);
    poke(object, 24, 0);
    const Said said = said_by_validation(cache, 1);
    EXPECT_SAID(said, "\n-----------------------------------------------------------------------------\n\n");
    EXPECT_SAID(said, "Allocated in ");
    EXPECT_SAID(said, "\nSlab 0x");
    EXPECT_SAID(said, " objects=" + std::to_string(cache.geometry().objects) + " used=1 fp=0x");
    char line[160];
    const unsigned long at = address_of(object);
    const std::string blanks(26, ' ');
    std::snprintf(line, sizeof line, "\nObject 0x%016lx @offset=%u fp=0x", at, cache.geometry().red_left_pad);
    EXPECT_SAID(said, line);
    std::snprintf(line, sizeof line, "\nRedzone  %016lx: cc cc cc cc cc cc cc cc%s........\n", at - 8,
                  blanks.c_str());
    EXPECT_SAID(said, line);
    std::snprintf(line, sizeof line, "\nObject   %016lx: 41 41 41 41 41 41 41 41%s AAAAAAAAAAAAAAAA\n", at,
                  " 41 41 41 41 41 41 41 41 ");
    EXPECT_SAID(said, line);
    std::snprintf(line, sizeof line, "\nRedzone  %016lx: 00 cc cc cc cc cc cc cc%s........\n", at + 24,
                  blanks.c_str());
    EXPECT_SAID(said, line);
    EXPECT_SAID(said, "\nPadding  ");
    EXPECT_SAID(said, ": 5a 5a 5a 5a 5a 5a 5a 5a" + blanks + "ZZZZZZZZ\n");
    cache.free(object);
}

// The link of a free object is cut off where it leads out of the slab.
TEST(SlabDebugCorruption, a_link_out_of_the_slab_costs_three_errors_and_its_restoration_two)
{
    DebugCache cache(SLAB_POISON);
    void *object = cache.freed();
    auto *link = static_cast<unsigned char *>(object) + cache.geometry().freeptr_offset;
    unsigned char kept[8];
    for (int i = 0; i < 8; i++)
        kept[i] = peek(link, i);
    poke(link, 0, static_cast<unsigned char>(~kept[0]));

    const Said said = said_by_validation(cache, 2);
    EXPECT_SAID(said, "): Freechain corrupt\n");
    EXPECT_SAID(said, "): Wrong object count. Counter is 0 but counted were " +
                          std::to_string(cache.geometry().objects - 1) + "\n");
    EXPECT_SAID(said, "FIX slab_debug_test: Object count adjusted\n");
    EXPECT_EQ(said.errors, 3u);
    EXPECT_EQ(errors_of_validation(cache), 0u);

    for (int i = 0; i < 8; i++)
        poke(link, i, kept[i]);
    EXPECT_EQ(said_by_validation(cache, 1).errors, 2u);
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

// The link of a live object lies behind it and is looked at as well.
TEST(SlabDebugCorruption, the_link_of_a_live_object_is_zapped)
{
    DebugCache cache(SLAB_POISON | SLAB_STORE_USER);
    void *object = cache.alloc();
    poke(object, cache.geometry().freeptr_offset + 1, 0x77);
    const Said said = said_by_validation(cache, 1);
    EXPECT_SAID(said, "): Freepointer corrupt\n");
    EXPECT_EQ(said.errors, 1u);
    EXPECT_TRUE(all_are(object, cache.geometry().freeptr_offset, cache.geometry().freeptr_offset + 8, 0));
    EXPECT_EQ(errors_of_validation(cache), 0u);
    cache.free(object);
}

TEST(SlabDebugCorruption, a_freed_object_that_was_written_to_is_found_in_full_slabs_too)
{
    DebugCache cache(kAllChecks, 256);
    std::vector<void *> objects;
    for (unsigned i = 0; i < cache.geometry().objects; i++)
        objects.push_back(cache.alloc());
    poke(objects.back(), 256, 1);
    const Said said = said_by_validation(cache, 1);
    EXPECT_SAID(said, "[Right Redzone overwritten]");
    EXPECT_EQ(cache.validate(), 1) << "full slabs are listed";
    for (void *object : objects)
        cache.free(object);
}

TEST(SlabDebugCorruption, the_rest_of_a_slab_behind_its_last_object_is_watched)
{
    DebugCache cache(SLAB_POISON, 168);
    const Geometry geometry = cache.geometry();
    const long slab_bytes = long(PAGE_SIZE) << geometry.order;
    ASSERT_GT(slab_bytes % geometry.size, 0);
    void *object = cache.freed();
    void *start = slub::slab_address(slab_of(object));
    EXPECT_TRUE(all_are(start, slab_bytes - slab_bytes % geometry.size, slab_bytes, POISON_INUSE));
    poke(start, slab_bytes - 1, 0);
    const Said said = said_by_validation(cache, 1);
    char found[160];
    std::snprintf(found, sizeof found, "): Padding overwritten. 0x%016lx-0x%016lx @offset=%lu\n",
                  address_of(start, slab_bytes - 1), address_of(start, slab_bytes - 1), slab_bytes - 1);
    EXPECT_SAID(said, found);
    EXPECT_SAID(said, "FIX slab_debug_test: Restoring slab padding 0x");
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

// ---- what a slab says of itself

slab *spoil(void *object, slub::FreelistCounters value)
{
    slab *slab = slab_of(object);
    slub::slab_word_init(*slab, value);
    return slab;
}

TEST(SlabDebugCorruption, wrong_counts_of_a_slab_are_set_right)
{
    DebugCache cache(SLAB_POISON);
    void *object = cache.freed();
    const slub::FreelistCounters sound = slub::slab_word_read(*slab_of(object));
    const unsigned objects = cache.geometry().objects;

    spoil(object, {sound.freelist, sound.counters.with_inuse(3)});
    Said said = said_by_validation(cache, 1);
    EXPECT_SAID(said, "): Wrong object count. Counter is 3 but counted were 0\n");
    EXPECT_EQ(said.errors, 2u);

    // The last object is none then, and is cut off; afterwards it counts as used.
    void *last = object, *before_last = nullptr;
    while (void *next = slub::get_freepointer(cache, last)) {
        before_last = last;
        last = next;
    }
    spoil(object, {sound.freelist, slub::SlabCounters::of(0, objects - 1)});
    said = said_by_validation(cache, 3);
    EXPECT_SAID(said, "): Wrong number of objects. Found " + std::to_string(objects - 1) + " but should be " +
                          std::to_string(objects) + "\n");
    EXPECT_SAID(said, "FIX slab_debug_test: Number of objects adjusted\n");
    EXPECT_EQ(said.errors, 5u);
    EXPECT_EQ(slub::slab_objects(slab_of(object)), objects);
    EXPECT_EQ(slub::slab_counters(slab_of(object)).inuse(), 1u);
    spoil(object, sound);
    slub::set_freepointer(cache, before_last, last);
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

// A slab whose free list was dropped is full: nobody takes an object of it (where 7.3 follows NULL), and shrink
// passes it by (where 7.3 ends in a BUG). The next object that is freed brings it back.
void expect_dropped(const char *complaint, void (*break_list)(DebugCache &cache, void *object))
{
    DebugCache cache(SLAB_POISON);
    void *held = kmem_cache_alloc(cache, GFP_KERNEL), *object = cache.freed();
    const slub::FreelistCounters sound = slub::slab_word_read(*slab_of(object));
    void *next = slub::get_freepointer(cache, object), *after = slub::get_freepointer(cache, next);
    ASSERT_EQ(slab_of(held), slab_of(object));

    break_list(cache, object);
    const Said said = said_by_validation(cache, 1);
    EXPECT_SAID(said, complaint);
    EXPECT_SAID(said, "FIX slab_debug_test: Freelist cleared\n");
    EXPECT_EQ(slub::slab_counters(slab_of(object)).free(), 0u);
    EXPECT_NE(kmem_cache_shrink(cache), 0);
    void *elsewhere = kmem_cache_alloc(cache, GFP_KERNEL);
    EXPECT_NE(slab_of(elsewhere), slab_of(object));
    EXPECT_EQ(errors_of_validation(cache), 0u);
    kmem_cache_free(cache, elsewhere);
    kmem_cache_free(cache, held);
    EXPECT_EQ(slub::slab_counters(slab_of(object)).free(), 1u);

    slub::set_freepointer(cache, next, after);
    slub::set_freepointer(cache, held, object);
    spoil(object, {held, sound.counters.with_inuse(sound.counters.inuse() - 1)});
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

TEST(SlabDebugCorruption, a_free_list_that_leads_nowhere_is_dropped)
{
    expect_dropped("): Freepointer corrupt\n", [](DebugCache &, void *object) {
        spoil(object, {static_cast<char *>(object) + 1, slub::slab_counters(slab_of(object))});
    });
}

TEST(SlabDebugCorruption, a_free_list_that_goes_in_a_circle_is_dropped)
{
    expect_dropped("): Freelist cycle detected\n", [](DebugCache &cache, void *object) {
        slub::set_freepointer(cache, slub::get_freepointer(cache, object), object);
    });
}

TEST(SlabDebugCorruption, impossible_counts_and_foreign_pages_are_reported)
{
    DebugCache cache(SLAB_POISON);
    void *object = cache.freed();
    slab *slab = slab_of(object);
    const slub::FreelistCounters sound = slub::slab_word_read(*slab);
    const unsigned objects = cache.geometry().objects;

    spoil(object, {sound.freelist, slub::SlabCounters::of(0, objects + 1)});
    EXPECT_SAID(said_by_validation(cache, 1),
                "): objects " + std::to_string(objects + 1) + " > max " + std::to_string(objects) + "\n");
    spoil(object, {sound.freelist, sound.counters.with_inuse(objects + 2)});
    EXPECT_SAID(said_by_validation(cache, 1),
                "): inuse " + std::to_string(objects + 2) + " > max " + std::to_string(objects) + "\n");
    spoil(object, sound);
    const unsigned type = slab->page_type;
    slab->page_type = ~0u;
    EXPECT_SAID(said_by_validation(cache, 1), "): Not a valid slab page\n");
    slab->page_type = type;
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

// ---- the kernel's own figures, while a test counts

TEST(SlabDebugCorruption, a_thread_that_counts_errors_hears_no_report)
{
    DebugCache cache(kAllChecks);
    void *object = cache.alloc();
    int errors = 0;
    const Said said = said_by(0, [&] {
        int *before = kmirror_slab_errors_into(&errors);
        poke(object, 64, 1);
        cache.validate();
        EXPECT_EQ(kmirror_slab_errors_into(before), &errors);
    });
    EXPECT_EQ(errors, 2);
    EXPECT_EQ(said.text, "");
    cache.free(object);
}

// Objects so small that link and red zone have to share a word: every byte may be used, none behind it.
void expect_tiny_objects_have_whole_red_zones(slab_flags_t flags, void (*ctor)(void *))
{
    for (unsigned size = 1; size <= 16; size++) {
        SCOPED_TRACE("size " + std::to_string(size) + " flags " + std::to_string(flags));
        kmem_cache_args args{};
        args.ctor = ctor;
        DebugCache cache(flags, size, args);
        void *object = cache.alloc();
        fill(object, 0xee, size);
        if (!ctor) {
            cache.free(object);
            EXPECT_EQ(errors_of_validation(cache), 0u);
            object = cache.alloc();
        }
        poke(object, size, 0x11);
        EXPECT_EQ(said_by_validation(cache, 1).errors, 2u);
        cache.free(object);
        EXPECT_EQ(errors_of_validation(cache), 0u);
    }
}

TEST(SlabDebugCorruption, tiny_objects_have_whole_red_zones)
{
    expect_tiny_objects_have_whole_red_zones(SLAB_RED_ZONE, nullptr);
    expect_tiny_objects_have_whole_red_zones(SLAB_RED_ZONE | SLAB_POISON, nullptr);
    expect_tiny_objects_have_whole_red_zones(kAllChecks, nullptr);
    expect_tiny_objects_have_whole_red_zones(SLAB_RED_ZONE, [](void *) {});
}

} // namespace
} // namespace kmirror::slab_test
