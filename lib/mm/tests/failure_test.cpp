// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: whichever allocation fails, a call is done completely or has changed no page, and nothing
// leaks; random sequences of calls, with and without failures, agree with the model after each.
#include "lib/mm/tests/space.h"

#include <kmirror/fault.h>

#include <functional>
#include <random>

namespace kmirror::mm_tests {
namespace {

// Twenty mappings, some written to, with holes.
void fill(Space &s)
{
    for (unsigned long i = 0; i < 20; i++) {
        s.map(i * 4, i % 3 ? 3 : 4, i % 2 ? PROT_READ : kRW);
        if (i % 4 == 0)
            s.fault(i * 4);
    }
}

struct Operation {
    const char *name;
    std::function<long(Space &)> run;
};

const Operation kOperations[] = {
    {"mmap into a hole",
     [](Space &s) { return long(vm_mmap(s.mm, nullptr, s.at(7), kPage, kRW, kAnon | MAP_FIXED, 0)); }},
    {"mmap over much",
     [](Space &s) { return long(vm_mmap(s.mm, nullptr, s.at(5), 33 * kPage, kRW, kAnon | MAP_FIXED, 0)); }},
    {"shared mmap",
     [](Space &s) {
         return long(
             vm_mmap(s.mm, nullptr, s.at(5), 3 * kPage, kRW, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, 0));
     }},
    {"munmap inside", [](Space &s) { return long(vm_munmap(s.mm, s.at(1), kPage)); }},
    {"munmap over much", [](Space &s) { return long(vm_munmap(s.mm, s.at(2), 50 * kPage)); }},
    {"mprotect a part", [](Space &s) { return long(vm_mprotect(s.mm, s.at(1), kPage, PROT_NONE, -1)); }},
    {"mprotect, merging", [](Space &s) { return long(vm_mprotect(s.mm, s.at(4), 3 * kPage, kRW, -1)); }},
    {"madvise a part", [](Space &s) { return long(vm_madvise(s.mm, s.at(1), kPage, MADV_DONTFORK)); }},
    {"mlock a part", [](Space &s) { return long(vm_mlock(s.mm, s.at(1), kPage, VM_LOCKED)); }},
    {"mremap away",
     [](Space &s) { return long(vm_mremap(s.mm, s.at(1), 2 * kPage, 3 * kPage, MREMAP_MAYMOVE, 0)); }},
    {"mremap in place", [](Space &s) { return long(vm_mremap(s.mm, s.at(4), 3 * kPage, kPage, 0, 0)); }},
    {"brk",
     [](Space &s) {
         return s.mm->start_brk = s.mm->brk = s.at(400), vm_brk(s.mm, s.at(404)) == s.at(404) ? 0l : -ENOMEM;
     }},
};

TEST(MmFailure, of_any_allocation_leaves_a_call_done_or_undone)
{
    for (const Operation &operation : kOperations) {
        bool failed_once = false;
        for (unsigned nth = 1; nth < 60; nth++) {
            const unsigned long committed = mm_committed();
            {
                Space s;
                fill(s);
                const Pages before = pages_of(s.mm);
                kmirror_fail_nth(nth);
                const long result = operation.run(s);
                const bool fired = kmirror_fail_nth(0);
                failed_once |= fired;
                EXPECT_EQ(mm_validate(s.mm), 0u) << operation.name << ", allocation " << nth;
                if (result < 0 && result > -4096) {
                    EXPECT_TRUE(fired) << operation.name << ": " << result;
                    EXPECT_EQ(difference(before, pages_of(s.mm)), "")
                        << operation.name << ", allocation " << nth;
                }
                if (!fired)
                    nth = 1000;
            }
            EXPECT_EQ(mm_committed(), committed) << operation.name << ", allocation " << nth;
        }
        EXPECT_TRUE(failed_once || !KMIRROR_FAULTS) << operation.name;
    }
}

TEST(MmFailure, of_any_allocation_of_fork_leaves_no_child)
{
    Space s;
    fill(s);
    ASSERT_EQ(vm_madvise(s.mm, s.at(8), 12 * kPage, MADV_DONTFORK),
              -ENOMEM); // over holes: what is there has it
    const Pages before = pages_of(s.mm);
    const unsigned long committed = mm_committed();
    bool fired = true;
    for (unsigned nth = 1; fired && nth < 200; nth++) {
        kmirror_fail_nth(nth);
        mm_struct *child = dup_mm(s.mm);
        fired = kmirror_fail_nth(0);
        EXPECT_TRUE(child != nullptr || fired);
        if (child)
            mmput(child);
        EXPECT_EQ(mm_committed(), committed) << nth;
        EXPECT_EQ(mm_validate(s.mm), 0u);
    }
    EXPECT_FALSE(fired);
    EXPECT_EQ(difference(before, pages_of(s.mm)), "");
}

// ---- random sequences

class Player {
public:
    explicit Player(std::uint64_t seed)
        : random_(seed), file_(mm_file_open("/f", MM_FILE_READ | MM_FILE_WRITE))
    {
    }
    ~Player() { mm_file_put(file_); }

    // One call on the space and its model; a call that fails must not have changed anything.
    void step(Space &s)
    {
        const unsigned long first = pick(300), count = 1 + pick(pick(4) ? 12 : 80);
        Pages after = s.model;
        const long result = act(s, after, first, count);
        if (result >= 0)
            s.model = std::move(after);
        if (pick(3) == 0)
            vm_fault_all(s.mm, s.at(pick(300)), s.at(300));
    }

private:
    unsigned long pick(unsigned long below) { return random_() % below; }

    long act(Space &s, Pages &after, unsigned long first, unsigned long count)
    {
        const unsigned long start = s.at(first), bytes = count * kPage;
        switch (pick(8)) {
        case 0:
        case 1: return map(s, after, first, count);
        case 2:
            after.erase(after.lower_bound(start), after.lower_bound(start + bytes));
            return vm_munmap(s.mm, start, bytes);
        case 3:
            return flags(after, first, count, VM_ACCESS_FLAGS, prot_ = random_prot(),
                         [&] { return vm_mprotect(s.mm, start, bytes, prot_, -1); });
        case 4:
            return flags(after, first, count, VM_DONTCOPY, VM_DONTCOPY,
                         [&] { return vm_madvise(s.mm, start, bytes, MADV_DONTFORK); });
        case 5:
            return flags(after, first, count, VM_DONTCOPY, 0,
                         [&] { return vm_madvise(s.mm, start, bytes, MADV_DOFORK); });
        case 6:
            return flags(after, first, count, VM_LOCKED, VM_LOCKED,
                         [&] { return vm_mlock(s.mm, start, bytes, VM_LOCKED); });
        default: return move(s, after, first, count);
        }
    }

    unsigned long random_prot()
    {
        constexpr unsigned long all[] = {PROT_NONE, PROT_READ, kRW, PROT_READ | PROT_EXEC};
        return all[pick(4)];
    }

    long map(Space &s, Pages &after, unsigned long first, unsigned long count)
    {
        const unsigned long prot = random_prot();
        mm_file *file = pick(2) ? file_ : nullptr;
        for (unsigned long i = 0; i < count; i++)
            after[s.at(first + i)] = Page{prot, file, file ? first + i : 0, 0};
        return long(vm_mmap(s.mm, file, s.at(first), count * kPage, prot,
                            MAP_PRIVATE | MAP_FIXED | (file ? 0 : MAP_ANONYMOUS), file ? first * kPage : 0));
    }

    // A property of every page there is; holes are no harm to madvise, and end mprotect and mlock, which
    // are left out.
    template <class Call>
    long flags(Pages &after, unsigned long first, unsigned long count, unsigned long mask,
               unsigned long value, Call call)
    {
        for (unsigned long i = 0; i < count; i++) {
            const auto page = after.find(Space::at(first + i));
            if (page == after.end())
                return -EAGAIN;
            page->second.flags = (page->second.flags & ~mask) | value;
        }
        return call();
    }

    long move(Space &s, Pages &after, unsigned long first, unsigned long count)
    {
        const unsigned long to = 400 + pick(300);
        for (unsigned long i = 0; i < count; i++) {
            const auto page = after.find(s.at(first + i));
            if (page == after.end())
                return -EAGAIN;
            const Page moved = page->second;
            after.erase(page);
            after[s.at(to + i)] = moved;
        }
        return long(vm_mremap(s.mm, s.at(first), count * kPage, count * kPage, MREMAP_MAYMOVE | MREMAP_FIXED,
                              s.at(to)));
    }

    std::mt19937_64 random_;
    mm_file *file_;
    unsigned long prot_ = 0;
};

TEST(MmRandom, sequences_of_calls_agree_with_the_model_after_each)
{
    Player player(testing::seed());
    for (int round = 0; round < 3; round++) {
        Space s;
        for (int i = 0; i < 400; i++) {
            player.step(s);
            ASSERT_TRUE(s.agrees()) << "call " << i;
        }
        Space child(dup_mm(s.mm));
        for (const auto &[at, page] : s.model)
            if (!(page.flags & VM_DONTCOPY)) {
                child.model[at] = page;
                child.model[at].flags &= ~VM_LOCKED;
            }
        ASSERT_TRUE(child.agrees());
        for (int i = 0; i < 200; i++) {
            player.step(child);
            ASSERT_TRUE(child.agrees()) << "call " << i << " of the child";
        }
        ASSERT_TRUE(s.agrees());
    }
}

} // namespace
} // namespace kmirror::mm_tests
