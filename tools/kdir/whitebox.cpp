// SPDX-License-Identifier: GPL-2.0-only
//
// The insides of the tree under C names: see whitebox.h. Linked into check-kernel's white-box program only.
//
// Owns     nothing: each function hands on to the C++ one of the same name.
// Fails    as those do.
#include "lib/maple_tree/plan.h"
#include "lib/maple_tree/publish.h"
#include "lib/maple_tree/reserve.h"
#include "lib/maple_tree/walk.h"

// Behind those: its global names would be found in their inline functions as well.
#include "tools/kdir/whitebox.h"

#include <algorithm>
#include <iterator>

namespace maple = kmirror::maple;

extern "C" {

// ---- geometry

const unsigned char mt_slots[] = {maple::mt_slots[0], maple::mt_slots[1], maple::mt_slots[2],
                                  maple::mt_slots[3], maple::mt_slots[4]};
const unsigned char mt_pivots[] = {maple::mt_pivots[0], maple::mt_pivots[1], maple::mt_pivots[2],
                                   maple::mt_pivots[3], maple::mt_pivots[4]};

// ---- packed words

maple_node *mte_to_node(const maple_enode *enode) { return maple::mte_to_node(enode); }
maple_type mte_node_type(const maple_enode *enode) { return maple::mte_node_type(enode); }
maple_enode *mt_mk_node(const maple_node *node, maple_type type) { return maple::mt_mk_node(node, type); }
maple_node *mte_parent(const maple_enode *enode) { return maple::mte_parent(enode); }
unsigned mte_parent_slot(const maple_enode *enode) { return maple::mte_parent_slot(enode); }
bool mte_is_root(const maple_enode *enode) { return maple::mte_is_root(enode); }
bool mte_is_leaf(const maple_enode *enode) { return maple::mte_is_leaf(enode); }
bool mte_dead_node(const maple_enode *enode) { return maple::mte_dead_node(enode); }

// ---- words of a node

bool ma_is_root(maple_node *node) { return maple::ma_is_root(node); }
bool ma_is_leaf(maple_type type) { return maple::ma_is_leaf(type); }
bool ma_is_dense(maple_type type) { return maple::ma_is_dense(type); }
bool ma_dead_node(const maple_node *node) { return maple::ma_dead_node(node); }
unsigned long *ma_pivots(maple_node *node, maple_type type) { return maple::ma_pivots(node, type); }
void **ma_slots(maple_node *node, maple_type type) { return maple::ma_slots(node, type); }

// ---- the cursor, and walking with it

maple_node *mas_mn(const ma_state *mas) { return maple::mas_mn(mas); }
void *mas_slot(ma_state *mas, void **slots, unsigned char offset)
{
    return maple::mas_slot(mas, slots, offset);
}
maple_enode *mas_get_slot(ma_state *mas, unsigned char offset)
{
    void **slots = maple::ma_slots(maple::mas_mn(mas), maple::mte_node_type(mas->node));
    return static_cast<maple_enode *>(maple::mas_slot(mas, slots, offset));
}
void *mas_root(ma_state *mas) { return maple::mas_root(mas); }
unsigned long mas_safe_pivot(const ma_state *mas, unsigned long *pivots, unsigned char offset,
                             maple_type type)
{
    return maple::mas_safe_pivot(mas, pivots, offset, type);
}
unsigned long mas_safe_min(ma_state *mas, unsigned long *pivots, unsigned char offset)
{
    return maple::mas_safe_min(mas, pivots, offset);
}
bool mas_is_ptr(const ma_state *mas) { return maple::mas_is_ptr(mas); }
bool mas_is_paused(const ma_state *mas) { return maple::mas_is_paused(mas); }
unsigned mas_mt_height(ma_state *mas) { return maple::mas_mt_height(mas); }
unsigned char mas_data_end(ma_state *mas) { return maple::mas_data_end(mas); }
maple_enode *mas_start(ma_state *mas) { return static_cast<maple_enode *>(maple::mas_start(mas)); }
void mas_descend(ma_state *mas) { maple::mas_descend(mas); }
int mas_ascend(ma_state *mas) { return maple::mas_ascend(mas); }
bool mas_next_sibling(ma_state *mas) { return maple::mas_next_sibling(mas); }

// ---- plan and nodes of a store

bool mas_is_span_wr(ma_wr_state *wr_mas) { return maple::mas_is_span_wr(wr_mas); }
void mas_wr_preallocate(ma_wr_state *wr_mas, void *entry) { maple::mas_wr_preallocate(wr_mas, entry); }
maple_node *mas_pop_node(ma_state *mas) { return maple::mas_pop_node(mas); }
maple_node *mt_alloc_one(gfp_t gfp) { return maple::mt_alloc_one(gfp); }
void ma_free_rcu(maple_node *node) { maple::ma_free_rcu(node); }

// ---- the stand-ins

int nr_allocated;

void test_kmem_cache_bulk(void)
{
    void *objects[12];
    kmem_cache_args args = {};
    args.align = 128;
    kmem_cache *cache = kmem_cache_create("whitebox_bulk", 128, &args, SLAB_PANIC);

    if (!kmem_cache_alloc_bulk(cache, GFP_KERNEL, std::size(objects), objects))
        BUG();
    std::sort(std::begin(objects), std::end(objects));
    BUG_ON(std::adjacent_find(std::begin(objects), std::end(objects)) != std::end(objects));
    for (const void *object : objects)
        BUG_ON(reinterpret_cast<unsigned long>(object) % args.align != 0);
    kmem_cache_free_bulk(cache, std::size(objects), objects);
    kmem_cache_destroy(cache);
}

// ---- the program's body: main.c treats the suite as a module

void maple_tree_tests(void);
int kmirror_module_init(void);
void kmirror_module_exit(void);

int kmirror_module_init(void)
{
    maple_tree_init();
    maple_tree_tests();
    return 0;
}

void kmirror_module_exit(void) {}

} // extern "C"
