// SPDX-License-Identifier: GPL-2.0-only
//
// Allocator operations beside malloc and free of the host's C library, for objects of one size.

#include <cstdlib>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <kmirror/slab_ops.h>

#include "tools/bench/bench.h"

namespace kmirror::bench {
namespace {

constexpr std::size_t kLoop = 10000;
constexpr std::size_t kHandOver = 256;

class Cache {
public:
    explicit Cache(unsigned bytes) : bytes_(bytes), ops_(*kmirror_slab_ops()) {
        slab_ops_cache_args args{};
        args.size = bytes;
        args.flags = SLAB_OPS_HWCACHE_ALIGN | SLAB_OPS_NO_MERGE;
        cache_ = ops_.create("bench", &args);
        if (cache_ == nullptr) std::abort();
    }
    ~Cache() { ops_.destroy(cache_); }
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;

    unsigned bytes() const { return bytes_; }
    const slab_ops& ops() const { return ops_; }
    slab_ops_cache* get() const { return cache_; }

private:
    unsigned bytes_;
    const slab_ops& ops_;
    slab_ops_cache* cache_;
};

using Objects = std::vector<void*>;

void malloc_all(Objects& objects, unsigned bytes) {
    for (void*& object : objects) benchmark::DoNotOptimize(object = std::malloc(bytes));
}

void free_all(Objects& objects) {
    for (void* object : objects) std::free(object);
}

// A thread that frees what it is handed, one array at a time.
class Remote {
public:
    explicit Remote(std::function<void(Objects&)> free_them)
        : thread_([this, free_them](std::stop_token stop) {
              for (;;) {
                  full_.acquire();
                  if (stop.stop_requested()) return;
                  free_them(objects_);
                  empty_.release();
              }
          }) {}
    ~Remote() {
        thread_.request_stop();
        full_.release();
    }

    Objects& take_empty() {
        empty_.acquire();
        return objects_;
    }
    void hand_over() { full_.release(); }

private:
    Objects objects_ = Objects(kHandOver);
    std::binary_semaphore empty_{1}, full_{0};
    std::jthread thread_;
};

std::string name(const std::string& operation, unsigned bytes, const char* who) {
    return "slab/" + operation + "/" + std::to_string(bytes) + "/" + who;
}

void add_pair(const std::shared_ptr<Cache>& cache) {
    const unsigned bytes = cache->bytes();
    add({name("allocate, free", bytes, kOurs), kLoop, [=] { cache->ops().loop_pair(cache->get(), kLoop); }});
    add({name("allocate, free", bytes, "malloc"), kLoop, [=] {
             for (std::size_t i = 0; i < kLoop; ++i) {
                 void* object = std::malloc(bytes);
                 benchmark::DoNotOptimize(object);
                 std::free(object);
             }
         }});
    add({name("kmalloc, kfree", bytes, kOurs), kLoop, [=] { cache->ops().loop_kmalloc(bytes, kLoop); }});
}

void add_batch(const std::shared_ptr<Cache>& cache, std::size_t n) {
    const unsigned bytes = cache->bytes();
    auto objects = std::make_shared<Objects>(n);
    const std::size_t rounds = kLoop / n + 1;
    const std::string suffix = " of " + std::to_string(n);
    add({name("batch" + suffix, bytes, kOurs), rounds * n,
         [=] { cache->ops().loop_batch(cache->get(), n, objects->data(), rounds); }});
    add({name("batch" + suffix, bytes, "malloc"), rounds * n, [=] {
             for (std::size_t i = 0; i < rounds; ++i) {
                 malloc_all(*objects, bytes);
                 free_all(*objects);
             }
         }});
    add({name("bulk" + suffix, bytes, kOurs), rounds * n,
         [=] { cache->ops().loop_bulk(cache->get(), n, objects->data(), rounds); }});
}

void add_remote(const std::shared_ptr<Cache>& cache) {
    const unsigned bytes = cache->bytes();
    const std::size_t rounds = 200;
    const auto run = [rounds](const std::function<void(Objects&)>& fill,
                              const std::function<void(Objects&)>& free_them) {
        Remote remote(free_them);
        for (std::size_t i = 0; i < rounds; ++i) {
            fill(remote.take_empty());
            remote.hand_over();
        }
        remote.take_empty();
    };
    add({name("freed by another thread", bytes, kOurs), rounds * kHandOver, [=] {
             run([=](Objects& o) { cache->ops().loop_alloc(cache->get(), o.size(), o.data()); },
                 [=](Objects& o) { cache->ops().loop_free(cache->get(), o.size(), o.data()); });
         }});
    add({name("freed by another thread", bytes, "malloc"), rounds * kHandOver,
         [=] { run([=](Objects& o) { malloc_all(o, bytes); }, free_all); }});
}

}  // namespace

void add_slab_cases() {
    for (unsigned bytes : {64u, 256u, 1024u}) {
        auto cache = std::make_shared<Cache>(bytes);
        add_pair(cache);
        for (std::size_t n : {32u, 1000u}) add_batch(cache, n);
        add_remote(cache);
    }
}

}  // namespace kmirror::bench
