// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/kasan.cpp: kasan_poison() and its kin on the address sanitizer's shadow. Owns nothing, takes no
// lock, cannot fail. Without the sanitizer this file is empty.

#include <linux/kasan.h>

#if KMIRROR_ASAN

extern "C" void __asan_poison_memory_region(void const volatile *addr, size_t size);
extern "C" void __asan_unpoison_memory_region(void const volatile *addr, size_t size);
extern "C" int __asan_address_is_poisoned(void const volatile *addr);

extern "C" void kasan_poison(const void *addr, size_t size, u8 value)
{
    (void)value;
    __asan_poison_memory_region(addr, size);
}

extern "C" void kasan_unpoison(const void *addr, size_t size)
{
    __asan_unpoison_memory_region(addr, size);
}

extern "C" bool kasan_byte_accessible(const void *addr)
{
    return KM_CURRENT->kasan_depth || !__asan_address_is_poisoned(addr);
}

#endif
