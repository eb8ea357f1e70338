// SPDX-License-Identifier: GPL-2.0-only
//
// The process that measures one cell: kmirror-bench --worker ROW ours|malloc LIBRARY. One line on stdout:
//
//   ns 4.125000 0                       nanoseconds an operation, objects found not aligned
//   memory LIVE KEPT SLABS SLABS BYTES  for --memory-worker: resident bytes that 100,000 live objects cost,
//                                       and that are left when all are freed; slabs in both cases; bytes of
//                                       a slab
//   error WORDS                         and exit status 1
#pragma once

#include <string>

#include "tools/bench/slab_rows.h"

namespace kmirror::bench {

int run_worker(const std::string& id, bool ours, const std::string& library);
int run_memory_worker(const std::string& id, bool ours, const std::string& library);

}  // namespace kmirror::bench
