#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a debugger changes: functions that it calls, variables that it sets, and
what it then asks of mappings, threads, signals and core files.

  gdb_calls.py --cprec CPREC [--gdb GDB]
"""
import argparse
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gdb import Gdb  # noqa: E402
from tap import equal, expect, main  # noqa: E402

# Three threads, one of which dies.
DIES = """#include <pthread.h>
#include <stdio.h>
#define OWN __attribute__((noinline))
static pthread_barrier_t barrier;
static __thread int own;
int shared = 5;
int *nowhere = (int *)0x1230;
OWN int mine(int n) { own += n; return own; }
static void *work(void *number)
{
  own = (int)(long)number * 100;
  mine(0);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return 0;
}
int main(void)
{
  pthread_t threads[2];
  pthread_barrier_init(&barrier, 0, 3);
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, work, (void *)(i + 1));
  own = 7;
  pthread_barrier_wait(&barrier);
  *nowhere = mine(0);
  return 0;
}
"""

# Where a thread is, what it has, and what is known of its signal.
REGISTERS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8",
             "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip", "fs_base")
LOOKS = [*(f"thread apply all -q p/x ${name}" for name in REGISTERS),
         "thread apply all -q p/x $xmm0.uint128",
         "p $_siginfo.si_signo", "p $_siginfo._sifields._sigfault.si_addr",
         "p shared", "x/2i $pc", "bt 1"]


def mappings(text):
    """Start, end and offset of those of files."""
    return [(*found[0:2], found[2]) for found in re.findall(
        r"^ *(0x\w+) +(0x\w+) +0x\w+ +(0x\w+) +(?:\S+ +)?/", text, re.M)]


class Calls(Gdb):
    def core(self):
        """Of a moment that was changed: all that is asked is what gdb finds in
        a core file of it."""
        program = self.build("dies", DIES, "-g", "-O0", "-pthread")
        path = self.record("dies", program)
        core = os.path.join(self.folder, "core")
        answers, errors = self.gdb(
            self.ours(path), ["print (void *)malloc(100)",
                              "set var shared = 77", "info proc mappings",
                              f"generate-core-file {core}", "info threads",
                              *LOOKS])
        expect("0x" in answers[0], f"{answers[0]}{errors}")
        expect("Saved corefile" in answers[3], f"{answers[3]}{errors}")
        natively, errors = self.gdb(
            [self.options.gdb, program, core],
            ["info proc mappings", "info threads", *LOOKS])
        files = mappings(answers[2])
        expect(len(files) > 8, answers[2])
        equal(mappings(natively[0]), files, errors)
        equal(re.findall(r"LWP (\d+)", natively[1]),
              re.findall(r"Thread \d+\.(\d+)", answers[4]), natively[1])
        for asked, ours, theirs in zip(LOOKS, answers[5:], natively[2:]):
            theirs, ours = (re.sub(r"^\$\d+", "$", text, flags=re.M)
                            for text in (theirs, ours))
            expect(ours.strip(), f"{asked}: {errors}")
            equal(theirs, ours, f"{asked}\n{errors}")
        notes = subprocess.run(["readelf", "-hn", core], capture_output=True,
                               text=True, check=True).stdout
        expect("CORE (Core file)" in notes, notes)
        for note, count in (("NT_PRSTATUS", 3), ("NT_SIGINFO", 1),
                            ("NT_FILE", 1), ("NT_PRPSINFO", 1),
                            ("NT_AUXV", 1)):
            equal(notes.count(note), count, note)
        return f"{len(files)} mappings, {len(LOOKS)} answers"

    def threads(self):
        """Each call is made by the thread that is looked at."""
        program = self.build("threads_call", DIES, "-g", "-O0", "-pthread")
        path = self.record("threads_call", program)
        return self.session(
            path,
            ("print mine(2)", r"= 9\n"),
            ("thread 2", ""), ("print mine(1)", r"= [12]01\n"),
            ("thread 3", ""), ("print mine(1)", r"= [12]01\n"),
            ("print mine(1)", r"= [12]02\n"),
            ("thread 1", ""), ("print mine(1)", r"= 10\n"),
            ("tbreak mine", ""),
            ("print mine(1)", "stopped while in a function called from GDB"),
            ("thread 2", ""),
            ("print mine(1)", "thread \\d+ has not returned yet|cannot|Could"),
            ("thread 1", ""), ("finish", "Value returned|Run till exit"),
            ("print shared", "= 5"), at=(), errors=subprocess.STDOUT)


def run_all(options, folder):
    tests = Calls(options, folder)
    tests.test("a core file, after a call", tests.core)
    tests.test("each thread calls", tests.threads)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--gdb", default="gdb", help="this one")
    sys.exit(main(run_all, parser=PARSER))
