#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The program alone, copied into a folder of its own: it has all that it needs.

usage: copied.py --cprec C

gdb gets its commands out of the program.  What is called "gdb" in PATH is gdb only
if it can be executed.  Speaks TAP.
"""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from dap_client import Client  # noqa: E402
from tap import CprecTap, equal, expect, main  # noqa: E402

SOURCE = """static int value;
int main(void)
{
  value = 41;
  value++;
  *(volatile int *)0 = value;
}
"""
NEW = 14            # the first gdb that editors can ask


class Copied(CprecTap):
    def prepare(self):
        """In a folder whose name is no plain word, with nothing beside it."""
        self.place = os.path.join(self.folder, "for me, 'über'")
        os.mkdir(self.place)
        self.program = os.path.join(self.place, "cprec")
        shutil.copy(self.options.cprec, self.program)
        with open(os.path.join(self.place, "crash.c"), "w") as file:
            file.write(SOURCE)
        for command in (["gcc", "-g", "-o", "crash", "crash.c"],
                        [self.program, "record", "-q", "-o", "x.cpr", "./crash"]):
            done = subprocess.run(command, cwd=self.place, capture_output=True,
                                  text=True)
        equal(done.returncode, -11, f"record: {done.stderr}")

    def folder_of(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path, exist_ok=True)
        return path

    def debug(self, *words, path=None):
        """Returns what it prints, its messages and its status."""
        done = subprocess.run(
            [self.program, *words, "x.cpr"], cwd=self.place,
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": path or os.environ["PATH"]}, timeout=120)
        return done.stdout, done.stderr, done.returncode

    def by_gdb(self, command, path=None):
        out, errors, status = self.debug(
            command, *["--batch"] * (command == "debug"), "--ex=goto end",
            "--ex=last value", *["--ex=quit"] * (command == "gdb"), path=path)
        equal(status, 0, errors)
        expect("value: 41 -> 42" in out and "(cprec)" not in errors + out, out)
        expect("own prompt" not in errors, errors)

    def for_editors(self):
        version = re.search(r"(\d+)\.\d+\s*$", subprocess.run(
            ["gdb", "--version"], capture_output=True,
            text=True).stdout.split("\n")[0])
        if int(version[1]) < NEW:
            return f"left out: gdb {version[1]}"
        client = Client([self.program, "dap", "x.cpr"], self.place)
        can = client.ask("initialize", clientID="test", adapterID="cprec")
        equal(can.get("supportsStepBack"), True, "steps back")
        client.server.kill()
        client.server.wait()

    def without_gdb(self, path):
        """Its own prompt; whoever asked for gdb is told what does without."""
        out, errors, status = self.debug("debug", "--batch", "--ex=last value",
                                         path=path)
        equal(status, 0, errors)
        expect("gdb is not installed" in errors and "--plain" in errors, errors)
        expect("value: 41 -> 42" in out, out)
        for command in "gdb", "dap":
            out, errors, status = self.debug(command, path=path)
            equal(status, 127, errors)
            equal(errors, "cprec: gdb is not installed; 'cprec debug --plain' "
                  "needs none\n", command)

    def what_is_no_program(self):
        """A folder of that name, as in a build tree, or a file of text."""
        folder, text = self.folder_of("folder"), self.folder_of("text")
        os.makedirs(os.path.join(folder, "gdb"), exist_ok=True)
        with open(os.path.join(text, "gdb"), "w") as file:
            file.write("This is no program.\n")
        self.without_gdb(folder)
        self.without_gdb(f"{folder}:{text}")
        self.by_gdb("debug", f"{folder}:{text}:{os.environ['PATH']}")
        for name, why, status in (
                (os.path.join(folder, "gdb"), "Is a directory", 126),
                (os.path.join(text, "gdb"), "Permission denied", 126),
                ("/nowhere/gdb", "No such file or directory", 127)):
            for command in "debug", "gdb", "dap":
                _, errors, found = self.debug(command, f"--gdb={name}")
                equal((errors, found),
                      (f"cprec: cannot start {name}: {why}\n", status), command)

    def run(self):
        self.test("a copy, and a program that crashes", self.prepare)
        if self.failed:
            return self.summary()
        for command in "debug", "gdb":
            self.test(command, self.by_gdb, command)
        self.test("dap", self.for_editors)
        self.test("without gdb", self.without_gdb, self.folder_of("none"))
        self.test("what is called gdb", self.what_is_no_program)
        return self.summary()


if __name__ == "__main__":
    sys.exit(main(lambda options, folder: Copied(options, folder).run()))
