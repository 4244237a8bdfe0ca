#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb walks through a recording as through the program itself.

Of programs of several kinds, compiled in several ways: each stop of `cprec gdb`
on the way forwards is gdb's own, with its frames, their lines, and arguments; and
on the way back it stops where it does forwards.  --all and --walks are more of it.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import (GDB_NAMES, CprecTap, equal, expect, main,  # noqa: E402
                 record_as_in_gdb)

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "walks_gdb.py")
# Signals that are passed stop nobody, but for what `signals` does.
PASSED = "handle SIGUSR1 SIGUSR2 SIGSEGV nostop noprint pass"
# How a thread's stack is made depends on what the kernel can do; whether it has
# ended when another waits for that, on chance.
SKIPPED = ("skip function __pthread_create_2_1",
           "skip function ___pthread_join")
LEVELS = "-O0", "-O1", "-O2", "-O3"
# Of each program, breakpoints and watchpoints.
PROGRAMS = {
    "recursion.c": ("break tree", "break ackermann if n == 0"),
    "tails.c": ("break add", "watch total", "break by_size"),
    "handlers.c": ("break inner", "watch counts[0]", "break fault"),
    "threads.c": ("break deposit", "watch shared", "break worker"),
    "loops.c": ("watch last", "watch cells[2].small", "watch mean",
                "break fill"),
    "jumps.c": ("watch tries", "break dig", "break handler"),
    "calls.c": ("watch compared", "break by_length", "break farewell"),
    "objects.cc": ("break square::area", "catch throw", "catch catch"),
}
# The position has no meaning natively.
SEEN = "command", "why", "thread", "frames", "place", "arguments"


class Walks(CprecTap):
    def build(self, source, compiler, level):
        name = f"{source.split('.')[0]}_{compiler}{level}"
        program = os.path.join(self.folder, name)
        if source.endswith(".cc"):
            compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
        subprocess.run(
            [compiler, "-g", level, "-no-pie", "-fno-pie", "-pthread",
             "-Wl,-z,now", "-o", program,
             os.path.join(self.options.programs, source)],
            check=True, timeout=120)
        done = self.cprec("record", "-q", "-o", program + ".cpr", "--",
                          program)
        expect(os.path.exists(program + ".cpr"), done.stderr)
        return program

    def walk(self, words, program, **walk):
        out = os.path.join(self.folder, "stops.json")
        if os.path.exists(out):
            os.remove(out)
        environment = {**os.environ, "LC_ALL": "C", "WALK": json.dumps(
            {"program": program, "out": out, "moves": 60, "points": [],
             **walk})}
        done = subprocess.run(
            [*words, "-nx", "-q", "-batch", *GDB_NAMES, "-x", SCRIPT],
            env=environment, capture_output=True, text=True, timeout=250,
            stdin=subprocess.DEVNULL)
        expect(os.path.exists(out), done.stdout + done.stderr)
        with open(out) as file:
            return json.load(file)

    def ours(self, program, **walk):
        return self.walk([self.options.cprec, "gdb",
                          f"--gdb={self.options.gdb}", "-g", "start",
                          program + ".cpr", "--"], program,
                         start=["tbreak main", "continue"], **walk)

    def compare(self, program, **walk):
        """Returns where ours stops, if that is where gdb does natively."""
        native = self.walk([self.options.gdb, program], program,
                           start=["tbreak main", "run"], **walk)
        ours = self.ours(program, **walk)
        for index, stops in enumerate(zip(ours, native)):
            told, wanted = ([stop.get(key) for key in SEEN] for stop in stops)
            # At the end, which watch was looked at last is told once more.
            if "frames" not in stops[1]:
                told[1] = wanted[1]
            equal(told, wanted, f"{walk}, stop {index}, behind "
                  f"{native[max(0, index - 3):index]}")
        equal(len(ours), len(native), "number of stops")
        return ours

    def forwards(self, program, points):
        passed = [PASSED, *SKIPPED]
        count = len(self.compare(program, how="steps", points=passed,
                                 moves=self.options.moves))
        for seed in range(self.options.seed,
                          self.options.seed + self.options.walks):
            count += len(self.compare(program, how="at_random", seed=seed,
                                      points=["break main", *passed]))
            # When a thread that begins gets to a breakpoint is chance.
            if "break worker" not in points:
                count += len(self.compare(program, how="at_random", seed=seed,
                                          points=list(points)))
        return f"{count} stops"

    def backwards(self, program, points):
        """Breakpoints and watchpoints in reverse, those before the access."""
        both = [*points, PASSED]
        there = self.compare(program, how="continues", points=both)[1:-1]
        back = self.ours(program, how="continues_back", points=both,
                         moves=len(there))[1:]
        met = []
        for one in back:
            if one["position"] == "0":
                break
            # Number 1 is main()'s; the others are made twice.
            kinds = [points[(number - 2) % len(points)].split()[0]
                     for number in one["why"]]
            # An access by the instruction that a breakpoint is at is one stop
            # then, and was two.
            met += [(one, kind) for kind in sorted(set(kinds), reverse=True)
                    ] if "watch" in kinds else [(one, "")]
        equal(len(met), len(there), "stops on the way back")
        for (one, kind), other in zip(met, reversed(there)):
            position = int(other["position"].split(".")[0])
            if kind == "watch":
                position -= one["position"].split(".")[0] != str(position)
            equal(one["position"].split(".")[0], str(position),
                  f"{one['why']}, forwards {other}")
        return f"{len(back)} stops"


def run_all(options, folder):
    record_as_in_gdb()
    tests = Walks(options, folder)
    ways = [(compiler, level) for compiler in ("gcc", "clang")
            if shutil.which(compiler) for level in LEVELS]
    for number, (source, points) in enumerate(PROGRAMS.items()):
        some = ways if options.all else [ways[number % len(ways)]]
        for compiler, level in some:
            name = f"{source}, {compiler} {level}"
            program = tests.build(source, compiler, level)
            tests.test(f"{name}, forwards", tests.forwards, program, points)
            tests.test(f"{name}, backwards", tests.backwards, program, points)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--programs", required=True, help="folder of sources")
    PARSER.add_argument("--gdb", default="gdb")
    PARSER.add_argument("--moves", type=int, default=200)
    PARSER.add_argument("--walks", type=int, default=1)
    PARSER.add_argument("--seed", type=int, default=1)
    PARSER.add_argument("--all", action="store_true",
                        help="compile each program in all ways")
    sys.exit(main(run_all, parser=PARSER))
