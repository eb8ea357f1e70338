// SPDX-License-Identifier: GPL-2.0-only
//
// What --machine and KMIRROR_MACHINE, --memory and KMIRROR_MEM take: any text is a machine, or is refused in
// one line and changes nothing.
#include "fuzz/target.h"

#include <kmirror/topology.h>

#include <cerrno>
#include <cstring>

namespace kmirror::fuzz {
namespace {

// A machine has at most this many CPUs, whatever the text says.
constexpr unsigned kMostCpus = 1024;

void run_machine(std::span<const std::uint8_t> input)
{
    const std::string text(input.begin(), input.end());
    const std::string before = kmirror_machine_describe();
    char message[256] = "";
    const int error = kmirror_machine_set(text.c_str(), message, sizeof(message));
    if (error == -EINVAL && (!message[0] || std::strchr(message, '\n')))
        fail("a machine is refused without one line that says why");
    if (error && before != kmirror_machine_describe())
        fail("a machine that was refused has changed something");
    if (!error && (nr_cpu_ids == 0 || nr_cpu_ids > kMostCpus || nr_node_ids == 0))
        fail("a machine has " + std::to_string(nr_cpu_ids) + " CPUs");

    unsigned long bytes = 77;
    const char *end = nullptr;
    if (kmirror_parse_size(text.c_str(), &end, &bytes) == 0) {
        if (end < text.c_str() || end > text.c_str() + text.size())
            fail("a size was read beyond its text");
    } else if (bytes != 77) {
        fail("a size that was refused has changed something");
    }
}

} // namespace

const Target machine_string_fuzz = {"machine_string_fuzz", nullptr, run_machine};

} // namespace kmirror::fuzz
