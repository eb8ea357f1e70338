// SPDX-License-Identifier: GPL-2.0-only
//
// What --fault and KMIRROR_FAULT take: any text sets points within their limits, or is refused in one line and
// changes nothing.
#include "fuzz/target.h"

#include <kmirror/fault.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace kmirror::fuzz {
namespace {

using Attributes = std::vector<struct kmirror_fault_attr>;

// Unused bytes of the names are zero, so that equal attributes are equal bytes.
Attributes all_attributes()
{
    Attributes all;
    for (unsigned i = 0; const char *name = kmirror_fault_point(i); i++) {
        struct kmirror_fault_attr attr;
        std::memset(static_cast<void *>(&attr), 0, sizeof(attr));
        kmirror_fault_get(name, &attr);
        all.push_back(attr);
    }
    return all;
}

bool same(const struct kmirror_fault_attr &a, const struct kmirror_fault_attr &b)
{
    return a.probability == b.probability && a.interval == b.interval && a.times == b.times &&
           a.space == b.space && a.verbose == b.verbose && a.task_filter == b.task_filter &&
           a.stacktrace_depth == b.stacktrace_depth && std::strcmp(a.require_func, b.require_func) == 0 &&
           std::strcmp(a.reject_func, b.reject_func) == 0 && a.min_order == b.min_order &&
           std::strcmp(a.cache, b.cache) == 0 && a.cache_filter == b.cache_filter;
}

void run_config(std::span<const std::uint8_t> input)
{
    static const Attributes defaults = all_attributes();
    const std::string text(input.begin(), input.end());
    char message[256] = "";
    const int error = kmirror_fault_configure(text.c_str(), message, sizeof(message));
    const Attributes now = all_attributes();
    if (error == -EINVAL && (!message[0] || std::strchr(message, '\n')))
        fail("a setting is refused without one line that says why");
    for (std::size_t i = 0; i < now.size(); i++) {
        const char *name = kmirror_fault_point(unsigned(i));
        if (error && !same(now[i], defaults[i]))
            fail(std::string("a setting that was refused has changed ") + name);
        if (!(now[i].probability >= 0 && now[i].probability <= 100) || now[i].interval == 0 ||
            now[i].times < -1 || now[i].verbose > 2 || now[i].stacktrace_depth > 32)
            fail(std::string("an attribute is out of its limits: ") + name);
        // The harness's budgets have no attributes.
        if (!error && std::strcmp(name, "harness_budget") != 0 && kmirror_fault_set(name, &defaults[i]) != 0)
            fail(std::string("the defaults cannot be set again: ") + name);
    }
}

} // namespace

const Target fault_config_fuzz = {"fault_config_fuzz", nullptr, run_config};

} // namespace kmirror::fuzz
