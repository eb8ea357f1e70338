// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/lock_order.cpp: which class is taken inside which.
//
// Every pair (outer, inner) seen once is an edge; an edge that would close a circle is reported instead of
// entered. Known pairs cost one load, so a running program soon pays nothing but that.
//
// Owns     the edges, and the pairs reported already: each is reported once.
// Bounds   kMaxClasses squared bits, twice. Class 0 takes no part.
// Locking  `lock`, a leaf, for new edges; known ones are read with relaxed atomics.
// Fails    never: a violation is a WARN and counted, the lock is then taken as asked.

#include "lib/kernel/lock_watch.h"

#include <kmirror/lockstat.h>

#include <linux/bug.h>

#include <atomic>
#include <cstdio>
#include <mutex>

namespace kmirror::kernel {
namespace {

// Bits over pairs of classes.
class Pairs {
public:
    bool has(unsigned int a, unsigned int b) const
    {
        return (words_[a][b / 64].load(std::memory_order_relaxed) >> (b % 64) & 1) != 0;
    }
    // True if it was not there.
    bool add(unsigned int a, unsigned int b)
    {
        const u64 bit = u64{1} << (b % 64);
        return (words_[a][b / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
    }
    void clear()
    {
        for (auto &row : words_)
            for (auto &word : row)
                word.store(0, std::memory_order_relaxed);
    }

private:
    std::atomic<u64> words_[kMaxClasses][kMaxClasses / 64] = {};
};

std::mutex lock;
Pairs before;
Pairs reported;
std::atomic<unsigned long> violations;

// The classes between two, found by walking `before`.
struct Path {
    u16 step[kMaxClasses];
    unsigned int length;
};

// Depth first: a way from `from` to `to` along known orders. `seen` keeps it from going in circles.
bool find_path(u16 from, u16 to, bool (&seen)[kMaxClasses], Path &path)
{
    path.step[path.length++] = from;
    if (from == to)
        return true;
    seen[from] = true;
    for (unsigned int next = 1; next < class_count(); ++next)
        if (!seen[next] && before.has(from, next) && find_path(static_cast<u16>(next), to, seen, path))
            return true;
    --path.length;
    return false;
}

void describe(const Path &path, char *text, std::size_t room)
{
    std::size_t used = 0;
    for (unsigned int index = 0; index < path.length && used < room; ++index)
        used += static_cast<std::size_t>(std::snprintf(text + used, room - used, "%s%s", index ? " -> " : "",
                                                       class_name(path.step[index])));
}

// Enters the order unless it closes a circle; then `circle` says which.
bool enter(u16 outer, u16 inner, char *circle, std::size_t room)
{
    const std::lock_guard guard(lock);
    bool seen[kMaxClasses] = {};
    Path path = {};
    if (!find_path(inner, outer, seen, path)) {
        before.add(outer, inner);
        return true;
    }
    describe(path, circle, room);
    return false;
}

}  // namespace

void count_violation()
{
    violations.fetch_add(1, std::memory_order_relaxed);
}

void order_taken(u16 outer, u16 inner, int subclass)
{
    if (outer == 0 || inner == 0 || before.has(outer, inner))
        return;
    if (outer == inner) {
        if (subclass == 0 && reported.add(outer, inner)) {
            count_violation();
            WARN(true, "two locks of class %s are taken in no stated order; use the _nested form\n",
                 class_name(inner));
        }
        return;
    }
    char circle[512];
    if (enter(outer, inner, circle, sizeof(circle)) || !reported.add(outer, inner))
        return;
    count_violation();
    WARN(true, "possible deadlock: %s is taken while %s is held, but the order known is %s\n",
         class_name(inner), class_name(outer), circle);
}

}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" {

void kmirror_lockdep_reset(void)
{
    const std::lock_guard guard(lock);
    before.clear();
    reported.clear();
}

void kmirror_lockdep_order(const char *outer, const char *inner)
{
    order_taken(kmirror_lock_class(outer, nullptr), kmirror_lock_class(inner, nullptr), 0);
}

unsigned long kmirror_lockdep_violations(void)
{
    return violations.load(std::memory_order_relaxed);
}

}  // extern "C"
