#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who changed bit-fields, as watchpoints of gdb see it natively.

usage: bits.py --cprec C

All ways to ask must agree: writes, last, when, log and query, the prompt of
cprec debug --plain, and gdb's.  See programs/bits/.  Speaks TAP.
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "programs", "bits", "fields.c")
FIELDS = ("ready", "level", "temper", "wide", "far", "inner")


class Bits(CprecTap):
    def begin(self):
        self.program = os.path.join(self.folder, "fields")
        self.trace = self.program + ".cpr"
        subprocess.run(["cc", "-g", "-O0", "-o", self.program, SOURCE],
                       check=True, timeout=120)
        self.cprec("record", "-q", "-o", self.trace, self.program)
        self.expected = self.gdb()
        self.plain = self.ask("--plain")
        self.stock = self.ask()

    def gdb(self):
        """What watchpoints saw: (old, new) of each field."""
        watches = (("-ex", f"watch state.{field}") for field in FIELDS)
        done = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", "-iex",
             "set debuginfod enabled off", "-ex",
             "set can-use-hw-watchpoints 0", "-ex", "break main", "-ex",
             "run >/dev/null", *sum(watches, ()),
             *["-ex", "continue"] * 40, self.program], capture_output=True,
            text=True, timeout=250)
        return {field: [(int(old), int(new)) for old, new in re.findall(
            rf"state\.{field}\n\nOld value = (-?\d+)\nNew value = (-?\d+)",
            done.stdout)] for field in FIELDS}

    def ours(self, *words):
        done = self.cprec(words[0], "--json", self.trace, *words[1:])
        return [json.loads(line) for line in done.stdout.splitlines()]

    def changes(self, field):
        expected = self.expected[field]
        expect(len(expected) > 2, "gdb saw nothing")
        addr = f"--addr=state.{field}"
        found = self.ours("writes", addr)
        equal([(one["old_bits"], one["new_bits"]) for one in found], expected,
              "writes")
        with open(SOURCE, encoding="utf-8") as source:
            text = source.read().splitlines()
        expect(all(f"->{field} = " in text[one["line"] - 1]
                   for one in found[:-1]), found)
        equal(self.ours("last", addr), found[-1:], "last")
        equal(self.ours("last", addr, f"--at={found[-1]['at']}"), found[-2:-1],
              "the one before")
        for more, key in ((0, "old_bits"), (1, "new_bits")):
            value, = self.ours("query", addr,
                               f"--at={found[1]['at'] + more}")
            equal(value["value"], str(found[1][key]), "query")
        value = found[1]["new_bits"]
        became = self.ours("when", f"--expr=state.{field} == {value}",
                           "--limit=0")
        equal([one["at"] for one in became],
              [one["at"] for one in found if one["new_bits"] == value],
              "when")
        equal(self.ours("writes", addr, f"--value={value}"),
              [one for one in found if one["new_bits"] == value],
              "--value")
        self.prompt(field, found, self.plain[field],
                    r"^(\d+)\tthread \d+\t(-?\d+) -> (-?\d+)")
        self.prompt(field, found, self.stock[field],
                    r"^t=(\d+) .*: (-?\d+) -> (-?\d+)$")
        return f"{len(found)} changes"

    def ask(self, *words):
        """What each field's commands say; the last one is in `set`."""
        for field in FIELDS:
            at = self.ours("writes", f"--addr=state.{field}")[2]["at"] + 1
            for command in (f"echo \\n@@{field}\\n", "goto end",
                            f"last state.{field}", "last", "last",
                            f"history state.{field}", f"goto {at}",
                            f"last s->{field}"):
                words += ("-ex", command)
        done = self.cprec("debug", *words, "--batch", self.trace)
        equal(done.returncode, 0, done.stderr)
        parts = re.split(r"@@(\w+)\n", done.stdout)
        return dict(zip(parts[1::2], parts[2::2]))

    @staticmethod
    def prompt(field, found, said, line):
        """Backwards by `last`, all by `history`, and what a pointer leads to."""
        equal(re.findall(r"^(?:state|s->)\.?\w+: .*$", said, re.M),
              [f"state.{field}: {one['old_bits']} -> {one['new_bits']}"
               for one in reversed(found[-3:])] +
              [f"s->{field}: {found[2]['old_bits']} ->"
               f" {found[2]['new_bits']}"], "last")
        equal(re.findall(line, said, re.M),
              [(str(one["at"]), str(one["old_bits"]), str(one["new_bits"]))
               for one in found], "history")

    def logs(self):
        """What it was each time at a line, for one that is a local."""
        with open(SOURCE, encoding="utf-8") as source:
            line = next(number for number, text in enumerate(source, 1)
                        if "/* inner */" in text)
        found = self.ours("log", f"fields.c:{line} => s->level, s->temper,"
                                 " s->far")
        numbers = [i for pair in range(6) for i in (pair, pair // 2)]
        equal([[int(value["value"]) for value in one["values"]]
               for one in found],
              [[i, -i, 7000000000 * i] for i in numbers], "log")


def run_all(options, folder):
    tests = Bits(options, folder)
    tests.begin()
    for field in FIELDS:
        tests.test(field, tests.changes, field)
    tests.test("log", tests.logs)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
