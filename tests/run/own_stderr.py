#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What cprec says while a program runs is on its own standard error, whatever
the program does with descriptor 2; and who reads that waits as long as natively.

usage: own_stderr.py --cprec C --guest G

G does what its arguments say.  Speaks TAP.
"""
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main, recordings  # noqa: E402

WAYS = (("run",), ("record",), ("record", "--no-children"))
NATIVE_WAIT, WAIT = 1.5, 0.5	# seconds for an end that does not come
NOTE = b"cprec: note: system call 9999 is not known: the program gets ENOSYS\n"
FAILED = 125
NOISE = "head", "-c", "20000000", "/dev/urandom"
ROOM = 3_000_000

# Whose file is written to, and what there is on standard error.
WRITES = {
    "the first process": ("close", "file", "A", "note", "B"),
    "... which has replaced its own": ("null", "note", "close", "file", "A",
                                       "B"),
    "a child": ("child", "close", "file", "A", "note", "B"),
    "a child that closes all": ("child", "range", "file", "A", "note", "B"),
    "a child of one that had none": ("close", "child", "file", "A", "note",
                                     "B"),
    "a grandchild": ("child", "close", "child", "file", "A", "note", "B"),
    "a child that executed another program":
        ("child", "exec", "file", "A", "note", "B"),
}

# Processes that live on.  Whether their standard error ends before they do is
# found out natively.
DAEMONS = {
    "that closes its own": ("orphan", "close", "hold", "done"),
    "that replaces it": ("orphan", "null", "hold", "done"),
    "that closes all": ("orphan", "range", "hold", "done"),
    "that executes another program": ("orphan", "exec", "hold", "done"),
    "whose parent had closed its own": ("close", "orphan", "hold", "done"),
    "of a daemon": ("orphan", "orphan", "close", "hold", "done"),
    "that keeps it": ("orphan", "hold", "done"),
    "that keeps a copy": ("orphan", "copy", "close", "hold", "done"),
}


class Tests(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.native = {}    # what daemons do

    def make_empty(self):
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, how, *what, **more):
        self.make_empty()
        before = [self.options.cprec, *how] if how else []
        return subprocess.Popen([*before, *what], cwd=self.folder,
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, **more)

    def writes(self, how, *what, says=NOTE, **more):
        done = self.start(how, self.options.guest, *what,
                          stderr=subprocess.PIPE, **more)
        said = done.communicate(timeout=60)[1]
        equal((done.returncode, said), (0, says), "status and message")
        with open(self.path("guestfile"), "rb") as file:
            equal(file.read(), b"AB", "the program's file")

    # ------- who lives on -------

    def ends_early(self, how, *what, seconds=WAIT):
        """Whether standard error ends before the daemon, and what was said."""
        read, write = os.pipe()
        first = self.start(how, self.options.guest, *what, stderr=write)
        os.close(write)
        equal(first.wait(60), 0, "status of the first process")
        said, ended = b"", False
        until = time.monotonic() + seconds
        while not ended and select.select(
                [read], [], [], max(0, until - time.monotonic()))[0]:
            more = os.read(read, 4096)
            said += more
            ended = not more
        open(self.path("release"), "wb").close()
        for _ in range(3000):
            if os.path.exists(self.path("done")):
                break
            time.sleep(0.01)
        expect(os.path.exists(self.path("done")), "the daemon is lost")
        while not ended:
            more = os.read(read, 4096)
            said += more
            if not more:
                break
        os.close(read)
        return ended, said

    def daemon(self, how, *what):
        if what not in self.native:
            self.native[what] = self.ends_early((), *what,
                                                seconds=NATIVE_WAIT)
        expected = self.native[what]
        equal(self.ends_early(how, *what, seconds=20 if expected[0] else WAIT),
              expected, "ends, says")

    def says_late(self, how):
        """A daemon that has kept its standard error is heard."""
        equal(self.ends_early(how, "orphan", "hold", "note", "done"),
              (False, NOTE), "ends, says")

    def says_nothing(self, how):
        """One that has not, is not: nor does its file get the note."""
        equal(self.ends_early(how, "orphan", "close", "file", "A", "hold",
                              "note", "B", "done", seconds=20), (True, b""), "ends, says")
        with open(self.path("guestfile"), "rb") as file:
            equal(file.read(), b"AB", "the daemon's file")

    # ------- other ends -------

    def unheard(self, how):
        """Nobody reads what cprec says: the program does not die of it."""
        read, write = os.pipe()
        os.close(read)
        done = self.start(how, self.options.guest, "note", "exit3",
                          stderr=write)
        os.close(write)
        equal(done.wait(60), 3, "status")

    def instructions(self):
        """Of all processes in the folder; those of complete recordings are
        negative."""
        about = [json.loads(self.cprec("info", "--json", path).stdout)
                 for path in recordings(self.path("trace.cpr"))]
        return [-one["instructions"] if one["complete"] else
                one["instructions"] for one in about]

    def sizes(self, *what):
        """Instructions and bytes of a whole recording."""
        equal(self.start(("record",), *what).wait(60), 0, "status")
        whole, = self.instructions()
        return -whole, os.path.getsize(self.path("trace.cpr"))

    def with_room(self):
        """How much of the noise there is room for, in instructions: behind the
        start of the program, as many for each byte."""
        first, small = self.sizes("head", "-c", "0", "/dev/urandom")
        last, large = self.sizes(*NOISE)
        return first + (last - first) * (ROOM - small) / (large - small)

    def full(self, *what, lines):
        """The program closes its standard error before the recording ends."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))
        expected = self.with_room()
        done = self.start(("record",), *what, stderr=subprocess.PIPE,
                          preexec_fn=limit)
        said = done.communicate(timeout=120)[1].decode().splitlines()
        equal(done.returncode, FAILED, "status")
        equal(len(said), lines, f"lines: {said}")
        for line in said:
            expect(line.startswith("cprec: cannot write '"), f"odd: {line}")
        traces = recordings(self.path("trace.cpr"))
        for path in traces:
            equal(self.cprec("verify", "-q", path).returncode, 0, "verify")
        found = self.instructions()
        expect(any(0.8 * expected < one < 1.2 * expected for one in found),
               f"instructions: {found}, about {expected:.0f} is room for")
        return f"{found} for {expected:.0f}"


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def no_stderr():
    os.close(2)


def run_all(options, folder):
    tests = Tests(options, os.path.join(folder, "t"))
    os.mkdir(tests.folder)
    for how in WAYS:
        name = " ".join(how)
        for who, what in WRITES.items():
            tests.test(f"{name}: {who}", tests.writes, how, *what)
        what = WRITES["the first process"]
        tests.test(f"{name}: few descriptors", tests.writes, how, *what,
                   preexec_fn=few_descriptors)
        tests.test(f"{name}: no standard error", tests.writes, how, *what[1:],
                   says=b"", preexec_fn=no_stderr)
        for who, what in DAEMONS.items():
            tests.test(f"{name}: a daemon {who}", tests.daemon, how, *what)
        tests.test(f"{name}: a daemon that is heard", tests.says_late, how)
        tests.test(f"{name}: a daemon that is not", tests.says_nothing, how)
        tests.test(f"{name}: nobody reads", tests.unheard, how)
    tests.test("a full disk", tests.full, *NOISE, lines=1)
    tests.test("a full disk, of a child", tests.full, "sh", "-c",
               f"{' '.join(NOISE)}; exit $?", lines=1)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "guest"))
