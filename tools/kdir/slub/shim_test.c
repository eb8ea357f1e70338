// SPDX-License-Identifier: GPL-2.0-only
/*
 * What stands for a kernel's headers under its allocator, tested by itself: a list that is not spliced or work that is
 * not waited for loses slabs without a word. Linked with what implement-slab made; one line a check that failed.
 */
#include "tools/kdir/slub/shim/kernel.h"

#include <linux/slab.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int checks, failures;

#define CHECK(condition)                                                                                \
    do {                                                                                                \
        checks++;                                                                                       \
        if (!(condition)) {                                                                             \
            failures++;                                                                                 \
            printf("shim_test: %s:%d: %s\n", __FILE__, __LINE__, #condition);                           \
        }                                                                                               \
    } while (0)

/* ---- text -------------------------------------------------------------------------------------------------- */

static int format(char *text, size_t room, const char *form, ...)
{
    va_list values;
    int length;

    va_start(values, form);
    length = kdir_vformat(text, room, form, values);
    va_end(values);
    return length;
}

static int nested(char *text, size_t room, const char *form, ...)
{
    struct va_format inner = {.fmt = form};
    va_list values;
    int length;

    va_start(values, form);
    inner.va = &values;
    length = format(text, room, "<%pV> %d", &inner, 7);
    va_end(values);
    return length;
}

static void test_text(void)
{
    char text[64];
    unsigned int number = 0;
    char list[] = "3,4", *at = list;
    int option = 0;

    format(text, sizeof(text), "%s=%lu %-4u|%5zd|%%|%07x", "a", 123456789012UL, 5u, (size_t)6, 255);
    CHECK(strcmp(text, "a=123456789012 5   |    6|%|00000ff") == 0);
    CHECK(nested(text, sizeof(text), "%s %lx", "in", 0xabcUL) == 10 && strcmp(text, "<in abc> 7") == 0);
    CHECK(format(text, 4, "%s", "123456") == 6 && strcmp(text, "123") == 0);
    CHECK(kstrtouint("17\n", 10, &number) == 0 && number == 17);
    CHECK(kstrtouint("17x", 10, &number) == -EINVAL && kstrtouint("4294967296", 10, &number) == -ERANGE);
    CHECK(get_option(&at, &option) && option == 3 && get_option(&at, &option) && option == 4 && !get_option(&at, &option));
    CHECK(memchr_inv("aaaa", 'a', 4) == NULL && *(char *)memchr_inv("aaba", 'a', 4) == 'b');
    CHECK(*strnchr("a*b", 3, '*') == '*' && !strnchr("ab*", 2, '*'));
}

/* ---- lists and bits ---------------------------------------------------------------------------------------- */

struct item {
    struct list_head entry;
    int number;
};

static void test_lists(void)
{
    struct item items[4], *at, *before;
    LIST_HEAD(list);
    LIST_HEAD(other);
    struct llist_head stack = {NULL};
    struct llist_node nodes[2];
    unsigned long *bits = bitmap_zalloc(70, GFP_KERNEL);
    int i, digits = 0;

    for (i = 0; i < 4; i++) {
        items[i].number = i + 1;
        list_add_tail(&items[i].entry, &list);
    }
    list_for_each_entry_safe_reverse(at, before, &list, entry) {
        digits = digits * 10 + at->number;
        list_del(&at->entry);
        list_add(&at->entry, &other);
    }
    CHECK(digits == 4321 && list_empty(&list));
    list_splice(&other, &list);
    digits = 0;
    list_for_each_entry(at, &list, entry)
        digits = digits * 10 + at->number;
    CHECK(digits == 1234);
    llist_add(&nodes[0], &stack);
    llist_add(&nodes[1], &stack);
    CHECK(llist_del_first(&stack) == &nodes[1] && llist_del_first(&stack) == &nodes[0] && !llist_del_first(&stack));
    CHECK(bits && find_first_bit(bits, 70) == 70);
    if (bits)
        __set_bit(69, bits);
    CHECK(bits && find_first_bit(bits, 70) == 69);
    bitmap_free(bits);
}

/* ---- work -------------------------------------------------------------------------------------------------- */

static struct work_struct inner_work;
static int done, inner_done, cpu_of_work = -1;

static void do_inner(struct work_struct *work)
{
    (void)work;
    __atomic_fetch_add(&inner_done, 1, __ATOMIC_SEQ_CST);
}

/* Waits for other work, so a second thread is needed. */
static void do_outer(struct work_struct *work)
{
    (void)work;
    cpu_of_work = raw_smp_processor_id();
    usleep(1000);
    schedule_work(&inner_work);
    flush_work(&inner_work);
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
}

static void test_work(void)
{
    struct work_struct outer;
    struct delayed_work later;
    struct rcu_work after;
    unsigned long state;
    int i;

    INIT_WORK(&inner_work, do_inner);
    INIT_WORK(&outer, do_outer);
    for (i = 0; i < 50; i++) {
        CHECK(queue_work_on(nr_cpu_ids - 1, NULL, &outer));
        flush_work(&outer);
        CHECK(done == i + 1 && inner_done == i + 1 && cpu_of_work == (int)nr_cpu_ids - 1);
    }
    INIT_DELAYED_WORK(&later, do_inner);
    CHECK(queue_delayed_work(NULL, &later, 3600 * HZ) && !queue_delayed_work(NULL, &later, 0));
    CHECK(delayed_work_pending(&later) && cancel_delayed_work_sync(&later) && !delayed_work_pending(&later));
    CHECK(inner_done == 50);
    mod_delayed_work(NULL, &later, 3600 * HZ);
    flush_work(&later.work);
    CHECK(inner_done == 51);
    INIT_RCU_WORK(&after, do_inner);
    state = get_state_synchronize_rcu();
    CHECK(!poll_state_synchronize_rcu(state));
    CHECK(queue_rcu_work(NULL, &after));
    flush_rcu_work(&after);
    CHECK(inner_done == 52 && poll_state_synchronize_rcu(state));
}

static void raised(struct irq_work *work)
{
    (void)work;
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
}

/* Nobody has to come by: it is done soon. */
static void test_interrupt(void)
{
    struct irq_work work = IRQ_WORK_INIT(raised);
    int i;

    done = 0;
    CHECK(irq_work_queue(&work));
    for (i = 0; i < 10000 && !__atomic_load_n(&done, __ATOMIC_SEQ_CST); i++)
        usleep(1000);
    CHECK(done == 1);
    irq_work_sync(&work);
}

/* ---- 128 bits ---------------------------------------------------------------------------------------------- */

static void test_cmpxchg(void)
{
    u128 word = 1, old = 1;

    CHECK(try_cmpxchg128(&word, &old, ((u128)5 << 64) + 2) && (unsigned long)(word >> 64) == 5);
    old = 2;
    CHECK(!try_cmpxchg128(&word, &old, 9) && (unsigned long)(old >> 64) == 5 && (unsigned long)old == 2);
}

void kdir_boot(void);

int main(void)
{
    kdir_boot();
    test_text();
    test_lists();
    test_work();
    test_interrupt();
    test_cmpxchg();
    printf("# the shims: %d of %d checks passed\n", checks - failures, checks);
    return failures != 0;
}
