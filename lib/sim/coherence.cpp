// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/coherence.cpp: what it costs to touch a line, and who has it afterwards.
//
//   state of a line            read by another CPU                     written by another CPU
//   nobody ever had it         memory, becomes sole                    the same
//   sole, owner's              transfer from the owner, shared then    transfer, sole then
//   shared by groups           L3 in a group that has it, else from    the farthest copy must go, sole then
//                              the owner, the group joins
//
// A CPU's own line costs by its age: how long ago it left the CPU's filter decides in which cache it still is.
// A line is busy until its transfer ends: the next who wants it waits for that. A store's miss costs the CPU a share
// at once; the rest is in its store buffer, which is empty before the next locked operation ends.
//
// (L1) a filter entry says "mine alone" only while line.sole and line.owner is that CPU
// (L2) a filter entry is there only while the line's groups hold the CPU's
//
// Owns     the states. Locking: none. Fails never.
#include "lib/sim/engine.h"

#include "lib/sim/explore.h"

#include <algorithm>

namespace kmirror::sim {

// Takes the line from all filters but one CPU's: (L1), (L2).
void Engine::forget(std::uint32_t number, const Line &line, const Cpu &but)
{
    const std::size_t slot = number % kFilterLines;
    const auto drop = [&](Cpu &from) {
        if (from.filter[slot] >> 1 == number && &from != &but)
            from.filter[slot] = kNoLine;
    };
    if (line.sole) {
        drop(*cpus[line.owner - 1u]);
        return;
    }
    for (std::uint32_t left = line.groups; left != 0; left &= left - 1)
        for (Cpu *each : group_cpus_[static_cast<unsigned>(__builtin_ctz(left))])
            drop(*each);
}

void Engine::remember(Cpu &by, std::uint32_t number, bool sole)
{
    by.filter[number % kFilterLines] = number << 1 | static_cast<std::uint32_t>(sole);
}

Ps Engine::memory_price(const Cpu &by, std::uint32_t number) const
{
    return home_node(number) == by.place.node ? machine.costs.dram_local : machine.costs.dram_remote;
}

Ps Engine::age_price(const Cpu &by, std::uint32_t number, Ps age) const
{
    const Costs &costs = machine.costs;
    if (age < costs.age_l1)
        return by.access;
    if (age < costs.age_l2)
        return costs.l2;
    return age < costs.age_l3 ? costs.l3 : memory_price(by, number);
}

Ps Engine::read_price(Cpu &by, std::uint32_t number, Line &line, bool &moved)
{
    const auto me = static_cast<std::uint16_t>(by.id + 1);
    const std::uint32_t group = 1u << by.group;
    if (line.owner == 0 || (line.sole && line.owner == me)) {
        const Ps price = line.owner == 0 ? memory_price(by, number) : age_price(by, number, by.now - line.stamp);
        line.owner = me;
        line.sole = 1;
        line.groups = group;
        return price;
    }
    const Cpu &owner = *cpus[line.owner - 1u];
    const bool here = !line.sole && (line.groups & group);
    const bool gone = by.now - line.stamp > machine.costs.age_l3;
    line.shared = 1;
    moved = line.sole;
    if (line.sole) {
        // (L1) The owner has it no longer alone.
        Cpu &had = *cpus[line.owner - 1u];
        std::uint32_t &entry = had.filter[number % kFilterLines];
        if (entry == (number << 1 | 1))
            entry = number << 1;
        line.sole = 0;
    }
    line.groups |= group;
    if (here)
        return gone ? memory_price(by, number) : machine.costs.l3;
    moved = true;
    return gone ? std::min(transfer(owner, by), memory_price(by, number)) : transfer(owner, by);
}

Ps Engine::write_price(Cpu &by, std::uint32_t number, Line &line, bool &moved)
{
    const auto me = static_cast<std::uint16_t>(by.id + 1);
    Ps price = 0;
    if (line.owner == 0) {
        price = memory_price(by, number);
    } else if (line.sole && line.owner == me) {
        price = age_price(by, number, by.now - line.stamp);
    } else {
        // What is far from everybody who has it decides.
        if (line.sole)
            price = transfer(*cpus[line.owner - 1u], by);
        else
            for (std::uint32_t left = line.groups; left != 0; left &= left - 1)
                price = std::max(price,
                                 moves_[group_distance_[by.group][static_cast<unsigned>(__builtin_ctz(left))]]);
        if (by.now - line.stamp > machine.costs.age_l3)
            price = std::min(price, memory_price(by, number));
        forget(number, line, by);
        line.shared = 1;
        moved = true;
    }
    line.owner = me;
    line.sole = 1;
    line.groups = 1u << by.group;
    return price;
}

void Engine::miss(std::uint32_t number, Touch how, const void *place)
{
    Cpu &by = *cpu;
    by.counts.misses++;
    {
        const Line &line = lines[number];
        const bool mine = line.owner == 0 || (line.sole && line.owner == by.id + 1);
        if (!mine || setting.yield_always)
            sync(); // (E1)
    }
    Line &line = lines[number];
    bool moved = false;
    const Ps price = how == Touch::Read ? read_price(by, number, line, moved) : write_price(by, number, line, moved);
    Ps begin = by.now;
    if (moved && line.stamp > begin) {
        max_stamp_wait = std::max(max_stamp_wait, line.stamp - begin);
        begin = line.stamp;
    }
    const Ps end = begin + price;
    if (how == Touch::Write) {
        by.drained = std::max(by.drained, end);
        by.now += (end - by.now) * machine.costs.store_share / kOne;
    } else {
        by.now = end;
    }
    if (moved || line.sole)
        line.stamp = end;
    remember(by, number, line.sole);
    if (moved) {
        by.counts.transfers++;
        if (on_move)
            on_move(number, place, end - begin);
    }
}

void Engine::touch(const void *address, std::size_t size, Touch how, const void *place)
{
    if (explorer) {
        explorer->point(address, place);
        return;
    }
    const std::uint32_t first = lines.number(address);
    if (first == kNoLine)
        return;
    const std::uint32_t last = lines.number(static_cast<const char *>(address) + size - 1);
    for (std::uint32_t number = first; number <= last && last != kNoLine; number++) {
        if (number != first)
            cpu->now += cpu->access;
        if (!at_hand(number, how != Touch::Read))
            miss(number, how, place);
    }
    if (cpu->now > cpu->limit)
        limit_passed();
}

bool Engine::line_shared(std::uint32_t number)
{
    const Line &line = lines[number];
    return line.shared || (line.owner != 0 && line.owner != cpu->id + 1);
}

void Engine::rmw(const void *address, std::size_t bytes, bool local, const void *place)
{
    if (explorer) {
        explorer->point(address, place);
        return;
    }
    Cpu &by = *cpu;
    by.counts.atomics++;
    const std::uint32_t number = lines.number(address);
    if (!local)
        drain();
    if (number != kNoLine) {
        if (!at_hand(number, true))
            miss(number, Touch::Rmw, place);
        else if (!local && line_shared(number))
            sync(); // (E1): others want it, in the order of time
    }
    cpu->now += (bytes == 16 ? machine.costs.rmw16 : machine.costs.rmw) * cpu->scale / kOne;
    if (number != kNoLine && !local)
        lines[number].stamp = cpu->now;
    if (cpu->now > cpu->limit)
        limit_passed();
}

void Engine::give_line(std::uint32_t number, Cpu &to)
{
    if (number == kNoLine || explorer)
        return;
    Line &line = lines[number];
    if (line.owner != 0)
        forget(number, line, to);
    line.owner = static_cast<std::uint16_t>(to.id + 1);
    line.sole = 1;
    line.shared = 1;
    line.groups = 1u << to.group;
    line.stamp = to.now;
    remember(to, number, true);
}

} // namespace kmirror::sim
