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

std::string reason_for(const SlabRow&) { return {}; }

}  // namespace kmirror::bench
