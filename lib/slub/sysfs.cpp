// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/sysfs.cpp: the attribute files of a cache.
//
// Owns     the table of attributes. The statistics follow it, by the names of stats.cpp.
// Bounds   a text is at most a page.
// Locking  list_lock while a partial list is counted; the caller keeps the cache alive.
// Fails    see <kmirror/slab_sysfs.h>.
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/kallsyms.h>
#include <linux/limits.h>
#include <linux/sprintf.h>
#include <linux/string.h>
#include <kmirror/slab_info.h>
#include <kmirror/slab_sysfs.h>

#include "lib/slub/cpu_slab.h"
#include "lib/slub/create.h"
#include "lib/slub/node.h"
#include "lib/slub/percpu_sheaves.h"

namespace kmirror::slub {

namespace {

// Text that grows in a buffer; what does not fit is cut off.
class Text {
public:
    Text(char *buffer, size_t room) : at_(buffer), left_(room) { *buffer = '\0'; }

    Text &add(const char *text) { return add("%s", text); }
    template <class... Arguments>
    Text &add(const char *format, Arguments... arguments)
    {
        const int written = scnprintf(at_, left_, format, arguments...);
        at_ += written;
        left_ -= (size_t)written;
        length_ += written;
        return *this;
    }
    int length() const { return length_; }

private:
    char *at_;
    size_t left_;
    int length_ = 0;
};

using Show = void (*)(struct kmem_cache *s, Text &out);
using Store = int (*)(struct kmem_cache *s, const char *text);

struct SlabAttribute {
    const char *name;
    Show show;
    Store store; // NULL: read-only
};

// ---- numbers and flags

void show_unsigned(Text &out, unsigned long value)
{
    out.add("%lu\n", value);
}

template <slab_flags_t flag>
void show_flag(struct kmem_cache *s, Text &out)
{
    show_unsigned(out, (s->flags & flag) != 0);
}

template <unsigned int kmem_cache::*field>
void show_field(struct kmem_cache *s, Text &out)
{
    show_unsigned(out, READ_ONCE(s->*field));
}

void show_objs_per_slab(struct kmem_cache *s, Text &out)
{
    show_unsigned(out, s->oo.objects);
}

void show_order(struct kmem_cache *s, Text &out)
{
    show_unsigned(out, s->oo.order);
}

void show_min_partial(struct kmem_cache *s, Text &out)
{
    show_unsigned(out, READ_ONCE(s->min_partial));
}

void show_aliases(struct kmem_cache *s, Text &out)
{
    show_unsigned(out, s->refcount > 0 ? (unsigned long)s->refcount - 1 : 0);
}

void show_nothing(struct kmem_cache *, Text &)
{
}

void show_ctor(struct kmem_cache *s, Text &out)
{
    char symbol[KSYM_SYMBOL_LEN];

    if (!s->ctor)
        return;
    sprint_symbol(symbol, reinterpret_cast<unsigned long>(s->ctor));
    out.add("%s\n", symbol);
}

void show_defrag_ratio(struct kmem_cache *s, Text &out)
{
    show_unsigned(out, READ_ONCE(s->remote_node_defrag_ratio) / 10);
}

// ---- counts, with the share of each node: "12 N0=8 N1=4"

using Count = unsigned long (*)(struct kmem_cache_node *n);

template <class PerSlab>
unsigned long sum_partial(struct kmem_cache_node *n, PerSlab of)
{
    unsigned long sum = 0;
    ListHold hold(n);
    for (struct slab *slab : SlabsOn(&n->partial))
        sum += of(slab_counters(slab));
    return sum;
}

unsigned long partial_free(struct kmem_cache_node *n)
{
    return sum_partial(n, [](SlabCounters counters) { return counters.free(); });
}

unsigned long partial_inuse(struct kmem_cache_node *n)
{
    return sum_partial(n, [](SlabCounters counters) { return counters.inuse(); });
}

// A free that comes between the two counts would make the difference negative.
unsigned long node_inuse(struct kmem_cache_node *n)
{
    const unsigned long free = partial_free(n);
    const unsigned long all = node_nr_objs(n);
    return all > free ? all - free : 0;
}

unsigned long partial_slabs(struct kmem_cache_node *n)
{
    return READ_ONCE(n->nr_partial);
}

unsigned long all_slabs(struct kmem_cache_node *n)
{
    return node_nr_slabs(n);
}

unsigned long all_objects(struct kmem_cache_node *n)
{
    return node_nr_objs(n);
}

struct NodeShares {
    unsigned long of_node[MAX_NUMNODES];
    unsigned long total;

    NodeShares() { memset(this, 0, sizeof(*this)); }
    void add(int node, unsigned long count)
    {
        of_node[node] += count;
        total += count;
    }
    void show(Text &out) const
    {
        out.add("%lu", total);
        for (unsigned int node = 0; node < nr_node_ids; node++)
            if (of_node[node])
                out.add(" N%u=%lu", node, of_node[node]);
        out.add("\n");
    }
};

template <Count count>
void show_nodes(struct kmem_cache *s, Text &out)
{
    NodeShares shares;

    for_each_cache_node(s, [&](int node, struct kmem_cache_node *n) { shares.add(node, count(n)); });
    shares.show(out);
}

// ---- what CPUs hold of a cache with cpu slabs, without a lock: a struct slab never goes away

unsigned int chain_length(const struct kmem_cache_cpu *c)
{
    const struct slab *chain = READ_ONCE(c->partial);
    return chain ? READ_ONCE(chain->slabs) : 0;
}

void show_cpu_slabs(struct kmem_cache *s, Text &out)
{
    NodeShares shares;
    unsigned int cpu;

    for_each_possible_cpu (cpu) {
        if (!s->cpu_slab)
            break;
        const struct kmem_cache_cpu *c = per_cpu_ptr(s->cpu_slab, cpu);
        if (const struct slab *slab = READ_ONCE(c->slab))
            shares.add(slab_nid(slab), 1);
        if (const struct slab *chain = READ_ONCE(c->partial))
            shares.add(slab_nid(chain), chain_length(c));
    }
    shares.show(out);
}

// "objects(slabs)": half of the objects of a chained slab are free, by and large.
void show_slabs_cpu_partial(struct kmem_cache *s, Text &out)
{
    unsigned int slabs = 0;
    unsigned int cpu;
    const auto objects_in = [&](unsigned int count) { return count * s->oo.objects / 2; };

    for_each_online_cpu (cpu)
        slabs += s->cpu_slab ? chain_length(per_cpu_ptr(s->cpu_slab, cpu)) : 0;
    out.add("%u(%u)", objects_in(slabs), slabs);
    for_each_online_cpu (cpu) {
        const unsigned int count = s->cpu_slab ? chain_length(per_cpu_ptr(s->cpu_slab, cpu)) : 0;
        if (count)
            out.add(" C%u=%u(%u)", cpu, objects_in(count), count);
    }
    out.add("\n");
}

void show_stat(struct kmem_cache *s, unsigned int item, Text &out)
{
    unsigned int cpu;

    out.add("%lu", slab_stat_sum(s, item));
    for_each_online_cpu (cpu)
        if (const unsigned long value = slab_stat_cpu(s, item, cpu))
            out.add(" C%u=%lu", cpu, value);
    out.add("\n");
}

// ---- writing

// A decimal number and perhaps a newline; false: something else, or too large.
bool parse_number(const char *text, unsigned long *value)
{
    *value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(*value, 10ul, value) ||
            __builtin_add_overflow(*value, (unsigned long)(*at - '0'), value))
            return false;
    return at != text && (!*at || (*at == '\n' && !at[1]));
}

int store_min_partial(struct kmem_cache *s, const char *text)
{
    unsigned long slabs;

    if (!parse_number(text, &slabs))
        return -EINVAL;
    WRITE_ONCE(s->min_partial, slabs);
    return 0;
}

int store_cpu_partial(struct kmem_cache *s, const char *text)
{
    unsigned long objects;

    if (!parse_number(text, &objects) || objects > INT_MAX || (objects && !s->cpu_slab))
        return -EINVAL;
    if (s->cpu_slab) {
        slub_set_cpu_partial(s, (unsigned int)objects);
        flush_all(s);
    }
    return 0;
}

int store_shrink(struct kmem_cache *s, const char *text)
{
    if (*text != '1')
        return -EINVAL;
    kmem_cache_shrink(s);
    return 0;
}

int store_validate(struct kmem_cache *s, const char *text)
{
    if (*text != '1' || !(s->flags & SLAB_DEBUG_FLAGS))
        return -EINVAL;
    const long result = validate_slab_cache(s);
    return result < 0 ? (int)result : 0;
}

int store_failslab(struct kmem_cache *s, const char *text)
{
    // Of a shared cache nobody can say whose allocations should fail.
    if (s->refcount > 1)
        return -EINVAL;
    WRITE_ONCE(s->flags, *text == '1' ? s->flags | SLAB_FAILSLAB : s->flags & ~SLAB_FAILSLAB);
    return 0;
}

int store_defrag_ratio(struct kmem_cache *s, const char *text)
{
    unsigned long percent;

    if (!parse_number(text, &percent))
        return -EINVAL;
    if (percent > 100)
        return -ERANGE;
    WRITE_ONCE(s->remote_node_defrag_ratio, (unsigned int)percent * 10);
    return 0;
}

constexpr SlabAttribute kAttributes[] = {
    {"slab_size", show_field<&kmem_cache::size>, nullptr},
    {"object_size", show_field<&kmem_cache::object_size>, nullptr},
    {"objs_per_slab", show_objs_per_slab, nullptr},
    {"order", show_order, nullptr},
    {"sheaf_capacity", show_field<&kmem_cache::sheaf_capacity>, nullptr},
    {"min_partial", show_min_partial, store_min_partial},
    {"cpu_partial", show_field<&kmem_cache::cpu_partial>, store_cpu_partial},
    {"objects_partial", show_nodes<partial_inuse>, nullptr},
    {"partial", show_nodes<partial_slabs>, nullptr},
    {"cpu_slabs", show_cpu_slabs, nullptr},
    {"ctor", show_ctor, nullptr},
    {"aliases", show_aliases, nullptr},
    {"align", show_field<&kmem_cache::align>, nullptr},
    {"hwcache_align", show_flag<SLAB_HWCACHE_ALIGN>, nullptr},
    {"reclaim_account", show_flag<SLAB_RECLAIM_ACCOUNT>, nullptr},
    {"destroy_by_rcu", show_flag<SLAB_TYPESAFE_BY_RCU>, nullptr},
    {"shrink", show_nothing, store_shrink},
    {"slabs_cpu_partial", show_slabs_cpu_partial, nullptr},
    {"total_objects", show_nodes<all_objects>, nullptr},
    {"objects", show_nodes<node_inuse>, nullptr},
    {"slabs", show_nodes<all_slabs>, nullptr},
    {"sanity_checks", show_flag<SLAB_CONSISTENCY_CHECKS>, nullptr},
    {"trace", show_flag<SLAB_TRACE>, nullptr},
    {"red_zone", show_flag<SLAB_RED_ZONE>, nullptr},
    {"poison", show_flag<SLAB_POISON>, nullptr},
    {"store_user", show_flag<SLAB_STORE_USER>, nullptr},
    {"validate", show_nothing, store_validate},
    {"cache_dma", show_flag<SLAB_CACHE_DMA>, nullptr},
    {"remote_node_defrag_ratio", show_defrag_ratio, store_defrag_ratio},
    {"failslab", show_flag<SLAB_FAILSLAB>, store_failslab},
    {"usersize", show_field<&kmem_cache::usersize>, nullptr},
};

constexpr unsigned int kFixed = sizeof(kAttributes) / sizeof(kAttributes[0]);

int store_stat(struct kmem_cache *s, unsigned int item, const char *text)
{
    if (*text != '0')
        return -EINVAL;
    slab_stat_clear_item(s, item);
    return 0;
}

// Each has the fixed ones; statistics are those of the cache's generation.
bool has_attribute(struct kmem_cache *s, unsigned int index)
{
    return index < kFixed || slab_stat_known(s, index - kFixed);
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

const char *kmirror_slab_attr_name(unsigned int index)
{
    return index < kFixed ? kAttributes[index].name : slab_stat_name(index - kFixed);
}

unsigned int kmirror_slab_attr_mode(unsigned int index)
{
    if (!kmirror_slab_attr_name(index))
        return 0;
    return index >= kFixed || kAttributes[index].store ? 0600 : 0400;
}

int kmirror_slab_attr_show(struct kmem_cache *s, unsigned int index, char *buffer, size_t room)
{
    if (!has_attribute(s, index))
        return -ENOENT;
    Text out(buffer, room);
    if (index < kFixed)
        kAttributes[index].show(s, out);
    else
        show_stat(s, index - kFixed, out);
    return out.length();
}

int kmirror_slab_attr_store(struct kmem_cache *s, const char *name, const char *text)
{
    for (unsigned int index = 0; kmirror_slab_attr_name(index); index++) {
        if (!has_attribute(s, index) || strcmp(kmirror_slab_attr_name(index), name))
            continue;
        if (index >= kFixed)
            return store_stat(s, index - kFixed, text);
        return kAttributes[index].store ? kAttributes[index].store(s, text) : -EACCES;
    }
    return -ENOENT;
}

const char *kmirror_slab_sysfs_name(struct kmem_cache *s, char *buffer, size_t room)
{
    static constexpr struct {
        slab_flags_t flag;
        char letter;
    } kLetters[] = {{SLAB_CACHE_DMA, 'd'},
                    {SLAB_CACHE_DMA32, 'D'},
                    {SLAB_RECLAIM_ACCOUNT, 'a'},
                    {SLAB_CONSISTENCY_CHECKS, 'F'},
                    {SLAB_ACCOUNT, 'A'}};
    Text out(buffer, room);

    if (slab_unmergeable(s)) {
        out.add("%s", s->name);
        return buffer;
    }
    bool any = false;
    out.add(":");
    for (const auto &each : kLetters) {
        if (!(s->flags & each.flag))
            continue;
        out.add("%c", each.letter);
        any = true;
    }
    out.add("%s%07u", any ? "-" : "", s->size);
    return buffer;
}
