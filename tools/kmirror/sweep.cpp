// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror sweep: every call of tree, allocator and lib/mm, and of recorded programs, with each of its allocations
// failing, one line a call.
// kmirror faults: the failure points and their attributes.

#include <algorithm>
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
#include "tools/sweep/log_cases.h"

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

bool wanted(const SweepOptions& options, const Case& one) {
    return options.call.empty() || fnmatch(options.call.c_str(), one.call.c_str(), 0) == 0;
}

std::vector<Case> chosen(const SweepOptions& options) {
    std::vector<Case> all;
    for (Case& one : sweeping::all_cases()) {
        if (wanted(options, one)) all.push_back(std::move(one));
    }
    return all;
}

class Sweeper {
public:
    explicit Sweeper(const SweepOptions& options) : options_(options), progress_(0, options.quiet) {}

    void run(const Case& one, const std::string& place) {
        const unsigned modes = options_.quick ? KMIRROR_SWEEP_ONCE | KMIRROR_SWEEP_FROM : KMIRROR_SWEEP_ALL;
        const unsigned long most = options_.quick ? 24 : 0;
        progress_.update(place + ": " + one.call, runs_);
        const kmirror_sweep_result result = kmirror::sweep(one.make, modes, most);
        runs_ += result.runs;
        row_of(one.call).add(one, result);
    }
    std::vector<Row> end() {
        progress_.clear();
        return std::move(rows_);
    }

private:
    Row& row_of(const std::string& call) {
        const auto found =
            std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.call == call; });
        return found != rows_.end() ? *found : rows_.emplace_back();
    }

    const SweepOptions& options_;
    Progress progress_;
    std::uint64_t runs_ = 0;
    std::vector<Row> rows_;
};

struct NamedLog {
    std::string name;   // without its folder
    replay::Log log;
};

// False, and said why: one of them is no log.
bool read_logs(const SweepOptions& options, std::vector<NamedLog>& logs) {
    for (const std::string& file : options.logs) {
        try {
            logs.push_back({file.substr(file.rfind('/') + 1), sweeping::read_log_file(file)});
        } catch (const replay::LogError& wrong) {
            const std::string line = wrong.line != 0 ? "line " + std::to_string(wrong.line) + ": " : "";
            bad_option("--log", file, line + wrong.what());
            return false;
        }
    }
    return true;
}

std::vector<Row> sweep_all(const std::vector<Case>& cases, const std::vector<NamedLog>& logs,
                           const SweepOptions& options) {
    Sweeper sweeper(options);
    for (size_t i = 0; i < cases.size(); ++i) {
        sweeper.run(cases[i], std::to_string(i + 1) + " of " + std::to_string(cases.size()));
    }
    for (const NamedLog& one : logs) {
        sweeping::each_call_of(one.log, one.name, [&](const Case& call) {
            if (wanted(options, call)) {
                sweeper.run(call, call.shape + " of " + std::to_string(one.log.lines));
            }
        });
    }
    return sweeper.end();
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

std::string log_options(const SweepOptions& options) {
    std::string text;
    for (const std::string& file : options.logs) text += " --log " + file;
    return text;
}

// What the table shows; the others are listed under it.
constexpr const char* kShown[] = {"probability", "interval",        "times",        "space",      "verbose",
                                  "task-filter", "ignore-gfp-wait", "require-func", "reject-func"};

std::string yes(bool value) { return value ? "Y" : "N"; }

// One row of the table; "-" where there is no such attribute.
std::vector<std::string> attributes_of(const std::string& point) {
    struct kmirror_fault_attr attr = {};
    kmirror_fault_get(point.c_str(), &attr);
    const std::string values[] = {fixed(attr.probability, 2), count(attr.interval),  std::to_string(attr.times),
                                  count(attr.space),          count(attr.verbose),   yes(attr.task_filter),
                                  yes(attr.ignore_gfp_wait),  attr.require_func,     attr.reject_func};
    std::vector<std::string> row = {point};
    for (std::size_t i = 0; i < std::size(kShown); ++i) {
        row.push_back(kmirror_fault_has(point.c_str(), kShown[i]) ? values[i] : "-");
    }
    return row;
}

// The attributes that the table has no room for, each with its points.
void print_rarer(const std::vector<std::string>& points) {
    for (unsigned i = 0; kmirror_fault_attribute(i) != nullptr; ++i) {
        const char* const attribute = kmirror_fault_attribute(i);
        if (std::find_if(std::begin(kShown), std::end(kShown), [&](const char* one) {
                return std::strcmp(one, attribute) == 0;
            }) != std::end(kShown)) {
            continue;
        }
        std::string with, without;
        for (const std::string& point : points) {
            std::string& list = kmirror_fault_has(point.c_str(), attribute) ? with : without;
            list += (list.empty() ? "" : ", ") + point;
        }
        const bool short_list = with.size() < without.size() || without.empty();
        std::printf("%s: %s\n", attribute, (short_list ? with : "all but " + without).c_str());
    }
}

}  // namespace

int sweep_main(const SweepOptions& options) {
    const std::vector<Case> cases = chosen(options);
    std::vector<NamedLog> logs;
    if (!read_logs(options, logs)) return kBadInput;
    if (cases.empty() && logs.empty()) {
        return bad_option("--call", options.call, "it matches none of the calls that are swept");
    }
    std::string error;
    if (!options.json.empty() && !can_write(options.json, error)) {
        return bad_option("--json", options.json, error);
    }
    if (!KMIRROR_FAULTS) return bad_option("sweep", "", "this build has FAULTS=0");
    kmirror_set_loglevel(0);   // the calls' own words about each failure
    const std::vector<Row> rows = sweep_all(cases, logs, options);
    if (rows.empty()) return bad_option("--call", options.call, "it matches no call of the logs either");
    print_rows(rows);
    int status = kDone;
    for (const Row& row : rows) {
        if (row.sound()) continue;
        std::printf("%s %s\nagain: kmirror sweep%s --call '%s'\n", row.call.c_str(), row.sum.first,
                    log_options(options).c_str(), row.call.c_str());
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
    std::vector<std::string> titles = {"point"};
    for (const char* const attribute : kShown) titles.push_back(attribute);
    Table table(titles);
    std::vector<std::string> points;
    for (unsigned i = 0; kmirror_fault_point(i) != nullptr; ++i) {
        points.push_back(kmirror_fault_point(i));
        table.row(attributes_of(points.back()));
    }
    table.print(stdout);
    print_rarer(points);
    std::printf("at=THREAD:REQUEST+... fails just these requests of any point with attributes. Probability in percent.\n"
                "KMIRROR_FAULT='POINT:ATTRIBUTE=VALUE,...;POINT:...' sets them, in every program with this "
                "library\n");
    return kDone;
}

}  // namespace kmirror::command
