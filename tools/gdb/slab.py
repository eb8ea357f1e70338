# SPDX-License-Identifier: GPL-2.0-only
#
# gdb printers for lib/slub: a slab, a sheaf, a barn, a node and a cache as one line each, with what they hold
# as children; and two commands.
#
#   (gdb) print *slab
#   $1 = slab of kmalloc-64 at 0x7f...: 12 of 64 objects in use, on the partial list
#   (gdb) kmirror-caches            every cache, one a line
#   (gdb) kmirror-cache kmalloc-64  its sheaves, barns and partial lists
#
# They read memory only and call nothing, so they work on a core file as well. What is damaged is shown as it
# is; a list is followed for LIST_MAX links at most.

import gdb
import gdb.printing

LIST_MAX = 10000
FROZEN_SHIFT, OBJECTS_SHIFT, OBJECTS_MASK, INUSE_MASK = 31, 16, 0x7FFF, 0xFFFF


def symbol(expression):
    return gdb.parse_and_eval(expression)


def cast_at(address, type_name):
    return gdb.Value(int(address)).cast(gdb.lookup_type(type_name).pointer())


def list_of(head, type_name, member):
    """The structs that are linked through `member`, from the list_head `head` (a value) on."""
    struct = gdb.lookup_type(type_name)
    offset = next(field.bitpos // 8 for field in flat_fields(struct) if field.name == member)
    start, at = int(head.address), head["next"]
    for _ in range(LIST_MAX):
        if int(at) in (0, start):
            return
        yield cast_at(int(at) - offset, type_name)
        at = at["next"]


class Placed:
    """A field of a struct, with its place even when it lies in an anonymous union."""

    def __init__(self, name, bitpos):
        self.name, self.bitpos = name, bitpos


def flat_fields(struct, base=0):
    for field in struct.fields():
        if not hasattr(field, "bitpos"):
            continue
        if field.name:
            yield Placed(field.name, base + field.bitpos)
        elif field.type.strip_typedefs().code in (gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_STRUCT):
            yield from flat_fields(field.type.strip_typedefs(), base + field.bitpos)


def cache_name(cache):
    return cache["name"].string() if int(cache) and int(cache["name"]) else "no cache"


def slab_start(slab):
    page = gdb.lookup_type("struct page").sizeof
    first = int(symbol("mem_map"))
    number = (int(slab.address) - first) // page
    return int(symbol("kmirror_arena_base")) + (number << int(symbol("kmirror_page_shift")))


class Counters:
    """The counter word of a slab, see lib/slub/slab_word.h."""

    def __init__(self, slab):
        raw = int(slab["word"]["counters"])
        self.inuse = raw & INUSE_MASK
        self.objects = raw >> OBJECTS_SHIFT & OBJECTS_MASK
        self.frozen = raw >> FROZEN_SHIFT & 1


class SlabPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        counters = Counters(self.value)
        place = "on the partial list" if int(self.value["on_partial"]) else \
            "a CPU's" if counters.frozen else \
            "full" if counters.inuse == counters.objects else "on no list"
        return "slab of %s at %#x: %d of %d objects in use, %s" % (
            cache_name(self.value["slab_cache"]), slab_start(self.value), counters.inuse, counters.objects,
            place)


class SheafPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        cache = self.value["cache"]
        capacity = int(cache["sheaf_capacity"]) if int(cache) else 0
        return "sheaf of %s: %d of %d objects" % (cache_name(cache), int(self.value["size"]), capacity)

    def children(self):
        for index in range(min(int(self.value["size"]), LIST_MAX)):
            yield "[%d]" % index, self.value["objects"][index]


class BarnPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "barn: %d full sheaves, %d empty" % (int(self.value["nr_full"]), int(self.value["nr_empty"]))

    def children(self):
        for kind in ("full", "empty"):
            sheaves = list_of(self.value["sheaves_" + kind], "struct slab_sheaf", "barn_list")
            for index, sheaf in enumerate(sheaves):
                yield "%s %d" % (kind, index), SheafPrinter(sheaf.dereference()).to_string()


class NodePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "node: %d slabs, %d of them partial, %d objects" % (
            int(self.value["nr_slabs"]["counter"]), int(self.value["nr_partial"]),
            int(self.value["total_objects"]["counter"]))

    def children(self):
        for index, slab in enumerate(list_of(self.value["partial"], "struct slab", "slab_list")):
            yield "partial %d" % index, SlabPrinter(slab.dereference()).to_string()


class CachePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "cache %s: objects of %d bytes, %d apart, %d in a slab of order %d, sheaves of %d" % (
            cache_name(self.value.address), int(self.value["object_size"]), int(self.value["size"]),
            int(self.value["oo"]["objects"]), int(self.value["oo"]["order"]),
            int(self.value["sheaf_capacity"]))


def printers():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("kmirror-slab")
    for name, printer in (("slab", SlabPrinter), ("slab_sheaf", SheafPrinter), ("node_barn", BarnPrinter),
                          ("kmem_cache_node", NodePrinter), ("kmem_cache", CachePrinter)):
        collection.add_printer(name, "^%s$" % name, printer)
    return collection


def all_caches():
    return list(list_of(symbol("kmirror::slub::slab_caches"), "struct kmem_cache", "list"))


def cpu_sheaves(cache, cpu):
    unit = 4 << 20  # PERCPU_UNIT_SIZE
    return cast_at(int(cache["cpu_sheaves"]) + cpu * unit, "struct slub_percpu_sheaves")


class CachesCommand(gdb.Command):
    """Lists every cache: name, object size, slabs, objects."""

    def __init__(self):
        super().__init__("kmirror-caches", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        for cache in all_caches():
            nodes = [node for node in self.nodes(cache)]
            print("%-20s %6d bytes %6d slabs %8d objects" % (
                cache_name(cache), int(cache["object_size"]),
                sum(int(node["nr_slabs"]["counter"]) for node in nodes),
                sum(int(node["total_objects"]["counter"]) for node in nodes)))

    @staticmethod
    def nodes(cache):
        for node in range(int(symbol("nr_node_ids"))):
            here = cache["per_node"][node]["node"]
            if int(here):
                yield here


class CacheCommand(gdb.Command):
    """Shows one cache: its CPUs' sheaves, its barns and partial lists. kmirror-cache NAME"""

    def __init__(self):
        super().__init__("kmirror-cache", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        found = [cache for cache in all_caches() if cache_name(cache) == argument.strip()]
        if not found:
            raise gdb.GdbError("no cache is called %s; kmirror-caches lists them" % argument.strip())
        cache = found[0]
        print(CachePrinter(cache.dereference()).to_string())
        self.show_cpus(cache)
        for node in range(int(symbol("nr_node_ids"))):
            self.show("node %d" % node, cache["per_node"][node]["barn"], BarnPrinter)
            self.show("node %d" % node, cache["per_node"][node]["node"], NodePrinter)

    @staticmethod
    def show_cpus(cache):
        if not int(cache["sheaf_capacity"]):
            return
        for cpu in range(int(symbol("nr_cpu_ids"))):
            sheaves = cpu_sheaves(cache, cpu)
            for place in ("main", "spare", "rcu_free"):
                if int(sheaves[place]):
                    shown = SheafPrinter(sheaves[place].dereference()).to_string()
                    print("  CPU %d %s: %s" % (cpu, place, shown))

    @staticmethod
    def show(where, pointer, printer):
        if not int(pointer):
            return
        shown = printer(pointer.dereference())
        print("  %s %s" % (where, shown.to_string()))
        for name, child in shown.children():
            print("    %s: %s" % (name, child))


gdb.printing.register_pretty_printer(None, printers(), replace=True)
CachesCommand()
CacheCommand()
