// SPDX-License-Identifier: GPL-2.0-only
//
// The command line of kmirror, checked. Hides CLI11, which only options.cpp includes.
#pragma once

#include <string>

#include "tools/kmirror/commands.h"

namespace kmirror::command {

enum class Command { None, Ab, Stress, Contention, Machine, Slabinfo, Tree, Sweep, Faults, Replay, Sim, Compare, Report, Soak, Fuzz };

struct CommandLine {
    Command command = Command::None;  // None: all is done (help, version) or refused; exit with `status`
    int status = kDone;
    std::string machine;  // --machine; empty: not given
    std::string memory;   // --memory; empty: not given
    std::string fault;    // --fault; empty: not given
    StressOptions stress;
    ContentionOptions contention;
    MachineOptions show;
    TreeOptions tree;
    SlabinfoOptions slabinfo;
    SweepOptions sweep;
    FaultsOptions faults;
    AbOptions ab;
    ReplayOptions replay;
    SimOptions sim;
    CompareOptions compare;
    ReportOptions report;
    SoakOptions soak;
    FuzzOptions fuzz;
};

// Reads the arguments. Prints help and version on stdout and one line about a mistake on stderr.
CommandLine read_command_line(int argc, char** argv);

}  // namespace kmirror::command
