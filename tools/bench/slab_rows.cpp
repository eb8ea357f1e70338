// SPDX-License-Identifier: GPL-2.0-only
//
// The lists of rows and columns, see slab_rows.h.

#include "tools/bench/slab_rows.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <memory>

namespace kmirror::bench {
namespace {

std::vector<SlabRow> rows_of_size(unsigned bytes) {
    return {
        {"pair", Work::pair, bytes, 1, Cpu::alone},
        {"pair, CPU shared", Work::pair, bytes, 1, Cpu::shared},
        {"kmalloc pair", Work::kmalloc, bytes, 1, Cpu::alone},
        {"batch of 32", Work::batch, bytes, 32, Cpu::alone},
        {"batch of 32, CPU shared", Work::batch, bytes, 32, Cpu::shared},
        {"batch of 1000", Work::batch, bytes, 1000, Cpu::alone},
        {"random over 100k live", Work::random, bytes, 100000, Cpu::alone},
        {"freed by another thread", Work::hand_over, bytes, 1000, Cpu::alone},
        {"two threads, 8 each", Work::two, bytes, 8, Cpu::alone},
        {"two threads, CPU shared", Work::two, bytes, 8, Cpu::shared},
        {"bulk of 32", Work::bulk, bytes, 32, Cpu::alone},
        {"bulk of 1000", Work::bulk, bytes, 1000, Cpu::alone},
    };
}

// The folders the dynamic linker searches, in its order.
std::vector<std::string> library_folders() {
    void* self = dlopen(nullptr, RTLD_LAZY);
    Dl_serinfo size{};
    if (self == nullptr || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
    const std::unique_ptr<std::byte[]> memory(new std::byte[size.dls_size]);
    auto* info = reinterpret_cast<Dl_serinfo*>(memory.get());
    dlinfo(self, RTLD_DI_SERINFOSIZE, info);
    if (dlinfo(self, RTLD_DI_SERINFO, info) != 0) return {};
    std::vector<std::string> folders;
    for (unsigned i = 0; i < info->dls_cnt; ++i) folders.emplace_back(info->dls_serpath[i].dls_name);
    return folders;
}

SlabColumn peer(const std::string& name, const std::vector<std::string>& files) {
    for (const std::string& folder : library_folders())
        for (const std::string& file : files)
            if (const std::string path = folder + "/" + file; access(path.c_str(), R_OK) == 0)
                return {name, {}, path, {}, {}};
    return {name, {}, {}, {}, "not installed"};
}

}  // namespace

const std::vector<SlabRow>& slab_rows() {
    static const std::vector<SlabRow> rows = [] {
        std::vector<SlabRow> all = rows_of_size(184);
        for (const SlabRow& row : rows_of_size(256)) all.push_back(row);
        return all;
    }();
    return rows;
}

std::vector<SlabColumn> slab_columns() {
    std::vector<SlabColumn> columns;
    for (const char* generation : {"sheaves", "double", "cpu-slab+sheaves", "cpu-slab"})
        columns.push_back({generation, generation, {}, {}, {}});
    columns.push_back({"glibc", {}, {}, {}, {}});
    columns.push_back(peer("jemalloc", {"libjemalloc.so.2"}));
    columns.push_back(peer("mimalloc", {"libmimalloc.so.2.0", "libmimalloc.so.2", "libmimalloc.so.3"}));
    columns.push_back(peer("tcmalloc", {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"}));
    for (SlabColumn& column : columns) column.program = "/proc/self/exe";
    return columns;
}

// Instructions are what `make bench-instructions AREA=slab` counts.
std::string reason_for(const SlabRow& row) {
    if (row.cpu == Cpu::shared)
        return "tried: sections entered without a call; bound by two compare-and-swaps, one in each call, and three "
               "times the instructions of a thread alone, because all hooks are asked; a peer's memory is its thread's, "
               "without an atomic; next: a sharer that sleeps gives up its share, and stops the others with a "
               "membarrier() when it wakes";
    const std::string beyond =
        "what twelve sheaves do not hold, and that is as many as the kernel keeps: it takes list_lock, two "
        "compare-and-swaps of 16 bytes a slab and the page allocator";
    switch (row.work) {
        case Work::pair:
        case Work::two:
            return "tried: one addition less from an address to its page; no call, no atomic, all lines in L1; bound by "
                   "instructions: each call enters and leaves a section that cpu_down() waits for (four stores) and asks "
                   "twice whether it is alone; next: a section that is one byte of the task, without a count";
        case Work::kmalloc:
            return "tried: the class of a size by one load; no atomic, all lines in L1; bound by a chain of loads, each "
                   "waiting for the one before: page, head, cache, sheaves, main, size, and the next kmalloc() for that "
                   "size; next: the class in each struct page, tails too, so that head and cache are not in the chain";
        case Work::batch:
            if (row.count <= 32)
                return "tried: as the pair; no atomic, all lines in L2; bound by the same instructions; next: as the pair";
            return "tried: objects of a slab told by their address, fresh objects without a call; bound by " + beyond +
                   ", half as many instructions again as in a batch of 32; next: a freed sheaf sorted by slab, a larger "
                   "barn (KMIRROR_SLAB_BARN_FULL)";
        case Work::random:
            return "tried: huge pages for objects; bound by four lines that miss, which peers have as well: the object's "
                   "first and last, its struct page, its place in the row's array; most of the time is the row's own look "
                   "at the object; next: struct pages of 32 bytes, on huge pages";
        case Work::hand_over:
            return "tried: as the batch of 1000; bound by lines that come from the other core (two an object, one of each "
                   "eight places in a sheaf), and by " + beyond + "; next: as the batch of 1000";
        case Work::bulk:
            if (row.count <= 32)
                return "tried: no look at the objects' pages on a machine of one node; bound by two sections and two "
                       "copies of the pointers; next: sections as for the pair";
            return "tried: as the batch of 1000; bound by " + beyond + ", seven times the instructions of a bulk call that "
                   "sheaves serve; next: as the batch of 1000";
    }
    return {};
}

}  // namespace kmirror::bench
