// SPDX-License-Identifier: GPL-2.0-only
//
// The packed words of the maple tree. Outside this file and maple_node.h nobody masks or shifts a pointer.
//
// Owns     three words: the encoded node (a slot of an inner node, ma_state.node), the root word (maple_tree.ma_root)
//          and the parent word (maple_node.parent).
// Locking  none; how a word may be loaded and stored stands in maple_node.h.
// Fails    never. The asserts only hold in builds that check (VM_BUG_ON).
#ifndef KMIRROR_LIB_MAPLE_TREE_MAPLE_ENODE_H
#define KMIRROR_LIB_MAPLE_TREE_MAPLE_ENODE_H

#include <linux/maple_tree.h>
#include <linux/mmdebug.h>
#include <linux/xarray.h>

#include <cstdint>

namespace kmirror::maple {

inline constexpr std::uintptr_t kNodeAddressMask = ~std::uintptr_t{MAPLE_NODE_MASK};

// The encoded node: a node's address with its type in the bits that 256-byte alignment frees.
//
//   63 ............ 8 | 7 | 6 ... 3 | 2 | 1 | 0
//   node address      | 0 |  type   | N | R | 0
//
//   N  some index below may be NULL. The kernel sets it in every node pointer and never clears it.
//   R  set in the root word only (see RootWord): "the root is a node", which xa_is_node() reads.
class EnodeWord {
public:
    static constexpr std::uintptr_t kNullBelow = 0x04;

    explicit EnodeWord(const maple_enode *enode) : raw_(reinterpret_cast<std::uintptr_t>(enode)) {}

    static EnodeWord pack(const maple_node *node, maple_type type)
    {
        const auto address = reinterpret_cast<std::uintptr_t>(node);
        VM_BUG_ON((address & MAPLE_NODE_MASK) != 0);
        return EnodeWord(address | std::uintptr_t(type) << MAPLE_NODE_TYPE_SHIFT | kNullBelow);
    }
    maple_enode *enode() const { return reinterpret_cast<maple_enode *>(raw_); }
    maple_node *node() const { return reinterpret_cast<maple_node *>(raw_ & kNodeAddressMask); }
    maple_type type() const { return maple_type(raw_ >> MAPLE_NODE_TYPE_SHIFT & MAPLE_NODE_TYPE_MASK); }

private:
    explicit EnodeWord(std::uintptr_t raw) : raw_(raw) {}
    std::uintptr_t raw_;
};

// The root word: NULL, the entry at index 0 if it is the only one and not tagged '10', or an encoded node with R set.
class RootWord {
public:
    static constexpr std::uintptr_t kRootIsNode = 0x02;

    static void *pack(const maple_enode *enode)
    {
        return reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(enode) | kRootIsNode);
    }
    static maple_enode *enode(const void *root)
    {
        return reinterpret_cast<maple_enode *>(reinterpret_cast<std::uintptr_t>(root) & ~kRootIsNode);
    }
};

// The parent word of a node.
//
//   63 ............ 8 | 7 ... 3 | 2 1 0
//   parent address    |  slot   | 1 1 0     child in slot `slot` of a 64-bit node
//   tree address                | . . 1     the root
//   this node's own address     | 0 0 0     dead: cut off the tree (also tagged with a slot while in a topiary list)
class ParentWord {
public:
    static constexpr std::uintptr_t kRoot = 0x01;
    static constexpr std::uintptr_t kRange64 = 0x06;
    static constexpr unsigned kSlotShift = 3;
    static constexpr std::uintptr_t kSlotMask = 0xF8;

    explicit ParentWord(const maple_pnode *parent) : raw_(reinterpret_cast<std::uintptr_t>(parent)) {}

    static ParentWord child_of(const maple_node *parent, unsigned slot)
    {
        const auto address = reinterpret_cast<std::uintptr_t>(parent);
        VM_BUG_ON((address & MAPLE_NODE_MASK) != 0 || slot > kSlotMask >> kSlotShift);
        return ParentWord(address | std::uintptr_t{slot} << kSlotShift | kRange64);
    }
    static ParentWord root_of(const maple_tree *tree)
    {
        return ParentWord(reinterpret_cast<std::uintptr_t>(tree) | kRoot);
    }
    static ParentWord dead(const maple_node *self) { return ParentWord(reinterpret_cast<std::uintptr_t>(self)); }

    maple_pnode *pnode() const { return reinterpret_cast<maple_pnode *>(raw_); }
    bool is_root() const { return (raw_ & kRoot) != 0; }
    maple_node *node() const { return reinterpret_cast<maple_node *>(raw_ & kNodeAddressMask); }
    unsigned slot() const { return is_root() ? 0 : unsigned((raw_ & kSlotMask) >> kSlotShift); }
    bool is_range64() const { return (raw_ & MAPLE_NODE_MASK & ~kSlotMask) == kRange64; }

private:
    explicit ParentWord(std::uintptr_t raw) : raw_(raw) {}
    std::uintptr_t raw_;
};

static_assert(sizeof(EnodeWord) == sizeof(void *) && sizeof(ParentWord) == sizeof(void *));
static_assert((std::uintptr_t{MAPLE_NODE_TYPE_MASK} << MAPLE_NODE_TYPE_SHIFT) < MAPLE_NODE_MASK,
              "the type lies below a node's alignment");
static_assert(ParentWord::kSlotMask >> ParentWord::kSlotShift >= MAPLE_RANGE64_SLOTS - 1, "every slot number fits");

// The kernel's names for these.
inline maple_node *mte_to_node(const maple_enode *enode) { return EnodeWord(enode).node(); }
inline maple_type mte_node_type(const maple_enode *enode) { return EnodeWord(enode).type(); }
inline maple_enode *mt_mk_node(const maple_node *node, maple_type type) { return EnodeWord::pack(node, type).enode(); }
inline void *mte_mk_root(const maple_enode *enode) { return RootWord::pack(enode); }
inline maple_enode *mte_safe_root(const void *root) { return RootWord::enode(root); }
constexpr bool ma_is_dense(maple_type type) { return type < maple_leaf_64; }
constexpr bool ma_is_leaf(maple_type type) { return type < maple_range_64; }
inline bool mte_is_leaf(const maple_enode *enode) { return ma_is_leaf(mte_node_type(enode)); }

// A value that only the tree itself may store: tagged '10' and below 4096.
inline bool mt_is_reserved(const void *entry)
{
    return reinterpret_cast<std::uintptr_t>(entry) < MAPLE_RESERVED_RANGE && xa_is_internal(entry);
}

} // namespace kmirror::maple

#endif
