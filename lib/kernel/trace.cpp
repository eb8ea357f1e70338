// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/trace.cpp: the tree's trace points, to text or to Chrome's trace format. See <kmirror/trace.h>.
//
// Owns     the one open trace.
// Locking  a mutex of its own, below every other lock: events come from under spinlocks and read sections,
//          and nothing is called from in here that takes one.
// Fails    an event that cannot be written is lost, and kmirror_trace_close() says so.

#include <kmirror/trace.h>
#include <linux/ktime.h>
#include <linux/maple_tree.h>
#include <linux/smp.h>
#include <trace/events/maple_tree.h>

#include "lib/kernel/setting.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <pthread.h>
#include <unistd.h>

#if !KMIRROR_RELEASE
bool kmirror_trace_on;
#endif

namespace kmirror::kernel {
namespace {

constexpr u64 kDefaultMax = 1000000;

struct Trace {
    std::FILE *file;
    bool json;
    u64 written;
    u64 dropped;
    u64 max;
    u64 start_ns;
};

pthread_mutex_t trace_mutex = PTHREAD_MUTEX_INITIALIZER;
Trace trace;

struct Locked {
    Locked() { pthread_mutex_lock(&trace_mutex); }
    ~Locked() { pthread_mutex_unlock(&trace_mutex); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;
};

enum class Kind { Op, Read, Write };
constexpr const char *kNames[] = {"ma_op", "ma_read", "ma_write"};

struct Event {
    Kind kind;
    const char *fn;
    const ma_state *mas;
    unsigned long piv;  // of a write only
    const void *val;
};

bool wants_json(const char *file)
{
    const std::size_t length = std::strlen(file);
    return length >= 5 && !std::strcmp(file + length - 5, ".json");
}

void switch_events([[maybe_unused]] bool on)
{
#if !KMIRROR_RELEASE
    __atomic_store_n(&kmirror_trace_on, on, __ATOMIC_RELAXED);
#endif
}

void write_text(const Event &event, u64 ns)
{
    const ma_state &at = *event.mas;
    char task[16] = "";

    pthread_getname_np(pthread_self(), task, sizeof(task));
    std::fprintf(trace.file, "%16s-%-7d [%03u] %5llu.%06llu: %s: %s\t", task, gettid(),
                 raw_smp_processor_id(), static_cast<unsigned long long>(ns / 1000000000),
                 static_cast<unsigned long long>(ns / 1000 % 1000000), kNames[int(event.kind)], event.fn);
    if (event.kind == Kind::Write)
        std::fprintf(trace.file, "Node %p (%lu %lu) range:%lu-%lu piv (%lu) val %p\n",
                     static_cast<void *>(at.node), at.min, at.max, at.index, at.last, event.piv, event.val);
    else
        std::fprintf(trace.file, "Node: %p (%lu %lu) range: %lu-%lu\n", static_cast<void *>(at.node), at.min,
                     at.max, at.index, at.last);
}

// Words are strings in hexadecimal: a JSON number holds 53 bits.
void write_json(const Event &event, u64 ns)
{
    const ma_state &at = *event.mas;

    std::fprintf(trace.file,
                 "%s{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"i\",\"s\":\"t\",\"pid\":%d,\"tid\":%d,"
                 "\"ts\":%llu.%03llu,\"args\":{\"cpu\":%u,\"node\":\"%p\",\"min\":\"%#lx\",\"max\":\"%#lx\","
                 "\"index\":\"%#lx\",\"last\":\"%#lx\"",
                 trace.written ? ",\n" : "", event.fn, kNames[int(event.kind)], getpid(), gettid(),
                 static_cast<unsigned long long>(ns / 1000), static_cast<unsigned long long>(ns % 1000),
                 raw_smp_processor_id(), static_cast<void *>(at.node), at.min, at.max, at.index, at.last);
    if (event.kind == Kind::Write)
        std::fprintf(trace.file, ",\"piv\":\"%#lx\",\"val\":\"%p\"", event.piv, event.val);
    std::fputs("}}", trace.file);
}

[[maybe_unused]] void record(const Event &event)
{
    const Locked locked;
    if (!trace.file)
        return;
    if (trace.written == trace.max) {
        trace.dropped++;
        return;
    }
    const u64 ns = ktime_get_ns() - trace.start_ns;
    trace.json ? write_json(event, ns) : write_text(event, ns);
    trace.written++;
}

void write_head()
{
    if (trace.json)
        std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", trace.file);
    else
        std::fputs("#            TASK-TID     CPU      TIME  EVENT\n", trace.file);
}

void write_end()
{
    const auto written = static_cast<unsigned long long>(trace.written);
    const auto dropped = static_cast<unsigned long long>(trace.dropped);

    if (trace.json)
        std::fprintf(trace.file, "\n],\"otherData\":{\"written\":%llu,\"dropped\":%llu}}\n", written,
                     dropped);
    else
        std::fprintf(trace.file, "# %llu events written, %llu dropped\n", written, dropped);
}

// Before main, so that nothing is missed; a file that cannot be written ends the process, as any bad setting.
[[gnu::constructor]] void open_from_environment()
{
    const char *file = std::getenv("KMIRROR_TRACE");
    if (!file || !*file)
        return;
    const int error = kmirror_trace_open(file);
    if (!error)
        return;
    std::fprintf(stderr, "kmirror: KMIRROR_TRACE=\"%s\" is not possible; %s\n", file,
                 error == -EOPNOTSUPP ? "a release build has no trace points" : std::strerror(-error));
    std::_Exit(2);
}

[[gnu::destructor]] void close_at_exit() { kmirror_trace_close(); }

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;

int kmirror_trace_open(const char *file)
{
    if (KMIRROR_RELEASE)
        return -EOPNOTSUPP;
    const u64 max = setting_u64("KMIRROR_TRACE_MAX", 1, ~u64{0}, kDefaultMax);
    const Locked locked;
    if (trace.file)
        return -EBUSY;
    std::FILE *opened = std::fopen(file, "we");
    if (!opened)
        return -errno;
    trace = {opened, wants_json(file), 0, 0, max, ktime_get_ns()};
    write_head();
    switch_events(true);
    return 0;
}

int kmirror_trace_close(void)
{
    switch_events(false);
    const Locked locked;
    if (!trace.file)
        return 0;
    write_end();
    const bool failed = std::ferror(trace.file) != 0;
    const bool lost = std::fclose(trace.file) != 0 || failed;
    trace = {};
    return lost ? -EIO : 0;
}

#if !KMIRROR_RELEASE

void kmirror_trace_ma_op(const char *fn, const struct ma_state *mas)
{
    record({Kind::Op, fn, mas, 0, nullptr});
}

void kmirror_trace_ma_read(const char *fn, const struct ma_state *mas)
{
    record({Kind::Read, fn, mas, 0, nullptr});
}

void kmirror_trace_ma_write(const char *fn, const struct ma_state *mas, unsigned long piv, const void *val)
{
    record({Kind::Write, fn, mas, piv, val});
}

#endif
