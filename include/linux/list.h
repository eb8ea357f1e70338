/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/list.h: rings (list_head) and chains with a one-word head (hlist).
 *
 * A ring has one head that carries no data. Every function takes the ring apart
 * and closes it again by two primitives, list_join() and __list_splice_between();
 * a removed element is poisoned, so that a second removal faults. The caller
 * excludes others, except where a name says careful.
 */
#ifndef KMIRROR_LINUX_LIST_H
#define KMIRROR_LINUX_LIST_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/types.h>

/* Addresses nobody maps, left in removed elements. */
#ifndef LIST_POISON1
#define LIST_POISON1 ((struct list_head *)0xdead000000000100UL)
#define LIST_POISON2 ((struct list_head *)0xdead000000000122UL)
#endif

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

/* INIT_LIST_HEAD() - Make @head an empty ring. */
static inline void INIT_LIST_HEAD(struct list_head *head)
{
    WRITE_ONCE(head->next, head);
    WRITE_ONCE(head->prev, head);
}

/* list_join() - Make @left and @right neighbours. */
static inline void list_join(struct list_head *left, struct list_head *right)
{
    right->prev = left;
    WRITE_ONCE(left->next, right);
}

/* __list_splice_between() - Put the run @first .. @last between two neighbours. */
static inline void __list_splice_between(struct list_head *first, struct list_head *last,
                                         struct list_head *left, struct list_head *right)
{
    list_join(last, right);
    list_join(left, first);
}

/* list_add() - Insert right after @head: a stack. */
static inline void list_add(struct list_head *entry, struct list_head *head)
{
    __list_splice_between(entry, entry, head, head->next);
}

/* list_add_tail() - Insert right before @head: a queue. */
static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
    __list_splice_between(entry, entry, head->prev, head);
}

/* __list_del_entry() - Close the ring around @entry and leave its pointers. */
static inline void __list_del_entry(struct list_head *entry)
{
    list_join(entry->prev, entry->next);
}

/* list_del() - Remove @entry; its pointers are poisoned. */
static inline void list_del(struct list_head *entry)
{
    __list_del_entry(entry);
    entry->next = LIST_POISON1;
    entry->prev = LIST_POISON2;
}

/* list_del_init() - Remove @entry and leave it an empty ring. */
static inline void list_del_init(struct list_head *entry)
{
    __list_del_entry(entry);
    INIT_LIST_HEAD(entry);
}

/* list_replace() - Put @fresh where @old is; @old keeps stale pointers. */
static inline void list_replace(struct list_head *old, struct list_head *fresh)
{
    list_join(fresh, old->next);
    list_join(old->prev, fresh);
}

static inline void list_replace_init(struct list_head *old, struct list_head *fresh)
{
    list_replace(old, fresh);
    INIT_LIST_HEAD(old);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
    __list_del_entry(entry);
    list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
    __list_del_entry(entry);
    list_add_tail(entry, head);
}

/* list_bulk_move_tail() - Move the run @first .. @last of one ring to the end of another. */
static inline void list_bulk_move_tail(struct list_head *head, struct list_head *first,
                                       struct list_head *last)
{
    list_join(first->prev, last->next);
    __list_splice_between(first, last, head->prev, head);
}

/* list_empty() - Also a hint without the lock. */
static inline bool list_empty(const struct list_head *head)
{
    return READ_ONCE(head->next) == head;
}

/* list_empty_careful() - True only if no other CPU is half way through a change. */
static inline bool list_empty_careful(const struct list_head *head)
{
    struct list_head *next = __atomic_load_n(&head->next, __ATOMIC_ACQUIRE);

    return next == head && next == READ_ONCE(head->prev);
}

static inline bool list_is_head(const struct list_head *entry, const struct list_head *head)
{
    return entry == head;
}

static inline bool list_is_first(const struct list_head *entry, const struct list_head *head)
{
    return entry->prev == head;
}

static inline bool list_is_last(const struct list_head *entry, const struct list_head *head)
{
    return entry->next == head;
}

/* list_is_singular() - Exactly one element. */
static inline bool list_is_singular(const struct list_head *head)
{
    return !list_empty(head) && head->next == head->prev;
}

/* list_rotate_left() - The first element becomes the last. */
static inline void list_rotate_left(struct list_head *head)
{
    if (!list_empty(head))
        list_move_tail(head->next, head);
}

/* list_splice() - All of @list to the front of @head; @list is then stale. */
static inline void list_splice(const struct list_head *list, struct list_head *head)
{
    if (!list_empty(list))
        __list_splice_between(list->next, list->prev, head, head->next);
}

/* list_splice_tail() - All of @list to the end of @head; @list is then stale. */
static inline void list_splice_tail(struct list_head *list, struct list_head *head)
{
    if (!list_empty(list))
        __list_splice_between(list->next, list->prev, head->prev, head);
}

static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
    list_splice(list, head);
    INIT_LIST_HEAD(list);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
    list_splice_tail(list, head);
    INIT_LIST_HEAD(list);
}

/* list_cut_position() - Elements up to and including @last move from @head to the empty @list. */
static inline void list_cut_position(struct list_head *list, struct list_head *head,
                                     struct list_head *last)
{
    struct list_head *first = head->next, *after = last->next;

    INIT_LIST_HEAD(list);
    if (last == head)
        return;
    list_join(head, after);
    __list_splice_between(first, last, list, list);
}

#define list_entry(pointer, type, member) container_of(pointer, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
    (list_empty(head) ? (type *)NULL : list_first_entry(head, type, member))
#define list_last_entry_or_null(head, type, member) \
    (list_empty(head) ? (type *)NULL : list_last_entry(head, type, member))
#define list_next_entry(position, member) \
    list_entry((position)->member.next, __typeof__(*(position)), member)
#define list_prev_entry(position, member) \
    list_entry((position)->member.prev, __typeof__(*(position)), member)
#define list_entry_is_head(position, head, member) (&(position)->member == (head))

#define list_for_each(position, head) \
    for ((position) = (head)->next; (position) != (head); (position) = (position)->next)
#define list_for_each_safe(position, after, head)                                  \
    for ((position) = (head)->next, (after) = (position)->next; (position) != (head); \
         (position) = (after), (after) = (position)->next)
#define list_for_each_entry(position, head, member)                               \
    for ((position) = list_first_entry(head, __typeof__(*(position)), member);    \
         !list_entry_is_head(position, head, member);                             \
         (position) = list_next_entry(position, member))
#define list_for_each_entry_reverse(position, head, member)                       \
    for ((position) = list_last_entry(head, __typeof__(*(position)), member);     \
         !list_entry_is_head(position, head, member);                             \
         (position) = list_prev_entry(position, member))
#define list_for_each_entry_safe(position, after, head, member)                   \
    for ((position) = list_first_entry(head, __typeof__(*(position)), member),    \
        (after) = list_next_entry(position, member);                              \
         !list_entry_is_head(position, head, member);                             \
         (position) = (after), (after) = list_next_entry(after, member))

#define HLIST_HEAD_INIT { NULL }
#define HLIST_HEAD(name) struct hlist_head name = HLIST_HEAD_INIT
#define INIT_HLIST_HEAD(head) ((head)->first = NULL)

static inline void INIT_HLIST_NODE(struct hlist_node *node)
{
    node->next = NULL;
    node->pprev = NULL;
}

static inline bool hlist_unhashed(const struct hlist_node *node)
{
    return !node->pprev;
}

static inline bool hlist_empty(const struct hlist_head *head)
{
    return !READ_ONCE(head->first);
}

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
    node->next = head->first;
    if (node->next)
        node->next->pprev = &node->next;
    node->pprev = &head->first;
    WRITE_ONCE(head->first, node);
}

/* hlist_del_init() - Remove @node if it is on a chain. */
static inline void hlist_del_init(struct hlist_node *node)
{
    if (hlist_unhashed(node))
        return;
    WRITE_ONCE(*node->pprev, node->next);
    if (node->next)
        node->next->pprev = node->pprev;
    INIT_HLIST_NODE(node);
}

#define hlist_entry(pointer, type, member) container_of(pointer, type, member)
#define hlist_entry_safe(pointer, type, member)                            \
    __extension__({                                                        \
        struct hlist_node *km_hlist_node = (pointer);                      \
        km_hlist_node ? hlist_entry(km_hlist_node, type, member) : (type *)NULL; \
    })
#define hlist_for_each_entry(position, head, member)                                        \
    for ((position) = hlist_entry_safe((head)->first, __typeof__(*(position)), member);     \
         (position);                                                                        \
         (position) = hlist_entry_safe((position)->member.next, __typeof__(*(position)), member))

#endif /* KMIRROR_LINUX_LIST_H */
