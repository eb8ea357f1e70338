// SPDX-License-Identifier: GPL-2.0-only
//
// What a test process leaves behind for the process that watches it: one record per test begun, ended, and
// the end.
//
// Owns     a file that exists only as a descriptor, inherited by the worker (KMIRROR_TEST_WORKER=descriptor).
// Fails    never silently: without the file the run ends with a message.
#pragma once

#include <string>
#include <vector>

namespace kmirror::testing {

enum class Outcome : char { Passed = 'p', Failed = 'f', Skipped = 's' };

// How far a run came.
struct Progress {
    std::vector<std::string> begun;  // every test that was started, in order
    std::string current;    // begun and not ended: where the process died; empty if between two tests
    bool complete = false;  // the run reached its end
    unsigned passed = 0, failed = 0, skipped = 0;
};

class RunLog {
public:
    // A new, empty log. Ends the process with status 2 if there is none to be had.
    static RunLog create();
    // The log whose descriptor a supervisor passed on; with -1 records go nowhere.
    explicit RunLog(int fd) : fd_(fd) {}

    int fd() const { return fd_; }
    void started(const std::string& name) const;
    void finished(const std::string& name, Outcome outcome) const;
    void completed() const;
    Progress read() const;

private:
    void record(char kind, const std::string& text) const;
    int fd_;
};

}  // namespace kmirror::testing
