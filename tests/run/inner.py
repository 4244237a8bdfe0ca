#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions within functions, and those asked for by a part of their name.

usage: inner.py --cprec C --cc CC --cxx CXX

Breakpoints of gdb (calls_gdb.py) on all lines and names of programs with
closures, methods of local classes and nested functions stop at the same
instructions, as often and with the same arguments: programs/inner/.  Speaks
TAP.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict

sys.dont_write_bytecode = True
from calls import Calls  # noqa: E402
from tap import equal, expect, main  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "programs", "inner")

# Functions as gdb and c++filt call them.
OF_CXX = ("main::Local::lift", "Local::lift", "lift", "app::twice", "twice",
          "hidden", "Box::get", "get", "one::same")
CLOSURES = ("main::{lambda(int)#1}::operator()",
            "app::work(int)::{lambda(int)#1}::operator()")
OF_RUST = ("closures::main::{closure#0}", "closures::main::{closure#1}",
           "closures::main::nested", "closures::inner::twice")
FIXED = "-g -no-pie"
# Source, how it is compiled, functions.
PROGRAMS = (
    ("closures.cpp", f"g++ {FIXED}", OF_CXX + CLOSURES),
    ("closures.cpp", f"g++ {FIXED} -O1", ()),
    ("closures.cpp", f"clang++ {FIXED}", OF_CXX),
    ("nested.c", f"gcc {FIXED}", ()),
    ("closures.rs", "rustc -g -C relocation-model=static", OF_RUST),
)
ASKED = ("$pc", "v", "w", "a", "by")


def number(text):
    """An argument or an address, or None where there is none."""
    found = re.search(r"0x[0-9a-f]+\b|^-?\d+$", text)
    return int(found.group(0), 0) if found else None


class Inner(Calls):
    def make(self, name, command):
        folder = os.path.join(self.folder, str(self.count))
        program = os.path.join(folder, name.partition(".")[0])
        os.mkdir(folder)
        subprocess.run([*command.split(), "-o", program,
                        os.path.join(SOURCES, name)], check=True, timeout=120)
        return program

    def lines(self, name, program):
        """Those of which there is code."""
        done = subprocess.run(
            ["objdump", "--dwarf=decodedline", program], check=True,
            capture_output=True, text=True, timeout=120)
        found = re.findall(rf"^{re.escape(name)} +(\d+) +0x\S+ +.*\bx$",
                           done.stdout, re.M)
        return sorted({int(line) for line in found})

    @staticmethod
    def known(stops):
        """What has a value at one of them."""
        return [one for index, one in enumerate(ASKED)
                if not index or any(stop[index] is not None
                                    for stop in stops)]

    def has_none(self, path, place, stops):
        """What never has a value for gdb has none here, or is refused."""
        asked = [one for one in ASKED if one not in self.known(stops)]
        if not asked or not stops:
            return
        done = self.cprec("log", path, "--json",
                          f"{place} => {', '.join(asked)}")
        expect(done.stdout or done.stderr.startswith(
            "cprec: cannot find a symbol"), done.stderr)
        for log in map(json.loads, done.stdout.splitlines()):
            equal([value["expression"] for value in log["values"]
                   if number(value.get("value", "")) is not None], [], place)

    def stops(self, name, command, functions):
        program = self.make(name, command)
        path = self.record(program)
        places = [*(f"{name}:{line}" for line in self.lines(name, program)),
                  *functions]
        # Where gdb stops first, it is not told what to stop at yet.
        begin = self.ours("log", path, "main => $pc")[0]["values"][0]
        theirs = self.gdb(program, points=[
            "\t".join([place, *ASKED]) for place in places])["LOG"]
        found, expected = defaultdict(list), defaultdict(list)
        for log in theirs:
            expected[log["place"]].append([number(value)
                                           for value in log["values"]])
        for log in self.ours("log", path, *(
                f"{place} => {', '.join(self.known(expected[place]))}"
                for place in places)):
            values = {value["expression"]: number(value.get("value", ""))
                      for value in log["values"]}
            found[log["place"]].append([values.get(one, number(""))
                                        for one in ASKED])
        for place in places:
            if place in functions:
                self.has_none(path, place, expected[place])
            equal([stop for stop in found[place]
                   if stop[0] != number(begin["value"])], expected[place],
                  place)
        return f"{len(places)} places"

    def conditions(self):
        """Of two places of a line, one has the variable."""
        name = "closures.cpp"
        program = self.make(name, f"g++ {FIXED}")
        path = self.record(program)
        with open(os.path.join(SOURCES, name), encoding="utf-8") as source:
            line = next(number for number, text in enumerate(source, 1)
                        if "auto plus" in text)
        place = f"{name}:{line}"
        stops = {log["values"][1].get("value", "none"): log["values"][0]
                 for log in self.ours("log", path, f"{place} => $pc, w")}
        begin = ("-ex", f"break {place} if w == 2", "-ex", "info breakpoints")
        asked = ("-ex", "print $pc", "-ex", "print w", "-ex", "continue")
        done = self.cprec("debug", "--plain", "--batch", *begin,
                          "-ex", "continue", *asked, path)
        equal(re.findall(r"^= (.*)$", done.stdout, re.M)[1:], ["2"], "w")
        theirs = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", "-iex",
             "set debuginfod enabled off", *begin, "-ex", "run", *asked,
             program], capture_output=True, text=True, timeout=120).stdout
        equal(number(re.search(r"^\$1 = .*", theirs, re.M).group(0)),
              number(stops["2"]["value"]), "place")
        lacks, = re.findall(r"N\* +0x0*([0-9a-f]+)", theirs)
        expect(f"not at 0x{lacks}," in done.stdout, done.stdout)
        expect(re.search(f"^No stop at 0x{lacks} in .*'w'", done.stdout, re.M),
               done.stdout)
        done = self.cprec("debug", "--plain", "--batch", "-ex",
                          f"break {place} if nosuch == 2", path)
        expect("Breakpoint" not in done.stdout and "'nosuch'" in done.stderr,
               done.stdout + done.stderr)


def run_all(options, folder):
    tests = Inner(options, folder)
    for name, command, functions in PROGRAMS:
        if shutil.which(command.split()[0]):
            tests.test(f"{name} by {command}", tests.stops, name, command,
                       functions)
        else:
            print(f"# {name}: there is no {command.split()[0]}")
    tests.test("conditions", tests.conditions)
    return tests.summary()


if __name__ == "__main__":
    own = argparse.ArgumentParser(description=__doc__)
    own.add_argument("--cc", default="cc")
    own.add_argument("--cxx", default="c++")
    sys.exit(main(run_all, parser=own))
