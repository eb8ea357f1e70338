// SPDX-License-Identifier: GPL-2.0-only
//
// <kmirror/maple_tree.hpp>: maple_map<T>, a typed map from ranges of unsigned long over <linux/maple_tree.h>.
//
//   kmirror::maple_map<int> ports;                      // T integral or an enumeration: values
//   if (auto stored = ports.store_range(8000, 8099, 7); !stored)
//       return stored.error();                          // -ENOMEM: the map is as it was
//   int owner = ports.load(8050).value_or(-1);          // 7
//   for (auto [first, last, value] : ports.read()) ...  // in order, inside an RCU read section
//
//   kmirror::maple_map<region> regions;                 // any other T: pointers to T
//   auto at = regions.alloc_range(&heap, 16, 0, 0xffff);    // the lowest gap of 16 indices
//   auto held = regions.lock();                         // several steps under the map's lock
//
// The programs in tools/examples are longer examples; `make check` runs them.
//
// Indices  ranges are inclusive, [first, last], as in the C API; neighbours with equal contents stay apart.
// Owns     the nodes of its tree, never what pointers point to.
// Locking  writers take the map's spinlock by themselves; lock() takes it for several steps. Readers take
//          none: load() and find() are RCU read sections of their own, read() holds one. A writer that takes
//          an object out frees it after a grace period only (synchronize_rcu(), kfree_rcu()), and a reader
//          uses it inside read() only. lock() inside read() is allowed; waiting inside either is not.
// Fails    nothing is hidden: what may need memory returns a [[nodiscard]] result with 0 or -errno, and a
//          failed call leaves the map as it was. erase() alone allocates and never fails (it may wait for
//          memory).
#ifndef KMIRROR_MAPLE_TREE_HPP
#define KMIRROR_MAPLE_TREE_HPP

#include <cassert>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include <linux/maple_tree.h>
#include <linux/slab.h>
#include <linux/xarray.h>

namespace kmirror {

/** map_result<V> - a V, or why there is none: error() is 0 or -errno. map_result<> carries no value. */
template <class V = void>
class [[nodiscard]] map_result {
public:
    map_result(V value) : value_(std::move(value)) {}
    static map_result failed(int error) { return map_result(error, nullptr); }

    explicit operator bool() const { return error_ == 0; }
    int error() const { return error_; }
    /* The value; only after success. */
    V &value() & { return assert(error_ == 0), *value_; }
    V &&value() && { return assert(error_ == 0), std::move(*value_); }
    const V &value() const & { return assert(error_ == 0), *value_; }
    V &operator*() & { return value(); }
    V &&operator*() && { return std::move(*this).value(); }
    V *operator->() { return &value(); }

private:
    map_result(int error, std::nullptr_t) : error_(error) { assert(error != 0); }

    int error_ = 0;
    std::optional<V> value_;
};

template <>
class [[nodiscard]] map_result<void> {
public:
    map_result() = default;
    static map_result failed(int error) { return from(error); }
    /* From what a function of the C API returned: 0 or -errno. */
    static map_result from(int error)
    {
        map_result result;
        result.error_ = error;
        return result;
    }

    explicit operator bool() const { return error_ == 0; }
    int error() const { return error_; }

private:
    int error_ = 0;
};

/** map_range - the indices from first to last, both included. */
struct map_range {
    unsigned long first;
    unsigned long last;
    friend bool operator==(const map_range &, const map_range &) = default;
};

/** map_value - T is stored by value: an integer or an enumeration, of at most 63 significant bits. */
template <class T>
concept map_value = std::integral<T> || std::is_enum_v<T>;

/** map_entry<T> - how the tree holds a T. The primary form: pointers, as they are. */
template <class T>
struct map_entry {
    using type = T *;
    using found = T *; /* what a search gives: NULL is "nothing there" */

    /* NULL means "nothing" to the tree, and it keeps some small words for itself. */
    static bool fits(type value)
    {
        return value &&
               !(reinterpret_cast<unsigned long>(value) < MAPLE_RESERVED_RANGE && xa_is_internal(value));
    }
    static void *pack(type value) { return const_cast<void *>(static_cast<const volatile void *>(value)); }
    static type unpack(void *entry) { return static_cast<type>(entry); }
    static found as_found(void *entry) { return unpack(entry); }
};

/* Integers: shifted left, with the lowest bit set, as xa_mk_value() does; a 64-bit type loses one bit. */
template <map_value T>
struct map_entry<T> {
    using type = T;
    using found = std::optional<T>;

    static bool fits(T value) { return unpack(pack(value)) == value; }
    static void *pack(T value)
    {
        return reinterpret_cast<void *>(static_cast<unsigned long>(value) << 1 | 1UL);
    }
    static T unpack(void *entry)
    {
        const auto word = reinterpret_cast<unsigned long>(entry);
        return is_signed() ? static_cast<T>(static_cast<long>(word) >> 1) : static_cast<T>(word >> 1);
    }
    static found as_found(void *entry) { return entry ? found(unpack(entry)) : found(); }

private:
    static constexpr bool is_signed()
    {
        if constexpr (std::is_enum_v<T>)
            return std::is_signed_v<std::underlying_type_t<T>>;
        else
            return std::is_signed_v<T>;
    }
};

/**
 * maple_map<T> - the map.
 *
 * A map is empty at first and usable by any number of threads. It can be moved, while nobody else uses it;
 * what was moved from may be assigned to and destroyed, no more. duplicate() copies.
 */
template <class T>
class maple_map {
    using entry_of = map_entry<T>;

public:
    using mapped_type = typename entry_of::type; /* T for integers, else T * */
    using found_type = typename entry_of::found; /* std::optional<T>, else T *, NULL for nothing */

    /* One range and what it holds; three names in a structured binding. */
    struct value_type {
        unsigned long first;
        unsigned long last;
        mapped_type value;
        friend bool operator==(const value_type &, const value_type &) = default;
    };

    /* What a map costs and can do: without gaps its inner nodes hold 16 ranges instead of 10, and alloc_*()
     * and find_gap*() answer -EINVAL. */
    enum class kind { gaps, no_gaps };

    class iterator;
    class read_section;
    class write_lock;
    class reservation;

    /* make() - an empty map. Return: the map, or -ENOMEM. Context: may sleep. */
    static map_result<maple_map> make(kind of = kind::gaps)
    {
        maple_tree *tree = new_tree(of, GFP_KERNEL);
        return tree ? map_result<maple_map>(maple_map(tree)) : map_result<maple_map>::failed(-ENOMEM);
    }

    /* The same, but waits until there is memory for the map itself (64 bytes). */
    explicit maple_map(kind of = kind::gaps) : tree_(new_tree(of, GFP_KERNEL | __GFP_NOFAIL)) {}

    maple_map(maple_map &&other) noexcept : tree_(std::exchange(other.tree_, nullptr)) {}
    maple_map &operator=(maple_map &&other) noexcept
    {
        maple_map(std::move(other)).swap(*this);
        return *this;
    }
    ~maple_map()
    {
        if (tree_)
            mtree_destroy(tree_);
        kfree(tree_);
    }
    void swap(maple_map &other) noexcept { std::swap(tree_, other.tree_); }

    /* duplicate() - a map with the same contents. Return: it, or -ENOMEM. Context: may sleep. */
    map_result<maple_map> duplicate(gfp_t gfp = GFP_KERNEL) const
    {
        auto copy = make((tree_->ma_flags & MT_FLAGS_ALLOC_RANGE) ? kind::gaps : kind::no_gaps);
        if (!copy)
            return copy;
        const int error = mtree_dup(tree_, copy->tree_, gfp);
        return error ? map_result<maple_map>::failed(error) : std::move(copy);
    }

    bool empty() const { return mtree_empty(tree_); }

    /* clear() - forget everything. */
    void clear() { mtree_destroy(tree_); }

    /* c_tree() - the tree under the map, for the C API. Stored words are those of map_entry<T>. */
    maple_tree *c_tree() { return tree_; }

    /* ---- reading. Context: any; each call is one RCU read section. */

    /* What is at @index. */
    found_type load(unsigned long index) const { return entry_of::as_found(mtree_load(tree_, index)); }

    bool contains(unsigned long index) const { return mtree_load(tree_, index) != nullptr; }

    /* find() - the range that holds @index, or else the first one above it, up to @max.
     * find_next(), find_prev() - the first range that begins above @index, the last that ends below it. */
    std::optional<value_type> find(unsigned long index, unsigned long max = ULONG_MAX) const
    {
        return looked_up(index, [max](ma_state *at) { return mas_find(at, max); });
    }
    std::optional<value_type> find_next(unsigned long index, unsigned long max = ULONG_MAX) const
    {
        return looked_up(index, [max](ma_state *at) { return mas_next(at, max); });
    }
    std::optional<value_type> find_prev(unsigned long index, unsigned long min = 0) const
    {
        return looked_up(index, [min](ma_state *at) { return mas_prev(at, min); });
    }

    /* read() - an RCU read section with the map's ranges: begin(), end(), from(), within(). */
    [[nodiscard]] read_section read() const { return read_section(tree_); }

    /* ---- writing. Context: each call takes the lock; GFP_KERNEL may sleep, GFP_NOWAIT does not.
     * Return: 0; -ENOMEM; -EINVAL for first > last, for a null pointer and for a value that does not fit. */

    /* Overwrites [first, last]; ranges that reach beyond it keep the rest. */
    map_result<> store_range(unsigned long first, unsigned long last, mapped_type value,
                             gfp_t gfp = GFP_KERNEL)
    {
        if (!entry_of::fits(value))
            return map_result<>::failed(-EINVAL);
        return map_result<>::from(mtree_store_range(tree_, first, last, entry_of::pack(value), gfp));
    }
    map_result<> store(unsigned long index, mapped_type value, gfp_t gfp = GFP_KERNEL)
    {
        return store_range(index, index, value, gfp);
    }

    /* The same, but -EEXIST when anything is there. */
    map_result<> insert_range(unsigned long first, unsigned long last, mapped_type value,
                              gfp_t gfp = GFP_KERNEL)
    {
        if (!entry_of::fits(value))
            return map_result<>::failed(-EINVAL);
        return map_result<>::from(mtree_insert_range(tree_, first, last, entry_of::pack(value), gfp));
    }
    map_result<> insert(unsigned long index, mapped_type value, gfp_t gfp = GFP_KERNEL)
    {
        return insert_range(index, index, value, gfp);
    }

    /* erase() - takes out the whole range that holds @index. Return: what it held. Context: may sleep. */
    found_type erase(unsigned long index) { return entry_of::as_found(mtree_erase(tree_, index)); }

    /* erase_range() - nothing is in [first, last] afterwards; a range cut in two needs memory. */
    map_result<> erase_range(unsigned long first, unsigned long last, gfp_t gfp = GFP_KERNEL)
    {
        return map_result<>::from(mtree_store_range(tree_, first, last, nullptr, gfp));
    }

    /* alloc_range() - stores at the lowest gap of @size indices in [min, max]; alloc_range_high() at the
     * highest. Return: where; -EBUSY when there is no such gap. */
    map_result<map_range> alloc_range(mapped_type value, unsigned long size, unsigned long min = 0,
                                      unsigned long max = ULONG_MAX, gfp_t gfp = GFP_KERNEL)
    {
        return allocated(mtree_alloc_range, value, size, min, max, gfp);
    }
    map_result<map_range> alloc_range_high(mapped_type value, unsigned long size, unsigned long min = 0,
                                           unsigned long max = ULONG_MAX, gfp_t gfp = GFP_KERNEL)
    {
        return allocated(mtree_alloc_rrange, value, size, min, max, gfp);
    }

    /* alloc_cyclic() - stores at the first free index from @next on, going round inside [min, max]; @next
     * moves on. Return: the index; -EBUSY when all are taken. */
    map_result<unsigned long> alloc_cyclic(mapped_type value, unsigned long min, unsigned long max,
                                           unsigned long &next, gfp_t gfp = GFP_KERNEL)
    {
        using result = map_result<unsigned long>;
        unsigned long index = 0;
        if (!entry_of::fits(value))
            return result::failed(-EINVAL);
        const int error = mtree_alloc_cyclic(tree_, &index, entry_of::pack(value), min, max, &next, gfp);
        return error < 0 ? result::failed(error) : result(index);
    }

    /* lock() - the map's lock for several steps that nobody may see between; readers still do. */
    [[nodiscard]] write_lock lock() { return write_lock(tree_); }

private:
    explicit maple_map(maple_tree *tree) : tree_(tree) {}

    static maple_tree *new_tree(kind of, gfp_t gfp)
    {
        auto *tree = static_cast<maple_tree *>(kzalloc(sizeof(maple_tree), gfp));
        if (tree)
            mt_init_flags(tree, MT_FLAGS_USE_RCU | (of == kind::gaps ? MT_FLAGS_ALLOC_RANGE : 0));
        return tree;
    }

    static value_type value_at(const ma_state &at, void *entry)
    {
        return {at.index, at.last, entry_of::unpack(entry)};
    }

    template <class Step>
    std::optional<value_type> looked_up(unsigned long index, Step step) const
    {
        MA_STATE(at, tree_, index, index);
        const rcu_section section;
        void *entry = step(&at);
        return entry ? std::optional<value_type>(value_at(at, entry)) : std::nullopt;
    }

    template <class Allocate>
    map_result<map_range> allocated(Allocate allocate, mapped_type value, unsigned long size,
                                    unsigned long min, unsigned long max, gfp_t gfp)
    {
        unsigned long first = 0;
        const int error = entry_of::fits(value)
                              ? allocate(tree_, &first, entry_of::pack(value), size, min, max, gfp)
                              : -EINVAL;
        if (error)
            return map_result<map_range>::failed(error);
        return map_range{first, first + size - 1};
    }

    struct rcu_section {
        rcu_section() { rcu_read_lock(); }
        ~rcu_section() { rcu_read_unlock(); }
        rcu_section(const rcu_section &) = delete;
        rcu_section &operator=(const rcu_section &) = delete;
    };
    struct lock_section {
        explicit lock_section(maple_tree *tree) : tree_(tree) { mtree_lock(tree_); }
        ~lock_section() { mtree_unlock(tree_); }
        lock_section(const lock_section &) = delete;
        lock_section &operator=(const lock_section &) = delete;
        maple_tree *tree_;
    };
    class ranges;

    maple_tree *tree_;
};

/**
 * iterator - bidirectional, over the ranges that hold something. Gives value_type by value.
 *
 * Lives inside the read section or the lock it came from. Under RCU it sees each range as it was at some
 * moment of the walk and never goes back; after a write of this thread's own get a new one.
 */
template <class T>
class maple_map<T>::iterator {
public:
    using value_type = typename maple_map<T>::value_type;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::bidirectional_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using reference = value_type;
    using pointer = void;

    iterator() = default;

    value_type operator*() const { return assert(entry_), value_at(at_, entry_); }
    iterator &operator++()
    {
        assert(entry_);
        entry_ = mas_next(&at_, ULONG_MAX);
        return *this;
    }
    /* From the end to the last range. */
    iterator &operator--()
    {
        if (entry_) {
            entry_ = mas_prev(&at_, 0);
        } else {
            mas_set(&at_, ULONG_MAX);
            entry_ = mas_find_rev(&at_, 0);
        }
        assert(entry_);
        return *this;
    }
    iterator operator++(int)
    {
        const iterator before = *this;
        return ++*this, before;
    }
    iterator operator--(int)
    {
        const iterator before = *this;
        return --*this, before;
    }

    friend bool operator==(const iterator &a, const iterator &b)
    {
        return !a.entry_ || !b.entry_ ? a.entry_ == b.entry_ : a.at_.index == b.at_.index;
    }

private:
    friend class maple_map<T>::ranges;

    explicit iterator(maple_tree *tree) { mas_init(&at_, tree, 0); }
    iterator(maple_tree *tree, unsigned long index)
    {
        mas_init(&at_, tree, index);
        entry_ = mas_find(&at_, ULONG_MAX);
    }

    ma_state at_{};
    void *entry_ = nullptr; /* NULL at the end */
};

/* The map's ranges, for whoever holds the section or the lock. */
template <class T>
class maple_map<T>::ranges {
public:
    struct part {
        iterator first, stop;
        iterator begin() const { return first; }
        iterator end() const { return stop; }
    };

    iterator begin() const { return from(0); }
    iterator end() const { return iterator(tree_); }
    /* From the range that holds @index, or else the first one above it. */
    iterator from(unsigned long index) const { return iterator(tree_, index); }
    /* All ranges that meet [first, last]. */
    part within(unsigned long first, unsigned long last) const
    {
        iterator stop = last == ULONG_MAX ? end() : from(last);
        if (stop != end() && (*stop).first <= last)
            ++stop;
        return {from(first), stop};
    }
    found_type load(unsigned long index) const { return entry_of::as_found(mtree_load(tree_, index)); }

protected:
    explicit ranges(maple_tree *tree) : tree_(tree) {}
    maple_tree *tree_;
};

/** read_section - see read(). Holds rcu_read_lock(); stays in the thread that made it. */
template <class T>
class maple_map<T>::read_section : rcu_section, public ranges {
    friend class maple_map<T>;
    explicit read_section(maple_tree *tree) : ranges(tree) {}
};

/** write_lock - see lock(). Holds the map's spinlock. By default nothing in it drops the lock or sleeps. */
template <class T>
class maple_map<T>::write_lock : lock_section, public ranges {
public:
    /* As the map's; a @gfp that may sleep drops the lock while it waits for memory. */
    map_result<> store_range(unsigned long first, unsigned long last, mapped_type value,
                             gfp_t gfp = GFP_NOWAIT)
    {
        return entry_of::fits(value) ? stored(first, last, entry_of::pack(value), gfp)
                                     : map_result<>::failed(-EINVAL);
    }
    map_result<> store(unsigned long index, mapped_type value, gfp_t gfp = GFP_NOWAIT)
    {
        return store_range(index, index, value, gfp);
    }
    map_result<> erase_range(unsigned long first, unsigned long last, gfp_t gfp = GFP_NOWAIT)
    {
        return stored(first, last, nullptr, gfp);
    }

    /* find_gap() - the lowest gap of @size indices in [min, max]; find_gap_high() the highest. Or -EBUSY. */
    map_result<map_range> find_gap(unsigned long size, unsigned long min = 0,
                                   unsigned long max = ULONG_MAX) const
    {
        return gap(mas_empty_area, size, min, max);
    }
    map_result<map_range> find_gap_high(unsigned long size, unsigned long min = 0,
                                        unsigned long max = ULONG_MAX) const
    {
        return gap(mas_empty_area_rev, size, min, max);
    }

    /* reserve() - the memory that storing @value over [first, last] needs; commit() then cannot fail. Nothing
     * else may be written between the two. Return: the reservation; -ENOMEM; -EINVAL. */
    map_result<reservation> reserve(unsigned long first, unsigned long last, mapped_type value,
                                    gfp_t gfp = GFP_NOWAIT)
    {
        using result = map_result<reservation>;
        if (first > last || !entry_of::fits(value))
            return result::failed(-EINVAL);
        MA_STATE(at, this->ranges::tree_, first, last);
        if (const int error = mas_preallocate(&at, entry_of::pack(value), gfp))
            return result::failed(error);
        return reservation(at, entry_of::pack(value));
    }

private:
    friend class maple_map<T>;
    explicit write_lock(maple_tree *tree) : lock_section(tree), ranges(tree) {}

    map_result<> stored(unsigned long first, unsigned long last, void *entry, gfp_t gfp)
    {
        if (first > last)
            return map_result<>::failed(-EINVAL);
        MA_STATE(at, this->ranges::tree_, first, last);
        return map_result<>::from(mas_store_gfp(&at, entry, gfp));
    }

    template <class Search>
    map_result<map_range> gap(Search search, unsigned long size, unsigned long min, unsigned long max) const
    {
        if (!mt_has_gaps())
            return map_result<map_range>::failed(-EINVAL);
        MA_STATE(at, this->ranges::tree_, 0, 0);
        const int error = search(&at, min, max, size);
        return error ? map_result<map_range>::failed(error) : map_result<map_range>({at.index, at.last});
    }
    bool mt_has_gaps() const { return (this->ranges::tree_->ma_flags & MT_FLAGS_ALLOC_RANGE) != 0; }
};

/** reservation - memory for one store, see write_lock::reserve(). Given back when it is not committed. */
template <class T>
class [[nodiscard]] maple_map<T>::reservation {
public:
    reservation(reservation &&other) noexcept
        : at_(other.at_), entry_(other.entry_), held_(std::exchange(other.held_, false))
    {
    }
    reservation &operator=(reservation &&) = delete;
    ~reservation()
    {
        if (held_)
            mas_destroy(&at_);
    }

    /* Stores; once. Context: under the lock that reserve() was called under. */
    void commit()
    {
        assert(held_);
        held_ = false;
        mas_store_prealloc(&at_, entry_);
    }

private:
    friend class maple_map<T>::write_lock;
    reservation(const ma_state &at, void *entry) : at_(at), entry_(entry) {}

    ma_state at_;
    void *entry_;
    bool held_ = true;
};

} // namespace kmirror

#endif
