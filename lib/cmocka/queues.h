// SPDX-License-Identifier: GPL-2.0-only
//
// What tests queue for mocked functions: values to return or to hand out, checks of parameters, the order of
// calls. Shared by all threads under one mutex; a check's own function runs without it.
#pragma once

namespace kmirror::cmocka {

// Records one failure for each entry that should have been used and was not; true when there was one.
bool report_leftovers();

// Empties all queues. What one function of a test queues never reaches the next.
void forget_queues();

}  // namespace kmirror::cmocka
