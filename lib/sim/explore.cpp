// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/explore.cpp: see explore.h. Strategies are in strategy.cpp.
//
// Owns     one run's schedule and races. Locking: none, one thread.
// Fails    never; a run that cannot go on ends with deadlocked().
#include "lib/sim/explore.h"

#include "lib/sim/engine.h"
#include "lib/kernel/lock_watch.h"

#include <algorithm>

namespace kmirror::sim {

Explorer *explorer;

Explorer::Explorer(Strategy &strategy, SharedLines lines, const Plant &plant, std::uint32_t most_steps)
    : strategy_(strategy), lines_(lines), plant_(plant), frozen_(kRaceTasks), most_steps_(most_steps)
{
}

unsigned Explorer::self() const { return engine.cpu->id; }

int Explorer::choose(std::vector<unsigned> &ready, int running, bool gives_way)
{
    std::erase_if(ready, [this](unsigned cpu) { return frozen_[cpu]; });
    if (stopped_ || too_long())
        return -1;
    if (ready.empty()) {
        deadlocked_ = true;
        return -1;
    }
    std::sort(ready.begin(), ready.end());
    const Choice choice = {ready, running, gives_way, step_++};
    const unsigned next = ready.size() == 1 ? ready[0] : strategy_.choose(choice);
    if (next != default_choice(choice))
        schedule_.push_back({choice.step, next});
    if (trace && static_cast<int>(next) != running)
        trace->push_back({choice.step, running, next, place_});
    return static_cast<int>(next);
}

void Explorer::freeze(unsigned cpu, bool frozen) { frozen_[cpu] = frozen; }

bool Explorer::lock_is_planted(std::uint16_t class_id) const
{
    return !plant_.unlocked.empty() && plant_.unlocked == kernel::class_name(class_id);
}

void Explorer::point(const void *address, const void *place)
{
    Cpu &cpu = *engine.cpu;
    place_ = place;
    cpu.now += cpu.access;
    if (cpu.now > cpu.limit)
        engine.limit_passed();
    const std::uint32_t number = engine.lines.number(address);
    if (number == kNoLine)
        return;
    if (lines_.learning) {
        std::uint16_t &first = engine.lines[number].owner;
        if (first == 0)
            first = static_cast<std::uint16_t>(cpu.id + 1);
        lines_.of_line[number] |= first != cpu.id + 1;
    }
    if (lines_.learning || lines_.of_line[number])
        engine.sync();
}

// Stacks and the host's heap are nobody else's.
void Explorer::plain(const void *address, std::size_t size, bool write, const void *place)
{
    point(address, place);
    if (engine.lines.number(address) != kNoLine)
        races_.plain(self(), address, size, write, place);
}

void Explorer::load(const void *address, std::size_t size, Order order, const void *place)
{
    races_.load(self(), address, size, order, place);
}

void Explorer::store(const void *address, std::size_t size, Order order, const void *place)
{
    races_.store(self(), address, size, plant_.weak ? Order::Relaxed : order, place);
}

void Explorer::exchange(const void *address, std::size_t size, Order order, const void *place)
{
    races_.exchange(self(), address, size, order, place);
}

} // namespace kmirror::sim
