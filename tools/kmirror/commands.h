// SPDX-License-Identifier: GPL-2.0-only
//
// The subcommands of `kmirror`: what the command line gives each, and the function that runs it.
//
// The options are checked before a subcommand runs: numbers are within their limits, files are names. What
// only the subcommand can know (a machine too small for --cpus) it reports through bad_option() and returns
// its value.
//
// Exit statuses: 0 done and everything held; 1 something was found wrong; 2 bad input, nothing was done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmirror::command {

inline constexpr int kDone = 0;
inline constexpr int kFoundWrong = 1;
inline constexpr int kBadInput = 2;

// Limits of the command line; a machine may be smaller.
inline constexpr unsigned kMaxCpus = 1024;
inline constexpr unsigned kMaxThreads = 4096;
inline constexpr double kMinSeconds = 0.1;
inline constexpr double kMaxSeconds = 86400;

// kmirror stress. --machine and --memory are already in force: KMIRROR_MACHINE and KMIRROR_MEM are set before
// the library starts.
struct StressOptions {
    double seconds = 10;     // of load, all runs together
    unsigned cpus = 0;       // virtual CPUs that work; 0: all of the machine
    unsigned threads = 0;    // worker threads; 0: as many as cpus. More than cpus: CPUs are shared
    std::uint64_t seed = 0;  // never 0 when the subcommand runs
    std::string slab;        // generations of the allocator: "all", or names with commas; empty: the process's
    std::string json;        // file for the results; empty: none
    std::string trace;       // file for the tree's trace points; empty: none
    std::string sysfs;       // folder for the caches as /sys/kernel/slab, kept fresh; empty: none
    bool quiet = false;      // no live line
    bool live = false;       // the hottest locks as a table instead of the line
    // With a workload the command measures it, and compares nothing by itself.
    std::string workload;        // names with commas, or "all"; empty: the mixed load
    std::string tasks;           // numbers with commas; empty: one for each CPU of the machine
    std::string mode = "process";   // or "thread": one address space for all tasks
    std::string sheaves = "32";  // capacities with commas
    unsigned repeat = 1;
    bool ktap = false;           // results as KTAP, nothing else
    bool lock_stat = false;      // print all lock classes as /proc/lock_stat does
};
int stress_main(const StressOptions& options);
int workload_main(const StressOptions& options);  // stress_main() with a workload

// kmirror contention: counts of list_lock and barn lock by generation and sheaf capacity. Without --machine the
// machine has two CPUs for each of the host's and two nodes.
struct ContentionOptions {
    std::string loads = "mmap2,list_lock_storm";  // names with commas
    std::string slab = "all";                     // generations, as in StressOptions
    std::string sheaves = "0,4,32,128";           // capacities with commas
    unsigned cpus = 0;                            // virtual CPUs that work; 0: all of the machine
    unsigned grace_period = 5000;                 // operations of a CPU
    unsigned warm = 8, rounds = 12;               // grace periods before the counting and during it
    unsigned repeats = 3;                         // medians are taken over them
    std::uint64_t seed = 1;
    std::string json;    // file for the results; empty: none
    bool quiet = false;  // no live line
};
inline constexpr int kMostSheafCapacity = 1024;
int contention_main(const ContentionOptions& options);

// kmirror sim: a load on a simulated machine, in virtual time.
struct SimOptions {
    std::string machine = "genoa-96x2-4n";        // built in, or a file; not KMIRROR_MACHINE
    std::string loads = "mmap2";                  // names with commas
    std::string generations = "double,sheaves";   // of the allocator
    std::string tasks = "1,8,64";                 // numbers with commas
    int sheaves = -1;                             // objects of a sheaf; -1: the generation's rule
    unsigned warm = 4, periods = 5;               // grace periods before the counting and during it
    unsigned seeds = 1, jobs = 0;                 // runs of each; processes at a time, 0: the host's processors
    std::uint64_t seed = 1;
    unsigned lines = 0;                           // lines that moved most to show
    std::vector<std::string> changes;             // of costs, NAME=VALUE
    std::string published;                        // quick, normal or full: what was published instead
    std::string json;                             // file for the results; empty: none
    bool quiet = false;                           // no live line
};
int sim_main(const SimOptions& options);

// kmirror machine: CPUs, nodes, memory and distances of the machine in force.
struct MachineOptions {
    bool json = false;  // on stdout
};
int machine_main(const MachineOptions& options);

// kmirror slabinfo: the caches of a folder as /sys/kernel/slab, or of this process after a small load.
struct SlabinfoOptions {
    std::vector<std::string> caches;  // names or patterns; empty: all
    std::string sysfs;                // the folder; empty: this process
    std::string sort = "name";        // or size, loss, activity
    std::string dump;                 // a cache whose sheaves and slabs are shown one by one
    bool report = false, activity = false, totals = false, aliases = false, tracking = false, proc = false;
    bool json = false;        // on stdout
    std::uint64_t seed = 1;   // of the load
};
int slabinfo_main(const SlabinfoOptions& options);

// kmirror tree: the tree that the operations of a file make. The format stands in tree_script.h.
struct TreeOptions {
    enum class Form { Text, Dot, Svg, Json, Dump };

    std::string file;           // "-": stdin
    Form form = Form::Text;
    std::uint64_t step = 0;     // stop after this one and show before and after it; 0: all are done
    bool before_after = false;  // of the last step
    std::string trace;          // file for the tree's trace points; empty: none
};
int tree_main(const TreeOptions& options);

// Opens a trace, unless `file` is empty; kDone, or what a bad option returned.
int open_trace(const std::string& file);

// kmirror sweep: each allocation of each call fails in turn.
struct SweepOptions {
    std::string call;    // a pattern of * and ?; empty: all
    bool quick = false;  // no pairs of failures, 24 runs a mode and shape
    std::vector<std::string> logs;   // of recorded programs, as for replay
    std::string json;    // file for the results; empty: none
    bool quiet = false;  // no live line
};
int sweep_main(const SweepOptions& options);

// kmirror faults: the failure points and their attributes.
struct FaultsOptions {
    std::string dir;  // write the files of debugfs' shape there; empty: none
};
int faults_main(const FaultsOptions& options);

// kmirror fuzz: inputs of the fuzz targets in other forms, and smaller. One of the first four is given.
struct FuzzOptions {
    bool list = false;
    std::string print, from_text, shrink;  // files
    std::string target;                    // of the file; empty: it, or its path, says so
    std::string form = "text";             // or kernel, patch, test
    std::string kdir;                      // kernel tree that a patch is for
    std::string name = "check_found";      // of the function or test
    std::string out;                       // file for the result; empty: stdout
    bool quiet = false;                    // no live line
};
int fuzz_main(const FuzzOptions& options);

// kmirror replay: the address spaces of a recorded program.
struct ReplayOptions {
    std::string log;         // of strace or perf trace
    std::string maps;        // /proc/PID/maps of the same run; empty: none to compare with
    std::string json;        // file for the results; empty: none
    std::string store_list;  // file for the operations on the process's tree; empty: none
    int pid = 0;             // process to show; 0: the one that opened its maps file
    bool stats = false;      // caches and locks
    bool validate = false;   // check every address space after each call
    bool no_thp = false;     // the recorded kernel aligns nothing to huge pages
    bool quiet = false;      // no progress
};
int replay_main(const ReplayOptions& options);

// kmirror compare: result files beside each other.
struct CompareOptions {
    std::vector<std::string> files;  // of --json; one is enough with `by`
    std::string by;                  // the axis whose values are compared; empty: the files are
    std::string free;                // axes that make no difference, with commas; empty: none
    std::string select;              // NAME=VALUE with commas: series that have these axes; empty: all
    bool intervals = false;          // medians, 95 % intervals and a verdict instead of lkp's table
};
int compare_main(const CompareOptions& options);

// kmirror ab: two kernels' maple trees, measured in turn. Runs `make ab`.
struct AbOptions {
    std::string base, head;  // kernel trees; with `repo` empty
    std::string repo;        // a git work tree: the first workload is REV..REV
    unsigned rounds = 15;    // of each workload on either side
    std::vector<std::string> workloads;  // names; empty: all
};
int ab_main(const AbOptions& options);

// kmirror report: the result files of a folder as one HTML page.
struct ReportOptions {
    std::string folder;  // of *.json; report.html is written there
    bool png = false;    // a picture for each workload as well
};
int report_main(const ReportOptions& options);

// kmirror soak: everything at random for a long time. The machine as for contention.
struct SoakOptions {
    double seconds = 1200;
    std::uint64_t seed = 0;  // of what is drawn; never 0 when the subcommand runs
    // Drawn from: names and numbers with commas.
    std::string workload = "all";  // "allocator": the mixed load
    std::string slab = "all";
    std::string sheaves = "0,4,32,128";
    bool quiet = false;      // no live line
};
int soak_main(const SoakOptions& options);

// Prints `kmirror: --OPTION VALUE is not possible; ALLOWED` on stderr; returns kBadInput.
int bad_option(std::string_view option, std::string_view value, std::string_view allowed);

}  // namespace kmirror::command
