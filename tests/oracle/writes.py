#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what `cprec writes` and `cprec last` say with the real processor.

usage: writes.py --stepper S --cprec C --guest G [--size N]

The guest is single-stepped natively, with a look at its data after each
instruction, and recorded.  Each instruction that changed a byte must be told:
when, by its address, and the bytes that it left.  Speaks TAP.
"""
import argparse
import json
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "run"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from compare import VARIANTS, sections  # noqa: E402
from tap import CprecTap, equal, expect, main  # noqa: E402

QUESTIONS = 25
REGISTERS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8",
             "r9", "r12")


def told_bytes(access):
    """The bytes that an access changed, by address."""
    addr = int(access["addr"], 16)
    old = [access["old"][i:i + 2] for i in range(0, len(access["old"]), 2)]
    new = [access["new"][i:i + 2] for i in range(0, len(access["new"]), 2)]
    return {addr + i: int(after, 16)
            for i, (before, after) in enumerate(zip(old, new))
            if before != after}


def merged(accesses):
    """As the stepper has it: one entry for each instruction."""
    found = {}
    for access in accesses:
        key = access["at"], int(access["pc"], 16)
        found.setdefault(key, {}).update(told_bytes(access))
    return {key: what for key, what in found.items() if what}


class Writes(CprecTap):
    def native(self):
        begin, end = self.range
        lines = subprocess.run(
            [self.options.stepper, "--watch", f"{begin:#x}-{end:#x}",
             "--hide", "%#x-%#x" % self.sections[".hidden_text"],
             self.options.guest], capture_output=True, text=True, check=True,
            timeout=250).stdout.splitlines()
        objects = [json.loads(line) for line in lines]
        return {(o["watch"], int(o["pc"], 16)):
                {int(at, 16): value for at, value in o["bytes"].items()}
                for o in objects if "watch" in o}

    def ask(self, command, *arguments):
        result = self.cprec(command, self.trace, "--json", *arguments)
        expect(result.returncode in (0, 1), result.stderr)
        # The first question has left an index for the second.
        again = self.cprec(command, self.trace, "--json", *arguments)
        equal(again.stdout, result.stdout, "asked once more")
        return [json.loads(line) for line in result.stdout.splitlines()]

    def compare(self, variant):
        self.trace = os.path.join(self.folder, variant.replace(" ", "-"))
        result = self.cprec("record", "-q", "-o", self.trace,
                            *VARIANTS[variant], "--", self.options.guest)
        expect(os.path.exists(self.trace), result.stderr)
        begin, end = self.range
        found = merged(self.ask("writes", f"--addr={begin:#x}",
                                f"--size={end - begin}", "--changes"))
        for key in sorted(set(found) | set(self.expected)):
            equal(found.get(key), self.expected.get(key), f"t={key[0]}")
        return f"{len(found)} instructions"

    def last(self):
        """Of random bytes at random times."""
        choice = random.Random(1)
        times = sorted(self.expected)
        for _ in range(QUESTIONS):
            addr = choice.choice([a for what in self.expected.values()
                                  for a in what])
            at = choice.randrange(times[-1][0] + 10)
            before = [key for key in times
                      if key[0] < at and addr in self.expected[key]]
            answer = self.ask("last", f"--addr={addr:#x}", "--size=1",
                              f"--at={at}")
            equal([(a["at"], int(a["pc"], 16)) for a in answer], before[-1:],
                  f"{addr:#x} at {at}")

    def registers(self):
        """The last instruction that changed one, or wrote what it had."""
        lines = subprocess.run(
            [self.options.stepper, "--every", "1", "--most", "4000", "--hide",
             "%#x-%#x" % self.sections[".hidden_text"], self.options.guest],
            capture_output=True, text=True, check=True,
            timeout=250).stdout.splitlines()
        samples = {o["at"]: o["registers"] for o in map(json.loads, lines)
                   if "registers" in o}
        times = sorted(t for t in samples if t + 1 in samples)
        choice = random.Random(1)
        for _ in range(QUESTIONS):
            register = choice.choice(REGISTERS)
            at = choice.choice(times) + 1
            changed = [t for t in times if t < at and
                       samples[t][register] != samples[t + 1][register]]
            answer = self.ask("last", f"--register={register}", f"--at={at}")
            if not changed or any(t not in samples
                                  for t in range(changed[-1], at)):
                continue
            told = answer[0]["at"]
            expect(changed[-1] <= told < at, f"{register} at {at}: {told}, "
                   f"should be {changed[-1]}")
            equal(int(answer[0]["pc"], 16), int(samples[told]["rip"], 16),
                  "pc")
            equal(int.from_bytes(bytes.fromhex(answer[0]["new"]), "little"),
                  int(samples[told + 1][register], 16), "value")

    def run(self):
        self.sections = sections(self.options.guest)
        begin = min(self.sections[name][0] for name in (".data", ".bss")
                    if name in self.sections)
        end = max(self.sections[name][1] for name in (".data", ".bss")
                  if name in self.sections)
        self.range = begin, min(end, begin + self.options.size)
        self.expected = self.native()
        for variant in VARIANTS:
            self.test(variant, self.compare, variant)
        self.test("last", self.last)
        self.test("last of registers", self.registers)
        return self.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--size", type=int, default=1 << 18)
    sys.exit(main(lambda options, folder: Writes(options, folder).run(),
                  "stepper", "guest", parser=PARSER))
