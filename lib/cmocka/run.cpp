// SPDX-License-Identifier: GPL-2.0-only
//
// Frames, failures, signals. A frame lives on the stack of run_function(); between it and the jump there is
// only the caller's C code, so no destructor is passed over.

#include "lib/cmocka/run.h"

#include <gtest/gtest.h>

#include <pthread.h>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "include/cmocka.h"
#include "lib/cmocka/memory.h"
#include "lib/cmocka/queues.h"

namespace kmirror::cmocka {
namespace {

struct Frame {
    sigjmp_buf env;
    volatile End end;
    Frame* outer;
};

thread_local Frame* innermost_frame;
thread_local cm_assert_frame* innermost_assert;

const std::thread::id main_thread = std::this_thread::get_id();
cm_thread_failure thread_failure = CM_THREAD_EXIT;

std::mutex record_lock;
std::string record;

const char* running = "";  // the function that the test's thread runs

// ---- signals: a crash in the tested code fails the test, and the next one runs ----------------------------

constexpr int kCaught[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS};
constexpr unsigned kNumberCaught = sizeof kCaught / sizeof kCaught[0];

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// A sanitizer's report says more than "SIGSEGV", so its handler stays; CMOCKA_CATCH_SIGNALS=1 puts ours
// first.
bool signals_are_caught() {
    const char* wish = std::getenv("CMOCKA_CATCH_SIGNALS");
    return wish != nullptr ? std::strcmp(wish, "0") != 0 : !kSanitized;
}

// Only for signals raised by the code itself, where the mutexes of the record are not held.
void on_signal(int number) {
    if (innermost_frame != nullptr) {
        record_failure(running, 0, text_of("Test failed with exception: %s(%d)", strsignal(number), number));
        leave(End::Failed);
    }
    std::fprintf(stderr, "cmocka: %s in a thread of %s\n", strsignal(number), running);
    std::signal(number, SIG_DFL);
}

class SignalScope {
public:
    SignalScope() : caught_(signals_are_caught()) {
        if (!caught_) return;
        struct sigaction action = {};
        action.sa_handler = on_signal;
        action.sa_flags = SA_ONSTACK | SA_NODEFER;
        for (unsigned i = 0; i < kNumberCaught; ++i) sigaction(kCaught[i], &action, &before_[i]);
    }
    ~SignalScope() {
        for (unsigned i = 0; caught_ && i < kNumberCaught; ++i) sigaction(kCaught[i], &before_[i], nullptr);
    }
    SignalScope(const SignalScope&) = delete;
    SignalScope& operator=(const SignalScope&) = delete;

private:
    struct sigaction before_[kNumberCaught];
    const bool caught_;
};

// A stack overflow needs another stack to be reported on. It is kept for the life of the process.
void give_signals_a_stack() {
    static char* const memory = static_cast<char*>(std::malloc(64 * 1024));
    stack_t stack = {};
    if (memory == nullptr || sigaltstack(nullptr, &stack) != 0 || !(stack.ss_flags & SS_DISABLE)) return;
    stack.ss_sp = memory;
    stack.ss_size = 64 * 1024;
    stack.ss_flags = 0;
    sigaltstack(&stack, nullptr);
}

// No object with a destructor may live here: the jump comes back into this function.
End call(const std::function<void()>& body) {
    Frame frame;
    frame.end = End::Returned;
    frame.outer = innermost_frame;
    cm_assert_frame* const outer_assert = innermost_assert;
    innermost_frame = &frame;
    if (sigsetjmp(frame.env, 1) == 0) {
        try {
            body();
        } catch (const std::exception& exception) {
            frame.end = End::Failed;
            record_failure(running, 0, text_of("C++ exception: %s", exception.what()));
        }
    }
    innermost_frame = frame.outer;
    innermost_assert = outer_assert;
    global_expecting_assert = 0;
    return frame.end;
}

}  // namespace

std::string text_of(const char* format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, args)), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void record_failure(const char* file, int line, const std::string& text) {
    const bool second_thread = innermost_frame == nullptr && std::this_thread::get_id() != main_thread;
    const char* const where = second_thread ? "\n(in a second thread)" : "";
    {
        const std::lock_guard guard(record_lock);
        if (!record.empty()) record += '\n';
        record += text + where;
        if (line > 0) record += text_of("\n%s:%d: error: Failure!", file, line);
    }
    // A failure of a group's setup would make GoogleTest skip its tests; group.cpp has them fail instead.
    if (::testing::UnitTest::GetInstance()->current_test_info() != nullptr) {
        ADD_FAILURE_AT(line > 0 ? file : nullptr, line > 0 ? line : -1) << text << where;
    }
    if (const char* wish = std::getenv("CMOCKA_TEST_ABORT"); wish != nullptr && wish[0] == '1') std::abort();
}

std::string take_failures() {
    const std::lock_guard guard(record_lock);
    std::string all;
    all.swap(record);
    return all;
}

void leave(End how) {
    if (innermost_frame != nullptr) {
        innermost_frame->end = how;
        siglongjmp(innermost_frame->env, 1);
    }
    if (std::this_thread::get_id() == main_thread) {
        using ::testing::TestPartResult;
        throw ::testing::AssertionException(
            TestPartResult(how == End::Skipped ? TestPartResult::kSkip : TestPartResult::kFatalFailure,
                           __FILE__, __LINE__, "left by a cmocka macro"));
    }
    if (thread_failure == CM_THREAD_EXIT) pthread_exit(nullptr);
}

End run_function(const char* name, const std::function<void()>& body, bool check_leaks,
                 unsigned long checkpoint) {
    give_signals_a_stack();
    const SignalScope signals;
    const char* const outer = running;
    running = name;
    End end = call(body);
    running = outer;
    if (end == End::Stopped) end = End::Returned;
    if (end == End::Returned && report_leftovers()) end = End::Failed;
    if (end == End::Returned && check_leaks && report_blocks_since(checkpoint, name)) end = End::Failed;
    forget_queues();
    const std::lock_guard guard(record_lock);
    return end == End::Returned && !record.empty() ? End::Failed : end;
}

}  // namespace kmirror::cmocka

// ---- the C side ------------------------------------------------------------------------------------------

using namespace kmirror::cmocka;

extern "C" {

__thread int global_expecting_assert;
__thread const char* global_last_failed_assert;

void _fail(const char* file, int line) {
    record_failure(file, line, "fail() was called");
    leave(End::Failed);
}

void _skip(const char*, int) { leave(End::Skipped); }

void _stop(void) { leave(End::Stopped); }

void cm_fail_msg(const char* file, int line, const char* format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    record_failure(file, line, text);
    leave(End::Failed);
}

void cmocka_set_thread_failure(enum cm_thread_failure what) { thread_failure = what; }

void cm_assert_frame_push(struct cm_assert_frame* frame) {
    frame->outer = innermost_assert;
    innermost_assert = frame;
    ++global_expecting_assert;
}

void cm_assert_frame_pop(struct cm_assert_frame* frame) {
    innermost_assert = frame->outer;
    --global_expecting_assert;
}

void mock_assert(const int result, const char* const expression, const char* const file, const int line) {
    if (result != 0) return;
    cm_assert_frame* const frame = innermost_assert;
    if (frame == nullptr) {
        record_failure(file, line, text_of("Assertion failed: %s", expression));
        return leave(End::Failed);
    }
    global_last_failed_assert = expression;
    cm_assert_frame_pop(frame);
    longjmp(frame->env, 1);
}

}  // extern "C"
