# SPDX-License-Identifier: GPL-2.0-or-later
"""The library itself: its functions, its errors, its values as Python's."""
import collections
import ctypes
import os
import pathlib

from . import structures as c

ERRORS = {}


class Error(Exception):
    """What the library says went wrong; `code` is that of <cprec.h>."""
    code = 0

    def __init_subclass__(cls, code):
        cls.code = code
        ERRORS[code] = cls


class Truncated(Error, code=-1):
    """The file ends too early."""


class Corrupt(Error, code=-2):
    """It is no recording, or a damaged one."""


class ChecksumError(Error, code=-3):
    """Bytes of it are not those written."""


class VersionError(Error, code=-4):
    """This library cannot read it."""


class Diverged(Error, code=-5):
    """The replay left the recorded execution."""


class SystemFailure(Error, code=-6):
    """The operating system refused."""


class NoMemory(Error, code=-7):
    """There is no memory left."""


class NotFound(Error, code=-8):
    """What was asked for is not there."""


class InputError(Error, code=-9):
    """The question makes no sense."""


class Cancelled(Error, code=-10):
    """Recording.cancel() was called."""


class Busy(Error, code=-11):
    """A callback asked what it may not."""


class Closed(Error, code=0):
    """The recording, or the cursor, was closed before."""


def load():
    """The one that CPREC_LIBRARY names, or is installed, or was built beside
    us: in a folder of the source that is called build."""
    name = "libcprec.so.1"
    chosen = os.environ.get("CPREC_LIBRARY")
    if chosen:
        return ctypes.CDLL(chosen)
    source = pathlib.Path(__file__).resolve().parents[2]
    built = source / "build" / "library" / name
    if (source / "library" / "cprec.h").exists() and built.exists():
        return ctypes.CDLL(str(built))
    for folder in pathlib.Path(__file__).resolve().parents:
        for path in (folder / name, folder / "x86_64-linux-gnu" / name,
                     folder / "lib64" / name):
            if path.exists():
                return ctypes.CDLL(str(path))
    return ctypes.CDLL(name)


library = load()
library.cprec_version.restype = ctypes.c_char_p
library.cprec_note.restype = ctypes.c_char_p
library.cprec_cursor_position.restype = c.Position
library.cprec_cursor_position.argtypes = [ctypes.c_void_p]
library.cprec_file_describe.restype = ctypes.POINTER(c.FileInfo)
for plain in ("cprec_close", "cprec_cancel", "cprec_resume",
              "cprec_cursor_destroy", "cprec_keep_limits",
              "cprec_debug_folders", "cprec_file_close"):
    getattr(library, plain).restype = None


def ask(function, *arguments):
    """Calls cprec_FUNCTION() with room for a failure behind the arguments."""
    why = c.Failure()
    code = getattr(library, "cprec_" + function)(*arguments,
                                                  ctypes.byref(why))
    if code < 0:
        raise ERRORS.get(code, Error)(text(why.text))
    return code


def to_bytes(given):
    """Of a text, or None."""
    return os.fsencode(given) if given is not None else None


def text(given):
    """Of bytes, whatever they are, or None."""
    return os.fsdecode(given) if given is not None else None


class Position(collections.namedtuple("Position", "time events",
                                      defaults=(0,))):
    """A place in the execution: instructions, and events at that time."""
    __slots__ = ()
    ALL = 0xffffffff

    def __str__(self):
        room = ctypes.create_string_buffer(40)
        library.cprec_position_text(room, self.raw())
        return text(room.value)

    def raw(self):
        return c.Position(self.time, self.events, 0)

    @classmethod
    def of(cls, raw):
        return cls(raw.time, raw.events)


def as_position(recording, given):
    """Of a position, a number of instructions, or a text."""
    if isinstance(given, Position):
        return given
    if isinstance(given, int):
        return Position(given)
    out = c.Position()
    ask("find_position", recording, to_bytes(given), ctypes.byref(out))
    return Position.of(out)


class Bytes(bytes):
    """Bytes; of those that nobody knows, `known` is False."""
    known = ()

    @property
    def is_known(self):
        return all(self.known)


def take_bytes(pointer, known, length):
    if not pointer:
        return None
    taken = Bytes(ctypes.string_at(pointer, length))
    taken.known = tuple(known[i] != 0 for i in range(length)) if known \
        else (True,) * length
    return taken


def take_list(pointer):
    """Of texts, up to the one that is NULL."""
    taken = []
    while pointer and pointer[len(taken)] is not None:
        taken.append(text(pointer[len(taken)]))
    return taken


TUPLES = {}

# Fields that say how long another one is are not shown; those with bytes and
# what is known of them are one.
BYTES = {"bytes": "known", "old_bytes": "old_known", "new_bytes": "new_known"}
HIDDEN = {"known", "old_known", "new_known", "argument_count", "reserved"}


def take_field(raw, name, kind):
    value = getattr(raw, name)
    if kind is ctypes.c_char_p:
        return text(value)
    if kind is c.Position:
        return Position.of(value)
    if kind is c.Texts:
        if not hasattr(raw, "argument_count"):
            return take_list(value)
        return [text(value[i]) for i in range(raw.argument_count)]
    if kind is c.Bytes:
        return take_bytes(value, getattr(raw, BYTES[name], None), raw.length)
    if isinstance(value, ctypes.Array):
        return list(value)
    if name == "arguments":
        return [take(value[i].contents) for i in range(raw.argument_count)]
    if isinstance(value, ctypes._Pointer):
        return take(value.contents) if value else None
    return value


def take(raw):
    """A structure of the library's as a tuple with names."""
    kind = type(raw)
    fields = [field for field in kind._fields_ if field[0] not in HIDDEN]
    if kind not in TUPLES:
        name = "".join(word.title() for word in kind.__name__.split("_"))
        TUPLES[kind] = collections.namedtuple(
            name, [name for name, _ in fields])
    return TUPLES[kind](*(take_field(raw, name, of) for name, of in fields))


class Collector:
    """
    A callback that keeps what it is told.  What goes wrong in Python is
    raised once the library has returned.
    """

    def __init__(self, kind, keep=take):
        self.items = []
        self.error = None

        def visit(_context, raw, *rest):
            try:
                kept = keep(raw.contents if hasattr(raw, "contents") else raw,
                            *rest)
                if kept is END:
                    return 1
                self.items.append(kept)
                return 0
            except BaseException as error:
                self.error = error
                return 1

        self.callback = kind(visit)

    def ask(self, function, *arguments):
        ask(function, *arguments)
        if self.error:
            raise self.error
        return self.items


END = object()


def visitor(kind):
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                            ctypes.POINTER(kind))


def collect(function, handle, kind, *before):
    """Asks with a callback, which is told of structures, and no question."""
    collector = Collector(visitor(kind))
    return collector.ask(function, handle, *before, collector.callback, None)
