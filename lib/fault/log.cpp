// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/log.cpp: which failures were injected, where, and how to have them again.
//
// Owns     the last kKept injections and the places of the last kPlaces, and the numbers of threads and of
//          their requests. Numbers begin anew with each kmirror_fault_log_clear(): a thread notices by the era
//          that its own counts are of.
// Locking  `log_lock`, a leaf, for who writes; the counts are the thread's own. A dying process reads without
//          it: an entry that another thread is just writing may then be printed half.
// Fails    never; what does not fit is counted but not kept.

#include <kmirror/config.h>

#if KMIRROR_FAULTS

#include "lib/fault/point.h"

#include <linux/printk.h>

#include "lib/kernel/stacktrace.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <mutex>
#include <unistd.h>

namespace kmirror::fault {
namespace {

constexpr size_t kKept = 64;
constexpr size_t kPlaces = 1024;   // as put_replay() says

// Where a failure was, in few bytes: what it takes to have it again.
struct ShortPlace {
    unsigned long request;
    unsigned int thread;
    unsigned int point;   // index
};

std::mutex log_lock;
kmirror_injection kept[kKept];        // number n is at n % kKept
ShortPlace places[kPlaces];           // the same with kPlaces
std::atomic<unsigned long> total;
std::atomic<unsigned long> era{1};
std::atomic<unsigned int> threads;
std::atomic<bool> from_outside;

struct Counts {
    unsigned long era;
    unsigned int thread;
    unsigned long requests[kPoints];
};
__thread Counts counts;

unsigned int index_of(const Point &point)
{
    const auto all = all_points();
    return static_cast<unsigned int>(std::find(all.begin(), all.end(), &point) - all.begin());
}

// The first of the latest @room of @number entries.
unsigned long first_kept(unsigned long number, size_t room)
{
    return number > room ? number - room + 1 : 1;
}

// Text for a file or a descriptor, without memory of its own or locks but the file's.
class Writer {
public:
    explicit Writer(std::FILE *file) : file_(file) {}
    explicit Writer(int fd) : fd_(fd) {}
    ~Writer() { flush(); }
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;

    Writer &operator<<(const char *text)
    {
        for (; *text != '\0'; ++text)
            put(*text);
        return *this;
    }
    Writer &operator<<(unsigned long value)
    {
        char digits[24];
        size_t used = 0;
        do
            digits[used++] = static_cast<char>('0' + value % 10);
        while ((value /= 10) != 0);
        while (used != 0)
            put(digits[--used]);
        return *this;
    }
    void flush()
    {
        // Where it cannot be written nobody is left to be told.
        [[maybe_unused]] const auto written = file_ != nullptr
                                                  ? static_cast<ssize_t>(std::fwrite(text_, 1, used_, file_))
                                                  : write(fd_, text_, used_);
        used_ = 0;
    }

private:
    void put(char letter)
    {
        if (used_ == sizeof(text_))
            flush();
        text_[used_++] = letter;
    }

    std::FILE *file_ = nullptr;
    int fd_ = -1;
    char text_[512];
    size_t used_ = 0;
};

void describe(Writer &out, const kmirror_injection &one)
{
    out << "injected failure " << one.number << ": " << one.point;
    if (one.cache[0] != '\0')
        out << " of " << one.cache;
    out << ", request " << one.request << " of thread " << static_cast<unsigned long>(one.thread) << ", "
        << static_cast<unsigned long>(one.size) << " bytes\n";
}

// "failslab:at=1:17+1:23;fail_page_alloc:at=1:4", with @before in front if there is anything.
bool put_places(Writer &out, unsigned long number, const char *before)
{
    const unsigned long first = first_kept(number, kPlaces);
    bool any = false;
    for (unsigned int point = 0; point < kPoints; ++point) {
        if (all_points()[point]->has & kNoAttributes)
            continue;
        bool of_point = false;
        for (unsigned long i = first; i <= number; ++i) {
            const ShortPlace &place = places[i % kPlaces];
            if (place.point != point)
                continue;
            if (of_point)
                out << "+";
            else
                out << (any ? ";" : before) << all_points()[point]->name << ":at=";
            out << static_cast<unsigned long>(place.thread) << ":" << place.request;
            any = of_point = true;
        }
    }
    return any;
}

// The command that fails the latest kPlaces requests again. A program that has asked for them itself does so
// when it is run once more; then the requests are for who looks at one of them.
void put_replay(Writer &out, unsigned long number)
{
    const bool outside = from_outside.load(std::memory_order_relaxed);
    const char *const before = number > kPlaces ? "the last 1024 requests again: KMIRROR_FAULT='"
                                                : "these requests again: KMIRROR_FAULT='";
    if (put_places(out, number, before))
        out << (outside ? "' " : "'\n");
    out << (outside ? "" : "the program asked for them itself; again: ") << replay_command() << "\n";
}

void print_one(std::FILE *out, const kmirror_injection &one)
{
    {
        Writer text(out);
        describe(text, one);
    }
    kernel::stack_print(out, std::span(one.stack, one.frames));
}

}  // namespace

Place count_request(const Point &point)
{
    const unsigned long now = era.load(std::memory_order_relaxed);
    if (counts.era != now)
        counts = {now, threads.fetch_add(1, std::memory_order_relaxed) + 1, {}};
    return {counts.thread, ++counts.requests[index_of(point)]};
}

void asked_from_outside()
{
    from_outside.store(true, std::memory_order_relaxed);
}

void log_injection(Point &point, const Place &place, const Request &request, unsigned int verbose, long times)
{
    kmirror_injection one = {};
    one.point = point.name;
    std::strncpy(one.cache, request.cache, sizeof(one.cache) - 1);
    one.thread = place.thread;
    one.request = place.request;
    one.size = request.size;
    one.frames = kernel::stack_save(one.stack, nullptr);
    print_log_on_crash();
    {
        const std::lock_guard guard(log_lock);
        one.number = total.load(std::memory_order_relaxed) + 1;
        kept[one.number % kKept] = one;
        places[one.number % kPlaces] = {place.request, place.thread, index_of(point)};
        total.store(one.number, std::memory_order_release);
    }
    if (verbose == 0 || !message_allowed(point))
        return;
    const double probability = static_cast<double>(point.threshold.load()) * 100 / 4294967296.0;
    pr_warn("FAULT_INJECTION: forcing a failure.\n"
            "name %s, interval %lu, probability %.4g, space %ld, times %ld\n",
            point.name, point.interval.load(), probability, point.space.load(), times);
    if (verbose > 1)
        print_one(stderr, one);
}

}  // namespace kmirror::fault

using namespace kmirror::fault;

extern "C" unsigned int kmirror_fault_log(struct kmirror_injection *out, unsigned int max)
{
    const std::lock_guard guard(log_lock);
    const unsigned long number = total.load(std::memory_order_relaxed);
    unsigned int stored = 0;
    for (unsigned long i = first_kept(number, std::min<size_t>(max, kKept)); i <= number && stored < max; ++i)
        out[stored++] = kept[i % kKept];
    return stored;
}

extern "C" unsigned long kmirror_fault_log_total(void)
{
    return total.load(std::memory_order_relaxed);
}

extern "C" void kmirror_fault_log_print(FILE *out)
{
    const std::lock_guard guard(log_lock);
    const unsigned long number = total.load(std::memory_order_relaxed);
    if (number == 0)
        return;
    if (number > kKept)
        std::fprintf(out, "%lu failures were injected; the last %zu:\n", number, kKept);
    for (unsigned long i = first_kept(number, kKept); i <= number; ++i)
        print_one(out, kept[i % kKept]);
    Writer text(out);
    put_replay(text, number);
}

// As a signal handler may do it: no lock, no memory. backtrace_symbols_fd() only reads what is mapped.
extern "C" void kmirror_fault_log_write(int fd, bool stacks)
{
    const unsigned long number = total.load(std::memory_order_acquire);
    if (number == 0)
        return;
    Writer out(fd);
    if (number > kKept)
        out << number << " failures were injected; the last " << static_cast<unsigned long>(kKept) << ":\n";
    for (unsigned long i = first_kept(number, kKept); i <= number; ++i) {
        const kmirror_injection &one = kept[i % kKept];
        describe(out, one);
        if (!stacks)
            continue;
        out.flush();
        backtrace_symbols_fd(one.stack, static_cast<int>(one.frames), fd);
    }
    put_replay(out, number);
}

extern "C" void kmirror_fault_log_clear(void)
{
    const std::lock_guard guard(log_lock);
    total.store(0, std::memory_order_relaxed);
    threads.store(0, std::memory_order_relaxed);
    era.fetch_add(1, std::memory_order_relaxed);
}

#endif
