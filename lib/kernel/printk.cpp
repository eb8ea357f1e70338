// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/printk.cpp: printk(), its levels and where each goes.
//
// Owns     the level limit and each thread's memory of where its last message went.
// Locking  none of its own; stdio's keeps one message in one piece.
// Fails    a message that cannot be written is lost.

#include <linux/printk.h>
#include <kmirror/printk.h>

#include "lib/kernel/setting.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <vector>

namespace kmirror::kernel {
namespace {

constexpr int kNoLevel = -1;
constexpr int kContinue = -2;
constexpr int kWarning = 4;
constexpr int kLevels = 8;
constexpr int kUnread = -1;

std::atomic<int> level_limit{kUnread};

// Stream of this thread's last message; null when that one was dropped.
__thread std::FILE *last_stream;
__thread bool has_printed;

int limit()
{
    int now = level_limit.load(std::memory_order_relaxed);
    if (now != kUnread)
        return now;
    const int chosen = static_cast<int>(setting_u64("KMIRROR_LOGLEVEL", 0, kLevels, kLevels - 1));
    // A limit set by a call meanwhile wins.
    return level_limit.compare_exchange_strong(now, chosen, std::memory_order_relaxed) ? chosen : now;
}

// Takes the level off the front of a format.
int split_level(const char **fmt)
{
    const char *const text = *fmt;
    if (text[0] != KERN_SOH[0] || text[1] == '\0')
        return kNoLevel;
    *fmt = text + 2;
    return text[1] == 'c' ? kContinue : text[1] - '0';
}

std::FILE *stream_for(int level)
{
    if (level == kContinue)
        return has_printed ? last_stream : stdout;
    if (level == kNoLevel)
        return stdout;
    if (level >= limit())
        return nullptr;
    return level <= kWarning ? stderr : stdout;
}

// libc does not know the kernel's %px and %pK: copies `fmt` without the letter.
const char *plain_format(const char *fmt, std::vector<char> *copy)
{
    if (std::strstr(fmt, "%px") == nullptr && std::strstr(fmt, "%pK") == nullptr)
        return fmt;
    for (const char *at = fmt; *at != '\0'; ++at) {
        copy->push_back(*at);
        if (*at != '%')
            continue;
        copy->push_back(*++at);
        if (at[0] == 'p' && (at[1] == 'x' || at[1] == 'K'))
            ++at;
        if (*at == '\0')
            return copy->data();
    }
    copy->push_back('\0');
    return copy->data();
}

void write_out(std::FILE *out, const char *text, int length)
{
    if (out == stderr)
        std::fflush(stdout);
    std::fwrite(text, 1, static_cast<size_t>(length), out);
}

int print_to(std::FILE *out, const char *fmt, va_list args)
{
    char small[512];
    va_list again;
    va_copy(again, args);
    const int length = std::vsnprintf(small, sizeof(small), fmt, args);
    if (out != nullptr && length > 0 && static_cast<size_t>(length) < sizeof(small)) {
        write_out(out, small, length);
    } else if (out != nullptr && length > 0) {
        std::vector<char> large(static_cast<size_t>(length) + 1);
        std::vsnprintf(large.data(), large.size(), fmt, again);
        write_out(out, large.data(), length);
    }
    va_end(again);
    return length;
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" int printk(const char *fmt, ...)
{
    std::FILE *const out = stream_for(split_level(&fmt));
    last_stream = out;
    has_printed = true;
    std::vector<char> copy;
    va_list args;
    va_start(args, fmt);
    const int length = print_to(out, plain_format(fmt, &copy), args);
    va_end(args);
    return length;
}

extern "C" int kmirror_set_loglevel(int level)
{
    const int before = limit();
    if (level >= 0 && level <= kLevels)
        level_limit.store(level, std::memory_order_relaxed);
    return before;
}
