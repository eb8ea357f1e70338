# SPDX-License-Identifier: GPL-2.0-only
#
# Sources by wildcard, objects, libraries, the command, the test binary and the benchmarks.
#
#   lib/{kernel,fault,maple_tree,slub,mm}/*.cpp        libkmirror.a, libkmirror.so
#   tools/kmirror/*.cpp                                kmirror
#   slab/*.cpp, tools/sweep/*.cpp                      shared by tests and command; radix-tree-tests/*.cpp by tests
#   *_test.cpp there, in lib/{kernel,mm,sim,cmocka}/tests, tools/testing    kmirror-tests
#   tools/bench/*.cpp, tools/bench/tree_maple.c        kmirror-bench
#   lib/cmocka/*.cpp                                   libkmirror-cmocka.a (cmocka.mk)

LIB_SRCS   := $(sort $(wildcard $(addsuffix /*.cpp,$(addprefix lib/,kernel fault maple_tree slub mm))))
LOAD_SRCS  := $(sort $(filter-out %_test.cpp,$(wildcard slab/*.cpp tools/sweep/*.cpp)))
CMD_SRCS   := $(sort $(wildcard tools/kmirror/*.cpp) tools/testing/sanitizers.cpp lib/mm/tests/pages.cpp \
                $(filter-out fuzz/engine.cpp fuzz/replay.cpp fuzz/maple_diff_fuzz.cpp %_test.cpp,$(wildcard fuzz/*.cpp)))
CASE_SRCS  := $(sort $(if $(TESTS),$(wildcard $(TESTS)), \
                $(wildcard $(addsuffix /*_test.cpp,$(addprefix lib/,kernel/tests mm/tests sim/tests cmocka/tests) \
                                                   radix-tree-tests slab tools/sweep tools/testing fuzz))))
TEST_HELP  := $(sort $(filter-out %_test.cpp,\
                  $(wildcard lib/kernel/tests/*.cpp lib/mm/tests/*.cpp lib/sim/tests/*.cpp radix-tree-tests/*.cpp \
                             tools/testing/*.cpp)) \
                $(addprefix lib/sim/,engine.cpp coherence.cpp lines.cpp fiber.cpp machine.cpp explore.cpp strategy.cpp race.cpp) \
                $(filter-out fuzz/engine.cpp fuzz/replay.cpp fuzz/maple_diff_fuzz.cpp %_test.cpp,$(wildcard fuzz/*.cpp)) \
                $(addprefix tools/kmirror/,table.cpp json.cpp options.cpp contention_report.cpp lkp_table.cpp compare_table.cpp results.cpp \
                  report.cpp report_plot.cpp report_png.cpp stress_report.cpp) $(wildcard $(addprefix tools/kmirror/,slab*.cpp strace_*.cpp replay*.cpp)))
TEST_C     := $(sort $(wildcard lib/kernel/tests/*.c radix-tree-tests/*.c slab/*.c))
BENCH_SRCS := $(sort $(wildcard tools/bench/*.cpp tools/bench/*.c) $(addprefix tools/kmirror/,table.cpp json.cpp results.cpp) slab/implementation.cpp)

# 32 bit: what needs hwloc or libdw has a stand-in; the load of make stress and make sweep, and the tests
# of both, of debugging, of the command, of lib/mm and of cmocka's API stay away.
ifneq ($(NARROW),)
LIB_SRCS   := $(sort $(filter-out lib/mm/% lib/kernel/topology_hwloc.cpp lib/kernel/stacktrace.cpp,$(LIB_SRCS)) \
                $(wildcard lib/plain/*.cpp))
LOAD_SRCS  :=
CASE_SRCS  := $(filter-out slab/stress_test.cpp slab/contention_test.cpp slab/debug_% tools/testing/% tools/sweep/% fuzz/% lib/mm/% \
                lib/sim/% lib/cmocka/%,$(CASE_SRCS))
TEST_HELP  := $(filter-out tools/kmirror/% lib/mm/% lib/sim/% fuzz/%,$(TEST_HELP))
endif

objects = $(patsubst %,$(B)/obj/%.o,$1)
LIB_OBJS   := $(call objects,$(LIB_SRCS))
CMD_OBJS   := $(call objects,$(CMD_SRCS) $(LOAD_SRCS))
CASE_OBJS  := $(call objects,$(CASE_SRCS))
TEST_OBJS  := $(CASE_OBJS) $(call objects,$(TEST_HELP) $(LOAD_SRCS) $(TEST_C))
BENCH_OBJS := $(call objects,$(BENCH_SRCS))

# ---- stamps: a change of flags recompiles, a change of the list of files relinks -------------------------

ifneq ($(BUILDING),)
FLAGS_TEXT := $(CXX) $(CXX_VERSION) $(VERSION) $(KERNEL_CODE) $(CXXSTD) $(CC) $(CSTD) $(BASEFLAGS) \
              $(CPPFLAGS_ALL) $(OPTFLAGS) $(TESTOPT) $(SANFLAGS) $(CXXFLAGS) $(CFLAGS)
ifneq ($(strip $(file <$(B)/flags.stamp)),$(strip $(FLAGS_TEXT)))
$(shell mkdir -p $(B))
$(file >$(B)/flags.stamp,$(strip $(FLAGS_TEXT)))
endif
FILES_TEXT := $(LIB_SRCS) $(wildcard lib/cmocka/*.cpp) $(CMD_SRCS) $(LOAD_SRCS) $(CASE_SRCS) $(TEST_HELP) \
              $(TEST_C) $(BENCH_SRCS) $(LDFLAGS_ALL)
ifneq ($(strip $(file <$(B)/files.stamp)),$(strip $(FILES_TEXT)))
$(file >$(B)/files.stamp,$(strip $(FILES_TEXT)))
endif
endif

# ---- objects ---------------------------------------------------------------------------------------------

# Silent with make -s, and with V=1, where make prints the commands themselves.
SILENT = $(if $(filter 0,$(V)),$(findstring s,$(filter-out -%,$(firstword $(MAKEFLAGS)))),yes)
say = $(if $(SILENT),,@printf '  %-5s %s\n' $1 '$2')

$(B)/obj/%.cpp.o: %.cpp $(B)/flags.stamp
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(call cxx-command,$<) $(PCH_USE) -MMD -MP -c $< -o $@

$(B)/obj/%.c.o: %.c $(B)/flags.stamp
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(call c-command,$<) -MMD -MP -c $< -o $@

# What a result file says of the program that wrote it.
COMMIT := $(B)/commit.h
$(COMMIT): FORCE
	@mkdir -p $(@D)
	@printf '#define KMIRROR_COMMIT "%s"\n' "$$(git describe --always --dirty 2>/dev/null || echo unknown)" >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(B)/obj/tools/kmirror/results.cpp.o: $(COMMIT)

# gtest and gmock are parsed once. Test sources include them as usual, so they also compile without. -MD, because
# some of our headers are only reached through the host's (<signal.h>).
PCH := $(B)/pch/gtest.h
PCH_BIN := $(PCH)$(if $(IS_CLANG),.pch,.gch)
$(CASE_OBJS): PCH_USE = -include $(PCH)
$(CASE_OBJS): $(PCH_BIN)
$(PCH_BIN): tools/testing/gtest_pch.h $(B)/flags.stamp
	$(call say,PCH,$<)
	@mkdir -p $(@D)
	@printf '#include "tools/testing/gtest_pch.h"\n' >$(PCH)
	$(Q)$(CCACHE) $(call cxx-command,pch) -MD -MP -MF $(PCH).d -MT $@ -x c++-header -c $(PCH) -o $@

-include $(patsubst %.o,%.d,$(sort $(LIB_OBJS) $(CMD_OBJS) $(TEST_OBJS) $(BENCH_OBJS))) $(PCH).d

# ---- libraries and programs ------------------------------------------------------------------------------

$(B)/libkmirror.a: $(LIB_OBJS) $(B)/files.stamp
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(LIB_OBJS)

$(B)/libkmirror.so: $(LIB_OBJS) tools/make/libkmirror.map $(B)/files.stamp
	$(call say,LINK,$@)
	$(Q)$(CXX) -shared $(SANFLAGS) $(LDFLAGS_ALL) -Wl,-soname,libkmirror.so -Wl,-Bsymbolic-functions \
	    -Wl,--version-script=tools/make/libkmirror.map $(if $(filter none,$(SAN)),-Wl$(comma)-z$(comma)defs) \
	    -o $@ $(LIB_OBJS) $(LIB_LIBS)
comma := ,

# link PROGRAM, objects, libraries
link = $(CXX) $(SANFLAGS) $(LDFLAGS_ALL) -o $1 $2 $(B)/libkmirror.a $3 $(LIB_LIBS)

$(B)/kmirror: $(CMD_OBJS) $(B)/libkmirror.a $(B)/files.stamp
	$(call say,LINK,$@)
	$(Q)$(call link,$@,$(CMD_OBJS),$(TBB_LIBS) $(FMT_LIBS))

# GoogleTest's own objects, for 32 bit.
GTEST_OBJS := $(if $(NARROW),$(B)/gtest/gtest-all.o $(B)/gtest/gmock-all.o)
GTEST_INC  := $(foreach part,googletest googlemock,-isystem $(GTEST_SRC)/$(part)/include -I$(GTEST_SRC)/$(part))
$(B)/gtest/gtest-all.o: $(GTEST_SRC)/googletest/src/gtest-all.cc
$(B)/gtest/gmock-all.o: $(GTEST_SRC)/googlemock/src/gmock-all.cc
$(GTEST_OBJS): $(B)/flags.stamp
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CXX) $(CXXSTD) $(ARCHFLAGS) -O1 -g -fPIC -pthread $(GTEST_INC) -c $(filter %.cc,$^) -o $@

TEST_ARCHIVES := $(GTEST_OBJS) $(if $(NARROW),,$(B)/libkmirror-cmocka.a)
$(B)/kmirror-tests: $(TEST_OBJS) $(B)/libkmirror.a $(TEST_ARCHIVES) $(B)/files.stamp
	$(call say,LINK,$@)
	$(Q)$(call link,$@,$(TEST_OBJS) $(TEST_ARCHIVES),$(TEST_LIBS))

# Always linked: nobody knows what has changed in the trees that KDIR names.
$(B)/kmirror-bench: $(BENCH_OBJS) $(B)/libkmirror.a $(B)/files.stamp FORCE
	$(call say,LINK,$@)
	$(Q)KDIR='$(KDIR)' CC='$(CC)' CXX='$(CXX)' CPPFLAGS='$(CPPFLAGS_ALL)' ARCHFLAGS='$(ARCHFLAGS)' SANFLAGS= \
	    CXXFLAGS='$(CXXFLAGS)' tools/bench/tree_kernels $(abspath $(B))/bench-kernels
	$(Q)$(call link,$@,$(BENCH_OBJS) $$(cat $(B)/bench-kernels/objects),$(BENCH_LIBS) $(FMT_LIBS) $(ABSL_LIBS))
.PHONY: FORCE

lib: $(B)/libkmirror.a $(B)/libkmirror.so
tests: $(B)/kmirror-tests

# O itself holds what the last `make all` built, whatever SAN it was asked for.
all: $(addprefix $(B)/,libkmirror.a libkmirror.so libkmirror-cmocka.a kmirror)
	$(Q)for f in $^; do cmp -s $$f $(O)/$${f##*/} || cp -f $$f $(O)/; done

stress: $(B)/kmirror
	$(Q)$(B)/kmirror stress $(ARGS)

soak: $(B)/kmirror
	$(Q)$(B)/kmirror soak $(ARGS)

ifeq ($(IMPL),ours)
contention: $(B)/kmirror
	$(Q)$(B)/kmirror contention $(ARGS)
else
contention: $(B)/kmirror
	+$(Q)$(KDIR_ENV) ARGS='$(ARGS)' OBJECTS='$(CMD_OBJS)' LIBS='$(B)/libkmirror.a $(TBB_LIBS) $(FMT_LIBS) $(LIB_LIBS)' \
	    tools/kdir/contention
endif

sweep: $(B)/kmirror
	$(Q)$(B)/kmirror sweep $(addprefix --log ,$(wildcard tools/replay/logs/*.log)) $(ARGS)

bench: $(B)/kmirror-bench
	$(Q)$(B)/kmirror-bench $(ARGS)

# What other programs do to the caches is not in these: instructions per operation, by callgrind. AREA=slab: of the
# allocator's table.
bench-instructions: $(B)/kmirror-bench
	$(Q)tools/bench/$(if $(filter slab,$(AREA)),slab,tree)_instructions $(B)/kmirror-bench $(ARGS)

# Fault points compiled in and off, beside the same build without them: the allocation pair, 61 rounds. Both are
# release builds, where nothing else hides the price. O/faults-1 and O/faults-0 keep them.
bench-faults:
	+$(Q)$(foreach f,0 1,$(MAKE) RELEASE=1 DEPS=0 FAULTS=1 CPPFLAGS='$(CPPFLAGS) -DKMIRROR_FAULTS=$f' \
	    O='$(abspath $(O))/faults-$f' '$(abspath $(O))/faults-$f/none/kmirror-bench' &&) \
	'$(abspath $(O))/faults-1/none/kmirror-bench' --rounds 61 $(ARGS) \
	    --against '$(abspath $(O))/faults-0/none/kmirror-bench' && \
	CC='$(CC)' CXX='$(CXX)' LIB_LIBS='$(LIB_LIBS)' tools/bench/fault_instructions \
	    '$(abspath $(O))/faults-1/none/libkmirror.a' '$(abspath $(O))/faults-0/none/libkmirror.a'

# ---- compile_commands.json -------------------------------------------------------------------------------

JSON_SRCS := $(sort $(LIB_SRCS) $(CMD_SRCS) $(LOAD_SRCS) $(CASE_SRCS) $(TEST_HELP) $(BENCH_SRCS))
JSON_LAST := $(lastword $(JSON_SRCS))
json-entry = { "directory": "$(CURDIR)", "file": "$1", \
             "command": "$(subst ",\",$(call cxx-command,$1)) -c $1" }
.PHONY: compile_commands.json
compile_commands.json:
	$(file >$@,[)
	$(foreach s,$(JSON_SRCS),$(file >>$@,$(call json-entry,$s)$(if $(filter-out $s,$(JSON_LAST)),$(comma))))
	$(file >>$@,])
	@echo '  JSON  $@'
