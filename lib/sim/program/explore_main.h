// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/program/explore_main.h: `kmirror-sim explore`; the arguments behind that word.
#pragma once

namespace kmirror::sim {

int explore_main(int argc, char **argv);

} // namespace kmirror::sim
