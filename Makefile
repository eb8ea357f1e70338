# SPDX-License-Identifier: GPL-2.0-only
#
# Every entry to kmirror. `make` alone lists them.
#
# What is built lands in O (default build/): libkmirror.a, libkmirror.so and kmirror of the last `make all`,
# and one folder per sanitizer (none, address, thread) with the objects, so that switching costs no rebuild.
# A change of compiler or flags within a folder rebuilds it: tools/make/build.mk, flags.stamp.

# ---- variables, their defaults, and what they may be -----------------------------------------------------

O       ?= build
RELEASE ?= 0
FAULTS  ?= 1
WERROR  ?= 0
DEPS    ?= 1
V       ?= 0
PREFIX  ?= /usr/local
FILTER  ?=
TESTS   ?=
ARGS    ?=
KDIR    ?=
IMPL    ?= ours
DEBUG_TREE ?= 1
WHITEBOX ?= 0
CMOCKA  ?=
AREA    ?=
ID      ?=
TARGET  ?= maple_store_fuzz
TIME    ?= 60
FORK    ?= 0
OPS     ?= 100000
SEED    ?= 1
FILES   ?=
HUNT    ?=
BASE    ?=
HEAD    ?=
REPO    ?=
KMIRROR_PAGE_SHIFT ?= 12

BITS    ?= 64

SAN_DEFAULT := $(if $(filter check check-unit check-generations check-capi tests,$(MAKECMDGOALS)),address,none)
SAN ?= $(SAN_DEFAULT)

include tools/make/flags.mk

.PHONY: help deps all lib tests fuzz check check-unit check-generations check-kernel check-instrumentable check-fastpath mutate stress contention soak sweep bench bench-faults bench-instructions install clean
.DEFAULT_GOAL := help

help:
	@echo 'make deps                   install the missing Debian 12 packages, and say which'
	@echo 'make all                    libkmirror.a, libkmirror.so and the command kmirror, left in O'
	@echo 'make check                  every test, under the address and undefined-behaviour sanitizers'
	@echo 'make check SAN=thread       the concurrent tests, under the thread sanitizer'
	@echo 'make check-unit             the GoogleTest part of check alone'
	@echo 'make check-generations      slab/ in each generation, with debugging and without: a table; also SAN=thread'
	@echo 'make check-kernel KDIR=     the kernel'"'"'s own tests of the maple tree, unmodified, on this library'
	@echo 'make check KDIR= IMPL=kernel   this project'"'"'s tests on the tree'"'"'s own lib/maple_tree.c and mm/slub.c'
	@echo 'make diff KDIR= OPS= SEED=  random and recorded sequences on this maple tree and the tree'"'"'s own at once'
	@echo 'make matrix KDIR=           tests (ours, the kernel'"'"'s) x tree and allocator (ours, the kernel'"'"'s)'
	@echo 'make ab RELEASE=1 BASE= HEAD=   the maple trees of two kernels (REPO=: of two revisions) measured in turn'
	@echo 'make check-cmocka           cmocka'"'"'s own tests on the real library and on ours, verdict by verdict'
	@echo 'make kernel-slabinfo KDIR=  the kernel'"'"'s own slabinfo on caches that SYSFS= (kmirror stress --sysfs) shows'
	@echo 'make check-fiu              fiu-ctrl makes allocations of a running stress fail (fiu-utils)'
	@echo 'make check-instrumentable   lib/maple_tree and lib/slub can run in virtual time, by both compilers'
	@echo 'make check-fastpath         alloc and free of a thread alone: no call, no atomic, by both compilers'
	@echo 'make mutate                 put old bugs back, one by one: does a test find each? AREA=slab ID=S25'
	@echo 'make stress                 allocator and tree under load; ARGS= goes to kmirror stress'
	@echo 'make fuzz TARGET= TIME=     a fuzz target for TIME seconds (clang); FORK=N: in N processes; fuzz/README.md'
	@echo 'make fuzz-smoke             every fuzz target for 30 s, two at a time; fuzz-minimise TARGET=: its corpus'
	@echo 'make contention             list_lock and barn lock by generation and sheaf capacity; ARGS= as there'
	@echo 'make contention KDIR= IMPL=kernel   the same of the allocator alone, beside the tree'"'"'s own mm/slub.c'
	@echo 'make soak                   random workloads, threads, failures, CPUs off and on, for 20 minutes; ARGS= as there'
	@echo 'make explore                interleavings of small scenarios, with races; ARGS="scenario=tree schedules=10000"'
	@echo 'make published              published figures of these allocators beside those of the simulated machines'
	@echo 'make sweep                  each allocation of each call fails in turn; ARGS= goes to kmirror sweep'
	@echo 'make bench RELEASE=1        ns per operation beside the trees of KDIR=, three maps and four allocators; ARGS="--only slab"'
	@echo 'make bench-instructions     instructions per operation by callgrind, of the tree (KDIR= as there) or AREA=slab'
	@echo 'make bench-faults           the allocation pair with fault points compiled in and off, and without them'
	@echo 'make install PREFIX=        headers, libraries, pkg-config file and command; DESTDIR= is put in front'
	@echo 'make compile_commands.json  for clangd and clang-tidy'
	@echo 'make clean                  remove what was built in O'
	@echo
	@echo 'O=build          folder for everything that is built'
	@echo 'SAN=none         address (with undefined) | thread | none; check takes address when not told'
	@echo 'RELEASE=0        1: no asserts, no statistics, no faults'
	@echo 'FAULTS=1         0: failure points compiled out'
	@echo 'FILTER=          GoogleTest filter, for check: FILTER='"'"'Slab*:*Rcu*-*Slow*'"'"
	@echo 'CXX=g++ CC=gcc   or clang++ and clang; giving one of the two is enough'
	@echo 'KDIR=            a kernel tree, or Debian'"'"'s linux-source .tar.xz, for check-kernel'
	@echo 'IMPL=ours        kernel: check, check-kernel and contention run on the maple tree and the allocator of KDIR'
	@echo 'DEBUG_TREE=1     0: with IMPL=kernel, without CONFIG_DEBUG_MAPLE_TREE'
	@echo 'WHITEBOX=0       1: check-kernel also runs the white-box suite and tools/testing/vma, of a 7.3 tree'
	@echo 'CMOCKA=          a source tree of cmocka for check-cmocka; else Debian'"'"'s source package is fetched'
	@echo 'KMIRROR_PAGE_SHIFT=12   14 and 16 give pages of 16 and 64 KiB'
	@echo 'BITS=64          32: tree, allocator, environment and their tests for 32 bit (lib, tests, check, check-kernel)'
	@echo 'WERROR=0         1: warnings are errors'
	@echo 'TESTS=           build only these test sources: TESTS='"'"'slab/*_test.cpp'"'"
	@echo 'DEPS=1           0: do not look for missing packages'
	@echo 'V=0              1: show the commands'

deps:
	@BITS=$(BITS) tools/make/deps

include tools/make/build.mk
include tools/make/cmocka.mk
include tools/make/fuzz.mk
include tools/make/check.mk
include tools/make/sim.mk
include tools/make/install.mk

clean:
	$(Q)rm -rf $(addprefix $(O)/,none address thread fuzz fuzz-corpus instrumented fastpath faults-0 faults-1)
	$(Q)rm -f $(addprefix $(O)/,libkmirror.a libkmirror.so libkmirror-cmocka.a kmirror kmirror-sim)
	$(Q)rmdir $(O) 2>/dev/null || true
