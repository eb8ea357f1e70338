// SPDX-License-Identifier: GPL-2.0-only
//
// Memory that belongs to no cache of the caller's: kmalloc() and its family, vmalloc(), size classes of one's own,
// whole pages and per-CPU extents. What a call that fails was to grow stays as it was; what one that succeeds gives
// is the caller's to the last byte, and zero where that was asked for.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "tools/sweep/cases.h"

namespace kmirror::sweeping {
namespace {

constexpr gfp_t kQuiet = GFP_KERNEL | __GFP_NOWARN;
constexpr unsigned char kPattern = 0x3c;
constexpr size_t kSizes[] = {8, 200, 5000, 300000};

// ---- memory by its size ---------------------------------------------------------------------------------------

void put_percpu(const void* extent) { free_percpu(const_cast<void*>(extent)); }

struct Source {
    const char* name;
    void* (*get)(size_t size);
    void (*put)(const void* block);
    bool zeroed = false;
    size_t most = ~size_t{0};   // bytes that it can give
    size_t least = 1;
};

struct kmem_cache* class_of(size_t size) { return kmalloc_caches[KMALLOC_NORMAL][kmalloc_index(size)]; }

constexpr size_t kLargest = KMALLOC_MAX_CACHE_SIZE;

const Source kSources[] = {
    {"kmalloc", [](size_t n) { return kmalloc(n, kQuiet); }, kfree},
    {"kmalloc_node", [](size_t n) { return kmalloc_node(n, kQuiet, 0); }, kfree},
    {"kzalloc", [](size_t n) { return kzalloc(n, kQuiet); }, kfree, true},
    {"kzalloc_node", [](size_t n) { return kzalloc_node(n, kQuiet, 0); }, kfree, true},
    {"kmalloc_array", [](size_t n) { return kmalloc_array(n, 1, kQuiet); }, kfree},
    {"kmalloc_array_node", [](size_t n) { return kmalloc_array_node(n, 1, kQuiet, 0); }, kfree},
    {"kcalloc", [](size_t n) { return kcalloc(n, 1, kQuiet); }, kfree, true},
    {"kcalloc_node", [](size_t n) { return kcalloc_node(n, 1, kQuiet, 0); }, kfree, true},
    {"kmalloc_nolock", [](size_t n) { return kmalloc_nolock(n, __GFP_NOWARN, 0); }, kfree_nolock, false, kLargest},
    {"__kmalloc", [](size_t n) { return __kmalloc(n, kQuiet); }, kfree},
    {"__kmalloc_node", [](size_t n) { return __kmalloc_node(n, kQuiet, 0); }, kfree},
    {"__kmalloc_cache", [](size_t n) { return __kmalloc_cache(class_of(n), kQuiet, n); }, kfree, false, kLargest},
    {"__kmalloc_cache_node", [](size_t n) { return __kmalloc_cache_node(class_of(n), kQuiet, 0, n); }, kfree, false,
     kLargest},
    {"__kmalloc_large", [](size_t n) { return __kmalloc_large(n, kQuiet); }, kfree, false, ~size_t{0}, kLargest},
    {"__kmalloc_large_node", [](size_t n) { return __kmalloc_large_node(n, kQuiet, 0); }, kfree, false, ~size_t{0},
     kLargest},
    {"kvmalloc", [](size_t n) { return kvmalloc(n, kQuiet); }, kvfree},
    {"kvmalloc_node", [](size_t n) { return kvmalloc_node(n, kQuiet, 0); }, kvfree},
    {"kvmalloc_node_align", [](size_t n) { return kvmalloc_node_align(n, 8, kQuiet, 0); }, kvfree},
    {"kvzalloc", [](size_t n) { return kvzalloc(n, kQuiet); }, kvfree, true},
    {"kvmalloc_array", [](size_t n) { return kvmalloc_array(n, 1, kQuiet); }, kvfree},
    {"kvcalloc", [](size_t n) { return kvcalloc(n, 1, kQuiet); }, kvfree, true},
    {"vmalloc", [](size_t n) { return vmalloc(n); }, vfree},
    {"vmalloc_node", [](size_t n) { return vmalloc_node(n, 0); }, vfree},
    {"vzalloc", [](size_t n) { return vzalloc(n); }, vfree, true},
    {"__vmalloc", [](size_t n) { return __vmalloc(n, kQuiet); }, vfree},
    {"__vmalloc_node", [](size_t n) { return __vmalloc_node(n, PAGE_SIZE, kQuiet, 0); }, vfree},
    {"__alloc_percpu", [](size_t n) { return __alloc_percpu(n, 8); }, put_percpu, true, 4096},
    {"__alloc_percpu_gfp", [](size_t n) { return __alloc_percpu_gfp(n, 8, kQuiet); }, put_percpu, true, 4096},
};

class BlockScene : public SweepScene {
public:
    BlockScene(const Source& source, size_t size) : source_(source), size_(size) {}
    ~BlockScene() override {
        if (block_ != nullptr) source_.put(block_);
    }
    int call() override {
        block_ = source_.get(size_);
        return block_ != nullptr ? 0 : -ENOMEM;
    }
    std::string check(int) override {
        if (block_ == nullptr) return "";
        auto* const bytes = static_cast<unsigned char*>(block_);
        if (source_.zeroed && std::count(bytes, bytes + size_, 0) != static_cast<long>(size_)) return "it is not zero";
        std::memset(bytes, kPattern, size_);
        return "";
    }

private:
    const Source& source_;
    const size_t size_;
    void* block_ = nullptr;
};

// ---- memory that grows -------------------------------------------------------------------------------------------

struct Growth {
    const char* name;
    void* (*grow)(void* block, size_t size);
    void* (*get)(size_t size);
    void (*put)(const void* block);
};

const Growth kGrowths[] = {
    {"krealloc", [](void* p, size_t n) { return krealloc(p, n, kQuiet); }, kSources[0].get, kfree},
    {"krealloc_array", [](void* p, size_t n) { return krealloc_array(p, n, 1, kQuiet); }, kSources[0].get, kfree},
    {"krealloc_node_align", [](void* p, size_t n) { return krealloc_node_align(p, n, 8, kQuiet, 0); },
     kSources[0].get, kfree},
    {"kvrealloc", [](void* p, size_t n) { return kvrealloc(p, n, kQuiet); }, kSources[0].get, kvfree},
    {"vrealloc", [](void* p, size_t n) { return vrealloc(p, n, kQuiet); }, [](size_t n) { return vmalloc(n); }, vfree},
};

class GrowthScene : public SweepScene {
public:
    GrowthScene(const Growth& growth, size_t size) : growth_(growth), size_(size), block_(growth.get(kBefore)) {
        std::memset(block_, kPattern, kBefore);
    }
    ~GrowthScene() override { growth_.put(block_); }
    int call() override {
        void* const got = growth_.grow(block_, size_);
        if (got == nullptr) return -ENOMEM;
        block_ = got;
        return 0;
    }
    std::string check(int result) override {
        auto* const bytes = static_cast<unsigned char*>(block_);
        if (std::count(bytes, bytes + kBefore, kPattern) != kBefore) return "bytes were lost";
        if (result >= 0) std::memset(bytes, kPattern, size_);
        return "";
    }

private:
    static constexpr long kBefore = 50;

    const Growth& growth_;
    const size_t size_;
    void* block_;
};

// ---- pages -------------------------------------------------------------------------------------------------------

struct PageSource {
    const char* name;
    struct page* (*get)(unsigned order);
    void (*put)(struct page* page, unsigned order);
    unsigned most = 4;   // order
};

struct page* page_at(unsigned long address) {
    return address != 0 ? virt_to_page(reinterpret_cast<void*>(address)) : nullptr;
}
void put_address(struct page* page, unsigned order) {
    free_pages(reinterpret_cast<unsigned long>(page_address(page)), order);
}
void put_frozen(struct page* page, unsigned order) { free_frozen_pages(page, order); }
void put_counted(struct page* page, unsigned order) { __free_pages(page, order); }

const PageSource kPageSources[] = {
    {"alloc_frozen_pages", [](unsigned order) { return alloc_frozen_pages(kQuiet, order); }, put_frozen},
    {"alloc_frozen_pages_node", [](unsigned order) { return alloc_frozen_pages_node(0, kQuiet, order); }, put_frozen},
    {"alloc_frozen_pages_nolock", [](unsigned order) { return alloc_frozen_pages_nolock(0, 0, order); },
     [](struct page* page, unsigned order) { free_frozen_pages_nolock(page, order); }},
    {"alloc_pages", [](unsigned order) { return alloc_pages(kQuiet, order); }, put_counted},
    {"alloc_pages_node", [](unsigned order) { return alloc_pages_node(0, kQuiet, order); }, put_counted},
    {"alloc_page", [](unsigned) { return alloc_page(kQuiet); }, put_counted, 0},
    {"__get_free_pages", [](unsigned order) { return page_at(__get_free_pages(kQuiet, order)); }, put_address},
    {"__get_free_page", [](unsigned) { return page_at(__get_free_page(kQuiet)); }, put_address, 0},
    {"get_zeroed_page", [](unsigned) { return page_at(get_zeroed_page(kQuiet)); }, put_address, 0},
};

class PageScene : public SweepScene {
public:
    PageScene(const PageSource& source, unsigned order) : source_(source), order_(order) {}
    ~PageScene() override {
        if (page_ != nullptr) source_.put(page_, order_);
    }
    int call() override {
        page_ = source_.get(order_);
        return page_ != nullptr ? 0 : -ENOMEM;
    }
    std::string check(int) override {
        if (page_ != nullptr) std::memset(page_address(page_), kPattern, PAGE_SIZE << order_);
        return "";
    }

private:
    const PageSource& source_;
    const unsigned order_;
    struct page* page_ = nullptr;
};

// ---- size classes of one's own -----------------------------------------------------------------------------------

kmem_buckets* new_classes() { return kmem_buckets_create("swept_classes", 0, 0, 0, nullptr); }

// The library has no call for it.
void end_classes(kmem_buckets* classes) {
    if (classes == nullptr) return;
    for (struct kmem_cache* s : *classes) kmem_cache_destroy(s);
    kfree(classes);
}

class CreateClassesScene : public SweepScene {
public:
    ~CreateClassesScene() override { end_classes(classes_); }
    int call() override {
        classes_ = new_classes();
        return classes_ != nullptr ? 0 : -ENOMEM;
    }
    std::string check(int) override {
        if (classes_ == nullptr) return "";
        void* const block = kmem_buckets_alloc(classes_, 100, kQuiet);
        kfree(block);
        return block != nullptr ? "" : "the new classes do not work";
    }

private:
    kmem_buckets* classes_ = nullptr;
};

using OfClasses = void* (*)(kmem_buckets* classes, size_t size, gfp_t gfp);

class OfClassesScene : public SweepScene {
public:
    OfClassesScene(OfClasses get, size_t size) : get_(get), size_(size) {}
    ~OfClassesScene() override {
        kvfree(block_);
        end_classes(classes_);
    }
    int call() override {
        block_ = get_(classes_, size_, kQuiet);
        return block_ != nullptr ? 0 : -ENOMEM;
    }
    std::string check(int) override {
        if (block_ != nullptr) std::memset(block_, kPattern, size_);
        return "";
    }

private:
    const OfClasses get_;
    const size_t size_;
    kmem_buckets* const classes_ = new_classes();
    void* block_ = nullptr;
};

}  // namespace

std::vector<Case> block_cases() {
    std::vector<Case> cases;
    const auto bytes = [](size_t size) { return std::to_string(size) + " bytes"; };
    for (const Source& source : kSources) {
        for (const size_t size : kSizes) {
            if (size < source.least || size > source.most) continue;
            cases.push_back(
                {source.name, bytes(size), [&source, size] { return std::make_unique<BlockScene>(source, size); }});
        }
    }
    for (const Growth& growth : kGrowths) {
        for (const size_t size : {60, 9000, 100000}) {
            cases.push_back({growth.name, "50 to " + bytes(size),
                             [&growth, size] { return std::make_unique<GrowthScene>(growth, size); }});
        }
    }
    for (const PageSource& source : kPageSources) {
        for (const unsigned order : {0u, 3u}) {
            if (order > source.most) continue;
            cases.push_back({source.name, "order " + std::to_string(order),
                             [&source, order] { return std::make_unique<PageScene>(source, order); }});
        }
    }
    cases.push_back(
        {"kmem_buckets_create", "all classes", [] { return std::make_unique<CreateClassesScene>(); }});
    for (const size_t size : kSizes) {
        cases.push_back({"kmem_buckets_alloc", bytes(size),
                         [size] { return std::make_unique<OfClassesScene>(kmem_buckets_alloc, size); }});
        cases.push_back({"kmem_buckets_valloc", bytes(size),
                         [size] { return std::make_unique<OfClassesScene>(kmem_buckets_valloc, size); }});
    }
    return cases;
}

}  // namespace kmirror::sweeping
