#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Prints the folder for packages of Python below a prefix: the first one that this
Python looks into by itself, so that `import cprec` finds it; below a prefix of which
it knows nothing, the usual one, for PYTHONPATH.

usage: folder.py PREFIX
"""
import os
import site
import sys

prefix = os.path.join(os.path.normpath(sys.argv[1]), "lib", "")
for folder in site.getsitepackages():
    if folder.startswith(prefix):
        print(folder)
        break
else:
    print(f"{prefix}python3.{sys.version_info.minor}/site-packages")
