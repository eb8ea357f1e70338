// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror slabinfo: caches as the kernel's slabinfo shows them, of a folder as /sys/kernel/slab or of this
// process after a demonstration load.
//
// Owns     the folder it exports its own caches to, below the system's temporary files, until its end.
// Fails    kBadInput when the folder is none or no cache has a name that was asked for; kFoundWrong when a
//          dump's counters do not agree with the lists.

#include "tools/kmirror/slabinfo.h"

#include <kmirror/slab_info.h>
#include <kmirror/slab_sysfs.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fnmatch.h>

namespace kmirror::command {
namespace {

// A folder of this process's own caches, gone at its end.
class OwnFolder {
public:
    OwnFolder()
    {
        std::error_code ignored;
        std::string name = std::filesystem::temp_directory_path(ignored) / "kmirror-slab-XXXXXX";
        if (mkdtemp(name.data()) != nullptr)
            path_ = name;
    }
    ~OwnFolder()
    {
        std::error_code ignored;
        if (!path_.empty())
            std::filesystem::remove_all(path_, ignored);
    }
    OwnFolder(const OwnFolder &) = delete;
    OwnFolder &operator=(const OwnFolder &) = delete;

    bool read(std::vector<SlabFigures> &caches, std::string &error) const
    {
        const int failed = path_.empty() ? -errno : kmirror_slab_sysfs_export(path_.c_str());
        if (failed) {
            error = std::strerror(-failed);
            return false;
        }
        return read_slab_folder(path_, caches, error);
    }

private:
    std::string path_;
};

bool named(const SlabFigures &cache, const std::string &pattern)
{
    const auto matches = [&](const std::string &name) { return !fnmatch(pattern.c_str(), name.c_str(), 0); };
    return matches(cache.name) || matches(cache.folder) ||
           std::any_of(cache.aliases.begin(), cache.aliases.end(), matches);
}

// Leaves those that were asked for. False: a pattern is that of no cache.
bool select(std::vector<SlabFigures> &caches, const std::vector<std::string> &patterns)
{
    if (patterns.empty())
        return true;
    for (const std::string &pattern : patterns)
        if (std::none_of(caches.begin(), caches.end(),
                         [&](const SlabFigures &cache) { return named(cache, pattern); })) {
            bad_option("CACHE", pattern, "it takes a cache's name, or a pattern such as 'kmalloc-*'");
            return false;
        }
    std::erase_if(caches, [&](const SlabFigures &cache) {
        return std::none_of(patterns.begin(), patterns.end(),
                            [&](const std::string &pattern) { return named(cache, pattern); });
    });
    return true;
}

void sort_by(std::vector<SlabFigures> &caches, const std::string &order)
{
    const auto most_first = [&](auto of) {
        std::stable_sort(caches.begin(), caches.end(),
                         [&](const SlabFigures &a, const SlabFigures &b) { return of(a) > of(b); });
    };
    if (order == "size")
        most_first([](const SlabFigures &cache) { return cache.bytes(); });
    else if (order == "loss")
        most_first([](const SlabFigures &cache) { return cache.loss(); });
    else if (order == "activity")
        most_first([](const SlabFigures &cache) { return cache.allocations() + cache.frees(); });
}

void show(const std::vector<SlabFigures> &caches, const SlabinfoOptions &options)
{
    if (options.json)
        std::fputs(slab_list_json(caches).text().c_str(), stdout);
    else if (options.totals)
        print_slab_totals(caches);
    else if (options.aliases)
        print_slab_aliases(caches);
    else if (options.tracking)
        for (const SlabFigures &cache : caches)
            print_slab_tracking(cache);
    else if (options.report)
        for (const SlabFigures &cache : caches)
            print_slab_report(cache);
    else
        print_slab_list(caches, options.activity);
}

int show_figures(std::vector<SlabFigures> caches, const SlabinfoOptions &options)
{
    if (!select(caches, options.caches))
        return kBadInput;
    sort_by(caches, options.sort);
    show(caches, options);
    return kDone;
}

int show_folder(const SlabinfoOptions &options)
{
    std::vector<SlabFigures> caches;
    std::string error;
    if (!read_slab_folder(options.sysfs, caches, error))
        return bad_option("--sysfs", options.sysfs, "it takes a folder as /sys/kernel/slab: " + error);
    return show_figures(std::move(caches), options);
}

int show_own(const SlabinfoOptions &options)
{
    const OwnFolder folder;
    std::vector<SlabFigures> caches;
    std::string error;
    if (!folder.read(caches, error)) {
        std::fprintf(stderr, "kmirror: this process's caches could not be exported: %s\n", error.c_str());
        return kFoundWrong;
    }
    return show_figures(std::move(caches), options);
}

struct Wanted {
    const std::string &name;
    kmem_cache *found;
};

// The cache of that name or alias; NULL: there is none.
kmem_cache *find_cache(const std::string &name)
{
    Wanted wanted = {name, nullptr};
    kmirror_slab_for_each_cache(
        [](kmem_cache *cache, void *arg) {
            Wanted &asked = *static_cast<Wanted *>(arg);
            struct kmirror_slab_geometry made;
            kmirror_slab_geometry(cache, &made);
            if (asked.name == made.name)
                asked.found = cache;
            return asked.found != nullptr ? 1 : 0;
        },
        &wanted);
    return wanted.found;
}

int dump(const SlabinfoOptions &options)
{
    kmem_cache *cache = find_cache(options.dump);
    if (cache == nullptr)
        return bad_option("--dump", options.dump, "--dump takes the name of a cache, see kmirror slabinfo");
    return print_slab_dump(cache, options.json) == 0 ? kDone : kFoundWrong;
}

// Options that ask for different things, or for what a folder cannot show; NULL: all is well.
const char *contradiction(const SlabinfoOptions &options)
{
    const int kinds = options.report + options.activity + options.totals + options.aliases + options.tracking +
                      options.proc +
                      !options.dump.empty();
    if (kinds > 1)
        return "one of --report, --activity, --totals, --aliases, --tracking, --proc and --dump";
    if (!options.sysfs.empty() && (options.proc || !options.dump.empty()))
        return "--proc and --dump show this process, --sysfs a folder";
    return nullptr;
}

} // namespace

int slabinfo_main(const SlabinfoOptions &options)
{
    if (const char *wrong = contradiction(options)) {
        std::fprintf(stderr, "kmirror: slabinfo cannot do all of that at once; %s\n", wrong);
        return kBadInput;
    }
    if (!options.sysfs.empty())
        return show_folder(options);
    const SlabDemo demo(options.seed);
    if (options.proc) {
        kmirror_slab_proc_slabinfo([](const char *line, void *) { std::fputs(line, stdout); }, nullptr);
        return kDone;
    }
    return options.dump.empty() ? show_own(options) : dump(options);
}

} // namespace kmirror::command
