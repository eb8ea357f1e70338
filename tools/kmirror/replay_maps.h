// SPDX-License-Identifier: GPL-2.0-only
//
// /proc/PID/maps as data: read from a file, taken from an mm_struct, compared; and the lines of it that
// exec made.
#pragma once

#include "tools/kmirror/strace_line.h"

#include <kmirror/mm.h>

#include <istream>
#include <set>

namespace kmirror::replay {

// How a mapped file is called whose name the log does not have.
inline constexpr std::string_view kUnnamed = "descriptor ";

// One line without device and inode.
struct MapLine {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::string permissions; // "rw-p"
    std::uint64_t offset = 0;
    std::string name; // without " (deleted)", which an unlink that no log shows adds

    bool operator==(const MapLine &) const = default;
};

std::string to_string(const MapLine &line);
std::string to_string(const std::vector<MapLine> &lines);

// LogError with the line number if a line is none of /proc/PID/maps.
std::vector<MapLine> read_maps(std::istream &in);
std::vector<MapLine> lines_of(mm_struct *mm);

// The first difference in words, empty if there is none. `expected` is the file.
std::string difference(const std::vector<MapLine> &expected, const std::vector<MapLine> &got);

// What a log shows of one image (what one exec started): needed to know what it does not show.
struct ImageUse {
    std::string program;                                         // as executed, resolved
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges; // where calls have put mappings
    std::set<std::string> mapped;                                // names of the files they mapped
};

// The part of a maps file that exec made and no log shows.
struct ExecImage {
    std::vector<MapLine> lines;
    std::uint64_t mmap_base = 0; // 0: nothing tells
    std::uint64_t heap = 0;      // start of [heap]; 0: there is none
    bool vsyscall = false;

    std::size_t taken() const { return lines.size() + (heap != 0) + vsyscall; }
};
ExecImage exec_image(const std::vector<MapLine> &file, const ImageUse &use);

// Puts the lines into an empty address space.
void install(mm_struct *mm, const ExecImage &image);

} // namespace kmirror::replay
