// SPDX-License-Identifier: GPL-2.0-only
//
// The sequences of maple_store_fuzz on this library's tree and on that of KDIR at once; built only with KDIR.
//
// What is known of the kernel's tree (tools/kdir/diff/known.h) is recognised and passed over: a line says when each was
// met first, and the end of the process how often. KMIRROR_HUNT="U2 U3" takes these for findings, as a fuzzer that knows
// nothing would: the process ends by them.
#include "fuzz/target.h"
#include "tools/kdir/diff/pair.h"

#include <kmirror/harness.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>

extern "C" const maple_ops *kdir_kmirror_maple_ops(void);
extern "C" const int kdir_kmirror_maple_same_shape;

namespace kmirror::fuzz {
namespace {

diff::Known &known()
{
    static diff::Known known = [] {
        diff::Known known;
        const char *hunted = std::getenv("KMIRROR_HUNT");
        std::istringstream names(hunted ? hunted : "");
        for (std::string name; names >> name;) {
            const auto bug = diff::bug_of(name);
            if (!bug)
                fail("KMIRROR_HUNT=" + std::string(hunted) + " is not possible; it is some of " + diff::all_bugs());
            known.hunt(*bug);
        }
        return known;
    }();
    return known;
}

// What was met, as it is met and at the end of the process.
class Tally {
public:
    ~Tally()
    {
        for (unsigned i = 0; i < diff::kBugs; i++)
            if (const unsigned long seen = known().seen(diff::Bug(i)))
                std::fprintf(stderr, "%-3s %10lu times  %s\n", diff::text_of(diff::Bug(i)).name, seen,
                             diff::text_of(diff::Bug(i)).what);
    }

    void after_input()
    {
        inputs_++;
        for (unsigned i = 0; i < diff::kBugs; i++) {
            if (said_[i] || !known().seen(diff::Bug(i)))
                continue;
            said_[i] = true;
            std::fprintf(stderr, "%s met first by input %lu, after %.1f s of CPU time\n",
                         diff::text_of(diff::Bug(i)).name, inputs_, double(std::clock()) / CLOCKS_PER_SEC);
        }
    }

private:
    unsigned long inputs_ = 0;
    std::array<bool, diff::kBugs> said_{};
};

const diff::PairOptions &options()
{
    static const diff::PairOptions options = [] {
        const diff::PairOptions both{.ours = kmirror_maple_ops(), .theirs = kdir_kmirror_maple_ops(),
                                     .same_shape = kdir_kmirror_maple_same_shape != 0, .known = &known()};
        both.ours->boot();
        both.theirs->boot();
        kmirror_harness_count(true);
        return both;
    }();
    return options;
}

void run(std::span<const std::uint8_t> input)
{
    static Sequence sequence;
    static diff::PairCounts counts;
    known();  // made before the tally, whose end reads it
    static Tally tally;
    decode_into(maple_grammar(), input, sequence);
    if (const std::string wrong = run_pair(sequence, options(), counts); !wrong.empty())
        fail(wrong);
    tally.after_input();
    options().theirs->rcu_barrier();
    if (const unsigned long warnings = new_warnings())
        fail(std::to_string(warnings) + " warnings, printed above");
}

} // namespace

const Target maple_diff_fuzz = {"maple_diff_fuzz", &maple_grammar(), run};

} // namespace kmirror::fuzz
