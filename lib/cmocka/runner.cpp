// SPDX-License-Identifier: GPL-2.0-only
//
// The ways to say what the tests of a group are: cmocka's table, and the lists of its first years, where
// setups and teardowns stand between the tests as entries of their own.

#include <string>
#include <utility>
#include <vector>

#include "include/cmocka.h"
#include "lib/cmocka/group.h"
#include "lib/cmocka/output.h"

using namespace kmirror::cmocka;

namespace {

Step step(CMFixtureFunction function) {
    if (function == nullptr) return {};
    return [function](void** state) { return function(state); };
}

Step step(UnitTestFunction function) {
    if (function == nullptr) return {};
    return [function](void** state) {
        function(state);
        return 0;
    };
}

// Functions called one after the other, as one step.
Step steps(std::vector<UnitTestFunction> functions) {
    if (functions.empty()) return {};
    return [functions = std::move(functions)](void** state) {
        for (const UnitTestFunction function : functions) function(state);
        return 0;
    };
}

// A list in which the setups before a test and the teardowns behind it are its own.
Group group_of(const UnitTest* tests, size_t number) {
    Group group;
    group.title = "tests";
    std::vector<UnitTestFunction> setups, teardowns;
    const auto close = [&] {
        if (!group.cases.empty() && !teardowns.empty()) group.cases.back().teardown = steps(teardowns);
        teardowns.clear();
    };
    for (size_t i = 0; i < number; ++i) {
        const UnitTest& one = tests[i];
        if (one.function == nullptr) continue;
        switch (one.function_type) {
        case UNIT_TEST_FUNCTION_TYPE_SETUP:
            close();
            setups.push_back(one.function);
            break;
        case UNIT_TEST_FUNCTION_TYPE_TEST:
            close();
            group.cases.push_back({one.name, steps(std::exchange(setups, {})), step(one.function), {}});
            break;
        case UNIT_TEST_FUNCTION_TYPE_TEARDOWN:
            teardowns.push_back(one.function);
            break;
        case UNIT_TEST_FUNCTION_TYPE_GROUP_SETUP:
            group.setup = step(one.function);
            break;
        case UNIT_TEST_FUNCTION_TYPE_GROUP_TEARDOWN:
            group.teardown = step(one.function);
            break;
        }
    }
    close();
    return group;
}

// Setups without a teardown (or the other way) are the list's mistake: what -1 says.
bool paired(const UnitTest* tests, size_t number) {
    long open = 0;
    for (size_t i = 0; i < number; ++i) {
        open += tests[i].function_type == UNIT_TEST_FUNCTION_TYPE_SETUP;
        open -= tests[i].function_type == UNIT_TEST_FUNCTION_TYPE_TEARDOWN;
    }
    if (open != 0) error("[  ERROR   ] Mismatched number of setup and teardown functions\n");
    return open == 0;
}

}  // namespace

extern "C" {

int _cmocka_run_group_tests(const char* group_name, const struct CMUnitTest* tests, size_t num_tests,
                            CMFixtureFunction group_setup, CMFixtureFunction group_teardown) {
    Group group;
    group.title = group_name;
    group.setup = step(group_setup);
    group.teardown = step(group_teardown);
    for (size_t i = 0; i < num_tests; ++i) {
        const CMUnitTest& one = tests[i];
        if (one.name == nullptr || one.test_func == nullptr || !passes_filters(one.name)) continue;
        group.cases.push_back({one.name, step(one.setup_func), step(one.test_func), step(one.teardown_func),
                               one.initial_state});
    }
    return run_group(std::move(group));
}

int _run_test(const char* const function_name, const UnitTestFunction Function, void** state,
              const UnitTestFunctionType, const void* const) {
    Group group;
    group.title = function_name;
    group.cases.push_back({function_name, {}, step(Function), {}, state != nullptr ? *state : nullptr});
    return run_group(std::move(group));
}

int _run_tests(const UnitTest* const tests, const size_t number_of_tests) {
    const bool whole = paired(tests, number_of_tests);
    const int failures = run_group(group_of(tests, number_of_tests));
    return whole ? failures : -1;
}

int _run_group_tests(const UnitTest* const tests, const size_t number_of_tests) {
    if (number_of_tests == 0) return -1;
    return run_group(group_of(tests, number_of_tests));
}

}  // extern "C"
