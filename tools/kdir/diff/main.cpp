// SPDX-License-Identifier: GPL-2.0-only
//
// maple-diff: random and recorded sequences on this library's maple tree and on a kernel's at once. Run by
// tools/kdir/maple-diff (make diff); linked with the kernel's tree under the prefix kdir_.
//
//   maple-diff --ops N --seed S [--hunt U2]... [FILE...]
//
// FILEs are inputs of maple_store_fuzz, as bytes or text; they are done first. Then sequences are drawn until N operations were done.
//
// The sequences run in a child: one that crashes is a difference as well. The first difference is shrunk and
// printed as C, with both trees.
//
// Status: 0 every difference is known, 1 one is not, 2 bad input.
#include "tools/kdir/diff/supervise.h"

#include "fuzz/files.h"
#include "fuzz/maple_print.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace {

using namespace kmirror;
using namespace kmirror::diff;
using fuzz::Sequence;

int bad(const std::string &what)
{
    std::fprintf(stderr, "diff: %s\n", what.c_str());
    return 2;
}

bool number(const char *text, std::uint64_t least, std::uint64_t &value)
{
    char *end = nullptr;
    value = text && *text >= '0' && *text <= '9' ? std::strtoull(text, &end, 10) : 0;
    return end && *end == '\0' && value >= least;
}

// Empty: read.
std::string read_arguments(int argc, char **argv, Plan &plan)
{
    for (int i = 1; i < argc; i++) {
        const std::string option = argv[i];
        const char *value = argv[i + 1];
        if (option == "--ops") {
            if (!number(argv[++i], 0, plan.operations))
                return "OPS=" + std::string(value ? value : "") + " is not possible; OPS is a whole number";
        } else if (option == "--seed") {
            if (!number(argv[++i], 1, plan.seed))
                return "SEED=" + std::string(value ? value : "") + " is not possible; SEED is a whole number from 1";
        } else if (option == "--hunt") {
            const auto bug = bug_of(value ? value : "");
            if (!bug)
                return "HUNT=" + std::string(value ? value : "") +
                       " is not possible; HUNT is some of: " + all_bugs();
            plan.hunted.push_back(*bug);
            i++;
        } else if (const std::string wrong = fuzz::list_files(option, plan.files); !wrong.empty()) {
            return wrong;
        }
    }
    return {};
}

void print_counts(const Plan &plan, const Progress &progress)
{
    for (unsigned bug = 0; bug < kBugs; bug++)
        if (const unsigned long seen = progress.seen[bug])
            std::printf("# known, %lu times: %s: %s\n", seen, text_of(Bug(bug)).name, text_of(Bug(bug)).what);
    const PairCounts &counts = progress.counts;
    std::printf("%lu operations (%lu stores), %lu sequences, seed %llu: %lu trees compared as a whole%s\n",
                counts.operations, counts.stores, progress.sequences, static_cast<unsigned long long>(plan.seed),
                counts.compared, progress.same_shape ? ", with heights, nodes, slots and allocations" : "");
}

int print_difference(const Plan &plan, const Progress &progress)
{
    std::printf("not ok - sequence %lu: %s\n", progress.at + 1, progress.difference);
    const Sequence shrunk = shrink(plan, sequence_of(plan, progress.at));
    std::printf("# shrunk to %zu operations; as the replay programs read it:\n%s", shrunk.operations.size(),
                to_text(fuzz::maple_grammar(), "maple_store_fuzz", shrunk).c_str());
    std::fflush(stdout);
    const std::string again = in_child(plan, shrunk, true);
    std::printf("# which says: %s\n%s", again.c_str(), code_of(shrunk).c_str());
    return 1;
}

} // namespace

int main(int argc, char **argv)
{
    Plan plan;
    if (const std::string wrong = read_arguments(argc, argv, plan); !wrong.empty())
        return bad(wrong);
    if (const std::string wrong = read_sequences(plan); !wrong.empty())
        return bad(wrong);
    Progress progress;
    const bool agree = supervise(plan, progress);
    print_counts(plan, progress);
    return agree ? 0 : print_difference(plan, progress);
}
