# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs inside gdb: goes through a program at random, and tells where it is.

The seed and the number of moves are in the environment.  Two gdbs that see the
same program make the same moves, as long as they see the same.
"""
import os
import random

import gdb

SAMPLES = ("total", "table", "list[0]", "list[3]", "depth")


def number(text):
    return int(gdb.parse_and_eval(text)) & (1 << 64) - 1


# Where it is differs with what the environment is.
STACK = number("$rsp")


def value(text):
    try:
        return gdb.parse_and_eval(text).format_string(max_elements=0)
    except gdb.error:
        return "-"


def register(name):
    found = number(name)
    return "stack" if abs(found - STACK) < 1 << 20 else f"{found:x}"


def state():
    frame = gdb.selected_frame()
    calls = 0
    while frame.name() != "main" and frame.older():
        frame = frame.older()
        calls += 1
    frame = gdb.selected_frame()
    return (f"{frame.pc():x} {frame.name()} {calls} " +
            " ".join(value(sample) for sample in SAMPLES) +
            f" {number('$rsp') - STACK} " +
            " ".join(register("$" + name) for name in ("rax", "rbx", "rcx")))


class Walk:
    def __init__(self):
        self.chance = random.Random(int(os.environ["CPREC_SEED"]))
        self.points = os.environ["CPREC_POINTS"].split(";")

    def run(self, command):
        """What went wrong, if anything."""
        try:
            gdb.execute(command)
        except gdb.error as error:
            return f" ({error})"
        return ""

    def step(self):
        inside = gdb.selected_frame().name() != "main"
        moves = ["next"] * 4 + ["step"] * 6 + ["stepi"] * 2 + [
            "reverse-next"] * 3 + ["reverse-step"] * 4 + ["reverse-stepi"] * 2
        if inside:
            moves += ["finish", "reverse-finish"] * 2
        return self.chance.choice(moves)

    def to_point(self):
        """Back to a breakpoint, or to what has changed something."""
        point = self.chance.choice(self.points)
        said = self.run(point) + self.run("reverse-continue")
        # Those of others, as it leaves what is watched, are not meant.
        self.run("delete")
        return point + said

    def begin(self):
        """In the middle of what has been executed."""
        self.run("tbreak " + os.environ["CPREC_LAST"])
        self.run("continue")
        self.run(self.points[0])
        self.run(f"reverse-continue {self.chance.randrange(1, 4)}")
        self.run("delete")

    def go(self, count):
        self.begin()
        print("@@@ begun", flush=True)
        for number in range(count):
            if self.chance.randrange(8):
                move = self.step()
                done = move + self.run(move)
            else:
                done = self.to_point()
            print(f"@@ {number} {done}: {state()}", flush=True)


Walk().go(int(os.environ["CPREC_MOVES"]))
