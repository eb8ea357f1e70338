// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/stop_point.cpp: armed points and visitors; see <kmirror/stop_point.h>.
//
// Owns     the table of armed points. A held thread sleeps on `changed` until its point is released.
// Bounds   KMIRROR_STOP_MAX points; names are kept as given, up to kNameMax bytes.
// Locking  `table_lock`, a leaf, over the table. A thread is held with whatever locks it has, and as the
//          virtual CPU's user it is: others may wait for it, which is what a test wants.
// Fails    a name that cannot be a point's is refused; a full table says -EBUSY.
//
// While a point is armed every thread that passes any point takes `table_lock`, which orders them: tests that
// look for races must not arm any.

#include <kmirror/stop_point.h>

#include <linux/errno.h>
#include <linux/sched.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>

unsigned int kmirror_stop_armed;

namespace kmirror::kernel {
namespace {

constexpr std::size_t kNameMax = 96;
constexpr const char *kOperations[] = {"lock",       "trylock",       "unlock",       "publish",
                                       "barrier",    "call_rcu",      "alloc_pages",  "free_pages",
                                       "local_lock", "local_trylock", "local_unlock"};

enum class State { Unused, Armed, Held, Released };

struct Point {
    State state = State::Unused;
    char name[kNameMax];             // function and operation, each ended by 0
    const char *operation;           // in name
    unsigned long left;              // passes before the one that is held
    const task_struct *armed_by;
};

Point points[KMIRROR_STOP_MAX];
std::mutex table_lock;
std::condition_variable changed;

struct Visitor {
    void (*visit)(const char *, const char *, void *);
    void *arg;
    bool busy;
};
__thread Visitor visitor;

bool is_operation(const char *word)
{
    for (const char *operation : kOperations)
        if (std::strcmp(word, operation) == 0)
            return true;
    return false;
}

// Takes function:operation:ordinal apart, into `point`.
bool parse(const char *name, Point &point)
{
    const std::size_t length = std::strlen(name);
    if (length >= kNameMax)
        return false;
    std::memcpy(point.name, name, length + 1);
    char *const ordinal = std::strrchr(point.name, ':');
    if (ordinal == nullptr || ordinal[1] < '1' || ordinal[1] > '9')
        return false;
    *ordinal = 0;
    char *const operation = std::strrchr(point.name, ':');
    if (operation == nullptr || operation == point.name)
        return false;
    *operation = 0;
    point.operation = operation + 1;
    char *end;
    point.left = std::strtoul(ordinal + 1, &end, 10) - 1;
    return *end == 0 && is_operation(point.operation);
}

bool is_at(const Point &point, const char *function, const char *operation)
{
    return point.state == State::Armed && point.armed_by != current_task() &&
           std::strcmp(point.name, function) == 0 && std::strcmp(point.operation, operation) == 0;
}

// Counts this pass at every point it belongs to. The point whose turn it is, or null.
Point *count_pass(const char *function, const char *operation)
{
    Point *reached = nullptr;
    for (Point &point : points)
        if (is_at(point, function, operation) && point.left-- == 0)
            reached = &point;
    return reached;
}

void hold_if_named(const char *function, const char *operation)
{
    std::unique_lock guard(table_lock);
    Point *const point = count_pass(function, operation);
    if (point == nullptr)
        return;
    point->state = State::Held;
    changed.notify_all();
    changed.wait(guard, [&] { return point->state == State::Released; });
    point->state = State::Unused;
}

void count_armed(int by)
{
    __atomic_fetch_add(&kmirror_stop_armed, static_cast<unsigned int>(by), __ATOMIC_RELAXED);
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;
using kmirror::current_task;

extern "C" void kmirror_stop_reached(const char *function, const char *operation)
{
    if (visitor.busy)
        return;
    visitor.busy = true;
    if (visitor.visit != nullptr)
        visitor.visit(function, operation, visitor.arg);
    hold_if_named(function, operation);
    visitor.busy = false;
}

extern "C" int kmirror_stop_hold(const char *name)
{
    if (!KMIRROR_STOP_POINTS)
        return -EOPNOTSUPP;
    const std::lock_guard guard(table_lock);
    for (int stop = 0; stop < KMIRROR_STOP_MAX; ++stop) {
        Point &point = points[stop];
        if (point.state != State::Unused)
            continue;
        if (!parse(name, point))
            return -EINVAL;
        point.armed_by = current_task();
        point.state = State::Armed;
        count_armed(1);
        return stop;
    }
    return -EBUSY;
}

extern "C" bool kmirror_stop_wait(int stop, unsigned int milliseconds)
{
    std::unique_lock guard(table_lock);
    return changed.wait_for(guard, std::chrono::milliseconds(milliseconds),
                            [&] { return points[stop].state == State::Held; });
}

extern "C" void kmirror_stop_release(int stop)
{
    const std::lock_guard guard(table_lock);
    Point &point = points[stop];
    point.state = point.state == State::Held ? State::Released : State::Unused;
    count_armed(-1);
    changed.notify_all();
}

extern "C" int kmirror_stop_visit(void (*visit)(const char *, const char *, void *), void *arg)
{
    if (!KMIRROR_STOP_POINTS)
        return -EOPNOTSUPP;
    count_armed((visit != nullptr) - (visitor.visit != nullptr));
    visitor.visit = visit;
    visitor.arg = arg;
    return 0;
}
