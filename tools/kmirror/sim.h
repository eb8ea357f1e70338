// SPDX-License-Identifier: GPL-2.0-only
//
// What the files of `kmirror sim` share.
#pragma once

#include "tools/kmirror/commands.h"
#include "tools/kmirror/sim_process.h"

#include <string>
#include <vector>

namespace kmirror::command {

inline constexpr const char *kSimListLock = "&n->list_lock", *kSimBarnLock = "&barn->lock";

// The runs that were asked for, as a table; the lines that moved most after it.
void print_simulations(const std::vector<SimRun>& runs);
void print_lines(const std::vector<SimRun>& runs, unsigned count);

// The same for machines; kDone, or kFoundWrong when the file cannot be written.
int write_simulations(const std::vector<SimRun>& runs, const std::string& file);

// Every published figure that can be run, beside its model; see sim_published.cpp. `mode`: quick, normal or full.
int sim_published(const SimOptions& options);

// Runs with a live line for all of them.
bool run_with_progress(const std::vector<SimSpec>& specs, const SimOptions& options, std::vector<SimRun>& runs);

}  // namespace kmirror::command
