// SPDX-License-Identifier: GPL-2.0-only
//
// Range maps of C++ under the loops of tree_steps.h, see tree_peers.h. A std::map or absl::btree_map holds each
// range by its first index; boost::icl joins equal neighbours, which the loops never store.

#include "tools/bench/tree_peers.h"

#include <malloc.h>

#include <functional>
#include <iterator>
#include <map>

#if __has_include(<absl/container/btree_map.h>)
#include <absl/container/btree_map.h>
#define TREE_HAS_ABSL 1
#endif
#if __has_include(<boost/icl/interval_map.hpp>)
#include <boost/icl/interval_map.hpp>
#define TREE_HAS_ICL 1
#endif

namespace kmirror::bench {
namespace {

// ---- ordered maps of first index to last index and entry ----------------------------------------------------

struct Span {
    unsigned long last, entry;
};

// The range that holds `index`, or the first one behind it.
template <class Map>
auto at_or_after(Map& map, unsigned long index) {
    auto at = map.upper_bound(index);
    if (at == map.begin()) return at;
    const auto before = std::prev(at);
    return before->second.last >= index ? before : at;
}

template <class Map>
unsigned long map_load(Map* map, unsigned long index) {
    const auto after = map->upper_bound(index);
    if (after == map->begin()) return 0;
    const auto at = std::prev(after);
    return at->second.last >= index ? at->second.entry : 0;
}

// Nothing is left of [first, last]. absl's iterators do not outlive a change.
template <class Map>
void carve(Map& map, unsigned long first, unsigned long last) {
    auto at = at_or_after(map, first);
    while (at != map.end() && at->first <= last) {
        const unsigned long begin = at->first;
        const Span old = at->second;
        if (begin < first) {
            at->second.last = first - 1;
            ++at;
        } else {
            at = map.erase(at);
        }
        if (old.last > last) {
            map.insert({last + 1, old});
            return;
        }
    }
}

template <class Map>
void map_store(Map* map, unsigned long first, unsigned long last, unsigned long entry) {
    carve(*map, first, last);
    if (entry != 0) map->insert({first, Span{last, entry}});
}

template <class Map>
bool map_insert(Map* map, unsigned long first, unsigned long last, unsigned long entry) {
    const auto at = at_or_after(*map, first);
    if (at != map->end() && at->first <= last) return false;
    map->insert(at, {first, Span{last, entry}});
    return true;
}

template <class Map>
unsigned long map_erase(Map* map, unsigned long index) {
    const auto at = at_or_after(*map, index);
    if (at == map->end() || at->first > index) return 0;
    const unsigned long entry = at->second.entry;
    map->erase(at);
    return entry;
}

template <class Map>
unsigned long map_find(Map* map, unsigned long* index) {
    const auto at = at_or_after(*map, *index);
    if (at == map->end()) return 0;
    *index = at->second.last + 1;
    return at->second.entry;
}

template <class Map>
unsigned long map_each(Map* map) {
    unsigned long sum = 0;
    for (const auto& [first, span] : *map) sum += span.entry + first;
    return sum;
}

template <class Map, class Mix>
uint64_t digest_of(const Map& map, Mix mix) {
    uint64_t sum = 0;
    for (const auto& [first, span] : map) sum = mix(mix(mix(sum, first), span.last), span.entry);
    return sum;
}

std::size_t heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// What a copy of the map takes.
template <class Map>
std::size_t bytes_of(void* map) {
    const std::size_t before = heap_bytes();
    const Map copy(*static_cast<Map*>(map));
    return heap_bytes() - before;
}

template <class Map>
tree_impl impl_of(const char* name) {
    tree_impl impl{};
    impl.name = name;
    impl.make = [](unsigned) -> void* { return new Map; };
    impl.end = [](void* map) { delete static_cast<Map*>(map); };
    impl.bytes = bytes_of<Map>;
    impl.loop[TREE_DUP] = [](void* map, tree_work* work) -> uint64_t {
        *static_cast<Map*>(work->other) = *static_cast<Map*>(map);
        work->operations = work->entries;
        return 0;
    };
    impl.loop[TREE_DESTROY] = [](void* map, tree_work* work) -> uint64_t {
        static_cast<Map*>(map)->clear();
        work->operations = work->entries;
        return 0;
    };
    return impl;
}

namespace std_map {
using map_t = std::map<unsigned long, Span>;
#include "tools/bench/tree_steps.h"
}  // namespace std_map

tree_impl std_map_impl() {
    tree_impl impl = impl_of<std_map::map_t>("std::map");
    impl.digest = [](void* map) { return digest_of(*static_cast<std_map::map_t*>(map), std_map::step_mix); };
    std_map::fill_common_loops(&impl);
    return impl;
}

#ifdef TREE_HAS_ABSL
namespace absl_map {
using map_t = absl::btree_map<unsigned long, Span>;
#include "tools/bench/tree_steps.h"
}  // namespace absl_map

tree_impl absl_map_impl() {
    tree_impl impl = impl_of<absl_map::map_t>("absl::btree_map");
    impl.digest = [](void* map) {
        return digest_of(*static_cast<absl_map::map_t*>(map), absl_map::step_mix);
    };
    absl_map::fill_common_loops(&impl);
    return impl;
}
#endif

// ---- boost::icl ---------------------------------------------------------------------------------------------

#ifdef TREE_HAS_ICL
namespace icl_map {

using Interval = boost::icl::right_open_interval<unsigned long>;
using map_t = boost::icl::interval_map<unsigned long, unsigned long, boost::icl::partial_absorber, std::less,
                                       boost::icl::inplace_plus, boost::icl::inter_section, Interval>;

unsigned long map_load(map_t* map, unsigned long index) {
    const auto at = map->find(index);
    return at == map->end() ? 0 : at->second;
}

void map_store(map_t* map, unsigned long first, unsigned long last, unsigned long entry) {
    const Interval range(first, last + 1);
    if (entry == 0)
        map->erase(range);
    else
        map->set({range, entry});
}

bool map_insert(map_t* map, unsigned long first, unsigned long last, unsigned long entry) {
    const Interval range(first, last + 1);
    const auto at = map->lower_bound(range);
    if (at != map->end() && at->first.lower() <= last) return false;
    map->set({range, entry});
    return true;
}

unsigned long map_erase(map_t* map, unsigned long index) {
    const auto at = map->find(index);
    if (at == map->end()) return 0;
    const unsigned long entry = at->second;
    map->erase(Interval(at->first));
    return entry;
}

unsigned long map_find(map_t* map, unsigned long* index) {
    const auto at = map->lower_bound(Interval(*index, *index + 1));
    if (at == map->end()) return 0;
    *index = at->first.upper();
    return at->second;
}

unsigned long map_each(map_t* map) {
    unsigned long sum = 0;
    for (const auto& [range, entry] : *map) sum += entry + range.lower();
    return sum;
}

#include "tools/bench/tree_steps.h"

tree_impl impl() {
    tree_impl impl = impl_of<map_t>("boost::icl");
    impl.digest = [](void* map) {
        uint64_t sum = 0;
        for (const auto& [range, entry] : *static_cast<map_t*>(map))
            sum = step_mix(step_mix(step_mix(sum, range.lower()), range.upper() - 1), entry);
        return sum;
    };
    fill_common_loops(&impl);
    return impl;
}

}  // namespace icl_map
#endif

}  // namespace

std::vector<tree_impl> peer_maps() {
    std::vector<tree_impl> maps = {std_map_impl()};
#ifdef TREE_HAS_ABSL
    maps.push_back(absl_map_impl());
#endif
#ifdef TREE_HAS_ICL
    maps.push_back(icl_map::impl());
#endif
    return maps;
}

}  // namespace kmirror::bench
