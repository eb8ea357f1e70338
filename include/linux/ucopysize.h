/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/ucopysize.h: is this memory one that may be copied to or from user space?
 *
 * Of an object of a cache only the bytes [useroffset, useroffset + usersize) may, of a
 * size class all of an object. Of other memory it is checked that the range stays in one
 * block of pages or one vmalloc area. Stacks and program text are not looked at.
 */
#ifndef KMIRROR_LINUX_UCOPYSIZE_H
#define KMIRROR_LINUX_UCOPYSIZE_H

#include <linux/types.h>

KM_C_BEGIN

struct slab;

/*
 * __check_object_size() - end the program with a report when @bytes bytes at @address must
 * not be copied. @to_user: the copy goes to user space. Context: any.
 */
void __check_object_size(const void *address, unsigned long bytes, bool to_user);

/* The same for an address inside @slab. */
void __check_heap_object(const void *address, unsigned long bytes, const struct slab *slab, bool to_user);

/* usercopy_abort() - the report, and the end. @detail: may be NULL. */
__attribute__((__noreturn__)) void usercopy_abort(const char *name, const char *detail, bool to_user,
                                                  unsigned long offset, unsigned long bytes);

KM_C_END

/* check_object_size() - __check_object_size(), left out when @bytes is a constant. */
static inline __attribute__((__always_inline__)) void check_object_size(const void *address,
                                                                        unsigned long bytes,
                                                                        bool to_user)
{
    if (!__builtin_constant_p(bytes))
        __check_object_size(address, bytes, to_user);
}

#endif /* KMIRROR_LINUX_UCOPYSIZE_H */
