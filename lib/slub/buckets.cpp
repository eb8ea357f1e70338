// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/buckets.cpp: size classes for one user, so that what overflows there meets nobody else.
//
// Owns     the tables of caches; they are never destroyed, as in the kernel.
// Bounds   one cache for each size class, none shared.
// Locking  that of cache creation.
// Fails    NULL, and the caches that were made are gone.
#include <linux/sprintf.h>
#include <linux/string.h>

#include "lib/slub/fastpath.h"
#include "lib/slub/geometry.h"
#include "lib/slub/kmalloc.h"

namespace kmirror::slub {

namespace {

constexpr unsigned int kNameBytes = 64;

// "name-192", "name-2k"
void bucket_name(char *text, const char *name, unsigned int bytes)
{
    if (bytes < 1024)
        scnprintf(text, kNameBytes, "%s-%u", name, bytes);
    else
        scnprintf(text, kNameBytes, "%s-%uk", name, bytes / 1024);
}

struct kmem_cache *create_bucket(const char *name, unsigned int bytes, slab_flags_t flags,
                                 const struct kmem_cache_args *wish)
{
    char text[kNameBytes];
    struct kmem_cache_args args;

    memcpy(&args, wish, sizeof(args));
    args.useroffset = wish->useroffset < bytes ? wish->useroffset : 0;
    args.usersize = wish->useroffset < bytes
                        ? min_t(unsigned int, wish->usersize, bytes - wish->useroffset)
                        : 0;
    bucket_name(text, name, bytes);
    return __kmem_cache_create_args(text, bytes, &args, flags | SLAB_NO_MERGE);
}

void destroy_buckets(kmem_buckets *buckets)
{
    for (struct kmem_cache *s : *buckets)
        kmem_cache_destroy(s);
    kfree(buckets);
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

kmem_buckets *kmem_buckets_create(const char *name, slab_flags_t flags, unsigned int first,
                                  unsigned int length, void (*constructor)(void *))
{
    struct kmem_cache_args args;

    memset(&args, 0, sizeof(args));
    args.useroffset = first;
    args.usersize = length;
    args.ctor = constructor;
    kmem_cache_init();
    auto *buckets = static_cast<kmem_buckets *>(kzalloc(sizeof(kmem_buckets), GFP_KERNEL));
    if (!buckets)
        return nullptr;
    for (unsigned int index = 1; index <= KMALLOC_SHIFT_HIGH; index++) {
        (*buckets)[index] = create_bucket(name, kmalloc_class_bytes(index), flags, &args);
        if (!(*buckets)[index]) {
            destroy_buckets(buckets);
            return nullptr;
        }
    }
    return buckets;
}

void *kmem_buckets_alloc(kmem_buckets *buckets, size_t size, gfp_t flags)
{
    if (size - 1 >= KMALLOC_MAX_CACHE_SIZE)
        return __kmalloc(size, flags);
    return __kmalloc_cache((*buckets)[kmalloc_index(size)], flags, size);
}
