#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings that are not finished, or hardly: of processes that are killed
while they are stopped, and those that are still being written.

usage: unfinished.py --cprec C

Speaks TAP.
"""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main, recordings  # noqa: E402

PYTHON = "/usr/bin/python3"

# How a child is stopped: at once, while it sleeps, or by itself.
STOPPED = """
import os, signal, sys, time
seen = []
def note(number, frame):
    seen.append(number)
if HANDLES:
    signal.signal(signal.SIGCHLD, note)
for how in "at once", "asleep", "self":
    child = os.fork()
    if not child:
        if how == "self":
            sum(range(20000))
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(100)
        os._exit(1)
    if how == "asleep":
        time.sleep(0.5)
    if how != "self":
        os.kill(child, signal.SIGSTOP)
    assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
    os.kill(child, signal.SIGKILL)
    print(how, os.waitpid(child, 0)[1], flush=True)
print(len(seen) > 0)
"""

STOPS_ITSELF = """
import os, signal
for i in range(20000):
    if i == 19999:
        os.write(1, b"stops\\n")
        os.kill(os.getpid(), signal.SIGSTOP)
"""

# It goes on until its input ends; so does its child, as another file says.
GOES_ON = """
import os, select, sys
child = os.fork()
os.write(1, b"goes on\\n")
end = 0 if child else int(sys.argv[1])
if HOW == "select":
    select.select([end], [], [])
elif HOW == "read":
    os.read(end, 1)
os._exit(0)
"""


# A child that computes: it tells its parent how far it is, and then nothing.
COMPUTES = """
import os
seen = {}
child = os.fork()
if not child:
    while True:
        for i in range(20000):
            seen[i % 1000] = str(i)
        os.write(1, b"%d\\n" % os.getpid())
        if NEVER_AGAIN:
            while True:
                seen[i % 1000] = str(i)
print(os.waitpid(child, 0)[1])
"""


# Processes that wait right behind the call that made another one.
WAITS = """#include <sys/wait.h>
#include <unistd.h>
int level = 1;
int main(void)
{
  int child = fork();
  if (!child) {
    level = 2;
    child = fork();
    if (!child) {
      level = 4;
      pause();
    }
    level = 3;
  } else {
    level = 5;
  }
  waitpid(child, 0, 0);
  return 0;
}
"""


class Tests(CprecTap):
    def start(self, *command, **more):
        self.trace = os.path.join(self.folder, f"{self.count}.cpr")
        return subprocess.Popen(
            [self.options.cprec, "record", "-q", "-o", self.trace, "--",
             *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, **more)

    def finish(self, process, status=0):
        out, errors = process.communicate(timeout=60)
        equal(errors, "", "messages")
        equal(process.returncode, status, "status")
        return out

    def info(self, path):
        done = self.cprec("info", "--json", path)
        equal(done.returncode, 0, f"info {path}: {done.stderr}")
        return json.loads(done.stdout)

    def killed_while_stopped(self, handles):
        command = [PYTHON, "-c", f"HANDLES = {handles}\n" + STOPPED]
        native = subprocess.run(command, capture_output=True, text=True,
                                timeout=60)
        out = self.finish(self.start(*command))
        equal(out, native.stdout, "output")
        children = recordings(self.trace)[1:]
        equal(len(children), 3, "recordings of children")
        for path in children:
            info = self.info(path)
            equal(info["exit"], {"signal": int(signal.SIGKILL)}, path)
            expect(info["complete"], f"{path} is not complete")
        for path in [self.trace, *children]:
            done = self.cprec("verify", "-q", path)
            equal(done.returncode, 0, f"verify {path}: {done.stderr}")

    def stopped_by_itself(self):
        """Killed from outside, it has all that came before."""
        process = self.start(PYTHON, "-c", STOPS_ITSELF)
        equal(process.stdout.readline(), "stops\n", "output")
        while "\nState:\tT" not in open(f"/proc/{process.pid}/status").read():
            time.sleep(0.01)
        process.kill()
        self.finish(process, -signal.SIGKILL)
        done = self.cprec("replay", self.trace)
        equal(done.stdout, "stops\n", f"replay: {done.stderr}")
        equal(self.cprec("verify", "-q", self.trace).returncode, 0, "verify")

    def computing(self, never_again):
        """Of a child killed from outside, what it did shortly before is
        there, also if no system call came since."""
        process = self.start(PYTHON, "-c", f"NEVER_AGAIN = {never_again}\n" +
                             COMPUTES)
        pid = int(process.stdout.readline())
        time.sleep(0.6)
        os.kill(pid, signal.SIGKILL)
        out = self.finish(process).split()
        equal(out.pop(), "9", "status of the child")
        path = recordings(self.trace)[1]
        info = self.info(path)
        expect(not info["complete"] and "exit" not in info or
               info["exit"] is None, f"it was killed: {info}")
        done = self.cprec("verify", "-q", path)
        equal(done.returncode, 0, f"verify: {done.stderr}")
        done = self.cprec("replay", path)
        lines = done.stdout.split()
        equal(set(lines), {str(pid)}, "what it printed")
        if never_again:
            mark = self.cprec("dump", "--kind=OUTPUT", path).stdout
            mark = int(mark.split()[0].split(".")[0])
            expect(info["instructions"] > mark + 10000000,
                   f"of {info['instructions']} the last {mark}")
        else:
            expect(len(lines) > len(out) // 4, f"{len(lines)} of {len(out)}")
        return f"{info['instructions']} instructions"

    def long_segment(self):
        """The first question about a child leaves start points for others."""
        self.finish(self.start(
            PYTHON, "-c", "import os, sys\nif not os.fork():\n"
            " for i in range(600000): a = [i]\n os._exit(0)\n"
            "sys.exit(os.wait()[1])"))
        path = recordings(self.trace)[1]
        info = self.info(path)
        equal(info["key_frames"], 1, "key frames")
        at = info["instructions"] - 1000
        expect(at > 100000000, f"only {at} instructions")
        side = path + ".idx"
        expect(not os.path.exists(side), "somebody left a side file")

        def ask():
            done = self.cprec("registers", path, f"--at={at}")
            equal(done.returncode, 0, done.stderr)
            return done.stdout
        first = ask()
        size = os.path.getsize(side)
        equal(ask(), first, "from a start point")
        equal(os.path.getsize(side), size, "once is enough")
        found = self.cprec("index", "--json", "--range=0..1", path)
        points = json.loads(found.stdout)["start_points"]
        expect(points > 1, f"{points} start points")
        return f"{points} start points, {size} bytes"

    def says(self, path, command, *arguments):
        done = self.cprec(command, path, *arguments)
        equal(done.returncode, 0, f"{command}: {done.stderr}")
        found = re.search("(was cut short|is still being written)",
                          done.stderr + done.stdout)
        return found and found.group(1)

    def states(self):
        """What is said of the first one's recording, and the child's."""
        every = recordings(self.trace)
        equal(len(every), 2, "recordings")
        expected = []
        for path in every:
            said = {self.says(path, *what) for what in (
                ("info",), ("verify", "-q"), ("dump",),
                ("registers", "--at=50%"))}
            equal(len(said), 1, f"what is said of {path}: {said}")
            info = self.info(path)
            expect(info["instructions"] > 100, f"{path} holds little")
            equal(info.get("writing", False),
                  said == {"is still being written"}, "writing")
            expected.append(said.pop())
        return expected

    @contextlib.contextmanager
    def going_on(self, how="select"):
        ends = os.pipe()
        process = self.start(PYTHON, "-c",
                             f"HOW = {how!r}\n" + GOES_ON, str(ends[0]),
                             stdin=subprocess.PIPE, pass_fds=[ends[0]])
        os.close(ends[0])
        for _ in range(2):
            equal(process.stdout.readline(), "goes on\n", "output")
        time.sleep(1)
        yield process, ends[1]
        process.stdin.close()
        process.stdout.close()
        process.stderr.close()
        process.wait()

    def being_written(self, how):
        """The parent's file is whole when it ends, though its child lives."""
        with self.going_on(how) as (process, end):
            equal(self.states(), ["is still being written"] * 2, "at first")
            process.stdin.close()
            process.wait()
            equal(self.states(), [None, "is still being written"], "then")
            os.close(end)
            time.sleep(1)
            equal(self.states(), [None, None], "in the end")

    def waiting_behind_fork(self):
        """All of a family are killed at once: each is recorded up to the call
        in which it waited, and what it wrote before."""
        program = os.path.join(self.folder, "waits")
        with open(program + ".c", "w") as file:
            file.write(WAITS)
        subprocess.run(["gcc", "-g", "-O0", "-o", program, program + ".c"],
                       check=True)
        process = self.start(program, start_new_session=True)
        time.sleep(1)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        found = {}
        for path in recordings(self.trace):
            last = self.cprec("strace", path).stdout.splitlines()[-1]
            call = re.search(r" (\w+)\(.*<unfinished \.\.\.>$", last)
            expect(call, f"the last line of {path}: {last}")
            done = self.cprec("query", "--addr=level", "--no-races", path)
            level = re.match(r"level = (\d+)\n", done.stdout)
            expect(level, done.stderr)
            found[int(level[1])] = call[1]
            equal(self.cprec("verify", "-q", path).returncode, 0, "verify")
        equal(found, {5: "wait4", 3: "wait4", 4: "pause"}, "where they wait")

    def killed_recorder(self):
        """Nobody writes what a killed one has left, though its child lives."""
        with self.going_on() as (process, end):
            process.kill()
            process.wait()
            equal(self.states(), ["was cut short", "is still being written"],
                  "then")
            os.close(end)


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("killed while it is stopped", tests.killed_while_stopped, False)
    tests.test("killed while it is stopped, with a handler",
               tests.killed_while_stopped, True)
    tests.test("stops itself", tests.stopped_by_itself)
    for never_again in False, True:
        tests.test("computes" + " for ever" * never_again, tests.computing,
                   never_again)
    tests.test("a long segment", tests.long_segment)
    for how in "select", "read":
        tests.test(f"being written, {how}", tests.being_written, how)
    tests.test("waiting behind a fork", tests.waiting_behind_fork)
    tests.test("a killed recorder", tests.killed_recorder)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
