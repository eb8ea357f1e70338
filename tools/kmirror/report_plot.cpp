// SPDX-License-Identifier: GPL-2.0-only
//
// Plots as text; see report_plot.h.

#include "tools/kmirror/report_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/kmirror/table.h"

namespace kmirror::command {
namespace {

constexpr double kWidth = 360, kHeight = 200;
constexpr double kLeft = 44, kRight = 8, kTop = 18, kBottom = 30;
constexpr double kBarHeight = 30;
constexpr const char* kColours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f"};

const char* colour(std::size_t i) { return kColours[i % std::size(kColours)]; }

// The first of 1, 2, 5, 10, ... times a power of ten that is no less.
double round_up(double value) {
    if (value <= 0) return 1;
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double step : {1.0, 2.0, 5.0})
        if (value <= step * power) return step * power;
    return 10 * power;
}

struct Scale {
    double most_x = 0, most_y = 0;

    double x(double value) const { return kLeft + value / most_x * (kWidth - kLeft - kRight); }
    double y(double value) const { return kHeight - kBottom - value / most_y * (kHeight - kTop - kBottom); }
};

Scale scale_of(const std::vector<Line>& lines) {
    Scale scale;
    for (const Line& line : lines)
        for (const auto& [x, y] : line.points) {
            scale.most_x = std::max(scale.most_x, x);
            scale.most_y = std::max(scale.most_y, y);
        }
    return {scale.most_x > 0 ? scale.most_x : 1, round_up(scale.most_y)};
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
    return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>", x, y, anchor, escaped(text));
}

std::string grid(const Scale& scale, const std::string& x_title, const std::string& y_title) {
    std::string svg;
    for (const double part : {0.0, 0.5, 1.0}) {
        const double value = part * scale.most_y, at = scale.y(value);
        svg += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' stroke='#ccc'/>", kLeft, kWidth - kRight, at, at);
        svg += text_at(kLeft - 4, at + 4, "end", short_number(value));
        svg += text_at(scale.x(part * scale.most_x), kHeight - kBottom + 13, part == 1 ? "end" : "middle",
                       short_number(part * scale.most_x));
    }
    return svg + text_at(kWidth / 2, kHeight - 3, "middle", x_title) + text_at(2, 11, "start", y_title);
}

std::string drawn(const Line& line, const Scale& scale, std::size_t index) {
    std::string points, dots;
    for (const auto& [x, y] : line.points) {
        points += fmt::format("{:.1f},{:.1f} ", scale.x(x), scale.y(y));
        dots += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='2' fill='{}'/>", scale.x(x), scale.y(y), colour(index));
    }
    return fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='1.5'/>{}", points, colour(index), dots);
}

}  // namespace

std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : text) switch (letter) {
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '&': result += "&amp;"; break;
            case '\'': result += "&#39;"; break;
            case '"': result += "&quot;"; break;
            default: result += letter;
        }
    return result;
}

std::string line_plot(const std::vector<Line>& lines, const std::string& x_title, const std::string& y_title) {
    const Scale scale = scale_of(lines);
    std::string svg = fmt::format("<svg viewBox='0 0 {} {}'>", kWidth, kHeight) + grid(scale, x_title, y_title);
    std::string legend;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        svg += drawn(lines[i], scale, i);
        legend += fmt::format("<span><i style='background:{}'></i>{}</span> ", colour(i), escaped(lines[i].name));
    }
    return svg + "</svg><p class='legend'>" + legend + "</p>\n";
}

std::string bar_plot(const std::vector<std::pair<std::string, double>>& bars, double most, const std::string& unit) {
    std::string svg = fmt::format("<svg viewBox='0 0 {} {}'>", kWidth, kBarHeight * static_cast<double>(bars.size()));
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const double top = kBarHeight * static_cast<double>(i);
        const double width = most > 0 ? bars[i].second / most * (kWidth - 4) : 0;
        svg += text_at(2, top + 11, "start", fmt::format("{}: {:.2f}{}", bars[i].first, bars[i].second, unit));
        svg += fmt::format("<rect x='2' y='{:.1f}' width='{:.1f}' height='10' fill='{}'/>", top + 15, width, colour(i));
    }
    return svg + "</svg>\n";
}

}  // namespace kmirror::command
