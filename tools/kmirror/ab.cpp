// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror ab: two kernels' maple trees, built and measured in turn. The kernels' code has to be compiled, so this
// hands over to `make ab` in this project's sources: the current folder, or what KMIRROR_SOURCE names.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tools/kmirror/commands.h"

namespace kmirror::command {
namespace {

std::string source_folder() {
    const char* named = std::getenv("KMIRROR_SOURCE");
    return named != nullptr && *named != '\0' ? named : ".";
}

std::string absolute(const std::string& path) {
    char* resolved = realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return {};
    std::string result = resolved;
    std::free(resolved);
    return result;
}

// "v6.12..HEAD" into its two ends. False: it is no range.
bool split(const std::string& range, std::string& base, std::string& head) {
    const std::size_t dots = range.find("..");
    if (dots == std::string::npos || dots == 0 || dots + 2 == range.size()) return false;
    base = range.substr(0, dots);
    head = range.substr(dots + 2);
    return true;
}

// Adds what names the two sides; kDone, or what bad_option() returned. With --repo the first word is no workload but
// the range. Paths are absolute, because make runs elsewhere.
int add_sides(AbOptions& options, std::vector<std::string>& line) {
    if (!options.repo.empty()) {
        std::string base, head;
        if (options.workloads.empty() || !split(options.workloads.front(), base, head))
            return bad_option("--repo", options.repo, "behind it stands REV..REV");
        options.workloads.erase(options.workloads.begin());
        if (absolute(options.repo).empty()) return bad_option("--repo", options.repo, "it is a git work tree");
        line.insert(line.end(), {"REPO=" + absolute(options.repo), "BASE=" + base, "HEAD=" + head});
        return kDone;
    }
    const std::pair<const char*, std::string> sides[] = {{"--a", options.base}, {"--b", options.head}};
    for (const auto& [option, path] : sides)
        if (absolute(path).empty())
            return bad_option(option, path, "it is a kernel tree, or a linux-*.tar.xz");
    line.insert(line.end(), {"BASE=" + absolute(options.base), "HEAD=" + absolute(options.head)});
    return kDone;
}

}  // namespace

int ab_main(const AbOptions& given) {
    AbOptions options = given;
    const std::string source = source_folder();
    if (access((source + "/tools/kdir/ab-build").c_str(), X_OK) != 0) {
        fmt::print(stderr, "kmirror: ab runs in the folder of kmirror's sources, or KMIRROR_SOURCE names it\n");
        return kBadInput;
    }
    std::vector<std::string> line = {"make", "-s", "-C", source, "RELEASE=1", "ab"};
    if (const int wrong = add_sides(options, line); wrong != kDone) return wrong;
    std::string arguments = fmt::format("ARGS=--rounds {}", options.rounds);
    for (const std::string& workload : options.workloads) arguments += " " + workload;
    line.push_back(arguments);

    std::vector<char*> raw;
    for (std::string& word : line) raw.push_back(word.data());
    raw.push_back(nullptr);
    execvp("make", raw.data());
    fmt::print(stderr, "kmirror: make: {}\n", std::strerror(errno));
    return kBadInput;
}

}  // namespace kmirror::command
