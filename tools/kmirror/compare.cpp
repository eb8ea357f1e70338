// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror compare: the results of several files, or of several settings of one, beside each other.
//
// Fails    with kBadInput when a file cannot be read or nothing can be compared; nothing is printed then.

#include "tools/kmirror/commands.h"
#include "tools/kmirror/compare_table.h"
#include "tools/kmirror/stress.h"

#include <cstdio>

namespace kmirror::command {
namespace {

// "generation=sheaves,tasks=4"; false: a part is no NAME=VALUE.
bool parse_axes(const std::string &text, Axes &axes)
{
    for (const std::string &part : split(text)) {
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos || equals == 0)
            return false;
        axes.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    }
    return true;
}

} // namespace

int compare_main(const CompareOptions &options)
{
    std::vector<Results> results;
    for (const std::string &file : options.files) {
        results.emplace_back();
        std::string error;
        if (!read_results(file, results.back(), error))
            return bad_option("compare", file, "it takes a result file of kmirror's --json: " + error);
    }
    Alignment alignment;
    alignment.by = options.by;
    if (!options.free.empty())
        alignment.free = split(options.free);
    if (!options.select.empty() && !parse_axes(options.select, alignment.only))
        return bad_option("--select", options.select, "it takes axes such as generation=sheaves,tasks=4");
    const std::vector<Group> groups = align(results, alignment);
    if (groups.empty()) {
        std::fprintf(stderr, "kmirror: nothing to compare: no setting is in two columns; --free AXIS leaves an "
                             "axis out, --by AXIS compares its values\n");
        return kBadInput;
    }
    for (const Group &group : groups)
        options.intervals ? print_intervals(group, stdout) : print_lkp(group, stdout);
    return kDone;
}

} // namespace kmirror::command
