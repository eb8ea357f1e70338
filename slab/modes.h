// SPDX-License-Identifier: GPL-2.0-only
//
// Every generation of the allocator, with debugging and without, as parameters of a test.
//
//   class SlabX : public EachMode {};
//   TEST_P(SlabX, keeps_its_promise) { in_mode(MACHINE, [] { body }); }
//   INSTANTIATE_TEST_SUITE_P(In, SlabX, all_modes(), mode_name);
//
// Owns     nothing: a mode is the environment of a child process, so that boot and size classes have it too.
#pragma once

#include <kmirror/slab_info.h>

#include "slab/slab_test.h"

#include <ostream>
#include <string>

namespace kmirror::slab_test {

struct Mode {
    const char *generation;
    const char *debug; // letters of slab_debug=, or NULL
};

inline std::string name_of(const Mode &mode)
{
    std::string name = mode.generation;
    for (char &letter : name)
        if (letter == '-' || letter == '+')
            letter = '_';
    return mode.debug ? name + "_debug_" + mode.debug : name;
}

inline std::ostream &operator<<(std::ostream &out, const Mode &mode) { return out << name_of(mode); }
inline std::string mode_name(const ::testing::TestParamInfo<Mode> &info) { return name_of(info.param); }

// Caches with debugging have neither sheaves nor cpu slabs; what is left of a generation is in the others, so
// not every pair is needed.
inline auto all_modes()
{
    return ::testing::Values(Mode{"cpu-slab", nullptr}, Mode{"cpu-slab+sheaves", nullptr},
                             Mode{"double", nullptr}, Mode{"sheaves", nullptr}, Mode{"cpu-slab", "FZPU"},
                             Mode{"double", "FZ"}, Mode{"sheaves", "FZPU"}, Mode{"sheaves", "P"});
}

class EachMode : public ::testing::TestWithParam<Mode> {
protected:
    void in_mode(const std::string &machine, void (*body)())
    {
        std::vector<std::string> environment = {"KMIRROR_MACHINE=" + machine,
                                                std::string("KMIRROR_SLAB=") + GetParam().generation};
        if (GetParam().debug)
            environment.push_back(std::string("KMIRROR_SLAB_DEBUG=") + GetParam().debug);
        kmirror::testing::run_in_child(environment, body);
    }
};

} // namespace kmirror::slab_test
