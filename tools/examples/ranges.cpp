// SPDX-License-Identifier: GPL-2.0-only
//
// A table of port ranges: integers as values, gaps, iteration, and what happens to errors.
//
//   g++ -std=c++20 ranges.cpp $(pkg-config --cflags --libs kmirror) -o ranges
#include <kmirror/maple_tree.hpp>

#include <cstdio>
#include <cstring>

int main()
{
    kmirror::maple_map<int> owners;

    if (auto stored = owners.store_range(8000, 8099, 7); !stored)
        return std::fprintf(stderr, "%s\n", std::strerror(-stored.error())), 1;
    if (!owners.insert(443, 1) || !owners.store_range(8040, 8049, 8))
        return 1;

    // Somebody is there already: nothing changes.
    if (auto again = owners.insert_range(8090, 8110, 9); !again)
        std::printf("8090-8110: %s\n", std::strerror(-again.error()));

    // The lowest and the highest ten free ports of a window.
    const auto low = owners.alloc_range(20, 10, 8000, 9000),
               high = owners.alloc_range_high(21, 10, 8000, 9000);
    if (!low || !high)
        return 1;
    std::printf("lowest gap %lu-%lu, highest %lu-%lu\n", low.value().first, low.value().last,
                high.value().first, high.value().last);

    for (auto [first, last, owner] : owners.read())
        std::printf("%lu-%lu belongs to %d\n", first, last, owner);
    std::printf("8045: %d, 80: %d\n", owners.load(8045).value_or(-1), owners.load(80).value_or(-1));
    if (auto next = owners.find(9000, 65535); !next)
        std::printf("nothing above 9000\n");
}
