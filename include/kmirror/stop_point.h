/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmirror/stop_point.h: holding a thread at an operation of the environment, by name.
 *
 * A point lies before each lock, trylock, unlock (spinlocks), local_lock, local_trylock, local_unlock,
 * publish (rcu_assign_pointer, smp_store_release), barrier (smp_mb, smp_rmb, smp_wmb), call_rcu (and
 * kfree_rcu), alloc_pages and free_pages. Its name is function:operation:ordinal,
 *
 *   alloc_nodes_unlocked:lock:1     mas_put_in_tree:publish:1     ma_dead_node:barrier:3
 *
 * with the function in whose source the operation stands (inlined or not), and counting from 1 how often any
 * thread but the one that armed the point came there since. A point tells where a thread is, so it does not
 * move with lines, and a test that names one that is never reached fails.
 *
 *   kmirror::StopPoint stop("alloc_nodes_unlocked:lock:1");
 *   std::thread writer(...);
 *   ASSERT_TRUE(stop.wait());       // the writer is there, its lock dropped
 *   ...
 *   stop.release();                 // or the end of the scope
 *
 * The other way is deterministic without a second thread: a visitor runs at every point that its own thread
 * passes, between a writer's operations, and may read what a reader would read there.
 *
 * Off, a point is one predictable branch. In release builds and in instrumented objects there is none, and
 * kmirror_stop_hold() says -EOPNOTSUPP.
 */
#ifndef KMIRROR_STOP_POINT_H
#define KMIRROR_STOP_POINT_H

#include <kmirror/config.h>
#include <linux/types.h>

#define KMIRROR_STOP_POINTS (!KMIRROR_RELEASE && !KMIRROR_INSTRUMENTED)

#ifdef __cplusplus
extern "C" {
#endif

/* How many points are armed and visitors set. */
extern unsigned int kmirror_stop_armed;
__attribute__((cold)) void kmirror_stop_reached(const char *function, const char *operation);

#if KMIRROR_STOP_POINTS
#define KM_STOP_POINT(operation)                                                             \
    (__builtin_expect(__atomic_load_n(&kmirror_stop_armed, __ATOMIC_RELAXED) != 0, 0)        \
         ? kmirror_stop_reached(__builtin_FUNCTION(), (operation))                           \
         : (void)0)
#else
#define KM_STOP_POINT(operation) ((void)0)
#endif

/**
 * kmirror_stop_hold() - Arm a point: the thread that comes to it waits there until released.
 * @name: function:operation:ordinal, the ordinal from 1.
 *
 * The calling thread itself is never held there and not counted.
 * Context: any thread. Return: a number for the calls below; -EINVAL for a name of another form or an unknown
 * operation; -EBUSY when KMIRROR_STOP_MAX points are armed; -EOPNOTSUPP.
 */
int kmirror_stop_hold(const char *name);

/* How many points may be armed at a time. */
#define KMIRROR_STOP_MAX 16

/* kmirror_stop_wait() - Wait until a thread is held at @stop. False: none came within @milliseconds. */
bool kmirror_stop_wait(int stop, unsigned int milliseconds);

/* kmirror_stop_release() - Disarm @stop and let its thread go on. The number may be given out again. */
void kmirror_stop_release(int stop);

/**
 * kmirror_stop_visit() - Have @visit run at every point the calling thread passes, before the operation.
 * @visit: Gets function, operation and @arg; points that it passes itself are not visited. NULL: no more.
 *
 * Context: any thread; each has one visitor, which must have been taken back when the thread ends.
 * Return: 0 or -EOPNOTSUPP.
 */
int kmirror_stop_visit(void (*visit)(const char *function, const char *operation, void *arg), void *arg);

#ifdef __cplusplus
}

namespace kmirror {

/* An armed point, for a scope. */
class StopPoint {
public:
    /* Long enough for a sanitizer on a busy machine; a point that is not reached fails the test anyway. */
    static constexpr unsigned int kPatienceMs = 20000;

    explicit StopPoint(const char *name) : stop_(kmirror_stop_hold(name)) {}
    ~StopPoint() { release(); }
    StopPoint(const StopPoint &) = delete;
    StopPoint &operator=(const StopPoint &) = delete;

    /* 0, or why the point could not be armed. */
    int error() const { return stop_ < 0 ? stop_ : 0; }
    bool wait(unsigned int milliseconds = kPatienceMs) const
    {
        return stop_ >= 0 && kmirror_stop_wait(stop_, milliseconds);
    }
    void release()
    {
        if (stop_ >= 0)
            kmirror_stop_release(stop_);
        stop_ = -1;
    }

private:
    int stop_;
};

/* A visitor of this thread's points, for a scope. */
template <class Visit>
class StopVisitor {
public:
    explicit StopVisitor(Visit visit) : visit_(visit)
    {
        kmirror_stop_visit([](const char *function, const char *operation, void *self) {
            static_cast<StopVisitor *>(self)->visit_(function, operation);
        }, this);
    }
    ~StopVisitor() { kmirror_stop_visit(nullptr, nullptr); }
    StopVisitor(const StopVisitor &) = delete;
    StopVisitor &operator=(const StopVisitor &) = delete;

private:
    Visit visit_;
};

} // namespace kmirror
#endif

#endif /* KMIRROR_STOP_POINT_H */
