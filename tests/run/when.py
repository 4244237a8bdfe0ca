#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""When conditions became true, as gdb and the program itself see it natively.

usage: when.py --cprec C --cc CC

Breakpoints of gdb at lines (when_gdb.py) and its watchpoints tell how often a
condition begins to hold and at which lines; the program says the rest: see
programs/when/.  Speaks TAP.
"""
import argparse
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, GDB_NAMES, equal, expect, main  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "programs", "when", "conditions.c")


def line_of(mark, path=SOURCE):
    with open(path, encoding="utf-8") as source:
        for number, text in enumerate(source, 1):
            if mark in text:
                return number
    raise ValueError(mark)


class When(CprecTap):
    def ask(self, condition, *more):
        done = self.cprec("when", self.trace, "--json", "--expr", condition,
                          *more)
        expect(done.returncode == (0 if done.stdout else 1), done.stderr)
        expect(done.stdout or "did not become true" in done.stderr,
               done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def all(self, condition, *more):
        return self.ask(condition, "--limit=0", *more)

    def begin(self):
        self.program = os.path.join(self.folder, "conditions")
        self.trace = self.program + ".cpr"
        subprocess.run([*self.options.cc.split(), "-g", "-O0", "-pthread",
                        "-o", self.program, SOURCE], check=True, timeout=120)
        done = self.cprec("record", "-o", self.trace, "--segment=20k",
                          self.program)
        self.said = dict(line.split() for line in done.stdout.splitlines())

    def gdb_places(self, places, program=None):
        done = subprocess.run(
            ["gdb", "-q", "-batch", *GDB_NAMES,
             "-ex", f"python when_places = {places!r}",
             "-x", os.path.join(HERE, "when_gdb.py"), program or self.program],
            capture_output=True, text=True, timeout=250)
        found = [json.loads(line[6:]) for line in done.stdout.splitlines()
                 if line.startswith("FOUND ")]
        expect(len(found) == len(places), done.stdout + done.stderr)
        return found

    # ------- memory -------

    def first_and_last(self):
        times = self.all("counter % 100 == 37")
        equal(len(times), 10, "times")
        equal({time["line"] for time in times}, {line_of("/* counted */")},
              "lines")
        equal(self.ask("counter % 100 == 37"), times[:1], "first")
        equal(self.ask("counter % 100 == 37", "--last"), times[-1:], "last")
        equal(times[0]["values"][0]["value"], "37", "value")
        at = times[3]["at"]
        for more, value in ((0, "336"), (1, "337")):
            done = self.cprec("query", self.trace, "--json", "--addr=counter",
                              f"--at={at + more}")
            equal(json.loads(done.stdout)["value"], value, "query")
        equal(self.all("counter % 100 == 37", f"--from={at}",
                       f"--to={times[6]['at']}"), times[3:6], "a part")
        equal(self.all("counter % 100 == 37", f"--to={at}"), times[:3], "to")
        equal(self.ask("counter == -5"), [], "never")

    def chains(self):
        """A pointer leads elsewhere; null is not known, and so not true."""
        times = self.all("cursor->id % 7 == 0")
        equal(len(times), int(self.said["sevens"]), "of the cursor")
        equal({(time["function"]) for time in times}, {"walk"}, "function")
        equal(len(self.all("head->next->next->id == 21")), 1, "of the list")
        equal(len(self.all("head && head->next && head->next->id == 21")), 1,
              "with guards")
        equal(len(self.all("!(head && head->next) || head->id > 100")), 1,
              "turned around")
        equal(len(self.all("cursor->weight < 2.5 && cursor->high > 2")), 1,
              "numbers of all kinds")
        equal(len(self.all("cursor == 0 && counter == 1000")), 2,
              "before and behind the walk")

    def watchpoint(self):
        """What a software watchpoint of gdb sees, up to walk(): each of its
        instructions is a stop, and gdb 16 has those of threads, too."""
        condition = "head->id % 9 == 0 && head->low > 10"
        done = subprocess.run(
            ["gdb", "-q", "-batch", "-ex", "set can-use-hw-watchpoints 0",
             "-ex", "break build", "-ex", "run", "-ex",
             f"watch (head && {condition})", "-ex", "tbreak walk",
             "-ex", "python while gdb.selected_frame().name() != 'walk':"
             " gdb.execute('continue')", self.program],
            capture_output=True, text=True, timeout=250)
        begun = re.findall(r"Old value = 0\s+New value = 1", done.stdout)
        expect(begun, done.stdout + done.stderr)
        times = self.all(condition, "--to=50%")
        equal(len([time for time in times if time["function"] == "build"]),
              len(begun), "times")

    def threads(self):
        times = self.all("shared == 7000")
        equal([str(time["thread"]) for time in times],
              [self.said["crossed"]], "who")
        equal(len(self.all("own == 3", "--in=count")), 2, "of each its own")
        both = self.all("shared % 100 == 0")
        equal(len(both), 100, "of both")
        parts = [self.all("shared % 100 == 0", f"--thread={tid}")
                 for tid in sorted({time["thread"] for time in both})]
        equal(sorted(sum(parts, []), key=lambda time: time["at"]), both,
              "of each")

    def mapped_anew(self):
        times = self.all("*(char *)0x10000009 == 2")
        equal([time["function"] for time in times], ["map_anew"], "written")
        times = self.all("*(char *)0x10000009 == 0")
        equal([time["by"] for time in times], ["mmap()"] * 3, "mapped")

    def by_a_call(self):
        times = self.all("input[0] == 'r' && input[4] == 'y'")
        equal([time["by"] for time in times], ["read()"], "by a call")

    # ------- functions, lines, registers -------

    def places(self):
        """A conditional breakpoint at a line."""
        step, higher = line_of("/* step */"), line_of("/* higher */")
        asked = [(f"conditions.c:{step}", "steps == 7"),
                 (f"conditions.c:{step}", "number > 20"),
                 (f"conditions.c:{step}", "number == 1"),
                 (f"conditions.c:{higher}", "peak % 3 == 1")]
        for place, condition, lines in self.gdb_places(asked):
            times = self.all(condition, f"--in={place}")
            expect(lines, "gdb found nothing")
            equal([time["line"] for time in times], lines, condition)

    def functions(self):
        """Where variables are declared is known: each call by itself."""
        highest = self.all("peak > 100")
        equal({time["function"] for time in highest}, {"collatz"}, "function")
        peaks = []
        for number in range(1, 20):
            peak = number
            while number != 1:
                number = 3 * number + 1 if number % 2 else number // 2
                peak = max(peak, number)
            peaks.append(peak)
        done = [time for time in self.all("number == 1", "--in=collatz")]
        equal(len(done), len(peaks), "calls")
        equal(self.ask("number == 1", "--last"), done[-1:], "last")
        equal(len(self.all("i == 5", "--in=build")), 1, "begun")
        began = self.all("steps == 0", "--in=collatz")
        equal(len(began), len(peaks), "begun")
        equal({time["values"][0].get("before") for time in began}, {None},
              "before")
        failed = self.cprec("when", self.trace, "--expr=i == 3")
        expect(failed.returncode == 1 and "build" in failed.stderr and
               "main" in failed.stderr and "--in" in failed.stderr,
               failed.stderr)

    def registers(self):
        entered = self.all("$rip == collatz", "--to=50%")
        calls = self.cprec("calls", self.trace, "--json", "collatz")
        equal([time["at"] for time in entered],
              [json.loads(line)["at"] for line in calls.stdout.splitlines()],
              "entries")
        argument = self.all("$rip == collatz && $rdi == 7", "--to=50%")
        equal(len(argument), 1, "an argument")
        done = self.cprec("registers", self.trace, "--json", "rdi",
                          f"--at={argument[0]['at']}")
        expect('"7"' in done.stdout or "7" in done.stdout, done.stdout)
        equal(self.ask("$rip == collatz", "--last", "--to=50%"),
              entered[-1:], "last")

    # ------- what cannot be -------

    def messages(self):
        for words, status, text in (
                (("--expr=nosuch == 1",), 1, "nosuch"),
                (("--expr=counter ==",), 1, "missing"),
                (("--expr=head->nix",), 1, "nix"),
                ((), 2, "--expr"),
                (("--expr=counter", "--in=nosuch"), 1, "nosuch"),
                (("--expr=own == 3",), 1, "--in"),
                (("--expr=counter == 0",), 1, "already"),
                (("--expr=$rax == nosuch",), 1, "cannot find a symbol"),
                (("--expr=node->nix > 3", "--in=build"), 1,
                 "no member 'nix'"),
                (("--expr=node[0] == 1", "--in=build"), 1, "no number"),
                (("--expr=counter = 3",), 1, "write '=='"),
                (("--expr=libc.so.6!nosuch == 3",), 1, "libc.so.6!nosuch"),
                (("--expr=libc.so.6!environ == 3",), 1, "not become true"),
                (("--expr=$zzz == 3",), 1, "rsp, r8 to r15, rip")):
            done = self.cprec("when", self.trace, *words)
            equal(done.returncode, status, words)
            expect(text in done.stderr, done.stderr)
        self.never_computed()
        first = line_of("static void build") + 1
        for words, text in (
                (("calls", "colatz"), "did you mean 'collatz'"),
                (("log", "conditions.c:1"), f"that has some is {first};"),
                (("log", "conditions.c:9999"), "the last line that has"),
                (("log", "nosuch.c:1"), "no such file"),
                (("last", "--register=rxa"), "did you mean 'rax'"),
                (("calls", "build", "--thread=5"), "has no thread 5"),
                (("log", "build", "--thread=5"), "has no thread 5"),
                (("when", "--expr=counter > 3", "--thread=5"),
                 "has no thread 5"),
                (("last", "--addr=counter", "--thread=5"), "has no thread 5"),
                (("query", "--addr=counter", "--thread=5"), "has no thread 5"),
                (("writes", "--addr=counter", "--from=end", "--to=start"),
                 "--from is behind --to")):
            done = self.cprec(words[0], self.trace, *words[1:])
            equal(done.returncode, 1, words)
            expect(text in done.stderr.replace("\n", ";"), done.stderr)

    def other_first(self):
        """Where the program is known, not in the one that becomes it."""
        trace = os.path.join(self.folder, "other.cpr")
        self.cprec("record", "-q", "-o", trace, "/usr/bin/env", self.program)
        for condition, said in (("counter = 3", "write '=='"),
                                ("counter >", "missing at the end"),
                                ("nosuch > 1", "cannot find a symbol")):
            done = self.cprec("when", trace, "--expr=" + condition)
            equal(done.returncode, 1, condition)
            expect(said in done.stderr, done.stderr)

    def never_computed(self):
        """Also while the replay runs, of several threads."""
        for text, words in (
                ("cannot find a symbol 'nosuch'", ("--expr=$rax == nosuch",)),
                ("cannot find a symbol 'nosuch'",
                 ("--expr=$rax == nosuch", "--from=90%")),
                ("no member 'nix'", ("--expr=node->nix > 3", "--in=build")),
                ("'nosuch'", ("--expr=number == nosuch", "--in=collatz")),
                # Where the left side decides.
                ("cannot find a symbol 'nosuch'",
                 ("--expr=counter == -1 && nosuch == 3",)),
                ("cannot find a symbol 'nosuch'",
                 ("--expr=$rax == 987654321 && nosuch",)),
                ("no member 'nix'", ("--expr=counter == -1 && node->nix",
                                     "--in=build")),
                ("no member 'nix'", ("--expr=counter == -1 && head->nix",)),
                ("no member 'nix'",
                 ("--expr=counter == -1 && head->next->next->nix > 3",)),
                ("in what is no structure",
                 ("--expr=counter == -1 ? counter.nix : 0",))):
            done = self.cprec("when", self.trace, *words)
            equal((done.returncode, done.stdout), (1, ""), words)
            expect(text in done.stderr, done.stderr)
            expect("did not become" not in done.stderr, done.stderr)
        calls = self.cprec("calls", self.trace, "--json", "build").stdout
        at = json.loads(calls.splitlines()[0])["at"]
        done = self.cprec("query", self.trace, "--addr=node", f"--at={at}")
        expect("'node' is a variable of build that does not exist at this"
               " line" in done.stderr, done.stderr)
        tid = self.all("shared == 7000")[0]["thread"]
        done = self.cprec("when", self.trace, f"--thread={tid}",
                          "--expr=counter == 1000 && own == 3")
        equal(done.returncode, 1, done.stderr)

    def scopes(self):
        """Names with their scopes, also where the left side decides."""
        source = os.path.join(os.path.dirname(SOURCE), "scopes.cpp")
        program = os.path.join(self.folder, "scopes")
        trace = program + ".cpr"
        subprocess.run(["c++", "-g", "-O0", "-o", program, source],
                       check=True, timeout=120)
        done = self.cprec("record", "-o", trace, program)
        equal(done.stdout, "5 10 15\n", "printed")
        for condition, shown in (
                ("app::counter == 3", "2 -> 3"),
                ("::app::counter == 3", "2 -> 3"),
                ("3 == app::counter", "2 -> 3"),
                ("(app::in::deep == 4)", "2 -> 4"),
                ("app::cache<int>::hits == 9", "6 -> 9"),
                ("app::counter > 2 && app::in::deep == 6", "4 -> 6"),
                ("app::counter > 2 && app::cache<int>::hits == 9", "6 -> 9"),
                ("app::counter < 3 ? 0 : app::cache<int>::hits == 9",
                 "6 -> 9")):
            done = self.cprec("when", trace, "--expr=" + condition)
            equal((done.returncode, done.stderr), (0, ""), condition)
            equal(len(done.stdout.splitlines()), 1, condition)
            expect(shown in done.stdout, f"{condition}: {done.stdout}")
        done = self.cprec("when", trace,
                          "--expr=app::counter < 0 && app::nosuch == 1")
        equal(done.returncode, 1, done.stdout)
        expect("app::nosuch" in done.stderr, done.stderr)

    def passed(self):
        """A parameter that only the caller knows, as gdb has it natively."""
        source = os.path.join(os.path.dirname(SOURCE), "passed.c")
        program = os.path.join(self.folder, "passed")
        trace = program + ".cpr"
        subprocess.run([*self.options.cc.split(), "-g", "-O2", "-o", program,
                        source], check=True, timeout=120)
        self.cprec("record", "-q", "-o", trace, program)
        place = f"passed.c:{line_of('/* behind */', source)}"
        for condition, numbers in (
                ("number == 7", [7]), ("number > 6", [7, 10, 13, 16]),
                ("number % 2 == 0 && number > 4", [10, 16])):
            lines, = self.gdb_places([(place, condition)], program)
            done = self.cprec("when", trace, "--json", "--limit=0",
                              f"--in={place}", "--expr=" + condition)
            found = [json.loads(line) for line in done.stdout.splitlines()]
            equal([time["line"] for time in found], lines[2],
                  f"{condition}, {done.stderr}")
            expect({int(time["values"][0]["value"]) for time in found} <=
                   set(numbers), f"{condition}: {found}")
            plain = self.cprec("debug", "--plain", trace, text=
                               f"break {place} if {condition}\n" +
                               (len(numbers) + 1) * "continue\n").stdout
            equal(re.findall(r"^Breakpoint 1, work .*number@entry=(\d+)",
                             plain, re.M),
                  [str(number) for number in numbers],
                  f"--plain, {condition}")

    def hidden(self):
        """A variable that the function has is meant, not one of its name that
        another module has for itself; else as the language has it."""
        program = os.path.join(self.folder, "scopes")
        trace = program + ".cpr"
        where = os.path.dirname(SOURCE)
        compiler = [*self.options.cc.split(), "-g", "-O0"]
        subprocess.run([*compiler, "-shared", "-fPIC", "-o",
                        f"{self.folder}/libhides.so", f"{where}/hides.c"],
                       check=True, timeout=120)
        subprocess.run([*compiler, "-o", program, f"{where}/other.c",
                        f"{where}/scopes.c", f"-L{self.folder}", "-lhides",
                        f"-Wl,-rpath,{self.folder}"], check=True, timeout=120)
        self.cprec("record", "-q", "-o", trace, program)
        lines = {}
        with open(f"{where}/scopes.c", encoding="utf-8") as source:
            for number, text in enumerate(source, 1):
                found = re.search(r"/\* (\w+) \*/", text)
                lines[found and found.group(1)] = number

        def ask(*words):
            done = self.cprec("when", trace, "--json", "--limit=0", *words)
            return [json.loads(line) for line in done.stdout.splitlines()], \
                done.stderr
        for mark, condition in (("sum", "c == 7"), ("after", "later == 15"),
                                ("sum", "mine == 5"), ("sum", "lonely == 4"),
                                ("sum", "shared == 2")):
            place = f"scopes.c:{lines[mark]}"
            expected = self.gdb_places([(place, condition)], program)[0][2]
            found, _ = ask(f"--in={place}", "--expr=" + condition)
            equal([time["line"] for time in found], expected, condition)
        found, _ = ask("--in=inner", "--expr=c == 7")
        equal([time["values"][0]["value"] for time in found], ["7"] * 3,
              "in its block")
        for condition in ("later == 7", "mine == 101", "c == 77"):
            found, said = ask("--in=inner", "--expr=" + condition)
            expect(not found and "did not become true" in said, said)
        for words in (("--in=inner",), ("--in=main",)):
            found, said = ask(*words, "--expr=e == 7")
            expect(not found and "'hides.c'::e" in said, said)
        found, said = ask("--expr=e == 7")
        expect(not found and re.search("'hides.c'::e|'e' is no variable of"
                                       " the program", said), said)
        found, _ = ask("--expr='hides.c'::e == 7")
        equal(len(found), 1, "its own name")
        found, _ = ask("--in=use_own", "--expr=c == 7")
        equal(len(found), 1, "in its unit")

    def optimized(self):
        """Functions that have no code of their own are asked where they were
        inlined; a variable may be in a register."""
        program = os.path.join(self.folder, "optimized")
        trace = program + ".cpr"
        subprocess.run([*self.options.cc.split(), "-g", "-O2", "-pthread",
                        "-o", program, SOURCE], check=True, timeout=120)
        self.cprec("record", "-o", trace, program)
        code = subprocess.run(["nm", program], capture_output=True, text=True,
                              check=True).stdout
        expect(" build" not in code and " walk" not in code, "not inlined")
        done = self.cprec("when", trace, "--json", "--expr=times == 3")
        equal(json.loads(done.stdout)["function"], "walk", done.stderr)
        done = self.cprec("when", trace, "--expr=i == 3")
        equal(done.returncode, 1, done.stdout)
        expect("build" in done.stderr and "--in" in done.stderr, done.stderr)
        done = self.cprec("calls", trace, "walk")
        expect("'walk': it was inlined in main" in done.stderr, done.stderr)
        calls = self.cprec("calls", trace, "--json", "count").stdout
        done = self.cprec("last", trace, "--addr=unused",
                          f"--at={json.loads(calls.splitlines()[0])['at']}")
        expect("in rdi: 'cprec last --register=rdi'" in done.stderr,
               done.stderr)

    def copies(self, level):
        """Each copy that was inlined, as often as the program's numbers say:
        square() of 1 to 4, twice() of these and of their sum, 30."""
        program = os.path.join(self.folder, "copies" + level)
        trace = program + ".cpr"
        subprocess.run([*self.options.cc.split(), "-g", level, "-o", program,
                        os.path.join(HERE, "programs/calls/inlined.c")],
                       check=True, timeout=120)
        self.cprec("record", "-o", trace, program)
        for function, condition in (
                ("square", "n == 3"), ("square", "sum == 16"),
                ("twice", "n == 3"), ("twice", "n == 30"),
                ("twice", "sum == 60")):
            done = self.cprec("when", trace, "--json", "--limit=0",
                              f"--in={function}", f"--expr={condition}")
            equal([json.loads(line)["function"]
                   for line in done.stdout.splitlines()], [function],
                  f"{condition} in {function}: {done.stderr}")

    def run(self):
        self.begin()
        self.test("first and last", self.first_and_last)
        self.test("pointers", self.chains)
        self.test("a watchpoint of gdb", self.watchpoint)
        self.test("threads", self.threads)
        self.test("memory mapped anew", self.mapped_anew)
        self.test("a system call", self.by_a_call)
        self.test("breakpoints of gdb", self.places)
        self.test("functions", self.functions)
        for level in ("-O0", "-O2"):
            self.test(f"functions that were inlined, {level}", self.copies,
                      level)
        self.test("registers", self.registers)
        self.test("messages", self.messages)
        self.test("another program first", self.other_first)
        self.test("scopes", self.scopes)
        self.test("what callers pass", self.passed)
        self.test("hidden variables", self.hidden)
        self.test("optimized functions", self.optimized)
        return self.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--cc", default="cc")
    sys.exit(main(lambda options, folder: When(options, folder).run(),
                  parser=PARSER))
