// SPDX-License-Identifier: GPL-2.0-only
//
// Series in result files; see results.h.

#include "slab/implementation.h"
#include "tools/kmirror/results.h"

#include <kmirror/slab_ops.h>
#include <kmirror/topology.h>
#include <sys/utsname.h>

#include <optional>
#include <thread>

#include KMIRROR_COMMIT_HEADER

namespace kmirror::command {
namespace {

constexpr int kSeriesVersion = 1;

#if defined(__SANITIZE_THREAD__)
constexpr const char* kSanitizer = "thread";
#elif defined(__SANITIZE_ADDRESS__)
constexpr const char* kSanitizer = "address";
#else
constexpr const char* kSanitizer = "none";
#endif

std::string stem(const std::string& file) {
    const std::size_t slash = file.rfind('/');
    const std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
    return name.ends_with(".json") ? name.substr(0, name.size() - 5) : name;
}

// False: this is no series.
bool read_one(const Json& json, const std::string& at, Series& series) {
    const std::optional<std::string> metric = json.string(at + "/metric");
    if (!metric || json.size(at + "/values") == 0) return false;
    series.metric = *metric;
    for (const std::string& axis : json.names(at + "/axes")) {
        const std::optional<std::string> value = json.string(at + "/axes/" + axis);
        if (!value) return false;
        series.axes.emplace_back(axis, *value);
    }
    for (std::size_t i = 0; i < json.size(at + "/values"); ++i) {
        const std::optional<double> value = json.number(at + "/values/" + std::to_string(i));
        if (!value) return false;
        series.values.push_back(*value);
    }
    return true;
}

}  // namespace

std::string axis_of(const Axes& axes, const std::string& name) {
    for (const auto& [axis, value] : axes)
        if (axis == name) return value;
    return "";
}

void put_series(Json& json, const std::vector<Series>& series) {
    json.set("/series_version", kSeriesVersion);
    for (std::size_t i = 0; i < series.size(); ++i) {
        const std::string at = "/series/" + std::to_string(i);
        for (const auto& [axis, value] : series[i].axes) json.set(at + "/axes/" + axis, value);
        json.set(at + "/metric", series[i].metric);
        for (std::size_t k = 0; k < series[i].values.size(); ++k)
            json.set(at + "/values/" + std::to_string(k), series[i].values[k]);
    }
}

void put_origin(Json& json) {
    utsname host = {};
    uname(&host);
    json.set("/machine/description", kmirror_machine_describe());
    json.set("/machine/cpus", slab_under_test().nr_cpus());
    json.set("/machine/nodes", slab_under_test().nr_nodes());
    json.set("/machine/host_cpus", std::thread::hardware_concurrency());
    json.set("/machine/host_kernel", std::string(host.sysname) + " " + host.release + " " + host.machine);
    json.set("/implementation", slab_under_test().name);
    json.set("/build/commit", KMIRROR_COMMIT);
    json.set("/build/compiler", __VERSION__);
    json.set("/build/sanitizer", kSanitizer);
}

bool read_results(const std::string& file, Results& results, std::string& error) {
    const std::optional<Json> json = Json::read(file, error);
    if (!json) return false;
    results.name = stem(file);
    results.made_by = json->string("/schema").value_or("");
    if (json->number("/series_version") != kSeriesVersion) {
        error = "it has no series of version " + std::to_string(kSeriesVersion);
        return false;
    }
    for (std::size_t i = 0; i < json->size("/series"); ++i) {
        results.series.emplace_back();
        if (read_one(*json, "/series/" + std::to_string(i), results.series.back())) continue;
        error = "series " + std::to_string(i) + " has no metric, no values, or an axis that is no text";
        return false;
    }
    return true;
}

}  // namespace kmirror::command
