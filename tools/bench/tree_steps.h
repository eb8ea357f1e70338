/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loops of tree_loops.h, in C11 and C++20. Who includes this has defined before
 *   map_t
 *   map_load(map, index)                   the entry, or 0
 *   map_store(map, first, last, entry)     over whatever is there; entry 0 leaves nothing
 *   map_insert(map, first, last, entry)    true, or false: something is there
 *   map_erase(map, index)                  the whole range that holds the index; its entry, or 0
 *   map_find(map, &index)                  the first entry from index on, or 0; index moves behind its range
 *   map_each(map)                          sum of entry and first index of every entry
 * and, with TREE_HAS_GAPS, map_gap(map, min, max, size, down) (first index + 1, or 0) and
 * map_alloc(map, &first, max, size, entry, down). May be included several times, in different namespaces.
 */

static inline unsigned long step_random(unsigned long *state)
{
    *state = *state * 6364136223846793005UL + 1442695040888963407UL;
    return *state >> 32;
}

/* Below `bound`, which is below 2^32. */
static inline unsigned long step_below(unsigned long *state, unsigned long bound)
{
    return step_random(state) * bound >> 32;
}

static inline unsigned long step_mix(unsigned long sum, unsigned long value) { return (sum << 7 | sum >> 57) ^ value; }

/* ---- loads */

static uint64_t loop_load_random(void *map, struct tree_work *work)
{
    const unsigned long end = tree_layout_end(work->entries);
    unsigned long state = work->seed, sum = 0;

    for (size_t i = 0; i < work->steps; i++)
        sum = sum + map_load((map_t *)map, step_below(&state, end));
    return sum;
}

static uint64_t loop_load_chain(void *map, struct tree_work *work)
{
    const unsigned long end = tree_layout_end(work->entries);
    unsigned long state = work->seed;

    for (size_t i = 0; i < work->steps; i++)
        state += map_load((map_t *)map, step_below(&state, end));
    return state;
}

static uint64_t loop_find(void *map, struct tree_work *work)
{
    const unsigned long end = tree_layout_end(work->entries);
    unsigned long state = work->seed, sum = 0;

    for (size_t i = 0; i < work->steps; i++) {
        unsigned long index = step_below(&state, end);

        sum += map_find((map_t *)map, &index);
        sum += index;
    }
    return sum;
}

static uint64_t loop_each(void *map, struct tree_work *work)
{
    unsigned long sum = 0;

    for (size_t pass = 0; pass < work->steps; pass++)
        sum += map_each((map_t *)map);
    work->operations = work->steps * work->entries;
    return sum;
}

/* ---- stores */

static uint64_t loop_insert(void *map, struct tree_work *work)
{
    unsigned long sum = 0;

    for (size_t i = 0; i < work->entries; i++) {
        const size_t at = work->order[i];

        sum += map_insert((map_t *)map, tree_entry_first(at), tree_entry_last(at), tree_entry_value(at));
    }
    work->operations = work->entries;
    return sum;
}

static uint64_t loop_churn(void *map, struct tree_work *work)
{
    unsigned long state = work->seed, sum = 0;

    for (size_t i = 0; i < work->steps; i++) {
        const size_t at = step_below(&state, work->entries);

        sum = step_mix(sum, map_erase((map_t *)map, tree_entry_first(at)));
        sum += map_insert((map_t *)map, tree_entry_first(at), tree_entry_last(at), tree_entry_value(at));
    }
    work->operations = 2 * work->steps;
    return sum;
}

/* What one tenth of the steps erases, the next one inserts again: in the end the map is as it was. */
static uint64_t loop_mixed(void *map, struct tree_work *work)
{
    const unsigned long end = tree_layout_end(work->entries);
    unsigned long state = work->seed, sum = 0;
    size_t at = 0;

    for (size_t i = 0; i < work->steps; i++) {
        for (int load = 0; load < 9; load++)
            sum += map_load((map_t *)map, step_below(&state, end));
        if (i % 2) {
            sum += map_insert((map_t *)map, tree_entry_first(at), tree_entry_last(at), tree_entry_value(at));
        } else {
            at = step_below(&state, work->entries);
            sum = step_mix(sum, map_erase((map_t *)map, tree_entry_first(at)));
        }
    }
    work->operations = 10 * work->steps;
    return sum;
}

static uint64_t loop_span(void *map, struct tree_work *work)
{
    const unsigned long end = tree_layout_end(work->entries);
    unsigned long state = work->seed;

    for (size_t i = 0; i < work->steps; i++) {
        const unsigned long first = step_below(&state, end);

        map_store((map_t *)map, first, first + step_below(&state, 128), tree_entry_value(work->entries + i));
    }
    return 0;
}

static uint64_t loop_cover(void *map, struct tree_work *work)
{
    unsigned long state = work->seed;

    work->operations = 0;
    for (size_t i = 0; i < work->steps; i++) {
        const size_t from = step_below(&state, work->entries - 8);
        const size_t to = from + 1 + step_below(&state, 7);

        map_store((map_t *)map, tree_entry_first(from), tree_entry_last(to), tree_entry_value(work->entries + i));
        for (size_t at = from; at <= to; at++) {
            map_store((map_t *)map, tree_entry_first(at), tree_entry_last(at), tree_entry_value(at));
            if (at % 2 && at < to) {
                map_store((map_t *)map, tree_entry_last(at) + 1, tree_entry_first(at + 1) - 1, 0);
                work->operations++;
            }
        }
        work->operations += to - from + 2;
    }
    return 0;
}

#ifdef TREE_HAS_GAPS

/* ---- gaps */

static inline uint64_t loop_gap(map_t *map, struct tree_work *work, int down)
{
    const unsigned long end = tree_layout_end(work->entries);
    unsigned long state = work->seed, sum = 0;

    for (size_t i = 0; i < work->steps; i++) {
        const unsigned long size = work->least + step_below(&state, work->most - work->least + 1);
        const unsigned long from = step_below(&state, end - size);

        sum = step_mix(sum, down ? map_gap(map, 0, from + size, size, 1) : map_gap(map, from, end, size, 0));
    }
    return sum;
}

static uint64_t loop_gap_up(void *map, struct tree_work *work) { return loop_gap((map_t *)map, work, 0); }
static uint64_t loop_gap_down(void *map, struct tree_work *work) { return loop_gap((map_t *)map, work, 1); }

/* `live` holds a first index of each entry. */
static inline uint64_t loop_alloc(map_t *map, struct tree_work *work, int down)
{
    const unsigned long end = 2 * tree_layout_end(work->entries);
    unsigned long state = work->seed, sum = 0;

    for (size_t i = 0; i < work->steps; i++) {
        unsigned long *first = &work->live[step_below(&state, work->entries)];

        sum = step_mix(sum, map_erase(map, *first));
        map_alloc(map, first, end, 1 + step_below(&state, 16), tree_entry_value(i), down);
        sum = step_mix(sum, *first);
    }
    work->operations = 2 * work->steps;
    return sum;
}

static uint64_t loop_alloc_up(void *map, struct tree_work *work) { return loop_alloc((map_t *)map, work, 0); }
static uint64_t loop_alloc_down(void *map, struct tree_work *work) { return loop_alloc((map_t *)map, work, 1); }

/*
 * One step of a process's life: a mapping of 1 to 16 pages at the highest gap, half of it protected differently
 * (a split), four faults, now and then a heap that grows or shrinks, and a mapping that goes. `live` holds first
 * and last page of each mapping; one that is not mapped yet has last < first.
 */
static uint64_t loop_vma(void *map, struct tree_work *work)
{
    const unsigned long heap = 4096, low = 65536, high = 1UL << 35;
    unsigned long state = work->seed, sum = 0;

    for (size_t i = 0; i < work->steps; i++) {
        const unsigned long size = 1 + step_below(&state, 16);
        const unsigned long first = map_gap((map_t *)map, low, high, size, 1) - 1;
        const unsigned long last = first + size - 1;
        unsigned long *gone = &work->live[2 * step_below(&state, work->entries)];

        map_store((map_t *)map, first, last, tree_entry_value(2 * i));
        if (size > 1)
            map_store((map_t *)map, first + size / 2, last, tree_entry_value(2 * i + 1));
        for (int fault = 0; fault < 4; fault++)
            sum += map_load((map_t *)map, work->live[2 * step_below(&state, work->entries)]);
        if (i % 8 == 0) {
            const unsigned long top = heap + 1 + step_below(&state, 4096);

            map_store((map_t *)map, heap, top, tree_entry_value(0));
            map_store((map_t *)map, top + 1, heap + 8192, 0);
        }
        if (gone[1] >= gone[0])
            map_store((map_t *)map, gone[0], gone[1], 0);
        gone[0] = first;
        gone[1] = last;
        sum = step_mix(sum, first);
    }
    return sum;
}

#endif

static inline void fill_common_loops(struct tree_impl *impl)
{
    impl->loop[TREE_LOAD_RANDOM] = loop_load_random;
    impl->loop[TREE_LOAD_CHAIN] = loop_load_chain;
    impl->loop[TREE_INSERT] = loop_insert;
    impl->loop[TREE_CHURN] = loop_churn;
    impl->loop[TREE_MIXED] = loop_mixed;
    impl->loop[TREE_SPAN] = loop_span;
    impl->loop[TREE_COVER] = loop_cover;
    impl->loop[TREE_EACH] = loop_each;
    impl->loop[TREE_FIND] = loop_find;
#ifdef TREE_HAS_GAPS
    impl->loop[TREE_GAP_UP] = loop_gap_up;
    impl->loop[TREE_GAP_DOWN] = loop_gap_down;
    impl->loop[TREE_ALLOC_UP] = loop_alloc_up;
    impl->loop[TREE_ALLOC_DOWN] = loop_alloc_down;
    impl->loop[TREE_VMA] = loop_vma;
#endif
}
