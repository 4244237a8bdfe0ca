#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that check themselves, compiled for i386: they are recorded, and
replays do the same.

usage: i386_guests.py --cprec C --source FOLDER

As arm64_guests.py, for another compiler.  Speaks TAP.
"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
from arm64_guests import GUESTS, Tests as OtherTests  # noqa: E402
from tap import main  # noqa: E402

COMPILER = "i686-linux-gnu-gcc"
INCLUDE = "/usr/i686-linux-gnu/include"

# They have sizes, addresses or amounts of memory that no word holds.
OTHERS = "memory mlock page_ends peaks proc sysv".split()


class Tests(OtherTests):
    compiler = [COMPILER, "-isystem", INCLUDE, "-D_FILE_OFFSET_BITS=64",
                "-msse2", "-w"]


def run_all(options, folder):
    tests = Tests(options, folder)
    if not shutil.which(COMPILER):
        print("1..0 # SKIP there is no cross compiler for i386: ./setup "
              "installs it")
        return 0
    os.chdir(folder)
    for name in GUESTS + ["lock", "x87"]:
        if name not in OTHERS:
            tests.test(name, tests.guest, name)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "source"))
