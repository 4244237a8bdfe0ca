#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debuggers on recordings of 32-bit ARM: gdb, `debug --plain`, and an editor.

usage: arm_debug.py --cprec C --programs FOLDER [--rounds N]

As arm64_debug.py; programs are of Thumb code, and of ARM code.  Speaks TAP.
"""
import shutil
import sys

sys.dont_write_bytecode = True
from arm64_debug import Debug as OtherDebug, LEAST_DAP, MULTIARCH  # noqa: E402
from arm64_debug import WAYS, find_gdb, parser, run_all  # noqa: E402
from dap import version  # noqa: E402
from tap import main  # noqa: E402

ARM = {
    "argument": (("p $r0", r"= 0"), ("p (long) $sp % 8", r"= 0")),
    "store": (("x/3i $pc", r"=> 0x\w+ <on_signal\+.*:\s+str"),),
    "crash": (("info registers", r"r0 +0x.*\nsp +0xb.*\npc +0x"),),
    "registers": (
        ("info registers", r"r0 +0x.*\npc +0x.*\ncpsr +0x.*fpscr +0x0"),
        ("p $d0", r"= "),
        ("info auxv", r"AT_ENTRY .*AT_PLATFORM.*v7l")),
}


class Debug(OtherDebug):
    compiler = ["arm-linux-gnueabihf-gcc"]
    sysroot = "/usr/arm-linux-gnueabihf"
    ways = {**WAYS, "static, -O1, ARM": ["-static", "-O1", "-marm"]}
    rows = ARM
    register = "r0"
    no_gdb = ("no gdb here knows arm; that of the package gdb-multiarch does")

    def compared_ways(self):
        """gdb 16 finds other callers than gdb 13 in code without lines, and
        steps back to them; --plain goes where gdb 13 does."""
        ways = super().compared_ways()
        return ways if version(self.options.gdb) < LEAST_DAP else \
            {"straight": ways["straight"]}


def begin(options, folder):
    options.gdb = find_gdb(options, MULTIARCH)
    if not shutil.which(Debug.compiler[0]) or not shutil.which(options.gdb):
        print("1..0 # SKIP there is no cross compiler for 32-bit ARM, or no "
              "gdb-multiarch: ./setup installs both")
        return 0
    return run_all(Debug(options, folder), folder)


if __name__ == "__main__":
    sys.exit(main(begin, "programs", parser=parser()))
