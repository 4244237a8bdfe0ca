#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with planted races, and the same without: `cprec races` must name
every planted pair of lines, and nothing else; `cprec query` must say of the
same memory, and of no other, that it may have held other values.  Speaks TAP.

NAME_racy.c and NAME_fixed.c are explained in race.h; NAME_racy.cpp and
NAME_fixed.cpp are the same in C++.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = re.compile(r"/\* RACE(?::(\w+)|\?) \*/")
SIDES = "a", "b"
FIELDS = "thread", "at", "pc", "file", "line", "function"
TIMEOUT = 60
COMPILERS = {".c": ("gcc", "-std=c11"), ".cpp": ("g++", "-std=c++17")}

# Cross compilers, and what they need beside their names.
FOREIGN = {
    "aarch64": ("aarch64-linux-gnu", []),
    "arm": ("arm-linux-gnueabihf", []),
    "i386": ("i686-linux-gnu", ["-isystem", "/usr/i686-linux-gnu/include",
                                "-msse2"]),
}


def has_openmp(source):
    with open(source) as text:
        return "#pragma omp" in text.read()


def command(source, compiler=None):
    """How to compile it."""
    usual, *options = COMPILERS[os.path.splitext(source)[1]]
    if has_openmp(source):
        options.append("-fopenmp")
    return [compiler or usual, *options]


class Problem(Exception):
    """What was not as it should be."""


def name_of(source):
    """As counter_racy."""
    return os.path.splitext(os.path.basename(source))[0]


def planted(source):
    """The pairs of lines that must race, and all lines that may."""
    races, marked = {}, set()
    with open(source) as text:
        for number, line in enumerate(text, 1):
            mark = MARK.search(line)
            if mark:
                marked.add(number)
                if mark[1]:
                    races.setdefault(mark[1], []).append(number)
    pairs = set()
    for name, lines in races.items():
        if len(lines) > 2:
            raise Problem(f"{source}: race '{name}' has {len(lines)} lines")
        pairs.add((lines[0], lines[-1]))
    return pairs, marked


def run(*argv, folder=None):
    try:
        done = subprocess.run(argv, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, cwd=folder,
                              timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Problem(f"no end after {TIMEOUT} s: {' '.join(argv)}")
    if done.returncode:
        raise Problem(f"status {done.returncode}: {' '.join(argv)}: "
                      f"{done.stderr.strip()}")
    return done.stdout


def check_shape(race):
    if race["kind"] not in ("write-write", "read-write"):
        raise Problem(f"kind {race['kind']!r}")
    if race["count"] < 1 or race["at"] < 0:
        raise Problem(f"count {race['count']}, time {race['time']}")
    if race["kind"] not in race["kinds"]:
        raise Problem(f"kind {race['kind']} is not in {race['kinds']}")
    int(race["addr"], 16)
    for side in SIDES:
        missing = [name for name in FIELDS if name not in race[side]]
        if missing:
            raise Problem(f"{side} lacks {', '.join(missing)}")
    if race["a"]["thread"] == race["b"]["thread"]:
        raise Problem("a thread races with itself")


def describe(side):
    return (f"{os.path.basename(side['file'] or '?')}:{side['line']} "
            f"{side['function'] or '?'}() {side['pc']}")


def compare(races, source, text):
    """Raises Problem unless just what was planted is reported."""
    must, may = planted(source)
    found, strange = set(), []
    name = os.path.basename(source)
    for race in races:
        check_shape(race)
        lines = tuple(sorted(race[side]["line"] or 0 for side in SIDES))
        if lines in found:
            strange.append(f"lines {lines} more than once")
        found.add(lines)
        files = {os.path.basename(race[side]["file"] or "") for side in SIDES}
        if files != {name} or not set(lines) <= may:
            strange.append(f"{describe(race['a'])} with "
                           f"{describe(race['b'])} at {race['addr']}")
    problems = [f"not reported: lines {a} and {b}"
                for a, b in sorted(must - found)]
    problems += [f"wrongly reported: {what}" for what in strange]
    for line in {line for pair in must & found for line in pair}:
        if text is not None and f"{name}:{line}" not in text:
            problems.append(f"line {line} is not in the text output")
    if problems:
        raise Problem("; ".join(problems))


def variables(program):
    """Names of the program's own variables, but for thread-local ones."""
    return re.findall(r" OBJECT +\w+ +\w+ +\d+ ((?!completed)[a-z]\w*)$",
                      run("readelf", "-sW", program), re.MULTILINE)


class Checker:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.count = self.failures = 0

    def build(self, source):
        program = os.path.join(self.folder, name_of(source))
        run(*command(source, self.options.compiler), "-D_GNU_SOURCE", "-g",
            self.options.optimize, *self.options.link, *self.options.include,
            "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program, source)
        return program

    def check(self, source):
        program = self.build(source)
        if not self.options.arch:
            run(program, folder=self.folder)
        if self.options.native:
            planted(source)
            return
        trace = program + ".cpr"
        run(self.options.cprec, "record", "-o", trace, *self.options.sysroot,
            "--", program, folder=self.folder)
        run(self.options.cprec, "verify", trace)
        races = json.loads(run(self.options.cprec, "races", trace,
                               "--json"))["races"]
        text = None
        # Without races, the text is that of any other program.
        if not self.options.short and (races or not self.count):
            text = run(self.options.cprec, "races", trace)
        compare(races, source, text)
        if not self.options.short:
            self.ask_about(races, trace, program)
        if not self.options.keep:
            os.unlink(trace)
            os.unlink(program)

    def ask_about(self, races, trace, program):
        for race in races:
            self.ask(trace, [race["addr"]], [race["at"] + 1], True)
        if not races:
            self.ask_of_all(trace, program)

    def ask(self, trace, addresses, times, must_race):
        if not addresses:
            return
        answers = run(self.options.cprec, "query", trace, "--json",
                      *(["--size=1"] if must_race else []),
                      *(f"--addr={address}" for address in addresses),
                      *(f"--at={t}" for t in times))
        for answer in map(json.loads, answers.splitlines()):
            # A local variable of that name may be in a register then.
            if "addr" in answer and bool(answer["race"]) != must_race:
                raise Problem(f"query of {answer.get('symbol')} "
                              f"{answer['addr']} at {answer['at']}: "
                              f"race {answer['race']}")

    def ask_of_all(self, trace, program):
        """Nothing of the program is raced for, whenever."""
        info = json.loads(run(self.options.cprec, "info", "--json", trace))
        start = info["threads"][1]["first"]
        length = info["instructions"] - start
        self.ask(trace, variables(program),
                 [start + length * i // 4 for i in range(1, 5)], False)

    def result(self, source):
        problem = None
        try:
            self.check(source)
        except (Problem, KeyError, ValueError, TypeError) as error:
            problem = f"{type(error).__name__}: {error}"
        self.count += 1
        self.failures += bool(problem)
        name = name_of(source)
        print(f"{'not ok' if problem else 'ok'} {self.count} - {name}")
        if problem:
            print("# " + problem.replace("\n", "\n# "))
        sys.stdout.flush()


def has_compiler(options, folder):
    """Whether it is there, with the library for OpenMP."""
    source = os.path.join(folder, "empty.c")
    with open(source, "w") as text:
        text.write("int main(void) { return 0; }\n")
    try:
        run(options.compiler, *options.include, "-fopenmp", "-o", source[:-2],
            source)
    except (FileNotFoundError, Problem):
        return False
    return True


def take_architecture(options):
    """What it takes to compile programs for it, and to record them."""
    options.include, options.sysroot = [], []
    if options.arch:
        triplet, options.include = FOREIGN[options.arch]
        options.compiler = f"{triplet}-gcc"
        options.sysroot = [f"--sysroot=/usr/{triplet}"]
        # Not what this machine's cache of libraries names.
        os.environ["LD_LIBRARY_PATH"] = "/lib"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cprec", help="the program to test")
    parser.add_argument("--native", action="store_true",
                        help="only build the programs and run them")
    parser.add_argument("--compiler", help="another one than gcc")
    parser.add_argument("--arch", choices=FOREIGN,
                        help="compile for this architecture")
    parser.add_argument("--optimize", default="-O0", help="how to compile")
    parser.add_argument("--static", dest="link", action="store_const",
                        const=["-static"], default=[], help="link so")
    parser.add_argument("--short", action="store_true",
                        help="ask for races only: no text, no queries")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("names", nargs="*", help="as counter, or counter_racy")
    options = parser.parse_args()
    if not options.native and not options.cprec:
        parser.error("--cprec or --native is needed")
    if options.cprec:
        options.cprec = os.path.abspath(options.cprec)
    take_architecture(options)
    folder = tempfile.mkdtemp(prefix="cprec-races-")
    if options.compiler and not has_compiler(options, folder):
        shutil.rmtree(folder)
        print(f"1..0 # SKIP no {options.compiler} with OpenMP")
        return 0
    checker = Checker(options, folder)
    for source in sorted(glob.glob(os.path.join(HERE, "*_*.c")) +
                         glob.glob(os.path.join(HERE, "*_*.cpp"))):
        name = name_of(source)
        if not options.names or name in options.names or \
                name.rsplit("_", 1)[0] in options.names:
            checker.result(source)
    print(f"1..{checker.count}")
    if checker.failures or options.keep:
        print(f"# kept: {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if checker.failures or not checker.count else 0


if __name__ == "__main__":
    sys.exit(main())
