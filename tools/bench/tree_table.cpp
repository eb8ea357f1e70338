// SPDX-License-Identifier: GPL-2.0-only
//
// Rounds, verdicts and the table for people; as JSON every single result. See tree_table.h.

#include "tools/bench/tree_table.h"

#include <sched.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include <kmirror/config.h>
#include <kmirror/topology.h>
#include <linux/smp.h>

#include "tools/bench/slab_cell.h"
#include "tools/bench/tree_field.h"
#include "tools/kmirror/results.h"
#include "tools/kmirror/table.h"

namespace kmirror::bench {
namespace {

using command::fixed;
using command::Json;
using command::Table;

constexpr double kRcuTarget = 1.15;  // ours in RCU mode to ours without, in any row
constexpr double kMeanTarget = 0.60; // geometric mean of all ratios

struct Cell {
    std::vector<Round> rounds;

    bool measured() const { return !rounds.empty(); }
    std::vector<double> ns() const {
        std::vector<double> all;
        for (const Round& round : rounds) all.push_back(round.ns);
        return all;
    }
};

struct RowResult {
    TreeRow row;
    std::vector<Cell> cells;            // by column
    std::optional<Middle> ratio;        // ours to the kernel's, of each round
    std::optional<Middle> rcu;          // ours in RCU mode to ours without
    bool met() const { return ratio && ratio->median <= row.target; }
};

// ---- measuring ----------------------------------------------------------------------------------------------

// One processor of those allowed, and a virtual CPU of its own.
void settle() {
    cpu_set_t allowed, one;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    CPU_ZERO(&one);
    for (int host = CPU_SETSIZE - 1; host >= 0 && CPU_COUNT(&one) == 0; --host)
        if (CPU_ISSET(host, &allowed)) CPU_SET(host, &one);
    sched_setaffinity(0, sizeof(one), &one);
    kmirror_cpu_lease(0);
}

std::optional<std::size_t> reference(const std::vector<TreeColumn>& columns) {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name.find("linux") != 0) continue;
        if (columns[i].name.find("linux 7.3") == 0) return i;
        if (!first) first = i;
    }
    return first;
}

std::optional<Middle> ratio_of(const Cell& above, const Cell& below) {
    if (!above.measured() || !below.measured()) return {};
    std::vector<double> all;
    for (std::size_t i = 0; i < above.rounds.size(); ++i) all.push_back(above.rounds[i].ns / below.rounds[i].ns);
    return middle_of(all);
}

// Every second round goes the other way round, so that nobody always comes after the same neighbour.
RowResult measure_row(const TreeRow& row, std::vector<TreeField>& fields, unsigned rounds) {
    RowResult result{row, std::vector<Cell>(fields.size()), {}, {}};
    for (unsigned round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::size_t at = round % 2 ? fields.size() - 1 - i : i;
            if (fields[at].can(row)) result.cells[at].rounds.push_back(fields[at].round(row, round));
        }
    std::fprintf(stderr, ".");
    return result;
}

// The rows and columns whose answers are not those of the first column.
std::vector<std::string> differences(const std::vector<RowResult>& results, const std::vector<TreeColumn>& columns) {
    std::vector<std::string> all;
    for (const RowResult& result : results)
        for (std::size_t i = 1; i < columns.size(); ++i) {
            const Cell &first = result.cells[0], &cell = result.cells[i];
            for (std::size_t round = 0; round < cell.rounds.size(); ++round)
                if (cell.rounds[round].checksum != first.rounds[round].checksum) {
                    all.push_back(result.row.id() + ", " + columns[i].name + ": other answers than " +
                                  columns[0].name);
                    break;
                }
        }
    return all;
}

// ---- memory -------------------------------------------------------------------------------------------------

struct Memory {
    TreeRow row;
    std::vector<double> bytes;  // of an entry, by column; 0: unknown
};

std::vector<Memory> measure_memory(std::vector<TreeField>& fields) {
    const TreeRow shapes[] = {
        {"no gaps, inserted at random", 100000, TREE_EACH, Map::shared, 0, 1.0},
        {"with gaps, inserted at random", 100000, TREE_EACH, Map::gaps, 0, 1.0},
    };
    std::vector<Memory> all;
    for (const TreeRow& row : shapes) {
        Memory memory{row, {}};
        for (TreeField& field : fields)
            memory.bytes.push_back(static_cast<double>(field.bytes(row)) / static_cast<double>(row.entries));
        all.push_back(memory);
    }
    return all;
}

// ---- for people ---------------------------------------------------------------------------------------------

std::string spread(const std::optional<Middle>& middle) {
    if (!middle) return "-";
    return fixed(middle->median, 2) + " (" + fixed(middle->low, 2) + "-" + fixed(middle->high, 2) + ")";
}

std::string text_of(const Cell& cell) {
    if (!cell.measured()) return "-";
    const double ns = middle_of(cell.ns()).median;
    return fixed(ns, ns < 100 ? 1 : 0);
}

double geometric_mean(const std::vector<RowResult>& results) {
    double sum = 0;
    unsigned count = 0;
    for (const RowResult& result : results)
        if (result.ratio) {
            sum += std::log(result.ratio->median);
            ++count;
        }
    return count ? std::exp(sum / count) : 0;
}

const char* verdict(bool met) { return met ? "met" : "missed"; }

void print_rows(const std::vector<RowResult>& results, const std::vector<TreeColumn>& columns,
                const std::string& to) {
    std::vector<std::string> header = {"ns per operation", "entries"};
    for (const TreeColumn& column : columns) header.push_back(column.name);
    header.insert(header.end(), {"to " + to, "target", "", "RCU to not"});
    Table table(header);
    for (const RowResult& result : results) {
        std::vector<std::string> line = {result.row.name, std::to_string(result.row.entries)};
        for (const Cell& cell : result.cells) line.push_back(text_of(cell));
        line.insert(line.end(), {spread(result.ratio), fixed(result.row.target, 2),
                                 result.ratio ? verdict(result.met()) : "-", spread(result.rcu)});
        table.row(line);
    }
    table.print(stdout);
}

void print_verdicts(const std::vector<RowResult>& results, const std::string& to) {
    unsigned met = 0, compared = 0, slow = 0;
    for (const RowResult& result : results) {
        compared += result.ratio.has_value();
        met += result.met();
        slow += result.rcu && result.rcu->median > kRcuTarget;
    }
    std::printf("\nRCU mode takes at most %.2f of the time without it in all rows but %u.\n", kRcuTarget, slow);
    if (compared == 0) return;
    const double mean = geometric_mean(results);
    std::printf("%u of %u rows met. Geometric mean of the ratios to %s: %.2f (at most %.2f: %s).\n", met, compared,
                to.c_str(), mean, kMeanTarget, verdict(mean <= kMeanTarget));
    for (const RowResult& result : results)
        if (const std::string why = reason_for(result.row); result.ratio && !result.met() && !why.empty())
            std::printf("missed: %s: %s\n", result.row.id().c_str(), why.c_str());
}

void print_memory(const std::vector<Memory>& all, const std::vector<TreeColumn>& columns) {
    std::vector<std::string> header = {"bytes of an entry", "entries"};
    for (const TreeColumn& column : columns) header.push_back(column.name);
    Table table(header);
    for (const Memory& memory : all) {
        std::vector<std::string> line = {memory.row.name, std::to_string(memory.row.entries)};
        for (const double bytes : memory.bytes) line.push_back(bytes > 0 ? fixed(bytes, 1) : "-");
        table.row(line);
    }
    std::printf("\n");
    table.print(stdout);
}

// ---- for programs -------------------------------------------------------------------------------------------

void set_middle(Json& json, const std::string& at, const std::optional<Middle>& middle) {
    if (!middle) return;
    json.set(at + "/median", middle->median);
    json.set(at + "/low_quartile", middle->low);
    json.set(at + "/high_quartile", middle->high);
}

std::vector<command::Series> series_of(const std::vector<RowResult>& results, const std::vector<TreeColumn>& columns) {
    std::vector<command::Series> all;
    for (const RowResult& result : results)
        for (std::size_t c = 0; c < columns.size(); ++c)
            if (result.cells[c].measured())
                all.push_back({{{"workload", result.row.id()}, {"implementation", columns[c].name}}, "ns_per_op",
                               result.cells[c].ns()});
    return all;
}

bool write_json(const std::string& file, const std::vector<RowResult>& results, const std::vector<Memory>& memory,
                const std::vector<TreeColumn>& columns) {
    Json json("kmirror-bench-tree", 2);
    command::put_origin(json);
    command::put_series(json, series_of(results, columns));
    json.set("/release", KMIRROR_RELEASE != 0);
    json.set("/geometric_mean", geometric_mean(results));
    for (std::size_t i = 0; i < results.size(); ++i) {
        const RowResult& result = results[i];
        const std::string at = "/rows/" + std::to_string(i);
        json.set(at + "/name", result.row.name);
        json.set(at + "/entries", result.row.entries);
        json.set(at + "/target", result.row.target);
        set_middle(json, at + "/ratio", result.ratio);
        set_middle(json, at + "/rcu", result.rcu);
        if (result.ratio) json.set(at + "/verdict", verdict(result.met()));
        if (result.ratio && !result.met()) json.set(at + "/reason", reason_for(result.row));
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const std::vector<double> ns = result.cells[c].ns();
            if (ns.empty()) continue;
            const std::string cell = at + "/columns/" + std::to_string(c);
            json.set(cell + "/name", columns[c].name);
            set_middle(json, cell + "/ns", middle_of(ns));
            for (std::size_t n = 0; n < ns.size(); ++n) json.set(cell + "/rounds/" + std::to_string(n), ns[n]);
        }
    }
    for (std::size_t i = 0; i < memory.size(); ++i) {
        const std::string at = "/memory/" + std::to_string(i);
        json.set(at + "/name", memory[i].row.name);
        for (std::size_t c = 0; c < columns.size(); ++c) json.set(at + "/bytes/" + columns[c].name, memory[i].bytes[c]);
    }
    std::string error;
    if (json.write(file, error)) return true;
    std::fprintf(stderr, "kmirror-bench: --json %s: %s\n", file.c_str(), error.c_str());
    return false;
}

}  // namespace

int run_tree_table(const TreeOptions& options) {
    settle();
    const std::vector<TreeColumn> columns = tree_columns();
    const std::optional<std::size_t> kernel = reference(columns);
    std::vector<TreeField> fields;
    for (const TreeColumn& column : columns) fields.emplace_back(column);

    std::vector<RowResult> results;
    for (const TreeRow& row : tree_rows()) {
        if (row.id().find(options.rows) == std::string::npos) continue;
        RowResult& result = results.emplace_back(measure_row(row, fields, options.rounds));
        if (kernel) result.ratio = ratio_of(result.cells[0], result.cells[*kernel]);
        result.rcu = ratio_of(result.cells[1], result.cells[0]);
    }
    std::vector<Memory> memory;
    if (options.rows.empty()) memory = measure_memory(fields);
    std::fprintf(stderr, "\n");

    const std::string to = kernel ? columns[*kernel].name : "no kernel";
    if (!KMIRROR_RELEASE) std::printf("With asserts, statistics and fault points; RELEASE=1 leaves them out.\n");
    print_rows(results, columns, to);
    print_verdicts(results, to);
    if (!memory.empty()) print_memory(memory, columns);
    if (!options.json.empty() && !write_json(options.json, results, memory, columns)) return 1;
    const std::vector<std::string> wrong = differences(results, columns);
    for (const std::string& line : wrong) std::fprintf(stderr, "kmirror-bench: %s\n", line.c_str());
    return wrong.empty() ? 0 : 1;
}

int print_tree_columns() {
    for (const TreeColumn& column : tree_columns()) std::printf("%s\n", column.name.c_str());
    return 0;
}

int run_tree_once(const std::string& id, const std::string& name) {
    settle();
    const std::vector<TreeColumn> columns = tree_columns();
    for (const TreeRow& row : tree_rows())
        for (const TreeColumn& column : columns) {
            if (row.id() != id || column.name != name) continue;
            TreeField field(column);
            if (!field.can(row)) continue;
            std::printf("operations %zu\n", field.round(row, 0).operations);
            return 0;
        }
    std::fprintf(stderr, "kmirror-bench: there is no row '%s' with a column '%s'\n", id.c_str(), name.c_str());
    return 2;
}

}  // namespace kmirror::bench
