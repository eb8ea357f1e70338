// SPDX-License-Identifier: GPL-2.0-only
//
// A whole log as calls, in the order of their ends. An interrupted call (unfinished ... resumed) is one
// call that knows both of its lines.
//
// Reads    strace with or without -f, -y, -o, -t, -tt, -ttt, -r, -T, -i; perf trace. Lines of other
//          programs are errors.
// Fails    LogError with the line.
#pragma once

#include "tools/kmirror/strace_line.h"

#include <functional>
#include <istream>

namespace kmirror::replay {

// What a call does to address spaces, processes and descriptors; all others are left out.
enum class Sys {
    Execve,
    Brk,
    Mmap,
    Munmap,
    Mprotect,
    Mremap,
    Madvise,
    Mlock,
    Munlock,
    Mlockall,
    Munlockall,
    Mbind,
    Mseal,
    SetName,
    Shmget,
    Shmat,
    Shmdt,
    Fork,
    Open,
    Memfd,
    Dup,
    Close,
    Chdir,
    Exit,      // one thread has ended
    ExitGroup, // all threads of the process
};

struct Call {
    std::size_t first_line; // where it began
    std::size_t line;       // where it ended
    int pid;                // thread; 0: a log without pids
    Sys sys;
    std::int64_t result;  // as logged; a failed call has -1 and `error`
    std::string error;    // "ENOMEM"; empty: it succeeded
    std::uint64_t arg[6]; // numbers and flags, in the order of the system call
    std::string text;     // a path: of an open file (-y), of the program, the name to be given
    std::string base;     // a path that `text` is relative to, if the log has it
};

struct Log {
    std::vector<Call> calls;
    std::size_t lines = 0;
    bool perf = false;
};

// `progress` is told the bytes read so far, now and then.
Log read_log(std::istream &in, const std::function<void(std::size_t)> &progress);

} // namespace kmirror::replay
