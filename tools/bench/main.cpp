// SPDX-License-Identifier: GPL-2.0-only
//
// main of kmirror-bench (make bench): runs the cases and sets ours beside the other implementation, in ns per
// operation. Google Benchmark's own options work; with --benchmark_format or --benchmark_out its reports come
// as usual.
//
// Exit status: 0; 2 for an option that nobody knows.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tools/bench/bench.h"
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

}  // namespace

void add(const Case& what) {
    benchmark::RegisterBenchmark(what.name.c_str(), [what](benchmark::State& state) { run(state, what); })
        ->UseRealTime()
        ->MinTime(0.1);
}

}  // namespace kmirror::bench

int main(int argc, char** argv) {
    const bool own_report = kmirror::bench::wants_own_report(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (argc > 1) {
        std::fprintf(stderr,
                     "kmirror-bench: unknown option %s; known are those of Google Benchmark: "
                     "--benchmark_filter=, ...\n",
                     argv[1]);
        return 2;
    }
    kmirror::bench::add_tree_cases();
    kmirror::bench::add_slab_cases();
    if (own_report) {
        benchmark::RunSpecifiedBenchmarks();
    } else {
        kmirror::bench::Reporter reporter;
        benchmark::RunSpecifiedBenchmarks(&reporter);
    }
    benchmark::Shutdown();
}
