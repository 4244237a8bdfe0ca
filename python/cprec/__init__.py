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
import ctypes
import re

from . import structures as c
from .binding import (Busy, Bytes, Cancelled, ChecksumError, Collector,
                      Corrupt, Diverged, END, Error, InputError, NoMemory,
                      NotFound, Position, SystemFailure, Truncated,
                      VersionError, as_position, ask, collect, library, take,
                      take_bytes, text, to_bytes, visitor)

__all__ = ["Busy", "Bytes", "Cancelled", "ChecksumError", "Corrupt", "Cursor",
           "Diverged", "Error", "InputError", "NoMemory", "NotFound",
           "Position", "Recording", "SystemFailure", "Truncated", "Value",
           "VersionError", "debug_folders", "open", "version"]

# What enumerations of <cprec.h> mean, by their numbers.
STOPS = ("position", "break", "watch")
SOURCES = ("unknown", "code", "snapshot", "replay")
ACCESSES = ("instruction", "kernel", "others", "mapped", "unmapped", "cleared")
SYMBOLS = ("other", "data", "function")
ENDS = ("runs", "returned", "left", "thread_ended", "process_ended",
        "replaced")
EVENTS = ("begins", "call", "signal", "exit")

# So many accesses are fetched at once, at least.
BATCH = 4096


def version():
    return text(library.cprec_version())


def debug_folders(folders):
    """Where debugging information is looked for, too; before any open()."""
    debug_folders.kept = to_bytes(folders)
    library.cprec_debug_folders(debug_folders.kept)


def open(path, process=None):
    """Opens a recording; `process` is another one's number, of its family."""
    return Recording(path, process)


class Value:
    """What an expression is: `text`, `type`, `addr`, `bytes`."""

    def __init__(self, raw):
        self.type = text(raw.type)
        self.text = text(raw.text)
        self.no_text = text(raw.no_text)
        self.addr = raw.addr if raw.has_addr else None
        self.is_code = raw.is_code
        self.length = raw.length
        self.bytes = take_bytes(raw.bytes, raw.known, raw.length)

    def __str__(self):
        return self.text if self.text is not None else f"<{self.no_text}>"

    def __repr__(self):
        return f"Value({self.type or '?'}: {self})"

    def __int__(self):
        """Of a number, a character or a pointer; else its bytes."""
        found = re.match(r"(?:\(.*?\) )?(0x[0-9a-f]+|-?\d+)(?![\d.])",
                         self.text or "")
        if found:
            return int(found.group(1), 0)
        if self.bytes is None or not self.bytes.is_known:
            raise NotFound(str(self))
        return int.from_bytes(self.bytes, "little")


def answer(function, kind, handle, *arguments):
    """A question with one answer, which is the library's."""
    out = ctypes.POINTER(kind)()
    ask(function, handle, *arguments, ctypes.byref(out))
    return out.contents if out else None


def array_of_texts(texts):
    return (ctypes.c_char_p * len(texts))(*(to_bytes(one) for one in texts))


class Recording:
    def __init__(self, path, process=None):
        self.handle = ctypes.c_void_p()
        self.cursors = set()
        ask("open", ctypes.byref(self.handle), to_bytes(path),
            to_bytes(str(process)) if process is not None else None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        if getattr(self, "handle", None):
            library.cprec_close(self.handle)
            self.handle = None

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

    # ------- places -------

    def position(self, given):
        return as_position(self.handle, given)

    def clock(self, position):
        """What the clock on the wall said: seconds since 1970."""
        out = ctypes.c_int64()
        ask("find_clock", self.handle, self.position(position).raw(),
            ctypes.byref(out))
        return out.value / 1e6

    def at(self, position=None):
        """A cursor there; without a position, at the crash or the end."""
        return Cursor(self, position)

    def keep(self, start, end, gap):
        """Makes questions between two positions fast."""
        ask("keep_range", self.handle, self.position(start).raw(),
            self.position(end).raw(), ctypes.c_uint64(gap))

    def keep_limits(self, length, gap):
        library.cprec_keep_limits(self.handle, ctypes.c_uint64(length),
                                  ctypes.c_uint64(gap))

    def source(self, file, directory=None, folders=None):
        """The lines of a source file on this machine."""
        raw = answer("read_source", c.Text, self.handle, to_bytes(file),
                     to_bytes(directory), to_bytes(folders))
        return text(ctypes.string_at(raw.text, raw.length)).splitlines()

    # ------- history -------

    def accesses(self, what, length=None, *, reads=True, writes=True,
                 changes=False, start=None, end=None, value=None, limit=None,
                 last=False):
        """
        Who read and wrote memory, oldest first.  An expression means what it
        does at `end`.
        """
        addr, own = self.find(what, end)
        question = c.Accesses(
            size=ctypes.sizeof(c.Accesses), addr=addr,
            length=own if length is None else length, reads=reads,
            writes=writes, changes=changes, last=last,
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
            if len(items) >= BATCH and item.after != items[-1].after:
                return END
            items.append(item)
            return item

        collector = Collector(c.AccessVisit, keep)
        question.visit = collector.callback
        collector.ask("each_access", self.handle, ctypes.byref(question))
        return items, len(items) >= BATCH and not question.last

    def writes(self, what, length=None, **options):
        return self.accesses(what, length, reads=False, **options)

    def reads(self, what, length=None, **options):
        return self.accesses(what, length, writes=False, **options)

    def last_write(self, what, length=None, **options):
        """The last one, or None."""
        return next(self.writes(what, length, last=True, **options), None)

    def find(self, what, position=None):
        """The address and length of an expression's memory at a position."""
        if isinstance(what, int):
            return what, 8
        with self.at("end" if position is None else position) as there:
            return there.address(what)

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
                         met=collector.callback)
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


def set_range(recording, question, start, end):
    question.has_from = start is not None
    question.has_to = end is not None
    if start is not None:
        setattr(question, "from", recording.position(start).raw())
    if end is not None:
        question.to = recording.position(end).raw()


class Cursor:
    """A place in a recording: a position, a thread, one of its frames."""

    def __init__(self, recording, position=None):
        self.recording = recording
        self.is_own = True
        self.handle = ctypes.c_void_p()
        exact = not isinstance(position, str) and position is not None
        ask("cursor_create", ctypes.byref(self.handle), recording.handle,
            b"start" if exact else to_bytes(position))
        if exact:
            self.seek(position)

    @classmethod
    def borrowed(cls, recording, handle):
        """That of a callback."""
        cursor = cls.__new__(cls)
        cursor.recording = recording
        cursor.is_own = False
        cursor.handle = ctypes.c_void_p(handle)
        return cursor

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        """A recording that is closed has ended its cursors."""
        if getattr(self, "handle", None) and self.is_own and \
                self.recording.handle:
            library.cprec_cursor_destroy(self.handle)
        self.handle = None

    # ------- moving -------

    @property
    def position(self):
        return Position.of(library.cprec_cursor_position(self.handle))

    def seek(self, position):
        if isinstance(position, str):
            ask("cursor_seek", self.handle, to_bytes(position))
        else:
            ask("cursor_move", self.handle,
                self.recording.position(position).raw())
        return self

    def step(self, instructions=1):
        ask("cursor_step", self.handle, ctypes.c_int64(instructions))
        return self

    def thread(self, tid):
        """Another thread is meant; 0: whichever has its turn."""
        ask("cursor_thread", self.handle, ctypes.c_uint32(tid))
        return self

    def frame(self, number):
        ask("cursor_frame", self.handle, ctypes.c_uint64(number))
        return self

    @property
    def state(self):
        """Where the thread that is meant stands."""
        return take(answer("cursor_describe", c.State, self.handle))

    @property
    def tid(self):
        return self.state.tid

    def keep(self):
        """Coming back here is fast."""
        ask("cursor_keep", self.handle)
        return self

    def run(self, *, breaks=(), watches=(), to=None, back=False):
        """
        Until a breakpoint ("file.c:12", a function, an address), an access or
        a position.  A watch is an expression, or (ADDRESS, LENGTH), of which
        writes count; or (ADDRESS, LENGTH, "rw").
        """
        addrs = [addr for one in breaks for addr in self.places(one)]
        until = c.Until(size=ctypes.sizeof(c.Until), backwards=back,
                        has_to=to is not None, break_count=len(addrs),
                        watch_count=len(watches))
        until.breaks = (ctypes.c_uint64 * len(addrs))(*addrs)
        until.watches = (c.Watch * len(watches))(
            *(self.watch(one) for one in watches))
        if to is not None:
            until.to = self.recording.position(to).raw()
        raw = answer("cursor_run", c.Stop, self.handle, ctypes.byref(until))
        return take(raw)._replace(kind=STOPS[raw.kind])

    def watch(self, given):
        if isinstance(given, str):
            given = self.address(given)
        addr, length, kinds = (*given, "w")[:3]
        return c.Watch(addr=addr, length=length, reads="r" in kinds,
                       writes="w" in kinds)

    def places(self, where):
        """The addresses at which a breakpoint stops."""
        if isinstance(where, int):
            yield where
            return
        collector = Collector(ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64), int)
        yield from collector.ask("each_place", self.handle, to_bytes(where),
                                 collector.callback, None)

    # ------- looking -------

    def evaluate(self, expression, letter=None, length=0, raw=False):
        """`letter` is one of gdb's formats, "xduotcfsa"."""
        how = c.Format(size=ctypes.sizeof(c.Format), length=length,
                       letter=(letter or "\0").encode(), is_raw=raw)
        return Value(answer("evaluate", c.Value, self.handle,
                            to_bytes(expression), ctypes.byref(how)))

    def __getitem__(self, expression):
        return self.evaluate(expression)

    def address(self, expression):
        """The address and length of an expression's memory."""
        addr, length = ctypes.c_uint64(), ctypes.c_uint64()
        ask("find_address", self.handle, to_bytes(expression),
            ctypes.byref(addr), ctypes.byref(length))
        return addr.value, length.value

    def read(self, what, length=None):
        """Bytes of memory; `known` tells which of them are."""
        addr, own = self.address(what) if isinstance(what, str) else (what, 8)
        raw = answer("read", c.Memory, self.handle, ctypes.c_uint64(addr),
                     ctypes.c_uint64(own if length is None else length))
        return take_bytes(raw.bytes, raw.known, raw.length)

    def memory(self, addr, length):
        """The same with all that is known of it."""
        raw = answer("read", c.Memory, self.handle, ctypes.c_uint64(addr),
                     ctypes.c_uint64(length))
        return take(raw)._replace(source=SOURCES[raw.source])

    def registers(self):
        yield from collect("each_register", self.handle, c.Register)

    def register(self, name):
        """The value of one; bytes, if it is a wide one."""
        for one in self.registers():
            if one.name == name:
                return one.value if one.length <= 8 else one.bytes
        raise NotFound(f"there is no register '{name}'")

    def register_write(self, name):
        """What wrote it last, before the cursor; None if nothing did."""
        raw = answer("find_register_write", c.RegisterWrite, self.handle,
                     to_bytes(name))
        return take(raw) if raw is not None else None

    def mappings(self):
        yield from collect("each_mapping", self.handle, c.Mapping)

    def frames(self):
        collector = Collector(visitor(c.Frame))
        yield from collector.ask("each_frame", self.handle,
                                 collector.callback, None, None)

    def variables(self):
        """Arguments and local variables of the frame."""
        yield from collect("each_variable", self.handle, c.Variable)

    def place(self, addr):
        return take(answer("find_place", c.Place, self.handle,
                           ctypes.c_uint64(addr)))

    def symbols(self, pattern=None):
        def keep(raw):
            return take(raw)._replace(kind=SYMBOLS[raw.kind])

        collector = Collector(visitor(c.Symbol), keep)
        yield from collector.ask("each_symbol", self.handle,
                                 to_bytes(pattern), collector.callback, None)

    def instructions(self, start=0, end=0, count=0, att=False):
        """Without a start, those of the function that the frame is in."""
        code = c.Code(size=ctypes.sizeof(c.Code), start=start, end=end,
                      count=count, att=att)
        yield from collect("each_instruction", self.handle, c.Instruction,
                           ctypes.byref(code))

    def complete(self, typed):
        """What the beginning of an expression may become."""
        collector = Collector(ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p), text)
        yield from collector.ask("complete", self.handle, to_bytes(typed),
                                 collector.callback, None)
