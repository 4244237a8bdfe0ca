#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What shells complete.

usage: completion.py --cprec C --script S

S is the script for bash, which is asked as it asks when a key is pressed.
Speaks TAP.
"""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

ASK = """set -f
PATH=$1:$PATH
. "$2"
COMP_LINE=$3 COMP_POINT=${#3}
compopt() { :; }
_cprec
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Tests(CprecTap):
    def make(self):
        done = subprocess.run(
            [self.options.cprec, "record", "-o", "t.cpr", "/bin/true"],
            cwd=self.folder)
        equal(done.returncode, 0, "record")
        done = self.cprec("info", "--json", f"{self.folder}/t.cpr")
        self.tid = done.stdout.split('"thread":')[1].split(",")[0]

    def ask(self, line):
        done = subprocess.run(
            ["bash", "-c", ASK, "bash", os.path.dirname(self.options.cprec),
             self.options.script, line],
            cwd=self.folder, capture_output=True, text=True, timeout=60)
        equal(done.stderr, "", "errors")
        return [word for word in done.stdout.split("\n") if word]

    def gives(self, line, *words):
        equal(self.ask(line), list(words), line)

    def has(self, line, *words):
        found = self.ask(line)
        for word in words:
            expect(word in found, f"{line}: {word} is not in {found}")

    def variables(self):
        """The program's own come first; behind a dot, members."""
        with open(f"{self.folder}/own.c", "w", encoding="utf-8") as file:
            file.write("struct stats { int done; struct stats *next; struct {"
                       " int deep; }; } stats, strange;"
                       " int main(void) { stats.next = &strange;"
                       " return stats.done + strange.deep; }\n")
        subprocess.run(["gcc", "-g", "-o", "own", "own.c"], cwd=self.folder,
                       check=True)
        subprocess.run([self.options.cprec, "record", "-q", "-o", "own.cpr",
                        "--", "./own"], cwd=self.folder, check=True)
        ask = "cprec query own.cpr --addr="
        self.gives(ask + "sta", "stats")
        self.gives(ask + "&st", "&stats", "&strange")
        self.gives(ask + "stats.d", "stats.done", "stats.deep")
        self.gives(ask + "stats.next->ne", "stats.next->next")
        self.gives(ask + "stats.other")
        self.gives(ask + "strtoumax", "strtoumax")
        self.has(ask, "stats", "main", "libc.so.6!")
        self.gives("cprec query --format=", *"xduotcfsa", "raw")

    def functions(self):
        """Of the program, as calls, log and when --in take them; in C++ without
        the types of arguments, once; of libraries, where it has none."""
        with open(f"{self.folder}/calls.cc", "w", encoding="utf-8") as file:
            file.write("namespace shop { int total; struct Server { int"
                       " serve(int n) { return n; } int serve(long n) {"
                       " return n; } }; }\nint settle(int n) { return n; }\n"
                       "int main() { shop::Server s; return s.serve(1) -"
                       " (int)s.serve(1L) + settle(shop::total); }\n")
        subprocess.run(["g++", "-g", "-O0", "-o", "calls", "calls.cc"],
                       cwd=self.folder, check=True)
        subprocess.run([self.options.cprec, "record", "-q", "-o", "calls.cpr",
                        "--", "./calls"], cwd=self.folder, check=True)
        for command in "calls calls.cpr ", "log calls.cpr ", \
                "when calls.cpr --in=", "calls calls.cpr main ", "log ":
            self.gives(f"cprec {command}set", "settle")
        # bash replaces only what follows the last colon.
        self.gives("cprec calls calls.cpr shop::S", "Server::serve")
        self.has("cprec calls calls.cpr ", "main", "settle")
        self.gives("cprec calls calls.cpr strtouma", "strtoumax")
        self.gives("cprec calls calls.c", "calls.cpr")
        self.gives("cprec when calls.cpr --expr=shop::to", "total")

    def threads(self):
        self.gives("cprec info --thread=", self.tid, "all")
        self.gives("cprec info t.cpr --pid=", self.tid, "true")
        self.gives("cprec info --thread ", self.tid, "all")
        self.has("cprec query --at=", "start", f"{self.tid}:")


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("a recording", tests.make)
    for line, *words in (
            ("cprec ver", "verify", "version"),
            ("cprec help du", "dump"),
            ("cprec info --ver", "--verbose"),
            ("cprec query --addr=environ", "environ"),
            ("cprec query t.cpr --addr=libc.so.6!environ",
             "libc.so.6!environ"),
            ("cprec dump --kind=SYS", "SYSCALL"),
            ("cprec races --p", "--pid="),
            ("cprec record --schedule=r", "random"),
            ("cprec info t", "t.cpr"),
            ("cprec record -o t", "t.cpr")):
        tests.test(line, tests.gives, line, *words)
    for line, *words in (
            ("cprec ", "record", "query", "help"),
            ("cprec query --", "--addr=", "--json", "--help"),
            ("cprec query --addr=lib", "libc.so.6!"),
            ("cprec query --at ", "start", "end", "output:"),
            ("cprec record l", "ls", "ln"),
            ("cprec record -q -- l", "ls")):
        tests.test(line, tests.has, line, *words)
    tests.test("threads", tests.threads)
    if shutil.which("gcc"):
        tests.test("variables", tests.variables)
    if shutil.which("g++"):
        tests.test("functions", tests.functions)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "script"))
