#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debuggers on recordings of AArch64: gdb, `debug --plain`, and an editor.

usage: arm64_debug.py --cprec C --programs FOLDER [--rounds N]

FOLDER has programs/debug_foreign.c.  Programs are compiled by the cross compiler,
statically and dynamically, with and without optimization.  What gdb and --plain
say on them is what is in their sources, and they stop at the same places.
Without that compiler, or gdb-multiarch, nothing is tested.  Speaks TAP.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from dap import version  # noqa: E402
from debug import COPIES, line_of  # noqa: E402
from dap_client import Client  # noqa: E402
from plain import CHOICES, Choice, Plain  # noqa: E402
from steps import Steps  # noqa: E402
from tap import Failure, equal, expect, main  # noqa: E402

MULTIARCH = "gdb-multiarch"
WAYS = {"static, -O0": ["-static", "-O0"], "dynamic, -O0": ["-O0"],
        "static, -O2": ["-static", "-O2"], "dynamic, -O2": ["-O2"]}

# With breakpoints where code is not optimized; of a library without names, gdb
# takes code for something else.
COMPARED = {
    "straight": ("dynamic, -O0", "static, -O2", "static, -O0"),
    "threads": ("static, -O0", "static, -O2"),
    "lines": ("static, -O0",),
    "loops": ("static, -O0",),
}

# Of editors; before it, gdb knows no such protocol.
LEAST_DAP = 14

# What both answer, from main() on.  A word stands for what a machine has there.
BOTH = (
    ("break add", r"Breakpoint 1 at 0x"),
    ("continue", r"Breakpoint 1, .*add \(value=(value@entry=)?0\)"),
    ("backtrace", r"#0 +add \(value=.*#1 .*main \(argc=1, argv="),
    ("p $pc", r"<add\+\d+>|<add>"),
    "argument",
    ("finish", r"main \(.*Value returned is .*0"),
    ("reverse-continue", r"Breakpoint 1, .*add \("),
    ("delete", ""),
    ("tbreak keep", r"Temporary breakpoint 2"),
    ("continue", r"keep \(.*from="),
    ("p *from", r'{first = 1, second = 1.5, name = 0x\w+ (<.*> )?"a pair"}'),
    ("p last.second", r"= 0"),
    ("up", r"#1 .*main"),
    ("p here.name", r'"a pair"'),
    ("p numbers", r"= {10, 20}"),
    ("down", "#0 .*keep"),
    ("finish", "main"),
    ("p last", r'{first = 1, second = 1.5, name = 0x\w+ (<.*> )?"a pair"}'),
    ("watch total if total > 20", r"atchpoint 3: total"),
    ("continue", r"Old value = 10\nNew value = 25\n.*add"),
    ("p own", r"= 15"),
    ("backtrace", r"add .*run \("),
    ("delete", ""),
    ("tbreak run", r"Temporary breakpoint 4"),
    ("continue", r"run \(arg=.*\)"),
    ("p own", r"= 5"),
    ("tbreak factorial if n == 5", r"breakpoint 5"),
    ("handle SIGUSR1 nostop noprint", ""),
    ("continue", r"factorial \(n=(n@entry=)?5\)"),
    ("p total", r"= 60"),
    ("last total", r"50 -> 60\n.*on_signal"),
    "store",
    ("catch syscall write", r"atchpoint 6 \(syscall '?write"),
    ("continue", r"call (to syscall|of) '?write"),
    ("continue", r"returned from (syscall )?'?write"),
)

PLAIN_ONLY = (
    ("goto end", r"SIGSEGV has killed"),
    "crash",
)

GDB_ONLY = (
    "registers",
    ("info proc mappings", r"r-xp.*debug_foreign.*\[stack\]"),
    ("goto main", "main"),
    ("tbreak keep", ""),
    ("continue", "keep"),
    ("p size_of(from->name)", r"= 6"),
    ("p factorial(6) > 100", r"= 1"),
    ("p (int) getpid() > 1", r"= 1"),
    ("p (int) write(1, from->name, 6)", r"= 6"),
    ("set var total = 77", ""),
    ("p total", r"= 77"),
    ("reverse-step", "main"),
    ("p total", r"= 10"),
    ("tbreak on_signal", ""),
    ("continue", r"on_signal \(number=10"),
    ("backtrace", r"on_signal.*<signal handler called>.*raise.*main"),
    ("handle SIGUSR1 stop", ""),
    ("reverse-continue", "SIGUSR1"),
    ("p $_siginfo.si_signo", r"= 10"),
    ("delete", ""),
    ("catch fork", r"\(fork\)"),
    ("continue", r"forked process \d+"),
    ("delete", ""),
    ("goto end", r"= |copy.name\[0\]"),
    ("reverse-continue", "SIGSEGV"),
    ("p $_siginfo._sifields._sigfault.si_addr", r"= \(void \*\) 0x0"),
)

FORKS = """#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
  pid_t child = vfork();
  if (!child)
    _exit(0);
  waitpid(child, 0, 0);
  child = fork();
  if (!child)
    _exit(0);
  return waitpid(child, 0, 0) < 0;
}
"""

ARM64 = {
    "argument": (("p $w0", r"= 0"), ("p (long) $sp % 16", r"= 0")),
    "store": (("x/3i $pc", r"=> 0x\w+ <on_signal\+.*:\s+str\s+w"),),
    "crash": (("info registers", r"x0 +0x0 .*sp +0x\w{12} "),),
    "registers": (
        ("info registers", r"x0 +0x.*\npc +0x.*\ncpsr +0x.*\[ .*fpcr +0x0"),
        ("p $v0.d.u", r"= {\d+, \d+}"),
        ("info auxv", r"AT_ENTRY .*AT_PLATFORM.*aarch64")),
}


class Debug(Plain):
    compiler = ["aarch64-linux-gnu-gcc"]
    sysroot = "/usr/aarch64-linux-gnu"
    ways = WAYS
    rows = ARM64
    register = "x0"
    no_gdb = ("no gdb here knows aarch64; that of the package gdb-multiarch "
              "does")

    def steps(self, *tables):
        """Their rows, and the machine's."""
        return [step for table in tables for row in table for step in
                (self.rows[row] if isinstance(row, str) else [row])]

    def compiled(self, name, way, text=None):
        """The program of a source, which `text` is or a file has."""
        source = os.path.join(self.options.programs, name + ".c")
        if text:
            source = os.path.join(self.folder, name + ".c")
            with open(source, "w", encoding="utf-8") as out:
                out.write(text)
        program = os.path.join(self.folder, name + re.sub(r"\W+", "-", way))
        subprocess.run([*self.compiler, "-g", "-pthread", *self.ways[way],
                        "-o", program, source], check=True)
        return program

    def recorded(self, program, *words):
        path = program + ".cpr"
        done = self.cprec("record", "-q", "-o", path, "--sysroot=" + self.sysroot,
                          "--", program, *words)
        expect(os.path.exists(path), done.stderr)
        return path

    def expected(self, steps, answers, errors):
        for (asked, wanted), found in zip(steps, answers + [""] * len(steps)):
            if not re.search(wanted, found, re.S):
                raise Failure(f"{asked}\nwanted: {wanted}\nfound: {found}\n"
                              f"errors: {errors}")
        return f"{len(steps)} commands"

    def sessions(self, way):
        path = self.recorded(self.compiled("debug_foreign", way))
        steps = self.steps(BOTH, PLAIN_ONLY)
        answers, _, errors = self.plain(path, [one for one, _ in steps])
        self.expected(steps, answers, errors)
        steps = self.steps(BOTH, GDB_ONLY)
        words = [self.options.cprec, "debug", "-g", "main",
                 *self.gdb_option(), path, "--"]
        answers, errors = self.gdb(words, [one for one, _ in steps])
        return self.expected(steps, answers, errors)

    def copies(self):
        """`last` goes on to where a value was copied from."""
        path = self.recorded(self.compiled("copies", list(self.ways)[0],
                                           COPIES))
        steps = [("goto end", ""),
                 ("last two.b", "a copy of one"),
                 *(("last", f"a copy of.*copies.c:{line_of(COPIES, mark)}|"
                            f"copies.c:{line_of(COPIES, mark)}.*a copy of")
                   for mark in ("member", "through")),
                 ("last", "a copy of second"), ("last", "a copy of first"),
                 ("last", f"copies.c:{line_of(COPIES, 'origin')}")]
        words = [self.options.cprec, "debug", *self.gdb_option(), path, "--"]
        answers, errors = self.gdb(words, [one for one, _ in steps])
        return self.expected(steps, answers, errors)

    def forks(self):
        """Some architectures have vfork() as a flag of clone()."""
        path = self.recorded(self.compiled("forks", list(self.ways)[0], FORKS))
        steps = (("goto main", ""), ("catch vfork", ""), ("catch fork", ""),
                 ("continue", r"vforked process \d+"),
                 ("continue", r"\(forked process \d+"),
                 ("reverse-continue", r"vforked process \d+"))
        words = [self.options.cprec, "debug", *self.gdb_option(), path, "--"]
        answers, errors = self.gdb(words, [one for one, _ in steps])
        return self.expected(steps, answers, errors)

    def executed(self):
        """gdb is told of the next program, there and back."""
        path = self.recorded(self.compiled("debug_foreign", "dynamic, -O0"),
                             "again")
        steps = (("goto start", ""), ("tbreak add", ""),
                 ("continue", r"add \(value=0\)"), ("catch exec", "exec"),
                 ("handle SIGUSR1 nostop noprint", ""),
                 ("continue", r"exec'd .*debug_foreign"),
                 ("tbreak main", ""), ("continue", r"main \(argc=1"),
                 ("reverse-continue", r"exec"),
                 ("p total", "= 60"))
        words = [self.options.cprec, "debug", *self.gdb_option(), path, "--"]
        answers, errors = self.gdb(words, [one for one, _ in steps])
        return self.expected(steps, answers, errors)

    def gdb_option(self):
        """None: cprec finds it."""
        return [] if os.path.basename(self.options.gdb) == self.options.gdb \
            else ["--gdb=" + self.options.gdb]

    def missing(self, path):
        """Without a gdb that knows it, it is told which one does."""
        folder = os.path.join(self.folder, "none")
        os.makedirs(folder, exist_ok=True)
        words = self.no_gdb
        found = {}
        for command in ("gdb",), ("debug", "--batch"), ("dap",):
            found[command[0]] = subprocess.run(
                [self.options.cprec, *command, path], capture_output=True,
                text=True, env={**os.environ, "PATH": folder}, check=False,
                stdin=subprocess.DEVNULL)
        for command in "gdb", "dap":
            equal(found[command].stderr, f"cprec: {words}; 'cprec debug "
                  "--plain' needs none\n", command)
            equal(found[command].returncode, 127, command)
        expect(f"{words}: this is cprec's own prompt" in
               found["debug"].stderr, found["debug"].stderr)

    def compared_ways(self):
        return COMPARED

    def compared(self, name, way, seed):
        choice = CHOICES[name]
        # Where malloc() begins, gdb finds out by its code.
        points = [point for point in choice.points if "malloc" not in point]
        choice = Choice(choice.source, calls_itself=choice.calls_itself,
                        points=points if "-O0" in way else ())
        program = self.compiled(name, way, choice.source)
        path = self.recorded(program)
        os.replace(path, os.path.join(self.folder, name + ".cpr"))
        return self.agrees(name, seed, choice, self.options.gdb)

    def line_of(self, text):
        with open(os.path.join(self.options.programs, "debug_foreign.c"),
                  encoding="utf-8") as source:
            return [text in line for line in source].index(True) + 1

    def edits(self, path):
        """As an editor asks: from main() into a function, and back."""
        client = Client([self.options.cprec, "dap", "--goto=main",
                         *self.gdb_option(), path, "--", "-nx"], self.folder)
        try:
            client.begin()
            place = f"main:{self.line_of('add(i);')}"
            for _ in range(9):
                if client.place() == place:
                    break
                client.move("next")
            equal(client.place(), place, "before the call")
            client.move("stepIn")
            expect(client.place().startswith("add:"), client.place())
            equal(client.variables("Arguments"), {"value": "0"}, "arguments")
            expect(self.register in client.variables("Registers"), "registers")
            client.move("stepBack")
            equal(client.place(), place, "back")
            equal(client.end(), 0, "exit status")
        finally:
            client.close()


def find_gdb(options, name):
    new = os.path.join(options.gdb_folder, name)
    return new if os.path.exists(new) else name


def run_all(tests, folder):
    options = tests.options
    for way in tests.ways:
        tests.test(f"sessions: {way}", tests.sessions, way)
    tests.test("another program", tests.executed)
    tests.test("where a value was copied from", tests.copies)
    tests.test("vfork and fork", tests.forks)
    path = os.path.join(folder, "debug_foreignstatic-O0.cpr")
    tests.test("no gdb", tests.missing, path)
    if version(options.gdb) >= LEAST_DAP:
        tests.test("an editor", tests.edits, path)
    for name, ways in tests.compared_ways().items():
        for seed in range(options.rounds):
            way = ways[seed % len(ways)]
            tests.test(f"as gdb {version(options.gdb)}: {name}, {way}, {seed}",
                       tests.compared, name, way, seed)
    steps = Steps(options, folder)
    steps.count = tests.count
    program = tests.compiled("debug_foreign", "static, -O2")
    path = steps.record(program)
    for what, function in (("steps", steps.there_and_back),
                           ("looks", steps.looks), ("runs", steps.runs),
                           ("calls", steps.calls)):
        steps.test(what, function, path)
    tests.count, tests.failed = steps.count, tests.failed + steps.failed
    return tests.summary()


def begin(options, folder):
    options.gdb = find_gdb(options, MULTIARCH)
    if not shutil.which(Debug.compiler[0]) or not shutil.which(options.gdb):
        print("1..0 # SKIP there is no cross compiler for AArch64, or no "
              "gdb-multiarch: ./setup installs both")
        return 0
    return run_all(Debug(options, folder), folder)


def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--rounds", type=int, default=1)
    made.add_argument("--places", type=int, default=2)
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--gdb-folder", default="", metavar="FOLDER",
                      help="where there is one if the machine's is old")
    return made


if __name__ == "__main__":
    sys.exit(main(begin, "programs", parser=parser()))
