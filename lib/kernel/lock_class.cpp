// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/lock_class.cpp: lock classes by name. Two init sites with one name are one class.
//
// Owns     the table of names. A name is copied: it may come from a library that is unloaded.
// Bounds   kMaxClasses, number 0 being "unclassified"; what comes later is unclassified too, said once.
// Locking  `lock`, a leaf, for entering; `count` is published with release, so that names are read without
//          it.
// Fails    never.

#include "lib/kernel/lock_watch.h"

#include <linux/printk.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace kmirror::kernel {
namespace {

std::mutex lock;
std::atomic<const char *> names[kMaxClasses] = {"unclassified"};
std::atomic<unsigned int> count{1};

u16 find(const char *name)
{
    for (unsigned int id = 1; id < class_count(); ++id)
        if (std::strcmp(class_name(static_cast<u16>(id)), name) == 0)
            return static_cast<u16>(id);
    return 0;
}

u16 enter(const char *name)
{
    const std::lock_guard guard(lock);
    if (const u16 known = find(name); known != 0)
        return known;
    const unsigned int id = class_count();
    char *copy = id < kMaxClasses ? strdup(name) : nullptr;
    if (!copy) {
        pr_warn_once("no lock class is left for %s\n", name);
        return 0;
    }
    names[id].store(copy, std::memory_order_relaxed);
    // (K1) The name is there before the number is. Pairs with (K2).
    count.store(id + 1, std::memory_order_release);
    return static_cast<u16>(id);
}

}  // namespace

const char *class_name(u16 class_id)
{
    return names[class_id].load(std::memory_order_relaxed);
}

unsigned int class_count()
{
    return count.load(std::memory_order_acquire); // (K2)
}

u16 class_of_map(lockdep_map &map)
{
    u16 id = READ_ONCE(map.class_id);
    if (id == 0 && map.name) {
        id = kmirror_lock_class(map.name, nullptr);
        WRITE_ONCE(map.class_id, id);
    }
    return id;
}

}  // namespace kmirror::kernel

extern "C" u16 kmirror_lock_class(const char *name, struct lock_class_key *key)
{
    if (key)
        if (const u16 known = READ_ONCE(key->class_id); known != 0)
            return known;
    const u16 id = kmirror::kernel::enter(name);
    if (key)
        WRITE_ONCE(key->class_id, id);
    return id;
}
