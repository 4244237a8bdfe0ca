#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with planted races: `cprec query` must tell the values that a
variable may have held, and that there are none where nothing races; `cprec
races` must count what it says that it counts.  Speaks TAP.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# program, variable, values that it may have held at the end: bytes and line
CASES = [
    ("counter_racy", "counter", {("0a000000", 10), ("14000000", 10)}),
    ("counter_fixed", "counter", set()),
    ("spin_flag_racy", "data", {("00000000", None), ("07000000", 10)}),
    ("spin_flag_fixed", "data", set()),
    ("handler_fixed", "caught", set()),
]

# A thread reads, and only then another writes; nothing orders the two.
READ_FIRST = """#include "race.h"
static int shared = 5;
static volatile int seen;
static void reader(void) { seen = shared; }
static void writer(void) { later(); shared = 6; }
int main(void) { race(reader, writer); return 0; }
"""

# Two writes of one line, and one write of another line, which comes last.
COUNTED = """#include "race.h"
static int shared;
static void change(void) {
shared++; /* 4: a load and a store */
}
static void set(void) { later();
shared = 5; /* 7 */
}
int main(void) { race(change, set); return 0; }
"""

# The race is long ago at the end, and soon over in the middle.
LONG_AGO = """#include "race.h"
static int shared;
static volatile long work[2];
static void one(void) { shared = 1;
for (int i = 0; i < 3000000; i++) work[0]++; }
static void two(void) { shared = 2;
for (int i = 0; i < 3000000; i++) work[1]++; }
int main(void) { race(one, two); return 0; }
"""

ALONE = "int shared = 5; int main(void) { shared = 6; return 0; }\n"


class Failure(Exception):
    """What was not as it should be."""


def run(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60).stdout


def equal(found, expected, what):
    if found != expected:
        raise Failure(f"{what}: {found!r}, should be {expected!r}")


class Tests:
    def __init__(self, cprec, folder):
        self.cprec = cprec
        self.folder = folder
        self.count = self.failures = 0

    def record(self, name, source=None):
        program = os.path.join(self.folder, name)
        if source is None:
            path = os.path.join(HERE, name + ".c")
        else:
            path = program + ".c"
            with open(path, "w") as file:
                file.write(source)
        run("gcc", "-std=c11", "-D_GNU_SOURCE", "-g", "-O0", "-pthread",
            "-I", HERE, "-o", program, path)
        run(self.cprec, "record", "-q", "-o", program + ".cpr", "--", program)
        return program + ".cpr"

    def ask(self, trace, variable, at, *options):
        return json.loads(run(self.cprec, "query", trace, "--addr", variable,
                              "--at", str(at), "--json", *options))

    def text(self, trace, variable, at, *options):
        return run(self.cprec, "query", trace, "--addr", variable, "--at",
                   str(at), *options)

    def races(self, trace):
        return json.loads(run(self.cprec, "races", "--json", trace))["races"]

    def test(self, name, function, *arguments):
        self.count += 1
        problem = None
        try:
            function(self, *arguments)
        except (Failure, subprocess.SubprocessError, KeyError,
                ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
        self.failures += bool(problem)
        print(f"{'not ok' if problem else 'ok'} {self.count} - {name}",
              flush=True)
        if problem:
            print("# " + problem.replace("\n", "\n# "))


def values_of(answer):
    return {(value["bytes"], value["line"]) for value in answer["race"]}


def planted(tests, name, variable, wanted):
    trace = tests.record(name)
    for options in (), ("--races",):
        answer = tests.ask(trace, variable, "end", *options)
        equal(values_of(answer), wanted, f"values with {options}")
        equal(answer["race_since"], 0, "since")
        equal("may have held" in tests.text(trace, variable, "end", *options),
              bool(wanted), "the text says so")
    if "race" in tests.ask(trace, variable, "end", "--no-races"):
        raise Failure("a race in spite of --no-races")
    # Before anything took place there was no race.
    equal(tests.ask(trace, variable, 10)["race"], [], "race at t=10")


def read_first(tests):
    trace = tests.record("read_first", READ_FIRST)
    equal(values_of(tests.ask(trace, "shared", "end")),
          {("05000000", None), ("06000000", 5)}, "values")


def counted(tests):
    trace = tests.record("counted", COUNTED)
    race, = [race for race in tests.races(trace)
             if race["symbol"] == "shared"]
    equal({race["a"]["line"], race["b"]["line"]}, {4, 7}, "lines")
    # The one store, which raced with the load and with the store.
    equal(race["count"], 1, "count")
    equal(race["kinds"], ["write-write", "read-write"], "kinds")
    equal(race["kind"], "write-write", "kind of the example")
    if ", 1 time, write-write and read-write: " not in run(
            tests.cprec, "races", trace):
        raise Failure("the text says something else")


def long_ago(tests):
    trace = tests.record("long_ago", LONG_AGO)
    info = json.loads(run(tests.cprec, "info", "--json", trace))
    end = info["instructions"]
    near = tests.ask(trace, "shared", "end")
    equal(near["race"], [], "race at the end")
    equal(near["race_since"], end - 10_000_000, "since")
    if f"No race from t={end - 10_000_000} on;" not in tests.text(
            trace, "shared", "end"):
        raise Failure("the text does not say since when")
    everything = tests.ask(trace, "shared", "end", "--races")
    equal(len(everything["race"]), 2, "values with --races")
    equal(everything["race_since"], 0, "since, with --races")
    # Where the last of the two has just happened, they are near.
    last = everything["race"][-1]["time"] + 1
    then = tests.ask(trace, "shared", last)
    equal(then["race"], everything["race"], f"values at {last}")
    equal(then["race_since"], 0, f"since at {last}")
    # What nobody writes needs no search.
    equal(tests.ask(trace, "main", "end")["race_since"], 0, "since, of code")


def alone(tests):
    trace = tests.record("alone", ALONE)
    answer = tests.ask(trace, "shared", "end")
    equal((answer["race"], answer["race_since"]), ([], 0), "one thread")


def run_all(tests):
    for case in CASES:
        tests.test(case[0], planted, *case)
    tests.test("a read, then a write", read_first)
    tests.test("what races counts", counted)
    tests.test("a race long ago", long_ago)
    tests.test("one thread", alone)
    print(f"1..{tests.count}")
    return 1 if tests.failures else 0


def main():
    cprec = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="cprec-races-") as folder:
        return run_all(Tests(cprec, folder))


if __name__ == "__main__":
    sys.exit(main())
