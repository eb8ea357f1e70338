// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/world/memory.cpp: simulated memory, and the start of the world.
//
// lib/kernel asks the host for memory by mmap(); the linker leads these calls here (--wrap=mmap), and anonymous memory
// comes from the engine's stretch, so that each of its lines has a number.
//
// Owns     nothing beyond the engine. Locking: none. Fails as mmap() does.
#include "lib/sim/world/world.h"

#include <kmirror/topology.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "lib/kernel/page_alloc.h"

#include <cstdio>
#include <cstdlib>

#include <sys/mman.h>

unsigned long kmirror_sim_percpu_base, kmirror_sim_percpu_bytes;

// The writable data of the program, by the linker.
extern "C" char __data_start, _end;

extern "C" void *kmirror_sim_host_mmap(size_t bytes)
{
    void *const start = __real_mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? nullptr : start;
}

extern "C" void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (file == -1 && !at && kmirror::sim::engine.lines.base() != 0)
        if (void *const piece = kmirror::sim::engine.lines.take(bytes))
            return piece;
    return __real_mmap(at, bytes, protection, flags, file, offset);
}

namespace kmirror::sim {
namespace {

std::vector<Place> places_of_machine()
{
    std::vector<Place> places;
    for (unsigned int cpu = 0; cpu < nr_cpu_ids; cpu++) {
        const struct kmirror_cpu_place &at = *kmirror_cpu_place(static_cast<int>(cpu));
        places.push_back({at.node, at.package, at.l3, at.core});
    }
    return places;
}

int node_of_pfn(unsigned long pfn)
{
    for (const kernel::Zone &zone : kernel::zones)
        if (pfn >= zone.first_pfn && pfn < zone.end_pfn)
            return zone.nid;
    return 0;
}

// Pages and their struct pages are on their node, per-CPU data on the CPU's; the program's own data on node 0.
int home_of(std::uint32_t number)
{
    const auto at = reinterpret_cast<unsigned long>(engine.lines.address(number));
    if (at - kmirror_arena_base < kmirror_arena_bytes)
        return node_of_pfn((at - kmirror_arena_base) >> PAGE_SHIFT);
    const unsigned long pages = at - reinterpret_cast<unsigned long>(mem_map);
    if (pages < kmirror_arena_bytes / PAGE_SIZE * sizeof(struct page))
        return node_of_pfn(pages / sizeof(struct page));
    if (at - kmirror_sim_percpu_base < kmirror_sim_percpu_bytes)
        return cpu_to_node(static_cast<int>((at - kmirror_sim_percpu_base) / PERCPU_UNIT_SIZE));
    return 0;
}

// Per-CPU memory begins with the page of its first piece.
void find_percpu()
{
    void *const first = __alloc_percpu(64, 64);
    if (!first)
        return;
    kmirror_sim_percpu_base = reinterpret_cast<unsigned long>(first) & ~4095UL;
    kmirror_sim_percpu_bytes = nr_cpu_ids * PERCPU_UNIT_SIZE;
}

} // namespace

void world_init(const Machine &machine, const Engine::Setting &setting)
{
    char message[256] = "";
    if (kmirror_machine_set(machine.topology.c_str(), message, sizeof(message)) != 0) {
        std::fprintf(stderr, "kmirror: machine %s: topology: %s\n", machine.name.c_str(), message);
        std::exit(2);
    }
    engine.lines.init(setting.memory, &__data_start, static_cast<std::size_t>(&_end - &__data_start));
    engine.init(machine, places_of_machine(), setting);
    engine.home_node = home_of;
    rcu_init();
    engine.run_idle(0, [] {
        find_percpu();
        page_alloc_init();
    });
}

} // namespace kmirror::sim
