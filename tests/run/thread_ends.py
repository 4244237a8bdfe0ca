#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A thread is there up to its EXIT, and not behind it, even before another one
gets the processor; where the process ends, all that it had can be looked at.

usage: thread_ends.py --cprec C --guest G

The guest is run/programs/threads/many.c.  Speaks TAP.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

EVENTS = {"SIGNAL", "EXIT", "FAULT", "SLICE", "RETURN", "FIXED_CALL"}


class Tests(CprecTap):
    def record(self, guest):
        self.trace = os.path.join(self.folder, "t.cpr")
        done = self.cprec("record", "-o", self.trace, "--", guest, "3")
        equal((done.returncode, done.stdout), (0, "3\n"), done.stderr)
        lines = [json.loads(line) for line in
                 self.cprec("dump", "--json", self.trace).stdout.splitlines()]
        events = [line for line in lines if line["kind"] in EVENTS]
        self.exits = []
        for line in events:
            if line["kind"] == "EXIT":
                same = [other for other in events if other["at"] == line["at"]]
                self.exits.append((line["at"], same.index(line) + 1,
                                   line["thread"]))
        equal(len(self.exits), 4, "ends")

    def states(self, at):
        return [json.loads(line) for line in
                self.cprec("registers", "--json", f"--at={at}",
                           self.trace).stdout.splitlines()]

    def walked(self, at):
        return [json.loads(line)["thread"] for line in
                self.cprec("backtrace", "--thread=all", "--json",
                           f"--at={at}", self.trace).stdout.splitlines()]

    def ends(self, at, number, tid):
        before = self.states(f"{at}.{number - 1}" if number > 1 else at)
        equal([state["thread"] for state in before if state["runs"]], [tid],
              "whose turn it is before")
        behind = f"{at}.{number}"
        states = self.states(behind)
        equal([(state["thread"], state["runs"]) for state in states],
              [(state["thread"], False) for state in before
               if state["thread"] != tid], "who is there behind")
        equal(self.walked(behind), [state["thread"] for state in states],
              "who is in a function")
        for question in (["registers"], ["backtrace"],
                         ["query", "--addr=$rip"]):
            done = self.cprec(*question, f"--at={behind}", f"--thread={tid}",
                              self.trace)
            equal(done.returncode, 1, f"{question}")
            expect(f"thread {tid} has ended before t={behind}" in done.stderr,
                   done.stderr)

    def last(self, at, number, tid):
        """The process ends: where it did can be asked."""
        states = self.states("end")
        equal([(state["thread"], state["at"], state["events"], state["runs"])
               for state in states], [(tid, at, number, False)], "the last")
        equal(self.walked("end"), [tid], "who is in a function")
        text = self.cprec("registers", "--at=end", self.trace).stdout
        expect(text.splitlines()[0].endswith(", where it ended"), text)


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("record", tests.record, options.guest)
    for number, ended in enumerate(tests.exits[:-1]):
        tests.test(f"thread {number}", tests.ends, *ended)
    tests.test("the last thread", tests.last, *tests.exits[-1])
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "guest"))
