# SPDX-License-Identifier: GPL-2.0-or-later
"""For gdb: prints, as JSON, how expressions are at each stop of a breakpoint.

gdb -x when_gdb.py with the variables `when_places`: a list of (place,
condition); a stop counts if the condition is true and was not at the last one.
"""
import json

import gdb


class Place(gdb.Breakpoint):
    """A conditional breakpoint, which counts when it begins to hold."""

    def __init__(self, place, condition):
        super().__init__(place)
        self.asked, self.was, self.times = condition, False, []
        self.place = place

    def stop(self):
        now = bool(gdb.parse_and_eval(self.asked))
        if now and not self.was:
            self.times.append(gdb.selected_frame().find_sal().line)
        self.was = now
        return False


gdb.execute("set confirm off")
gdb.execute("set pagination off")
PLACES = [Place(*what) for what in when_places]  # noqa: F821
gdb.execute("run >/dev/null")
for one in PLACES:
    print("FOUND " + json.dumps([one.place, one.asked, one.times]))
