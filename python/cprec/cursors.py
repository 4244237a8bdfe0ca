# SPDX-License-Identifier: GPL-2.0-or-later
"""Cursors: places in a recording, and what is there."""
import ctypes
import re

from . import structures as c
from .binding import (Closed, Collector, NotFound, Position, ask, collect,
                      library, take, take_bytes, text, to_bytes, visitor)

# What enumerations of <cprec.h> mean, by their numbers.
STOPS = ("position", "break", "watch", "signal", "call", "return")
SOURCES = ("unknown", "code", "snapshot", "replay", "file")
SYMBOLS = ("other", "data", "function")


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


class Cursor:
    """A place in a recording: a position, a thread, one of its frames."""

    def __init__(self, recording, position=None):
        self.recording = recording
        self.is_own = True
        self.kept = ctypes.c_void_p()
        exact = not isinstance(position, str) and position is not None
        ask("cursor_create", ctypes.byref(self.kept), recording.handle,
            b"start" if exact else to_bytes(position))
        if exact:
            self.seek(position)

    @classmethod
    def borrowed(cls, recording, handle):
        """That of a callback."""
        cursor = cls.__new__(cls)
        cursor.recording = recording
        cursor.is_own = False
        cursor.kept = ctypes.c_void_p(handle)
        return cursor

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        """A recording that is closed has ended its cursors."""
        if getattr(self, "kept", None) and self.is_own and \
                self.recording.kept:
            library.cprec_cursor_destroy(self.kept)
        self.kept = None

    @property
    def handle(self):
        if not self.recording.kept:
            raise Closed("the cursor's recording is closed")
        if not self.kept:
            raise Closed("the cursor is closed")
        return self.kept

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

    def threads(self):
        """Those that are there."""
        yield from collect("each_thread_at", self.handle, c.Thread)

    def thread_name(self, tid=None):
        """What a thread, or its own, is called here; None: not known."""
        out = ctypes.c_char_p()
        ask("find_thread_name", self.handle,
            ctypes.c_uint32(self.tid if tid is None else tid),
            ctypes.byref(out))
        return text(out.value)

    def parent(self):
        """The number of the process that has forked this one, if it still is the
        program that it was then; and the time in that."""
        pid, at = ctypes.c_uint32(), c.Position()
        ask("find_parent", self.handle, ctypes.byref(pid), ctypes.byref(at))
        return pid.value, at.time

    @property
    def tid(self):
        return self.state.tid

    def keep(self):
        """Coming back here is fast."""
        ask("cursor_keep", self.handle)
        return self

    def walk(self, count=1, *, inside=(0, 0), breaks=(), back=False,
             signals=False):
        """
        So many instructions of the thread; 0: as long as the next one is
        inside two addresses.
        """
        addrs = [addr for one in breaks for addr in self.places(one)]
        walk = c.Walk(size=ctypes.sizeof(c.Walk), backwards=back, count=count,
                      start=inside[0], end=inside[1], break_count=len(addrs),
                      signals=signals)
        walk.breaks = (ctypes.c_uint64 * len(addrs))(*addrs)
        raw = answer("cursor_walk", c.Stop, self.handle, ctypes.byref(walk))
        return take(raw)._replace(kind=STOPS[raw.kind])

    def run(self, *, breaks=(), watches=(), to=None, back=False,
            signals=False, calls=False, printed=None):
        """
        Until a breakpoint ("file.c:12", a function, an address), an access, a
        signal, a system call and its end, or a position.  A watch is an
        expression, or (ADDRESS, LENGTH), of which writes count; or (ADDRESS,
        LENGTH, "rw").  Forwards, `printed` is called with what the program
        prints: a descriptor, 1 or 2, and bytes.
        """
        addrs = [addr for one in breaks for addr in self.places(one)]
        until = c.Until(size=ctypes.sizeof(c.Until), backwards=back,
                        has_to=to is not None, break_count=len(addrs),
                        watch_count=len(watches), signals=signals,
                        calls=calls, returns=calls)
        until.breaks = (ctypes.c_uint64 * len(addrs))(*addrs)
        until.watches = (c.Watch * len(watches))(
            *(self.watch(one) for one in watches))
        if printed:
            until.printed = c.PrintedVisit(
                lambda _, descriptor, start, length:
                printed(descriptor, ctypes.string_at(start, length)))
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

    def type(self, given, whole=False):
        """What type an expression has, or the name of a type means; if it is
        `whole`, with members."""
        out = ctypes.c_char_p()
        ask("find_type", self.handle, to_bytes(given), ctypes.c_bool(whole),
            ctypes.byref(out))
        return text(out.value)

    def check(self, expression, pc):
        """Raises InputError if it makes no sense in the code at `pc`."""
        ask("check_expression", self.handle, to_bytes(expression),
            ctypes.c_uint64(pc))

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

    def bits(self, expression):
        """The same of a bit-field, too, and which bits of that it is."""
        raw = c.Bits()
        ask("find_bits", self.handle, to_bytes(expression),
            ctypes.byref(raw))
        return take(raw)

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

    def returned(self, function):
        """What the function at an address has returned, behind its call; None
        if nothing."""
        raw = answer("find_returned", c.Variable, self.handle,
                     ctypes.c_uint64(function))
        return take(raw) if raw is not None else None

    def place(self, addr):
        return take(answer("find_place", c.Place, self.handle,
                           ctypes.c_uint64(addr)))

    def unit(self, addr):
        """What the module's file says of the part that has an address."""
        return take(answer("find_unit", c.Unit, self.handle,
                           ctypes.c_uint64(addr)))

    def line(self, addr):
        """Where code at an address stands in the source."""
        return take(answer("find_line", c.Line, self.handle,
                           ctypes.c_uint64(addr)))

    def inlined(self, addr):
        """The functions inlined there, the innermost one first."""
        yield from collect("each_inlined", self.handle, c.Inlined,
                           ctypes.c_uint64(addr))

    def base(self):
        """Where the stack pointer is when the frame's function has returned."""
        found = ctypes.c_uint64()
        ask("find_base", self.handle, ctypes.byref(found))
        return found.value

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
