#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random instructions of i386 do under cprec what they do on the processor:
all that they leave in registers, in memory, and their signals.

usage: words_i386.py --cprec C --program SOURCE [--words N] [--seed S]

SOURCE is programs/words_i386.c.  As words_arm64.py, but what they should do says
this machine; if its kernel executes no programs of i386, `run` does.  Speaks TAP.
"""
import sys

sys.dont_write_bytecode = True
from tap import main  # noqa: E402
from words_arm64 import Tests as OtherTests, parser, run_all  # noqa: E402


STACKS_FROM = 0xf7000000


class Tests(OtherTests):
    compiler = "i686-linux-gnu-gcc"
    flags = "-isystem", "/usr/i686-linux-gnu/include", "-msse2"
    # With the heap where cprec has it.
    oracle = ["setarch", "-R"]
    is_native = True
    groups = "integer", "decimal", "string", "x87", "sse"

    def are_alike(self, one, other):
        """Where a stack or the kernel's pages are is another matter."""
        return one == other or any(
            int(line.split()[-1], 16) >= STACKS_FROM for line in (one, other))


if __name__ == "__main__":
    sys.exit(main(lambda options, folder: run_all(options, folder, Tests),
                  "program", parser=parser()))
