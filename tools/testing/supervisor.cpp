// SPDX-License-Identifier: GPL-2.0-only
//
// The process that watches the tests.
//
// Bounds   every worker that dies has begun at least one test (or the run ends), so there are at most as many
// workers
//          as tests.
// Fails    a worker that cannot be started ends the run with status 2.

#include "tools/testing/supervisor.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tools/testing/harness.h"
#include "tools/testing/listener.h"
#include "tools/testing/runlog.h"

namespace kmirror::testing {
namespace {

struct Totals {
    unsigned passed = 0, failed = 0, skipped = 0;
    std::vector<std::string> begun;

    unsigned cases() const { return passed + failed + skipped; }
};

// `filter` without the tests that were begun before.
std::string remaining(const std::string& filter, const std::vector<std::string>& begun) {
    if (begun.empty()) return filter;
    std::string text = filter + (filter.find('-') == std::string::npos ? "-" : ":");
    for (const std::string& name : begun) text += name + ":";
    return text;
}

int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

// Starts a worker with its log and its first number in the environment, and waits for its end.
int run_worker(std::vector<std::string> arguments, const RunLog& log, unsigned first_number) {
    setenv("KMIRROR_TEST_WORKER", std::to_string(log.fd()).c_str(), 1);
    setenv("KMIRROR_TEST_FIRST", std::to_string(first_number).c_str(), 1);
    setenv("KMIRROR_SEED", std::to_string(seed()).c_str(), 1);
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, raw.data(), environ);
    if (error != 0) {
        std::fprintf(stderr, "kmirror-tests: the worker did not start: %s\n", std::strerror(error));
        std::exit(2);
    }
    return wait_for(pid);
}

std::string death(int status) {
    if (WIFEXITED(status)) return "the process ended with status " + std::to_string(WEXITSTATUS(status));
    const int signal = WTERMSIG(status);
    if (signal == SIGALRM) return "it did not end within " + std::to_string(test_timeout_seconds()) + " s";
    return std::string("the process died: ") + strsignal(signal);
}

// Adds what a worker did; when it died, prints the line that its last test could not print.
void add(Totals& totals, const Progress& progress, int status) {
    totals.passed += progress.passed;
    totals.failed += progress.failed;
    totals.skipped += progress.skipped;
    totals.begun.insert(totals.begun.end(), progress.begun.begin(), progress.begun.end());
    if (progress.complete && WIFEXITED(status)) return;
    const std::string name =
        progress.current.empty() ? "the test process lives to its end" : progress.current;
    const std::string note = death(status) + (progress.current.empty() ? "" : "; " + replay_note(name));
    ++totals.failed;
    std::puts(result_line("not ok", totals.cases(), name, note).c_str());
    std::fflush(stdout);
}

}  // namespace

int supervise(int argc, char** argv) {
    const std::string filter = GTEST_FLAG_GET(filter);
    Totals totals;
    for (bool again = true; again;) {
        std::vector<std::string> arguments(argv, argv + argc);
        arguments.push_back("--gtest_filter=" + remaining(filter, totals.begun));
        const RunLog log = RunLog::create();
        const int status = run_worker(arguments, log, totals.cases() + 1);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 2) return 2;  // it has said why
        const Progress progress = log.read();
        add(totals, progress, status);
        again = !progress.complete && !progress.begun.empty();
        close(log.fd());
    }
    std::printf("%u passed, %u failed, %u skipped\n", totals.passed, totals.failed, totals.skipped);
    return totals.failed == 0 ? 0 : 1;
}

}  // namespace kmirror::testing
