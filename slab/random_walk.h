// SPDX-License-Identifier: GPL-2.0-only
//
// Random operations of all kinds on one cache, each seen by a model that knows every live object and its
// bytes.
//
// Owns     the objects it has allocated; finish() frees them.
// Bounds   up to a few thousand live objects.
// Locking  one thread.
// Fails    as failures of the running test, with the seed.
#pragma once

#include "slab/slab_test.h"

#include <algorithm>
#include <vector>

namespace kmirror::slab_test {

// Random operations of all kinds on one cache, with the model beside it.
class RandomWalk {
public:
    RandomWalk(Cache &cache, std::mt19937_64 &random)
        : cache_(cache), random_(random), made_(cache.geometry()),
          shadow_(made_.object_size, made_.size, made_.align)
    {
    }
    void step()
    {
        const unsigned long choice = pick(random_, 0, 11);
        if (choice <= 3)
            take(cache_.alloc());
        else if (choice == 4)
            take(cache_.alloc_node(int(pick(random_, 0, ops().nr_nodes() - 1))));
        else if (choice == 5)
            bulk_alloc();
        else if (choice == 6)
            from_sheaf();
        else if (choice <= 9)
            free_some(pick(random_, 1, 3));
        else if (choice == 10)
            bulk_free();
        else
            free_some(pick(random_, 1, 60));
    }
    void finish()
    {
        while (!live_.empty())
            free_some(live_.size());
        EXPECT_EQ(shadow_.size(), 0u);
    }
    void check() const { EXPECT_EQ(shadow_.check(), ""); }

private:
    void take(void *object)
    {
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(shadow_.add(object), "");
        live_.push_back(object);
    }
    void *drop()
    {
        std::swap(live_[pick(random_, 0, live_.size() - 1)], live_.back());
        void *object = live_.back();
        live_.pop_back();
        EXPECT_EQ(shadow_.remove(object), "");
        return object;
    }
    void free_some(unsigned long n)
    {
        for (; n && !live_.empty(); n--)
            cache_.free(drop());
    }
    void bulk_alloc()
    {
        void *objects[100];
        const unsigned long n = pick(random_, 1, 100);
        ASSERT_TRUE(cache_.alloc_bulk(n, objects));
        for (unsigned long i = 0; i < n; i++)
            take(objects[i]);
    }
    void bulk_free()
    {
        void *objects[100];
        const unsigned long n = std::min<unsigned long>(pick(random_, 1, 100), live_.size());
        for (unsigned long i = 0; i < n; i++)
            objects[i] = drop();
        if (n)
            ops().free_bulk(pick(random_, 0, 1) ? static_cast<slab_ops_cache *>(cache_) : nullptr, n,
                            objects);
    }
    void from_sheaf()
    {
        const unsigned n = unsigned(pick(random_, 1, std::max(2 * made_.sheaf_capacity, 40u)));
        slab_ops_sheaf *sheaf = ops().prefill(cache_, SLAB_OPS_KERNEL, n);
        ASSERT_NE(sheaf, nullptr);
        for (unsigned i = unsigned(pick(random_, 0, n)); i < n; i++)
            take(ops().alloc_from_sheaf(cache_, SLAB_OPS_KERNEL, sheaf));
        ops().return_sheaf(cache_, SLAB_OPS_KERNEL, sheaf);
    }

    Cache &cache_;
    std::mt19937_64 &random_;
    slab_ops_geometry made_;
    Shadow shadow_;
    std::vector<void *> live_;
};

// `steps` random operations; contents and cache are checked every 50, and at the end nothing is left.
inline void walk(Cache &cache, int steps)
{
    KMIRROR_RANDOM(random);
    RandomWalk walk(cache, random);
    for (int i = 0; i < steps; i++) {
        walk.step();
        if (i % 50 == 0) {
            walk.check();
            cache.verify();
        }
        if (::testing::Test::HasFailure())
            break;
    }
    walk.finish();
}

} // namespace kmirror::slab_test
