#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How commands are asked: a recording that is not named, mistyped words.

usage: command_line.py --cprec C

Speaks TAP.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

ANSWERED, FAILED, USAGE = 0, 1, 2


class Tests(CprecTap):
    def here(self, *arguments, folder=None, text=None):
        return subprocess.run([self.options.cprec, *arguments], text=True,
                              capture_output=True, timeout=120, input=text,
                              cwd=folder or self.folder)

    def none(self):
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty)
        # Neither a folder nor something else is a recording.
        os.mkdir(os.path.join(empty, "folder.cpr"))
        open(os.path.join(empty, "other.txt"), "w").close()
        found = self.here("info", folder=empty)
        equal(found.returncode, FAILED, "status")
        equal(found.stderr, "cprec: no FILE is given, and no recording"
              " (*.cpr) is in this folder\n", "message")

    def one(self):
        equal(self.here("record", "/bin/true").returncode, 0, "record")
        named = self.here("info", "trace.cpr")
        found = self.here("info")
        equal(found.returncode, ANSWERED, "status")
        equal(found.stderr, "", "message")
        equal(found.stdout, named.stdout, "answer")

    def newest(self):
        equal(self.here("record", "-o", "b.cpr", "/bin/echo", "b").returncode,
              0, "record")
        os.utime(os.path.join(self.folder, "trace.cpr"), (1, 1))
        found = self.here("replay")
        equal((found.returncode, found.stdout), (ANSWERED, "b\n"), "answer")
        equal(found.stderr, "cprec: note: 'b.cpr' is taken, the newest of 2"
              " recordings here\n", "note")
        os.utime(os.path.join(self.folder, "b.cpr"), (0, 0))
        found = self.here("replay")
        equal((found.returncode, found.stdout), (ANSWERED, ""), "answer")

    def every_command(self):
        """All that ask a recording, with its name and without."""
        os.unlink(os.path.join(self.folder, "b.cpr"))
        for words in (["info", "--json"], ["replay"], ["verify"], ["races"],
                      ["dump", "--kind=SYSCALL"],
                      ["query", "--addr=environ", "--at=50%"],
                      ["query", "--registers", "--at=end"]):
            named = self.here(*words[:1], "trace.cpr", *words[1:])
            found = self.here(*words)
            what = " ".join(words)
            equal(named.returncode, ANSWERED, what)
            equal((found.returncode, found.stdout, found.stderr),
                  (ANSWERED, named.stdout, named.stderr), what)

    def lines(self):
        named = self.here("query", "trace.cpr", "-", text="environ 50%\n")
        found = self.here("query", "-", text="environ 50%\n")
        equal((found.returncode, found.stdout), (0, named.stdout), "answer")

    def meant(self, typed, message):
        found = self.here(*typed)
        equal(found.returncode, USAGE, "status")
        expect(message in found.stderr, found.stderr)


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("no recording is here", tests.none)
    tests.test("the only recording here", tests.one)
    tests.test("the newest recording here", tests.newest)
    tests.test("every command", tests.every_command)
    tests.test("lines of standard input", tests.lines)
    for typed, message in (
            (["recrod", "true"], "(did you mean 'record'?)"),
            (["info", "--verbos", "--jsn"], "(did you mean '--json'?)"),
            (["record", "--no-childern", "true"],
             "(did you mean '--no-children'?)"),
            (["query", "--adr=5"], "(did you mean '--addr'?)")):
        tests.test(" ".join(typed), tests.meant, typed, message)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
