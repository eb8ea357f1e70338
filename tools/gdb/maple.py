# SPDX-License-Identifier: GPL-2.0-only
"""gdb pretty printers of the maple tree.

    (gdb) print tree            struct maple_tree: kind, height, entries of the whole tree as children
    (gdb) print *node           struct maple_node: dead, the root, or the child of another
    (gdb) print enode           struct maple_enode *: the node's address, its type, and its slots
    (gdb) print mas             struct ma_state, by value or reference: status, range, node
    (gdb) kmirror-tree tree     the tree, drawn node by node

Words are decoded here and nowhere else in the debugger: node address in bits 8 and up, type in bits 3 to 6,
bit 1 of the root says "a node". Nothing is called in the program, so it works on a core file. A broken tree is
printed as far as it goes.
"""

import gdb
import gdb.printing

ULONG_MAX = (1 << 64) - 1
NODE_MASK = 255
DENSE, LEAF, RANGE, ARANGE = range(4)
TYPES = {DENSE: "dense", LEAF: "leaf", RANGE: "range", ARANGE: "arange"}
SLOTS = {DENSE: 31, LEAF: 16, RANGE: 16, ARANGE: 10}
MEMBERS = {LEAF: "mr64", RANGE: "mr64", ARANGE: "ma64"}
LOCKS = {0x000: "spinlock", 0x100: "irq lock", 0x200: "bh lock", 0x300: "external lock"}
MOST_NODES = 100000  # a cycle in a broken tree ends here


def number(value):
    return int(value) & ULONG_MAX


def is_internal(word):
    return word & 3 == 2


def is_node(word):
    return is_internal(word) and word > 4096


def span(first, last):
    return "%#x" % first if first == last else "%#x-%#x" % (first, last)


def entry_text(word):
    """An entry as a person names it."""
    if word == 0:
        return "NULL"
    if word & 1:
        return "value %d" % (word >> 1)
    if is_internal(word):
        return "zero entry" if word >> 2 == 257 else "reserved %#x" % word
    symbol, inside, _ = gdb.execute("info symbol %#x" % word, to_string=True).partition(" in section ")
    return "%#x <%s>" % (word, symbol) if inside else "%#x" % word


class Node:
    """A node behind an encoded pointer."""

    def __init__(self, enode):
        self.address = enode & ~NODE_MASK
        self.type = enode >> 3 & 15
        pointer = gdb.lookup_type("struct maple_node").pointer()
        self.node = gdb.Value(self.address).cast(pointer).dereference()

    @property
    def known(self):
        return self.type in MEMBERS

    @property
    def is_leaf(self):
        return self.type < RANGE

    @property
    def is_dead(self):
        return number(self.node["parent"]) & ~NODE_MASK == self.address

    def place(self):
        return place_of(self.address, number(self.node["parent"]))

    def slots(self, first, last):
        """(slot number, first, last, word, gap or None) up to the end of what the node covers."""
        body = self.node[MEMBERS[self.type]]
        count = SLOTS[self.type]
        for slot in range(count):
            pivot = number(body["pivot"][slot]) if slot < count - 1 else last
            if pivot == 0 and slot > 0:
                break
            word = number(body["slot"][slot])
            gap = number(body["gap"][slot]) if self.type == ARANGE else None
            yield slot, first, min(pivot, last), word, gap
            if pivot >= last:
                break
            first = pivot + 1

    def title(self):
        return "%s node %#x, %s" % (TYPES.get(self.type, "type %d" % self.type), self.address, self.place())


def place_of(address, parent):
    if parent & ~NODE_MASK == address:
        return "dead"
    if parent & 1:
        return "root of tree %#x" % (parent & ~1)
    return "slot %d of node %#x" % (parent >> 3 & 31, parent & ~NODE_MASK)


def walk(root):
    """(depth, Node, first, last) of every node, parents first."""
    left = MOST_NODES
    todo = [(0, root & ~2, 0, ULONG_MAX)]
    while todo and left:
        depth, enode, first, last = todo.pop()
        node = Node(enode)
        yield depth, node, first, last
        left -= 1
        if node.known and not node.is_leaf:
            below = [(depth + 1, word, low, high) for _, low, high, word, _ in node.slots(first, last) if word]
            todo.extend(reversed(below))


def entries(root):
    """(first, last, word) of everything stored."""
    if not is_node(root):
        if root:
            yield 0, 0, root
        return
    for _, node, first, last in walk(root):
        if node.known and node.is_leaf:
            yield from ((low, high, word) for _, low, high, word, _ in node.slots(first, last) if word)


class TreePrinter:
    def __init__(self, value):
        self.flags = int(value["ma_flags"])
        self.root = number(value["ma_root"])

    def to_string(self):
        words = ["allocation" if self.flags & 1 else "range"]
        words += ["RCU"] if self.flags & 2 else []
        words += [LOCKS[self.flags & 0x300]]
        return "maple tree (%s), height %d" % (", ".join(words), self.flags >> 2 & 31)

    def children(self):
        for first, last, word in entries(self.root):
            yield "[%s]" % span(first, last), entry_text(word)

    def display_hint(self):
        return None


class EnodePrinter:
    """A maple_enode pointer: address, type, slots. The indices a node covers are its parent's knowledge."""

    def __init__(self, value):
        self.word = number(value)

    def to_string(self):
        if self.word == 0:
            return "NULL"
        if is_internal(self.word) and self.word >> 2 > (1 << 62) - 4096:
            return "error %d" % ((self.word >> 2) - (1 << 62))
        return Node(self.word).title() + (", marked as the root" if self.word & 2 else "")

    def children(self):
        if self.word <= 4096 or self.word >> 63:
            return
        node = Node(self.word)
        if not node.known:
            return
        body, count = node.node[MEMBERS[node.type]], SLOTS[node.type]
        for slot in range(count):
            pivot = number(body["pivot"][slot]) if slot < count - 1 else None
            word = number(body["slot"][slot])
            # A small word in the last slot is more likely the metadata than an entry.
            if slot and (pivot == 0 or (pivot is None and word <= 4096)):
                break
            what = entry_text(word) if node.is_leaf else "node %#x" % (word & ~NODE_MASK)
            gap = ", gap %d" % number(body["gap"][slot]) if node.type == ARANGE else ""
            end = "to the end" if pivot is None else "to %#x" % pivot
            yield "[%d]" % slot, "%s: %s%s" % (end, what, gap)


class NodePrinter:
    """A maple_node by value. Its type is in the pointers to it, not in it; `print enode` shows the slots."""

    def __init__(self, value):
        self.address = number(value.address) if value.address is not None else 0
        self.parent = number(value["parent"])

    def to_string(self):
        return "maple node %#x, %s" % (self.address, place_of(self.address, self.parent))


class StatePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        at = self.value
        status = str(at["status"]).replace("ma_", "", 1)
        return "cursor %s at %s" % (status, span(number(at["index"]), number(at["last"])))

    def children(self):
        at = self.value
        yield "tree", at["tree"]
        yield "node", EnodePrinter(at["node"]).to_string()
        if str(at["status"]) == "ma_active":
            yield "covers", span(number(at["min"]), number(at["max"]))
            yield "slot", "%d of 0-%d" % (int(at["offset"]), int(at["end"]))
        yield "store_type", at["store_type"]
        if number(at["alloc"]) or number(at["sheaf"]) or number(at["node_request"]):
            yield "alloc", at["alloc"]
            yield "sheaf", at["sheaf"]
            yield "node_request", at["node_request"]


class TreeCommand(gdb.Command):
    """kmirror-tree EXPRESSION: draw a maple tree (or what a pointer to one points to), node by node."""

    def __init__(self):
        super().__init__("kmirror-tree", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError("kmirror-tree takes an expression: a struct maple_tree, or a pointer to one")
        tree = gdb.parse_and_eval(argument)
        if tree.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
            tree = tree.dereference()
        if tree.type.strip_typedefs().unqualified().tag != "maple_tree":
            raise gdb.GdbError("kmirror-tree: %s is no struct maple_tree" % argument)
        printer = TreePrinter(tree)
        print(printer.to_string())
        if not is_node(printer.root):
            print("  0: " + entry_text(printer.root) if printer.root else "  empty")
            return
        for depth, node, first, last in walk(printer.root):
            self.draw(depth, node, first, last)

    @staticmethod
    def draw(depth, node, first, last):
        indent = "  " * (depth + 1)
        print("%s%s: %s" % (indent, span(first, last), node.title()))
        if not node.known:
            return
        for slot, low, high, word, gap in node.slots(first, last):
            if node.is_leaf:
                print("%s  [%d] %s: %s" % (indent, slot, span(low, high), entry_text(word)))
            elif gap is not None:
                print("%s  [%d] %s: gap %d" % (indent, slot, span(low, high), gap))


class EnodePointers(gdb.printing.PrettyPrinter):
    """Chosen by what a pointer points to, which RegexpCollectionPrettyPrinter cannot ask."""

    def __init__(self):
        super().__init__("kmirror-maple-enode")

    def __call__(self, value):
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_PTR and kind.target().unqualified().tag == "maple_enode":
            return EnodePrinter(value)
        return None


def register(objfile):
    printers = gdb.printing.RegexpCollectionPrettyPrinter("kmirror-maple")
    printers.add_printer("maple_tree", "^maple_tree$", TreePrinter)
    printers.add_printer("maple_node", "^maple_node$", NodePrinter)
    printers.add_printer("ma_state", "^ma_state$", StatePrinter)
    gdb.printing.register_pretty_printer(objfile, printers, replace=True)
    gdb.printing.register_pretty_printer(objfile, EnodePointers(), replace=True)
    TreeCommand()


register(gdb.current_objfile())
