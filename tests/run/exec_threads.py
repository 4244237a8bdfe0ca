#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A process with threads executes programs: which threads there are then, by
which numbers.  Linux ends all but one, which gets the process's own number.

usage: exec_threads.py --cprec C --guest G

The guest is run/programs/execs/threads.c.  Speaks TAP.
"""
import json
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import Failure, Tap, equal, main  # noqa: E402

EXECS = ["other", "leader", "other"]
WAYS = {"in one segment": [], "in short segments": ["--segment", "20k"]}


class Tests(Tap):
    def __init__(self, options, folder):
        super().__init__()
        self.cprec = options.cprec
        self.guest = options.guest
        self.folder = folder

    def run(self, *arguments, status=0):
        done = subprocess.run([self.cprec, *arguments], capture_output=True,
                              stdin=subprocess.DEVNULL, text=True,
                              timeout=120, cwd=self.folder)
        equal(done.returncode, status, f"{arguments}: {done.stderr}")
        return done

    def record(self, way):
        output = self.run("record", "-o", "t.cpr", *WAYS[way], "--",
                          self.guest, *EXECS).stdout
        self.callers = [int(line.split()[-1]) for line in
                        output.splitlines() if ": thread " in line]
        equal(output, "".join(f"{name}: thread {tid}\n" for name, tid in
                              zip(EXECS, self.callers)) +
              "end: 19999900000\n", "output")
        self.info = json.loads(self.run("info", "--json", "t.cpr").stdout)
        self.end = self.info["instructions"]
        self.execs = [image["at"] for image in self.info["images"]][1:]
        self.threads = {thread["thread"]: thread
                        for thread in self.info["threads"]}
        self.pid = self.info["threads"][0]["thread"]
        equal(len(self.execs), len(EXECS), "execs")
        # The second is by the first thread, others are by a new one.
        equal([tid == self.pid for tid in self.callers],
              [name == "leader" for name in EXECS], "callers are first")

    def lives(self):
        """All but the first end at the next exec, or before."""
        equal(sum(thread["instructions"] for thread in
                  self.info["threads"]), self.end, "instructions of all")
        equal(len(self.threads), 1 + 4 + 2 * 3 + 2, "threads")
        for tid, thread in self.threads.items():
            equal(thread["has_ended"], True, f"{tid} ended")
            if tid == self.pid:
                equal((thread["first"], thread["last"]), (0, self.end),
                      "life of the first")
                continue
            limit = min([at for at in self.execs if at > thread["first"]],
                        default=self.end)
            if thread["last"] > limit:
                raise Failure(f"{tid} outlives t={limit}: {thread}")
        for at, tid, name in zip(self.execs, self.callers, EXECS):
            ended = [thread for thread in self.info["threads"]
                     if thread["last"] == at]
            # The one that spins, and the one that sleeps; and the caller.
            equal(len(ended), 2 + (name == "other"), f"ended at {at}")
            if tid != self.pid:
                equal(self.threads[tid]["last"], at, f"end of {tid}")

    def states(self, t, arguments=()):
        text = self.run("registers", "--json", f"--at={t}",
                        *arguments, "t.cpr").stdout
        return [json.loads(line) for line in text.splitlines()]

    def registers(self):
        """Before and after each exec there are those that live."""
        for at, tid in zip(self.execs, self.callers):
            before = self.states(at - 1)
            equal([state["thread"] for state in before if state["runs"]], [tid],
                  "whose exec it is")
            after = self.states(at)
            equal([(state["thread"], state["runs"]) for state in after],
                  [(self.pid, True)], "threads behind it")
            equal(after[0]["registers"]["rax"], "0x0000000000000000", "rax")
            for other in {state["thread"] for state in before} - {self.pid}:
                error = self.run("registers", f"--at={at}",
                                 f"--thread={other}", "t.cpr",
                                 status=1).stderr
                if f"thread {other} has ended before" not in error:
                    raise Failure(error)
            equal(self.states(at, [f"--thread={self.pid}"]), after,
                  "the first alone")

    def counts(self):
        """TID:N is where a state says that it is; 1 at a time."""
        last = -1
        for share in range(5, 100, 15):
            for state in self.states(f"{share}%"):
                if not state["runs"]:
                    continue
                tid, steps = state["thread"], state["instructions"]
                # The first time at which it had so many, not a later one.
                again = self.states(f"{tid}:{steps}", [f"--thread={tid}"])[0]
                equal(again["instructions"], steps, "steps")
                if again["at"] > state["at"]:
                    raise Failure(f"{tid}:{steps} is {again['at']}, not "
                                  f"{state['at']}")
                again = self.states(f"{tid}:{steps + 1}")
                equal([one["instructions"] for one in again
                       if one["thread"] == tid], [steps + 1], "one more")
        for at in self.execs:
            steps = self.states(at)[0]["instructions"]
            if steps <= last:
                raise Failure(f"{steps} at {at}, {last} before")
            last = steps

    def dumps(self):
        """Calls bear the number that the kernel knew the caller by."""
        text = self.run("dump", "--kind=syscall", "t.cpr").stdout
        found = re.findall(r"^(\d+) +SYSCALL +thread=(\d+) .*name=gettid "
                           r"result=(\d+)", text, re.M)
        equal([tid for _, tid, result in found],
              [result for _, tid, result in found], "numbers")
        for tid in self.callers:
            text = self.run("dump", "--kind=syscall", f"--thread={tid}",
                            "t.cpr").stdout
            if f"thread={tid} " not in text or \
                    set(re.findall(r"thread=(\d+)", text)) != {str(tid)}:
                raise Failure(f"of {tid}: {text}")

    def verifies(self):
        self.run("verify", "-q", "t.cpr")
        self.run("verify", "-q", "--thread=all", "t.cpr")
        self.run("verify", "-q", f"--thread={self.callers[0]}", "t.cpr")
        equal(self.run("replay", "t.cpr").stdout.splitlines()[-1],
              "end: 19999900000", "output")


def run_all(options, folder):
    tests = Tests(options, folder)
    for way in WAYS:
        tests.test(f"{way}: record", tests.record, way)
        tests.test(f"{way}: lives", tests.lives)
        tests.test(f"{way}: registers", tests.registers)
        tests.test(f"{way}: counts", tests.counts)
        tests.test(f"{way}: dump", tests.dumps)
        tests.test(f"{way}: verify and replay", tests.verifies)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "guest"))
