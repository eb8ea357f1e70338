// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/memcontrol.cpp: whom a thread's allocations are for, and how much they are.
//
// Owns     each thread's group. The first one named in the process takes the allocator's fast paths out of
//          use for good: they do not look at groups.
// Locking  none; a charge is one atomic addition, taken back when it was too much.
// Fails    obj_cgroup_charge() says no beyond the limit.

#include <linux/memcontrol.h>

#if KMIRROR_FAULTS
#include "lib/fault/fault.h"
#endif

bool kmirror_accounting;

namespace {

__thread obj_cgroup *active;

}  // namespace

extern "C" struct obj_cgroup *set_active_objcg(struct obj_cgroup *objcg)
{
    obj_cgroup *const before = active;
#if KMIRROR_FAULTS
    if (objcg != nullptr && !__atomic_exchange_n(&kmirror_accounting, true, __ATOMIC_SEQ_CST))
        kmirror::fault::arm(1);
#endif
    active = objcg;
    return before;
}

extern "C" struct obj_cgroup *current_obj_cgroup(void)
{
    return active;
}

extern "C" bool obj_cgroup_charge(struct obj_cgroup *objcg, gfp_t gfp, unsigned long bytes)
{
    const long now = atomic_long_add_return(static_cast<long>(bytes), &objcg->charged);
    if (objcg->limit == 0 || now <= objcg->limit || (gfp & __GFP_NOFAIL))
        return true;
    obj_cgroup_uncharge(objcg, bytes);
    return false;
}

extern "C" void obj_cgroup_uncharge(struct obj_cgroup *objcg, unsigned long bytes)
{
    atomic_long_sub(static_cast<long>(bytes), &objcg->charged);
}
