// SPDX-License-Identifier: GPL-2.0-only
//
// What the simple API (api.cpp) shares with the advanced one (mas_api.cpp).
//
// Locking  the tree's write lock.
#ifndef KMIRROR_LIB_MAPLE_TREE_MAS_API_H
#define KMIRROR_LIB_MAPLE_TREE_MAS_API_H

#include "lib/maple_tree/ma_state.h"

namespace kmirror::maple {

// Store over [index, last] if all of it is NULL, with nodes from GFP_NOWAIT. Status ma_error says what was
// wrong: -EEXIST (the first entry in the way is returned, if it lies at index) or -ENOMEM (see
// mas_nomem()).
void *mas_insert(ma_state *mas, void *entry);

} // namespace kmirror::maple

#endif
