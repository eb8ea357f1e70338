/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/cpumask.h: sets of virtual CPUs, and which there are.
 *
 * The possible CPUs are 0 to nr_cpu_ids - 1, fixed before main(). The online set
 * changes under the hotplug lock; hold cpus_read_lock() to see it stand still.
 */
#ifndef KMIRROR_LINUX_CPUMASK_H
#define KMIRROR_LINUX_CPUMASK_H

#include <linux/atomic.h>
#include <linux/bitops.h>

#define NR_CPUS CONFIG_NR_CPUS

typedef struct cpumask {
    DECLARE_BITMAP(bits, NR_CPUS);
} cpumask_t;

typedef struct cpumask cpumask_var_t[1];

KM_C_BEGIN
/* One more than the highest possible CPU number. */
extern unsigned int nr_cpu_ids;
extern struct cpumask __cpu_possible_mask;
extern struct cpumask __cpu_online_mask;
KM_C_END

#define cpu_possible_mask ((const struct cpumask *)&__cpu_possible_mask)
#define cpu_present_mask cpu_possible_mask
#define cpu_online_mask ((const struct cpumask *)&__cpu_online_mask)
#define cpumask_bits(mask) ((mask)->bits)
#define to_cpumask(words) ((struct cpumask *)(words))

static inline bool cpumask_test_cpu(int cpu, const struct cpumask *mask)
{
    return test_bit((unsigned long)cpu, mask->bits);
}

static inline void cpumask_set_cpu(unsigned int cpu, struct cpumask *mask)
{
    set_bit(cpu, mask->bits);
}

static inline void cpumask_clear_cpu(int cpu, struct cpumask *mask)
{
    clear_bit((unsigned long)cpu, mask->bits);
}

static inline void __cpumask_set_cpu(unsigned int cpu, struct cpumask *mask)
{
    __set_bit(cpu, mask->bits);
}

static inline void __cpumask_clear_cpu(int cpu, struct cpumask *mask)
{
    __clear_bit((unsigned long)cpu, mask->bits);
}

static inline void cpumask_clear(struct cpumask *mask)
{
    unsigned int word;

    for (word = 0; word < BITS_TO_LONGS(NR_CPUS); word++)
        mask->bits[word] = 0;
}

static inline void cpumask_copy(struct cpumask *to, const struct cpumask *from)
{
    unsigned int word;

    for (word = 0; word < BITS_TO_LONGS(NR_CPUS); word++)
        to->bits[word] = READ_ONCE(from->bits[word]);
}

static inline unsigned int cpumask_first(const struct cpumask *mask)
{
    return (unsigned int)find_first_bit(mask->bits, nr_cpu_ids);
}

/* cpumask_next() - The next CPU after @cpu; at least nr_cpu_ids if there is none. */
static inline unsigned int cpumask_next(int cpu, const struct cpumask *mask)
{
    return (unsigned int)find_next_bit(mask->bits, nr_cpu_ids, (unsigned long)(cpu + 1));
}

static inline bool cpumask_empty(const struct cpumask *mask)
{
    return cpumask_first(mask) >= nr_cpu_ids;
}

static inline unsigned int cpumask_weight(const struct cpumask *mask)
{
    return bitmap_weight(mask->bits, nr_cpu_ids);
}

static inline bool cpu_online(unsigned int cpu)
{
    return cpumask_test_cpu((int)cpu, cpu_online_mask);
}

static inline bool cpu_possible(unsigned int cpu)
{
    return cpu < nr_cpu_ids;
}

#define cpu_present(cpu) cpu_possible(cpu)
#define num_online_cpus() cpumask_weight(cpu_online_mask)
#define num_possible_cpus() cpumask_weight(cpu_possible_mask)

#define for_each_cpu(cpu, mask)                                               \
    for ((cpu) = (__typeof__(cpu))cpumask_first(mask); (unsigned int)(cpu) < nr_cpu_ids; \
         (cpu) = (__typeof__(cpu))cpumask_next((int)(cpu), (mask)))
#define for_each_possible_cpu(cpu) for_each_cpu(cpu, cpu_possible_mask)
#define for_each_present_cpu(cpu) for_each_possible_cpu(cpu)
#define for_each_online_cpu(cpu) for_each_cpu(cpu, cpu_online_mask)

#endif /* KMIRROR_LINUX_CPUMASK_H */
