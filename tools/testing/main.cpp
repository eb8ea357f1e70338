// SPDX-License-Identifier: GPL-2.0-only
//
// main of kmirror-tests: the options of GoogleTest, and
//   --concurrent   only tests that threads make interesting: suites with Concurrent in their name, and
//   lib/kernel/tests
//   --here         no second process: for a debugger
//   --ktap         begins with KTAP's version and plan, so that the kernel's kunit.py parse reads it
//
// Exit status: 0, 1 when a test failed, 2 for bad input, 77 (in a child of a test) when the only test skipped
// itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tools/testing/harness.h"
#include "tools/testing/listener.h"
#include "tools/testing/runlog.h"
#include "tools/testing/supervisor.h"

extern "C" [[gnu::weak]] int __lsan_do_recoverable_leak_check();

namespace {

using namespace kmirror::testing;

struct Options {
    bool concurrent = false;
    bool here = false;
    bool ktap = false;
};

bool is_concurrent(const testing::TestSuite& suite) {
    if (std::strstr(suite.name(), "Concurrent") != nullptr) return true;
    return suite.total_test_count() > 0 &&
           std::strstr(suite.GetTestInfo(0)->file(), "lib/kernel/tests/") != nullptr;
}

// A GoogleTest filter of all concurrent suites.
std::string concurrent_filter() {
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    std::string filter;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        if (is_concurrent(suite)) filter += std::string(suite.name()) + ".*:";
    }
    return filter;
}

// What GoogleTest left of the arguments; the first one that is nobody's ends the process.
Options own_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--concurrent") {
            options.concurrent = true;
        } else if (argument == "--here") {
            options.here = true;
        } else if (argument == "--ktap") {
            options.ktap = true;
        } else {
            std::fprintf(stderr,
                         "kmirror-tests: unknown option %s; known are --concurrent, --here, --ktap and --gtest_...\n",
                         argv[i]);
            std::exit(2);
        }
    }
    return options;
}

bool is_death_test_child(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (std::string_view(argv[i]).rfind("--gtest_internal_run_death_test", 0) == 0) return true;
    return false;
}

int number_in(const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::atoi(text) : otherwise;
}

bool leaks_nothing() {
    return __lsan_do_recoverable_leak_check == nullptr || __lsan_do_recoverable_leak_check() == 0;
}

// Runs the tests in this process.
int work(bool report_leaks, bool ktap) {
    const RunLog log(number_in("KMIRROR_TEST_WORKER", -1));
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    const int first_number = number_in("KMIRROR_TEST_FIRST", 1);
    auto* listener = new Listener(log, static_cast<unsigned>(first_number));
    listeners.Append(listener);  // GoogleTest owns it from here
    const bool leaks_are_a_case = report_leaks && __lsan_do_recoverable_leak_check != nullptr;
    if (ktap && first_number == 1) listener->begin_with_plan(leaks_are_a_case ? 1 : 0);

    int failed = RUN_ALL_TESTS();
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    const bool may_be_empty = std::getenv("GTEST_TOTAL_SHARDS") != nullptr;  // one half of very few cases
    if (all.test_to_run_count() == 0 && first_number == 1 && !may_be_empty) {
        std::fprintf(stderr, "kmirror-tests: filter %s matches no test\n", GTEST_FLAG_GET(filter).c_str());
        return 2;
    }
    if (leaks_are_a_case) {
        const bool clean = leaks_nothing();
        listener->extra_case("no memory is leaked by the tests", clean);
        failed |= !clean;
    }
    log.completed();
    if (in_child() && failed == 0 && all.skipped_test_count() == all.test_to_run_count()) return 77;
    return failed;
}

}  // namespace

int main(int argc, char** argv) {
    const bool death_test_child = is_death_test_child(argc, argv);
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const int all_argc = argc;
    const std::vector<char*> all_argv(argv, argv + argc);
    testing::InitGoogleMock(&argc, argv);
    if (death_test_child || GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();

    const Options options = own_options(argc, argv);
    if (options.concurrent && GTEST_FLAG_GET(filter) == "*") GTEST_FLAG_SET(filter, concurrent_filter());
    if (options.here) return work(false, options.ktap);
    if (std::getenv("KMIRROR_TEST_WORKER") != nullptr) return work(true, options.ktap);
    return supervise(all_argc, const_cast<char**>(all_argv.data()));
}
