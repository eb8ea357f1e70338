// SPDX-License-Identifier: GPL-2.0-only
//
// Intervals by Student and Welch, and how they are printed; see lkp_table.h.

#include "tools/kmirror/lkp_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

#include "tools/kmirror/table.h"

namespace kmirror::command {
namespace {

// So many standard errors on either side hold the mean with kConfidence.
double reach(double degrees_of_freedom) {
    return boost::math::quantile(boost::math::students_t(degrees_of_freedom), 0.5 + kConfidence / 2);
}

// The squared standard error of the mean.
double error_squared(const Sample& sample, std::size_t count) {
    return sample.stddev * sample.stddev / static_cast<double>(count);
}

Change with_interval(double share, double low, double high) {
    return {share, low, high, true, low > 0 || high < 0};
}

Change paired(const std::vector<double>& base, const std::vector<double>& head) {
    std::vector<double> logs;
    for (std::size_t i = 0; i < base.size(); ++i) logs.push_back(std::log(head[i] / base[i]));
    const Sample sample = sample_of(logs);
    const double half = reach(static_cast<double>(logs.size() - 1)) *
                        std::sqrt(error_squared(sample, logs.size()));
    return with_interval(std::expm1(sample.mean), std::expm1(sample.mean - half),
                         std::expm1(sample.mean + half));
}

Change apart(const std::vector<double>& base, const std::vector<double>& head) {
    const Sample a = sample_of(base), b = sample_of(head);
    const double of_a = error_squared(a, base.size()), of_b = error_squared(b, head.size());
    const double share = (b.mean - a.mean) / a.mean, sum = of_a + of_b;
    if (sum == 0) return with_interval(share, share, share);
    // Welch's and Satterthwaite's degrees of freedom.
    const double degrees = sum * sum / (of_a * of_a / static_cast<double>(base.size() - 1) +
                                        of_b * of_b / static_cast<double>(head.size() - 1));
    const double half = reach(degrees) * std::sqrt(sum) / std::fabs(a.mean);
    return with_interval(share, share - half, share + half);
}

// "353.1k ±  1%", 15 columns wide; the sign is two bytes of one column.
std::string value_cell(const std::vector<double>& values) {
    const Sample sample = sample_of(values);
    const std::string mean = short_number(sample.mean);
    if (values.size() < 2 || sample.mean == 0) return fmt::format("{:>9}      ", mean);
    return fmt::format("{:>9} ± {:2.0f}%", mean, 100 * sample.stddev / std::fabs(sample.mean));
}

std::string change_cell(const Change& change) {
    return fmt::format("{:>+9.2f}%{}", 100 * change.share, change.significant ? '*' : ' ');
}

std::string interval_cell(const Change& change) {
    if (!change.known) return fmt::format("{:>20}", "too few runs");
    return fmt::format("[{:>+7.2f}%, {:>+7.2f}%]", 100 * change.low, 100 * change.high);
}

}  // namespace

Sample sample_of(const std::vector<double>& values) {
    Sample sample;
    if (values.empty()) return sample;
    for (double value : values) sample.mean += value / static_cast<double>(values.size());
    if (values.size() < 2) return sample;
    double squares = 0;
    for (double value : values) squares += (value - sample.mean) * (value - sample.mean);
    sample.stddev = std::sqrt(squares / static_cast<double>(values.size() - 1));
    return sample;
}

Change change_of(const std::vector<double>& base, const std::vector<double>& head, Runs runs) {
    const Sample a = sample_of(base), b = sample_of(head);
    const bool pairs = runs == Runs::Paired;
    if (a.mean == 0 || head.empty()) return {};
    if (std::min(base.size(), head.size()) < kLeastRuns || (pairs && base.size() != head.size()))
        return {.share = (b.mean - a.mean) / a.mean};
    return pairs ? paired(base, head) : apart(base, head);
}

LkpTable::LkpTable(std::string base, std::string head, Runs runs)
    : base_(std::move(base)), head_(std::move(head)), runs_(runs) {}

void LkpTable::row(std::string metric, std::vector<double> base, std::vector<double> head) {
    rows_.push_back({std::move(metric), std::move(base), std::move(head)});
}

void LkpTable::print(std::FILE* out) const {
    fmt::print(out, "{:>15} {:>11} {:>15}\n", base_, "", head_);
    fmt::print(out, "{:->15} {:->27}\n", "", "");
    fmt::print(out, "{:>15} {:>11} {:>15}  {:>20}\n", "mean %stddev", "%change ", "mean %stddev",
               "95% of the change");
    for (const Row& row : rows_) {
        const Change change = change_of(row.base, row.head, runs_);
        fmt::print(out, "{} {} {}  {}  {}\n", value_cell(row.base), change_cell(change), value_cell(row.head),
                   interval_cell(change), row.metric);
    }
    fmt::print(out, "* {:.0f}% confidence\n", 100 * kConfidence);
    std::fflush(out);
}

}  // namespace kmirror::command
