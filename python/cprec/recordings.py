# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings: what they are of, and questions about all of a run."""
import ctypes

from . import structures as c
from .binding import (Closed, Collector, END, Error, NotFound, as_position,
                      ask, collect, library, take, text, to_bytes, visitor)
from .cursors import Cursor, answer

# What enumerations of <cprec.h> mean, by their numbers.
ACCESSES = ("instruction", "kernel", "others", "mapped", "unmapped", "cleared")
ENDS = ("runs", "returned", "left", "thread_ended", "process_ended",
        "replaced")
EVENTS = ("begins", "call", "signal", "exit")


def array_of_texts(texts):
    return (ctypes.c_char_p * len(texts))(*(to_bytes(one) for one in texts))


def set_range(recording, question, start, end):
    question.has_from = start is not None
    question.has_to = end is not None
    if start is not None:
        setattr(question, "from", recording.position(start).raw())
    if end is not None:
        question.to = recording.position(end).raw()


class File:
    """A file of the program, for reading; an end of it is no error."""

    def __init__(self, recording, name):
        self.recording = recording
        self.handle = ctypes.c_void_p()
        ask("file_open", ctypes.byref(self.handle), recording.handle,
            to_bytes(name))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        """A recording that is closed has closed its files."""
        if getattr(self, "handle", None) and self.recording.handle:
            library.cprec_file_close(self.handle)
        self.handle = None

    @property
    def info(self):
        return take(library.cprec_file_describe(self.handle).contents)

    def read(self, offset=0, length=None):
        """At most so many bytes; without a length, all that follow."""
        rest = max(self.info.length - offset, 0)
        length = rest if length is None else min(length, rest)
        room = ctypes.create_string_buffer(length)
        done = ctypes.c_uint64()
        ask("file_read", self.handle, ctypes.c_uint64(offset), room,
            ctypes.c_uint64(length), ctypes.byref(done))
        return room.raw[:done.value]


class Recording:
    """A recording that is open; `batch` accesses are fetched at once."""
    batch = 4096

    def __init__(self, path, process=None):
        self.kept = ctypes.c_void_p()
        self.cursors = set()
        ask("open", ctypes.byref(self.kept), to_bytes(path),
            to_bytes(str(process)) if process is not None else None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        if getattr(self, "kept", None):
            library.cprec_close(self.kept)
            self.kept = None

    @property
    def handle(self):
        if not self.kept:
            raise Closed("the recording is closed")
        return self.kept

    def cancel(self):
        """Questions end with Cancelled, until resume(); from any thread."""
        library.cprec_cancel(self.handle)

    def resume(self):
        library.cprec_resume(self.handle)

    @property
    def note(self):
        """What went wrong that changes no answer; None, or told once."""
        return text(library.cprec_note(self.handle))

    # ------- what it is of -------

    @property
    def info(self):
        return take(answer("describe", c.Info, self.handle))

    def processes(self):
        """All that were recorded together."""
        yield from collect("each_process", self.handle, c.Process)

    def programs(self):
        yield from collect("each_program", self.handle, c.Program)

    def threads(self):
        yield from collect("each_thread", self.handle, c.Thread)

    def crash(self):
        """How a signal ended it; None if none did."""
        try:
            return take(answer("find_crash", c.Crash, self.handle))
        except NotFound:
            return None

    # ------- files -------

    def modules(self):
        """The files of the program and its libraries."""
        yield from collect("each_module", self.handle, c.Module)

    def module_symbols(self, path):
        """Those that the recording has, with addresses of its file."""
        yield from collect("each_module_symbol", self.handle, c.ModuleSymbol,
                           to_bytes(path))

    def file(self, name):
        """One of them, or what a debugger looks for: see <cprec.h>."""
        return File(self, name)

    # ------- places -------

    def position(self, given):
        return as_position(self.handle, given)

    def clock(self, position):
        """What the clock on the wall said: seconds since 1970."""
        out = ctypes.c_int64()
        ask("find_clock", self.handle, self.position(position).raw(),
            ctypes.byref(out))
        return out.value / 1e6

    def percent(self, position):
        """How much of the recording lies before it: "12.5"."""
        room = ctypes.create_string_buffer(16)
        library.cprec_percent_text(room, self.handle,
                                   self.position(position).raw())
        return room.value.decode()

    def at(self, position=None):
        """A cursor there; without a position, at the crash or the end."""
        return Cursor(self, position)

    def keep(self, start, end, gap):
        """Makes questions between two positions fast."""
        ask("keep_range", self.handle, self.position(start).raw(),
            self.position(end).raw(), ctypes.c_uint64(gap))

    def follow_process(self, process=None):
        """Of a machine: breakpoints are met only in this process of its kernel,
        a number or a name; None: in all."""
        ask("follow_process", self.handle,
            None if process is None else str(process).encode())

    def use_physical(self, physical=True):
        """Of a machine: addresses are physical from now on, or virtual."""
        ask("use_physical", self.handle, ctypes.c_bool(physical))

    def keep_limits(self, length, gap):
        library.cprec_keep_limits(self.handle, ctypes.c_uint64(length),
                                  ctypes.c_uint64(gap))

    def source(self, file, directory=None, folders=None):
        """The lines of a source file on this machine."""
        raw = answer("read_source", c.Text, self.handle, to_bytes(file),
                     to_bytes(directory), to_bytes(folders))
        return text(ctypes.string_at(raw.text, raw.length)).splitlines()

    # ------- bookmarks -------

    def bookmarks(self):
        """Positions with names, which are positions in turn."""
        yield from collect("each_bookmark", self.handle, c.Bookmark)

    def set_bookmark(self, name, position, text=None):
        ask("set_bookmark", self.handle, to_bytes(name),
            self.position(position).raw(), to_bytes(text))

    def delete_bookmark(self, name):
        ask("delete_bookmark", self.handle, to_bytes(name))

    # ------- history -------

    def accesses(self, what, length=None, *, reads=True, writes=True,
                 changes=False, start=None, end=None, value=None, limit=None,
                 last=False, tid=0):
        """
        Who read and wrote memory, oldest first; with `tid`, only what this
        thread does.  An expression means what it does at `end`.
        """
        found = self.find(what, end)
        question = c.Accesses(
            size=ctypes.sizeof(c.Accesses), addr=found.addr,
            length=found.length if length is None else length,
            bit_offset=found.bit_offset if length is None else 0,
            bit_size=found.bit_size if length is None else 0, reads=reads,
            writes=writes, changes=changes, last=last, tid=tid,
            has_value=value is not None,
            value=(value or 0) & 0xffffffffffffffff)
        set_range(self, question, start, end)
        count = 0
        while True:
            items, more = self.some_accesses(question)
            for item in items:
                yield item
                count += 1
                if count == limit:
                    return
            if not more:
                return
            question.has_from = True
            setattr(question, "from", items[-1].after.raw())

    def some_accesses(self, question):
        """The first ones, and whether there are more behind them."""
        items = []

        def keep(raw):
            item = take(raw)._replace(kind=ACCESSES[raw.kind])
            if len(items) >= self.batch and item.after != items[-1].after:
                return END
            items.append(item)
            return item

        collector = Collector(c.AccessVisit, keep)
        question.visit = collector.callback
        collector.ask("each_access", self.handle, ctypes.byref(question))
        return items, len(items) >= self.batch and not question.last

    def writes(self, what, length=None, **options):
        return self.accesses(what, length, reads=False, **options)

    def reads(self, what, length=None, **options):
        return self.accesses(what, length, writes=False, **options)

    def last_write(self, what, length=None, **options):
        """The last one, or None."""
        return next(self.writes(what, length, last=True, **options), None)

    def find(self, what, position=None):
        """An expression's memory at a position, and which bits of it."""
        if isinstance(what, int):
            return c.Bits(addr=what, length=8)
        if not isinstance(what, (str, bytes)):
            return what		# what `bits` has found
        with self.at("end" if position is None else position) as there:
            return there.bits(what)

    def when(self, condition, where=None, *, start=None, end=None, tid=0,
             limit=None, last=False):
        """Each time that a condition became true."""
        collector = Collector(c.BecameVisit)
        question = c.Condition(
            size=ctypes.sizeof(c.Condition), text=to_bytes(condition),
            where=to_bytes(where), tid=tid, last=last, limit=limit or 0,
            met=collector.callback)
        set_range(self, question, start, end)
        yield from collector.ask("each_condition", self.handle,
                                 ctypes.byref(question), None)

    # ------- calls, lines, system calls -------

    def calls(self, *patterns, start=None, end=None, tid=0, depth=None,
              limit=None, values=True):
        """Calls of functions, in the order in which they end."""
        def keep(raw, _cursor):
            return take(raw)._replace(end=ENDS[raw.end])

        collector = Collector(c.CallVisit, keep)
        question = self.calls_question(patterns, start, end, tid, depth,
                                       limit)
        question.no_values = not values
        question.ends = collector.callback
        yield from collector.ask("each_call", self.handle,
                                 ctypes.byref(question))

    def call_counts(self, *patterns, start=None, end=None, tid=0):
        """How many calls of each function there were."""
        collector = Collector(c.CountVisit)
        question = self.calls_question(patterns, start, end, tid, None, None)
        question.no_values = True
        question.counts = collector.callback
        yield from collector.ask("each_call", self.handle,
                                 ctypes.byref(question))

    def calls_question(self, patterns, start, end, tid, depth, limit):
        question = c.Calls(
            size=ctypes.sizeof(c.Calls), patterns=array_of_texts(patterns),
            pattern_count=len(patterns), tid=tid, limit=limit or 0,
            has_depth_most=depth is not None, depth_most=depth or 0)
        set_range(self, question, start, end)
        return question

    def log(self, *points, values=(), start=None, end=None, tid=0,
            visit=None):
        """
        Each time that lines, functions or addresses were executed: pairs of
        what was met and the texts of `values`, or what `visit` returns, which
        is called with the met and a cursor there, good for that call only.
        A value that can never be there is an Error before all of them.
        """
        def look(met, here):
            found = []
            for value in values:
                try:
                    found.append(str(here[value]))
                except Error as error:
                    found.append(f"<{error}>")
            return found

        def keep(raw, cursor):
            met = take(raw)
            return met, (visit or look)(met, Cursor.borrowed(self, cursor))

        collector = Collector(c.MetVisit, keep)
        question = c.Log(size=ctypes.sizeof(c.Log),
                         points=array_of_texts(points),
                         point_count=len(points), tid=tid,
                         met=collector.callback,
                         expressions=array_of_texts(values),
                         expression_count=len(values))
        set_range(self, question, start, end)
        yield from collector.ask("each_visit", self.handle,
                                 ctypes.byref(question))

    def events(self, start=None, end=None, tid=0, begins=False, strings=0):
        """System calls and signals; `text` is as strace(1) has them."""
        def keep(raw):
            return take(raw)._replace(kind=EVENTS[raw.kind])

        collector = Collector(c.EventVisit, keep)
        question = c.Events(size=ctypes.sizeof(c.Events), tid=tid,
                            string_most=strings, begins=begins,
                            visit=collector.callback)
        set_range(self, question, start, end)
        yield from collector.ask("each_event", self.handle,
                                 ctypes.byref(question))

    def outputs(self):
        """What the program printed; `text` is bytes."""
        def keep(raw):
            return take(raw)._replace(
                text=ctypes.string_at(raw.text, raw.length))

        collector = Collector(visitor(c.Output), keep)
        yield from collector.ask("each_output", self.handle,
                                 collector.callback, None)
