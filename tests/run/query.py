#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Queries whose answers are known by construction: see tests/run/programs/asked.c.

usage: query.py --cprec C --guest G [--keep FOLDER]

Each line of ANSWERS says what some bytes held: before a system call (its
instruction has not retired), at it (it just has), and one instruction after.
Asked of recordings with several sizes of segments, one by one and all in one
run, in the order of time and backwards.  Speaks TAP.
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, Failure, main  # noqa: E402

PLACE = 0x20000000
VARIANTS = {
    "by default": (),
    "segments of 1000": ("--segment=1000",),
    "segments of 300": ("--segment=300", "--cache-size=16k"),
    "tiny segments": ("--segment=40",),
}


def page(number, offset=0):
    return PLACE + 4096 * number + offset


# Bytes of the file, which the guest reads into file_pages.
FILE_1, FILE_2 = "file 4097", "file 8193"

# name, address, size, system call, and what it holds before, at and after
ANSWERS = (
    ("mapped", page(0), 2, 0, "????", "0000", "0000"),
    ("never touched", page(2), 2, 0, "????", "0000", "0000"),
    ("never touched, later", page(2), 2, 7, "0000", "0000", "0000"),
    ("moved away", page(1), 2, 1, "0200", "????", "????"),
    ("moved here", page(256), 2, 1, "????", "0200", "0200"),
    ("moved and written", page(256), 2, 2, "0216", "0216", "0216"),
    ("moved, much later", page(256), 2, 9, "0216", "0216", "0216"),
    ("moved and unmapped", page(256), 2, 13, "0216", "????", "????"),
    ("cleared", page(0), 2, 2, "0100", "0000", None),
    ("cleared and written", page(0), 2, 3, "000b", "000b", "000b"),
    ("cleared, never touched again", page(7), 2, 7, "0700", "0000", "0000"),
    ("cleared long ago", page(7), 2, 12, "0000", "0000", "0000"),
    ("unmapped and soon mapped anew", page(3), 2, 3, "0300", "????", "????"),
    ("mapped anew", page(3), 2, 4, "????", "0000", None),
    ("mapped anew and written", page(3), 2, 5, "0021", "0021", "0021"),
    ("unmapped for long", page(4), 2, 5, "0400", "????", "????"),
    ("mapped anew after long", page(4), 2, 6, "????", "0000", "0000"),
    ("mapped anew and written later", page(4), 2, 7, "002c", "002c", "002c"),
    ("beside the mappings", page(9), 2, 5, "????", "????", "????"),
    ("across two pages", page(0, 4095), 2, 0, "????", "0000", "0000"),
    ("half of it is mapped", page(2, 4095), 2, 3, "0003", "00??", "00??"),
    ("a read that is seen later", "file_pages+4097", 1, 9, "00", FILE_1,
     FILE_1),
    ("the same, at another call", "file_pages+4097", 1, 10, FILE_1, FILE_1,
     FILE_1),
    ("the same, when it was seen", "file_pages+4097", 1, 11, FILE_1, FILE_1,
     FILE_1),
    ("the same, at the end", "file_pages+4097", 1, 13, FILE_1, FILE_1,
     FILE_1),
    ("a read that is never seen", "file_pages+16385", 1, 9, "00", "??", "??"),
    ("the same, at another call", "file_pages+16385", 1, 10, "??", "??",
     "??"),
    ("the same, at the end", "file_pages+16385", 1, 13, "??", "??", "??"),
    ("a read that is changed", "file_pages+8193", 1, 9, "00", FILE_2, FILE_2),
    ("just before the change", "file_pages+8193", 1, 11, FILE_2, FILE_2,
     None),
    ("after the change", "file_pages+8193", 1, 12, "+" + FILE_2,
     "+" + FILE_2, "+" + FILE_2),
)


class Tests(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        with open(options.guest, "rb") as file:
            self.file = file.read()

    def record(self, name, variant):
        trace = os.path.join(self.folder, name.replace(" ", "-") + ".cpr")
        done = self.cprec("record", *variant, "-o", trace, "--",
                          self.options.guest)
        if done.returncode or done.stderr:
            raise Failure(f"record: {done.returncode}: {done.stderr}")
        times = [int(line.split()[0])
                 for line in self.cprec("dump", trace).stdout.splitlines()
                 if re.match(r"\d+ +SYSCALL ", line)]
        if len(times) != 15:
            raise Failure(f"{len(times)} system calls")
        return trace, times

    def expected(self, answer):
        if not answer.startswith(("file", "+file")):
            return answer
        byte = self.file[int(answer.split()[1])] + answer.startswith("+")
        return f"{byte & 255:02x}"

    def questions(self, times):
        """name, address, time, size, expected bytes"""
        for name, addr, size, call, *answers in ANSWERS:
            for step, answer in enumerate(answers):
                if answer is not None:
                    where = ("before", "at", "after")[step]
                    yield (f"{name}, {where}", addr,
                           times[call] + step - 1, size,
                           self.expected(answer))

    def ask(self, trace, questions):
        """All in one run; yields the differences."""
        text = "".join(f"{addr} {t} {size}\n"
                       for _, addr, t, size, _ in questions)
        done = self.cprec("query", trace, "-", "--json", text=text)
        lines = done.stdout.splitlines()
        if done.returncode not in (0, 1) or len(lines) != len(questions):
            raise Failure(f"{len(questions)} questions, {len(lines)} answers, "
                          f"status {done.returncode}: {done.stderr}")
        for (name, addr, t, _, expected), line in zip(questions, lines):
            answer = json.loads(line)
            found = answer["bytes"].replace(" ", "")
            if found != expected:
                yield (f"{name} ({addr} at {t}): {found}, "
                       f"should be {expected} ({answer['source']})")
            elif (answer["source"] == "unknown") != (set(found) == {"?"}):
                yield f"{name} ({addr} at {t}): {line}"

    def run(self, variant, order):
        trace, times = self.record(variant + " " + order, VARIANTS[variant])
        questions = list(self.questions(times))
        if order == "as listed":
            pass
        elif order == "backwards":
            questions.sort(key=lambda question: -question[2])
        elif order == "forwards":
            questions.sort(key=lambda question: question[2])
        if order == "one by one":
            wrong = [line for question in questions
                     for line in self.ask(trace, [question])]
        else:
            wrong = list(self.ask(trace, questions))
        if wrong:
            raise Failure("\n".join(wrong))
        done = self.cprec("verify", trace)
        if done.returncode:
            raise Failure(f"verify: {done.stderr}")


def run_all(options, folder):
    tests = Tests(options, folder)
    cases = [(variant, order) for variant in VARIANTS
             for order in ("as listed", "forwards", "backwards", "one by one")]
    for variant, order in cases:
        tests.test(f"{variant}, {order}", tests.run, variant, order)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "guest"))
