// SPDX-License-Identifier: GPL-2.0-only
//
// Workers, and statistics of few values; see slab_cell.h.

#include "tools/bench/slab_cell.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

extern char** environ;

namespace kmirror::bench {
namespace {

// The environment with `changes` (NAME=value) in the place of what it has under those names.
std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
    std::vector<std::string> all = changes;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::string name = text.substr(0, text.find('=') + 1);
        if (std::none_of(changes.begin(), changes.end(),
                         [&](const std::string& change) { return change.starts_with(name); }))
            all.push_back(text);
    }
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

std::string read_all(int fd) {
    std::string text;
    char part[256];
    for (ssize_t n; (n = read(fd, part, sizeof(part))) > 0;) text.append(part, static_cast<std::size_t>(n));
    return text;
}

// What the worker prints, or "error ..." in its place.
std::string run_worker_process(const std::string& kind, const SlabRow& row, const SlabColumn& column) {
    std::vector<std::string> arguments = {"kmirror-bench", kind, row.id(), column.ours() ? "ours" : "malloc",
                                          column.library};
    std::vector<std::string> changes;
    if (column.ours()) changes.push_back("KMIRROR_SLAB=" + column.generation);
    if (!column.library.empty()) changes.push_back("LD_PRELOAD=" + column.library);
    std::vector<std::string> environment = environment_with(changes);

    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return "error no pipe";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t child = 0;
    const int failed = posix_spawn(&child, column.program.c_str(), &actions, nullptr,
                                   pointers(arguments).data(), pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text = failed ? std::string("error ") + std::strerror(failed) : read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    if (!failed) waitpid(child, &status, 0);
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text.empty() ? "error the worker said nothing" : text;
}

}  // namespace

Sample measure(const SlabRow& row, const SlabColumn& column) {
    Sample sample;
    if (!column.missing.empty()) {
        sample.error = column.missing;
    } else if (row.ours_only() && !column.ours()) {
        sample.error = "no such call";
    } else {
        const std::string text = run_worker_process("--worker", row, column);
        if (std::sscanf(text.c_str(), "ns %lf %lu", &sample.ns, &sample.unaligned) != 2) sample.error = text;
    }
    return sample;
}

MemorySample measure_memory(const SlabRow& row, const SlabColumn& column) {
    MemorySample sample;
    if (!column.missing.empty()) {
        sample.error = column.missing;
        return sample;
    }
    const std::string text = run_worker_process("--memory-worker", row, column);
    if (std::sscanf(text.c_str(), "memory %ld %ld %lu %lu %u", &sample.live_bytes, &sample.kept_bytes,
                    &sample.slabs, &sample.slabs_kept, &sample.slab_bytes) != 5)
        sample.error = text;
    return sample;
}

Middle middle_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        const double place = share * static_cast<double>(values.size() - 1);
        const auto below = static_cast<std::size_t>(place);
        const std::size_t above = std::min(below + 1, values.size() - 1);
        return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
    };
    return {at(0.5), at(0.25), at(0.75)};
}

}  // namespace kmirror::bench
