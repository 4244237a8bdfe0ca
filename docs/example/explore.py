#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Finds out how a program came to crash, cell by cell: each part behind a "# %%"
is one, for editors and notebooks that know these.

    gcc -g stock.c -o stock
    cprec record ./stock
    python3 explore.py trace.cpr

It follows the bad pointer to where it is stored, asks who wrote that last, and
shows what the program was doing then.
"""
import re
import sys

import cprec

# %% The recording: what it is of, and how it ended.
recording = cprec.open(sys.argv[1] if len(sys.argv) > 1 else "trace.cpr")
info = recording.info
print(f"{' '.join(info.argv)}: {info.end.time} instructions,"
      f" {info.threads} thread")

crash = recording.crash()
if not crash:
    sys.exit("it did not crash")
print(f"{crash.signal_name} at t={crash.at}" +
      (f", address {crash.addr:#x}" if crash.has_addr else ""))

# %% Where it was.
here = recording.at()
for frame in here.frames():
    print(f"#{frame.number} {frame.place.function} line {frame.place.line}")


# %% The source line that crashed, with the variables there: in the innermost
# function whose source is here.  That of libraries seldom is.
def source_line(place):
    try:
        lines = recording.source(place.file or "", place.directory)
    except cprec.NotFound:
        return None
    return lines[place.line - 1].strip() if place.line else None


found = next(((frame.number, line) for frame in here.frames()
              if (line := source_line(frame.place))), None)
if not found:
    sys.exit("of none of these functions the source is here: was the program"
             " compiled with -g?")
here.frame(found[0])
print(f"#{found[0]}: {found[1]}")
for variable in here.variables():
    print(f"    {variable.name} = {variable.value}")
if not crash.has_addr:
    sys.exit("no access failed, so there is no bad pointer to follow: ask"
             " 'cprec heap --errors' what was done to the heap")

# %% Which variable is the bad pointer: the one that the address is near to.
bad = next((variable.name for variable in here.variables()
            if variable.type.endswith("*") and
            abs(int(here[variable.name]) - crash.addr) < 4096), None)
if not bad:
    sys.exit("no pointer of that function is near to the address")
value = int(here[bad])
print(f"{bad} is {value:#x}")

# %% Where it came from: the list of the program that it is in.
expression = "stock"
while int(here[expression]) != value:
    expression += "->next"
print(f"{expression} is it; who wrote that last?")

# %% The culprit.
write = recording.last_write(expression, end=here.position)
print(f"t={write.before}: {write.place.function or write.place.module} changed"
      f" {write.length} bytes of it, {write.old_bytes.hex()} to"
      f" {write.new_bytes.hex()} ({write.new_bytes!r})")

# %% What the program was doing then.
then = recording.at(write.before)
caller = next(frame for frame in then.frames()
              if re.search(r"stock\.c$", frame.place.file or ""))
then.frame(caller.number)
print(f"{caller.place.function} line {caller.place.line}:",
      recording.source(caller.place.file,
                       caller.place.directory)[caller.place.line - 1].strip())
for variable in then.variables():
    print(f"    {variable.name} = {variable.value}")

# %% Does it fit?  The length of what is copied, and the room that there is.
copied = len(then.evaluate("name").text.split('"')[1])
room = then.evaluate("item->name").length
print(f"{copied} characters and a NUL go into {room} bytes")
recording.close()
