#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What each thread wrote, replayed alone: together they are the whole output.

usage: replay.py --cprec C --guest G

The guest is run/programs/threads/lines.c: its lines begin with the number of the
thread that writes them.  Speaks TAP.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import Failure, Tap, equal  # noqa: E402

WAYS = {
    "as it comes": [],
    "short segments": ["--segment", "20k"],
    "short turns": ["--slice", "1k", "--segment", "50k"],
    "random turns": ["--schedule", "random:5", "--slice", "5k"],
}


def lines_of(text, tid):
    return [line for line in text.splitlines() if line.startswith(f"{tid}: ")]


class Tests(Tap):
    def __init__(self, options, folder):
        super().__init__()
        self.cprec = os.path.abspath(options.cprec)
        self.guest = os.path.abspath(options.guest)
        self.folder = folder
        self.trace = os.path.join(folder, "lines.cpr")

    def run(self, *arguments):
        return subprocess.run([self.cprec, *arguments], capture_output=True,
                              stdin=subprocess.DEVNULL, text=True,
                              timeout=120)

    def replay(self, *arguments):
        done = self.run("replay", *arguments, self.trace)
        equal(done.returncode, 0, f"status of {arguments}: {done.stderr}")
        return done.stdout, done.stderr

    def record(self, way):
        if os.path.exists(self.trace):
            os.unlink(self.trace)
        done = self.run("record", "-o", self.trace, *WAYS[way], "--",
                        self.guest)
        equal(done.returncode, 0, f"status of record: {done.stderr}")
        self.whole = done.stdout, done.stderr
        info = json.loads(self.run("info", "--json", self.trace).stdout)
        self.threads = info["threads"]
        self.end = info["instructions"]

    def each_thread(self):
        equal(len(self.threads), 5, "threads")
        for output in self.whole:
            if not output:
                raise Failure("nothing was written to one stream")
        for thread in self.threads:
            alone = self.replay("--thread", str(thread["thread"]))
            for part, whole in zip(alone, self.whole):
                equal(part.splitlines(), lines_of(whole, thread["thread"]),
                      f"what thread {thread['thread']} wrote")
        for whole in self.whole:
            equal(sum(len(lines_of(whole, thread["thread"]))
                      for thread in self.threads),
                  len(whole.splitlines()), "lines of all threads")
        equal(self.replay("--thread", str(self.threads[1]["thread"]), "-q"),
              ("", ""), "output with -q")
        equal([sorted(part.splitlines())
               for part in self.replay("--thread=all")],
              [sorted(whole.splitlines()) for whole in self.whole],
              "what each thread wrote, one after the other")

    def up_to(self, t):
        whole = self.replay(f"--to={t}")
        for thread in self.threads:
            words = "replay", f"--to={t}", f"--thread={thread['thread']}"
            if t < thread["first"]:
                self.refused(f"thread {thread['thread']} begins at "
                             f"t={thread['first']}, after t={t}", *words)
                continue
            alone = self.replay(*words[1:])
            for part, all_of_it in zip(alone, whole):
                equal(part.splitlines(), lines_of(all_of_it, thread["thread"]),
                      f"what thread {thread['thread']} wrote up to {t}")

    def up_to_times(self):
        """Just before an output and at it; at any time, and at the ends."""
        times = {0, 1, self.end}
        times |= {self.end * i // 7 for i in range(8)}
        lines = self.run("dump", self.trace).stdout.splitlines()
        writes, late = [], []
        for line in lines:
            if " SYSCALL " in line and "number=20 " in line:
                writes.append(int(line.split()[0]))
                if "result=6000" in line:
                    late.append(writes[-1])
        frames = [int(line.split()[0]) for line in lines
                  if " KEY_FRAME " in line]
        for t in writes[::6] + late[::3]:
            times |= {t - 1, t}
        times |= set(frames[::len(frames) // 4 + 1])
        for t in sorted(times):
            self.up_to(t)

    def cut_short(self):
        """The last segment is not whole; both end where it ends."""
        size = os.path.getsize(self.trace)
        for part in 15, 12, 9:
            os.truncate(self.trace, size * part // 16)
            done = self.run("info", "--json", self.trace)
            equal(done.returncode, 0, f"info of the cut file: {done.stderr}")
            whole = self.replay()
            if " was cut short" not in whole[1]:
                raise Failure(f"not called cut short: {whole[1]}")
            done_each = self.run("verify", "--thread=all", self.trace)
            info = json.loads(done.stdout)
            equal(done_each.returncode, 0 if info["instructions"] else 1,
                  f"verify: {done_each.stderr}")
            for thread in info["threads"]:
                tid = thread["thread"]
                alone = self.replay(f"--thread={tid}")
                equal([lines_of(text, tid) for text in alone],
                      [lines_of(text, tid) for text in whole],
                      f"what thread {tid} wrote")

    def refused(self, says, *words):
        done = self.run(*words, self.trace)
        equal(done.returncode, 1, f"status of {words}")
        equal(done.stdout, "", f"output of {words}")
        equal(done.stderr, f"cprec: {says}\n", f"message of {words}")

    def unknown(self):
        says = f"'{self.trace}' has no thread 4194305 at t={self.end}"
        self.refused(says, "replay", "--thread=4194305")
        self.refused(says, "verify", "--thread=4194305")
        for wrong in "-1", "x", "", "4294967296":
            done = self.run("replay", f"--thread={wrong}", self.trace)
            equal(done.returncode, 2, f"status of --thread={wrong}")
            equal(len(done.stderr.splitlines()), 1, "lines")


def run_all(tests):
    for way in WAYS:
        tests.test(f"{way}: record", tests.record, way)
        tests.test(f"{way}: each thread alone", tests.each_thread)
        tests.test(f"{way}: up to a time", tests.up_to_times)
        if way == "as it comes":
            tests.test("threads that are not there", tests.unknown)
        tests.test(f"{way}: cut short", tests.cut_short)
    return tests.summary()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cprec", required=True)
    parser.add_argument("--guest", required=True)
    with tempfile.TemporaryDirectory(prefix="cprec-replay-") as folder:
        return run_all(Tests(parser.parse_args(), folder))


if __name__ == "__main__":
    sys.exit(main())
