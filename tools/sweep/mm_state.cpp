// SPDX-License-Identifier: GPL-2.0-only
//
// Address spaces as stretches of pages, and the scene that judges a call by them.

#include "tools/sweep/mm_state.h"

#include <cstdio>
#include <map>

#include <linux/mm.h>

#include <kmirror/fault.h>

namespace kmirror::sweeping {
namespace {

// What a call can change and a program can see; not what accounting adds.
constexpr unsigned long kSeen = VM_ACCESS_FLAGS | VM_SHARED | VM_MAYSHARE | VM_GROWSDOWN | VM_LOCKED_MASK |
                                VM_SEQ_READ | VM_RAND_READ | VM_DONTCOPY | VM_WIPEONFORK | VM_DONTDUMP |
                                VM_HUGEPAGE | VM_NOHUGEPAGE | VM_MERGEABLE | VM_PKEY_MASK | VM_SEALED;

bool continues(const Stretch& last, const Stretch& next) {
    const unsigned long pages = (last.end - last.start) / PAGE_SIZE;
    return last.end == next.start && last.flags == next.flags && last.file == next.file &&
           last.policy == next.policy && (last.file.empty() || last.offset + pages == next.offset);
}

int add(const vm_area_struct* vma, void* arg) {
    const Stretch next = {vma->vm_start,
                          vma->vm_end,
                          vma->vm_flags & kSeen,
                          vma->vm_file != nullptr ? vma->vm_file->name : "",
                          vma->vm_file != nullptr ? vma->vm_pgoff : 0,
                          vma->policy};
    append(*static_cast<MmState*>(arg), next);
    return 0;
}

std::string words(const Stretch& one) {
    char text[160];
    std::snprintf(text, sizeof(text), "%lx-%lx flags %lx file '%.40s' offset %lx policy %u", one.start,
                  one.end, one.flags, one.file.c_str(), one.offset, one.policy);
    return text;
}

struct Page {
    unsigned long flags;
    std::string file;
    unsigned long offset;
    unsigned int policy;

    bool operator==(const Page&) const = default;
};

std::map<unsigned long, Page> pages(const MmState& state) {
    std::map<unsigned long, Page> all;
    for (const Stretch& one : state) {
        for (unsigned long at = one.start; at < one.end; at += PAGE_SIZE) {
            all[at] = {one.flags, one.file, one.file.empty() ? 0 : one.offset + (at - one.start) / PAGE_SIZE,
                       one.policy};
        }
    }
    return all;
}

class MmScene : public SweepScene {
public:
    MmScene(std::function<mm_struct*()> make, MmCall call, unsigned allowed)
        : make_(std::move(make)), call_(std::move(call)), allowed_(allowed), mm_(make_()) {
        before_ = state_of(mm_);
        committed_ = mm_committed();
    }
    ~MmScene() override { mmput(mm_); }

    int call() override {
        const unsigned long before = kmirror_fault_log_total();
        const long result = call_(mm_);
        met_failure_ = kmirror_fault_log_total() != before;
        return result < 0 ? static_cast<int>(result) : 0;
    }

    std::string check(int result) override {
        const unsigned long taken = mm_committed() - committed_;
        if (const unsigned broken = mm_validate(mm_); broken != 0) {
            return std::to_string(broken) + " rules of the address space are broken";
        }
        const MmState now = state_of(mm_);
        if (result < 0 && !(allowed_ & kHalfDone)) {
            return taken != 0 ? "pages stay committed" : difference(before_, now);
        }
        unsigned long wanted = 0;
        const MmState after = twin(wanted);
        if (result < 0) return strays(before_, after, now);
        if (met_failure_ && (allowed_ & kSourceStays)) return strays(before_, after, now);
        return taken != wanted ? "other pages are committed" : difference(after, now);
    }

private:
    // What the call makes of another such space when nothing fails, and the pages that it commits.
    MmState twin(unsigned long& taken) {
        kmirror_fault_pause();
        mm_struct* const mm = make_();
        const unsigned long before = mm_committed();
        call_(mm);
        taken = mm_committed() - before;
        const MmState state = state_of(mm);
        mmput(mm);
        kmirror_fault_resume();
        return state;
    }

    const std::function<mm_struct*()> make_;
    const MmCall call_;
    const unsigned allowed_;
    mm_struct* const mm_;
    MmState before_;
    unsigned long committed_;
    bool met_failure_ = false;
};

}  // namespace

void append(MmState& state, const Stretch& next) {
    if (!state.empty() && continues(state.back(), next)) {
        state.back().end = next.end;
    } else {
        state.push_back(next);
    }
}

MmState state_of(mm_struct* mm) {
    MmState state;
    mm_for_each(mm, add, &state);
    return state;
}

std::string difference(const MmState& wanted, const MmState& seen) {
    for (size_t i = 0; i < wanted.size() || i < seen.size(); ++i) {
        const std::string want = i < wanted.size() ? words(wanted[i]) : "nothing";
        const std::string got = i < seen.size() ? words(seen[i]) : "nothing";
        if (want != got) return want + " wanted, " + got + " seen";
    }
    return "";
}

std::string strays(const MmState& before, const MmState& after, const MmState& seen) {
    const auto old = pages(before), fresh = pages(after);
    for (const auto& [at, page] : pages(seen)) {
        const auto was = old.find(at), will = fresh.find(at);
        const bool known = (was != old.end() && was->second == page) ||
                           (will != fresh.end() && will->second == page);
        if (known) continue;
        char text[80];
        std::snprintf(text, sizeof(text), "page %lx is neither as before nor as after", at);
        return text;
    }
    return "";
}

std::unique_ptr<SweepScene> mm_scene(std::function<mm_struct*()> make, MmCall call, unsigned allowed) {
    return std::make_unique<MmScene>(std::move(make), std::move(call), allowed);
}

}  // namespace kmirror::sweeping
