// SPDX-License-Identifier: GPL-2.0-only
//
// Rounds, verdicts, and the two tables for people; as JSON every single result. See slab_table.h.

#include "tools/bench/slab_table.h"

#include <kmirror/config.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "tools/bench/slab_cell.h"
#include "tools/kmirror/results.h"
#include "tools/kmirror/table.h"

namespace kmirror::bench {
namespace {

using command::fixed;
using command::Json;
using command::Table;

constexpr double kBulkTarget = 2.0;  // ns an object, for which there is no other allocator to compare with

struct Cell {
    std::vector<double> ns;  // by round
    unsigned long unaligned = 0;
    std::string error;
    bool measured() const { return error.empty() && !ns.empty(); }
};

struct RowResult {
    SlabRow row;
    std::vector<Cell> cells;  // by column
    std::optional<std::size_t> best;  // the peer with the lowest median
    Middle ratio;             // ours to the best peer, of each round
    bool met = false;
};

struct MemoryResult {
    SlabRow row;
    std::vector<MemorySample> samples;  // by column
};

// ---- measuring --------------------------------------------------------------------------------------------

std::vector<double> ratios(const Cell& above, const Cell& below) {
    std::vector<double> all;
    for (std::size_t i = 0; i < std::min(above.ns.size(), below.ns.size()); ++i)
        all.push_back(above.ns[i] / below.ns[i]);
    return all;
}

void judge(RowResult& result, const std::vector<SlabColumn>& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool peer = !columns[i].ours() && result.cells[i].measured();
        if (peer && (!result.best || middle_of(result.cells[i].ns).median <
                                         middle_of(result.cells[*result.best].ns).median))
            result.best = i;
    }
    const Cell& ours = result.cells.front();
    if (result.best) result.ratio = middle_of(ratios(ours, result.cells[*result.best]));
    result.met = ours.measured() && (result.best ? result.ratio.median <= 1.0
                                                 : middle_of(ours.ns).median <= kBulkTarget);
}

// Every second round goes the other way round, so that nobody always comes after the same neighbour.
RowResult measure_row(const SlabRow& row, const std::vector<SlabColumn>& columns, unsigned rounds) {
    RowResult result{row, std::vector<Cell>(columns.size()), {}, {}, false};
    for (unsigned round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const std::size_t at = round % 2 ? columns.size() - 1 - i : i;
            Cell& cell = result.cells[at];
            if (!cell.error.empty()) continue;
            const Sample sample = measure(row, columns[at]);
            cell.error = sample.error;
            cell.unaligned += sample.unaligned;
            if (sample.error.empty()) cell.ns.push_back(sample.ns);
        }
    judge(result, columns);
    std::fprintf(stderr, ".");
    return result;
}

std::vector<MemoryResult> measure_memory_rows(const std::vector<SlabColumn>& columns) {
    std::vector<MemoryResult> results;
    for (const SlabRow& row : slab_rows()) {
        if (row.work != Work::random) continue;
        MemoryResult result{row, {}};
        for (const SlabColumn& column : columns) result.samples.push_back(measure_memory(row, column));
        results.push_back(std::move(result));
        std::fprintf(stderr, ".");
    }
    return results;
}

// ---- for people -------------------------------------------------------------------------------------------

std::string spread(const Middle& middle) {
    return fixed(middle.median, 2) + " (" + fixed(middle.low, 2) + "-" + fixed(middle.high, 2) + ")";
}

std::string text_of(const Cell& cell) {
    return cell.measured() ? fixed(middle_of(cell.ns).median, 1) + (cell.unaligned ? "*" : "") : "-";
}

std::string verdict(const RowResult& result) { return result.met ? "met" : "missed"; }

void print_rows(const std::vector<RowResult>& results, const std::vector<SlabColumn>& columns) {
    std::vector<std::string> header = {"ns per object", "size"};
    for (const SlabColumn& column : columns) header.push_back(column.name);
    header.insert(header.end(), {"to the best peer", "target"});
    Table table(header);
    for (const RowResult& result : results) {
        std::vector<std::string> line = {result.row.name, std::to_string(result.row.bytes)};
        for (const Cell& cell : result.cells)
            line.push_back(text_of(cell));
        line.push_back(result.best ? spread(result.ratio) : "-");
        line.push_back(verdict(result));
        table.row(line);
    }
    table.print(stdout);
}

void print_notes(const std::vector<RowResult>& results, const std::vector<SlabColumn>& columns) {
    std::printf("\nTarget: sheaves at or below the best of the other allocators; bulk calls, which they do "
                "not have, at most %.0f ns.\n",
                kBulkTarget);
    for (const SlabColumn& column : columns)
        if (!column.missing.empty()) std::printf("%s: %s\n", column.name.c_str(), column.missing.c_str());
    for (const RowResult& result : results)
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const Cell& cell = result.cells[i];
            if (cell.unaligned != 0)
                std::printf("*  %s, %s: %lu objects were not aligned to %u\n", result.row.id().c_str(),
                            columns[i].name.c_str(), cell.unaligned, result.row.align());
            if (!cell.error.empty() && columns[i].missing.empty() && !result.row.ours_only())
                std::printf("%s, %s: %s\n", result.row.id().c_str(), columns[i].name.c_str(),
                            cell.error.c_str());
        }
}

// One line for all rows with the same reason, in the order of their first.
void print_reasons(const std::vector<RowResult>& results) {
    std::vector<std::pair<std::string, std::string>> lines;  // reason, rows
    for (const RowResult& result : results) {
        if (result.met) continue;
        const std::string reason = reason_for(result.row);
        const auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& one) { return one.first == reason; });
        if (line == lines.end())
            lines.emplace_back(reason, result.row.id());
        else
            line->second += "; " + result.row.id();
    }
    for (const auto& [reason, rows] : lines) std::printf("missed: %s: %s\n", rows.c_str(), reason.c_str());
}

void print_memory(const std::vector<MemoryResult>& results, const std::vector<SlabColumn>& columns) {
    std::printf("\n");
    Table table({"100,000 objects", "size", "slab bytes an object", "resident bytes an object",
                 "all freed: slabs", "of", "resident bytes an object"});
    for (const MemoryResult& result : results)
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const MemorySample& sample = result.samples[i];
            const auto each = [](double bytes) { return fixed(bytes / 1e5, 1); };
            const std::string size = std::to_string(result.row.bytes);
            if (!sample.error.empty()) {
                table.row({columns[i].name, size, sample.error});
                continue;
            }
            const bool ours = columns[i].ours();
            table.row({columns[i].name, size,
                       ours ? each(static_cast<double>(sample.slabs) * sample.slab_bytes) : "-",
                       each(static_cast<double>(sample.live_bytes)),
                       ours ? std::to_string(sample.slabs_kept) : "-",
                       ours ? std::to_string(sample.slabs) : "-",
                       each(static_cast<double>(sample.kept_bytes))});
        }
    table.print(stdout);
}

// ---- for programs -----------------------------------------------------------------------------------------

void set_cell(Json& json, const std::string& at, const Cell& cell) {
    if (!cell.error.empty()) {
        json.set(at + "/error", cell.error);
        return;
    }
    const Middle middle = middle_of(cell.ns);
    json.set(at + "/median_ns", middle.median);
    json.set(at + "/low_quartile_ns", middle.low);
    json.set(at + "/high_quartile_ns", middle.high);
    json.set(at + "/unaligned_objects", cell.unaligned);
    for (std::size_t i = 0; i < cell.ns.size(); ++i) json.set(at + "/ns/" + std::to_string(i), cell.ns[i]);
}

void set_row(Json& json, const std::string& at, const RowResult& result,
             const std::vector<SlabColumn>& columns) {
    json.set(at + "/name", result.row.name);
    json.set(at + "/bytes", result.row.bytes);
    json.set(at + "/cpu", result.row.cpu == Cpu::alone ? "alone" : "shared");
    for (std::size_t i = 0; i < columns.size(); ++i)
        set_cell(json, at + "/columns/" + columns[i].name, result.cells[i]);
    json.set(at + "/target", verdict(result));
    if (!result.met) json.set(at + "/reason", reason_for(result.row));
    if (!result.best) return;
    json.set(at + "/best_peer", columns[*result.best].name);
    json.set(at + "/ratio/median", result.ratio.median);
    json.set(at + "/ratio/low_quartile", result.ratio.low);
    json.set(at + "/ratio/high_quartile", result.ratio.high);
}

void set_memory(Json& json, const std::string& at, const MemorySample& sample) {
    if (!sample.error.empty()) {
        json.set(at + "/error", sample.error);
        return;
    }
    json.set(at + "/resident_bytes", sample.live_bytes);
    json.set(at + "/resident_bytes_all_freed", sample.kept_bytes);
    if (sample.slab_bytes == 0) return;
    json.set(at + "/slabs", sample.slabs);
    json.set(at + "/slabs_all_freed", sample.slabs_kept);
    json.set(at + "/slab_bytes", sample.slab_bytes);
}

std::vector<command::Series> series_of(const std::vector<RowResult>& results, const std::vector<SlabColumn>& columns) {
    std::vector<command::Series> all;
    for (const RowResult& result : results)
        for (std::size_t c = 0; c < columns.size(); ++c)
            if (result.cells[c].measured())
                all.push_back({{{"workload", result.row.id()},
                                {"cpu", result.row.cpu == Cpu::alone ? "alone" : "shared"},
                                {"implementation", columns[c].name}},
                               "ns_per_op",
                               result.cells[c].ns});
    return all;
}

bool write_json(const std::string& file, const std::vector<RowResult>& results,
                const std::vector<MemoryResult>& memory, const std::vector<SlabColumn>& columns) {
    Json json("kmirror-bench-slab", 2);
    command::put_origin(json);
    command::put_series(json, series_of(results, columns));
    json.set("/release", KMIRROR_RELEASE != 0);
    json.set("/faults", KMIRROR_FAULTS != 0);
    for (std::size_t i = 0; i < results.size(); ++i)
        set_row(json, "/rows/" + std::to_string(i), results[i], columns);
    for (std::size_t i = 0; i < memory.size(); ++i) {
        const std::string at = "/memory/" + std::to_string(i);
        json.set(at + "/bytes", memory[i].row.bytes);
        json.set(at + "/objects", 100000);
        for (std::size_t c = 0; c < columns.size(); ++c)
            set_memory(json, at + "/columns/" + columns[c].name, memory[i].samples[c]);
    }
    std::string error;
    if (json.write(file, error)) return true;
    std::fprintf(stderr, "kmirror-bench: --json %s: %s\n", file.c_str(), error.c_str());
    return false;
}

// What went wrong with ours, if anything.
std::string problem(const std::vector<RowResult>& results, const std::vector<SlabColumn>& columns) {
    for (const RowResult& result : results)
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (columns[i].ours() && !result.cells[i].error.empty())
                return result.row.id() + ", " + columns[i].name + ": " + result.cells[i].error;
    return {};
}

}  // namespace

int run_slab_table(const SlabOptions& options) {
    const std::vector<SlabColumn> columns = slab_columns();
    std::vector<RowResult> results;
    for (const SlabRow& row : slab_rows())
        if (row.id().find(options.rows) != std::string::npos)
            results.push_back(measure_row(row, columns, options.rounds));
    std::vector<MemoryResult> memory;
    if (options.rows.empty()) memory = measure_memory_rows(columns);
    std::fprintf(stderr, "\n");
    if (!KMIRROR_RELEASE)
        std::printf("With asserts, statistics and fault points; RELEASE=1 leaves them out.\n");
    print_rows(results, columns);
    print_notes(results, columns);
    print_reasons(results);
    if (!memory.empty()) print_memory(memory, columns);
    if (!options.json.empty() && !write_json(options.json, results, memory, columns)) return 1;
    const std::string bad = problem(results, columns);
    if (!bad.empty()) std::fprintf(stderr, "kmirror-bench: %s\n", bad.c_str());
    return bad.empty() ? 0 : 1;
}

int run_slab_against(const SlabOptions& options) {
    constexpr double kAllowed = 1.02;
    std::vector<SlabColumn> columns = {slab_columns().front(), slab_columns().front()};
    columns[1].program = options.against;
    bool met = true;
    Table table({"pair, ns", "this build", "the other", "ratio", "at most 1.02"});
    for (const SlabRow& row : slab_rows()) {
        if (row.work != Work::pair || row.cpu != Cpu::alone) continue;
        const RowResult result = measure_row(row, columns, options.rounds);
        for (const Cell& cell : result.cells)
            if (!cell.measured()) {
                std::fprintf(stderr, "kmirror-bench: %s: %s\n", row.id().c_str(), cell.error.c_str());
                return 1;
            }
        const Middle ratio = middle_of(ratios(result.cells[0], result.cells[1]));
        met = met && ratio.median <= kAllowed;
        table.row({row.id(), fixed(middle_of(result.cells[0].ns).median, 2),
                   fixed(middle_of(result.cells[1].ns).median, 2),
                   fixed(ratio.median, 3) + " (" + fixed(ratio.low, 3) + "-" + fixed(ratio.high, 3) + ")",
                   ratio.median <= kAllowed ? "met" : "missed"});
    }
    std::fprintf(stderr, "\n");
    table.print(stdout);
    return met ? 0 : 1;
}

}  // namespace kmirror::bench
