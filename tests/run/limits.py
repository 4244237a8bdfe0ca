#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A shell's resource limits are its own: programs behave as they do natively,
recorded with their children and without, and the recordings verify.

usage: limits.py --cprec C

Speaks TAP.
"""
import os
import re
import resource
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, main, recordings  # noqa: E402

SCRIPTS = {
    "all memory": "ulimit -v 500000; /bin/echo hi; echo $?",
    "all memory, of a large program":
        "ulimit -v 500000; /usr/bin/python3 -c 'print(1)'; echo $?",
    "too little memory for libraries":
        "ulimit -v 1500; /bin/ls -d /; echo $?",
    "too little memory for a program":
        "ulimit -c 0 -v 350; /bin/ls -d /; echo $?",
    "data": "ulimit -d 20000; /bin/echo hi; echo $?",
    "too little data": "ulimit -d 200; /bin/ls -d /; echo $?",
    "size of files": "ulimit -f 100; echo x >x; /bin/ls -d /; echo $?",
    "a file that is too large":
        "ulimit -c 0 -f 1; head -c 5000 /dev/zero >y; echo $?; wc -c y",
    "a file that is too large, without the signal":
        "trap '' XFSZ; ulimit -f 1; head -c 5000 /dev/zero >y; echo $?",
    "descriptors":
        "ulimit -n 5; cat /dev/null; echo $?; exec 3<x; cat /dev/null 4<x; "
        "echo $?; (echo sub); echo $?",
    "all at once":
        "ulimit -v 900000 -d 90000 -f 100 -n 20 -s 1000; "
        "/bin/sh -c 'ls -d / | cat'; echo $?; ulimit -n; ulimit -v; ulimit -f",
    "what is shown":
        "ulimit -f 9 -n 40; grep -E 'file|space|data|stack' /proc/self/limits",
}

TAKES_ALL = """
import os
try:
    while True:
        os.dup(0)
except OSError as error:
    print(error, flush=True)
child = os.fork()
if not child:
    os.write(1, b"child\\n")
    os._exit(3)
print(os.waitpid(child, 0)[1])
"""


class Tests(CprecTap):
    def run(self, *command):
        done = subprocess.run(
            [*command, "bash", "-c", self.script], capture_output=True,
            stdin=subprocess.DEVNULL, text=True, timeout=120, cwd=self.folder)
        # A shell names a process that a signal has ended by its number.
        said = re.sub(r"(line \d+: +)\d+ ", r"\1", done.stderr)
        said = re.sub(r"cprec: note: process \d+ is not recorded: .*"
                      "Too many open files\n", "", said)
        return done.returncode, done.stdout, said

    def like_native(self, script, how):
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        with open(os.path.join(self.folder, "x"), "w"):
            pass
        self.script = script
        native = self.run()
        recorded = self.run(self.options.cprec, *how)
        for found, expected, what in zip(recorded, native,
                                         ("status", "output", "messages")):
            equal(found, expected, what)
        if not os.path.exists(os.path.join(self.folder, "t.cpr")):
            return
        for trace in recordings(os.path.join(self.folder, "t.cpr")):
            done = self.cprec("verify", "-q", trace)
            equal(done.returncode, 0, f"verify {trace}: {done.stderr}")

    def little_space(self):
        """Recordings are read with little address space, and say the same."""
        trace = os.path.join(self.folder, "t.cpr")
        done = self.cprec("record", "-q", "-o", trace, "/usr/bin/python3",
                          "-c", "import json, re, argparse")
        equal(done.returncode, 0, done.stderr)
        for question in (["info"], ["info", "--json"], ["dump", "--segment=1"],
                         ["verify", "-q"],
                         ["query", "--addr=environ", "--at=end"],
                         ["registers", "--at=50%"]):
            command = [self.options.cprec, question[0], trace, *question[1:]]
            expected = None
            for limit in 8 << 30, 4000000 << 10, 400000 << 10:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=60,
                    preexec_fn=lambda: resource.setrlimit(
                        resource.RLIMIT_AS, (limit, limit)))
                said = done.returncode, done.stdout, done.stderr
                expected = expected or (0, said[1], "")
                equal(said, expected, f"{question} with {limit >> 10} KB")

    def no_descriptor(self):
        """None is free that cprec could have, and one more process then: it
        runs unrecorded, if need be."""
        self.like_native(f"/usr/bin/python3 -c '{TAKES_ALL}'",
                         ["record", "-o", "t.cpr", "--"])

    def all_descriptors(self):
        """All that the shell may have from its start on, which cprec has, too,
        and one more process then."""
        self.script = ("for i in {3..70}; do eval \"exec $i<x\" || break; "
                       "done 2>&1; (echo sub); echo $?; ulimit -n")
        self.like_native(self.script, ["record", "-o", "t.cpr", "--"])


def run_all(options, folder):
    tests = Tests(options, folder)
    for name, script in SCRIPTS.items():
        for how in ([], ["--no-children"]):
            tests.test(" ".join([name, *how]), tests.like_native, script,
                       ["record", "-o", "t.cpr", *how, "--"])
    tests.test("little address space", tests.little_space)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, hard))
    tests.test("all descriptors", tests.all_descriptors)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    tests.test("no descriptor is free", tests.no_descriptor)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
