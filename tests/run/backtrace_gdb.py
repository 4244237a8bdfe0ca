# SPDX-License-Identifier: GPL-2.0-or-later
"""Executed by gdb: a backtrace of each core file that $backtrace lists, one JSON
array a line."""
import json
import os

import gdb


def settings():
    """Without gdb's caches of memory: gdb 16 has those of one core file for the
    next, too."""
    for setting in ("confirm off", "pagination off", "backtrace past-main on",
                    "backtrace past-entry on", "print demangle on",
                    "stack-cache off", "code-cache off"):
        gdb.execute(f"set {setting}")


KINDS = {gdb.INLINE_FRAME: "inlined", gdb.SIGTRAMP_FRAME: "signal",
         gdb.TAILCALL_FRAME: "tail_call"}


def frames():
    out = []
    frame = gdb.newest_frame()
    while frame:
        sal = frame.find_sal()
        out.append({
            "pc": frame.pc(),
            "kind": KINDS.get(frame.type(), "function"),
            "function": frame.name(),
            "file": sal.symtab.filename if sal.symtab else None,
            "line": sal.line if sal.symtab else None,
        })
        frame = frame.older()
    return out


def cores(listing):
    for core in open(listing).read().split():
        gdb.execute(f"core-file {core}", to_string=True)
        try:
            print("FRAMES", json.dumps(frames()))
        except gdb.error as error:
            print("FRAMES", json.dumps(str(error)))


if "backtrace" in os.environ:
    settings()
    cores(os.environ["backtrace"])
