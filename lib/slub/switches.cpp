// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/switches.cpp: the settings of switches.h and where they come from.
//
// Owns     see switches.h.
// Bounds   see switches.h.
// Locking  see switches.h.
// Fails    see switches.h.
#include <linux/compiler.h>
#include <kmirror/harness.h>

#include "lib/kernel/setting.h"
#include "lib/slub/switches.h"

namespace kmirror::slub {

Switch switches[KMIRROR_SLAB_NR_SWITCHES] = {
    {"KMIRROR_SLAB_FREELIST_RANDOM", 0, -1},
    {"KMIRROR_SLAB_FREELIST_HARDENED", 0, -1},
    {"KMIRROR_SLAB_CMPXCHG_DOUBLE", 1, -1},
    {"KMIRROR_SLAB_MERGE", 1, -1},
    {"KMIRROR_INIT_ON_ALLOC", 0, -1},
    {"KMIRROR_INIT_ON_FREE", 0, -1},
    {"KMIRROR_SLAB_STRICT_NUMA", 0, -1},
};

namespace {

constexpr int kCapacityByRule = -1;
constexpr int kCapacityUnset = -2; // not set by anybody yet

int sheaf_capacity = kCapacityUnset;

void switch_init(Switch &one)
{
    if (READ_ONCE(one.value) < 0)
        WRITE_ONCE(one.value, (signed char)kernel::setting_u64(one.variable, 0, 1, one.otherwise));
}

void sheaf_capacity_init()
{
    if (READ_ONCE(sheaf_capacity) != kCapacityUnset)
        return;
    const u64 value = kernel::setting_u64("KMIRROR_SHEAF_CAPACITY", 0, kSheafCapacityMax,
                                          kSheafCapacityMax + 1);
    WRITE_ONCE(sheaf_capacity, value > kSheafCapacityMax ? kCapacityByRule : (int)value);
}

} // namespace

void switches_init()
{
    for (Switch &one : switches)
        switch_init(one);
    sheaf_capacity_init();
}

int forced_sheaf_capacity()
{
    // The tests' harness counts objects, so none may lie about in a sheaf.
    return kmirror_harness_exact() ? 0 : READ_ONCE(sheaf_capacity);
}

} // namespace kmirror::slub

using namespace kmirror::slub;

int kmirror_slab_sheaf_capacity(int objects)
{
    sheaf_capacity_init();
    const int before = READ_ONCE(sheaf_capacity);
    if (objects >= kCapacityByRule && objects <= (int)kSheafCapacityMax)
        WRITE_ONCE(sheaf_capacity, objects);
    return before;
}

int kmirror_slab_switch(enum kmirror_slab_switch which, int on)
{
    if ((unsigned int)which >= KMIRROR_SLAB_NR_SWITCHES)
        return -1;
    switch_init(switches[which]);
    const int before = READ_ONCE(switches[which].value);
    if (on >= 0)
        WRITE_ONCE(switches[which].value, (signed char)(on != 0));
    return before;
}
