/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words of the kernel's C that this library's headers do not have: attributes, checked arithmetic, automatic
 * clean-up, 128-bit compare and exchange.
 */
#ifndef KDIR_SHIM_LANGUAGE_H
#define KDIR_SHIM_LANGUAGE_H

#include "tools/kdir/slub/shim/layout.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- attributes and marks ---------------------------------------------------------------------------------- */

#define __realloc_size(...)
#define __alloc_size__(...)
#define __cleanup(function) __attribute__((__cleanup__(function)))
#define __ro_after_init
#define __bpf_kfunc
#define __bpf_kfunc_start_defs() extern int kdir_no_kfuncs
#define __bpf_kfunc_end_defs() extern int kdir_no_kfuncs
#define __no_kmsan_checks
#define __read_mostly
#define static_assert _Static_assert
#define __is_defined(option) KM_OPT_IS_ONE(option)

#define _RET_IP_ ((unsigned long)__builtin_return_address(0))
#define _THIS_IP_ ({ __label__ kdir_here; kdir_here: (unsigned long)&&kdir_here; })
#undef BUILD_BUG_ON_MSG
#define BUILD_BUG_ON_MSG(condition, text) BUG_ON(condition)

#ifndef KDIR_OWN_FREEPTR
typedef struct {
    unsigned long v;
} freeptr_t;
#endif

/* ---- switches and parameters ------------------------------------------------------------------------------- */

#define static_branch_maybe(option, switch_) static_branch_unlikely(switch_)
#define DEFINE_STATIC_KEY_MAYBE(option, name) KDIR_KEY_MAYBE(option, name)
#define KDIR_KEY_MAYBE(option, name) struct static_key_false name
#define DECLARE_STATIC_KEY_MAYBE(option, name) extern struct static_key_false name

DECLARE_STATIC_KEY_FALSE(init_on_alloc);
DECLARE_STATIC_KEY_FALSE(init_on_free);

static inline bool want_init_on_alloc(gfp_t gfp)
{
    return static_branch_unlikely(&init_on_alloc) || gfp & KDIR_GFP_ZERO;
}

/* A parameter of the kernel's command line: runtime.c finds it in its section by its name. */
struct kernel_param;
struct kernel_param_ops {
    unsigned int flags;
    int (*set)(const char *text, const struct kernel_param *parameter);
};
#define KERNEL_PARAM_OPS_FL_NOARG 1
struct kdir_parameter {
    const char *name;
    int (*set)(const char *text, const struct kernel_param *parameter); /* or */
    int (*setup)(char *text);                                           /* or */
    unsigned int *number;
};
#define KDIR_PARAMETER(name, ...)                                                               \
    static const struct kdir_parameter kdir_parameter_##name                                    \
        __attribute__((used, section("kdir_params"), aligned(8))) = {#name, __VA_ARGS__}
#define __core_param_cb(name, operations, argument, permissions) KDIR_PARAMETER(name, .set = KDIR_SET_OF_##name)
#define core_param(name, variable, type, permissions) KDIR_PARAMETER(name, .number = &variable)
#define KDIR_SET_OF_slab_debug setup_slub_debug
#define KDIR_SET_OF_slub_debug setup_slub_debug
#define KDIR_SET_OF_slab_min_order setup_slub_min_order
#define KDIR_SET_OF_slub_min_order setup_slub_min_order
#define KDIR_SET_OF_slab_max_order setup_slub_max_order
#define KDIR_SET_OF_slub_max_order setup_slub_max_order
#define KDIR_SET_OF_slab_strict_numa setup_slab_strict_numa
#define __setup_param(text, id, function, early) \
    static const struct kdir_parameter kdir_parameter_##id                                      \
        __attribute__((used, section("kdir_params"), aligned(8))) = {(text), .setup = (function)}
#define __setup(text, function) __setup_param(text, function, function, 0)

/* ---- messages ---------------------------------------------------------------------------------------------- */

/* printk() knows %pV and %pS here, and prints other kinds of pointers as such. */
struct va_format {
    const char *fmt;
    va_list *va;
};
int kdir_vformat(char *text, size_t room, const char *format, va_list values);
int kdir_printk(const char *format, ...);
#define printk(...) kdir_printk(__VA_ARGS__)
#undef WARN
#define WARN(condition, ...)                                                                    \
    __extension__({                                                                             \
        const bool kdir_hit = !!(condition);                                                    \
        if (unlikely(kdir_hit)) {                                                               \
            kdir_printk(KERN_WARNING __VA_ARGS__);                                              \
            kmirror_warn(__FILE__, __LINE__, __func__, NULL);                                   \
        }                                                                                       \
        unlikely(kdir_hit);                                                                     \
    })
#define print_tainted() "Not tainted"
#define VM_WARN_ON_ONCE(condition) WARN_ON_ONCE(condition)
#define VM_BUG_ON(condition) BUG_ON(condition)
#define dump_page(page, why) kdir_printk(KERN_WARNING "page %p: %s\n", (void *)(page), (why))
/* Every message of the kind is said. */
#define DEFINE_RATELIMIT_STATE(name, interval, burst) int name = 1
#define __ratelimit(state) (*(state))
#define DEFAULT_RATELIMIT_INTERVAL 0
#define DEFAULT_RATELIMIT_BURST 0

/* ---- arithmetic -------------------------------------------------------------------------------------------- */

#define check_mul_overflow(a, b, product) __builtin_mul_overflow((a), (b), (product))

static inline size_t size_mul(size_t a, size_t b)
{
    size_t product;

    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

static inline size_t size_add(size_t a, size_t b)
{
    size_t sum;

    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

#define flex_array_size(pointer, member, count) size_mul((count), sizeof((pointer)->member[0]))
#define struct_size(pointer, member, count) size_add(sizeof(*(pointer)), flex_array_size(pointer, member, count))
#define struct_size_t(type, member, count) struct_size((type *)NULL, member, count)

/* A division by a number that stays the same; the machine divides fast enough. */
struct reciprocal_value {
    u32 divisor;
};

static inline struct reciprocal_value reciprocal_value(u32 divisor)
{
    return (struct reciprocal_value){divisor};
}

static inline u32 reciprocal_divide(u32 number, struct reciprocal_value by)
{
    return number / by.divisor;
}

#define mult_frac(number, times, over) ((number) / (over) * (times) + (number) % (over) * (times) / (over))
#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define swab(word) __builtin_bswap64(word)

/* ---- clean-up at the end of a scope: nobody here asks for any but guard(preempt)() ---------------------------- */

#define DEFINE_FREE(name, type, action)                       \
    static inline void kdir_free_##name(void *place)          \
    {                                                         \
        type _T = *(type *)place;                             \
        action;                                               \
    }

static inline void kdir_guard_end(int *held)
{
    (void)held;
    preempt_enable();
}
#define guard(kind) kdir_guard_##kind
#define kdir_guard_preempt() int kdir_guarded __cleanup(kdir_guard_end) __maybe_unused = (preempt_disable(), 1)

/* ---- 128 bits ---------------------------------------------------------------------------------------------- */

typedef __uint128_t u128;

/* *old is what was found when it was not what was there. gcc calls libatomic for the __atomic one, not for this. */
static __always_inline bool kdir_try_cmpxchg128(volatile u128 *word, u128 *old, u128 fresh)
{
    const u128 expected = *old;
    const u128 found = __sync_val_compare_and_swap(word, expected, fresh);

    *old = found;
    return found == expected;
}

#define system_has_cmpxchg128() 1
#define try_cmpxchg128(word, old, fresh) kdir_try_cmpxchg128((word), (old), (fresh))

/* ---- memory and characters --------------------------------------------------------------------------------- */

/* Bitmaps of as many longs as a number of bits takes. */
unsigned long *bitmap_alloc(unsigned int bits, gfp_t gfp);
unsigned long *bitmap_zalloc(unsigned int bits, gfp_t gfp);
void bitmap_free(const unsigned long *words);

static inline void bitmap_zero(unsigned long *words, unsigned int bits)
{
    memset(words, 0, BITS_TO_LONGS(bits) * sizeof(long));
}

#define memset_no_sanitize_memory(start, value, bytes) memset((start), (value), (bytes))
char *strnchr(const char *text, size_t most, int wanted);
char *strchrnul(const char *text, int wanted);
void *memchr_inv(const void *start, int value, size_t bytes);
void sort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *),
          void (*swap)(void *, void *, int));
void sort_r(void *base, size_t count, size_t size, int (*compare)(const void *, const void *, const void *),
            void *swap, const void *context);

char *kstrdup_const(const char *text, gfp_t gfp);
char *kstrdup(const char *text, gfp_t gfp);
void kfree_const(const void *text);
char *kasprintf(gfp_t gfp, const char *format, ...);
int kstrtouint(const char *text, unsigned int base, unsigned int *result);
int kstrtoint(const char *text, unsigned int base, int *result);
/* One number in front; *text moves behind it. 0: there is none. */
int get_option(char **text, int *number);
int kstrtoul(const char *text, unsigned int base, unsigned long *result);

#include <ctype.h>

#define strscpy(to, from, ...) kdir_strscpy((to), (from), sizeof(to))
ssize_t kdir_strscpy(char *to, const char *from, size_t room);

#endif /* KDIR_SHIM_LANGUAGE_H */
