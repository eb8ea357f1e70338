// SPDX-License-Identifier: GPL-2.0-only
//
// Child processes, seeds and expected warnings for tests.
//
// Owns     nothing that outlives a call, but the process's seed and the count of expected warnings.
// Bounds   a child is killed after test_timeout_seconds(); its output is kept whole in memory.
// Fails    as a failure of the running test, never by exception.

#include "tools/testing/harness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>

#include <kmirror/printk.h>

namespace kmirror::testing {
namespace {

using Clock = std::chrono::steady_clock;

unsigned long warnings_answered = 0;

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return otherwise;
    char* end = nullptr;
    errno = 0;
    const std::uint64_t value = std::strtoull(text, &end, 0);
    if (errno != 0 || *end != '\0' || *text == '-') {
        std::fprintf(stderr, "%s=%s is not possible; %s is a number\n", name, text, name);
        std::exit(2);
    }
    return value;
}

std::uint64_t draw_seed() {
    std::random_device device;
    return device() & 0xffffffffu;  // short enough to type
}

std::string running_test() {
    const ::testing::TestInfo* info = ::testing::UnitTest::GetInstance()->current_test_info();
    return std::string(info->test_suite_name()) + "." + info->name();
}

bool same_name(const std::string& a, const std::string& b) {
    const std::size_t length = a.find('=');
    return length == b.find('=') && a.compare(0, length, b, 0, length) == 0;
}

// For this process only: its supervisor's log, and which half of the tests it runs.
bool stays_here(const std::string& variable) {
    for (const char* name : {"KMIRROR_TEST_WORKER=", "GTEST_TOTAL_SHARDS=", "GTEST_SHARD_INDEX="})
        if (variable.rfind(name, 0) == 0) return true;
    return false;
}

// This process's environment with `added` put over it, and what is for this process only taken out.
std::vector<std::string> child_environment(std::vector<std::string> added) {
    added.push_back("KMIRROR_TEST_CHILD=1");
    added.push_back("KMIRROR_SEED=" + std::to_string(seed()));
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        bool keep = !stays_here(text);
        for (const std::string& other : added) keep = keep && !same_name(text, other);
        if (keep) all.push_back(text);
    }
    all.insert(all.end(), added.begin(), added.end());
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> out;
    for (std::string& text : strings) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

// Starts this binary with its stdout and stderr in `write_end`; returns its pid, or -1.
pid_t spawn_self(std::vector<std::string> arguments, std::vector<std::string> environment, int write_end) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, write_end, STDERR_FILENO);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, pointers(arguments).data(),
                                  pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? pid : -1;
}

// Reads `fd` to its end into `output`; false when `deadline` came first.
bool read_until(int fd, Clock::time_point deadline, std::string& output) {
    char buffer[4096];
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        pollfd waiting{fd, POLLIN, 0};
        if (poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
        const ssize_t got = read(fd, buffer, sizeof(buffer));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        output.append(buffer, static_cast<std::size_t>(got));
    }
}

void reap(pid_t pid, ChildResult& result) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    result.exited = WIFEXITED(status);
    result.status = result.exited ? WEXITSTATUS(status) : 0;
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

std::string end_of(const ChildResult& result) {
    if (result.timed_out) return "was killed after " + std::to_string(test_timeout_seconds()) + " s";
    if (result.exited) return "ended with status " + std::to_string(result.status);
    return "was ended by signal " + std::to_string(result.signal) + " (" + strsignal(result.signal) + ")";
}

}  // namespace

std::uint64_t seed() {
    static const std::uint64_t value = number_from("KMIRROR_SEED", draw_seed());
    return value;
}

bool in_child() { return std::getenv("KMIRROR_TEST_CHILD") != nullptr; }

unsigned test_timeout_seconds() {
    static const auto value = static_cast<unsigned>(number_from("KMIRROR_TEST_TIMEOUT", 120));
    return value;
}

ChildResult rerun_this_test(const std::vector<std::string>& environment) {
    ChildResult result;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ADD_FAILURE() << "pipe2: " << strerror(errno);
        return result;
    }
    const std::string self = ::testing::internal::GetArgvs().front();
    const pid_t pid = spawn_self({self, "--here", "--gtest_filter=" + running_test()},
                                 child_environment(environment), ends[1]);
    close(ends[1]);
    if (pid > 0) {
        const auto deadline = Clock::now() + std::chrono::seconds(test_timeout_seconds());
        result.timed_out = !read_until(ends[0], deadline, result.output);
        if (result.timed_out) kill(pid, SIGKILL);
        reap(pid, result);
    } else {
        ADD_FAILURE() << "this test could not be started as a child process";
    }
    close(ends[0]);
    return result;
}

void run_in_child(const std::vector<std::string>& environment, void (*body)()) {
    if (in_child()) return body();
    const ChildResult result = rerun_this_test(environment);
    if (result.exited && result.status == 77) GTEST_SKIP() << result.output;
    std::string names;
    for (const std::string& entry : environment) names += entry + " ";
    EXPECT_TRUE(result.passed()) << "in a child with " << names << "the test " << end_of(result) << ":\n"
                                 << result.output;
}

ExpectWarnings::ExpectWarnings(unsigned long expected)
    : expected_(expected), at_start_(kmirror_warn_count()) {}

ExpectWarnings::~ExpectWarnings() {
    warnings_answered += seen();
    EXPECT_EQ(seen(), expected_) << "warnings were printed in a scope that expected " << expected_;
}

unsigned long ExpectWarnings::seen() const { return kmirror_warn_count() - at_start_; }

unsigned long warnings_expected() { return warnings_answered; }

}  // namespace kmirror::testing
