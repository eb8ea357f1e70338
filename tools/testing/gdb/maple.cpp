// SPDX-License-Identifier: GPL-2.0-only
//
// What gdb-maple-check looks at: a tree of two levels with a cursor on it, a tree that is one word, and a dead node.

#include <linux/maple_tree.h>
#include <linux/xarray.h>

namespace {
int text;
}

extern "C" {
maple_tree tree = MTREE_INIT(tree, MT_FLAGS_ALLOC_RANGE | MT_FLAGS_USE_RCU);
maple_tree lone = MTREE_INIT(lone, 0);
ma_state mas = {};
maple_node *root, *dead;

__attribute__((noinline)) void look()
{
    asm volatile("" ::: "memory");
}
}

int main()
{
    mtree_store(&tree, 1000, &text, GFP_KERNEL);
    rcu_read_lock();
    dead = (maple_node *)((unsigned long)tree.ma_root & ~MAPLE_NODE_MASK);
    for (unsigned long i = 0; i < 20; i++)
        mtree_store_range(&tree, i * 16, i * 16 + 9, i == 3 ? &text : xa_mk_value(i), GFP_KERNEL);
    root = (maple_node *)((unsigned long)tree.ma_root & ~MAPLE_NODE_MASK);
    mtree_store(&lone, 0, xa_mk_value(5), GFP_KERNEL);
    mas_init(&mas, &tree, 49);
    mas_walk(&mas);
    look();
    mas.node = MA_ERROR(-ENOMEM);
    mas.status = ma_error;
    look();
    rcu_read_unlock();
    mtree_destroy(&tree);
}
