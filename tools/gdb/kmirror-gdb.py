# SPDX-License-Identifier: GPL-2.0-only
#
# Loads what gdb should know of kmirror:
#
#   (gdb) source tools/gdb/kmirror-gdb.py
#
# Each module beside this file registers its printers and commands by itself; one that is not there is left
# out.

import importlib.util
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
for module in ("slab", "maple"):
    if importlib.util.find_spec(module) is not None:
        importlib.import_module(module)
