// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: mt_dump() prints what the kernel's prints, in decimal and in hexadecimal, for every kind of root,
// node and entry. Addresses stand here as N and the number of their first appearance, with the low eight bits
// kept.
#include "radix-tree-tests/tree.h"

#include <linux/maple_tree.h>
#include <linux/xarray.h>

#include <cstdio>
#include <map>
#include <regex>

namespace kmirror::testing {
namespace {

struct MapleDump : MapleTest {};

// An object whose address ends in 00, as the names below need it.
alignas(256) char object;

std::string with_names(const std::string &text)
{
    static const std::regex address("0x([0-9a-f]{10})([0-9a-f]{2})\\b");
    std::map<std::string, std::size_t> names;
    std::string result;
    auto last = text.begin();
    for (std::sregex_iterator at(text.begin(), text.end(), address), end; at != end; ++at) {
        const std::size_t name = names.emplace((*at)[1], names.size()).first->second;
        result += std::string(last, (*at)[0].first) + "N" + std::to_string(name) + "." + (*at)[2].str();
        last = (*at)[0].second;
    }
    return result + std::string(last, text.end());
}

std::string dump_of(const maple_tree *tree, mt_dump_format format)
{
    ::testing::internal::CaptureStdout();
    mt_dump(tree, format);
    std::fflush(stdout);
    return with_names(::testing::internal::GetCapturedStdout());
}

// A tree on an address that ends in 00.
struct DumpTree {
    explicit DumpTree(unsigned flags) { mt_init_flags(&tree, flags); }
    ~DumpTree() { mtree_destroy(&tree); }
    void store(unsigned long first, unsigned long last, void *entry)
    {
        EXPECT_EQ(mtree_store_range(&tree, first, last, entry, GFP_KERNEL), 0);
    }
    alignas(256) maple_tree tree;
};

// Many slots that hold nothing.
std::string empty_slots(unsigned count)
{
    std::string text;
    while (count--)
        text += "(nil) 0 ";
    return text;
}

TEST_F(MapleDump, a_root_that_is_no_node)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "addresses and nodes here are those of 64 bit";
    DumpTree none(0), value(MT_FLAGS_ALLOC_RANGE), pointer(MT_FLAGS_USE_RCU);
    value.store(0, 0, xa_mk_value(11));
    pointer.store(0, 0, &object);
    EXPECT_EQ(dump_of(&none.tree, mt_dump_dec), "maple_tree(N0.00) flags 0, height 0 root (nil)\n(empty)\n");
    EXPECT_EQ(dump_of(&value.tree, mt_dump_dec),
              "maple_tree(N0.00) flags 1, height 0 root 0x17\n0: value 11 (0xb) [0x17]\n");
    EXPECT_EQ(dump_of(&pointer.tree, mt_dump_hex),
              "maple_tree(N0.00) flags 2, height 0 root N1.00\n0: N1.00\n");
}

TEST_F(MapleDump, a_leaf_with_every_kind_of_entry)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "addresses and nodes here are those of 64 bit";
    DumpTree tree(0);
    tree.store(10, 19, xa_mk_value(30));
    tree.store(20, 20, XA_ZERO_ENTRY);
    tree.store(21, ULONG_MAX, &object);
    EXPECT_EQ(dump_of(&tree.tree, mt_dump_dec),
              "maple_tree(N0.00) flags 4, height 1 root N1.0e\n"
              "0-18446744073709551615: node N1.00 depth 0 type 1 parent N0.01 contents: "
              "(nil) 9 0x3d 19 0x406 20 N2.00 18446744073709551615 " +
                  empty_slots(11) +
                  "0x3\n"
                  "  0-9: (nil)\n"
                  "  10-19: value 30 (0x1e) [0x3d]\n"
                  "  20: zero (257)\n"
                  "  21-18446744073709551615: N2.00\n");
    EXPECT_EQ(dump_of(&tree.tree, mt_dump_hex),
              "maple_tree(N0.00) flags 4, height 1 root N1.0e\n"
              "0-ffffffffffffffff: node N1.00 depth 0 type 1 parent N0.01 contents: "
              "(nil) 9 0x3d 13 0x406 14 N2.00 FFFFFFFFFFFFFFFF " +
                  empty_slots(11) +
                  "0x3\n"
                  "  0-9: (nil)\n"
                  "  a-13: value 30 (0x1e) [0x3d]\n"
                  "  14: zero (257)\n"
                  "  15-ffffffffffffffff: N2.00\n");
}

// The lines of nodes; those of a leaf's ranges are indented deeper than any node's.
std::string node_lines(const std::string &text)
{
    std::string nodes;
    for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
        end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        if (line.find(": node ") != std::string::npos)
            nodes += line.substr(0, line.find(" contents")) + "\n";
    }
    return nodes;
}

TEST_F(MapleDump, inner_nodes_with_and_without_gaps)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "addresses and nodes here are those of 64 bit";
    DumpTree ranges(0), gaps(MT_FLAGS_ALLOC_RANGE);
    for (unsigned long i = 0; i < 20; i++) {
        ranges.store(i * 16, i * 16 + 9, xa_mk_value(i));
        gaps.store(i * 16, i * 16 + 9, xa_mk_value(i));
    }
    const std::string leaves = "  0-79: node N2.00 depth 1 type 1 parent N1.06\n"
                               "  7a-d9: node N3.00 depth 1 type 1 parent N1.0e\n"
                               "  da-ffffffffffffffff: node N4.00 depth 1 type 1 parent N1.16\n";
    const std::string plain = dump_of(&ranges.tree, mt_dump_hex), alloc = dump_of(&gaps.tree, mt_dump_hex);
    EXPECT_EQ(node_lines(plain), "0-ffffffffffffffff: node N1.00 depth 0 type 2 parent N0.01\n" + leaves);
    EXPECT_EQ(node_lines(alloc), "0-ffffffffffffffff: node N1.00 depth 0 type 3 parent N0.01\n" + leaves);
    EXPECT_NE(plain.find("type 2 parent N0.01 contents: N2.0c 79 N3.0c D9 N4.0c FFFFFFFFFFFFFFFF " +
                         empty_slots(12) + "0x2\n"),
              std::string::npos)
        << plain;
    EXPECT_NE(alloc.find("contents: 6 6 fffffffffffffec6 0 0 0 0 0 0 0 | 02 02| "
                         "N2.0c 79 N3.0c D9 N4.0c FFFFFFFFFFFFFFFF " +
                         empty_slots(6) + "(nil)\n"),
              std::string::npos)
        << alloc;
    EXPECT_NE(alloc.find("\n    da-df: (nil)\n    e0-e9: value 14 (0xe) [0x1d]\n"), std::string::npos)
        << alloc;
    EXPECT_NE(dump_of(&gaps.tree, mt_dump_dec).find("contents: 6 6 18446744073709551302 0 "),
              std::string::npos);
}

} // namespace
} // namespace kmirror::testing
