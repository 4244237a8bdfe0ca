#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random instruction words of AArch64 do under cprec what they do under
qemu-user: all that they leave in registers, in memory, and their signals.

usage: words_arm64.py --cprec C --program SOURCE [--words N] [--seed S]

SOURCE is programs/words_arm64.c, which says what a word did; it is compiled
here by the cross compiler.  Without that, or qemu-user, nothing is
tested.  N words of each group are executed, recorded and replayed, 2048 without
this.  With more, S draws others.  Speaks TAP.
"""
import argparse
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import (  # noqa: E402
    CprecTap, equal, expect, is_executed_here, main, qemu_user)

DIFFERENCES = 10	# that are shown


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False,
                          capture_output=True, encoding="ascii")
    equal(done.returncode, 0, done.stderr)
    return done.stdout


class Tests(CprecTap):
    compiler = "aarch64-linux-gnu-gcc"
    flags = ()
    oracle = [qemu_user("aarch64"), "-cpu", "cortex-a72"]
    is_native = False
    groups = "immediate", "register", "float", "memory"

    def are_alike(self, one, other):
        return one == other

    def compare(self, words, expected, found):
        for name, lines in ("words", expected), ("lines", found):
            expect(len(lines) >= words, f"{len(lines)} {name}")
        wrong = [f"{one} and not {other}" for one, other
                 in zip(found, expected) if not self.are_alike(one, other)]
        expect(not wrong, f"{len(wrong)} differ: "
               + "; ".join(wrong[:DIFFERENCES]))
        executed = sum(line.endswith(" 0") for line in expected)
        expect(executed > words / 20, f"only {executed} were executed")

    def words(self, program, group):
        """Recorded, so that a replay checks them, too."""
        words = self.options.words
        command = [program, group, str(self.options.seed), str(words)]
        trace = os.path.join(self.folder, group + ".cpr")
        expected = run(*self.oracle, *command)
        found = run(self.options.cprec, "record", "-q", "-o", trace, *command)
        self.compare(words, expected.splitlines(), found.splitlines())
        run(self.options.cprec, "verify", "-q", trace)


def run_all(options, folder, kind=Tests):
    tests = kind(options, folder)
    for tool in kind.compiler, *kind.oracle[:1]:
        if not shutil.which(tool):
            print(f"1..0 # SKIP there is no {tool}: ./setup installs it")
            return 0
    program = os.path.join(folder, "words")
    subprocess.run([kind.compiler, *kind.flags, "-O1", "-static", "-o",
                    program, options.program], check=True)
    if kind.is_native and not is_executed_here(program):
        tests.oracle = [options.cprec, "run"]
    for group in kind.groups:
        tests.test(group, tests.words, program, group)
    return tests.summary()


def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--words", type=int, default=2048)
    made.add_argument("--seed", type=int, default=1)
    return made


if __name__ == "__main__":
    sys.exit(main(run_all, "program", parser=parser()))
