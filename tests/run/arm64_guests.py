#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that check themselves, compiled for AArch64: they are recorded, and
replays do the same.

usage: arm64_guests.py --cprec C --source FOLDER

FOLDER is that of cprec, whose tests/guests are compiled here by the cross
compiler.  Without that, nothing is tested.  Speaks TAP.
"""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import (  # noqa: E402
    CprecTap, equal, expect, main, qemu_user, recordings)

COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = qemu_user("aarch64")

# Others have code of x86-64, or are about its registers; and a file that is cut
# by another process ends in a signal that comes a block late, at which AArch64
# has no red zone left.
GUESTS = """
calls children code dying events file_ends files futex grows holes limits
limits_files memory mlock notify own_threads page_ends peaks proc process_vm
relatives sent shared_kernel sigwait sockets sysv threads_blocked threads_cancel
threads_end threads_life threads_locks threads_signals threads_turns twins vfork
""".split()


class Tests(CprecTap):
    compiler = [COMPILER]
    emulator = EMULATOR

    def compiled(self, name, source="guests/guest_"):
        program = os.path.join(self.folder, "guest_" + name)
        folder = self.options.source
        subprocess.run([*self.compiler, "-D_GNU_SOURCE", "-Wno-array-bounds", "-O1",
                        "-g", "-I", folder, "-pthread", "-static", "-o",
                        program, f"{folder}/tests/{source}{name}.c",
                        "-lm"], check=True)
        return program

    def guest(self, name, *source):
        program = self.compiled(name, *source)
        trace = program + ".cpr"
        done = self.cprec("record", "-q", "-o", trace, program)
        expect(done.returncode == 0, done.stdout[-400:] + done.stderr[-400:])
        for path in recordings(trace):
            verified = self.cprec("verify", "-q", path)
            equal(verified.returncode, 0, verified.stderr)
        shutil.rmtree(trace + ".d", ignore_errors=True)
        os.remove(trace)

    def floats(self):
        """What it writes is what another emulator has it write."""
        program = self.compiled("floats_arm", "run/programs/")
        done = self.cprec("run", program)
        equal(done.returncode, 0, done.stderr)
        if shutil.which(self.emulator):
            equal(done.stdout, subprocess.run(
                [self.emulator, program], capture_output=True, check=True,
                text=isinstance(done.stdout, str)).stdout, "floats")


def run_all(options, folder):
    tests = Tests(options, folder)
    if not shutil.which(COMPILER):
        print("1..0 # SKIP there is no cross compiler for AArch64: ./setup "
              "installs it")
        return 0
    os.chdir(folder)
    for name in GUESTS:
        tests.test(name, tests.guest, name)
    tests.test("floats", tests.floats)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "source"))
