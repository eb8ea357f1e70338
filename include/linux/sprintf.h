/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/sprintf.h: text into a buffer of known size. */
#ifndef KMIRROR_LINUX_SPRINTF_H
#define KMIRROR_LINUX_SPRINTF_H

#include <linux/types.h>

KM_C_BEGIN

/*
 * scnprintf() - printf into @size bytes at @buffer, cut to fit and always terminated
 * unless @size is 0. Context: any. Return: characters written, without the last 0.
 */
__attribute__((format(printf, 3, 4))) int scnprintf(char *buffer, size_t size, const char *fmt, ...);

KM_C_END

#endif /* KMIRROR_LINUX_SPRINTF_H */
