// SPDX-License-Identifier: GPL-2.0-only
//
// The engine alone: clocks, order, lines and their prices. The tasks here touch lines by hand, as the hooks do.
#include "lib/sim/engine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace kmirror::sim {
namespace {

char some_data[64];

// Two packages of two nodes of two L3 groups of two cores of two threads: 32 CPUs.
std::vector<Place> places()
{
    std::vector<Place> all;
    for (int cpu = 0; cpu < 32; cpu++)
        all.push_back({cpu / 8, cpu / 16, cpu / 4, cpu / 2});
    return all;
}

Machine machine()
{
    Machine made;
    Costs &c = made.costs;
    c.access = 1 * kNs;
    c.l2 = 4 * kNs;
    c.l3 = 14 * kNs;
    c.dram_local = 100 * kNs;
    c.dram_remote = 200 * kNs;
    c.smt = 6 * kNs;
    c.same_l3 = 30 * kNs;
    c.same_node = 110 * kNs;
    c.same_package = 120 * kNs;
    c.other_package = 220 * kNs;
    c.rmw = 5 * kNs;
    c.rmw16 = 7 * kNs;
    c.age_l1 = 5 * kUs;
    c.age_l2 = 2 * kMs;
    c.age_l3 = 30 * kMs;
    c.store_share = kOne / 4;
    c.handoff = 2 * kOne;
    c.smt_slowdown = 2 * kOne;
    c.tick = 0;
    c.tick_period = 4 * kMs;
    c.slice = 3 * kMs;
    c.task_switch = kUs;
    return made;
}

class SimEngine : public testing::Test {
protected:
    void SetUp() override
    {
        std::destroy_at(&engine);
        std::construct_at(&engine);
        Engine::Setting setting;
        setting.memory = 1 << 20;
        engine.lines.init(setting.memory, some_data, sizeof(some_data));
        engine.init(machine(), places(), setting);
        memory = static_cast<char *>(engine.lines.take(1 << 16));
    }
    void TearDown() override
    {
        std::destroy_at(&engine);
        std::construct_at(&engine);
    }

    // What the hooks do: the price of an access, and the slow half.
    static void touch(const void *at, Touch how)
    {
        engine.cpu->now += engine.cpu->access;
        engine.touch(at, 8, how, nullptr);
    }
    // The time that a touch takes on the CPU, at a moment when nobody else runs.
    Ps price(unsigned cpu, const void *at, Touch how)
    {
        Ps time = 0;
        moment += kMs / 4;
        engine.spawn(cpu, moment, [&] {
            const Ps before = engine.cpu->now;
            touch(at, how);
            engine.drain();
            time = engine.cpu->now - before;
        }, "touch");
        moment += kMs / 4;
        engine.run_until(moment);
        return time;
    }

    char *memory = nullptr;
    Ps moment = 0;
};

TEST_F(SimEngine, ALineAtHandCostsAnAccessAndMemoryWhatItsNodeSays)
{
    engine.home_node = [](std::uint32_t) { return 1; };
    EXPECT_EQ(price(0, memory, Touch::Read), 201 * kNs);
    EXPECT_EQ(price(0, memory, Touch::Read), 1 * kNs);
    EXPECT_EQ(price(0, memory, Touch::Write), 1 * kNs) << "nobody else has it";
    EXPECT_EQ(price(8, memory + 64, Touch::Read), 101 * kNs) << "of its own node";
}

TEST_F(SimEngine, AMovedLineCostsByDistance)
{
    const struct {
        unsigned reader;
        Ps price;
    } cases[] = {{1, 6}, {2, 30}, {4, 110}, {8, 120}, {16, 220}};
    unsigned line = 0;
    for (const auto &each : cases) {
        char *const at = memory + 64 * line++;
        price(0, at, Touch::Write);
        EXPECT_EQ(price(each.reader, at, Touch::Read), (each.price + 1) * kNs) << "CPU " << each.reader;
        EXPECT_EQ(price(each.reader, at, Touch::Read), 1 * kNs);
        EXPECT_EQ(price(0, at, Touch::Read), 1 * kNs) << "both have it now";
    }
}

TEST_F(SimEngine, AWriteTakesTheLineFromAllWhoHaveIt)
{
    price(0, memory, Touch::Write);
    for (const unsigned reader : {2u, 4u, 16u})
        price(reader, memory, Touch::Read);
    EXPECT_EQ(price(6, memory, Touch::Read), 15 * kNs) << "its L3 group has a copy";
    EXPECT_EQ(price(0, memory, Touch::Write), 221 * kNs) << "the farthest copy";
    for (const unsigned reader : {2u, 4u, 6u, 16u})
        EXPECT_GT(price(reader, memory, Touch::Read), 10 * kNs) << "CPU " << reader;
}

TEST_F(SimEngine, AStoresMissIsPaidInFullByTheNextLockedOperation)
{
    price(16, memory, Touch::Write);
    Ps after_store = 0, after_rmw = 0;
    moment += kMs;
    engine.spawn(0, moment, [&] {
        const Ps start = engine.cpu->now;
        touch(memory, Touch::Write);
        after_store = engine.cpu->now - start;
        engine.rmw(some_data, 8, false, nullptr);
        after_rmw = engine.cpu->now - start;
    }, "store");
    engine.run_until(moment + kMs);
    EXPECT_EQ(after_store, 1 * kNs + 55 * kNs) << "a quarter at once";
    EXPECT_GE(after_rmw, 221 * kNs + 5 * kNs);
}

TEST_F(SimEngine, SharedLinesAreTouchedInTheOrderOfTime)
{
    std::vector<std::pair<Ps, unsigned>> order;
    for (unsigned cpu = 0; cpu < 8; cpu++)
        engine.spawn(cpu, 0, [&order, cpu, this] {
            for (unsigned i = 0; i < 50; i++) {
                engine.spend((cpu * 7 + i * 13) % 29 * kNs);
                engine.rmw(memory, 8, false, nullptr);
                engine.sync();
                order.emplace_back(engine.cpu->now, cpu);
            }
        }, "worker");
    engine.run_until(kMs);
    ASSERT_EQ(order.size(), 400u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(SimEngine, APrivateStretchRunsAtMostTheSkewAhead)
{
    Ps most = 0;
    Ps clocks[2] = {};
    for (unsigned cpu : {0u, 8u})
        engine.spawn(cpu, 0, [&, cpu] {
            for (unsigned i = 0; i < 10000; i++) {
                touch(memory + 4096 * cpu, Touch::Write);
                clocks[cpu / 8] = engine.cpu->now;
                if (clocks[1 - cpu / 8] != 0)
                    most = std::max(most, clocks[cpu / 8] - clocks[1 - cpu / 8]);
            }
        }, "private");
    engine.run_until(kMs);
    EXPECT_LE(most, engine.setting.skew + 200 * kNs);
    EXPECT_GT(clocks[0], 10 * kUs);
}

TEST_F(SimEngine, TwoThreadsOfACoreSlowEachOtherDown)
{
    const auto time_of = [this](bool sibling) {
        Ps time = 0;
        moment += kMs / 4;
        const Ps start = moment;
        engine.spawn(0, start, [&] {
            const Ps before = engine.cpu->now;
            engine.spend(10 * kUs);
            time = engine.cpu->now - before;
        }, "one");
        if (sibling)
            engine.spawn(1, start - 2 * kUs, [] { engine.spend(100 * kUs); }, "other");
        moment += kMs / 4;
        engine.run_until(moment);
        return time;
    };
    EXPECT_EQ(time_of(false), 10 * kUs);
    EXPECT_EQ(time_of(true), 20 * kUs);
}

TEST_F(SimEngine, MoreTasksThanCpusShareThemByTimeSlices)
{
    Ps ended[3] = {};
    for (int i = 0; i < 3; i++)
        engine.spawn(0, 0, [&, i] {
            for (unsigned step = 0; step < 20000; step++)
                engine.spend(kUs);
            ended[i] = engine.cpu->now;
        }, "share");
    for (Ps until = kMs; until < 100 * kMs; until += kMs)
        engine.run_until(until);
    for (const Ps end : ended) {
        EXPECT_GT(end, 45 * kMs) << "each has a third";
        EXPECT_LT(end, 65 * kMs);
    }
}

std::uint64_t busy_run(unsigned cpus)
{
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        engine.spawn(cpu, cpu, [cpu] {
            auto *const shared = static_cast<const char *>(engine.lines.address(7));
            for (unsigned i = 0; i < 300; i++) {
                engine.spend((cpu * 31 + i * 17) % 101 * kNs);
                engine.rmw(shared + 64 * ((cpu + i) % 3), 8, false, nullptr);
                engine.cpu->task->iterations++;
            }
        }, "busy");
    engine.run_until(2 * kMs);
    return engine.hash();
}

TEST_F(SimEngine, EqualRunsHaveEqualHashes)
{
    const std::uint64_t first = busy_run(16);
    SetUp();
    EXPECT_EQ(busy_run(16), first);
    SetUp();
    EXPECT_NE(busy_run(15), first);
}

} // namespace
} // namespace kmirror::sim
