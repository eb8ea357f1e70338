// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/deferred.cpp: what was put aside, and doing it.
//
// Owns     the three stacks; one set for the process, where the kernel has one for each CPU:
//          only who lost a race comes here.
// Bounds   see deferred.h.
// Locking  see deferred.h.
// Fails    never.
#include "lib/slub/deferred.h"
#include "lib/slub/free.h"
#include "lib/slub/kfree_rcu.h"

namespace kmirror::slub {

namespace {

void deferred_work(struct irq_work *);

struct {
    struct llist_head objects;        // linked where a free object has its link
    struct llist_head objects_by_rcu; // linked through their kvfree_rcu_head
    struct llist_head rcu_sheaves;
    struct irq_work work;
} deferred = {LLIST_HEAD_INIT(), LLIST_HEAD_INIT(), LLIST_HEAD_INIT(), IRQ_WORK_INIT(deferred_work)};

void put_aside(struct llist_node *node, struct llist_head *stack)
{
    if (llist_add(node, stack))
        irq_work_queue(&deferred.work);
}

// Calls visit(node) for everything on the stack; the node may be gone afterwards.
template <class Visit>
void for_each_taken(struct llist_head *stack, Visit visit)
{
    struct llist_node *at = llist_del_all(stack);
    while (at) {
        struct llist_node *next = at->next;
        visit(at);
        at = next;
    }
}

void free_deferred(struct llist_node *node)
{
    struct slab *slab = slab_of_object(node);
    struct kmem_cache *s = slab->slab_cache;
    // The link lies `offset` bytes into its object.
    void *object = reinterpret_cast<char *>(node) - s->offset;

    set_freepointer(s, object, nullptr);
    slab_free_counted(s, slab, object, object, 1);
}

void deferred_work(struct irq_work *)
{
    for_each_taken(&deferred.objects, free_deferred);
    for_each_taken(&deferred.objects_by_rcu, [](struct llist_node *node) {
        auto *head = reinterpret_cast<struct rcu_head *>(node);
        kvfree_call_rcu(head, kvmalloc_obj_start_addr(head));
    });
    for_each_taken(&deferred.rcu_sheaves, [](struct llist_node *node) {
        rcu_sheaf_retire(llist_entry(node, struct slab_sheaf, llnode));
    });
}

} // namespace

void defer_free(struct kmem_cache *s, void *object)
{
    put_aside(reinterpret_cast<struct llist_node *>(byte_at(object, s->offset)), &deferred.objects);
}

void defer_kfree_rcu(struct kvfree_rcu_head *head)
{
    put_aside(reinterpret_cast<struct llist_node *>(head), &deferred.objects_by_rcu);
}

void defer_rcu_sheaf(struct slab_sheaf *sheaf)
{
    put_aside(&sheaf->llnode, &deferred.rcu_sheaves);
}

void deferred_work_barrier()
{
    irq_work_sync(&deferred.work);
}

} // namespace kmirror::slub
