#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls and logs are what gdb sees natively.

usage: calls.py --cprec C --cc CC --cxx CXX

Breakpoints of gdb (calls_gdb.py) tell the arguments of functions, what they
return, in which order, and what expressions are at lines.  Callgrind, if it is
here, counts calls and instructions.  What gdb cannot tell (a call that is left
by longjmp()), the programs do: see programs/calls/.  Speaks TAP.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter

sys.dont_write_bytecode = True
from dap import version  # noqa: E402
from tap import (CprecTap, GDB_NAMES, equal, expect, main,  # noqa: E402
                 record_as_in_gdb)

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "programs", "calls")

OF_C = ("fib jumps mix make large blend pack many wide huge last tail even odd"
        " nothing on_signal raises compare texts ends").split()
OF_CXX = ("Server::serve Server::at Server::count twice<int> twice<double>"
          " throws catches rethrows Counted::Counted Counted::~Counted").split()
LIBRARY = "malloc free strlen".split()

# gdb 13 takes a result of 16 bytes for one in memory.
HUGE = (1 << 70) + 3


def source_line(name, mark):
    with open(os.path.join(SOURCES, name), encoding="utf-8") as source:
        for number, text in enumerate(source, 1):
            if mark in text:
                return number
    raise ValueError(mark)


def plain(value):
    """Where things are differs with the environment."""
    return re.sub(r"@?0x[0-9a-f]+( <[^>]*>)?", "0x", value)


def name_of(call):
    return re.sub(r"\(.*\)( const)?|\[abi:\w+\]", "", call["function"])


class Calls(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.programs = {}

    def build(self, name, *flags):
        program = os.path.join(self.folder, name.split(".")[0] +
                               "".join(flags).replace("-", "_"))
        compiler = self.options.cxx if name.endswith("pp") else \
            self.options.cc
        subprocess.run([*compiler.split(), "-g", *flags, "-o", program,
                        os.path.join(SOURCES, name)], check=True, timeout=120)
        return program

    def record(self, program, *more):
        path = program + "".join(more) + ".cpr"
        done = self.cprec("record", "-q", *more, "-o", path, program)
        expect(os.path.exists(path), done.stderr)
        return path

    def ours(self, *words):
        done = self.cprec(*words[:1], "--json", *words[1:])
        expect(not done.returncode, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def gdb(self, program, functions=(), library=(), points=()):
        done = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled off",
             *GDB_NAMES, "-x", os.path.join(HERE, "calls_gdb.py"), program],
            capture_output=True, text=True, timeout=300,
            env={**os.environ, "LC_ALL": "C", "functions": " ".join(functions),
                 "library": " ".join(library), "points": "\n".join(points)})
        expect("exited" in done.stdout, done.stdout + done.stderr)
        found = {"CALL": [], "LOG": []}
        for line in done.stdout.splitlines():
            kind, _, text = line.partition(" ")
            if kind in found:
                found[kind].append(json.loads(text))
        return found

    # ------- calls -------

    def arguments(self, call, found, name):
        """Arguments of one call; gdb names none that have no name."""
        if found.get("passed") is None:
            return
        mine = [[value["name"], plain(value["value"])]
                for value in call["passed"] if "name" in value]
        # What gdb shows prettily, is as it is here; it may know less.
        for (key, value), own in zip(found["passed"], mine):
            if value.startswith('"') or "<optimized out>" in value:
                own[1] = plain(value)
        theirs = [[key, plain(value)] for key, value in found["passed"]
                  if key != "__in_chrg"]
        equal(mine, theirs, f"arguments of {name}")

    def same_calls(self, program, functions, patterns, arguments=True):
        path = self.record(program)
        theirs = self.gdb(program, functions)["CALL"]
        mine = [call for call in self.ours("calls", path, *patterns)
                if name_of(call) in functions]
        equal([name_of(call) for call in mine],
              [call["function"] for call in theirs], "functions")
        for number, (call, found) in enumerate(zip(mine, theirs)):
            name = f"{found['function']}, call {number}"
            if arguments:
                self.arguments(call, found, name)
            returned = call.get("returned", {}).get("value")
            if name_of(call) == "huge":
                equal(returned, str(HUGE), "result of huge")
            elif "not_returned" not in call and "returned" in found:
                equal(plain(returned), plain(found["returned"]),
                      f"result of {name}")
        return f"{len(mine)} calls"

    def library(self, program):
        """What the program itself calls: its registers are the truth."""
        path = self.record(program)
        theirs = self.gdb(program, (), LIBRARY)["CALL"]
        mine, outer = [], {}
        for call in self.ours("calls", path,
                              *[f"libc.so.6!{name}" for name in LIBRARY]):
            # A jump returns to where the call before it returns to.
            module = (outer[call["depth"] - 1] if call.get("jumped") else
                      call["caller"]["module"])
            outer[call["depth"]] = module
            if module == os.path.basename(program):
                mine.append(call)
        equal([call["function"] for call in mine],
              [call["function"] for call in theirs], "functions")
        expect(mine, "calls of the library")
        for call, found in zip(mine, theirs):
            first = re.match(r"\w+", call["passed"][0]["value"]).group()
            result = call.get("returned", {}).get("value")
            if call["function"] == "malloc":
                equal(int(first, 0), found["rdi"], "size of malloc")
            if call["function"] == "strlen":
                equal(int(result, 0), found["rax"], "result of strlen")
        return f"{len(mine)} calls"

    def untyped(self, program):
        """Without debugging information, as the registers say."""
        stripped = program + ".plain"
        shutil.copy(program, stripped)
        subprocess.run(["strip", "-g", stripped], check=True, timeout=60)
        path = self.record(stripped)
        calls = self.ours("calls", path, "fib", "nothing")
        equal([int(call["passed"][0]["value"], 0) for call in calls[:3]],
              [5, 4, 3], "passed")
        equal(int(calls[0]["returned"]["value"], 0), 5, "result")
        expect(all("name" not in value and "type" not in value
                   for value in calls[0]["passed"]), "types")

    def resolved_before(self, program):
        """What a function is that was chosen long ago."""
        path = self.record(program)
        calls = self.ours("calls", path, "libc.so.6!strlen", "texts")
        first = [call["at"] for call in calls if call["function"] == "texts"]
        later = self.ours("calls", path, "libc.so.6!strlen", "texts",
                          f"--from={first[1]}")
        equal([(call["at"], call["function"]) for call in later],
              [(call["at"], call["function"]) for call in calls
               if call["at"] >= first[1]], "calls")

    # ------- how they end -------

    def nesting(self, program):
        """The depth is that of the recursion, the instructions are all."""
        path = self.record(program)
        calls = self.ours("calls", path, "fib")
        open_calls = []
        for call in calls:
            while open_calls and open_calls[-1] <= call["at"]:
                open_calls.pop()
            equal(call["depth"], len(open_calls), f"depth at {call['at']}")
            equal(call["until"] - call["at"], call["instructions"],
                  "instructions")
            open_calls.append(call["until"])
        outer = self.ours("calls", path, "fib", "--depth=2")
        equal(outer, [call for call in calls if call["depth"] < 2],
              "--depth=2")

    def left(self, program):
        path = self.record(program)
        calls = self.ours("calls", path, "jumps", "nothing", "ends", "main")
        for call in calls:
            name = call["function"]
            if name == "jumps":
                equal(call["not_returned"], "left by a jump or an exception",
                      name)
                expect("returned" not in call, "a result")
            elif name == "nothing":
                expect("not_returned" not in call, name)
            else:
                equal(call["not_returned"], "the process ended", name)
        depths = [call["depth"] for call in calls
                  if call["function"] == "jumps"]
        equal(depths, [1, 1, 2, 1, 2, 3, 1, 2], "depths")
        for call, depth in zip(self.ours("calls", path, "jumps"), depths):
            equal((call["depth"], call["not_returned"]),
                  (depth - 1, "left by a jump or an exception"), "jumps alone")

    def exceptions(self, program):
        path = self.record(program)
        for call in self.ours("calls", path, "throws", "catches", "rethrows"):
            is_left = call["function"].startswith(("throws", "rethrows"))
            equal("not_returned" in call, is_left, call["function"])
        # Also if nobody asks for those around it.
        for name, more in (("throws", []), ("throws", ["--limit=2"]),
                           ("rethrows", [])):
            for call in self.ours("calls", path, name, *more):
                equal(call["not_returned"], "left by a jump or an exception",
                      f"{name} {more}")

    def jumped(self, program):
        """tail() jumps to last(), even() and odd() to each other."""
        path = self.record(program)
        calls = self.ours("calls", path, "last", "tail", "even", "odd")
        equal([(call["function"], call["depth"], call.get("jumped", False))
               for call in calls],
              [("tail", 0, False), ("last", 1, True)] +
              [(("even", "odd")[i % 2], i, i > 0) for i in range(5)] +
              [(("odd", "even")[i % 2], i, i > 0) for i in range(4)], "calls")
        equal({call["returned"]["value"] for call in calls}, {"41", "1"},
              "results")
        equal(calls[1]["caller"]["function"], "tail", "caller of last")
        # The other one, which nobody asks for, is between calls of the same.
        for name in ("even", "odd"):
            expected = [0, 1, 2, 0, 1] if name == "even" else [0, 1] * 2
            alone = self.ours("calls", path, name)
            equal([call["depth"] for call in alone], expected, name)
            equal([call["returned"] for call in alone],
                  [call["returned"] for call in calls
                   if call["function"] == name], f"results of {name}")

    def signals(self, program):
        path = self.record(program)
        calls = self.ours("calls", path, "raises", "on_signal", "nothing")
        equal([(call["function"], call["depth"]) for call in calls],
              [("nothing", 0), ("raises", 0), ("on_signal", 1),
               ("nothing", 2)], "calls")
        equal(calls[1]["returned"]["value"], "14", "result")

    def stacks(self, program):
        """A signal's own stack, a coroutine's, and another program."""
        calls = self.ours("calls", self.record(program), "stacks.c:*")
        added = [int(call["passed"][0]["value"]) for call in calls
                 if call["function"] == "add"]
        equal(added, [10, 1, 100, 150, 200, 300, 400], "passed")
        for call in calls:
            name = call["function"]
            if name == "add":
                equal(int(call["returned"]["value"]),
                      int(call["passed"][0]["value"]) + 1, name)
            elif name == "becomes" or (name == "main" and
                                       call["at"] < calls[-2]["at"]):
                equal(call["not_returned"], "another program was executed",
                      name)
            else:
                expect("not_returned" not in call, name)

    def threads(self, program):
        path = self.record(program, "--slice=2k")
        theirs = self.gdb(program, ["fib", "leaves"])["CALL"]
        mine = self.ours("calls", path, "fib", "leaves")
        for thread in "012":
            own = [(call["function"], call["passed"][0]["value"],
                    call.get("returned", {}).get("value"))
                   for call in mine if call["passed"][1]["value"] == thread]
            found = [(call["function"], call["passed"][0][1],
                      call.get("returned"))
                     for call in theirs if call["passed"][1][1] == thread]
            equal(own, found, f"calls of thread {thread}")
        tids = {call["thread"] for call in mine}
        equal(len(tids), 3, "threads")
        steps = {}
        for call in mine:
            if call["function"] == "fib":
                steps.setdefault(call["passed"][0]["value"], set()).add(
                    call["instructions"])
            else:
                equal(call["not_returned"], "the thread ended", "leaves")
        expect(all(len(found) == 1 for found in steps.values()),
               "instructions of a thread are its own")
        tid = min(tids)
        equal(self.ours("calls", path, "fib", "leaves", f"--thread={tid}"),
              [call for call in mine if call["thread"] == tid], "--thread")
        return f"{len(mine)} calls"

    # ------- parts of it -------

    def parts(self, program):
        path = self.record(program)
        calls = self.ours("calls", path, "fib", "texts")
        equal(self.ours("calls", path, "fib", "texts", "--limit=3"),
              calls[:3], "--limit")
        middle = calls[7]["at"]
        later = self.ours("calls", path, "fib", "texts", f"--from={middle}")
        equal([call["at"] for call in later],
              [call["at"] for call in calls if call["at"] >= middle], "--from")
        earlier = self.ours("calls", path, "fib", "texts", f"--to={middle}")
        equal([call["at"] for call in earlier],
              [call["at"] for call in calls if call["at"] < middle], "--to")
        for call in earlier:
            whole = next(other for other in calls
                         if other["at"] == call["at"])
            if whole["until"] < middle:
                equal(call, whole, "a call before --to")
            elif whole["until"] > middle:
                equal(call["not_returned"], "not over yet", "the others")

    def segments(self, program):
        """The same, wherever key frames are."""
        words = ("plain.c:*", "libc.so.6!malloc", "libc.so.6!strlen")

        def calls(*more):
            found = self.ours("calls", self.record(program, *more), *words)
            for call in found:
                call.pop("thread")
                # It has no types: what is in the other registers may be
                # random, as what malloc() marks free blocks with.
                if call["function"] == "strlen":
                    del call["passed"][1:]
            return found

        equal(calls("--segment=1k"), calls(), "calls")

    def patterns(self, program):
        path = self.record(program)

        def names(*patterns):
            return {call["function"] for call in
                    self.ours("calls", "--count", path, *patterns)}

        equal(names("twice<*>"), {"twice<int>(int)", "twice<double>(double)"},
              "twice<*>")
        equal(names("Server::s*"), {"Server::serve(int)", next(
            name for name in names("Server::serve") if "string" in name)},
            "Server::s*")
        equal(names("Server::serve(int)"), {"Server::serve(int)"},
              "with arguments")
        expect(names("objects.cpp:catches*") == {"catches(int)"}, "a file")
        for pattern in ("nix", "libc.so.6!catches*", "other.c:*"):
            done = self.cprec("calls", path, pattern)
            equal(done.returncode, 1, f"status for {pattern}")

    def scopes(self, program):
        """A name or pattern that lacks its scope, or has a wrong letter."""
        path = self.record(program)
        for asked in ("Server::serve", "serve", "scopes.cpp:serve",
                      os.path.basename(program) + "!serve"):
            equal({call["function"] for call in
                   self.ours("calls", path, asked)},
                  {"app::Server::serve(int)"}, asked)
            listed, = self.ours("symbols", path, asked)
            equal(listed["name"], "app::Server::serve(int)", asked)
        done = self.cprec("calls", path, "fine")
        equal((done.returncode, done.stdout), (1, ""), "two are called so")
        expect("'app::Server::fine', 'app::fine'" in done.stderr, done.stderr)
        for asked, meant in (
                ("app::Server::srve", "app::Server::serve"),
                ("srve", "app::Server::serve"),
                ("Server::s*", "app::Server::s*"),
                ("serve_al[l]", "app::Server::serve_al[l]"),
                ("nix::*", None)):
            done = self.cprec("calls", path, asked)
            found = re.search(r"did you mean '(.*)'\?", done.stderr)
            equal(found and found.group(1), meant, asked)
        # Names that have brackets are whole.
        text = self.cprec("calls", path, "app::Server::serve_all").stdout
        expect(re.search(r", from (\S*operator\(\)|apply<main\(\)::<lambda\(int\)>"
                         r" >)\+0x", text), text)

    def absent(self, program):
        """What one of several patterns lacks is a note."""
        path = self.record(program)
        both = self.cprec("calls", path, "fib", "nix", "mix", "no*ne")
        equal(both.stdout, self.cprec("calls", path, "fib", "mix").stdout,
              "calls")
        equal((both.returncode, re.findall(r"cprec: note: no function .* is"
                                           r" called '(.*?)'", both.stderr)),
              (0, ["nix", "no*ne"]), "notes")
        expect("note" not in self.cprec("calls", path, "fib", "nix",
                                        "--limit=2").stderr, "--limit")
        none = self.cprec("calls", path, "nix", "no*ne")
        equal((none.returncode, none.stdout), (1, ""), "none")
        expect("note" not in none.stderr and "'nix'" in none.stderr,
               none.stderr)

    def uncalled(self, program):
        """That what there is was not called is said."""
        path = self.record(program)
        for words, said in (
                ((), "cprec: 'unused' was never called\n"),
                (("--count",), "cprec: 'unused' was never called\n"),
                (("--from=end",), r"cprec: 'unused' was not called from"
                                  r" t=\S+ to t=\S+\n")):
            done = self.cprec("calls", *words, path, "unused")
            equal((done.returncode, done.stdout), (1, ""), words)
            expect(re.fullmatch(said, done.stderr), done.stderr)
        done = self.cprec("calls", path, "unused", "fib", "un*ed")
        equal(done.stdout, self.cprec("calls", path, "fib").stdout, "calls")
        equal((done.returncode, done.stderr),
              (0, "cprec: note: 'unused' was never called\n"
                  "cprec: note: 'un*ed' was never called\n"), "notes")

    def advice(self, program):
        """What a log says of variables of callers, answers."""
        path = self.record(program)
        done = self.cprec("log", path, "fib => list")
        equal((done.returncode, done.stdout), (1, ""), "log")
        said = re.search(r"use cprec (query --at=\S+ --frame=\d+)\n$",
                         done.stderr)
        expect(said, done.stderr)
        done = self.cprec(*said.group(1).split(), path, "--addr=list")
        expect(done.stdout.startswith("list = {"), done.stdout + done.stderr)

    def counts(self, program):
        """As callgrind counts; of functions that call no library and
        themselves, the instructions too."""
        if not shutil.which("valgrind"):
            return "no valgrind"
        out = program + ".callgrind"
        subprocess.run(["valgrind", "-q", "--tool=callgrind",
                        f"--callgrind-out-file={out}", program],
                       capture_output=True, timeout=300, check=False)
        names, called, inside = {}, Counter(), Counter()
        callee = None
        with open(out, encoding="utf-8") as lines:
            for line in lines:
                match = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line)
                if match and match.group(2):
                    names[match.group(1)] = match.group(2)
                if match and line.startswith("c"):
                    callee = names[match.group(1)].split("'")[0]
                match = re.match(r"calls=(\d+)", line)
                if match:
                    called[callee] += int(match.group(1))
                    inside[callee] += int(next(lines).split()[-1])
        ours = {found["function"]: found for found in self.ours(
            "calls", "--count", self.record(program), *OF_C)}
        # Nobody calls what the kernel begins.
        names = [name for name in OF_C if name != "on_signal"]
        equal({name: ours[name]["calls"] for name in names},
              {name: called[name] for name in names}, "calls")
        for name in ("mix", "make", "large", "many", "compare", "tail"):
            equal(ours[name]["instructions"], inside[name],
                  f"instructions in {name}")
        return f"{sum(called[name] for name in names)} calls"

    # ------- logs -------

    def same_logs(self, program, name, points):
        path = self.record(program)
        items = [f"{place} => {', '.join(expressions)}"
                 for place, *expressions in points]
        mine = self.ours("log", path, *items)
        theirs = self.gdb(program, points=["\t".join(point)
                                           for point in points])["LOG"]
        equal(len(mine), len(theirs), "lines")
        for log, found in zip(mine, theirs):
            equal(log["place"], found["place"], "place")
            for value, other in zip(log["values"], found["values"]):
                what = f"{value['expression']} at {name}, t={log['at']}"
                if "<" in other or "error" in value:
                    expect("error" in value or
                           "<" in value["value"], what)
                else:
                    shown = re.sub(r"^\([^()]*\*\) ", "", value["value"])
                    equal(plain(shown), plain(other), what)
        return f"{len(mine)} lines"

    def logs(self, program):
        def at(mark):
            return f"plain.c:{source_line('plain.c', mark)}"

        return self.same_logs(program, "plain.c", (
            (at("mark: sum"), "n", "sum", "n * 2 + 1"),
            (at("jumps(n - 1);"), "n", "handled"),
            (at("return p.a"), "p", "p.b", "s", "b.v[2]", "*s@4", "x + c"),
            ("many", "a", "g", "i", "(int)h"),
            ("blend", "m", "color"),
            (at("mix(make(3)"), "handled", "list"),
            # Optimized, these lines have no code.
            *([] if "O2" in program else [
                (at("copy = malloc"), "text", "text[0]"),
                (at("size = strlen(copy)"), "copy", "size")])))

    def logs_of_objects(self, program):
        line = source_line("objects.cpp", "sum += serve(")
        return self.same_logs(program, "objects.cpp", (
            (f"objects.cpp:{line}", "i", "sum", "times", "this->port", "port"),
            ("Server::at", "from", "from.x", "scale"),
            ("throws", "depth")))

    def inlined(self, program):
        """A log stops where gdb's breakpoints do; nothing is called."""
        told = self.same_logs(program, "inlined.c",
                              (("square", "n", "n * 2"), ("twice", "n")))
        path = program + ".cpr"
        equal(len(self.ours("log", path, "square => n")), 4, "square")
        equal(len(self.ours("log", path, "inlined.c:twice => n")), 5, "twice")
        for command in (["calls", path, "square"],
                        ["log", path, "square => $return"]):
            done = self.cprec(*command)
            equal((done.returncode, done.stdout), (1, ""), command)
            expect("it was inlined in main" in done.stderr, done.stderr)
        return told

    def also_inlined(self, program):
        """Of a function that has code of its own, too."""
        path = self.record(program)
        note = "cprec: note: 'twice' was also inlined, in 2 places: nothing" \
            " is called there\n"
        for command in (["calls", path, "twice"],
                        ["log", path, "twice => $return"]):
            done = self.cprec(*command)
            equal((len(done.stdout.splitlines()), done.stderr), (1, note),
                  command)

    def locations(self, program, function):
        """Where gdb sets breakpoints."""
        done = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled"
             " off", "-ex", f"break {function}", "-ex", "info breakpoints",
             program], capture_output=True, text=True, timeout=120)
        lines = done.stdout.split("What\n")[1].splitlines()
        return {int(addr, 16) for line in lines
                for addr in re.findall(r"(0x\w+) in ", line)}

    def inlined_copies(self, program, function):
        """How many debugging information has."""
        out = subprocess.run(["readelf", "--debug-dump=info", program],
                             capture_output=True, text=True, check=True).stdout
        origin, = re.findall(
            r"<\d+><(\w+)>: [^<]*\(DW_TAG_subprogram\)\n(?: +<\w+> +DW_AT_"
            rf"(?!name).*\n)* +<\w+> +DW_AT_name.*: {function}\n", out)
        return len(re.findall(
            r"\(DW_TAG_inlined_subroutine\)\n +<\w+> +DW_AT_abstract_origin"
            rf" *: <0x{origin}>", out))

    def places(self, path, function):
        """How many --plain has."""
        done = self.cprec("debug", "--plain", "--batch", "-ex",
                          f"break {function}", path)
        found = re.search(r"Breakpoint 1 at (?:(\d+) places|0x)", done.stdout)
        return int(found[1] or 1) if found else 0

    def codeless(self, program):
        """A copy of which no code is left is counted, as one where gdb has no
        location; 18 has one where it would begin."""
        path = self.record(program)
        count = self.inlined_copies(program, "kind_of")
        places = self.places(path, "kind_of")
        theirs = len(self.locations(program, "kind_of"))
        expect(places == theirs or (places < theirs and version("gdb") >= 18),
               f"{places} places, {theirs} of gdb")
        lost = count - places
        note = f"cprec: note: {lost} of {count} copies of 'kind_of' that were" \
            " inlined have no code\n"
        for words in (("log", path, "kind_of"), ("log", path, "push")):
            equal(self.cprec(*words).stderr, note if lost and
                  words[2] == "kind_of" else "", words)
        done = self.cprec("when", path, "--in=kind_of", "--expr=words != 0")
        equal(done.stderr, note if lost else "", "when")
        return f"{lost} of {count}"

    def copies(self, program):
        """Each copy that was inlined is met, in its own frame, as often as it
        is executed.  Where debugging information has an entry with code, it
        is the place; gdb before 16 takes the lowest address."""
        path = self.record(program)
        out = subprocess.run(["readelf", "--debug-dump=info", program],
                             capture_output=True, text=True, check=True).stdout
        entries = {int(addr, 16) for addr in re.findall(
            r"DW_AT_entry_pc\s+: (?:\(\w+\) )?(0x\w+)", out)}
        count = 0
        for function, wanted, expression in (
                ("push", range(4), "id"), ("draw", [None] * 50, None),
                ("copy", [None] * 3, None), ("get_room", [None] * 7, None)):
            place = f"{function} => {expression}" if expression else function
            logged = self.ours("log", path, place)
            equal([int(log["values"][0]["value"]) if expression else None
                   for log in logged], list(wanted), function)
            theirs = self.locations(program, function)
            equal(self.places(path, function), len(theirs), "locations")
            pcs = {int(each["pc"], 16) for each in self.ours(
                "registers", path, "rip",
                *(f"--at={log['at']}" for log in logged))}
            expect(pcs <= theirs | entries, f"{function}: {pcs}, {theirs}")
            count += len(logged)
        return f"{count} lines"

    def unexecuted(self, program):
        """What was never executed is said, once, and the status tells."""
        path = self.record(program)
        line = f"inlined.c:{source_line('inlined.c', 'mark: never')}"
        for place, said in ((f"{line} => sum", f"'{line}' was not executed"),
                            ("never => n", "'never' was not executed"),
                            ("never => $return", "'never' did not return")):
            for more in ([], ["--json"]):
                done = self.cprec("log", *more, path, place)
                equal((done.returncode, done.stdout), (1, ""), place)
                expect(re.fullmatch(rf"cprec: {re.escape(said)} from t=0 to"
                                    r" t=[\d.]+\n", done.stderr), done.stderr)
        done = self.cprec("log", path, "never => n", "main => sum")
        equal((done.returncode, done.stdout.count("\n")), (0, 1), "one of two")
        expect(done.stderr.startswith("cprec: note: 'never' was not executed"),
               done.stderr)
        done = self.cprec("log", path, "--limit=1", "main => sum", "never")
        equal((done.returncode, done.stderr), (0, ""), "--limit")
        done = self.cprec("calls", path, "never")
        equal((done.returncode, done.stderr),
              (1, "cprec: 'never' was never called\n"), "calls")

    def mistakes(self, program):
        """What never has a value is told once, before all lines; what only
        lacks one at some times is in all of them."""
        path = self.record(program)
        for wrong, said in (
                ("nix", "cannot find a symbol 'nix'"),
                ("libc.so.6!nix", "cannot find a symbol 'libc.so.6!nix'"),
                ("nix+8", "cannot find a symbol 'nix'"),
                ("env[0].nix", "no member 'nix'"),
                ("n < 0 && nix", "cannot find a symbol 'nix'"),
                ("env[0] + 1", "it is no number"),
                ("n[2]", "it is no pointer or array"),
                ("&handled % 2", "the operator does not fit"),
                ("(struct nix *)env", "there is no type 'struct nix'"),
                ("n +", "missing at the end"), ("$nix", "no register '$nix'"),
                ("color", "'color' is a variable in ")):
            for more in ([], ["--json"]):
                done = self.cprec("log", *more, path, f"fib => n, {wrong}")
                equal((done.returncode, done.stdout), (1, ""), wrong)
                equal(done.stderr.count("\n"), 1, done.stderr)
                expect(said in done.stderr and wrong in done.stderr,
                       done.stderr)
            done = self.cprec("debug", "--plain", path,
                              text=f"log fib => n, {wrong}\n")
            expect(" n = " not in done.stdout and
                   done.stderr.count(said) == 1, done.stderr)
        count = len(self.ours("calls", path, "fib"))
        for right in ("((struct pair *)0)->b", "1 / (n - 3)", "*(int *)n",
                      "libc.so.6!stdout", "handled+8", "env", "&env[0]"):
            equal(len(self.ours("log", path, f"fib => {right}")), count,
                  right)

    def plugins(self, program):
        """A variable that is there while a library is mapped."""
        library = program + ".so"
        subprocess.run([*self.options.cc.split(), "-g", "-shared", "-fPIC",
                        "-DPLUGIN", "-o", library,
                        os.path.join(SOURCES, "plugin.c")], check=True)
        path = program + ".plugged.cpr"
        done = self.cprec("record", "-q", "-o", path, program, library)
        equal(done.returncode, 0, done.stderr)
        logs = self.ours("log", path, "at => number, plugged")
        equal([[value.get("value") for value in log["values"]]
               for log in logs], [["0", None], ["1", "8"], ["2", None]],
              "log")
        for place in "at", "plug":
            for wrong in "pluged", "plugged.x":
                done = self.cprec("log", path, f"{place} => {wrong}")
                equal((done.returncode, done.stdout), (1, ""), wrong)

    def returned(self, program):
        path = self.record(program)
        calls = self.ours("calls", path, "fib")
        logs = self.ours("log", path, "fib => $return")
        equal([(log["at"], log["values"][0]["value"]) for log in logs],
              sorted((call["until"], call["returned"]["value"])
                     for call in calls), "results")

    def nameless(self, program):
        """An argument is what was passed, wherever code has it later on."""
        path = self.record(program)
        done = self.cprec("calls", "--json", path, "item::item")
        found = [call["passed"][1]["value"]
                 for call in map(json.loads, done.stdout.splitlines())
                 if call["caller"]["function"] == "main"]
        equal([re.findall(r"price = (\d+)", value) for value in found],
              [[str(i * 111)] for i in range(6)], "prices")
        return f"{len(found)} calls"

    def lines_of_inlined(self, program):
        """Variables are those of the function that the line is of, though others
        are inlined into it there."""
        line = source_line("nameless.cpp", "mark add")
        path = self.record(program)
        done = self.cprec("log", path,
                          f"nameless.cpp:{line} => one.price, stock.size()")
        equal(re.findall(r"one.price = (\d+), stock.size\(\) = (\d+)\n",
                         done.stdout),
              [(str(i * 111), str(int(i > 0))) for i in range(6)],
              done.stdout + done.stderr)
        return f"line {line}"

    def others(self, program):
        """Addresses, reasons, limits, words that make no sense."""
        path = self.record(program)
        calls = self.ours("calls", path, "fib")
        symbol = self.ours("symbols", path, "fib")[0]
        logs = self.ours("log", path, f"*{symbol['addr']} => $rdi, *(int *)8")
        equal([(log["at"], log["values"][0]["value"]) for log in logs],
              [(call["at"], call["passed"][0]["value"])
               for call in calls], "$rdi")
        expect("at 0x8" in logs[0]["values"][1]["error"], "the reason")
        equal(len(self.ours("log", path, "--limit=2", "fib => n")), 2,
              "--limit")
        done = self.cprec("log", path, "fib => n, *(int *)8", "--limit=1")
        expect(re.search(r"fib: n = 5, \*\(int \*\)8 = <.* 0x8.*>\n$",
                         done.stdout), done.stdout)
        for status, words in ((1, ["nix => n"]), (1, ["plain.c:999999 => n"]),
                              (2, ["fib => n,"]), (2, []),
                              (2, ["plain.c:22 => $return"]),
                              (2, ["fib => n, $return"])):
            equal(self.cprec("log", path, *words).returncode, status,
                  f"status for {words}")


def run_all(options, folder):
    tests = Calls(options, folder)
    plain_0 = tests.build("plain.c", "-O0")
    plain_2 = tests.build("plain.c", "-O2")
    static = tests.build("plain.c", "-O2", "-static")
    objects_0 = tests.build("objects.cpp", "-O0")
    objects_2 = tests.build("objects.cpp", "-O2")
    threads = tests.build("threads.c", "-O1", "-pthread")
    inlined_0 = tests.build("inlined.c", "-O0")
    inlined_2 = tests.build("inlined.c", "-O2")
    for name, program in (("-O0", plain_0), ("-O2", plain_2),
                          ("static", static)):
        tests.test(f"calls are gdb's, C {name}", tests.same_calls, program,
                   OF_C, OF_C)
    tests.test("calls are gdb's, C++ -O0", tests.same_calls, objects_0, OF_CXX,
               ["objects.cpp:*"])
    tests.test("calls are gdb's, C++ -O2", tests.same_calls, objects_2,
               ["Server::at", "twice<int>", "twice<double>", "throws",
                "catches", "rethrows"],
               ["Server::at", "twice<*>", "throws", "catches", "rethrows"])
    for function, program in (
            (tests.library, plain_0), (tests.untyped, plain_0),
            (tests.resolved_before, plain_0), (tests.nesting, plain_0),
            (tests.left, plain_0), (tests.exceptions, objects_0),
            (tests.exceptions, objects_2), (tests.jumped, plain_2),
            (tests.signals, plain_0),
            (tests.stacks, tests.build("stacks.c", "-O0")), (tests.threads, threads),
            (tests.parts, plain_0), (tests.segments, plain_0),
            (tests.patterns, objects_0),
            (tests.scopes, tests.build("scopes.cpp", "-O1")), (tests.absent, plain_0),
            (tests.uncalled, plain_0), (tests.advice, plain_0),
            (tests.counts, plain_0),
            (tests.counts, plain_2), (tests.logs, plain_0),
            (tests.logs, plain_2),
            (tests.logs_of_objects, objects_0), (tests.inlined, inlined_0),
            (tests.inlined, inlined_2),
            (tests.also_inlined, tests.build("also.c", "-O2")),
            *((test, tests.build("copies.c", level, "-no-pie"))
              for level in ("-O1", "-O2", "-O3")
              for test in (tests.copies, tests.codeless)),
            (tests.unexecuted, inlined_0), (tests.mistakes, plain_0),
            (tests.plugins, tests.build("plugin.c", "-O1", "-ldl")),
            (tests.returned, plain_0),
            *((test, tests.build("nameless.cpp", "-O2", "-std=c++17"))
              for test in (tests.nameless, tests.lines_of_inlined)),
            (tests.others, plain_0)):
        tests.test(f"{function.__name__}, {os.path.basename(program)}",
                   function, program)
    return tests.summary()


if __name__ == "__main__":
    record_as_in_gdb()
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    sys.exit(main(run_all, parser=parser))
