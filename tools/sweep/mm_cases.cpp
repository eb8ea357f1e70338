// SPDX-License-Identifier: GPL-2.0-only
//
// The calls of lib/mm that allocate, on address spaces of several shapes.

#include <cerrno>
#include <memory>

#include <linux/mm.h>

#include "tools/sweep/cases.h"
#include "tools/sweep/mm_state.h"

namespace kmirror::sweeping {
namespace {

constexpr unsigned long kPage = PAGE_SIZE;
constexpr unsigned long kLow = 0x10000000;
constexpr unsigned long kRW = PROT_READ | PROT_WRITE;
constexpr unsigned long kAnon = MAP_PRIVATE | MAP_ANONYMOUS;

unsigned long at(unsigned long page) { return kLow + page * kPage; }

struct FilePut {
    void operator()(mm_file* file) const { mm_file_put(file); }
};
using File = std::unique_ptr<mm_file, FilePut>;

File open_file() { return File(mm_file_open("/usr/lib/swept.so", MM_FILE_READ | MM_FILE_WRITE)); }

long map(mm_struct* mm, unsigned long page, unsigned long count, unsigned long prot, unsigned long flags,
         mm_file* file = nullptr) {
    return static_cast<long>(vm_mmap(mm, file, at(page), count * kPage, prot, flags | MAP_FIXED,
                                     file != nullptr ? page * kPage : 0));
}

struct Shape {
    const char* name;
    unsigned long mappings;
    bool files;
};

const Shape kShapes[] = {
    {"6 mappings", 6, false}, {"40 mappings of files and memory", 40, true}, {"200 mappings", 200, false}};

// Mappings of three or four pages from page 0 on, each 4 pages behind the one before, so that some touch; one in
// four is written to. A heap at page 2000, a stack that ends at page 3000.
mm_struct* make(const Shape& shape) {
    mm_struct* const mm = mm_alloc();
    const File file = open_file();
    for (unsigned long i = 0; i < shape.mappings; ++i) {
        const bool of_file = shape.files && i % 2 == 0;
        map(mm, i * 4, i % 3 != 0 ? 3 : 4, i % 2 != 0 ? PROT_READ : kRW,
            of_file ? MAP_PRIVATE : kAnon, of_file ? file.get() : nullptr);
        if (i % 4 == 0) vm_fault(mm, at(i * 4));
    }
    mm->start_brk = mm->brk = at(2000);
    vm_brk(mm, at(2010));
    mm_install(mm, at(2990), at(3000), VM_READ | VM_WRITE | VM_GROWSDOWN | VM_ACCOUNT, 0, nullptr, nullptr);
    return mm;
}

struct Call {
    const char* name;
    const char* on;   // what of the address space
    MmCall body;
    unsigned allowed = kUnchanged;   // of AfterFailure
};

std::vector<Call> mappings() {
    return {
        {"vm_mmap", "a hole", [](mm_struct* mm) { return map(mm, 7, 1, kRW, kAnon); }},
        {"vm_mmap", "any place",
         [](mm_struct* mm) { return static_cast<long>(vm_mmap(mm, nullptr, 0, 3 * kPage, kRW, kAnon, 0)); }},
        {"vm_mmap", "between two that merge", [](mm_struct* mm) { return map(mm, 3, 1, PROT_READ, kAnon); }},
        {"vm_mmap", "over many", [](mm_struct* mm) { return map(mm, 5, 13, kRW, kAnon); }},
        {"vm_mmap", "shared memory",
         [](mm_struct* mm) { return map(mm, 5, 3, kRW, MAP_SHARED | MAP_ANONYMOUS); }},
        {"vm_mmap", "a file",
         [](mm_struct* mm) {
             const File file = open_file();
             return file ? map(mm, 9, 4, PROT_READ, MAP_PRIVATE, file.get()) : -ENOMEM;
         }},
        {"vm_munmap", "the middle of one", [](mm_struct* mm) { return vm_munmap(mm, at(1), kPage); }},
        {"vm_munmap", "many", [](mm_struct* mm) { return vm_munmap(mm, at(2), 18 * kPage); }},
        {"vm_munmap", "all", [](mm_struct* mm) { return vm_munmap(mm, at(0), 4000 * kPage); }},
        {"vm_brk", "up",
         [](mm_struct* mm) { return vm_brk(mm, at(2020)) == at(2020) ? 0L : static_cast<long>(-ENOMEM); }},
        {"vm_brk", "down",
         [](mm_struct* mm) { return vm_brk(mm, at(2004)) == at(2004) ? 0L : static_cast<long>(-ENOMEM); }},
        {"mm_install", "a segment",
         [](mm_struct* mm) {
             return mm_install(mm, at(1500), at(1510), VM_READ | VM_EXEC, 0, nullptr, nullptr);
         }},
        {"vm_fault", "a stack that grows", [](mm_struct* mm) { return vm_fault(mm, at(2985)); }},
    };
}

std::vector<Call> properties() {
    return {
        {"vm_mprotect", "the middle of one",
         [](mm_struct* mm) { return vm_mprotect(mm, at(1), kPage, PROT_NONE, -1); }},
        {"vm_mprotect", "one, which merges",
         [](mm_struct* mm) { return vm_mprotect(mm, at(4), 3 * kPage, kRW, -1); }},
        {"vm_mprotect", "from inside the first to inside the second",
         [](mm_struct* mm) { return vm_mprotect(mm, at(2), 4 * kPage, PROT_EXEC, -1); }, kHalfDone},
        {"vm_madvise", "the middle of one",
         [](mm_struct* mm) { return vm_madvise(mm, at(1), kPage, MADV_DONTFORK); }},
        {"vm_madvise", "two", [](mm_struct* mm) { return vm_madvise(mm, at(2), 4 * kPage, MADV_DONTDUMP); },
         kHalfDone},
        {"vm_mlock", "the middle of one", [](mm_struct* mm) { return vm_mlock(mm, at(1), kPage, VM_LOCKED); }},
        {"vm_mlock", "two", [](mm_struct* mm) { return vm_mlock(mm, at(2), 4 * kPage, VM_LOCKED); }, kHalfDone},
        {"vm_mlockall", "all", [](mm_struct* mm) { return vm_mlockall(mm, MCL_CURRENT); }, kHalfDone},
        {"vm_mbind", "the middle of one", [](mm_struct* mm) { return vm_mbind(mm, at(1), kPage, 3); }, kHalfDone},
        {"vm_set_name", "the middle of one",
         [](mm_struct* mm) {
             const File name = open_file();
             return name ? vm_set_name(mm, at(4), kPage, name.get()) : -ENOMEM;
         },
         kHalfDone},
        {"vm_mseal", "the middle of one", [](mm_struct* mm) { return vm_mseal(mm, at(1), kPage); }, kHalfDone},
    };
}

std::vector<Call> moves() {
    const auto remap = [](unsigned long from, unsigned long before, unsigned long after, unsigned long how,
                          unsigned long to = 0) {
        return [=](mm_struct* mm) {
            return static_cast<long>(
                vm_mremap(mm, at(from), before * kPage, after * kPage, how, to != 0 ? at(to) : 0));
        };
    };
    return {
        {"vm_mremap", "away", remap(1, 2, 3, MREMAP_MAYMOVE), kSourceStays},
        {"vm_mremap", "shrinking in place", remap(4, 3, 1, 0)},
        {"vm_mremap", "growing in place", remap(4, 3, 4, 0)},
        {"vm_mremap", "to a free place", remap(4, 3, 3, MREMAP_MAYMOVE | MREMAP_FIXED, 1600),
         kSourceStays},
        {"vm_mremap", "over others", remap(4, 2, 2, MREMAP_MAYMOVE | MREMAP_FIXED, 13),
         kHalfDone | kSourceStays},
        {"vm_mremap", "leaving the old one", remap(0, 2, 2, MREMAP_MAYMOVE | MREMAP_DONTUNMAP)},
    };
}

// ---- a second address space ---------------------------------------------------------------------------------

// fork: the child is what a twin's is, or there is none; the parent stays.
class ForkScene : public SweepScene {
public:
    explicit ForkScene(std::function<mm_struct*()> make) : parent_(make()) {
        before_ = state_of(parent_);
        committed_ = mm_committed();
    }
    ~ForkScene() override {
        if (child_ != nullptr) mmput(child_);
        mmput(parent_);
    }
    int call() override {
        child_ = dup_mm(parent_);
        return child_ != nullptr ? 0 : -ENOMEM;
    }
    std::string check(int result) override {
        if (mm_validate(parent_) != 0) return "rules of the parent are broken";
        const std::string parent = difference(before_, state_of(parent_));
        if (!parent.empty()) return "the parent: " + parent;
        if (result < 0) return mm_committed() != committed_ ? "pages stay committed" : "";
        if (mm_validate(child_) != 0) return "rules of the child are broken";
        const std::string child = difference(inherited(), state_of(child_));
        return child.empty() ? "" : "the child: " + child;
    }

private:
    MmState inherited() const {
        MmState state;
        for (Stretch one : before_) {
            if (one.flags & VM_DONTCOPY) continue;
            one.flags &= ~VM_LOCKED_MASK;
            append(state, one);
        }
        return state;
    }

    mm_struct* const parent_;
    mm_struct* child_ = nullptr;
    MmState before_;
    unsigned long committed_;
};

class EmptyScene : public SweepScene {
public:
    ~EmptyScene() override {
        if (mm_ != nullptr) mmput(mm_);
    }
    int call() override {
        mm_ = mm_alloc();
        return mm_ != nullptr ? 0 : -ENOMEM;
    }
    std::string check(int) override {
        return mm_ != nullptr && mm_validate(mm_) != 0 ? "rules of the address space are broken" : "";
    }

private:
    mm_struct* mm_ = nullptr;
};

class FileScene : public SweepScene {
public:
    int call() override {
        file_ = open_file();
        return file_ ? 0 : -ENOMEM;
    }
    std::string check(int) override { return ""; }

private:
    File file_;
};

// exit: needs no memory, and leaves none.
class ExitScene : public SweepScene {
public:
    explicit ExitScene(mm_struct* mm) : mm_(mm) {}
    int call() override {
        mmput(mm_);
        return 0;
    }
    std::string check(int) override { return ""; }

private:
    mm_struct* const mm_;
};

void add_forks(std::vector<Case>& cases) {
    const auto add = [&](const char* shape, std::function<mm_struct*()> make) {
        cases.push_back({"dup_mm", shape, [=] { return std::make_unique<ForkScene>(make); }});
    };
    add("nothing mapped", mm_alloc);
    for (const Shape& shape : kShapes) add(shape.name, [&shape] { return make(shape); });
    add("locked, and parts that are not inherited", [] {
        mm_struct* const mm = make(kShapes[1]);
        vm_mlock(mm, at(0), 3 * kPage, VM_LOCKED);
        vm_madvise(mm, at(9), kPage, MADV_DONTFORK);
        vm_madvise(mm, at(28), 3 * kPage, MADV_WIPEONFORK);
        return mm;
    });
    add("a child", [] {
        mm_struct* const parent = make(kShapes[1]);
        mm_struct* const child = dup_mm(parent);
        mmput(parent);
        return child;
    });
}

}  // namespace

std::vector<Case> mm_cases() {
    std::vector<Case> cases;
    cases.push_back({"mm_alloc", "nothing", [] { return std::make_unique<EmptyScene>(); }});
    cases.push_back({"mm_file_open", "a name", [] { return std::make_unique<FileScene>(); }});
    for (const Shape& shape : kShapes) {
        cases.push_back({"mmput", shape.name, [&shape] { return std::make_unique<ExitScene>(make(shape)); }});
    }
    for (const std::vector<Call>& group : {mappings(), properties(), moves()}) {
        for (const Call& call : group) {
            for (const Shape& shape : kShapes) {
                cases.push_back({call.name, std::string(call.on) + ", " + shape.name, [call, &shape] {
                                     return mm_scene([&shape] { return make(shape); }, call.body,
                                                     call.allowed);
                                 }});
            }
        }
    }
    add_forks(cases);
    return cases;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases = tree_cases();
    for (Case& one : slab_cases()) cases.push_back(std::move(one));
    for (Case& one : mm_cases()) cases.push_back(std::move(one));
    return cases;
}

}  // namespace kmirror::sweeping
