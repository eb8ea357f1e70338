// SPDX-License-Identifier: GPL-2.0-only
//
// Work in a process of its own: a finding ends that process, and the caller goes on.
//
// Owns     the child, until it has ended.
// Bounds   kMostSeconds, after which the child is ended; kMostOutput bytes of output are kept.
// Locking  the caller has one thread.
// Fails    a process that cannot be made is a failed run, whose `said` says why.
#ifndef KMIRROR_FUZZ_APART_H
#define KMIRROR_FUZZ_APART_H

#include <functional>
#include <string>

namespace kmirror::fuzz {

struct Apart {
    bool failed = false;
    std::string said;  // what the work wrote
    // What tells this failure from others: the sanitizer's kind and function, "fuzz", or the signal.
    std::string kind;
};

enum class Keep { Stderr, Output };

// Calls `work` in a child. Keep::Stderr: keeps what it writes to stderr. Keep::Output: keeps what it writes to
// the descriptor that it is given, and stderr stays the caller's.
Apart run_apart(const std::function<void(int output)> &work, Keep keep);

} // namespace kmirror::fuzz

#endif
