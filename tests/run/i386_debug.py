#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debuggers on recordings of i386: gdb, `debug --plain`, and an editor.

usage: i386_debug.py --cprec C --programs FOLDER [--rounds N]

As arm64_debug.py, with this machine's own gdb, which knows i386.  Without the
cross compiler nothing is tested.  Speaks TAP.
"""
import shutil
import sys

sys.dont_write_bytecode = True
from arm64_debug import Debug as OtherDebug, WAYS, find_gdb  # noqa: E402
from arm64_debug import parser, run_all  # noqa: E402
from i386 import COMPILER, INCLUDE, WAYS as LINKED  # noqa: E402
from tap import main  # noqa: E402

I386 = {
    "argument": (("p value", r"= 0"), ("p (long) $sp % 4", r"= 0")),
    "store": (("x/3i $pc", r"=> 0x\w+ <on_signal\+.*:\s+(mov|add)"),),
    "crash": (("info registers", r"eax +0x.*esp +0xf.*eip +0x"),),
    "registers": (
        ("info registers", r"eax +0x.*\neip +0x.*eflags +0x.*\[ .*cs +0x23"
         r".*gs_base +0x"),
        ("p $xmm0.v4_int32", r"= {-?\d+, -?\d+, -?\d+, -?\d+}"),
        ("info float", r"R7: Empty.*Control Word: +0x037f"),
        ("info auxv", r"AT_ENTRY .*AT_PLATFORM.*i686")),
}


class Debug(OtherDebug):
    compiler = [COMPILER, "-isystem", INCLUDE]
    sysroot = "/usr/i686-linux-gnu"
    # Code that may be anywhere calls __x86.get_pc_thunk.bx() to learn where it
    # is.  gdb 16 steps back over that, gdb 13 and --plain into it.
    ways = {name: options + LINKED[name.split(",")[0]] + ["-fno-pie", "-no-pie"]
            for name, options in WAYS.items()}
    rows = I386
    register = "eax"
    no_gdb = "gdb is not installed"


def begin(options, folder):
    options.gdb = find_gdb(options, "gdb")
    if not shutil.which(COMPILER) or not shutil.which(options.gdb):
        print("1..0 # SKIP there is no cross compiler for i386, or no gdb: "
              "./setup installs both")
        return 0
    return run_all(Debug(options, folder), folder)


if __name__ == "__main__":
    sys.exit(main(begin, "programs", parser=parser()))
