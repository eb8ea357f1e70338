/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/slab_sysfs.h>: what a kernel shows of its caches in files, by the same names and
 * in the same form: /sys/kernel/slab, /proc/slabinfo.
 *
 * Owns     nothing; the text is of a moment.
 * Locking  may sleep; takes the cache mutex and list_lock. No lock of the allocator may be
 *          held by the caller.
 * Fails    as each function says; an export that fails leaves what was there before.
 */
#ifndef KMIRROR_SLAB_SYSFS_H
#define KMIRROR_SLAB_SYSFS_H

#include <linux/slab.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that hold any attribute's text, as in sysfs. */
#define KMIRROR_SLAB_ATTR_BYTES PAGE_SIZE

/*
 * kmirror_slab_attr_name() - the files of a cache's folder, by number; NULL past the last. Not
 * every generation has each statistic.
 */
const char *kmirror_slab_attr_name(unsigned int index);

/* kmirror_slab_attr_mode() - its permission bits, 0400 or 0600; 0 past the last. */
unsigned int kmirror_slab_attr_mode(unsigned int index);

/*
 * kmirror_slab_attr_show() - the text of a file, with its newline.
 * @buffer: @room bytes, KMIRROR_SLAB_ATTR_BYTES are always enough.
 * Return: its length, which may be 0; -ENOENT past the last, or not in the generation of @s.
 */
int kmirror_slab_attr_show(struct kmem_cache *s, unsigned int index, char *buffer, size_t room);

/*
 * kmirror_slab_attr_store() - write to a file: min_partial, cpu_partial, shrink, validate,
 * failslab, remote_node_defrag_ratio, and 0 to a statistic.
 * Return: 0; -ENOENT: no such file, -EACCES: it is read-only, -EINVAL or -ERANGE: not that text.
 */
int kmirror_slab_attr_store(struct kmem_cache *s, const char *name, const char *text);

/*
 * kmirror_slab_sysfs_name() - the name of a cache's folder: its own, or for a cache that may
 * be shared one made of flags and size, ":0000256" or ":a-0000104".
 * Return: @buffer, of @room bytes; 64 are enough for the latter.
 */
const char *kmirror_slab_sysfs_name(struct kmem_cache *s, char *buffer, size_t room);

/*
 * kmirror_slab_sysfs_export() - write /sys/kernel/slab to the folder @path: one folder a
 * cache with its attribute files, and a link for each name of a cache that may be shared.
 * A cache that stores users also has debugfs' alloc_traces and free_traces there. An earlier export there is replaced in one step.
 * Return: 0, or -errno: -EEXIST when @path has something else in it.
 */
int kmirror_slab_sysfs_export(const char *path);

/* kmirror_slab_proc_slabinfo() - /proc/slabinfo 2.1, a line at a time, each with its newline. */
void kmirror_slab_proc_slabinfo(void (*line)(const char *text, void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif /* KMIRROR_SLAB_SYSFS_H */
