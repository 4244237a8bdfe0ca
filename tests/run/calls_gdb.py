# SPDX-License-Identifier: GPL-2.0-or-later
"""Asked by calls.py, inside gdb: what functions are called with and return, and
what expressions are where breakpoints stop.

The environment has `functions`, names with blanks between, and `points`, lines
of "FILE:LINE" and expressions with tabs between.  Prints lines of "CALL" and
JSON, in the order of the calls, and "LOG" and JSON.
"""
import json
import os

import gdb

calls = []
logs = []


def in_program(frame):
    """Whether the code is the program's own."""
    older = frame.older()
    return older is None or gdb.solib_name(older.pc()) is None


def arguments_of(frame):
    try:
        block = frame.block()
    except RuntimeError:
        return None
    while block and not block.function:
        block = block.superblock
    if not block or not any(symbol.is_argument for symbol in block):
        return []
    return [[symbol.name, frame.read_var(symbol).format_string(symbols=False)]
            for symbol in block if symbol.is_argument]


class Finish(gdb.FinishBreakpoint):
    def __init__(self, frame, call):
        super().__init__(frame, internal=True)
        self.call = call

    def stop(self):
        self.call["over"] = True
        if self.call["own"]:
            if self.return_value is not None:
                self.call["returned"] = \
                    self.return_value.format_string(symbols=False)
        else:
            self.call["rax"] = int(gdb.parse_and_eval("(unsigned long)$rax"))
        return False


class Entry(gdb.Breakpoint):
    def __init__(self, name, own):
        super().__init__(name, internal=True)
        self.name, self.own = name, own

    def stop(self):
        frame = gdb.newest_frame()
        call = {"function": self.name, "own": self.own}
        if not in_program(frame) and not self.own:
            return False
        if self.own:
            call["passed"] = arguments_of(frame)
        else:
            call["rdi"] = int(gdb.parse_and_eval("(unsigned long)$rdi"))
        calls.append(call)
        if frame.older() is not None:
            Finish(frame, call)
        return False


class Point(gdb.Breakpoint):
    """Not internal: where a function was inlined, gdb stops in it only for
    breakpoints of users."""

    def __init__(self, place, expressions):
        super().__init__(place)
        self.place, self.expressions = place, expressions

    def stop(self):
        values = []
        for text in self.expressions:
            try:
                values.append(gdb.parse_and_eval(text)
                              .format_string(symbols=False))
            except gdb.error as error:
                values.append(f"<{error}>")
        logs.append({"place": self.place, "values": values})
        return False


gdb.execute("set confirm off")
gdb.execute("set print address on")
gdb.execute("set pagination off")
gdb.execute("handle SIGUSR1 nostop noprint pass")
gdb.execute("break main", to_string=True)
gdb.execute("set environment LD_BIND_NOW 1")
gdb.execute("run >/dev/null", to_string=True)
gdb.execute("delete")
for name in os.environ.get("functions", "").split():
    Entry(name, True)
for name in os.environ.get("library", "").split():
    Entry(name, False)
for line in os.environ.get("points", "").splitlines():
    place, *expressions = line.split("\t")
    Point(place, expressions)
while gdb.selected_inferior().pid:
    gdb.execute("continue", to_string=True)
for call in calls:
    print("CALL", json.dumps(call))
for log in logs:
    print("LOG", json.dumps(log))
