#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random instruction words of 32-bit ARM do under cprec what they do under
qemu-user: ARM code, and Thumb code, each word in an IT block.

usage: words_arm.py --cprec C --program SOURCE [--words N] [--seed S]

SOURCE is programs/words_arm.c.  As words_arm64.py.  Speaks TAP.
"""
import sys

sys.dont_write_bytecode = True
from tap import main, qemu_user  # noqa: E402
from words_arm64 import Tests as OtherTests, parser, run_all  # noqa: E402


class Tests(OtherTests):
    compiler = "arm-linux-gnueabihf-gcc"
    oracle = [qemu_user("arm"), "-cpu", "cortex-a15"]
    groups = ("data", "media", "float", "vector", "memory", "thumb",
              "thumb-memory", "wide", "wide-float", "wide-memory")


if __name__ == "__main__":
    sys.exit(main(lambda options, folder: run_all(options, folder, Tests),
                  "program", parser=parser()))
