// SPDX-License-Identifier: GPL-2.0-only
//
// Processes: who is forked by whom, who executes what, which descriptor is which file. The calls that
// change memory are in replay_calls.cpp.
#include "tools/kmirror/replay_world.h"

#include <fcntl.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

namespace kmirror::replay {
namespace {

constexpr std::uint64_t kCloneVm = 0x100;
constexpr std::uint64_t kCloneFiles = 0x400;
constexpr std::uint64_t kCloneThread = 0x10000;
constexpr std::size_t kProgressEvery = 1024; // calls

bool begins(const std::string &text, std::string_view with)
{
    return text.compare(0, with.size(), with) == 0;
}

unsigned properties(const std::string &path)
{
    for (const std::string_view memory : {"/dev/shm/", "/memfd:", "/run/", "/SYSV"})
        if (begins(path, memory))
            return MM_FILE_SHMEM;
    if (begins(path, "/proc/") || begins(path, "/sys/"))
        return 0;
    if (begins(path, "/dev/"))
        return path == "/dev/zero" ? 0u : MM_FILE_DEVICE;
    return MM_FILE_THP_ALIGN;
}

FilePtr make_file(const std::string &path, unsigned modes)
{
    mm_file *file = mm_file_open(path.c_str(), properties(path) | modes);
    if (!file)
        throw LogError(0, "needs more memory than there is");
    return FilePtr(file, FileCloser());
}

} // namespace

World::World(const Log &log, bool survey, std::size_t image_number, const ExecImage *image)
    : log_(log), survey_(survey), image_number_(image_number), image_(image), done_(log.calls.size())
{
    for (std::size_t i = 0; i < log.calls.size(); i++) {
        const Call &call = log.calls[i];
        if (call.first_line != call.line)
            halves_.push_back(i);
        if (call.sys == Sys::Fork && call.error.empty() && call.result > 0)
            births_[static_cast<int>(call.result)].push_back(i);
    }
    std::sort(halves_.begin(), halves_.end(), [&log](std::size_t a, std::size_t b) {
        return log.calls[a].first_line < log.calls[b].first_line;
    });
}

void World::run()
{
    for (std::size_t i = 0; i < log_.calls.size(); i++) {
        current_ = i;
        while (next_half_ < halves_.size() && log_.calls[halves_[next_half_]].first_line < log_.calls[i].line)
            in_flight_.insert(halves_[next_half_++]);
        if (!done_[i])
            apply(i);
        in_flight_.erase(i);
        if (on_progress && i % kProgressEvery == 0)
            on_progress(i);
    }
}

void World::apply(std::size_t index)
{
    const Call &call = log_.calls[index];
    done_[index] = true;
    if (call.sys == Sys::Exit || call.sys == Sys::ExitGroup)
        return do_exit(call);
    Task &task = task_of(call.pid);
    // A failed call may still have changed the mappings before the one that it failed at.
    const bool partial = call.error == "ENOMEM" && (call.sys == Sys::Mprotect || call.sys == Sys::Madvise ||
                                                    call.sys == Sys::Mlock || call.sys == Sys::Munlock);
    if (!call.error.empty() && !partial)
        return;
    dispatch(task, call);
}

void World::dispatch(Task &task, const Call &call)
{
    switch (call.sys) {
    case Sys::Execve: return do_exec(call);
    case Sys::Fork: return do_fork(call);
    case Sys::Open:
    case Sys::Memfd:
    case Sys::Dup: return do_open(task, call);
    case Sys::Close: task.files->erase(static_cast<int>(call.arg[0])); return;
    case Sys::Chdir: task.cwd = call.text; return;
    case Sys::Shmget: do_shmget(call); return;
    default: break;
    }
    const SpacePtr space = task.space;
    if (call.sys != Sys::Mmap && call.sys != Sys::Mprotect)
        settle(*space);
    tally_.calls++;
    switch (call.sys) {
    case Sys::Mmap: do_mmap(task, call); break;
    case Sys::Shmat:
    case Sys::Shmdt: do_shm(task, call); break;
    case Sys::Brk: do_brk(task, call); break;
    case Sys::Mremap: do_mremap(task, call); break;
    default: do_range(task, call); break;
    }
    if (on_change)
        on_change(space, call);
}

// ---- tasks

SpacePtr World::new_space(std::size_t image, int pid)
{
    auto space = std::make_shared<Space>();
    space->image = image;
    space->pid = pid;
    if (!survey_) {
        space->mm = mm_alloc();
        if (!space->mm)
            throw LogError(0, "needs more memory than there is");
        if (on_new)
            on_new(*space);
    }
    return space;
}

void World::remember(const Task &task, int pid)
{
    group_[pid] = task.tgid;
    if (survey_ || task.tgid == kept_pid_)
        last_space_[task.tgid] = task.space;
}

Task &World::task_of(int pid)
{
    if (const auto found = tasks_.find(pid); found != tasks_.end())
        return found->second;
    // Its parent's clone has not returned yet in the log.
    if (const auto birth = births_.find(pid); birth != births_.end())
        for (const std::size_t index : birth->second)
            if (!done_[index] && log_.calls[index].first_line < log_.calls[current_].line) {
                apply(index);
                if (const auto found = tasks_.find(pid); found != tasks_.end())
                    return found->second;
            }
    // Without -o the first process has no pid before there is a second one.
    if (const auto nameless = tasks_.find(0); nameless != tasks_.end() && pid != 0) {
        Task task = nameless->second;
        tasks_.erase(nameless);
        task.tgid = pid;
        last_space_.erase(0);
        Task &renamed = tasks_[pid] = std::move(task);
        renamed.space->pid = pid;
        remember(renamed, pid);
        return renamed;
    }
    Task &task = tasks_[pid];
    task.tgid = pid;
    task.space = new_space(0, pid);
    task.files = std::make_shared<std::map<int, FilePtr>>();
    tally_.processes++;
    remember(task, pid);
    return task;
}

void World::do_exec(const Call &call)
{
    Task &task = tasks_.at(call.pid);
    const int tgid = task.tgid;
    for (auto it = tasks_.begin(); it != tasks_.end();)
        it = it->second.tgid == tgid && it->first != call.pid ? tasks_.erase(it) : std::next(it);
    const std::size_t image = ++tally_.images;
    uses_[image].program = resolve(task, call);
    task.files = std::make_shared<std::map<int, FilePtr>>(*task.files);
    task.space = new_space(image, tgid);
    if (image_ && image == image_number_) {
        install(task.space->mm, *image_);
        task.space->whole = true;
        task.space->base_known = image_->mmap_base != 0;
    }
    remember(task, call.pid);
}

namespace {

long fork_and_forget(mm_struct *mm)
{
    mm_struct *child = dup_mm(mm);
    if (!child)
        return -ENOMEM;
    mmput(child);
    return 0;
}

} // namespace

void World::do_fork(const Call &call)
{
    const int pid = static_cast<int>(call.result);
    const Task &parent = tasks_.at(call.pid);
    Task child = parent;
    if (call.arg[0] & kCloneThread) {
        tally_.threads++;
    } else {
        child.tgid = pid;
        tally_.processes++;
    }
    if (!(call.arg[0] & kCloneFiles))
        child.files = std::make_shared<std::map<int, FilePtr>>(*parent.files);
    if (!(call.arg[0] & kCloneVm)) {
        Space &from = *parent.space;
        settle(from);
        child.space = std::make_shared<Space>();
        child.space->image = from.image;
        child.space->pid = pid;
        child.space->base_known = from.base_known;
        child.space->brk_known = from.brk_known;
        child.space->whole = from.whole;
        if (!survey_) {
            if (on_attempt)
                on_attempt(from, call, fork_and_forget);
            child.space->mm = dup_mm(from.mm);
            if (!child.space->mm)
                throw LogError(call.line, "needs more memory than there is");
            if (on_new)
                on_new(*child.space);
        }
        tally_.calls++;
    }
    remember(child, pid);
    tasks_[pid] = std::move(child);
}

void World::do_exit(const Call &call)
{
    const auto found = tasks_.find(call.pid);
    if (found == tasks_.end())
        return;
    const int tgid = found->second.tgid;
    if (call.sys == Sys::Exit) {
        tasks_.erase(found);
        return;
    }
    for (auto it = tasks_.begin(); it != tasks_.end();)
        it = it->second.tgid == tgid ? tasks_.erase(it) : std::next(it);
}

std::size_t World::last_image(int pid) const
{
    const auto found = last_space_.find(pid);
    return found == last_space_.end() ? 0 : found->second->image;
}

int World::process_of(int pid) const
{
    const auto found = group_.find(pid);
    return found == group_.end() ? pid : found->second;
}

SpacePtr World::last_space(int pid) const
{
    const auto found = last_space_.find(pid);
    return found == last_space_.end() ? nullptr : found->second;
}

// ---- files

// A path with links resolved: as strace -y says, or on this machine if it is there, or as it was asked for.
std::string World::resolve(const Task &task, const Call &call) const
{
    if (call.sys == Sys::Open && begins(call.base, "/") == false && !call.base.empty() &&
        begins(call.text, "/"))
        return call.text; // -y, opened by a relative path
    std::string path = call.text;
    if (!begins(path, "/")) {
        const std::string &folder = begins(call.base, "/") ? call.base : task.cwd;
        if (folder.empty())
            return path;
        path = folder + "/" + path;
    }
    char resolved[PATH_MAX];
    return realpath(path.c_str(), resolved) ? resolved : path;
}

void World::note_maps(const Task &task, int pid, const Call &call, const std::string &path)
{
    int whose = 0;
    int used = 0;
    const std::string self = path == "/proc/self/maps" || path == "/proc/thread-self/maps"
                                 ? "/proc/" + std::to_string(pid) + "/maps"
                                 : path;
    if (std::sscanf(self.c_str(), "/proc/%d/%n", &whose, &used) != 1)
        return;
    const std::string rest = self.substr(static_cast<std::size_t>(used));
    int thread = 0;
    int rest_used = 0;
    const bool of_thread = std::sscanf(rest.c_str(), "task/%d/maps%n", &thread, &rest_used) == 1 &&
                           static_cast<std::size_t>(rest_used) == rest.size();
    const auto owner = tasks_.find(whose);
    if ((rest != "maps" && !of_thread) || owner == tasks_.end())
        return;
    const int process = owner->second.tgid;
    opened_.push_back({static_cast<std::size_t>(&call - log_.calls.data()), call.line, process,
                       owner->second.space->image, process == task.tgid});
    if (on_maps)
        on_maps(owner->second.space, opened_.back());
}

void World::do_open(Task &task, const Call &call)
{
    const int fd = static_cast<int>(call.result);
    if (call.sys == Sys::Dup) {
        const auto from = task.files->find(static_cast<int>(call.arg[0]));
        if (from != task.files->end())
            (*task.files)[fd] = from->second;
        return;
    }
    note_maps(task, call.pid, call, begins(call.base, "/proc/") ? call.base : call.text);
    const std::uint64_t access = (call.arg[1] | call.arg[2]) & O_ACCMODE;
    const unsigned modes = call.sys == Sys::Memfd || access == O_RDWR ? MM_FILE_READ | MM_FILE_WRITE
                           : access == O_WRONLY                       ? MM_FILE_WRITE
                                                                      : MM_FILE_READ;
    std::string path = call.sys == Sys::Memfd ? call.text : resolve(task, call);
    if (call.text.empty())
        path = std::string(kUnnamed) + std::to_string(fd);
    (*task.files)[fd] = make_file(path, modes);
}

FilePtr World::file_of(Task &task, const Call &call)
{
    const int fd = static_cast<int>(call.arg[4]);
    const auto found = task.files->find(fd);
    if (found != task.files->end() && (call.text.empty() || call.text == found->second->name))
        return found->second;
    // Opened by a call that the log leaves out; -y says what it is.
    const std::string name = call.text.empty() ? std::string(kUnnamed) + std::to_string(fd) : call.text;
    return (*task.files)[fd] = make_file(name, MM_FILE_READ | MM_FILE_WRITE);
}

} // namespace kmirror::replay
