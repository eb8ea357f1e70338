# SPDX-License-Identifier: GPL-2.0-only
#
# make install. Headers go below PREFIX/include/kmirror, never onto the default include path: linux/*.h
# there would break every other compile on the machine. pkg-config's kmirror file is the way in.

DEST := $(DESTDIR)$(PREFIX)

define PC_TEXT
prefix=$(PREFIX)
includedir=$${prefix}/include/kmirror
libdir=$${prefix}/lib

Name: kmirror
Description: the Linux maple tree and SLUB allocator in userspace
Version: $(VERSION)
Cflags: -I$${includedir} -pthread $(SWITCHES)
Libs: -L$${libdir} -lkmirror -pthread
Libs.private: $(LIB_LIBS) -lstdc++ -lm
endef

define CMOCKA_PC_TEXT
prefix=$(PREFIX)
includedir=$${prefix}/include/kmirror
libdir=$${prefix}/lib

Name: kmirror-cmocka
Description: cmocka's API on GoogleTest
Version: $(VERSION)
Cflags: -I$${includedir} -pthread
Libs: -L$${libdir} -lkmirror-cmocka $(CMOCKA_LIBS) -lstdc++ -pthread
endef

install: all
	$(call say,INST,$(DEST))
	$(Q)cd include && find . -name '*.h*' -exec install -D -m 644 {} $(DEST)/include/kmirror/{} \;
	$(Q)install -d $(DEST)/lib/pkgconfig $(DEST)/bin $(DEST)/share/kmirror/gdb
	$(Q)install -m 644 tools/gdb/*.py $(DEST)/share/kmirror/gdb/
	$(Q)install -m 644 $(B)/libkmirror.a $(B)/libkmirror-cmocka.a $(DEST)/lib/
	$(Q)install -m 755 $(B)/libkmirror.so $(DEST)/lib/
	$(Q)install -m 755 $(B)/kmirror $(B)/kmirror-sim $(DEST)/bin/
	$(file >$(B)/kmirror.pc,$(PC_TEXT))
	$(file >$(B)/kmirror-cmocka.pc,$(CMOCKA_PC_TEXT))
	$(Q)install -m 644 $(B)/kmirror.pc $(B)/kmirror-cmocka.pc $(DEST)/lib/pkgconfig/
