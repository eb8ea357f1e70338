// SPDX-License-Identifier: GPL-2.0-only
//
// Line plots and bars as inline SVG for kmirror report. They are drawn 360 units wide and scale to the page, so that
// their text can be read on a phone.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kmirror::command {

struct Line {
    std::string name;
    std::vector<std::pair<double, double>> points;
};

// Lines over the same axes, both from 0; a legend under the plot.
std::string line_plot(const std::vector<Line>& lines, const std::string& x_title, const std::string& y_title);

// One bar for each, with its value; one of `most` fills the width.
std::string bar_plot(const std::vector<std::pair<std::string, double>>& bars, double most, const std::string& unit);

// Text as HTML and SVG take it.
std::string escaped(const std::string& text);

}  // namespace kmirror::command
