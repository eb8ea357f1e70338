// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts a kernel tree's allocator, in the order of a kernel: what start_kernel() does for it.
 *
 * Owns     the copies of its static per-CPU variables.
 * Bounds   once a process.
 * Fails    an impossible setting is one line on stderr and exit status 2.
 */
#include "tools/kdir/slub/boot.h"

#include <linux/slab.h>

#include <pthread.h>
#include <stdlib.h>

gfp_t gfp_allowed_mask = __GFP_BITS_MASK;
DEFINE_STATIC_KEY_FALSE(init_on_alloc);
DEFINE_STATIC_KEY_FALSE(init_on_free);

void page_alloc_init(void);
void kmirror_bad_setting(const char *variable, const char *value, const char *reason) __attribute__((noreturn));
void kmem_cache_init(void);
void kmem_cache_init_late(void);
int kdir_late_init(void);

/* ---- static per-CPU variables ------------------------------------------------------------------------------ */

extern char __start_kdir_percpu[], __stop_kdir_percpu[];
static char *percpu_copies;

static void copy_percpu_variables(void)
{
    const size_t bytes = (size_t)(__stop_kdir_percpu - __start_kdir_percpu);
    unsigned int cpu;

    percpu_copies = __alloc_percpu(bytes, 64);
    if (!percpu_copies)
        panic("no per-CPU memory of %zu bytes\n", bytes);
    for (cpu = 0; cpu < nr_cpu_ids; cpu++)
        memcpy(percpu_copies + per_cpu_offset(cpu), __start_kdir_percpu, bytes);
}

void *kdir_percpu_first(const void *variable)
{
    return percpu_copies + ((const char *)variable - __start_kdir_percpu);
}

/* ---- parameters -------------------------------------------------------------------------------------------- */

extern const struct kdir_parameter __start_kdir_params[], __stop_kdir_params[];

/* The one of that name, by which a __setup() text may end in "=". */
static const struct kdir_parameter *find_parameter(const char *name)
{
    const struct kdir_parameter *at;
    const size_t length = strlen(name);

    for (at = __start_kdir_params; at < __stop_kdir_params; at++) {
        if (strncmp(at->name, name, length) == 0 && (!at->name[length] || strcmp(at->name + length, "=") == 0))
            return at;
    }
    return NULL;
}

static bool set_parameter(const char *name, const char *value)
{
    const struct kdir_parameter *parameter = find_parameter(name);
    char text[256];

    if (!parameter)
        return false;
    if (parameter->set)
        return parameter->set(value, NULL) == 0;
    if (parameter->number)
        return kstrtouint(value, 0, parameter->number) == 0;
    /* The text behind the name: with the sign, unless the name has it. */
    snprintf(text, sizeof(text), "%s%s", parameter->name[strlen(parameter->name) - 1] == '=' ? "" : "=", value);
    return parameter->setup(text) != 0;
}

static const char *setting(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value ? value : NULL;
}

/* Is a variable of 0 and 1 set to @wanted? */
static bool is_set(const char *variable, bool wanted)
{
    const char *value = setting(variable);

    if (!value)
        return false;
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        kmirror_bad_setting(variable, value, "0 or 1");
    return (*value == '1') == wanted;
}

static void apply_settings(void)
{
    const char *debug = setting("KMIRROR_SLAB_DEBUG");

    if (debug && !set_parameter("slab_debug", debug))
        kmirror_bad_setting("KMIRROR_SLAB_DEBUG", debug, "what slab_debug= of that kernel takes");
    if (is_set("KMIRROR_SLAB_MERGE", false))
        set_parameter("slab_nomerge", "");
    if (is_set("KMIRROR_SLAB_STRICT_NUMA", true))
        set_parameter("slab_strict_numa", "");
    if (is_set("KMIRROR_SLAB_INIT_ON_ALLOC", true))
        static_branch_enable(&init_on_alloc);
    if (is_set("KMIRROR_SLAB_INIT_ON_FREE", true))
        static_branch_enable(&init_on_free);
}

/* ---- nodes ------------------------------------------------------------------------------------------------- */

static struct notifier_block notified;
static bool notified_by_node;

static int node_changes(unsigned long action, int nid)
{
    struct node_notify node = {nid};
    struct memory_notify memory = {nid, nid};
    const int answer =
        notified.notifier_call(&notified, action, notified_by_node ? (void *)&node : (void *)&memory);

    return answer & 0x8000 ? 1 - (answer & ~0x8000) : 0;
}

int kdir_node_notifier(kdir_notifier_t call, bool by_node)
{
    notified.notifier_call = call;
    notified_by_node = by_node;
    return hotplug_node_callback(node_changes);
}

/* ---- start-up ---------------------------------------------------------------------------------------------- */

static void boot(void)
{
    page_alloc_init();
    copy_percpu_variables();
    apply_settings();
    kdir_start_interrupts();
    kmem_cache_init();
    kmem_cache_init_late();
#ifdef KDIR_HAS_KVFREE_INIT
    kvfree_rcu_init();
#endif
    kdir_late_init();
}

void kdir_boot(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, boot);
}

/* ---- kfree_rcu() ------------------------------------------------------------------------------------------- */

void kdir_free_rcu_barrier(void)
{
    kvfree_rcu_barrier();
    rcu_barrier();
}

void kdir_free_rcu_barrier_on(struct slab_ops_cache *cache)
{
#ifdef KDIR_HAS_SHEAVES
    kvfree_rcu_barrier_on_cache((struct kmem_cache *)cache);
#else
    (void)cache;
    kvfree_rcu_barrier();
#endif
    rcu_barrier();
}
