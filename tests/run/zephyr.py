#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zephyr on a machine with a Cortex-M3: a program (zephyr/threads.c) says what it
says on QEMU; `ps` has the threads that Zephyr itself says there are, with their
states.  No suite runs this: Zephyr, which is not part of this, must be there.

usage: zephyr.py --cprec C --states S --follows F --firmware ELF

ELF is that program with Zephyr, version 2.5, for mps2-an385.  Speaks TAP.
"""
import argparse
import os
import re
import sys

sys.dont_write_bytecode = True
import freertos  # noqa: E402
from tap import equal, expect, main  # noqa: E402

# What Zephyr calls a state, and what that may be for who asks.  A thread that
# sleeps is suspended, to Zephyr, but will go on.
STATES = {"": {"ready"}, "queued": {"ready", "running"},
          "pending": {"blocked"}, "prestart": {"blocked", "suspended"},
          "suspended": {"blocked", "suspended"}}
SURE = {"main": "running", "wait": "blocked", "never": "suspended",
        "later": "blocked", "idle 00": "ready", "compute": "ready"}


class Tests(freertos.Tests):
    said_in_the_end = "thread compute"

    def tasks(self):
        """As Zephyr says, where it is asked."""
        calls = self.answers("calls", "report")
        told = [re.findall(r"thread (.*), state (\w*)\r?\n priority (-?\d+)",
                           part) for part in self.said.split("report")[1:]]
        equal(len(calls), len(told), "reports")
        seen = set()
        for call, expected in zip(calls, told):
            found = {one["name"]: one for one in
                     self.answers("ps", f"--at={call['at']}")}
            equal(found.keys(), {name for name, _, _ in expected}, "names")
            for name, state, priority in expected:
                one = found[name]
                equal(one["priority"], int(priority), name)
                expect(one["state"] in STATES[state], (one, state))
                expect(one["state"] == SURE.get(name, one["state"]), one)
                seen.add(one["state"])
        equal(seen, {"running", "ready", "blocked", "suspended"}, "states")
        return f"{len(told)} times"


def suite(options, folder):
    tests = Tests(options, folder)
    tests.all_of("mps2-an385", options.firmware)
    return tests.summary()


def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--firmware", metavar="ELF", required=True,
                      type=os.path.abspath)
    return made


if __name__ == "__main__":
    sys.exit(main(suite, "states", "follows", parser=parser()))
