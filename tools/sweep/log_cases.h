// SPDX-License-Identifier: GPL-2.0-only
//
// The calls of a recorded program as cases of a sweep: each on the address space as it was in the recording.
#pragma once

#include <functional>
#include <string>

#include "tools/kmirror/strace_log.h"
#include "tools/sweep/cases.h"

namespace kmirror::sweeping {

// Reads a log of strace or perf trace. LogError (tools/kmirror/strace_line.h) when it is none.
replay::Log read_log_file(const std::string& name);

// Replays `log` and, before each call that changes an address space or forks it, has `run` sweep it: the case's
// call is "NAME: mmap", its shape the line. A call that fails by itself there is left out.
void each_call_of(const replay::Log& log, const std::string& name, const std::function<void(const Case&)>& run);

}  // namespace kmirror::sweeping
