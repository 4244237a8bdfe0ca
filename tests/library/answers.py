#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Asks a recording of guest.c all that the library answers, and prints the same
lines as answers.c, but for those about callbacks of C.

usage: answers.py FILE.cpr SOURCE SOURCE:LINE
"""
import sys

import cprec


def show(*words):
    print(*(int(word) if isinstance(word, bool) else word for word in words))


def known_hex(taken):
    return "".join(f"{byte:02x}" if known else "??"
                   for byte, known in zip(taken, taken.known))


def code_of(function, *arguments, **more):
    """0, or the number of the error."""
    try:
        function(*arguments, **more)
    except cprec.Error as error:
        return error.code
    return 0


def describe(recording):
    info, crash = recording.info, recording.crash()
    show("info", info.pid, info.arch, info.end, info.threads,
         info.is_complete, info.exit_signal)
    for one in recording.threads():
        show("thread", one.tid, one.first, one.last, one.instructions,
             one.has_ended)
    for one in recording.processes():
        show("process", one.name, one.pid, one.is_this, one.program,
             one.called)
    for one in recording.programs():
        show("program", one.at, one.path, one.argv[0])
    show("crash", crash.signal_name, crash.at, crash.tid, hex(crash.addr),
         crash.is_write)
    for one in recording.outputs():
        show("output", one.at, one.tid, one.descriptor, one.text.hex())
    recording.set_bookmark("later", 200)
    recording.set_bookmark("early", 100, 'a "text"')
    for one in recording.bookmarks():
        show("bookmark", one.name, one.at, one.text)
    recording.delete_bookmark("later")
    recording.delete_bookmark("early")
    show("bookmark none", code_of(recording.delete_bookmark, "early"),
         code_of(recording.set_bookmark, "end", 100))
    for one in recording.modules():
        show("module", one.path, one.build_id, one.kept, one.kept_debug)
        with recording.file(one.path) as file:
            show("file", file.info.length, file.info.path,
                 file.read(0, 64).hex(), len(file.read(2 ** 64 - 1, 9)))
        for symbol in recording.module_symbols(one.path):
            if symbol.name == "counter":
                show("linked", symbol.name, hex(symbol.addr), symbol.length,
                     symbol.kind)
    show("file none", code_of(recording.file, "/etc/passwd"))


def show_variables(here):
    for one in here.variables():
        show("variable", one.type, one.name, "=", one.value, one.is_argument,
             one.brief)


def evaluate(here, expression):
    try:
        value = here[expression]
    except cprec.Error as error:
        show(f"value {expression}: {error.code}")
        return
    show(f"value {expression}: ({value.type})", value.text, value.length,
         known_hex(value.bytes) if value.bytes is not None else "")


def show_memory(here, addr, length):
    memory = here.memory(addr, length)
    show("memory", known_hex(memory.bytes), memory.is_certain,
         memory.is_mapped)


def step_lines(here):
    addr, _ = here.address("total")
    line = here.line(addr)
    show("line", line.line, int(line.is_statement),
         int(line.function == addr), int(line.body > addr))
    show("check", code_of(here.check, "counter == 3 && head->name", addr),
         code_of(here.check, "counter == -3 && head->nix", addr),
         code_of(here.check, "counter ==", addr))
    for one in here.inlined(addr):
        show("inlined", one.function)
    show("base", hex(here.base()))
    show("returned", int(here.returned(line.function) is not None))


def look_at_crash(here):
    state = here.state
    show("state", state.at, state.tid, state.instructions, state.has_turn,
         state.has_ended)
    for one in here.frames():
        show("frame", one.number, hex(one.pc), one.place.function,
             one.place.line)
    show_variables(here)
    for expression in ("counter", "ratio", "*head", "head->next->name",
                       "pattern", "head->price * 2 + 1", "$rsp",
                       "no_such_thing", "1 +", "item"):
        evaluate(here, expression)
    here.frame(2)
    evaluate(here, "item")
    show_variables(here)
    show("frame 99:", code_of(here.frame, 99))
    here.frame(0)
    addr, length = here.address("counter")
    show("address", hex(addr), length)
    show("kept", here["counter"])
    place = here.place(addr + 2)
    show("place", place.symbol, place.data)
    show("unit", here.unit(addr).section)
    show("type", here.type("head", whole=True))
    show("type none:", code_of(here.type, "no_such"))
    show("percent", here.recording.percent(here.position))
    step_lines(here)
    show_memory(here, addr, length)
    show_memory(here, 8, 4)
    for one in here.mappings():
        show("mapping", hex(one.start), hex(one.end), one.protection,
             f"{one.offset:#x}" if one.offset else "0", one.name)
    for one in here.symbols("library_guest!*o*"):
        show("symbol", hex(one.addr), one.length, cprec.SYMBOLS.index(
            one.kind), one.name, one.module, one.line)
    show("no symbol:", code_of(lambda: list(here.symbols("no_such_*"))))
    for one in here.instructions():
        show("instruction", hex(one.addr), one.bytes.hex(), one.text)
    for one in here.complete("cou"):
        show("text", one)


def show_accesses(accesses):
    for one in accesses:
        show("access", one.before, one.after, one.tid,
             one.kind == "instruction", one.is_write,
             f"{one.place.function}:{one.place.line}",
             known_hex(one.old_bytes), known_hex(one.new_bytes))


def look_back(recording, here):
    addr, length = here.address("counter")
    every = list(recording.writes(addr, length))
    show_accesses(every)
    show_accesses([recording.last_write(addr, length)])
    show_accesses(recording.writes(addr, length, value=15))
    show_accesses(recording.accesses(addr, length, limit=5))
    # Fetched a few at a time, they are the same.
    recording.batch = 3
    if list(recording.writes("counter")) != every:
        show("accesses differ")
    for tid in {one.tid for one in every}:
        if list(recording.writes(addr, length, tid=tid)) != [
                one for one in every if one.tid == tid]:
            show("writes of a thread differ")
    bits = here.bits("bits.high")
    show("bits", bits.length, bits.bit_offset, bits.bit_size, bits.is_signed)
    for one in recording.writes("bits.high"):
        show("bits", one.before, known_hex(one.new_bytes))
    show("too many", code_of(lambda: list(recording.writes(
        bits._replace(bit_offset=4)))))
    write = here.register_write("rax")
    show("register", write.before, write.tid, hex(write.pc),
         write.old_bytes.hex(), write.new_bytes.hex())


def look_at_calls(recording, line):
    for one in recording.calls("add", "total"):
        arguments = "".join(f"{value.name}={value.value},"
                            for value in one.arguments)
        show("call", one.number, one.function, one.at, one.tid, one.depth,
             f"({arguments})", cprec.ENDS.index(one.end),
             one.returned.value if one.returned else None, one.instructions)
    for one in recording.call_counts("add", "total"):
        show("count", one.function, one.calls, one.instructions)
    show("no call:", code_of(lambda: list(recording.calls(
        "no_such_function"))))
    for met, values in recording.log(line, "mark",
                                     values=("counter", "price",
                                             "counter / 0")):
        show("met", met.point, met.at, met.tid,
             *("-" if value.startswith("<") else value for value in values))
    show("no value:", code_of(lambda: list(recording.log(
        line, "mark", values=("no_such_function",)))))


def ask_inside_of_visits(recording, here):
    marked = here.address("marked")[0]

    def ask_far(met, there):
        show_accesses(one for one in [recording.last_write(
            *there.address("counter"), end=met.at)] if one)
        counter = here["counter"]
        stop = there.run(breaks=[marked])
        there.seek("start").step(200)
        show("far", met.at, counter, stop.at, there["counter"],
             code_of(lambda: list(recording.log("add"))))

    list(recording.log("add", "work", "add", visit=ask_far))


def look_for(recording, here, text, limit):
    def search():
        for met in recording.when(text, limit=limit):
            here.seek(met.at)
            show("became", met.at, met.is_place, met.tid,
                 f"{met.place.function}:{met.place.line}", here["counter"])

    show(f"condition {text}:", code_of(search))


def look_at_events(recording):
    for one in recording.events():
        show("event", cprec.EVENTS.index(one.kind), one.at, one.tid,
             one.number, one.name, one.result, one.error,
             " | ".join([str(one.text), *one.arguments]))


def show_stop(stop):
    show("stop", cprec.STOPS.index(stop.kind), stop.at, stop.tid, stop.index,
         stop.is_write, f"{stop.pc:#x}" if stop.pc else 0)


def move(recording, here):
    here.seek("start").step(1000).step(-10)
    show("at", here.position)
    show("back", code_of(here.step, -2 ** 63))
    show("at", here.position)
    here.seek("end")
    for addr in here.places("add"):
        show("break", hex(addr))
    marked = here.address("marked")[0]
    here.seek("start")
    show_stop(here.run(breaks=[marked]))
    for one in here.registers():
        if one.name in ("r12", "r13", "rip"):
            show("register", one.name, hex(one.value), one.is_known)
    for one in here.threads():
        show("there", one.tid)
    show("name", here.thread_name())
    show("parent", code_of(here.parent))
    here.keep()
    both = {"breaks": [marked], "watches": ["counter"]}
    show_stop(here.run(back=True, **both))
    show_stop(here.run(back=True, **both))
    show_stop(here.run(**both))
    half = recording.position("50%")
    show_stop(here.run(to=half, back=half < here.position))
    recording.keep(half, here.position, 1000)
    show("seek", code_of(here.seek, "nonsense"))
    show("nobody", code_of(here.thread, 1))


def end(recording, here, source):
    with open(source, "rb") as file:
        size = len(file.read())
    show("source", len(recording.source(source)), size)
    recording.cancel()
    show("cancelled", code_of(here.run))
    recording.resume()
    here.seek("start")
    show_stop(here.run(printed=lambda descriptor, text:
                       show("printed", descriptor, len(text))))


def main():
    path, source, line = sys.argv[1:]
    show("open", code_of(cprec.open, "/no/such/file"))
    show("open", code_of(cprec.open, path, process=1))
    with cprec.open(path) as recording:
        here = recording.at()
        describe(recording)
        look_at_crash(here)
        look_back(recording, here)
        look_at_calls(recording, line)
        ask_inside_of_visits(recording, here)
        look_for(recording, here, "counter > 10", 0)
        look_for(recording, here, "counter % 16 == 0", 3)
        look_for(recording, here, "counter >", 0)
        look_at_events(recording)
        move(recording, here)
        end(recording, here, source)


if __name__ == "__main__":
    main()
