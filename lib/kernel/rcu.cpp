// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/rcu.cpp: read sections and grace periods, on liburcu's memb flavour.
//
// A read section is one store to a word of the thread's own, which liburcu's synchronize looks at after
// having forced a barrier on every thread (membarrier). The nesting count is ours, in task_struct: it answers
// rcu_read_lock_held() and keeps nested sections out of liburcu.
//
// Owns     each thread's registration: made by its first read section, ended by a pthread key's destructor.
//          The key, not a C++ thread_local, because destructors that run later may open a read section again;
//          a key that is set again is destroyed again.
// Bounds   nesting up to UINT_MAX.
// Locking  none here; liburcu's registry lock inside register and synchronize.
// Fails    misuse warns: unlock without lock, waiting for oneself, leaving a thread inside a section.
//
// Order, for the thread sanitizer, which sees neither end of liburcu's protocol:
//   (R1) end of a section: release into `sections_ended`. Pairs with (R2).
//   (R2) end of a grace period: acquire from it. Without the pair every reuse of an object that a reader has
//        read would be reported as a race. Taken at once when the grace period ends, so that a section which
//        begins and ends before the callback runs, and should not have seen the object, is still reported.

// liburcu has a struct rcu_head of its own, and declares its TLS variable in a way that costs C++ a call at
// each use.
#define rcu_head urcu_rcu_head
#define thread_local __attribute__((tls_model("initial-exec"))) __thread
#define _LGPL_SOURCE
#include <urcu/urcu-memb.h>
#undef thread_local
#undef rcu_head
#undef rcu_dereference
#undef rcu_assign_pointer

#include <linux/bug.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "lib/kernel/rcu.h"
#include "lib/kernel/sanitizer.h"
#include "lib/kernel/setting.h"

#include <pthread.h>

bool kmirror_rcu_checking;
struct lockdep_map rcu_callback_map = {"rcu_callback", 0};

namespace kmirror::kernel {
namespace {

char sections_ended;

pthread_key_t exit_key;
pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

void end_section()
{
    hb_release(&sections_ended);   // (R1)
    urcu_memb_read_unlock();
}

// A thread that dies inside a section would hold up all grace periods for ever.
void thread_exits(void *)
{
    task_struct &task = *current_task();
    if (WARN(task.rcu_nesting != 0, "a thread ended inside a read section\n")) {
        task.rcu_nesting = 0;
        end_section();
    }
    if (urcu_memb_reader.registered)
        urcu_memb_unregister_thread();
}

void make_exit_key()
{
    pthread_key_create(&exit_key, thread_exits);
}

[[gnu::noinline, gnu::cold]] void register_reader()
{
    pthread_once(&exit_key_once, make_exit_key);
    pthread_setspecific(exit_key, &exit_key);
    urcu_memb_register_thread();
}

[[gnu::constructor]] void read_environment()
{
    kmirror_rcu_checking = setting_u64("KMIRROR_LOCKDEP", 0, 1, 0) != 0;
}

}  // namespace

void wait_for_readers()
{
    urcu_memb_synchronize_rcu();
    hb_acquire(&sections_ended);   // (R2)
}

}  // namespace kmirror::kernel

using namespace kmirror::kernel;
using kmirror::current_task;

extern "C" void rcu_read_lock(void)
{
    if (current_task()->rcu_nesting++ != 0)
        return;
    if (!urcu_memb_reader.registered) [[unlikely]]
        register_reader();
    urcu_memb_read_lock();
}

extern "C" void rcu_read_unlock(void)
{
    task_struct &task = *current_task();
    if (WARN_ON_ONCE(task.rcu_nesting == 0))
        return;
    if (--task.rcu_nesting == 0)
        end_section();
}

extern "C" int rcu_read_lock_held(void)
{
    return current_task()->rcu_nesting != 0;
}

extern "C" void rcu_register_thread(void)
{
    if (!urcu_memb_reader.registered)
        register_reader();
}

extern "C" void rcu_unregister_thread(void)
{
    if (WARN_ON_ONCE(current_task()->rcu_nesting != 0))
        return;
    if (urcu_memb_reader.registered)
        urcu_memb_unregister_thread();
}

extern "C" void synchronize_rcu(void)
{
    if (WARN_ON_ONCE(current_task()->rcu_nesting != 0))
        return;
    WARN_ON_ONCE(in_rcu_callback());
    wait_for_readers();
}

extern "C" void kmirror_rcu_check(bool on)
{
    __atomic_store_n(&kmirror_rcu_checking, on, __ATOMIC_RELAXED);
}

extern "C" void kmirror_rcu_suspicious(const char *file, int line, const char *what)
{
    kmirror_warn(file, line, what, "suspicious RCU usage: neither the lock nor a read section is held\n");
}
