# SPDX-License-Identifier: GPL-2.0-or-later
"""
Questions about a recorded program.

    import cprec

    with cprec.open("trace.cpr") as recording:
        here = recording.at()           # where it crashed, or its end
        for frame in here.frames():
            print(frame.number, frame.place.function)
        print(here["head->name"])
        for write in recording.writes("counter"):
            print(write.before, write.place.line, write.new_bytes.hex())

A Recording answers for all of a program's run; a Cursor is a place in it, a
position with a thread and one of its frames, that moves.  Positions are given
as in the command's options ("end-1", "50%"), as numbers of instructions or as
a Position; memory is given as an expression ("head->name") or an address.

Lists are generators.  What was found is there when the first item is, so that
other questions may be asked between two of them; only accesses, of which there
may be many, are fetched some thousands at a time.  Items are tuples with the
names of <cprec.h>.  One thread at a time uses a recording and its cursors;
Recording.cancel() may be called by any.
"""
from .binding import (Busy, Bytes, Cancelled, ChecksumError, Closed, Corrupt,
                      Diverged, Error, InputError, NoMemory, NotFound, Position,
                      SystemFailure, Truncated, VersionError, library, text,
                      to_bytes)
from .cursors import SOURCES, STOPS, SYMBOLS, Cursor, Value
from .recordings import ACCESSES, ENDS, EVENTS, Recording

__all__ = ["ACCESSES", "Busy", "Bytes", "Cancelled", "ChecksumError",
           "Closed", "Corrupt", "Cursor", "Diverged", "ENDS", "EVENTS",
           "Error", "InputError", "NoMemory", "NotFound", "Position", "Recording",
           "SOURCES", "STOPS", "SYMBOLS", "SystemFailure", "Truncated",
           "Value", "VersionError", "debug_folders", "open", "version"]


def version():
    return text(library.cprec_version())


def debug_folders(folders):
    """Where debugging information is looked for, too; before any open()."""
    debug_folders.kept = to_bytes(folders)
    library.cprec_debug_folders(debug_folders.kept)


def open(path, process=None):
    """Opens a recording; `process` is another one's number, of its family."""
    return Recording(path, process)
