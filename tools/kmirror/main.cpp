// SPDX-License-Identifier: GPL-2.0-only
//
// main of the command `kmirror`: reads the command line, puts the machine in force, runs the subcommand.
//
// The library reads KMIRROR_MACHINE and KMIRROR_MEM when it starts, which may be before main; so a --machine
// or
// --memory that differs from them starts this program anew with the environment that says so.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <kmirror/fault.h>
#include <kmirror/topology.h>
#include <linux/random.h>

#include "tools/kmirror/commands.h"
#include "tools/kmirror/options.h"

namespace {

using namespace kmirror::command;

// True when the environment had to change.
bool put(const char* name, const std::string& value) {
    const char* now = std::getenv(name);
    if (value.empty() || (now != nullptr && value == now)) return false;
    return setenv(name, value.c_str(), 1) == 0;
}

// Refuses a machine that cannot be, in the words of the command line.
void judge(const std::string& machine) {
    char message[256] = "";
    if (machine.empty() || kmirror_machine_set(machine.c_str(), message, sizeof(message)) != -EINVAL) return;
    std::exit(bad_option("--machine", machine, message));
}

// Refuses failure points that cannot be. The library reads them when the program starts anew.
void judge_fault(const std::string& text) {
    char message[512] = "";   // it may list all points
    if (text.empty() || kmirror_fault_configure(text.c_str(), message, sizeof(message)) == 0) return;
    std::exit(bad_option("--fault", text, message));
}

// The arguments without --fault and its value: what is in the environment is not said twice, and a command
// line that is printed to be run again takes other failures.
std::vector<char*> without_fault(char** argv) {
    std::vector<char*> kept;
    for (; *argv != nullptr; ++argv) {
        const std::string_view argument = *argv;
        if (argument == "--fault" && argv[1] != nullptr) {
            ++argv;
        } else if (argument.rfind("--fault=", 0) != 0) {
            kept.push_back(*argv);
        }
    }
    kept.push_back(nullptr);
    return kept;
}

// The machine of kmirror contention when nobody says another: two CPUs for each of the host's, two nodes.
std::string contention_machine() {
    const unsigned cpus = std::max(1u, std::thread::hardware_concurrency());
    return "numa:2 core:" + std::to_string(cpus) + " pu:1";
}

// Of kmirror soak when nobody says another: it holds back most of it, which must not take long.
constexpr const char* kSoakMemory = "512M";

void put_in_force(const CommandLine& line, char** argv) {
    judge(line.machine);
    judge_fault(line.fault);
    const bool machine = put("KMIRROR_MACHINE", line.machine);
    const bool memory = put("KMIRROR_MEM", line.memory);
    put("KMIRROR_FAULT", line.fault);
    if (!machine && !memory && line.fault.empty()) return;
    execv("/proc/self/exe", without_fault(argv).data());
    std::perror("kmirror: /proc/self/exe");
    std::exit(kBadInput);
}

// From the library's generator, so that KMIRROR_SEED, which a replay command names, draws the same one.
std::uint64_t drawn_seed() { return (get_random_u32() & 0x7fffffffu) + std::uint64_t{1}; }

}  // namespace

int main(int argc, char** argv) {
    CommandLine line = read_command_line(argc, argv);
    if (line.command == Command::None) return line.status;
    if ((line.command == Command::Contention || line.command == Command::Soak) && line.machine.empty() &&
        std::getenv("KMIRROR_MACHINE") == nullptr)
        line.machine = contention_machine();
    if (line.command == Command::Soak && line.memory.empty() && std::getenv("KMIRROR_MEM") == nullptr)
        line.memory = kSoakMemory;
    put_in_force(line, argv);
    if (line.stress.seed == 0) line.stress.seed = drawn_seed();
    if (line.soak.seed == 0) line.soak.seed = drawn_seed();
    switch (line.command) {
        case Command::Ab:
            return ab_main(line.ab);
        case Command::Stress:
            return stress_main(line.stress);
        case Command::Contention:
            return contention_main(line.contention);
        case Command::Slabinfo:
            return slabinfo_main(line.slabinfo);
        case Command::Tree:
            return tree_main(line.tree);
        case Command::Sweep:
            return sweep_main(line.sweep);
        case Command::Faults:
            return faults_main(line.faults);
        case Command::Replay:
            return replay_main(line.replay);
        case Command::Soak:
            return soak_main(line.soak);
        case Command::Report:
            return report_main(line.report);
        case Command::Compare:
            return compare_main(line.compare);
        case Command::Fuzz:
            return fuzz_main(line.fuzz);
        case Command::Sim:
            return sim_main(line.sim);
        default:
            return machine_main(line.show);
    }
}
