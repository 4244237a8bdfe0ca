#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of `cprec debug --plain`: what it says, and that gdb, on the same
recording, stops at the same places.

With --rounds N, that many seeds of random moves are compared.
"""
import argparse
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from gdb import CPP, LIST, PLAIN, THREADS, Gdb  # noqa: E402
from tap import Failure, equal, expect, main  # noqa: E402

MOVES = ["next", "step", "stepi", "nexti", "reverse-stepi"]
WEIGHTS = [1, 3, 3, 1, 2]

# Known exception, by reverse-next and reverse-step: where a line has several
# parts, as that of a loop, gdb 13 stops in its middle, and --plain where it
# began, as gdb does from 15 on.  So these are asked where no line has any:
# the program has no loop, and its lines no columns.
# Another one, by finish: gdb does not leave main, --plain goes to its caller.
BACK = MOVES + ["reverse-next", "reverse-step"]
BACK_WEIGHTS = [2, 5, 5, 2, 2, 1, 2]
STRAIGHT = """static int table[16];
static int mix(int x)
{
  int y = x * 7;
  y += x >> 2;
  return y;
}
static int sum(int n)
{
  int a;
  if (!n)
    return 1;
  a = mix(n);
  table[n & 15] = a;
  n--;
  a += sum(n);
  return a;
}
int main(void)
{
  int a, b;
  a = sum(3);
  b = sum(4);
  table[3] = a;
  table[4] = b;
  return table[3] & 1;
}
"""


class Plain(Gdb):
    def plain(self, path, commands):
        """The answer of each command, the exit status, the errors."""
        words = [self.options.cprec, "debug", "--plain", "--batch",
                 "--goto=main"]
        for number, command in enumerate(commands):
            words += ["-ex", f"echo \\n@@{number}\\n", "-ex", command]
        done = subprocess.run(words + [path], capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)
        return (re.split(r"\n?@@\d+\n", done.stdout)[1:], done.returncode,
                done.stderr)

    def asks(self, path, *steps):
        """Pairs of a command and a pattern."""
        answers, status, errors = self.plain(path, [one for one, _ in steps])
        for index, (asked, wanted) in enumerate(steps):
            found = answers[index] if index < len(answers) else "(nothing)"
            if not re.search(wanted, found, re.S):
                raise Failure(f"{asked}\nwanted: {wanted}\nfound: {found}"
                              f"\nstatus: {status}\nerrors: {errors}")
        equal(status, 0, errors)
        return f"{len(steps)} commands"

    # ------- sessions -------

    def lines(self):
        program = self.build("lines", LIST, "-g", "-O0")
        printed = subprocess.run([program], capture_output=True, text=True)
        # It crashes, so what it had printed to a pipe is lost.
        equal((printed.returncode, printed.stdout), (-11, ""), "natively")
        path = self.record("lines", program)
        return self.asks(
            path,
            ("break push", r"Breakpoint 1 at .*line 11"),
            ("continue", r"Breakpoint 1, push \(id=0\).*:11"),
            ("continue", r"push \(id=10\)"),
            ("print id", "= 10"),
            ("next", "^12\t"),
            ("reverse-next", r"Breakpoint 1, push \(id=10\).*:11"),
            ("backtrace", r"#0  push \(id=10\).*#1 .*main \(\)"),
            ("delete", ""),
            ("finish", r"main \(\).*\n2[78]\t"),
            ("tbreak length", ""),
            ("continue", r"length \(node="),
            ("finish", r"main \(\).*:30"),
            ("watch total", "Watchpoint 3: total"),
            ("continue", r"Old value = 0\nNew value = 5\n"),
            ("continue", "SIGUSR1"),
            ("continue", r"Old value = 5\nNew value = 15\n"),
            ("delete", ""),
            ("goto end", "100.0%"),
            ("print caught", "= 10"),
            ("reverse-continue", "SIG|begins here"),
            ("goto start", r"\[0 "),
            ("reverse-continue", "The recording begins here"),
            ("goto end", "100.0%"),
            ("continue", "The recording ends here: SIGSEGV"))

    def shapes(self):
        program = self.build("shapes", CPP, "-g", "-O0", cxx=True)
        path = self.record("shapes", program)
        return self.asks(
            path,
            ("break Square::area", "Breakpoint 1 at .*line 9"),
            ("continue", r"Breakpoint 1, Square::area.*:9"),
            ("print this->side", "= 1"),
            ("continue", ""),
            ("print this->side", "= 2"),
            ("backtrace", r"#0 .*Square::area.*#1 .*add<Square>.*main"),
            ("finish", r"add<Square>.*:15"),
            ("reverse-continue", r"Breakpoint 1, Square::area"),
            ("reverse-continue", r"Breakpoint 1, Square::area"),
            ("print this->side", "= 1"),
            ("reverse-continue", "The recording begins here"))

    def work(self):
        program = self.build("threads", THREADS, "-g", "-O0", "-pthread")
        path = self.record("threads", program)
        return self.asks(
            path,
            ("break work", ""),
            ("continue", r"Breakpoint 1, work"),
            ("continue", r"Breakpoint 1, work"),
            ("delete", ""),
            ("tbreak 17", ""),
            ("continue", r"main \(\).*:17"),
            ("print counter", "= 2000"),
            ("watch counter", ""),
            ("reverse-continue", "Old value = 2000\nNew value = 1999.*work"),
            ("continue", "Old value = 1999\nNew value = 2000.*work"),
            ("output", ""),
            ("goto end", "100.0%"),
            ("output", "2000"))

    def bare(self):
        program = self.build("bare", PLAIN, "-O2", "-s", "-static")
        status = subprocess.run([program]).returncode
        path = self.record("bare", program)
        return self.asks(
            path,
            ("goto start", r"\[0 "),
            ("x/3i $pc", r"=> 0x.*\n.*0x.*\n.*0x"),
            ("stepi 50", r"\[50 "),
            ("when", r"^50\b"),
            ("reverse-stepi 50", r"\[0 "),
            ("when", r"^0\b"),
            ("continue", f"exited with status {status}" if status
             else "The recording ends here"),
            ("reverse-continue", "The recording begins here"))

    def errors(self):
        path = os.path.join(self.folder, "lines.cpr")
        for bad in "bogus", "break nowhere", "print nothing", "delete 7":
            answers, status, errors = self.plain(path, [bad, "when"])
            equal(status, 1, bad)
            equal(len(answers), 1, f"commands behind '{bad}'")
            expect(errors.startswith("cprec: "), errors)

    def gone(self):
        """Without the program's file."""
        program = self.build("gone", PLAIN, "-g", "-O0")
        path = self.record("gone", program)
        os.remove(program)
        return self.asks(path, ("goto start", r"\[0 "), ("stepi", r"\[1 "),
                         ("when", "^1\n?"), ("backtrace", "#0 "),
                         ("continue", "The recording ends here"))

    # ------- as gdb -------

    def agrees(self, name, source, seed, choice, weights=None):
        program = os.path.join(self.folder, name)
        path = os.path.join(self.folder, name + ".cpr")
        if not os.path.exists(path):
            self.build(name, source, "-g", "-O0", "-gno-column-info")
            self.record(name, program)
        chosen = random.Random(seed)
        # Into what is called, so that moves back do not leave main.
        moves = ["next", "next"] + chosen.choices(choice, weights, k=20)
        its, errors = self.gdb(
            [self.options.cprec, "gdb", "-g", "main", path, "--"],
            [one for move in moves for one in (move, "monitor when")])
        ours, _, more = self.plain(
            path, [one for move in moves for one in (move, "when")])
        # With -batch, gdb writes what monitor says to standard error.
        wanted = re.findall(r"^(\d+(?:\.\d+)?)$", errors, re.M)
        expect(len(wanted) == len(moves) and len(its) == len(ours),
               f"{errors}\n{more}")
        equal([one.split()[0] for one in ours[1::2]], wanted,
              f"seed {seed}, {moves}")
        return f"{len(moves)} moves"


def run_all(options, folder):
    tests = Plain(options, folder)
    tests.test("lines, there and back", tests.lines)
    tests.test("C++", tests.shapes)
    tests.test("threads", tests.work)
    tests.test("a stripped program", tests.bare)
    tests.test("errors end it", tests.errors)
    tests.test("without the program", tests.gone)
    for seed in range(options.rounds):
        tests.test(f"as gdb, {seed}", tests.agrees, "mix", PLAIN, seed,
                   MOVES, WEIGHTS)
        tests.test(f"as gdb, back, {seed}", tests.agrees, "straight",
                   STRAIGHT, seed, BACK, BACK_WEIGHTS)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--rounds", type=int, default=3)
    sys.exit(main(run_all, parser=PARSER))
