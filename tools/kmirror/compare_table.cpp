// SPDX-License-Identifier: GPL-2.0-only
//
// Series by setting, and the two tables of them; see compare_table.h.

#include "tools/kmirror/compare_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/kmirror/lkp_table.h"
#include "tools/kmirror/table.h"

namespace kmirror::command {
namespace {

constexpr std::size_t kFirstWidth = 16, kOtherWidth = 27;  // of the columns' names
constexpr double kShownDeviation = 2;                      // per cent of the mean

using Values = std::vector<double>;

// ---- alignment -------------------------------------------------------------------------------------------

template <class List, class Same>
auto& find_or_add(List& list, typename List::value_type fresh, Same same) {
    const auto found = std::find_if(list.begin(), list.end(), same);
    if (found != list.end()) return *found;
    list.push_back(std::move(fresh));
    return list.back();
}

bool wanted(const Axes& axes, const Axes& only) {
    return std::all_of(only.begin(), only.end(),
                       [&](const auto& each) { return axis_of(axes, each.first) == each.second; });
}

Axes shared_axes(const Axes& axes, const Alignment& alignment) {
    Axes shared;
    for (const auto& axis : axes)
        if (axis.first != alignment.by &&
            std::find(alignment.free.begin(), alignment.free.end(), axis.first) == alignment.free.end())
            shared.push_back(axis);
    return shared;
}

void add(Group& group, const std::string& column, const Series& series) {
    const auto at = std::find(group.columns.begin(), group.columns.end(), column);
    const auto index = static_cast<std::size_t>(at - group.columns.begin());
    if (at == group.columns.end()) group.columns.push_back(column);
    Metric& metric = find_or_add(group.metrics, {series.metric, {}},
                                 [&](const Metric& each) { return each.name == series.metric; });
    if (metric.values.size() <= index) metric.values.resize(index + 1);
    metric.values[index].insert(metric.values[index].end(), series.values.begin(), series.values.end());
}

// ---- lkp's table -----------------------------------------------------------------------------------------

double mean_of(const Values& values) {
    return values.empty() ? 0
                          : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Over all values, not over one less: lkp takes the runs for the population.
double deviation_of(const Values& values) {
    const double mean = mean_of(values);
    double squares = 0;
    for (double value : values) squares += (value - mean) * (value - mean);
    return values.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

std::string lkp_value(const Values& values) {
    const double mean = mean_of(values), size = std::fabs(mean);
    const std::string text = size < 1000  ? fmt::format("{:10.2f}", mean)
                             : size > 1e8 ? fmt::format("{:10.4g}", mean)
                                          : fmt::format("{:10d}", static_cast<long>(mean));
    const double share = mean != 0 ? 100 * deviation_of(values) / mean : 0;
    return text + (share > kShownDeviation ? fmt::format(" ±{:3d}%", static_cast<int>(share)) : "      ");
}

bool shows_difference(const std::string& metric) {
    return metric.ends_with('%') || metric.starts_with("perf-profile");
}

std::string lkp_change(const std::string& metric, double base, double head) {
    if (shows_difference(metric)) return fmt::format("{:>+10.1f}  ", head - base);
    const double change = 100 * (head - base) / (base != 0 ? base : 1e-100);
    return std::fabs(change) < 1e5 ? fmt::format("{:>+10.1f}% ", change) : fmt::format("{:>+10.2g}% ", change);
}

bool is_failure(const std::string& metric) { return metric.ends_with(".fail"); }

long failures(const Values& values) {
    return std::count_if(values.begin(), values.end(), [](double value) { return value != 0; });
}

std::string failure_value(const Values& values) {
    const long failed = failures(values);
    return fmt::format("{:>11}:{:<4}", failed ? std::to_string(failed) : "", values.size());
}

std::string failure_change(const Values& base, const Values& head) {
    const auto share = [](const Values& values) {
        return values.empty() ? 0 : 100.0 * static_cast<double>(failures(values)) / static_cast<double>(values.size());
    };
    return fmt::format("{:>10.0f}% ", share(head) - share(base));
}

std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

std::string joined(const Axes& axes, std::string std::pair<std::string, std::string>::*part) {
    std::string text;
    for (const auto& axis : axes) text += (text.empty() ? "" : "/") + axis.*part;
    return text;
}

void print_header(const Group& group, std::FILE* out) {
    fmt::print(out, "{:=>89}\n", "");
    fmt::print(out, "{}:\n  {}\n\n{}: \n", joined(group.axes, &std::pair<std::string, std::string>::first),
               joined(group.axes, &std::pair<std::string, std::string>::second), group.compared);
    for (const std::string& column : group.columns) fmt::print(out, "  {}\n", column);
    fmt::print(out, "\n{:>16.16} ", group.columns.front());
    for (std::size_t i = 1; i < group.columns.size(); ++i) fmt::print(out, "{:>27.27} ", group.columns[i]);
    fmt::print(out, "\n{:->{}} {}\n", "", kFirstWidth,
               repeated(std::string(kOtherWidth, '-') + " ", group.columns.size() - 1));
}

std::string row_of(const Metric& metric) {
    const Values& base = metric.values.front();
    const bool failure = is_failure(metric.name);
    std::string row = failure ? failure_value(base) : lkp_value(base);
    for (std::size_t i = 1; i < metric.values.size(); ++i) {
        const Values& head = metric.values[i];
        row += failure ? failure_change(base, head) + failure_value(head)
                       : lkp_change(metric.name, mean_of(base), mean_of(head)) + lkp_value(head);
    }
    return row + "  " + metric.name;
}

void print_rows(const Group& group, bool failing, std::FILE* out) {
    for (const Metric& metric : group.metrics)
        if (is_failure(metric.name) == failing) fmt::print(out, "{}\n", row_of(metric));
}

// ---- intervals -------------------------------------------------------------------------------------------

double median_of(Values values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string judged(const Change& change, const Values& base, const Values& head) {
    if (mean_of(base) == 0 && mean_of(head) == 0) return "no change: both are 0";
    if (!change.known) return mean_of(base) == 0 ? "no share of 0" : "too few runs to say";
    return change.significant ? "* significant" : "no significant change";
}

std::string interval(const Change& change) {
    return change.known ? fmt::format("[{:+.2f}%, {:+.2f}%]", 100 * change.low, 100 * change.high) : "-";
}

}  // namespace

std::vector<Group> align(const std::vector<Results>& results, const Alignment& alignment) {
    std::vector<Group> groups;
    for (const Results& result : results)
        for (const Series& series : result.series) {
            if (!wanted(series.axes, alignment.only)) continue;
            const Axes shared = shared_axes(series.axes, alignment);
            Group& group = find_or_add(groups, {shared, alignment.by.empty() ? "commit" : alignment.by, {}, {}},
                                       [&](const Group& each) { return each.axes == shared; });
            add(group, alignment.by.empty() ? result.name : axis_of(series.axes, alignment.by), series);
        }
    std::erase_if(groups, [](const Group& group) { return group.columns.size() < 2; });
    for (Group& group : groups)
        for (Metric& metric : group.metrics) metric.values.resize(group.columns.size());
    return groups;
}

void print_lkp(const Group& group, std::FILE* out) {
    const std::size_t others = group.columns.size() - 1;
    const auto has = [&](bool failing) {
        return std::any_of(group.metrics.begin(), group.metrics.end(),
                           [&](const Metric& metric) { return is_failure(metric.name) == failing; });
    };
    print_header(group, out);
    if (has(true)) {
        fmt::print(out, "       fail:runs{}\n", repeated("  %reproduction    fail:runs", others));
        fmt::print(out, "           |    {}\n", repeated("         |             |    ", others));
        print_rows(group, true, out);
    }
    if (has(false)) {
        fmt::print(out, "         %stddev{}\n", repeated("     %change         %stddev", others));
        fmt::print(out, "             \\  {}\n", repeated("        |                \\  ", others));
        print_rows(group, false, out);
    }
    fmt::print(out, "\n");
}

void print_intervals(const Group& group, std::FILE* out) {
    fmt::print(out, "{}\n", joined(group.axes, &std::pair<std::string, std::string>::second));
    Table table({"metric", group.columns.front() + " median", "runs", group.compared, "median", "runs", "change",
                 "95% interval", "verdict"});
    for (const Metric& metric : group.metrics)
        for (std::size_t i = 1; i < metric.values.size(); ++i) {
            const Values &base = metric.values.front(), &head = metric.values[i];
            const Change change = change_of(base, head, Runs::Apart);
            table.row({metric.name, short_number(median_of(base)), std::to_string(base.size()), group.columns[i],
                       short_number(median_of(head)), std::to_string(head.size()),
                       fmt::format("{:+.2f}%", 100 * change.share), interval(change), judged(change, base, head)});
        }
    table.print(out);
    fmt::print(out, "\n");
}

}  // namespace kmirror::command
