// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/hotplug.h: what happens to a CPU's sheaves when it goes.
#pragma once

namespace kmirror::slub {

// Registers with lib/kernel; once, while the allocator starts.
void hotplug_init();

} // namespace kmirror::slub
