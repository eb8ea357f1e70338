// SPDX-License-Identifier: GPL-2.0-only
//
// Blocks of test_malloc() and friends, numbered in the order in which they were allocated.
#pragma once

namespace kmirror::cmocka {

// Every block allocated from now on has a number above this one.
unsigned long block_checkpoint();

// Records a failure of name that lists the blocks above checkpoint, and frees them; true when there were any.
bool report_blocks_since(unsigned long checkpoint, const char* name);

}  // namespace kmirror::cmocka
