#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Backtraces are those that gdb finds.

The state at random times of programs is written as a core file (core.c), and
gdb is asked for its backtrace: the same frames, inlined ones too, with the same
functions and lines.
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
from tap import (CprecTap, Failure, GDB_NAMES, equal, expect,  # noqa: E402
                 main)

HERE = os.path.dirname(os.path.abspath(__file__))

# Name, source, options of the compiler, and whether it is stripped.
PROGRAMS = (
    ("sorts, -O0", "sorts.c", ("-O0", "-g"), False),
    ("sorts, -O2", "sorts.c", ("-O2", "-g"), False),
    ("sorts, frame pointers", "sorts.c",
     ("-O2", "-g", "-fno-omit-frame-pointer"), False),
    ("sorts, .debug_frame", "sorts.c",
     ("-O2", "-g", "-fno-asynchronous-unwind-tables"), False),
    ("sorts, static", "sorts.c", ("-O2", "-g", "-static"), False),
    ("sorts, stripped", "sorts.c", ("-O2", "-g"), True),
    ("handles, -O0", "handles.c", ("-O0", "-g"), False),
    ("handles, -O2", "handles.c", ("-O2", "-g"), False),
    ("throws, -O0", "throws.cpp", ("-O0", "-g"), False),
    ("throws, -O2", "throws.cpp", ("-O2", "-g"), False),
    ("threads, -O2", "threads.c", ("-O2", "-g", "-pthread"), False),
)


# As deep as it is told.
DEEP = """#include <stdlib.h>
int deep(int n) { volatile int own = n; if (!n) *(volatile int *)0 = own;
return deep(n - 1) + own; }
int main(int argc, char **argv) { return deep(atoi(argv[argc - 1])); }
"""


def demangled(name):
    return subprocess.run(["c++filt", name], capture_output=True, text=True,
                          check=True).stdout.strip()


def plain(name):
    """A function's name without its scopes, arguments and templates; the C
    library's have several that differ at their start."""
    if not name:
        return None
    name = demangled(name)
    name = name.replace("operator()", "operator_call")
    name = re.sub(r"\{+closure[^{}]*\}+", "closure", name)
    name = re.sub(r"(?<!operator)->", " ", name)    # a result's type, of Rust
    before = None
    while before != name:
        before = name
        name = re.sub(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}", "", name)
    if "operator" not in name:
        name = name.split("<")[0]       # it was cut off
    name = re.sub(r"(\[abi:\w+\]| const\b)", "", name).strip()
    name = re.split(r"::", name.rstrip(":"))[-1].split()[-1]
    return re.sub(r"^(__GI_)?_*", "", name)


class Backtraces(CprecTap):
    script = "backtrace_gdb.py"

    def build(self, name, source, options, stripped):
        program = os.path.join(self.folder,
                               re.sub(r"[^a-z0-9]+", "-", name.lower()))
        source = os.path.join(HERE, "programs", "frames", source)
        compiler = self.options.cxx if source.endswith("pp") else \
            self.options.cc
        subprocess.run([*compiler.split(), *options, "-o", program, source],
                       check=True, timeout=120)
        if stripped:
            subprocess.run(["strip", program], check=True, timeout=60)
        return program

    def record(self, program):
        path = program + ".cpr"
        result = self.cprec("record", "-q", "--slice=2k", "-o", path, program)
        equal(result.returncode, 0, "status of the program")
        return path

    def dump(self, path):
        out = self.cprec("dump", "--json", "--kind=syscall", path).stdout
        return [json.loads(line) for line in out.splitlines()]

    def times(self, path, count):
        """Behind what the dynamic linker does at the start, where gdb does
        not know yet which libraries there are."""
        info = json.loads(self.cprec("info", "--json", path).stdout)
        calls = self.dump(path)[:60]
        first = [call["at"] for call in calls
                 if call["name"] in ("munmap", "brk")]
        first = first[-1] if first else 0
        times = set()
        while len(times) < count:
            times.add(random.randrange(first, info["instructions"]))
        return sorted(times)

    def gdb(self, program, path, times):
        cores = [f"{path}.core.{t}" for t in times]
        text = "".join(f"{t} 0 {core}\n" for t, core in zip(times, cores))
        subprocess.run([self.options.core, path], input=text, text=True,
                       check=True, timeout=300)
        listing = path + ".cores"
        with open(listing, "w") as out:
            out.write("\n".join(cores))
        result = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", "-iex",
             "set debuginfod enabled off", "-iex", "set auto-load no",
             *GDB_NAMES, "-x", os.path.join(HERE, self.script), program],
            capture_output=True, text=True, timeout=900,
            env={**os.environ, self.script[:-7]: listing, "LC_ALL": "C",
                 "PYTHONPATH": HERE})
        out = [json.loads(line[7:]) for line in result.stdout.splitlines()
               if line.startswith("FRAMES ")]
        equal(len(out), len(times), f"backtraces of gdb\n{result.stderr}")
        if not self.options.keep:
            for core in cores:
                os.unlink(core)
        return out

    def ours(self, path, t):
        result = self.cprec("backtrace", "--json", "--limit=1000", f"--at={t}",
                            path)
        expect(not result.returncode, result.stderr)
        return json.loads(result.stdout)

    def compare(self, found, wanted, where):
        frames = found["frames"]
        while wanted and not wanted[-1]["function"] and \
                len(wanted) > len(frames):
            wanted.pop()
        shown = "\n".join(f"{int(a['pc'], 16):#x} {a.get('function')} "
                          f"{a.get('line')} {a['kind']}" for a in frames)
        shown += "\ngdb:\n" + "\n".join(
            f"{b['pc']:#x} {b['function']} {b['line']} {b['kind']}"
            for b in wanted)
        for a, b in zip(frames, wanted):
            if "sure" in a:     # gdb guesses too, and worse
                return a["frame"]
            here = f"{where}, frame {a['frame']}\n{shown}\n"
            equal(int(a["pc"], 16), b["pc"], here + "address")
            equal(a["kind"], b["kind"], here + "kind")
            if b["line"]:
                expect(b["file"].endswith(".S") or  # has several names
                       plain(a["function"]) == plain(b["function"]),
                       f"{here}function: {b['function']}")
                equal((os.path.basename(a["file"]), a["line"]),
                      (os.path.basename(b["file"]), b["line"]),
                      here + "line")
        equal(len(frames), len(wanted), f"{where}\n{shown}\nframes")
        return len(frames)

    def addresses(self, path, t):
        """Of the frames that are not inlined, and whether all are sure."""
        frames = [f for f in self.ours(path, t)["frames"]
                  if f["kind"] != "inlined"]
        return [f["pc"] for f in frames], not any("sure" in f
                                                    for f in frames)

    def without_file(self):
        """By tables in memory; what is said to be sure is right."""
        program = self.build("gone", "throws.cpp", ("-O2", "-g"), False)
        path = self.record(program)
        times = self.times(path, 12)
        before = [self.addresses(path, t) for t in times]
        os.rename(program, program + "~")
        after = [self.addresses(path, t) for t in times]
        for t, (was, _), (now, is_sure) in zip(times, before, after):
            if is_sure:
                equal(now, was, f"{path} at {t}")
        count = sum(is_sure for _, is_sure in after)
        expect(count * 2 > len(times), f"{count} of {len(times)} are sure")
        return f"{count} of {len(times)}"

    def without_tables(self):
        """By what code keeps of frames: mostly right, and marked."""
        program = self.build("tables", "sorts.c", ("-O0", "-g"), False)
        path = self.record(program)
        times = self.times(path, 20)
        before = [self.addresses(path, t)[0] for t in times]
        options = ("-O0", "-fno-asynchronous-unwind-tables",
                   "-fno-unwind-tables")
        program = self.build("tables", "sorts.c", options, False)
        path = self.record(program)
        same = 0
        for t, was in zip(times, before):
            now, is_sure = self.addresses(path, t)
            same += [a[-3:] for a in now] == [a[-3:] for a in was]
            own = [a for a in now if a.startswith("0x5555")]
            expect(not is_sure or len(own) < 2, f"{path} at {t} is sure")
        expect(same * 10 >= len(times) * 7, f"{same} of {len(times)} are same")
        return f"{same} of {len(times)}"

    def outermost(self):
        """The same frames, from the other end; gdb has as many."""
        source = os.path.join(self.folder, "deep.c")
        program, path = source[:-2], source[:-2] + ".cpr"
        with open(source, "w") as file:
            file.write(DEEP)
        subprocess.run([*self.options.cc.split(), "-g", "-O0", "-o", program,
                        source], check=True, timeout=120)
        self.cprec("record", "-q", "-o", path, program, "3000")

        def frames(limit):
            out = self.cprec("backtrace", "--json", f"--limit={limit}", path)
            return json.loads(out.stdout)["frames"]
        whole = frames(10000)
        for limit in 1, 7, 100, len(whole) - 1, len(whole), 10000:
            equal(frames(-limit), whole[-limit:], f"--limit=-{limit}")
        where = "in main ("
        text = self.cprec("backtrace", "--limit=-9", path).stdout.splitlines()
        equal(text[1], f"({len(whole) - 9} frames are further in)", "note")
        mine, = (line.split()[0] for line in text if where in line)
        out = subprocess.run(["gdb", "-q", "-batch", "-nx", "-iex",
                              "set debuginfod enabled off", "-ex", "run",
                              "-ex", "bt -1", "--args", program, "3000"],
                             capture_output=True, text=True, timeout=300)
        main_frame = out.stdout.splitlines()[-1].split()
        equal(main_frame[0], mine, "number of main")

    def program(self, name, source, options, stripped, count):
        program = self.build(name, source, options, stripped)
        path = self.record(program)
        times = self.times(path, count)
        frames = 0
        wrong = []
        for t, answer in zip(times, self.gdb(program, path, times)):
            expect(isinstance(answer, list), f"gdb at {t}: {answer}")
            try:
                frames += self.compare(self.ours(path, t), answer,
                                       f"{path} at {t}")
            except Failure as failure:
                wrong.append(str(failure))
        if wrong:
            raise Failure(f"{len(wrong)} of {count} differ\n" +
                          "\n".join(wrong[:self.options.show]))
        return f"{count} times, {frames} frames"


def run_all(options, folder):
    if not shutil.which("gdb"):
        print("1..0 # SKIP there is no gdb")
        return 0
    random.seed(options.seed)
    tests = Backtraces(options, folder)
    programs = [p for p in PROGRAMS if options.only in p[0]]
    for i, program in enumerate(programs):
        count = (options.times + i) // len(programs)
        tests.test(program[0], tests.program, *program, count)
    if not options.only:
        tests.test("the outermost frames", tests.outermost)
        tests.test("without the file", tests.without_file)
        tests.test("without tables", tests.without_tables)
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--times", type=int, default=44,
                        help="over all programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--show", type=int, default=1, help="failures")
    sys.exit(main(run_all, "core", parser=parser))
