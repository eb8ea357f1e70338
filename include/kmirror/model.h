/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The judge: what a maple tree must contain, kept in a std::map, and the comparison of a tree with it. C++20
 * only.
 *
 *   kmirror::model::RangeMap expected;
 *   ops->store_range(tree, 10, 19, a, MAPLE_OPS_KERNEL);
 *   expected.store(10, 19, a);
 *   EXPECT_EQ(expected.differences(ops, tree), "");
 *
 * Owns     copies of ranges; entries are only compared, never followed.
 * Bounds   every operation is O(log n) but for gaps, which look at every range of their window, and
 *          differences(), which reads the whole tree.
 * Locking  none of its own: one thread, or the user's lock. differences() takes the tree's lock().
 * Fails    as the tree does: -EEXIST where insert() meets something, an empty optional where nothing is
 *          found.
 */
#ifndef KMIRROR_MODEL_H
#define KMIRROR_MODEL_H

#ifndef __cplusplus
#error "<kmirror/model.h> is for C++"
#endif

#include <kmirror/maple_ops.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kmirror::model {

/* One inclusive range of indices that map to the same entry. */
struct Range {
    unsigned long first;
    unsigned long last;
    void *entry;

    bool operator==(const Range &) const = default;
};

inline std::string to_string(const Range &range)
{
    char text[80];
    std::snprintf(text, sizeof(text), "[%lu, %lu] = %p", range.first, range.last, range.entry);
    return text;
}

class RangeMap {
public:
    // ---- changing

    /* Whatever lay in [first, last] is replaced; what sticks out on either side stays, as ranges of their
     * own. */
    void store(unsigned long first, unsigned long last, void *entry)
    {
        cut(first, last);
        if (entry)
            ranges_[first] = Range{first, last, entry};
    }

    int insert(unsigned long first, unsigned long last, void *entry)
    {
        if (!is_free(first, last))
            return -EEXIST;
        store(first, last, entry);
        return 0;
    }

    /* Erases the whole range that holds `index`. */
    void *erase(unsigned long index)
    {
        const auto found = holder(index);
        if (found == ranges_.end())
            return nullptr;
        void *entry = found->second.entry;
        ranges_.erase(found);
        return entry;
    }

    void clear() { ranges_.clear(); }

    // ---- asking

    bool empty() const { return ranges_.empty(); }
    std::size_t size() const { return ranges_.size(); }
    const std::map<unsigned long, Range> &ranges() const { return ranges_; }

    void *load(unsigned long index) const { return at(index).entry; }

    /* The range that holds `index`; where nothing is stored, the whole NULL range. */
    Range at(unsigned long index) const
    {
        const auto above = ranges_.upper_bound(index);
        const unsigned long before_next = above == ranges_.end() ? ULONG_MAX : above->first - 1;
        if (above == ranges_.begin())
            return Range{0, before_next, nullptr};
        const Range &below = std::prev(above)->second;
        return below.last >= index ? below : Range{below.last + 1, before_next, nullptr};
    }

    bool is_free(unsigned long first, unsigned long last) const
    {
        const Range range = at(first);
        return !range.entry && range.last >= last;
    }

    /* The first entry that begins above `index` and not above `max`. */
    std::optional<Range> next(unsigned long index, unsigned long max) const
    {
        const auto above = ranges_.upper_bound(index);
        if (above == ranges_.end() || above->first > max)
            return std::nullopt;
        return above->second;
    }

    /* The last entry that ends below `index` and not below `min`. */
    std::optional<Range> prev(unsigned long index, unsigned long min) const
    {
        auto below = ranges_.lower_bound(at(index).entry ? at(index).first : index);
        if (below == ranges_.begin() || (--below)->second.last < min)
            return std::nullopt;
        return below->second;
    }

    /* The entry at `index`, or else the next one that begins at `max` or before. */
    std::optional<Range> find(unsigned long index, unsigned long max) const
    {
        const Range range = at(index);
        return range.entry ? std::optional(range) : next(index, max);
    }

    std::optional<Range> find_rev(unsigned long index, unsigned long min) const
    {
        const Range range = at(index);
        return range.entry ? std::optional(range) : prev(index, min);
    }

    /* First index of the lowest (highest) run of `size` free indices inside [min, max]. */
    std::optional<unsigned long> lowest_gap(unsigned long min, unsigned long max, unsigned long size) const
    {
        for (unsigned long index = min;;) {
            const Range range = at(index);
            const unsigned long last = range.last < max ? range.last : max;
            if (!range.entry && last - index >= size - 1)
                return index;
            if (last >= max)
                return std::nullopt;
            index = last + 1;
        }
    }

    std::optional<unsigned long> highest_gap(unsigned long min, unsigned long max, unsigned long size) const
    {
        for (unsigned long index = max;;) {
            const Range range = at(index);
            const unsigned long first = range.first > min ? range.first : min;
            if (!range.entry && index - first >= size - 1)
                return index - (size - 1);
            if (first <= min)
                return std::nullopt;
            index = first - 1;
        }
    }

    /* Every index of [0, ULONG_MAX], NULL ranges included, in order. */
    std::vector<Range> all() const
    {
        std::vector<Range> list;
        for (unsigned long index = 0;;) {
            list.push_back(at(index));
            if (list.back().last == ULONG_MAX)
                return list;
            index = list.back().last + 1;
        }
    }

    // ---- judging

    /* How the tree differs: forwards and backwards, range by range. Empty: not at all. Takes lock(). */
    std::string differences(const maple_ops *ops, maple_ops_tree *tree) const
    {
        ops->lock(tree);
        std::string text = compare_up(ops, tree) + compare_down(ops, tree);
        const bool is_empty = ops->empty(tree);
        ops->unlock(tree);

        if (is_empty != empty())
            text += is_empty ? "the tree says that it is empty\n" : "the tree says that it is not empty\n";
        return text;
    }

    /* How its two gap searches differ in one window. The tree tracks gaps. Takes lock(). */
    std::string gap_differences(const maple_ops *ops, maple_ops_tree *tree, unsigned long min,
                                unsigned long max, unsigned long size) const
    {
        maple_ops_cursor up, down;
        ops->cursor_init(&up, tree, 0);
        ops->cursor_init(&down, tree, 0);
        ops->lock(tree);
        const int up_error = ops->mas_empty_area(&up, min, max, size);
        const int down_error = ops->mas_empty_area_rev(&down, min, max, size);
        ops->unlock(tree);
        return compare_gap("lowest", ops, lowest_gap(min, max, size), up, up_error, min, max, size) +
               compare_gap("highest", ops, highest_gap(min, max, size), down, down_error, min, max, size);
    }

private:
    using Map = std::map<unsigned long, Range>;

    Map::iterator holder(unsigned long index)
    {
        auto above = ranges_.upper_bound(index);
        if (above == ranges_.begin())
            return ranges_.end();
        --above;
        return above->second.last >= index ? above : ranges_.end();
    }

    void cut(unsigned long first, unsigned long last)
    {
        if (const auto left = holder(first); left != ranges_.end() && left->second.first < first) {
            const Range whole = left->second;
            left->second.last = first - 1;
            if (whole.last > last)
                ranges_[last + 1] = Range{last + 1, whole.last, whole.entry};
        }
        if (const auto right = holder(last); right != ranges_.end() && right->second.last > last) {
            const Range whole = right->second;
            ranges_[last + 1] = Range{last + 1, whole.last, whole.entry};
        }
        ranges_.erase(ranges_.lower_bound(first), ranges_.upper_bound(last));
    }

    static Range cursor_range(const maple_ops *ops, const maple_ops_cursor &cursor, void *entry)
    {
        maple_ops_position at;
        ops->cursor_get(&cursor, &at);
        return Range{at.first, at.last, entry};
    }

    // Both walks go along the map, in whose order the tree's ranges have to come.
    std::string compare_up(const maple_ops *ops, maple_ops_tree *tree) const
    {
        maple_ops_cursor cursor;
        ops->cursor_init(&cursor, tree, 0);
        Range found = cursor_range(ops, cursor, ops->mas_walk(&cursor));
        auto entry = ranges_.begin();
        unsigned long index = 0;
        for (std::size_t i = 0;; i++) {
            Range expected{index, entry == ranges_.end() ? ULONG_MAX : entry->first - 1, nullptr};
            if (entry != ranges_.end() && entry->first == index)
                expected = entry++->second;
            if (found != expected)
                return difference("forwards", i, expected, found);
            if (expected.last == ULONG_MAX)
                return {};
            index = expected.last + 1;
            found = cursor_range(ops, cursor, ops->mas_next_range(&cursor, ULONG_MAX));
        }
    }

    std::string compare_down(const maple_ops *ops, maple_ops_tree *tree) const
    {
        maple_ops_cursor cursor;
        ops->cursor_init(&cursor, tree, ULONG_MAX);
        Range found = cursor_range(ops, cursor, ops->mas_walk(&cursor));
        auto entry = ranges_.rbegin();
        unsigned long index = ULONG_MAX;
        for (std::size_t i = 0;; i++) {
            Range expected{entry == ranges_.rend() ? 0 : entry->second.last + 1, index, nullptr};
            if (entry != ranges_.rend() && entry->second.last == index)
                expected = entry++->second;
            if (found != expected)
                return difference("backwards", i, expected, found);
            if (expected.first == 0)
                return {};
            index = expected.first - 1;
            found = cursor_range(ops, cursor, ops->mas_prev_range(&cursor, 0));
        }
    }

    static std::string difference(const char *way, std::size_t i, const Range &expected, const Range &found)
    {
        return std::string(way) + ", range " + std::to_string(i) + ": expected " + to_string(expected) +
               ", found " + to_string(found) + "\n";
    }

    static std::string compare_gap(const char *which, const maple_ops *ops,
                                   std::optional<unsigned long> expected, const maple_ops_cursor &cursor,
                                   int error, unsigned long min, unsigned long max, unsigned long size)
    {
        const Range found = cursor_range(ops, cursor, nullptr);
        const bool same = expected
                              ? error == 0 && found.first == *expected && found.last == *expected + (size - 1)
                              : error == -EBUSY;
        if (same)
            return "";
        return std::string(which) + " gap of " + std::to_string(size) + " in [" + std::to_string(min) + ", " +
               std::to_string(max) + "]: expected " + (expected ? std::to_string(*expected) : "-EBUSY") +
               ", found " + (error ? "error " + std::to_string(error) : to_string(found)) + "\n";
    }

    Map ranges_;
};

} // namespace kmirror::model

#endif
