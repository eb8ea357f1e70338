// SPDX-License-Identifier: GPL-2.0-only
//
// Prints layout.h for slab.h: where the library's struct kmem_cache has its members.

#include "lib/slub/cache.h"

#include <cstdio>

int main()
{
    std::printf("#define KMEM_CACHE_FLAGS %zu\n", offsetof(struct kmem_cache, flags));
    std::printf("#define KMEM_CACHE_OFFSET %zu\n", offsetof(struct kmem_cache, offset));
}
