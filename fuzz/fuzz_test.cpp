// SPDX-License-Identifier: GPL-2.0-only
//
// Promises of the fuzz targets: bytes and text say the same; mutator and crossover keep operations whole and
// stay within their room; 64 operations make a tree of four levels; a planted bug is found; a sequence can be
// printed as code. FuzzConcurrent: every seed is run, with everything compared after each step.
#include "fuzz/apart.h"
#include "fuzz/files.h"
#include "fuzz/maple_print.h"
#include "fuzz/mutate.h"
#include "fuzz/shrink.h"
#include "fuzz/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing/harness.h"

#include <unistd.h>

namespace kmirror::fuzz {
namespace {

using ::testing::HasSubstr;

const char kText[] = "target maple_store_fuzz\n"
                     "setup kind0=alloc-rcu kind1=plain kind2=plain\n"
                     "store_range tree=0 first=16 last=last(40)+1 value=3 nowait=0\n"
                     "erase tree=1 index=max-5\n"
                     "mas_prev tree=2 limit=low(7)-16\n"
                     "cache_shrink\n";

Sequence read(std::string_view text)
{
    Sequence sequence;
    unsigned line = 0;
    EXPECT_EQ(target_of(text, line), "maple_store_fuzz");
    EXPECT_EQ(from_text(maple_grammar(), text, line, sequence), "");
    return sequence;
}

std::string refused(std::string_view text)
{
    Sequence sequence;
    unsigned line = 0;
    target_of(text, line);
    return from_text(maple_grammar(), text, line, sequence);
}

TEST(FuzzSequence, TextAndBytesSayTheSame)
{
    const Sequence sequence = read(kText);
    EXPECT_EQ(sequence.operations.size(), 4u);
    EXPECT_EQ(to_text(maple_grammar(), "maple_store_fuzz", sequence), kText);
    EXPECT_EQ(decode(maple_grammar(), encode(sequence)), sequence);
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(kText);
    EXPECT_EQ(decode(maple_grammar(), {bytes, sizeof(kText) - 1}), sequence);
    for (unsigned i = 0; i < 200; i++) {
        const Sequence drawn = draw(maple_grammar(), 20, testing::seed() + i);
        EXPECT_EQ(read(to_text(maple_grammar(), "maple_store_fuzz", drawn)), drawn);
        EXPECT_EQ(decode(maple_grammar(), encode(drawn)), drawn);
    }
}

TEST(FuzzSequence, TextThatMeansNothingNamesItsLine)
{
    EXPECT_THAT(refused("target maple_store_fuzz\n\nstor tree=0\n"), HasSubstr("3: stor is no operation"));
    EXPECT_THAT(refused("target maple_store_fuzz\nstore leaf=0\n"), HasSubstr("2: leaf=0 is no field"));
    EXPECT_THAT(refused("target maple_store_fuzz\nstore tree=3\n"), HasSubstr("tree is a number below 3"));
    EXPECT_THAT(refused("target maple_store_fuzz\nstore index=first(2)+16\n"), HasSubstr("not possible"));
    EXPECT_THAT(refused("target maple_store_fuzz\nsetup kind0=high\n"), HasSubstr("kind0 is one of plain"));
}

TEST(FuzzSequence, ChangesKeepOperationsWholeAndWithinTheirRoom)
{
    const Grammar &grammar = maple_grammar();
    Sequence one = draw(grammar, 30, testing::seed()), other = draw(grammar, 50, ~testing::seed());
    constexpr std::size_t kRoom = kSetupBytes + 40 * kOperationBytes;
    for (unsigned i = 0; i < 2000; i++) {
        mutate(grammar, one, kRoom, testing::seed() + i);
        EXPECT_LE(one.operations.size(), 40u);
        EXPECT_FALSE(one.operations.empty());
        EXPECT_EQ(decode(grammar, encode(one)), one);
    }
    const Sequence crossed = cross(one, other, kRoom, testing::seed());
    EXPECT_LE(encode(crossed).size(), kRoom);
    for (const Operation &operation : crossed.operations)
        EXPECT_TRUE(std::count(one.operations.begin(), one.operations.end(), operation) ||
                    std::count(other.operations.begin(), other.operations.end(), operation));
    Sequence again = draw(grammar, 30, testing::seed());
    Sequence twin = again;
    mutate(grammar, again, kRoom, 5);
    mutate(grammar, twin, kRoom, 5);
    EXPECT_EQ(again, twin);
}

TEST(FuzzMaple, FourLevelsNeedFewOperations)
{
    unsigned height = 0;
    MapleRunOptions options;
    options.listener = [&](const Step &, const Answer &, const MapleTable &table) {
        height = std::max(height, table.ops()->height(table.tree(0)));
    };
    EXPECT_EQ(run_maple(read("target maple_store_fuzz\nsetup kind0=alloc\n"
                             "store_run tree=0 first=0 stride=2 size=1 count=1024 value=1\n"
                             "store_run tree=0 first=4096 stride=2 size=1 count=1024 value=1\nload\n"),
                        options),
              "");
    EXPECT_GE(height, 4u);
}

TEST(FuzzMaple, ABugThatIsPlantedIsFound)
{
    const Sequence sequence = read("target maple_store_fuzz\n"
                                   "store_run tree=0 first=0 stride=10 size=5 count=30 value=1\n"
                                   "store_range tree=0 first=3 last=160 value=2\n");
    maple_ops planted = *kmirror_maple_ops();
    planted.store_range = [](maple_ops_tree *tree, unsigned long first, unsigned long last, void *entry,
                             unsigned gfp) {
        return kmirror_maple_ops()->store_range(tree, first, last == 160 ? 159 : last, entry, gfp);
    };
    EXPECT_EQ(run_maple(sequence, {}), "");
    for (const Check check : {Check::Budget, Check::Every}) {
        const std::string found = run_maple(sequence, {&planted, check, {}});
        EXPECT_THAT(found, HasSubstr("operation 2, store_range tree=0 first=3 last=160"));
    }
}

TEST(FuzzMaple, ASequenceIsPrintedAsTheKernelsTestsAreWritten)
{
    const Sequence sequence = read("target maple_store_fuzz\nsetup kind0=alloc\n"
                                   "store_range tree=0 first=3 last=max value=2\n"
                                   "alloc tree=0 min=0 max=9 size=2 value=4\n"
                                   "mas_set tree=0 first=1 last=1\nmas_find tree=0 limit=max\n");
    const std::string code = maple_code(sequence, Code::Kernel, "check_found", nullptr);
    EXPECT_THAT(code, HasSubstr("static noinline void __init check_found(void)\n{\n"));
    EXPECT_THAT(code, HasSubstr("\tmt_init_flags(&t0, MT_FLAGS_ALLOC_RANGE);\n"));
    EXPECT_THAT(code, HasSubstr("\tMT_BUG_ON(&t0, mtree_store_range(&t0, 3, ULONG_MAX, xa_mk_value(2), "
                                "GFP_KERNEL) != 0);\n"));
    EXPECT_THAT(code, HasSubstr("\tMT_BUG_ON(&t0, mas_find(&mas0, ULONG_MAX) != xa_mk_value(4));\n"
                                "\tMT_BUG_ON(&t0, mas0.index != 0);\n"));
    const std::string test = maple_code(sequence, Code::GoogleTest, "found", nullptr);
    EXPECT_THAT(test, HasSubstr("TEST(MapleFuzz, found)\n{\n"));
    EXPECT_THAT(test, HasSubstr("    EXPECT_EQ(index, 0);\n"));

    std::string wrong;
    const std::string file = "one\n\nstatic DEFINE_MTREE(tree);\nstatic int __init maple_tree_seed(void)\n{\n"
                             "\tpr_info(\"TEST STARTING\");\n\n\trest();\n}\n";
    EXPECT_EQ(kernel_test_patch(file, "f\n", "check_found", wrong),
              "diff --git a/lib/test_maple_tree.c b/lib/test_maple_tree.c\n"
              "--- a/lib/test_maple_tree.c\n+++ b/lib/test_maple_tree.c\n"
              "@@ -1,5 +1,7 @@\n one\n \n+f\n+\n static DEFINE_MTREE(tree);\n"
              " static int __init maple_tree_seed(void)\n {\n"
              "@@ -4,6 +6,8 @@\n static int __init maple_tree_seed(void)\n {\n \tpr_info(\"TEST STARTING\");\n"
              "+\n+\tcheck_found();\n \n \trest();\n }\n");
    EXPECT_EQ(kernel_test_patch("nothing\n", "f\n", "check_found", wrong), "");
    EXPECT_NE(wrong, "");
}

TEST(FuzzShrink, WhatTheFailureNeedsIsLeft)
{
    const Grammar &grammar = maple_grammar();
    const auto needs = [](const Sequence &sequence, std::uint64_t least) {
        unsigned erases = 0;
        for (const Operation &operation : sequence.operations)
            erases += MapleOp(operation.kind) == MapleOp::Erase && operation.operand[0].number >= least;
        return erases >= 2;
    };
    Sequence large = draw(grammar, 200, testing::seed());
    for (Operation &operation : large.operations)
        operation.operand[0].number |= 5000;
    ASSERT_TRUE(needs(large, 4321));
    const Sequence small = shrink(grammar, large, [&](const Sequence &each) { return needs(each, 4321); });
    EXPECT_EQ(to_text(grammar, "maple_store_fuzz", small),
              "target maple_store_fuzz\nsetup kind0=plain kind1=plain kind2=plain\n"
              "erase tree=0 index=4321\nerase tree=0 index=4321\n");

    const std::string text = "a machine of numa:2 and more";
    const auto has = [](const std::vector<std::uint8_t> &bytes) {
        return std::string(bytes.begin(), bytes.end()).find("a:") != std::string::npos;
    };
    const std::vector<std::uint8_t> left = shrink({text.begin(), text.end()}, has);
    EXPECT_EQ(std::string(left.begin(), left.end()), "a:");
}

TEST(FuzzApart, AFindingEndsTheChildAlone)
{
    const Apart found = run_apart([](int) { fail("here"); }, Keep::Stderr);
    EXPECT_TRUE(found.failed);
    EXPECT_EQ(found.kind, "fuzz");
    EXPECT_THAT(found.said, HasSubstr("fuzz: here"));
    EXPECT_EQ(run_apart([](int) { _exit(3); }, Keep::Stderr).kind, "status 3");
    const Apart wrote = run_apart([](int output) { EXPECT_EQ(write(output, "text", 4), 4); }, Keep::Output);
    EXPECT_FALSE(wrote.failed);
    EXPECT_EQ(wrote.said, "text");
}

TEST(FuzzConcurrent, EverySeedIsRun)
{
    unsigned long runs = 0;
    new_warnings();
    for (const Target *target : targets()) {
        std::vector<std::string> files;
        ASSERT_EQ(list_files("fuzz/corpus/" + std::string(target->name), files), "");
        EXPECT_FALSE(files.empty()) << target->name;
        for (const std::string &file : files) {
            std::vector<std::uint8_t> bytes;
            ASSERT_EQ(read_input(*target, file, bytes), "");
            SCOPED_TRACE(file);
            if (target->grammar == &maple_grammar() && !target->must_fail)
                EXPECT_EQ(run_maple(decode(maple_grammar(), bytes), {nullptr, Check::Every, {}}), "");
            else if (!target->must_fail)
                target->run(bytes);
            runs++;
        }
    }
    EXPECT_GE(runs, 16u);
}

} // namespace
} // namespace kmirror::fuzz
