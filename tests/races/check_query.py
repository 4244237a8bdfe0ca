#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with planted races: `cprec query` must tell the values that a
variable may have held, and that there are none where nothing races; `cprec
races` must count what it says that it counts.  A search must execute something
where a race may be, and nothing elsewhere.  Speaks TAP.

usage: check_query.py CPREC SEARCHES
"""
import bisect
import json
import os
import random
import re
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

# Threads race, then one runs for long, and again; nobody writes to the page of
# `still`.  A thread that waits all the time does not count.
PHASES = """#include "race.h"
#include <unistd.h>
static int pipes[2];
static _Alignas(4096) int still[1024] = { 1 };
static _Alignas(4096) volatile int shared;
static void set(int number, int times) {
for (int i = 0; i < times; i++) { shared = number;
if (i % 500 == 0) getppid(); } }
static void one(void) { set(1, 3000); }
static void two(void) { set(2, 3000); }
static void *wait(void *byte) { if (read(pipes[0], byte, 1) < 0) return byte;
return NULL; }
int main(void) { pthread_t waiter; char byte = 0;
if (pipe(pipes)) return 1;
pthread_create(&waiter, NULL, wait, &byte);
race(one, two); set(3, 30000); race(one, two); set(4, 30000);
return still[0] - 1; }
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
    def __init__(self, cprec, searches, folder):
        self.cprec = cprec
        self.searches = searches
        self.folder = folder
        self.count = self.failures = 0

    def record(self, name, source=None, *options):
        program = os.path.join(self.folder, name)
        if source is None:
            path = os.path.join(HERE, name + ".c")
        else:
            path = program + ".c"
            with open(path, "w") as file:
                file.write(source)
        run("gcc", "-std=c11", "-D_GNU_SOURCE", "-g", "-O0", "-pthread",
            "-I", HERE, "-o", program, path)
        return self.record_program(name, name, *options)

    def record_program(self, name, trace, *options):
        trace = os.path.join(self.folder, trace + ".cpr")
        run(self.cprec, "record", "-q", *options, "-o", trace, "--",
            os.path.join(self.folder, name))
        return trace

    def ask(self, trace, variable, at, *options):
        return json.loads(run(self.cprec, "query", trace, "--addr", variable,
                              "--at", str(at), "--json", *options))

    def text(self, trace, variable, at, *options):
        return run(self.cprec, "query", trace, "--addr", variable, "--at",
                   str(at), *options)

    def races(self, trace):
        return json.loads(run(self.cprec, "races", "--json", trace))["races"]

    def end(self, trace):
        return json.loads(run(self.cprec, "info", "--json",
                              trace))["instructions"]

    def search(self, trace, questions):
        """Whether each (address, time, most) executes anything, and the times
        of writes that it finds."""
        text = "".join(f"{addr} 4 {at} {most}\n"
                       for addr, at, most in questions)
        done = subprocess.run([self.searches, trace], check=True, input=text,
                              capture_output=True, text=True, timeout=120)
        lines = [[int(word) for word in line.split()]
                 for line in done.stdout.splitlines()]
        return [(bool(line[0]), line[2:]) for line in lines]

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


STRUCTURE = """#include "race.h"
enum state { OFF, ON };
static struct { short first; enum state second; double third; } shared,
*where = &shared;
static unsigned char bytes[4];
static void one(void) {
shared.first = -3; shared.second = ON; shared.third = 0.5; bytes[1] = 200; }
static void two(void) {
shared.first = 3; shared.second = OFF; shared.third = 1.5; bytes[1] = 201; }
int main(void) { race(one, two); return 0; }
"""


def typed(tests):
    """Values are shown by their types, or as numbers in hexadecimal."""
    trace = tests.record("typed", STRUCTURE)
    for variable, wanted in (
            ("shared.second", {"ON", "OFF"}),
            ("bytes[1]", {r"200 '\310'", r"201 '\311'"}),
            ("shared", {"-3", "3", "ON", "OFF", "0.5", "1.5"}),
            ("*where", {"-3", "3", "ON", "OFF", "0.5", "1.5"}),
            ("bytes", {r"200 '\310'", r"201 '\311'"})):
        text = tests.text(trace, variable, "end")
        equal(set(re.findall(r"^  0x[0-9a-f]+: (.*?), ", text, re.M)), wanted,
              variable)
    run("strip", "--strip-debug", trace[:-4])
    trace = tests.record_program("typed", "stripped")
    text = tests.text(trace, "bytes", "end", "--no-races")
    addr = re.search("0x[0-9a-f]+", text)[0]
    text = tests.text(trace, addr, "end")
    equal(set(re.findall(r"^  0x[0-9a-f]+: (.*?), ", text, re.M)),
          {"0xc8", "0xc9"}, "without debugging information")


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
    end = tests.end(trace)
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
    last = everything["race"][-1]["at"] + 1
    then = tests.ask(trace, "shared", last)
    equal(then["race"], everything["race"], f"values at {last}")
    equal(then["race_since"], 0, f"since at {last}")
    # What nobody writes needs no search.
    equal(tests.ask(trace, "main", "end")["race_since"], 0, "since, of code")


def alone(tests):
    trace = tests.record("alone", ALONE)
    answer = tests.ask(trace, "shared", "end")
    equal((answer["race"], answer["race_since"]), ([], 0), "one thread")


def turns(tests, trace):
    """When each turn of a thread begins, and whose it is."""
    found, segment = [], 0
    for line in run(tests.cprec, "dump", trace).splitlines():
        frame = re.match(r"0 +KEY_FRAME +segment=0 thread=(\d+) ", line)
        segment = int((re.search(r" KEY_FRAME +segment=(\d+) ", line) or
                       (0, segment))[1])
        turn = re.match(r"(\d+) +SLICE +thread=(\d+) slice=(\d+) ", line)
        if frame:
            found.append((0, 0, 0, int(frame[1])))
        elif turn:
            found.append((int(turn[1]), segment, int(turn[3]), int(turn[2])))
    return [(at, tid) for at, _, _, tid in sorted(found)]


def threads_in(threads, first, last):
    """Who runs from `first` to `last`, both included, by turns()."""
    times = [at for at, _ in threads]
    return {tid for _, tid in threads[bisect.bisect_left(times, first) - 1:
                                      bisect.bisect_right(times, last)]}


def check_phase(threads, question, answer, writes):
    """`writes` is what there is to find, if all is looked at."""
    _, at, most = question
    executed, found = answer
    first = max(at - most, threads[1][0] - 1)
    if executed and len(threads_in(threads, first, at)) == 1:
        raise Failure(f"one thread is looked at, {most} steps before {at}")
    if writes and min(writes) >= first:
        equal(found, writes, f"writes in {most} steps before {at}")
    return executed, bool(found)


def phases(tests, *options):
    trace = tests.record("phases", PHASES, *options)
    shared, still = (tests.ask(trace, name, "end", "--no-races")["addr"]
                     for name in ("shared", "still"))
    threads, end = turns(tests, trace), tests.end(trace)
    picked = random.Random(1)
    times = [picked.randint(threads[1][0], end) for _ in range(8)]
    times += [at + picked.randint(0, 60) for at, _ in
              picked.sample(threads[1:-1], min(20, len(threads) - 2))]
    writes = [found for _, found in
              tests.search(trace, [(shared, at, end) for at in times])]
    # All that raced, and no more; and what may be too little.
    questions = [(shared, at, most) for at, found in zip(times, writes)
                 for most in (at - min(found, default=at - 3000), 3000, 500)]
    answers = tests.search(trace, questions)
    seen = {check_phase(threads, question, answer, writes[i // 3]) for
            i, (question, answer) in enumerate(zip(questions, answers))}
    equal(seen, {(True, True), (True, False), (False, False)},
          "what was executed, and found something")
    equal(set(map(str, tests.search(trace, [(still, at, end)
                                            for at in times]))),
          {"(False, [])"}, "a page that nobody writes")


def cut(tests):
    """What nobody knows who did, and to which pages."""
    trace = tests.record("phases", PHASES, "--segment=20k")
    shared, still = (tests.ask(trace, name, "end", "--no-races")["addr"]
                     for name in ("shared", "still"))
    last, end = turns(tests, trace)[-1][0], tests.end(trace)
    with open(trace, "rb") as file:
        contents = file.read()
    seen = set()
    for size in range(len(contents) - 1, 0, -101):
        with open(trace, "wb") as file:
            file.write(contents[:size])
        ends = tests.end(trace)
        if ends < last + 1000:
            break
        (executed, _), (has_no_index, _) = tests.search(
            trace, [(shared, ends, 100), (still, ends, 100)])
        if ends < end:
            equal(executed, True, f"cut at {ends}: something is executed")
            seen.add(has_no_index)
        if len(seen) == 2:
            return
    raise Failure(f"cut segments without an index: {seen}")


def run_all(tests):
    for case in CASES:
        tests.test(case[0], planted, *case)
    tests.test("a read, then a write", read_first)
    tests.test("values by their types", typed)
    tests.test("what races counts", counted)
    tests.test("a race long ago", long_ago)
    tests.test("one thread", alone)
    for option in (), ("--segment=1k",):
        tests.test(" ".join(("what needs a search", *option)), phases, *option)
    tests.test("a segment without an index", cut)
    print(f"1..{tests.count}")
    return 1 if tests.failures else 0


def main():
    cprec, searches = (os.path.abspath(path) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="cprec-races-") as folder:
        return run_all(Tests(cprec, searches, folder))


if __name__ == "__main__":
    sys.exit(main())
