// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/crash.cpp: a process that dies after a failure was injected says which, and how to have it again.
//
// Owns     the handlers of those fatal signals that nobody else handles, from the first injection on, and the
//          sanitizer's death callback, unless the program is a fuzzer, which needs it itself.
// Bounds   one report a process; a signal in the report kills.
// Locking  none: what a handler uses was made before it was installed.
// Fails    never: without a command line the replay names none.

#include <kmirror/config.h>

#if KMIRROR_FAULTS

#include "lib/fault/point.h"
#include "lib/kernel/random.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <mutex>
#include <string>
#include <unistd.h>

// Of the sanitizers' runtimes, and of libFuzzer's targets.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)(void));
extern "C" [[gnu::weak]] int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

namespace kmirror::fault {
namespace {

constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

char command[4096];
std::atomic<bool> reported;

void report()
{
    if (!reported.exchange(true))
        kmirror_fault_log_write(STDERR_FILENO, true);
}

// SA_RESETHAND has put the default back: the signal comes again and kills.
void on_fatal(int number)
{
    report();
    raise(number);
}

void handle(int number)
{
    struct sigaction before = {};
    if (sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL)
        return;
    struct sigaction action = {};
    action.sa_handler = on_fatal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
    sigaction(number, &action, nullptr);
}

// One argument as a shell reads it.
std::string quoted(const std::string &argument)
{
    if (!argument.empty() && argument.find_first_of(" \t\n'\"\\$`*?[]{}()<>|&;~#!") == std::string::npos)
        return argument;
    std::string text = "'";
    for (const char letter : argument)
        text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return text + "'";
}

// This process's command line with its seed, one line of shell.
std::string own_command()
{
    std::FILE *const file = std::fopen("/proc/self/cmdline", "r");
    if (file == nullptr)
        return "";
    std::string text = "KMIRROR_SEED=" + std::to_string(kernel::process_seed()), argument;
    for (int letter; (letter = std::fgetc(file)) != EOF;) {
        if (letter != '\0') {
            argument += static_cast<char>(letter);
            continue;
        }
        text += " " + quoted(argument);
        argument.clear();
    }
    std::fclose(file);
    return text;
}

void keep_command(const std::string &text)
{
    std::snprintf(command, sizeof(command), "%s", text.c_str());
}

}  // namespace

const char *replay_command()
{
    static std::once_flag once;
    std::call_once(once, [] {
        if (command[0] == '\0')
            keep_command(own_command());
    });
    return command;
}

void print_log_on_crash()
{
    static std::once_flag once;
    std::call_once(once, [] {
        void *frame;
        backtrace(&frame, 1);   // loads what it needs now
        replay_command();
        if (__sanitizer_set_death_callback != nullptr && LLVMFuzzerTestOneInput == nullptr)
            __sanitizer_set_death_callback(report);
        for (const int number : kFatal)
            handle(number);
    });
}

}  // namespace kmirror::fault

extern "C" void kmirror_fault_log_command(const char *text)
{
    using namespace kmirror::fault;
    keep_command(text != nullptr ? std::string(text) : own_command());
}

#endif
