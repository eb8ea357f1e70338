// SPDX-License-Identifier: GPL-2.0-only
//
// The end of a load's cache: valid, empty, gone.
#pragma once

#include "slab/implementation.h"
#include "slab/stress_load.h"

#include <kmirror/slab_ops.h>

#include <string>
#include <vector>

namespace kmirror::stress {

inline Memory memory_of(slab_ops_cache *cache)
{
    if (!cache)
        return {};
    slab_ops_counts counts{};
    slab_ops_geometry geometry{};
    slab_under_test().counts(cache, -1, &counts);
    slab_under_test().geometry(cache, &geometry);
    return {counts.slabs,        counts.partial_slabs, counts.total_objects,
            counts.used_objects, counts.barn_objects,  counts.slabs << geometry.order << 2};
}
inline Memory operator+(Memory a, const Memory &b)
{
    return {a.slabs + b.slabs, a.partial + b.partial, a.objects + b.objects,
            a.used + b.used,   a.sheaved + b.sheaved, a.kib + b.kib};
}

// Checks, shrinks and destroys a cache whose objects are all free or on their way; what is wrong goes into
// `wrong`.
inline void close_cache(slab_ops_cache *cache, std::vector<std::string> &wrong)
{
    const slab_ops &ops = slab_under_test();
    const std::string name = ops.cache_name(cache);
    ops.free_rcu_barrier_on(cache);
    if (const long violations = ops.check(cache))
        wrong.push_back(name + ": " + std::to_string(violations) + " rules are violated");
    if (ops.shrink(cache) != 0)
        wrong.push_back(name + ": slabs are left");
    slab_ops_counts left{};
    ops.counts(cache, -1, &left);
    if (left.used_objects || left.slabs || left.barn_full || left.barn_empty)
        wrong.push_back(name + ": " + std::to_string(left.used_objects) + " objects in " +
                        std::to_string(left.slabs) + " slabs are left");
    ops.destroy(cache);
}

} // namespace kmirror::stress
