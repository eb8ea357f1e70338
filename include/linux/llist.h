/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/llist.h: a stack without a lock. Any number of threads push; a consumer
 * takes the whole stack at once. Popping one element needs a single consumer.
 */
#ifndef KMIRROR_LINUX_LLIST_H
#define KMIRROR_LINUX_LLIST_H

#include <linux/atomic.h>
#include <linux/container_of.h>

struct llist_node {
    struct llist_node *next;
};

struct llist_head {
    struct llist_node *first;
};

#define LLIST_HEAD_INIT(...) { NULL }
#define LLIST_HEAD(name) struct llist_head name = LLIST_HEAD_INIT(name)

static inline void init_llist_head(struct llist_head *head)
{
    head->first = NULL;
}

static inline bool llist_empty(const struct llist_head *head)
{
    return !READ_ONCE(head->first);
}

/* llist_add_batch() - Push the chain @first .. @last. Return: the stack was empty. */
static inline bool llist_add_batch(struct llist_node *first, struct llist_node *last,
                                   struct llist_head *head)
{
    struct llist_node *top = READ_ONCE(head->first);

    do {
        last->next = top;
        /* (L1) The chain is complete before it can be taken. Pairs with (L2). */
    } while (!__atomic_compare_exchange_n(&head->first, &top, first, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
    return !top;
}

static inline bool llist_add(struct llist_node *node, struct llist_head *head)
{
    return llist_add_batch(node, node, head);
}

/* llist_del_all() - Take everything, newest first; NULL if there was nothing. */
static inline struct llist_node *llist_del_all(struct llist_head *head)
{
    /* (L2) Pairs with (L1); otherwise a next pointer could be read before it is written. */
    return __atomic_exchange_n(&head->first, (struct llist_node *)NULL, __ATOMIC_ACQUIRE);
}

/* llist_reverse_order() - A taken chain, oldest first. */
static inline struct llist_node *llist_reverse_order(struct llist_node *chain)
{
    struct llist_node *reversed = NULL;

    while (chain) {
        struct llist_node *next = chain->next;

        chain->next = reversed;
        reversed = chain;
        chain = next;
    }
    return reversed;
}

#define llist_entry(pointer, type, member) container_of(pointer, type, member)
#define llist_for_each(position, chain) \
    for ((position) = (chain); (position); (position) = (position)->next)
#define llist_for_each_safe(position, after, chain)                                 \
    for ((position) = (chain); (position) && ((after) = (position)->next, 1); (position) = (after))

#endif /* KMIRROR_LINUX_LLIST_H */
