# SPDX-License-Identifier: GPL-2.0-only
#
# kmirror-sim, the simulated world: lib/maple_tree, lib/slub and the page allocator as they are, compiled with
# -fsanitize=thread as instrumentation only, on lib/sim in place of the sanitizer's runtime and of some files of
# lib/kernel. No libtsan is linked.
#
#   lib/{maple_tree,slub}, lib/kernel/page_alloc*, lib/sim/{load,scenario}    instrumented, O/instrumented/sim-COMPILER
#   lib/sim, lib/sim/world, lib/sim/program                        ordinary objects
#   lib/kernel, lib/fault                                          ordinary objects, but for SIM_REPLACED

SIM_REPLACED := $(addprefix lib/kernel/,spinlock.cpp mutex.cpp rwsem.cpp local_lock.cpp cpu.cpp cpu_task.cpp \
                  cpu_hotplug.cpp rcu.cpp rcu_callback.cpp rcu_steps.cpp random.cpp string_native.cpp)
SIM_INST_SRCS := $(sort $(filter lib/maple_tree/% lib/slub/% lib/kernel/page_alloc%,$(LIB_SRCS)) $(wildcard lib/sim/load/*.cpp lib/sim/scenario/*.cpp))
SIM_SRCS     := $(sort $(wildcard lib/sim/*.cpp lib/sim/world/*.cpp lib/sim/program/*.cpp))
SIM_ENV_SRCS := $(filter-out $(SIM_REPLACED) lib/kernel/page_alloc%,$(filter lib/kernel/% lib/fault/%,$(LIB_SRCS)))

SIM_COMPILER := $(if $(IS_CLANG),clang,gcc)
SIM_DIR      := $(O)/instrumented/sim-$(SIM_COMPILER)
SIM_INST_OBJS := $(patsubst %,$(SIM_DIR)/%.o,$(SIM_INST_SRCS))
SIM_OBJS     := $(call objects,$(SIM_SRCS)) $(B)/obj/sim_machines.o
SIM_ENV_OBJS := $(call objects,$(SIM_ENV_SRCS))
# As a distributor's kernel: no debug checks, no statistics, no failure points.
SIM_SWITCHES := -DKMIRROR_RELEASE=1 -DNDEBUG
# Nobody wants to know of functions' entries and exits.
SIM_QUIET_gcc   := --param=tsan-instrument-func-entry-exit=0
SIM_QUIET_clang := -mllvm -tsan-instrument-func-entry-exit=0
SIM_FLAGS    := -g -fno-omit-frame-pointer $(INST_FLAGS) $(SIM_SWITCHES) $(SIM_QUIET_$(SIM_COMPILER))
SIM_LINK     := -no-pie -Wl,--wrap=mmap -Wl,-z,noseparate-code
SIM_LIBS     := -lboost_context

$(SIM_DIR)/%.cpp.o: %.cpp $(B)/flags.stamp tools/make/sim.mk
	$(call say,INST,$< (sim))
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(INST_$(SIM_COMPILER)) $(CXXSTD) $(SIM_FLAGS) -MMD -MP -c $< -o $@
	$(Q)objcopy $(REDIRECT) $@

# The machine files as text in the program.
SIM_MACHINES := $(sort $(wildcard lib/sim/machines/*.machine))
$(B)/obj/sim_machines.cpp: $(SIM_MACHINES) tools/make/sim.mk
	@mkdir -p $(@D)
	@{ printf '#include "lib/sim/program/run.h"\nnamespace kmirror::sim {\nconst BuiltinMachine kMachines[] = {\n'; \
	   for m in $(SIM_MACHINES); do n=$${m##*/}; printf '{"%s", R"machine(' "$${n%.machine}"; cat $$m; printf ')machine"},\n'; done; \
	   printf '};\nconst unsigned kMachineCount = sizeof(kMachines) / sizeof(*kMachines);\n}\n'; } >$@
$(B)/obj/sim_machines.o: $(B)/obj/sim_machines.cpp $(B)/flags.stamp
	$(call say,CXX,$<)
	$(Q)$(CCACHE) $(call cxx-command,$<) -MMD -MP -c $< -o $@

$(B)/kmirror-sim: $(SIM_OBJS) $(SIM_INST_OBJS) $(SIM_ENV_OBJS) $(B)/files.stamp tools/make/sim.mk
	$(call say,LINK,$@)
	$(Q)$(CXX) $(SANFLAGS) $(LDFLAGS_ALL) $(SIM_LINK) -o $@ $(SIM_OBJS) $(SIM_INST_OBJS) $(SIM_ENV_OBJS) $(SIM_LIBS) $(LIB_LIBS)

-include $(patsubst %.o,%.d,$(SIM_OBJS) $(SIM_INST_OBJS))

.PHONY: sim
sim: $(B)/kmirror-sim

# What was published, beside the model: ARGS="--json FILE", or MODE=quick|full through ARGS="--published full".
.PHONY: published
published: all
	$(Q)$(B)/kmirror sim --published normal $(ARGS)

# Scenarios under many schedules: ARGS="scenario=tree schedules=10000".
.PHONY: explore
explore: $(B)/kmirror-sim
	$(Q)$(B)/kmirror-sim explore $(ARGS)

# The thread sanitizer's runtime has the same entry points.
ifeq ($(filter thread,$(SAN))$(NARROW),)
all: $(B)/kmirror-sim
endif
