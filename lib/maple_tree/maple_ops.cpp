// SPDX-License-Identifier: GPL-2.0-only
//
// The table of operations of this tree, see <kmirror/maple_ops.h>: put together at compile time, so that it
// is there before any constructor runs. From three headers:
//   maple_ops_tree.h              a tree's life, locks, the simple API, checks, the node cache
//   maple_ops_cursor.h            everything on ma_state
//   <kmirror/maple_ops_fill.h>    what is the same for every implementation: handles, visits, loops
//
// Owns     the table, which never changes.
#include <kmirror/maple_ops_fill.h>

#include "lib/maple_tree/maple_ops_cursor.h"
#include "lib/maple_tree/maple_ops_tree.h"

namespace kmirror::maple {

namespace {

constexpr maple_ops ops_table()
{
    maple_ops ops{};
    ops.version = KMIRROR_MAPLE_OPS_VERSION;
    ops.nr_bytes = sizeof(maple_ops);
    ops.name = "kmirror";
    ops_fill_life(&ops);
    ops_fill_simple(&ops);
    ops_fill_checks(&ops);
    ops_fill_position(&ops);
    ops_fill_reading(&ops);
    ops_fill_writing(&ops);
    ops_fill_loops(&ops);
    return ops;
}

constinit const maple_ops table = ops_table();

} // namespace

} // namespace kmirror::maple

const struct maple_ops *kmirror_maple_ops(void)
{
    return &kmirror::maple::table;
}
