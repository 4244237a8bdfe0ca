#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Containers hold what gdb's printers say that they hold.

usage: containers.py --cprec C [--tries N] [--keep FOLDER]

A program with containers of all kinds runs natively in gdb, with the printers of
its C++ library, and is recorded; both are asked for the same.  What gdb has no
words for, the program's source says.  Containers that are damaged have answers
that are short.  Speaks TAP.
"""
import argparse
import functools
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, Failure, equal, expect, main, record_as_in_gdb  # noqa: E402,E501
import containers_table as table  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "programs/containers")
GETPPID = 110

# gdb evaluates what stands in a file, in the caller of getppid(), and writes a
# text or null for each.
ASKING = """
import gdb, json
for command in ("set confirm off", "set pagination off", "set width 0",
                "set debuginfod enabled off", "catch syscall 110",
                "set args >/dev/null", "run"):
    gdb.execute(command, to_string=True)
while gdb.selected_frame().name() != "stop":
    gdb.execute("up", to_string=True)
def ask(expression, format):
    try:
        text = gdb.execute("print" + ("/" + format if format else "") + " " +
                           expression, to_string=True)
        return "\\n".join(line for line in
            text.partition(" = ")[2].splitlines()
            if not line.startswith("warning: "))
    except Exception:
        return None
json.dump([ask(*question) for question in json.load(open({questions!r}))],
          open({answers!r}, "w"))
gdb.execute("kill")
"""

BUILDS = [
    ("O0", ["g++", "-O0"]),
    ("O2", ["g++", "-O2"]),
    ("clang", ["clang++", "-O1", "-fstandalone-debug"]),
]


def without_arguments(text, name):
    """Old printers name what an optional value or a variant is made for."""
    out, rest = "", text
    while name + "<" in rest:
        before, _, rest = rest.partition(name + "<")
        depth, at = 1, 0
        while depth:
            depth += {"<": 1, ">": -1}.get(rest[at], 0)
            at += 1
        out, rest = out + before + name, rest[at:]
    return out + rest


def newest(text):
    """What the newest printers say: elements of tuples count from 0."""
    if text is None:
        return None
    for name in ("std::optional", "std::variant"):
        if re.search(re.escape(name) + r"<.*> (\[|=|containing)", text):
            text = without_arguments(text, name)
    if text.startswith("std::tuple containing = {[1] = "):
        text = re.sub(r"\[(\d+)\] = ",
                      lambda found: f"[{int(found[1]) - 1}] = ", text)
    return text


class Program:
    def __init__(self, tests, name, command, sysroot=None, number=GETPPID):
        self.sysroot = [f"--sysroot={sysroot}"] if sysroot else []
        self.number = number
        self.tests = tests
        self.path = os.path.join(tests.folder, name)
        self.command = command
        self.trace = self.path + ".cpr"

    def build(self):
        source = ["containers.go"] if self.command[0] == "go" else []
        subprocess.run([*self.command, "-o", self.path, *source], check=True,
                       cwd=SOURCES, capture_output=True)
        done = self.tests.cprec("record", "-q", "-o", self.trace,
                                *self.sysroot, "--", self.path)
        if done.returncode:
            raise Failure(f"it exits with {done.returncode}: {done.stderr}")

    @functools.cache
    def time(self):
        done = self.tests.cprec("dump", self.trace, "--kind=syscall", "--json")
        return [event["at"] for event in map(json.loads,
                                             done.stdout.splitlines())
                if event.get("number") == self.number][-1]

    @functools.cache
    def frame(self):
        """Of the function that calls getppid()."""
        done = self.tests.cprec("backtrace", self.trace, "--json",
                                f"--at={self.time()}", "--no-arguments")
        return next(frame["frame"] for frame in
                    json.loads(done.stdout)["frames"]
                    if re.search(r"\bstop\b", str(frame.get("function"))))

    def of_gdb(self, questions):
        asked, answers = self.path + ".asked", self.path + ".answers"
        script = self.path + ".gdb.py"
        with open(asked, "w", encoding="utf-8") as file:
            json.dump(questions, file)
        with open(script, "w", encoding="utf-8") as file:
            file.write(ASKING.format(questions=asked, answers=answers))
        done = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", "-iex",
             "set debuginfod enabled off", "-x", script, self.path],
            capture_output=True, text=True, timeout=300,
            env={**os.environ, "LC_ALL": "C"})
        if not os.path.exists(answers):
            raise Failure(f"gdb says nothing: {done.stderr[-500:]}")
        with open(answers, encoding="utf-8") as file:
            return json.load(file)

    def of_cprec(self, questions, *options):
        answers = {}
        place = f"--at={self.time()}", f"--frame={self.frame()}"
        for format in sorted({format for _, format in questions}):
            asked = [text for text, its in questions if its == format]
            done = self.tests.cprec(
                "query", self.trace, *place, "--json", "--no-races", *options,
                *([f"--format={format}"] if format else []),
                *(f"--addr={text}" for text in asked))
            found = [json.loads(line) for line in done.stdout.splitlines()]
            equal(len(found), len(asked), f"answers; {done.stderr[-300:]}")
            for text, answer in zip(asked, found):
                answers[text, format] = answer
        return [answers[tuple(question)] for question in questions]

    def values(self, questions, *options):
        return [answer.get("value", answer.get("error")) for answer in
                self.of_cprec([[text, ""] for text in questions], *options)]


# ------- gdb's printers -------

def check(expected, answer):
    if expected is None:
        raise Failure(f"gdb has no answer; {answer}")
    if "value" not in answer:
        raise Failure(f"{answer}; should be {expected}")
    equal(answer["value"], newest(expected), "the value")


def has_printers(program):
    return str(program.of_gdb([["numbers", ""]])[0]).startswith("std::vector")


def compare(tests, name, program, questions):
    """Whatever gdb says: what it has no words for is in OWN."""
    for question, expected, answer in zip(questions, program.of_gdb(questions),
                                          program.of_cprec(questions)):
        text = question[0] + (f" /{question[1]}" if question[1] else "")
        if expected is None and question[0] in table.QUESTIONS:
            print(f"# {name}: gdb does not answer {text}")
            continue
        tests.test(f"{name}: {text}", check, expected, answer)


# ------- our own -------

def own_answers(program):
    for text, value in zip(table.OWN, program.values(table.OWN)):
        equal(value, table.OWN[text], text)
    return f"{len(table.OWN)} expressions"


def wrong_questions(program):
    for text, value in zip(table.WRONG, program.values(table.WRONG)):
        expect(table.WRONG[text] in value, f"{text}: {value}")


def cut(program):
    """Of long values, as much as was asked for; and where the rest would be, it
    says so."""
    names = ["many_numbers", "lengthy", "squares", "list", "longer"]
    equal(program.values(names, "--elements=3"), [
        "std::vector of length 500, capacity 512 = {0, 1, 4...}",
        '"abc"...',
        "std::map with 300 elements = {[0] = 0, [1] = 1...}",
        "std::__cxx11::list = {[0] = 7, [1] = 8, [2] = 9}",
        '"xxx"...'], "3 of each")
    whole, exact = program.values(["many_numbers", "exactly_200"],
                                  "--elements=500")
    equal(whole.split("{")[1],
          ", ".join(str(n * n) for n in range(500)) + "}", "all")
    equal(exact, program.values(["exactly_200"])[0], "what is not cut")


def raw(program):
    """Members, as gdb's print/r shows them."""
    names = ["numbers", "shorter", "list", "one_int", "unique_point"]
    expected = program.of_gdb([[name, "r"] for name in names])
    equal(program.values(names, "--raw"), expected, "members")


def arguments(program):
    """In a backtrace they are shown as gdb shows them in its own."""
    done = program.tests.cprec("backtrace", program.trace,
                               f"--at={program.time()}", "--full",
                               f"--frame={program.frame()}")
    for text in ("stop (by_value=std::vector of length 3, capacity 3 = {...},"
                 " by_reference=std::map with 3 elements = {...},"
                 " by_pointer=", "moved=std::unique_ptr<point> = {...}, maybe="
                 "std::optional = {...})",
                 "local = std::vector of length 2, capacity 2 = {10, 20}",
                 'local_text = "local"'):
        expect(text in done.stdout, f"{text!r} is not in {done.stdout}")


def calls_and_logs(program):
    """What other commands show, they show alike."""
    done = program.tests.cprec("calls", program.trace, "stop")
    expect('by_value=std::vector of length 3, capacity 3 = {"alpha", "",'
           ' "gamma"}' in done.stdout, done.stdout)
    done = program.tests.cprec(
        "log", program.trace,
        'stop => by_value[2], by_reference["fig"], numbers.size()')
    expect('by_value[2] = "gamma", by_reference["fig"] = 8,'
           " numbers.size() = 3" in done.stdout, done.stdout)


def conditions(program):
    """They become true with what is in a container."""
    done = program.tests.cprec("when", program.trace, "--json", "--limit=0",
                               "--expr=derived.size() == 1")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    equal(len(found), 1, done.stdout + done.stderr)
    for after in 0, 1:
        at = found[0]["at"] + after
        done = program.tests.cprec("query", program.trace, f"--at={at}",
                                   "--addr=derived.size()", "--json",
                                   "--no-races")
        equal(json.loads(done.stdout).get("value") == "1", bool(after),
              f"at {at}: {done.stdout}")
    done = program.tests.cprec("writes", program.trace, "--json",
                               f"--to={program.time()}",
                               '--addr=prices["pear"]')
    values = [json.loads(line).get("new") for line in
              done.stdout.splitlines()]
    expect(any(re.match("0x0*5$|05000000|5$", str(value))
               for value in values), done.stdout + done.stderr)


# ------- damage -------

def asked(tests, trace, names):
    done = tests.cprec("query", trace, "--at=end", "--json", "--no-races",
                       *(f"--addr={name}" for name in names))
    expect(done.returncode in (0, 1), f"{trace}: {done.stderr[-300:]}")
    expect(len(done.stdout) < 100000 * len(names), f"{trace}: too long")
    return [json.loads(line) for line in done.stdout.splitlines()]


def damaged(tests, tries):
    """What no library makes is said to be damaged, or shown as it is; to look at
    it takes no longer than others."""
    program = os.path.join(tests.folder, "damaged")
    subprocess.run(["g++", "-g", "-std=c++20", "-o", program, "damaged.cpp"],
                   check=True, cwd=SOURCES)
    tests.cprec("record", "-q", "-o", f"{program}.cpr", "--", program)
    answers = asked(tests, f"{program}.cpr",
                    [f"{name}.value" for name in table.DAMAGED])
    for (name, text), answer in zip(table.DAMAGED.items(), answers):
        expect(text in answer["value"], f"{name}: {answer}")
    names = [f"{name}.value" for name in table.SCATTERED]
    names += [f"{name}.size()" for name in names] + [
        f"{name}[1]" for name in names] + [f"*{name}" for name in names]
    for seed in range(tries):
        trace = f"{program}{seed}.cpr"
        tests.cprec("record", "-q", "-o", trace, "--", program, str(seed))
        equal(len(asked(tests, trace, names)), len(names), f"seed {seed}")


# ------- other libraries -------

SAME = ["-g", "-O0", "-std=c++20", "containers.cpp"]

# Other processors, and what getppid() is there: some have words of 4 bytes.
OTHERS = {"i686-linux-gnu": 64, "arm-linux-gnueabihf": 64,
          "aarch64-linux-gnu": 173}
NOT_OF_OTHERS = {"bits", "many_bits"}  # their capacity

# What libc++ has other members for.
NOT_OF_LIBCXX = {"four", "two_texts", "none_at_all", "wide_queue",
                 "no_function", "object_function", "big_function"}


def plain(text):
    """Without what differs between libraries: addresses, namespaces of versions,
    the order of what has none."""
    text = re.sub(r"0x[0-9a-f]+", "0x*", str(text))
    text = re.sub(r"std::__(cxx11|1)::", "std::", text)
    if "std::unordered_" in text:
        text = re.sub(r"\[\d\] = |[{},]", " ", text)
        return sorted(text.split())
    return text


def alike(program, other, without):
    """Both have the same values."""
    other.build()
    names = [name for name in [*table.WHOLE, *table.OWN, *table.QUESTIONS,
                               *table.WRONG] if name not in without]
    for name, expected, found in zip(names, program.values(names),
                                     other.values(names)):
        equal(plain(found), plain(expected), name)
    return f"{len(names)} expressions"


def others(tests, name, command, expected):
    """A program of another language has what its source says."""
    program = Program(tests, name, command)
    program.build()
    for text, value in zip(expected, program.values(expected)):
        equal(value, expected[text], text)
    return f"{len(expected)} expressions"


def all_of_a_map(tests):
    """Each key is there once, and has its value."""
    for name, large, most in (("rust", "large", 100),
                              ("go", "main.large", 3000)):
        path = os.path.join(tests.folder, name)
        if not os.path.exists(path):
            continue
        program = Program(tests, name, [])
        text, = program.values([large], "--elements=100000")
        found = {int(key): int(value) for key, value in
                 re.findall(r"\[(\d+)\] = (\d+)", text)}
        equal(found, {key: key * key for key in range(most)}, name)
        equal(text.count("] = "), most, name)


def has_libcxx():
    done = subprocess.run(
        ["clang++", "-stdlib=libc++", "-x", "c++", "-E", "-"],
        input="#include <vector>\n", capture_output=True, text=True)
    return not done.returncode


def run_all(options, folder):
    tests = CprecTap(options, folder)
    programs = {}
    for name, command in BUILDS:
        if not shutil.which(command[0]):
            print(f"# there is no {command[0]}")
            continue
        program = programs[name] = Program(
            tests, name, [*command, "-g", "-std=c++20", "containers.cpp"])
        tests.test(f"{name} is recorded", program.build)
        if not has_printers(program):
            print("# gdb has no printers of libstdc++")
            continue
        more = name == "O0"
        names = table.WHOLE + (table.ELEMENTS + table.QUESTIONS +
                               table.LOCALS if more else [])
        compare(tests, name, program, [[text, ""] for text in names] +
                [list(question) for question in table.FORMATS if more])
        if more:
            tests.test("raw", raw, program)
    for function in (own_answers, wrong_questions, cut, arguments,
                     calls_and_logs, conditions):
        tests.test(function.__name__.replace("_", " "), function,
                   programs["O0"])
    tests.test("damaged", damaged, tests, options.tries)
    if shutil.which("clang++") and has_libcxx():
        tests.test("libc++", alike, programs["O0"], Program(
            tests, "libcxx", ["clang++", "-stdlib=libc++",
                              "-fstandalone-debug", *SAME]), NOT_OF_LIBCXX)
    else:
        print("# there is no libc++")
    for arch, number in OTHERS.items():
        compiler = arch + "-g++"
        if shutil.which(compiler):
            tests.test(arch, alike, programs["O0"], Program(
                tests, arch, [compiler, "-static", "-Wno-psabi", *SAME],
                f"/usr/{arch}", number), NOT_OF_OTHERS)
        else:
            print(f"# there is no {compiler}")
    for name, command, expected in (
            ("rust", ["rustc", "-g", "containers.rs"], table.RUST),
            ("go", ["go", "build", "-gcflags=all=-N -l"], table.GO)):
        if shutil.which(command[0]):
            tests.test(name, others, tests, name, command, expected)
        else:
            print(f"# there is no {command[0]}")
    tests.test("all of a map", all_of_a_map, tests)
    return tests.summary()


if __name__ == "__main__":
    record_as_in_gdb()
    own = argparse.ArgumentParser(description=__doc__)
    own.add_argument("--tries", type=int, default=10, metavar="N",
                     help="damaged containers that are tried")
    sys.exit(main(run_all, parser=own))
