// SPDX-License-Identifier: GPL-2.0-only
//
// Runs of kmirror-sim; see sim_process.h. It stands beside this program.
//
// Owns     the processes it started, until each has ended; they end with this one, whose pipes they write to.
// Locking  none: one thread that polls.
// Fails    as said there.

#include "tools/kmirror/sim_process.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace kmirror::command {
namespace {

constexpr double kPsPerNs = 1000, kPsPerSecond = 1e12;

struct Child {
    pid_t pid = 0;
    int pipe = -1;
    std::size_t run = 0;
    std::string rest;  // of a line that has not ended
};

std::vector<std::string> split_tabs(std::string_view line) {
    std::vector<std::string> words;
    for (;;) {
        const auto end = line.find('\t');
        words.emplace_back(line.substr(0, end));
        if (end == std::string_view::npos) return words;
        line.remove_prefix(end + 1);
    }
}

double as_double(const std::string& text) { return std::strtod(text.c_str(), nullptr); }
std::uint64_t as_count(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

void read_lock(const std::vector<std::string>& words, SimRun& run) {
    if (words.size() != 8) return;
    run.locks[words[1]] = {as_count(words[2]), as_count(words[3]), as_double(words[4]) / kPsPerNs,
                           as_double(words[5]) / kPsPerNs, as_double(words[6]) / kPsPerNs,
                           as_double(words[7]) / kPsPerNs};
}

void read_line(const std::string& line, SimRun& run, const SimProgress& progress, std::size_t done) {
    const std::vector<std::string> words = split_tabs(line);
    if (words[0] == "figure" && words.size() == 3) {
        run.figures[words[1]] = as_double(words[2]);
    } else if (words[0] == "lock") {
        read_lock(words, run);
    } else if (words[0] == "line" && words.size() == 5) {
        run.lines.push_back({words[1], words[2], as_count(words[3]), as_double(words[4]) / kPsPerNs});
    } else if (words[0] == "cpu" && words.size() == 3) {
        run.cpu_iterations.push_back(as_count(words[2]));
    } else if (words[0] == "wrong" && words.size() == 2) {
        run.wrong.push_back(words[1]);
    } else if (words[0] == "hash" && words.size() == 2) {
        run.hash = words[1];
    } else if (words[0] == "progress" && words.size() == 3) {
        progress(run.spec, as_double(words[1]), as_count(words[2]), done);
    }
}

std::string program() {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    const std::string self(path, length > 0 ? static_cast<std::size_t>(length) : 0);
    return self.substr(0, self.rfind('/') + 1) + "kmirror-sim";
}

std::vector<std::string> arguments_of(const SimSpec& spec) {
    std::vector<std::string> all = {"kmirror-sim",
                                    "machine=" + spec.machine,
                                    "load=" + spec.load,
                                    "generation=" + spec.generation,
                                    "tasks=" + std::to_string(spec.tasks),
                                    "sheaves=" + std::to_string(spec.sheaves),
                                    "seed=" + std::to_string(spec.seed),
                                    "warm=" + std::to_string(spec.warm),
                                    "periods=" + std::to_string(spec.periods),
                                    "lines=" + std::to_string(spec.lines),
                                    "progress=1"};
    for (const std::string& change : spec.changes) all.push_back("set=" + change);
    all.insert(all.end(), spec.more.begin(), spec.more.end());
    return all;
}

bool start(const SimSpec& spec, std::size_t run, Child& child) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    const std::string path = program();
    std::vector<std::string> arguments = arguments_of(spec);
    std::vector<char*> argv;
    for (std::string& each : arguments) argv.push_back(each.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int error = posix_spawn(&child.pid, path.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
        std::fprintf(stderr, "kmirror: %s cannot be started; `make all` builds it\n", path.c_str());
        close(ends[0]);
        return false;
    }
    child.pipe = ends[0];
    child.run = run;
    child.rest.clear();
    return true;
}

// Reads what there is; false at the end of it.
bool read_some(Child& child, SimRun& run, const SimProgress& progress, std::size_t done) {
    char buffer[8192];
    const ssize_t length = read(child.pipe, buffer, sizeof(buffer));
    if (length <= 0) return false;
    child.rest.append(buffer, static_cast<std::size_t>(length));
    for (std::size_t end; (end = child.rest.find('\n')) != std::string::npos; child.rest.erase(0, end + 1))
        read_line(child.rest.substr(0, end), run, progress, done);
    return true;
}

void end(Child& child, SimRun& run) {
    close(child.pipe);
    int status = 0;
    waitpid(child.pid, &status, 0);
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (run.status > 1) run.wrong.push_back("kmirror-sim ended with status " + std::to_string(run.status));
}

// Waits until one of the children has said something.
void wait_for_output(const std::vector<Child>& children, std::vector<pollfd>& polled) {
    polled.clear();
    for (const Child& child : children) polled.push_back({child.pipe, POLLIN, 0});
    poll(polled.data(), polled.size(), -1);
}

// Settings that cannot be are refused once, before anything runs.
bool possible(const std::vector<SimSpec>& specs) {
    for (SimSpec spec : specs) {
        spec.more.push_back("check=1");
        Child child;
        SimRun ignored;
        if (!start(spec, 0, child)) return false;
        end(child, ignored);
        if (ignored.status != 0) return false;
    }
    return true;
}

}  // namespace

bool run_simulations(const std::vector<SimSpec>& specs, unsigned jobs, std::vector<SimRun>& runs,
                     const SimProgress& progress) {
    if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
    runs.assign(specs.size(), {});
    std::vector<Child> children;
    std::vector<pollfd> polled;
    std::size_t next = 0, done = 0;
    if (!possible(specs)) return false;
    while (!children.empty() || next < specs.size()) {
        for (; next < specs.size() && children.size() < jobs; next++) {
            runs[next].spec = specs[next];
            Child child;
            if (!start(specs[next], next, child)) return false;
            children.push_back(child);
        }
        wait_for_output(children, polled);
        for (std::size_t i = children.size(); i-- != 0;) {
            if (polled[i].revents == 0 || read_some(children[i], runs[children[i].run], progress, done)) continue;
            end(children[i], runs[children[i].run]);
            children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
            done++;
        }
    }
    return true;
}

double SimRun::figure(const std::string& name) const {
    const auto found = figures.find(name);
    return found == figures.end() ? 0 : found->second;
}

double SimRun::per_task() const {
    const double seconds = figure("window_ps") / kPsPerSecond;
    return seconds > 0 ? figure("iterations") / seconds / spec.tasks : 0;
}

double SimRun::acquisitions_per_1000(const std::string& lock) const {
    const auto found = locks.find(lock);
    return found == locks.end() || figure("iterations") == 0
               ? 0
               : 1000 * static_cast<double>(found->second.acquisitions) / figure("iterations");
}

double SimRun::wait_share(const std::string& lock) const {
    const auto found = locks.find(lock);
    const double cpus = std::min<double>(spec.tasks, figure("cpus"));
    const double time = figure("window_ps") / kPsPerNs * cpus;
    return found == locks.end() || time == 0 ? 0 : found->second.wait_ns / time;
}

double SimRun::hold_ns(const std::string& lock) const {
    const auto found = locks.find(lock);
    return found == locks.end() || found->second.acquisitions == 0
               ? 0
               : found->second.hold_ns / static_cast<double>(found->second.acquisitions);
}

double SimRun::contended_share(const std::string& lock) const {
    const auto found = locks.find(lock);
    return found == locks.end() || found->second.acquisitions == 0
               ? 0
               : static_cast<double>(found->second.contended) / static_cast<double>(found->second.acquisitions);
}

std::string SimRun::worst_lock() const {
    const auto worst = std::max_element(locks.begin(), locks.end(), [](const auto& a, const auto& b) {
        return a.second.wait_ns < b.second.wait_ns;
    });
    return worst == locks.end() || worst->second.wait_ns == 0 ? "" : worst->first;
}

}  // namespace kmirror::command
