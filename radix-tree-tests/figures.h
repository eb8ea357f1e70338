// SPDX-License-Identifier: GPL-2.0-only
//
// What the figures of figures_test.cpp consist of, and how one is found. The figures themselves are in
// figures_64.h and figures_32.h: nodes have other numbers of slots on the two.
#ifndef KMIRROR_RADIX_TREE_TESTS_FIGURES_H
#define KMIRROR_RADIX_TREE_TESTS_FIGURES_H

#include <span>
#include <string>

namespace kmirror::testing {

struct Figure {
    const char *name;
    const char *is;
};

inline std::string figure(std::span<const Figure> figures, const std::string &name)
{
    for (const Figure &one : figures)
        if (one.name == name)
            return one.is;
    return "no figure";
}

} // namespace kmirror::testing

#endif
