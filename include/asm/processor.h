/* SPDX-License-Identifier: GPL-2.0-only */
/* asm/processor.h: a hint that this CPU waits in a loop, and the widest value it swaps. */
#ifndef KMIRROR_ASM_PROCESSOR_H
#define KMIRROR_ASM_PROCESSOR_H

#include <linux/compiler.h>

/* Two words that one instruction compares and swaps. */
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 kmirror_word_pair;
#else
typedef unsigned long long kmirror_word_pair;
#endif

KM_C_BEGIN
void kmirror_cpu_relax(void);
KM_C_END

static __always_inline void cpu_relax(void)
{
#if KMIRROR_INSTRUMENTED
    kmirror_cpu_relax();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield" : : : "memory");
#else
    barrier();
#endif
}

#endif /* KMIRROR_ASM_PROCESSOR_H */
