// SPDX-License-Identifier: GPL-2.0-only
//
// What `kmirror sim` shows of its runs. Owns nothing, fails never but for a file that cannot be written.

#include "tools/kmirror/json.h"
#include "tools/kmirror/sim.h"
#include "tools/kmirror/table.h"

#include <algorithm>
#include <cstdio>

namespace kmirror::command {
namespace {

std::string lock_word(const std::string& lock) {
    return lock == kSimListLock ? "list_lock" : lock == kSimBarnLock ? "barn" : lock.empty() ? "-" : lock;
}

double speed_of(const SimRun& run) {
    const double seconds = run.figure("real_seconds");
    return seconds > 0 ? run.figure("all_iterations") / seconds : 0;
}

void write_lock(Json& json, const std::string& at, const SimRun& run, const std::string& name, const SimLock& lock) {
    json.set(at + "/name", name);
    json.set(at + "/acquisitions_per_1000", run.acquisitions_per_1000(name));
    json.set(at + "/contended_share", run.contended_share(name));
    json.set(at + "/wait_share", run.wait_share(name));
    json.set(at + "/wait_max_ns", lock.wait_max_ns);
    json.set(at + "/hold_ns", run.hold_ns(name));
    json.set(at + "/hold_max_ns", lock.hold_max_ns);
}

}  // namespace

void print_simulations(const std::vector<SimRun>& runs) {
    if (runs.empty()) return;
    Table table({"load", "slab", "tasks", "ops/s per task", "list_lock/1000", "contended", "wait", "hold ns",
                 "barn/1000", "contended", "wait", "hold ns", "drift", "periods", "real s"});
    for (const SimRun& run : runs)
        table.row({run.spec.load, run.spec.generation, std::to_string(run.spec.tasks), short_number(run.per_task()),
                   fixed(run.acquisitions_per_1000(kSimListLock), 1), percent(run.contended_share(kSimListLock)),
                   percent(run.wait_share(kSimListLock)), fixed(run.hold_ns(kSimListLock), 0),
                   fixed(run.acquisitions_per_1000(kSimBarnLock), 1), percent(run.contended_share(kSimBarnLock)),
                   percent(run.wait_share(kSimBarnLock)), fixed(run.hold_ns(kSimBarnLock), 0),
                   percent(run.figure("drift")), fixed(run.figure("periods"), 0),
                   fixed(run.figure("real_seconds"), 1)});
    std::printf("machine %s, %.0f CPUs\n\n", runs[0].spec.machine.c_str(), runs[0].figure("cpus"));
    table.print(stdout);
}

void print_lines(const std::vector<SimRun>& runs, unsigned count) {
    for (const SimRun& run : runs) {
        std::printf("\n%s, %s, %u tasks: lines that moved, for 1000 iterations\n\n", run.spec.load.c_str(),
                    run.spec.generation.c_str(), run.spec.tasks);
        Table table({"line", "moves", "ns each", "place"});
        const double thousands = std::max(run.figure("iterations") / 1000, 1e-9);
        for (std::size_t i = 0; i < run.lines.size() && i < count; i++) {
            const SimLine& line = run.lines[i];
            table.row({line.what, fixed(static_cast<double>(line.count) / thousands, 1),
                       fixed(line.ns / static_cast<double>(std::max<std::uint64_t>(line.count, 1)), 0), line.place});
        }
        table.print(stdout);
    }
}

int write_simulations(const std::vector<SimRun>& runs, const std::string& file) {
    Json json("kmirror-sim", 1);
    for (std::size_t i = 0; i < runs.size(); i++) {
        const SimRun& run = runs[i];
        const std::string at = "/runs/" + std::to_string(i);
        json.set(at + "/machine", run.spec.machine);
        json.set(at + "/load", run.spec.load);
        json.set(at + "/generation", run.spec.generation);
        json.set(at + "/tasks", run.spec.tasks);
        json.set(at + "/seed", run.spec.seed);
        json.set(at + "/hash", run.hash);
        json.set(at + "/operations_per_second_per_task", run.per_task());
        json.set(at + "/worst_lock", lock_word(run.worst_lock()));
        json.set(at + "/iterations_per_real_second", speed_of(run));
        for (const auto& [name, value] : run.figures) json.set(at + "/figures/" + name, value);
        std::size_t number = 0;
        for (const auto& [name, lock] : run.locks)
            write_lock(json, at + "/locks/" + std::to_string(number++), run, name, lock);
        for (std::size_t n = 0; n < run.lines.size(); n++) {
            const std::string line = at + "/lines/" + std::to_string(n);
            json.set(line + "/what", run.lines[n].what);
            json.set(line + "/place", run.lines[n].place);
            json.set(line + "/count", run.lines[n].count);
            json.set(line + "/ns", run.lines[n].ns);
        }
        for (std::size_t n = 0; n < run.wrong.size(); n++)
            json.set(at + "/wrong/" + std::to_string(n), run.wrong[n]);
    }
    std::string error;
    if (json.write(file, error)) return kDone;
    std::fprintf(stderr, "kmirror: %s\n", error.c_str());
    return kFoundWrong;
}

}  // namespace kmirror::command
