// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: slab_debug= chooses caches and checks by the kernel's grammar, says which letters mean nothing,
// and leaves alone what is not to be debugged.

#include "slab/debug_test.h"

namespace kmirror::slab_test {
namespace {

constexpr slab_flags_t kDebug = kAllChecks | SLAB_TRACE | SLAB_FAILSLAB;

// Options for the caches that a test makes while they hold.
class Options {
public:
    explicit Options(const char *text) { EXPECT_EQ(kmirror_slab_debug(text), 0); }
    ~Options() { kmirror_slab_debug(debugging()); }
    Options(const Options &) = delete;
    Options &operator=(const Options &) = delete;
};

// What a cache of that name is made with.
slab_flags_t flags_of_cache(const char *name, slab_flags_t asked = 0, unsigned size = 64)
{
    kmem_cache *s = kmem_cache_create(name, size, nullptr, asked | SLAB_NO_MERGE);
    Geometry out;
    kmirror_slab_geometry(s, &out);
    kmem_cache_destroy(s);
    return out.flags & kDebug;
}

slab_flags_t flags_by(const char *options, const char *name, slab_flags_t asked = 0)
{
    const Options hold(options);
    return flags_of_cache(name, asked);
}

TEST(SlabDebugOptions, each_letter_in_either_case_is_one_check)
{
    const struct {
        const char *letter;
        slab_flags_t flags;
    } kLetters[] = {{"F", SLAB_CONSISTENCY_CHECKS}, {"z", SLAB_RED_ZONE}, {"Z", SLAB_RED_ZONE},
                    {"P", SLAB_POISON},             {"u", SLAB_STORE_USER}, {"T", SLAB_TRACE},
                    {"A", SLAB_FAILSLAB},           {"O", 0},               {"-", 0},
                    {"FZPU", kAllChecks},           {"fz-P", SLAB_POISON},  {"FZPU-", 0}};
    for (const auto &one : kLetters)
        EXPECT_EQ(flags_by(one.letter, "slab_debug_a"), one.flags) << one.letter;
}

TEST(SlabDebugOptions, no_letters_are_all_checks_and_nothing_at_all_is_none)
{
    EXPECT_EQ(flags_by("", "slab_debug_a"), kAllChecks);
    EXPECT_EQ(flags_by(",slab_debug_a", "slab_debug_a"), kAllChecks);
    EXPECT_EQ(flags_by(nullptr, "slab_debug_a"), 0u);
}

TEST(SlabDebugOptions, names_are_whole_or_end_in_a_star)
{
    EXPECT_EQ(flags_by("Z,slab_debug_a", "slab_debug_a"), SLAB_RED_ZONE);
    EXPECT_EQ(flags_by("Z,slab_debug_a", "slab_debug_ab"), 0u);
    EXPECT_EQ(flags_by("Z,slab_debug_ab", "slab_debug_a"), 0u);
    EXPECT_EQ(flags_by("Z,slab_debug_*", "slab_debug_ab"), SLAB_RED_ZONE);
    EXPECT_EQ(flags_by("Z,*", "slab_debug_ab"), SLAB_RED_ZONE);
    EXPECT_EQ(flags_by("Z,other,slab_debug_a,third", "slab_debug_a"), SLAB_RED_ZONE);
    EXPECT_EQ(flags_by("Z,", "slab_debug_a"), 0u);
}

TEST(SlabDebugOptions, the_first_block_that_names_a_cache_counts_and_one_without_names_is_for_the_others)
{
    EXPECT_EQ(flags_by("P,slab_debug_b;U,slab_debug_*", "slab_debug_b"), SLAB_POISON);
    EXPECT_EQ(flags_by("P,slab_debug_b;U,slab_debug_*", "slab_debug_c"), SLAB_STORE_USER);
    EXPECT_EQ(flags_by("P,slab_debug_b;U,slab_debug_*", "other"), 0u);
    EXPECT_EQ(flags_by("Z;;-,slab_debug_*;", "slab_debug_b"), 0u);
    EXPECT_EQ(flags_by("Z;;-,slab_debug_*;", "other"), SLAB_RED_ZONE);
    EXPECT_EQ(flags_by("Z;F", "other"), SLAB_CONSISTENCY_CHECKS) << "of several for all, the last";
    EXPECT_EQ(flags_by(";Z", "other"), SLAB_RED_ZONE);
}

TEST(SlabDebugOptions, a_letter_without_meaning_is_said_and_skipped)
{
    slab_flags_t flags = 0;
    const Said said = said_by(0, [&] { flags = flags_by("FxZ1", "slab_debug_a"); });
    EXPECT_EQ(flags, SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE);
    EXPECT_EQ(said.text, "slab_debug option 'x' unknown. skipped\nslab_debug option '1' unknown. skipped\n");
}

TEST(SlabDebugOptions, too_long_a_text_changes_nothing)
{
    const Options hold("Z");
    EXPECT_EQ(kmirror_slab_debug(std::string(1024, 'F').c_str()), -EINVAL);
    EXPECT_EQ(flags_of_cache("slab_debug_a"), SLAB_RED_ZONE);
}

TEST(SlabDebugOptions, what_a_cache_asked_for_stays)
{
    EXPECT_EQ(flags_by("P", "slab_debug_a", SLAB_RED_ZONE), SLAB_POISON | SLAB_RED_ZONE);
    EXPECT_EQ(flags_by("-", "slab_debug_a", SLAB_RED_ZONE), SLAB_RED_ZONE);
    EXPECT_EQ(flags_by("", "slab_debug_a", SLAB_NO_USER_FLAGS | SLAB_POISON), SLAB_POISON);
    EXPECT_EQ(flags_by("", "slab_debug_a", SLAB_NOLEAKTRACE), kAllChecks & ~SLAB_STORE_USER);
    EXPECT_EQ(flags_by("U,slab_debug_a", "slab_debug_a", SLAB_NOLEAKTRACE), SLAB_STORE_USER);
}

// 4096 bytes fill a page: whatever is added needs a larger slab.
TEST(SlabDebugOptions, letter_o_spares_caches_whose_slabs_would_grow)
{
    const Options hold("FZPUO");
    EXPECT_EQ(flags_of_cache("slab_debug_large", 0, 4096), SLAB_CONSISTENCY_CHECKS);
    EXPECT_EQ(flags_of_cache("slab_debug_small", 0, 64), kAllChecks);
}

TEST(SlabDebugOptions, debugged_caches_are_not_merged)
{
    kmem_cache *plain = kmem_cache_create("slab_debug_plain", 64, nullptr, 0);
    const Options hold("Z,slab_debug_watched");
    kmem_cache *watched = kmem_cache_create("slab_debug_watched", 64, nullptr, 0);
    EXPECT_NE(plain, watched);
    kmem_cache_destroy(watched);
    kmem_cache_destroy(plain);
}

void expect_class_flags(size_t bytes, slab_flags_t flags)
{
    Geometry out;
    void *object = kmalloc(bytes, GFP_KERNEL);
    kmirror_slab_geometry(kmirror_slab_cache_of(object), &out);
    EXPECT_EQ(out.flags & kDebug, flags) << out.name;
    kfree(object);
}

KMIRROR_TEST_IN(SlabDebugOptions, the_environment_reaches_the_size_classes,
                "KMIRROR_SLAB_DEBUG=FZ,kmalloc-64,kmalloc-1*;P,kmem_cache_node;U,maple_node")
{
    expect_class_flags(64, SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE);
    expect_class_flags(100, SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE);
    expect_class_flags(1000, SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE);
    expect_class_flags(256, 0);
}

KMIRROR_TEST_IN(SlabDebugOptions, the_kernels_spelling_is_understood, "KMIRROR_SLAB_DEBUG=slab_debug=ZU")
{
    expect_class_flags(64, SLAB_RED_ZONE | SLAB_STORE_USER);
}

KMIRROR_TEST_IN(SlabDebugOptions, the_bare_word_is_all_checks, "KMIRROR_SLAB_DEBUG=slub_debug")
{
    expect_class_flags(64, kAllChecks);
}

} // namespace
} // namespace kmirror::slab_test
