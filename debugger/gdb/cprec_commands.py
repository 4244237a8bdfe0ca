# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of gdb for a recording: `help cprec` lists them.

cprec's server knows time, and gdb does not.  A command that moves makes a plan
with the server, "monitor plan ...", and has gdb step back: the server goes where
the plan leads.  So gdb finds out by itself that it stands elsewhere, Ctrl-C
interrupts, and front ends are told.
"""
import gdb
import re
import sys
import types

UNITS = {"": 1, "k": 10 ** 3, "m": 10 ** 6, "g": 10 ** 9}
ALLOCATORS = {"malloc", "calloc", "realloc", "reallocarray", "memalign",
              "posix_memalign", "aligned_alloc", "free", "cfree",
              "operator new", "operator new[]", "operator delete",
              "operator delete[]"}


def error(words):
    raise gdb.GdbError(words)


# ------- what gdb says -------

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v",
           "a": "\a", "e": "\033"}


def unescaped(text):
    """A string of the machine interface as what it stands for."""
    parts = re.split(r"\\([0-7]{3}|.)", text)
    whole = bytearray(parts[0].encode())
    for escape, more in zip(parts[1::2], parts[2::2]):
        whole += bytes([int(escape, 8) & 255]) if len(escape) == 3 else \
            ESCAPES.get(escape, escape).encode()
        whole += more.encode()
    return whole.decode(errors="replace")


def has_marks():
    """Whether what is caught has marks of the machine interface."""
    return gdb.execute("echo x", to_string=True) != "x"


def heard(command):
    """What gdb says when it executes a command.  With its machine interface,
    version 18 has some of that in the interface's lines: ~"text\\n"."""
    said = gdb.execute(command, to_string=True)
    if not has_marks():
        return said
    return re.sub(r'^[~@]"(.*)"\n', lambda line: unescaped(line[1]), said,
                  flags=re.M)


# ------- the server -------

def ask(words):
    """The answer to "monitor WORDS"."""
    try:
        answer = heard("monitor " + words)
    except gdb.error as failure:
        said = str(failure)
        if "not supported by this target" in said or \
                said.startswith("You can't do that"):
            error("No recording is open: 'cprec debug FILE' opens one.")
        error(re.sub(r"^.*?Rcmd: |^.*error code '|'$", "", said))
    if answer.startswith("error: "):
        error(answer[len("error: "):].strip())
    return answer


class State:
    """Where it stands, and what the last plan found."""

    def __init__(self):
        self.lines = [line.partition(" ")[::2]
                      for line in ask("state").splitlines()]

    def __getattr__(self, name):
        for key, value in self.lines:
            if key == name:
                return value
        return None

    @property
    def time(self):
        return int(self.position.partition(".")[0])

    def has(self, name):
        return any(key == name for key, _ in self.lines)


def place_words():
    """Function and source line of the frame, in one line; and its text."""
    try:
        words = heard("frame")
    except gdb.error:
        return "", ""
    lines = words.splitlines() or [""]
    where = re.sub(r"^#\d+ +(0x[0-9a-f]+ in )?", "", lines[0])
    return where, "\n".join(lines[1:])


def status_words(state):
    where, source = place_words()
    ends = {"start": "the start of the recording, ",
            "end": "the end of the recording, ", None: ""}
    border = ends.get(state.at)
    if border is None:
        border = f"where {state.at.partition(' ')[2]} ended it, "
    words = f"{border}t={state.position} ({state.percent}%), thread " \
            f"{state.tid}: {where}\n"
    return words + (source + "\n" if source else "")


def say_status(state=None):
    gdb.write(status_words(state or State()))


# ------- moving -------

class Visited:
    """Places that were gone to, for back and forward: files and positions."""

    def __init__(self):
        self.list = []
        self.at = -1

    def is_at(self, place):
        return 0 <= self.at < len(self.list) and self.list[self.at] == place

    def leave(self, place):
        """It is gone away from a place: what lay ahead is forgotten."""
        if not self.is_at(place):
            self.reach(place)

    def reach(self, place):
        del self.list[self.at + 1:]
        self.list.append(place)
        self.at = len(self.list) - 1


visited = Visited()


def recording_path():
    return ask("recording").rstrip("\n")


def steps_back():
    """The command that goes one instruction back."""
    try:
        if gdb.parameter("exec-direction") == "reverse":
            return "stepi"
    except (gdb.error, RuntimeError):
        pass
    return "reverse-stepi"


moves = [0]


# While it moves: gdb says nothing of where it is; and in another program, where
# a step is over, the libraries that are others are a reason to stop.
WHILE_MOVING = {"suppress-cli-notifications": "on",
                "stop-on-solib-events": "1"}


def parameter_words(name):
    value = gdb.parameter(name)
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


def go_quietly(*commands):
    """Has gdb move, without a word of it."""
    before = {name: parameter_words(name) for name in WHILE_MOVING}
    moves[0] += 1
    for name, value in WHILE_MOVING.items():
        gdb.execute(f"set {name} {value}")
    try:
        # What front ends are told of a stop would be caught, too.
        is_caught = not has_marks()
        for command in commands:
            gdb.execute(command, to_string=is_caught)
    finally:
        for name, value in before.items():
            gdb.execute(f"set {name} {value}")


def step_back():
    """Has gdb believe that it steps."""
    go_quietly(steps_back())


def execute(plan):
    """Goes where a plan leads, and returns the state there."""
    ask("plan " + plan)
    try:
        step_back()
    except gdb.error as failure:
        ask("plan none")
        error(str(failure))
    state = State()
    # At the start, none is known yet, not even the dynamic linker.
    if gdb.parameter("auto-solib-add") and state.at != "start":
        gdb.execute("sharedlibrary", to_string=True)
    if state.has("interrupted"):
        error(f"Interrupted, and still at t={state.position}.")
    if state.error:
        error(state.error[0].upper() + state.error[1:] + ".")
    return state


def move(plan):
    path = recording_path()
    here = State().position
    state = execute(plan)
    visited.leave((path, here))
    visited.reach((path, state.position))
    return state


def parameter_quietly(name, value):
    gdb.execute(f"set {name} {value}", to_string=True)


def open_recording(path, position, osabi=None):
    """Another recording, or the same anew, in the place of this one."""
    import shlex

    program = ask("program").rstrip("\n")
    words = [program, "gdbserver", "--stdio", "--from=" + position, "--", path]
    quiet = {"confirm": "off", "suppress-cli-notifications": "on"}
    before = {name: parameter_words(name) for name in (*quiet, "osabi")}
    for name, value in quiet.items():
        parameter_quietly(name, value)
    try:
        gdb.execute("disconnect", to_string=True)
        # What the other is called, it tells itself.
        if not osabi or is_given():
            gdb.execute("file", to_string=True)
        if osabi:
            parameter_quietly("osabi", osabi)
        gdb.execute("target extended-remote | exec "
                    + " ".join(map(shlex.quote, words)), to_string=True)
    finally:
        for name, value in before.items():
            parameter_quietly(name, value)
    if not osabi:
        open_static_anew()


def is_given():
    """Whether the server gives gdb the program's file."""
    return (gdb.current_progspace().filename or "").startswith("target:")


def is_static():
    """Whether the program has no dynamic linker."""
    try:
        auxv = gdb.execute("info auxv", to_string=True)
    except gdb.error:
        return False
    return bool(re.search(r"AT_BASE .* 0x0$", auxv, flags=re.M))


def open_static_anew():
    """Connects once more, if the program is static and under way. gdb finds the
    linker's data in it then, takes all of its code for the linker's, and stops at
    no caller on its way back. It looks for a linker only in systems it knows."""
    if is_static():
        state = State()
        if state.at != "start":
            open_recording(recording_path(), state.position, "none")


def go_to_place(place):
    path, position = place
    if path == recording_path():
        return execute("goto " + position)
    open_recording(path, position)
    return State()


def position_words(argument):
    """A position as the server takes it."""
    words = argument.strip()
    words = re.sub(r"^output\s+", "output:", words)
    relative = re.fullmatch(r"([+-])\s*(\d+(?:\.\d+)?|0x[0-9a-fA-F]+)([kmg]?)",
                            words)
    if not relative:
        return words
    sign, number, unit = relative.groups()
    steps = int(number, 16) if number.startswith("0x") else float(number)
    return f"{sign}{int(steps * UNITS[unit])}"


class Command(gdb.Command):
    """Its class's documentation is its help; `name` is what it is called."""
    kind = gdb.COMMAND_RUNNING
    completes = gdb.COMPLETE_NONE

    def __init__(self):
        if self.completes is None:
            super().__init__(self.name, self.kind)
        else:
            super().__init__(self.name, self.kind, self.completes)

    def invoke(self, argument, from_tty):
        self.run(argument.strip(), from_tty)


def bookmark_list():
    """Triples of position, name and text."""
    return [(line.split(" ", 2) + [""])[:3]
            for line in ask("bookmarks").splitlines()]


def complete_names(word, more=()):
    try:
        names = [name for _, name, _ in bookmark_list()]
    except gdb.GdbError:
        names = []
    return [name for name in [*names, *more] if name.startswith(word)]


class Goto(Command):
    """Go to a position of the recording: goto T.
T is a number of instructions since the start, as 5000 or 5m; start, end, 50%,
end-1, main; output N, where the N-th line of output was written; TID:5000, of
one thread; a time of day, 12:04:31.5; the name of a bookmark; or +N and -N,
from here."""
    name = "goto"
    completes = None

    def complete(self, text, word):
        return complete_names(word, ("start", "end", "main"))

    def run(self, argument, _):
        if not argument:
            error("A position is missing: 'help goto'.")
        say_status(move("goto " + position_words(argument)))


class Later(Command):
    """Go N instructions forwards: + N, the same as goto +N."""
    name = "+"
    sign = "+"

    def run(self, argument, _):
        say_status(move("goto " + position_words(self.sign
                                                 + (argument or "1"))))


class Earlier(Later):
    """Go N instructions back: - N, the same as goto -N."""
    name = "-"
    sign = "-"


class Back(Command):
    """Go back to the place that was left by goto, last or the like; back N."""
    name = "back"
    step = -1

    def run(self, argument, _):
        here = (recording_path(), State().position)
        count = int(argument) if argument.isdigit() else 1
        # A place that was stepped to lies behind the last one gone to.
        if not visited.is_at(here) and visited.list:
            if self.step > 0:
                error("There is no place to go forward to.")
            visited.reach(here)
        to = visited.at + self.step * count
        if not 0 <= to < len(visited.list):
            error("There is no place to go "
                  + ("back to." if self.step < 0 else "forward to."))
        state = go_to_place(visited.list[to])
        visited.at = to
        say_status(state)


class Forward(Back):
    """Undo a back; forward N."""
    name = "forward"
    step = 1


class When(Command):
    """Tell the position: instructions since the start, and the place."""
    name = "when"
    kind = gdb.COMMAND_STATUS

    def run(self, argument, _):
        say_status()


# ------- who changed it last -------

class Bits:
    """Where a bit-field is in bytes, from the lowest bit of the first on."""

    def __init__(self, offset, size, is_signed):
        self.offset, self.size, self.is_signed = offset, size, is_signed

    def length(self):
        """Bytes that have some of them."""
        return (self.offset + self.size + 7) // 8

    def number(self, raw):
        number = int.from_bytes(raw, "little") >> self.offset
        number &= (1 << self.size) - 1
        if self.is_signed and number >> (self.size - 1):
            number -= 1 << self.size
        return number

    def differ(self, at, old, new):
        """Whether bytes from `at` on, which follow one another, have other
        bits."""
        mask = ((1 << self.size) - 1) << self.offset >> 8 * at
        return bool((int.from_bytes(old, "little") ^
                     int.from_bytes(new, "little")) & mask)


def find_member(kind, name, start=0):
    """The member of a structure with this name, and at which bit it is."""
    for field in kind.fields():
        if not hasattr(field, "bitpos"):
            continue
        if field.name == name and not field.is_base_class:
            return field, start + field.bitpos
        inner = field.type.strip_typedefs()
        if (field.is_base_class or not field.name) and inner.code in (
                gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            found = find_member(inner, name, start + field.bitpos)
            if found:
                return found
    return None


def parent_of(text):
    """What a member is of, as a value, and the member's name; or None."""
    parts = re.fullmatch(r"(.+)(?:\.|->)\s*(\w+)\s*", text)
    if not parts and not (re.fullmatch(r"\w+", text) and
                          gdb.lookup_symbol(text)[1]):
        return None
    value = gdb.parse_and_eval(parts.group(1) if parts else "*this")
    while value.type.strip_typedefs().code in (
            gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    return value, parts.group(2) if parts else text


def find_bits(text):
    """The bit-field that an expression is: address, bits, type; or None."""
    try:
        value, name = parent_of(text)
        field, at = find_member(value.type.strip_typedefs(), name)
        if not field.bitsize or value.address is None:
            return None
        is_signed = int(gdb.Value(-1).cast(field.type)) < 0
        return (int(value.address) + at // 8,
                Bits(at % 8, field.bitsize, is_signed), field.type)
    except (gdb.error, TypeError, ValueError):
        return None


class What:
    """Memory, or a register, that is followed back."""

    def __init__(self, text):
        self.text = text
        self.register = None
        self.type = self.bits = None
        self.before = ""
        name = re.fullmatch(r"\$(\w+)", text)
        if name and self.is_register(name.group(1)):
            self.register = name.group(1)
            self.name = text
        else:
            self.find(text)

    @staticmethod
    def is_register(name):
        try:
            return gdb.selected_frame().architecture().registers() \
                .find(name) is not None
        except (gdb.error, AttributeError):
            return False

    def find(self, text):
        self.name = text
        found = find_bits(text)
        if found:
            self.addr, self.bits, self.type = found
            self.length = self.bits.length()
            return
        try:
            value = gdb.parse_and_eval(text)
        except gdb.error as failure:
            self.find_elsewhere(text, failure)
            return
        try:
            address = value.address
        except gdb.error:
            address = None
        if address is None:
            error(f"'{text}' is not in memory: 'last $REGISTER' follows a"
                  " register, 'last *(TYPE *) ADDRESS' memory.")
        self.addr = int(address)
        self.length = value.type.sizeof
        self.type = value.type

    def find_elsewhere(self, text, failure):
        """gdb does not know it; cprec may."""
        try:
            addr, length, *bits = ask("address " + text).split()
        except gdb.GdbError:
            error(str(failure))
        self.addr, self.length = int(addr, 16), int(length)
        if bits:
            self.bits = Bits(*map(int, bits))

    def plan(self):
        if self.register:
            return f"register {self.register}"
        bits = f":{self.bits.offset}:{self.bits.size}" if self.bits else ""
        return f"last {self.addr:#x} {self.length}{bits} " \
               f"{self.before}".strip()

    def values(self, state):
        """As texts: what it was, and what it became."""
        if self.register:
            return (number_words(state.old), number_words(state.new))
        old = self.read()
        was = "?" if old is None else self.show(old)
        if state.new is None or "??" in state.new:
            return was, "?"
        at = int(state.addr, 16) - self.addr
        new = bytes.fromhex(state.new)
        if old is not None:
            new = old[:at] + new + old[at + len(new):]
        return was, self.show(new) if len(new) == self.length else "?"

    def read(self):
        """None where it was not mapped yet."""
        try:
            return bytes(gdb.selected_inferior().read_memory(self.addr,
                                                             self.length))
        except gdb.MemoryError:
            return None

    def show(self, raw):
        if self.bits:
            number = self.bits.number(raw)
            return str(number) if self.type is None else \
                gdb.Value(number).cast(self.type).format_string()
        if self.type is None:
            return number_words(raw.hex())
        try:
            return gdb.Value(raw, self.type).format_string()
        except (gdb.error, ValueError, TypeError):
            return number_words(raw.hex())

    def is_all_of(self, source):
        """Whether all of it was loaded from there."""
        return source is not None and (
            self.register is not None or source.length == self.length)

    def source(self, state):
        """Where its value was loaded from; None if it was not only copied."""
        if not state.source:
            return None
        addr, length, at, _ = state.source.split()
        other = What.__new__(What)
        other.text, other.register, other.bits = self.text, None, None
        other.addr, other.length = int(addr, 16), int(length)
        other.type = self.type if self.type is not None and \
            self.type.sizeof == other.length else None
        other.before = at
        other.name = memory_words(other.addr)
        return other


def number_words(digits):
    """The number that bytes are, the lowest first."""
    if not digits or "?" in digits:
        return "?"
    return hex(int.from_bytes(bytes.fromhex(digits), "little"))


def memory_words(addr):
    """What memory is called, or its address."""
    try:
        words = heard(f"info symbol {addr:#x}")
    except gdb.error:
        words = ""
    found = re.match(r"(.+?) in section", words)
    return found.group(1) if found else f"*{addr:#x}"


def allocator_words():
    """Whether this is in the code that hands blocks out, or takes them."""
    frame = gdb.newest_frame()
    for _ in range(12):
        if frame is None:
            return None
        name = frame.name()
        base = (name or "").partition("(")[0]
        if base in ALLOCATORS or base.removeprefix("__libc_") in ALLOCATORS:
            return allocator_call(base.removeprefix("__libc_"), frame.older())
        frame = frame.older()
    return None


def allocator_call(name, caller):
    takes = "free" in name or "delete" in name
    words = f"{name}() {'took the block back' if takes else 'made it'}"
    if name.startswith("realloc"):
        words = f"{name}() moved or cut a block"
    if caller is None:
        return words
    line = caller.find_sal()
    words += f", called by {caller.name() or '??'}"
    if line.symtab:
        words += f" at {line.symtab.filename}:{line.line}"
    return words


class Last(Command):
    """Go to the last change of an expression before now: last EXPR.
Enter, or last alone, goes further back: to the change before; or, if the value
was only copied, to where it came from.  Where nothing changed that, the next
Enter goes on with EXPR.  The place is before the instruction, or the system call,
that changes it.  last $rax follows a register."""
    name = "last"
    completes = gdb.COMPLETE_EXPRESSION

    def __init__(self):
        super().__init__()
        self.what = self.next = self.landed = self.source = None

    def run(self, argument, _):
        again = self.what is not None and \
            argument in ("", self.what.text) and \
            self.landed == State().position
        if not argument and self.what is None:
            error("An expression is missing: 'help last'.")
        if again:
            what = self.next
        else:
            what = What(argument or self.what.text)
        state = self.go(what)
        self.what, self.landed = what, state.position
        self.source = what.source(state)
        self.next = self.source if what.is_all_of(self.source) else what
        if self.next is what:
            what.before = ""
        self.tell(state)

    def go(self, what):
        try:
            return move(what.plan())
        except gdb.GdbError as failure:
            words = str(failure).replace("changed it", f"changed {what.name}")
            if what is self.source:
                self.next, self.what.before = self.what, ""
                words += f" Enter goes on with {self.what.name}."
            error(words)

    def tell(self, state):
        what = self.what
        old, new = what.values(state)
        words = f"{what.name}: {old} -> {new}"
        if state.kind in ("mapped", "unmapped", "cleared"):
            words += f", {state.kind}"
        if state.by:
            words += f", by {state.by}"
        elif state.kind == "others":
            words += ", by another process, some time before"
        gdb.write(words + "\n")
        made = allocator_words()
        if made:
            gdb.write(f"  {made}\n")
        source = self.source
        if self.next is source:
            gdb.write(f"  a copy of {source.name}, read at "
                      f"t={source.before}: Enter goes on with that\n")
        elif source:
            gdb.write(f"  {source.length} of {what.length} bytes are a copy of"
                      f" {source.name}, read at t={source.before}\n")
        say_status(state)


# ------- bookmarks -------

class Bookmark(Command):
    """Give this position a name: bookmark NAME ["TEXT"].
It is kept beside the recording, and is a position from now on: goto NAME, and
--at=NAME of cprec's commands."""
    name = "bookmark"

    def run(self, argument, _):
        name, _, words = argument.partition(" ")
        words = words.strip()
        if len(words) > 1 and words[0] == words[-1] == '"':
            words = words[1:-1]
        if not name:
            error('A name is missing: bookmark NAME "TEXT".')
        ask(f"bookmark {name} {words}".rstrip())
        gdb.write(f"{name} is t={State().position}.\n")


class Bookmarks(Command):
    """List the bookmarks of the recording."""
    name = "bookmarks"
    kind = gdb.COMMAND_STATUS

    def run(self, argument, _):
        found = bookmark_list()
        if not found:
            gdb.write("There are no bookmarks.\n")
            return
        wide = max(len(position) for position, _, _ in found) + 2
        for position, name, words in found:
            gdb.write(f"{'t=' + position:<{wide}}  {name}"
                      + (f"  {words}" if words else "") + "\n")


class InfoBookmarks(Bookmarks):
    """List the bookmarks of the recording."""
    name = "info bookmarks"


class DeleteBookmark(Command):
    """Forget a bookmark: delete bookmark NAME."""
    name = "delete bookmark"
    completes = None

    def complete(self, text, word):
        return complete_names(word)

    def run(self, argument, _):
        if not argument:
            error("A name is missing: delete bookmark NAME.")
        ask("delete-bookmark " + argument)


class GotoBookmark(Goto):
    """Go to a bookmark: the same as goto."""
    name = "goto-bookmark"


# ------- other processes -------

class Process(Command):
    """Go to another process of the recording, at this moment: process NUMBER, or
the name of its program, or a word of its command line, if only one has it.
Without an argument, lists them."""
    name = "process"

    def run(self, argument, _):
        found = [line.split(" ", 2) for line in ask("processes").splitlines()]
        if not argument:
            for mark, number, rest in found:
                path, _, called = rest.partition("\t")
                name = called.rpartition("/")[2] or called
                gdb.write(f"{mark if mark == '*' else ' '} {number:<8} "
                          f"{name:<12} {path}\n")
            return
        here = (recording_path(), State().position)
        path, moment = ask("moment " + argument).splitlines()
        position, when = moment.split()
        open_recording(path, position)
        visited.leave(here)
        state = State()
        visited.reach((path, state.position))
        gdb.write({"before": "It had not begun then: this is its start.\n",
                   "after": "It was over then: this is its end.\n"}.get(
                       when, ""))
        say_status(state)


# ------- questions about all of it -------

def cprec_lines(*words):
    """What a command of cprec prints; Ctrl-C ends it."""
    import subprocess	# it takes a while, and is seldom needed

    program = ask("program").rstrip("\n")
    # As gdb has read them, whatever Python takes names of files to be.
    line = [word.encode(gdb.host_charset(), "surrogateescape")
            for word in (program, *words)]
    child = subprocess.Popen(line, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    try:
        for line in child.stdout:
            if not line.startswith(b"cprec: note: "):
                yield line.decode(errors="replace")
    except (KeyboardInterrupt, gdb.error):
        child.kill()
        raise
    finally:
        child.stdout.close()
        child.wait()


def run_cprec(*words):
    for line in cprec_lines(*words):
        gdb.write(line)


class Output(Command):
    """Show what the program has printed so far.
With an argument, it is gdb's: print an expression, and no end of the line."""
    name = "output"
    completes = gdb.COMPLETE_EXPRESSION

    def run(self, argument, _):
        if not argument:
            run_cprec("replay", "--to=" + State().position, "--",
                      recording_path())
            return
        words = re.match(r"/\d*([a-z]?)\w*\s*(.*)", argument, re.S)
        letter, text = words.groups() if words else ("", argument)
        value = gdb.parse_and_eval(text)
        gdb.write(value.format_string(format=letter) if letter else
                  value.format_string())


class Changes:
    """Of memory, told with the values that its type gives it."""

    def __init__(self, what):
        self.what = what
        self.bytes = self.at_start() or "??" * what.length

    def at_start(self):
        """What it was before the first one, if it was there."""
        import json

        for line in cprec_lines("query", "--json", "--no-races", "--at=start",
                                "--format=raw", f"--addr={self.what.addr:#x}",
                                f"--size={self.what.length}", "--",
                                recording_path()):
            if line.startswith("{"):
                return json.loads(line).get("bytes")
        return None

    def value(self, change, digits):
        """What it is with some bytes changed; these alone, if others are not
        known yet."""
        at = 2 * (int(change["addr"], 16) - self.what.addr)
        self.bytes = self.bytes[:at] + digits + \
            self.bytes[at + len(digits):]
        if "?" not in self.bytes:
            return self.what.show(bytes.fromhex(self.bytes))
        return number_words(digits)

    def is_of_neighbours(self, change):
        """Whether the bits that are meant stay as they are."""
        if not self.what.bits or "?" in change["old"] + change["new"]:
            return False
        return not self.what.bits.differ(
            int(change["addr"], 16) - self.what.addr,
            bytes.fromhex(change["old"]), bytes.fromhex(change["new"]))

    def tell(self, change):
        words = f"t={change['at']}"
        if change.get("events"):
            words += f".{change['events']}"
        if change.get("function"):
            words += " in " + change["function"]
        if change.get("file"):
            words += f" at {change['file']}:{change['line']}"
        if change.get("by"):
            words += ", " + change["by"]
        old = self.value(change, change["old"])
        if self.is_of_neighbours(change):
            self.value(change, change["new"])
            return ""
        return f"{words}: {old} -> {self.value(change, change['new'])}\n"


class History(Command):
    """List all changes of an expression, in the whole recording: history EXPR."""
    name = "history"
    completes = gdb.COMPLETE_EXPRESSION

    def run(self, argument, _):
        import json

        if not argument:
            error("An expression is missing: history EXPR.")
        what = What(argument)
        if what.register:
            error("Of a register only the last change is known: last "
                  + argument + ".")
        changes = Changes(what)
        for line in cprec_lines("writes", "--changes", "--json",
                                f"--addr={what.addr:#x}",
                                f"--size={what.length}", "--",
                                recording_path()):
            gdb.write(changes.tell(json.loads(line))
                      if line.startswith("{") else line)


class Calls(Command):
    """List calls of functions: calls PATTERN..., as of cprec calls."""
    name = "calls"
    completes = gdb.COMPLETE_SYMBOL

    def run(self, argument, _):
        import shlex

        words = shlex.split(argument)
        if not words:
            error("A pattern is missing: calls PATTERN.")
        options = [word for word in words if word.startswith("-")]
        patterns = [word for word in words if not word.startswith("-")]
        run_cprec("calls", *options, "--", recording_path(), *patterns)


class Log(Command):
    """Print expressions each time that a place was executed:
log PLACE => EXPR, EXPR...  as cprec log 'hello.c:12 => i, list->len'"""
    name = "log"
    completes = gdb.COMPLETE_LOCATION

    def run(self, argument, _):
        if not argument:
            error("A place is missing: log PLACE => EXPR, EXPR...")
        run_cprec("log", "--", recording_path(), argument)


# ------- the beginning -------

class Stops:
    """After a move of gdb's own, the position is told before the prompt."""

    def __init__(self):
        self.is_new = False
        self.moves = moves[0]

    def note(self, event):
        # Our own moves tell by themselves.
        self.is_new = self.moves == moves[0]
        self.moves = moves[0]

    def tell(self):
        if not self.is_new:
            return
        self.is_new = False
        try:
            state = State()
        except (gdb.GdbError, gdb.error):
            return
        border = {"start": ": the start of the recording",
                  "end": ": the end of the recording"}.get(state.at, "")
        gdb.write(f"t={state.position} ({state.percent}%), thread "
                  f"{state.tid}{border}\n")


class Connect(Command):
    """Connect with a server; cprec does this."""
    name = "cprec-connect"

    def run(self, argument, from_tty):
        """Leaves out the files that gdb looks for: most need not be there.  Tells
        where it stands at last; gdb 18 would say that first."""
        told = parameter_words("suppress-cli-notifications")
        parameter_quietly("suppress-cli-notifications", "on")
        try:
            said = gdb.execute("target extended-remote " + argument, from_tty,
                               to_string=True)
            open_static_anew()
        except gdb.error as failure:
            error(str(failure))
        finally:
            parameter_quietly("suppress-cli-notifications", told)
        gdb.write(re.sub(r"^(Reading .* from remote target\.\.\.|warning: File"
                         r" transfers from remote targets can be slow\..*)\n",
                         "", said, flags=re.M))
        gdb.write(re.sub(r"^#0 +", "", heard("frame")))


def frame_name():
    try:
        return gdb.newest_frame().name()
    except gdb.error:
        return None


def leave_inlined():
    """Stops at main as a breakpoint does there. Where a function that is inlined
    in main begins at the same place, gdb shows that function after a step, and
    main at a breakpoint."""
    try:
        frame = gdb.newest_frame()
        if frame.type() != gdb.INLINE_FRAME:
            return
        place = f"*{frame.pc():#x}"
        while frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
        if frame.name() == "main":
            gdb.Breakpoint(place, internal=True, temporary=True)
            go_quietly("reverse-stepi", "continue")
    except gdb.error:
        pass


class Begin(Command):
    """Tell where a session begins; cprec does this."""
    name = "cprec-begin"

    def run(self, argument, _):
        try:
            state = State()
        except gdb.GdbError:
            return
        ends = {"start": "This is the start of the recording.",
                "end": "This is the end of the recording."}
        kind, _, name = (state.at or "").partition(" ")
        words = ends.get(kind, "")
        if kind == "crash":
            words = f"The program died of {name}: this is where."
        elif not words and argument == "main":
            leave_inlined()
            words = "The program exited: this is the beginning of main."
            if frame_name() != "main":
                words = "The program exited, and main is not known: this is" \
                    " where the program begins."
        gdb.write(f"{words} 'help cprec' lists commands.\n".lstrip())
        say_status(state)
        stops = Stops()
        gdb.events.stop.connect(stops.note)
        gdb.events.before_prompt.connect(stops.tell)


class Help(gdb.Command):
    """Recordings of cprec.

goto T              go to a position: 5m, end, 50%, output 3, a bookmark, +N, -N
last EXPR           go to the last change of EXPR; Enter: further back
back, forward       among the places visited
when                the position
bookmark NAME TEXT  name it; bookmarks, delete bookmark NAME
process NUMBER      another process at the same moment; alone: which there are
output              what the program has printed so far
history EXPR        all changes of EXPR
calls PATTERN       calls of functions: malloc, Server::*, file.c:*
log PLACE => EXPR   EXPR each time that PLACE was executed

reverse-continue, -step, -next, -finish, -stepi and so on (rc rs rn rf rsi) are
gdb's own, and so are watch and break: they work in both directions."""

    def __init__(self):
        super().__init__("cprec", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        gdb.execute("help cprec")


def has_command(name):
    try:
        gdb.execute("help " + name, to_string=True)
        return True
    except gdb.error:
        return False


COMMANDS = (Goto, Later, Earlier, Back, Forward, When, Last, Bookmark,
            Bookmarks, InfoBookmarks, DeleteBookmark, GotoBookmark, Process,
            Output, History, Calls, Log, Connect, Begin, Help)


def define():
    for kind in COMMANDS:
        kind()
    for short, name in (("rs", "reverse-step"), ("rsi", "reverse-stepi"),
                        ("rn", "reverse-next"), ("rni", "reverse-nexti"),
                        ("rf", "reverse-finish"), ("rc", "reverse-continue")):
        if not has_command(short):
            gdb.execute(f"alias {short} = {name}")
    # Nothing is lost by going.
    gdb.execute("define hook-quit\nset confirm off\nend", to_string=True)


def load(code):
    """gdb runs scripts where the user's are, too: names would be shared."""
    module = types.ModuleType("cprec_commands")
    sys.modules["cprec_commands"] = module
    exec(code, module.__dict__)
    module.define()


if __name__ == "__main__":
    load(sys._getframe().f_code)
