/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/sweep.h>: a call with each of its allocations failing in turn.
 *
 * The call runs again and again, each time from a state made anew: with its first request failing, its
 * second, and so on until a run meets no failure any more; then the same with everything from the nth request
 * on failing, and with two requests failing. After each run the test's own check says whether the state is
 * unchanged (the call failed) or complete (it succeeded), and no object may be left over.
 *
 * Source: the loop over n of SQLite's out-of-memory tests and of the kernel's fail-nth.
 */
#ifndef _KMIRROR_SWEEP_H
#define _KMIRROR_SWEEP_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which requests fail in one run. */
#define KMIRROR_SWEEP_ONCE  0x1U    /* the nth */
#define KMIRROR_SWEEP_FROM  0x2U    /* the nth and all after it */
#define KMIRROR_SWEEP_PAIRS 0x4U    /* the nth and a later one; n squared runs */
#define KMIRROR_SWEEP_ALL   0x7U

struct kmirror_sweep_body {
    /* The state before the call. NULL ends the sweep as a violation. Nothing fails in here. */
    void *(*make)(void *arg);
    /* The call: -errno when it failed, else anything from 0. Requests of this thread fail. */
    int (*call)(void *scene);
    /* NULL when the state is as @result says, else words for what is wrong, valid until end(). */
    const char *(*check)(void *scene, int result);
    /* Gives everything back. */
    void (*end)(void *scene);
    void *arg;
};

struct kmirror_sweep_result {
    unsigned long runs;
    unsigned long injected;      /* failures */
    unsigned long refused;       /* runs in which a failure made the call fail */
    unsigned long survived;      /* runs in which the call succeeded in spite of one */
    unsigned long leaks;         /* runs that left objects over */
    unsigned long violations;    /* runs whose check objected, or that failed without a failure */
    unsigned int requests;       /* of the call when nothing fails */
    char first[256];             /* the first leak or violation, and which requests failed; empty: none */
};

/*
 * Sweeps @body in all @modes, at most @most runs a mode (0: no limit).
 * Context: process context, nothing else allocates meanwhile: objects are counted over all caches. May sleep.
 * Return: 0 when no run leaked or violated anything, 1 otherwise, -EOPNOTSUPP in a build with FAULTS=0.
 */
int kmirror_sweep(const struct kmirror_sweep_body *body, unsigned int modes, unsigned long most,
                  struct kmirror_sweep_result *result);

#ifdef __cplusplus
} /* extern "C" */

#include <memory>
#include <string>

namespace kmirror {

/* A state and a call on it; the destructor gives everything back. */
class SweepScene {
public:
    virtual ~SweepScene() = default;
    virtual int call() = 0;
    virtual std::string check(int result) = 0;   // empty: as it must be
};

/* The same from C++: @make returns a fresh std::unique_ptr<SweepScene>. */
template <typename Make>
kmirror_sweep_result sweep(Make make, unsigned int modes = KMIRROR_SWEEP_ALL, unsigned long most = 0)
{
    struct State {
        std::unique_ptr<SweepScene> scene;
        std::string words;
    };
    const kmirror_sweep_body body = {
        [](void *arg) -> void * {
            auto state = std::make_unique<State>();
            state->scene = (*static_cast<Make *>(arg))();
            return state->scene ? state.release() : nullptr;
        },
        [](void *scene) { return static_cast<State *>(scene)->scene->call(); },
        [](void *scene, int result) -> const char * {
            State &state = *static_cast<State *>(scene);
            state.words = state.scene->check(result);
            return state.words.empty() ? nullptr : state.words.c_str();
        },
        [](void *scene) { delete static_cast<State *>(scene); },
        &make,
    };
    kmirror_sweep_result result;
    kmirror_sweep(&body, modes, most, &result);
    return result;
}

} // namespace kmirror
#endif

#endif /* _KMIRROR_SWEEP_H */
