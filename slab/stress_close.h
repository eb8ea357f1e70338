// SPDX-License-Identifier: GPL-2.0-only
//
// The end of a load's cache: valid, empty, gone.
#pragma once

#include <kmirror/slab_ops.h>

#include <string>
#include <vector>

namespace kmirror::stress {

// Checks, shrinks and destroys a cache whose objects are all free or on their way; what is wrong goes into
// `wrong`.
inline void close_cache(slab_ops_cache *cache, std::vector<std::string> &wrong)
{
    const slab_ops &ops = *kmirror_slab_ops();
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
