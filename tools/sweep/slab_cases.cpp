// SPDX-License-Identifier: GPL-2.0-only
//
// The allocator's calls. Each scene has a cache of its own, which is cold, so that a call reaches down to the
// page allocator. After a call every rule of the cache holds, and what was handed out is the caller's.

#include <cerrno>
#include <cstring>

#include <linux/slab.h>

#include <kmirror/fault.h>
#include <kmirror/slab_ops.h>

#include "tools/sweep/cases.h"

namespace kmirror::sweeping {
namespace {

const slab_ops& ops() {
    static const slab_ops& table = *kmirror_slab_ops();
    return table;
}

struct Shape {
    const char* name;
    slab_ops_cache_args args;
    unsigned warm;   // objects that were allocated and freed before
};

slab_ops_cache_args plain(unsigned size, unsigned align = 0, unsigned capacity = 0) {
    slab_ops_cache_args args = {};
    args.size = size;
    args.align = align;
    args.sheaf_capacity = capacity;
    args.flags = SLAB_OPS_NO_MERGE;
    return args;
}

const Shape kShapes[] = {
    {"40 bytes, cold", plain(40), 0},
    {"256 bytes, aligned", plain(256, 256, 32), 0},
    {"256 bytes, warm", plain(256, 256, 32), 200},
    {"3000 bytes", plain(3000), 0},
};

class SlabScene : public SweepScene {
public:
    using Body = std::function<int(SlabScene&)>;

    SlabScene(const Shape& shape, Body body) : shape_(shape), body_(std::move(body)) {
        cache_ = ops().create("sweep", &shape.args);
        std::vector<void*> warm(shape.warm);
        for (void*& object : warm) object = ops().alloc(cache_, SLAB_OPS_KERNEL);
        for (void* object : warm) ops().free(cache_, object);
    }
    ~SlabScene() override {
        for (void* object : objects) ops().free(cache_, object);
        if (sheaf != nullptr) ops().return_sheaf(cache_, SLAB_OPS_KERNEL, sheaf);
        ops().destroy(cache_);
    }
    int call() override { return body_(*this); }
    std::string check(int result) override {
        std::string words;
        if (const long broken = ops().check(cache_); broken != 0) {
            words = std::to_string(broken) + " rules of the cache are broken; ";
        }
        if (result < 0 && !objects.empty()) words += "objects were handed out by a call that failed";
        for (void* object : objects) std::memset(object, 0x5a, shape_.args.size);
        return words;
    }

    slab_ops_cache* cache() { return cache_; }
    std::vector<void*> objects;   // the caller's after the call
    slab_ops_sheaf* sheaf = nullptr;

private:
    const Shape& shape_;
    Body body_;
    slab_ops_cache* cache_;
};

int keep(SlabScene& scene, void* object) {
    if (object == nullptr) return -ENOMEM;
    scene.objects.push_back(object);
    return 0;
}

int bulk(SlabScene& scene, size_t n) {
    std::vector<void*> all(n);
    if (!ops().alloc_bulk(scene.cache(), SLAB_OPS_KERNEL | SLAB_OPS_NOWARN, n, all.data())) return -ENOMEM;
    scene.objects = all;
    return 0;
}

int prefill(SlabScene& scene, unsigned n) {
    scene.sheaf = ops().prefill(scene.cache(), SLAB_OPS_KERNEL | SLAB_OPS_NOWARN, n);
    if (scene.sheaf == nullptr) return -ENOMEM;
    return ops().sheaf_size(scene.sheaf) >= n ? 0 : -EINVAL;
}

// Objects are allocated with faults paused, then given back with everything failing: that cannot fail.
template <typename Give>
int gives_back(SlabScene& scene, size_t n, Give give) {
    std::vector<void*> all(n);
    kmirror_fault_pause();
    for (void*& object : all) object = ops().alloc(scene.cache(), SLAB_OPS_KERNEL);
    kmirror_fault_resume();
    give(all);
    return 0;
}

struct Call {
    const char* name;
    SlabScene::Body body;
};

std::vector<Call> cache_calls() {
    constexpr unsigned kQuiet = SLAB_OPS_KERNEL | SLAB_OPS_NOWARN;
    return {
        {"kmem_cache_alloc", [](SlabScene& s) { return keep(s, ops().alloc(s.cache(), kQuiet)); }},
        {"kmem_cache_alloc, GFP_NOWAIT",
         [](SlabScene& s) { return keep(s, ops().alloc(s.cache(), SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN)); }},
        {"kmem_cache_alloc, zeroed",
         [](SlabScene& s) { return keep(s, ops().alloc(s.cache(), kQuiet | SLAB_OPS_ZERO)); }},
        {"kmem_cache_alloc, __GFP_NOFAIL",
         [](SlabScene& s) { return keep(s, ops().alloc(s.cache(), SLAB_OPS_KERNEL | SLAB_OPS_NOFAIL)); }},
        {"kmem_cache_alloc_node",
         [](SlabScene& s) { return keep(s, ops().alloc_node(s.cache(), kQuiet, 0)); }},
        {"kmem_cache_alloc_bulk of 1", [](SlabScene& s) { return bulk(s, 1); }},
        {"kmem_cache_alloc_bulk of 24", [](SlabScene& s) { return bulk(s, 24); }},
        {"kmem_cache_alloc_bulk of 70", [](SlabScene& s) { return bulk(s, 70); }},
        {"kmem_cache_prefill_sheaf of 4", [](SlabScene& s) { return prefill(s, 4); }},
        {"kmem_cache_prefill_sheaf of 90", [](SlabScene& s) { return prefill(s, 90); }},
        {"kmem_cache_refill_sheaf",
         [](SlabScene& s) {
             kmirror_fault_pause();
             prefill(s, 2);
             kmirror_fault_resume();
             return ops().refill(s.cache(), kQuiet, &s.sheaf, 20);
         }},
        {"kmem_cache_free",
         [](SlabScene& s) {
             return gives_back(s, 90, [&](std::vector<void*>& all) {
                 for (void* object : all) ops().free(s.cache(), object);
             });
         }},
        {"kmem_cache_free_bulk",
         [](SlabScene& s) {
             return gives_back(s, 90, [&](std::vector<void*>& all) {
                 ops().free_bulk(s.cache(), all.size(), all.data());
             });
         }},
        {"kfree_rcu",
         [](SlabScene& s) {
             return gives_back(s, 70, [&](std::vector<void*>& all) {
                 for (void* object : all) ops().free_rcu(object, 0);
                 ops().free_rcu_barrier();
             });
         }},
        {"kmem_cache_shrink",
         [](SlabScene& s) {
             ops().shrink(s.cache());
             return 0;
         }},
    };
}

// ---- calls without a cache of their own -----------------------------------------------------------------

// Creates the cache; the destructor ends it.
class CreateScene : public SweepScene {
public:
    explicit CreateScene(const slab_ops_cache_args& args) : args_(args) {}
    ~CreateScene() override { ops().destroy(cache_); }
    int call() override {
        cache_ = ops().create("sweep_created", &args_);
        return cache_ != nullptr ? 0 : -ENOMEM;
    }
    std::string check(int) override {
        if (cache_ == nullptr) return "";
        void* const object = ops().alloc(cache_, SLAB_OPS_KERNEL);
        ops().free(cache_, object);
        return object == nullptr || ops().check(cache_) != 0 ? "the new cache does not work" : "";
    }

private:
    slab_ops_cache_args args_;
    slab_ops_cache* cache_ = nullptr;
};

// A block that is got, or grown from old_size to new_size with its contents.
class BlockScene : public SweepScene {
public:
    BlockScene(size_t old_size, size_t new_size, bool kv) : old_(old_size), new_(new_size), kv_(kv) {
        if (old_ == 0) return;
        block_ = kv_ ? kvmalloc(old_, GFP_KERNEL) : kmalloc(old_, GFP_KERNEL);
        std::memset(block_, 0x3c, old_);
    }
    ~BlockScene() override { kvfree(block_); }
    int call() override {
        constexpr gfp_t quiet = GFP_KERNEL | __GFP_NOWARN;
        void* const got = old_ == 0 ? (kv_ ? kvmalloc(new_, quiet) : kmalloc(new_, quiet))
                                    : (kv_ ? kvrealloc(block_, new_, quiet) : krealloc(block_, new_, quiet));
        if (got == nullptr) return -ENOMEM;
        block_ = got;
        return 0;
    }
    std::string check(int result) override {
        const auto* const bytes = static_cast<const unsigned char*>(block_);
        for (size_t i = 0; i < old_; ++i) {
            if (bytes[i] != 0x3c) return "byte " + std::to_string(i) + " was lost";
        }
        if (result >= 0) std::memset(block_, 0x5a, new_);
        return "";
    }

private:
    const size_t old_, new_;
    const bool kv_;
    void* block_ = nullptr;
};

void add_blocks(std::vector<Case>& cases) {
    for (const bool kv : {false, true}) {
        for (const size_t size : {8, 200, 5000, 300000}) {
            cases.push_back({kv ? "kvmalloc" : "kmalloc", std::to_string(size) + " bytes",
                             [=] { return std::make_unique<BlockScene>(0, size, kv); }});
        }
        for (const size_t size : {60, 9000, 100000}) {
            cases.push_back({kv ? "kvrealloc" : "krealloc", "50 to " + std::to_string(size) + " bytes",
                             [=] { return std::make_unique<BlockScene>(50, size, kv); }});
        }
    }
}

}  // namespace

std::vector<Case> slab_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : kShapes) {
        cases.push_back({"kmem_cache_create", shape.name,
                         [&shape] { return std::make_unique<CreateScene>(shape.args); }});
    }
    for (const Call& call : cache_calls()) {
        for (const Shape& shape : kShapes) {
            cases.push_back({call.name, shape.name,
                             [call, &shape] { return std::make_unique<SlabScene>(shape, call.body); }});
        }
    }
    add_blocks(cases);
    return cases;
}

}  // namespace kmirror::sweeping
