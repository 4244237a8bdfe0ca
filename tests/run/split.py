#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debugging information in files of units (-gsplit-dwarf) and in packages of them.

usage: split.py --cprec C --programs FOLDER

Each program is compiled twice, to the same code: with its debugging information
in it, and split.  All questions have the same answer.  gdb says what values are.
Then files are moved, packed, removed, replaced by those of another build and
damaged.  Compilers and packers that are not there are left out.  Speaks TAP.
"""
import argparse
import glob
import os
import random
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import GDB_NAMES, PlaceTap, equal, expect, main  # noqa: E402

C_VALUES = ["head", "*head", "*head->next", "head->next->next->name", "scaled",
            "part.c::depth", "total", "(enum kind)7", "sizeof(struct node)",
            "head->kind == ODD"]
CXX_VALUES = ["app::kept.side", "app::mine", "sizeof(app::Square)",
              "sizeof(app::Pair<long>)", "(app::Pair<long> *)0"]

C_PLAIN = """ptype head
ptype struct node
ptype sum
whatis head->next->kind
break push
continue
info args
finish
break sum
continue
continue
backtrace
info args
up
info locals
info source
info line
step
step
step
info locals
"""
CXX_PLAIN = """ptype app::Square
ptype app::Pair<long>
whatis app::shapes
break all
continue
info args
next
next
next
info locals
backtrace
continue
up
info locals
"""


def line_of(path, mark):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.rstrip().endswith(f"// mark {mark}"):
                return f"{os.path.basename(path)}:{number}"
    raise LookupError(mark)


def packers(version):
    """Programs that make packages; binutils' reads version 4 only."""
    found = sorted(glob.glob("/usr/bin/llvm-dwp*"))[:1]
    if version == 4 and shutil.which("dwp"):
        found.append("dwp")
    return found


class Tests(PlaceTap):
    def run(self, *words, **more):
        return subprocess.run(words, check=True, cwd=self.path("objects"),
                              capture_output=True, text=True, **more)

    def build(self, compiler, flags, *options):
        """All that compilers leave is in the folder "objects"."""
        os.makedirs(self.path("objects"), exist_ok=True)
        if "++" in compiler:
            sources = ["types.cpp"]
            flags = [*flags, "-std=c++17"]
        else:
            sources = ["main.c", "part.c"]
        objects = []
        for source in sources:
            objects.append(source.rpartition(".")[0] + ".o")
            self.run(compiler, "-g", *flags, *options, "-c", "-o", objects[-1],
                     os.path.join(self.options.programs, source))
        self.run(compiler, "-pthread", "-o", self.path("program"), *objects)

    def record(self, name, *options):
        trace = self.path(name)
        done = self.cprec("record", "-q", "--slice=700", *options, "-o", trace,
                          self.path("program"))
        equal(done.returncode, 0, done.stderr)
        return trace

    # ------- what is answered

    def questions(self, compiler):
        """Words of commands, without the recording."""
        source = self.options.programs
        if "++" in compiler:
            values, plain = CXX_VALUES, CXX_PLAIN
            line = line_of(f"{source}/types.cpp", "all")
            more = [["log", "all => of.side, more"], ["calls", "all"],
                    ["log", f"{line} => sum"], ["symbols", "app::*"],
                    ["when", "--expr=app::kept.side > 2"]]
        else:
            values, plain = C_VALUES, C_PLAIN
            inlined = line_of(f"{source}/main.c", "inlined")
            inner = line_of(f"{source}/part.c", "inner")
            more = [["log", "sum => node, sofar, *node"],
                    ["log", "scale => value, by"], ["log", "push => $return"],
                    ["log", f"{inlined} => result"],
                    ["log", f"{inner} => sofar"],
                    ["log", "push => name, value", "--limit=3"],
                    ["calls", "sum", "push", "overflow"],
                    ["when", "--expr=scaled == 3"],
                    ["when", "--in=sum", "--expr=sofar > 30"],
                    ["when", "--in=scale", "--expr=value == 4"],
                    ["writes", "--addr=head->next"],
                    ["last", "--addr=scaled", "--at=end"],
                    ["heap", "--errors"], ["races"], ["symbols", "*s*m*"]]
        asked = [["backtrace", "--at=end"],
                 ["query", "--no-races", "--at=end",
                  *(f"--addr={value}" for value in values)], *more]
        return asked, plain

    def answers(self, compiler, trace, *options, most=99):
        """Of the first so many questions, and what the prompt says."""
        asked, plain = self.questions(compiler)
        asked = asked[:most]
        found = []
        for words in asked:
            done = self.cprec(*words[:1], trace, *words[1:], *options)
            text = done.stdout + done.stderr
            found.append((words, text))
        done = self.cprec("debug", "--plain", *options, trace, text=plain)
        found.append((["debug"], done.stdout + done.stderr))
        # Threads have the numbers that the kernel gave them; how long the end of
        # one is waited for is chance.
        # The compiler says how it was called.
        return [(words, self.same(text.replace(trace, "TRACE").replace(
            " -gsplit-dwarf", ""))) for words, text in found]

    @staticmethod
    def same(text):
        numbers = {}
        text = re.sub(r"^(thread \d+) at t=[\d.]+:", r"\1:", text)

        def name(match):
            return (match.group(1) +
                    numbers.setdefault(match.group(2), str(len(numbers))))
        return re.sub(r"(\b(?:thread|Thread|process|LWP) |^\s*\d+ )(\d+)\b",
                      name, text, flags=re.MULTILINE)

    def compare(self, found, expected):
        for (words, text), (_, right) in zip(found, expected):
            equal(text.splitlines(), right.splitlines(), " ".join(words))

    def begin_with(self, compiler, flags):
        """The program as one file, recorded; then with what is split."""
        self.begin()
        self.build(compiler, flags)
        self.whole = self.answers(compiler, self.record("whole.cpr"))
        self.short = [*self.whole[:5], self.whole[-1]]
        self.build(compiler, flags, "-gsplit-dwarf")
        expect(glob.glob(self.path("objects/*.dwo")), "nothing is split")
        return self.record("split.cpr")

    def variables(self, trace):
        """What is not known without files of units."""
        done = self.cprec("query", trace, "--addr=*head", "--at=end",
                          "--no-races")
        return done.stdout.splitlines()[:1], done.stderr

    # ------- tests

    def beside(self, compiler, *flags):
        trace = self.begin_with(compiler, flags)
        self.compare(self.answers(compiler, trace), self.whole)
        for packer in packers(int(flags[0][-1])):
            self.packed(packer, compiler, trace)

    def packed(self, packer, compiler, trace):
        """A package; the files that it was made of are gone."""
        package = self.path("program.dwp")
        units = glob.glob(self.path("objects/*.dwo"))
        self.run(packer, *units, "-o", package)
        os.rename(self.path("objects"), self.path("away"))
        try:
            self.compare(self.answers(compiler, trace, most=5), self.short)
        finally:
            os.rename(self.path("away"), self.path("objects"))
            os.remove(package)

    def gdb(self):
        """gdb reads the files of units by itself."""
        self.begin_with("gcc", ["-gdwarf-5", "-O0"])
        mark = line_of(f"{self.options.programs}/part.c", "inner")
        asked = ["*head", "head->next->name", "scaled", "sofar", "head->kind",
                 "depth"]
        done = subprocess.run(
            ["gdb", "-q", "-nx", "-batch", *GDB_NAMES,
             "-ex", "set print entry-values no", "-ex", f"break {mark}",
             "-ex", "run", "-ex", "continue", "-ex", "continue",
             *(word for text in asked for word in ("-ex", f"print {text}")),
             "-ex", "backtrace", self.path("program")],
            capture_output=True, text=True, timeout=100, cwd=self.place,
            stdin=subprocess.DEVNULL)
        trace = self.path("split.cpr")
        plain = "\n".join([f"break {mark}", *["continue"] * 3,
                           *(f"print {text}" for text in asked), "backtrace"])
        ours = self.cprec("debug", "--plain", trace, text=plain + "\n").stdout

        def values(text):
            return [re.sub("0x[0-9a-f]+", "ADDR", value) for value
                    in re.findall(r"^(?:\$\d+ )?= (.*)$", text, re.MULTILINE)]

        def frames(text):
            return re.findall(r"^#\d+ .*?(\w+ \(.*\)) at", re.sub(
                "0x[0-9a-f]{3,}", "ADDR", text), re.MULTILINE)
        equal(len(values(done.stdout)), len(asked), done.stdout + done.stderr)
        equal(values(ours), values(done.stdout), "values")
        # gdb leaves out who called main().
        right = frames(done.stdout)
        expect(len(right) > 3, done.stdout)
        equal(frames(ours)[:len(right)], right, "frames")

    def moved(self):
        """Nothing but the names of their folders is lost."""
        trace = self.begin_with("gcc", ["-gdwarf-5", "-O2"])
        right, errors = self.variables(trace)
        expect(right and not errors, errors)
        units = self.path("elsewhere")
        os.rename(self.path("objects"), units)
        found, errors = self.variables(trace)
        equal(found, [], "values without units")
        places = [self.path(f"{folder}main.dwo") for folder in ("objects/", "")]
        expect("note: 'main.dwo' is missing, which has debugging information of"
               f" '{self.path('program')}', and so is 1 more such file:"
               f" looked for {', '.join(map(repr, places))}" in errors, errors)
        expect("and in 'program.dwp'" in errors, errors)
        equal(self.variables(trace)[1].count("is missing"), 1, "once")
        done = self.cprec("query", trace, "--addr=*head", "--at=end",
                          "--no-races", f"--debug-dir={units}")
        equal(done.stdout.splitlines()[:1], right, done.stderr)
        # Beside the program, wherever it is.
        for name in "main.dwo", "part.dwo":
            shutil.copy(f"{units}/{name}", self.place)
        equal(self.variables(trace), (right, ""), "beside the program")
        os.makedirs(self.path("other"))
        for name in "main.dwo", "part.dwo":
            shutil.move(self.path(name), self.path("other"))
        shutil.move(trace, self.path("other"))
        equal(self.variables(self.path("other/split.cpr")), (right, ""),
              "beside the recording")

    def one_is_missing(self):
        """The other one's variables are known."""
        trace = self.begin_with("gcc", ["-gdwarf-4", "-O0"])
        right, _ = self.variables(trace)
        os.remove(self.path("objects/part.dwo"))
        found, errors = self.variables(trace)
        equal(found, right, "values")
        expect("'part.dwo' is missing" in errors and "more" not in errors,
               errors)

    def other_build(self):
        trace = self.begin_with("gcc", ["-gdwarf-5", "-O0"])
        shutil.copy(self.path("objects/main.dwo"), self.path("kept"))
        shutil.copy(self.path("objects/part.dwo"),
                    self.path("objects/main.dwo"))
        found, errors = self.variables(trace)
        equal(found, [], "values")
        expect(f"; '{self.path('objects/main.dwo')}' is of another build"
               in errors, errors)
        os.remove(self.path("objects/main.dwo"))
        os.mkfifo(self.path("objects/main.dwo"))
        shutil.copy(self.path("kept"), self.path("main.dwo"))
        found, errors = self.variables(trace)
        expect(found and not errors, f"a pipe: {errors}")

    def kept(self, *flags):
        """Answers without any file."""
        trace = self.begin_with("gcc", flags)
        os.remove(trace)
        self.record("split.cpr", "--with-debug")
        os.remove(self.path("program"))
        shutil.rmtree(self.path("objects"))
        self.compare(self.answers("gcc", trace, most=5), self.short)

    def separate(self):
        """What is left of debugging information is in a file of its own."""
        trace = self.begin_with("gcc", ["-gdwarf-5", "-O1"])
        right, _ = self.variables(trace)
        program, debug = self.path("program"), self.path("program.debug")
        self.run("objcopy", "--only-keep-debug", program, debug)
        self.run("strip", program)
        self.run("objcopy", f"--add-gnu-debuglink={debug}", program)
        equal(self.variables(trace), (right, ""), "with a link")
        os.remove(trace)
        self.record("split.cpr", "--with-debug")
        for name in program, debug:
            os.remove(name)
        shutil.rmtree(self.path("objects"))
        equal(self.variables(trace), (right, ""), "kept")

    def compressed(self):
        trace = self.begin_with("gcc", ["-gdwarf-5", "-O2", "-gz"])
        self.compare(self.answers("gcc", trace, most=5), self.short)

    def damaged(self, version):
        """Any bytes: there is an answer, soon."""
        trace = self.begin_with("gcc", [f"-gdwarf-{version}", "-O2"])
        units = glob.glob(self.path("objects/*.dwo"))
        files = [*units, self.path("program")]
        for packer in packers(version)[:1]:
            self.run(packer, *units, "-o", self.path("program.dwp"))
            files = [self.path("program.dwp"), *files]
        whole = {}
        for name in files:
            with open(name, "rb") as file:
                whole[name] = file.read()
        choose = random.Random(version)
        for number in range(self.options.tries):
            name = choose.choice(files[:-1])
            data = bytearray(whole[name])
            for _ in range(choose.choice((1, 3, 30))):
                data[choose.randrange(len(data))] = choose.randrange(256)
            if number % 7 == 0:
                del data[choose.randrange(len(data)):]
            with open(name, "wb") as file:
                file.write(data)
            done = self.cprec("query", trace, "--addr=*head", "--at=end",
                              "--no-races")
            expect(done.returncode in (0, 1), f"{number}: {done}")
            done = self.cprec("backtrace", trace, "--at=50%")
            expect(done.returncode in (0, 1), f"{number}: {done}")
            with open(name, "wb") as file:
                file.write(whole[name])


def run_all(options, folder):
    # What malloc() leaves in names is to be no part of a character.
    os.environ.pop("MALLOC_PERTURB_", None)
    tests = Tests(options, folder)
    types = "-fdebug-types-section"
    for compiler, *flags in (
            ("gcc", "-gdwarf-4", "-O2"), ("gcc", "-gdwarf-5", "-O2"),
            ("g++", "-gdwarf-4", "-O0", types), ("g++", "-gdwarf-5", "-O2"),
            ("g++", "-gdwarf-5", "-O1", types), ("clang", "-gdwarf-5", "-O2"),
            ("clang", "-gdwarf-4", "-O0"), ("clang++", "-gdwarf-4", "-O2"),
            ("clang++", "-gdwarf-5", "-O1", types)):
        if shutil.which(compiler):
            tests.test(f"{compiler} {' '.join(flags)}", tests.beside, compiler,
                       *flags)
    tests.test("gdb", tests.gdb)
    for version in 4, 5:
        tests.test(f"kept -gdwarf-{version}", tests.kept, f"-gdwarf-{version}",
                   "-O2")
        tests.test(f"damaged -gdwarf-{version}", tests.damaged, version)
    for function in (tests.moved, tests.one_is_missing, tests.other_build,
                     tests.separate, tests.compressed):
        tests.test(function.__name__.replace("_", " "), function)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--tries", type=int, default=15, metavar="N",
                        help="how many damaged files of each version")
    sys.exit(main(run_all, "programs", parser=PARSER))
