// SPDX-License-Identifier: GPL-2.0-only
//
// <cmocka.h> in C++ beside GoogleTest: no name is taken away from the standard library, and the macros fail a
// plain TEST() by an exception, which runs destructors.

#include <cmocka.h>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

namespace {

struct Mock {
    int mock() { return 3; }
    void skip() {}
    void stop() {}
};

int answer() { return static_cast<int>(mock()); }
void called() { function_called(); }

TEST(CmockaInCpp, StandardNamesStay) {
    std::ifstream none("/nonexistent/file");
    EXPECT_TRUE(none.fail());
    Mock object;
    object.skip();
    object.stop();
    EXPECT_EQ(object.mock(), 3);
}

TEST(CmockaInCpp, AssertsAndMocksPassInAPlainTest) {
    assert_int_equal(1, 1);
    assert_string_equal("a", std::string("a").c_str());
    will_return(answer, 4);
    EXPECT_EQ(answer(), 4);
    expect_function_call(called);
    called();
}

TEST(CmockaInCpp, AFailureLeavesAPlainTestByAnException) {
    static bool destroyed, reached;
    destroyed = reached = false;
    struct Guard {
        ~Guard() { destroyed = true; }
    };
    ::testing::TestPartResultArray failures;
    {
        const ::testing::ScopedFakeTestPartResultReporter reporter(
            ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &failures);
        EXPECT_THROW(
            {
                const Guard guard;
                assert_int_equal(1, 2);
                reached = true;
            },
            ::testing::AssertionException);
    }
    ASSERT_EQ(failures.size(), 1);
    EXPECT_STREQ(failures.GetTestPartResult(0).message(), "Failed\n1 (0x1) != 2 (0x2)");
    EXPECT_TRUE(destroyed);
    EXPECT_FALSE(reached);
}

TEST(CmockaInCpp, AFailureInASecondThreadFailsTheTest) {
    ::testing::TestPartResultArray failures;
    {
        const ::testing::ScopedFakeTestPartResultReporter reporter(
            ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &failures);
        cmocka_set_thread_failure(CM_THREAD_CONTINUE);
        std::thread([] { assert_true(false); }).join();
        cmocka_set_thread_failure(CM_THREAD_EXIT);
    }
    ASSERT_EQ(failures.size(), 1);
    EXPECT_STREQ(failures.GetTestPartResult(0).message(), "Failed\nfalse is false\n(in a second thread)");
}

}  // namespace
