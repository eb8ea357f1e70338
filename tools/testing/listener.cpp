// SPDX-License-Identifier: GPL-2.0-only
//
// The lines of a test run. Called by GoogleTest on the thread that runs the tests; prints to stdout and
// flushes after every line, because the next test may end the process.

#include "tools/testing/listener.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include <kmirror/fault.h>
#include <kmirror/printk.h>

#include "tools/testing/harness.h"

namespace kmirror::testing {
namespace {

std::string full_name(const ::testing::TestInfo& test) {
    return std::string(test.test_suite_name()) + "." + test.name();
}

// Every line of `text` with "# " before it, so that a reader of ok lines skips it.
void print_as_comment(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) std::printf("# %s\n", line.c_str());
}

// The failures that were injected while the test ran, if there were any.
void print_injections() {
    char* text = nullptr;
    size_t size = 0;
    std::FILE* const out = open_memstream(&text, &size);
    if (out == nullptr) return;
    kmirror_fault_log_print(out);
    std::fclose(out);
    print_as_comment(text);
    std::free(text);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string result_line(const char* word, unsigned number, const std::string& name, const std::string& note) {
    return std::string(word) + " " + std::to_string(number) + " - " + name +
           (note.empty() ? "" : " # " + note);
}

std::string replay_command(const std::string& name) {
    const std::string number = std::to_string(seed());
    const char* make = std::getenv("KMIRROR_REPLAY");
    return make != nullptr ? std::string(make) + " FILTER='" + name + "' KMIRROR_SEED=" + number
                           : "KMIRROR_SEED=" + number + " " + ::testing::internal::GetArgvs().front() +
                                 " --gtest_filter='" + name + "'";
}

std::string replay_note(const std::string& name) {
    return "seed " + std::to_string(seed()) + "; replay: " + replay_command(name);
}

void Listener::OnTestIterationStart(const ::testing::UnitTest& all, int) {
    if (more_planned_ < 0) return;
    std::printf("KTAP version 1\n1..%d\n", all.test_to_run_count() + more_planned_);
    std::fflush(stdout);
}

void Listener::OnTestStart(const ::testing::TestInfo& test) {
    skip_reason_.clear();
    failures_ = 0;
    kmirror_fault_log_clear();
    kmirror_fault_log_command(replay_command(full_name(test)).c_str());
    unexpected_at_start_ = kmirror_warn_count() - warnings_expected();
    log_.started(full_name(test));
    alarm(test_timeout_seconds() + (in_child() ? 0 : 10));  // a child that hangs goes first
}

void Listener::OnTestPartResult(const ::testing::TestPartResult& part) {
    if (part.skipped()) {
        skip_reason_ = first_line(part.message());
        return;
    }
    if (!part.failed() || ++failures_ > kFailuresShown) return;
    const std::string file = part.file_name() != nullptr ? part.file_name() : "?";
    print_as_comment(file + ":" + std::to_string(part.line_number()) + ": " + part.message());
    std::fflush(stdout);
}

void Listener::check_warnings() {
    const unsigned long unexpected = kmirror_warn_count() - warnings_expected() - unexpected_at_start_;
    if (unexpected != 0) ADD_FAILURE() << unexpected << " unexpected warning(s), printed above";
}

void Listener::OnTestEnd(const ::testing::TestInfo& test) {
    alarm(0);
    check_warnings();
    if (failures_ > kFailuresShown) std::printf("# and %u more\n", failures_ - kFailuresShown);
    const std::string name = full_name(test);
    if (test.result()->Failed()) print_injections();
    if (test.result()->Failed()) return finish(name, Outcome::Failed, replay_note(name));
    if (test.result()->Skipped()) return finish(name, Outcome::Skipped, "SKIP " + skip_reason_);
    finish(name, Outcome::Passed, "");
}

void Listener::extra_case(const std::string& name, bool passed) {
    finish(name, passed ? Outcome::Passed : Outcome::Failed, "");
}

void Listener::finish(const std::string& name, Outcome outcome, const std::string& note) {
    const char* word = outcome == Outcome::Failed ? "not ok" : "ok";
    std::puts(result_line(word, number_++, name, note).c_str());
    std::fflush(stdout);
    log_.finished(name, outcome);
}

}  // namespace kmirror::testing
