// SPDX-License-Identifier: GPL-2.0-only
//
// Threads that allocate, hand objects to each other, and free them in every way, all at the same time. Each
// object carries its owner's mark, so that a second owner is noticed.
//
// Owns     its objects; at the end all are freed.
// Locking  mailboxes have a lock; objects belong to one thread at a time.
// Fails    as failures of the running test, told by the thread that started the crowd.
#pragma once

#include <linux/rcupdate.h>

#include "slab/slab_test.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace kmirror::slab_test {

using namespace std::chrono_literals;

// 1 under a plain build; sanitizers get less to do. One place, so that all scenarios shrink together.
inline constexpr int kScale = KMIRROR_TSAN ? 4 : KMIRROR_ASAN ? 2 : 1;

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

} // namespace kmirror::slab_test
