// SPDX-License-Identifier: GPL-2.0-only
//
// cmocka's tests own main() and never hand over argv: it is caught before main() runs. --gtest_output (or
// GTEST_OUTPUT) is led to a file of ours in the temporary folder, and after each group what GoogleTest wrote
// there is merged into the user's file: the suites one behind the other, the sums of the root added up.
//
// Owns     that temporary file, removed at the end of the process.

#include "lib/cmocka/report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <unistd.h>
#include <vector>

namespace kmirror::cmocka {
namespace {

namespace fs = std::filesystem;

// glibc calls the functions of .init_array with main()'s arguments; other libraries leave these empty.
constinit int main_argc = 0;
constinit char** main_argv = nullptr;
[[gnu::constructor]] void catch_arguments(int argc, char** argv, char**) {
    main_argc = argc;
    main_argv = argv;
}

std::vector<std::string> arguments;  // as GoogleTest gets them
std::string format;  // "xml", "json", or empty: no report is wanted
fs::path users_file, own_file;
std::string merged;

std::string contents(const fs::path& name) {
    std::ifstream file(name);
    return {std::istreambuf_iterator<char>(file), {}};
}

// FORMAT[:PATH], where a path that ends in / is a folder.
void read_wish(const std::string& wish) {
    const size_t colon = wish.find(':');
    format = wish.substr(0, colon);
    users_file = colon == std::string::npos ? "test_detail." + format : wish.substr(colon + 1);
    if (users_file.filename().empty()) {
        users_file /= fs::path(arguments[0]).filename().string() + "." + format;
    }
    own_file = fs::temp_directory_path() / ("cmocka-report-" + std::to_string(getpid()) + "." + format);
}

void lead_report_away() {
    constexpr const char* kFlag = "--gtest_output=";
    std::string wish;
    if (const char* variable = std::getenv("GTEST_OUTPUT")) wish = variable;
    std::erase_if(arguments, [&](const std::string& argument) {
        if (argument.rfind(kFlag, 0) != 0) return false;
        wish = argument.substr(std::char_traits<char>::length(kFlag));
        return true;
    });
    if (wish.rfind("xml", 0) != 0 && wish.rfind("json", 0) != 0) return;
    unsetenv("GTEST_OUTPUT");
    read_wish(wish);
    arguments.push_back(kFlag + format + ":" + own_file.string());
    std::atexit([] { fs::remove(own_file); });
}

// The root's attributes with the numbers of both added up; text around them is the later one's.
std::string add_numbers(const std::string& a, const std::string& b) {
    static const std::regex attribute("(tests|failures|disabled|errors|skipped|time)=\"([0-9.]+)\"");
    std::string out;
    auto rest = b.cbegin();
    for (std::sregex_iterator it(b.begin(), b.end(), attribute), end; it != end; ++it) {
        std::smatch same;
        const std::regex there((*it)[1].str() + "=\"([0-9.]+)\"");
        const double before = std::regex_search(a, same, there) ? std::stod(same[1].str()) : 0;
        const double sum = before + std::stod((*it)[2].str());
        char text[32];
        std::snprintf(text, sizeof text, (*it)[1] == "time" ? "%.3f" : "%.0f", sum);
        out.append(rest, b.cbegin() + it->position());
        out += (*it)[1].str() + "=\"" + text + "\"";
        rest = b.cbegin() + it->position() + it->length();
    }
    return out.append(rest, b.cend());
}

std::string merge_xml(const std::string& a, const std::string& b) {
    constexpr const char* kEnd = "</testsuites>";
    const size_t root_a = a.find("<testsuites"), root_b = b.find("<testsuites");
    const size_t end_a = a.find(kEnd), end_b = b.find(kEnd);
    if (end_a == std::string::npos || end_b == std::string::npos) return b;
    const size_t in_a = a.find('>', root_a) + 2, in_b = b.find('>', root_b) + 2;
    const std::string root = add_numbers(a.substr(root_a, in_a - root_a), b.substr(root_b, in_b - root_b));
    return b.substr(0, root_b) + root +
           a.substr(in_a, end_a - in_a) + b.substr(in_b, end_b - in_b) + b.substr(end_b);
}

std::string merge_json(const std::string& a, const std::string& b) {
    using nlohmann::json;
    json sum = json::parse(a);
    const json more = json::parse(b);
    for (const char* number : {"tests", "failures", "disabled", "errors"}) {
        sum[number] = sum[number].get<int>() + more[number].get<int>();
    }
    for (const json& suite : more["testsuites"]) sum["testsuites"].push_back(suite);
    return sum.dump(2) + "\n";
}

}  // namespace

void start_googletest() {
    static bool started = false;
    if (started) return;
    started = true;
    arguments.assign(main_argv, main_argv + main_argc);
    if (arguments.empty()) arguments.push_back("cmocka");
    lead_report_away();
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    int argc = static_cast<int>(raw.size());
    raw.push_back(nullptr);
    ::testing::InitGoogleTest(&argc, raw.data());
}

std::string program_name() { return arguments.empty() ? "" : arguments[0]; }

void merge_report() {
    if (format.empty()) return;
    const std::string group = contents(own_file);
    if (group.empty()) return;
    merged = merged.empty() ? group : format == "xml" ? merge_xml(merged, group) : merge_json(merged, group);
    if (users_file.has_parent_path()) fs::create_directories(users_file.parent_path());
    std::ofstream(users_file) << merged;
}

}  // namespace kmirror::cmocka
