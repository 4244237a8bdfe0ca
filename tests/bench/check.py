#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""That the benchmarks measure all they should; how fast is not asked.

usage: check.py --cprec C --bare B

Speaks TAP.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "run"))
from tap import Failure, Tap, qemu_user  # noqa: E402

PROGRAMS = ("integers", "gzip", "python3", "objdump", "bash", "gdb",
            "make")     # a sample
THREADS = ("private 1", "private 2", "private 4", "mutex 4", "atomic 4",
           "hand-over", "queue", "pigz", "redis")
GOALS = ("run / bare, geometric mean of real programs",
         "record / run, geometric mean of real programs",
         "record / native, geometric mean of real programs",
         "replay / record, geometric mean of real programs",
         "bits per instruction, most of real programs",
         "memory over the program's own in MB, most of any",
         "record / native, integers",
         "record / native, make",
         "bits per instruction, integers",
         "bits per instruction in streams, gzip")
THREADS_GOALS = (
    "record, per instruction, private 4 against private 1",
    "record, microseconds for a hand-over (two switches)",
    "trace, MB for 100,000 hand-overs",
    "trace, MB for a further 100,000 hand-overs")
FOREIGN = "integers", "floats"        # those that are compiled
FOREIGN_ROOT, FOREIGN_ORACLE = "/usr/aarch64-linux-gnu", qemu_user("aarch64")
QUERIES = "mawk", "in order", "256 MB, through"        # a sample
WAYS = [(way, index) for index in ("none", "all") for way in ("warm", "cold")]
SECONDS = 300


class Tests(Tap):
    def __init__(self, options, folder):
        super().__init__()
        self.options = options
        self.folder = folder

    def run(self, script, *arguments):
        return subprocess.run(
            [os.path.join(HERE, script), "--cprec", self.options.cprec,
             "--quick", "--folder", self.folder, *arguments],
            capture_output=True, stdin=subprocess.DEVNULL, text=True,
            timeout=SECONDS)

    def measure(self, script, *arguments):
        """What a benchmark prints, and its figures."""
        path = os.path.join(self.folder, script + ".json")
        done = self.run(script, "--json", path, *arguments)
        if done.returncode or done.stderr:
            raise Failure(f"status {done.returncode}: {done.stderr}")
        with open(path) as file:
            return done.stdout, json.load(file)


def check_rows(text, figures, key, names, modes):
    if [row[key] for row in figures] != list(names):
        raise Failure(f"not {names} but {[row[key] for row in figures]}")
    for row in figures:
        if not all(row[mode] > 0 for mode in modes):
            raise Failure(f"a time is missing: {row}")
        if not re.search(rf"^{row[key]} .*\d$", text, re.M):
            raise Failure(f"no line of {row[key]} in:\n{text}")


def check_goals(text, goals):
    for goal in goals:
        # What is further is a difference of two recordings.
        sign = "-?" if " further " in goal else ""
        if not re.search(rf"^{re.escape(goal)} +{sign}\d+\.\d+  goal [\d.]+: "
                         "(met|missed)$", text, re.M):
            raise Failure(f"no goal {goal!r} in:\n{text}")


def one_thread(tests):
    text, figures = tests.measure("bench", "--rounds", "1", "--bare",
                                  tests.options.bare,
                                  *(f"--only={name}" for name in PROGRAMS))
    check_rows(text, figures, "program", PROGRAMS,
               ("native", "run", "record"))
    for mode, without in ("bare", {"gdb", "make"}), ("replay", {"make"}):
        if {row["program"] for row in figures if not row[mode]} != without:
            raise Failure(f"not {mode}: other programs than {without}")
    check_goals(text, GOALS)


def caches(tests):
    text, figures = tests.measure("bench", "--rounds", "1", "--bare",
                                  tests.options.bare, "--only", "mawk",
                                  "--caches")
    sizes = figures[0]["caches"]
    for size, cache in sizes.items():
        if cache["entries"] != int(size) or not cache["hits"]:
            raise Failure(f"cache of {size}: {cache}")
    found = len(re.findall(r"^mawk +\d+ +\d+ +\d+ ", text, re.M))
    if found != len(sizes) or found < 3:
        raise Failure(f"{found} lines of caches in:\n{text}")


def another_reference(tests):
    """What does not do the program's work is no reference."""
    done = tests.run("bench", "--rounds", "1", "--bare", "/bin/echo",
                     "--only", "mawk")
    if done.returncode != 1 or done.stderr != (
            "bench: mawk says something else on bare\n"):
        raise Failure(f"status {done.returncode}: {done.stderr}")


def foreign(tests):
    """What is compiled needs no packages: the compiler has a sysroot."""
    text, figures = tests.measure(
        "foreign", "--rounds", "1", "--bare", tests.options.bare,
        "--sysroot", FOREIGN_ROOT,
        *(f"--only={name}" for name in FOREIGN))
    check_rows(text, figures, "program", FOREIGN,
               ("qemu", "bare", "run", "record", "replay", "instructions"))


def several_threads(tests):
    text, figures = tests.measure("threads", "--rounds", "1")
    check_rows(text, figures, "name", THREADS,
               ("native", "run", "record", "replay"))
    check_goals(text, THREADS_GOALS)
    for row in figures:
        parts = dict(row["sizes"])
        if parts.pop("all") != sum(parts.values()) or not parts["streams"]:
            raise Failure(f"sizes of {row['name']}: {row['sizes']}")
        if (row["double"] is not None) != (row["name"] in (
                "hand-over", "queue")):
            raise Failure(f"further sizes of {row['name']}: {row['double']}")
    if text.count("\n  a further 100,000 ") != 2:
        raise Failure(f"no further sizes in:\n{text}")


def questions(tests):
    """The answers are checked there."""
    text, figures = tests.measure("queries", "--questions", "3",
                                  *(f"--only={name}" for name in QUERIES))
    if [row["name"] for row in figures] != list(QUERIES):
        raise Failure(f"not {QUERIES} but {[row['name'] for row in figures]}")
    for row in figures:
        times = row["wall"] + row["cpu"]
        if len(times) != 6 or min(times) <= 0:
            raise Failure(f"a time is missing: {row}")
    check_goals(text, [f"a question in seconds at most, {name}"
                       for name in QUERIES])


def long_recordings(tests):
    """That answers are the same all ways is checked there."""
    text, figures = tests.measure("latency", "--only=python3",
                                  "--questions=3", "--cold=2", "--grow=10")
    places = figures[0]["places"]
    for kind in "memory", "last writer", "registers", "backtrace":
        asked = sorted((p["way"], p["index"]) for p in places
                       if p["kind"] == kind)
        if asked != sorted(WAYS):
            raise Failure(f"{kind} was asked {asked}")
    for place in places:
        for which in "wall", "cpu":
            times = [place[which][part] for part in ("p50", "p99", "most")]
            if times != sorted(times) or times[0] <= 0:
                raise Failure(f"odd times: {place}")
    if len(re.findall(r"  goal [\d.]+: (met|missed)$", text, re.M)) != 23:
        raise Failure(f"not all goals are in:\n{text}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cprec", required=True)
    parser.add_argument("--bare", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cprec-bench-") as folder:
        tests = Tests(options, folder)
        tests.test("programs with one thread", one_thread, tests)
        tests.test("the table of caches", caches, tests)
        tests.test("a reference that is none", another_reference, tests)
        if os.path.isdir(FOREIGN_ROOT) and shutil.which(FOREIGN_ORACLE):
            tests.test("programs of AArch64", foreign, tests)
        tests.test("programs with threads", several_threads, tests)
        tests.test("cold questions", questions, tests)
        tests.test("questions about long recordings", long_recordings, tests)
    sys.exit(tests.summary())


main()
