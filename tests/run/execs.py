#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A process that becomes another program, and itself again, in one segment:
names, values and what `info` says are those of the program at that time.

usage: execs.py --cprec C --before B --after A

The guests are run/programs/execs/before.c and after.c.  Speaks TAP.
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import Failure, Tap, equal, main  # noqa: E402

WAYS = {
    "in one segment": [],
    "at random addresses": ["--aslr"],
    "in short segments": ["--segment", "5k"],
}


class Tests(Tap):
    def __init__(self, options, folder):
        super().__init__()
        self.cprec = options.cprec
        self.before = options.before
        self.after = options.after
        self.folder = folder

    def run(self, *arguments):
        return subprocess.run([self.cprec, *arguments], capture_output=True,
                              stdin=subprocess.DEVNULL, text=True,
                              timeout=120, cwd=self.folder)

    def record(self, way):
        """before, after, before, after, one program after the other."""
        trace = os.path.join(self.folder, "t.cpr")
        if os.path.exists(trace):
            os.unlink(trace)
        self.arguments = [self.before, self.after, self.before, self.after]
        done = self.run("record", "-o", "t.cpr", *WAYS[way], "--",
                        *self.arguments)
        equal(done.returncode, 0, f"status of record: {done.stderr}")
        done = self.run("verify", "t.cpr")
        equal(done.returncode, 0, f"status of verify: {done.stderr}")
        self.info = json.loads(self.run("info", "--json", "t.cpr").stdout)
        if way == "in one segment":
            equal(self.info["key_frames"], 1, "key frames")

    def programs(self):
        images = self.info["images"]
        equal([image["path"] for image in images], self.arguments, "paths")
        equal([image["program"] for image in images],
              [self.arguments[i:] for i in range(4)], "arguments")
        equal([image["directory"] for image in images], [self.folder] * 4,
              "directories")
        calls = self.run("dump", "--kind=syscall", "t.cpr").stdout
        equal([image["at"] for image in images],
              [0] + [int(t) for t in re.findall(
                  r"^(\d+) +SYSCALL +number=59 name=execve result=0$", calls, re.M)],
              "times")
        text = self.run("info", "t.cpr").stdout
        for image in images[1:]:
            line = (f"{image['path']}, exec at t={image['at']}: "
                    f"{' '.join(image['program'])}\n")
            if line not in text:
                raise Failure(f"no line {line} in:\n{text}")

    def value(self, name, t):
        """What the name held, and its address; None if there is no such."""
        done = self.run("query", "t.cpr", f"--addr={name}", f"--at={t}",
                        "--json")
        answer = json.loads(done.stdout)
        if done.returncode == 0:
            equal(answer["size"], 8, f"size of {name} at {t}")
            return (int.from_bytes(bytes.fromhex(answer["bytes"]), "little"),
                    answer["addr"])
        equal(done.returncode, 1, "status")
        file = name.rpartition("!")[0]
        if (f"cannot find a symbol '{name}'" not in done.stderr and not
                (file and f"cannot find '{name}': no program or library "
                 f"'{file}' is mapped at t={t} " in done.stderr)):
            raise Failure(f"{name} at {t}: {done.stderr}")
        return None

    def has(self, name, t, value):
        found = self.value(name, t)
        if found is None or (value is not None and found[0] != value):
            raise Failure(f"{name} at {t}: {found}, should be {value}")
        return found[1]

    def has_not(self, name, t):
        found = self.value(name, t)
        if found is not None:
            raise Failure(f"{name} at {t} is {found}")

    def one_program(self, number, t, values):
        """`values`: of both, and of its own variable; None: not checked"""
        own, other = (("before", "after"), ("after", "before"))[number % 2]
        addr = self.has("both", t, values[0])
        equal(self.has(f"{own}!both", t, values[0]), addr, "address")
        self.has(f"only_{own}", t, values[1])
        self.has_not(f"only_{other}", t)
        self.has_not(f"{other}!both", t)
        self.has_not(f"{other}!only_{other}", t)
        return addr

    def names(self):
        times = [image["at"] for image in self.info["images"]]
        times.append(self.info["instructions"] + 1)
        places = set()
        for number, start in enumerate(times[:-1]):
            first = 21 if number % 2 else 11
            at_end = (first + 1, 2 * first + 2 + (number % 2) * ord("s"))
            places.add(self.one_program(number, start, (first, first + 1)))
            middle = (start + times[number + 1]) // 2
            self.one_program(number, middle, (None, None))
            places.add(self.one_program(number, times[number + 1] - 1,
                                        at_end))
        if len(places) < 2:
            raise Failure(f"the same address in both: {places}")

    def all_at_once(self):
        """The same out of order, in one run."""
        lines, expected = [], []
        for number, image in list(enumerate(self.info["images"]))[::-1]:
            for t in image["at"], image["at"] - 1:
                if t < 0:
                    continue
                is_after = number % 2 == (t == image["at"])
                lines.append(f"both {t}\n")
                first = 21 if is_after else 11
                expected.append(first + (t != image["at"]))
        done = subprocess.run([self.cprec, "query", "t.cpr", "-", "--json"],
                              input="".join(lines), capture_output=True,
                              text=True, cwd=self.folder, timeout=120)
        equal(done.returncode, 0, f"status: {done.stderr}")
        found = [int.from_bytes(bytes.fromhex(json.loads(line)["bytes"]),
                                "little")
                 for line in done.stdout.splitlines()]
        equal(found, expected, "answers")

    def code(self):
        """The program's own code is named without its file."""
        for image in self.info["images"]:
            if image["path"] != self.after:
                continue
            # It is static: this is where it begins.
            text = self.run("registers", "t.cpr",
                            f"--at={image['at']}").stdout
            if not re.search(r"^ +rip +0x\S+ +0x\S+ <_start>$", text, re.M):
                raise Failure(f"not at _start:\n{text[:1200]}")


def run_all(options, folder):
    tests = Tests(options, folder)
    for way in WAYS:
        tests.test(f"{way}: record", tests.record, way)
        tests.test(f"{way}: programs", tests.programs)
        tests.test(f"{way}: names", tests.names)
        tests.test(f"{way}: names out of order", tests.all_at_once)
        tests.test(f"{way}: code", tests.code)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "before", "after"))
