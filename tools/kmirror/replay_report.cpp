// SPDX-License-Identifier: GPL-2.0-only
//
// The two presentations of a replay: for people (the maps, then lines that begin with #), and JSON.
#include "tools/kmirror/replay.h"

#include "tools/kmirror/json.h"
#include "tools/kmirror/table.h"

#include <kmirror/lockstat.h>

#include <cinttypes>
#include <cstdio>

namespace kmirror::replay {
namespace {

using command::count;
using command::percent;

constexpr std::size_t kShownMisses = 10;
constexpr const char *kLocks[] = {"&mm->mmap_lock", "&n->list_lock", "&barn->lock"};

double share(std::size_t part, std::size_t whole)
{
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 1;
}

void print_misses(const Tally &tally)
{
    std::size_t shown = 0;
    for (const Miss &miss : tally.misses) {
        if (shown++ == kShownMisses) {
            std::printf("#   and %s more\n", count(tally.misses.size() - kShownMisses).c_str());
            break;
        }
        if (miss.predicted)
            std::printf("#   line %zu: %" PRIx64 " predicted, %" PRIx64 " logged: %s\n", miss.line,
                        miss.predicted, miss.actual, miss.why.c_str());
        else
            std::printf("#   line %zu: %" PRIx64 " logged: %s\n", miss.line, miss.actual, miss.why.c_str());
    }
}

void print_divergences(const Tally &tally)
{
    if (tally.diverged)
        std::printf("# %s calls ended otherwise here than in the log:\n", count(tally.diverged).c_str());
    for (const Divergence &each : tally.divergences)
        std::printf("#   line %zu: %s\n", each.line, each.what.c_str());
}

void print_stats(const Outcome &outcome)
{
    for (const CacheCount &cache : outcome.caches)
        std::printf("# cache %s: %s objects in %s slabs, sheaves of %s\n", cache.name.c_str(),
                    count(cache.objects).c_str(), count(cache.slabs).c_str(),
                    count(cache.sheaf_capacity).c_str());
    for (const char *name : kLocks) {
        kmirror_lock_stat stat;
        if (kmirror_lockstat_get(name, &stat))
            std::printf("# lock %s: taken %s times, %s contended\n", name, count(stat.acquisitions).c_str(),
                        count(stat.contended).c_str());
    }
}

void print_verdict(const Outcome &outcome, const command::ReplayOptions &options)
{
    if (!outcome.compared)
        return;
    std::printf("# %zu lines of %s are what exec made and no log shows\n", outcome.taken,
                options.maps.c_str());
    if (outcome.equal)
        std::printf("# equal to %s after line %zu\n", options.maps.c_str(), outcome.equal_line);
    else
        std::printf("# DIFFERENT from %s at all %zu states compared; nearest after line %zu, %s\n",
                    options.maps.c_str(), outcome.states, outcome.equal_line, outcome.difference.c_str());
}

} // namespace

void print_outcome(const Outcome &outcome, const command::ReplayOptions &options)
{
    const Tally &tally = outcome.tally;
    std::fputs(to_string(outcome.maps).c_str(), stdout);
    std::printf("# process %d: %s\n", outcome.pid, outcome.why_pid.c_str());
    std::printf("# %s lines, %s calls on address spaces, %s processes, %s threads more, %s execs\n",
                count(outcome.lines).c_str(), count(tally.calls).c_str(), count(tally.processes).c_str(),
                count(tally.threads).c_str(), count(tally.images).c_str());
    std::printf("# mmap without an address: %s of %s predicted, %s\n", count(tally.hits).c_str(),
                count(tally.placed).c_str(), percent(share(tally.hits, tally.placed)).c_str());
    print_misses(tally);
    if (tally.reordered)
        std::printf("# %s unfinished calls took effect before their end\n", count(tally.reordered).c_str());
    print_divergences(tally);
    if (options.stats)
        print_stats(outcome);
    if (options.validate)
        std::printf("# %lu rules broken\n", outcome.violations);
    print_verdict(outcome, options);
}

bool write_outcome(const Outcome &outcome, const command::ReplayOptions &options, std::string &error)
{
    const Tally &tally = outcome.tally;
    command::Json json("kmirror-replay", 1);
    json.set("/log", options.log);
    json.set("/pid", outcome.pid);
    json.set("/lines", outcome.lines);
    json.set("/calls", tally.calls);
    json.set("/processes", tally.processes);
    json.set("/threads", tally.threads);
    json.set("/execs", tally.images);
    json.set("/placed", tally.placed);
    json.set("/predicted", tally.hits);
    json.set("/reordered", tally.reordered);
    json.set("/diverged", tally.diverged);
    for (std::size_t i = 0; i < tally.misses.size(); i++) {
        const std::string at = "/misses/" + std::to_string(i);
        json.set(at + "/line", tally.misses[i].line);
        json.set(at + "/predicted", tally.misses[i].predicted);
        json.set(at + "/logged", tally.misses[i].actual);
        json.set(at + "/why", tally.misses[i].why);
    }
    for (std::size_t i = 0; i < outcome.maps.size(); i++)
        json.set("/maps/" + std::to_string(i), to_string(outcome.maps[i]));
    if (outcome.compared) {
        json.set("/compared/equal", outcome.equal);
        json.set("/compared/lines_of_exec", outcome.taken);
        json.set("/compared/states", outcome.states);
        json.set("/compared/after_line", outcome.equal_line);
        json.set("/compared/difference", outcome.difference);
    }
    for (const CacheCount &cache : outcome.caches) {
        json.set("/stats/caches/" + cache.name + "/objects", cache.objects);
        json.set("/stats/caches/" + cache.name + "/slabs", cache.slabs);
        json.set("/stats/caches/" + cache.name + "/sheaf_capacity", cache.sheaf_capacity);
    }
    return json.write(options.json, error);
}

} // namespace kmirror::replay
