/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/rwsem.h: many readers or one writer.
 *
 * Readers that find no writer pay one compare-and-swap. A writer closes the gate
 * first and then waits for the readers inside, so neither side starves: readers
 * that come after it queue at the gate with the writers, in order of arrival.
 */
#ifndef KMIRROR_LINUX_RWSEM_H
#define KMIRROR_LINUX_RWSEM_H

#include <linux/spinlock_types.h>

struct rw_semaphore {
    u32 count;           /* bit 0: a writer has or wants it; the rest: readers inside, times two */
    raw_spinlock_t gate; /* held by the writer, and by a queued reader on its way in */
    struct lockdep_map dep_map;
};

#define __RWSEM_INITIALIZER(lockname) \
    { 0, __RAW_SPIN_LOCK_UNLOCKED(lockname), { #lockname, 0 } }
#define DECLARE_RWSEM(name) struct rw_semaphore name = __RWSEM_INITIALIZER(name)

KM_C_BEGIN
void kmirror_init_rwsem(struct rw_semaphore *sem, const char *name, struct lock_class_key *key);

/* down_read() - Enter as a reader. Context: may sleep; does not nest around a waiting writer. */
void down_read(struct rw_semaphore *sem);
/* down_read_trylock() - 1 if entered; 0 if a writer has or wants it. */
int down_read_trylock(struct rw_semaphore *sem);
void up_read(struct rw_semaphore *sem);

/* down_write() - Enter alone. */
void down_write(struct rw_semaphore *sem);
void down_write_nested(struct rw_semaphore *sem, int subclass);
/* down_write_trylock() - 1 if entered; 0 if anybody is inside or queued. */
int down_write_trylock(struct rw_semaphore *sem);
void up_write(struct rw_semaphore *sem);

/* downgrade_write() - The writer becomes a reader; nobody writes in between. */
void downgrade_write(struct rw_semaphore *sem);
int rwsem_is_locked(struct rw_semaphore *sem);
KM_C_END

#define down_read_nested(sem, subclass) ((void)(subclass), down_read(sem))
#define down_write_killable(sem) (down_write(sem), 0)
#define down_read_killable(sem) (down_read(sem), 0)
#define init_rwsem(sem)                                 \
    do {                                                \
        static struct lock_class_key km_class_key;      \
        kmirror_init_rwsem((sem), #sem, &km_class_key); \
    } while (0)

#endif /* KMIRROR_LINUX_RWSEM_H */
