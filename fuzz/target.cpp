// SPDX-License-Identifier: GPL-2.0-only
//
// How a target says that it has found something; see target.h.
#include "fuzz/target.h"

#include <kmirror/printk.h>

#include <cstdio>
#include <cstdlib>

namespace kmirror::fuzz {

void fail(const std::string &what)
{
    std::fprintf(stderr, "fuzz: %s\n", what.c_str());
    std::abort();
}

unsigned verbosity()
{
    static const char *const text = std::getenv("V");
    return text && text[0] >= '0' && text[0] <= '9' ? unsigned(std::strtoul(text, nullptr, 10)) : 0;
}

unsigned long new_warnings()
{
    static unsigned long before;
    const unsigned long now = kmirror_warn_count(), since = now - before;
    before = now;
    return since;
}

} // namespace kmirror::fuzz
