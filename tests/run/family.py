#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the recordings of a program's processes are: FILE and FILE.d, kept
and put back together, and never mixed with those of another run; and that what
processes have in common is stored once.

usage: family.py --cprec C

Speaks TAP.
"""
import os
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import PlaceTap, Failure, equal, expect, main, recordings  # noqa: E402

FAILED = 125

# It tells that it runs, and ends when its input does.
WAITS = "/bin/true; echo begun; read x; /bin/true; exit 3"

# The child lives on when the program has ended.
DAEMON = """
(while [ ! -e stop ]; do sleep 0.1; done; /bin/true) >daemon 2>&1 </dev/null &
echo $!
"""


PYTHON = "/usr/bin/python3"

# Children of a process with much memory; they end before the next begins, or
# all live at once, and change some of it.
LARGE = """
import os, random
memory = bytearray(random.Random(1).randbytes(4 << 20))
def work(i):
    if @AT_ONCE@:
        for at in range(0, 1 << 20, 4096): memory[at + i] ^= 1
        for at in range(200000): memory[5] ^= 1
    os._exit(i)
children = []
for i in range(5):
    child = os.fork()
    if not child: work(i)
    children.append(child)
    if not @AT_ONCE@: print(os.waitpid(child, 0)[1] >> 8)
    memory[i << 12] ^= 1
if @AT_ONCE@:
    for child in children: os.waitpid(child, 0)
print(sum(memory))
"""

# Each generation changes a page, and the pages that those before it changed.
DEEP = """
import os, random
memory = bytearray(random.Random(1).randbytes(64 << 12))
for generation in range(8):
    for i in range(generation + 1):
        memory[i * 4096] ^= generation + 1
        memory[(63 - i) * 4096 + 8 * generation] ^= 1
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        break
print(sum(memory), flush=True)
"""

COMPILE = "gcc -O1 -c a.c -o a.o && gcc -O1 -c b.c -o b.o"


class Tests(PlaceTap):
    def record(self, trace, *program, **more):
        return subprocess.run([self.options.cprec, "record", "-o", trace,
                               "--", *program], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, cwd=self.place,
                              timeout=60, **more)

    def shell(self, trace, script, status=0, **more):
        done = self.record(trace, "/bin/sh", "-c", script, **more)
        equal((done.returncode, done.stderr), (status, ""), "record")
        return done.stdout

    def verify(self, trace, count):
        found = recordings(trace)
        equal(len(found), count, f"recordings of {trace}")
        for path in found:
            done = self.cprec("verify", "-q", path)
            equal((done.returncode, done.stderr), (0, ""), f"verify {path}")

    def names(self):
        return sorted(os.listdir(self.place))

    def alone(self):
        trace = self.begin()
        self.shell(trace, "exit 0")
        equal(self.names(), ["t.cpr"], "files")

    def no_children(self):
        trace = self.begin()
        self.cprec("record", "--no-children", "-o", trace, "--", "/bin/sh",
                   "-c", "/bin/true; exit 0")
        equal(self.names(), ["t.cpr"], "files")

    def modes(self):
        """Whatever the umask: 0777 would lock its owner out."""
        for mask in 0, 0o777:
            trace = self.begin()
            self.shell(trace, f"umask {mask:o}; /bin/true; exit 0")
            folder = trace + ".d"
            equal(os.stat(folder).st_mode & 0o7777, 0o700, "the folder's mode")
            for path in recordings(trace):
                equal(os.stat(path).st_mode & 0o7777, 0o600, f"mode of {path}")
            self.verify(trace, 2)

    def pids(self):
        trace = self.begin()
        out = self.shell(trace, "for i in 1 2 3; do (exec sh -c 'echo $$') "
                                "done")
        equal(sorted(os.listdir(trace + ".d")),
              sorted(pid + ".cpr" for pid in out.split()), "files")

    def kept(self):
        trace = self.begin()
        for count in 1, 2, 3:
            self.shell(trace, "/bin/true; " * count + "exit 0")
        equal(self.names(), ["t.cpr", "t.cpr.d", "t.cpr.old", "t.cpr.old.d"],
              "files")
        self.verify(trace, 4)
        self.verify(trace + ".old", 3)
        self.shell(trace, "exit 0")
        self.verify(trace + ".old", 4)
        equal(self.names(), ["t.cpr", "t.cpr.old", "t.cpr.old.d"], "files")

    def put_back(self):
        trace = self.begin()
        self.shell(trace, "/bin/true; exit 0")
        self.shell(trace, "/bin/true; /bin/true; exit 0")
        before = {name: os.stat(self.path(name)).st_ino
                  for name in self.names()}
        equal(self.record(trace, "/nonexistent").returncode, 127, "status")
        equal({name: os.stat(self.path(name)).st_ino
               for name in self.names()}, before, "files")
        self.verify(trace, 3)
        self.verify(trace + ".old", 2)

    def stale(self):
        """A folder whose first recording is gone."""
        trace = self.begin()
        self.shell(trace, "/bin/true; /bin/true; exit 0")
        os.unlink(trace)
        self.shell(trace, "/bin/true; exit 0")
        self.verify(trace, 2)
        equal(len(os.listdir(trace + ".old.d")), 2, "what was left")

    def foreign(self):
        """A folder of somebody else's is not touched."""
        trace = self.begin()
        os.mkdir(trace + ".d")
        with open(trace + ".d/settings", "w") as file:
            file.write("x")
        for name in "t.cpr.d", "t.cpr.old.d":
            if name != "t.cpr.d":
                self.shell(self.path("t.cpr"), "exit 0")
                os.mkdir(self.path(name))
                os.rename(self.path("kept"), self.path(name + "/settings"))
            done = self.record(trace, "/bin/true")
            equal((done.returncode, done.stdout), (FAILED, ""), "status")
            equal(done.stderr, f"cprec: the folder '{self.path(name)}' would "
                  "be moved as recordings, but 'settings' in it is none\n",
                  "what is said")
            os.rename(self.path(name + "/settings"), self.path("kept"))
            os.rmdir(self.path(name))

    def link(self):
        trace = self.begin()
        os.symlink("/nonexistent", trace + ".d")
        done = self.record(trace, "/bin/true")
        equal(done.returncode, FAILED, "status")
        expect("t.cpr.d': it is a symbolic link" in done.stderr, done.stderr)

    def twice_at_once(self):
        trace = self.begin()
        first = subprocess.Popen([self.options.cprec, "record", "-o", trace,
                                  "--", "/bin/sh", "-c", WAITS], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        equal(first.stdout.readline(), "begun\n", "the first")
        done = self.record(trace, "/bin/echo", "second")
        equal((done.returncode, done.stdout, done.stderr),
              (FAILED, "", f"cprec: cannot write a recording to '{trace}': "
               "another one is still being written to it; -o gives this one "
               "another name\n"), "the second")
        first.communicate("x\n", timeout=60)
        equal(first.returncode, 3, "status of the first")
        equal(self.names(), ["t.cpr", "t.cpr.d"], "files")
        self.verify(trace, 3)

    def all_at_once(self):
        """Of several that begin at one time, each is there or refused."""
        trace = self.begin()
        self.shell(trace, "exit 9", 9)
        runs = [subprocess.Popen([self.options.cprec, "record", "-o", trace,
                                  "--", "/bin/sh", "-c", "sleep 2; exit 3"],
                                 stderr=subprocess.PIPE, text=True)
                for _ in range(6)]
        said = [run.communicate(timeout=60)[1] for run in runs]
        equal(sorted(run.returncode for run in runs), [3] + 5 * [FAILED],
              f"statuses, with {said}")
        equal([len(text.splitlines()) for text in sorted(said)],
              [0] + 5 * [1], "lines")
        self.verify(trace, 2)
        equal(self.names(), ["t.cpr", "t.cpr.d", "t.cpr.old"], "files")
        expect('"exit":{"code":9}' in
               self.cprec("info", "--json", trace + ".old").stdout, "the old")

    def killed(self):
        """The kernel ends the lock of a recorder that was killed."""
        trace = self.begin()
        first = subprocess.Popen([self.options.cprec, "record", "-o", trace,
                                  "--", "/bin/sh", "-c", WAITS], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        equal(first.stdout.readline(), "begun\n", "the first")
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=60)
        self.shell(trace, "exit 0")
        equal(self.names(), ["t.cpr", "t.cpr.old", "t.cpr.old.d"], "files")

    def daemon(self):
        """One that lives on writes to where its folder is; it is not lost."""
        trace = self.begin()
        pid = self.shell(trace, DAEMON).strip()
        self.shell(trace, "/bin/true; exit 0")
        equal(os.path.exists(f"{trace}.old.d/{pid}.cpr"), True, "moved")
        before = self.names()
        done = self.record(trace, "/bin/true")
        equal((done.returncode, done.stderr), (FAILED, "cprec: cannot replace "
              f"'{trace}.old': a process is still being recorded there\n"),
              "the third")
        equal(self.names(), before, "files")
        with open(self.path("stop"), "w"):
            pass
        limit = time.monotonic() + 60
        while self.record(trace, "/bin/true").returncode:
            if time.monotonic() > limit:
                raise Failure("the daemon does not end")
            time.sleep(0.1)
        self.verify(trace + ".old", 2)


    # ------- what is stored once -------

    def sizes(self, trace):
        """Of the first process's file, and of the others together."""
        found = [os.path.getsize(path) for path in recordings(trace)]
        return found[0], sum(found[1:])

    def large(self, at_once):
        trace = self.begin()
        script = LARGE.replace("@AT_ONCE@", str(at_once))
        done = self.cprec("record", "--segment=5m", "-o", trace, "--",
                          PYTHON, "-S", "-c", script)
        equal((done.returncode, done.stderr), (0, ""), "record")
        self.verify(trace, 6)
        first, others = self.sizes(trace)
        expect(first > 4 << 20, f"the first one's size is {first}")
        # Each of them changes a megabyte.
        most = 8 << 20 if at_once else 1 << 20
        expect(others < most, f"those of its children: {others}")
        return f"{first} bytes, and {others} of 5 children"

    def commands(self):
        trace = self.begin()
        self.shell(trace, "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done;"
                          " exit 0")
        self.verify(trace, 11)
        first, others = self.sizes(trace)
        expect(others < first / 2, f"{first} bytes, and {others} of others")
        return f"{first} bytes, and {others} of 10 commands"

    def deep(self):
        trace = self.begin()
        done = self.record(trace, PYTHON, "-S", "-c", DEEP)
        equal(len(done.stdout.splitlines()), 9, "lines")
        self.verify(trace, 9)

    def compiler(self):
        trace = self.begin()
        for name in "ab":
            with open(self.path(f"{name}.c"), "w") as file:
                file.write("#include <stdio.h>\n#include <stdlib.h>\n"
                           f"int {name}(void) {{ return printf(\"x\"); }}\n")
        done = self.record(trace, "/bin/sh", "-c", COMPILE)
        equal(done.returncode, 0, f"record: {done.stderr}")
        found = sorted((os.path.getsize(path) for path in recordings(trace)),
                       reverse=True)
        expect(found[1] < found[0] / 4,
               f"the second compiler is not much smaller: {found}")
        for path in recordings(trace):
            equal(self.cprec("verify", "-q", path).returncode, 0, path)

    def names_of(self, path):
        """Whether names of the C library are found."""
        return self.cprec("query", path, "--addr", "libc.so.6!printf",
                          "--at", "end").returncode == 0

    def incomplete(self):
        """Files that need each other, and are not together."""
        trace = self.begin()
        self.shell(trace, "/bin/true; /bin/true; exit 0")
        first, second = recordings(trace)[1:]
        expect(self.names_of(second), "no names")
        other = self.path("other.cpr")
        for end in "", ".d":
            os.rename(trace + end, other + end)
        self.verify(other, 3)
        expect(self.names_of(recordings(other)[2]), "no names")
        first, second = recordings(other)[1:]
        os.rename(other, self.path("away"))
        self.missing(first, "cannot open")
        self.shell(trace, "/bin/true; exit 0")
        os.rename(trace, other)
        self.missing(first, "it is of another program")
        done = self.cprec("info", first)
        equal((done.returncode, done.stderr), (0, ""), "info")
        alone = self.path("alone.cpr")
        shutil.copy(second, alone)
        self.missing(alone, "is not in the folder of its family")

    def missing(self, path, why):
        done = self.cprec("verify", path)
        equal(done.returncode, 1, "status")
        equal(len(done.stderr.splitlines()), 1, f"lines: {done.stderr}")
        expect(why in done.stderr and path in done.stderr, done.stderr)

    def packed(self):
        """In one file they find each other, too."""
        trace = self.begin()
        self.shell(trace, "/bin/true; /bin/true; exit 0")
        packed = self.path("packed")
        equal(self.cprec("pack", "-o", packed, trace).returncode, 0, "pack")
        names = [os.path.basename(path) for path in recordings(trace)[1:]]
        self.cprec("rm", trace)
        equal(self.names(), ["packed"], "files")
        for name in names:
            done = self.cprec("verify", "-q", f"{packed}/{name}")
            equal((done.returncode, done.stderr), (0, ""), f"verify {name}")
            expect(self.names_of(f"{packed}/{name}"), "no names")

    def damaged(self):
        """A page of the first file that others need."""
        trace = self.begin()
        self.shell(trace, "/bin/true; exit 0")
        child = recordings(trace)[1]
        with open(trace, "r+b") as file:
            size = os.path.getsize(trace)
            for at in range(4096, size - 4096, 20000):
                file.seek(at)
                byte = file.read(1)
                file.seek(at)
                file.write(bytes([byte[0] ^ 0x10]))
        done = self.cprec("verify", child)
        equal(done.returncode, 1, "status")
        expect(f"'{trace}'" in done.stderr, done.stderr)
        equal(len(done.stderr.splitlines()), 1, f"lines: {done.stderr}")

    def first_alone(self):
        """The first process's file needs no other."""
        trace = self.begin()
        self.shell(trace, "/bin/true; /bin/ls / >/dev/null; exit 0")
        shutil.rmtree(trace + ".d")
        self.verify(trace, 1)


def run_all(options, folder):
    tests = Tests(options, folder)
    for name, test in (("a program without children", tests.alone),
                       ("children that are not recorded", tests.no_children),
                       ("modes", tests.modes),
                       ("names", tests.pids),
                       ("old recordings", tests.kept),
                       ("a program that cannot be run", tests.put_back),
                       ("a folder alone", tests.stale),
                       ("a folder of other things", tests.foreign),
                       ("a link", tests.link),
                       ("two at once", tests.twice_at_once),
                       ("many at once", tests.all_at_once),
                       ("after one that was killed", tests.killed),
                       ("a child that lives on", tests.daemon),
                       ("commands", tests.commands),
                       ("generations", tests.deep),
                       ("compilers", tests.compiler),
                       ("files that are not together", tests.incomplete),
                       ("packed", tests.packed),
                       ("a file that is damaged", tests.damaged),
                       ("the first file alone", tests.first_alone)):
        tests.test(name, test)
    tests.test("much memory", tests.large, False)
    tests.test("much memory, changed by several", tests.large, True)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
