#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""FreeRTOS on machines with a Cortex-M: a demo (freertos/) says what it says on
QEMU; `ps` has the tasks that FreeRTOS itself says there are, with their states.
No suite runs this: FreeRTOS's kernel, which is not part of this, must be there.

usage: freertos.py --cprec C --states S --follows F --m3 ELF --m4 ELF

The files are that demo with FreeRTOS-Kernel, version 11: for a Cortex-M3, and for a
Cortex-M4 with FLOATS defined.  Speaks TAP.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

ORACLE = "qemu-system-arm"
BOARDS = ("m3", "mps2-an385"), ("m4", "mps2-an386")
STATES = ["running", "ready", "blocked", "suspended", "deleted"]
STATUS = 7		# of the demo
STOPS = 200
PLACES = 10


class Tests(CprecTap):
    said_in_the_end = "sum 2870\n"

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.trace = os.path.join(folder, "rtos.cpr")
        self.elf = os.path.join(folder, "demo")
        self.said = ""

    def records(self, machine, elf):
        shutil.copy(elf, self.elf)
        if os.path.exists(self.trace):
            os.remove(self.trace)
        done = self.cprec("record", "--machine=" + machine, "-o", self.trace,
                          "--firmware=" + self.elf, "--segment=20m", text="")
        equal(done.returncode, STATUS, done.stderr)
        self.said = done.stdout
        expect(self.said_in_the_end in done.stdout, done.stdout)
        equal(self.cprec("replay", self.trace).stdout, self.said, "replay")
        done = self.cprec("verify", self.trace)
        equal(done.returncode, 0, done.stderr)
        equal(self.helper(self.options.states, "stops", "1", str(STOPS)),
              self.helper(self.options.states, "end"), "states in the end")
        info = json.loads(self.cprec("info", "--json", self.trace).stdout)
        for frame in range(info["key_frames"]):
            self.helper(self.options.follows, str(frame), "-")
        return f"{info['instructions']} instructions"

    def helper(self, program, *arguments):
        done = subprocess.run([program, self.trace, *arguments], text=True,
                              capture_output=True, check=True)
        return done.stdout

    def as_qemu(self, machine):
        done = subprocess.run(
            [ORACLE, "-M", machine, "-nographic", "-monitor", "none",
             "-serial", "stdio", "-semihosting-config",
             "enable=on,target=native", "-icount", "shift=0", "-kernel",
             self.elf], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=60)
        equal((done.returncode, done.stdout), (STATUS, self.said), "QEMU")

    def answers(self, command, *words):
        done = self.cprec(command, "--json", self.trace, *words)
        equal(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def tasks(self):
        """As FreeRTOS says, where it is asked."""
        calls = self.answers("calls", "report")
        # From one report to the next one.
        told, seen = [], {}
        for name, state, priority in re.findall(
                r"task (.*), state (\d)\n priority (\d+)\n", self.said):
            if name in seen:
                told.append(seen)
                seen = {}
            seen[name] = (STATES[int(state)], int(priority))
        told.append(seen)
        equal(len(calls), len(told), "reports")
        for call, expected in zip(calls, told):
            found = self.answers("ps", f"--at={call['at']}")
            equal({one["name"]: (one["state"], one["priority"])
                   for one in found}, expected, f"at {call['at']}")
            equal([one["name"] for one in found if one["runs"]], ["consume"],
                  "who runs")
        states = {state for one in told for state, _ in one.values()}
        equal(states, set(STATES), "states")
        return f"{len(told)} times"

    def stacks(self):
        """They are where they can be, at any time."""
        ran = set()
        for i in range(1, PLACES):
            found = self.answers("ps", f"--at={10 * i}%")
            for one in found:
                bounds = [int(one[key], 0) for key in
                          ("stack", "stack_top", "stack_end")]
                expect(bounds == sorted(bounds), one)
                ran.update([one["name"]] if one["runs"] else [])
        expect("compute" in ran, ran)
        done = self.cprec("ps", "--at=0", self.trace)
        equal((done.returncode, done.stdout), (1, ""), done.stderr)
        expect("has not begun" in done.stderr, done.stderr)
        os.rename(self.elf, self.elf + ".away")
        done = self.cprec("ps", "--at=50%", self.trace)
        os.rename(self.elf + ".away", self.elf)
        equal((done.returncode, done.stdout,
               len(done.stderr.splitlines())), (1, "", 1), done.stderr)

    def goes_on(self):
        """Alive from any time, it says the rest."""
        for i in range(PLACES):
            before = self.cprec("replay", f"--to={10 * i}%", self.trace)
            done = self.cprec("run", f"--at={10 * i}%", self.trace, text="")
            equal((done.returncode, done.stdout),
                  (STATUS, self.said[len(before.stdout):]), f"from {10 * i}%")

    def all_of(self, machine, elf):
        self.test(machine, self.records, machine, elf)
        if shutil.which(ORACLE):
            self.test(machine + ", as QEMU", self.as_qemu, machine)
        self.test(machine + ": tasks", self.tasks)
        self.test(machine + ": stacks", self.stacks)
        self.test(machine + " goes on", self.goes_on)


def suite(options, folder):
    tests = Tests(options, folder)
    for name, machine in BOARDS:
        tests.all_of(machine, getattr(options, name))
    return tests.summary()


def parser():
    made = argparse.ArgumentParser()
    for name, _ in BOARDS:
        made.add_argument("--" + name, metavar="ELF", required=True,
                          type=os.path.abspath)
    return made


if __name__ == "__main__":
    sys.exit(main(suite, "states", "follows", parser=parser()))
