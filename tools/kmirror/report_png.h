// SPDX-License-Identifier: GPL-2.0-only
//
// Plots as PNG files for mails, drawn by gnuplot.
#pragma once

#include <string>
#include <vector>

#include "tools/kmirror/report_plot.h"

namespace kmirror::command {

// True when gnuplot can be started.
bool has_gnuplot();

// Replaces `file`. False when gnuplot cannot be started or could not draw; then there is no such file.
bool png_plot(const std::string& file, const std::string& title, const std::vector<Line>& lines,
              const std::string& x_title, const std::string& y_title);

}  // namespace kmirror::command
