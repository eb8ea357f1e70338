// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text, bitmaps and sorting for a kernel tree's allocator: what lib/ and mm/util.c of a kernel have.
 *
 * Owns     nothing: what it allocates is the caller's, from the allocator under test.
 */
#include "tools/kdir/slub/shim/kernel.h"

#include <linux/slab.h>

#include <stdlib.h>

/* ---- messages ---------------------------------------------------------------------------------------------- */

/* The text so far and its room; like snprintf() it counts what did not fit. */
struct text {
    char *to;
    size_t room, length;
};

static void put(struct text *text, const char *piece)
{
    for (; *piece; piece++, text->length++) {
        if (text->length + 1 < text->room)
            text->to[text->length] = *piece;
    }
}

/* What a pointer stands for, from the letters behind %p. Returns the number of letters. */
static size_t put_pointer(struct text *text, const char *letters, void *value)
{
    char piece[KSYM_SYMBOL_LEN];

    if (*letters == 'V') {
        const struct va_format *nested = value;
        char long_piece[1024];
        va_list copy;

        va_copy(copy, *nested->va);
        kdir_vformat(long_piece, sizeof(long_piece), nested->fmt, copy);
        va_end(copy);
        put(text, long_piece);
        return 1;
    }
    if (*letters == 'S') {
        sprint_symbol(piece, (unsigned long)value);
        put(text, piece);
        return 1;
    }
    snprintf(piece, sizeof(piece), "%016lx", *letters == 'G' ? *(unsigned long *)value : (unsigned long)value);
    put(text, piece);
    return *letters == 'G' ? 2 : *letters == 'x' || *letters == 'K';
}

/* One conversion, which begins at *at with a per cent sign: its value is taken from @values. */
static void put_conversion(struct text *text, const char **at, va_list *values)
{
    const char *end = *at + 1 + strspn(*at + 1, "-+ #0123456789.*");
    char form[32], piece[1024];
    int longs = 0;

    for (; *end == 'l' || *end == 'z' || *end == 't' || *end == 'h'; end++)
        longs += *end == 'l' || *end == 'z' || *end == 't';
    snprintf(form, sizeof(form), "%.*s", (int)(end + 1 - *at), *at);
    if (memchr(form, '*', strlen(form))) {
        const int width = va_arg(*values, int);

        if (*end == 's')
            snprintf(piece, sizeof(piece), form, width, va_arg(*values, char *));
        else
            snprintf(piece, sizeof(piece), form, width, va_arg(*values, int));
        put(text, piece);
    } else if (*end == 'p') {
        end += put_pointer(text, end + 1, va_arg(*values, void *));
    } else if (*end == '%') {
        put(text, "%");
    } else {
        if (*end == 's')
            snprintf(piece, sizeof(piece), form, va_arg(*values, char *));
        else if (longs)
            snprintf(piece, sizeof(piece), form, va_arg(*values, long));
        else
            snprintf(piece, sizeof(piece), form, va_arg(*values, int));
        put(text, piece);
    }
    *at = end + 1;
}

int kdir_vformat(char *to, size_t room, const char *format, va_list values)
{
    struct text text = {to, room, 0};
    va_list copy;

    va_copy(copy, values);
    while (*format) {
        if (*format == '%') {
            put_conversion(&text, &format, &copy);
        } else {
            const char one[2] = {*format++, 0};

            put(&text, one);
        }
    }
    va_end(copy);
    to[min(text.length, room - 1)] = 0;
    return (int)text.length;
}

#undef printk
int printk(const char *format, ...);

int kdir_printk(const char *format, ...)
{
    char text[2048], leveled[] = KERN_INFO "%s";
    va_list values;

    va_start(values, format);
    kdir_vformat(text, sizeof(text), format, values);
    va_end(values);
    if (text[0] != KERN_SOH[0])
        return printk("%s", text);
    leveled[1] = text[1];
    return printk(leveled, text + 2);
}

/* ---- strings and numbers ----------------------------------------------------------------------------------- */

char *kstrdup(const char *text, gfp_t gfp)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = kmalloc(bytes, gfp);

    return copy ? memcpy(copy, text, bytes) : NULL;
}

char *kstrdup_const(const char *text, gfp_t gfp)
{
    return kstrdup(text, gfp);
}

void kfree_const(const void *text)
{
    kfree(text);
}

char *kasprintf(gfp_t gfp, const char *format, ...)
{
    char text[256];
    va_list values;

    va_start(values, format);
    kdir_vformat(text, sizeof(text), format, values);
    va_end(values);
    return kstrdup(text, gfp);
}

ssize_t kdir_strscpy(char *to, const char *from, size_t room)
{
    const size_t length = strlen(from);

    snprintf(to, room, "%s", from);
    return length < room ? (ssize_t)length : -E2BIG;
}

int kstrtoul(const char *text, unsigned int base, unsigned long *result)
{
    char *end;
    const unsigned long number = strtoul(text, &end, (int)base);

    if (end == text || (*end && *end != '\n'))
        return -EINVAL;
    *result = number;
    return 0;
}

int kstrtouint(const char *text, unsigned int base, unsigned int *result)
{
    unsigned long number;
    const int error = kstrtoul(text, base, &number);

    if (error || number > UINT_MAX)
        return error ?: -ERANGE;
    *result = (unsigned int)number;
    return 0;
}

int kstrtoint(const char *text, unsigned int base, int *result)
{
    return kstrtouint(text, base, (unsigned int *)result);
}

int get_option(char **text, int *number)
{
    char *end;

    *number = (int)strtol(*text, &end, 0);
    if (end == *text)
        return 0;
    *text = end + (*end == ',');
    return 1;
}

/* ---- bytes, bits, order ------------------------------------------------------------------------------------ */

char *strnchr(const char *text, size_t most, int wanted)
{
    for (; most-- && *text; text++) {
        if (*text == (char)wanted)
            return (char *)text;
    }
    return NULL;
}

void *memchr_inv(const void *start, int value, size_t bytes)
{
    const unsigned char *at = start, *end = at + bytes;

    while (at < end && *at == (unsigned char)value)
        at++;
    return at < end ? (void *)at : NULL;
}

unsigned long *bitmap_alloc(unsigned int bits, gfp_t gfp)
{
    return kmalloc(BITS_TO_LONGS(bits) * sizeof(long), gfp);
}

unsigned long *bitmap_zalloc(unsigned int bits, gfp_t gfp)
{
    return bitmap_alloc(bits, gfp | __GFP_ZERO);
}

void bitmap_free(const unsigned long *words)
{
    kfree(words);
}

void sort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *),
          void (*swap)(void *, void *, int))
{
    (void)swap;
    qsort(base, count, size, compare);
}

void sort_r(void *base, size_t count, size_t size, int (*compare)(const void *, const void *, const void *),
            void *swap, const void *context)
{
    (void)swap;
    qsort_r(base, count, size, (int (*)(const void *, const void *, void *))compare, (void *)context);
}
