/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of libfiu that lib/fault uses, for builds of 32 bit, which have no libfiu. A point that is enabled
 * fails, if it has a callback that says so, or has none.
 *
 * Owns     the enabled points.
 * Bounds   eight points.
 * Locking  one mutex, held while a callback decides, as in libfiu.
 * Fails    fiu_enable_external() with -1 when there are too many points.
 */
#ifndef KMIRROR_PLAIN_FIU_H
#define KMIRROR_PLAIN_FIU_H

#include <mutex>
#include <string_view>

#define FIU_ONETIME 1

using fiu_callback = int(const char *name, int *number, void **info, unsigned int *flags);

namespace kmirror::plain {

struct FiuPoint {
    std::string_view name;
    int number;
    unsigned int flags;
    fiu_callback *decide;
};

inline std::mutex fiu_lock;
inline FiuPoint fiu_points[8];

inline FiuPoint *fiu_find(std::string_view name)
{
    for (FiuPoint &point : fiu_points)
        if (point.name == name)
            return &point;
    return nullptr;
}

} // namespace kmirror::plain

inline int fiu_init(unsigned int)
{
    return 0;
}

inline int fiu_fail(const char *name)
{
    const std::lock_guard guard(kmirror::plain::fiu_lock);
    kmirror::plain::FiuPoint *const point = kmirror::plain::fiu_find(name);
    void *info = nullptr;
    if (!point || (point->decide && !point->decide(name, &point->number, &info, &point->flags)))
        return 0;
    if (point->flags & FIU_ONETIME)
        point->name = {};
    return point->number;
}

#endif
