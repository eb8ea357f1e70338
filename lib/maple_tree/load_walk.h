// SPDX-License-Identifier: GPL-2.0-only
//
// The walks of mtree_load() and mtree_load_batch() for one instruction set. load.cpp includes this once for each, in
// a namespace of its own, with
//   LOAD_SEARCH(here, index)   the search of node_search.h
//   LOAD_TARGET                the attribute of functions into which that is inlined
// Context, bounds, failure: see load.cpp.

// ---- one index

// From `enode` down to the entry at `index`. False: a node on the way was dead.
LOAD_TARGET [[gnu::always_inline]] inline bool load_below(const maple_tree *mt, const maple_enode *enode,
                                              unsigned long index, void **entry)
{
    for (;;) {
        const NodeView here(enode);
        *entry = mt_slot(mt, here.slots, LOAD_SEARCH(here, index));
        if (here.is_dead()) [[unlikely]]
            return false;
        if (here.is_leaf())
            return true;
        enode = static_cast<maple_enode *>(*entry);
        prefetch_node(enode);
    }
}

LOAD_TARGET [[gnu::always_inline]] inline void *load_index(const maple_tree *mt, unsigned long index)
{
    for (;;) {
        void *entry = mt_root(mt);
        if (!xa_is_node(entry)) [[unlikely]]
            return index == 0 ? entry : nullptr;
        if (load_below(mt, mte_safe_root(entry), index, &entry)) [[likely]]
            return entry;
    }
}

// ---- many indices

// `count` walks, level by level. All leaves lie equally deep, so they arrive together. False: a node was dead.
LOAD_TARGET [[gnu::always_inline]] inline bool load_group(const maple_tree *mt, const maple_enode *root,
                                              const unsigned long *indices, void **entries, unsigned count)
{
    const maple_enode *at[kGroup];
    for (unsigned i = 0; i < count; i++)
        at[i] = root;

    for (bool leaf = false; !leaf;) {
        leaf = mte_is_leaf(at[0]);
        for (unsigned i = 0; i < count; i++) {
            const NodeView here(at[i]);
            void *entry = mt_slot(mt, here.slots, LOAD_SEARCH(here, indices[i]));
            if (here.is_dead() || here.is_leaf() != leaf) [[unlikely]]
                return false;
            if (leaf) {
                entries[i] = hide_zero(entry);
            } else {
                at[i] = static_cast<const maple_enode *>(entry);
                prefetch_node(at[i]);
            }
        }
    }
    return true;
}

LOAD_TARGET [[gnu::always_inline]] inline void load_batch(const maple_tree *mt, const unsigned long *indices, void **entries,
                                              size_t count)
{
    for (size_t done = 0; done < count;) {
        const unsigned some = count - done < kGroup ? static_cast<unsigned>(count - done) : kGroup;
        const void *root = mt_root(mt);
        if (!xa_is_node(root) || !load_group(mt, mte_safe_root(root), indices + done, entries + done, some))
            for (unsigned i = 0; i < some; i++)
                entries[done + i] = hide_zero(load_index(mt, indices[done + i]));
        done += some;
    }
}

// AVX2 has no use for this one, see choose_load_paths().
LOAD_TARGET [[maybe_unused]] void *load(const maple_tree *mt, unsigned long index) { return load_index(mt, index); }

LOAD_TARGET void batch(const maple_tree *mt, const unsigned long *indices, void **entries, size_t count)
{
    load_batch(mt, indices, entries, count);
}

#undef LOAD_SEARCH
#undef LOAD_TARGET
