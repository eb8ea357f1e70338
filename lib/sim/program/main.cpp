// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror-sim: one simulated run; `kmirror sim` starts it, once for each row of its table, and reads what it prints.
//
//   kmirror-sim NAME=VALUE ...     machine=genoa-96x2-4n (or a file) load=mmap2 generation=double tasks=64 seed=1
//                                  warm=4 periods=5 sheaves=-1 set=COST=VALUE lines=20 skew=NS yield=1 spread=US
//                                  progress=1 finish=0 check=1 (reads the settings only)
//   kmirror-sim explore ...         interleavings instead of clocks, explore_main.cpp
//   kmirror-sim machines           names and texts of the machines that are built in
//
// Prints one `word value...` line for each figure, separated by tabs. Exit status: 0 fine, 1 something was wrong, 2 bad
// input.
#include "lib/sim/program/explore_main.h"
#include "lib/sim/program/run.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

using namespace kmirror::sim;

namespace {

constexpr int kBadInput = 2;

struct Arguments {
    RunSpec spec;
    unsigned line_count = 0;
    bool progress = false, check = false;
    std::vector<std::string> changes;
};

int refuse(const std::string &name, const std::string &value, const std::string &allowed)
{
    std::fprintf(stderr, "kmirror: --%s %s is not possible; %s\n", name.c_str(), value.c_str(), allowed.c_str());
    return kBadInput;
}

bool number(const std::string &text, long long lowest, long long highest, long long &value)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= lowest && value <= highest;
}

int read_machine(const std::string &value, Machine &machine)
{
    std::string error, names;
    for (unsigned i = 0; i < kMachineCount; i++) {
        if (value == kMachines[i].name) {
            machine.name = value;
            return machine_parse(kMachines[i].text, machine, error) ? 0 : refuse("machine", value, error);
        }
        names += std::string(names.empty() ? "" : ", ") + kMachines[i].name;
    }
    if (value.find('/') == std::string::npos && value.find('.') == std::string::npos)
        return refuse("machine", value, "it takes a file or one of: " + names);
    return machine_load(value, machine, error) ? 0 : refuse("machine", value, error);
}

int read_load(const std::string &value, const Load *&load)
{
    load = nullptr;
    for (const Load *each : {&kMmapLoad, &kStormLoad})
        if (value == each->name)
            load = each;
    return load ? 0 : refuse("load", value, "it takes mmap2 or list_lock_storm");
}

int read_generation(const std::string &value, std::string &generation)
{
    for (const char *each : {"cpu-slab", "cpu-slab+sheaves", "double", "sheaves"})
        if (value == each)
            generation = value;
    return generation == value ? 0
                               : refuse("generation", value, "it takes cpu-slab, cpu-slab+sheaves, double or sheaves");
}

struct Number {
    const char *name;
    long long lowest, highest;
    void (*set)(Arguments &, long long);
};

constexpr Number kNumbers[] = {
    {"tasks", 1, 4096, [](Arguments &a, long long v) { a.spec.tasks = static_cast<unsigned>(v); }},
    {"seed", 1, INT64_MAX, [](Arguments &a, long long v) { a.spec.setting.seed = static_cast<std::uint64_t>(v); }},
    {"warm", 0, 10000, [](Arguments &a, long long v) { a.spec.warm = static_cast<unsigned>(v); }},
    {"periods", 1, 10000, [](Arguments &a, long long v) { a.spec.periods = static_cast<unsigned>(v); }},
    {"sheaves", -1, 1024, [](Arguments &a, long long v) { a.spec.sheaf_capacity = static_cast<int>(v); }},
    {"lines", 0, 1000, [](Arguments &a, long long v) { a.line_count = static_cast<unsigned>(v); }},
    {"skew", 0, 1000000, [](Arguments &a, long long v) { a.spec.setting.skew = v * kNs; }},
    {"yield", 0, 1, [](Arguments &a, long long v) { a.spec.setting.yield_always = v != 0; }},
    {"spread", 0, 1000000, [](Arguments &a, long long v) { a.spec.start_spread = v * kUs; }},
    {"progress", 0, 1, [](Arguments &a, long long v) { a.progress = v != 0; }},
    {"check", 0, 1, [](Arguments &a, long long v) { a.check = v != 0; }},
    {"finish", 0, 1, [](Arguments &a, long long v) { a.spec.finish = v != 0; }},
};

int read_number(const std::string &name, const std::string &value, Arguments &arguments)
{
    for (const Number &each : kNumbers) {
        if (name != each.name)
            continue;
        long long result = 0;
        if (!number(value, each.lowest, each.highest, result))
            return refuse(name, value, "it takes a whole number from " + std::to_string(each.lowest) + " to " +
                                           std::to_string(each.highest));
        each.set(arguments, result);
        return 0;
    }
    return refuse(name, value, "there is no such setting");
}

int read_one(const std::string &name, const std::string &value, Arguments &arguments)
{
    if (name == "machine")
        return read_machine(value, arguments.spec.machine);
    if (name == "load")
        return read_load(value, arguments.spec.load);
    if (name == "generation")
        return read_generation(value, arguments.spec.generation);
    if (name != "set")
        return read_number(name, value, arguments);
    arguments.changes.push_back(value);
    return 0;
}

int read_arguments(int argc, char **argv, Arguments &arguments)
{
    for (int i = 1; i < argc; i++) {
        const std::string argument = argv[i];
        const auto equals = argument.find('=');
        if (equals == std::string::npos)
            return refuse(argument, "", "settings are NAME=VALUE");
        if (const int status = read_one(argument.substr(0, equals), argument.substr(equals + 1), arguments))
            return status;
    }
    if (arguments.spec.machine.topology.empty())
        return refuse("machine", "", "it has to be given");
    if (!arguments.spec.load)
        return refuse("load", "", "it has to be given");
    std::string error;
    for (const std::string &change : arguments.changes)
        if (!machine_change(change, arguments.spec.machine, error))
            return refuse("set", change, error);
    arguments.spec.lines = arguments.line_count != 0;
    return 0;
}

void print_counts(const Counts &counts)
{
    const auto line = [](const char *name, std::uint64_t value) {
        std::printf("figure\t%s\t%llu\n", name, static_cast<unsigned long long>(value));
    };
    line("accesses", counts.accesses);
    line("misses", counts.misses);
    line("transfers", counts.transfers);
    line("atomics", counts.atomics);
    line("switches", counts.switches);
    line("ticks", counts.ticks);
    line("callbacks", counts.callbacks);
    line("lock_wait_ps", static_cast<std::uint64_t>(counts.lock_wait));
    line("softirq_ps", static_cast<std::uint64_t>(counts.softirq));
}

void print_result(const Arguments &arguments, const RunResult &result, double real_seconds)
{
    std::printf("figure\tcpus\t%zu\n", engine.cpus.size());
    std::printf("figure\titerations\t%llu\n", static_cast<unsigned long long>(result.iterations));
    std::printf("figure\tall_iterations\t%llu\n", static_cast<unsigned long long>(result.all_iterations));
    std::printf("figure\twindow_ps\t%lld\n", static_cast<long long>(result.window));
    std::printf("figure\tperiods\t%u\n", result.periods);
    std::printf("figure\tdrift\t%.6f\n", result.drift);
    std::printf("figure\tmax_stamp_wait_ps\t%lld\n", static_cast<long long>(result.max_stamp_wait));
    std::printf("figure\tlongest_period_ps\t%lld\n", static_cast<long long>(result.longest_period));
    std::printf("figure\treal_seconds\t%.3f\n", real_seconds);
    print_counts(result.counts);
    for (const LockStat &lock : result.locks)
        std::printf("lock\t%s\t%llu\t%llu\t%lld\t%lld\t%lld\t%lld\n", lock.name.c_str(),
                    static_cast<unsigned long long>(lock.acquisitions), static_cast<unsigned long long>(lock.contended),
                    static_cast<long long>(lock.wait), static_cast<long long>(lock.wait_max),
                    static_cast<long long>(lock.hold), static_cast<long long>(lock.hold_max));
    for (std::size_t i = 0; i < result.lines.size() && i < arguments.line_count; i++)
        std::printf("line\t%s\t%s\t%llu\t%lld\n", result.lines[i].what.c_str(), result.lines[i].place.c_str(),
                    static_cast<unsigned long long>(result.lines[i].count),
                    static_cast<long long>(result.lines[i].time));
    for (std::size_t cpu = 0; cpu < result.cpu_iterations.size(); cpu++)
        std::printf("cpu\t%zu\t%llu\n", cpu, static_cast<unsigned long long>(result.cpu_iterations[cpu]));
    for (const std::string &what : result.wrong)
        std::printf("wrong\t%s\n", what.c_str());
    std::printf("hash\t%016llx\n", static_cast<unsigned long long>(result.hash));
}

int list_machines()
{
    for (unsigned i = 0; i < kMachineCount; i++)
        std::printf("%s\n%s\n", kMachines[i].name, kMachines[i].text);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 2 && std::strcmp(argv[1], "machines") == 0)
        return list_machines();
    if (argc >= 2 && std::strcmp(argv[1], "explore") == 0)
        return explore_main(argc - 2, argv + 2);
    Arguments arguments;
    if (const int status = read_arguments(argc, argv, arguments))
        return status;
    if (arguments.check)
        return 0;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    Clock::time_point last = start;
    const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
    const RunResult result = run(arguments.spec, [&](Ps now, std::uint64_t iterations) {
        const Clock::time_point moment = Clock::now();
        if (!arguments.progress || seconds(moment - last) < 0.25)
            return;
        last = moment;
        std::printf("progress\t%.3f\t%llu\n", static_cast<double>(now) / kMs,
                    static_cast<unsigned long long>(iterations));
        std::fflush(stdout);
    });
    print_result(arguments, result, seconds(Clock::now() - start));
    return result.wrong.empty() ? 0 : 1;
}
