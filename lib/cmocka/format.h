// SPDX-License-Identifier: GPL-2.0-only
//
// cmocka's formats: its own lines, subunit, TAP and JUnit XML.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/cmocka/group.h"

namespace kmirror::cmocka {

class Format {
public:
    virtual ~Format() = default;
    virtual void group_starts(size_t /*cases*/) {}
    virtual void case_starts(const char* /*name*/) {}
    virtual void case_ends(size_t /*number*/, const Case&) {}
    virtual void group_ends(const Group&) {}
};

// One format for each bit of enum cm_message_output.
std::vector<std::unique_ptr<Format>> make_formats(uint32_t output);

}  // namespace kmirror::cmocka
