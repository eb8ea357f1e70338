// SPDX-License-Identifier: GPL-2.0-only
//
// One cell of the allocator table, in a process of its own: does the work of one row with one allocator,
// under Google Benchmark, and prints what it took.
//
// Every allocator is called through function pointers the compiler knows nothing about, by loops that are one
// template. First and last word of each object are written when it comes, and compared when it goes. Time is
// the processor time of the threads that do the work, around their loops: waiting for each other is not in
// it, nor what other programs take of the processor.

#include "tools/bench/slab_worker.h"

#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>

#include <kmirror/slab_info.h>
#include <kmirror/topology.h>
#include <linux/slab.h>
#include <linux/smp.h>

namespace kmirror::bench {
namespace {

std::int64_t thread_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

[[noreturn]] void give_up(const char* what) {
    std::printf("error %s\n", what);
    std::exit(1);
}

// ---- allocators -------------------------------------------------------------------------------------------

// A pointer to `function` that the compiler cannot see through.
template <class Function>
Function* opaque(Function* function) {
    asm("" : "+r"(function));
    return function;
}

struct Malloc {
    unsigned bytes;
    void* (*allocate)(std::size_t) = opaque(&std::malloc);
    void (*release)(void*) = opaque(&std::free);
    void* get() const { return allocate(bytes); }
    void put(void* object) const { release(object); }
};

struct Aligned {
    unsigned bytes;
    int (*allocate)(void**, std::size_t, std::size_t) = opaque(&posix_memalign);
    void (*release)(void*) = opaque(&std::free);
    void* get() const {
        void* object = nullptr;
        return allocate(&object, bytes, bytes) == 0 ? object : nullptr;
    }
    void put(void* object) const { release(object); }
};

struct Cache {
    unsigned bytes;
    kmem_cache* cache;
    void* (*allocate)(kmem_cache*, gfp_t) = opaque(&kmem_cache_alloc);
    void (*release)(kmem_cache*, void*) = opaque(&kmem_cache_free);
    void* get() const { return allocate(cache, GFP_KERNEL); }
    void put(void* object) const { release(cache, object); }
};

struct SizeClass {
    unsigned bytes;
    void* (*allocate)(std::size_t, gfp_t) = opaque(&__kmalloc);
    void (*release)(const void*) = opaque(&kfree);
    void* get() const { return allocate(bytes, GFP_KERNEL); }
    void put(void* object) const { release(object); }
};

// ---- objects in use ---------------------------------------------------------------------------------------

std::atomic<std::uint64_t> damaged, unaligned;

std::uint64_t& last_word(void* object, unsigned bytes) {
    return *reinterpret_cast<std::uint64_t*>(static_cast<char*>(object) + bytes - sizeof(std::uint64_t));
}

template <class Allocator>
void* take(const Allocator& from) {
    void* object = from.get();
    if (object == nullptr) give_up("out of memory");
    const auto value = reinterpret_cast<std::uintptr_t>(object);
    *static_cast<std::uint64_t*>(object) = value;
    last_word(object, from.bytes) = value;
    return object;
}

void look(void* object, unsigned bytes) {
    const auto value = reinterpret_cast<std::uintptr_t>(object);
    if (*static_cast<std::uint64_t*>(object) != value || last_word(object, bytes) != value) [[unlikely]]
        ++damaged;
}

template <class Allocator>
void drop(const Allocator& to, void* object) {
    look(object, to.bytes);
    to.put(object);
}

using Objects = std::vector<void*>;

template <class Allocator>
void take_all(const Allocator& from, Objects& objects) {
    for (void*& object : objects) object = take(from);
}

template <class Allocator>
void drop_all(const Allocator& to, const Objects& objects) {
    for (void* object : objects) drop(to, object);
}

void count_unaligned(const Objects& objects, unsigned align) {
    for (void* object : objects)
        if (reinterpret_cast<std::uintptr_t>(object) % align != 0) ++unaligned;
}

// ---- threads ----------------------------------------------------------------------------------------------

// Thread `number` goes to a host processor and a virtual CPU of its own, or shares virtual CPU 0.
void settle(int number, Cpu cpu) {
    cpu_set_t allowed, one;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    CPU_ZERO(&one);
    for (int host = 0, seen = 0; host < CPU_SETSIZE; ++host)
        if (CPU_ISSET(host, &allowed) && seen++ == number) CPU_SET(host, &one);
    if (CPU_COUNT(&one) == 1) pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    if (kmirror_cpu_lease(cpu == Cpu::shared ? 0 : number) < 0) give_up("needs two virtual CPUs");
}

// A second thread: does what it is told, and says how long that took.
class Partner {
public:
    explicit Partner(Cpu cpu)
        : thread_([this, cpu](std::stop_token stop) {
              settle(1, cpu);
              for (done_.release();; done_.release()) {
                  begin_.acquire();
                  if (stop.stop_requested()) return;
                  const std::int64_t start = thread_ns();
                  work_();
                  took_ = thread_ns() - start;
              }
          }) {
        done_.acquire();
    }
    ~Partner() {
        thread_.request_stop();
        begin_.release();
    }
    void begin(std::function<void()> work) {
        work_ = std::move(work);
        begin_.release();
    }
    std::int64_t end() {
        done_.acquire();
        return took_;
    }

private:
    std::function<void()> work_;
    std::int64_t took_ = 0;
    std::binary_semaphore begin_{0}, done_{0};
    std::jthread thread_;
};

std::int64_t timed(const std::function<void()>& work) {
    const std::int64_t start = thread_ns();
    work();
    return thread_ns() - start;
}

// ---- the work of each row ---------------------------------------------------------------------------------

// `round` does `steps` operations, each an allocation and a free, and returns the nanoseconds they took.
struct Job {
    std::size_t steps;
    std::function<std::int64_t()> round;
};

constexpr std::size_t kLoop = 20000;

template <class Allocator>
Job pair_job(const Allocator& a) {
    return {kLoop, [=] {
                return timed([&] {
                    for (std::size_t i = 0; i < kLoop; ++i) drop(a, take(a));
                });
            }};
}

template <class Allocator>
Job batch_job(const Allocator& a, const SlabRow& row) {
    const std::size_t rounds = kLoop / row.count;
    auto objects = std::make_shared<Objects>(row.count);
    return {rounds * row.count, [=] {
                return timed([&] {
                    for (std::size_t i = 0; i < rounds; ++i) {
                        take_all(a, *objects);
                        drop_all(a, *objects);
                    }
                });
            }};
}

template <class Allocator>
Job random_job(const Allocator& a, const SlabRow& row) {
    auto objects = std::make_shared<Objects>(row.count);
    take_all(a, *objects);
    if (row.align() != 0) count_unaligned(*objects, row.align());
    auto state = std::make_shared<std::uint64_t>(1);
    return {kLoop, [=] {
                return timed([&] {
                    for (std::size_t i = 0; i < kLoop; ++i) {
                        *state = *state * 6364136223846793005u + 1442695040888963407u;
                        void*& object = (*objects)[(*state >> 33) % objects->size()];
                        drop(a, object);
                        object = take(a);
                    }
                });
            }};
}

template <class Allocator>
Job hand_over_job(const Allocator& a, const SlabRow& row, const std::shared_ptr<Partner>& partner) {
    const std::size_t rounds = kLoop / row.count;
    auto objects = std::make_shared<Objects>(row.count);
    return {rounds * row.count, [=] {
                std::int64_t took = 0;
                for (std::size_t i = 0; i < rounds; ++i) {
                    took += timed([&] { take_all(a, *objects); });
                    partner->begin([&] { drop_all(a, *objects); });
                    took += partner->end();
                }
                return took;
            }};
}

template <class Allocator>
void stack_of(const Allocator& a, Objects& objects, std::size_t rounds) {
    for (std::size_t i = 0; i < rounds; ++i) {
        take_all(a, objects);
        for (auto object = objects.rbegin(); object != objects.rend(); ++object) drop(a, *object);
    }
}

template <class Allocator>
Job two_job(const Allocator& a, const SlabRow& row, const std::shared_ptr<Partner>& partner) {
    const std::size_t rounds = kLoop / row.count;
    auto mine = std::make_shared<Objects>(row.count), other = std::make_shared<Objects>(row.count);
    return {2 * rounds * row.count, [=] {
                partner->begin([&] { stack_of(a, *other, rounds); });
                const std::int64_t took = timed([&] { stack_of(a, *mine, rounds); });
                return took + partner->end();
            }};
}

Job bulk_job(const Cache& a, const SlabRow& row) {
    const std::size_t rounds = kLoop / row.count;
    auto objects = std::make_shared<Objects>(row.count);
    auto* allocate = opaque(&kmem_cache_alloc_bulk);
    auto* release = opaque(&kmem_cache_free_bulk);
    return {rounds * row.count, [=] {
                return timed([&] {
                    for (std::size_t i = 0; i < rounds; ++i) {
                        if (!allocate(a.cache, GFP_KERNEL, row.count, objects->data()))
                            give_up("out of memory");
                        release(a.cache, row.count, objects->data());
                    }
                });
            }};
}

template <class Allocator>
Job job_of(const SlabRow& row, const Allocator& a) {
    const bool needs_partner = row.work == Work::hand_over || row.work == Work::two || row.cpu == Cpu::shared;
    // One that is not used stays asleep on the CPU that is to be shared, until the end of the process.
    static std::shared_ptr<Partner> partner;
    if (needs_partner) partner = std::make_shared<Partner>(row.cpu);
    switch (row.work) {
        case Work::batch: return batch_job(a, row);
        case Work::random: return random_job(a, row);
        case Work::hand_over: return hand_over_job(a, row, partner);
        case Work::two: return two_job(a, row, partner);
        default: return pair_job(a);
    }
}

// ---- the allocator of this process ------------------------------------------------------------------------

// Sheaves of 32 objects or more, as the cache of the tree's nodes asks for; `cpu-slab` knows none.
kmem_cache* create(const SlabRow& row) {
    kmem_cache_args args{};
    args.align = row.align();
    args.sheaf_capacity = 32;
    kmem_cache* cache = __kmem_cache_create_args("bench", row.bytes, &args, SLAB_NO_MERGE);
    if (cache == nullptr) give_up("no cache");
    return cache;
}

Job job(const SlabRow& row, bool ours) {
    if (ours) kmem_cache_init();  // the first request would do it, inside of the row
    if (ours && row.work == Work::kmalloc) return pair_job(SizeClass{row.bytes});
    if (ours && row.work == Work::bulk) return bulk_job(Cache{row.bytes, create(row)}, row);
    if (ours) return job_of(row, Cache{row.bytes, create(row)});
    if (row.align() != 0 && row.work != Work::kmalloc) return job_of(row, Aligned{row.bytes});
    return job_of(row, Malloc{row.bytes});
}

// A library that was to be preloaded and is not would be a lie in the table.
void check_library(const std::string& library) {
    Dl_info info{};
    if (library.empty()) return;
    const bool found = dladdr(reinterpret_cast<void*>(&std::malloc), &info) != 0 && info.dli_fname != nullptr;
    if (!found || library != info.dli_fname) give_up("the library could not be preloaded");
}

const SlabRow& row_by_id(const std::string& id) {
    for (const SlabRow& row : slab_rows())
        if (row.id() == id) return row;
    give_up("no such row");
}

class Silent final : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) ns = 1e9 / run.counters.at("items_per_second");
    }
    double ns = 0;
};

// ---- memory -----------------------------------------------------------------------------------------------

constexpr std::size_t kLive = 100000;

long resident_bytes() {
    long pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return pages * sysconf(_SC_PAGESIZE);
}

unsigned long slabs_of(kmem_cache* cache) {
    struct kmirror_slab_counts counts{};
    if (cache != nullptr) kmirror_slab_counts(cache, NUMA_NO_NODE, &counts);
    return counts.slabs;
}

template <class Allocator>
void memory_of(const Allocator& a, kmem_cache* cache, unsigned slab_bytes) {
    Objects objects(kLive);
    a.put(a.get());
    const long before = resident_bytes();
    take_all(a, objects);
    const long live = resident_bytes() - before;
    const unsigned long slabs = slabs_of(cache);
    // In an order that is neither theirs nor its reverse.
    for (std::size_t i = 0, at = 0; i < kLive; ++i, at = (at + 48271) % kLive) drop(a, objects[at]);
    std::printf("memory %ld %ld %lu %lu %u\n", live, resident_bytes() - before, slabs, slabs_of(cache),
                slab_bytes);
}

}  // namespace

int run_worker(const std::string& id, bool ours, const std::string& library) {
    check_library(library);
    const SlabRow& row = row_by_id(id);
    settle(0, row.cpu);
    const Job work = job(row, ours);
    benchmark::RegisterBenchmark("cell", [&work](benchmark::State& state) {
        for ([[maybe_unused]] auto _ : state)
            state.SetIterationTime(static_cast<double>(work.round()) * 1e-9);
        state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(work.steps));
    })->UseManualTime()->MinTime(0.02);
    Silent reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter, "all");
    if (damaged != 0) give_up("objects were damaged");
    std::printf("ns %.6f %llu\n", reporter.ns, static_cast<unsigned long long>(unaligned));
    std::fflush(stdout);
    std::_Exit(0);
}

int run_memory_worker(const std::string& id, bool ours, const std::string& library) {
    // With huge pages more would be resident than was touched, and some of it before the first look.
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    check_library(library);
    const SlabRow& row = row_by_id(id);
    settle(0, Cpu::alone);
    if (!ours && row.align() != 0) {
        memory_of(Aligned{row.bytes}, nullptr, 0);
        return 0;
    }
    if (!ours) {
        memory_of(Malloc{row.bytes}, nullptr, 0);
        return 0;
    }
    const Cache a{row.bytes, create(row)};
    struct kmirror_slab_geometry geometry{};
    kmirror_slab_geometry(a.cache, &geometry);
    memory_of(a, a.cache, static_cast<unsigned>(PAGE_SIZE) << geometry.order);
    return 0;
}

}  // namespace kmirror::bench
