// SPDX-License-Identifier: GPL-2.0-only
//
// main of kmirror-bench (make bench): the tree's cases beside the other implementation, in ns per operation,
// then the allocator's table (slab_table.h). Google Benchmark's own options choose among the tree's cases; with
// --benchmark_format or --benchmark_out its reports come as usual, and no second table.
//
// Exit status: 0; 1 when something could not be measured or written; 2 for an option that nobody knows.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tools/bench/bench.h"
#include "tools/bench/slab_table.h"
#include "tools/bench/slab_worker.h"
#include "tools/kmirror/json.h"
#include "tools/kmirror/table.h"

namespace kmirror::bench {
namespace {

using command::fixed;
using command::Table;

// The parts of `group/operation/size/who`.
struct Name {
    std::string row, size, who;

    explicit Name(const std::string& text) {
        const std::size_t third = text.rfind('/');
        const std::size_t second = text.rfind('/', third - 1);
        row = text.substr(0, second);
        size = text.substr(second + 1, third - second - 1);
        who = text.substr(third + 1);
    }
};

struct Row {
    Name name;
    double ours_ns = 0, other_ns = 0;
    std::string other;
};

// Keeps what each case took, and prints one table at the end.
class Reporter final : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context&) override { return true; }

    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            const Name name(run.run_name.function_name);
            const double ns = 1e9 / run.counters.at("items_per_second");
            Row& row = row_of(name);
            (name.who == kOurs ? row.ours_ns : row.other_ns) = ns;
            if (name.who != kOurs) row.other = name.who;
        }
        std::fprintf(stderr, ".");
    }

    void Finalize() override {
        std::fprintf(stderr, "\n");
        Table table({"ns per operation", "size", kOurs, "other", "", "other / kmirror"});
        for (const Row& row : rows_) {
            const bool both = row.ours_ns > 0 && row.other_ns > 0;
            table.row({row.name.row, row.name.size, row.ours_ns > 0 ? fixed(row.ours_ns, 1) : "-",
                       row.other_ns > 0 ? fixed(row.other_ns, 1) : "-", row.other,
                       both ? fixed(row.other_ns / row.ours_ns, 2) : "-"});
        }
        table.print(stdout);
    }

private:
    Row& row_of(const Name& name) {
        for (Row& row : rows_)
            if (row.name.row == name.row && row.name.size == name.size) return row;
        return rows_.emplace_back(Row{name, 0, 0, {}});
    }

    std::vector<Row> rows_;
};

bool wants_own_report(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (std::strncmp(argv[i], "--benchmark_format", 18) == 0 ||
            std::strncmp(argv[i], "--benchmark_out", 15) == 0 ||
            std::strncmp(argv[i], "--benchmark_list_tests", 22) == 0)
            return true;
    return false;
}

void run(benchmark::State& state, const Case& what) {
    for ([[maybe_unused]] auto _ : state) {
        if (what.before) {
            state.PauseTiming();
            what.before();
            state.ResumeTiming();
        }
        what.loop();
        if (what.after) {
            state.PauseTiming();
            what.after();
            state.ResumeTiming();
        }
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(what.steps));
}

// ---- options ----------------------------------------------------------------------------------------------

struct Options {
    bool tree = true, slab = true;
    SlabOptions table;
};

[[noreturn]] void refuse(const std::string& what) {
    std::fprintf(stderr,
                 "kmirror-bench: %s; known are --only tree|slab, --rows TEXT, --rounds N, --json FILE, "
                 "--against PROGRAM, and Google Benchmark's: --benchmark_filter=, ...\n",
                 what.c_str());
    std::exit(2);
}

unsigned rounds_of(const std::string& text) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(text.c_str(), &end, 10);
    if (text.empty() || text[0] == '-' || *end != '\0' || value < 1 || value > 1000)
        refuse("--rounds " + text + " is not possible, it is 1 to 1000");
    return static_cast<unsigned>(value);
}

void set_option(Options& options, const std::string& name, const std::string& value) {
    std::string error;
    if (name == "--only" && (value == "tree" || value == "slab")) {
        (value == "tree" ? options.slab : options.tree) = false;
    } else if (name == "--rows") {
        options.table.rows = value;
    } else if (name == "--rounds") {
        options.table.rounds = rounds_of(value);
    } else if (name == "--json") {
        if (!command::can_write(value, error)) refuse("--json " + value + ": " + error);
        options.table.json = value;
    } else if (name == "--against") {
        options.table.against = value;
    } else {
        refuse("unknown option " + name + (name == "--only" ? " " + value : ""));
    }
}

Options options_of(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) refuse(std::string("unknown option, or nothing behind ") + argv[i]);
        set_option(options, argv[i], argv[i + 1]);
    }
    return options;
}

// The process that measures one cell, see slab_worker.h.
bool is_worker(int argc, char** argv, int& status) {
    if (argc != 5 || std::strstr(argv[1], "worker") == nullptr) return false;
    const bool ours = std::strcmp(argv[3], "ours") == 0;
    if (std::strcmp(argv[1], "--worker") == 0)
        status = run_worker(argv[2], ours, argv[4]);
    else
        status = run_memory_worker(argv[2], ours, argv[4]);
    return true;
}

void run_tree_cases(bool own_report) {
    add_tree_cases();
    if (own_report) {
        benchmark::RunSpecifiedBenchmarks();
    } else {
        Reporter reporter;
        benchmark::RunSpecifiedBenchmarks(&reporter);
    }
}

}  // namespace

void add(const Case& what) {
    benchmark::RegisterBenchmark(what.name.c_str(), [what](benchmark::State& state) { run(state, what); })
        ->UseRealTime()
        ->MinTime(0.1);
}

}  // namespace kmirror::bench

int main(int argc, char** argv) {
    using namespace kmirror::bench;
    int status = 0;
    if (is_worker(argc, argv, status)) return status;
    const bool own_report = wants_own_report(argc, argv);
    benchmark::Initialize(&argc, argv);
    const Options options = options_of(argc, argv);
    if (!options.table.against.empty()) return run_slab_against(options.table);
    if (options.tree) run_tree_cases(own_report);
    if (options.slab && !own_report) status = run_slab_table(options.table);
    benchmark::Shutdown();
    return status;
}
