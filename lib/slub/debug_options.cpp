// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/debug_options.cpp: slab_debug=, the words that say which caches are watched, and how.
//
//   options := block { ';' block }
//   block   := letters [ ',' name { ',' name } ]     letters: F Z P U T A O -, any case
//   name    := a cache's name, or its beginning and '*'
//
// A block without names is for all caches; of several, the last. Blocks with names come first,
// in their order; a cache no block names gets what is for all. Blocks with names only leave
// all others as they are. No letters: F, Z, P and U.
//
// Owns     the options.
// Bounds   KMIRROR_SLAB_DEBUG, or what a program has set, up to kTextMax characters.
// Locking  written before the first cache is made, or by kmirror_slab_debug(), which is for
//          the only thread that makes caches.
// Fails    a letter that means nothing is said in the log and skipped, as in the kernel.
#include <linux/errno.h>
#include <linux/string.h>
#include <kmirror/slab_info.h>

#include "lib/kernel/setting.h"
#include "lib/slub/debug.h"
#include "lib/slub/switches.h"

namespace kmirror::slub {

namespace {

constexpr slab_flags_t DEBUG_DEFAULT_FLAGS =
    SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER;
constexpr unsigned int kTextMax = 1023;

struct Options {
    slab_flags_t all;           // for caches no block names
    bool no_higher_order;       // letter O
    bool has_blocks;            // `text` has a block with names
    char text[kTextMax + 1];
};

Options options;
bool options_set; // by a program, or read from the environment

// One block: what it asks for, and where its names begin, or NULL.
struct Block {
    slab_flags_t flags;
    bool no_higher_order;
    const char *names;
};

char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

bool is_end_of(const char *at, char separator)
{
    return !*at || *at == separator;
}

const char *skip(const char *at, char letter)
{
    while (*at == letter)
        at++;
    return at;
}

void apply_letter(Block *block, char letter, bool say)
{
    switch (lower(letter)) {
    case '-':
        block->flags = 0;
        return;
    case 'f':
        block->flags |= SLAB_CONSISTENCY_CHECKS;
        return;
    case 'z':
        block->flags |= SLAB_RED_ZONE;
        return;
    case 'p':
        block->flags |= SLAB_POISON;
        return;
    case 'u':
        block->flags |= SLAB_STORE_USER;
        return;
    case 't':
        block->flags |= SLAB_TRACE;
        return;
    case 'a':
        block->flags |= SLAB_FAILSLAB;
        return;
    case 'o':
        block->no_higher_order = true;
        return;
    default:
        if (say)
            pr_err("slab_debug option '%c' unknown. skipped\n", letter);
    }
}

// Reads the block at `at`; returns the next one, or NULL behind the last.
const char *parse_block(const char *at, Block *block, bool say)
{
    *block = {0, false, nullptr};
    at = skip(at, ';');
    if (*at == ',')
        block->flags = DEBUG_DEFAULT_FLAGS;
    for (; !is_end_of(at, ';') && *at != ','; at++)
        apply_letter(block, *at, say);
    if (*at == ',')
        block->names = at + 1;
    while (!is_end_of(at, ';'))
        at++;
    at = skip(at, ';');
    return *at ? at : nullptr;
}

// Is `name` what stands from `at` to `end`, a whole name or a beginning and '*'?
bool matches(const char *name, const char *at, const char *end)
{
    for (; at < end; at++, name++) {
        if (*at == '*')
            return true;
        if (*at != *name)
            return false;
    }
    return !*name;
}

bool block_names(const Block &block, const char *name)
{
    for (const char *at = block.names; at;) {
        const char *end = at;
        while (!is_end_of(end, ',') && *end != ';')
            end++;
        if (matches(name, at, end))
            return true;
        at = *end == ',' ? end + 1 : nullptr;
    }
    return false;
}

// `text` as the kernel reads slab_debug=; NULL: debugging off.
void set_options(const char *text)
{
    memset(&options, 0, sizeof(options));
    if (!text)
        return;
    memcpy(options.text, text, strlen(text) + 1);
    if (!*text)
        options.all = DEBUG_DEFAULT_FLAGS;
    for (const char *at = *text ? options.text : nullptr; at;) {
        Block block;
        at = parse_block(at, &block, true);
        options.no_higher_order |= block.no_higher_order;
        options.has_blocks |= block.names != nullptr;
        if (!block.names)
            options.all = block.flags;
    }
    if ((options.all & SLAB_POISON) &&
        (switch_on(KMIRROR_SLAB_INIT_ON_ALLOC) || switch_on(KMIRROR_SLAB_INIT_ON_FREE)))
        pr_info("mem auto-init: SLAB_POISON will take precedence over init_on_alloc/init_on_free\n");
}

// The variable may hold the kernel's parameter with its name; the name alone means all checks.
const char *without_name(const char *text)
{
    static constexpr const char *kNames[] = {"slab_debug", "slub_debug"};

    for (const char *name : kNames) {
        const char *at = text;
        while (*name && *at == *name)
            at++, name++;
        if (!*name && (!*at || *at == '='))
            return *at ? at + 1 : at;
    }
    return text;
}

} // namespace

void slab_debug_init()
{
    if (options_set)
        return;
    options_set = true;
    if (const char *text = kernel::setting_text("KMIRROR_SLAB_DEBUG", kTextMax))
        set_options(without_name(text));
}

slab_flags_t kmem_cache_flags(slab_flags_t flags, const char *name)
{
    slab_flags_t for_all = options.all;

    if (flags & SLAB_NO_USER_FLAGS)
        return flags;
    // Who looks for leaks with it would find himself in every stack.
    if (flags & SLAB_NOLEAKTRACE)
        for_all &= ~SLAB_STORE_USER;
    for (const char *at = options.has_blocks ? options.text : nullptr; at;) {
        Block block;
        at = parse_block(at, &block, false);
        if (block.names && block_names(block, name))
            return flags | block.flags;
    }
    return flags | for_all;
}

bool higher_order_debug_disabled()
{
    return options.no_higher_order;
}

} // namespace kmirror::slub

using namespace kmirror::slub;

int kmirror_slab_debug(const char *text)
{
    if (text && strlen(text) > kTextMax)
        return -EINVAL;
    options_set = true;
    switches_init();
    set_options(text);
    return 0;
}
