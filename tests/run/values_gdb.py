# SPDX-License-Identifier: GPL-2.0-or-later
"""Executed by gdb: what is in the frames of each core file that $cores lists,
one JSON array a line: of each frame the name, "info args" and "info locals"."""
import json
import os

import gdb

from backtrace_gdb import settings


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
        if frame.type() != gdb.TAILCALL_FRAME:
            frame.select()
            out.append([frame.name(), said("info args"), said("info locals"),
                        said("frame").splitlines()[0],
                        said("info registers")])
        frame = frame.older()
        number += 1
    return out


if __name__ == "__main__":
    settings()
    for setting in ("width 0", "print entry-values no", "language auto"):
        gdb.execute(f"set {setting}")
    for core in open(os.environ["values"]).read().split():
        gdb.execute(f"core-file {core}", to_string=True)
        print("FRAMES", json.dumps([frames(), None]))
