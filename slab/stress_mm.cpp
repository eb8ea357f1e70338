// SPDX-License-Identifier: GPL-2.0-only
//
// will-it-scale's address-space cases on lib/mm: mmap1, mmap2, brk1, brk2, page_fault1, and the calls of stress-ng's
// mmap and tmpfs stressors. In process mode each lane has an address space of its own, so the lanes meet in the
// allocator only; in thread mode (Plan::one_mm) all share one and meet at its mmap_lock as well.
//
// Two stores into the tree for each mmap and munmap replace one leaf each: two maple nodes are allocated and
// two freed through RCU, and a vm_area_struct comes and goes. How many nodes a store takes depends on where
// in its leaf it falls. So the layout is fixed: kNeighbours mappings that nothing merges with, with gaps between
// them. brk1 begins with an empty heap, so its mapping comes and goes; brk2's grows and shrinks.
//
// Owns     an address space for each lane; the caches of nodes and mappings, made anew for the run.
// Bounds   kNeighbours + 2 mappings each.
// Locking  an address space is its lane's, or locks itself.
// Fails    a call that does not give what it should, an address space that is not valid, nodes left at the end.

#include "slab/implementation.h"
#include "slab/stress_close.h"
#include "slab/stress_load.h"

#include <kmirror/maple_ops.h>
#include <kmirror/mm.h>
#include <kmirror/slab_info.h>
#include <kmirror/slab_ops.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>

namespace kmirror::stress {
namespace {

constexpr unsigned long kMiB = 1ul << 20, kPage = 4096;
constexpr unsigned long kMemory = 128 * kMiB;    // of one mapping, as in will-it-scale
constexpr unsigned kNeighbours = 20;           // with 22 to 30 an iteration of mmap1 and brk1 takes five nodes
constexpr unsigned long kNeighbourSize = 64 * kPage, kGap = 4 * kPage;
constexpr unsigned kFaults = 64;                 // of one page_fault1 iteration
constexpr unsigned kPages = 16;                  // of one stress_ng iteration
constexpr unsigned kOwnBatch = 200;              // of all lanes of a CPU

// One task: in an address space of its own, laid out and ready, or in that of another task, which outlives it.
class Task {
public:
    Task(std::uint64_t seed, bool shared, const Task *other)
        : mm_(other ? other->mm_ : mm_alloc()), file_(mm_file_open("/tmp/willitscale", MM_FILE_READ | MM_FILE_WRITE)),
          tmpfs_(mm_file_open("/dev/shm/stress-ng", MM_FILE_READ | MM_FILE_WRITE | MM_FILE_SHMEM)),
          shared_(shared), guest_(other), random_(seed)
    {
        if (mm_ && !guest_)
            lay_out();
    }
    ~Task()
    {
        if (mm_ && !guest_)
            mmput(mm_);
        mm_file_put(file_);
        mm_file_put(tmpfs_);
    }
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;

    bool ready() const { return mm_ && file_ && tmpfs_ && laid_out_; }
    bool valid() const { return mm_validate(mm_) == 0; }

    bool map_anonymous() { return map_and_unmap(nullptr, MAP_PRIVATE | MAP_ANONYMOUS); }
    bool map_file() { return map_and_unmap(file_, MAP_PRIVATE); }
    bool grow_and_shrink()
    {
        const unsigned long end = heap_end();
        const unsigned long grown = vm_brk(mm_, end + kPage), shrunk = vm_brk(mm_, end);
        return shared_ || (grown == end + kPage && shrunk == end);
    }
    bool map_alone()
    {
        alone_ = map(nullptr, MAP_PRIVATE | MAP_ANONYMOUS);
        return alone_ % kPage == 0;
    }
    bool unmap_alone() { return vm_munmap(mm_, alone_, kMemory) == 0; }
    bool ng_map() { return in_and_out(nullptr, MAP_PRIVATE | MAP_ANONYMOUS); }
    bool ng_tmpfs() { return in_and_out(tmpfs_, MAP_SHARED); }
    bool make_heap() { return vm_brk(mm_, mm_->brk + 2 * kPage) == mm_->brk; }
    bool map_and_touch()
    {
        const unsigned long at = map(nullptr, MAP_PRIVATE | MAP_ANONYMOUS);
        bool fine = at % kPage == 0;
        for (unsigned i = 0; i < kFaults; i++) {
            mmap_read_lock(mm_);
            const vm_area_struct *vma = find_vma(mm_, at + i * (kMemory / kFaults));
            fine &= vma && (shared_ ? vma->vm_start <= at : vma->vm_start == at);
            mmap_read_unlock(mm_);
        }
        return vm_munmap(mm_, at, kMemory) == 0 && fine;
    }

private:
    void lay_out()
    {
        mm_->start_brk = mm_->brk = 0x555555555000;
        // Below the top, unreadable: nothing that is mapped in the gaps or under them merges with one.
        unsigned long at = mm_->mmap_base - kNeighbours * (kNeighbourSize + kGap);
        for (unsigned i = 0; i < kNeighbours; i++, at += kNeighbourSize + kGap)
            laid_out_ &= vm_mmap(mm_, nullptr, at, kNeighbourSize, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0) == at;
    }
    unsigned long heap_end()
    {
        mmap_read_lock(mm_);
        const unsigned long end = mm_->brk;
        mmap_read_unlock(mm_);
        return end;
    }
    // The pages of one mapping go one by one in random order and come back the same way, each at its place.
    bool in_and_out(mm_file *file, unsigned long flags)
    {
        const unsigned long size = kPages * kPage;
        const unsigned long at = vm_mmap(mm_, file, 0, size, PROT_READ | PROT_WRITE, flags, 0);
        if (at % kPage)
            return false;
        std::array<unsigned long, kPages> order;
        std::iota(order.begin(), order.end(), 0ul);
        std::shuffle(order.begin(), order.end(), random_);
        bool fine = true;
        for (const unsigned long page : order)
            fine &= vm_munmap(mm_, at + page * kPage, kPage) == 0;
        std::shuffle(order.begin(), order.end(), random_);
        for (const unsigned long page : order)
            fine &= vm_mmap(mm_, file, at + page * kPage, kPage, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
                            page * kPage) == at + page * kPage;
        return vm_munmap(mm_, at, size) == 0 && fine;
    }
    unsigned long map(mm_file *file, unsigned long flags)
    {
        return vm_mmap(mm_, file, 0, kMemory, PROT_READ | PROT_WRITE, flags, 0);
    }
    bool map_and_unmap(mm_file *file, unsigned long flags)
    {
        const unsigned long at = map(file, flags);
        return at % kPage == 0 && vm_munmap(mm_, at, kMemory) == 0;
    }

    mm_struct *mm_;
    mm_file *file_, *tmpfs_;
    bool shared_, guest_;
    bool laid_out_ = true;
    unsigned long alone_ = 0;
    std::mt19937_64 random_;
};

using Iteration = bool (Task::*)();

Memory memory_of(const char *cache_name)
{
    struct Search {
        const char *name;
        Memory memory;
    } search = {cache_name, {}};
    kmirror_slab_for_each_cache(
        [](kmem_cache *s, void *arg) {
            Search &wanted = *static_cast<Search *>(arg);
            struct kmirror_slab_geometry geometry;
            kmirror_slab_geometry(s, &geometry);
            if (std::strcmp(geometry.name, wanted.name) != 0)
                return 0;
            struct kmirror_slab_counts counts;
            kmirror_slab_counts(s, -1, &counts);
            wanted.memory = {counts.slabs,        counts.partial_slabs, counts.total_objects,
                             counts.used_objects, counts.barn_objects,  counts.slabs << geometry.order << 2};
            return 1;
        },
        &search);
    return search.memory;
}

class MmLoad final : public Load {
public:
    MmLoad(const Plan &plan, int sheaf_capacity, Iteration iteration, Iteration first, Iteration after)
        : iteration_(iteration), after_(after), batch_(plan.grace_period ? plan.grace_period : std::max(1u, kOwnBatch / lanes_per_cpu(plan)))
    {
        renewed_ = kmirror_maple_ops()->cache_renew() == 0 && mm_vma_cache_renew() == 0;
        const int before = slab_under_test().set_sheaf_capacity(sheaf_capacity);
        kmirror_maple_ops()->boot();
        mm_vma_cache();
        slab_under_test().set_sheaf_capacity(before);
        for (unsigned i = 0; i < std::max(plan.cpus, plan.threads); i++) {
            const Task *other = plan.one_mm && i ? tasks_.front().get() : nullptr;
            tasks_.push_back(std::make_unique<Task>(plan.seed + i, plan.one_mm, other));
            failed_ += !tasks_.back()->ready() || (first && !(tasks_.back().get()->*first)());
        }
    }

    void batch(Lane &lane) override
    {
        Task &task = *tasks_[lane.index];
        for (unsigned i = 0; i < batch_ && failed_ == 0; i++) {
            failed_ += !lane.timed([&] { return (task.*iteration_)(); });
            failed_ += after_ && !(task.*after_)();
        }
    }

    Memory memory() const override { return memory_of("maple_node") + memory_of("vm_area_struct"); }

    std::vector<std::string> finish() override
    {
        std::vector<std::string> wrong;
        unsigned invalid = 0;
        for (const auto &task : tasks_)
            invalid += !task->valid();
        tasks_.clear();
        kmirror_maple_ops()->rcu_barrier();
        if (!renewed_)
            wrong.push_back("the caches of nodes and mappings could not be made anew");
        if (failed_)
            wrong.push_back(std::to_string(failed_) + " calls failed");
        if (invalid)
            wrong.push_back(std::to_string(invalid) + " address spaces are not valid");
        if (const unsigned long left = kmirror_maple_ops()->nr_allocated(); left)
            wrong.push_back(std::to_string(left) + " nodes are left");
        return wrong;
    }

private:
    Iteration iteration_, after_;
    unsigned batch_;
    bool renewed_ = false;
    std::vector<std::unique_ptr<Task>> tasks_;
    std::atomic<unsigned> failed_{0};
};

template <Iteration iteration, Iteration first = nullptr, Iteration after = nullptr>
std::unique_ptr<Load> make(const Plan &plan, int sheaf_capacity)
{
    return std::make_unique<MmLoad>(plan, sheaf_capacity, iteration, first, after);
}

constexpr const char *kNodes = "maple_node (two a call, freed by RCU), vm_area_struct; list_lock, barn lock";

constexpr LoadKind kKinds[] = {
    {"mmap1", "mmap and munmap of 128 MiB of anonymous memory", kNodes, make<&Task::map_anonymous>},
    {"mmap2", "mmap and munmap of 128 MiB of a file", kNodes, make<&Task::map_file>},
    {"brk1", "a heap of one page comes and goes", kNodes, make<&Task::grow_and_shrink>},
    {"brk2", "a heap grows and shrinks by one page", kNodes, make<&Task::grow_and_shrink, &Task::make_heap>},
    {"page_fault1", "mmap, 64 look-ups as a page fault makes them, munmap", kNodes,
     make<&Task::map_and_touch>},
    {"mmap_time", "mmap of 128 MiB, the only thing that is timed; its munmap follows", kNodes,
     make<&Task::map_alone, nullptr, &Task::unmap_alone>},
    {"stress_ng_mmap", "16 pages mapped, unmapped and mapped again one by one in random order", kNodes,
     make<&Task::ng_map>},
    {"stress_ng_tmpfs", "the same of a file on tmpfs, shared", kNodes, make<&Task::ng_tmpfs>},
};

} // namespace

std::span<const LoadKind> mm_loads() { return kKinds; }

std::vector<const LoadKind *> all_loads()
{
    std::vector<const LoadKind *> all;
    for (const std::span<const LoadKind> kinds : {mm_loads(), slab_loads(), pattern_loads(), tree_loads()})
        for (const LoadKind &kind : kinds)
            all.push_back(&kind);
    return all;
}

const LoadKind *load_by_name(std::string_view name)
{
    for (const LoadKind *kind : all_loads())
        if (name == kind->name)
            return kind;
    return nullptr;
}

} // namespace kmirror::stress
