#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded processes are found by what they execute: on the host in /proc, and
by each other with the programs that look for processes.

usage: titles.py --cprec C

Speaks TAP.
"""
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import Failure, Tap, equal, main  # noqa: E402

# A child, and then another program in the first process.
EXECS = "FOO=bar {name} 61 & exec {name} 62"

# How to end a program that runs: by each, the shell says so.
ENDS = {
    "pgrep": "kill $(pgrep -f '{name} 63')",
    "pkill": "pkill -f '{name} 63'",
    "pidof": "kill $(pidof {name})",
    "killall": "killall {name}",
    "start-stop-daemon": "start-stop-daemon --stop --quiet --exec {file}",
    "ps": "kill $(ps -eo pid=,args= | grep ' {name} [6]3' | cut -c-8)",
}
END = ("{name} 63 & pid=$!; until cmp -s {file} /proc/$pid/exe; do :; done; "
       "{how}; echo $?; wait $pid; echo $?")


def slurp(path):
    with open(path, "rb") as file:
        return file.read()


class Tests(Tap):
    def __init__(self, cprec, folder):
        super().__init__()
        self.cprec = cprec
        self.folder = folder
        # So that no other process is found.
        self.name = f"titled{os.getpid()}"
        self.file = os.path.join(folder, self.name)
        shutil.copy("/bin/sleep", self.file)
        self.env = dict(os.environ, PATH=f"{os.environ['PATH']}:/usr/sbin:"
                                         f"/sbin:{folder}")

    def wait_for(self, path, expected):
        """Until the file has these bytes."""
        found = None
        for _ in range(600):
            found = slurp(path)
            if found == expected:
                return
            time.sleep(0.05)
        raise Failure(f"{path}: {found!r}, should be {expected!r}")

    def host(self, *how):
        """What the host sees of two processes."""
        first = subprocess.Popen(
            [self.cprec, *how, "/bin/sh", "-c",
             EXECS.format(name=self.name)],
            cwd=self.folder, env=self.env, stderr=subprocess.DEVNULL)
        name = self.name.encode()
        try:
            self.wait_for(f"/proc/{first.pid}/cmdline", name + b"\0" b"62\0")
            children = slurp(f"/proc/{first.pid}/task/{first.pid}/children")
            child = children.split()[0].decode()
            self.wait_for(f"/proc/{child}/cmdline", name + b"\0" b"61\0")
            for pid in first.pid, child:
                equal(slurp(f"/proc/{pid}/comm"), name + b"\n", "name")
            for pid, has in (first.pid, False), (child, True):
                equal(b"FOO=bar" in slurp(f"/proc/{pid}/environ").split(b"\0"),
                      has, "has the environment of the child")
            os.kill(int(child), 15)
        finally:
            first.terminate()
            first.wait(60)

    def end(self, how):
        """One process finds another."""
        names = {"name": self.name, "file": self.file}
        with open(os.path.join(self.folder, how), "w",
                  encoding="ascii") as script:
            script.write(END.format(how=ENDS[how].format(**names), **names))
        said = []
        for before in [], [self.cprec, "run", "--"], [
                self.cprec, "record", "-q", "-o", f"{how}.cpr", "--"]:
            done = subprocess.run([*before, "/bin/bash", script.name],
                                  cwd=self.folder, env=self.env, text=True,
                                  stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=120)
            said.append(done.stdout)
        equal(said, ["0\n143\n"] * 3, "natively, run, recorded")


def run_all(options, folder):
    tests = Tests(options.cprec, folder)
    tests.test("the host, run", tests.host, "run", "--")
    tests.test("the host, recorded", tests.host, "record", "-q", "-o",
               "host.cpr", "--")
    tests.test("the host, children not recorded", tests.host, "record", "-q",
               "--no-children", "-o", "alone.cpr", "--")
    for how in ENDS:
        if shutil.which(how, path=tests.env["PATH"]):
            tests.test(f"found by {how}", tests.end, how)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
