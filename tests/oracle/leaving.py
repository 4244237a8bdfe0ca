#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what `cprec when --in=FUNCTION` says with the real processor.

usage: leaving.py --stepper S --cprec C [--cc CC] [--all]

A program whose functions leave in all ways is compiled in several ways and
single-stepped natively.  Wherever control leaves a function, a condition that
has become true since it came must have been told; and whatever is told must be
true there, in that function.  --all is more ways.  Speaks TAP.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "run"))
from tap import CprecTap, expect, main  # noqa: E402

FLAGS = ("-g", "-ffreestanding", "-fno-stack-protector", "-mno-red-zone",
         "-fno-pie", "-fcf-protection=none", "-nostdlib", "-static")
FUNCTIONS = ("plain", "branch", "behind_call", "by_call", "tail", "saved",
             "wrapped", "inlined", "inlined_away", "split", "chosen")
# What is asked, and the same in Python.  Where an argument is, is not known
# everywhere.
CONDITIONS = (
    ("p->a > 8", lambda a, b, c: a > 8),
    ("state.a > 8", lambda a, b, c: a > 8),
    ("state.a & 1", lambda a, b, c: a & 1),
    ("state.b < 3 || state.c & 2", lambda a, b, c: b < 3 or c & 2),
    ("(state.a + state.b) & 4", lambda a, b, c: (a + b) & 4),
)


class Leaving(CprecTap):
    def symbols(self, guest):
        lines = subprocess.run(["nm", "-S", guest], capture_output=True,
                               text=True, check=True).stdout.splitlines()
        self.state, self.parts = None, {name: [] for name in FUNCTIONS}
        for words in map(str.split, lines):
            if len(words) != 4:
                continue
            addr, size = int(words[0], 16), int(words[1], 16)
            name = words[3].split(".")[0]
            if words[3] == "state":
                self.state = addr
            if name in self.parts:
                self.parts[name].append((addr, addr + size))
                if name == words[3]:
                    self.entries[name] = addr

    def step(self, guest):
        """Of each instruction: its place, and the state before it."""
        lines = subprocess.run(
            [self.options.stepper, "--all", "--watch",
             f"{self.state:#x}-{self.state + 24:#x}", guest],
            capture_output=True, text=True, check=True,
            timeout=250).stdout.splitlines()
        memory = bytearray(b"".join(number.to_bytes(8, "little")
                                    for number in (1, 2, 3)))
        self.trail = []
        for told in map(json.loads, lines):
            if "watch" not in told:
                continue
            numbers = tuple(int.from_bytes(memory[i:i + 8], "little",
                                           signed=True) for i in (0, 8, 16))
            self.trail.append((int(told["pc"], 16), numbers))
            for at, value in told["bytes"].items():
                memory[int(at, 16) - self.state] = value

    def calls(self, name, holds):
        """Of a function that never calls itself, the steps of each call, those
        of what it calls left out: times, whether the condition is true then,
        and whether control leaves."""
        parts, call, found = self.parts[name], None, []
        inside = [any(start <= pc < end for start, end in parts)
                  for pc, _ in self.trail]
        for t, (pc, numbers) in enumerate(self.trail):
            if not inside[t]:
                continue
            if pc == self.entries[name]:
                call = []
                found.append(call)
            leaves = t + 1 == len(self.trail) or not inside[t + 1]
            call.append((t, bool(holds(*numbers)), leaves))
        return found

    def check(self, name, text, holds):
        done = self.cprec("when", self.trace, "--json", "--limit=0",
                          f"--in={name}", "--expr", text)
        expect(done.returncode in (0, 1) and
               (done.stdout or "did not become true" in done.stderr),
               done.stderr)
        told = {json.loads(line)["at"] for line in done.stdout.splitlines()}
        calls = self.calls(name, holds)
        truths = {t for call in calls for t, true, _ in call if true}
        expect(told <= truths, f"{name}: '{text}' told at "
               f"{sorted(told - truths)}, where it is not so")
        for call in calls if "->" not in text else ():
            was, since = None, call[0][0] - 1
            for t, true, leaves in call:
                if true and not was and leaves:
                    expect(any(since < one <= t for one in told),
                           f"{name}: '{text}' not told up to t={t}")
                if leaves:
                    was, since = true, t
        return len(told)

    def compare(self, compiler, level):
        guest = os.path.join(self.folder, f"{compiler[0]}{level}")
        self.trace, self.entries = guest + ".cpr", {}
        subprocess.run([*compiler, *FLAGS, level, "-I",
                        os.path.join(HERE, "..", ".."), "-o", guest,
                        os.path.join(HERE, "programs", "leaving.c")],
                       check=True, timeout=120)
        done = self.cprec("record", "-q", "-o", self.trace, "--segment=2k",
                          "--", guest)
        expect(os.path.exists(self.trace), done.stderr)
        self.symbols(guest)
        self.step(guest)
        count = sum(self.check(name, *condition) for name in FUNCTIONS
                    for condition in CONDITIONS)
        expect(count, "no condition became true")
        return f"{count} times"

    def run(self):
        levels = ("-O0", "-O1", "-O2", "-Os")
        cc = self.options.cc.split()
        ways = [(cc, level) for level in levels]
        if shutil.which("clang"):
            ways += [(["clang"], level) for level in levels]
        for compiler, level in ways if self.options.all else ways[::2]:
            self.test(" ".join((*compiler, level)), self.compare, compiler,
                      level)
        return self.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--cc", default="cc")
    PARSER.add_argument("--all", action="store_true")
    sys.exit(main(lambda options, folder: Leaving(options, folder).run(),
                  "stepper", parser=PARSER))
