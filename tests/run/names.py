#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Expressions mean what they mean in gdb, and values look as there.

usage: names.py --cprec C [--tries N] [--keep FOLDER]

Each program makes one system call that is made nowhere else.  It runs natively
in gdb, which stops there and is asked; it is recorded, and the recording is
asked for the same at that time.  Addresses of the stack and of libraries are
not compared: they differ.  Speaks TAP.
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import (CprecTap, Failure, equal, main,  # noqa: E402
                 record_as_in_gdb)
from names_table import TABLE  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "programs/names")
GETPPID = 110

# gdb evaluates what stands in a file, at the stop with that number, and writes
# [text or null, type or null, error] for each.
ASKING = """
import gdb, json
def ask(command):
    try:
        text = gdb.execute(command, to_string=True)
        return text.partition(" = ")[2].rstrip("\\n")
    except gdb.error as error:
        return None
def ask_type(expression):
    try:
        return gdb.execute("whatis " + expression,
                           to_string=True).split(" = ", 1)[1].rstrip("\\n")
    except gdb.error as error:
        return None
gdb.execute("set confirm off")
gdb.execute("set pagination off")
gdb.execute("set width 0")
gdb.execute("set debuginfod enabled off")
gdb.execute("set auto-load no")
gdb.execute("catch syscall 110")
gdb.execute("set args more >/dev/null")
gdb.execute("run")
for _ in range({stop}):
    gdb.execute("continue")
answers = []
for expression, format in json.load(open({questions!r})):
    if format == "l":
        gdb.execute("set language " + expression)
        answers.append(("", ""))
        continue
    answers.append((ask("print" + ("/" + format if format else "") + " " +
                        expression), ask_type(expression)))
json.dump(answers, open({answers!r}, "w"))
gdb.execute("kill")
"""


def for_gdb(text):
    """Overloads in quotes: without, gdb 18 takes the first of that name."""
    return re.sub(r"(?<!')app::plain\(double\)", "'app::plain(double)'", text)


def alike(text):
    """Without what differs from run to run."""
    if text is None:
        return None
    text = re.sub(r"0x7ff[0-9a-f]{9}", "0x7ff*", text)
    # Strings of Go with where they are, and its symbols by another notation.
    text = re.sub(r'0x[0-9a-f]+ (?=".*"[,}]|"[^"]*"$)', "", text)
    text = re.sub(r"<main\[(\w+)\]>", r"<main.\1>", text)
    # The C library has several names for the same.
    return re.sub(r"<(__GI_)?_*(IO_)?([a-z]+)>", r"<\3>",
                  text.replace("<main()>", "<main>").replace("*const ",
                                                             "*mut "))


class Program:
    """One program in one build."""

    def __init__(self, tests, name, command, separate):
        self.tests = tests
        self.name = name
        self.path = os.path.join(tests.folder, name)
        self.command = [part.replace("OUT", self.path) for part in command]
        self.separate = separate
        self.trace = self.path + ".cpr"

    def build(self):
        subprocess.run(self.command, check=True, cwd=SOURCES,
                       capture_output=True)
        if self.separate:
            self.cut_off()
        done = self.tests.cprec("record", "-q", "-o", self.trace, "--",
                                self.path, "more")
        if done.returncode:
            raise Failure(f"{self.name} exits with {done.returncode}:"
                          f" {done.stderr}")

    def cut_off(self):
        """Its debugging information, into a file of its own."""
        folder = os.path.join(self.tests.folder, "debug")
        os.makedirs(folder, exist_ok=True)
        name = os.path.basename(self.path) + ".debug"
        subprocess.run(["objcopy", "--only-keep-debug", self.path,
                        os.path.join(folder, name)], check=True)
        subprocess.run(["strip", "--strip-all", self.path], check=True)
        subprocess.run(["objcopy", f"--add-gnu-debuglink={folder}/{name}",
                        self.path], check=True)

    def times(self):
        done = self.tests.cprec("dump", self.trace, "--kind=syscall", "--json")
        return [event["at"] for event in map(json.loads,
                                            done.stdout.splitlines())
                if event.get("number") == GETPPID]

    def of_gdb(self, mark, questions):
        asked, answers = self.path + ".asked", self.path + ".answers"
        script = self.path + ".gdb.py"
        if os.path.exists(answers):
            os.remove(answers)
        with open(asked, "w", encoding="utf-8") as file:
            json.dump([(for_gdb(text), format) for text, format in questions],
                      file)
        with open(script, "w", encoding="utf-8") as file:
            file.write(ASKING.format(stop=2 * mark + 1, questions=asked,
                                     answers=answers))
        # It looks below the program's own folder only.
        below = f"{self.tests.folder}/gdb{self.tests.folder}"
        os.makedirs(below, exist_ok=True)
        if self.separate:
            shutil.copy(f"{self.tests.folder}/debug/{self.name}.debug", below)
        debug = ["-iex",
                 f"set debug-file-directory {self.tests.folder}/gdb"]
        done = subprocess.run(
            ["gdb", "-q", "-batch", "-nx",
             "-iex", "set debuginfod enabled off",
             *(debug if self.separate else []), "-x", script, "--args",
             self.path, "more"], capture_output=True, text=True, timeout=120,
            cwd=self.tests.folder)
        if not os.path.exists(answers):
            raise Failure(f"gdb says nothing: {done.stderr[-500:]}")
        with open(answers, encoding="utf-8") as file:
            return json.load(file)

    def of_cprec(self, time, questions):
        """One run for each format."""
        answers = {}
        for format in sorted({format for _, format in questions}):
            asked = [text for text, its in questions if its == format]
            done = self.tests.cprec(
                "query", self.trace, f"--at={time}", "--json", "--no-races",
                "--raw", *([f"--format={format}"] if format else []),
                *([f"--debug-dir={self.tests.folder}/debug"]
                  if self.separate else []),
                *(f"--addr={text}" for text in asked))
            found = [json.loads(line) for line in done.stdout.splitlines()]
            if len(found) != len(asked):
                raise Failure(f"{len(found)} answers of {len(asked)}:"
                              f" {done.stderr}")
            for text, answer in zip(asked, found):
                answers[text, format] = answer
        return [answers[tuple(question)] for question in questions]


def compare(tests, program, mark, questions):
    """One line of the table each."""
    time = program.times()[mark]
    expected = program.of_gdb(mark, questions)
    found = program.of_cprec(time, questions)
    for (text, format), (value, kind), answer in zip(questions, expected,
                                                     found):
        name = f"{program.name} {mark}: {text}" + (f" /{format}" if format
                                                   else "")
        tests.test(name.replace("#", "."), check, value, kind, answer, format)


def check(value, kind, answer, format):
    if value is None:
        # What a format is not for is shown as bytes.
        if "error" not in answer and not (format and "value" not in answer):
            raise Failure(f"gdb has no answer; {answer}")
        return
    if "error" in answer:
        raise Failure(f"{answer['error']}; should be {value}")
    if alike(answer.get("value")) != alike(value):
        raise Failure(f"{answer.get('value')}\nshould be {value}")
    # gdb's own type of a size is another one where nothing is evaluated.
    if kind is None or re.search("sizeof|lignof",
                                  answer["symbol"]):
        return
    # Nor is it said of what Rust has no operators.
    if kind in ("long", "double", "i32") and set(" -") & set(answer["symbol"]):
        return
    if not format and alike(answer.get("type")) != alike(kind):
        raise Failure(f"the type is {answer.get('type')}, should be {kind}")


def of_nm(path):
    """What nm says: addresses and sizes of functions and data, by name."""
    done = subprocess.run(["nm", "-C", "-S", "--defined-only", path],
                          capture_output=True, text=True, check=True)
    lines = (line.split(" ", 3) for line in done.stdout.splitlines())
    return {(int(line[0], 16), int(line[1], 16), line[3])
            for line in lines if len(line) == 4 and line[2] in "tTdDbBrRVvWw"}


def listed(tests, name, *arguments):
    done = tests.cprec("symbols", f"{tests.folder}/{name}.cpr", "--json",
                       *arguments)
    return [json.loads(line) for line in done.stdout.splitlines()], done


def symbols(tests):
    """All that nm has, by the names that nm has, where nm has them: but without
    what functions return."""
    found, _ = listed(tests, "cxx")
    own = {(int(symbol["addr"], 16), symbol["size"], symbol["name"])
           for symbol in found if symbol["module"] == "cxx"}
    lacks = [(addr, size, name) for addr, size, name
             in of_nm(os.path.join(tests.folder, "cxx"))
             if (addr, size, name) not in own and
             (addr, size, name.partition(" ")[2]) not in own]
    if lacks:
        raise Failure(f"these are missing: {sorted(lacks)}")
    return f"{len(own)} symbols"


def symbol_lines(tests):
    for pattern, line, kind in (
            ("app::Square::grow(long)",
             "int grow(long by) { return (int)by; }", "function"),
            ("app::hidden", "static int hidden = 12;", "data"),
            ("square", "app::Square square(5);", "data")):
        found, done = listed(tests, "cxx", pattern)
        if len(found) != 1 or found[0]["kind"] != kind:
            raise Failure(f"{pattern}: {found} {done.stderr}")
        with open(found[0]["file"], encoding="utf-8") as file:
            text = file.read().splitlines()[found[0]["line"] - 1]
        if text.strip() != line:
            raise Failure(f"{pattern} is at '{text}'")


def symbol_patterns(tests):
    for pattern, names in (
            ("app::Square::gr*", {"app::Square::grow(int)",
                                  "app::Square::grow(int)::grown",
                                  "app::Square::grow(long)"}),
            ("app::Square::grow", {"app::Square::grow(int)",
                                   "app::Square::grow(long)"}),
            ("_ZN3app6Square4growEi", {"app::Square::grow(int)"}),
            ("cxx!mai?", {"main"}), ("nothing*", set())):
        found, done = listed(tests, "cxx", pattern)
        if {symbol["name"] for symbol in found} != names:
            raise Failure(f"{pattern}: {found}")
        if bool(done.returncode) == bool(names):
            raise Failure(f"{pattern}: status {done.returncode}")


def separate_symbols(tests):
    """A stripped program has those of its debugging information."""
    debug = f"--debug-dir={tests.folder}/debug"
    for arguments, count in ((["hidden"], 0), ([debug, "hidden"], 2)):
        found, _ = listed(tests, "c-separate", *arguments)
        if len(found) != count:
            raise Failure(f"{arguments}: {found}")


def separate_names(tests):
    """What symbols lists of such a file is found by the name that it has there."""
    debug = f"--debug-dir={tests.folder}/debug"
    for name in ("hidden", "calls", "table"):
        found, _ = listed(tests, "c-separate", debug, name)
        done = tests.cprec("query", f"{tests.folder}/c-separate.cpr",
                           "--at=end", "--json", "--no-races", debug,
                           f"--addr=c-separate!{name}",
                           "--addr=c-separate!nowhere")
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        equal(answers[0].get("addr") in {one["addr"] for one in found}, True,
              f"{name}: {answers[0]}")
        equal("error" in answers[1], True, "a name that is not there")


def plain_addresses(tests):
    """A demangled name is the address that the mangled one is."""
    trace = f"{tests.folder}/cxx.cpr"
    asked = ["app::Square::grow(int)", "_ZN3app6Square4growEi",
             "'app::Square::grow(int)'"]
    done = tests.cprec("query", trace, "--at=end", "--json", *(
        f"--addr={name}" for name in asked))
    addrs = {json.loads(line).get("addr")
             for line in done.stdout.splitlines()}
    if len(addrs) != 1 or done.returncode:
        raise Failure(f"{addrs} {done.stderr}")


def one_answer(tests):
    """A pointer is shown as such, and a function; bytes if they are wanted."""
    def lines(text, *options):
        done = tests.cprec("query", f"{tests.folder}/c.cpr", "--at=end",
                           "--no-races", f"--addr={text}", *options)
        return done.stdout.splitlines()
    for text in ("&counter", "&table[1]", "&head->next", "add", "&add"):
        value, kind = lines(text)
        if not value.startswith(text + " = ") or "byte" in kind:
            raise Failure(f"{text}: {value}, {kind}")
    for text, same in (("&counter", "counter"), ("&table[1]", "table[1]"),
                       ("&add", "add")):
        for option in ("--format=raw", "--size=6"):
            equal(lines(text, option)[1:], lines(same, option)[1:], text)
            equal(len(lines(text, option)) > 1, True, text)


def data_names(tests):
    """An address is called as the expression that it is of; so is a race."""
    path = f"{tests.folder}/racing"
    subprocess.run(["gcc", "-g", "-O0", "-pthread", "-o", path,
                    f"{SOURCES}/racing.c"], check=True)
    tests.cprec("record", "-q", "--slice=1k", "-o", f"{path}.cpr", "--", path)
    done = tests.cprec("races", f"{path}.cpr", "--json")
    equal({race["symbol"] for race in json.loads(done.stdout)["races"]},
          {"stats.factors", "stats.list[2].b"}, "races")
    for name, texts in (
            ("racing", ("stats.factors", "stats.list[2].b", "stats.pad[1]",
                        "stats.list[1]")),
            ("c", ("table[1].name", "matrix[1][2]", "words[1]", "root.right",
                   "mixed[3]")),
            ("cxx", ("points.items[1].y", "square.side", "square.at.y",
                     "numbers.items[1]"))):
        addrs = [answer["addr"] for answer in asked(tests, name, *texts)]
        equal([answer["symbol"] for answer in asked(tests, name, *addrs)],
              list(texts), name)
    addr = asked(tests, "racing", "stats.factors")[0]["addr"]
    equal(asked(tests, "racing", addr + "+1")[0]["symbol"],
          "stats.factors+0x1", "inside a number")


# What is asked for, and what is said of it; None: nothing more.
MISTYPED = {
    "head": ": the thread is in inner; 'head' is a variable of frame 1,"
            " execute: use --frame=1",
    "k": ": the thread is in inner; 'k' is a variable of frame 1, execute:"
         " use --frame=1",
    "argv": ": the thread is in inner; 'argv' is a variable of frame 2, main:"
            " use --frame=2",
    "execute::code": ": the thread is in inner; 'code' is a variable of frame"
                     " 1, execute: use --frame=1",
    "kept": ": the thread is in inner; 'kept' is a variable in unrelated",
    "this": ": the thread is in inner, which is no member function",
    "nothing": None, "statts": " (did you mean 'stats'?)",
    "find": " (did you mean 'find_all'?)", "read_it": None, "xhead": None,
    "fuond": " (did you mean 'found'?)", "tect": " (did you mean 'text'?)",
    "strlne": " (did you mean 'strlen'?)",
    "stats.factros": "there is no member 'factros' (did you mean 'factors'?)",
    "stats.dep": "there is no member 'dep' (did you mean 'deep'?)",
    "first.nxt": "there is no member 'nxt' (did you mean 'next'?)",
    "stats.other": "there is no member 'other'",
    "struct nod": "there is no type 'struct nod' (did you mean 'struct node'?)",
    "(struct nod *)0": "there is no type 'struct nod' (did you mean 'struct"
                       " node'?)",
    "struct node": "'struct node' is a type, and has no value",
    "find_all(1)": "functions are not called",
    "(long)find_all()": "functions are not called",
    "1 + getpid()": "functions are not called",
    "1 + stats.deep()": "'()' is not understood",
    "first()": "'()' is not understood",
    "*(heap:first)": "'heap:' stands before a whole expression, not in one:"
                     " heap:p is the block that p points into",
    "heap::first": "",
}


def error_of(answer, recording):
    """Without what all of them say."""
    text = answer["error"]
    for start in (f"cannot find a symbol '{answer['asked_addr']}' in"
                  f" '{recording}'",
                  f"cannot evaluate '{answer['asked_addr']}': "):
        text = text.removeprefix(start)
    return text


def mistyped(tests):
    path = f"{tests.folder}/mistyped"
    subprocess.run(["gcc", "-g", "-O0", "-o", path, f"{SOURCES}/mistyped.c"],
                   check=True)
    program = Program(tests, "mistyped", [], False)
    tests.cprec("record", "-q", "-o", program.trace, "--", path)
    for (text, expected), answer in zip(MISTYPED.items(), program.of_cprec(
            program.times()[0], [[text, ""] for text in MISTYPED])):
        equal(error_of(answer, program.trace), expected or "", text)


def without_debugging(tests):
    """Names are known, but no types: the message says of which file."""
    path = f"{tests.folder}/mistyped-plain"
    trace = f"{path}.cpr"
    subprocess.run(["gcc", "-O0", "-o", path, f"{SOURCES}/mistyped.c"],
                   check=True)
    tests.cprec("record", "-q", "-o", trace, "--", path)
    lacks = f"there is no debugging information of '{path}'"
    for gone in ("", ", which is gone"):
        answers = asked(tests, "mistyped-plain", "stats.factors", "stats[1]",
                        "*stats", "stats + 1", "stats->done", "nothing",
                        "(int)stats", "each")
        for answer in answers[:5]:
            equal(error_of(answer, trace),
                  f"{lacks}{gone}: its type is not known, cast it", answer)
        equal(error_of(answers[5], trace),
              f"; {lacks}{gone}: only symbols are known", "nothing")
        equal(answers[6]["value"], "1", "a cast")
        if not gone:
            equal(error_of(answers[7], trace),
                  ": it is thread-local, and where each thread has its own"
                  " only debugging information of mistyped-plain tells",
                  "each")
            os.remove(path)


OVERLOADS = {
    "app::Server::serve": ["app::Server::serve(const char *)",
                           "app::Server::serve(const std::string &)",
                           "app::Server::serve(int)"],
    "serve": ["app::Server::serve(const char *)",
              "app::Server::serve(const std::string &)",
              "app::Server::serve(int)"],
    "app::plain": ["app::plain(double)", "app::plain(int)"],
    "app::hidden": ["app::hidden(int)", "app::hidden(long, char *)"],
    "app::plain::kept": ["app::plain(double)::kept", "app::plain(int)::kept"],
}


def asked(tests, name, *texts):
    """Answers of one recording, at its end."""
    done = tests.cprec("query", f"{tests.folder}/{name}.cpr", "--at=end",
                       "--json", "--no-races",
                       *(f"--addr={text}" for text in texts))
    return [json.loads(line) for line in done.stdout.splitlines()]


def overloads(tests):
    """Without arguments all are listed; each of these texts means another."""
    for text, answer in zip(OVERLOADS, asked(tests, "overloads", *OVERLOADS)):
        named = re.findall("'(.*?)'", answer["error"].partition(": ")[2])
        equal(sorted(named), OVERLOADS[text], text)
        answers = asked(tests, "overloads", *(f"'{name}'" for name in named))
        equal(len({answer["addr"] for answer in answers}), len(named), named)


def overloads_of_symbols(tests):
    """The same without debugging information, as linkers' names have them."""
    path = f"{tests.folder}/overloads-plain"
    subprocess.run(["g++", "-O0", "-o", path, f"{SOURCES}/overloads.cpp"],
                   check=True)
    tests.cprec("record", "-q", "-o", f"{path}.cpr", "--", path)
    answer, = asked(tests, "overloads-plain", "app::plain")
    named = re.findall("'(.*?)'", answer["error"].partition(": ")[2])
    equal(sorted(named), ["app::plain(double)", "app::plain(int)"], answer)


def damaged(tests, tries):
    """Whatever the debugging information holds, there is an answer or none."""
    chance = random.Random(15)
    names = ["head", "table", "root", "local", "squares", "packed", "call",
             "stop::n", "*list_head", "calls::count"]
    original = f"{tests.folder}/debug/c-separate.debug"
    folder = f"{tests.folder}/damaged"
    os.makedirs(folder, exist_ok=True)
    with open(original, "rb") as file:
        good = file.read()
    sections = subprocess.run(["readelf", "-SW", original],
                              capture_output=True, text=True).stdout
    start, size = (int(part, 16) for part in re.search(
        r"\.debug_info +\S+ +\S+ (\S+) (\S+)", sections).groups())
    time = Program(tests, "c-separate", [], True).times()[0]
    for _ in range(tries):
        bad = bytearray(good)
        for _ in range(chance.choice((1, 3, 10))):
            bad[start + chance.randrange(size)] = chance.randrange(256)
        with open(f"{folder}/c-separate.debug", "wb") as file:
            file.write(bad)
        done = tests.cprec("query", f"{tests.folder}/c-separate.cpr",
                           f"--at={time}", "--json", "--no-races",
                           f"--debug-dir={folder}",
                           *(f"--addr={name}" for name in names))
        if done.returncode not in (0, 1):
            shutil.copy(f"{folder}/c-separate.debug",
                        f"{folder}/killed.debug")
            raise Failure(f"status {done.returncode}: {done.stderr[-300:]}")


def run_all(options, folder):
    tests = CprecTap(options, folder)
    for name, needs, command, separate, marks in TABLE:
        if not shutil.which(needs):
            print(f"# {name}: there is no {needs}")
            continue
        program = Program(tests, name, command, separate)
        tests.test(f"{name} is recorded", program.build)
        for mark, questions in enumerate(marks):
            if questions:
                compare(tests, program, mark, [
                    list(question) if isinstance(question, tuple)
                    else [question, ""] for question in questions])
    for function in (symbols, symbol_lines, symbol_patterns, separate_symbols,
                     separate_names,
                     plain_addresses, one_answer, overloads,
                     overloads_of_symbols, mistyped, without_debugging,
                     data_names):
        tests.test(function.__name__.replace("_", " "), function, tests)
    tests.test("damaged debugging information", damaged, tests, options.tries)
    return tests.summary()


if __name__ == "__main__":
    record_as_in_gdb()
    own = argparse.ArgumentParser(description=__doc__)
    own.add_argument("--tries", type=int, default=40, metavar="N",
                     help="damaged files that are tried")
    sys.exit(main(run_all, parser=own))
