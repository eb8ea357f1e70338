// SPDX-License-Identifier: GPL-2.0-only
//
// The figures of figures_test.cpp on a machine of 32 bit. Taken from this library in a state in which all of
// the kernel's lib/test_maple_tree.c, built for 32 bit, had passed on it.
#ifndef KMIRROR_RADIX_TREE_TESTS_FIGURES_32_H
#define KMIRROR_RADIX_TREE_TESTS_FIGURES_32_H

#include "radix-tree-tests/figures.h"

namespace kmirror::testing {

// Slots in use of each node after so many steps: root / next level / leaves. "8x5": five nodes with eight
// slots.
inline constexpr Figure kShapes32[] = {
    {"Plain append tight",
     "1: 2 | 15: 16 | 16: 17 | 17: 18 | 24: 25 | 25: 26 | 33: 2 / 17x2 | 34: 2 / 17 18 | 100: 4 / 31x2 "
     "17 22 | 136: 5 / 31x3 17 27 | 137: 5 / 31x3 17 28 | 300: 10 / 31x8 25 28"},
    {"Alloc append tight",
     "1: 2 | 15: 16 | 16: 17 | 17: 18 | 24: 25 | 25: 26 | 33: 2 / 17x2 | 34: 2 / 17 18 | 100: 4 / 31x2 "
     "17 22 | 136: 5 / 31x3 17 27 | 137: 5 / 31x3 17 28 | 300: 10 / 31x8 25 28"},
    {"Plain append loose",
     "7: 14 | 8: 16 | 9: 18 | 12: 24 | 13: 26 | 17: 2 / 17x2 | 60: 4 / 31 32 28 29 | 100: 7 / 31 32x4 "
     "16 25 | 150: 10 / 31 32x7 16 29"},
    {"Alloc append loose",
     "7: 14 | 8: 16 | 9: 18 | 12: 24 | 13: 26 | 17: 2 / 17x2 | 60: 4 / 31 32 28 29 | 100: 7 / 31 32x4 "
     "16 25 | 150: 10 / 31 32x7 16 29"},
    {"Plain prepend",
     "16: 18 | 17: 19 | 25: 27 | 34: 2 / 20 16 | 100: 4 / 24 16 31x2 | 150: 5 / 31 28 31x3 | 300: 10 / "
     "30 24 31x8"},
    {"Alloc prepend",
     "16: 18 | 17: 19 | 25: 27 | 34: 2 / 20 16 | 100: 4 / 24 16 31x2 | 150: 5 / 31 28 31x3 | 300: 10 / "
     "30 24 31x8"},
    {"Plain halve",
     "16: 32 | 17: 2 / 17x2 | 20: 2 / 19 21 | 24: 2 / 23 25 | 33: 3 / 25 24 17 | 50: 4 / 19 26 30 25 | "
     "64: 5 / 27 30 26x2 19 | 100: 8 / 31 16 18 30 26x2 28 25 | 200: 15 / 29 30x2 16 20 30 16 18 32x2 "
     "30 32 30 26 29 | 400: 31 / 31 16 18 30 32 16 18 30 16 18 30 26 30 26 28 30 28x2 32x2 26x2 24 30 "
     "28x2 18 32x2 20 21"},
    {"Alloc halve",
     "16: 32 | 17: 2 / 17x2 | 20: 2 / 19 21 | 24: 2 / 23 25 | 33: 3 / 25 24 17 | 50: 4 / 19 26 30 25 | "
     "64: 5 / 27 30 26x2 19 | 100: 8 / 31 16 18 30 26x2 28 25 | 200: 15 / 29 30x2 16 20 30 16 18 32x2 "
     "30 32 30 26 29 | 400: 2 / 16 15 / 31 16 18 30 32 16 18 30 16 18 30 26 30 26 28 24 30 32x3 26x2 24 "
     "30 28x2 18 32x2 20 21"},
    {"Plain pile up",
     "1: 4 / 31x2 17 24 | 4: 4 / 31x2 17 27 | 8: 4 / 31x2 17 31 | 16: 4 / 31x2 25 31 | 17: 4 / 31x2 25 "
     "32 | 32: 5 / 31x3 17 24 | 64: 6 / 31x4 17 25 | 128: 8 / 31x6 17 27 | 200: 10 / 31x8 25 29"},
    {"Alloc pile up",
     "1: 4 / 31x2 17 24 | 4: 4 / 31x2 17 27 | 8: 4 / 31x2 17 31 | 16: 4 / 31x2 25 31 | 17: 4 / 31x2 25 "
     "32 | 32: 5 / 31x3 17 24 | 64: 6 / 31x4 17 25 | 128: 8 / 31x6 17 27 | 200: 10 / 31x8 25 29"},
    {"Plain erase front",
     "1: 7 / 31x5 17 29 | 4: 7 / 28 31x4 17 29 | 9: 7 / 23 31x4 17 29 | 10: 7 / 22 31x4 17 29 | 20: 7 / "
     "21 22 31x3 17 29 | 50: 6 / 22x2 31x2 17 29 | 100: 4 / 25 31 17 29 | 150: 2 / 23 29 | 180: 22 | "
     "192: 10 | 196: 6 | 199: 3 | 200: -"},
    {"Alloc erase front",
     "1: 7 / 31x5 17 29 | 4: 7 / 28 31x4 17 29 | 9: 7 / 23 31x4 17 29 | 10: 7 / 22 31x4 17 29 | 20: 7 / "
     "21 22 31x3 17 29 | 50: 6 / 22x2 31x2 17 29 | 100: 4 / 25 31 17 29 | 150: 2 / 23 29 | 180: 22 | "
     "192: 10 | 196: 6 | 199: 3 | 200: -"},
    {"Plain erase back",
     "1: 7 / 31x5 17 28 | 4: 7 / 31x5 17 25 | 9: 7 / 31x5 17 20 | 10: 7 / 31x5 17 19 | 20: 6 / 31x5 26 "
     "| 50: 5 / 31x4 27 | 100: 4 / 31x2 23 16 | 150: 2 / 31 20 | 180: 21 | 192: 9 | 196: 5 | 199: 2 | "
     "200: -"},
    {"Alloc erase back",
     "1: 7 / 31x5 17 28 | 4: 7 / 31x5 17 25 | 9: 7 / 31x5 17 20 | 10: 7 / 31x5 17 19 | 20: 6 / 31x5 26 "
     "| 50: 5 / 31x4 27 | 100: 4 / 31x2 23 16 | 150: 2 / 31 20 | 180: 21 | 192: 9 | 196: 5 | 199: 2 | "
     "200: -"},
    {"Plain erase middle",
     "1: 7 / 31x5 17 29 | 2: 7 / 31x3 30 31 17 29 | 7: 7 / 31x3 25 31 17 29 | 20: 7 / 31x2 24 19 31 17 "
     "29 | 50: 6 / 31x2 26 18 17 29 | 100: 4 / 31 21x2 29 | 150: 2 / 23 29 | 180: 22 | 192: 10 | 199: 3 "
     "| 200: -"},
    {"Alloc erase middle",
     "1: 7 / 31x5 17 29 | 2: 7 / 31x3 30 31 17 29 | 7: 7 / 31x3 25 31 17 29 | 20: 7 / 31x2 24 19 31 17 "
     "29 | 50: 6 / 31x2 26 18 17 29 | 100: 4 / 31 21x2 29 | 150: 2 / 23 29 | 180: 22 | 192: 10 | 199: 3 "
     "| 200: -"},
    {"Plain erase thirds",
     "10: 7 / 31x5 17 29 | 30: 7 / 30 32 31x3 17 29 | 67: 7 / 30 32 31 30 32 22 24 | 90: 7 / 20 24 26 "
     "30 32 22 24 | 120: 7 / 20 24 18 20 22 20 24 | 134: 6 / 20 24 18 20 22 29 | 160: 3 / 30 22 29 | "
     "190: 21 | 199: 3 | 200: -"},
    {"Alloc erase thirds",
     "10: 7 / 31x5 17 29 | 30: 7 / 30 32 31x3 17 29 | 67: 7 / 30 32 31 30 32 22 24 | 90: 7 / 20 24 26 "
     "30 32 22 24 | 120: 7 / 20 24 18 20 22 20 24 | 134: 6 / 20 24 18 20 22 29 | 160: 3 / 30 22 29 | "
     "190: 21 | 199: 3 | 200: -"},
    {"Plain span value",
     "1: 7 / 28 31x4 17 29 | 2: 7 / 28 26 31x3 17 29 | 3: 7 / 28 26 24 31x2 17 29 | 4: 7 / 28 26 24 22 "
     "31 17 29 | 6: 7 / 28 26 24 22 19 18 16 | 8: 6 / 20 30 22 19 18 16 | 10: 4 / 20 30 31 16 | 15: 30 "
     "| 20: 15"},
    {"Alloc span value",
     "1: 7 / 28 31x4 17 29 | 2: 7 / 28 26 31x3 17 29 | 3: 7 / 28 26 24 31x2 17 29 | 4: 7 / 28 26 24 22 "
     "31 17 29 | 6: 7 / 28 26 24 22 19 18 16 | 8: 6 / 20 30 22 19 18 16 | 10: 4 / 20 30 31 16 | 15: 30 "
     "| 20: 15"},
    {"Plain span null",
     "1: 7 / 24 31x4 17 29 | 2: 7 / 24 27x2 31x2 17 29 | 3: 7 / 24 27x2 22 31 17 29 | 4: 7 / 24 27x2 22 "
     "31 18x2 | 6: 7 / 20 18 17 22 31 18x2 | 8: 6 / 20 18 17 20x2 22 | 10: 4 / 22 21 20 22 | 15: 15 | "
     "20: -"},
    {"Alloc span null",
     "1: 7 / 24 31x4 17 29 | 2: 7 / 24 27x2 31x2 17 29 | 3: 7 / 24 27x2 22 31 17 29 | 4: 7 / 24 27x2 22 "
     "31 18x2 | 6: 7 / 20 18 17 22 31 18x2 | 8: 6 / 20 18 17 20x2 22 | 10: 4 / 22 21 20 22 | 15: 15 | "
     "20: -"},
    {"Plain two full value", "15: 2 / 32 16 | 23: 2 / 32x2 | 24: 2 / 32x2"},
    {"Alloc two full value", "15: 2 / 32 16 | 23: 2 / 32x2 | 24: 2 / 32x2"},
    {"Plain two full null", "15: 2 / 32 16 | 23: 2 / 32x2 | 24: 3 / 23x2 18"},
    {"Alloc two full null", "15: 2 / 32 16 | 23: 2 / 32x2 | 24: 3 / 23x2 18"},
};

// "17>2": after 17 steps the height became 2.
inline constexpr Figure kHeights32[] = {
    {"Plain append tight", "1>1 32>2 993>3"},
    {"Plain append loose", "1>1 17>2 512>3"},
    {"Plain prepend", "1>1 31>2"},
    {"Plain halve", "1>1 17>2 447>3"},
    {"Plain erase front", "171>1 200>0"},
    {"Plain erase back", "170>1 200>0"},
    {"Plain erase middle", "170>1 200>0"},
    {"Plain erase thirds", "185>1 200>0"},
    {"Alloc append tight", "1>1 32>2 652>3"},
    {"Alloc append loose", "1>1 17>2 336>3"},
    {"Alloc prepend", "1>1 31>2"},
    {"Alloc halve", "1>1 17>2 306>3"},
    {"Alloc erase front", "171>1 200>0"},
    {"Alloc erase back", "170>1 200>0"},
    {"Alloc erase middle", "170>1 200>0"},
    {"Alloc erase thirds", "185>1 200>0"},
};

// "split 3/2/2 x4": four stores were splits that reserved 3 nodes, made 2 and left a tree of height 2.
inline constexpr Figure kCensus32[] = {
    {"Plain empty", "store-root 0/0/0 x2, store-root 1/0/0 x31, store-root 1/1/1 x31"},
    {"Plain root", "store-root 0/0/0 x2, store-root 1/0/0 x63, store-root 1/1/1 x63"},
    {"Plain 7 loose",
     "append 0/0/1 x48, exact 0/0/1 x79, new-root 0/0/0 x3, node 0/0/1 x322, slot 0/0/1 x60"},
    {"Plain 60 loose",
     "append 0/0/2 x32, exact 0/0/2 x182, node 0/0/2 x683, rebalance 3/2/2 x14, rebalance 3/3/2 x110, "
     "slot 0/0/2 x329, span 7/0/0 x1, span 7/1/1 x64, span 7/2/2 x213, span 7/3/2 x252, split 3/3/2 x104"},
    {"Plain 300 loose",
     "exact 0/0/2 x140, node 0/0/2 x458, rebalance 3/2/2 x14, rebalance 3/3/2 x51, slot 0/0/2 x301, "
     "span 7/2/2 x300, span 7/3/2 x292, span 7/4/2 x1, split 3/3/2 x235"},
    {"Plain 120 tight",
     "append 0/0/2 x56, exact 0/0/2 x78, node 0/0/2 x900, rebalance 3/3/2 x88, span 7/1/1 x53, span "
     "7/2/2 x63, span 7/3/2 x232, split 3/3/2 x130"},
    {"Plain 1200 loose",
     "exact 0/0/3 x75, node 0/0/3 x224, rebalance 3/3/3 x23, slot 0/0/3 x158, span 10/2/3 x161, span "
     "10/3/3 x133, span 10/4/3 x33, span 10/5/3 x11, split 3/3/3 x142"},
    {"Alloc empty", "store-root 0/0/0 x2, store-root 1/0/0 x31, store-root 1/1/1 x31"},
    {"Alloc root", "store-root 0/0/0 x2, store-root 1/0/0 x63, store-root 1/1/1 x63"},
    {"Alloc 7 loose",
     "append 0/0/1 x48, exact 0/0/1 x79, new-root 0/0/0 x3, node 0/0/1 x322, slot 0/0/1 x60"},
    {"Alloc 60 loose",
     "append 0/0/2 x32, exact 0/0/2 x182, node 0/0/2 x683, rebalance 3/2/2 x14, rebalance 3/3/2 x110, "
     "slot 0/0/2 x329, span 7/0/0 x1, span 7/1/1 x64, span 7/2/2 x213, span 7/3/2 x252, split 3/3/2 x104"},
    {"Alloc 300 loose",
     "exact 0/0/2 x140, node 0/0/2 x458, rebalance 3/2/2 x14, rebalance 3/3/2 x51, slot 0/0/2 x301, "
     "span 7/2/2 x300, span 7/3/2 x292, span 7/4/2 x1, split 3/3/2 x235"},
    {"Alloc 120 tight",
     "append 0/0/2 x56, exact 0/0/2 x78, node 0/0/2 x900, rebalance 3/3/2 x88, span 7/1/1 x53, span "
     "7/2/2 x63, span 7/3/2 x232, split 3/3/2 x130"},
    {"Alloc 1200 loose",
     "exact 0/0/3 x75, node 0/0/3 x224, rebalance 3/3/3 x23, slot 0/0/3 x158, span 10/4/3 x16, span "
     "10/5/3 x8, span 7/2/3 x176, span 7/3/3 x137, span 7/4/3 x1, split 3/3/3 x142"},
    {"PlainRcu empty", "store-root 0/0/0 x2, store-root 1/0/0 x31, store-root 1/1/1 x31"},
    {"PlainRcu root", "store-root 0/0/0 x2, store-root 1/0/0 x63, store-root 1/1/1 x63"},
    {"PlainRcu 7 loose", "exact 0/0/1 x79, new-root 0/0/0 x3, node 1/1/1 x430"},
    {"PlainRcu 60 loose",
     "exact 0/0/2 x182, node 1/1/2 x806, rebalance 3/2/2 x14, rebalance 3/3/2 x110, slot 0/0/2 x238, "
     "span 7/0/0 x1, span 7/1/1 x64, span 7/2/2 x213, span 7/3/2 x252, split 3/3/2 x104"},
    {"PlainRcu 300 loose",
     "exact 0/0/2 x140, node 1/1/2 x539, rebalance 3/2/2 x14, rebalance 3/3/2 x51, slot 0/0/2 x220, "
     "span 7/2/2 x300, span 7/3/2 x292, span 7/4/2 x1, split 3/3/2 x235"},
    {"PlainRcu 120 tight",
     "exact 0/0/2 x78, node 1/1/2 x956, rebalance 3/3/2 x88, span 7/1/1 x53, span 7/2/2 x63, span 7/3/2 "
     "x232, split 3/3/2 x130"},
    {"PlainRcu 1200 loose",
     "exact 0/0/3 x75, node 1/1/3 x266, rebalance 3/3/3 x23, slot 0/0/3 x116, span 10/2/3 x161, span "
     "10/3/3 x133, span 10/4/3 x33, span 10/5/3 x11, split 3/3/3 x142"},
    {"AllocRcu empty", "store-root 0/0/0 x2, store-root 1/0/0 x31, store-root 1/1/1 x31"},
    {"AllocRcu root", "store-root 0/0/0 x2, store-root 1/0/0 x63, store-root 1/1/1 x63"},
    {"AllocRcu 7 loose", "exact 0/0/1 x79, new-root 0/0/0 x3, node 1/1/1 x430"},
    {"AllocRcu 60 loose",
     "exact 0/0/2 x182, node 1/1/2 x806, rebalance 3/2/2 x14, rebalance 3/3/2 x110, slot 0/0/2 x238, "
     "span 7/0/0 x1, span 7/1/1 x64, span 7/2/2 x213, span 7/3/2 x252, split 3/3/2 x104"},
    {"AllocRcu 300 loose",
     "exact 0/0/2 x140, node 1/1/2 x539, rebalance 3/2/2 x14, rebalance 3/3/2 x51, slot 0/0/2 x220, "
     "span 7/2/2 x300, span 7/3/2 x292, span 7/4/2 x1, split 3/3/2 x235"},
    {"AllocRcu 120 tight",
     "exact 0/0/2 x78, node 1/1/2 x956, rebalance 3/3/2 x88, span 7/1/1 x53, span 7/2/2 x63, span 7/3/2 "
     "x232, split 3/3/2 x130"},
    {"AllocRcu 1200 loose",
     "exact 0/0/3 x75, node 1/1/3 x266, rebalance 3/3/3 x23, slot 0/0/3 x116, span 10/4/3 x16, span "
     "10/5/3 x8, span 7/2/3 x176, span 7/3/3 x137, span 7/4/3 x1, split 3/3/3 x142"},
};

} // namespace kmirror::testing

#endif
