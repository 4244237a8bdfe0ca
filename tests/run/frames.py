#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of optimized programs are gdb's, with the same numbers.

gdb is asked on the same recordings, at random times: which frames there are,
inlined ones and those of functions that jumped to others too, with their
functions, lines, arguments as they are and were, and local variables.  A frame
is the same one for all commands that take its number.  Speaks TAP.
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
from backtrace import HERE, plain  # noqa: E402
from backtrace_values import Values  # noqa: E402
from serve import Server  # noqa: E402
from tap import Failure, GDB_NAMES, equal, expect, main  # noqa: E402

# A compiler, and what other tools' names begin with.  On ARM, the code of functions
# that have symbols tells their frames.
FOREIGN = {
    "AArch64": (["aarch64-linux-gnu-gcc"], "aarch64-linux-gnu-"),
    "ARM": (["clang", "--target=arm-linux-gnueabihf", "-marm",
             "-mfpu=vfpv3-d16"], "arm-linux-gnueabihf-"),
}
UNKNOWN = {"<not saved>", "<optimized out>"}
NO_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
             "-fno-exceptions")

COMPILERS = (("gcc", "-O2"), ("clang", "-O2"), ("gcc", "-O3"),
             ("clang", "-O3"), ("gcc", "-O1"), ("clang", "-O1"),
             ("gcc", "-O0"), ("clang", "-O0"),
             ("gcc", "-O2", "-gdwarf-4"), ("clang", "-O2", "-gdwarf-4"))
SOURCES = "jumps.c", "values.c", "sorts.c", "values.cpp"
RUST = [("rustc", f"-Copt-level={level}") for level in (2, 0, 1, 3)]


# Of how many stops the lines and registers are compared, too.
THOROUGH = 20


class Frames(Values):
    entries = tails = 0
    server = said = None

    def full(self, path, t):
        if not self.server:
            return super().full(path, t)
        results, end = self.server.ask(
            {"command": "backtrace", "file": path, "at": str(t), "full": True,
             "limit": 1000, "raw": True})
        equal(end.get("status"), 0, f"at {t}: {end}")
        return results[0]["frames"]

    def is_thorough(self, t):
        return t in self.thorough

    def compile(self, source, compiler, options):
        program = os.path.join(self.folder, "-".join(
            [source.replace(".", "-"), compiler, *options]))
        if source.endswith("pp"):
            compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
        libraries = [] if source.endswith("rs") else ["-lm"]
        subprocess.run([compiler, "-g", *options, "-o", program,
                        os.path.join(HERE, "programs", "frames", source),
                        *libraries],
                       check=True, timeout=120, capture_output=True)
        return program

    def gdb(self, program, path, times):
        """What gdb has at each time; None where it crashes, as gdb 13 may with
        Rust: the others are asked again."""
        out = self.ask_gdb(path, times)
        crashes = 0
        while len(out) < len(times):
            crashes += 1
            expect(crashes <= 1 + len(times) // 50, f"gdb crashes\n{self.said}")
            out.append(None)
            out += self.ask_gdb(path, times[len(out):])
        return out

    def ask_gdb(self, path, times):
        listing = path + ".times"
        with open(listing, "w") as out:
            out.write("\n".join(map(str, times)))
        done = subprocess.run(
            [self.options.cprec, "gdb", path, "--", "-q", "-batch", "-nx",
             "-iex", "set debuginfod enabled off", *GDB_NAMES, "-x",
             os.path.join(HERE, self.script)],
            capture_output=True, text=True, timeout=900,
            env={**os.environ, "times": listing, "LC_ALL": "C",
                 "PYTHONPATH": HERE})
        self.said = done.stderr[-2000:]
        return [json.loads(line[7:])[0] for line in done.stdout.splitlines()
                if line.startswith("FRAMES ")]

    def compare_lists(self, path, t, found, wanted):
        """The same frames: their number, kinds and functions.  Behind the last
        of the dynamic linker, gdb has some of nobody."""
        while len(wanted) > len(found) and not wanted[-1][0]:
            wanted.pop()
        shown = "\n".join(f"{a.get('function')} {a['kind']}" for a in found)
        shown += "\ngdb:\n" + "\n".join(f"{b[0]} {b[5]}" for b in wanted)
        for a, b in zip(found, wanted):
            where = f"{path} at {t}, frame {a['frame']}\n{shown}\n"
            if "sure" in a:     # gdb guesses too, and worse
                break
            equal(a["kind"], b[5], where + "kind")
            if "file" in a and a["kind"] != "signal" and \
                    not a["file"].endswith(".S"):
                equal(plain(a["function"]), plain(b[0]), where + "function")
        else:
            equal(len(found), len(wanted), f"{path} at {t}\n{shown}\nframes")
        self.tails += sum(a["kind"] == "tail_call" for a in found)
        self.entries += sum("entry" in one for a in found
                            for one in a.get("args", []))

    def stops(self, source, compiler, *options):
        self.compared = self.lost = self.entries = self.tails = 0
        program = self.compile(source, compiler, options)
        path = self.record(program)
        times = self.times(path, self.options.stops)
        if source == "jumps.c":
            times = sorted({*times[::2], *random.sample(
                self.calls(path, "leaf"), len(times)), *random.sample(
                self.calls(path, "leaf", "fills"), 1 + len(times) // 10)})
        self.thorough = set(times[::-(-len(times) // THOROUGH)])
        wrong = []
        answers = self.gdb(program, path, times)
        with Server(self.options.cprec, self.folder) as self.server:
            for t, answer in zip(times, answers):
                if not answer:
                    continue
                try:
                    self.compare_lists(path, t, self.full(path, t), answer)
                    self.compare_frames(path, t, answer)
                except Failure as failure:
                    wrong.append(str(failure))
        self.server = None
        if wrong:
            raise Failure(f"{len(wrong)} of {len(times)} differ\n" +
                          "\n".join(wrong[:self.options.show]))
        expect(self.lost * 20 <= self.compared,
               f"{self.lost} of {self.compared} are lost")
        return (f"{self.compared} values, {self.lost} lost;"
                f" {self.entries} arguments at entry, {self.tails} jumps")

    def calls(self, path, function, caller=""):
        """Times in it, soon after it was called."""
        done = self.cprec("calls", "--json", path, function)
        expect(not done.returncode, done.stderr)
        calls = map(json.loads, done.stdout.splitlines())
        return [int(call["at"]) + random.randrange(8) for call in calls
                if caller in call["caller"]["function"]]

    def same_everywhere(self):
        """--frame=N of all commands is the frame of that number: of a function
        that jumped, too."""
        program = self.compile("jumps.c", "gcc", ["-O2"])
        path = self.record(program)
        seen = set()
        for t in self.calls(path, "leaf")[:40]:
            frames = self.full(path, t)
            kinds = tuple(frame["kind"] for frame in frames)
            if "tail_call" not in kinds or kinds in seen or len(seen) == 2:
                continue
            seen.add(kinds)
            for number, frame in enumerate(frames):
                self.frame_everywhere(path, t, number, frame)
        expect(seen, "no jumps")
        return f"{len(seen)} stacks"

    def build_mixed(self, arch, without, tables):
        compiler, tools = FOREIGN[arch]
        program = os.path.join(self.folder, f"{arch}-{without}-{tables}")
        parts = []
        for part, option in ("outer", "-DOUTER"), ("inner", "-UOUTER"):
            parts.append(f"{program}-{part}.o")
            has_none = not tables and part == without
            subprocess.run(
                [*compiler, "-g", "-O1", "-fno-omit-frame-pointer", option,
                 *(NO_TABLES if has_none else ["-funwind-tables"]), "-c",
                 "-o", parts[-1],
                 os.path.join(HERE, "programs", "frames", "mixed.c")],
                check=True, timeout=120)
        subprocess.run([tools + "gcc", "-static", "-o", program, *parts],
                       check=True, timeout=120)
        if not tables:      # what is only for debuggers counts as well
            subprocess.run([tools + "objcopy", "--remove-section=.debug_frame",
                            *(["--strip-symbol=" + without]
                              if arch == "ARM" else []), program],
                           check=True, timeout=60)
        return program

    def mixed(self, arch, without):
        """Where a frame does not say how large it is, callers with unwind tables
        of code without any have the frames, arguments and variables that they
        have if all has tables."""
        found = {}
        for tables in True, False:
            path = self.record(self.build_mixed(arch, without, tables))
            at = json.loads(self.cprec("calls", "--json", "--limit=1", path,
                                       "last").stdout)["at"]
            found[tables] = self.full(path, at)
        names = [frame["function"] for frame in found[True]]
        equal([frame["function"] for frame in found[False]][:len(names)],
              names, "functions")
        expect(names.count("outer") == 6, names)
        known = 0
        for a, b in zip(found[False], found[True]):
            if a["function"] in (("inner",) if without == "inner" else
                                 ("outer", "main")):
                continue
            equal(a.get("line"), b.get("line"), "line")
            for key in "args", "locals":
                for one, other in zip(a.get(key, []), b.get(key, [])):
                    if not {one["value"], other["value"]} & UNKNOWN:
                        equal(one["value"], other["value"], one["name"])
                        known += 1
        expect(known > (arch == "AArch64") * 4, f"{known} values are known")
        return f"{known} values"

    def frame_everywhere(self, path, t, number, frame):
        where = f"{path} at {t}, frame {number}: {frame.get('function')}"
        place = [f"--at={t}", f"--frame={number}", path]
        if frame["module_path"].startswith(self.folder) and "file" in frame:
            found = json.loads(self.cprec("source", "--json", *place).stdout)
            for key in "function", "pc", "line":
                equal(found.get(key), frame[key], f"{where}: source, {key}")
        pc = json.loads(self.cprec("registers", "--json", *place,
                                   "rip").stdout)["registers"]["rip"]
        equal(int(pc, 16), int(frame["pc"], 16), where + ": registers")
        for one in frame.get("args", []):
            found = json.loads(self.cprec(
                "query", "--json", "--no-races", f"--addr={one['name']}",
                *place).stdout)
            if "value" in found:
                value = re.sub(r"^\(.*\) (?=0x)", "", found["value"])
                equal(value, one["value"], f"{where}: query")
            else:
                expect(one["value"].startswith("<"), f"{where}: {found}")
        done = subprocess.run(
            [self.options.cprec, "debug", "--plain", f"--goto={t}", path],
            input=f"frame {number}\n", capture_output=True, text=True,
            timeout=60)
        name = re.search(r"^#\d+ +(?:0x\w+ in )?([^ (]*)", done.stdout, re.M)
        expect(name, f"{where}: {done.stdout}")
        if "file" in frame:
            equal(plain(name[1]), plain(frame["function"]), where + ": debug")


def run_all(options, folder):
    if not shutil.which("gdb"):
        print("1..0 # SKIP there is no gdb")
        return 0
    random.seed(options.seed)
    tests = Frames(options, folder)
    for number, compiler in enumerate(COMPILERS):
        if not shutil.which(compiler[0]):
            print(f"# there is no {compiler[0]}")
            continue
        for turn, source in enumerate(SOURCES):
            name = " ".join([source, *compiler])
            # Of the others, each has some of the compilers.
            if options.only in name and (options.all or not turn or
                                         number == turn - 1):
                tests.test(name, tests.stops, source, *compiler)
    for number, compiler in enumerate(RUST if shutil.which("rustc") else ()):
        name = " ".join(["values.rs", *compiler])
        if options.only in name and (options.all or not number):
            tests.test(name, tests.stops, "values.rs", *compiler)
    if options.only in "same":
        tests.test("a frame is the same for all", tests.same_everywhere)
    for arch, (compiler, tools) in FOREIGN.items():
        for part in "inner", "outer":
            if (shutil.which(compiler[0]) and shutil.which(tools + "gcc") and
                    options.only in "mixed"):
                tests.test(f"{arch}, {part} without tables", tests.mixed,
                           arch, part)
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--stops", type=int, default=4, help="per program")
    parser.add_argument("--each", type=int, default=1000, metavar="N",
                        help="registers of each Nth frame; 1: of all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true",
                        help="all programs by all compilers")
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--show", type=int, default=1, help="failures")
    sys.exit(main(run_all, parser=parser))
