// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror sim: a load on a simulated machine, for each generation of the allocator and each number of tasks. The
// simulation is kmirror-sim, a program of its own because it is compiled differently; lib/sim/README.md.
//
// Owns     nothing. Bounds: options.jobs processes at a time.
// Fails    with kBadInput when kmirror-sim refuses a setting, in its words; with kFoundWrong when a run found something
//          wrong, or two runs of the same settings differ.

#include "tools/kmirror/sim.h"

#include "tools/kmirror/json.h"
#include "tools/kmirror/progress.h"
#include "tools/kmirror/stress.h"

#include <charconv>
#include <cstdio>
#include <map>

namespace kmirror::command {
namespace {

bool parse_tasks(const std::string& text, std::vector<unsigned>& tasks) {
    for (const std::string& word : split(text)) {
        unsigned value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size() || value < 1 || value > kMaxThreads)
            return false;
        tasks.push_back(value);
    }
    return !tasks.empty();
}

// kDone, or what a bad option returned.
int specs_of(const SimOptions& options, std::vector<SimSpec>& specs) {
    std::vector<unsigned> tasks;
    if (!parse_tasks(options.tasks, tasks))
        return bad_option("--tasks", options.tasks,
                          "it takes, with commas, numbers from 1 to " + std::to_string(kMaxThreads));
    SimSpec spec;
    spec.machine = options.machine;
    spec.warm = options.warm;
    spec.periods = options.periods;
    spec.lines = options.lines;
    spec.sheaves = options.sheaves;
    spec.changes = options.changes;
    for (const std::string& load : split(options.loads))
        for (const std::string& generation : split(options.generations))
            for (const unsigned count : tasks)
                for (unsigned i = 0; i < options.seeds; i++) {
                    spec.load = load;
                    spec.generation = generation;
                    spec.tasks = count;
                    spec.seed = options.seed + i;
                    specs.push_back(spec);
                }
    return kDone;
}

}  // namespace

bool run_with_progress(const std::vector<SimSpec>& specs, const SimOptions& options, std::vector<SimRun>& runs) {
    Progress progress(options.quiet);
    return run_simulations(specs, options.jobs, runs,
                           [&](const SimSpec& spec, double milliseconds, std::uint64_t iterations, std::size_t done) {
                               char what[160];
                               std::snprintf(what, sizeof(what), "%zu of %zu done; %s, %s, %u tasks, %.0f virtual ms",
                                             done, specs.size(), spec.load.c_str(), spec.generation.c_str(),
                                             spec.tasks, milliseconds);
                               progress.share(static_cast<double>(done) / static_cast<double>(specs.size()));
                               progress.update(what, iterations);
                           });
}

int sim_main(const SimOptions& options) {
    if (!options.published.empty()) return sim_published(options);
    std::vector<SimSpec> specs;
    if (const int status = specs_of(options, specs); status != kDone) return status;
    if (const int status = check_json(options.json); status != kDone) return status;
    std::vector<SimRun> runs;
    if (!run_with_progress(specs, options, runs)) return kBadInput;
    print_simulations(runs);
    if (options.lines != 0) print_lines(runs, options.lines);
    int status = kDone;
    for (const SimRun& run : runs)
        for (const std::string& wrong : run.wrong) {
            std::printf("WRONG: %s, %u tasks: %s\n", run.spec.generation.c_str(), run.spec.tasks, wrong.c_str());
            status = kFoundWrong;
        }
    if (options.json.empty()) return status;
    return write_simulations(runs, options.json) == kDone ? status : kFoundWrong;
}

}  // namespace kmirror::command
