# SPDX-License-Identifier: GPL-2.0-only
#
# The fuzz targets: one program each, B/fuzz/NAME. With SAN=fuzz (clang) they hold libFuzzer; else a main that
# replays files; with SAN=extern the engine is the caller's. tools/make/fuzz runs them.

# Beside a kernel's tree only where KDIR names one.
FUZZ_TARGETS := $(sort $(filter-out $(if $(KDIR),,maple_diff_fuzz),$(patsubst fuzz/%.cpp,%,$(wildcard fuzz/*_fuzz.cpp))))
FUZZ_SHARED  := $(sort $(filter-out fuzz/engine.cpp fuzz/replay.cpp fuzz/target_list.cpp %_test.cpp \
                  %_fuzz.cpp,$(wildcard fuzz/*.cpp)) tools/testing/sanitizers.cpp lib/mm/tests/pages.cpp \
                  $(addprefix tools/kmirror/,replay_maps.cpp strace_line.cpp strace_log.cpp))
FUZZ_PROGRAMS := $(addprefix $(B)/fuzz/,$(FUZZ_TARGETS))
FUZZ_MAIN  := engine $(if $(filter fuzz extern,$(SAN)),,replay)
FUZZ_LINK  := $(if $(filter fuzz,$(SAN)),-fsanitize=fuzzer) $(EXTERN_ENGINE) $(if $(EXTERN_ENGINE),-Wl$(comma)-rpath$(comma)'$$$$ORIGIN/lib')

define fuzz-rule
$(foreach m,$(FUZZ_MAIN),$(B)/fuzz/$1.$m.o): $(B)/fuzz/$1.%.o: fuzz/%.cpp $(B)/flags.stamp
	$$(call say,CXX,$$< ($1))
	@mkdir -p $$(@D)
	$(Q)$$(CCACHE) $$(call cxx-command,$$<) -DKMIRROR_TARGET=$1 -MMD -MP -c $$< -o $$@
$(B)/fuzz/$1: $(foreach m,$(FUZZ_MAIN),$(B)/fuzz/$1.$m.o) $(call objects,fuzz/$1.cpp) \
              $(call objects,$(FUZZ_SHARED)) $(B)/libkmirror.a
	$$(call say,LINK,$$@)
	$(Q)$(CXX) $(SANFLAGS) $(FUZZ_LINK) $(LDFLAGS_ALL) -o $$@ $$^ $(LIB_LIBS)
endef
$(foreach t,$(FUZZ_TARGETS),$(eval $(call fuzz-rule,$t)))
-include $(foreach t,$(FUZZ_TARGETS),$(foreach m,engine replay,$(B)/fuzz/$t.$m.d)) \
         $(patsubst %.o,%.d,$(call objects,$(FUZZ_SHARED) $(wildcard fuzz/*_fuzz.cpp)))

# The kernel's tree of maple_diff_fuzz. Made anew each time: nobody knows what has changed in KDIR.
ifneq ($(KDIR),)
$(B)/fuzz/maple_diff_fuzz: $(call objects,tools/kdir/diff/pair.cpp tools/kdir/diff/known.cpp) \
                           $(addprefix $(B)/fuzz/kdir/,maple.o nodes.o)
$(B)/fuzz/kdir/nodes.o: $(B)/fuzz/kdir/maple.o
$(B)/fuzz/kdir/maple.o: always
	$(call say,KDIR,$(KDIR))
	$(Q)$(KDIR_ENV) KDIR_CACHE_NAME=maple_node_kdir tools/kdir/implement $(B)/fuzz/kdir kdir_
.PHONY: always
endif

.PHONY: fuzz fuzz-smoke fuzz-minimise fuzz-programs
fuzz-programs: $(FUZZ_PROGRAMS)

FUZZ_ENV = O='$(O)' MAKE='$(MAKE)' TARGET='$(TARGET)' TIME='$(TIME)' FORK='$(FORK)' ARGS='$(ARGS)' \
           TARGETS='$(FUZZ_TARGETS)' V=
fuzz:
	+$(Q)$(FUZZ_ENV) tools/make/fuzz run
fuzz-smoke:
	+$(Q)$(FUZZ_ENV) tools/make/fuzz smoke
fuzz-minimise:
	+$(Q)$(FUZZ_ENV) tools/make/fuzz minimise
