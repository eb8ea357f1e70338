// SPDX-License-Identifier: GPL-2.0-only
/*
 * The folder /sys/kernel/slab of a kernel tree's allocator: which caches are in it, under which names, and their
 * attributes by name.
 *
 * Owns     the links.
 * Locking  the allocator calls with slab_mutex held; who reads an attribute keeps its cache.
 */
#include "tools/kdir/slub/shim/kernel.h"

#include <linux/slab.h>

#include <stdlib.h>

struct link {
    struct list_head entry;
    struct kobject *target;
    char name[];
};
static LIST_HEAD(links);

struct kset *kset_create_and_add(const char *name, const void *events, struct kobject *parent)
{
    struct kset *kset = calloc(1, sizeof(*kset));

    (void)events;
    (void)parent;
    if (kset) {
        INIT_LIST_HEAD(&kset->list);
        kset->kobj.name = name;
    }
    return kset;
}

int kobject_init_and_add(struct kobject *object, const struct kobj_type *type, struct kobject *parent,
                         const char *format, ...)
{
    char name[64];
    va_list values;

    (void)parent;
    va_start(values, format);
    kdir_vformat(name, sizeof(name), format, values);
    va_end(values);
    object->ktype = type;
    object->references = 1;
    object->name = strdup(name);
    if (!object->name)
        return -ENOMEM;
    list_add_tail(&object->entry, &object->kset->list);
    object->state_in_sysfs = 1;
    return 0;
}

void kobject_del(struct kobject *object)
{
    struct link *link, *after;

    list_for_each_entry_safe(link, after, &links, entry) {
        if (link->target == object) {
            list_del(&link->entry);
            free(link);
        }
    }
    if (object->state_in_sysfs)
        list_del(&object->entry);
    object->state_in_sysfs = 0;
}

void kobject_put(struct kobject *object)
{
    if (__atomic_sub_fetch(&object->references, 1, __ATOMIC_SEQ_CST) > 0)
        return;
    kobject_del(object);
    free((void *)object->name);
    object->ktype->release(object);
}

int sysfs_create_group(struct kobject *object, const struct attribute_group *group)
{
    object->group = group;
    return 0;
}

int sysfs_create_link(struct kobject *folder, struct kobject *target, const char *name)
{
    struct link *link = malloc(sizeof(*link) + strlen(name) + 1);

    (void)folder;
    if (!link)
        return -ENOMEM;
    strcpy(link->name, name);
    link->target = target;
    list_add_tail(&link->entry, &links);
    return 0;
}

void sysfs_remove_link(struct kobject *folder, const char *name)
{
    struct link *link, *after;

    (void)folder;
    list_for_each_entry_safe(link, after, &links, entry) {
        if (strcmp(link->name, name) == 0) {
            list_del(&link->entry);
            free(link);
        }
    }
}

/* ---- attributes -------------------------------------------------------------------------------------------- */

static struct attribute *const *attributes_of(struct kobject *object)
{
    if (object->group)
        return object->group->attrs;
    return object->ktype && object->ktype->default_groups ? object->ktype->default_groups[0]->attrs : NULL;
}

static struct attribute *find(struct kobject *object, const char *name)
{
    struct attribute *const *at = attributes_of(object);

    while (at && *at && strcmp((*at)->name, name) != 0)
        at++;
    return at ? *at : NULL;
}

const char *kdir_sysfs_name(struct kobject *object, unsigned int index)
{
    struct attribute *const *at = attributes_of(object);
    unsigned int i;

    for (i = 0; at && at[i]; i++) {
        if (i == index)
            return at[i]->name;
    }
    return NULL;
}

bool kdir_sysfs_writable(struct kobject *object, const char *attribute)
{
    struct attribute *found = find(object, attribute);

    return found && found->mode & 0200;
}

ssize_t kdir_sysfs_show(struct kobject *object, const char *attribute, char *text)
{
    struct attribute *found = find(object, attribute);

    return found ? object->ktype->sysfs_ops->show(object, found, text) : -ENOENT;
}

ssize_t kdir_sysfs_store(struct kobject *object, const char *attribute, const char *text)
{
    struct attribute *found = find(object, attribute);

    return found ? object->ktype->sysfs_ops->store(object, found, text, strlen(text)) : -ENOENT;
}

int sysfs_emit_at(char *text, int at, const char *format, ...)
{
    va_list values;
    int length;

    va_start(values, format);
    length = kdir_vformat(text + at, PAGE_SIZE - (size_t)at, format, values);
    va_end(values);
    return min(length, (int)PAGE_SIZE - at - 1);
}

int sysfs_emit(char *text, const char *format, ...)
{
    va_list values;
    int length;

    va_start(values, format);
    length = kdir_vformat(text, PAGE_SIZE, format, values);
    va_end(values);
    return min(length, (int)PAGE_SIZE - 1);
}
