// SPDX-License-Identifier: GPL-2.0-only
//
// Children that run sequences, and what becomes of them; see supervise.h.
#include "tools/kdir/diff/supervise.h"

#include "fuzz/files.h"
#include "fuzz/maple_print.h"
#include "fuzz/mutate.h"

#include <kmirror/harness.h>
#include <kmirror/printk.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

extern "C" const maple_ops *kdir_kmirror_maple_ops(void);
extern "C" const int kdir_kmirror_maple_same_shape;

namespace kmirror::diff {
namespace {

using fuzz::Sequence;

constexpr unsigned kMostSeconds = 60;
constexpr unsigned kMostTries = 2000;
constexpr std::size_t kDrawn[] = {24, 64, 160, 400};  // operations of a drawn sequence, in turn

// Memory that parent and child see.
template <typename T> class Shared {
public:
    Shared() : at_(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
    {
        if (at_ == MAP_FAILED) {
            std::perror("diff: mmap");
            std::exit(2);
        }
        new (at_) T();
    }
    ~Shared() { munmap(at_, sizeof(T)); }
    Shared(const Shared &) = delete;
    Shared &operator=(const Shared &) = delete;
    T *operator->() { return static_cast<T *>(at_); }
    T &operator*() { return *static_cast<T *>(at_); }

private:
    void *at_;
};

struct Text {
    char text[1 << 16] = "";
};

void keep(char *to, std::size_t room, const std::string &text)
{
    std::snprintf(to, room, "%s", text.c_str());
}

std::string ending_of(int status)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGALRM ? "the process was not done after " + std::to_string(kMostSeconds) + " s"
                                           : std::string("the process crashed: ") + strsignal(WTERMSIG(status));
    return WEXITSTATUS(status) ? "the process ended with status " + std::to_string(WEXITSTATUS(status)) : "";
}

// Runs `work` in a child, quietly if so told; how it ended, empty when well.
std::string fork_and(const std::function<void()> &work, bool quiet)
{
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) {
        std::perror("diff: fork");
        std::exit(2);
    }
    if (child == 0) {
        if (quiet && !std::freopen("/dev/null", "w", stderr))
            _exit(2);
        work();
        std::fflush(nullptr);
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return ending_of(status);
}

PairOptions options_of(const Plan &plan, Known &known)
{
    for (const Bug bug : plan.hunted)
        known.hunt(bug);
    PairOptions options{.ours = kmirror_maple_ops(), .theirs = kdir_kmirror_maple_ops(),
                        .same_shape = kdir_kmirror_maple_same_shape != 0, .known = &known};
    for (const maple_ops *ops : {options.ours, options.theirs})
        ops->boot();
    kmirror_harness_count(true);
    return options;
}

// What a grace period leaves. Callbacks may give back nodes for a while more: those are waited for.
unsigned long nodes_left(const maple_ops *ops)
{
    unsigned long left = 1;
    for (unsigned tries = 0; left && tries < 5; tries++) {
        ops->rcu_barrier();
        left = ops->nr_allocated();
    }
    return left;
}

// A sequence whose nodes are all given back, without a warning.
std::string settle(const PairOptions &options, unsigned long warnings_before)
{
    if (const unsigned long warnings = kmirror_warn_count() - warnings_before)
        return std::to_string(warnings) + " warnings were printed";
    for (const maple_ops *ops : {options.ours, options.theirs})
        if (const unsigned long left = nodes_left(ops))
            return std::to_string(left) + " nodes of " + ops->name + " are lost";
    return {};
}

// The child's work: sequences from progress.at on.
void run_plan(const Plan &plan, Progress &progress)
{
    Known known;
    const PairOptions options = options_of(plan, known);
    const unsigned long warnings = kmirror_warn_count();
    progress.same_shape = options.same_shape;
    std::string wrong;
    while (wrong.empty() && (progress.at < plan.read.size() || progress.counts.operations < plan.operations)) {
        alarm(kMostSeconds);
        wrong = run_pair(sequence_of(plan, progress.at), options, progress.counts);
        progress.is_settled = !wrong.empty();
        if (wrong.empty() && progress.sequences % kSettleEvery == 0)
            wrong = settle(options, warnings);
        for (unsigned bug = 0; bug < kBugs; bug++)
            progress.seen[bug] = known.seen(Bug(bug));
        progress.sequences++;
        progress.at += wrong.empty();
    }
    if (wrong.empty())
        wrong = settle(options, warnings);
    keep(progress.difference, sizeof(progress.difference), wrong);
}

// Which of the last sequences was it? A crash may come later than its cause, and lost nodes are counted later.
void accuse(const Plan &plan, Progress &progress)
{
    const unsigned long last = progress.at;
    for (unsigned long at = last - std::min(last, kSettleEvery); at <= last; at++) {
        const std::string wrong = in_child(plan, sequence_of(plan, at), false);
        if (wrong.empty())
            continue;
        progress.at = at;
        return keep(progress.difference, sizeof(progress.difference), wrong);
    }
}

std::vector<Sequence> without(const Sequence &sequence, std::size_t length)
{
    std::vector<Sequence> shorter;
    for (std::size_t at = 0; at < sequence.operations.size(); at += length) {
        Sequence &one = shorter.emplace_back(sequence);
        const auto from = one.operations.begin() + std::ptrdiff_t(at);
        one.operations.erase(from, from + std::ptrdiff_t(std::min(length, one.operations.size() - at)));
    }
    return shorter;
}

} // namespace

std::string read_sequences(Plan &plan)
{
    static const fuzz::Target any{"maple_store_fuzz", &fuzz::maple_grammar(), nullptr};
    for (const std::string &file : plan.files) {
        std::vector<std::uint8_t> bytes;
        if (std::string wrong = fuzz::read_input(any, file, bytes); !wrong.empty())
            return wrong;
        plan.read.push_back(fuzz::decode(fuzz::maple_grammar(), bytes));
    }
    return {};
}

Sequence sequence_of(const Plan &plan, unsigned long at)
{
    if (at < plan.read.size())
        return plan.read[at];
    const std::size_t length = kDrawn[at % std::size(kDrawn)];
    return fuzz::draw(fuzz::maple_grammar(), length, plan.seed * 0x9e3779b97f4a7c15u + at);
}

bool supervise(const Plan &plan, Progress &progress)
{
    Shared<Progress> shared;
    const std::string ended = fork_and([&] { run_plan(plan, *shared); }, false);
    progress = *shared;
    if (!ended.empty() && !progress.difference[0]) {
        keep(progress.difference, sizeof(progress.difference), ended);
        progress.is_settled = false;
    }
    if (progress.difference[0] && !progress.is_settled)
        accuse(plan, progress);
    return !progress.difference[0];
}

std::string in_child(const Plan &plan, const Sequence &sequence, bool dumps)
{
    Shared<Text> shared;
    const std::string ended = fork_and(
        [&] {
            Known known;
            PairOptions options = options_of(plan, known);
            options.dumps = dumps;
            PairCounts counts;
            const unsigned long warnings = kmirror_warn_count();
            alarm(kMostSeconds);
            std::string wrong = run_pair(sequence, options, counts);
            if (wrong.empty())
                wrong = settle(options, warnings);
            keep(shared->text, sizeof(shared->text), wrong);
        },
        !dumps);
    return shared->text[0] ? shared->text : ended;
}

// Leaves out ever shorter pieces while there still is a difference.
Sequence shrink(const Plan &plan, Sequence sequence)
{
    unsigned tries = 0;
    for (std::size_t length = std::max(sequence.operations.size() / 2, std::size_t{1}); length; length /= 2) {
        for (bool shorter = true; shorter && tries < kMostTries;) {
            shorter = false;
            for (Sequence &candidate : without(sequence, length)) {
                if (++tries >= kMostTries || in_child(plan, candidate, false).empty())
                    continue;
                sequence = std::move(candidate);
                shorter = true;
                break;
            }
        }
    }
    return sequence;
}

std::string code_of(const Sequence &sequence)
{
    Shared<Text> shared;
    fork_and(
        [&] {
            keep(shared->text, sizeof(shared->text),
                 maple_code(sequence, fuzz::Code::Kernel, "check_difference", kmirror_maple_ops()));
        },
        true);
    return shared->text;
}

} // namespace kmirror::diff
