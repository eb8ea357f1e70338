// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: threads may allocate, free each other's objects, free after a grace period, shrink and take CPUs
// offline at the same time, on fewer CPUs than threads or more; no object is ever two threads', and at the
// end nothing is left.

#include "slab/slab_test.h"

#include <kmirror/slab_info.h>
#include <linux/rcupdate.h>

#include "lib/slub/cache.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <mutex>
#include <thread>

namespace kmirror::slab_test {
namespace {

using namespace std::chrono_literals;

// 1 under a plain build; sanitizers get less to do. One place, so that all scenarios shrink together.
constexpr int kScale = KMIRROR_TSAN ? 4 : KMIRROR_ASAN ? 2 : 1;

// What a thread writes into an object it owns: any second owner would change it.
struct Stamp {
    Stamp *self;
    std::uintptr_t owner;
    rcu_head rcu;
    std::uintptr_t check[4];

    void write(std::uintptr_t by)
    {
        self = this;
        owner = by;
        for (std::uintptr_t &word : check)
            word = reinterpret_cast<std::uintptr_t>(this) ^ by;
    }
    bool whole() const
    {
        for (const std::uintptr_t &word : check)
            if (word != (reinterpret_cast<std::uintptr_t>(this) ^ owner))
                return false;
        return self == this;
    }
};

// Objects on their way from one thread to another.
class Mailbox {
public:
    void put(std::vector<Stamp *> &objects)
    {
        const std::lock_guard guard(lock_);
        waiting_.insert(waiting_.end(), objects.begin(), objects.end());
        objects.clear();
    }
    std::vector<Stamp *> take()
    {
        const std::lock_guard guard(lock_);
        return std::exchange(waiting_, {});
    }

private:
    std::mutex lock_;
    std::vector<Stamp *> waiting_;
};

// One thread's part in a crowd. Failures are counted, and told by the main thread.
class Worker {
public:
    // Keeps about `most` objects at a time.
    Worker(Cache &cache, std::vector<Mailbox> &mail, unsigned id, std::size_t most)
        : cache_(cache), mail_(mail), id_(id), most_(most), random_(kmirror::testing::seed() * 1000 + id)
    {
    }

    void step()
    {
        const unsigned long choice = pick(random_, 0, 9);
        if (choice <= 2)
            alloc_some(pick(random_, 1, most_ / 12));
        else if (choice == 3)
            alloc_bulk();
        else if (choice == 4)
            alloc_from_sheaf();
        else if (choice <= 6)
            send();
        else if (choice == 7)
            receive();
        else
            free_some();
    }
    void finish()
    {
        receive();
        while (!mine_.empty())
            give_up(pop());
    }
    unsigned broken() const { return broken_; }

private:
    void own(void *object)
    {
        if (!object)
            return;
        auto *stamp = static_cast<Stamp *>(object);
        stamp->write(id_ + 1);
        mine_.push_back(stamp);
    }
    Stamp *pop()
    {
        Stamp *stamp = mine_.back();
        mine_.pop_back();
        broken_ += !stamp->whole();
        return stamp;
    }
    void give_up(Stamp *stamp)
    {
        if (pick(random_, 0, 3) == 0)
            ops().free_rcu(stamp, offsetof(Stamp, rcu));
        else
            cache_.free(stamp);
    }
    void alloc_some(unsigned long n)
    {
        for (; n; n--)
            own(cache_.alloc(pick(random_, 0, 1) ? SLAB_OPS_KERNEL : SLAB_OPS_NOWAIT));
    }
    void alloc_bulk()
    {
        void *objects[80];
        const unsigned long n = pick(random_, 1, std::min<std::size_t>(80, most_ / 6));
        if (cache_.alloc_bulk(n, objects))
            for (unsigned long i = 0; i < n; i++)
                own(objects[i]);
    }
    void alloc_from_sheaf()
    {
        const unsigned n = unsigned(pick(random_, 1, std::min<std::size_t>(70, most_ / 6)));
        slab_ops_sheaf *sheaf = ops().prefill(cache_, SLAB_OPS_KERNEL, n);
        for (unsigned i = 0; sheaf && i < n / 2; i++)
            own(ops().alloc_from_sheaf(cache_, SLAB_OPS_KERNEL, sheaf));
        if (sheaf)
            ops().return_sheaf(cache_, SLAB_OPS_KERNEL, sheaf);
    }
    void send()
    {
        std::vector<Stamp *> parcel;
        while (mine_.size() > 5 && parcel.size() < 50)
            parcel.push_back(pop());
        mail_[pick(random_, 0, mail_.size() - 1)].put(parcel);
    }
    void receive()
    {
        for (Stamp *stamp : mail_[id_].take()) {
            broken_ += !stamp->whole();
            give_up(stamp);
        }
    }
    void free_some()
    {
        for (unsigned long n = pick(random_, 1, 60); n && !mine_.empty(); n--)
            give_up(pop());
        if (mine_.size() > most_) {
            std::vector<void *> many;
            while (!mine_.empty())
                many.push_back(pop());
            cache_.free_bulk(many.size(), many.data());
        }
    }

    Cache &cache_;
    std::vector<Mailbox> &mail_;
    unsigned id_;
    std::size_t most_;
    std::mt19937_64 random_;
    std::vector<Stamp *> mine_;
    unsigned broken_ = 0;
};

struct Crowd {
    unsigned threads;
    int steps;                // of each
    bool pinned = true;       // thread n on CPU n modulo CPUs
    std::size_t most = 500;   // objects of each
};

// A crowd at work; `beside` runs in the main thread meanwhile, again and again.
template <class Beside>
void crowd(const Crowd &who, Cache &cache, Beside beside)
{
    const unsigned threads = who.threads;
    SCOPED_TRACE("KMIRROR_SEED=" + std::to_string(kmirror::testing::seed()));
    std::vector<Mailbox> mail(threads);
    std::atomic<unsigned> broken{0}, running{threads};
    std::barrier all_sent(threads);
    std::vector<std::jthread> workers;
    for (unsigned id = 0; id < threads; id++)
        workers.emplace_back([&, id] {
            if (who.pinned)
                ops().cpu_pin(int(id) % ops().nr_cpus());
            Worker worker(cache, mail, id, who.most);
            for (int i = 0; i < who.steps / kScale; i++)
                worker.step();
            all_sent.arrive_and_wait();
            worker.finish();
            broken += worker.broken();
            running--;
        });
    while (running) {
        beside();
        std::this_thread::sleep_for(1ms);
    }
    workers.clear();
    EXPECT_EQ(broken, 0u) << "objects were changed behind their owner's back";
    ops().free_rcu_barrier();
    cache.verify();
}

const auto nothing = [] {};

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_on_a_cpu_each,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    Cache cache(sizeof(Stamp));
    crowd({.threads = 4, .steps = 3000}, cache, nothing);
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_on_one_shared_cpu,
                "KMIRROR_MACHINE=pack:1 core:1 pu:1")
{
    Cache cache(sizeof(Stamp));
    crowd({.threads = 4, .steps = 3000}, cache, nothing);
}

// Small sheaves: every few operations one is refilled, flushed or traded, with the CPU unlocked in between.
KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_in_small_sheaves_of_one_shared_cpu,
                "KMIRROR_MACHINE=pack:1 core:1 pu:1")
{
    ops().set_sheaf_capacity(4);
    Cache cache(sizeof(Stamp));
    crowd({.threads = 3, .steps = 20000}, cache, nothing);
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_on_four_nodes,
                "KMIRROR_MACHINE=pack:2 numa:2 core:1 pu:1")
{
    Cache cache(256, 0, 32);
    crowd({.threads = 6, .steps = 3000}, cache, nothing);
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_without_sheaves,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    ops().set_sheaf_capacity(0);
    Cache cache(256);
    crowd({.threads = 4, .steps = 10000, .most = 24}, cache,
          nothing); // a slab or two: all threads meet in them
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_under_the_slab_lock,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1", "KMIRROR_SLAB_CMPXCHG_DOUBLE=0")
{
    ops().set_sheaf_capacity(4);
    Cache cache(256);
    crowd({.threads = 4, .steps = 6000, .most = 24}, cache, nothing);
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_while_the_cache_is_shrunk_and_validated,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    Cache cache(sizeof(Stamp));
    crowd({.threads = 4, .steps = 600, .pinned = false}, cache, [&] {
        cache.shrink();
        ops().validate(cache);
        ops().free_rcu_barrier_on(cache);
    });
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_while_cpus_come_and_go,
                "KMIRROR_MACHINE=pack:1 core:6 pu:1")
{
    Cache cache(sizeof(Stamp));
    int cpu = 1;
    crowd({.threads = 4, .steps = 600, .pinned = false}, cache, [&] {
        ops().cpu_set_online(cpu, false);
        ops().cpu_set_online(cpu, true);
        cpu = cpu % 5 + 1;
    });
}

KMIRROR_TEST_IN(ConcurrentSlab, typesafe_objects_stay_of_their_type, "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    Cache cache(sizeof(Stamp), SLAB_OPS_TYPESAFE_BY_RCU);
    crowd({.threads = 4, .steps = 400}, cache, [&] { cache.shrink(); });
}

KMIRROR_TEST_IN(ConcurrentSlab, caches_are_made_and_destroyed_by_all, "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    std::vector<std::jthread> threads;
    for (unsigned id = 0; id < 4; id++)
        threads.emplace_back([id] {
            for (unsigned round = 0; round < 30u / kScale; round++) {
                const std::string name = "slab_test_" + std::to_string(id) + "_" + std::to_string(round);
                slab_ops_cache_args args = args_of(sizeof(Stamp) + 8 * id);
                slab_ops_cache *cache = ops().create(name.c_str(), &args);
                for (int i = 0; i < 100; i++) {
                    void *object = ops().alloc(cache, SLAB_OPS_KERNEL);
                    i % 2 ? ops().free(cache, object) : ops().free_rcu(object, offsetof(Stamp, rcu));
                }
                ops().destroy(cache);
            }
        });
}

// A destruction walks the CPUs while one of them leaves.
KMIRROR_TEST_IN(ConcurrentSlab, destruction_and_a_leaving_cpu_do_not_block_each_other,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    std::atomic<bool> done{false};
    std::vector<std::jthread> hotplug;
    hotplug.emplace_back([&] {
        while (!done) {
            ops().cpu_set_online(3, false);
            ops().cpu_set_online(3, true);
        }
    });
    for (int round = 0; round < 60 / kScale; round++) {
        Cache cache(sizeof(Stamp));
        for (int i = 0; i < 10; i++)
            ops().free_rcu(cache.alloc(), offsetof(Stamp, rcu));
    }
    done = true;
}

// ---- readers ----------------------------------------------------------------------------------------

// Published objects: readers look at them without any lock; the writer replaces them and frees after a grace
// period.
KMIRROR_TEST_IN(ConcurrentSlabRcu, readers_never_see_a_reused_object, "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    constexpr int kSlots = 16;
    Cache cache(sizeof(Stamp));
    Stamp *slots[kSlots] = {};
    std::atomic<bool> done{false};
    std::atomic<unsigned> broken{0};
    const auto fresh = [&](std::uintptr_t by) {
        auto *stamp = static_cast<Stamp *>(cache.alloc());
        stamp->write(by);
        return stamp;
    };
    for (Stamp *&slot : slots)
        slot = fresh(1);
    std::vector<std::jthread> readers;
    for (int id = 0; id < 2; id++)
        readers.emplace_back([&] {
            while (!done) {
                rcu_read_lock();
                for (Stamp *&slot : slots)
                    broken += !rcu_dereference(slot)->whole();
                rcu_read_unlock();
            }
        });
    for (int round = 0; round < 20000 / kScale; round++) {
        Stamp *&slot = slots[round % kSlots];
        Stamp *old = slot;
        rcu_assign_pointer(slot, fresh(round + 2));
        kfree_rcu(old, rcu);
    }
    done = true;
    readers.clear();
    for (Stamp *slot : slots)
        cache.free(slot);
    EXPECT_EQ(broken, 0u);
}

// ---- other nodes' locks -----------------------------------------------------------------------------

// A refill looks at other nodes' lists, but waits for none of their locks.
KMIRROR_TEST_IN(ConcurrentSlabNode, a_refill_does_not_wait_for_another_nodes_list_lock,
                "KMIRROR_MACHINE=numa:2 core:1 pu:1")
{
    SHEAVES_ONLY();
    Cache cache(256, 0, 32);
    std::vector<void *> remote;
    {
        Pinned there(1);
        remote = cache.alloc_many(32 * 8);
        std::vector<void *> bulk(20 * cache.geometry().objects);
        ASSERT_TRUE(cache.alloc_bulk(bulk.size(), bulk.data()));
        remote.insert(remote.end(), bulk.begin(), bulk.end());
    }
    Pinned here(0);
    // Freed from node 0 they go to node 1's slabs: many partial ones there.
    std::vector<void *> kept;
    for (std::size_t i = 0; i < remote.size(); i++)
        i % 4 ? cache.free(remote[i]) : kept.push_back(remote[i]);
    ASSERT_GT(cache.counts(1).partial_slabs, cache.geometry().min_partial);
    kmem_cache_node *other = kmirror::slub::get_node(as_kmem_cache(cache), 1);
    std::atomic<bool> held{false}, let_go{false};
    std::jthread holder([&] {
        raw_spin_lock(&other->list_lock);
        held = true;
        while (!let_go)
            std::this_thread::sleep_for(1ms);
        raw_spin_unlock(&other->list_lock);
    });
    while (!held)
        std::this_thread::yield();
    std::atomic<bool> got{false};
    std::jthread watchdog([&] {
        for (int i = 0; i < 2000 && !got; i++)
            std::this_thread::sleep_for(1ms);
        EXPECT_TRUE(got) << "waited for node 1's list_lock";
        let_go = true;
    });
    void *object = cache.alloc();
    got = true;
    watchdog.join();
    EXPECT_EQ(ops().object_node(object), 0);
    cache.free(object);
    cache.free(kept);
}

} // namespace
} // namespace kmirror::slab_test
