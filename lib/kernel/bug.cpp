// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/bug.cpp: WARN, BUG, panic, taint and dump_stack.
//
// Owns     the count of warnings, and what has tainted the process.
// Locking  `report_lock`, a leaf: reports of several threads come out one after the other. It is recursive,
//          so that a warning raised while a report is printed is printed too.
// Fails    BUG and panic end the process with abort(), after the report is flushed.

#include <linux/panic.h>
#include <kmirror/fault.h>
#include <kmirror/printk.h>

#include "lib/kernel/stacktrace.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unistd.h>

namespace kmirror::kernel {
namespace {

std::atomic<unsigned long> warnings;
std::atomic<unsigned long> taints;
std::recursive_mutex report_lock;

// The calling thread's stack from the frame on that `from`, a return address, leads to.
void print_stack(const void *from)
{
    void *frames[kStackDepth];
    const unsigned found = stack_save(frames, from);
    std::fputs("Call trace:\n", stderr);
    stack_print(stderr, std::span(frames, found));
}

// Starts a report: what was said on stdout before is shown before it.
void open_report(const char *headline, const char *file, int line, const char *function)
{
    std::fflush(stdout);
    std::fputs("------------[ cut here ]------------\n", stderr);
    std::fprintf(stderr, "%s %s:%d in %s\n", headline, file, line, function);
}

// After the stack: what this process was made to meet.
void close_report()
{
    std::fflush(stderr);
    kmirror_fault_log_write(STDERR_FILENO, false);
    std::fputs("------------[ end trace ]-----------\n", stderr);
    std::fflush(stderr);
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" void kmirror_warn(const char *file, int line, const char *function, const char *fmt, ...)
{
    warnings.fetch_add(1, std::memory_order_relaxed);
    if (kmirror_set_loglevel(-1) == 0)   // nothing is to be shown
        return;
    const std::lock_guard guard(report_lock);
    open_report("WARNING:", file, line, function);
    va_list args;
    va_start(args, fmt);
    std::vfprintf(stderr, fmt, args);
    va_end(args);
    print_stack(__builtin_return_address(0));
    close_report();
}

extern "C" bool kmirror_warn_once(unsigned char *seen)
{
    return kmirror_first_time(seen);
}

extern "C" void kmirror_bug(const char *file, int line, const char *function, const char *condition)
{
    const std::lock_guard guard(report_lock);
    open_report("kernel BUG:", file, line, function);
    if (*condition != '\0')
        std::fprintf(stderr, "%s\n", condition);
    print_stack(__builtin_return_address(0));
    close_report();
    std::abort();
}

extern "C" void panic(const char *fmt, ...)
{
    const std::lock_guard guard(report_lock);
    std::fflush(stdout);
    std::fputs("Kernel panic: ", stderr);
    va_list args;
    va_start(args, fmt);
    std::vfprintf(stderr, fmt, args);
    va_end(args);
    std::fputc('\n', stderr);
    print_stack(__builtin_return_address(0));
    close_report();
    std::abort();
}

extern "C" void dump_stack(void)
{
    if (kmirror_set_loglevel(-1) == 0)   // nothing is to be shown
        return;
    const std::lock_guard guard(report_lock);
    std::fflush(stdout);
    print_stack(__builtin_return_address(0));
    std::fflush(stderr);
}

extern "C" unsigned long kmirror_warn_count(void)
{
    return warnings.load(std::memory_order_relaxed);
}

extern "C" void add_taint(unsigned int flag, enum lockdep_ok)
{
    taints.fetch_or(1UL << flag, std::memory_order_relaxed);
}

extern "C" int test_taint(unsigned int flag)
{
    const bool warned = flag == TAINT_WARN && kmirror_warn_count() != 0;
    return warned || (taints.load(std::memory_order_relaxed) >> flag & 1);
}

extern "C" const char *print_tainted(void)
{
    // The first letter says that the program is no proprietary one.
    static constexpr char kLetters[TAINT_FLAGS_COUNT + 1] = "GFSRMBUDAWCIOELKXTNJ";
    static __thread char text[sizeof("Tainted: ") + TAINT_FLAGS_COUNT];
    int used = std::snprintf(text, sizeof(text), "Tainted: G");
    bool tainted = false;

    for (unsigned flag = 1; flag < TAINT_FLAGS_COUNT; ++flag) {
        const bool set = test_taint(flag);
        tainted |= set;
        text[used++] = set ? kLetters[flag] : ' ';
    }
    text[used] = '\0';
    return tainted ? text : "Not tainted";
}
