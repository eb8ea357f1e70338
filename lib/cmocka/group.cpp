// SPDX-License-Identifier: GPL-2.0-only
//
// From a group to GoogleTest and back: each case becomes a test of one suite, RUN_ALL_TESTS() runs once a
// group with the suites of earlier groups filtered out.
//
// Owns     the groups of this process, until its end: GoogleTest keeps pointers into them.
// Fails    a case whose group could not be set up is an error and is not run.

#include "lib/cmocka/group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "include/cmocka.h"
#include "lib/cmocka/injected.h"
#include "lib/cmocka/memory.h"
#include "lib/cmocka/output.h"
#include "lib/cmocka/report.h"
#include "lib/cmocka/run.h"

namespace kmirror::cmocka {
namespace {

std::map<std::string, std::unique_ptr<Group>>& groups() {
    static std::map<std::string, std::unique_ptr<Group>> all;
    return all;
}

// Runs one step; the message is empty when it went well.
End run_step(const char* name, const Step& step, void** state, bool check_leaks, unsigned long checkpoint,
             std::string& message) {
    int result = 0;
    const End end = run_function(name, [&] { result = step(state); }, check_leaks, checkpoint);
    message = take_failures();
    if (end == End::Failed && message.empty()) message = "failed";
    if (end != End::Returned || result == 0) return end;
    message = text_of("%s returned %d", name, result);
    return End::Failed;
}

class CaseRun {
public:
    CaseRun(const Group& group, Case& its) : case_(its) {
        state_ = group.state != nullptr ? group.state : its.initial_state;
        checkpoint_ = block_checkpoint();
    }

    void run() {
        if (!set_up()) return;
        const auto began = std::chrono::steady_clock::now();
        std::string message;
        // What setup allocated is teardown's to free, so only blocks of the body itself are its leaks.
        const End end = run_step(case_.name.c_str(), case_.body, &state_, true, block_checkpoint(), message);
        case_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        case_.status = end == End::Returned ? Status::Passed
                       : end == End::Skipped ? Status::Skipped
                                             : Status::Failed;
        case_.message = message;
        tear_down();
    }

private:
    bool set_up() {
        if (!case_.setup) return true;
        std::string message;
        const End end = run_step(case_.name.c_str(), case_.setup, &state_, false, 0, message);
        if (end == End::Returned) return true;
        if (end == End::Skipped) {
            finish(Status::Skipped, "");
        } else {
            finish(Status::Error, message + "\nTest setup failed");
        }
        return false;
    }

    void tear_down() {
        if (!case_.teardown) return;
        std::string message;
        const End end = run_step(case_.name.c_str(), case_.teardown, &state_, true, checkpoint_, message);
        if (end == End::Returned) return;
        if (!case_.message.empty()) case_.message += '\n';
        finish(Status::Error, case_.message + message + "\nTest teardown failed");
    }

    void finish(Status status, const std::string& message) {
        case_.status = status;
        case_.message = message;
    }

    Case& case_;
    void* state_;
    unsigned long checkpoint_;
};

class CmockaTest : public ::testing::Test {
public:
    CmockaTest(Group& group, size_t index) : group_(group), case_(group.cases[index]) {}

    static void SetUpTestSuite() {
        Group& group = current();
        for (Case& one : group.cases) one.status = Status::NotRun;
        group.state = nullptr;
        group.last_run = nullptr;
        group.setup_message.clear();
        group.teardown_message.clear();
        group.leaked = false;
        group.checkpoint = block_checkpoint();
        if (!group.setup) return;
        run_step("cmocka_group_setup", group.setup, &group.state, false, 0, group.setup_message);
    }

    static void TearDownTestSuite() {
        Group& group = current();
        if (group.teardown) {
            run_step("cmocka_group_teardown", group.teardown, &group.state, true, group.checkpoint,
                     group.teardown_message);
        }
        if (report_blocks_since(group.checkpoint, group.title.c_str())) {
            group.leaked = true;
            group.teardown_message += take_failures();
        }
        if (!group.teardown_message.empty()) ADD_FAILURE_AT(nullptr, -1) << group.teardown_message;
    }

    void TestBody() override {
        if (!group_.setup_message.empty()) {
            ADD_FAILURE_AT(nullptr, -1) << group_.setup_message << "\ngroup setup failed, so it was not run";
            return;
        }
        forget_injections(group_.name + "." + case_.name);
        CaseRun(group_, case_).run();
        group_.last_run = &case_;
        if (case_.status == Status::Failed || case_.status == Status::Error) tell_injections();
        if (case_.status == Status::Skipped) GTEST_SKIP();
        // A non-zero return value has no failure of its own.
        if (case_.status == Status::Error && !HasFailure()) ADD_FAILURE_AT(nullptr, -1) << case_.message;
    }

private:
    void tell_injections() {
        const std::string log = take_injections();
        if (log.empty()) return;
        case_.message += "\n" + log;
        ADD_FAILURE_AT(nullptr, -1) << log;
    }

    static Group& current() {
        return *groups().at(::testing::UnitTest::GetInstance()->current_test_suite()->name());
    }

    Group& group_;
    Case& case_;
};

std::string unused_name(const std::string& title) {
    std::string name = title;
    for (unsigned number = 2; groups().count(name) != 0; ++number) {
        name = title + "#" + std::to_string(number);
    }
    return name;
}

void register_cases(Group& group) {
    for (size_t i = 0; i < group.cases.size(); ++i) {
        ::testing::RegisterTest(group.name.c_str(), group.cases[i].name.c_str(), nullptr, nullptr, "", 0,
                                [&group, i]() -> CmockaTest* { return new CmockaTest(group, i); });
    }
}

// At the end of a program of which --gtest_filter chose no test of any group: one line, status 2. What cmocka's
// own filters leave out is no mistake there, nor here; a shard may well be empty.
unsigned long tests_run;

void judge_filter() {
    if (tests_run != 0 || GTEST_FLAG_GET(filter) == "*" || std::getenv("GTEST_TOTAL_SHARDS") != nullptr) return;
    if (GTEST_FLAG_GET(list_tests)) return;
    std::fprintf(stderr, "cmocka: --gtest_filter=%s matches no test\n", GTEST_FLAG_GET(filter).c_str());
    std::fflush(nullptr);
    _exit(2);
}

// The user's filter without the suites of earlier groups. A name's own : * ? are matched by a ?.
std::string filter_for(const std::string& wish, const Group& now) {
    std::string without;
    for (const auto& [name, group] : groups()) {
        if (group.get() == &now) continue;
        std::string pattern = name;
        for (char& c : pattern) {
            if (c == ':' || c == '*') c = '?';
        }
        without += ":" + pattern + ".*";
    }
    if (without.empty()) return wish;
    return wish + (wish.find('-') == std::string::npos ? "-" : ":") + without.substr(1);
}

}  // namespace

size_t Group::number(Status status) const {
    size_t sum = 0;
    for (const Case& one : cases) sum += one.status == status;
    return sum;
}

int Group::failures() const {
    if (leaked) return -1;
    if (!setup_message.empty()) return 1;
    return static_cast<int>(number(Status::Failed) + number(Status::Error) + !teardown_message.empty());
}

int run_group(Group given) {
    start_googletest();
    const std::string name = given.name = unused_name(given.title);
    Group& group = *groups().emplace(name, std::make_unique<Group>(std::move(given))).first->second;
    register_cases(group);
    const std::string wish = GTEST_FLAG_GET(filter);
    GTEST_FLAG_SET(filter, filter_for(wish, group));
    const FormatsScope formats(group);
    [[maybe_unused]] static const int registered = std::atexit(judge_filter);
    [[maybe_unused]] const int googletests_status = RUN_ALL_TESTS();
    tests_run += static_cast<unsigned long>(::testing::UnitTest::GetInstance()->test_to_run_count());
    GTEST_FLAG_SET(filter, wish);
    merge_report();
    return group.failures();
}

}  // namespace kmirror::cmocka
