/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects with attributes, as far as a cache's folder in /sys/kernel/slab needs them. runtime.c keeps the caches that
 * have one, with their aliases; kdir_sysfs_show() and kdir_sysfs_store() read and write an attribute by its name.
 */
#ifndef KDIR_SHIM_SYSFS_H
#define KDIR_SHIM_SYSFS_H

#include <linux/list.h>

struct kobject;

struct attribute {
    const char *name;
    unsigned short mode;
};

struct attribute_group {
    const char *name;
    struct attribute *const *attrs;
};

struct sysfs_ops {
    ssize_t (*show)(struct kobject *object, struct attribute *attribute, char *text);
    ssize_t (*store)(struct kobject *object, struct attribute *attribute, const char *text, size_t length);
};

struct kobj_type {
    void (*release)(struct kobject *object);
    const struct sysfs_ops *sysfs_ops;
    const struct attribute_group **default_groups;
};

struct kobject {
    const char *name;
    struct list_head entry;
    struct kset *kset;
    const struct kobj_type *ktype;
    const struct attribute_group *group; /* in place of its type's */
    int references;
    unsigned int state_in_sysfs : 1;
};

struct kset {
    struct list_head list;
    struct kobject kobj;
};

#define __ATTR(label, permissions, show_, store_) \
    {.attr = {.name = #label, .mode = (permissions)}, .show = (show_), .store = (store_)}
#define __ATTR_RO_MODE(label, permissions) __ATTR(label, permissions, label##_show, NULL)
#define __ATTR_RW_MODE(label, permissions) __ATTR(label, permissions, label##_show, label##_store)
#define ATTRIBUTE_GROUPS(label)                                             \
    static const struct attribute_group label##_group = {NULL, (struct attribute *const *)label##_attrs}; \
    static const struct attribute_group *label##_groups[] = {&label##_group, NULL}

#define kernel_kobj NULL
struct kset *kset_create_and_add(const char *name, const void *events, struct kobject *parent);
int kobject_init_and_add(struct kobject *object, const struct kobj_type *type, struct kobject *parent,
                         const char *format, ...);
void kobject_del(struct kobject *object);
void kobject_put(struct kobject *object);
int sysfs_create_link(struct kobject *folder, struct kobject *target, const char *name);
void sysfs_remove_link(struct kobject *folder, const char *name);
int sysfs_create_group(struct kobject *object, const struct attribute_group *group);

int sysfs_emit(char *text, const char *format, ...);
int sysfs_emit_at(char *text, int at, const char *format, ...);

/* Text written, or -errno: -ENOENT when the object has no such attribute. @text: PAGE_SIZE bytes. */
ssize_t kdir_sysfs_show(struct kobject *object, const char *attribute, char *text);
ssize_t kdir_sysfs_store(struct kobject *object, const char *attribute, const char *text);
bool kdir_sysfs_writable(struct kobject *object, const char *attribute);
/* Attribute names 0, 1, ... of any cache, until NULL. */
const char *kdir_sysfs_name(struct kobject *object, unsigned int index);

/* ---- files that are not shown ------------------------------------------------------------------------------ */

struct seq_file;
struct file;
struct inode;
struct dentry;
struct seq_operations {
    void *(*start)(struct seq_file *file, loff_t *position);
    void (*stop)(struct seq_file *file, void *at);
    void *(*next)(struct seq_file *file, void *at, loff_t *position);
    int (*show)(struct seq_file *file, void *at);
};
struct proc_ops {
    int (*proc_open)(struct inode *inode, struct file *file);
    ssize_t (*proc_read)(struct file *file, char *to, size_t length, loff_t *position);
    ssize_t (*proc_write)(struct file *file, const char *from, size_t length, loff_t *position);
    loff_t (*proc_lseek)(struct file *file, loff_t offset, int whence);
    int (*proc_release)(struct inode *inode, struct file *file);
    unsigned int proc_flags;
};
#define PROC_ENTRY_PERMANENT 0
#define SLABINFO_RIGHTS 0400
#define proc_create(name, mode, parent, operations) ((void)(operations))
#define seq_read NULL
#define seq_lseek NULL
#define seq_release NULL
#define seq_open(file, operations) ((void)(operations), (void)(file), 0)
#define seq_puts(file, text) ((void)(file))
#define seq_putc(file, character) ((void)(file))
#define seq_printf(file, ...) ((void)(file), (void)sizeof(printf(__VA_ARGS__)))
#define seq_list_start(list, position) ((void)(position), (void *)(list))
#define seq_list_next(at, list, position) ((void)(position), (void)(list), (at))

#endif /* KDIR_SHIM_SYSFS_H */
