# SPDX-License-Identifier: GPL-2.0-only
#
# make check and its parts. tools/make/check runs the parts and adds up; each part prints `ok - name` lines.
# FILTER and TESTS narrow check to GoogleTest cases; SAN=thread runs the concurrent ones and nothing else.

CHECK_PARTS := unit $(if $(FILTER)$(TESTS)$(NARROW)$(filter thread,$(SAN)),, \
                      headers command install gdb instrumentable fastpath mutate cmocka sim explore)
REPLAY_SWITCHES := $(if $(NARROW),BITS=32) $(if $(filter 0,$(FAULTS)),FAULTS=0) $(if $(filter 1,$(RELEASE)),RELEASE=1) \
                   $(if $(filter-out 12,$(KMIRROR_PAGE_SHIFT)),KMIRROR_PAGE_SHIFT=$(KMIRROR_PAGE_SHIFT))
CHECK_ENV = O='$(O)' B='$(B)' SAN='$(SAN)' CXX='$(CXX)' CC='$(CC)' MAKE='$(MAKE)' FILTER='$(FILTER)' \
            REPLAY_SWITCHES='$(strip $(REPLAY_SWITCHES))' HEADER_RESULTS='$(HEADER_RESULTS)' \
            CAPI_PROGRAMS='$(CAPI_PROGRAMS)' \
            INSTRUMENTED='$(INSTRUMENTED)' INST_OBJS='$(INST_OBJS)' ENV_OBJS='$(ENV_OBJS)' \
            FAST_OBJS='$(FAST_OBJS)' \
            LIB_LIBS='$(LIB_LIBS)' NM='$(NM)' OBJDUMP='$(OBJDUMP)' READELF='$(READELF)'

check-unit: $(B)/kmirror-tests
	$(Q)$(CHECK_ENV) tools/make/check unit

ifeq ($(IMPL),ours)
check: $(B)/kmirror-tests $(if $(filter headers,$(CHECK_PARTS)),$(HEADER_RESULTS) instrumented fastpath plain-lib \
                          $(CMOCKA_PROGRAMS) $(CAPI_PROGRAMS))
	$(Q)$(CHECK_ENV) tools/make/check $(CHECK_PARTS)
else
check: check-impl check-impl-slab
endif

# The install test installs what `make all` builds, not the sanitized library.
.PHONY: plain-lib
plain-lib:
	+$(Q)$(if $(filter none,$(SAN)),:,$(MAKE) SAN=none FILTER= TESTS= all)

check-capi: $(CMOCKA_PROGRAMS) $(CAPI_PROGRAMS)
	$(Q)$(CHECK_ENV) tools/make/check cmocka

# ---- all generations of the allocator ---------------------------------------------------------------------

check-generations: $(B)/kmirror-tests
	$(Q)$(CHECK_ENV) tools/make/check-generations

# Needs fiu-utils; says so if it is not there.
.PHONY: check-fiu
check-fiu: all
	$(Q)$(CHECK_ENV) tools/testing/fiu-check

# ---- each public header alone ----------------------------------------------------------------------------

HEADERS := $(sort $(shell cd include && find . -name '*.h' -o -name '*.hpp' | sed 's,^\./,,'))
CXX_ONLY := kmirror/model.h %.hpp
HEADER_RESULTS := $(sort $(foreach h,$(filter-out $(CXX_ONLY),$(HEADERS)),$(B)/headers/$h.C11) \
                         $(foreach h,$(HEADERS),$(B)/headers/$h.C++20))

# The result is empty when the header compiles, else it holds the compiler's words and is old enough to be
# tried again.
header-alone = @mkdir -p $(@D); \
    printf '\#include <%s>\n' $* | $1 -Wall -Wextra -Wundef -Werror -Iinclude $(SWITCHES) \
        -fsyntax-only -MMD -MP -MT $@ -MF $@.d - >$@ 2>&1 || touch -d @0 $@
$(B)/headers/%.C11: include/% $(B)/flags.stamp
	$(call header-alone,$(CC) -std=c11 -x c)
$(B)/headers/%.C++20: include/% $(B)/flags.stamp
	$(call header-alone,$(CXX) -std=c++20 -x c++)
-include $(addsuffix .d,$(HEADER_RESULTS))

# ---- instrumented objects --------------------------------------------------------------------------------

# lib/maple_tree and lib/slub as the simulator will use them, by both compilers. The memory functions that a
# compiler brings in by itself (clang: an aggregate's initialisation) are led to lib/kernel's, which can
# report what they touch. check-instrumentable judges the objects; lib/kernel and lib/fault, as built
# anyway, say which symbols may be used.
INSTRUMENTED := $(O)/instrumented
INST_SRCS := $(filter lib/maple_tree/% lib/slub/%,$(LIB_SRCS))
INST_OBJS := $(foreach c,gcc clang,$(patsubst %,$(INSTRUMENTED)/$c/%.o,$(INST_SRCS)))
ENV_OBJS  := $(filter $(B)/obj/lib/kernel/% $(B)/obj/lib/fault/%,$(LIB_OBJS))
INST_FLAGS := -O2 -fno-pie -pthread -fsanitize=thread $(ARCHFLAGS) $(KERNEL_CODE) \
              -DKMIRROR_INSTRUMENTED=1 -I. -Iinclude $(SWITCHES) \
              -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset -fno-builtin-memcmp
INST_gcc   := $(if $(IS_CLANG),g++,$(CXX)) -Wno-tsan
INST_clang := $(if $(IS_CLANG),$(CXX),clang++)
REDIRECT   := $(foreach f,memcpy memmove memset memcmp,--redefine-sym $f=kmirror_$f)

define instrumented-rule
$(INSTRUMENTED)/$1/%.cpp.o: %.cpp $(B)/flags.stamp tools/make/check.mk
	$$(call say,INST,$$< ($1))
	@mkdir -p $$(@D)
	$(Q)$(CCACHE) $2 $(CXXSTD) $(INST_FLAGS) -MMD -MP -c $$< -o $$@
	$(Q)objcopy $(REDIRECT) $$@
endef
$(foreach c,gcc clang,$(eval $(call instrumented-rule,$c,$(INST_$c))))
-include $(patsubst %.o,%.d,$(INST_OBJS))

.PHONY: instrumented
instrumented: $(INST_OBJS) $(ENV_OBJS)
check-instrumentable: instrumented
	$(Q)$(CHECK_ENV) tools/make/check instrumentable

# ---- machine code of the fast path ------------------------------------------------------------------------

# The allocator's entry points as RELEASE=1 compiles them, by both compilers; check-fastpath reads their code.
FAST_OBJS := $(foreach c,gcc clang,$(patsubst %,$(O)/fastpath/$c/%.o,lib/slub/api.cpp lib/slub/kmalloc.cpp))
FAST_FLAGS := $(OPT_none) $(BASEFLAGS) $(KERNEL_CODE) -DKMIRROR_RELEASE=1 -DNDEBUG -I. -Iinclude

define fastpath-rule
$(O)/fastpath/$1/%.cpp.o: %.cpp $(B)/flags.stamp tools/make/check.mk
	$$(call say,FAST,$$< ($1))
	@mkdir -p $$(@D)
	$(Q)$(CCACHE) $2 $(CXXSTD) $(FAST_FLAGS) -MMD -MP -c $$< -o $$@
endef
$(foreach c,gcc clang,$(eval $(call fastpath-rule,$c,$(firstword $(INST_$c)))))
-include $(patsubst %.o,%.d,$(FAST_OBJS))

.PHONY: fastpath check-fastpath
fastpath: $(FAST_OBJS)
check-fastpath: fastpath
	$(Q)$(CHECK_ENV) tools/make/check fastpath

# ---- the kernel's own tests ------------------------------------------------------------------------------

KDIR_ENV = O='$(O)' B='$(B)' KDIR='$(KDIR)' IMPL='$(IMPL)' DEBUG_TREE='$(DEBUG_TREE)' WHITEBOX='$(WHITEBOX)' \
           BITS='$(BITS)' ARCHFLAGS='$(ARCHFLAGS)' CC='$(CC)' CXX='$(CXX)' NM='$(NM)' MAKE='$(MAKE)' \
           SANFLAGS='$(SANFLAGS)' CPPFLAGS='$(CPPFLAGS_ALL)' LDFLAGS='$(LDFLAGS_ALL)' FILTER='$(FILTER)' \
           LIBS='$(B)/libkmirror.a $(LIB_LIBS)'

check-kernel: $(B)/libkmirror.a
	+$(Q)$(KDIR_ENV) tools/kdir/check-kernel

# The tests of the tree, and what they are linked with; the kernel's tree takes the place of ours.
IMPL_OBJS = $(filter $(B)/obj/radix-tree-tests/%,$(CASE_OBJS)) $(filter-out $(CASE_OBJS),$(TEST_OBJS))
.PHONY: check-impl
check-impl: $(IMPL_OBJS) $(B)/libkmirror.a $(TEST_ARCHIVES)
	+$(Q)$(KDIR_ENV) OBJECTS='$(IMPL_OBJS) $(TEST_ARCHIVES)' LIBS='$(B)/libkmirror.a $(TEST_LIBS) $(LIB_LIBS)' \
	    tools/kdir/check-impl

# Tests of the allocator that only use the table of operations; the kernel's allocator takes the place of ours.
TABLE_TESTS = $(addprefix slab/,$(addsuffix _test.cpp,bulk barn concurrent concurrent_modes contents cpu ctor failure \
              geometry memory node prefill promises rcu sheaf shrink statistics))
IMPL_SLAB_OBJS = $(call objects,$(TABLE_TESTS)) $(filter-out $(CASE_OBJS),$(TEST_OBJS))
.PHONY: check-impl-slab
check-impl-slab: $(if $(filter check,$(MAKECMDGOALS)),check-impl) $(IMPL_SLAB_OBJS) $(B)/libkmirror.a $(TEST_ARCHIVES)
	+$(Q)$(KDIR_ENV) OBJECTS='$(IMPL_SLAB_OBJS) $(TEST_ARCHIVES)' LIBS='$(B)/libkmirror.a $(TEST_LIBS) $(LIB_LIBS)' \
	    tools/kdir/check-impl-slab

# Tests and implementations in all four pairs: tools/kdir/matrix.
.PHONY: matrix
matrix:
	+$(Q)B='$(B)' KDIR='$(KDIR)' WHITEBOX='$(WHITEBOX)' MAKE='$(MAKE)' tools/kdir/matrix

# Both trees in one process: tools/kdir/maple-diff.
DIFF_OBJS = $(call objects,$(sort $(wildcard tools/kdir/diff/*.cpp)) $(FUZZ_SHARED))
.PHONY: diff
diff: $(DIFF_OBJS) $(B)/libkmirror.a
	+$(Q)$(KDIR_ENV) OBJECTS='$(DIFF_OBJS)' OPS='$(OPS)' SEED='$(SEED)' FILES='$(FILES)' HUNT='$(HUNT)' \
	    tools/kdir/maple-diff

# Two kernels' maple trees in one program, measured in turn: tools/kdir/ab-build.
AB_OBJS = $(call objects,$(sort $(wildcard tools/kdir/ab/*.cpp)) tools/kmirror/lkp_table.cpp tools/kmirror/table.cpp)
.PHONY: ab
ab: $(AB_OBJS) $(B)/libkmirror.a
	+$(Q)$(KDIR_ENV) BASE='$(BASE)' HEAD='$(HEAD)' REPO='$(REPO)' ARGS='$(ARGS)' WORK='$(B)/kdir/ab' OBJECTS='$(AB_OBJS)' \
	    LIBS='$(B)/libkmirror.a $(FMT_LIBS) $(LIB_LIBS)' tools/kdir/ab-build
-include $(patsubst %.o,%.d,$(DIFF_OBJS) $(AB_OBJS))

# ---- mutations -------------------------------------------------------------------------------------------

mutate:
	+$(Q)O='$(O)' MAKE='$(MAKE)' CXX='$(CXX)' CC='$(CC)' \
	    tools/mutate/mutate $(if $(AREA),--area '$(AREA)') $(if $(ID),--id $(foreach i,$(ID),'$i'))

# ---- the kernel's own slabinfo ---------------------------------------------------------------------------

.PHONY: kernel-slabinfo
kernel-slabinfo: all
	$(Q)O='$(O)' B='$(B)' KDIR='$(KDIR)' SYSFS='$(SYSFS)' ARGS='$(ARGS)' CC='$(CC)' tools/kdir/slabinfo
