// SPDX-License-Identifier: GPL-2.0-only
//
// The rows and columns of the allocator table: what is done with objects of one size, and who does it.
//
// Owns     constant data.
// Bounds   a row is one kind of work on one size; a column one allocator. Each cell is measured in processes
//          of its own (slab_worker.cpp), because an allocator is chosen with LD_PRELOAD or KMIRROR_SLAB
//          before the process starts, and so that no row inherits the heap of another.
#pragma once

#include <string>
#include <vector>

namespace kmirror::bench {

enum class Work {
    pair,      // allocate, free
    batch,     // allocate `count`, free them in the same order
    random,    // `count` live; free one of them at random, allocate another
    hand_over, // one thread allocates `count`, the other frees them; they take turns
    two,       // two threads at once, each allocates `count`, frees them last to first
    bulk,      // `count` by one call, and back by one
    kmalloc,   // as pair, by size class
};

enum class Cpu { alone, shared };  // does a second thread have the same virtual CPU?

struct SlabRow {
    std::string name;
    Work work;
    unsigned bytes;
    unsigned count;
    Cpu cpu;

    // "batch of 32/184": a worker is asked for a row by this.
    std::string id() const { return name + "/" + std::to_string(bytes); }
    // Objects of 256 bytes are aligned to 256, as the tree's nodes are; all others as malloc does.
    unsigned align() const { return bytes == 256 ? bytes : 0; }
    // Other allocators have no call for it.
    bool ours_only() const { return work == Work::bulk; }
};

// In the order of the table.
const std::vector<SlabRow>& slab_rows();

struct SlabColumn {
    std::string name;
    std::string generation;  // KMIRROR_SLAB of ours; empty: malloc and free of another
    std::string library;     // file to preload; empty: what the program has anyway
    std::string program;     // the kmirror-bench to run
    std::string missing;     // why there is nothing to measure; empty: there is
    bool ours() const { return !generation.empty(); }
};

// The four generations, then glibc, jemalloc, mimalloc and tcmalloc. A library is looked for where the
// dynamic linker looks.
std::vector<SlabColumn> slab_columns();

// What is said of a row that misses its target: what was tried, what bounds it, and what would be next.
std::string reason_for(const SlabRow& row);

}  // namespace kmirror::bench
