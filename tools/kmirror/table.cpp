// SPDX-License-Identifier: GPL-2.0-only
//
// Tables and numbers as text. Widths count bytes: cells are ASCII.

#include "tools/kmirror/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace kmirror::command {
namespace {

using Row = std::vector<std::string>;

std::vector<std::size_t> widths_of(const std::vector<Row>& rows) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const Row& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    return widths;
}

std::string line_of(const Row& row, const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
        line +=
            i == 0 ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

}  // namespace

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void Table::row(std::vector<std::string> cells) {
    if (cells.size() > rows_.front().size()) std::abort();
    rows_.push_back(std::move(cells));
}

void Table::print(std::FILE* out) const {
    const std::vector<std::size_t> widths = widths_of(rows_);
    std::size_t total = 2 * (widths.size() - 1);
    for (std::size_t width : widths) total += width;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        fmt::print(out, "{}\n", line_of(rows_[i], widths));
        if (i == 0) fmt::print(out, "{}\n", std::string(total, '-'));
    }
    std::fflush(out);
}

std::string count(std::uint64_t value) {
    std::string text = std::to_string(value);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
}

std::string fixed(double value, int decimals) { return fmt::format("{:.{}f}", value, decimals); }

std::string short_number(double value) {
    static constexpr const char* kLetters[] = {"", "k", "M", "G", "T"};
    std::size_t letter = 0;
    while (value >= 999.5 && letter + 1 < std::size(kLetters)) {
        value /= 1000;
        ++letter;
    }
    const int decimals =
        (letter == 0 && value == static_cast<double>(static_cast<long>(value))) || value >= 99.95 ? 0
        : value >= 9.995                                                                          ? 1
                                                                                                  : 2;
    return fmt::format("{:.{}f}{}", value, decimals, kLetters[letter]);
}

std::string percent(double share) { return fmt::format("{:.2f}%", share * 100); }

}  // namespace kmirror::command
