# SPDX-License-Identifier: GPL-2.0-or-later
"""Executed by gdb: what is in the frames of each core file that $values lists, or
of a recording at each time that $times lists, one JSON array a line: of each
frame the name, "info args", "info locals", "frame", "info registers", the
kind."""
import json
import os

import gdb

from backtrace_gdb import KINDS, settings


def said(command):
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error as error:
        return str(error)


def frames():
    out = []
    number = 0
    frame = gdb.newest_frame()
    while frame:
        frame.select()
        out.append([frame.name(), said("info args"), said("info locals"),
                    said("frame").splitlines()[0], said("info registers"),
                    KINDS.get(frame.type(), "function")])
        frame = frame.older()
        number += 1
    return out


if __name__ == "__main__":
    settings()
    for setting in ("width 0", "language auto"):
        gdb.execute(f"set {setting}")
    command = "core-file" if "values" in os.environ else "goto"
    listing = os.environ["values" if "values" in os.environ else "times"]
    for place in open(listing).read().split():
        gdb.execute(f"{command} {place}", to_string=True)
        gdb.execute("disable pretty-printer", to_string=True)
        print("FRAMES", json.dumps([frames(), None]))
