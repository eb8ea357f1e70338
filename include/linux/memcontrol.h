/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/memcontrol.h: counting objects for somebody.
 *
 * A thread names a group with set_active_objcg(); from then on its allocations with
 * __GFP_ACCOUNT, and those from caches with SLAB_ACCOUNT, are charged to that group, and
 * uncharged when they are freed, by whomever. There is no hierarchy and no reclaim: a
 * request beyond the limit is refused.
 *
 * Without fault points (FAULTS=0, RELEASE=1) nothing is counted.
 */
#ifndef KMIRROR_LINUX_MEMCONTROL_H
#define KMIRROR_LINUX_MEMCONTROL_H

#include <linux/atomic.h>
#include <linux/gfp_types.h>

struct obj_cgroup {
    atomic_long_t charged; /* bytes, with each object's overhead */
    long limit;            /* bytes; 0: none */
};

#define OBJ_CGROUP_INIT { { 0 }, 0 }

KM_C_BEGIN

/* Has any thread ever named a group? */
extern bool kmirror_accounting;

/*
 * set_active_objcg() - whom the calling thread's allocations are for; NULL: nobody.
 * @objcg: lives until the last object charged to it is freed.
 * Context: any that may sleep. Return: the one before.
 */
struct obj_cgroup *set_active_objcg(struct obj_cgroup *objcg);

/* The calling thread's group, or NULL. Context: any. */
struct obj_cgroup *current_obj_cgroup(void);

/* Adds @bytes; false, and nothing changed, beyond the limit unless @gfp has __GFP_NOFAIL. */
bool obj_cgroup_charge(struct obj_cgroup *objcg, gfp_t gfp, unsigned long bytes);
void obj_cgroup_uncharge(struct obj_cgroup *objcg, unsigned long bytes);

KM_C_END

static inline bool memcg_kmem_online(void)
{
    return KMIRROR_FAULTS && unlikely(__atomic_load_n(&kmirror_accounting, __ATOMIC_RELAXED));
}

#endif /* KMIRROR_LINUX_MEMCONTROL_H */
