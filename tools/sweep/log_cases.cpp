// SPDX-License-Identifier: GPL-2.0-only
//
// A recorded program's calls, swept on copies of its address spaces: what fork would give, so without locks and
// without what is not inherited.

#include "tools/sweep/log_cases.h"

#include <fstream>

#include "tools/kmirror/replay_world.h"
#include "tools/sweep/mm_state.h"

namespace kmirror::sweeping {
namespace {

using replay::Call;
using replay::Space;
using replay::Sys;
using replay::World;

struct Kind {
    const char* name;
    unsigned allowed;   // of AfterFailure
};

Kind kind_of(Sys sys) {
    switch (sys) {
        case Sys::Mmap: return {"mmap", kUnchanged};
        case Sys::Munmap: return {"munmap", kUnchanged};
        case Sys::Brk: return {"brk", kUnchanged};
        case Sys::Fork: return {"fork", kUnchanged};
        case Sys::Mremap: return {"mremap", kHalfDone | kSourceStays};
        case Sys::Mprotect: return {"mprotect", kHalfDone};
        case Sys::Madvise: return {"madvise", kHalfDone};
        case Sys::Shmat:
        case Sys::Shmdt: return {"shmat, shmdt", kUnchanged};
        default: return {"mlock and others", kHalfDone};
    }
}

bool works(mm_struct* mm, const World::Doing& doing) {
    mm_struct* const copy = dup_mm(mm);
    const bool done = doing(copy) >= 0;
    mmput(copy);
    return done;
}

}  // namespace

replay::Log read_log_file(const std::string& name) {
    std::ifstream in(name);
    if (!in) throw replay::LogError(0, "cannot be read");
    return replay::read_log(in, [](std::size_t) {});
}

void each_call_of(const replay::Log& log, const std::string& name,
                  const std::function<void(const Case&)>& run) {
    World world(log, false);
    world.on_attempt = [&](Space& space, const Call& call, const World::Doing& doing) {
        if (!works(space.mm, doing)) return;
        const Kind kind = kind_of(call.sys);
        const auto copy = [&space] { return dup_mm(space.mm); };
        run({name + ": " + kind.name, "line " + std::to_string(call.line),
             [&] { return mm_scene(copy, doing, kind.allowed); }});
    };
    world.run();
}

}  // namespace kmirror::sweeping
