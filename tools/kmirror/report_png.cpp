// SPDX-License-Identifier: GPL-2.0-only
//
// Plots by gnuplot; see report_png.h.

#include "tools/kmirror/report_png.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace kmirror::command {
namespace {

// As gnuplot reads it between double quotes.
std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') out += '\\';
        out += letter == '\n' ? ' ' : letter;
    }
    return out + "\"";
}

std::string script(const std::string& file, const std::string& title, const std::vector<Line>& lines,
                   const std::string& x_title, const std::string& y_title) {
    std::string text, plots;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += fmt::format("$line{} << END\n", i);
        for (const auto& [x, y] : lines[i].points) text += fmt::format("{} {}\n", x, y);
        text += "END\n";
        plots += fmt::format("{}$line{} with linespoints linewidth 2 title {}", i ? ", " : "plot ", i, quoted(lines[i].name));
    }
    return text + fmt::format("set terminal pngcairo noenhanced size 900,500\nset output {}\nset title {}\n"
                              "set xlabel {}\nset ylabel {}\nset yrange [0:*]\nset format y '%.2s%c'\nset grid\n"
                              "set key outside below\n{}\n",
                              quoted(file), quoted(title), quoted(x_title), quoted(y_title), plots);
}

}  // namespace

bool has_gnuplot() {
    std::FILE* pipe = popen("gnuplot --version >/dev/null 2>&1", "w");
    return pipe && pclose(pipe) == 0;
}

bool png_plot(const std::string& file, const std::string& title, const std::vector<Line>& lines,
              const std::string& x_title, const std::string& y_title) {
    const std::string text = script(file, title, lines, x_title, y_title);
    // Where the file cannot be made gnuplot writes the picture to its output.
    std::FILE* pipe = popen("gnuplot >/dev/null", "w");
    const bool fed = pipe && std::fwrite(text.data(), 1, text.size(), pipe) == text.size();
    if (pipe && pclose(pipe) == 0 && fed) return true;
    unlink(file.c_str());
    return false;
}

}  // namespace kmirror::command
