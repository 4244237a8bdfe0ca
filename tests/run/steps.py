#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps and runs of a debugger, there and back, over its protocol.

At random places of recordings: so many steps forwards and as many back are the
same list reversed; what a step shows of registers and memory is what is there
for somebody who goes straight to that position; breakpoints and watchpoints
that are met forwards are met backwards in reverse.
"""
import argparse
import json
import os
import random
import re
import sys

sys.dont_write_bytecode = True
from remote import Remote  # noqa: E402
from tap import CprecTap, equal, expect, main  # noqa: E402

STEPS = 150
STOPS = 60
CALLS = 120


class Steps(CprecTap):
    def record(self, *program):
        path = os.path.join(self.folder,
                            os.path.basename(program[0]) + ".cpr")
        done = self.cprec("record", "-q", "--segment=50k", "-o", path, "--",
                          *program)
        expect(os.path.exists(path), done.stderr)
        return path

    def connect(self, path):
        return Remote(self.options.cprec, path, "--from=start")

    def end_of(self, server):
        return int(server.goto("end").split(".")[0])

    def place(self, remote):
        tid = remote.stop[0]
        return remote.when(), tid, remote.pc()

    def begin(self, remote):
        """The thread that stands there is meant: others may not be there."""
        remote.stop = remote.resume("?")
        remote.ask(f"Hcp0.{remote.stop[0]:x}")

    def walk(self, remote, request, count):
        """Places behind each step, until one can go no further."""
        places = []
        for _ in range(count):
            remote.stop = remote.resume(request)
            why = remote.stop[2]
            if why and why.startswith("replaylog"):
                break
            places.append(self.place(remote))
            # The same thread again, whoever has its turn now.
            remote.ask(f"Hcp0.{places[-1][1]:x}")
        return places

    def there_and_back(self, path):
        chance = random.Random(self.options.seed)
        total = 0
        with self.connect(path) as remote:
            end = self.end_of(remote)
            for number in range(self.options.places):
                at = 0 if not number else chance.randrange(end)
                remote.goto(at)
                self.begin(remote)
                # The first step leads to where the thread can stop.
                first = self.walk(remote, "vCont;s", 1)
                there = self.walk(remote, "vCont;s", STEPS)
                # Where its thread ends, others have run on.
                if len(there) < STEPS:
                    position, tid, _ = (first + there)[-1]
                    remote.goto(position)
                    remote.ask(f"Hcp0.{tid:x}")
                back = self.walk(remote, "bs", len(there))
                equal(back, (first + there)[:-1][::-1] if there else [],
                      f"steps back from {STEPS} behind {at}")
                total += len(there)
        expect(total > STEPS, f"{total} steps")
        return f"{total} steps"

    def looks(self, path):
        """What the stretch just replayed shows is what was there."""
        chance = random.Random(self.options.seed + 1)
        seen = []
        with self.connect(path) as remote:
            end = self.end_of(remote)
            for number in range(self.options.places):
                remote.goto(chance.randrange(end))
                self.begin(remote)
                for request in "bs", "vCont;s":
                    for _ in range(30):
                        self.walk(remote, request, chance.randrange(1, 6))
                        seen.append(self.look(remote))
        with self.connect(path) as remote:
            for position, *rest in seen:
                remote.goto(position)
                equal(self.look(remote), (position, *rest),
                      f"at {position}")
        return f"{len(seen)} places"

    def look(self, remote):
        """Registers; the stack, the code, and what registers point to."""
        registers = remote.registers()
        digits = 2 * remote.word
        words = [int.from_bytes(bytes.fromhex(registers[i:i + digits]),
                                "little")
                 for i in range(0, remote.general * digits, digits)]
        memory = [remote.memory(addr, 64)
                  for addr in (words[remote.sp_number] - 32, words[remote.pc_number],
                               *words[:6])
                  if addr < 1 << 47]
        return remote.when(), registers, memory

    def runs(self, path):
        """Breakpoints and watchpoints where the program was, or wrote."""
        chance = random.Random(self.options.seed + 2)
        total = 0
        with self.connect(path) as remote:
            remote.pass_signals()
            end = self.end_of(remote)
            points, breaks = set(), set()
            for _ in range(4):
                remote.goto(chance.randrange(end))
                breaks.add(remote.pc())
                points.add(f"0,{remote.pc():x},1")
                sp = remote.register(remote.sp_number)
                points.add(f"2,{sp - 8:x},8")
            for point in sorted(points):
                equal(remote.insert(point), "OK", point)
            for _ in range(3):
                total += self.run_both(remote, chance.randrange(end), breaks)
        return f"{total} stops"

    def calls(self, path):
        """System calls, as `cprec strace` tells them, and back."""
        done = self.cprec("strace", "--json", "--thread=all", path)
        wanted = [json.loads(line) for line in done.stdout.splitlines()]
        wanted = sorted(int(str(one["at"]).split(".")[0]) for one in wanted
                        if one["kind"] == "call" and
                        not one["name"].startswith("exit"))
        chance = random.Random(self.options.seed + 3)
        total = 0
        with self.connect(path) as remote:
            remote.pass_signals()
            end = self.end_of(remote)
            for at in 0, chance.randrange(end):
                remote.goto(at)
                equal(remote.ask("QCatchSyscalls:1"), "OK", "catch all")
                there = self.stops(remote, "vCont;c", CALLS)
                last = self.time(there[-1])
                equal([self.time(one) for one in there
                       if "return" in one[2] and at < self.time(one) < last],
                      [time for time in wanted if at < time < last],
                      f"ends of calls from {at} to {last}")
                is_end = len(there) < CALLS
                back = self.stops(remote, "bc", len(there) - (not is_end))
                equal(back, there[::-1][not is_end:], f"back to {at}")
                total += len(there)
            remote.goto(at)
            number = int(there[0][2].split(":")[1].rstrip(";"), 16)
            remote.ask(f"QCatchSyscalls:1;{number:x}")
            some = [one for one in there if one[2].endswith(f":{number:x};")]
            equal(self.stops(remote, "vCont;c", len(some)), some,
                  f"only call {number}")
        return f"{total} stops"

    @staticmethod
    def time(stop):
        return int(stop[0].split(".")[0])

    def stops(self, remote, request, most):
        """The next ones, each with who and why."""
        places = []
        while len(places) < most:
            tid, _, why = remote.resume(request)
            if why and why.startswith("replaylog"):
                break
            places.append((remote.when(), tid, why))
        return places

    def resumed(self, remote, request, step):
        stop = remote.resume(request)
        if stop[2].startswith("watch") and remote.watches_before:
            remote.access(stop, step)
        return stop

    def run_both(self, remote, at, breaks):
        """Stops between `at` and where the 60th is, there and back."""
        begins = remote.goto(at)
        there, back = Met(breaks), Met(breaks)
        for _ in range(STOPS):
            stop = self.resumed(remote, "vCont;c", "vCont;s")
            if stop[2].startswith("replaylog:end"):
                break
            there.add(remote, stop)
        else:
            # Where it turns round, it is not told again.
            there.leave_out(remote, stop[0])
        while True:
            stop = self.resumed(remote, "bc", "bs")
            if (stop[2].startswith("replaylog:begin") or
                    place(remote.when()) < place(begins)):
                break
            back.add(remote, stop)
        remote.goto(begins)
        back.leave_out(remote, remote.resume("?")[0])
        equal(back.watched, there.watched[::-1], f"watches from {at}")
        equal(sorted(back.broken), sorted(there.broken), f"breaks from {at}")
        return len(there.watched) + len(there.broken)


def place(position):
    """To be compared: "5000.1" is behind "5000"."""
    return [int(number) for number in position.split(".")]


class Met:
    """The stops of one direction: of watchpoints in their order; of breakpoints
    which instruction of which thread.  A thread that a watchpoint has stopped
    before an instruction with a breakpoint has met that, too: a debugger sees
    it, and it is told again only if others run first."""

    def __init__(self, breaks):
        self.breaks = breaks
        self.watched, self.broken = [], set()

    def key(self, remote, tid):
        about = remote.ask(f"qThreadExtraInfo,p0.{tid:x}")
        number = re.search(r"(\d+) instructions",
                           bytes.fromhex(about).decode())[1]
        return tid, int(number), remote.pc()

    def add(self, remote, stop):
        if stop[2].startswith("watch"):
            self.watched.append(stop)
        if remote.pc() in self.breaks:
            self.broken.add(self.key(remote, stop[0]))
        else:
            expect(not stop[2].startswith("swbreak"), f"{stop}")

    def leave_out(self, remote, tid):
        self.broken.discard(self.key(remote, tid))


def run_all(options, folder):
    tests = Steps(options, folder)
    for program in options.programs:
        name = os.path.basename(program)
        try:
            path = tests.record(*([program] if os.path.exists(program) else
                                  program.split()))
        except Exception as failure:
            print(f"# {failure}")
            path = None
        for what, function in (("steps", tests.there_and_back),
                               ("looks", tests.looks), ("runs", tests.runs),
                               ("calls", tests.calls)):
            tests.test(f"{name}: {what}", function, path)
    return tests.summary()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--places", type=int, default=4)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("programs", nargs="*")
    sys.exit(main(run_all, parser=arguments))
