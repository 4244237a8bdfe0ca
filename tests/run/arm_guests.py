#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that check themselves, compiled for 32-bit ARM: they are recorded, and
replays do the same.  Two of them are about its kernel's own calls and frames.

usage: arm_guests.py --cprec C --source FOLDER

As arm64_guests.py, for another compiler, which makes Thumb code.  Speaks TAP.
"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
from arm64_guests import GUESTS, Tests as OtherTests  # noqa: E402
from i386_guests import OTHERS  # noqa: E402
from tap import main, qemu_user  # noqa: E402

COMPILER = "arm-linux-gnueabihf-gcc"


class Tests(OtherTests):
    compiler = [COMPILER, "-D_FILE_OFFSET_BITS=64", "-mfpu=neon-vfpv4", "-w"]
    emulator = qemu_user("arm")


def run_all(options, folder):
    tests = Tests(options, folder)
    if not shutil.which(COMPILER):
        print("1..0 # SKIP there is no cross compiler for ARM: ./setup "
              "installs it")
        return 0
    os.chdir(folder)
    for name in GUESTS:
        if name not in OTHERS:
            tests.test(name, tests.guest, name)
    for name in "kernel_arm", "calls_32", "pairs_arm":
        tests.test(name, tests.guest, name, "run/programs/")
    tests.test("floats", tests.floats)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "source"))
