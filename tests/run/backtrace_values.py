#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments, local variables and registers of frames are those that gdb finds.

The state at random times of programs is written as a core file (core.c); gdb
is asked for each frame of it ("info args", "info locals", "info registers"),
and for the line that it shows of the frame.  Speaks TAP.
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
from backtrace import HERE, Backtraces  # noqa: E402
from tap import Failure, equal, expect, main  # noqa: E402

# Name, source, options of the compiler.
PROGRAMS = (
    ("values, -O0", "values.c", ("-O0", "-g", "-lm")),
    ("values, -O2", "values.c", ("-O2", "-g", "-lm")),
    ("classes, -O0", "values.cpp", ("-O0", "-g")),
    ("classes, -O2", "values.cpp", ("-O2", "-g")),
    ("sorts, -O0", "sorts.c", ("-O0", "-g")),
    ("sorts, static", "sorts.c", ("-O2", "-g", "-static")),
    ("handles, -O0", "handles.c", ("-O0", "-g")),
)

NONE = "No arguments.", "No locals.", "No symbol table info available."


def variables(text):
    """["name = value"], each in one line.  gdb 18 adds where it is declared, if
    several of that name are.  Warnings may stand within a value."""
    text = re.sub(r"\nwarning: \(Error: pc [^\n]*\n", "", text)
    return [re.sub(r"\t<[^<>]*:\d+>$", "", line)
            for line in text.splitlines() if line and line not in NONE]


def is_lost(line):
    """Also what the program never looked at: gdb reads it from the file."""
    return line.endswith((" = <optimized out>", " = <not saved>")) or \
        "they are not mapped, or not known>" in line


def plain(line):
    """Without symbols behind addresses: gdb has more names, and others."""
    inner = r"[^<>]*"
    for _ in range(4):      # templates, as deep as names have them
        inner = rf"[^<>]*(?:<{inner}>[^<>]*)*"
    # What is no wide character is written as the locale has it.
    line = re.sub(r"L('(\\[x\d][^']*|[^\x00-\x7f])'|\"[^\"]*\"(\.\.\.)?)",
                  "L?", line)
    # Numbers of 128 bits are not shown on x86-64.
    line = re.sub(r"(float128 = )[^,}]*", r"\1?", line)
    return re.sub(rf"(0x[0-9a-f]+) <{inner}>", r"\1", line)


def registers(text):
    return {line.split()[0]: line.split(None, 2)[1:]
            for line in text.splitlines() if line}


class Values(Backtraces):
    script = "values_gdb.py"
    compared = lost = 0

    def build(self, name, source, options, stripped):
        # Libraries stand behind what needs them.
        libraries = [word for word in options if word.startswith("-l")]
        options = [word for word in options if word not in libraries]
        if not libraries:
            return super().build(name, source, options, stripped)
        program = os.path.join(self.folder,
                               re.sub(r"[^a-z0-9]+", "-", name.lower()))
        subprocess.run([*self.options.cc.split(), *options, "-o", program,
                        os.path.join(HERE, "programs", "frames", source),
                        *libraries], check=True, timeout=120)
        return program

    def full(self, path, t):
        done = self.cprec("backtrace", "--full", "--json", "--limit=1000",
                          f"--at={t}", path)
        expect(not done.returncode, done.stderr)
        return json.loads(done.stdout)["frames"]

    def text(self, path, t):
        done = self.cprec("backtrace", "--limit=1000", f"--at={t}", path)
        return [line for line in done.stdout.splitlines() if line[0] == "#"]

    def list(self, found, wanted, where, in_order, is_inlined):
        """Blocks of gdb are in the order of a table of its own.  What the caller
        of an inlined function's frame has passed, gdb computes with registers of
        the frame that it is inlined into."""
        unsized = {each["name"] for each in found
                   if each["type"].endswith("[]")}
        found = [plain(f"{each['name']} = {each['value']}") for each in found]
        names = {line.split(" = ")[0] for line in found}
        # Labels without code are variables to gdb.
        wanted = [line for line in map(plain, variables(wanted))
                  if line.split(" = ")[0] in names or not is_lost(line)]
        if not in_order:
            found.sort()
            wanted.sort()
        equal([line.split(" = ")[0] for line in found],
              [line.split(" = ")[0] for line in wanted], where)
        for a, b in zip(found, wanted):
            self.compared += 1
            # A core file of core.c has no registers of floating point.
            if b.endswith(" = <unavailable>"):
                continue
            # Rust's slices are arrays to gdb, structures without containers.
            if "data_ptr: " in a:
                continue
            # What callers passed in registers gdb follows up to there.
            b = b.replace(": <synthetic pointer>", ": <optimized out>")
            if is_lost(a) and not is_lost(b):
                self.lost += 1
            elif is_inlined and a != b and "{" not in a:
                self.lost += 1
            elif b.endswith(" = <optimized out>") and a != b and \
                    a.split(" = ")[0] in unsized:
                # How long the array is was optimized out. gdb 13 shows its
                # address, as we do, gdb 16 nothing.
                expect(re.search(r" = 0x[0-9a-f]+$", a), f"{where}: {a}")
            elif re.search(r'("|<repeats \d+ times>)\.\.\.$', b):
                # Where it is cut depends on the locale, if it is no text.
                equal(a[:150], b[:150], where)
            else:
                same = len(os.path.commonprefix((a, b)))
                start = max(0, same - 200)
                equal(a[start:same + 200], b[start:same + 200], where)

    def line(self, found, wanted, where, inlined, is_rust):
        """insert (list=0x5, by=...) at values.c:5"""
        heads = [re.sub(r"^#\d+ +(\? )?(0x[0-9a-f]+ in )?", "", line)
                 for line in (found, wanted)]
        # Of functions that no linker sees, the scopes are not known.
        heads = [re.sub(r"^(\w+::)+", "", line) for line in heads]
        heads = [re.sub(r"[^ ]*/|, inlined$", "", re.sub(r" from .*", "", line))
                 for line in heads]
        # Rust's closures, the types of its templates and its slices, gdb writes
        # otherwise.
        if is_rust:
            heads = [re.sub(r"^(\w+|\{.*\})(<.*?>)? \(", "(", line)
                     for line in heads]
            heads = [re.sub(r"=&[^(=]*\(size=\d+\) = \{\.\.\.\}", "=...",
                            line) for line in heads]
        if " at " in heads[0] and " at " in heads[1] and not inlined and \
                "<not saved>" not in heads[0]:
            equal(plain(heads[0]).split(" at ")[0],
                  plain(heads[1]).split(" at ")[0], where)

    def registers(self, path, t, number, kind, wanted):
        done = self.cprec("registers", f"--at={t}", f"--frame={number}", path)
        expect(not done.returncode, done.stderr)
        found = registers(re.sub("^registers.*\n", "", done.stdout))
        wanted = registers(wanted)
        for name, value in found.items():
            # A core file of core.c does not have the last two.
            if name in ("fs_base", "gs_base"):
                continue
            # Of a function that jumped, gdb says what its caller's is, but for
            # those that it has jumped to.
            if kind == "tail_call" and name == "rsp":
                continue
            if value[0] != "<not":
                self.compared += 1
                # Of symbols, gdb has more.
                equal([re.sub(" (<|at ).*", "", part) for part in value],
                      [re.sub(" <.*", "", part) for part in wanted[name]],
                      f"{path} at {t}, {number}: {name}")

    def is_thorough(self, _):
        """Whether what takes a process of its own is asked, too."""
        return True

    def compare_frames(self, path, t, wanted):
        found = self.full(path, t)
        is_thorough = self.is_thorough(t)
        lines = self.text(path, t) if is_thorough else []
        for number, frame in enumerate(found):
            if "sure" in frame or number >= len(wanted):
                break
            name, args, locals_, line, held, _ = wanted[number]
            where = f"{path} at {t}, frame {number}, {name}"
            # The innermost, and some of the others: each takes a process.
            if is_thorough and (
                    number < 2 or (number + t) % self.options.each == 0):
                self.registers(path, t, number, frame["kind"], held)
            if "args" not in frame:
                continue
            inlined = frame["kind"] == "inlined"
            self.list(frame["args"], args, where + ", arguments", True,
                      inlined)
            # What a function that jumped had on the stack, gdb reads where its
            # caller's is.
            if frame["kind"] != "tail_call":
                self.list(frame["locals"], locals_, where + ", locals", False,
                          inlined)
            if lines and frame["module_path"].startswith(self.folder) and \
                    not re.search("operator|<", frame["function"]):
                self.line(lines[number], line, where, inlined,
                          frame.get("file", "").endswith(".rs"))

    def values(self, name, source, options, count):
        self.compared = self.lost = 0
        program = self.build(name, source, options, False)
        path = self.record(program)
        times = self.times(path, count)
        wrong = []
        for t, answer in zip(times, self.gdb(program, path, times)):
            try:
                self.compare_frames(path, t, answer[0])
            except Failure as failure:
                wrong.append(str(failure))
        if wrong:
            raise Failure(f"{len(wrong)} of {count} differ\n" +
                          "\n".join(wrong[:self.options.show]))
        expect(self.lost * 10 <= self.compared,
               f"{self.lost} of {self.compared} are lost")
        return f"{self.compared} values, {self.lost} lost"

    def computed(self):
        """A counter that is computed from an address, with integer types."""
        program = self.build("computed", "sorts.c", ("-O2", "-g", "-static"),
                             False)
        done = self.cprec("log", self.record(program), "--json",
                          f"sorts.c:{self.line_of('sorts.c', 'tree = insert')}"
                          " => i")
        values = [json.loads(line)["values"][0]
                  for line in done.stdout.splitlines()]
        equal(len(values), 300, "lines")
        for number, value in enumerate(values):
            if value.get("value") != "<optimized out>":
                equal(value.get("value"), str(number), f"{value}")

    def not_kept(self):
        """Of a caller, the registers that functions need not keep are not
        known; which they are, the System V ABI says (AMD64, 3.2.1)."""
        path = os.path.join(self.folder, "kept.cpr")
        program = self.build("kept", "sorts.c", ("-O0", "-g"), False)
        done = self.cprec("record", "-q", "-o", path, program)
        expect(os.path.exists(path), done.stderr)
        at = json.loads(self.cprec("calls", "--json", "--limit=1", path,
                                   "malloc").stdout)["at"]
        names = ["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
                 "eflags"]
        frames = json.loads(self.cprec("backtrace", "--json", f"--at={at}",
                                       path).stdout)["frames"]
        # Inlined ones have the registers of what they are inlined into.
        called = [frame["kind"] for frame in frames].index("function")
        for frame in called + 1, called + 2:
            done = self.cprec("registers", f"--at={at}", f"--frame={frame}",
                              path)
            found = registers(re.sub("^registers.*\n", "", done.stdout))
            equal([name for name, value in found.items()
                   if value == ["<not", "saved>"]], names, "as text")
            done = self.cprec("registers", f"--at={at}", f"--frame={frame}",
                              "--json", path, *names, "rbx", "rip")
            held = json.loads(done.stdout)["registers"]
            equal([name for name, value in held.items() if value is None],
                  names, "as JSON")
            equal(len(held), len(names) + 2, "registers")
        # The innermost frame has all.
        done = self.cprec("registers", f"--at={at}", "--json", path)
        expect(None not in json.loads(done.stdout)["registers"].values(),
               done.stdout)

    def line_of(self, name, mark):
        with open(os.path.join(HERE, "programs", "frames", name),
                  encoding="utf-8") as source:
            return next(number for number, line in enumerate(source, 1)
                        if mark in line)


def run_all(options, folder):
    if not shutil.which("gdb"):
        print("1..0 # SKIP there is no gdb")
        return 0
    random.seed(options.seed)
    tests = Values(options, folder)
    programs = [p for p in PROGRAMS if options.only in p[0]]
    for program in programs:
        tests.test(program[0], tests.values, *program,
                   options.times // len(programs))
    tests.test("computed", tests.computed)
    tests.test("registers that callers do not keep", tests.not_kept)
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--times", type=int, default=48,
                        help="over all programs")
    parser.add_argument("--each", type=int, default=5, metavar="N",
                        help="registers of each Nth frame; 1: of all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--show", type=int, default=1, help="failures")
    sys.exit(main(run_all, "core", parser=parser))
