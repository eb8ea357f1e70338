// SPDX-License-Identifier: GPL-2.0-only
//
// Which implementation the tests of the tree run on: ours, unless the program is linked with another answer.
//
// Owns     nothing.
#include <kmirror/maple_ops.h>

extern "C" const struct maple_ops *kmirror_maple_ops_under_test(void);

extern "C" [[gnu::weak]] const struct maple_ops *kmirror_maple_ops_under_test(void)
{
    return kmirror_maple_ops();
}
