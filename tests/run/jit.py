#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who wrote memory, and what it held, where LuaJIT and V8 write the code.

The programs of programs/jit/ change two cells in loops that are compiled, given
up and compiled again, maybe at the same addresses.  What the cells held after
each turn is computed here; now and then the programs print it.  objdump says
what the instructions are whose bytes cprec tells.

node is asked only with --node: it takes a minute.
"""
import argparse
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import PlaceTap, equal, expect, main  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TURNS, PART = 20_000, 4_000


def cells():
    """What they hold after each turn, as the programs compute it."""
    first = second = 0
    found = []
    for i in range(1, TURNS + 1):
        if (i - 1) // PART % 2 == 0:
            first += i % 7
            second = i if i % 1000 == 0 else second
        else:
            first = (first * 5 + i) % 1000003
            second = -i if i % 1000 == 0 else second
        found.append((first, second))
    return found


def number(text):
    """Of bytes in hexadecimal."""
    return int.from_bytes(bytes.fromhex(text), "little", signed=True)


class Tests(PlaceTap):
    def answers(self, command, *arguments):
        found = subprocess.run(
            [self.options.cprec, command, self.recording, "--json",
             *arguments], text=True, capture_output=True, timeout=600)
        equal(found.returncode, 0, f"{command} {arguments}: {found.stderr}")
        return [json.loads(line) for line in found.stdout.splitlines()]

    def record(self, engine, script):
        """Takes what was printed."""
        self.recording = self.path(f"{engine}.cpr")
        found = subprocess.run(
            [self.options.cprec, "record", "-q", "-o", self.recording, engine,
             os.path.join(HERE, "programs/jit", script)], text=True,
            capture_output=True, timeout=600)
        equal((found.returncode, found.stderr), (0, ""), "record")
        self.printed = found.stdout.splitlines()
        self.values = cells()
        self.code = {}

    def where(self, size):
        """Takes where the cells are, from when on, and how large one is."""
        self.size = size
        if size == 8:               # LuaJIT's script tells it
            self.cell = int(self.printed.pop(0), 16)
            self.line, = self.answers("query", f"--addr={self.cell}",
                                      "--at=output:1")
            self.since = self.line["at"]
            self.first_line = 2
            return
        call = [one for one in self.answers("strace", "-e", "trace=write")
                if one.get("arguments", [])[2:] == ["4096"]][0]
        registers, = self.answers("registers", f"--at={call['at']}",
                                  f"--thread={call['thread']}", "rsi")
        self.cell = int(registers["registers"]["rsi"], 16)
        self.since = call["at"]
        self.first_line = 1

    def held(self):
        """What the program printed is what the memory held."""
        equal([tuple(map(int, line.split())) for line in self.printed],
              self.values[PART - 1::PART], "what it printed")
        lines = [f"--at=output:{line}" for line in range(
            self.first_line, self.first_line + len(self.printed))]
        for which in range(2):
            found = self.answers(
                "query", f"--addr={self.cell + which * self.size}",
                f"--size={self.size}", *lines)
            equal([number(one["bytes"]) for one in found],
                  [int(line.split()[which]) for line in self.printed],
                  f"cell {which}")
        self.times = [one["at"] for one in found]
        return f"{len(found)} times"

    def written(self):
        """All writes, in order: those of the loops, nothing else."""
        self.writes = []
        for which in range(2):
            found = self.answers(
                "writes", f"--addr={self.cell + which * self.size}",
                f"--size={self.size}", f"--from={self.since}",
                f"--to={self.times[-1]}")
            equal({one["access"] for one in found}, {"write"}, "accesses")
            # An interpreter may write a value twice.
            changes = [(number(one["old"]), number(one["new"]))
                       for one in found if one["old"] != one["new"]]
            held = [0] + [turn[which] for turn in self.values]
            expected = [pair for pair in zip(held, held[1:])
                        if pair[0] != pair[1]]
            for place, pair, right in zip(itertools.count(), changes,
                                          expected):
                equal(pair, right, f"change {place} of cell {which}")
            equal(len(changes), len(expected), f"changes of cell {which}")
            expect(len(found) >= (TURNS, TURNS / 1000)[which],
                   f"only {len(found)} writes")
            self.writes += found
        return f"{len(self.writes)} writes"

    def last(self):
        """The last write before each line, of one cell and the other."""
        for count, (line, at) in enumerate(zip(self.printed, self.times)):
            which = count % 2
            found, = self.answers(
                "last", f"--addr={self.cell + which * self.size}",
                f"--size={self.size}", f"--at={at}", "--writes")
            before = [one for one in self.writes
                      if one["addr"] == found["addr"] and one["at"] < at]
            equal(found, before[-1], "the last write")
            equal(number(found["new"]), int(line.split()[which]), "value")

    def made(self):
        """Most writes are by code that no file has, of several versions."""
        sites = {}
        for one in self.writes:
            sites.setdefault(int(one["pc"], 16), []).append(one)
        of_files = 0
        for pc, writes in sites.items():
            # What is mapped there then: never behind the next line.
            found, = self.answers("maps", f"--at={writes[0]['at']}", hex(pc))
            if found["region"] == "file":
                of_files += len(writes)
                continue
            expect("x" in found["prot"], f"{found}")
            self.code[pc] = writes
        share = 1 - of_files / len(self.writes)
        expect(share > 0.5, f"only {share:.0%} of the writes are by such code")
        expect(len(self.code) > 3, f"only at {len(self.code)} addresses")
        return (f"{share:.0%} of the writes, by instructions at "
                f"{len(self.code)} addresses")

    def instruction(self, data):
        """objdump's opinion: the length and the text of the first one."""
        with open(self.path("code"), "wb") as file:
            file.write(data)
        said = subprocess.run(
            ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M",
             "intel", self.path("code")], text=True, capture_output=True,
            check=True).stdout
        line = re.search(r"^ +0:\t((?:[0-9a-f]{2} )+) *\t(.*)$", said, re.M)
        return len(line[1].split()), line[2]

    def understood(self):
        """The code of then is one that writes memory, and was written before."""
        busiest = sorted(self.code, key=lambda pc: -len(self.code[pc]))
        for pc in busiest[:6]:
            at = self.code[pc][-1]["at"]
            held, = self.answers("query", f"--addr={pc:#x}", "--size=16",
                                 f"--at={at}")
            length, text = self.instruction(bytes.fromhex(held["bytes"]))
            expect(re.search(r"\[r.*\]", text.split(",")[0]),
                   f"at t={at}, {pc:#x} is '{text}'")
            shown, = [line for line in self.answers(
                "disassemble", f"--at={at}", "--count=1") if line.get("next")]
            equal((int(shown["addr"], 16), shown["bytes"]),
                  (pc, held["bytes"][:2 * length]), "disassemble")
            wrote, = self.answers("last", f"--addr={pc:#x}",
                                  f"--size={length}", f"--at={at}")
            expect(wrote["at"] < at, "code that is not written yet")
            equal(wrote["access"], "write", f"who wrote {pc:#x}")
            expect(wrote["pc"] != hex(pc), "it has written itself")

    def verified(self):
        found = subprocess.run([self.options.cprec, "verify", "-q",
                                self.recording], text=True,
                               capture_output=True, timeout=600)
        equal((found.returncode, found.stderr), (0, ""), "verify")

    def engine(self, name, script, size):
        self.begin()
        self.test(f"{name}: recorded", self.record, name, script)
        self.test(f"{name}: where the cells are", self.where, size)
        self.test(f"{name}: what they held", self.held)
        self.test(f"{name}: all writes", self.written)
        if self.failed:
            return
        self.test(f"{name}: the last writes", self.last)
        self.test(f"{name}: code without a file", self.made)
        self.test(f"{name}: which instructions", self.understood)
        self.test(f"{name}: verify", self.verified)


def run_all(options, folder):
    tests = Tests(options, folder)
    engines = [("luajit", "cells.lua", 8)]
    if options.node:
        engines.append(("node", "cells.js", 4))
    for name, script, size in engines:
        if shutil.which(name):
            tests.engine(name, script, size)
        else:
            tests.count += 1
            print(f"ok {tests.count} - {name} # SKIP it is not installed")
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--node", action="store_true", help="node, too")
    sys.exit(main(run_all, parser=parser))
