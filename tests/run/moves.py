#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A replay stops where it is to stop, forwards and backwards.

In recordings of the suite's guests and of a real program, the program `moves`
compares runs with what it wrote down before.  gdb says the rest: how often the
same program, run natively, meets a breakpoint, and which values a watched variable
has when.
"""
import argparse
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

BREAKS = ("by_instruction", "by_string", "not_at_all")


def gdb(program, *commands):
    arguments = ["gdb", "-q", "-batch", "-nx", "-ex", "set confirm off",
                 "-ex", "set height 0"]
    for command in commands:
        arguments += ["-ex", command]
    return subprocess.run([*arguments, program], capture_output=True,
                          text=True, timeout=120).stdout


def symbol(program, name):
    out = subprocess.run(["nm", program], capture_output=True, text=True,
                         check=True).stdout
    return int(re.search(rf"^([0-9a-f]+) . {name}$", out, re.M)[1], 16)


class Moves(CprecTap):
    def record(self, program, *arguments, option="--segment=20k"):
        path = os.path.join(self.folder,
                            os.path.basename(program) + option + ".cpr")
        subprocess.run([self.options.cprec, "record", "-q", option,
                        "-o", path, "--", program, *arguments],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=120)
        expect(os.path.exists(path), f"{program}: no recording")
        return path

    def moves(self, *arguments):
        result = subprocess.run([self.options.moves, *arguments],
                                capture_output=True, text=True, timeout=300)
        equal(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout.strip()

    def random(self, program, *arguments):
        return self.moves("random", self.record(program, *arguments),
                          *self.options.tries)

    def breaks(self):
        """As often as gdb says, both ways."""
        program = self.options.moved
        for name in BREAKS:
            out = gdb(program, f"break *{name}", "ignore 1 100000", "run",
                      "info breakpoints")
            expect("already hit" in out, out)
            hits = int(re.search(r"already hit (\d+) times?", out)[1])
            said = self.moves("breaks", self.recording,
                              hex(symbol(program, name)))
            equal(said, f"{hits} on, {hits} back", name)

    def watches(self):
        """The values that gdb sees, in its order.  It tells of changes only,
        and not of those by the kernel, unless it has no debug registers, as on
        some virtual hosts, and steps."""
        program = self.options.moved
        for steps in (False, True):
            native = gdb(program, f"set can-use-hw-watchpoints {1 - steps}",
                         "break main", "run", "delete", "watch watched",
                         *["continue"] * 200)
            values = [int(value) for value in
                      re.findall(r"^New value = (-?\d+)$", native, re.M)]
            if values:
                break
        expect(len(values) > 100, f"gdb saw {len(values)} values")
        out = self.moves("watches", self.recording,
                         hex(symbol(program, "watched")))
        seen, value = [], 0
        for line in out.splitlines():
            by, after = line.split()
            if int(after) != value and (steps or by == "instruction"):
                seen.append(int(after))
            value = int(after)
        equal(seen, values, "values")
        expect(out.count("kernel") == 6, "pread() writes six times")
        return f"{len(values)} changes"

    def index(self, path):
        result = self.cprec("index", path)
        expect(os.path.exists(path + ".idx"), result.stdout + result.stderr)

    def watches_of_lines(self):
        """The same, where FILE.idx says which parts may be left out."""
        address = hex(symbol(self.options.moved, "watched"))
        before = self.moves("watches", self.recording, address)
        self.index(self.recording)
        equal(self.moves("watches", self.recording, address), before, "writes")

    def random_of_lines(self, program, *arguments):
        path = self.record(program, *arguments)
        self.index(path)
        return self.moves("random", path, *self.options.tries)

    def cut_off(self):
        """A recording of one segment that ends before its index."""
        whole_path = self.record(self.options.moved, option="--segment=50m")
        with open(whole_path, "rb") as file:
            whole = file.read()
        path = os.path.join(self.folder, "cut.cpr")
        for size in range(len(whole), 0, -50):
            with open(path, "wb") as file:
                file.write(whole[:size])
            if not self.cprec("dump", "--kind=INDEX", path).stdout:
                break
        address = hex(symbol(self.options.moved, "watched"))
        equal(self.moves("watches", path, address),
              self.moves("watches", self.recording, address), "writes")

    def start(self):
        self.recording = self.record(self.options.moved)


def run_all(options, folder):
    tests = Moves(options, folder)
    tests.test("a program that gdb runs too", tests.start)
    tests.test("breakpoints", tests.breaks)
    tests.test("a watched variable", tests.watches)
    tests.test("a recording without an index", tests.cut_off)
    for program in options.programs:
        tests.test(f"{os.path.basename(program)}, anywhere", tests.random,
                   program)
    tests.test("gzip, anywhere", tests.random, "gzip", "-c", __file__)
    tests.test("a watched variable, of lines", tests.watches_of_lines)
    tests.test("gzip, of lines", tests.random_of_lines, "gzip", "-c", __file__)
    for program in options.programs[:1]:
        tests.test(f"{os.path.basename(program)}, of lines",
                   tests.random_of_lines, program)
    return tests.summary()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--tries", nargs=2, default=("3", "60"),
                           metavar=("WINDOWS", "EACH"))
    arguments.add_argument("programs", nargs="*")
    sys.exit(main(run_all, "moves", "moved", parser=arguments))
