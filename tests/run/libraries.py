#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Symbols of libraries: by the names of files, and of the links that lead there.

usage: libraries.py --cprec C

Two libraries have a variable of the same name.  Speaks TAP.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

LIBRARY = "int own_{name} = {value}, both = {value};\n"
PROGRAM = """extern int own_x, own_y;
int main(void) { return own_x + own_y - 3; }
"""
FILES = {"x": "libown_x.so.1.2.3", "y": "libown_y.so"}


class Tests(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.trace = os.path.join(folder, "t.cpr")

    def compile(self, name, source, *options):
        subprocess.run(["gcc", "-o", name, "-x", "c", "-", "-x", "none", *options],
                       input=source, text=True, check=True, cwd=self.folder)

    def make(self):
        for value, (name, file) in enumerate(FILES.items(), 1):
            soname = f"libown_{name}.so" + (".1" if name == "x" else "")
            self.compile(file, LIBRARY.format(name=name, value=value),
                         "-shared", "-fPIC", f"-Wl,-soname,{soname}")
            if file != soname:
                os.symlink(file, os.path.join(self.folder, soname))
        self.compile("program", PROGRAM, *FILES.values(),
                     f"-Wl,-rpath,{self.folder}")
        done = self.cprec("record", "-o", self.trace,
                          os.path.join(self.folder, "program"))
        equal((done.returncode, done.stderr), (0, ""), "record")

    def ask(self, name, time="end"):
        return self.cprec("query", self.trace, "--addr", name, "--at", time,
                          "--json")

    def finds(self, name, value):
        done = self.ask(name)
        equal((done.returncode, done.stderr), (0, ""), name)
        equal(json.loads(done.stdout)["bytes"], f"{value:02x}000000", name)

    def lacks(self, name, says, time="end"):
        done = self.ask(name, time)
        equal(done.returncode, 1, "status")
        expect(done.stderr.startswith(f"cprec: {says}"), done.stderr)


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("record", tests.make)
    for library in "libown_x.so.1.2.3", "libown_x.so.1", "libown_x.so":
        tests.test(library, tests.finds, library + "!both", 1)
    tests.test("libown_y.so", tests.finds, "libown_y.so!both", 2)
    for library in ("libown_x.so.2", "libown_x", "libown_y.so.1",
                    "libown_x.so.1.2.3.4", "t.cpr"):
        tests.test(f"no {library}", tests.lacks, library + "!both",
                   f"cannot find '{library}!both': no program or library "
                   f"'{library}' is mapped at t=")
    tests.test("not yet", tests.lacks, "libown_x.so.1!both", "cannot find "
               "'libown_x.so.1!both': no program or library 'libown_x.so.1' is "
               "mapped at t=0 in ", "start")
    tests.test("no such symbol", tests.lacks, "libown_x.so.1!own_y",
               "cannot find a symbol 'libown_x.so.1!own_y'")
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
