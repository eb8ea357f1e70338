// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/world/lock.cpp: locks in virtual time, in the words of the native ones.
//
//   lock     an atomic operation on the line; taken: the CPU stands in the queue and does not run
//   unlock   the store buffer drains; somebody waits: hand-off, that is costs.handoff transfers of the line
//
// The queue is a ring of records on the waiters' stacks, `tail` is the last and tail->next the first; first come, first
// served. A spinlock keeps ticks away while it is held, as the _irqsave forms do. Mutexes and semaphores
// are the same without that; their waiters spin.
//
// (K1) tail != null  =>  word != 0: who unlocks hands over and leaves the word as it is
//
// Owns     counters by class. Locking: is what it does. Fails never; unlocking what is free is a BUG.
#include "lib/sim/explore.h"
#include "lib/sim/world/world.h"

#include <linux/bug.h>
#include <linux/local_lock.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>

#include "lib/kernel/lock_watch.h"

#include <unordered_map>

using namespace kmirror::sim;

struct kmirror_lock_waiter {
    kmirror_lock_waiter *next;
    Cpu *cpu;
};

namespace kmirror::sim {
namespace {

using Waiter = kmirror_lock_waiter;

struct Held {
    const void *lock;
    u16 class_id;
    Ps since;
};

struct ClassCounts {
    std::uint64_t acquisitions, contended;
    Ps wait, wait_max, hold, hold_max;
};

ClassCounts counts[kernel::kMaxClasses];
std::vector<std::vector<Held>> held_by;   // by CPU
std::unordered_map<std::uint32_t, u16> lines_of_locks;

std::vector<Held> &held(const Cpu &by)
{
    if (held_by.empty())
        held_by.resize(engine.cpus.size());
    return held_by[by.id];
}

void note_taken(const void *lock, u16 class_id, bool contended, Ps wait)
{
    if (explorer)
        explorer->acquired(lock);
    ClassCounts &of = counts[class_id];
    of.acquisitions++;
    of.contended += contended;
    of.wait += wait;
    of.wait_max = std::max(of.wait_max, wait);
    engine.cpu->counts.lock_wait += wait;
    held(*engine.cpu).push_back({lock, class_id, engine.cpu->now});
}

void note_released(const void *lock)
{
    if (explorer)
        explorer->released(lock);
    std::vector<Held> &list = held(*engine.cpu);
    for (auto at = list.rbegin(); at != list.rend(); ++at) {
        if (at->lock != lock)
            continue;
        const Ps hold = engine.cpu->now - at->since;
        ClassCounts &of = counts[at->class_id];
        of.hold += hold;
        of.hold_max = std::max(of.hold_max, hold);
        list.erase(std::next(at).base());
        return;
    }
}

// The words of a lock, wherever they are.
struct Words {
    u32 &word;
    Waiter *&tail;
    u16 class_id;
    bool spinning = true;   // keeps ticks away
};

void stand_in_queue(Words lock)
{
    Waiter self = {&self, engine.cpu};
    if (lock.tail) {
        self.next = lock.tail->next;
        lock.tail->next = &self;
    }
    lock.tail = &self;
    engine.wait_for_wake();
}

// A lock that a test has taken away.
bool planted(const Words &lock) { return explorer && explorer->lock_is_planted(lock.class_id); }

void take(Words lock, const void *place)
{
    if (!engine.cpu) {
        BUG_ON(lock.word != 0);
        lock.word = 1;
        return;
    }
    if (lock.spinning)
        engine.section_begin();
    if (planted(lock))
        return;
    engine.rmw(&lock.word, sizeof(u32), false, place);
    const Ps arrived = engine.cpu->now;
    const bool contended = lock.word != 0;
    if (contended)
        stand_in_queue(lock);
    else
        lock.word = 1;
    note_taken(&lock.word, lock.class_id, contended, engine.cpu->now - arrived);
}

bool try_take(Words lock, const void *place)
{
    if (!engine.cpu)
        return lock.word == 0 ? (lock.word = 1, true) : false;
    if (lock.spinning)
        engine.section_begin();
    if (planted(lock))
        return true;
    engine.rmw(&lock.word, sizeof(u32), false, place);
    if (lock.word == 0) {
        lock.word = 1;
        note_taken(&lock.word, lock.class_id, false, 0);
        return true;
    }
    if (lock.spinning)
        engine.section_end();
    return false;
}

void hand_over(Words lock)
{
    Waiter *const first = lock.tail->next;
    if (first == lock.tail)
        lock.tail = nullptr;
    else
        lock.tail->next = first->next;
    Cpu &next = *first->cpu;
    const Ps price = engine.transfer(*engine.cpu, next) * engine.machine.costs.handoff / kOne;
    next.now = std::max(next.now, engine.cpu->now + price);
    engine.give_line(engine.lines.number(&lock.word), next);
    engine.wake(next, next.now);
}

void give(Words lock, const void *place)
{
    if (engine.cpu && planted(lock)) {
        if (lock.spinning)
            engine.section_end();
        return;
    }
    BUG_ON(lock.word == 0);
    if (!engine.cpu) {
        lock.word = 0;
        return;
    }
    engine.drain();
    const std::uint32_t number = engine.lines.number(&lock.word);
    if (number != kNoLine && engine.line_shared(number)) {
        lines_of_locks.emplace(number, lock.class_id);
        engine.sync(); // (E1): who came before now is in the queue
    }
    note_released(&lock.word);
    if (lock.tail) {
        hand_over(lock);
    } else {
        lock.word = 0;
        engine.touch(&lock.word, sizeof(u32), Touch::Write, place);
    }
    if (lock.spinning)
        engine.section_end();
}

u16 class_of(spinlock_t &lock)
{
    if (lock.class_id == 0 && lock.name)
        lock.class_id = kmirror_lock_class(lock.name, nullptr);
    return lock.class_id;
}

Words words(spinlock_t &lock) { return {lock.word, lock.tail, class_of(lock)}; }
Words words(raw_spinlock_t &lock) { return {lock.word, lock.tail, lock.class_id}; }
Words words(mutex &lock)
{
    return {lock.queue.word, lock.queue.tail, kernel::class_of_map(lock.dep_map), false};
}
Words words(rw_semaphore &sem)
{
    return {sem.gate.word, sem.gate.tail, kernel::class_of_map(sem.dep_map), false};
}

} // namespace

std::vector<LockStat> lock_stats()
{
    std::vector<LockStat> stats;
    for (unsigned id = 0; id < kernel::class_count(); id++) {
        const ClassCounts &of = counts[id];
        if (of.acquisitions != 0)
            stats.push_back({kernel::class_name(static_cast<u16>(id)), of.acquisitions, of.contended, of.wait,
                             of.wait_max, of.hold, of.hold_max});
    }
    return stats;
}

void lock_stats_reset()
{
    for (ClassCounts &of : counts)
        of = {};
}

const char *lock_in_line(std::uint32_t number)
{
    const auto found = lines_of_locks.find(number);
    return found == lines_of_locks.end() ? nullptr : kernel::class_name(found->second);
}

} // namespace kmirror::sim

#define HERE __builtin_return_address(0)

extern "C" {

void kmirror_spin_wake(u32 *) {}

void kmirror_spin_lock(spinlock_t *lock) { take(words(*lock), HERE); }
void kmirror_spin_lock_nested(spinlock_t *lock, int) { take(words(*lock), HERE); }
int kmirror_spin_trylock(spinlock_t *lock) { return try_take(words(*lock), HERE); }
void kmirror_spin_unlock(spinlock_t *lock) { give(words(*lock), HERE); }
void kmirror_raw_spin_lock(raw_spinlock_t *lock) { take(words(*lock), HERE); }
void kmirror_raw_spin_lock_nested(raw_spinlock_t *lock, int) { take(words(*lock), HERE); }
int kmirror_raw_spin_trylock(raw_spinlock_t *lock) { return try_take(words(*lock), HERE); }
void kmirror_raw_spin_unlock(raw_spinlock_t *lock) { give(words(*lock), HERE); }

void kmirror_spin_lock_init(spinlock_t *lock, const char *name, struct lock_class_key *key)
{
    *lock = {};
    lock->class_id = kmirror_lock_class(name, key);
}

void kmirror_raw_spin_lock_init(raw_spinlock_t *lock, const char *name, struct lock_class_key *key)
{
    *lock = {};
    lock->class_id = kmirror_lock_class(name, key);
}

// ---- mutexes

void kmirror_mutex_init(struct mutex *lock, const char *name, struct lock_class_key *key)
{
    *lock = {};
    lock->dep_map = {name, kmirror_lock_class(name, key)};
}

void mutex_lock(struct mutex *lock) { take(words(*lock), HERE); }
void mutex_lock_nested(struct mutex *lock, unsigned int) { take(words(*lock), HERE); }
int mutex_trylock(struct mutex *lock) { return try_take(words(*lock), HERE); }
void mutex_unlock(struct mutex *lock) { give(words(*lock), HERE); }
bool mutex_is_locked(struct mutex *lock) { return lock->queue.word != 0; }

// ---- semaphores: the writer holds the gate; readers pass through it and are counted

void kmirror_init_rwsem(struct rw_semaphore *sem, const char *name, struct lock_class_key *key)
{
    *sem = {};
    sem->dep_map = {name, kmirror_lock_class(name, key)};
}

static void count_readers(struct rw_semaphore *sem, u32 change, const void *place)
{
    if (engine.cpu)
        engine.rmw(&sem->count, sizeof(u32), false, place);
    sem->count += change;
}

void down_read(struct rw_semaphore *sem)
{
    take(words(*sem), HERE);
    count_readers(sem, 2, HERE);
    give(words(*sem), HERE);
}

int down_read_trylock(struct rw_semaphore *sem)
{
    if (!try_take(words(*sem), HERE))
        return 0;
    count_readers(sem, 2, HERE);
    give(words(*sem), HERE);
    return 1;
}

void up_read(struct rw_semaphore *sem) { count_readers(sem, -2U, HERE); }

void down_write(struct rw_semaphore *sem)
{
    take(words(*sem), HERE);
    while (READ_ONCE(sem->count) != 0)
        kmirror_cpu_relax();
}

void down_write_nested(struct rw_semaphore *sem, int) { down_write(sem); }

int down_write_trylock(struct rw_semaphore *sem)
{
    if (!try_take(words(*sem), HERE))
        return 0;
    if (sem->count == 0)
        return 1;
    give(words(*sem), HERE);
    return 0;
}

void up_write(struct rw_semaphore *sem) { give(words(*sem), HERE); }

void downgrade_write(struct rw_semaphore *sem)
{
    count_readers(sem, 2, HERE);
    give(words(*sem), HERE);
}

int rwsem_is_locked(struct rw_semaphore *sem) { return sem->gate.word != 0 || sem->count != 0; }

// ---- local locks: nobody else is on the CPU while ticks are kept away

static struct local_lock *mine(struct local_lock *lock)
{
    return SHIFT_PERCPU_PTR(lock, kmirror_percpu_offset());
}

bool kmirror_local_trylock(struct local_lock *lock)
{
    struct local_lock *const copy = mine(lock);
    if (engine.cpu) {
        engine.section_begin();
        engine.touch(&copy->shared, sizeof(u32), Touch::Write, HERE);
        engine.spend(engine.cpu->access);
    }
    if (copy->shared) {
        if (engine.cpu)
            engine.section_end();
        return false;
    }
    copy->shared = 1;
    return true;
}

void kmirror_local_lock(struct local_lock *lock)
{
    while (!kmirror_local_trylock(lock))
        kmirror_cpu_relax();
}

void kmirror_local_unlock(struct local_lock *lock)
{
    struct local_lock *const copy = mine(lock);
    BUG_ON(!copy->shared);
    copy->shared = 0;
    if (!engine.cpu)
        return;
    engine.touch(&copy->shared, sizeof(u32), Touch::Write, HERE);
    engine.section_end();
}

int kmirror_local_lock_held(const struct local_lock *) { return 1; }
void kmirror_local_lock_assert_held(const struct local_lock *, const char *) {}

} // extern "C"
