#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording in which one thing was changed: verify must find and name it.

usage: verify.py --cprec C --tamper T --guest G [--only WORD] [--keep FOLDER]

Each line of CASES changes one thing.  `cprec verify` must exit with 1 and one
line that names time, address, disassembly, what was expected and what was
found; time, address and disassembly are compared with the untouched recording
and with objdump.  `cprec query` may fail on such a recording, but not crash.
Speaks TAP.
"""
import argparse
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, Failure, main  # noqa: E402

AT = re.compile(r"cprec: the replay diverged at t=(\d+), (0x[0-9a-f]+) "
                r"\((.+?)\): (.*)expected (.+), found (.+)\n")
BEFORE = re.compile(r"cprec: the replay diverged before t=(\d+): (.*)"
                    r"expected (.+), found (.+), and nothing wrote it "
                    r"since t=(\d+)\n")

# What may be named, of an event that is at time T (after its instruction):
EVENT = "event"		# the event's own instruction
SOON = "soon"		# that, or one of the three that follow
LATER = "later"		# any of its segment and the next
LOST = "lost"		# the program goes where it never was
FRAME = "frame"		# any of the segment before the key frame at T
STORED = "stored"	# the same, or that nothing wrote it
UNSEEN = "unseen"	# nothing keeps what was changed: all is well

CASES = (
    # what the numbers mean: see the guest, and `cprec dump`
    ("the result that is kept in memory", "result", "0", SOON),
    ("a result that is overwritten at once", "result", "1", UNSEEN),
    ("the size of a read", "result", "3", SOON),
    ("the result that is kept in xmm5", "result", "7", SOON),
    ("what a pipe held", "reads", "{reads}", EVENT),
    ("a page that a touch finds", "touch", "{touch}", LATER),
    ("cpuid's rax, which is overwritten", "value", "0", UNSEEN),
    ("cpuid's rbx", "value", "1", SOON),
    ("cpuid's rip", "value", "4", LOST),
    ("rax in a key frame", "register", "3 rax", FRAME),
    ("r8 in a key frame", "register", "3 r8", STORED),
    ("rip in a key frame", "register", "3 rip", FRAME),
    ("eflags in a key frame", "register", "3 eflags", FRAME),
    ("xmm5 in a key frame", "register", "17 xmm5", STORED),
    ("st0 in a key frame", "register", "5 st0", STORED),
    ("mxcsr in a key frame", "register", "5 mxcsr", STORED),
    ("the first page of a segment", "page", "{page}", STORED),
    ("the first system call comes a step later", "steps", "0", EVENT),
    ("a system call with contents comes later", "steps", "3", EVENT),
    ("cpuid comes a step later", "steps", "8", EVENT),
    ("the last system call comes later", "steps", "9", EVENT),
    ("a system call is missing", "drop", "0", EVENT),
    ("a system call with contents is missing", "drop", "3", EVENT),
    ("a system call before others is missing", "drop", "1", EVENT),
    ("cpuid is missing", "drop", "8", EVENT),
    ("the last system call is missing", "drop", "9", EVENT),
)


class Tests(CprecTap):
    """One recording, and copies of it that are wrong."""

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.good = os.path.join(folder, "good.cpr")
        self.bad = os.path.join(folder, "bad.cpr")
        self.mnemonics = {}
        self.numbers = {}

    def prepare(self):
        done = self.cprec("record", "--segment=1000", "-o", self.good, "--",
                          self.options.guest)
        if done.returncode or done.stderr:
            raise Failure(f"record: {done.returncode}: {done.stderr}")
        done = self.cprec("verify", self.good)
        if done.returncode or done.stderr:
            raise Failure(f"verify: {done.returncode}: {done.stderr}")
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", self.options.guest],
            capture_output=True, text=True, check=True).stdout
        for addr, mnemonic in re.findall(r"^ +([0-9a-f]+):\t(\S+)", listing,
                                         re.MULTILINE):
            self.mnemonics[int(addr, 16)] = mnemonic
        self.find_numbers()

    def find_numbers(self):
        """The segment whose reads are the pipe's; a stored touch; a page."""
        segment, touches = 0, 0
        starts = []
        lines = self.cprec("dump", "-v", self.good).stdout.splitlines()
        for line in lines:
            if "KEY_FRAME" in line:
                segment = int(re.search(r"segment=(\d+)", line).group(1))
                starts.append(int(line.split()[0]))
            elif "SYSCALL " in line:
                called = int(line.split()[0])
            elif "WRITE " in line and "size=64" in line:
                self.numbers["reads"] = segment
                self.received = called
            elif "TOUCH " in line and "page_id=" in line:
                # Only the file's pages are looked at in full.
                if "doubt=5" in line:
                    self.numbers.setdefault("touch", touches)
                touches += 1
            elif "SNAPSHOT" in line and segment == 4:
                self.numbers.setdefault(
                    "page", re.search(r"page_id=(\d+)", line).group(1))
        self.starts = starts

    def bounds(self, t):
        """The segment around `t`, from key frame to key frame."""
        before = max(start for start in self.starts if start < max(t, 1))
        after = min((start for start in self.starts if start >= t),
                    default=1 << 60)
        return before, after

    def program_counter(self, t):
        answer = json.loads(self.cprec("registers", self.good, "--at", str(t),
                                       "--json").stdout)
        return int(answer["registers"]["rip"], 16)

    def check_place(self, t, addr, text):
        """The line must name what stands there."""
        found = self.program_counter(t)
        if found != addr:
            raise Failure(f"at t={t} the program is at {found:#x}, "
                          f"not at {addr:#x}")
        mnemonic = self.mnemonics.get(addr, "nothing")
        short = text.split()[0]
        if not mnemonic.startswith(short) and not short.startswith(mnemonic):
            raise Failure(f"{addr:#x} is {mnemonic}, not '{text}'")

    def check_time(self, where, t, event):
        begin, end = self.bounds(event)
        ranges = {
            EVENT: (event - 1, event - 1),
            SOON: (event - 1, event + 2),
            LATER: (begin, self.bounds(end + 1)[1]),
            LOST: (event - 1, event + 2),
            FRAME: (begin, event - 1),
            STORED: (begin, event - 1),
        }
        first, last = ranges[where]
        if not first <= t <= last:
            raise Failure(f"named t={t}, must be in [{first}, {last}]")

    def check_line(self, where, event, line):
        at, before = AT.fullmatch(line), BEFORE.fullmatch(line)
        if at:
            t, addr = int(at.group(1)), int(at.group(2), 16)
            self.check_time(where, t, event)
            if where != LOST:
                self.check_place(t, addr, at.group(3))
            if at.group(5) == at.group(6):
                raise Failure("expected and found are the same")
        elif before and where == STORED:
            begin, end = self.bounds(event)
            if (int(before.group(1)), int(before.group(5))) != (end, begin):
                raise Failure(f"must be between {begin} and {end}")
        else:
            raise Failure("not the line that it should be")

    def check_query(self):
        """Whatever it says, it must not crash."""
        times = self.starts[::5] + [start + 500 for start in self.starts[::3]]
        addrs = "kept", "0x401000", "sums", "0x41fff0", "buffer", "page+4090"
        text = "".join(f"{addr} {t} 16\n" for addr in addrs for t in times)
        done = self.cprec("query", self.bad, "-", text=text)
        if done.returncode not in (0, 1):
            raise Failure(f"query: status {done.returncode}: {done.stderr}")
        for line in done.stderr.splitlines():
            if not line.startswith("cprec: "):
                raise Failure(f"query said: {line}")
        for t in times[::4]:
            done = self.cprec("registers", self.bad, "--at", str(t))
            if done.returncode not in (0, 1):
                raise Failure(f"query: status {done.returncode}: "
                              f"{done.stderr}")

    def run_case(self, what, number, where):
        if os.path.exists(self.bad):
            os.unlink(self.bad)
        number = number.format(**self.numbers)
        done = subprocess.run(
            [self.options.tamper, self.good, self.bad, what, *number.split()],
            capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"tamper {what} {number}: {done.returncode} "
                          f"{done.stderr}")
        segment, event = (int(word) for word in done.stdout.split())
        if what == "page":
            event = self.starts[segment]
        elif what == "reads":
            event = self.received
        done = self.cprec("verify", self.bad)
        if where == UNSEEN:
            if done.returncode or done.stderr:
                raise Failure(f"status {done.returncode}: {done.stderr}")
        elif done.returncode != 1 or done.stdout:
            raise Failure(f"status {done.returncode}: {done.stdout}"
                          f"{done.stderr}")
        else:
            try:
                self.check_line(where, event, done.stderr)
            except Failure as failure:
                raise Failure(f"{failure}\n{done.stderr}") from failure
        self.check_query()

    def segments_of_one_step(self):
        """Shorter than blocks are."""
        trace = os.path.join(self.folder,
                             "short.cpr")
        done = self.cprec("record", "-q", "--segment=1", "-o", trace,
                          self.options.guest)
        done = done if done.returncode else self.cprec("verify", trace)
        if done.returncode:
            raise Failure(f"status {done.returncode}: {done.stderr}")


def run_all(options, folder):
    tests = Tests(options, folder)
    cases = [case for case in CASES if options.only in case[0]]
    tests.prepare()
    for name, *case in cases:
        tests.test(name, tests.run_case, *case)
    if options.only in "segments of one step":
        tests.test("segments of one step", tests.segments_of_one_step)
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    sys.exit(main(run_all, "tamper", "guest", parser=parser))
