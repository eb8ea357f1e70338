// SPDX-License-Identifier: GPL-2.0-only
//
// Readers of a maple tree beside a writer, which does stores of every kind: in place, a new node, a split, over
// several leaves, a new root. A reader may see an index as it was or as it became, and never goes back.
//
// Owns     one tree. Locking: the writer takes the tree's, readers are in read sections.
#include "lib/sim/scenario/scenario.h"

#include <linux/maple_tree.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>

namespace kmirror::sim {
namespace {

constexpr unsigned long kIndices = 64, kRange = 2;

struct Step {
    unsigned long first, last;
    unsigned value;      // 0: erased
};
// After the first filling, in this order, kRounds times. No value comes twice.
constexpr Step kSteps[] = {
    {8, 9, 200},    // exact fit
    {12, 12, 201},  // part of a range: one slot more
    {20, 33, 202},  // over several
    {40, 41, 0},    // a hole
    {10, 55, 203},  // over leaves
    {0, 63, 204},   // everything: a new root
    {30, 31, 205},
};
constexpr unsigned kStepsOfRound = sizeof(kSteps) / sizeof(*kSteps), kRounds = 4;
constexpr unsigned kStepCount = kStepsOfRound * kRounds;

Step step_at(unsigned number)
{
    Step step = kSteps[number % kStepsOfRound];
    if (step.value != 0)
        step.value += 100 * (number / kStepsOfRound);
    return step;
}

maple_tree tree;

void *entry(unsigned value) { return value != 0 ? xa_mk_value(value) : nullptr; }

unsigned first_value(unsigned long index) { return 1 + static_cast<unsigned>(index / kRange); }

// What the index holds after so many steps.
unsigned value_after(unsigned long index, unsigned steps)
{
    unsigned value = first_value(index);
    for (unsigned i = 0; i < steps; i++) {
        const Step step = step_at(i);
        if (step.first <= index && index <= step.last)
            value = step.value;
    }
    return value;
}

// The least number of steps, not below `from`, after which the index holds the entry; -1: none.
int steps_that_give(unsigned long index, const void *seen, unsigned from)
{
    for (unsigned steps = from; steps <= kStepCount; steps++)
        if (entry(value_after(index, steps)) == seen)
            return static_cast<int>(steps);
    return -1;
}

void prepare()
{
    mt_init_flags(&tree, MT_FLAGS_ALLOC_RANGE | MT_FLAGS_USE_RCU);
    for (unsigned long index = 0; index < kIndices; index += kRange)
        if (mtree_store_range(&tree, index, index + kRange - 1, entry(first_value(index)), GFP_KERNEL) != 0)
            scenario_wrong("a store failed");
}

void write()
{
    for (unsigned i = 0; i < kStepCount; i++) {
        const Step step = step_at(i);
        if (mtree_store_range(&tree, step.first, step.last, entry(step.value), GFP_KERNEL) != 0)
            scenario_wrong("a store failed");
    }
}

void load()
{
    constexpr unsigned long kLoads[] = {8, 12, 21, 40, 55, 8, 30, 0, 63, 31};
    unsigned seen[kIndices] = {};
    for (const unsigned long index : kLoads) {
        const int steps = steps_that_give(index, mtree_load(&tree, index), seen[index]);
        if (steps < 0)
            scenario_wrong("a reader saw what never was, or went back");
        else
            seen[index] = static_cast<unsigned>(steps);
    }
}

void walk()
{
    for (unsigned round = 0; round < 2; round++) {
        unsigned long index = 0, at = 0;
        rcu_read_lock();
        MA_STATE(mas, &tree, 0, 0);
        for (void *found; index < kIndices && (found = mas_find(&mas, kIndices - 1)) != nullptr;) {
            at = mas.index > index ? mas.index : index;
            if (mas.last < index)
                scenario_wrong("a walk went back");
            if (steps_that_give(at, found, 0) < 0)
                scenario_wrong("a walk saw what never was");
            index = mas.last + 1;
        }
        rcu_read_unlock();
    }
}

void body(unsigned cpu)
{
    if (cpu == 0)
        write();
    else if (cpu == 1)
        load();
    else
        walk();
}

void finish()
{
    mt_validate(&tree);
    for (unsigned long index = 0; index < kIndices; index++)
        if (mtree_load(&tree, index) != entry(value_after(index, kStepCount)))
            scenario_wrong("the tree does not hold what was stored last");
    mtree_destroy(&tree);
}

} // namespace

extern const Scenario kTreeScenario = {
    "tree", "a load and a walk beside stores of every kind", "numa:1 core:3 pu:1", "sheaves", 4, prepare, body, finish};
// The head of a callback lies over a dead node's first pivots, while readers are still there.
extern const Scenario kTreeCallbackScenario = {
    "tree_rcu", "the same, dead nodes queued one by one", "numa:1 core:3 pu:1", "cpu-slab", 0, prepare, body, finish};

} // namespace kmirror::sim
