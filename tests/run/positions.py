#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A position has one state, wherever key frames are.

Recordings of one execution with other key frames must answer alike: registers
of all threads and memory, at every key frame of one of them, around every
event that a position counts, and at times between.  A recording of an
execution that cannot be had twice must answer alike when it is replayed from
its start and from the key frame before.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, Failure, equal, expect, main  # noqa: E402

SEGMENTS = {"1k": "--segment=1k", "50k": "--segment=50k", "whole": None}
COUNTED = ("SIGNAL", "FAULT", "SLICE", "RETURN", "EXIT",
           "FIXED_CALL")
ATTEMPTS = 8        # to have one execution several times
AT_ONCE = 500       # positions that one question names
FAULTS = 100        # of a recording, that are tried in any case
VARIABLES = 64      # of the environment, at least


def text(position):
    time, events = position
    return f"{time}.{events}" if events else str(time)


class Value:
    """A number, which may be that of a thread.

    A thread has another number in each recording; a plain number that is
    equal to a thread's in one of them is the same in all.
    """

    def __init__(self, number, thread):
        self.number = number
        self.thread = thread

    def __eq__(self, other):
        return isinstance(other, Value) and (
            self.number == other.number or
            (self.thread is not None and self.thread == other.thread))

    def __repr__(self):
        return f"{self.number:#x}" + (f" ({self.thread})" if self.thread
                                      else "")


class Recording:
    """What is asked of one recording."""

    def __init__(self, tests, path):
        self.tests = tests
        self.path = path
        info = json.loads(self.ask("info", "--json", path))
        self.end = info["instructions"]
        self.threads = {thread["thread"]: f"thread {number}"
                        for number, thread in enumerate(info["threads"])}

    def ask(self, *arguments, text=None):
        result = self.tests.cprec(*arguments, text=text)
        if result.returncode:
            raise Failure(f"{arguments[0]} {self.path}: {result.stderr[-300:]}")
        return result.stdout

    def lines(self, kind):
        out = self.ask("dump", "--json", f"--kind={kind}", self.path)
        return [json.loads(line) for line in out.splitlines()]

    def frames(self):
        return [line["at"] for line in self.lines("KEY_FRAME")]

    def events(self):
        """How many a position counts at each time that has some."""
        counts = {}
        for kind in COUNTED:
            for line in self.lines(kind):
                counts[line["at"]] = counts.get(line["at"], 0) + 1
        return counts

    def value(self, number):
        return Value(number, self.threads.get(number))

    def states(self, positions):
        """Registers of all threads at each position."""
        found = {}
        for i in range(0, len(positions), AT_ONCE):
            out = self.ask("registers", self.path, "--json",
                           *(f"--at={text(position)}"
                             for position in positions[i:i + AT_ONCE]))
            for line in out.splitlines():
                self.take(json.loads(line), found)
        return found

    def take(self, state, found):
        position = state["at"], state.get("events", 0)
        registers = {name: self.value(int(value, 16))
                     for name, value in state["registers"].items()
                     if re.fullmatch("0x[0-9a-f]+", value)}
        rest = {name: value for name, value in state["registers"].items()
                if name not in registers}
        found.setdefault(position, {})[self.threads[state["thread"]]] = (
            state["instructions"], state["runs"], registers, rest)

    def memory(self, questions):
        """What is at each (position, address, size)."""
        out = self.tests.cprec(
            "query", self.path, "-", "--json",
            text="".join(f"{addr:#x} {text(position)} {size}\n"
                         for position, addr, size in questions)).stdout
        return [self.words(json.loads(line)) for line in out.splitlines()]

    def words(self, answer):
        """Four bytes each, in which numbers of threads may be."""
        digits = answer["bytes"]
        words = [digits[i:i + 8] for i in range(0, len(digits), 8)]
        return [word if "?" in word else
                self.value(int.from_bytes(bytes.fromhex(word), "little"))
                for word in words]


def choose(events, frames, end, most, seed):
    """Key frames and events with what is around them; the rest anywhere."""
    times = set()
    for t in list(frames) + list(events):
        times.update((t - 1, t, t + 1))
    chosen = set()
    for t in times:
        if 0 <= t <= end:
            chosen.update((t, k) for k in range(events.get(t, 0) + 1))
    source = random.Random(seed)
    if len(chosen) > most:
        must = {(t, k) for t in frames for k in range(events.get(t, 0) + 1)}
        rest = sorted(chosen - must)
        source.shuffle(rest)
        chosen = must | set(rest[:max(most - len(must), 0)])
    while len(chosen) < most and len(chosen) <= end:
        chosen.add((source.randrange(end + 1), 0))
    return sorted(chosen)


class Positions(CprecTap):
    def record(self, name, option, *program):
        path = os.path.join(self.folder, f"{name}.cpr")
        result = self.cprec("record", "-q", "-o", path, "--slice=400",
                            *([option] if option else []), "--", *program)
        expect(os.path.exists(path), f"no recording: {result.stderr}")
        return Recording(self, path)

    def record_all(self):
        """Of one execution: when a call that waits is done, the host decides."""
        for _ in range(ATTEMPTS):
            made = [self.record(name, option, self.options.guest)
                    for name, option in SEGMENTS.items()]
            if all(one.events() == made[0].events() for one in made):
                break
        return made

    def start(self):
        """All recordings of the execution, and the positions to ask for."""
        self.recordings = self.record_all()
        first = self.recordings[0]
        self.events = first.events()
        frames = set()
        for recording in self.recordings:
            equal(recording.end, first.end, "instructions")
            equal(recording.events(), self.events, "events")
            frames.update(recording.frames())
        met = sum(t in self.events for t in frames)
        expect(met > 5, f"{met} key frames stand at times of events")
        self.positions = choose(self.events, frames, first.end,
                                self.options.positions, 1)
        return (f"{len(self.positions)} positions, {len(frames)} times of "
                f"key frames, {met} of them with events")

    def registers(self):
        answers = [recording.states(self.positions)
                   for recording in self.recordings]
        for position in self.positions:
            for answer, name in zip(answers[1:], list(SEGMENTS)[1:]):
                equal(answer.get(position), answers[0].get(position),
                      f"registers at t={text(position)}, {name}")

    def memory(self):
        """Stacks and variables: below and above each stack pointer, too."""
        symbols = {line.split()[2]: int(line.split()[0], 16) for line in
                   subprocess.run(["nm", self.options.guest], check=True,
                                  capture_output=True,
                                  text=True).stdout.splitlines()
                   if len(line.split()) == 3}
        states = self.recordings[0].states(self.positions)
        questions = []
        for position in self.positions:
            questions.append((position, symbols["counted"], 64))
            for _, runs, registers, _ in states[position].values():
                if runs:
                    questions.append((position,
                                      (registers["rsp"].number - 1024) & ~7, 1536))
        answers = [recording.memory(questions)
                   for recording in self.recordings]
        for i, (position, addr, _) in enumerate(questions):
            for answer, name in zip(answers[1:], list(SEGMENTS)[1:]):
                equal(answer[i], answers[0][i],
                      f"{addr:#x} at t={text(position)}, {name}")
        return f"{len(questions)} questions"

    def faults(self):
        """Before its handler, a fault stands at the instruction."""
        out = subprocess.run(["objdump", "-d", "--no-show-raw-insn",
                              self.options.guest], capture_output=True,
                             text=True, check=True).stdout
        store = re.search(r"<faulting_store>:\s+([0-9a-f]+):\s+movl", out)
        pc = int(store[1], 16)
        for recording in self.recordings:
            faults = recording.lines("FAULT")
            expect(faults, "no fault")
            for t in {line["at"] for line in faults}:
                states = recording.states(
                    [(t, k) for k in range(self.events[t] + 1)])
                self.check_fault(states, t, pc)
        return f"{len(faults)} faults at {pc:#x}"

    def check_fault(self, states, t, pc):
        """One of the positions of a time; with one event, the plain time."""
        before = [registers for k in range(self.events[t])
                  for _, runs, registers, _ in states[t, k].values()
                  if runs and registers["rip"].number == pc]
        expect(before, f"no position of t={t} stands at {pc:#x}")
        equal(before[0]["rax"].number, 15, f"rax at t={t}")
        if self.events[t] > 1:
            return
        after = [registers for _, runs, registers, _ in
                 states[t, 1].values() if runs]
        expect(after[0]["rip"].number != pc and
               before[0]["rsp"].number - after[0]["rsp"].number > 128,
               f"no handler has begun at t={t}.1")

    def limits(self):
        """One event more than there are is no position."""
        recording = self.recordings[0]
        t = max(self.events, key=self.events.get)
        most = self.events[t]
        for bad in (f"{t}.{most + 1}", f"{t}.4294967294"):
            result = self.cprec("registers", recording.path,
                                f"--at={bad}")
            equal(result.returncode, 1, bad)
            expect(f"there is no t={bad}" in result.stderr, result.stderr)
        last = json.loads(recording.ask(
            "registers", recording.path, "--json",
            "--at=end").splitlines()[0])
        equal((last["at"], last.get("events", 0)),
              (recording.end, self.events.get(recording.end, 0)), "the end")
        for bad in (f"{t}.", f"{t}.x", f"{t}.-1", f"{t}.4294967295"):
            result = self.cprec("registers", recording.path,
                                f"--at={bad}")
            equal(result.returncode, 2, bad)

    def by_itself(self, program, segment):
        """One recording, from its start and from its key frames."""
        recording = self.record(f"{os.path.basename(program)}-{segment}",
                                SEGMENTS[segment], program)
        events, frames = recording.events(), set(recording.frames())
        positions = set(choose(events, frames, recording.end,
                               self.options.positions, 2))
        if len(positions) > self.options.positions:
            positions = set(random.Random(3).sample(
                sorted(positions), self.options.positions))
        faults = [line["at"] for line in recording.lines("FAULT")]
        positions.update((t, k) for t in faults[:FAULTS]
                         for k in range(events[t] + 1))
        positions = sorted(positions)
        asked = "".join(f"{time} {count}\n" for time, count in positions)
        result = subprocess.run([self.options.states, recording.path],
                                input=asked, capture_output=True, text=True,
                                timeout=300)
        equal(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout.strip()


def keep_random_bytes_away():
    """Those that the kernel gives a program, which are others each time, are not
    in the part of the stack that is compared: pointers to variables are."""
    for number in range(VARIABLES):
        os.environ[f"CPREC_TEST_{number}"] = ""


def run_all(options, folder):
    keep_random_bytes_away()
    tests = Positions(options, folder)
    tests.test("recordings of one execution", tests.start)
    if tests.failed:
        return tests.summary()
    tests.test("registers at all positions", tests.registers)
    tests.test("memory at all positions", tests.memory)
    tests.test("a fault before its handler", tests.faults)
    tests.test("positions that are not", tests.limits)
    for program in options.programs:
        for segment in options.segments:
            tests.test(f"{os.path.basename(program)}, {segment}",
                       tests.by_itself, program, segment)
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=2500, metavar="N",
                        help="about how many of each recording are compared")
    parser.add_argument("--segments", nargs="+", choices=SEGMENTS,
                        default=["1k"], help="how the others are recorded")
    parser.add_argument("programs", nargs="*", type=os.path.abspath,
                        help="others, each compared with itself")
    sys.exit(main(run_all, "guest", "states", parser=parser))
