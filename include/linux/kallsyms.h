/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/kallsyms.h: names of functions. */
#ifndef KMIRROR_LINUX_KALLSYMS_H
#define KMIRROR_LINUX_KALLSYMS_H

#include <linux/compiler.h>

#define KSYM_SYMBOL_LEN 512

KM_C_BEGIN

/*
 * sprint_symbol() - "function+0x12/0x80" for an address in it, or the address in hex.
 * @buffer: KSYM_SYMBOL_LEN bytes. Context: may sleep. Return: characters written.
 */
int sprint_symbol(char *buffer, unsigned long address);

KM_C_END

#endif /* KMIRROR_LINUX_KALLSYMS_H */
