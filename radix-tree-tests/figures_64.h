// SPDX-License-Identifier: GPL-2.0-only
//
// The figures of figures_test.cpp on a machine of 64 bit. Taken from this library in a state in which the
// kernel's white-box suite had passed on it.
#ifndef KMIRROR_RADIX_TREE_TESTS_FIGURES_64_H
#define KMIRROR_RADIX_TREE_TESTS_FIGURES_64_H

#include "radix-tree-tests/figures.h"

namespace kmirror::testing {

// Slots in use of each node after so many steps: root / next level / leaves. "8x5": five nodes with eight
// slots.
inline constexpr Figure kShapes64[] = {
    {"Plain append tight",
     "1: 2 | 15: 16 | 16: 2 / 9 8 | 17: 2 / 9x2 | 24: 2 / 9 16 | 25: 2 / 13x2 | 33: 3 / 15 9 10 | 34: 3 "
     "/ 15 9 11 | 100: 7 / 15x5 13x2 | 136: 10 / 15x8 9 8 | 137: 10 / 15x8 9x2 | 300: 2 / 9 11 / 15x19 "
     "16"},
    {"Alloc append tight",
     "1: 2 | 15: 16 | 16: 2 / 9 8 | 17: 2 / 9x2 | 24: 2 / 9 16 | 25: 2 / 13x2 | 33: 3 / 15 9 10 | 34: 3 "
     "/ 15 9 11 | 100: 7 / 15x5 13x2 | 136: 10 / 15x8 9 8 | 137: 10 / 15x8 9x2 | 300: 3 / 9 6 5 / 15x19 "
     "16"},
    {"Plain append loose",
     "7: 14 | 8: 16 | 9: 2 / 9x2 | 12: 2 / 9 15 | 13: 2 / 13x2 | 17: 3 / 15 8 11 | 60: 8 / 15 16x5 12 "
     "13 | 100: 13 / 15 16x10 12 13 | 150: 2 / 9 10 / 15 16x16 14 15"},
    {"Alloc append loose",
     "7: 14 | 8: 16 | 9: 2 / 9x2 | 12: 2 / 9 15 | 13: 2 / 13x2 | 17: 3 / 15 8 11 | 60: 8 / 15 16x5 12 "
     "13 | 100: 2 / 6 7 / 15 16x10 12 13 | 150: 2 / 9 10 / 15 16x16 14 15"},
    {"Plain prepend",
     "16: 2 / 10 8 | 17: 2 / 11 8 | 25: 2 / 15 12 | 34: 3 / 13 8 15 | 100: 7 / 15 12 15x5 | 150: 11 / 9 "
     "8 15x9 | 300: 2 / 13 8 / 9 8 15x19"},
    {"Alloc prepend",
     "16: 2 / 10 8 | 17: 2 / 11 8 | 25: 2 / 15 12 | 34: 3 / 13 8 15 | 100: 7 / 15 12 15x5 | 150: 2 / 6 "
     "5 / 9 8 15x9 | 300: 3 / 7 5 9 / 9 8 15x19"},
    {"Plain halve",
     "16: 3 / 15 8 9 | 17: 3 / 13 12 9 | 20: 3 / 15 14 11 | 24: 4 / 15 16 8 9 | 33: 5 / 11 16x2 10 13 | "
     "50: 8 / 11 14x2 8 12 14 16 11 | 64: 9 / 15 14 16 14 16x2 12 14 11 | 100: 16 / 13 14x3 10x2 14 8 "
     "12 16 8 14 16 12 14 11 | 200: 2 / 14 16 / 13 14 16x4 8 10 14 16x3 10 12 10 16 10x2 16x2 10 14x3 "
     "16 8 12 14 16 11 | 400: 5 / 15 9 8 15x2 / 13 14 16 10 12 16 14 16 14x2 8 12 10 16x2 14 16 14 8 10 "
     "16x2 8 10 14 8 14 16 8 10 14 8 10 14x2 8 10 14 8 14 16x2 10 16x2 8 10 14 16 8 14x2 16x4 10 14 "
     "16x2 14 11"},
    {"Alloc halve",
     "16: 3 / 15 8 9 | 17: 3 / 13 12 9 | 20: 3 / 15 14 11 | 24: 4 / 15 16 8 9 | 33: 5 / 11 16x2 10 13 | "
     "50: 8 / 11 14x2 8 12 14 16 11 | 64: 9 / 15 14 16 14 16x2 12 14 11 | 100: 2 / 7x2 / 13 14x3 16x3 "
     "10 16 14 16x2 14 11 | 200: 4 / 9 7 5 9 / 13 14 16x4 14x2 12 14 8 10 14 16 8 12 14 16 12 16 8 14 "
     "16x2 8 14 16 12 14 11 | 400: 7 / 6 9 8 10 9 10x2 / 13 14 16 10 12 16 14 8 12 16 8 10 8 10 16 14 8 "
     "10 14 16 8 12 16 14 16x2 14x2 10x2 14 16x4 12 16 14 16 14x2 16 14x3 8 10 14x2 8 10 16 14 8 10 14 "
     "16 8 12 14 16 11"},
    {"Plain pile up",
     "1: 7 / 15x5 13 15 | 4: 7 / 15x6 16 | 8: 8 / 15x6 9 11 | 16: 8 / 15x6 13 15 | 17: 8 / 15x6 13 16 | "
     "32: 9 / 15x7 13 16 | 64: 11 / 15x10 16 | 128: 16 / 15x14 9 11 | 200: 2 / 9 12 / 15x19 9 8"},
    {"Alloc pile up",
     "1: 7 / 15x5 13 15 | 4: 7 / 15x6 16 | 8: 8 / 15x6 9 11 | 16: 8 / 15x6 13 15 | 17: 8 / 15x6 13 16 | "
     "32: 9 / 15x7 13 16 | 64: 2 / 6 5 / 15x10 16 | 128: 2 / 6 10 / 15x14 9 11 | 200: 3 / 9 6x2 / 15x19 "
     "9 8"},
    {"Plain erase front",
     "1: 14 / 15x12 9 12 | 4: 14 / 12 15x11 9 12 | 9: 14 / 7 15x11 9 12 | 10: 14 / 11 10 15x10 9 12 | "
     "20: 13 / 11 15x10 9 12 | 50: 11 / 11 15x8 9 12 | 100: 8 / 11 10 15x4 9 12 | 150: 4 / 16 15 9 12 | "
     "180: 2 / 10 12 | 192: 10 | 196: 6 | 199: 3 | 200: -"},
    {"Alloc erase front",
     "1: 2 / 6 8 / 15x12 9 12 | 4: 2 / 6 8 / 12 15x11 9 12 | 9: 2 / 6 8 / 7 15x11 9 12 | 10: 2 / 6 8 / "
     "11 10 15x10 9 12 | 20: 2 / 5 8 / 11 15x10 9 12 | 50: 2 / 5 6 / 11 15x8 9 12 | 100: 8 / 11 10 15x4 "
     "9 12 | 150: 4 / 16 15 9 12 | 180: 2 / 10 12 | 192: 10 | 196: 6 | 199: 3 | 200: -"},
    {"Plain erase back",
     "1: 14 / 15x12 9 11 | 4: 14 / 15x12 9 8 | 9: 13 / 15x12 12 | 10: 13 / 15x12 11 | 20: 13 / 15x11 9 "
     "7 | 50: 11 / 15x9 9 7 | 100: 7 / 15x6 11 | 150: 4 / 15x2 11 10 | 180: 2 / 11 10 | 192: 9 | 196: 5 "
     "| 199: 2 | 200: -"},
    {"Alloc erase back",
     "1: 2 / 6 8 / 15x12 9 11 | 4: 2 / 6 8 / 15x12 9 8 | 9: 2 / 6 7 / 15x12 12 | 10: 2 / 6 7 / 15x12 11 "
     "| 20: 2 / 6 7 / 15x11 9 7 | 50: 2 / 6 5 / 15x9 9 7 | 100: 7 / 15x6 11 | 150: 4 / 15x2 11 10 | "
     "180: 2 / 11 10 | 192: 9 | 196: 5 | 199: 2 | 200: -"},
    {"Plain erase middle",
     "1: 14 / 15x12 9 12 | 2: 14 / 15x6 14 15x5 9 12 | 7: 14 / 15x6 9 15x5 9 12 | 20: 13 / 15x6 11 15x4 "
     "9 12 | 50: 11 / 15x5 11 15x3 9 12 | 100: 8 / 15x3 11 10 15 9 12 | 150: 5 / 15 9 7 9 12 | 180: 2 / "
     "10 12 | 192: 10 | 199: 3 | 200: -"},
    {"Alloc erase middle",
     "1: 2 / 6 8 / 15x12 9 12 | 2: 2 / 6 8 / 15x6 14 15x5 9 12 | 7: 2 / 6 8 / 15x6 9 15x5 9 12 | 20: 2 "
     "/ 6 7 / 15x6 11 15x4 9 12 | 50: 2 / 6x2 / 15x4 9x2 8 15x3 9 12 | 100: 8 / 15x3 11 10 15 9 12 | "
     "150: 5 / 15 9 7 9 12 | 180: 2 / 10 12 | 192: 10 | 199: 3 | 200: -"},
    {"Plain erase thirds",
     "10: 14 / 15x12 9 12 | 30: 14 / 15x12 9 12 | 67: 14 / 15x12 9 12 | 90: 14 / 10x4 12 15x7 9 12 | "
     "120: 14 / 10x10 12 15 9 12 | 134: 13 / 10x12 13 | 160: 8 / 8 10x6 13 | 190: 2 / 8 13 | 199: 3 | "
     "200: -"},
    {"Alloc erase thirds",
     "10: 2 / 6 8 / 15x12 9 12 | 30: 2 / 6 8 / 15x12 9 12 | 67: 2 / 6 8 / 15x12 9 12 | 90: 2 / 6 8 / "
     "10x4 12 15x7 9 12 | 120: 2 / 6 8 / 10x10 12 15 9 12 | 134: 2 / 6 7 / 10x12 13 | 160: 8 / 8 10x6 "
     "13 | 190: 2 / 8 13 | 199: 3 | 200: -"},
    {"Plain span value",
     "1: 14 / 12 15x11 9 12 | 2: 14 / 12 15 10 15x9 9 12 | 3: 14 / 12 15 10 15 12 11 15x6 9 12 | 4: 14 "
     "/ 12 15 10 15 12 11 15 11 10 15x3 9 12 | 6: 13 / 12 15 10 15 12 11 15 11 10x2 9 15 8 | 8: 11 / 12 "
     "11 12x2 15 11 10x2 9 15 8 | 10: 8 / 12 11 12x3 15x2 8 | 15: 3 / 9 12 9 | 20: 15"},
    {"Alloc span value",
     "1: 2 / 6 8 / 12 15x11 9 12 | 2: 2 / 6 8 / 12 15 10 15x9 9 12 | 3: 2 / 6 8 / 12 15 10 15 12 11 "
     "15x6 9 12 | 4: 2 / 6 8 / 12 15 10 15 12 11 15 11 10 15x3 9 12 | 6: 2 / 6 7 / 12 15 10 15 12 11 15 "
     "11 10x2 9 15 8 | 8: 2 / 6 5 / 12 11 12x2 15 11 10x2 9 15 8 | 10: 8 / 12 11 12x3 15x2 8 | 15: 3 / "
     "9 12 9 | 20: 15"},
    {"Plain span null",
     "1: 14 / 8 15x11 9 12 | 2: 14 / 8 15x2 11x2 15x7 9 12 | 3: 14 / 8 15x2 11x2 15x2 11 10 15x3 9 12 | "
     "4: 14 / 8 15x2 11x2 15x2 11 10 15 9 11 9 12 | 6: 12 / 12 15 11 14 15 11 10 15 9 11 9 12 | 8: 10 / "
     "12 15 11 14 15 8 15 9x3 | 10: 8 / 11x2 13 8 15 9x3 | 15: 2 / 8 7 | 20: -"},
    {"Alloc span null",
     "1: 2 / 6 8 / 8 15x11 9 12 | 2: 2 / 6 8 / 8 15x2 11x2 15x7 9 12 | 3: 2 / 6 8 / 8 15x2 11x2 15x2 11 "
     "10 15x3 9 12 | 4: 2 / 6 8 / 8 15x2 11x2 15x2 11 10 15 9 11 9 12 | 6: 2 / 6x2 / 12 15 11 14 15 11 "
     "10 15 9 11 9 12 | 8: 10 / 12 15 11 14 15 8 15 9x3 | 10: 8 / 11x2 13 8 15 9x3 | 15: 2 / 8 7 | 20: -"},
    {"Plain two full value", "7: 2 / 16 8 | 11: 2 / 16x2 | 12: 2 / 16x2"},
    {"Alloc two full value", "7: 2 / 16 8 | 11: 2 / 16x2 | 12: 2 / 16x2"},
    {"Plain two full null", "7: 2 / 16 8 | 11: 2 / 16x2 | 12: 3 / 12x2 8"},
    {"Alloc two full null", "7: 2 / 16 8 | 11: 2 / 16x2 | 12: 3 / 12x2 8"},
};

// "17>2": after 17 steps the height became 2.
inline constexpr Figure kHeights64[] = {
    {"Plain append tight", "1>1 16>2 241>3"},
    {"Plain append loose", "1>1 9>2 128>3"},
    {"Plain prepend", "1>1 15>2 240>3"},
    {"Plain halve", "1>1 9>2 117>3"},
    {"Plain erase front", "187>1 200>0"},
    {"Plain erase back", "186>1 200>0"},
    {"Plain erase middle", "186>1 200>0"},
    {"Plain erase thirds", "193>1 200>0"},
    {"Alloc append tight", "1>1 16>2 151>3 1366>4"},
    {"Alloc append loose", "1>1 9>2 80>3 728>4"},
    {"Alloc prepend", "1>1 15>2 150>3"},
    {"Alloc halve", "1>1 9>2 67>3"},
    {"Alloc erase front", "60>2 187>1 200>0"},
    {"Alloc erase back", "51>2 186>1 200>0"},
    {"Alloc erase middle", "70>2 186>1 200>0"},
    {"Alloc erase thirds", "151>2 193>1 200>0"},
};

// "split 3/2/2 x4": four stores were splits that reserved 3 nodes, made 2 and left a tree of height 2.
inline constexpr Figure kCensus64[] = {
    {"Plain empty", "store-root 0/0/0 x2, store-root 1/0/0 x31, store-root 1/1/1 x31"},
    {"Plain root", "store-root 0/0/0 x2, store-root 1/0/0 x63, store-root 1/1/1 x63"},
    {"Plain 7 loose",
     "append 0/0/1 x48, exact 0/0/1 x79, new-root 0/0/0 x3, node 0/0/1 x300, slot 0/0/1 x82"},
    {"Plain 60 loose",
     "append 0/0/2 x32, exact 0/0/2 x182, node 0/0/2 x410, rebalance 3/2/2 x21, rebalance 3/3/2 x21, "
     "slot 0/0/2 x325, span 7/0/0 x1, span 7/1/1 x32, span 7/2/2 x410, span 7/3/2 x338, split 3/3/2 x212"},
    {"Plain 300 loose",
     "exact 0/0/3 x140, node 0/0/3 x310, slot 0/0/3 x290, span 10/2/3 x307, span 10/3/3 x346, span "
     "10/4/3 x105, span 10/5/3 x34, split 3/3/3 x260"},
    {"Plain 120 tight",
     "exact 0/0/2 x80, node 0/0/2 x771, rebalance 3/2/2 x2, rebalance 3/3/2 x16, span 7/2/2 x229, span "
     "7/3/2 x170, split 3/3/2 x332"},
    {"Plain 1200 loose",
     "exact 0/0/3 x75, node 0/0/3 x153, slot 0/0/3 x153, span 10/4/3 x28, span 10/5/3 x94, span 10/6/3 "
     "x1, span 7/2/3 x176, span 7/3/3 x110, span 7/4/3 x29, split 3/3/3 x127, split 5/5/3 x14"},
    {"Alloc empty", "store-root 0/0/0 x2, store-root 1/0/0 x31, store-root 1/1/1 x31"},
    {"Alloc root", "store-root 0/0/0 x2, store-root 1/0/0 x63, store-root 1/1/1 x63"},
    {"Alloc 7 loose",
     "append 0/0/1 x48, exact 0/0/1 x79, new-root 0/0/0 x3, node 0/0/1 x300, slot 0/0/1 x82"},
    {"Alloc 60 loose",
     "append 0/0/2 x32, exact 0/0/2 x182, node 0/0/2 x410, rebalance 3/2/2 x21, rebalance 3/3/2 x21, "
     "slot 0/0/2 x325, span 7/0/0 x1, span 7/1/1 x32, span 7/2/2 x410, span 7/3/2 x338, split 3/3/2 x212"},
    {"Alloc 300 loose",
     "exact 0/0/3 x140, node 0/0/3 x310, slot 0/0/3 x290, span 10/3/3 x73, span 10/4/3 x131, span "
     "10/5/3 x71, span 10/6/3 x1, span 7/2/3 x216, span 7/3/3 x260, span 7/4/3 x40, split 3/3/3 x260"},
    {"Alloc 120 tight",
     "exact 0/0/2 x80, node 0/0/2 x771, rebalance 3/2/2 x2, rebalance 3/3/2 x16, span 7/2/2 x229, span "
     "7/3/2 x170, split 3/3/2 x332"},
    {"Alloc 1200 loose",
     "exact 0/0/4 x75, node 0/0/4 x153, slot 0/0/4 x153, span 13/3/4 x32, span 13/4/4 x68, span 13/5/4 "
     "x55, span 13/6/4 x9, span 7/2/4 x151, span 7/3/4 x118, span 7/4/4 x5, split 3/3/4 x131, split "
     "5/5/4 x10"},
    {"PlainRcu empty", "store-root 0/0/0 x2, store-root 1/0/0 x31, store-root 1/1/1 x31"},
    {"PlainRcu root", "store-root 0/0/0 x2, store-root 1/0/0 x63, store-root 1/1/1 x63"},
    {"PlainRcu 7 loose", "exact 0/0/1 x79, new-root 0/0/0 x3, node 1/1/1 x370, slot 0/0/1 x60"},
    {"PlainRcu 60 loose",
     "exact 0/0/2 x182, node 1/1/2 x529, rebalance 3/2/2 x21, rebalance 3/3/2 x21, slot 0/0/2 x238, "
     "span 7/0/0 x1, span 7/1/1 x32, span 7/2/2 x410, span 7/3/2 x338, split 3/3/2 x212"},
    {"PlainRcu 300 loose",
     "exact 0/0/3 x140, node 1/1/3 x384, slot 0/0/3 x216, span 10/2/3 x307, span 10/3/3 x346, span "
     "10/4/3 x105, span 10/5/3 x34, split 3/3/3 x260"},
    {"PlainRcu 120 tight",
     "exact 0/0/2 x80, node 1/1/2 x771, rebalance 3/2/2 x2, rebalance 3/3/2 x16, span 7/2/2 x229, span "
     "7/3/2 x170, split 3/3/2 x332"},
    {"PlainRcu 1200 loose",
     "exact 0/0/3 x75, node 1/1/3 x192, slot 0/0/3 x114, span 10/4/3 x28, span 10/5/3 x94, span 10/6/3 "
     "x1, span 7/2/3 x176, span 7/3/3 x110, span 7/4/3 x29, split 3/3/3 x127, split 5/5/3 x14"},
    {"AllocRcu empty", "store-root 0/0/0 x2, store-root 1/0/0 x31, store-root 1/1/1 x31"},
    {"AllocRcu root", "store-root 0/0/0 x2, store-root 1/0/0 x63, store-root 1/1/1 x63"},
    {"AllocRcu 7 loose", "exact 0/0/1 x79, new-root 0/0/0 x3, node 1/1/1 x370, slot 0/0/1 x60"},
    {"AllocRcu 60 loose",
     "exact 0/0/2 x182, node 1/1/2 x529, rebalance 3/2/2 x21, rebalance 3/3/2 x21, slot 0/0/2 x238, "
     "span 7/0/0 x1, span 7/1/1 x32, span 7/2/2 x410, span 7/3/2 x338, split 3/3/2 x212"},
    {"AllocRcu 300 loose",
     "exact 0/0/3 x140, node 1/1/3 x384, slot 0/0/3 x216, span 10/3/3 x73, span 10/4/3 x131, span "
     "10/5/3 x71, span 10/6/3 x1, span 7/2/3 x216, span 7/3/3 x260, span 7/4/3 x40, split 3/3/3 x260"},
    {"AllocRcu 120 tight",
     "exact 0/0/2 x80, node 1/1/2 x771, rebalance 3/2/2 x2, rebalance 3/3/2 x16, span 7/2/2 x229, span "
     "7/3/2 x170, split 3/3/2 x332"},
    {"AllocRcu 1200 loose",
     "exact 0/0/4 x75, node 1/1/4 x192, slot 0/0/4 x114, span 13/3/4 x32, span 13/4/4 x68, span 13/5/4 "
     "x55, span 13/6/4 x9, span 7/2/4 x151, span 7/3/4 x118, span 7/4/4 x5, split 3/3/4 x131, split "
     "5/5/4 x10"},
};

} // namespace kmirror::testing

#endif
