// SPDX-License-Identifier: GPL-2.0-only
//
// mas_find() and its kin: the first call answers for the range under the cursor, the following ones step.
//
// As in iterate.cpp a setup brings the cursor onto a range, and often has the answer already:
//
//   status         find                                  find_rev
//   active         step                                  step
//   start          look up: the range itself ...         look up: the range itself ...
//   pause          the same, behind the last range       the same, before it
//   none           the same, from `last`                 the same, from `index`
//   overflow       look up: the range itself ...         stand there again, step
//   underflow      look up: the range itself ...         stand there again, step
//   root           nothing above                         nothing below
//   error          NULL
//
// "..." unless it is NULL: then step. A limit that is met leaves ma_overflow (ma_underflow), but mas_find()
// hides it.
//
// Owns     nothing; the cursor is the caller's.
// Locking  the caller's lock or read section.
// Fails    never.
#include "lib/maple_tree/walk.h"

using namespace kmirror::maple;

namespace {

// Answered: the call returns *entry. Look: look the index up. Stands: the cursor has been placed. Step: and
// may step.
enum class Setup { Answered, Look, Stands, Step };

Setup answer_unless_null(void *entry) { return entry ? Setup::Answered : Setup::Stands; }

// Back onto the range of an exhausted cursor, whose entry is the answer of a search in the other direction.
Setup look_again(ma_state *mas, void **entry)
{
    mas_may_activate(mas);
    *entry = mas_walk(mas);
    return answer_unless_null(*entry);
}

// ---- forward

// Where the search begins, by the cursor's status.
Setup find_begin(ma_state *mas, unsigned long max, void **entry)
{
    switch (mas->status) {
    case ma_start:
        return Setup::Look;
    case ma_pause:
        if (mas->last >= max)
            return Setup::Answered;
        mas->index = ++mas->last;
        return Setup::Look;
    case ma_none:
        if (mas->last >= max)
            return Setup::Answered;
        mas->index = mas->last;
        return Setup::Look;
    case ma_overflow:
        return mas->last >= max ? Setup::Answered : look_again(mas, entry);
    case ma_underflow:
        if (mas->index < max)
            return look_again(mas, entry);
        mas->status = ma_overflow;
        return Setup::Answered;
    case ma_error:
        return Setup::Answered;
    case ma_active:
    case ma_root:
        break;
    }
    return Setup::Stands;
}

[[gnu::noinline]] Setup find_setup_slow(ma_state *mas, unsigned long max, void **entry)
{
    Setup setup = find_begin(mas, max, entry);

    if (setup == Setup::Look) {
        mas->status = ma_start;
        if (mas->index > max)
            return Setup::Answered;
        *entry = mas_walk(mas);
        setup = answer_unless_null(*entry);
    }
    if (setup == Setup::Answered)
        return setup;

    if (mas_is_ptr(mas)) {
        mas->status = ma_none;
        mas->index = 1;
        mas->last = ULONG_MAX;
    }
    return mas_is_none(mas) || mas->index == max ? Setup::Answered : Setup::Step;
}

[[gnu::always_inline]] inline Setup find_setup(ma_state *mas, unsigned long max, void **entry)
{
    if (!mas_is_active(mas)) [[unlikely]]
        return find_setup_slow(mas, max, entry);
    return mas->last < max ? Setup::Step : Setup::Answered;
}

// ---- backward

Setup find_rev_begin(ma_state *mas, unsigned long min)
{
    switch (mas->status) {
    case ma_start:
        return Setup::Look;
    case ma_pause:
        if (mas->index <= min) {
            mas->status = ma_underflow;
            return Setup::Answered;
        }
        mas->last = --mas->index;
        return Setup::Look;
    case ma_none:
        if (mas->index <= min)
            return Setup::Answered;
        mas->last = mas->index;
        return Setup::Look;
    case ma_overflow:
    case ma_underflow:
        if (mas->index <= min) {
            mas->status = ma_underflow;
            return Setup::Answered;
        }
        // (U1) Without a node there is nothing to step from: look the range up, and pass it over.
        mas_may_activate(mas);
        if (mas_is_start(mas))
            mas_walk(mas);
        return Setup::Stands;
    case ma_error:
        return Setup::Answered;
    case ma_active:
    case ma_root:
        break;
    }
    return Setup::Stands;
}

Setup find_rev_look(ma_state *mas, unsigned long min, void **entry)
{
    mas->status = ma_start;
    if (mas->index < min)
        return Setup::Answered;
    *entry = mas_walk(mas);
    return answer_unless_null(*entry);
}

[[gnu::noinline]] Setup find_rev_setup_slow(ma_state *mas, unsigned long min, void **entry)
{
    Setup setup = find_rev_begin(mas, min);

    if (setup == Setup::Look)
        setup = find_rev_look(mas, min, entry);
    // In a tree without nodes the range before the one that was looked up is index 0.
    while (setup == Setup::Stands && mas_is_none(mas))
        setup = mas_take_root(mas, min, entry) ? Setup::Answered : find_rev_look(mas, min, entry);
    if (setup == Setup::Answered)
        return setup;

    if (mas_is_ptr(mas)) {
        mas->status = ma_none;
        return Setup::Answered;
    }
    return mas->index < min ? Setup::Answered : Setup::Step;
}

[[gnu::always_inline]] inline Setup find_rev_setup(ma_state *mas, unsigned long min, void **entry)
{
    if (!mas_is_active(mas)) [[unlikely]]
        return find_rev_setup_slow(mas, min, entry);
    return mas->index < min ? Setup::Answered : Setup::Step;
}

} // namespace

void *mas_find(struct ma_state *mas, unsigned long max)
{
    void *entry = nullptr;

    if (find_setup(mas, max, &entry) == Setup::Answered)
        return entry;
    entry = mas_next_slot(mas, max, false);
    // The search may go on with a larger limit.
    if (mas_is_overflow(mas))
        mas->status = ma_active;
    return entry;
}

void *mas_find_range(struct ma_state *mas, unsigned long max)
{
    void *entry = nullptr;

    if (find_setup(mas, max, &entry) == Setup::Answered)
        return entry;
    return mas_next_slot(mas, max, true);
}

void *mas_find_rev(struct ma_state *mas, unsigned long min)
{
    void *entry = nullptr;

    if (find_rev_setup(mas, min, &entry) == Setup::Answered)
        return entry;
    return mas_prev_slot(mas, min, false);
}

void *mas_find_range_rev(struct ma_state *mas, unsigned long min)
{
    void *entry = nullptr;

    if (find_rev_setup(mas, min, &entry) == Setup::Answered)
        return entry;
    return mas_prev_slot(mas, min, true);
}
