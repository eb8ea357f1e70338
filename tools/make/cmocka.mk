# SPDX-License-Identifier: GPL-2.0-only
#
# cmocka's API on GoogleTest: the library, the C programs that are tests of it (lib/cmocka/tests/*.c) or use
# it to test ours from C (radix-tree-tests/capi, slab/capi), and the comparison with the real cmocka.
# Each C file is a program of its own.

CMOCKA_SRCS  := $(sort $(wildcard lib/cmocka/*.cpp))
CMOCKA_OBJS  := $(call objects,$(CMOCKA_SRCS))
CMOCKA_LIBS  := $(call pkg,gtest)
CMOCKA_TESTS := $(sort $(wildcard lib/cmocka/tests/*.c))
CAPI_TESTS   := $(sort $(wildcard radix-tree-tests/capi/*.c slab/capi/*.c))
CAPI_PROGRAMS := $(patsubst %.c,$(B)/cmocka/%,$(CAPI_TESTS))
CMOCKA_PROGRAMS := $(patsubst %.c,$(B)/cmocka/%,$(CMOCKA_TESTS))

$(B)/libkmirror-cmocka.a: $(CMOCKA_OBJS) $(B)/files.stamp
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(CMOCKA_OBJS)

$(CMOCKA_PROGRAMS) $(CAPI_PROGRAMS): $(B)/cmocka/%: $(B)/obj/%.c.o $(B)/libkmirror-cmocka.a $(B)/libkmirror.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(call link,$@,$< $(B)/libkmirror-cmocka.a,$(CMOCKA_LIBS))

-include $(patsubst %.o,%.d,$(CMOCKA_OBJS) $(call objects,$(CMOCKA_TESTS) $(CAPI_TESTS)))

# The real library and its tests come from Debian's source package, or from CMOCKA=DIR.
.PHONY: check-cmocka check-capi
check-cmocka: $(B)/libkmirror-cmocka.a
	$(Q)B='$(abspath $(B))' CC='$(CC)' CXX='$(CXX) $(SANFLAGS)' LIBS='$(CMOCKA_LIBS) -pthread' \
	    CMOCKA='$(CMOCKA)' tools/cmocka/check-cmocka
