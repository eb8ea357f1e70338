// SPDX-License-Identifier: GPL-2.0-only
//
// A folder as /sys/kernel/slab, read: a kernel's own, or one that kmirror_slab_sysfs_export() wrote.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kmirror::command {

// "12 N0=8 N1=4": a number and its shares.
struct Figure {
    std::uint64_t total = 0;
    std::map<std::string, std::uint64_t> shares; // "N0", "C3"
};

// One cache. What a file does not say counts as 0.
struct SlabFigures {
    std::string name;                 // of its folder, or the first name that leads there
    std::string folder;               // ":0000256" for a cache that may be shared
    std::vector<std::string> aliases; // further names, sorted
    std::map<std::string, Figure> figures;
    std::string ctor;                 // symbol, or empty
    std::map<std::string, std::string> traces; // alloc_traces, free_traces of a cache that stores users

    std::uint64_t operator[](const std::string &file) const;
    const Figure *figure(const std::string &file) const;

    std::uint64_t slab_bytes() const; // of one slab
    std::uint64_t bytes() const;      // of all slabs
    std::uint64_t used_bytes() const; // that objects asked for
    std::uint64_t loss() const { return bytes() - used_bytes(); }
    std::uint64_t allocations() const;
    std::uint64_t frees() const;
};

// Reads all caches of a folder, by name. False and `error`: it is none, or cannot be read.
bool read_slab_folder(const std::string &path, std::vector<SlabFigures> &caches, std::string &error);

} // namespace kmirror::command
