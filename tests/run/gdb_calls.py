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

# Says who it is, and what the time is; then its functions are called.
ASKS = """#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#define OWN __attribute__((noinline))
OWN long process(void) { return getpid(); }
OWN long user(int which)
{
  return which == 0 ? getuid() : which == 1 ? geteuid() :
         which == 2 ? getgid() : getegid();
}
OWN long seconds(void) { return time(0); }
OWN long micros(void)
{
  struct timeval now = { 0 };
  return gettimeofday(&now, 0) ? -1 : now.tv_sec * 1000000L + now.tv_usec;
}
OWN long nanos(int clock)
{
  struct timespec now = { 0 };
  return clock_gettime(clock, &now) ? -1 : now.tv_sec * 1000000000L + now.tv_nsec;
}
OWN long slept(void)
{
  struct timespec wanted = { 5, 0 };
  long before = nanos(CLOCK_MONOTONIC);
  return nanosleep(&wanted, 0) ? -1 : nanos(CLOCK_MONOTONIC) - before;
}
OWN const char *home(void) { return getenv("HOME"); }
OWN const char *folder(void) { static char path[4096]; return getcwd(path, 4096); }
OWN long parent(void) { return getppid(); }
OWN const char *kernel(void)
{
  static struct utsname name;
  return uname(&name) ? "?" : name.release;
}
OWN long limit(void)
{
  struct rlimit found = { 0 };
  return getrlimit(RLIMIT_STACK, &found) ? -1 : (long)found.rlim_cur;
}
OWN long session(void) { return getsid(0); }
/* By brk(), mmap(), mremap() and madvise(), all of which must be as it says. */
OWN long allocates(void)
{
  char *small = malloc(200000 % 1000 + 60000), *large = malloc(5000000), *more;
  long sum;
  memset(small, 1, 60000);
  memset(large, 2, 5000000);
  more = realloc(large, 20000000);
  sum = more[0] + more[4999999] + small[59999];
  more[19999999] = 3;
  sum += more[19999999];
  free(more);
  free(small);
  return sum;
}
OWN int prints(int n) { return printf("number %d\\n", n); }
OWN int opens(void) { return open("/etc/passwd", O_RDONLY); }
OWN int reads(void) { char byte; return read(0, &byte, 1); }
OWN int dies(void) { abort(); }
OWN int random_one(void) { char bytes[8]; return getentropy(bytes, 8); }
OWN void told(void) { fflush(stdout); }
int main(void)
{
  printf("%ld %ld %ld %ld %ld\\n", process(), user(0), user(1), user(2), user(3));
  printf("%ld %ld %s %s\\n", nanos(CLOCK_REALTIME), nanos(CLOCK_MONOTONIC),
         home(), folder());
  printf("%ld %s %ld\\n", parent(), kernel(), limit());
  told();
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


    def answers(self):
        """What the recording has, or the debugger's user; the rest is refused
        in words."""
        program = self.build("asks", ASKS, "-g", "-O0")
        path = os.path.join(self.folder, "asks.cpr")
        said = self.cprec("record", "-q", "-o", path, "--",
                          program).stdout.splitlines()
        pid, *users = said[0].split()
        real, monotonic, home, folder = said[1].split(None, 3)
        parent, kernel, limit = said[2].split()
        near = 600 * 10 ** 9
        refused = r"{}\(\) cannot be answered: .*SIGSYS, Bad system call.*" \
            r"\({}\) will be\s+abandoned"
        steps = [
            ("break told", ""), ("continue", "Breakpoint 1"),
            ("print process()", f"= {pid}\n"),
            *((f"print user({which})", f"= {user}\n")
              for which, user in enumerate(users)),
            # Of the wall's clock, it is known to some milliseconds.
            *((f"print {asked} < 600 && {asked} > -600", "= 1") for asked in (
                f"(nanos(0) - {real})/1000000000",
                f"(micros() - {real}/1000)/1000000",
                f"seconds() - {real}/1000000000")),
            (f"print nanos(1) - {monotonic} < {near}", "= 1"),
            (f"print nanos(1) >= {monotonic}", "= 1"),
            # It takes no time, and yet it has passed.
            ("print slept() >= 5000000000", "= 1"),
            ("print slept() < 6000000000", "= 1"),
            ("print home()", f'"{re.escape(home)}"'),
            ("print folder()", f'"{re.escape(folder)}"'),
            ("print parent()", f"= {parent}\n"),
            ("print kernel()", f'"{re.escape(kernel)}"'),
            ("print limit()", f"= {limit}\n"),
            ("print allocates()", "= 8\n"), ("print allocates()", "= 8\n"),
            ("print random_one()", "= 0\n"),
            ("print opens()", refused.format("open(?:at)?", "opens")),
            ("print reads()", refused.format("read", "reads")),
            ("print session()", refused.format("getsid", "session")),
            ("print dies()", r"SIGABRT, Aborted.*\(dies\) will be\s+abandoned"),
            # What was refused has changed nothing.
            ("print process()", f"= {pid}\n"),
            ("print prints(7)", r"= 9\n"),
            ("call (int)fflush(0)", "number 7\n.*= 0\n"),
            ("backtrace", r"#0  told \(\) at"),
        ]
        return self.session(path, *steps, errors=subprocess.STDOUT)

    def terminal(self):
        """Output of a program that had none: at the end of each line."""
        program = self.build("silent", "#include <stdio.h>\n"
                             "int says(void) { return printf(\"a\\nb\"); }\n"
                             "int main(void) { return fileno(stdout) != 1; }\n",
                             "-g", "-O0")
        path = self.record("silent", program)
        return self.session(
            path, ("tbreak main", ""), ("continue", "main"),
            ("print says()", r"\ba\n.*= 3\n"),
            ("print (int)puts(\"c\")", r"\bbc\n.*= 2\n"),
            errors=subprocess.STDOUT)


def run_all(options, folder):
    tests = Calls(options, folder)
    tests.test("a core file, after a call", tests.core)
    tests.test("each thread calls", tests.threads)
    tests.test("what the recording knows", tests.answers)
    tests.test("output is a terminal's", tests.terminal)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--gdb", default="gdb", help="this one")
    sys.exit(main(run_all, parser=PARSER))
