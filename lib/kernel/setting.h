// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/setting.h: settings that come as KMIRROR_* environment variables.
//
// A setting that cannot be used ends the process before anything else is done: one line on stderr that names
// the variable, its value and what is allowed, and exit status 2.
#pragma once

#include <linux/types.h>

namespace kmirror::kernel {

// The whole of `text` as a number, decimal or with 0x. False, and `out` untouched, if it is none.
bool parse_u64(const char *text, u64 *out);

// Variable `name` as a number in lowest..highest; `otherwise` when it is not set or empty.
u64 setting_u64(const char *name, u64 lowest, u64 highest, u64 otherwise);

// Variable `name` as one of `count` words: the number of the word; `otherwise` when it is not set or empty.
int setting_choice(const char *name, const char *const *words, int count, int otherwise);

// Variable `name` as it is, at most `most` characters; null when it is not set or empty.
const char *setting_text(const char *name, size_t most);

}  // namespace kmirror::kernel
