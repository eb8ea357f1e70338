// SPDX-License-Identifier: GPL-2.0-only
//
// The log between a test process and its supervisor: lines "B name", "p name" / "f name" / "s name", "E".
// A record is one write(), so it is whole even if the process dies right after it.

#include "tools/testing/runlog.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace kmirror::testing {
namespace {

std::string whole_file(int fd) {
    std::string text;
    char buffer[4096];
    for (off_t at = 0;;) {
        const ssize_t got = pread(fd, buffer, sizeof(buffer), at);
        if (got <= 0) return text;
        text.append(buffer, static_cast<std::size_t>(got));
        at += got;
    }
}

void count(Progress& progress, char kind) {
    if (kind == 'p') ++progress.passed;
    if (kind == 'f') ++progress.failed;
    if (kind == 's') ++progress.skipped;
    progress.current.clear();
}

}  // namespace

RunLog RunLog::create() {
    const int fd = memfd_create("kmirror-test-log", 0);
    if (fd < 0) {
        std::fprintf(stderr, "kmirror-tests: memfd_create: %s\n", std::strerror(errno));
        std::exit(2);
    }
    return RunLog(fd);
}

void RunLog::record(char kind, const std::string& text) const {
    if (fd_ < 0) return;
    const std::string line = std::string(1, kind) + " " + text + "\n";
    if (write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

void RunLog::started(const std::string& name) const { record('B', name); }

void RunLog::finished(const std::string& name, Outcome outcome) const {
    record(static_cast<char>(outcome), name);
}

void RunLog::completed() const { record('E', ""); }

Progress RunLog::read() const {
    Progress progress;
    std::istringstream lines(whole_file(fd_));
    for (std::string line; std::getline(lines, line);) {
        if (line[0] == 'B') {
            progress.begun.push_back(progress.current = line.substr(2));
        } else if (line[0] == 'E') {
            progress.complete = true;
        } else {
            count(progress, line[0]);
        }
    }
    return progress;
}

}  // namespace kmirror::testing
