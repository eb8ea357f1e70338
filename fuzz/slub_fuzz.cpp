// SPDX-License-Identifier: GPL-2.0-only
//
// Sequences of what can be done with caches: creation with any options, allocations one by one, in bulk and
// from prefilled sheaves, frees at once and after a grace period, on CPUs that come and go. A Shadow knows
// every live object and each of its bytes; in the end nothing is left.
//
// Owns     the caches and objects of the input that runs.
// Bounds   kCaches caches, kMostObjects live objects of each.
// Locking  one thread, which moves between the machine's CPUs.
#include "fuzz/target.h"

#include "slab/shadow.h"

#include <kmirror/slab_ops.h>
#include <kmirror/topology.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace kmirror::fuzz {
namespace {

using slab_test::Shadow;

constexpr unsigned kCaches = 3;
constexpr std::size_t kMostObjects = 1024;
constexpr std::uint64_t kMagic = 0x6b6d6972726f7221;

enum class SlubOp : std::uint8_t {
    Create, Destroy, Alloc, AllocNode, Free, AllocBulk, FreeBulk, Sheaf, Refill, FreeRcu, Barrier, Shrink, Cpu,
    Online, Check, MinPartial
};

const Field kCache{"cache", Slot::Place, kCaches};
const Field kCount{"count", Slot::Operand0, 129};
const Field kGfp{"gfp", Slot::Operand1, 8};
const Field kPick{"pick", Slot::Operand2, 1024};

const Grammar &slub_grammar()
{
    static const Grammar grammar = {
        {{"generation", {"sheaves", "double", "cpu-slab+sheaves", "cpu-slab"}}},
        {{"create", {kCache, {"size", Slot::Operand0, 9000}, {"align", Slot::Operand1, 9},
                     {"flags", Slot::Operand2, 64}, {"capacity", Slot::Operand3, 70},
                     {"ctor", Slot::Value, 2}}, 9},
         {"destroy", {kCache}, 1},
         {"alloc", {kCache, kCount, kGfp}, 10},
         {"alloc_node", {kCache, kCount, kGfp, {"node", Slot::Operand3, 3}}, 3},
         {"free", {kCache, kCount, kPick}, 10},
         {"alloc_bulk", {kCache, kCount, kGfp}, 5},
         {"free_bulk", {kCache, kCount, kPick, {"any", Slot::Operand3, 2}}, 5},
         {"sheaf", {kCache, kCount, kGfp, {"take", Slot::Operand3, 129}}, 5},
         {"sheaf_refill", {kCache, kCount, kGfp, {"take", Slot::Operand3, 129}}, 3},
         {"free_rcu", {kCache, kCount, kPick}, 5},
         {"barrier", {kCache}, 1},
         {"shrink", {kCache}, 2},
         {"cpu", {{"number", Slot::Place, 8}}, 6},
         {"online", {{"number", Slot::Place, 8}, {"yes", Slot::Operand0, 2}}, 2},
         {"check", {kCache}, 2},
         {"min_partial", {kCache, kCount}, 1}},
        1,
        4096};
    return grammar;
}

const slab_ops &ops() { return *kmirror_slab_ops(); }

void construct(void *object) { std::memcpy(object, &kMagic, sizeof(kMagic)); }

class FuzzedCache {
public:
    FuzzedCache(slab_ops_cache *cache, const slab_ops_cache_args &args) : cache_(cache), ctor_(args.ctor)
    {
        ops().geometry(cache, &geometry_);
        shadow_.emplace(geometry_.object_size, geometry_.size, geometry_.align);
    }

    slab_ops_cache *get() const { return cache_; }
    std::size_t room() const { return kMostObjects - objects_.size(); }
    std::size_t live() const { return objects_.size(); }
    bool is_constructed() const { return ctor_; }
    bool may_wait_for_rcu() const { return geometry_.object_size >= 2 * sizeof(void *) && !ctor_; }

    void take(void *object, unsigned gfp)
    {
        if (!object)
            return;
        const auto *bytes = static_cast<const unsigned char *>(object);
        if (ctor_ && std::memcmp(bytes, &kMagic, sizeof(kMagic)) != 0)
            fail("an object that was never constructed is handed out");
        if (!ctor_ && gfp & SLAB_OPS_ZERO)
            if (std::any_of(bytes, bytes + geometry_.object_size, [](unsigned char byte) { return byte; }))
                fail("an object is not zeroed");
        judge(shadow_->add(object));
        objects_.push_back(object);
    }

    // An object that goes back, as its constructor left it.
    void *drop(std::size_t pick)
    {
        std::swap(objects_[pick % objects_.size()], objects_.back());
        void *object = objects_.back();
        objects_.pop_back();
        judge(shadow_->remove(object));
        if (ctor_)
            construct(object);
        return object;
    }

    // In a cache of its own, with nothing pending.
    void check()
    {
        judge(shadow_->check());
        if (const long broken = ops().check(cache_))
            fail(std::to_string(broken) + " rules of a cache are broken");
    }

    void close()
    {
        while (!objects_.empty())
            ops().free(cache_, drop(0));
        ops().free_rcu_barrier_on(cache_);
        check();
        if (ops().shrink(cache_) != 0)
            fail("slabs are left in an empty cache");
        slab_ops_counts left{};
        ops().counts(cache_, -1, &left);
        if (left.used_objects || left.slabs)
            fail("objects are lost: " + std::to_string(left.used_objects));
        ops().destroy(cache_);
    }

private:
    static void judge(const std::string &wrong)
    {
        if (!wrong.empty())
            fail(wrong);
    }

    slab_ops_cache *cache_;
    bool ctor_;
    slab_ops_geometry geometry_{};
    std::optional<Shadow> shadow_;
    std::vector<void *> objects_;
};

class SlubRun {
public:
    explicit SlubRun(const Sequence &sequence)
    {
        ops().set_generation(slub_grammar().setup[0].choices[sequence.setup[0]]);
        ops().cpu_pin(0);
        for (const Operation &operation : sequence.operations)
            one(operation);
    }

    ~SlubRun()
    {
        for (int cpu = 0; cpu < ops().nr_cpus(); cpu++)
            ops().cpu_set_online(cpu, true);
        for (auto &cache : caches_)
            if (cache)
                cache->close();
        ops().cpu_unpin();
        ops().set_generation("sheaves");
    }
    SlubRun(const SlubRun &) = delete;
    SlubRun &operator=(const SlubRun &) = delete;

private:
    // No waiting and no warnings change nothing here, but take other paths.
    static unsigned gfp_of(std::uint64_t bits)
    {
        return unsigned(bits & 1 ? SLAB_OPS_NOWAIT : 0) | unsigned(bits & 2 ? SLAB_OPS_ZERO : 0) |
               unsigned(bits & 4 ? SLAB_OPS_NOWARN : 0);
    }

    void one(const Operation &operation)
    {
        const auto op = SlubOp(operation.kind);
        const std::uint64_t first = operation.operand[0].number;
        if (op == SlubOp::Cpu) {
            ops().cpu_pin(int(operation.place) % ops().nr_cpus());
            return;
        }
        if (op == SlubOp::Online)
            return switch_cpu(int(operation.place) % ops().nr_cpus(), first != 0);
        auto &cache = caches_[operation.place];
        if (op == SlubOp::Create) {
            if (!cache)
                create(cache, operation);
            return;
        }
        if (!cache)
            return;
        switch (op) {
        case SlubOp::Destroy:
            cache->close();
            cache.reset();
            break;
        case SlubOp::Barrier:
            ops().free_rcu_barrier_on(cache->get());
            break;
        case SlubOp::Shrink:
            ops().shrink(cache->get());
            break;
        case SlubOp::Check:
            ops().free_rcu_barrier_on(cache->get());
            cache->check();
            break;
        case SlubOp::MinPartial:
            ops().set_min_partial(cache->get(), first);
            break;
        default:
            objects(*cache, op, operation);
        }
    }

    // CPU 0 stays, and so does the one we are on.
    static void switch_cpu(int cpu, bool online)
    {
        if (cpu != 0 && (online || cpu != ops().cpu()))
            ops().cpu_set_online(cpu, online);
    }

    static void create(std::optional<FuzzedCache> &cache, const Operation &operation)
    {
        constexpr unsigned kFlags[] = {SLAB_OPS_HWCACHE_ALIGN, SLAB_OPS_TYPESAFE_BY_RCU, SLAB_OPS_NO_MERGE,
                                       SLAB_OPS_RECLAIM_ACCOUNT};
        slab_ops_cache_args args{};
        args.size = unsigned(operation.operand[0].number) + sizeof(kMagic);
        args.align = operation.operand[1].number ? 4u << operation.operand[1].number : 0;
        for (unsigned i = 0; i < std::size(kFlags); i++)
            args.flags |= operation.operand[2].number >> i & 1 ? kFlags[i] : 0;
        args.flags |= SLAB_OPS_NO_MERGE;
        args.sheaf_capacity = unsigned(operation.operand[3].number);
        args.ctor = operation.value ? construct : nullptr;
        const std::string name = "slub_fuzz_" + std::to_string(operation.place);
        if (slab_ops_cache *made = ops().create(name.c_str(), &args))
            cache.emplace(made, args);
    }

    static void objects(FuzzedCache &cache, SlubOp op, const Operation &operation)
    {
        const unsigned gfp = gfp_of(operation.operand[1].number) & (cache.is_constructed() ? ~SLAB_OPS_ZERO : ~0u);
        const std::size_t pick = operation.operand[2].number;
        const bool takes = op == SlubOp::Alloc || op == SlubOp::AllocNode || op == SlubOp::AllocBulk ||
                           op == SlubOp::Sheaf || op == SlubOp::Refill;
        const std::size_t count =
            std::min<std::size_t>(operation.operand[0].number, takes ? cache.room() : cache.live());
        void *some[128];
        if (op == SlubOp::Sheaf || op == SlubOp::Refill)
            return sheaf(cache, op, count, operation.operand[3].number, gfp);
        if (op == SlubOp::AllocBulk) {
            if (count && ops().alloc_bulk(cache.get(), gfp, count, some))
                for (std::size_t i = 0; i < count; i++)
                    cache.take(some[i], gfp);
            return;
        }
        if (op == SlubOp::FreeBulk) {
            for (std::size_t i = 0; i < count; i++)
                some[i] = cache.drop(pick + i);
            if (count)
                ops().free_bulk(operation.operand[3].number ? nullptr : cache.get(), count, some);
            return;
        }
        for (std::size_t i = 0; i < count; i++)
            switch (op) {
            case SlubOp::Alloc:
                cache.take(ops().alloc(cache.get(), gfp), gfp);
                break;
            case SlubOp::AllocNode:
                cache.take(ops().alloc_node(cache.get(), gfp,
                                            int(operation.operand[3].number) % (ops().nr_nodes() + 1) - 1),
                           gfp);
                break;
            case SlubOp::Free:
                ops().free(cache.get(), cache.drop(pick));
                break;
            default:
                if (cache.may_wait_for_rcu())
                    ops().free_rcu(cache.drop(pick), 0);
            }
    }

    // A prefilled sheaf, perhaps filled once more, of which `take` objects are used.
    static void sheaf(FuzzedCache &cache, SlubOp op, std::size_t count, std::size_t take, unsigned gfp)
    {
        // Where there are no prefilled sheaves, prefill() refuses.
        if (!count)
            return;
        slab_ops_sheaf *sheaf = ops().prefill(cache.get(), gfp, unsigned(count));
        if (!sheaf)
            return;
        if (ops().sheaf_size(sheaf) < count)
            fail("a prefilled sheaf has too few objects");
        if (op == SlubOp::Refill && ops().refill(cache.get(), gfp, &sheaf, unsigned(count + take)) == 0 &&
            ops().sheaf_size(sheaf) < count + take)
            fail("a refilled sheaf has too few objects");
        for (std::size_t i = 0; i < std::min(take, count); i++) {
            void *object = ops().alloc_from_sheaf(cache.get(), gfp, sheaf);
            if (!object)
                fail("a prefilled sheaf is empty too early");
            cache.take(object, gfp);
        }
        ops().return_sheaf(cache.get(), gfp, sheaf);
    }

    std::optional<FuzzedCache> caches_[kCaches];
};

void run_slub(std::span<const std::uint8_t> input)
{
    // Two nodes, whatever the host; in a process that has begun to allocate the machine stays as it is.
    static char why[256];
    [[maybe_unused]] static const int machine = kmirror_machine_set("numa:2 core:2 pu:1", why, sizeof(why));
    static Sequence sequence;
    decode_into(slub_grammar(), input, sequence);
    { const SlubRun run(sequence); }
    if (const unsigned long warnings = new_warnings())
        fail(std::to_string(warnings) + " warnings, printed above");
}

} // namespace

const Target slub_fuzz = {"slub_fuzz", &slub_grammar(), run_slub};

} // namespace kmirror::fuzz
