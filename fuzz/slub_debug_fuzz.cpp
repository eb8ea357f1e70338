// SPDX-License-Identifier: GPL-2.0-only
//
// Caches with slab debugging whose bytes are changed at random: in live objects, in red zones, links, padding
// and freed objects. The checker never crashes, never goes round in circles; what lies behind a live object
// and was changed is found, counted and repaired.
//
// Owns     one cache of the input that runs, and kObjects of its objects at most.
// Locking  one thread.
#include "fuzz/target.h"

#include <kmirror/printk.h>
#include <kmirror/slab_info.h>
#include <kmirror/slab_ops.h>
#include <linux/kasan.h>
#include <linux/slab.h>

#include <vector>

namespace kmirror::fuzz {
namespace {

constexpr std::size_t kObjects = 64;

enum class DebugOp : std::uint8_t { Alloc, Free, Poke, Validate, Shrink };

const Grammar &debug_grammar()
{
    static const Grammar grammar = {
        {{"checks", {"F", "FZ", "FP", "FZP", "FZPU", "FU", "Z", "P", "ZP", "U"}},
         {"size", {"1", "8", "13", "24", "64", "200", "1000", "5000"}},
         {"kind", {"plain", "typesafe", "aligned"}}},
        {{"alloc", {{"count", Slot::Operand0, 32}}, 6},
         {"free", {{"count", Slot::Operand0, 32}, {"pick", Slot::Value, 64}}, 6},
         {"poke", {{"offset", Slot::Operand0, 5300}, {"byte", Slot::Operand1, 256},
                   {"freed", Slot::Operand2, 2}, {"pick", Slot::Value, 64}}, 8},
         {"validate", {}, 3},
         {"shrink", {}, 1}},
        1,
        8192};
    return grammar;
}

slab_flags_t checks_of(const char *letters)
{
    slab_flags_t flags = 0;
    for (; *letters; letters++)
        flags |= *letters == 'F'   ? SLAB_CONSISTENCY_CHECKS
                 : *letters == 'Z' ? SLAB_RED_ZONE
                 : *letters == 'P' ? SLAB_POISON
                                   : SLAB_STORE_USER;
    return flags;
}

// A write that the address sanitizer does not look at. False: the byte has that value already.
__attribute__((no_sanitize("address"))) bool poke_byte(unsigned char *at, unsigned char value)
{
    volatile unsigned char *const byte = at;
    const bool changes = *byte != value;
    *byte = value;
    return changes;
}

class DebugRun {
public:
    explicit DebugRun(const Sequence &sequence) : flags_(checks_of(choice(sequence, 0)))
    {
        kmem_cache_args args = {};
        args.align = sequence.setup[2] == 2 ? 64 : 0;
        size_ = unsigned(std::stoul(choice(sequence, 1)));
        const slab_flags_t kind = sequence.setup[2] == 1 ? SLAB_TYPESAFE_BY_RCU : 0;
        cache_ = kmem_cache_create("slub_debug_fuzz", size_, &args, flags_ | kind | SLAB_NO_USER_FLAGS);
        if (!cache_)
            return;
        kmirror_slab_geometry(cache_, &geometry_);
        // Empty slabs stay: a freed object that is written to must not be somebody else's memory by then.
        kmirror_slab_ops()->set_min_partial(reinterpret_cast<slab_ops_cache *>(cache_), 1000);
        for (const Operation &operation : sequence.operations)
            one(operation);
    }

    ~DebugRun()
    {
        if (!cache_)
            return;
        for (void *object : live_)
            kmem_cache_free(cache_, object);
        kmem_cache_destroy(cache_);
    }
    DebugRun(const DebugRun &) = delete;
    DebugRun &operator=(const DebugRun &) = delete;

private:
    static const char *choice(const Sequence &sequence, unsigned i)
    {
        return debug_grammar().setup[i].choices[sequence.setup[i]];
    }

    void one(const Operation &operation)
    {
        const std::uint64_t first = operation.operand[0].number;
        switch (DebugOp(operation.kind)) {
        case DebugOp::Alloc:
            for (std::uint64_t i = 0; i < first && live_.size() < kObjects; i++)
                if (void *object = kmem_cache_alloc(cache_, GFP_KERNEL))
                    live_.push_back(object);
            break;
        case DebugOp::Free:
            for (std::uint64_t i = 0; i < first && !live_.empty(); i++)
                release(operation.value);
            break;
        case DebugOp::Poke:
            poke(operation);
            break;
        case DebugOp::Validate:
            validate_slab_cache(cache_);
            break;
        default:
            freed_.clear();
            kmem_cache_shrink(cache_);
        }
    }

    void release(unsigned pick)
    {
        std::swap(live_[pick % live_.size()], live_.back());
        freed_.push_back(live_.back());
        kmem_cache_free(cache_, live_.back());
        live_.pop_back();
    }

    void poke(const Operation &operation)
    {
        // Who follows links without looking is not promised to survive a wrong one.
        const bool freed = operation.operand[2].number && (flags_ & SLAB_CONSISTENCY_CHECKS);
        auto &objects = freed ? freed_ : live_;
        if (objects.empty())
            return;
        auto *object = static_cast<unsigned char *>(objects[operation.value % objects.size()]);
        const auto offset = unsigned(operation.operand[0].number % geometry_.size);
        const bool changed = poke_byte(object + offset, std::uint8_t(operation.operand[1].number));
        // A live object's red zone: from its size to the next word.
        // Full slabs are only looked at where the cache remembers its users.
        const bool guarded = !freed && (flags_ & SLAB_RED_ZONE) && (flags_ & SLAB_STORE_USER) &&
                             offset >= size_ && offset < geometry_.inuse;
        if (!changed || !guarded)
            return;
        const unsigned long before = kmirror_slab_errors();
        validate_slab_cache(cache_);
        if (kmirror_slab_errors() == before)
            fail("a red zone was changed at byte " + std::to_string(offset) + ", and nobody has seen it");
    }

    slab_flags_t flags_;
    unsigned size_ = 0;
    kmem_cache *cache_ = nullptr;
    struct kmirror_slab_geometry geometry_ {};
    std::vector<void *> live_, freed_;
};

// What the checker finds is said in the log, which nobody reads here.
void run_debug(std::span<const std::uint8_t> input)
{
    static Sequence sequence;
    decode_into(debug_grammar(), input, sequence);
    const int level = kmirror_set_loglevel(verbosity() ? 8 : 0);
    kasan_disable_current();
    { const DebugRun run(sequence); }
    kasan_enable_current();
    kmirror_set_loglevel(level);
    new_warnings();
}

} // namespace

const Target slub_debug_fuzz = {"slub_debug_fuzz", &debug_grammar(), run_debug};

} // namespace kmirror::fuzz
