#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what `cprec when` says with the real processor.

usage: when.py --stepper S --cprec C --guest G [--size N]

The guest is single-stepped natively, with a look at its data after each
instruction.  From that follows when conditions became true that were chosen at
random: of one place, of two, and of one that a byte of the data points to; and
of registers.  All of these times must be told, the first and the last.  Speaks
TAP.
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

QUESTIONS = 12
TYPES = (("unsigned char", 1), ("signed char", 1), ("unsigned short", 2),
         ("short", 2), ("unsigned int", 4), ("int", 4), ("long", 8))
COMPARISONS = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b,
               "<": lambda a, b: a < b, ">=": lambda a, b: a >= b}
REGISTERS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rsp", "r8", "r12")


class Term:
    """A number at a place, compared with one that it once had."""

    def __init__(self, choice, when):
        self.kind, self.size = choice.choice(TYPES)
        self.signed = not self.kind.startswith("unsigned")
        self.addr = when.near(choice, self.size)
        self.mark = choice.choice(sorted(COMPARISONS))
        self.value = None

    def text(self):
        return f"*({self.kind} *){self.addr:#x} {self.mark} {self.value}"

    def number(self, memory, addr=None):
        at = (self.addr if addr is None else addr) - memory.begin
        return int.from_bytes(memory.bytes[at:at + self.size], "little",
                              signed=self.signed)

    def is_true(self, memory):
        return COMPARISONS[self.mark](self.number(memory), self.value)


class Both:
    def __init__(self, mark, left, right):
        self.mark, self.left, self.right = mark, left, right

    def text(self):
        return f"{self.left.text()} {self.mark} !({self.right.text()})"

    def is_true(self, memory):
        left = self.left.is_true(memory)
        right = not self.right.is_true(memory)
        return left and right if self.mark == "&&" else left or right


class Pointed(Term):
    """The byte that is so far behind the start as another byte says."""

    def text(self):
        return (f"*({self.kind} *)({self.begin:#x} + *(unsigned char *)"
                f"{self.addr:#x}) {self.mark} {self.value}")

    def is_true(self, memory):
        self.begin = memory.begin
        at = self.begin + memory.bytes[self.addr - memory.begin]
        return COMPARISONS[self.mark](self.number(memory, at), self.value)


class Memory:
    def __init__(self, begin, contents):
        self.begin, self.bytes = begin, bytearray(contents)

    def change(self, what):
        for addr, value in what.items():
            self.bytes[addr - self.begin] = value


class When(CprecTap):
    def near(self, choice, size):
        """Where something changes, or beside it."""
        key = choice.choice(sorted(self.events))
        addr = choice.choice(sorted(self.events[key])) - choice.randrange(size)
        return max(self.range[0], min(addr, self.range[1] - 264))

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

    def contents(self):
        """The data that the program begins with."""
        begin, end = self.range
        data = bytearray(end - begin)
        for name in {".data", ".hidden_data"} & self.sections.keys():
            path = os.path.join(self.folder, "data")
            subprocess.run(["objcopy", "-O", "binary", f"--only-section={name}",
                            self.options.guest, path], check=True)
            with open(path, "rb") as file:
                found = file.read()
            at = self.sections[name][0] - begin
            if at >= 0:
                found = found[:len(data) - at]
                data[at:at + len(found)] = found
        return data

    def became_true(self, condition):
        memory = Memory(self.range[0], self.start)
        was = condition.is_true(memory)
        times = []
        for key in sorted(self.events):
            memory.change(self.events[key])
            now = condition.is_true(memory)
            if now and not was:
                times.append(key)
            was = now
        return times

    def some_value(self, choice, term):
        """One that the place has at some time, or one more."""
        memory = Memory(self.range[0], self.start)
        stop = choice.randrange(len(self.events))
        for key in sorted(self.events)[:stop + 1]:
            memory.change(self.events[key])
        addr = None
        if isinstance(term, Pointed):
            term.begin = memory.begin
            addr = memory.begin + memory.bytes[term.addr - memory.begin]
        term.value = term.number(memory, addr) + choice.choice((0, 0, 0, 1))

    def conditions(self):
        choice = random.Random(3)
        for number in range(QUESTIONS):
            terms = [(Pointed if number % 3 == 2 else Term)(choice, self)
                     for _ in range(2)]
            for term in terms:
                self.some_value(choice, term)
            yield terms[0] if number % 3 != 1 else \
                Both(choice.choice(("&&", "||")), terms[0], terms[1])

    def ask(self, condition, *arguments):
        result = self.cprec("when", self.trace, "--json", "--expr",
                            condition.text(), *arguments)
        expect(result.returncode in (0, 1) and
               (result.stdout or "did not become true" in result.stderr),
               result.stderr)
        return [(o["at"], int(o["pc"], 16))
                for o in map(json.loads, result.stdout.splitlines())]

    def compare(self, variant):
        self.trace = os.path.join(self.folder, variant.replace(" ", "-"))
        result = self.cprec("record", "-q", "-o", self.trace,
                            *VARIANTS[variant], "--", self.options.guest)
        expect(os.path.exists(self.trace), result.stderr)
        count = 0
        for condition in self.conditions():
            expected = self.became_true(condition)
            text = condition.text()
            count += len(expected)
            if len(expected) < 150:
                equal(self.ask(condition, "--limit=0"), expected, text)
            equal(self.ask(condition), expected[:1], text)
            equal(self.ask(condition, "--last"), expected[-1:], text)
        expect(count, "no condition became true")
        return f"{count} times"

    def registers(self):
        """Before each instruction, where the stepper looks at all of them."""
        lines = subprocess.run(
            [self.options.stepper, "--every", "1", "--most", "4000", "--hide",
             "%#x-%#x" % self.sections[".hidden_text"], self.options.guest],
            capture_output=True, text=True, check=True,
            timeout=250).stdout.splitlines()
        samples = {o["at"]: o["registers"] for o in map(json.loads, lines)
                   if "registers" in o}
        known = {t for t in samples if t - 1 in samples}
        choice = random.Random(4)
        count = 0
        for _ in range(QUESTIONS):
            register = choice.choice(REGISTERS)
            value = int(samples[choice.choice(sorted(known))][register], 16)
            mark = choice.choice(("==", ">="))
            condition = f"(unsigned long)${register} {mark} {value:#x}"
            holds = {t: COMPARISONS[mark](int(samples[t][register], 16), value)
                     for t in samples}
            expected = [(t, int(samples[t]["rip"], 16)) for t in sorted(known)
                        if holds[t] and not holds[t - 1]]
            result = self.cprec("when", self.trace, "--json", "--expr",
                                condition, "--limit=0",
                                f"--to={max(samples)}")
            found = [(o["at"], int(o["pc"], 16))
                     for o in map(json.loads, result.stdout.splitlines())]
            equal([one for one in found if one[0] in known], expected,
                  condition)
            last = self.cprec("when", self.trace, "--json", "--expr",
                              condition, "--last", f"--to={max(samples)}")
            equal([(o["at"], int(o["pc"], 16))
                   for o in map(json.loads, last.stdout.splitlines())],
                  found[-1:], "the last")
            count += len(expected)
        expect(count, "no condition became true")
        return f"{count} times"

    def run(self):
        self.sections = sections(self.options.guest)
        begin = min(self.sections[name][0] for name in (".data", ".bss")
                    if name in self.sections)
        end = max(self.sections[name][1] for name in (".data", ".bss")
                  if name in self.sections)
        self.range = begin, min(end, begin + self.options.size)
        self.start = self.contents()
        self.events = self.native()
        for variant in VARIANTS:
            self.test(variant, self.compare, variant)
        self.test("registers", self.registers)
        return self.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--size", type=int, default=1 << 18)
    sys.exit(main(lambda options, folder: When(options, folder).run(),
                  "stepper", "guest", parser=PARSER))
