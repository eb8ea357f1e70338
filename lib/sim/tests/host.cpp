// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/tests/host.cpp: the host's memory, for the engine in a program whose mmap() is led nowhere.
#include <sys/mman.h>

#include <cstddef>

extern "C" void *kmirror_sim_host_mmap(std::size_t bytes)
{
    void *const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? nullptr : start;
}
