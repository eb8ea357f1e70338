// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/program/schedule.cpp: see schedule.h.
//
// Owns     the memory that a child answers through. Locking: none. Fails: a child that dies is an outcome.
#include "lib/sim/program/schedule.h"

#include "lib/sim/program/run.h"
#include "lib/sim/world/world.h"

#include <kmirror/printk.h>
#include <kmirror/slab_info.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kmirror::sim {
namespace {

constexpr std::uint32_t kMostSteps = 1'000'000;
constexpr unsigned kLearningRuns = 6, kLearningRate = 20;
constexpr std::size_t kMostSwitches = 1 << 16;
constexpr unsigned kSeconds = 60, kSecondsAfterCrash = 10;    // of a child, on a loaded host
constexpr Ps kTickPeriod = 2 * kUs;  // short, so that grace periods end within a scenario

// What a child leaves, in memory that it shares with its parent.
struct Answer {
    Verdict verdict;
    std::uint32_t steps, switches;
    Switch schedule[kMostSwitches];
    char message[4096];
};
Answer *answer;
SharedLines lines;

void *memory_for_children(std::size_t bytes)
{
    void *const shared = __real_mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED) {
        std::perror("kmirror: no memory for a schedule");
        std::exit(2);
    }
    return shared;
}

void put_schedule()
{
    answer->steps = explorer->steps();
    const Schedule &schedule = explorer->schedule();
    answer->switches = static_cast<std::uint32_t>(std::min(schedule.size(), kMostSwitches));
    std::copy_n(schedule.begin(), answer->switches, answer->schedule);
}

void print_trace(const std::vector<Explorer::Trace> &trace)
{
    for (const Explorer::Trace &each : trace) {
        const std::string from = each.from < 0 ? "nobody" : "CPU " + std::to_string(each.from);
        std::printf("  step %-6u CPU %u goes on; before it: %s\n", each.step, each.to,
                    each.place ? place_label(each.place).c_str() : from.c_str());
    }
    std::fflush(stdout);
}

// A BUG or a bad address: the schedule up to there is what matters. On a stack of its own.
void crashed(int)
{
    answer->verdict = Verdict::Crashed;
    put_schedule();
    alarm(kSecondsAfterCrash);
    if (explorer->trace)
        print_trace(*explorer->trace);
    _exit(0);
}

void catch_crashes()
{
    static char stack[1 << 20];
    const stack_t own = {stack, 0, sizeof(stack)};
    sigaltstack(&own, nullptr);
    struct sigaction action = {};
    action.sa_handler = crashed;
    action.sa_flags = SA_ONSTACK | SA_RESETHAND;
    for (int each : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP})
        sigaction(each, &action, nullptr);
    alarm(kSeconds);
}

void silence()
{
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

std::string access_text(const Access &access)
{
    const std::uint32_t line = engine.lines.number(reinterpret_cast<const void *>(access.address));
    return std::string(access.marked ? "marked " : "plain ") + (access.write ? "write" : "read") + " of " +
           std::to_string(access.size) + " bytes by CPU " + std::to_string(access.task) + " in " + line_label(line) +
           "\n      " + place_label(access.place);
}

// The first ones; the others mostly come of the same.
std::string races_text()
{
    constexpr std::size_t most = 3;
    std::string text;
    const std::span<const Race> found = explorer->races();
    for (const Race &race : found.first(std::min<std::size_t>(most, found.size())))
        text += "data race\n    " + access_text(race.first) + "\n    " + access_text(race.second) + "\n";
    return text;
}

void judge(unsigned long warned_before)
{
    std::string message;
    answer->verdict = Verdict::Fine;
    if (const char *wrong = scenario_verdict()) {
        answer->verdict = Verdict::Wrong;
        message = std::string(wrong) + "\n";
    } else if (kmirror_warn_count() != warned_before) {
        answer->verdict = Verdict::Warned;
        message = "the code under test warned\n";
    } else if (explorer->deadlocked()) {
        answer->verdict = Verdict::Deadlock;
        message = "no CPU can go on\n";
    } else if (explorer->too_long()) {
        answer->verdict = Verdict::TooLong;
        message = "it does not end\n";
    } else if (!explorer->races().empty()) {
        answer->verdict = Verdict::Race;
    }
    message += races_text();
    std::snprintf(answer->message, sizeof(answer->message), "%s", message.c_str());
}

void run_tasks(const Scenario &scenario)
{
    static unsigned running;
    running = static_cast<unsigned>(engine.cpus.size());
    for (unsigned cpu = 0; cpu < engine.cpus.size(); cpu++)
        engine.spawn(cpu, 0,
                     [&scenario, cpu] {
                         scenario.body(cpu);
                         explorer->released(&running);
                         if (--running != 0)
                             return;
                         explorer->acquired(&running);
                         scenario.finish();
                         explorer->stop();
                     },
                     "scenario");
    engine.run_until(kNever / 2);
}

[[noreturn]] void child(const Scenario &scenario, const StrategyMaker &maker, const Plant &plant, bool tell)
{
    if (!tell)
        silence();
    catch_crashes();
    const std::unique_ptr<Strategy> strategy = maker();
    Explorer explores(*strategy, lines, plant, kMostSteps);
    std::vector<Explorer::Trace> trace;
    if (tell)
        explores.trace = &trace;
    explorer = &explores;
    const unsigned long warned = kmirror_warn_count();
    run_tasks(scenario);
    put_schedule();
    judge(warned);
    if (tell)
        print_trace(trace);
    _exit(0);
}

Outcome read_answer(int status)
{
    Outcome outcome = {answer->verdict, answer->steps, {answer->schedule, answer->schedule + answer->switches},
                       answer->message};
    if (WIFSIGNALED(status)) {
        outcome.verdict = WTERMSIG(status) == SIGALRM ? Verdict::TooLong : Verdict::Crashed;
        outcome.message = std::string("ended by signal ") + strsignal(WTERMSIG(status)) + "\n";
    } else if (outcome.verdict == Verdict::Crashed) {
        outcome.message = "a BUG, or an access to no memory\n";
    }
    return outcome;
}

} // namespace

const char *verdict_name(Verdict verdict)
{
    constexpr const char *names[] = {"fine", "race", "wrong", "warned", "crashed", "deadlock", "too long"};
    return names[static_cast<int>(verdict)];
}

void scenario_world(const Scenario &scenario)
{
    Machine machine;
    std::string error;
    if (!machine_parse(kMachines[0].text, machine, error))
        std::abort(); // it is part of the program
    machine.topology = scenario.topology;
    machine.costs.tick_period = kTickPeriod;
    machine.costs.tick_spread = kTickPeriod / 2;
    machine.costs.tick = kNs;
    Engine::Setting setting;
    setting.stack = 1 << 20;    // for reports with stacks, too
    world_init(machine, setting);
    engine.run_idle(0, [&scenario] {
        kmirror_slab_set_generation(kmirror_slab_generation_by_name(scenario.generation));
        kmirror_slab_sheaf_capacity(scenario.sheaf_capacity);
        scenario.prepare();
        kmirror_slab_sheaf_capacity(-1);
    });
    answer = static_cast<Answer *>(memory_for_children(sizeof(Answer)));
    lines = {static_cast<std::uint8_t *>(memory_for_children(engine.lines.count())), false};
}

Outcome learn_lines(const Scenario &scenario)
{
    lines.learning = true;
    Outcome outcome;
    for (std::uint64_t seed = 1; seed <= kLearningRuns && outcome.verdict == Verdict::Fine; seed++)
        outcome = run_schedule(scenario, [seed] { return random_strategy(seed, kLearningRate); }, {}, false);
    lines.learning = false;
    return outcome;
}

Outcome run_schedule(const Scenario &scenario, const StrategyMaker &strategy, const Plant &plant, bool tell)
{
    *answer = {};
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0)
        child(scenario, strategy, plant, tell);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return read_answer(status);
}

Outcome shrink(const Scenario &scenario, const Plant &plant, Outcome failed, unsigned tries)
{
    for (std::size_t piece = std::max<std::size_t>(failed.schedule.size() / 2, 1); tries != 0;) {
        bool shorter = false;
        for (std::size_t at = 0; at < failed.schedule.size() && tries != 0; tries--) {
            Schedule left = failed.schedule;
            const auto first = left.begin() + static_cast<std::ptrdiff_t>(at);
            left.erase(first, first + static_cast<std::ptrdiff_t>(std::min(piece, left.size() - at)));
            Outcome outcome = run_schedule(scenario, [&left] { return replay_strategy(left); }, plant, false);
            const bool fails = outcome.verdict != Verdict::Fine && outcome.verdict != Verdict::TooLong;
            if (fails && outcome.schedule.size() < failed.schedule.size()) {
                failed = std::move(outcome);
                shorter = true;
            } else {
                at += piece;
            }
        }
        if (piece == 1 && !shorter)
            break;
        piece = std::max<std::size_t>(piece / 2, 1);
    }
    return failed;
}

} // namespace kmirror::sim
