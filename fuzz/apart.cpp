// SPDX-License-Identifier: GPL-2.0-only
//
// Work in a child; see apart.h.
#include "fuzz/apart.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace kmirror::fuzz {
namespace {

constexpr unsigned kMostSeconds = 20;
constexpr std::size_t kMostOutput = 4u << 20;

Apart impossible(const char *what)
{
    return {true, std::string(what) + ": " + std::strerror(errno), "no process"};
}

[[noreturn]] void child(const std::function<void(int)> &work, Keep keep, int output)
{
    if (keep == Keep::Stderr)
        dup2(output, STDERR_FILENO);
    alarm(kMostSeconds);
    work(output);
    std::fflush(nullptr);
    _exit(0);
}

std::string read_all(int from)
{
    std::string text;
    char block[4096];
    for (;;) {
        const ssize_t got = read(from, block, sizeof(block));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return text;
        if (text.size() < kMostOutput)
            text.append(block, std::size_t(got));
    }
}

// "SUMMARY: AddressSanitizer: KIND FILE:LINE:COLUMN in FUNCTION" without its place.
std::string kind_of(std::string_view said, int status)
{
    if (said.starts_with("fuzz: ") || said.find("\nfuzz: ") != said.npos)
        return "fuzz";
    constexpr std::string_view kSummary = "SUMMARY: ";
    if (const std::size_t at = said.find(kSummary); at != said.npos) {
        const std::string_view line = said.substr(at, said.find('\n', at) - at);
        const std::size_t tool = line.find(' ', kSummary.size());
        const std::size_t kind = tool == line.npos ? tool : line.find(' ', tool + 1);
        const std::size_t where = line.find(" in ");
        return std::string(line.substr(0, kind)) + (where == line.npos ? "" : std::string(line.substr(where)));
    }
    return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                               : "status " + std::to_string(WEXITSTATUS(status));
}

} // namespace

Apart run_apart(const std::function<void(int output)> &work, Keep keep)
{
    int ends[2];
    if (pipe(ends) != 0)
        return impossible("pipe");
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(work, keep, ends[1]);
    }
    close(ends[1]);
    Apart result;
    if (pid < 0)
        result = impossible("fork");
    else
        result.said = read_all(ends[0]);
    close(ends[0]);
    if (pid < 0)
        return result;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    result.failed = status != 0;
    if (result.failed)
        result.kind = kind_of(result.said, status);
    return result;
}

} // namespace kmirror::fuzz
