#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings whose first time is not 0, and of processors that are not ours.

usage: later.py --cprec C --tamper T --guest G [--threads N] [--keep FOLDER]

A recording of several threads is copied with all times LATER instructions
later, as a program would be recorded that ran for a while before.  What the
copy answers about t + LATER must be what the recording answers about t.
--threads says of how many threads, about, the own times are asked.  Speaks TAP.
"""
import argparse
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, Failure, equal, expect, main  # noqa: E402

LATER = 1000000007
QUERY = "query", "--no-races"


class Tests(CprecTap):
    """A recording, and its copy."""

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.trace = f"{folder}/now.cpr"
        self.copy = f"{folder}/later.cpr"

    def run(self, *arguments, text=None):
        done = self.cprec(*arguments, text=text)
        said = [line for line in done.stderr.splitlines()
                if not line.startswith("cprec: note: ")]
        if done.returncode or said:
            raise Failure(f"{arguments}: {done.returncode} {done.stderr}")
        return done.stdout

    def tamper(self, to, what, number):
        if os.path.exists(to):
            os.unlink(to)
        subprocess.run([self.options.tamper, self.trace, to, what,
                        str(number)], check=True, capture_output=True)

    def record(self):
        done = self.cprec("record", "-q", "--segment=100000", "--slice=10000",
                          "-o", self.trace, "--", self.options.guest)
        equal(done.returncode, 0, f"status of record: {done.stderr}")
        self.tamper(self.copy, "later", LATER)
        self.info = json.loads(self.run("info", "--json", self.trace))
        self.end = self.info["instructions"]
        expect(len(self.info["threads"]) > 1, "one thread only")

    def what_info_says(self):
        info = json.loads(self.run("info", "--json", self.copy))
        equal(info["start"], LATER, "start")
        equal(info["instructions"], self.end, "instructions")
        for now, later in zip(self.info["threads"], info["threads"]):
            equal(later["first"], now["first"] + LATER, "a thread's first")
            equal(later["last"], now["last"] + LATER, "a thread's last")
            equal(later["instructions"], now["instructions"], "instructions")
        equal(info["images"][0]["at"], LATER, "the program's time")

    def verified(self):
        expected = f"verified {self.end} instructions"
        expect(expected in self.run("verify", self.copy), expected)
        self.run("verify", "-q", "--thread=all", self.copy)

    def replayed(self):
        equal(self.run("replay", self.copy), self.run("replay", self.trace),
              "output")
        for share in ("start", "30%", "end"):
            equal(self.run("replay", f"--to={share}", self.copy),
                  self.run("replay", f"--to={share}", self.trace),
                  f"output up to {share}")

    def dumped(self):
        """The same lines, with later times."""
        now = self.run("dump", self.trace).splitlines()
        later = self.run("dump", self.copy).splitlines()
        equal(len(later), len(now), "lines")
        for one, other in zip(now, later):
            found, time = re.match(r"\d*", other), re.match(r"\d*", one)
            if time.group():
                equal(int(found.group()), int(time.group()) + LATER, one)
            else:
                equal(other, one, "a line")

    def ask(self, trace, offset, *question):
        """`question` is the command and what it is asked."""
        arguments = [question[0], "--json", trace]
        arguments += [f"--at={word + offset}" if isinstance(word, int) else
                      word for word in question[1:]]
        lines = self.run(*arguments).splitlines()
        return [self.earlier(json.loads(line), offset) for line in lines]

    def earlier(self, answer, offset):
        """As of a recording that begins at 0."""
        for key in ("at", "as_of"):
            if answer.get(key) is not None:
                answer[key] -= offset
        if answer.get("thread") == self.info["threads"][0]["thread"]:
            answer["instructions"] -= offset
        return answer

    def same(self, now, later, what):
        """Lists of answers, compared one by one."""
        equal(len(later), len(now), f"answers to {what}")
        for one, other in zip(now, later):
            equal(other, one, what)

    def ask_lines(self, trace, offset, questions):
        """Of (address, time, size)."""
        lines = "".join(f"{addr} {t + offset} {size}\n"
                        for addr, t, size in questions)
        out = self.run(*QUERY, "--json", trace, "-", text=lines)
        return [self.earlier(json.loads(line), offset)
                for line in out.splitlines()]

    def asked(self):
        times = [self.end * i // 9 for i in range(10)] + [1, self.end - 1]
        registers = self.ask(self.trace, 0, "registers", *times)
        self.same(registers, self.ask(self.copy, LATER, "registers", *times),
                  "registers")
        questions = []
        for t in times:
            held = next(answer["registers"] for answer in registers
                        if answer["at"] == t)
            questions += [(held["rip"], t, 8), (held["rsp"], t, 256)]
        now = self.ask_lines(self.trace, 0, questions)
        equal([answer["at"] for answer in now],
              [t for _, t, _ in questions], "times")
        self.same(now, self.ask_lines(self.copy, LATER, questions), "query")
        for (addr, t, _), answer in list(zip(questions, now))[::6]:
            question = *QUERY, f"--addr={addr}", "--size=8", t
            found = self.ask(self.copy, LATER, *question)
            equal(found, self.ask(self.trace, 0, *question), f"{question}")
            equal(found[0]["bytes"], answer["bytes"], f"{question}, alone")

    def shares(self):
        for share in ("start", "0%", "12.5%", "50%", "100%", "end"):
            equal(self.ask(self.copy, LATER, "registers", f"--at={share}"),
                  self.ask(self.trace, 0, "registers", f"--at={share}"),
                  share)

    def threads_own_times(self):
        """The first thread is older than the recording; others are not."""
        threads = list(enumerate(self.info["threads"]))
        step = max(1, len(threads) // self.options.threads)
        for i, thread in threads[:1] + threads[1::step]:
            tid, steps = thread["thread"], thread["instructions"]
            older = 0 if i else LATER
            counts = 0, 1, steps // 2, steps
            self.same(
                self.ask(self.trace, 0, "registers", f"--at={tid}:start",
                         *(f"--at={tid}:{n}" for n in counts)),
                self.ask(self.copy, LATER, "registers", f"--at={tid}:start",
                         *(f"--at={tid}:{n + older}" for n in counts)),
                f"{tid}:N")

    def refused(self, line, *arguments):
        done = self.cprec(*arguments)
        equal((done.returncode, done.stderr), (1, f"cprec: {line}\n"),
              " ".join(arguments))

    def before_the_start(self):
        tid = self.info["threads"][0]["thread"]
        for t in (0, LATER - 1):
            line = f"'{self.copy}' begins at t={LATER}, after t={t}"
            self.refused(line, "registers", self.copy, f"--at={t}")
            self.refused(line, "replay", self.copy, f"--to={t}")
        self.refused(f"thread {tid} begins at {tid}:{LATER} in this recording,"
                     f" after {tid}:5", "registers", self.copy,
                     f"--at={tid}:5")

    def races(self):
        now = json.loads(self.run("races", "--json", self.trace))
        later = json.loads(self.run("races", "--json", self.copy))
        equal(len(later["races"]), len(now["races"]), "races")

    def another_processor(self):
        """It can be shown, and answer what needs no replay; no more."""
        for what, name in (("behaviour", "'westmere', behaviour 9999"),
                           ("model", "'other', behaviour 3")):
            self.tamper(self.copy, what, 9999)
            line = (f"'{self.copy}' was recorded on processor {name}, and can"
                    " be replayed on no other; this cprec has 'westmere',"
                    " behaviour 3")
            self.refused(line, "replay", self.copy)
            self.refused(line, "verify", self.copy)
            self.refused(line, "registers", self.copy, "--at=50%")
            equal(self.run("dump", self.copy), self.run("dump", self.trace),
                  "dump")
            info = json.loads(self.run("info", "--json", self.copy))
            model, number = re.match(r"'(\w+)', behaviour (\d+)", name).groups()
            equal(info["processor"], {"model": model,
                                      "behaviour": int(number)}, "processor")


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.record()
    for name in ("what_info_says", "verified", "replayed", "dumped", "asked",
                 "shares", "threads_own_times", "before_the_start", "races",
                 "another_processor"):
        tests.test(name.replace("_", " "), getattr(tests, name))
    return tests.summary()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--threads", type=int, default=12)
    sys.exit(main(run_all, "tamper", "guest", parser=arguments))
