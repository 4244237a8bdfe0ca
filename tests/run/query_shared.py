#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What queries answer for memory that is mapped shared.

usage: query_shared.py --cprec C --guest G [--keep FOLDER]

The guest is tests/run/programs/shared_asked.c.  At each of its marks each page is
asked for, in each of its processes.  An answer that is certain must be what the
page holds when the program runs natively; one that is as of another time, what
it holds then.  STORIES says which of them is due.  Speaks TAP.
"""
import bisect
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from marks import native  # noqa: E402
from tap import CprecTap, equal, expect, main, recordings  # noqa: E402

PLACE, OTHER_PLACE, SIZE = 0x20000000, 0x21000000, 16
VARIANTS = {
    "by default": (),
    "segments of 1000": ("--segment=1000",),
    "tiny segments": ("--segment=60", "--cache-size=16k"),
}

# How a page is answered: for certain, as of a time before or after, not at all.
CERTAIN, BEFORE, AFTER, UNKNOWN = "cba?"

# Of each kind and story the processes: the pages of each, and how they are to be
# answered at each mark.
ONE = [["cccccb???", "cccbbb???", "???bbb???", "????bb???", "??????acb"] +
       ["?????????"] * 3]
ONE_ATTACHED = [["cccccb???", "cccbbb???", "???bbb???", "?????????",
                 "??????acb"] + ["?????????"] * 3]
TWO = [["bbccbbbcbb", "ccccbbbbbb"] + ["??????????"] * 6,
       ["cbcb", "????", "cbbb"] + ["????"] * 5]
TWO_FROM_FORK = [["cbccbbbcbb", "ccccbbbbbb"] + ["cbbbbbbbbb"] * 6, TWO[1]]
TWICE = [["cccbb", "cbbbb"] + ["?????"] * 6 + ["cccb?", "cbbb?"]]

STORIES = {
    ("anonymous", "one"): [["ccccccccc"] * 8],
    ("file", "one"): ONE,
    ("memfd", "one"): ONE,
    ("sysv", "one"): ONE_ATTACHED,
    ("anonymous", "two"): TWO_FROM_FORK,
    ("file", "two"): TWO,
    ("memfd", "two"): TWO,
    ("sysv", "two"): TWO,
    ("file", "twice"): TWICE,
    ("memfd", "twice"): TWICE,
}


class Tests(CprecTap):
    def record(self, name, variant, arguments):
        """The recordings of all processes, in the order of their beginning."""
        trace = os.path.join(self.folder, name + ".cpr")
        for old in recordings(trace):
            if os.path.exists(old):
                os.remove(old)
        done = self.cprec("record", *variant, "-o", trace, "--", *arguments)
        equal((done.returncode, done.stderr), (0, ""), "record")
        return recordings(trace)

    def marks(self, trace):
        return [int(line.split()[0])
                for line in self.cprec("dump", trace).stdout.splitlines()
                if re.match(r"\d+ +SYSCALL +number=110 ", line)]

    def ask(self, trace, questions):
        text = "".join(f"{addr:#x} {t} {SIZE}\n" for addr, t in questions)
        done = self.cprec("query", trace, "-", "--json", text=text)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        equal(len(answers), len(questions), f"answers ({done.stderr})")
        notes = [line for line in done.stderr.splitlines()
                 if line.startswith("cprec: note: ") and "shared" in line]
        equal(len(notes), sum("as_of" in answer for answer in answers),
              "notes")
        return answers

    def verify(self, trace):
        done = self.cprec("verify", trace)
        equal(done.returncode, 0, f"verify: {done.stderr}")


def way(answer, page, t, times, truth):
    """How a page is answered at a time, if it is right."""
    found = answer["bytes"]
    as_of = answer.get("as_of")
    if found == "??" * SIZE:
        expect(as_of is None, f"{answer}: known as of no time")
        equal(answer["source"], "unknown", f"source of {answer}")
        return UNKNOWN
    if as_of is None:
        right = [truth[times.index(t)][page]]
    else:
        after = bisect.bisect_left(times, as_of)
        right = [truth[i][page] for i in (after - 1, after)
                 if 0 <= i < len(truth)]
    expect(found in [bytes and bytes.hex() for bytes in right],
           f"page {page}, {answer}: should be {right}")
    if as_of is None:
        return CERTAIN
    return BEFORE if as_of <= t else AFTER


def check(tests, trace, places, truth, order):
    """The ways of all pages."""
    times = tests.marks(trace)
    equal(len(times), len(truth), "marks")
    questions = [(place, time) for place in range(len(places))
                 for time in range(len(times))]
    order(questions)
    ways = [[None] * len(times) for place in places]
    answers = tests.ask(trace, [(places[place][0], times[time])
                                for place, time in questions])
    for (place, time), answer in zip(questions, answers):
        ways[place][time] = way(answer, place, times[time], times, truth)
    tests.verify(trace)
    return ["".join(line) for line in ways]


CASES = (("by default", "by time"), ("segments of 1000", "by page"),
         ("segments of 1000", "by time"), ("tiny segments", "backwards"))

ORDERS = {
    "by page": lambda questions: None,
    "by time": lambda questions: questions.sort(key=lambda q: q[1]),
    "backwards": lambda questions: questions.sort(key=lambda q: -q[1]),
}


def run(tests, kind, story, variant, order):
    name = re.sub(r"\W", "-", " ".join((kind, story, variant, order)))
    arguments = [tests.options.guest, kind, story,
                 os.path.join(tests.folder, "mapped")]
    places = [(PLACE + 4096 * i, SIZE) for i in range(8)]
    if story == "twice":
        places += [(OTHER_PLACE + 4096 * i, SIZE) for i in range(2)]
    truth = native(arguments, places)
    traces = tests.record(name, VARIANTS[variant], arguments)
    equal(len(traces), len(truth), "processes")
    found = [check(tests, trace, places, each, ORDERS[order])
             for trace, each in zip(traces, truth)]
    equal(found, STORIES[kind, story], "answers")


def own_write(tests, kind):
    """A write to the file tells what a page holds, but not what it held."""
    (trace,) = tests.record(
        "own-" + kind, (), [tests.options.guest, kind, "one",
                            os.path.join(tests.folder, "mapped")])
    (wrote,) = [int(line.split()[0]) for line in
                tests.cprec("dump", trace).stdout.splitlines()
                if "name=pwrite64 " in line]
    place = PLACE + 3 * 4096
    before, *behind = tests.ask(
        trace, [(place, t) for t in (wrote - 1, wrote, wrote + 1)])
    equal((before["bytes"], before["source"], before.get("as_of")),
          ("??" * SIZE, "unknown", None), "before the call")
    for answer in behind:
        equal((answer["bytes"], answer.get("as_of")),
              (b"written".hex().ljust(2 * SIZE, "0"), wrote), "behind it")


def run_all(options, folder):
    tests = Tests(options, folder)
    for kind in "file", "memfd":
        tests.test(f"{kind}, a write of its own", own_write, tests, kind)
    for kind, story in STORIES:
        for variant, order in CASES:
            tests.test(f"{kind}, {story}, {variant}, {order}", run, tests,
                       kind, story, variant, order)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "guest"))
