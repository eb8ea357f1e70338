// SPDX-License-Identifier: GPL-2.0-only
//
// The allocator's calls. Each scene has a cache of its own, which is cold, so that a call reaches down to the
// page allocator. After a call every rule of the cache holds, and what was handed out is the caller's.

#include <cerrno>
#include <cstring>

#include <linux/memcontrol.h>
#include <linux/slab.h>

#include <kmirror/fault.h>
#include <kmirror/slab_info.h>
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
        std::string words = wrong;
        if (const long broken = ops().check(cache_); broken != 0) {
            words = std::to_string(broken) + " rules of the cache are broken; ";
        }
        if (result < 0 && !objects.empty()) words += "objects were handed out by a call that failed";
        for (void* object : objects) std::memset(object, 0x5a, shape_.args.size);
        return words;
    }

    slab_ops_cache* cache() { return cache_; }
    struct kmem_cache* raw() { return reinterpret_cast<struct kmem_cache*>(cache_); }   // lib/slub/slab_ops.cpp
    std::vector<void*> objects;   // the caller's after the call
    slab_ops_sheaf* sheaf = nullptr;
    std::string wrong;            // what the body has seen

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
        {"kmem_cache_alloc_lru",
         [](SlabScene& s) {
             return keep(s, kmem_cache_alloc_lru(s.raw(), nullptr, GFP_KERNEL | __GFP_NOWARN));
         }},
        {"kmem_cache_zalloc",
         [](SlabScene& s) { return keep(s, kmem_cache_zalloc(s.raw(), GFP_KERNEL | __GFP_NOWARN)); }},
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
        {"kmem_cache_return_sheaf",
         [](SlabScene& s) {
             kmirror_fault_pause();
             prefill(s, 20);
             kmirror_fault_resume();
             ops().return_sheaf(s.cache(), kQuiet, s.sheaf);
             s.sheaf = nullptr;
             return 0;
         }},
        {"kmem_cache_alloc_from_sheaf",
         [](SlabScene& s) {
             kmirror_fault_pause();
             prefill(s, 4);
             kmirror_fault_resume();
             for (int i = 0; i < 4; ++i) {
                 if (keep(s, ops().alloc_from_sheaf(s.cache(), kQuiet, s.sheaf)) < 0) s.wrong = "a reserved object failed";
             }
             return 0;
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

struct Creation {
    const char* name;
    struct kmem_cache* (*create)(const slab_ops_cache_args& args);
};

const Creation kCreations[] = {
    {"kmem_cache_create",
     [](const slab_ops_cache_args& a) {
         return kmem_cache_create("sweep_created", a.size, a.align, SLAB_NO_MERGE, nullptr);
     }},
    {"__kmem_cache_create",
     [](const slab_ops_cache_args& a) {
         return __kmem_cache_create("sweep_created", a.size, a.align, SLAB_NO_MERGE, nullptr);
     }},
    {"__kmem_cache_create_args",
     [](const slab_ops_cache_args& a) {
         struct kmem_cache_args args = {};
         args.align = a.align;
         args.sheaf_capacity = a.sheaf_capacity;
         return __kmem_cache_create_args("sweep_created", a.size, &args, SLAB_NO_MERGE);
     }},
    {"kmem_cache_create_usercopy",
     [](const slab_ops_cache_args& a) {
         return kmem_cache_create_usercopy("sweep_created", a.size, a.align, SLAB_NO_MERGE, 8, 16, nullptr);
     }},
};

// Creates the cache; the destructor ends it.
class CreateScene : public SweepScene {
public:
    CreateScene(const Creation& creation, const slab_ops_cache_args& args) : creation_(creation), args_(args) {}
    ~CreateScene() override { kmem_cache_destroy(cache_); }
    int call() override {
        cache_ = creation_.create(args_);
        return cache_ != nullptr ? 0 : -ENOMEM;
    }
    std::string check(int) override {
        if (cache_ == nullptr) return "";
        void* const object = kmem_cache_alloc(cache_, GFP_KERNEL);
        kmem_cache_free(cache_, object);
        return object == nullptr || kmirror_slab_validate(cache_) != 0 ? "the new cache does not work" : "";
    }

private:
    const Creation& creation_;
    const slab_ops_cache_args args_;
    struct kmem_cache* cache_ = nullptr;
};

// Charges an object to a group, which is uncharged when the object is freed.
class ChargeScene : public SweepScene {
public:
    ChargeScene() {
        set_active_objcg(&group_);
        object_ = kmem_cache_alloc(cache_, GFP_KERNEL);
    }
    ~ChargeScene() override {
        kmem_cache_free(cache_, object_);
        kmem_cache_destroy(cache_);
        set_active_objcg(nullptr);
    }
    int call() override {
        const unsigned long before = kmirror_fault_log_total();
        const int status = kmem_cache_charge(object_, GFP_KERNEL | __GFP_NOWARN) ? 0 : -ENOMEM;
        injected_ = kmirror_fault_log_total() != before;
        return status;
    }
    // As in the kernel, an object whose slab gets no table of owners is nobody's, and the call succeeds.
    std::string check(int result) override {
        const bool charged = atomic_long_read(&group_.charged) != 0;
        if (result < 0 && charged) return "a call that failed has charged";
        return result >= 0 && !charged && !injected_ ? "nothing was charged" : "";
    }

private:
    struct obj_cgroup group_ = OBJ_CGROUP_INIT;
    struct kmem_cache* const cache_ = kmem_cache_create("sweep_charged", 200, 0, SLAB_NO_MERGE, nullptr);
    void* object_;
    bool injected_ = false;
};

}  // namespace

std::vector<Case> slab_cases() {
    std::vector<Case> cases;
    for (const Creation& creation : kCreations) {
        for (const Shape& shape : kShapes) {
            cases.push_back({creation.name, shape.name, [&creation, &shape] {
                                 return std::make_unique<CreateScene>(creation, shape.args);
                             }});
        }
    }
    for (const Call& call : cache_calls()) {
        for (const Shape& shape : kShapes) {
            cases.push_back({call.name, shape.name,
                             [call, &shape] { return std::make_unique<SlabScene>(shape, call.body); }});
        }
    }
    cases.push_back({"kmem_cache_charge", "an object", [] { return std::make_unique<ChargeScene>(); }});
    for (Case& one : block_cases()) cases.push_back(std::move(one));
    return cases;
}

}  // namespace kmirror::sweeping
