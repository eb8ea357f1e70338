// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/sysfs_export.cpp: all caches as a folder, and as /proc/slabinfo.
//
// Owns     nothing.
// Bounds   one page of text at a time.
// Locking  slab_mutex over the whole, so that no cache goes meanwhile.
// Fails    see <kmirror/slab_sysfs.h>.
#include <linux/errno.h>
#include <linux/sprintf.h>
#include <linux/string.h>
#include <kmirror/slab_info.h>
#include <kmirror/slab_sysfs.h>

#include "lib/kernel/folder.h"
#include "lib/slub/create.h"
#include "lib/slub/kmalloc.h"
#include "lib/slub/node.h"

namespace kmirror::slub {

namespace {

constexpr unsigned int kLineBytes = 256;

// What an export needs while it goes on.
struct Export {
    kernel::FolderExport folder;
    char text[KMIRROR_SLAB_ATTR_BYTES];
    char name[kLineBytes];
};

int export_attributes(Export *out, struct kmem_cache *s)
{
    const char *name;

    for (unsigned int index = 0; (name = kmirror_slab_attr_name(index)); index++) {
        const int length = kmirror_slab_attr_show(s, index, out->text, sizeof(out->text));
        if (length == -ENOENT) // not of its generation
            continue;
        const int error = kernel::folder_file(&out->folder, out->name, name, out->text,
                                              (size_t)length, kmirror_slab_attr_mode(index));
        if (error)
            return error;
    }
    return 0;
}

// One of the two lists that debugfs has of a cache that stores users; see kmirror_slab_sites().
int export_traces(Export *out, struct kmem_cache *s, const char *name, bool freed)
{
    kernel::FolderText file = kernel::folder_text_begin(&out->folder, out->name, name, 0400);
    const auto add = [](const char *line, void *arg) {
        auto *text = static_cast<kernel::FolderText *>(arg);
        kernel::folder_text_add(text, line, strlen(line));
        kernel::folder_text_add(text, "\n", 1);
    };
    const long sites = kmirror_slab_sites(s, freed, add, &file);
    if (sites == 0)
        add("No data", &file);
    const int error = kernel::folder_text_end(&file);
    return sites < 0 ? (int)sites : error;
}

int export_all_traces(Export *out, struct kmem_cache *s)
{
    if (!(s->flags & SLAB_STORE_USER))
        return 0;
    const int error = export_traces(out, s, "alloc_traces", false);
    return error ? error : export_traces(out, s, "free_traces", true);
}

// A link for each name of a cache that may be shared. A name is used once only.
int export_names(Export *out, struct kmem_cache *s)
{
    const struct slab_alias *alias;

    if (slab_unmergeable(s))
        return 0;
    int error = kernel::folder_link(&out->folder, s->name, out->name);
    list_for_each_entry (alias, &s->alias_names, list)
        if (!error || error == -EEXIST)
            error = kernel::folder_link(&out->folder, alias->name, out->name);
    return error == -EEXIST ? 0 : error;
}

int export_cache(Export *out, struct kmem_cache *s)
{
    kmirror_slab_sysfs_name(s, out->name, sizeof(out->name));
    int error = kernel::folder_subdir(&out->folder, out->name);
    if (error == -EEXIST) // a second cache of that name, of which sysfs shows one
        return 0;
    if (!error)
        error = export_attributes(out, s);
    if (!error)
        error = export_all_traces(out, s);
    return error ? error : export_names(out, s);
}

int export_all(Export *out, const char *path)
{
    int error = kernel::folder_begin(&out->folder, path);
    if (error)
        return error;
    struct kmem_cache *s;
    mutex_lock(&slab_mutex);
    list_for_each_entry (s, &slab_caches, list)
        if (!error)
            error = export_cache(out, s);
    mutex_unlock(&slab_mutex);
    return kernel::folder_end(&out->folder, error);
}

void slabinfo_line(struct kmem_cache *s, char *line)
{
    unsigned long objects = 0, slabs = 0, free = 0;

    for_each_cache_node(s, [&](int, struct kmem_cache_node *n) {
        ListHold hold(n);
        for (struct slab *slab : SlabsOn(&n->partial))
            free += slab_counters(slab).free();
        objects += node_nr_objs(n);
        slabs += node_nr_slabs(n);
    });
    scnprintf(line, kLineBytes,
              "%-17s %6lu %6lu %6u %4u %4d : tunables %4u %4u %4u : slabdata %6lu %6lu %6lu\n",
              s->name, objects > free ? objects - free : 0, objects, s->size, s->oo.objects,
              1 << s->oo.order, 0u, 0u, 0u, slabs, slabs, 0ul);
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

int kmirror_slab_sysfs_export(const char *path)
{
    kmem_cache_init();
    auto *out = static_cast<Export *>(
        kmalloc_flags(sizeof(Export), GFP_KERNEL, SLAB_ALLOC_NO_HOOKS, NUMA_NO_NODE));
    if (!out)
        return -ENOMEM;
    const int error = export_all(out, path);
    kfree_internal(out);
    return error;
}

void kmirror_slab_proc_slabinfo(void (*line)(const char *text, void *arg), void *arg)
{
    char text[kLineBytes];
    struct kmem_cache *s;

    kmem_cache_init();
    line("slabinfo - version: 2.1\n", arg);
    line("# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>"
         " : tunables <limit> <batchcount> <sharedfactor>"
         " : slabdata <active_slabs> <num_slabs> <sharedavail>\n", arg);
    mutex_lock(&slab_mutex);
    list_for_each_entry (s, &slab_caches, list) {
        slabinfo_line(s, text);
        line(text, arg);
    }
    mutex_unlock(&slab_mutex);
}
