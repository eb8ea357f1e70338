// SPDX-License-Identifier: GPL-2.0-only
//
// Choosing the generation of a test's caches, and counting the locks that an operation takes.
//
// Owns     the generation of new caches during the life of an OfGeneration.
// Bounds   one at a time in a process: the setting is the process's.
// Locking  lock counts are the process's: nothing else may be at work while they are taken.
// Fails    as failures of the running test.
#pragma once

#include <kmirror/lockstat.h>

#include "slab/slab_test.h"

#include <string>

namespace kmirror::slab_test {

inline constexpr const char *kGenerations[] = {"cpu-slab", "cpu-slab+sheaves", "double", "sheaves"};

// Caches created during its life are of this generation.
class OfGeneration {
public:
    explicit OfGeneration(const char *name) : before_(ops().set_generation(name))
    {
        EXPECT_NE(before_, nullptr) << "no generation is called " << name;
    }
    ~OfGeneration() { ops().set_generation(before_); }
    OfGeneration(const OfGeneration &) = delete;
    OfGeneration &operator=(const OfGeneration &) = delete;

private:
    const char *before_;
};

// How often locks were taken.
struct Holds {
    long list, barn;
    bool operator==(const Holds &) const = default;
};

inline std::ostream &operator<<(std::ostream &out, const Holds &holds)
{
    return out << holds.list << " of list_lock, " << holds.barn << " of the barn";
}

inline Holds holds_so_far()
{
    const auto count = [](const char *name) {
        kmirror_lock_stat stat{};
        return kmirror_lockstat_get(name, &stat) ? long(stat.acquisitions) : 0;
    };
    return {count("&n->list_lock"), count("&barn->lock")};
}

// The locks `work` takes.
template <class Work>
Holds holds_of(Work work)
{
    kmirror_lockstat_enable(true);
    const Holds before = holds_so_far();
    work();
    const Holds after = holds_so_far();
    kmirror_lockstat_enable(false);
    return {after.list - before.list, after.barn - before.barn};
}

// Statistics by name, those that are 0 left out: "alloc_fastpath 3, alloc_slab 1".
inline std::string stats_of(const Cache &cache)
{
    std::string text;
    for (unsigned i = 0; const char *name = ops().stat_name(i); i++)
        if (const long value = cache.stat(name); value > 0)
            text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(value);
    return text;
}

} // namespace kmirror::slab_test
