#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Races in code without lines: `cprec races` and `cprec query` must say in
which module, and where in its file, as nm saw it before the symbols were taken
out; with symbols, in which function.  Speaks TAP.

usage: check_names.py CPREC
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "run"))
from tap import Tap, equal, expect  # noqa: E402

NAME = "libbare.so.1"

LIBRARY = """static volatile int hidden;
static __attribute__((noinline, noclone)) void bump(int to) { hidden = to; }
void other(int to) { bump(to); __asm__ volatile ("" ::: "memory"); }
"""

PROGRAM = """#include "race.h"
void other(int to);
static void one(void) { other(1); }
static void two(void) { other(2); }
int main(void) { race(one, two); return 0; }
"""


def run(*argv, folder):
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True,
                          text=True, timeout=60).stdout


def span(folder, name):
    """Where it begins and ends in the library's file."""
    for line in run("nm", "-S", NAME, folder=folder).splitlines():
        fields = line.split()
        if fields[-1] == name and len(fields) == 4:
            return int(fields[0], 16), int(fields[0], 16) + int(fields[1], 16)
    raise ValueError(name)


def make(folder, cprec, *strip):
    """A recording, and where function and variable are."""
    for name, text in ("library", LIBRARY), ("program", PROGRAM):
        with open(os.path.join(folder, name + ".c"), "w") as out:
            out.write(text)
    run("gcc", "-O1", "-fPIC", "-shared", f"-Wl,-soname,{NAME}", "-o", NAME,
        "library.c", folder=folder)
    places = span(folder, "bump"), span(folder, "hidden")
    if strip:
        run(*strip, NAME, folder=folder)
    run("gcc", "-g", "-D_GNU_SOURCE", f"-I{HERE}", "-pthread", "-o", "program",
        "program.c", "./" + NAME, "-Wl,-rpath,$ORIGIN", folder=folder)
    run(cprec, "record", "-q", "-o", "t.cpr", "./program", folder=folder)
    return places


def check_side(side, where, function):
    equal(side["module"], NAME, "module")
    equal(side["function"], function, "function")
    equal(side["file"], None, "file")
    if function:
        expect(side["offset"] < where[1] - where[0], f"offset {side['offset']}")
    else:
        expect(where[0] <= side["offset"] < where[1],
               f"offset {side['offset']:#x}, should be in {where}")


def check(cprec, function, strip):
    with tempfile.TemporaryDirectory(prefix="cprec-names-") as folder:
        code, data = make(folder, cprec, *strip)
        races = json.loads(run(cprec, "races", "--json", "t.cpr",
                               folder=folder))["races"]
        equal(len(races), 1, "races")
        for side in "a", "b":
            check_side(races[0][side], code, function)
        text = run(cprec, "races", "t.cpr", folder=folder)
        mark = f"{NAME}!bump+0x" if function else f"{NAME}+0x"
        place = re.escape(mark) + r"[0-9a-f]+"
        expect(re.match(f"{place} races with {place}, ", text), text)
        variable = f"{NAME}!hidden" if function else f"{NAME}+{data[0]:#x}"
        equal(races[0]["symbol"], variable, "symbol")
        check_query(cprec, folder, races[0], code, function)


def check_query(cprec, folder, race, code, function):
    asked = ("query", "t.cpr", f"--addr={race['addr']}", "--at=end",
             "--size=4")
    values = json.loads(run(cprec, *asked, "--json", folder=folder))["race"]
    written = [value for value in values if value["thread"]]
    equal(len(written), 2, "values that were written")
    for value in written:
        check_side(value, code, function)
    text = run(cprec, *asked, folder=folder)
    mark = f"{NAME}!bump+0x" if function else f"{NAME}+0x"
    equal(text.count(f"by {mark}"), 2, "in the text")


def main():
    cprec = os.path.abspath(sys.argv[1])
    tests = Tap()
    tests.test("a library without symbols", check, cprec, None,
               ("strip", "-s"))
    tests.test("a library with symbols", check, cprec, "bump", ())
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main())
