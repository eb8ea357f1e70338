// SPDX-License-Identifier: GPL-2.0-only
//
// Objects that readers use without a lock: stored as pointers, replaced under the map's lock, freed after a
// grace period. A reservation makes the step that must not fail a step that cannot.
//
//   g++ -std=c++20 objects.cpp $(pkg-config --cflags --libs kmirror) -o objects
#include <kmirror/maple_tree.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

struct area {
    unsigned long first, last;
    const char *name;
};

// Grows the area at @at to @last and counts it; all or nothing, and no reader meets a gap or a half-made
// area.
static bool grow(kmirror::maple_map<area> &map, unsigned long at, unsigned long last, unsigned long &total)
{
    area *old = nullptr;
    {
        auto held = map.lock();
        old = held.load(at);
        auto fresh = std::make_unique<area>(area{old->first, last, old->name});
        auto room = held.reserve(fresh->first, last, fresh.get());
        if (!room)
            return false; // -ENOMEM, and nothing has happened
        total += last - old->last;
        room->commit(); // cannot fail
        fresh.release();
    }
    synchronize_rcu(); // no reader holds `old` any more
    delete old;
    return true;
}

int main()
{
    kmirror::maple_map<area> map;
    auto heap = std::make_unique<area>(area{0x1000, 0x2fff, "heap"});
    if (!map.store_range(heap->first, heap->last, heap.get()))
        return 1;
    heap.release();

    std::atomic<bool> done = false;
    std::atomic<unsigned long> wrong = 0;
    std::thread reader([&] {
        while (!done)
            for (unsigned long index = 0x1000; index < 0x3000; index += 0x800) {
                const auto in = map.read(); // objects stay alive until its end
                const area *found = in.load(index);
                wrong += !found || found->first > index || found->last < index;
            }
    });
    unsigned long total = 0x2000;
    for (unsigned long last = 0x3fff; last < 0x9000; last += 0x1000)
        if (!grow(map, 0x1000, last, total))
            return 1;
    done = true;
    reader.join();

    std::printf("wrong answers: %lu, %#lx in all\n", wrong.load(), total);
    for (auto [first, last, found] : map.read())
        std::printf("[%#lx, %#lx] %s\n", first, last, found->name);
    for (auto [first, last, found] : map.read())
        delete found;
}
