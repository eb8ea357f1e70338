// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror replay: surveys the log, chooses the process, replays, compares with the maps file.
//
// The state agrees if it is the file's at some point from the first opening of the process's maps file in
// that image on, up to its end; without an opening, at the end. A state that can no longer become equal
// ends nothing: the points behind it are compared as well and cannot agree.
#include "tools/kmirror/replay.h"

#include "tools/kmirror/json.h"

#include <fcntl.h>
#include <kmirror/lockstat.h>
#include <kmirror/slab_info.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace kmirror::replay {
namespace {

constexpr std::size_t kProgressLines = 100000; // shorter logs show none

class LiveLine {
public:
    explicit LiveLine(bool quiet) : show_(!quiet && isatty(2)) {}
    ~LiveLine() { clear(); }
    void show(const char *what, std::size_t done, std::size_t all)
    {
        if (show_ && all)
            shown_ = std::fprintf(stderr, "\r%s %zu%%   ", what, done * 100 / all) > 0;
    }
    void clear()
    {
        if (shown_)
            std::fprintf(stderr, "\r                              \r");
        shown_ = false;
    }

private:
    bool show_;
    bool shown_ = false;
};

// Lines of two states that agree from the top.
std::size_t agreeing(const std::vector<MapLine> &a, const std::vector<MapLine> &b)
{
    std::size_t i = 0;
    while (i < a.size() && i < b.size() && difference({a[i]}, {b[i]}).empty())
        i++;
    return i;
}

// ---- the operations on one tree, as text that `kmirror tree` reads

class StoreList {
public:
    explicit StoreList(std::string &text) : text_(text) { text_ = "tree alloc rcu\n"; }

    void watch(Space &space)
    {
        // A forked one has mappings already.
        mm_for_each(
            space.mm,
            [](const vm_area_struct *vma, void *arg) {
                told(arg, vma->vm_start, vma->vm_end - 1, vma);
                return 0;
            },
            this);
        space.mm->store_arg = this;
        space.mm->store_hook = told;
    }

private:
    static void told(void *arg, unsigned long first, unsigned long last, const vm_area_struct *vma)
    {
        auto &list = *static_cast<StoreList *>(arg);
        char line[96];
        const int bytes = vma ? std::snprintf(line, sizeof(line), "store %#lx %#lx %zu\n", first, last,
                                              ++list.last_value_)
                              : std::snprintf(line, sizeof(line), "clear %#lx %#lx\n", first, last);
        list.text_.append(line, static_cast<std::size_t>(bytes));
    }

    std::string &text_;
    std::size_t last_value_ = 0;
};

// ---- which process

struct Choice {
    int pid = 0;
    std::size_t image = 0;
    bool opened = false;
    std::string why;
};

bool names(const std::vector<MapLine> &file, const std::string &program)
{
    return std::any_of(file.begin(), file.end(), [&](const MapLine &line) { return line.name == program; });
}

// The last opening that is the best: of a program that the file names, by the process itself.
const MapsOpened *best_opening(World &survey, int wanted, const std::vector<MapLine> &file)
{
    const MapsOpened *found = nullptr;
    int found_rank = -1;
    for (const MapsOpened &each : survey.opened()) {
        if (wanted && each.pid != survey.process_of(wanted))
            continue;
        const int rank = 2 * names(file, survey.use(each.image).program) + each.own;
        if (rank >= found_rank) {
            found = &each;
            found_rank = rank;
        }
    }
    return found;
}

Choice choose(World &survey, const Log &log, int wanted, const std::vector<MapLine> &file)
{
    Choice choice;
    if (const MapsOpened *found = best_opening(survey, wanted, file)) {
        choice = {found->pid, found->image, true,
                  "opened its maps file in line " + std::to_string(found->line)};
        if (!found->own)
            choice.why = "has its maps file opened in line " + std::to_string(found->line);
        return choice;
    }
    const auto first = std::min_element(log.calls.begin(), log.calls.end(), [](const Call &a, const Call &b) {
        return a.first_line < b.first_line;
    });
    choice.pid = survey.process_of(wanted ? wanted : first->pid);
    if (!survey.knows(choice.pid) && !wanted)
        choice.pid = 0;
    choice.image = survey.last_image(choice.pid);
    choice.why = wanted ? "asked for" : "the first in the log, which opens no maps file";
    return choice;
}

// ---- comparison

class Comparison {
public:
    Comparison(Outcome &outcome, const std::vector<MapLine> &file, const Choice &choice)
        : outcome_(outcome), file_(file), choice_(choice)
    {
    }

    void opened(const SpacePtr &space, const MapsOpened &at)
    {
        if (at.pid != choice_.pid || at.image != choice_.image)
            return;
        watched_ = space;
        look(at.line);
    }

    void changed(const SpacePtr &space, const Call &call)
    {
        if (space == watched_)
            look(call.line);
    }

    // Without an opening the last state counts.
    void end(const SpacePtr &space, std::size_t line)
    {
        if (!watched_ && space) {
            watched_ = space;
            look(line);
        }
    }

private:
    void look(std::size_t line)
    {
        if (outcome_.equal)
            return;
        std::vector<MapLine> lines = lines_of(watched_->mm);
        if (!outcome_.compared) {
            outcome_.maps = std::move(lines);
            return;
        }
        outcome_.states++;
        const std::size_t agree = agreeing(file_, lines);
        outcome_.equal = agree == file_.size() && agree == lines.size();
        if (!outcome_.equal && agree < nearest_ && !outcome_.maps.empty())
            return;
        if (!outcome_.equal && agree == nearest_ && !outcome_.maps.empty())
            return;
        nearest_ = agree;
        outcome_.difference = difference(file_, lines);
        outcome_.maps = std::move(lines);
        outcome_.equal_line = line;
    }

    Outcome &outcome_;
    const std::vector<MapLine> &file_;
    const Choice &choice_;
    SpacePtr watched_;
    std::size_t nearest_ = 0;
};

int count_cache(kmem_cache *cache, void *arg)
{
    struct kmirror_slab_geometry geometry;
    struct kmirror_slab_counts counts;
    kmirror_slab_geometry(cache, &geometry);
    kmirror_slab_counts(cache, NUMA_NO_NODE, &counts);
    const std::string name = geometry.name;
    if (name == "maple_node" || name == "vm_area_struct")
        static_cast<Outcome *>(arg)->caches.push_back(
            {name, counts.used_objects, counts.slabs, geometry.sheaf_capacity});
    return 0;
}

Log read_file(const command::ReplayOptions &options, LiveLine &live)
{
    std::ifstream in(options.log, std::ios::ate);
    if (!in)
        throw LogError(0, "cannot be read");
    const auto bytes = static_cast<std::size_t>(std::max<std::streamoff>(in.tellg(), 0));
    in.seekg(0);
    return read_log(in, [&](std::size_t done) { live.show("reading", done, bytes); });
}

std::vector<MapLine> read_maps_file(const std::string &name)
{
    std::ifstream in(name);
    if (!in)
        throw LogError(0, "cannot be read");
    return read_maps(in);
}

// Where the image begins to be known, and what it starts with.
ExecImage image_of(World &survey, const Choice &choice, const std::vector<MapLine> &file)
{
    if (file.empty() || choice.image == 0)
        return {};
    return exec_image(file, survey.use(choice.image));
}

} // namespace

Outcome replay_log(const command::ReplayOptions &options, std::string &store_list, bool &maps_is_wrong)
{
    LiveLine live(options.quiet);
    maps_is_wrong = false;
    mm_sysctl.thp = !options.no_thp;
    const Log log = read_file(options, live);
    Outcome outcome;
    outcome.lines = log.lines;

    std::vector<MapLine> file;
    if (!options.maps.empty()) {
        maps_is_wrong = true;
        file = read_maps_file(options.maps);
        maps_is_wrong = false;
    }
    World survey(log, true);
    survey.run();
    const Choice choice = choose(survey, log, options.pid, file);
    if (!survey.knows(choice.pid))
        throw LogError(0, "has no process " + std::to_string(options.pid));
    outcome.pid = choice.pid;
    outcome.why_pid = choice.why;
    outcome.opened = choice.opened;

    ExecImage image;
    if (!options.maps.empty()) {
        maps_is_wrong = true;
        image = image_of(survey, choice, file);
        maps_is_wrong = false;
        outcome.compared = true;
        outcome.taken = image.taken();
    }
    StoreList list(store_list);
    Comparison comparison(outcome, file, choice);
    World world(log, false, choice.image, image.lines.empty() ? nullptr : &image);
    world.keep(choice.pid);
    if (!options.store_list.empty())
        world.on_new = [&](Space &space) {
            if (space.pid == choice.pid && space.image == choice.image)
                list.watch(space);
        };
    world.on_maps = [&](const SpacePtr &space, const MapsOpened &at) { comparison.opened(space, at); };
    world.on_change = [&](const SpacePtr &space, const Call &call) {
        if (options.validate)
            outcome.violations += mm_validate(space->mm);
        comparison.changed(space, call);
    };
    if (log.lines >= kProgressLines)
        world.on_progress = [&](std::size_t call) { live.show("replaying", call, log.calls.size()); };
    world.run();
    comparison.end(world.last_space(choice.pid), log.lines);
    if (options.stats)
        kmirror_slab_for_each_cache(count_cache, &outcome);
    outcome.tally = world.tally();
    return outcome;
}

} // namespace kmirror::replay

namespace kmirror::command {
namespace {

using namespace kmirror::replay;

bool write_list(const std::string &file, const std::string &text, std::string &error)
{
    const std::string fresh = file + ".new";
    std::ofstream out(fresh, std::ios::trunc);
    out << text;
    out.close();
    if (!out || std::rename(fresh.c_str(), file.c_str()) != 0) {
        error = "cannot be written";
        std::remove(fresh.c_str());
        return false;
    }
    return true;
}

int refuse(const std::string &file, std::size_t line, const std::string &what)
{
    const std::string where = line ? ":" + std::to_string(line) : "";
    std::fprintf(stderr, "kmirror: %s%s: %s\n", file.c_str(), where.c_str(), what.c_str());
    return kBadInput;
}

} // namespace

int replay_main(const ReplayOptions &options)
{
    std::string error;
    for (const std::string *file : {&options.json, &options.store_list})
        if (!file->empty() && !can_write(*file, error))
            return refuse(*file, 0, error);
    std::string store_list;
    bool maps_is_wrong = false;
    kmirror_lockstat_enable(options.stats);
    try {
        const Outcome outcome = replay_log(options, store_list, maps_is_wrong);
        if (!options.json.empty() && !write_outcome(outcome, options, error))
            return refuse(options.json, 0, error);
        if (!options.store_list.empty() && !write_list(options.store_list, store_list, error))
            return refuse(options.store_list, 0, error);
        print_outcome(outcome, options);
        return (outcome.compared && !outcome.equal) || outcome.violations ? kFoundWrong : kDone;
    } catch (const LogError &wrong) {
        return refuse(maps_is_wrong ? options.maps : options.log, wrong.line, wrong.what());
    }
}

} // namespace kmirror::command
