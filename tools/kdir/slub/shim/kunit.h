/* SPDX-License-Identifier: GPL-2.0-only */
/* What the allocator asks of KUnit: is a test running, and where does it count errors? */
#ifndef KDIR_SHIM_KUNIT_H
#define KDIR_SHIM_KUNIT_H

struct kunit;
struct kunit_resource {
    const char *name;
    void *data;
};

/* The int to which the calling thread's test wants errors added, or NULL; <kmirror/slab_info.h> sets it. */
#define kdir_slab_errors() (KM_CURRENT->slab_errors)

#define kunit_get_current_test() ((struct kunit *)kdir_slab_errors())

static inline struct kunit_resource *kdir_find_resource(void)
{
    static __thread struct kunit_resource resource;

    resource.data = kdir_slab_errors();
    return resource.data ? &resource : NULL;
}
#define kunit_find_named_resource(...) kdir_find_resource()
#define kunit_put_resource(resource) ((void)(resource))

#endif /* KDIR_SHIM_KUNIT_H */
