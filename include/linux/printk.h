/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/printk.h>: messages with a level in front.
 *
 * KERN_WARNING and worse go to stderr, the rest (and text without a level, as the
 * kernel's tests print it) to stdout. KMIRROR_LOGLEVEL=n keeps only levels below n
 * (default 7: no debug output). Each call is written in one piece.
 *
 * Context: any, also with spinlocks held. Never fails in a way the caller sees.
 */
#ifndef _LINUX_PRINTK_H
#define _LINUX_PRINTK_H

#include <linux/kconfig.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KERN_SOH        "\001"
#define KERN_EMERG      KERN_SOH "0"
#define KERN_ALERT      KERN_SOH "1"
#define KERN_CRIT       KERN_SOH "2"
#define KERN_ERR        KERN_SOH "3"
#define KERN_WARNING    KERN_SOH "4"
#define KERN_NOTICE     KERN_SOH "5"
#define KERN_INFO       KERN_SOH "6"
#define KERN_DEBUG      KERN_SOH "7"
#define KERN_DEFAULT    ""
/* Goes where this thread's last message went, or nowhere if that one was dropped. */
#define KERN_CONT       KERN_SOH "c"

/*
 * printf with a level. "%px" and "%pK" print like "%p". Returns the number of
 * characters of the message, without its level, whether or not it was shown.
 */
__attribute__((format(printf, 1, 2))) int printk(const char *fmt, ...);

enum {
    DUMP_PREFIX_NONE,
    DUMP_PREFIX_ADDRESS,
    DUMP_PREFIX_OFFSET
};

/*
 * Prints @len bytes at @buf, @rowsize (16 or 32) a line, byte by byte (@groupsize is taken for 1):
 * @prefix_str, address or offset by @prefix_type, hex, and with @ascii the characters. Any context.
 */
void print_hex_dump(const char *level, const char *prefix_str, int prefix_type, int rowsize, int groupsize,
                    const void *buf, __SIZE_TYPE__ len, bool ascii);

/* Prints the stack of the caller to stderr, innermost frame first. Any context. */
void dump_stack(void);

#ifndef pr_fmt
#define pr_fmt(fmt) fmt
#endif

#define pr_emerg(fmt, ...)  printk(KERN_EMERG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_alert(fmt, ...)  printk(KERN_ALERT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_crit(fmt, ...)   printk(KERN_CRIT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err(fmt, ...)    printk(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn(fmt, ...)   printk(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_notice(fmt, ...) printk(KERN_NOTICE pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info(fmt, ...)   printk(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)
#define pr_debug(fmt, ...)  printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_cont(fmt, ...)   printk(KERN_CONT fmt, ##__VA_ARGS__)

/* True for the first caller that finds @seen clear, which it then sets. */
static inline int kmirror_first_time(unsigned char *seen)
{
    return !__atomic_load_n(seen, __ATOMIC_RELAXED) && !__atomic_exchange_n(seen, 1, __ATOMIC_RELAXED);
}

#define printk_once(fmt, ...)                                                                     \
    do {                                                                                          \
        static unsigned char __kmirror_printed;                                                   \
        if (kmirror_first_time(&__kmirror_printed))                                               \
            printk(fmt, ##__VA_ARGS__);                                                           \
    } while (0)

#define pr_err_once(fmt, ...)   printk_once(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn_once(fmt, ...)  printk_once(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info_once(fmt, ...)  printk_once(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_PRINTK_H */
