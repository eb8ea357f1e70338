// SPDX-License-Identifier: GPL-2.0-only
//
// The calls that change an address space, applied to lib/mm with the results of the log.
//
//   place        predict where an mmap without an address goes, then put it where the log says
//   make_room    what is in the way must have been unmapped by a thread whose call is still unfinished in
//   the log
//
// The order in which two threads' calls took effect is not in the log when one began before the other
// ended. Such a call is applied early if that explains a result; it is then counted as reordered.
#include "tools/kmirror/replay_world.h"

#include <linux/err.h>

#include <cstdio>
#include <cstring>

namespace kmirror::replay {
namespace {

constexpr std::size_t kKeptDivergences = 20;

std::uint64_t page_up(std::uint64_t bytes)
{
    return (bytes + PAGE_SIZE - 1) & PAGE_MASK;
}

// What a call in flight takes and frees, once it has succeeded.
struct Effect {
    std::uint64_t taken = 0, taken_end = 0;
    std::uint64_t freed = 0, freed_end = 0;
};

Effect effect_of(const Call &call)
{
    const auto result = static_cast<std::uint64_t>(call.result);
    Effect effect;
    if (!call.error.empty())
        return effect;
    if (call.sys == Sys::Mmap) {
        effect = {result, result + page_up(call.arg[1]), 0, 0};
    } else if (call.sys == Sys::Munmap) {
        effect = {0, 0, call.arg[0], call.arg[0] + page_up(call.arg[1])};
    } else if (call.sys == Sys::Mremap) {
        effect = {result, result + page_up(call.arg[2]), call.arg[0], call.arg[0] + page_up(call.arg[1])};
    }
    return effect;
}

bool overlap(std::uint64_t start, std::uint64_t end, std::uint64_t other, std::uint64_t other_end)
{
    return start < other_end && other < end;
}

long error_in(unsigned long address)
{
    return IS_ERR_VALUE(address) ? static_cast<long>(address) : 0;
}

// A call that changes what lies in a range.
long change(mm_struct *mm, const Call &call)
{
    const std::uint64_t start = call.arg[0];
    const std::uint64_t length = call.arg[1];
    switch (call.sys) {
    case Sys::Munmap: return vm_munmap(mm, start, length);
    case Sys::Mprotect:
        return vm_mprotect(mm, start, length, call.arg[2] & ~8ul, static_cast<int>(call.arg[3]));
    case Sys::Madvise: return vm_madvise(mm, start, length, static_cast<int>(call.arg[2]));
    case Sys::Mlock: return vm_mlock(mm, start, length, VM_LOCKED | (call.arg[2] ? VM_LOCKONFAULT : 0));
    case Sys::Munlock: return vm_mlock(mm, start, length, 0);
    case Sys::Mlockall: return vm_mlockall(mm, static_cast<unsigned>(start));
    case Sys::Munlockall: return vm_mlockall(mm, 0);
    case Sys::Mseal: return vm_mseal(mm, start, length);
    case Sys::Mbind: {
        const bool none = call.text.find("MPOL_DEFAULT") != std::string::npos;
        return vm_mbind(mm, start, length,
                        none ? 0 : static_cast<unsigned>(std::hash<std::string>()(call.text) | 1));
    }
    default: {
        mm_file *name = call.text.empty() ? nullptr : mm_file_open(call.text.c_str(), 0);
        const int error = name || call.text.empty() ? vm_set_name(mm, start, length, name) : -ENOMEM;
        mm_file_put(name);
        return error;
    }
    }
}

} // namespace

void World::diverged(const Call &call, const std::string &what)
{
    tally_.diverged++;
    if (tally_.divergences.size() < kKeptDivergences)
        tally_.divergences.push_back({call.line, what});
}

void World::covered(const Space &space, std::uint64_t start, std::uint64_t length)
{
    if (survey_)
        uses_[space.image].ranges.emplace_back(start, start + page_up(length));
}

long World::perform(Space &space, const Call &call, const Doing &doing)
{
    if (on_attempt)
        on_attempt(space, call, doing);
    return doing(space.mm);
}

// The first unfinished call on this address space that `explains` is applied now.
bool World::apply_in_flight(const Space &space, const std::function<bool(const Call &)> &explains)
{
    for (const std::size_t index : in_flight_) {
        const Call &call = log_.calls[index];
        const auto task = tasks_.find(call.pid);
        if (done_[index] || task == tasks_.end() || task->second.space.get() != &space || !explains(call))
            continue;
        tally_.reordered++;
        apply(index);
        return true;
    }
    return false;
}

void World::make_room(Space &space, const Call &call, std::uint64_t start, std::uint64_t end)
{
    const auto frees = [start, end](const Call &other) {
        const Effect effect = effect_of(other);
        return overlap(start, end, effect.freed, effect.freed_end);
    };
    const auto is_taken = [&space, start, end] {
        mmap_read_lock(space.mm);
        const vm_area_struct *vma = find_vma(space.mm, start);
        const bool taken = vma && vma->vm_start < end;
        mmap_read_unlock(space.mm);
        return taken;
    };
    while (is_taken() && apply_in_flight(space, frees)) {
    }
    if (is_taken())
        diverged(call, "the new mapping overlaps one that no call has unmapped");
}

void World::place(Space &space, const Call &call, mm_file *file, std::uint64_t flags)
{
    const auto actual = static_cast<std::uint64_t>(call.result);
    const std::uint64_t end = actual + page_up(call.arg[1]);
    const auto predict = [&] {
        return vm_predict(space.mm, file, 0, call.arg[1], call.arg[2], flags, call.arg[5]);
    };
    const auto frees = [&](const Call &other) {
        const Effect effect = effect_of(other);
        return overlap(actual, end, effect.freed, effect.freed_end);
    };

    tally_.placed++;
    if (!space.base_known) {
        // Nothing tells where this image's mappings begin; from here on its first one does.
        space.mm->mmap_base = end;
        space.base_known = true;
        tally_.misses.push_back(
            {call.line, 0, actual, "the first of an image that the maps file does not show"});
        return;
    }
    std::uint64_t predicted = predict();
    bool changed = true;
    while (predicted != actual && changed) {
        const auto takes = [&](const Call &other) {
            const Effect effect = effect_of(other);
            return overlap(predicted, predicted + (end - actual), effect.taken, effect.taken_end);
        };
        changed = apply_in_flight(space, frees) || apply_in_flight(space, takes);
        predicted = changed ? predict() : predicted;
    }
    if (predicted == actual) {
        tally_.hits++;
        return;
    }
    const bool above = !space.whole && end > space.mm->mmap_base && end < TASK_SIZE_MM;
    tally_.misses.push_back({call.line, predicted, actual,
                             above ? "above everything known of an image that the maps file does not show"
                                   : "another place than the gap search finds"});
    if (above)
        space.mm->mmap_base = end;
}

void World::do_mmap(Task &task, const Call &call)
{
    Space &space = *task.space;
    const auto actual = static_cast<std::uint64_t>(call.result);
    std::uint64_t map_flags = call.arg[3];
    covered(space, actual, call.arg[1]);

    FilePtr file;
    if (!(map_flags & MAP_ANONYMOUS))
        file = file_of(task, call);
    else if (map_flags & MAP_HUGETLB)
        file =
            FilePtr(mm_file_open("/anon_hugepage (deleted)", MM_FILE_READ | MM_FILE_WRITE | MM_FILE_HUGETLB),
                    FileCloser());
    if (survey_) {
        if (file)
            uses_[space.image].mapped.insert(file->name);
        return;
    }
    const bool fixed = map_flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    if (!fixed && call.arg[0] == 0)
        place(space, call, file.get(), map_flags);
    if (!(map_flags & MAP_FIXED))
        make_room(space, call, actual, actual + page_up(call.arg[1]));
    map_flags = (map_flags & ~static_cast<std::uint64_t>(MAP_FIXED_NOREPLACE)) | MAP_FIXED;
    const long error = perform(space, call, [&](mm_struct *mm) {
        return error_in(vm_mmap(mm, file.get(), actual, call.arg[1], call.arg[2], map_flags, call.arg[5]));
    });
    if (error)
        diverged(call, "mmap() fails with " + std::to_string(error));
    written(space, call, actual, actual + page_up(call.arg[1]));
}

// A new mapping's first writes: at once, or when its loader is done.
void World::written(Space &space, const Call &call, std::uint64_t start, std::uint64_t end)
{
    constexpr std::uint64_t zeroed = MAP_FIXED | MAP_ANONYMOUS;
    if ((call.arg[3] & zeroed) == zeroed) {
        mmap_read_lock(space.mm);
        const vm_area_struct *below = find_vma(space.mm, start - 1);
        const bool behind_file = below && below->vm_end == start && below->vm_file;
        mmap_read_unlock(space.mm);
        if (behind_file) {
            space.unwritten.emplace_back(start, end);
            return;
        }
    }
    vm_fault_all(space.mm, start, end);
}

void World::settle(Space &space)
{
    for (const auto &[start, end] : space.unwritten)
        vm_fault_all(space.mm, start, end);
    space.unwritten.clear();
}

void World::do_shmget(const Call &call)
{
    char name[32];
    const auto key = number(call.text);
    std::snprintf(name, sizeof(name), "/SYSV%08x (deleted)", static_cast<unsigned>(key.value_or(0)));
    segments_[call.result] = {call.arg[1], name};
}

void World::do_shm(Task &task, const Call &call)
{
    Space &space = *task.space;
    if (call.sys == Sys::Shmdt) {
        if (!survey_ && attached_.count(call.arg[0]))
            perform(space, call, [&](mm_struct *mm) -> long {
                return vm_munmap(mm, call.arg[0], attached_[call.arg[0]]);
            });
        return;
    }
    const auto address = static_cast<std::uint64_t>(call.result);
    const auto found = segments_.find(static_cast<std::int64_t>(call.arg[0]));
    if (found == segments_.end())
        return diverged(call, "shmat() of a segment whose size no shmget() in the log tells");
    const std::uint64_t bytes = found->second.bytes;
    const std::string &name = found->second.name;
    covered(space, address, bytes);
    attached_[address] = page_up(bytes);
    if (survey_)
        return;
    const bool read_only = call.arg[2] & 010000;
    const unsigned modes = MM_FILE_READ | (read_only ? 0u : MM_FILE_WRITE) | MM_FILE_SHMEM;
    const FilePtr file(mm_file_open(name.c_str(), modes), FileCloser());
    perform(space, call, [&](mm_struct *mm) {
        return error_in(vm_mmap(mm, file.get(), address, bytes, read_only ? PROT_READ : PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_FIXED, 0));
    });
}

void World::do_brk(Task &task, const Call &call)
{
    Space &space = *task.space;
    const auto to = static_cast<std::uint64_t>(call.result);
    if (survey_)
        return;
    if (!space.brk_known) {
        space.brk_known = true;
        if (call.arg[0] == 0 || to != call.arg[0]) {
            space.mm->start_brk = space.mm->brk = to;
            return;
        }
    }
    const std::uint64_t from = space.mm->brk;
    if (to == from)
        return;
    if (perform(space, call, [to](mm_struct *mm) { return vm_brk(mm, to) == to ? 0L : -ENOMEM; }))
        return diverged(call, "brk() cannot move the end of the heap");
    vm_fault_all(space.mm, from & PAGE_MASK, page_up(to));
}

void World::do_mremap(Task &task, const Call &call)
{
    Space &space = *task.space;
    const auto actual = static_cast<std::uint64_t>(call.result);
    covered(space, actual, call.arg[2]);
    if (survey_)
        return;
    std::uint64_t how = call.arg[3];
    if (actual != call.arg[0]) {
        if (!(how & MREMAP_FIXED))
            make_room(space, call, actual, actual + page_up(call.arg[2]));
        how |= MREMAP_FIXED | MREMAP_MAYMOVE;
    } else {
        how &= ~static_cast<std::uint64_t>(MREMAP_MAYMOVE | MREMAP_FIXED);
    }
    const long error = perform(space, call, [&](mm_struct *mm) {
        return error_in(vm_mremap(mm, call.arg[0], call.arg[1], call.arg[2], how, actual));
    });
    if (error)
        diverged(call, "mremap() fails with " + std::to_string(error));
    vm_fault_all(space.mm, actual, actual + page_up(call.arg[2]));
}

void World::do_range(Task &task, const Call &call)
{
    Space &space = *task.space;
    const std::uint64_t start = call.arg[0];
    const std::uint64_t length = call.arg[1];
    if (survey_)
        return;
    const long error = perform(space, call, [&call](mm_struct *mm) { return change(mm, call); });
    if (call.sys == Sys::Mprotect && (call.arg[2] & PROT_WRITE))
        vm_fault_all(space.mm, start, start + page_up(length));
    // Of an image that the maps file does not show, the program's own segments are missing.
    const bool expected = !call.error.empty() || (!space.whole && error == -ENOMEM);
    if (error && !expected)
        diverged(call, std::string("the call fails with ") + std::to_string(error));
}

} // namespace kmirror::replay
