#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls at fixed addresses are shown as the calls that they are.

usage: fixed_calls.py --cprec C --guest G

The guest is guests/guest_vsyscall.c, which says what it calls.  Speaks TAP.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, main  # noqa: E402

CALLS = ["gettimeofday", "gettimeofday", "time", "time", "getcpu", "getcpu"]


class Tests(CprecTap):
    def lines(self, *arguments):
        done = self.cprec("dump", "--json", *arguments, self.trace)
        equal(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def record(self, guest):
        self.trace = os.path.join(self.folder, "t.cpr")
        done = self.cprec("record", "-o", self.trace, "--", guest)
        equal(done.returncode, 0, done.stderr)
        equal(self.cprec("verify", "-q", self.trace).returncode, 0, "verify")

    def calls(self):
        found = self.lines("--kind=fixed_call")
        equal([line["name"] for line in found], CALLS, "calls")
        equal([line["result"] for line in found if line["name"] != "time"],
              [0] * 4, "results")
        now = [line["result"] for line in found if line["name"] == "time"]
        started = json.loads(self.cprec("info", "--json",
                                        self.trace).stdout)["started"]
        equal([0 <= time - started < 60 for time in now], [True] * 2, "times")

    def faults(self):
        """What is left are those that the guest provokes."""
        found = self.lines("--kind=fault")
        equal([line["name"] for line in found], ["SIGSEGV"] * 8, "faults")


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("record", tests.record, options.guest)
    tests.test("calls", tests.calls)
    tests.test("faults", tests.faults)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "guest"))
