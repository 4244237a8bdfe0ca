#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of gdb on recordings: what it says, command by command.

A session is a list of commands, each with what its answer must match.  Where
gdb can do the same by itself, on the program or with its own recorder, it is
asked that.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import CprecTap, Failure, GDB_NAMES, equal, expect, main  # noqa: E402

LIST = """#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int id; struct node *next; };
struct node *head;
int total, caught;
__thread int own = 5;
static void push(int id)
{
  struct node *node = malloc(sizeof *node);
  node->id = id;
  node->next = head;
  head = node;
}
int length(struct node *node)
{
  return node ? 1 + length(node->next) : 0;
}
static void handler(int signal)
{
  caught += signal;
}
int main(void)
{
  signal(SIGUSR1, handler);
  for (int i = 0; i < 5; i++)
    push(i * 10);
  own = 7;
  total = length(head);
  raise(SIGUSR1);
  total += caught;
  printf("%d\\n", total);
  head->next->next = (void *)0x10;
  total = length(head);
  return 0;
}
"""

CPP = """#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct Shape { virtual ~Shape() {} virtual int area() const = 0; };
struct Square : Shape {
  int side;
  explicit Square(int s) : side(s) {}
  int area() const override { if (side > 3) throw std::runtime_error("big");
    return side * side; }
};
std::map<std::string, int> areas;
template <typename T> int add(const T &shape, const std::string &name)
{
  int area = shape.area();
  areas[name] = area;
  return area;
}
int main()
{
  int sum = 0;
  try {
    for (int i = 1; i < 6; i++)
      sum += add(Square(i), "square " + std::to_string(i));
  } catch (const std::exception &error) {
    sum = -sum;
  }
  return sum == -14 ? 0 : 1;
}
"""

THREADS = """#include <pthread.h>
#include <stdio.h>
int counter;
static void *work(void *name)
{
  for (int i = 0; i < 1000; i++)
    counter++;
  return name;
}
int main(void)
{
  pthread_t threads[2];
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  printf("%d\\n", counter);
  return 0;
}
"""

# Threads have names: of the program, of who makes them, their own, given by
# others.
NAMES = """#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
static pthread_barrier_t there, over;
static void *wait_there(void *unused)
{
  pthread_barrier_wait(&there);
  pthread_barrier_wait(&over);
  return unused;
}
static void *work(void *unused)
{
  pthread_t made;
  prctl(PR_SET_NAME, "worker <&>");
  pthread_create(&made, 0, wait_there, 0);
  wait_there(0);
  pthread_join(made, 0);
  return unused;
}
void meet(void) { }
int main(int argc, char **argv)
{
  pthread_t threads[2];
  if (argc == 1)
    execl(argv[0], "another", "again", (char *)0);
  pthread_barrier_init(&there, 0, 4);
  pthread_barrier_init(&over, 0, 4);
  pthread_create(&threads[0], 0, wait_there, 0);
  pthread_create(&threads[1], 0, work, 0);
  pthread_barrier_wait(&there);
  meet();
  pthread_setname_np(threads[0], "named by others");
  pthread_setname_np(pthread_self(), "the first");
  meet();
  pthread_barrier_wait(&over);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
"""

# A child has what its parent wrote.
FORKS = """#include <sys/wait.h>
#include <unistd.h>
int before, after;
int main(void)
{
  before = 42;
  if (!fork()) {
    after = before + 1;
    _exit(after != 43);
  }
  wait(0);
  return 0;
}
"""

# Forks, and is two other programs, one after the other.
EXECS = r"""#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int phase = 1;
int main(int argc, char **argv)
{
  if (argc > 1) {
    phase = 3;
    return write(1, "second\n", 7) != 7;
  }
  pid_t pid = fork();
  if (!pid)
    _exit(3);
  phase = 2;
  waitpid(pid, 0, 0);
  execl("/bin/sh", "sh", "-c", "exec \"$0\" more", argv[0], (char *)0);
  return 1;
}
"""

# A breakpoint is passed more often than any debugger can be asked.
LOOP = r"""#include <stdio.h>
#include <stdlib.h>
static int total;
static __attribute__((noinline)) void tally(int i, const char *name)
{
  total += i;
  (void)name;
}
int main(int argc, char **argv)
{
  int count = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < count; i++)
    tally(i, "word");
  return printf("%d\n", total) < 0;
}
"""

# What gdb's own recorder can follow: neither libraries nor vectors.
PLAIN = """static int table[16];
static int mix(int x) { return x * 7 + (x >> 2); }
static int fill(int n)
{
  int sum = 0;
  for (int i = 0; i < n; i++) {
    table[i & 15] = mix(i);
    sum += table[i & 15];
  }
  return sum;
}
int main(void)
{
  int a = fill(5);
  int b = fill(9);
  table[3] = a + b;
  return table[3] & 1;
}
"""

# Recursion; structures, a switch and pointers to functions; each beside PLAIN.
RECURSES = """static int total, depth, table[8];
static int fib(int n)
{
  int sum;
  depth++;
  if (n < 2)
    sum = n;
  else
    sum = fib(n - 1) + fib(n - 2);
  depth--;
  total += sum;
  return sum;
}
static void sort(int *from, int *to)
{
  int *at = from;
  if (to - from < 2)
    return;
  depth++;
  for (int *i = from + 1; i < to; i++)
    if (*i < *from) {
      int other = *i;
      *i = *++at;
      *at = other;
    }
  int first = *from;
  *from = *at;
  *at = first;
  sort(from, at);
  sort(at + 1, to);
  depth--;
}
int main(void)
{
  int found = fib(6);
  for (int i = 0; i < 8; i++)
    table[i] = i * 37 % 11;
  sort(table, table + 8);
  found += fib(3);
  return found > 100;
}
"""

STRUCTURES = """struct point { int x; long y; char name[4]; struct point *next; };
static struct point list[4];
static int total, depth;
typedef int (*measure)(const struct point *);
static int width(const struct point *one) { return one->x; }
static int height(const struct point *one) { return (int)one->y; }
static struct point make(int i)
{
  struct point made = { .x = i, .y = i * 3, .name = "ab" };
  made.name[1] += i;
  return made;
}
static int weigh(const struct point *one, int how)
{
  measure chosen = how & 1 ? width : height;
  switch (how) {
  case 0: return chosen(one) + 1;
  case 1: return chosen(one) * 2;
  default: return chosen(one) - how;
  }
}
int main(void)
{
  for (int i = 0; i < 4; i++) {
    depth = i;
    list[i] = make(i);
    list[i].next = i ? &list[i - 1] : 0;
  }
  for (struct point *at = &list[3]; at; at = at->next)
    for (int how = 0; how < 3; how++)
      total += weigh(at, how);
  return total == 1;
}
"""

# A signal of its own, one with a value, one that nobody sees; and a handler.
SIGNALS = r"""#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int seen;
static void handler(int number)
{
  seen += number;
}
static void told(int number, siginfo_t *about, void *context)
{
  seen += number + about->si_value.sival_int;
  (void)context;
}
int main(void)
{
  struct sigaction action = { .sa_sigaction = told, .sa_flags = SA_SIGINFO };
  signal(SIGUSR1, handler);
  sigaction(SIGUSR2, &action, 0);
  raise(SIGUSR1);
  seen++;
  sigqueue(getpid(), SIGUSR2, (union sigval){ .sival_int = 1234 });
  seen++;
  *(volatile int *)0x123 = seen;
  return 0;
}
"""

# Each thread has its own, in the program and in a library.  Threads without guards:
# from glibc 2.42 on, one changes errno where the kernel is older than 6.13.
OWN = r"""#include <errno.h>
#include <pthread.h>
#include <unistd.h>
struct pair { int first; long second; };
__thread struct pair own = { 5, 6 };
__thread char name[40];
static void *work(void *number)
{
  own.second = (long)number;
  errno = 30 + (int)own.second;
  name[1] = 'a' + own.second;
  usleep(1);
  own.first++;
  return 0;
}
int main(void)
{
  pthread_t threads[2];
  pthread_attr_t plain;
  own.first = 9;
  errno = 8;
  pthread_attr_init(&plain);
  pthread_attr_setguardsize(&plain, 0);
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], &plain, work, (void *)(i + 1));
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return own.first == 1;
}
"""

# Instructions that stop a debugger, with a handler and without.
TRAPS = r"""#include <signal.h>
int caught;
static void handler(int number) { caught += number; }
int main(void)
{
  signal(SIGTRAP, handler);
  __asm__ volatile("int3");
  caught++;
  __asm__ volatile("int3");
  caught++;
  return 0;
}
"""

SPAWNS = r"""#include <sys/wait.h>
#include <unistd.h>
int phase;
int main(void)
{
  phase = 1;
  pid_t pid = vfork();
  if (!pid) {
    execl("/bin/true", "true", (char *)0);
    _exit(1);
  }
  phase = 2;
  waitpid(pid, 0, 0);
  phase = 3;
  return 0;
}
"""

SETTINGS = ["set pagination off", "set confirm off", "set width 0",
            "set style enabled off", "set debuginfod enabled off"]


# What calls need that the program itself does not, without an argument.
UNUSED = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline))
static char zeros[1 << 20];
static char *block;
static const unsigned char table[20000] = { [2] = 3, [19000] = 9 };
static int given[20000] = { [10000] = 5 };
OWN int deep(int n)
{
  volatile char room[60000];
  room[0] = (char)n;
  return room[0] + (int)sizeof(room);
}
OWN int clear(int n) { zeros[500000] += (char)n; return zeros[500000]; }
OWN int heap(int n) { block[200000] += (char)n; return block[200000]; }
OWN int constant(int n) { return table[n] + table[19000]; }
OWN int written(int n) { return given[n]; }
OWN int allocates(int n)
{
  char *room = malloc((size_t)n);
  memset(room, 3, (size_t)n);
  n = room[n - 1];
  free(room);
  return n;
}
OWN int shows(int n) { return printf("%d %s\\n", n, "words"); }
int main(int argc, char **argv)
{
  block = calloc(1, 300000);
  (void)argv;
  if (argc > 1)
    printf("%d %d %d %d %d %d %d\\n", deep(3), clear(3), heap(3),
           constant(2), allocates(100), allocates(1000000), shows(12));
  else
    puts("x");
  return written(3);
}
"""


class Gdb(CprecTap):
    def build(self, name, source, *options, cxx=False):
        suffix = "cc" if cxx else "c"
        path = os.path.join(self.folder, name)
        with open(f"{path}.{suffix}", "w") as file:
            file.write(source)
        subprocess.run(["c++" if cxx else "cc", "-o", path,
                        f"{path}.{suffix}", *options], check=True)
        return path

    def record(self, name, *program):
        path = os.path.join(self.folder, name + ".cpr")
        done = self.cprec("record", "-q", "-o", path, "--", *program)
        expect(os.path.exists(path), done.stderr)
        return path

    def gdb(self, start, commands, errors=subprocess.PIPE):
        """The answer of each command; what the program prints comes with
        gdb's errors."""
        words = [*start, "-nx", "-batch", *GDB_NAMES]
        for setting in SETTINGS:
            words += ["-iex", setting]
        for number, command in enumerate(commands):
            words += ["-ex", f"echo \\n@@{number}\\n", "-ex", command]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=errors,
                              text=True, timeout=300,
                              stdin=subprocess.DEVNULL,
                              env={**os.environ, "LC_ALL": "C"})
        # gdb writes errors elsewhere; they are looked for by themselves.
        text = re.sub(r"\[Inferior .*\]\n$", "", done.stdout)
        answers = re.split(r"\n?@@\d+\n", text)
        return answers[1:], done.stderr

    def ours(self, path, *at):
        """The command line, up to gdb's own options."""
        return [self.options.cprec, "gdb", f"--gdb={self.options.gdb}", *at,
                path, "--"]

    def session(self, path, *steps, at=("-g", "start"),
                errors=subprocess.PIPE):
        """Pairs of a command and a pattern."""
        command = self.ours(path, *at)
        answers, errors = self.gdb(command, [one for one, _ in steps], errors)
        for index, (asked, wanted) in enumerate(steps):
            found = answers[index] if index < len(answers) else "(nothing)"
            if not re.search(wanted, found, re.S):
                raise Failure(f"{asked}\nwanted: {wanted}\nfound: {found}"
                              f"\nerrors: {errors}")
        return f"{len(steps)} commands"

    # ------- sessions -------

    def crash(self, options):
        name = "list" + "".join(options)
        program = self.build(name, LIST, "-g", *options)
        path = self.record(name, program)
        return self.session(
            path,
            ("info registers rip", r"rip +0x"),
            ("bt -3", r"length \(.*main \(\)"),
            ("watch -l head->next->next", r"atchpoint 1: -location"),
            ("reverse-continue", r"Old value = .*0x10.*main \(\)"),
            ("p head->next->next", r"= \(struct node \*\) 0x\w{12}"),
            ("x/2i $pc", r"=> 0x.*<main\+\d+>:.*\n.*0x.*:"),
            ("delete", ""),
            ("handle SIGUSR1 nostop noprint", ""),
            ("break malloc if head && head->id == 10",
             r"Breakpoint 2 at"),
            ("reverse-continue", r"Breakpoint 2.*malloc"),
            ("p head->id", "= 10"),
            ("reverse-continue", r"history"),
            ("delete", ""),
            ("tbreak length", r"Temporary breakpoint"),
            ("continue", r"length \(|main \(\)"),
            ("p *head", r"= \{id = 40, next = 0x\w{12}"),
            ("info sharedlibrary", r"libc\.so\.6"),
            ("info proc mappings", r"libc\.so\.6.*\[stack\]"),
            ("set var total = 99", ""),
            ("p total", "= 99"),
            ("stepi", ""),
            ("p total", "= 0"),
            at=())

    def unused(self):
        """Calls that need pages that the program never used: zeros, or as in
        its files, which are here."""
        program = self.build("unused", UNUSED, "-g", "-O0")
        path = self.record("unused", program)
        values = subprocess.run([program, "x"], capture_output=True, text=True,
                                check=True).stdout.splitlines()[-1].split()
        calls = ("deep(3)", "clear(3)", "heap(3)", "constant(2)",
                 "allocates(100)", "allocates(1000000)", "shows(12)")
        equal(len(values), len(calls), "calls")
        return self.session(
            path, ("tbreak written", ""), ("continue", "breakpoint 1, written"),
            *[(f"print {call}", rf"\$\d+ = {value}\n")
              for call, value in zip(calls, values)],
            # What they have done lasts until time moves.
            ("print clear(3)", r"= 6\n"), ("stepi", ""),
            ("print clear(3)", r"= 3\n"),
            # What may have been written since is not known.
            ("print written(10000)",
             r"received signal SIGSEGV.*\(written\) will be\s+abandoned"),
            ("print constant(2)", rf"= {values[3]}\n"),
            ("print written(3)", r"= 0\n"),
            ("continue", "history|exited|SIG"), errors=subprocess.STDOUT)

    def moves(self):
        """Lines, there and back: over calls, recursion, a handler."""
        program = self.build("lines", LIST, "-g", "-O0")
        path = self.record("lines", program)
        return self.session(
            path,
            ("break main", ""),
            ("continue", r"main \(\) at .*:26"),
            ("next", "^27"),
            ("next", "^28"),
            ("step", r"push \(id=0\)"),
            ("next", "node->id = id"),
            ("reverse-next", "malloc"),
            ("reverse-finish", r"main \(\).*28"),
            # Newer ones are at the call then, and pass the loop's first lines.
            ("reverse-next", r"^28|Breakpoint 1, main \(\).*26"),
            ("tbreak 31", ""),
            ("continue", "31"),
            ("next", "signal SIGUSR1"),
            ("tbreak lines.c:33", ""),
            ("continue", r"33"),
            ("p caught", r"= 10"),
            ("set var caught = 77", ""),
            ("p length(head)", "= 5"),
            ("p caught", "= 77"),
            ("p *head", r"= \{id = 40, next = 0x\w{12}"),
            ("handle SIGUSR1 nostop noprint", ""),
            ("reverse-next", "32"),
            ("reverse-next", "31"),
            ("p caught", r"= 0"),
            # Over all of the recursion.
            ("reverse-next", "^30"),
            ("bt", r"^#0 +main"),
            ("p total", "= 0"),
            ("next", "31"),
            ("p total", "= 5"),
            # gdb stops in the middle of the line before version 15.
            ("tbreak lines.c:30", ""),
            ("reverse-continue", "30"),
            ("step", r"length \(node="),
            ("finish", r"Value returned is .* = 5"),
            ("reverse-step", r"length \(node=.*\)|}"),
            ("monitor when", ""),
            ("monitor goto 100", ""),
            ("maint flush register-cache", ""),
            ("x/i $pc", "=> 0x"),
            ("continue", r"breakpoint|Breakpoint 1"))

    def cpp(self, options):
        name = "shapes" + "".join(options)
        program = self.build(name, CPP, "-g", *options, cxx=True)
        path = self.record(name, program)
        self.session(
            path,
            ("break __cxa_throw", ""),
            ("continue", "Breakpoint 1, .*__cxa_throw"),
            ("up", r"Square::area"),
            ("info frame", "rip = "),
            ("up", r"add<Square>|main"))
        # How it looks where functions are inlined, gdb says natively.
        looks = ["info locals", "bt"]
        its, _ = self.gdb([self.options.gdb, program],
                          ["break Square::area", "run", *looks,
                           *["continue", *looks] * 3])
        ours, _ = self.gdb(self.ours(path, "-g", "start"),
                           ["tbreak __cxa_throw", "continue",
                            "break Square::area",
                            *["reverse-continue", *looks] * 4])

        def hits(answers):
            text = [re.sub(r"0x\w+|(?<=Breakpoint )\d+|^\[.*\n|^Using .*\n",
                           "", one, flags=re.M).strip() for one in answers]
            return [text[at:at + 3] for at in range(0, len(text), 3)]

        its, ours = hits(its[1:]), hits(ours[3:])
        equal(ours, its[::-1], "as natively")
        for said, _, calls in ours:
            expect("Breakpoint" in said and "main ()" in calls, f"{ours}")
        return f"{len(ours)} stops"

    def threads(self):
        program = self.build("threads", THREADS, "-g", "-O0", "-pthread")
        path = self.record("threads", program)
        return self.session(
            path,
            ("break work", ""),
            ("continue", r"hit Breakpoint 1, work"),
            ("continue", r"hit Breakpoint 1, work"),
            ("info threads", r"\* \d.*work"),
            ("watch counter", ""),
            ("continue", r"Old value = \d+\n"),
            ("reverse-continue", r"New value = \d+|history"),
            ("delete", ""),
            ("tbreak 17", ""),
            ("continue", "main"),
            ("p counter", "= 2000"),
            ("watch counter", ""),
            ("reverse-continue", r"Old value = 2000\nNew value = 1999.*work"),
            ("thread apply all bt", r"work.*(main|join)|(main|join).*work"),
            ("continue", "New value = 2000"))

    def forked(self):
        """What was written before the fork, the parent has: all say so."""
        path = self.record("forks", self.build("forks", FORKS, "-g", "-O0"))
        told = [json.loads(line) for line in
                self.cprec("ps", "--json", path).stdout.splitlines()]
        parent, child = told
        pid, own = parent["pid"], child["pid"]
        done = self.cprec("last", f"--pid={own}", "--addr=before", path)
        expect(f"--pid={pid} and times up to {child['parent']['at']}"
               in done.stderr, done.stderr)
        done = self.cprec("last", f"--pid={own}", "--addr=after", path)
        expect("0 -> 43" in done.stdout and not done.stderr, done)
        done = self.cprec("debug", "--plain", "--batch", f"--pid={own}", "-e",
                          "-ex", "last before", path)
        expect(f"the parent has: process {pid}" in done.stderr, done)
        return self.session(
            path, ("last after", "0 -> 43"), ("last before", ""),
            (f"process {pid}", f"thread {pid}"), ("last before", "0 -> 42"),
            at=("-g", "end", f"--pid={own}"))

    def names(self):
        """What threads are called, there and back, as natively."""
        program = self.build("names", NAMES, "-g", "-O0", "-pthread")
        path = self.record("names", program)
        names = "python print(sorted(one.name for one in " \
            "gdb.selected_inferior().threads()))"
        natively, errors = self.gdb(
            [self.options.gdb, program],
            ["set breakpoint pending on", "break meet", "run", names,
             "continue", names])
        native = [natively[3].strip(), natively[5].strip()]
        expect("names" in native[0] and "the first" in native[1],
               f"{natively} {errors}")
        self.session(
            path, ("break meet", ""), ("continue", "meet"),
            (names, f"^{re.escape(native[0])}"), ("continue", "meet"),
            (names, f"^{re.escape(native[1])}"),
            ("complete calls wait_th", "^calls wait_there\n?$"),
            ("complete log wait_th", "^log wait_there\n?$"),
            ("info threads", r'"the first" .*"named by others" '
             r'.*"worker <&>" .*"worker <&>" '),
            ("reverse-continue", "meet"),
            (names, f"^{re.escape(native[0])}"), at=("-g", "main"))
        told = self.cprec("info", "--json", "--verbose", path).stdout
        equal(sorted(one["name"] for one in json.loads(told)["threads"]),
              ["named by others", "the first", "worker <&>", "worker <&>"],
              "info")
        return native[1]

    def stripped(self):
        program = self.build("stripped", PLAIN, "-O2", "-s", "-static")
        path = self.record("stripped", program)
        return self.session(
            path,
            ("x/3i $pc", r"=> 0x.*\n.*0x.*\n.*0x"),
            ("p $start = $pc", "0x"),
            ("stepi 50", "0x"),
            ("reverse-stepi 50", "0x"),
            ("p $pc == $start", "= 1"),
            ("continue", r"history|replay"),
            ("reverse-continue", r"history"),
            ("p $pc == $start", "= 1"))

    def python(self):
        path = self.record("python", "/usr/bin/python3", "-c",
                           "print(sorted({3: 4, 1: 2}))")
        return self.session(
            path,
            ("break write", ""),
            ("continue", r"Breakpoint 1.*write"),
            ("bt 2", r"#0 .*write"),
            ("x/s $rsi", r"\[1, 3\]"),
            ("watch *(char *) $rsi", ""),
            ("reverse-continue", "Old value = 91"),
            ("info sharedlibrary", r"libm\.so|libc\.so"),
            at=("-g", "main"))

    def execs(self):
        """Symbols are those of the program, on both sides of an exec."""
        program = self.build("execs", EXECS, "-g", "-O0")
        path = self.record("execs", program)
        self.session(path, ("p argc", "= 2"), ("p phase", "= 1"),
                     at=("-g", "main"))
        # What happens at one place is told in its order, there and back.
        calls = [r"\(call to syscall execve\)", r"is executing new program: "
                 r".*\(returned from syscall execve\).*_start"] * 2
        back = [r"\(returned from syscall execve\).*_start",
                r"is executing new program: .*\(call to syscall execve\)"] * 2
        self.session(path, ("catch syscall execve", ""),
                     *(("continue", call) for call in calls),
                     ("continue", "history"),
                     *(("reverse-continue", call) for call in back),
                     ("p phase", "= 2"), ("reverse-continue", "history"))
        return self.session(
            path,
            ("catch fork", ""),
            ("catch exec", ""),
            ("catch syscall write", ""),
            ("continue", r"recording of process (\d+) is \S*\1\.cpr\..*"
             r"Catchpoint 1 \(forked process \d+\)"),
            ("next", r"Detaching after fork from child"),
            ("continue", r"Catchpoint 2 \(exec'd /.*sh\)"),
            ("continue", r"Catchpoint 2 \(exec'd .*/execs\)"),
            ("continue", r"Catchpoint 3 \(call to syscall write\)"),
            ("continue", r"Catchpoint 3 \(returned from syscall write\)"),
            ("p $rax", "= 7"),
            # The library may have functions of its own between.
            ("frame function main", "main"),
            ("p phase", "= 3"),
            ("reverse-continue", r"call to syscall write"),
            ("reverse-continue", r"Catchpoint 2 \(exec'd /.*sh\).*execve"),
            ("reverse-continue", r"Catchpoint 2 \(exec'd .*/execs\)"),
            ("p phase", "= 2"),
            ("info proc exe", r"execs"),
            ("reverse-continue", "Catchpoint 1 .forked process"),
            ("reverse-continue", "history"),
            ("stepi", "0x"),
            ("info symbol main", "main in section .text"),
            errors=subprocess.STDOUT)

    def conditions(self):
        """Passed millions of times, and printed, without asking gdb."""
        program = self.build("loop", LOOP, "-g", "-O0")
        count = self.options.passes
        path = self.record("loop", program, str(count))
        begun = os.times()
        last = count - 1
        said = self.session(
            path,
            (f"break tally if i == {last}", "Breakpoint 1"),
            ("continue", rf"Breakpoint 1, tally \(i={last},"),
            ("info breakpoints", r"stop only if .*target evals"),
            ("reverse-continue", "history"),
            ("delete", ""),
            ("break tally if name[0] == 'w' && i > 2 && -i * 2 < -8",
             "Breakpoint 2"),
            ("continue", r"Breakpoint 2, tally \(i=5,"),
            ("delete", ""),
            ("set dprintf-style agent", ""),
            (r'dprintf tally,"%04d:\t%-6s|%c%%\n", i, name + 1, name[0]', ""),
            ("tbreak loop.c:13 if i == 8", ""),
            ("continue", "0006:\tord   |w%\n.*0007:.*main"),
            ("delete 4", ""),
            ("reverse-continue", r"0007:.*\n0006:.*0005:.*0000:.*history"),
            errors=subprocess.STDOUT)
        used = os.times()
        seconds = used.children_user - begun.children_user
        return f"{said}, {seconds:.1f} s of CPU"

    def records(self):
        """The same as gdb's own recorder, as far as that can go."""
        program = self.build("plain", PLAIN, "-g", "-O0", "-static",
                             "-no-pie")
        path = self.record("plain", program)
        moves = ["next", "step", "next", "step", "finish", "next", "next",
                 "reverse-next", "reverse-step", "reverse-stepi",
                 "reverse-finish", "next", "next", "next", "reverse-next",
                 "reverse-next", "reverse-step", "reverse-step", "stepi",
                 "reverse-stepi", "reverse-stepi", "step"]
        commands = []
        for move in moves:
            commands += [move, "output/x $pc", "output table", "output sum"]
        ours, _ = self.gdb(self.ours(path, "-g", "start"),
                           ["tbreak main", "continue"] + commands)
        ours = ours[2:]
        start = ["break main", "run", "record full"]
        its, errors = self.gdb([self.options.gdb, program], start + commands)
        its = its[len(start):]
        expect(len(its) == len(commands), f"gdb itself: {errors}")
        for number, move in enumerate(moves):
            equal(ours[4 * number + 1:4 * number + 4],
                  its[4 * number + 1:4 * number + 4],
                  f"behind {moves[:number + 1]}")
        return f"{len(moves)} moves"

    def walks(self, name, source, options, points):
        """At random, as gdb's own recorder, in what both have recorded."""
        program = self.build(f"walk_{name}" + "".join(options), source, "-g",
                             *options, "-static", "-no-pie",
                             "-fcf-protection=none")
        path = self.record(os.path.basename(program), program)
        script = "source " + os.path.join(os.path.dirname(
            os.path.abspath(__file__)), "record_gdb.py")
        total = 0
        for seed in range(self.options.seed,
                          self.options.seed + self.options.walks):
            os.environ.update(CPREC_SEED=str(seed), CPREC_MOVES="40",
                              CPREC_POINTS=points, CPREC_LAST=str(
                                  source[:source.rindex("return")].count(
                                      "\n") + 1))
            ours, errors = self.gdb(
                self.ours(path, "-g", "start"),
                ["break main", "continue", "delete", script])
            its, more = self.gdb([self.options.gdb, program],
                                 ["break main", "run", "delete",
                                  "record full", script])
            # Its recording begins at main(), and ends where it has been.
            its = its[-1].partition("@@@ begun")[2]
            its = re.split("^(?:No more reverse|Reached end of recorded|"
                           "Process record:|The program|Program stopped)",
                           its, flags=re.M)[0]
            its = re.findall("^@@ .*", its, re.M)
            ours = re.findall("^@@ .*", ours[-1], re.M)
            for number, wanted in enumerate(its):
                found = ours[number] if number < len(ours) else "nothing"
                equal(found, wanted, f"seed {seed}: behind "
                      f"{its[max(0, number - 4):number]}")
            total += len(its)
        expect(total > self.options.walks, f"{total} moves in all")
        return f"{total} moves"

    def signals(self):
        """What is known of a signal, and steps over and into handlers."""
        program = self.build("signals", SIGNALS, "-g", "-O0")
        path = self.record("signals", program)
        about = ["p $_siginfo.si_signo", "p $_siginfo.si_code",
                 "p $_siginfo._sifields._rt.si_sigval.sival_int"]
        looks = ["continue", *about, "continue", *about, "continue",
                 *about[:2], "p $_siginfo._sifields._sigfault.si_addr"]
        ours, _ = self.gdb(self.ours(path, "-g", "main"), looks)
        its, _ = self.gdb([self.options.gdb, program],
                          ["break main", "run", *looks])
        for number, look in enumerate(looks):
            if look != "continue":
                equal(ours[number], its[number + 2], f"{number}: {look}")
        return self.session(
            path,
            ("handle SIGUSR1 SIGUSR2 nostop noprint", ""),
            ("break main", ""),
            ("continue", "Breakpoint 1"),
            ("next 3", "raise"),
            ("next", "^20"),
            ("p seen", "= 10"),
            ("next", "sigqueue"),
            ("next", "^22"),
            ("p seen", "= 1257"),
            ("reverse-next", "sigqueue"),
            ("p seen", "= 11"),
            # Before version 15 there are lines that it enters twice.
            ("tbreak signals.c:19", ""),
            ("reverse-continue", "raise"),
            ("p seen", "= 0"),
            ("tbreak told", ""),
            ("continue", "told .number=12"),
            ("p about->_sifields._rt.si_sigval.sival_int", "= 1234"),
            ("bt", r"#1 +<signal handler called>.*main"),
            ("frame 0", "told"),
            ("handle SIGUSR1 stop print", ""),
            ("reverse-continue", r"received signal SIGUSR1"),
            ("p $_siginfo.si_signo", "= 10"),
            ("reverse-continue", "Breakpoint 1, main"),
            ("p $_siginfo", "nable to read siginfo|history|.*"),
            at=("-g", "start"))

    def own(self):
        """Variables of threads; gdb says the same natively."""
        program = self.build("own", OWN, "-g", "-O0", "-pthread")
        path = self.record("own", program)
        self.session(
            path,
            ("break usleep", ""),
            ("continue", "hit Breakpoint 1"),
            ("p own", "= {first = 5, second = 1}"),
            ("p name[1]", "= 98 'b'"),
            ("p (int)errno", "= 31"),
            ("thread 1", "Thread"),
            ("p own", "= {first = 9, second = 6}"),
            ("p (int)errno", "= 8"),
            ("continue", "hit Breakpoint 1"),
            ("p own", "= {first = 5, second = 2}"),
            ("p (int)errno", "= 32"),
            ("watch -l own.second", ""),
            ("reverse-continue", "Old value = 2\nNew value = 6"),
            ("p own", "= {first = 5, second = 6}"))
        program = self.build("own_static", OWN, "-g", "-O0", "-pthread",
                             "-static")
        return self.session(
            self.record("own_static", program),
            ("break usleep", ""),
            ("continue", "hit Breakpoint 1"),
            ("p own", "= {first = 5, second = 1}"))

    def traps(self):
        """int3 is what a program has, and no breakpoint of a debugger's."""
        program = self.build("traps", TRAPS, "-g", "-O0")
        path = self.record("traps", program)
        steps = ["continue", "p caught", "info symbol $pc - 1",
                 "handle SIGTRAP pass", "continue", "p caught",
                 "info symbol $pc - 1"]
        ours, _ = self.gdb(self.ours(path, "-g", "main"), steps)
        its, _ = self.gdb([self.options.gdb, program],
                          ["break main", "run", *steps])
        equal(ours, its[2:], "as natively")
        return self.session(
            path,
            ("continue", "SIGTRAP"),
            ("continue", "SIGTRAP"),
            ("p caught", "= 6"),
            ("continue", "history|end"),
            ("p caught", "= 12"),
            ("reverse-continue", "SIGTRAP"),
            ("p caught", "= 6"),
            ("reverse-stepi", "int3|main"),
            ("p caught", "= 6"),
            ("reverse-continue", "SIGTRAP"),
            ("p caught", "= 0"),
            ("next", "."),
            ("reverse-continue", "SIGTRAP|history"),
            at=("-g", "main"))

    def spawns(self):
        program = self.build("spawns", SPAWNS, "-g", "-O0")
        path = self.record("spawns", program)
        return self.session(
            path,
            ("catch vfork", ""),
            ("continue", r"Catchpoint 1 \(vforked process \d+\)"),
            ("p phase", "= 1"),
            ("next", "."),
            ("break spawns.c:14", ""),
            ("continue", "Breakpoint 2, main"),
            ("p phase", "= 2"),
            ("watch phase", ""),
            ("continue", "New value = 3"),
            ("delete 2", ""),
            ("reverse-continue", "Old value = 3"),
            ("delete 3", ""),
            ("reverse-continue", r"Catchpoint 1 \(vforked process \d+\)"),
            ("p phase", "= 1"),
            ("reverse-continue", "history"),
            at=("-g", "start"))

    def interrupted(self):
        """Ctrl-C while it looks for something: it stands where it got to."""
        path = self.record("long", self.build("loop_long", LOOP, "-O1"),
                           str(self.options.long))
        gdb = subprocess.Popen(
            [*self.ours(path, "-g", "end"), "-nx", "-i=mi"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)

        def until(pattern):
            for line in gdb.stdout:
                if re.search(pattern, line):
                    return line
            raise Failure(f"it has ended before {pattern}")

        def ask(request):
            gdb.stdin.write(request + "\n")
            gdb.stdin.flush()

        def position():
            ask("-interpreter-exec console \"monitor when\"")
            time = re.search(r"(\d+)(\.\d+)?\\n", until(r"^@")).group(1)
            return int(time)

        def pc():
            ask("-data-evaluate-expression $pc")
            return until(r"^\^done,value")

        def look_for(condition, way=" --reverse"):
            ask(f'-break-insert -c "{condition}" tally')
            until(r"^\^done,bkpt")
            ask("-exec-continue" + way)
            until(r"^\*running")
            time.sleep(0.5)
            begun = time.monotonic()
            gdb.send_signal(signal.SIGINT)
            stop = until(r"^\*stopped")
            ask("-break-delete")
            expect("SIGINT" in stop, stop)
            return time.monotonic() - begun

        try:
            end = position()
            # It takes its time: a condition is asked about all the way.
            took = look_for("$rdi == -1")
            back = position()
            expect(0 < back <= end, f"from {end} back to {back}")
            known = pc()
            ask("-interpreter-exec console \"maint flush register-cache\"")
            until(r"^\^done")
            equal(pc(), known, "what gdb thinks")
            ask("-break-insert -t main")
            until(r"^\^done,bkpt")
            ask("-exec-continue --reverse")
            until(r"^\*stopped")
            begin = position()
            look_for("$rdi == -1", "")
            there = position()
            expect(begin < there < end, f"from {begin} to {there}")
            # gdb asks about a register of its own making.
            for _ in range(5):
                took = max(took, look_for("$sp == 0"))
            ask("-gdb-exit")
            gdb.wait(timeout=30)
        finally:
            gdb.kill()
            gdb.wait()
            gdb.stdin.close()
            gdb.stdout.close()
        expect(took < 1, f"it took {took:.1f} s")
        return f"{took * 1000:.0f} ms"

    def machine(self):
        """A front end's interface."""
        path = os.path.join(self.folder, "lines.cpr")
        requests = ["-break-insert push", "-exec-continue",
                    "-exec-next", "-exec-next --reverse",
                    "-exec-step-instruction --reverse",
                    "-stack-list-frames", "-data-evaluate-expression id",
                    "-exec-continue --reverse", "-gdb-exit"]
        done = subprocess.run(
            [*self.ours(path, "-g", "start"), "-nx", "-i=mi"],
            input="\n".join(requests) + "\n", text=True,
            capture_output=True, timeout=120)
        stops = re.findall(r"^\*stopped,reason=\"([^\"]*)\"", done.stdout,
                           re.M)
        # gdb has a reason for the last one since version 14.
        equal(stops[:4], ["breakpoint-hit", "end-stepping-range",
                          "breakpoint-hit", "end-stepping-range"], "stops")
        expect(stops[4:] in ([], ["no-history"]), f"{stops}")
        expect("history" in done.stdout,
               "it is not told that the recording begins")
        asked = ["-break-insert -f length", "-exec-continue", "-thread-info",
                 "-stack-list-variables --simple-values",
                 "-data-list-register-values x 16", "-break-delete 1",
                 "-break-watch total", "-exec-continue",
                 "-exec-continue --reverse", "-exec-finish --reverse",
                 "-exec-step --reverse", "-data-disassemble -s $pc -e "
                 "\"$pc + 8\" -- 0", "-gdb-exit"]
        done = subprocess.run(
            [*self.ours(path, "-g", "main"), "-nx", "-i=mi"],
            input="\n".join(asked) + "\n", text=True, capture_output=True,
            timeout=120)
        for wanted in (r'\^done,bkpt=\{number="1"',
                       r'\*stopped,reason="breakpoint-hit".*func="length"',
                       r'\^done,threads=\[\{id="1"',
                       r'\^done,variables=\[\{name="node",arg="1"',
                       r'\^done,register-values=\[\{number="16"',
                       r'\*stopped,reason="watchpoint-trigger".*old="0",'
                       r'new="5"',
                       r'\*stopped,reason="watchpoint-trigger".*old="5",'
                       r'new="0"', r'\^done,asm_insns='):
            expect(re.search(wanted, done.stdout), f"{wanted}: {done.stdout}")
        return ", ".join(stops)

    def client(self):
        """It waits at a port, for one."""
        path = os.path.join(self.folder, "lines.cpr")
        server = subprocess.Popen(
            [self.options.cprec, "gdbserver", "--port=0", "--from=main", path],
            stderr=subprocess.PIPE, text=True)
        try:
            port = re.search(r"127\.0\.0\.1:(\d+)",
                             server.stderr.readline())[1]
            answers, errors = self.gdb(
                [self.options.gdb, "-l", "100",
                 os.path.join(self.folder, "lines")],
                [f"target extended-remote :{port}", "info registers rip",
                 "run 1000", "info registers rip"])
            expect("main" in answers[1], f"{answers} {errors}")
        finally:
            status = server.wait(timeout=60)
            server.stderr.close()
        equal(status, 0, "exit status")


    def firsts(self):
        """-x, --ex and -ex are executed in the order in which they stand."""
        path = os.path.join(self.folder, "list-O0.cpr")
        script = os.path.join(self.folder, "firsts")
        with open(script, "w", encoding="utf-8") as file:
            file.write("echo second\\n\n")
        done = self.cprec("gdb", f"--gdb={self.options.gdb}",
                          "--ex=echo first\\n", "-x", script, "-ex",
                          "echo third\\n", path, "--", "-nx", "-batch", "-ex",
                          "echo fourth\\n")
        equal([line for line in done.stdout.splitlines()
               if line in ("first", "second", "third", "fourth")],
              ["first", "second", "third", "fourth"], done.stderr)


def run_all(options, folder):
    tests = Gdb(options, folder)
    for flags in ("-O0",), ("-O2",):
        tests.test(f"a crash, {flags[0]}", tests.crash, flags)
        tests.test(f"C++, {flags[0]}", tests.cpp, flags)
    tests.test("lines, there and back", tests.moves)
    tests.test("calls that need what was never used", tests.unused)
    tests.test("commands that are executed first", tests.firsts)
    tests.test("threads", tests.threads)
    tests.test("names of threads", tests.names)
    tests.test("before a fork", tests.forked)
    tests.test("a stripped program", tests.stripped)
    tests.test("python3", tests.python)
    tests.test("forks and execs", tests.execs)
    tests.test("conditions and printing", tests.conditions)
    tests.test("as gdb's own recorder", tests.records)
    for name, source, points in (
            ("plain", PLAIN, "break mix;break fill;watch table[3]"),
            ("recursion", RECURSES,
             "break fib;break sort;break fib if n == 1;watch total"),
            ("structures", STRUCTURES,
             "break weigh;break make;break weigh if how == 1;watch total")):
        for flags in ("-O0",), ("-O2",):
            tests.test(f"... at random, {name}, {flags[0]}", tests.walks, name,
                       source, flags, points)
    tests.test("signals", tests.signals)
    tests.test("variables of threads", tests.own)
    tests.test("traps", tests.traps)
    tests.test("vfork", tests.spawns)
    tests.test("interrupted", tests.interrupted)
    tests.test("the machine interface", tests.machine)
    tests.test("a port", tests.client)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--passes", type=int, default=1000000)
    PARSER.add_argument("--walks", type=int, default=1,
                        help="seeds of each walk beside gdb's recorder")
    PARSER.add_argument("--seed", type=int, default=0, help="of the first walk")
    PARSER.add_argument("--long", type=int, default=10000000,
                        help="passes of what is interrupted")
    PARSER.add_argument("--gdb", default="gdb", help="this one")
    sys.exit(main(run_all, parser=PARSER))
