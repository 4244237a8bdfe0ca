#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever resumes, stops where anything is to stop: in other threads, and at
all that changes memory; and nowhere else.  What the program prints on the way
appears.  With gdb, and `cprec debug --plain`."""
import argparse
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from plain import Plain  # noqa: E402
from tap import equal, expect, main  # noqa: E402

# The first thread waits in one instruction while the other one executes.
BLOCKS = """#include <pthread.h>
#include <unistd.h>
int met, ends[2];
void meet(void) { met = 1; }
static void *work(void *unused)
{
  usleep(1000);
  meet();
  return write(ends[1], "x", 1) == 1 ? unused : 0;
}
static long wait_for(char *byte)
{
  long got;
  __asm__ volatile("syscall" : "=a"(got) : "a"(0L), "D"((long)ends[0]),
                   "S"(byte), "d"(1L) : "rcx", "r11", "memory");
  return got;
}
int main(void)
{
  pthread_t other;
  char byte;
  if (pipe(ends))
    return 1;
  pthread_create(&other, 0, work, 0);
  return wait_for(&byte) != 1;
}
"""

# Calls change memory; some of them say only that they may have.
MAPPED = """#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#define BOTH (PROT_READ | PROT_WRITE)
#define PAGE 4096
enum { SIZE = 16 * PAGE };
static char *block;
static void change(int file)
{
  char *at = block + 2 * PAGE + 100;
  *at = 'a';
  madvise(block, SIZE, MADV_DONTNEED);
  *at = 'b';
  mmap(block, SIZE, BOTH, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  *at = 'c';
  for (int i = 0; i < 2; i++)
    if (read(file, block, SIZE) != SIZE)
      _exit(2);
  *at = 'd';
  mremap(block, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, block + SIZE);
  mremap(block + SIZE, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, block);
  munmap(block, SIZE);
}
int main(int argc, char **argv)
{
  int file = open(argv[1], O_RDONLY);
  block = mmap(0, 2 * SIZE, BOTH, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  change(file);
  return argc != 2;
}
"""

# What is watched of it.
WATCHED = "*(block + 2 * 4096 + 100)"

# A thread ends last before a signal ends the process.
ENDS = """#include <pthread.h>
#include <unistd.h>
static void *work(void *unused) { usleep(1000); return unused; }
int main(void)
{
  pthread_t other;
  alarm(1);
  pthread_create(&other, 0, work, 0);
  for (;;)
    pause();
}
"""

# Many signals that stop nobody.
SIGNALS = """#include <signal.h>
int seen;
static void handler(int number) { seen += number == SIGURG; }
int main(void)
{
  signal(SIGURG, handler);
  for (int i = 0; i < 1000; i++)
    raise(SIGURG);
  return seen != 1000;
}
"""

# Ignores what it sends to itself, and what the kernel sends for a write.
IGNORED = """#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void)
{
  static const int numbers[] = { 64, 63, SIGUSR1, SIGSEGV, SIGPIPE };
  int ends[2];
  for (int i = 0; i < 5; i++) {
    signal(numbers[i], SIG_IGN);
    kill(getpid(), numbers[i]);
    raise(numbers[i]);
  }
  sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = 5 });
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
    return 1;
  close(ends[1]);
  send(ends[0], "x", 1, MSG_NOSIGNAL);
  return write(ends[0], "x", 1) != -1;
}
"""

# Prints to both streams; once in an instruction of a line of its own.
PRINTS = """#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static void say(const char *text)
{
  printf("%s\\n", text);
  fflush(stdout);
}
static long write_itself(const char *text, long size)
{
  long done;
  __asm__ volatile("syscall" : "=a"(done) : "a"(1L), "D"(1L), "S"(text),
                   "d"(size) : "rcx", "r11", "memory");
  return done;
}
int main(int argc, char **argv)
{
  int status = argc > 1 ? atoi(argv[1]) : 0;
  say("one");
  fprintf(stderr, "two\\n");
  write_itself("three\\n", 6);
  say("four");
  if (status > 255)
    raise(SIGFPE);
  return status;
}
"""


def changes_in(answers):
    """Of a watchpoint: pairs of the old value and the new one."""
    return re.findall(r"Old value = (.*)\nNew value = (.*)(?:\n|$)",
                      "\n".join(answers))


class Stops(Plain):
    def blocks(self):
        """The program, and its recording."""
        program = self.build("blocks", BLOCKS, "-g", "-O0", "-pthread")
        return program, self.record("blocks", program)

    # ------- breakpoints of other threads -------

    def natively(self, program):
        """gdb on the program itself stops there, too."""
        answers, errors = self.gdb(
            [self.options.gdb, program],
            ["tbreak wait_for", "run", "break meet", "next", "p met"])
        expect("Breakpoint 2, meet" in answers[3], f"{answers} {errors}")

    def steps(self):
        """The step ends where the other thread stops; so does one backwards."""
        program, path = self.blocks()
        self.natively(program)
        for command in "next", "step", "stepi 20":
            self.session(
                path,
                ("tbreak wait_for", ""), ("continue", "wait_for"),
                ("break meet", ""), (command, "Breakpoint 2, meet"),
                ("p met", "= 0"), ("continue", "history"))
            self.asks(
                path,
                ("tbreak wait_for", ""), ("continue", "wait_for"),
                ("break meet", ""), (command, "Breakpoint 2, meet"),
                ("print met", "= 0"), ("continue", "ends here"))
        for command in "reverse-next", "reverse-step", "reverse-stepi 20":
            self.session(
                path,
                ("tbreak 16", ""), ("continue", "16"),
                ("break meet", ""), (command, "Breakpoint 2, meet"),
                ("p met", "= 0"), ("reverse-continue", "history"))
            self.asks(
                path,
                ("tbreak 16", ""), ("continue", ":16"),
                ("break meet", ""), (command, "Breakpoint 2, meet"),
                ("print met", "= 0"), ("reverse-continue", "begins here"))

    def passes(self):
        """What stops nobody is passed, and the step goes on."""
        _, path = self.blocks()
        self.session(
            path,
            ("tbreak wait_for", ""), ("continue", "wait_for"),
            ("break meet if met == 1", ""), ("next", r"(^|\n)16\t"),
            ("p met", "= 1"), ("reverse-next", "\n14|^14"), ("p met", "= 0"))
        return self.asks(
            path,
            ("tbreak wait_for", ""), ("continue", "wait_for"),
            ("break meet", ""), ("ignore 2 1", ""), ("next", r"(^|\n)16\t"),
            ("info breakpoints", "met 1 time"),
            ("ignore 2 1", ""), ("reverse-next", "^14"),
            ("info breakpoints", "met 2 times"))

    def calls(self):
        """A call that is caught stops a step over its instruction."""
        _, path = self.blocks()
        return self.asks(
            path,
            ("tbreak wait_for", ""), ("continue", "wait_for"),
            ("catch syscall read", ""), ("next", "call of read"),
            ("next", "returned from read = 1"), ("next", r"(^|\n)16\t"),
            ("reverse-next", "returned from read = 1"),
            ("reverse-next", "call of read"))

    # ------- what the kernel changes -------

    def mapped(self):
        """A watch sees what gdb sees natively, where it looks after each
        instruction; and the same backwards."""
        program = self.build("mapped", MAPPED, "-g", "-O0")
        data = os.path.join(self.folder, "data")
        with open(data, "w", encoding="ascii") as file:
            file.write("x" * 65536 + "y" * 65536)
        path = self.record("mapped", program, data)
        runs = ["continue"] * 12
        begin = [f"watch -l {WATCHED}", *runs]
        natively = changes_in(self.gdb(
            [self.options.gdb, program],
            [f"set args {data}", "set can-use-hw-watchpoints 0",
             "break change", "run", *begin])[0])
        equal(len(natively), 11, f"{natively}")
        answers, _ = self.gdb(
            self.ours(path), ["tbreak change", "continue", *begin,
                              *["reverse-continue"] * len(natively)])
        found = changes_in(answers)
        there, back = found[:len(natively)], found[len(natively):]
        equal(there, natively, "forwards")
        equal([(new, old) for old, new in reversed(back)], natively,
              "backwards")
        return f"{len(natively)} changes"

    def last_address(self):
        """Nothing is there, so nothing stops."""
        _, path = self.blocks()
        for watch in ("watch -l *(char *)-1", "rwatch *(char *)-1",
                      "awatch *(long *)-8"):
            self.session(
                path, (watch, "atchpoint 1"), ("continue", "history"),
                ("reverse-continue", "history"), ("stepi", "0x|_start"),
                at=("-g", "main"))
        return self.asks(
            path, ("watch *(char *)-1", ""), ("continue", "ends here"),
            ("reverse-continue", "begins here"), ("stepi", r"\[1 "))

    # ------- threads -------

    def ended(self):
        """A thread that has ended is none, also where nothing comes after."""
        program = self.build("ends", ENDS, "-g", "-O0", "-pthread")
        path = self.record("ends", program)
        self.session(
            path,
            ("info threads", r"Frame *\n\* 1 [^\n]*(pause|syscall)[^\n]*$"),
            ("thread apply all bt", r"^\n?Thread 1 .*pause.*main"),
            ("python print(len(gdb.selected_inferior().threads()))", "^1$"),
            at=("-g", "end"))
        return self.asks(path, ("goto end", ""),
                         ("info threads", r"^\* \d+ [^\n]*(pause|syscall)[^\n]*\n$"))

    # ------- signals -------

    def timed(self, ask, *arguments):
        """How long that takes, in seconds."""
        begun = time.monotonic()
        ask(*arguments)
        return time.monotonic() - begun

    def passed(self):
        """Signals that are passed cost what a replay costs."""
        program = self.build("signals", SIGNALS, "-g", "-O0")
        path = self.record("signals", program)
        passes = ("handle SIGURG nostop noprint pass", "")
        there = [("continue", "history"), ("p seen", "= 1000"),
                 ("reverse-continue", "history"), ("p seen", "= 0")]
        alone = self.timed(self.session, path, passes)
        took = self.timed(self.session, path, passes, *there) - alone
        # Each took 10 ms and more when it ended a run.
        expect(took < 3, f"2,000 signals took {took:.1f} s")
        took = self.timed(self.asks, path, ("continue", "ends here"),
                          ("reverse-continue", "begins here"))
        expect(took < 3, f"2,000 signals took {took:.1f} s")
        return self.asks(
            path, ("catch signal SIGURG", ""), ("continue", "SIGURG"),
            ("print seen", "= 0"), ("continue", "SIGURG"),
            ("print seen", "= 1"), ("reverse-continue", "SIGURG"),
            ("delete", ""), ("handle SIGURG stop", ""),
            ("continue", "SIGURG"), ("print seen", "= 1"))

    def ignored(self):
        """gdb is told of signals that are ignored, as natively."""
        program = self.build("ignored", IGNORED, "-g", "-O0")
        path = self.record("ignored", program)
        runs = ["continue"] * 13
        natively, _ = self.gdb([self.options.gdb, program],
                               ["break main", "run", *runs])
        found, _ = self.gdb(self.ours(path), ["tbreak main", "continue", *runs])
        native, ours = (re.findall("received signal (.*)", "\n".join(answers))
                        for answers in (natively, found))
        equal(len(native), 12, f"{natively}")
        equal(ours, native, "signals")
        return f"{len(ours)} signals"

    # ------- what is printed -------

    def prints(self):
        """What is printed appears forwards, when it is, and not backwards."""
        program = self.build("prints", PRINTS, "-g", "-O0")
        path = self.record("prints", program, "3")
        there = (("break say", ""), ("continue", r"^(?!.*one\n).*Breakpoint"),
                 ("tbreak 20", ""), ("continue", r"^one\n"),
                 ("next", r"^two\n"),
                 ("next", r"^three\n.*say..four"),
                 ("reverse-next", r"^(?!.*three\n).*write_itself"),
                 ("stepi 40", r"^three\n"),
                 ("reverse-stepi 40", r"^(?!three\n)"),
                 ("reverse-continue", r"^(?!.*one\n).*Breakpoint"))
        self.session(
            path, *there, ("delete", ""),
            ("continue", r"^one\ntwo\nthree\nfour\n\[Inferior 1 \(process "
             r"\d+\) exited with code 03\]\n\n.*istory"),
            ("continue", r"^(?!.*exited)"), ("break write_itself", ""),
            ("run", r"one\ntwo\n\nBreakpoint"),
            ("reverse-continue", r"^(?!.*one\n)"), errors=subprocess.STDOUT)
        return self.asks(
            path, *there, ("delete", ""),
            ("continue", r"^one\ntwo\nthree\nfour\n\nThe recording ends"),
            ("break write_itself", ""), ("run", r"^one\ntwo\n\nBreakpoint"))

    def ends(self):
        """How it ends is told as natively."""
        program = self.build("prints", PRINTS, "-g", "-O0")
        ends = []
        for status in "0", "3", "11", "256":
            path = self.record("ends", program, status)
            answers, _ = self.gdb(
                [self.options.gdb, program],
                [f"set args {status}", "break main", "run", *["continue"] * 2,
                 "echo"])
            natively = re.findall(r"(exited .*)\]\n|(terminated with .*)\n",
                                  "\n".join(answers) + "\n")
            answers, _ = self.gdb(self.ours(path), ["continue"] * 3,
                                  subprocess.STDOUT)
            ours = re.findall(r"(exited .*)\]\n|(terminated with .*)\n",
                              "\n".join(answers) + "\n")
            equal(len(natively), 1, f"{natively}")
            equal(ours, natively, f"status {status}")
            ends += ["".join(one) for one in ours]
        return ", ".join(ends)


def run_all(options, folder):
    tests = Stops(options, folder)
    tests.test("steps while another thread executes", tests.steps)
    tests.test("... with conditions", tests.passes)
    tests.test("... with calls that are caught", tests.calls)
    tests.test("what calls do to what is watched", tests.mapped)
    tests.test("a watch of the last address", tests.last_address)
    tests.test("a thread that ended at last", tests.ended)
    tests.test("signals that stop nobody", tests.passed)
    tests.test("signals that are ignored", tests.ignored)
    tests.test("what is printed", tests.prints)
    tests.test("ends", tests.ends)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--gdb", default="gdb", help="this one")
    sys.exit(main(run_all, parser=PARSER))
