// SPDX-License-Identifier: GPL-2.0-only
//
// Sequences of mmap, munmap, brk, mprotect, mremap, madvise, mlock and fork on up to three address spaces,
// beside a map that knows nothing of mappings, only of pages. A call that fails changes no page, but for those
// that may keep what they did before the part that failed: there the map is read anew.
//
// Owns     the address spaces of the input that runs.
// Bounds   kMostPages pages of each: mmaps and forks beyond are skipped.
// Locking  one thread.
#include "fuzz/target.h"

#include "lib/mm/tests/pages.h"

#include <kmirror/mm.h>
#include <linux/err.h>
#include <linux/mm.h>

#include <algorithm>

namespace kmirror::fuzz {
namespace {

using mm_tests::kPage;
using mm_tests::Page;
using mm_tests::Pages;

constexpr unsigned kSpaces = 3;
constexpr std::size_t kMostPages = 2048;
constexpr unsigned long kBrkStart = 0x40000000;

enum class MmOp : std::uint8_t { Map, Unmap, Protect, Remap, Brk, Advise, Lock, Unlock, Fork, Fault };
enum MapBits : unsigned { kShared = 1, kFixed = 2, kNoReplace = 4, kLocked = 8, kOfFile = 16 };

const Field kSpace{"space", Slot::Place, kSpaces};
const Field kAddress{"address", Slot::Operand0};
const Field kLength{"length", Slot::Operand1, 256 * PAGE_SIZE};

const Grammar &mm_grammar()
{
    static const Grammar grammar = {
        {},
        {{"mmap", {kSpace, kAddress, kLength, {"prot", Slot::Operand2, 8}, {"flags", Slot::Operand3, 32},
                   {"offset", Slot::Value, 64}}, 12},
         {"munmap", {kSpace, kAddress, kLength}, 6},
         {"mprotect", {kSpace, kAddress, kLength, {"prot", Slot::Operand2, 8}}, 6},
         {"mremap", {kSpace, kAddress, kLength, {"new_length", Slot::Operand2, 256 * PAGE_SIZE},
                     {"new_address", Slot::Operand3, 1u << 28}, {"flags", Slot::Value, 4}}, 6},
         {"brk", {kSpace, {"pages", Slot::Operand0, 512}}, 3},
         {"madvise", {kSpace, kAddress, kLength, {"advice", Slot::Operand2, 5}}, 3},
         {"mlock", {kSpace, kAddress, kLength}, 2},
         {"munlock", {kSpace, kAddress, kLength}, 2},
         {"fork", {kSpace, {"to", Slot::Value, kSpaces}}, 1},
         {"fault", {kSpace, kAddress}, 3}},
        PAGE_SIZE,
        0xfffffff};
    return grammar;
}

bool is_error(unsigned long result) { return IS_ERR_VALUE(result); }
unsigned long aligned(unsigned long bytes) { return PAGE_ALIGN(bytes); }

struct FuzzedSpace {
    mm_struct *mm = nullptr;
    Pages pages;
};

class MmRun {
public:
    explicit MmRun(const Sequence &sequence) : file_(mm_file_open("/fuzz", MM_FILE_READ | MM_FILE_WRITE))
    {
        for (FuzzedSpace &space : spaces_) {
            space.mm = mm_alloc();
            space.mm->start_brk = space.mm->brk = kBrkStart;
        }
        std::size_t number = 0;
        for (const Operation &operation : sequence.operations) {
            number++;
            one(spaces_[operation.place], operation);
            for (const FuzzedSpace &space : spaces_)
                judge(space, number, operation);
        }
    }
    ~MmRun()
    {
        for (FuzzedSpace &space : spaces_)
            mmput(space.mm);
        mm_file_put(file_);
        if (mm_committed() != 0)
            fail("pages stay committed when every address space is gone");
    }
    MmRun(const MmRun &) = delete;
    MmRun &operator=(const MmRun &) = delete;

private:
    static void judge(const FuzzedSpace &space, std::size_t number, const Operation &operation)
    {
        std::string wrong = mm_tests::difference(space.pages, mm_tests::pages_of(space.mm));
        if (wrong.empty() && mm_validate(space.mm))
            wrong = "the address space breaks its own rules, see the log";
        if (!wrong.empty())
            fail("operation " + std::to_string(number) + ", " + to_text(mm_grammar(), operation) + ": " +
                 wrong);
    }

    // What lies near something is near a page of the map.
    static unsigned long address_of(const FuzzedSpace &space, const Operand &operand)
    {
        if (operand.near == Near::Number || space.pages.empty())
            return operand.number;
        auto at = space.pages.lower_bound(operand.number);
        if (at == space.pages.end())
            --at;
        return at->first + static_cast<unsigned long>(operand.distance) * kPage;
    }

    static Pages::iterator from(FuzzedSpace &space, unsigned long at) { return space.pages.lower_bound(at); }

    void one(FuzzedSpace &space, const Operation &operation)
    {
        const unsigned long address = address_of(space, operation.operand[0]);
        const unsigned long length = operation.operand[1].number, third = operation.operand[2].number;
        switch (MmOp(operation.kind)) {
        case MmOp::Map:
            return map(space, address, length, third, unsigned(operation.operand[3].number), operation.value);
        case MmOp::Unmap:
            if (vm_munmap(space.mm, address, length) == 0)
                space.pages.erase(from(space, address), from(space, address + aligned(length)));
            return;
        case MmOp::Protect:
            return change(space, address, length, vm_mprotect(space.mm, address, length, third, -1),
                          VM_ACCESS_FLAGS, third);
        case MmOp::Remap:
            return remap(space, address, length, third, operation.value, operation.operand[3].number & PAGE_MASK);
        case MmOp::Brk:
            return brk(space, operation.operand[0].number);
        case MmOp::Advise:
            return advise(space, address, length, unsigned(third));
        case MmOp::Lock:
        case MmOp::Unlock: {
            const unsigned long flags = MmOp(operation.kind) == MmOp::Lock ? VM_LOCKED : 0;
            const unsigned long begin = address & PAGE_MASK;
            return change(space, begin, length + (address - begin), vm_mlock(space.mm, address, length, flags),
                          VM_LOCKED_MASK, flags);
        }
        case MmOp::Fork:
            return fork(space, spaces_[operation.value]);
        case MmOp::Fault:
            vm_fault(space.mm, address);
        }
    }

    void map(FuzzedSpace &space, unsigned long address, unsigned long length, unsigned long prot,
             unsigned bits, unsigned long offset)
    {
        if (space.pages.size() + length / kPage > kMostPages)
            return;
        mm_file *file = bits & kOfFile ? file_ : nullptr;
        unsigned long flags = bits & kShared ? MAP_SHARED : MAP_PRIVATE;
        flags |= (file ? 0 : MAP_ANONYMOUS) | (bits & kFixed ? MAP_FIXED : 0) | (bits & kLocked ? MAP_LOCKED : 0) |
                 (bits & kNoReplace ? MAP_FIXED_NOREPLACE : 0);
        const unsigned long at =
            vm_mmap(space.mm, file, address, length, prot, flags, file ? offset * kPage : 0);
        if (is_error(at))
            return;
        const unsigned long end = at + aligned(length);
        const bool replaces = bits & kFixed && !(bits & kNoReplace);
        if (!replaces && from(space, at) != from(space, end))
            fail("mmap has put a mapping over another one");
        if (bits & (kFixed | kNoReplace) && at != address)
            fail("mmap has put a mapping elsewhere than it had to");
        unsigned long vm_flags = prot | (bits & kLocked ? VM_LOCKED : 0);
        vm_flags |= bits & kShared ? VM_SHARED | VM_MAYSHARE : 0;
        if (!file && bits & kShared) {
            // Memory with a name of its own: nobody but the call itself could say which.
            mmap_read_lock(space.mm);
            file = find_vma(space.mm, at)->vm_file;
            mmap_read_unlock(space.mm);
            offset = 0;
        }
        for (unsigned long page = at; page < end; page += kPage)
            space.pages[page] = Page{vm_flags, file, file ? offset + (page - at) / kPage : 0, 0};
    }

    // The pages in a range lose some flags and get others; if the call failed on its way, what it did stays.
    static void change(FuzzedSpace &space, unsigned long address, unsigned long length, int error,
                       unsigned long off, unsigned long on)
    {
        if (error) {
            space.pages = mm_tests::pages_of(space.mm);
            return;
        }
        const auto end = from(space, address + aligned(length));
        for (auto page = from(space, address); page != end; ++page)
            page->second.flags = (page->second.flags & ~off) | on;
    }

    static void advise(FuzzedSpace &space, unsigned long address, unsigned long length, unsigned advice)
    {
        constexpr struct {
            int behavior;
            unsigned long off, on;
        } kAdvice[] = {{MADV_NORMAL, VM_RAND_READ | VM_SEQ_READ, 0},
                       {MADV_RANDOM, VM_SEQ_READ, VM_RAND_READ},
                       {MADV_SEQUENTIAL, VM_RAND_READ, VM_SEQ_READ},
                       {MADV_DONTFORK, 0, VM_DONTCOPY},
                       {MADV_DOFORK, VM_DONTCOPY, 0}};
        const auto &chosen = kAdvice[advice];
        change(space, address, length, vm_madvise(space.mm, address, length, chosen.behavior), chosen.off,
               chosen.on);
    }

    void remap(FuzzedSpace &space, unsigned long address, unsigned long length, unsigned long new_length,
               unsigned bits, unsigned long target)
    {
        if (length < kPage || space.pages.size() + new_length / kPage > kMostPages)
            return;
        const unsigned long flags = (bits & 1 ? MREMAP_MAYMOVE : 0) | (bits == 3 ? MREMAP_FIXED : 0);
        const unsigned long at = vm_mremap(space.mm, address, length, new_length, flags, target);
        if (is_error(at)) {
            if (flags & MREMAP_FIXED)
                space.pages = mm_tests::pages_of(space.mm);
            return;
        }
        const Pages before(from(space, address), from(space, address + aligned(length)));
        if (before.empty())
            fail("mremap(" + std::to_string(address) + ", " + std::to_string(length) + ", " +
                 std::to_string(new_length) + ", " + std::to_string(flags) + ", " + std::to_string(target) +
                 ") = " + std::to_string(at) + " has moved what was not there");
        space.pages.erase(from(space, address), from(space, address + aligned(length)));
        const Page first = before.begin()->second;
        for (unsigned long done = 0; done < aligned(new_length); done += kPage) {
            const auto old = before.find(address + done);
            if (old == before.end() && done < aligned(length))
                continue; // what lies under a hole between mappings stays
            if (flags & MREMAP_FIXED)
                space.pages.erase(at + done);
            Page page = old != before.end() ? old->second : first;
            if (old == before.end() && first.file)
                page.offset = first.offset + done / kPage;
            if (!space.pages.emplace(at + done, page).second)
                fail("mremap has put a mapping over another one");
        }
    }

    static void brk(FuzzedSpace &space, unsigned long pages)
    {
        const unsigned long wanted = kBrkStart + pages * kPage, before = space.mm->brk;
        if (space.pages.size() + pages > kMostPages || vm_brk(space.mm, wanted) != wanted)
            return;
        if (wanted < before)
            space.pages.erase(from(space, wanted), from(space, before));
        for (unsigned long page = before; page < wanted; page += kPage)
            space.pages[page] = Page{VM_READ | VM_WRITE, nullptr, 0, 0};
    }

    void fork(FuzzedSpace &parent, FuzzedSpace &child)
    {
        if (&parent == &child)
            return;
        mm_struct *copy = dup_mm(parent.mm);
        if (!copy)
            return;
        mmput(child.mm);
        child = {copy, parent.pages};
        std::erase_if(child.pages, [](const auto &page) { return (page.second.flags & VM_DONTCOPY) != 0; });
        for (auto &[at, page] : child.pages)
            page.flags &= ~VM_LOCKED_MASK;
    }

    mm_file *file_;
    FuzzedSpace spaces_[kSpaces];
};

void run_mm(std::span<const std::uint8_t> input)
{
    static Sequence sequence;
    decode_into(mm_grammar(), input, sequence);
    { const MmRun run(sequence); }
    if (const unsigned long warnings = new_warnings())
        fail(std::to_string(warnings) + " warnings, printed above");
}

} // namespace

const Target mm_fuzz = {"mm_fuzz", &mm_grammar(), run_mm};

} // namespace kmirror::fuzz
