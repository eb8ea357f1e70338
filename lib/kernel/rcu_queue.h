// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/rcu_queue.h: queues of RCU callbacks, linked through their heads.
//
// A queue is its newest head; anyone pushes, without a lock, and whoever takes the whole chain owns it.
#pragma once

#include <linux/types.h>

#include <atomic>

namespace kmirror::kernel {

// Readers may still look at the object that is on its way out, and a head may lie over words they read (a
// maple node's pivots): what is written before the grace period ends is written as single words.
template <class Word>
void head_write(Word &word, Word value)
{
    __atomic_store_n(&word, value, __ATOMIC_RELAXED);
}

// Newest first to oldest first.
inline rcu_head *reversed(rcu_head *newest)
{
    rcu_head *list = nullptr;
    while (newest != nullptr) {
        rcu_head *const older = newest->next;
        head_write(newest->next, list);
        list = newest;
        newest = older;
    }
    return list;
}

// True if the queue was empty. seq_cst: see (Q1) in rcu_callback.cpp; also the release of (Q3) and (S1).
inline bool push(std::atomic<rcu_head *> &queue, rcu_head *head)
{
    rcu_head *newest = queue.load(std::memory_order_relaxed);
    do
        head_write(head->next, newest);
    while (!queue.compare_exchange_weak(newest, head, std::memory_order_seq_cst));
    return newest == nullptr;
}

// Runs the chain, oldest first as it is linked. How many there were.
inline unsigned long run_chain(rcu_head *head)
{
    unsigned long count = 0;
    for (; head != nullptr; ++count) {
        rcu_head *const next = head->next;   // the callback may free head
        head->func(head);
        head = next;
    }
    return count;
}

}  // namespace kmirror::kernel
