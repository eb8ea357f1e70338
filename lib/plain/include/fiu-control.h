/* SPDX-License-Identifier: GPL-2.0-only */
/* The other half of fiu.h. */
#ifndef KMIRROR_PLAIN_FIU_CONTROL_H
#define KMIRROR_PLAIN_FIU_CONTROL_H

#include "fiu.h"

inline int fiu_enable_external(const char *name, int number, void *, unsigned int flags, fiu_callback *decide)
{
    const std::lock_guard guard(kmirror::plain::fiu_lock);
    kmirror::plain::FiuPoint *point = kmirror::plain::fiu_find(name);
    if (!point)
        point = kmirror::plain::fiu_find({});
    if (!point)
        return -1;
    *point = {name, number, flags, decide};
    return 0;
}

inline int fiu_enable(const char *name, int number, void *info, unsigned int flags)
{
    return fiu_enable_external(name, number, info, flags, nullptr);
}

inline int fiu_disable(const char *name)
{
    const std::lock_guard guard(kmirror::plain::fiu_lock);
    kmirror::plain::FiuPoint *const point = kmirror::plain::fiu_find(name);
    if (point)
        point->name = {};
    return point ? 0 : -1;
}

#endif
