// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror sweep: every call of tree and allocator with each of its allocations failing, one line a call.
// kmirror faults: the failure points and their attributes.

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <fnmatch.h>

#include <kmirror/fault.h>
#include <kmirror/printk.h>
#include <kmirror/sweep.h>

#include "tools/kmirror/commands.h"
#include "tools/kmirror/json.h"
#include "tools/kmirror/progress.h"
#include "tools/kmirror/table.h"
#include "tools/sweep/cases.h"

namespace kmirror::command {
namespace {

using sweeping::Case;

// One call over all of its shapes.
struct Row {
    std::string call;
    unsigned shapes = 0;
    kmirror_sweep_result sum = {};

    void add(const Case& one, const kmirror_sweep_result& result) {
        call = one.call;
        ++shapes;
        sum.runs += result.runs;
        sum.injected += result.injected;
        sum.refused += result.refused;
        sum.survived += result.survived;
        sum.leaks += result.leaks;
        sum.violations += result.violations;
        if (result.first[0] != '\0' && sum.first[0] == '\0') {
            std::snprintf(sum.first, sizeof(sum.first), "on %s, %.180s", one.shape.c_str(), result.first);
        }
    }
    bool sound() const { return sum.leaks == 0 && sum.violations == 0; }
};

std::vector<Case> chosen(const std::string& pattern) {
    std::vector<Case> all;
    for (Case& one : sweeping::all_cases()) {
        if (pattern.empty() || fnmatch(pattern.c_str(), one.call.c_str(), 0) == 0) {
            all.push_back(std::move(one));
        }
    }
    return all;
}

std::vector<Row> sweep_all(const std::vector<Case>& cases, const SweepOptions& options) {
    const unsigned modes = options.quick ? KMIRROR_SWEEP_ONCE | KMIRROR_SWEEP_FROM : KMIRROR_SWEEP_ALL;
    const unsigned long most = options.quick ? 24 : 0;
    Progress progress(0, options.quiet);
    std::uint64_t runs = 0;
    std::vector<Row> rows;
    for (size_t i = 0; i < cases.size(); ++i) {
        const std::string place = std::to_string(i + 1) + " of " + std::to_string(cases.size());
        progress.update(place + ": " + cases[i].call, runs);
        if (rows.empty() || rows.back().call != cases[i].call) rows.emplace_back();
        rows.back().add(cases[i], kmirror::sweep(cases[i].make, modes, most));
        runs += rows.back().sum.runs;
    }
    progress.clear();
    return rows;
}

void print_rows(const std::vector<Row>& rows) {
    Table table({"call", "shapes", "runs", "failures injected", "refused", "survived", "leaks",
                 "violations"});
    Row all;
    for (const Row& row : rows) {
        table.row({row.call, count(row.shapes), count(row.sum.runs), count(row.sum.injected),
                   count(row.sum.refused), count(row.sum.survived), count(row.sum.leaks),
                   count(row.sum.violations)});
        all.add({"", "", {}}, row.sum);
    }
    table.row({"all", "", count(all.sum.runs), count(all.sum.injected), count(all.sum.refused),
               count(all.sum.survived), count(all.sum.leaks), count(all.sum.violations)});
    table.print(stdout);
}

Json as_json(const std::vector<Row>& rows) {
    Json json("kmirror-sweep", 1);
    for (size_t i = 0; i < rows.size(); ++i) {
        const std::string at = "/calls/" + std::to_string(i) + "/";
        json.set(at + "call", rows[i].call);
        json.set(at + "shapes", rows[i].shapes);
        json.set(at + "runs", rows[i].sum.runs);
        json.set(at + "injected", rows[i].sum.injected);
        json.set(at + "refused", rows[i].sum.refused);
        json.set(at + "survived", rows[i].sum.survived);
        json.set(at + "leaks", rows[i].sum.leaks);
        json.set(at + "violations", rows[i].sum.violations);
        if (!rows[i].sound()) json.set(at + "first", rows[i].sum.first);
    }
    return json;
}

std::string yes(bool value) { return value ? "Y" : "N"; }

}  // namespace

int sweep_main(const SweepOptions& options) {
    const std::vector<Case> cases = chosen(options.call);
    if (cases.empty()) {
        return bad_option("--call", options.call, "it matches none of the calls that are swept");
    }
    std::string error;
    if (!options.json.empty() && !can_write(options.json, error)) {
        return bad_option("--json", options.json, error);
    }
    if (!KMIRROR_FAULTS) return bad_option("sweep", "", "this build has FAULTS=0");
    kmirror_set_loglevel(0);   // the calls' own words about each failure
    const std::vector<Row> rows = sweep_all(cases, options);
    print_rows(rows);
    int status = kDone;
    for (const Row& row : rows) {
        if (row.sound()) continue;
        std::printf("%s %s\nagain: kmirror sweep --call '%s'\n", row.call.c_str(), row.sum.first,
                    row.call.c_str());
        status = kFoundWrong;
    }
    if (!options.json.empty() && !as_json(rows).write(options.json, error)) {
        return bad_option("--json", options.json, error);
    }
    return status;
}

int faults_main(const FaultsOptions& options) {
    if (!options.dir.empty()) {
        if (const int status = kmirror_fault_export(options.dir.c_str()); status != 0) {
            return bad_option("--export", options.dir, std::strerror(-status));
        }
    }
    Table table({"point", "probability %", "interval", "times", "space", "verbose", "task-filter",
                 "ignore-gfp-wait", "require-func", "reject-func"});
    struct kmirror_fault_attr attr;
    for (unsigned i = 0; kmirror_fault_point(i) != nullptr; ++i) {
        const char* const name = kmirror_fault_point(i);
        if (kmirror_fault_get(name, &attr) != 0) continue;
        table.row({name, fixed(attr.probability, 2), count(attr.interval), std::to_string(attr.times),
                   count(attr.space), count(attr.verbose), yes(attr.task_filter), yes(attr.ignore_gfp_wait),
                   attr.require_func, attr.reject_func});
    }
    table.print(stdout);
    std::printf("failslab and fail_page_alloc have more: cache, cache-filter, min-order; each takes "
                "at=THREAD:REQUEST+...\n"
                "KMIRROR_FAULT='POINT:ATTRIBUTE=VALUE,...;POINT:...' sets them, in every program with this "
                "library\n");
    return kDone;
}

}  // namespace kmirror::command
