# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs inside gdb: walks through a program, and tells where it stops.

$WALK is a JSON object: `program`, its path; `start`, the commands that lead to
main(); `points`, those that make breakpoints and watchpoints; `how`, which of the
functions below walks; `moves`, how far at most; `seed`, of a walk at random;
`out`, the file to which the stops are written as JSON.  Two gdbs that see the same
program make the same moves, as long as they see the same.
"""
import json
import os
import random
import re

import gdb

WALK = json.loads(os.environ["WALK"])
# Which of a function's variants a library chooses depends on the processor.
VARIANT = re.compile(r"_(sse|avx|evex|erms|ssse|unaligned)\w*$")
# An address is another one where the environment differs.
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
# Why it has stopped last.
reasons = []


def on_stop(event):
    if isinstance(event, gdb.SignalEvent):
        reasons.append(event.stop_signal)
    elif isinstance(event, gdb.BreakpointEvent):
        reasons.extend(point.number for point in event.breakpoints)


def said(command):
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error as error:
        return f"{error}\n"


def has_lines(frame):
    """Whether commands mean the same everywhere: not in a library's function
    for this processor."""
    symtab = frame.find_sal().symtab
    return bool(symtab) and "multiarch" not in symtab.filename


def is_own(frame):
    """Whether it is the program's, not a library's."""
    symtab = frame.find_sal().symtab
    return bool(symtab) and symtab.objfile.filename == WALK["program"]


def frames():
    """Functions with their lines; of those without lines only the first."""
    names, frame = [], gdb.newest_frame()
    while frame and len(names) < 40:
        name = VARIANT.sub("", frame.name() or "??")
        if has_lines(frame):
            names.append(f"{name}:{frame.find_sal().line}")
        elif not names:
            names.append(name)
        if name == "main":
            break
        frame = frame.older()
    return names


def is_alive():
    """A recording ends within the call that ended the program."""
    return bool(gdb.selected_thread()) and \
        gdb.newest_frame().name() not in ("__GI__exit", "_exit")


def state():
    frame = gdb.selected_frame()
    place = said(f"info symbol {frame.pc()}").split(" in section ")[0]
    found = re.search(r"^position (\S+)$", said("monitor state"), re.M)
    return {"thread": gdb.selected_thread().num, "frames": frames(),
            "place": place if has_lines(frame) else "",
            # Where a function begins, they may not be there yet.
            "arguments": ADDRESS.sub("(address)", said("info args"))
            if is_own(frame) and " + " in place else "",
            "position": found and found[1]}


def move(command):
    reasons.clear()
    said(command)
    stop = {"command": command, "why": list(reasons)}
    if is_alive():
        stop.update(state())
    return stop


def repeat(choose):
    """What a function chooses, until the program's end or start is met."""
    stops = []
    while len(stops) < WALK["moves"]:
        command = choose()
        stops.append(move(command))
        if stops[-1].get("position") == "0" or \
                not command.startswith("reverse") and not is_alive():
            break
    return stops


def step():
    return "step" if has_lines(gdb.newest_frame()) else "finish"


def steps():
    return repeat(step)


def continues():
    return repeat(lambda: "continue")


def continues_back():
    said("delete")
    said("continue")
    for point in WALK["points"]:
        said(point)
    return repeat(lambda: "reverse-continue")


def at_random():
    chance = random.Random(WALK["seed"])

    def choose():
        command = chance.choice(
            ["next"] * 5 + ["step"] * 6 + ["stepi"] * 2 +
            ["nexti", "stepi 7", "finish", "until", "continue", "next 2",
             "step 3"])
        frame = gdb.selected_frame()
        if not has_lines(frame):
            return "finish"
        return "next" if command == "finish" and frame.name() == "main" \
            else command

    return repeat(choose)


for setting in ("pagination off", "confirm off", "width 0", "height 0",
                "style enabled off", "print frame-arguments none",
                "print entry-values no", "print thread-events off"):
    gdb.execute("set " + setting)
for command in WALK["start"] + WALK["points"]:
    said(command)
gdb.events.stop.connect(on_stop)
first = {"command": "", "why": [], **state()}
stops = [first] + globals()[WALK["how"]]()
with open(WALK["out"], "w") as file:
    json.dump(stops, file)
