// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/race.cpp: see race.h.
//
// (R1) a list holds every access that a later one could race with and that no kept one stands for: a kept access
//      stands for an earlier one that happens before it, covers no more bytes, writes only if it does, and is plain
//      only if it is
//
// Owns     clocks and lists, for one run. Locking: none, one thread. Fails never.
#include "lib/sim/race.h"

#include <algorithm>

namespace kmirror::sim {

namespace {

constexpr std::uintptr_t kWord = 8;

bool acquires(Order order) { return order == Order::Acquire || order == Order::AcqRel || order == Order::SeqCst; }
bool releases(Order order) { return order == Order::Release || order == Order::AcqRel || order == Order::SeqCst; }

std::uintptr_t end_of(const Access &access) { return access.address + access.size; }

bool overlap(const Access &a, const Access &b) { return a.address < end_of(b) && b.address < end_of(a); }

// (R1)
bool stands_for(const Access &later, const Access &earlier)
{
    return later.address <= earlier.address && end_of(earlier) <= end_of(later) && (later.write || !earlier.write) &&
           (!later.marked || earlier.marked);
}

} // namespace

void Clock::join(const Clock &other)
{
    for (unsigned task = 0; task < kRaceTasks; task++)
        of_[task] = std::max(of_[task], other.of_[task]);
}

// A task's own clock begins with 1: nobody knows of what it does first.
RaceDetector::RaceDetector()
{
    for (unsigned task = 0; task < kRaceTasks; task++)
        tasks_[task].clock.tick(task);
}

// ---- order

void RaceDetector::start(unsigned parent, unsigned child)
{
    tasks_[child].clock.join(tasks_[parent].clock);
    tasks_[parent].clock.tick(parent);
    tasks_[child].clock.tick(child);
}

void RaceDetector::release(unsigned task, const void *object)
{
    objects_[object].join(tasks_[task].clock);
    tasks_[task].clock.tick(task);
}

void RaceDetector::acquire(unsigned task, const void *object)
{
    if (const auto found = objects_.find(object); found != objects_.end())
        tasks_[task].clock.join(found->second);
}

void RaceDetector::fence(unsigned number, Order order)
{
    Task &task = tasks_[number];
    if (acquires(order))
        task.clock.join(task.pending);
    if (releases(order)) {
        task.released = task.clock;
        task.clock.tick(number);
    }
}

void RaceDetector::read_from(unsigned number, const void *address, Order order)
{
    const auto found = published_.find(address);
    if (found == published_.end())
        return;
    Task &task = tasks_[number];
    task.pending.join(found->second);
    if (acquires(order))
        task.clock.join(found->second);
}

// What others learn from a store of that order.
Clock RaceDetector::publication(unsigned task, Order order) const
{
    return releases(order) ? tasks_[task].clock : tasks_[task].released;
}

// ---- accesses

void RaceDetector::plain(unsigned task, const void *address, std::size_t size, bool write, const void *place)
{
    touch(task, address, size, write, false, place);
}

void RaceDetector::load(unsigned task, const void *address, std::size_t size, Order order, const void *place)
{
    read_from(task, address, order);
    touch(task, address, size, false, true, place);
}

void RaceDetector::store(unsigned task, const void *address, std::size_t size, Order order, const void *place)
{
    touch(task, address, size, true, true, place);
    published_[address] = publication(task, order);
    if (releases(order))
        tasks_[task].clock.tick(task);
}

void RaceDetector::exchange(unsigned task, const void *address, std::size_t size, Order order, const void *place)
{
    read_from(task, address, order);
    touch(task, address, size, true, true, place);
    published_[address].join(publication(task, order));
    if (releases(order))
        tasks_[task].clock.tick(task);
}

void RaceDetector::renew(const void *address, std::size_t size)
{
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(address);
    for (std::uintptr_t word = first / kWord; word <= (first + size - 1) / kWord; word++)
        if (const auto found = words_.find(word); found != words_.end())
            std::erase_if(found->second, [&](const Access &old) {
                return first <= old.address && end_of(old) <= first + size;
            });
    for (std::size_t at = 0; at < size; at++)
        published_.erase(static_cast<const char *>(address) + at);
}

// An access is kept with each word that it touches, with the part that lies there.
void RaceDetector::touch(unsigned task, const void *address, std::size_t size, bool write, bool marked,
                         const void *place)
{
    std::uintptr_t at = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t end = at + size;
    while (at < end) {
        const std::uintptr_t next = std::min(end, (at / kWord + 1) * kWord);
        touch_word({at, static_cast<std::uint8_t>(next - at), write, marked, static_cast<std::uint8_t>(task),
                    tasks_[task].clock[task], place});
        at = next;
    }
}

void RaceDetector::touch_word(const Access &access)
{
    std::vector<Access> &kept = words_[access.address / kWord];
    for (const Access &before : kept)
        if (races(before, access))
            report(before, access);
    const Clock &clock = tasks_[access.task].clock;
    std::erase_if(kept, [&](const Access &before) {
        return before.clock <= clock[before.task] && stands_for(access, before);
    });
    kept.push_back(access);
}

bool RaceDetector::races(const Access &before, const Access &now) const
{
    return before.task != now.task && (before.write || now.write) && !(before.marked && now.marked) &&
           overlap(before, now) && before.clock > tasks_[now.task].clock[before.task];
}

void RaceDetector::report(const Access &before, const Access &now)
{
    const bool known = std::any_of(races_.begin(), races_.end(), [&](const Race &race) {
        return (race.first.place == before.place && race.second.place == now.place) ||
               (race.first.place == now.place && race.second.place == before.place);
    });
    if (!known)
        races_.push_back({before, now});
}

} // namespace kmirror::sim
