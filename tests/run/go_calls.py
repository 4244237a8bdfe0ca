#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Go: what functions are called with and return, as the program itself says it;
variables, as gdb sees them natively.

usage: go_calls.py --cprec C

The program is programs/go/calls.go, with and without optimization, and for
AArch64.  Without Go, all is left out.  Speaks TAP.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs",
                      "go", "calls.go")
# Options of the compiler, and the architecture, if it is not the host's.
WAYS = {"AArch64": ("", {"GOARCH": "arm64"}), "optimized": ("", {}),
        "plain": ("-N -l", {})}

# What the source calls functions with.
ARGUMENTS = {
    "main.add": "2 3", "main.div": "17 5", "main.name": "4",
    "main.half": "5 3", "main.mix": "{1 2.5 s} {3 4}",
    "main.huge": "{{1 2 3 4 5}} 7", "main.list": "3",
    "main.many": "1 2 3 4 5 6 7 8 9 10 11",
    "main.floats": "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
    "main.flag": "true 4", "main.array": "{1} {2 3} {} {}",
    "main.unnamed": "6 7", "main.look": "3 a",
}


def line_of(mark):
    with open(SOURCE, encoding="utf-8") as source:
        return next(number for number, text in enumerate(source, 1)
                    if mark in text)


def plain(text):
    """A value as Go's Print has it, with braces for brackets."""
    text = re.sub(r"<[^<>]*>", "", text)
    text = re.sub(r"\[\]\w+ = |\b\w+ ?= ?|\"", "", text)
    text = re.sub(r"(\d+) \+ (\d+)i", r"(\1+\2i)", text)
    return text.replace(",", "").replace("[", "{").replace("]", "}")


class Go(CprecTap):
    def begin(self, way):
        self.program = os.path.join(self.folder, way)
        self.trace = self.program + ".cpr"
        flags, other = WAYS[way]
        subprocess.run(["go", "build", "-gcflags=" + flags, "-o",
                        self.program, SOURCE], check=True, timeout=250,
                       capture_output=True,
                       env={**os.environ, "GOFLAGS": "", "GO111MODULE": "off",
                            "GOCACHE": os.path.join(self.folder, "cache"),
                            **other})
        done = self.cprec("record", "-q", "-o", self.trace, self.program)
        self.said = [line.split("|") for line in done.stdout.splitlines()]
        expect(self.said, done.stderr)
        if other:
            return
        natively = subprocess.run(self.program, capture_output=True,
                                  text=True, check=True)
        equal(sorted(self.said), sorted(
            line.split("|") for line in natively.stdout.splitlines()),
            "printed")

    def ours(self, command, *words):
        done = self.cprec(command, self.trace, "--json", *words)
        expect(done.returncode == 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def results(self):
        """As the program has printed them."""
        for name, *values in self.said:
            found = [call for call in self.ours("calls", name)
                     if call["depth"] == 0]
            said = " ".join(values).replace("[", "{").replace("]", "}")
            text = [plain(call["returned"]["value"]) for call in found]
            if len(values) > 1:
                expect(all(one[0] == "(" and one[-1] == ")" for one in text),
                       f"{name}: {text}")
                text = [one[1:-1] for one in text]
            if name == "main.parse":	# an interface
                text = [one.replace("{0x0 0x0}", "true") for one in text]
            if name == "main.down":
                equal(text, ["200"], name)
            expect(said in text, f"{name}: {text}, said: {said}")
            logged = self.ours("log", f"{name} => $return")
            expect(said in [plain(one["values"][0]["value"]).strip("()")
                            if len(values) > 1 and name != "main.floats" else
                            plain(one["values"][0]["value"])
                            for one in logged] or
                   name in ("main.parse", "main.floats"),
                   f"log {name}: {logged}")
            if name in ARGUMENTS:
                equal([plain(" ".join(value["value"] for value in
                                      found[0]["passed"]))],
                      [ARGUMENTS[name]], name)
        nothing, = self.ours("calls", "main.nothing")
        equal((nothing.get("returned"), len(nothing["passed"])), (None, 1),
              "nothing")

    def names(self):
        """Results have those that the source gives them."""
        call, = self.ours("calls", "main.div")
        equal((call["returned"]["value"], call["returned"]["type"]),
              ("(q=3, r=2)", "(int, int)"), "main.div")
        told = self.cprec("calls", self.trace, "main.(*point).move").stdout
        expect(re.search(r"main\.\(\*point\)\.move\(p=0x\w+, dx=3\) = 7,",
                         told), told)
        told = self.cprec("debug", "--plain", self.trace,
                          text="break main.div\ncontinue\nfinish\n").stdout
        expect("Value returned is (q=3, r=2)\n" in told, told)

    def stacks(self):
        """Calls on stacks that grow, and that threads take turns with."""
        calls = self.ours("calls", "main.down")
        equal([(call["depth"], plain(call["passed"][0]["value"]),
                call["returned"]["value"]) for call in calls],
              [(depth, str(200 - depth), str(200 - depth))
               for depth in range(201)], "main.down")
        calls = self.ours("calls", "main.waits", "main.wait")
        equal(sorted(call["returned"]["value"] for call in calls
                     if call["function"] == "main.waits"),
              ["1", "2", "3", "4"], "main.waits")
        equal([(call["function"], "not_returned" in call) for call in calls],
              4 * [("main.wait", False), ("main.waits", False)], "order")

    def variables(self):
        """Where the frame is, debugging information alone says."""
        place = f"calls.go:{line_of('mark: inside')}"
        asked = ("n", "sum", "small", "i", "twice", "at.x", "at.y",
                 "words.len", "words.cap", "text.len")
        logged = self.ours("log", f"{place} => " + ", ".join(asked))
        found = [[plain(value.get("value", "none")) for value in one["values"]]
                 for one in logged]
        commands = [word for one in asked for word in
                    ("-ex", f"output/d {one}", "-ex", "echo \\n")]
        theirs = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", "-iex",
             "set auto-load off", "-iex", "set language c", "-ex",
             f"break {place}", "-ex", "run > /dev/null", *commands, *(2 * ["-ex", "continue",
                                                  *commands]),
             self.program], capture_output=True, text=True, timeout=250)
        values = re.findall(r"^-?\d+$", theirs.stdout, re.M)
        equal([value for one in found for value in one], values,
              f"gdb's, {theirs.stderr}")
        equal([one[3] for one in found], ["0", "1", "2"], "i")
        told = self.cprec("backtrace", self.trace, "--full",
                          f"--at={logged[1]['at']}").stdout
        expect(re.search(r"#0 .*main\.look \(n=3, text=\"a\"", told), told)
        expect(re.search(r"^ +sum = 5$", told, re.M), told)


def run_all(options, folder):
    tests = Go(options, folder)
    if not shutil.which("go"):
        print("1..0 # SKIP there is no go")
        return 0
    for way in WAYS:
        tests.test(f"made, {way}", tests.begin, way)
        tests.test(f"results, {way}", tests.results)
        tests.test(f"names, {way}", tests.names)
        tests.test(f"stacks, {way}", tests.stacks)
    tests.test("variables", tests.variables)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
