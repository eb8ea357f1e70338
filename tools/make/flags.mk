# SPDX-License-Identifier: GPL-2.0-only
#
# From the variables of the Makefile to compiler flags: checks every value, then computes
#   B                  the folder of this sanitizer's objects
#   CPPFLAGS_ALL       include paths and KMIRROR_ switches
#   flags-for          the flags of one source file, by its folder
#   LIB_LIBS ...       what the library, the tests, the command and the benchmarks link
# A wrong value ends make with one line and exit status 2 before anything is written.

BUILDING := $(filter all lib tests sim explore published fuzz-programs check% kernel-% stress contention soak sweep bench bench-faults bench-instructions install \
                     compile_commands.json instrumented plain-lib $(O)/%,$(MAKECMDGOALS))

# Beside a kernel's tree.
BUILDING += $(filter diff ab,$(MAKECMDGOALS))

# ---- bad input -------------------------------------------------------------------------------------------

KNOWN := O SAN RELEASE FAULTS WERROR DEPS V PREFIX DESTDIR FILTER TESTS ARGS KDIR IMPL DEBUG_TREE SYSFS WHITEBOX BITS CMOCKA \
         CXX CC \
         AREA ID TARGET TIME FORK OPS SEED FILES HUNT BASE HEAD REPO \
         CXXFLAGS CFLAGS CPPFLAGS LDFLAGS \
         CCACHE AR NM OBJDUMP READELF MAKEFLAGS SHELL
GIVEN := $(foreach v,$(filter-out KMIRROR_%,$(.VARIABLES)), \
           $(if $(filter command,$(firstword $(origin $v))),$v))
UNKNOWN := $(filter-out $(KNOWN),$(GIVEN))
ifneq ($(UNKNOWN),)
$(error $(firstword $(UNKNOWN))= is no variable of this build; `make help` lists them)
endif

# one-of NAME, allowed values: exactly one of them, or the end.
one-of = $(if $(and $(filter 1,$(words $($1))),$(filter $2,$($1))),, \
           $(error $1=$($1) is not possible; $1 is one of: $2))
$(call one-of,SAN,none address thread fuzz extern)
$(call one-of,RELEASE,0 1)
$(call one-of,FAULTS,0 1)
$(call one-of,WERROR,0 1)
$(call one-of,DEPS,0 1)
$(call one-of,V,0 1)
$(call one-of,BITS,32 64)
$(call one-of,WHITEBOX,0 1)
$(call one-of,IMPL,ours kernel)
$(call one-of,DEBUG_TREE,0 1)
$(call one-of,KMIRROR_PAGE_SHIFT,12 14 16)
ifneq ($(words $(O)),1)
$(error O=$(O) is not possible; O names one folder, without blanks)
endif
ifneq ($(filter $(abspath $(O)),/ $(abspath .) $(abspath $(wildcard *))),)
ifneq ($(abspath $(O)),$(abspath build))
$(error O=$(O) is not possible; O is a folder of its own, not / and not one of the sources)
endif
endif

ifneq ($(filter install,$(MAKECMDGOALS)),)
ifneq ($(words $(PREFIX))$(filter-out /%,$(PREFIX)),1)
$(error PREFIX=$(PREFIX) is not possible; PREFIX is an absolute path without blanks)
endif
endif

ifneq ($(filter check-kernel diff matrix,$(MAKECMDGOALS))$(filter kernel,$(IMPL)),)
ifeq ($(wildcard $(KDIR)),)
$(error KDIR=$(KDIR) is not there; KDIR is a kernel tree, or a linux-*.tar.xz)
endif
endif

NARROW := $(filter 32,$(BITS))
ONLY_64 := $(filter all stress contention soak bench bench-faults install check-instrumentable check-fastpath compile_commands.json,$(MAKECMDGOALS))
ifneq ($(and $(NARROW),$(ONLY_64)),)
$(error BITS=32 is not possible for $(firstword $(ONLY_64)); it is for lib, tests, check and check-kernel)
endif

Q := $(if $(filter 1,$(V)),,@)

# ---- packages, tools -------------------------------------------------------------------------------------

# Before pkg-config is asked anything: a fresh machine has none of the packages yet.
ifneq ($(BUILDING),)
ifeq ($(DEPS)$(MAKELEVEL),10)
ifeq ($(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS)))),)
$(shell BITS=$(BITS) tools/make/deps >&2)
ifneq ($(.SHELLSTATUS),0)
$(error packages are missing, see above; DEPS=0 goes on without them)
endif
# The allocators and maps to compare with are no must: a row of the table says which is not installed.
$(if $(filter bench bench-instructions,$(MAKECMDGOALS)),$(shell tools/make/deps tools/make/packages-bench >&2))
endif
endif
endif

# One of CXX and CC is enough; clang++-14 goes with clang-14.
CXX_GIVEN := $(filter-out default undefined,$(origin CXX))
CC_GIVEN  := $(filter-out default undefined,$(origin CC))
ifeq ($(CXX_GIVEN),)
CXX := $(if $(CC_GIVEN),$(subst gcc,g++,$(subst clang,clang++,$(CC))),g++)
endif
ifeq ($(CC_GIVEN),)
CC := $(subst g++,gcc,$(subst clang++,clang,$(CXX)))
endif
ifneq ($(BUILDING),)
CXX_VERSION := $(firstword $(shell $(CXX) -dumpfullversion 2>/dev/null; $(CXX) -dumpversion 2>/dev/null))
ifeq ($(CXX_VERSION),)
$(error CXX=$(CXX) is not possible; CXX is a C++20 compiler: g++ 12 or clang++ 14, or newer)
endif
ifeq ($(shell $(CC) -dumpversion 2>/dev/null),)
$(error CC=$(CC) is not possible; CC is a C11 compiler: gcc 12 or clang 14, or newer)
endif
IS_CLANG := $(findstring clang,$(shell $(CXX) --version 2>/dev/null))
MACHINE  := $(shell $(CXX) -dumpmachine)
CCACHE ?= $(shell command -v ccache 2>/dev/null)
endif
# The precompiled gtest header and -MMD paths do not change what is compiled.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros

# All cores, unless the caller says otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif
MAKEFLAGS += --no-print-directory

# ---- flags -----------------------------------------------------------------------------------------------

B := $(O)/$(SAN)$(if $(NARROW),-32)

SWITCHES := $(if $(filter 0,$(FAULTS)),-DKMIRROR_FAULTS=0) \
            $(if $(filter 1,$(RELEASE)),-DKMIRROR_RELEASE=1 -DNDEBUG) \
            $(if $(filter-out 12,$(KMIRROR_PAGE_SHIFT)),-DKMIRROR_PAGE_SHIFT=$(KMIRROR_PAGE_SHIFT))
CPPFLAGS_ALL := -I. -Iinclude $(if $(NARROW),-Ilib/plain/include) $(SWITCHES) $(CPPFLAGS)

CXXSTD := -std=c++20
CSTD   := -std=gnu11
ARCHFLAGS := $(if $(NARROW),-m32 -march=i686 -msse2 -mfpmath=sse,$(if $(filter x86_64%,$(MACHINE)),-mcx16))
BASEFLAGS := -g -fno-omit-frame-pointer -fPIC -pthread -Wall -Wextra \
             $(if $(filter 1,$(WERROR)),-Werror) $(ARCHFLAGS)

OPT_none    := -O2
OPT_address := -O1
OPT_thread  := -O1
OPT_fuzz    := -O2
SAN_none    :=
# gcc's null check of a thread-local address tests the flags of an add that the linker turns into a lea,
# which sets none: it reports at random. The address sanitizer sees accesses through a null pointer anyway.
SAN_address := -fsanitize=address,undefined -fno-sanitize=vptr $(if $(IS_CLANG),,-fno-sanitize=null) \
               -fno-sanitize-recover=undefined
SAN_fuzz    := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined
SAN_thread  := -fsanitize=thread $(if $(IS_CLANG),,-Wno-tsan)
# Everything comes from outside, with the engine: fuzz/oss-fuzz/build.sh.
SAN_extern  := $(EXTERN_CXXFLAGS)
# Test sources are many and each is short: compile time counts, not theirs. What they test has the flags
# above.
TESTOPT  := $(if $(filter none,$(SAN)),-O1,-O0)
SANFLAGS := $(SAN_$(SAN))
OPTFLAGS := $(OPT_$(SAN))

# The mirrored code: no exceptions, no run-time types, no guarded statics.
KERNEL_CODE := -fno-exceptions -fno-rtti -fno-threadsafe-statics
# Each command-line or JSON library stays in one file, which no sanitizer needs to see.
VERSION := 0.1.0
UNSANITISED := tools/kmirror/options.cpp tools/kmirror/json.cpp lib/cmocka/report.cpp

# flags-for SOURCE: what this folder or file adds. lib/slub reads free objects, as the kernel's slub.c does
# (there KASAN_SANITIZE_slub.o is n), so the address sanitizer does not watch it.
flags-for = $(strip $(if $(filter $(UNSANITISED),$1),-O1, \
              $(if $(filter %_test.cpp pch,$1),$(TESTOPT),$(OPTFLAGS)) $(SANFLAGS)) \
            $(if $(filter lib/maple_tree/% lib/slub/% lib/mm/%,$1),$(if $(filter %_test.cpp,$1),,$(KERNEL_CODE))) \
            $(if $(filter tools/kmirror/options.cpp,$1),-DKMIRROR_VERSION='"$(VERSION)"') \
            $(if $(filter tools/kmirror/results.cpp,$1),-DKMIRROR_COMMIT_HEADER='"$(abspath $(B))/commit.h"') \
            $(if $(and $(filter lib/slub/%,$1),$(filter address fuzz,$(SAN))$(EXTERN_ASAN)), \
              -fno-sanitize=address -DKMIRROR_ASAN=1))

cxx-command = $(CXX) $(CXXSTD) $(BASEFLAGS) $(CPPFLAGS_ALL) $(call flags-for,$1) $(CXXFLAGS)
c-command   = $(CC) $(CSTD) $(BASEFLAGS) $(CPPFLAGS_ALL) $(call flags-for,$1) $(CFLAGS)

# ---- libraries -------------------------------------------------------------------------------------------

# Builds of 32 bit have a liburcu of their own, lib/plain instead of libfiu, hwloc and libdw, and GoogleTest
# from its source package.
GTEST_SRC  := /usr/src/googletest
NARROW_PKG := $(if $(NARROW),PKG_CONFIG_LIBDIR=/usr/lib/i386-linux-gnu/pkgconfig)

ifneq ($(BUILDING),)
pkg = $(shell $(NARROW_PKG) pkg-config --libs $1 2>/dev/null)
LIB_LIBS   := $(call pkg,liburcu-memb $(if $(NARROW),,libfiu hwloc libdw)) -ldl
ifeq ($(NARROW),)
FMT_LIBS   := $(call pkg,fmt)
TBB_LIBS   := $(call pkg,tbb)
TEST_LIBS  := $(call pkg,gmock gtest) $(TBB_LIBS) $(FMT_LIBS) -lboost_context
BENCH_LIBS := $(call pkg,benchmark)
ABSL_LIBS  := $(call pkg,absl_btree)
endif
endif
LDFLAGS_ALL := -pthread -rdynamic -Wl,--as-needed $(if $(NARROW),-m32) $(LDFLAGS)
