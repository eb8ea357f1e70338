// SPDX-License-Identifier: GPL-2.0-only
//
// The processes of a log and their address spaces; applies calls one by one.
//
// The same log is run twice: once without address spaces (a survey: who executes what, who opens which
// maps file, where calls put mappings), then with them, when it is known which image the maps file shows.
//
// Assumed, because no log shows page faults: memory that is private and writable is written to before the
// next call; only what a loader maps fixed behind a file (zeroed data of a library) waits until the loader
// is done, which any call but openat, mmap and mprotect tells.
#pragma once

#include "tools/kmirror/replay_maps.h"
#include "tools/kmirror/strace_log.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

namespace kmirror::replay {

// One address space. Threads and vfork children share it.
struct Space {
    mm_struct *mm = nullptr; // NULL in a survey
    std::size_t image = 0;   // number of the execve, from 1; 0: it began before the log
    int pid = 0;             // process that it was made for
    bool base_known = false; // mmap_base is the real one, or learned
    bool brk_known = false;
    bool whole = false; // what exec made is in it
    // Zeroed data that a loader has mapped behind a file's, not yet written to.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> unwritten;

    Space() = default;
    ~Space()
    {
        if (mm)
            mmput(mm);
    }
    Space(const Space &) = delete;
    Space &operator=(const Space &) = delete;
};
using SpacePtr = std::shared_ptr<Space>;

struct FileCloser {
    void operator()(mm_file *file) const { mm_file_put(file); }
};
using FilePtr = std::shared_ptr<mm_file>;

struct Task {
    int tgid = 0;
    SpacePtr space;
    std::shared_ptr<std::map<int, FilePtr>> files;
    std::string cwd;
};

// Where a maps file was opened.
struct MapsOpened {
    std::size_t call; // index in the log
    std::size_t line;
    int pid; // process whose maps they are
    std::size_t image;
    bool own; // by itself
};

struct Miss {
    std::size_t line;
    std::uint64_t predicted; // 0: nothing was known to predict from
    std::uint64_t actual;
    std::string why;
};

// A call whose result was not ours.
struct Divergence {
    std::size_t line;
    std::string what;
};

struct Tally {
    std::size_t calls = 0;     // that changed an address space
    std::size_t processes = 0; // thread groups seen
    std::size_t threads = 0;
    std::size_t images = 0; // successful execs
    std::size_t placed = 0; // mmaps without an address
    std::size_t hits = 0;
    std::size_t reordered = 0; // calls applied before their line because another thread had seen their effect
    std::size_t diverged = 0;
    std::vector<Miss> misses;
    std::vector<Divergence> divergences; // the first few
};

class World {
public:
    // With `image` the `image_number`th execve starts with its lines. `survey`: no address spaces.
    World(const Log &log, bool survey, std::size_t image_number = 0, const ExecImage *image = nullptr);

    // Called for every new address space (to hang a store hook in), and after every call that may have
    // changed one.
    std::function<void(Space &)> on_new;
    std::function<void(const SpacePtr &, const Call &)> on_change;
    // A maps file was opened; the state is that of the opening.
    std::function<void(const SpacePtr &, const MapsOpened &)> on_maps;
    std::function<void(std::size_t call)> on_progress;
    // A call is about to be made on an address space; `doing` makes it on any one with these mappings and
    // returns its error or 0.
    using Doing = std::function<long(mm_struct *)>;
    std::function<void(Space &, const Call &, const Doing &doing)> on_attempt;

    // Only this process's last address space is kept after its end; a survey keeps all, which are empty.
    void keep(int pid) { kept_pid_ = pid; }
    void run();

    const Tally &tally() const { return tally_; }
    const std::vector<MapsOpened> &opened() const { return opened_; }
    // The image a process had last, and what calls did in each image. After a survey.
    std::size_t last_image(int pid) const;
    bool knows(int pid) const { return last_space_.count(pid) != 0; }
    const ImageUse &use(std::size_t image) { return uses_[image]; }
    int process_of(int pid) const;
    SpacePtr last_space(int pid) const;

private:
    void apply(std::size_t index);
    void dispatch(Task &task, const Call &call);
    Task &task_of(int pid);
    void remember(const Task &task, int pid);
    SpacePtr new_space(std::size_t image, int pid);

    void do_exec(const Call &call);
    void do_fork(const Call &call);
    void do_exit(const Call &call);
    void do_open(Task &task, const Call &call);
    void note_maps(const Task &task, int pid, const Call &call, const std::string &path);

    void do_mmap(Task &task, const Call &call);
    void do_shmget(const Call &call);
    void do_shm(Task &task, const Call &call);
    void do_brk(Task &task, const Call &call);
    void do_mremap(Task &task, const Call &call);
    void do_range(Task &task, const Call &call);
    long perform(Space &space, const Call &call, const Doing &doing);
    void place(Space &space, const Call &call, mm_file *file, std::uint64_t flags);
    void make_room(Space &space, const Call &call, std::uint64_t start, std::uint64_t end);
    bool apply_in_flight(const Space &space, const std::function<bool(const Call &)> &explains);
    void written(Space &space, const Call &call, std::uint64_t start, std::uint64_t end);
    void settle(Space &space);
    FilePtr file_of(Task &task, const Call &call);
    std::string resolve(const Task &task, const Call &call) const;
    void diverged(const Call &call, const std::string &what);
    void covered(const Space &space, std::uint64_t start, std::uint64_t length);

    const Log &log_;
    const bool survey_;
    const std::size_t image_number_;
    const ExecImage *image_;
    Tally tally_;
    std::vector<bool> done_;
    std::vector<std::size_t> halves_; // calls with two lines, by the first
    std::size_t next_half_ = 0;
    std::set<std::size_t> in_flight_;
    std::map<int, std::deque<std::size_t>> births_; // pid -> clone calls that return it
    std::map<int, Task> tasks_;
    std::map<int, SpacePtr> last_space_;
    std::map<int, int> group_;
    std::vector<MapsOpened> opened_;
    std::map<std::size_t, ImageUse> uses_;
    struct Segment {
        std::uint64_t bytes;
        std::string name;
    };
    std::map<std::int64_t, Segment> segments_;        // by shmid
    std::map<std::uint64_t, std::uint64_t> attached_; // shmat address -> bytes
    std::size_t current_ = 0;
    int kept_pid_ = -1;
};

} // namespace kmirror::replay
