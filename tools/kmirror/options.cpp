// SPDX-License-Identifier: GPL-2.0-only
//
// The command line of kmirror, over CLI11. Values are read as text and judged here, so that every refusal
// names the option, the value and what is allowed in the same words.

#include "tools/kmirror/options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>

namespace kmirror::command {
namespace {

// A value that was refused: its line is printed already.
struct Refused {};

template <class Number>
Number number(const std::string& option, const std::string& value, Number lowest, Number highest,
              const char* kind) {
    Number result{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size() ||
        !(result >= lowest && result <= highest)) {
        bad_option(option, value, fmt::format("{} takes {} from {} to {}", option, kind, lowest, highest));
        throw Refused{};
    }
    return result;
}

// An option whose text goes through `take`.
void add(CLI::App& app, const std::string& name, const std::string& what, const std::string& help,
         std::function<void(const std::string&)> take) {
    app.add_option_function<std::string>(name, std::move(take), help)->type_name(what);
}

template <class Number>
void add_number(CLI::App& app, const std::string& name, const std::string& help, Number& target,
                Number lowest, Number highest, const char* kind = "a whole number") {
    add(app, name, "N", help, [&target, name, lowest, highest, kind](const std::string& value) {
        target = number<Number>(name, value, lowest, highest, kind);
    });
}

void add_text(CLI::App& app, const std::string& name, const std::string& what, const std::string& help,
              std::string& target) {
    add(app, name, what, help, [&target, name](const std::string& value) {
        if (value.empty()) {
            bad_option(name, "''", name + " takes some text");
            throw Refused{};
        }
        target = value;
    });
}

void add_world(CLI::App& app, CommandLine& line) {
    add_text(
        app, "--machine", "M",
        "hwloc synthetic string such as 'pack:2 numa:2 core:8 pu:1', or a preset; default: KMIRROR_MACHINE, "
        "or this machine",
        line.machine);
    add_text(app, "--memory", "SIZE", "memory of all nodes, such as 256M, or per node: 0:256M,1:0",
             line.memory);
}

constexpr const char* kTraceHelp =
    "write the tree's trace points there; *.json: for chrome://tracing and Perfetto, else text";

void add_fault(CLI::App& app, CommandLine& line) {
    add_text(app, "--fault", "TEXT",
             "failure points, such as 'failslab:probability=1,times=-1'; see kmirror faults", line.fault);
}

// One of a few words.
void add_choice(CLI::App& app, const std::string& name, const std::string& help, std::string& target,
                std::vector<std::string> choices) {
    std::string allowed;
    for (const std::string& choice : choices) allowed += (allowed.empty() ? "" : ", ") + choice;
    add(app, name, "WORD", help + ": " + allowed, [&target, name, choices, allowed](const std::string& value) {
        if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
            bad_option(name, value, name + " takes one of " + allowed);
            throw Refused{};
        }
        target = value;
    });
}

CLI::App* add_stress(CLI::App& app, CommandLine& line) {
    StressOptions& stress = line.stress;
    CLI::App* sub =
        app.add_subcommand("stress", "allocator and tree under load, with sheaves of 32, of 4 and off");
    add_number(*sub, "--seconds", "seconds of load, all runs together; default 10", stress.seconds,
               kMinSeconds, kMaxSeconds, "a number of seconds");
    add_number(*sub, "--cpus", "virtual CPUs at work; default: all of the machine", stress.cpus, 1u,
               kMaxCpus);
    add_number(*sub, "--threads", "worker threads; default: one a CPU", stress.threads, 1u, kMaxThreads);
    add_number<std::uint64_t>(*sub, "--seed", "replays a run's choices; default: drawn", stress.seed, 1,
                              ~std::uint64_t{0});
    add_text(*sub, "--slab", "NAMES",
             "generations of the allocator, with commas: cpu-slab, cpu-slab+sheaves, double, sheaves; or all; "
             "default: KMIRROR_SLAB, or sheaves",
             stress.slab);
    add_text(*sub, "--json", "FILE", "write the results there as well", stress.json);
    add_text(*sub, "--workload", "NAMES",
             "measure these, with commas, or all: mmap2, brk1, list_lock_storm, cross_cpu and others; the options up "
             "to --lock-stat are of it",
             stress.workload);
    add_text(*sub, "--tasks", "LIST", "numbers of tasks, with commas; default: one a CPU", stress.tasks);
    add_choice(*sub, "--mode", "an address space for each task, or one for all", stress.mode, {"process", "thread"});
    add_text(*sub, "--sheaves", "LIST", "objects in a sheaf, with commas; default 32", stress.sheaves);
    add_number(*sub, "--repeat", "runs of each setting; default 1", stress.repeat, 1u, 1000u);
    sub->add_flag("--lock-stat", stress.lock_stat, "print the lock classes as /proc/lock_stat does");
    sub->add_flag("--ktap", stress.ktap, "results as KTAP, as KUnit prints them, and nothing else");
    sub->add_flag("--live", stress.live, "a table of the hottest locks on the terminal");
    add_text(*sub, "--sysfs", "DIR", "keep the caches there as /sys/kernel/slab, for kmirror slabinfo",
             stress.sysfs);
    add_text(*sub, "--trace", "FILE", kTraceHelp, stress.trace);
    sub->add_flag("--quiet", stress.quiet, "no live line");
    add_fault(*sub, line);
    add_world(*sub, line);
    return sub;
}

CLI::App* add_contention(CLI::App& app, CommandLine& line) {
    ContentionOptions& contention = line.contention;
    CLI::App* sub = app.add_subcommand(
        "contention", "how often each generation takes list_lock and the barn lock for the same work");
    add_text(*sub, "--load", "NAMES", "what is done, with commas; default mmap2,list_lock_storm", contention.loads);
    add_text(*sub, "--slab", "NAMES", "generations of the allocator, as in kmirror stress; default all",
             contention.slab);
    add_text(*sub, "--sheaves", "LIST", "objects in a sheaf, with commas; default 0,4,32,128",
             contention.sheaves);
    add_number(*sub, "--cpus", "virtual CPUs at work; default: all of the machine", contention.cpus, 1u,
               kMaxCpus);
    add_number(*sub, "--grace-period", "operations of a CPU from one grace period to the next; default 5000",
               contention.grace_period, 1u, 1000000u);
    add_number(*sub, "--warm", "grace periods before the counting; default 8", contention.warm, 0u, 100000u);
    add_number(*sub, "--rounds", "grace periods that are counted; default 12", contention.rounds, 1u, 100000u);
    add_number(*sub, "--repeats", "runs of each setting, of which the medians are shown; default 3",
               contention.repeats, 1u, 1000u);
    add_number<std::uint64_t>(*sub, "--seed", "of the random choices; default 1", contention.seed, 1,
                              ~std::uint64_t{0});
    add_text(*sub, "--json", "FILE", "write the results there as well", contention.json);
    sub->add_flag("--quiet", contention.quiet, "no live line");
    add_world(*sub, line);
    return sub;
}

CLI::App* add_machine(CLI::App& app, CommandLine& line) {
    CLI::App* sub = app.add_subcommand("machine", "CPUs, nodes and memory of a machine");
    sub->add_flag("--json", line.show.json, "as JSON");
    add_world(*sub, line);
    return sub;
}

CLI::App* add_slabinfo(CLI::App& app, CommandLine& line) {
    SlabinfoOptions& slabinfo = line.slabinfo;
    CLI::App* sub = app.add_subcommand(
        "slabinfo", "caches of a folder as /sys/kernel/slab, or of this process after a small load");
    sub->add_option("CACHE", slabinfo.caches, "names of caches or patterns; default: all");
    add_text(*sub, "--sysfs", "DIR", "read this folder; default: this process's own caches", slabinfo.sysfs);
    sub->add_flag("-r,--report", slabinfo.report, "all there is to say of each cache");
    sub->add_flag("-D,--activity", slabinfo.activity, "what happened to each cache, instead of its sizes");
    sub->add_flag("-T,--totals", slabinfo.totals, "all caches together");
    sub->add_flag("-a,--aliases", slabinfo.aliases, "names that share a cache");
    sub->add_flag("-t,--tracking", slabinfo.tracking, "who allocated and freed, of caches that store it (slab_debug=U)");
    sub->add_flag("--proc", slabinfo.proc, "as /proc/slabinfo");
    add_text(*sub, "--dump", "CACHE", "every sheaf, barn and listed slab of one cache", slabinfo.dump);
    add_choice(*sub, "--sort", "most first, but for name", slabinfo.sort, {"name", "size", "loss", "activity"});
    sub->add_flag("--json", slabinfo.json, "as JSON");
    add_number<std::uint64_t>(*sub, "--seed", "of the load; default 1", slabinfo.seed, 1, ~std::uint64_t{0});
    add_world(*sub, line);
    return sub;
}

// --dot and the like: one of them at most.
void add_form(CLI::App& app, const char* name, const char* help, TreeOptions& tree, TreeOptions::Form form) {
    const auto take = [&tree, name, form](std::int64_t) {
        if (tree.form != TreeOptions::Form::Text) {
            bad_option(name, "beside another form", "one of --dot, --svg, --json, --dump at a time");
            throw Refused{};
        }
        tree.form = form;
    };
    app.add_flag_function(name, take, help);
}

CLI::App* add_tree(CLI::App& app, CommandLine& line) {
    TreeOptions& tree = line.tree;
    CLI::App* sub = app.add_subcommand("tree", "draw the maple tree that the operations of a file make");
    add_text(*sub, "FILE", "", "operations, one a line, such as `store FIRST LAST VALUE`; - for stdin",
             tree.file);
    add_form(*sub, "--dot", "as a file for Graphviz's dot", tree, TreeOptions::Form::Dot);
    add_form(*sub, "--svg", "as a picture", tree, TreeOptions::Form::Svg);
    add_form(*sub, "--json", "as JSON, with the result of every step", tree, TreeOptions::Form::Json);
    add_form(*sub, "--dump", "as the kernel's mt_dump() prints it", tree, TreeOptions::Form::Dump);
    add_number<std::uint64_t>(*sub, "--step", "stop after this step, and show the tree before and after it",
                              tree.step, 1, ~std::uint64_t{0});
    sub->add_flag("--before-after", tree.before_after, "show the tree before and after the last step");
    add_text(*sub, "--trace", "FILE", kTraceHelp, tree.trace);
    sub->footer(
        "operations: store FIRST LAST VALUE, insert FIRST LAST VALUE, clear FIRST LAST, erase INDEX,\n"
        "alloc SIZE VALUE [MIN MAX], alloc_high SIZE VALUE [MIN MAX]; first of all `tree [alloc] [rcu]`.\n"
        "Numbers are decimal, hexadecimal with 0x, or max; # begins a comment.");
    return sub;
}

CLI::App* add_sweep(CLI::App& app, CommandLine& line) {
    SweepOptions& sweep = line.sweep;
    CLI::App* sub = app.add_subcommand("sweep", "every call with each of its allocations failing in turn");
    add_text(*sub, "--call", "PATTERN", "only these calls, such as 'mtree_store*'", sweep.call);
    sub->add_option("--log", sweep.logs, "the calls of this program too, recorded as for kmirror replay");
    sub->add_flag("--quick", sweep.quick, "no pairs of failures, and at most 24 runs a kind");
    add_text(*sub, "--json", "FILE", "write the results there as well", sweep.json);
    sub->add_flag("--quiet", sweep.quiet, "no live line");
    add_world(*sub, line);
    return sub;
}

CLI::App* add_replay(CLI::App& app, CommandLine& line) {
    ReplayOptions& replay = line.replay;
    CLI::App* sub = app.add_subcommand(
        "replay", "the address spaces of a program recorded by strace -f -e trace=memory,process,openat");
    sub->add_option("LOG", replay.log, "the log, of strace or perf trace")->required();
    add_number(*sub, "--pid", "process to show; default: the one that opened its maps file", replay.pid, 1,
               1 << 30);
    add_text(*sub, "--maps", "FILE", "compare with this copy of /proc/PID/maps", replay.maps);
    add_text(*sub, "--json", "FILE", "write the results there as well", replay.json);
    add_text(*sub, "--store-list", "FILE", "write the operations on the process's tree, for kmirror tree",
             replay.store_list);
    sub->add_flag("--stats", replay.stats, "nodes, slabs and locks");
    sub->add_flag("--validate", replay.validate, "check the address space after each call that changes it");
    sub->add_flag("--no-thp", replay.no_thp, "the recorded kernel has no transparent huge pages to align to");
    sub->add_flag("--quiet", replay.quiet, "no progress");
    add_world(*sub, line);
    return sub;
}

CLI::App* add_compare(CLI::App& app, CommandLine& line) {
    CompareOptions& compare = line.compare;
    CLI::App* sub = app.add_subcommand("compare", "result files of --json beside each other, as lkp prints them");
    sub->add_option("FILE", compare.files, "result files; the first is the base")->required();
    add_text(*sub, "--by", "AXIS", "compare the values of this axis, such as generation, instead of files",
             compare.by);
    add_text(*sub, "--free", "AXES", "axes that make no difference, with commas, such as machine", compare.free);
    add_text(*sub, "--select", "AXES", "only what has these axes, such as workload=mmap2,sheaves=32",
             compare.select);
    sub->add_flag("--ci", compare.intervals, "medians, 95 % intervals, and whether a change is significant");
    return sub;
}

CLI::App* add_ab(CLI::App& app, CommandLine& line) {
    AbOptions& ab = line.ab;
    CLI::App* sub = app.add_subcommand("ab", "the maple trees of two kernel trees, built and measured in turn");
    add_text(*sub, "--a", "KDIR", "the base: a kernel tree, or a linux-*.tar.xz", ab.base);
    add_text(*sub, "--b", "KDIR", "what is compared with it", ab.head);
    add_text(*sub, "--repo", "DIR", "a git work tree; then REV..REV are its two revisions", ab.repo);
    add_number(*sub, "--rounds", "on either side; default 15", ab.rounds, 1u, 1000u);
    sub->add_option("WORKLOAD", ab.workloads,
                    "brk1 mmap2 append random_insert spanning_store duplicate; default: all");
    return sub;
}

CLI::App* add_report(CLI::App& app, CommandLine& line) {
    CLI::App* sub = app.add_subcommand("report", "the result files of a folder as one HTML page, report.html there");
    sub->add_option("DIR", line.report.folder, "folder with files of --json")->required();
    sub->add_flag("--png", line.report.png, "and WORKLOAD.png there for each workload with numbers of tasks; wants gnuplot");
    return sub;
}

CLI::App* add_soak(CLI::App& app, CommandLine& line) {
    SoakOptions& soak = line.soak;
    CLI::App* sub = app.add_subcommand(
        "soak", "random workloads, generations, threads and failures while CPUs go off and on; validated each second");
    add_number(*sub, "--seconds", "default 1200", soak.seconds, kMinSeconds, kMaxSeconds, "a number of seconds");
    add_number<std::uint64_t>(*sub, "--seed", "of what is drawn; default: drawn", soak.seed, 1, ~std::uint64_t{0});
    add_text(*sub, "--workload", "NAMES", "draw from these, as in kmirror stress; allocator: the mixed load; default all",
             soak.workload);
    add_text(*sub, "--slab", "NAMES", "generations, as in kmirror stress; default all", soak.slab);
    add_text(*sub, "--sheaves", "LIST", "objects in a sheaf, with commas; default 0,4,32,128", soak.sheaves);
    sub->add_flag("--quiet", soak.quiet, "no live line");
    add_world(*sub, line);
    return sub;
}

CLI::App* add_fuzz(CLI::App& app, CommandLine& line) {
    FuzzOptions& fuzz = line.fuzz;
    CLI::App* sub = app.add_subcommand("fuzz", "inputs of the fuzz targets as text, bytes or code, and smaller");
    sub->add_flag("--list", fuzz.list, "the targets");
    add_text(*sub, "--print", "FILE", "print an input in the form that --form says", fuzz.print);
    add_text(*sub, "--from-text", "FILE", "the bytes of an input that is text", fuzz.from_text);
    add_text(*sub, "--shrink", "FILE", "the smallest input that fails as this one, in the form that --form says",
             fuzz.shrink);
    add_text(*sub, "--target", "NAME", "of the file; default: the one that it, or its path, names", fuzz.target);
    add_choice(*sub, "--form",
               "text; a function of the kernel's lib/test_maple_tree.c, or a patch that adds it; a GoogleTest case",
               fuzz.form, {"text", "kernel", "patch", "test"});
    add_text(*sub, "--kdir", "DIR", "the kernel tree that the patch is for", fuzz.kdir);
    add_text(*sub, "--name", "NAME", "of the function or test; default check_found", fuzz.name);
    add_text(*sub, "--out", "FILE", "write the result there instead", fuzz.out);
    sub->add_flag("--quiet", fuzz.quiet, "no live line");
    return sub;
}

CLI::App* add_faults(CLI::App& app, CommandLine& line) {
    CLI::App* sub = app.add_subcommand("faults", "the failure points and their attributes");
    add_text(*sub, "--export", "DIR",
             "write the attributes there, as debugfs does; KMIRROR_FAULT_DIR reads them", line.faults.dir);
    add_fault(*sub, line);
    return sub;
}

std::string names_of(const std::vector<const CLI::App*>& apps) {
    std::string names;
    for (const CLI::App* app : apps) names += (names.empty() ? "" : ", ") + app->get_name();
    return names;
}

std::string options_of(const CLI::App& app) {
    std::string names;
    for (const CLI::Option* option : app.get_options())
        names += (names.empty() ? "" : ", ") + option->get_name();
    return names;
}

// Arguments that are nobody's. Every App allows them, so that they are refused here.
int refuse_extras(const CLI::App& app, const CLI::App* chosen) {
    const CLI::App& where = chosen != nullptr ? *chosen : app;
    const std::vector<std::string> extras = app.remaining(true);
    if (!extras.empty()) {
        const std::string path = "kmirror" + (chosen != nullptr ? " " + chosen->get_name() : "");
        std::fprintf(stderr, "kmirror: unknown argument %s; %s takes %s%s\n", extras.front().c_str(),
                     path.c_str(), options_of(where).c_str(),
                     chosen != nullptr ? "" : (", or " + names_of(app.get_subcommands(nullptr))).c_str());
        return kBadInput;
    }
    if (chosen == nullptr) {
        std::fprintf(stderr, "kmirror: say what to do: %s; kmirror --help says more\n",
                     names_of(app.get_subcommands(nullptr)).c_str());
        return kBadInput;
    }
    return kDone;
}

int parse(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
    } catch (const Refused&) {
        return kBadInput;
    } catch (const CLI::CallForHelp&) {
        std::fputs(app.help().c_str(), stdout);
    } catch (const CLI::CallForVersion& version) {
        std::printf("%s\n", version.what());
    } catch (const CLI::ParseError& error) {
        std::fprintf(stderr, "kmirror: %s\n", error.what());
        return kBadInput;
    }
    return kDone;
}

CLI::App* add_sim(CLI::App& app, CommandLine& line) {
    SimOptions& sim = line.sim;
    CLI::App* sub = app.add_subcommand("sim", "a load on a simulated machine of many CPUs, in virtual time");
    sub->add_option_function<std::vector<std::string>>(
           "LOADS", [&sim](const std::vector<std::string>& names) { sim.loads = names.at(0); },
           "mmap2, list_lock_storm; default mmap2")
        ->expected(1);
    add_text(*sub, "--machine", "M", "a machine of lib/sim/machines, or a file; default genoa-96x2-4n", sim.machine);
    add_text(*sub, "--generation", "NAMES", "of the allocator, with commas; default double,sheaves", sim.generations);
    add_text(*sub, "--tasks", "LIST", "numbers of tasks, with commas; default 1,8,64", sim.tasks);
    add_number(*sub, "--sheaves", "objects in a sheaf; default: the generation's rule", sim.sheaves, 0,
               kMostSheafCapacity);
    add_number(*sub, "--warm", "grace periods before the counting; default 4", sim.warm, 0u, 10000u);
    add_number(*sub, "--periods", "grace periods that are counted; default 5", sim.periods, 1u, 10000u);
    add_number(*sub, "--seeds", "runs of each setting, with seeds in a row; default 1", sim.seeds, 1u, 1000u);
    add_number<std::uint64_t>(*sub, "--seed", "of the random choices; default 1", sim.seed, 1, 1ull << 40);
    add_number(*sub, "--lines", "show so many of the cache lines that moved most", sim.lines, 0u, 1000u);
    sub->add_option_function<std::vector<std::string>>(
           "--set", [&sim](const std::vector<std::string>& changes) { sim.changes = changes; },
           "another cost: l3=20 (ns, or a factor), same_node*=1.5; may be given again")
        ->type_name("COST=VALUE");
    add_number(*sub, "--jobs", "simulations at a time; default: the processors", sim.jobs, 1u, 256u);
    add(*sub, "--published", "MODE", "quick, normal or full: what was published, beside the model",
        [&sim](const std::string& mode) {
            if (mode != "quick" && mode != "normal" && mode != "full") {
                bad_option("--published", mode, "--published takes quick, normal or full");
                throw Refused{};
            }
            sim.published = mode;
        });
    add_text(*sub, "--json", "FILE", "write the results there as well", sim.json);
    sub->add_flag("--quiet", sim.quiet, "no live line");
    return sub;
}

}  // namespace

int bad_option(std::string_view option, std::string_view value, std::string_view allowed) {
    std::fprintf(stderr, "kmirror: %.*s %.*s is not possible; %.*s\n", static_cast<int>(option.size()),
                 option.data(), static_cast<int>(value.size()), value.data(),
                 static_cast<int>(allowed.size()), allowed.data());
    return kBadInput;
}

CommandLine read_command_line(int argc, char** argv) {
    CommandLine line;
    CLI::App app("kmirror: the Linux maple tree and SLUB allocator in userspace", "kmirror");
    app.set_version_flag("--version", "kmirror " KMIRROR_VERSION " (maple tree and SLUB as in Linux 7.3)");
    CLI::App* stress = add_stress(app, line);
    CLI::App* contention = add_contention(app, line);
    CLI::App* machine = add_machine(app, line);
    CLI::App* slabinfo = add_slabinfo(app, line);
    CLI::App* tree = add_tree(app, line);
    CLI::App* sweep = add_sweep(app, line);
    CLI::App* faults = add_faults(app, line);
    CLI::App* replay = add_replay(app, line);
    CLI::App* sim = add_sim(app, line);
    CLI::App* compare = add_compare(app, line);
    CLI::App* ab = add_ab(app, line);
    CLI::App* report = add_report(app, line);
    CLI::App* soak = add_soak(app, line);
    CLI::App* fuzz = add_fuzz(app, line);
    const std::vector<std::pair<CLI::App*, Command>> commands = {
        {ab, Command::Ab}, {stress, Command::Stress}, {contention, Command::Contention}, {machine, Command::Machine}, {slabinfo, Command::Slabinfo},
        {tree, Command::Tree},     {sweep, Command::Sweep},     {faults, Command::Faults},
        {replay, Command::Replay}, {sim, Command::Sim}, {compare, Command::Compare},
        {report, Command::Report}, {soak, Command::Soak},
        {fuzz, Command::Fuzz}};
    app.require_subcommand(0, 1);
    app.allow_extras();
    for (const auto& [each, command] : commands) each->allow_extras();

    line.status = parse(app, argc, argv);
    const auto parsed = std::find_if(commands.begin(), commands.end(),
                                     [](const auto& each) { return each.first->parsed(); });
    const CLI::App* chosen = parsed != commands.end() ? parsed->first : nullptr;
    const bool answered = app.count("--help") != 0 || app.count("--version") != 0 ||
                          (chosen != nullptr && chosen->count("--help") != 0);
    if (line.status != kDone || answered) return line;
    line.status = refuse_extras(app, chosen);
    if (line.status == kDone && chosen == tree && line.tree.file.empty()) {
        std::fprintf(stderr, "kmirror: tree takes a FILE with operations, or - for stdin\n");
        line.status = kBadInput;
    }
    if (line.status == kDone) line.command = parsed->second;
    return line;
}

}  // namespace kmirror::command
