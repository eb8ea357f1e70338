// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror report: the result files of a folder as one HTML page that needs nothing else.
//
// Owns     DIR/report.html, which is replaced as a whole or not at all, and with --png DIR/WORKLOAD.png.
// Fails    with kBadInput when the folder holds no result, with kFoundWrong when the page cannot be written.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tools/kmirror/commands.h"
#include "tools/kmirror/compare_table.h"
#include "tools/kmirror/lkp_table.h"
#include "tools/kmirror/report_plot.h"
#include "tools/kmirror/report_png.h"
#include "tools/kmirror/table.h"

namespace kmirror::command {
namespace {

constexpr const char* kStyle =
    "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>"
    "<meta name='viewport' content='width=device-width, initial-scale=1'><title>kmirror report</title><style>"
    "body{font:15px/1.4 sans-serif;margin:0 auto;padding:8px;max-width:1180px;color:#222}"
    "h1{font-size:22px}h2{font-size:18px;border-bottom:1px solid #ccc}h3{font-size:15px;margin:6px 0}"
    ".plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(340px,100%),1fr));gap:12px}"
    ".scroll{overflow-x:auto}svg{width:100%;height:auto;font:10px sans-serif}"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:2px 8px;border-bottom:1px solid #ddd;text-align:right}"
    "td:first-child,th:first-child{text-align:left}.sure{font-weight:bold}"
    ".legend{font-size:12px;margin:2px 0}.legend i{display:inline-block;width:10px;height:10px;margin-right:3px}"
    ".legend span{margin-right:8px;white-space:nowrap}</style></head><body><h1>kmirror report</h1>\n";

struct File {
    Json json;
    Results results;
};

std::vector<File> read_folder(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.path().extension() == ".json") names.push_back(entry.path());
    std::sort(names.begin(), names.end());
    std::vector<File> files;
    for (const std::string& name : names) {
        std::string reason;
        Results results;
        std::optional<Json> json = Json::read(name, reason);
        if (json && read_results(name, results, reason))
            files.push_back({std::move(*json), std::move(results)});
        else
            fmt::print(stderr, "kmirror: {} is left out: {}\n", name, reason);
    }
    return files;
}

double mean(const std::vector<double>& values) { return sample_of(values).mean; }

// ---- machine and options -----------------------------------------------------------------------------

std::string value_at(const Json& json, const std::string& path) {
    if (const auto text = json.string(path)) return *text;
    const auto number = json.number(path);
    return number ? fmt::format("{:.12g}", *number) : "";
}

std::string origins(const std::vector<File>& files) {
    std::string html = "<h2>Machine and options</h2><div class='scroll'><table>";
    for (const File& file : files) {
        html += fmt::format("<tr><th colspan='2'>{}</th></tr>", escaped(file.results.name));
        for (const char* part : {"/machine", "/build", "/plan"})
            for (const std::string& name : file.json.names(part))
                if (const std::string value = value_at(file.json, fmt::format("{}/{}", part, name)); !value.empty())
                    html += fmt::format("<tr><td>{} {}</td><td>{}</td></tr>", part + 1, escaped(name), escaped(value));
    }
    return html + "</table></div>\n";
}

// ---- comparison --------------------------------------------------------------------------------------

std::string change_cell(const std::vector<double>& base, const std::vector<double>& head) {
    const Change change = change_of(base, head, Runs::Apart);
    const char* kind = change.significant ? "sure" : "";
    return fmt::format("<td>{}</td><td class='{}'>{:+.1f}%{}</td>", short_number(mean(head)), kind, 100 * change.share,
                       change.significant ? " *" : "");
}

bool all_zero(const Metric& metric) {
    return std::all_of(metric.values.begin(), metric.values.end(),
                       [](const std::vector<double>& values) { return mean(values) == 0; });
}

std::string group_table(const Group& group) {
    std::string title;
    for (const auto& [axis, value] : group.axes)
        if (axis != "machine") title += (title.empty() ? "" : ", ") + axis + " " + value;
    std::string html = fmt::format("<h3>{}</h3><div class='scroll'><table><tr><th>{}</th><th>{}</th>", escaped(title),
                                   escaped(group.compared), escaped(group.columns.front()));
    for (std::size_t i = 1; i < group.columns.size(); ++i)
        html += fmt::format("<th colspan='2'>{}</th>", escaped(group.columns[i]));
    html += "</tr>";
    for (const Metric& metric : group.metrics) {
        if (all_zero(metric)) continue;
        html += fmt::format("<tr><td>{}</td><td>{}</td>", escaped(metric.name), short_number(mean(metric.values.front())));
        for (std::size_t i = 1; i < metric.values.size(); ++i) html += change_cell(metric.values.front(), metric.values[i]);
        html += "</tr>";
    }
    return html + "</table></div>\n";
}

// Files beside each other when settings are in several, else generations.
std::string comparisons(const std::vector<Results>& results) {
    std::vector<Group> groups = align(results, {});
    if (groups.empty()) groups = align(results, {{"sheaves"}, "generation", {}});
    std::string html = groups.empty() ? "" : "<h2>Comparison</h2><p>* the 95 % interval of the change does not hold 0</p>";
    for (const Group& group : groups) html += group_table(group);
    return html;
}

// ---- plots -------------------------------------------------------------------------------------------

std::string variant_of(const Results& results, const Axes& axes, bool many) {
    std::string name = axis_of(axes, "generation") + " " + axis_of(axes, "sheaves") + " " + axis_of(axes, "mode");
    return many ? results.name + ": " + name : name;
}

Line& line_named(std::vector<Line>& lines, const std::string& name) {
    for (Line& line : lines)
        if (line.name == name) return line;
    lines.push_back({name, {}});
    return lines.back();
}

constexpr const char *kTasks = "tasks", *kRate = "operations/s";

struct Plot {
    std::string workload;
    std::vector<Line> lines;
};

Plot& plot_named(std::vector<Plot>& plots, const std::string& name) {
    for (Plot& plot : plots)
        if (plot.workload == name) return plot;
    plots.push_back({name, {}});
    return plots.back();
}

std::vector<Plot> scaling_plots(const std::vector<Results>& results) {
    std::vector<Plot> plots;
    for (const Results& result : results)
        for (const Series& series : result.series)
            if (const std::string tasks = axis_of(series.axes, "tasks"); series.metric == "total" && !tasks.empty())
                line_named(plot_named(plots, axis_of(series.axes, "workload")).lines,
                           variant_of(result, series.axes, results.size() > 1))
                    .points.emplace_back(std::strtod(tasks.c_str(), nullptr), mean(series.values));
    for (Plot& plot : plots)
        for (Line& line : plot.lines) std::sort(line.points.begin(), line.points.end());
    return plots;
}

std::string scaling(const std::vector<Plot>& plots) {
    if (plots.empty()) return "";
    std::string html = "<h2>Operations per second by number of tasks</h2><div class='plots'>";
    for (const Plot& plot : plots)
        html += fmt::format("<div><h3>{}</h3>{}</div>", escaped(plot.workload), line_plot(plot.lines, kTasks, kRate));
    return html + "</div>\n";
}

// One picture for each workload. False, and said, when one could not be drawn.
bool draw_pngs(const std::string& folder, const std::vector<Plot>& plots) {
    for (const Plot& plot : plots) {
        const std::string file = fmt::format("{}/{}.png", folder, plot.workload);
        if (!png_plot(file, plot.workload, plot.lines, kTasks, kRate)) {
            fmt::print(stderr, "kmirror: {} could not be drawn\n", file);
            return false;
        }
        fmt::print("{}\n", file);
    }
    return true;
}

bool is_wait(const std::string& metric) { return metric.starts_with("lock.") && metric.ends_with(".wait%"); }

std::string lock_waits(const std::vector<Results>& results) {
    double most = 0;  // one scale for all bars
    std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> plots;
    for (const Results& result : results)
        for (const Series& series : result.series) {
            const double value = mean(series.values);
            if (!is_wait(series.metric) || value < 0.005) continue;
            const std::string where = axis_of(series.axes, "workload") + ", " + variant_of(result, series.axes, results.size() > 1) +
                                      ", " + axis_of(series.axes, "tasks") + " tasks";
            most = std::max(most, value);
            if (plots.empty() || plots.back().first != where) plots.push_back({where, {}});
            plots.back().second.emplace_back(series.metric.substr(5, series.metric.size() - 11), value);
        }
    if (plots.empty()) return "";
    std::string html = "<h2>Share of the time spent waiting for locks</h2><div class='plots'>";
    for (auto& [where, bars] : plots) {
        std::sort(bars.begin(), bars.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
        html += fmt::format("<div><h3>{}</h3>{}</div>", escaped(where), bar_plot(bars, most, "%"));
    }
    return html + "</div>\n";
}

std::string memory(const std::vector<File>& files) {
    std::string html;
    for (const File& file : files)
        for (std::size_t i = 0; i < file.json.size("/runs"); ++i) {
            const std::string run = fmt::format("/runs/{}", i);
            std::vector<Line> lines = {{"of slabs", {}}, {"of objects in use", {}}};
            for (std::size_t k = 0; k < file.json.size(run + "/memory"); ++k) {
                const std::string at = fmt::format("{}/memory/{}", run, k);
                const auto number = [&](const char* name) { return file.json.number(at + name).value_or(0); };
                const double kib = number("/unreclaimable_kib"), objects = number("/objects");
                lines[0].points.emplace_back(number("/seconds"), kib);
                lines[1].points.emplace_back(number("/seconds"), objects > 0 ? kib * number("/used") / objects : 0);
            }
            if (!lines[0].points.empty())
                html += fmt::format("<div><h3>{}</h3>{}</div>", escaped(value_at(file.json, run + "/name")),
                                    line_plot(lines, "seconds", "kB"));
        }
    return html.empty() ? "" : "<h2>Memory over time</h2><div class='plots'>" + html + "</div>\n";
}

bool write(const std::string& file, const std::string& text) {
    const std::string fresh = file + ".new";
    std::ofstream out(fresh, std::ios::trunc);
    out << text;
    out.close();
    if (out && std::rename(fresh.c_str(), file.c_str()) == 0) return true;
    std::remove(fresh.c_str());
    return false;
}

}  // namespace

int report_main(const ReportOptions& options) {
    const std::vector<File> files = read_folder(options.folder);
    if (files.empty()) return bad_option("report", options.folder, "it takes a folder with result files of --json");
    if (options.png && !has_gnuplot()) {
        fmt::print(stderr, "kmirror: --png is drawn by gnuplot, which is not here; `make deps` or apt-get install gnuplot-nox "
                           "brings it\n");
        return kBadInput;
    }
    std::vector<Results> results;
    for (const File& file : files) results.push_back(file.results);
    const std::vector<Plot> plots = scaling_plots(results);
    const std::string page = kStyle + scaling(plots) + lock_waits(results) + memory(files) + comparisons(results) +
                             origins(files) + "</body></html>\n";
    const std::string file = options.folder + "/report.html";
    if (!write(file, page)) {
        fmt::print(stderr, "kmirror: {} could not be written\n", file);
        return kFoundWrong;
    }
    fmt::print("{}\n", file);
    return !options.png || draw_pngs(options.folder, plots) ? kDone : kFoundWrong;
}

}  // namespace kmirror::command
