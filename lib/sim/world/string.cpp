// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/world/string.cpp: strings, which nobody shares while they are read. Owns nothing, takes no lock.
#include <cstring>

extern "C" size_t kmirror_strlen(const char *text) { return std::strlen(text); }
extern "C" int kmirror_strcmp(const char *a, const char *b) { return std::strcmp(a, b); }
