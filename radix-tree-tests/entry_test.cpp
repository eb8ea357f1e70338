// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: an entry is whatever its user wants: values of every width, pointers with and without marks in their
// low bits, addresses at both ends of memory, and words that look like a node, a root or an error to the tree
// itself. Each comes back as it was stored, from a tree of every shape, and is never followed. The zero entry
// keeps its range while readers of the simple interface see nothing there; what the tree reserves for itself is
// refused.
#include "radix-tree-tests/tree.h"

#include <linux/xarray.h>

#include <vector>

namespace kmirror::testing {
namespace {

class MapleEntry : public MapleKinds {};
KMIRROR_EVERY_KIND(MapleEntry);

alignas(256) char object[256];

void *word(unsigned long bits) { return reinterpret_cast<void *>(bits); }

// Every kind that all of the interface takes and gives back.
const std::vector<void *> &entries()
{
    static const std::vector<void *> all = {
        xa_mk_value(0), xa_mk_value(1), xa_mk_value(LONG_MAX),  // values
        object, object + 4, object + 252,                       // pointers
        object + 1, object + 3,                                 // marked ones: x1
        object + 2, object + 6, object + 14, object + 30,       // 10: what nodes and roots look like
        word(4), word(8), word(4096), word(~3ul),               // far from every object
        xa_mk_internal(1024), xa_mk_internal(1025),             // behind what is reserved
        xa_mk_internal(-1ul), xa_mk_internal(-ENOMEM & ~0ul),   // errors
    };
    return all;
}

TEST_P(MapleEntry, of_any_kind_comes_back_from_index_0_alone_and_from_everywhere)
{
    for (void *entry : entries()) {
        JudgedTree tree(GetParam());
        tree.store(0, entry);
        ASSERT_TRUE(tree.agrees()) << entry;
        tree.store(1, 7, object);
        ASSERT_TRUE(tree.agrees()) << entry;
        tree.erase(3);
        tree.erase(0);
        EXPECT_TRUE(tree.empty()) << entry;
        tree.store(0, ULONG_MAX, entry);
        ASSERT_TRUE(tree.agrees()) << entry;
        tree.store(5, 9, nullptr);
        ASSERT_TRUE(tree.agrees()) << entry;
    }
}

// All kinds side by side, in leaves and high trees, stored over each other, copied, and destroyed.
TEST_P(MapleEntry, of_any_kind_lives_beside_every_other)
{
    const std::size_t kinds = entries().size();
    for (const unsigned long count : {kinds, 20 * kinds}) {
        JudgedTree tree(GetParam()), copy(GetParam());
        for (unsigned long i = 0; i < count; i++)
            tree.store(i * 10, i * 10 + i % 10, entries()[i % kinds]);
        ASSERT_TRUE(tree.agrees());
        for (unsigned long i = 0; i < count; i += 3)
            tree.prealloc_store(i * 10 + 1, i * 10 + 14, entries()[(i + 1) % kinds]);
        ASSERT_TRUE(tree.agrees());
        EXPECT_EQ(ops()->dup(tree, copy, MAPLE_OPS_KERNEL), 0);
        copy.model = tree.model;
        for (unsigned long i = 0; i < count; i += 2) {
            copy.insert(i * 10 + 9, i * 10 + 9, entries()[i % kinds]);
            copy.erase(i * 10);
        }
        ASSERT_TRUE(copy.agrees());
        copy.destroy();
        ASSERT_TRUE(tree.agrees());
    }
}

TEST_P(MapleEntry, zero_is_seen_by_cursors_and_who_erases_it)
{
    Tree tree(GetParam());
    for (const unsigned long first : {0ul, 40ul}) {
        EXPECT_EQ(tree.store(first, first + 9, XA_ZERO_ENTRY), 0);
        EXPECT_EQ(tree.load(first + 5), nullptr);
        EXPECT_EQ(ops()->insert(tree, first + 5, object, MAPLE_OPS_KERNEL), -EEXIST);
        const Reading reading;
        Cursor cursor(tree, first + 5);
        EXPECT_EQ(cursor.walk(), XA_ZERO_ENTRY);
        EXPECT_EQ(cursor.range(nullptr), (Range{first, first + 9, nullptr}));
    }
    EXPECT_EQ(tree.store(0, XA_ZERO_ENTRY), 0);
    tree.expect_sound();
    unsigned long index = 0;
    EXPECT_EQ(ops()->find(tree, &index, ULONG_MAX), nullptr);
    EXPECT_EQ(tree.erase(0), XA_ZERO_ENTRY);
    EXPECT_EQ(tree.erase(45), XA_ZERO_ENTRY);
    tree.expect_sound();
}

// Numbers up to that of XA_RETRY_ENTRY are the tree's: the simple interface takes none of them, and warns once.
KMIRROR_MOCK_TEST(MapleEntryMock, that_is_the_trees_own_is_refused)
{
    const ExpectWarnings once(1);
    for (const unsigned flags : kEveryKind) {
        JudgedTree tree(flags);
        fill(tree, 20, 10, 5);
        for (const unsigned long number : {0ul, 1ul, 255ul, 256ul}) {
            EXPECT_EQ(tree.Tree::store(7, xa_mk_internal(number)), -EINVAL) << number;
            EXPECT_EQ(tree.Tree::store(0, 99, xa_mk_internal(number)), -EINVAL) << number;
        }
        EXPECT_TRUE(tree.agrees());
    }
}

} // namespace
} // namespace kmirror::testing
