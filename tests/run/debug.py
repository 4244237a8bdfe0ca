#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cprec debug: our commands in gdb, in sessions with real programs.

What they must say is known from the programs' own output, from gdb on the same
program without a recording, or from other commands of cprec.
"""
import argparse
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import (  # noqa: E402
    CprecTap, Failure, equal, expect, gdb_changes, main)

STOCK = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { char name[16]; struct item *next; int price; };
struct item *head;
int total;
static void add(const char *name, int price)
{
  struct item *item = malloc(sizeof *item);
  memset(item, 0, sizeof *item);
  strncpy(item->name, name, sizeof item->name);
  item->price = price;
  item->next = head;		/* link */
  head = item;			/* first */
  total += price;		/* sum */
}
static void rename_it(struct item *item, const char *name)
{
  memcpy(item->name, name, strlen(name) + 1);	/* culprit */
}
int main(void)
{
  for (int i = 0; i < 6; i++)
    add("apples", i * i);
  printf("%p %p %d\\n", (void *)head->next->next, (void *)&head->next->next,
         total);
  fflush(stdout);
  rename_it(head->next, "a name of 21 letters!");
  printf("second\\n");
  fflush(stdout);
  for (struct item *item = head; item; item = item->next)
    total += item->price;	/* crash */
  return 0;
}
"""

COPY_ENDS = """#include <stdio.h>
static int from[] = { 1, 2 }, to;
static union { char text[8]; long word; } names[2], name;
int main(void)
{
    names[0].text[7] = 'x';
    names[1].text[7] = 'y';
    to = from[0];
    to = from[1];
    name.word = names[0].word;
    name.text[7] = names[1].text[7];
    return puts("end") < 0;
}
"""

COPIES = """#include <stdio.h>
#include <string.h>
long first, second, third;
struct pair { long a, b; } one, two;
__attribute__((noinline)) static long pass(long value) { return value; }
int main(int argc, char **argv)
{
  (void)argv;
  first = argc * 1234567;	/* origin */
  second = first;		/* copy */
  third = pass(second);		/* through */
  one.b = third;		/* member */
  two = one;			/* whole */
  printf("%ld %ld\\n", two.b, one.b);
  return 0;
}
"""

CPP = """#include <cstdio>
#include <map>
#include <string>
struct Account { std::string name; int balance = 0;
  void pay(int amount) { balance -= amount; }	/* pay */
  void earn(int amount) { balance += amount; }	/* earn */
};
std::map<std::string, Account> accounts;
int main()
{
  accounts["a"].earn(10);
  accounts["b"].earn(20);
  accounts["a"].pay(25);
  accounts["b"].pay(1);
  std::printf("%d %d\\n", accounts["a"].balance, accounts["b"].balance);
  std::fflush(stdout);
  Account &account = accounts["a"];
  return account.balance == -15 ? 0 : 1;	/* end */
}
"""

# An inlined function begins where the body of main does.
INLINED = """static int total;
static inline __attribute__((always_inline)) void first(void) { total++; }
int main(void)
{
  first();
  total += 2;
  return total == 4;
}
"""

THREADS = """#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int counter, last_thread;
__thread int own;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *name)
{
  for (int i = 0; i < 200; i++) {
    pthread_mutex_lock(&lock);
    counter++;			/* count */
    last_thread = gettid();
    pthread_mutex_unlock(&lock);
  }
  return name;
}
int main(void)
{
  pthread_t threads[2];
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  printf("%d %d\\n", counter, last_thread);
  return 0;
}
"""

FORKS = """#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int level;
int main(void)
{
  printf("one\\n");
  fflush(stdout);
  level = 1;
  int ends[2];
  pipe(ends);
  pid_t child = fork();
  if (!child) {
    level = 3;
    write(ends[1], "", 1);
    sleep(1);
    level = 5;
    printf("child %d\\n", level);
    fflush(stdout);
    _exit(3);
  }
  read(ends[0], &(char){ 0 }, 1);
  usleep(100000);		/* clocks are known to a few ms */
  level = 7;			/* meanwhile */
  waitpid(child, 0, 0);
  printf("two\\n");
  return 0;
}
"""

# Both in what an index has as one.
LONG = """struct { volatile long other[7], never; }
  all __attribute__((aligned(64))) = { { 0 }, 1 };
int main(void)
{
  for (long i = 0; i < 180000000; i++)
    all.other[i & 3] = i;
  return 0;
}
"""

# A program that becomes another one, in which names are elsewhere.
BECOMES = """#include <unistd.h>
int only_first = 1, both = 11;
int first_work(int n) { return n + only_first; }
int main(int argc, char **argv)
{
  (void)argc;
  both += first_work(1);
  execl(argv[1], argv[1], (char *)0);
  return 1;
}
"""

BECOME = """int pad[100], only_second = 2, both = 21;
int second_work(int n) { return n * only_second; }
int main(void)
{
  both += second_work(3);
  return 0;
}
"""

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../docs/example")

SETTINGS = ["set pagination off", "set confirm off", "set width 0",
            "set style enabled off", "set debuginfod enabled off"]
GDB = ["-nx", *(word for setting in SETTINGS for word in ("-iex", setting))]


def line_of(source, mark):
    """The number of the line that has this comment."""
    for number, line in enumerate(source.splitlines(), 1):
        if f"/* {mark} */" in line:
            return number
    raise LookupError(mark)


class Session(CprecTap):
    def build(self, name, source, *options, cxx=False):
        path = os.path.join(self.folder, name)
        suffix = "cc" if cxx else "c"
        with open(f"{path}.{suffix}", "w") as file:
            file.write(source)
        subprocess.run(["c++" if cxx else "cc", "-g", "-O0", "-o", path,
                        f"{path}.{suffix}", *options], check=True)
        return path

    def example(self, name, *options, cxx=False):
        """A program of the docs."""
        with open(os.path.join(EXAMPLES, name)) as file:
            return self.build(name.partition(".")[0], file.read(), *options,
                              cxx=cxx)

    def record(self, name, source, *options, cxx=False):
        """The path of the recording, and what the program printed."""
        program = self.build(name, source, *options, cxx=cxx)
        path = program + ".cpr"
        done = self.cprec("record", "-q", "-o", path, "--", program)
        expect(os.path.exists(path), done.stderr)
        return path, done.stdout

    def script(self, commands):
        """A file of them for gdb."""
        path = os.path.join(self.folder, "script.py")
        with open(path, "w") as file:
            file.write("import gdb\n")
            for number, command in enumerate(commands):
                file.write(
                    f"print('@@{number}', flush=True)\n"
                    f"try: gdb.execute({command!r})\n"
                    "except gdb.error as error: print('error:', error)\n")
        return path

    def answers(self, commands, *words):
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=120,
            stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
        text = re.sub(r"\[Inferior .*\]\n$", "", done.stdout)
        answers = re.split(r"@@\d+\n", text)
        equal(len(answers), len(commands) + 1,
              f"answers; {done.stderr} {answers[-1]}")
        return answers[1:], answers[0] + done.stderr

    def ask(self, path, *commands, options=()):
        """The answer of each command, errors in it, and how it begins."""
        return self.answers(
            commands, self.options.cprec, "debug", "--batch", "-x",
            self.script(commands), *options, path, "--", *GDB)

    # ------- sessions -------

    def corruption(self):
        path, printed = self.record("stock", STOCK)
        old, place, total = printed.split()[:3]
        answers, begin = self.ask(
            path, "last head->next->next", "bt", "last", "back", "back",
            "forward", "output", "last total")
        expect("died of SIGSEGV" in begin and ":" +
               str(line_of(STOCK, "crash")) in begin, begin)
        # memcpy() may write it in pieces: the last one.
        found = re.match(r"head->next->next: (0x\w+) -> (0x\w+)\n", answers[0])
        expect(found, answers[0])
        equal(found.group(1), old, "old value")
        equal(found.group(2), "0x2173726574", "new value: 'ters!'")
        expect(f"stock.c:{line_of(STOCK, 'culprit')}" in answers[1],
               answers[1])
        # It came from the string, or was there before.
        expect("t=" in answers[2], answers[2])
        expect(re.search(r"^t=.*culprit|memcpy|memmove", answers[3]),
               answers[3])
        expect("SIGSEGV ended it" in answers[4], answers[4])
        # There is no other way: the crash is the first place.
        equal(re.findall(r"t=(\S+)", answers[5]),
              re.findall(r"t=(\S+)", answers[3]), "forward")
        expect(answers[7].startswith(f"total: {int(total) - 25} -> {total}")
               and f":{line_of(STOCK, 'sum')}" in answers[7], answers[7])
        equal(answers[6], printed.splitlines(True)[0], "output so far")
        return f"of {place}"

    def changes(self):
        """The same as a watchpoint of gdb, run natively, in reverse."""
        path, _ = self.record("changes", STOCK)
        program = path.removesuffix(".cpr")
        values = gdb_changes(program, "-l total", 5)
        equal(len(values), 5, str(values))
        answers, _ = self.ask(path, "goto output 1", *["last total"] * 5)
        found = [re.match(r"total: (.*) -> (.*)\n", one) for one in answers[1:]]
        expect(all(found), str(answers))
        equal([one.groups() for one in found], values[::-1], "changes")
        answers, _ = self.ask(path, "history total")
        # Two more before it crashes.
        equal(len(answers[0].splitlines()), 5 + 2, answers[0])
        told = re.findall(r": (\S+) -> (\S+)\n", answers[0])
        equal(told[:5], values, "history")
        return f"{len(values)} changes"

    def copies(self):
        path, printed = self.record("copies", COPIES)
        value = printed.split()[0]
        answers, _ = self.ask(path, "goto end", "last two.b", *["last"] * 8)
        chain = [re.findall(r"copies\.c:(\d+)\n", one)[-1:]
                 for one in answers[1:]]
        lines = [int(one[0]) for one in chain if one]
        for mark in ("whole", "member", "through", "copy", "origin"):
            line = line_of(COPIES, mark)
            expect(line in lines, f"{mark} is not in {lines}")
            lines = lines[lines.index(line):]
        expect(all(value in one.splitlines()[0] for one in answers[1:6]),
               str(answers))
        expect("a copy of" in answers[1], answers[1])
        at = next(one for one in answers
                  if f"copies.c:{line_of(COPIES, 'origin')}" in one)
        expect("a copy of" not in at, at)

    def copy_ends(self):
        """Behind what was never written, and behind a part of a value, it goes
        on with the value itself."""
        path, _ = self.record("ends", COPY_ENDS)
        answers, _ = self.ask(path, "goto end", "last to", "last", "last",
                              "goto end", "last name", "last")
        for answer, words in zip(answers[1:], (
                r"to: 1 -> 2\n  a copy of from \+ 4, read at t=\d+: Enter",
                r"error: Nothing changed from \+ 4 before t=\d+\. Enter goes"
                r" on with to\.$", r"to: 0 -> 1\n", "the end",
                r"name: .*\n  1 of 8 bytes are a copy of ",
                r"name: .*\n  a copy of names, ")):
            expect(re.match(words, answer.strip()), f"{words}: {answer}")

    def cpp(self):
        path, printed = self.record("accounts", CPP, cxx=True)
        a, b = printed.split()
        end = line_of(CPP, "end")
        answers, _ = self.ask(path, f"break {end}", "continue",
                              "last account.balance", "last", "calls "
                              "Account::pay", "log Account::earn => amount")
        expect(answers[2].startswith("account.balance: 10 -> " + a) and
               "Account::pay" in answers[2], answers[2])
        expect(answers[3].startswith("account.balance: 0 -> 10") and
               "Account::earn" in answers[3], answers[3])
        equal(re.findall(r"amount=(\d+)", answers[4]), ["25", "1"], "calls")
        equal(re.findall(r"amount = (\d+)", answers[5]), ["10", "20"], "log")
        equal(b, "19", "printed")

    def inlined(self):
        """It begins as a breakpoint of gdb on main stops."""
        path, _ = self.record("inlined", INLINED)
        answers, begin = self.ask(path, "info breakpoints", "bt", "next",
                                  "p total", "next", "p total")
        its = subprocess.run(
            ["gdb", "-nx", "-batch", "-ex", "break main", "-ex", "run",
             "-ex", "bt", path.removesuffix(".cpr")], capture_output=True,
            text=True, timeout=60, env={**os.environ, "LC_ALL": "C"})
        frames = re.findall(r"^#0 .*", its.stdout, re.M)
        equal(len(frames), 1, its.stdout + its.stderr)
        equal(answers[1].splitlines()[0], frames[0], "the frame")
        expect("this is the beginning of main" in begin, begin)
        expect("No breakpoints" in answers[0], answers[0])
        expect(answers[3].endswith("= 1\n"), answers[2:4])
        expect(answers[5].endswith("= 3\n"), answers[4:])

    def threads(self):
        path, printed = self.record("threads", THREADS, "-pthread")
        counter, tid = printed.split()
        answers, _ = self.ask(path, "goto end", "last counter", "when",
                              "p counter", "info threads", "goto end",
                              "p counter", "goto start", "when",
                              "goto main", "last own")
        expect(f"counter: {int(counter) - 1} -> {counter}\n" in answers[1],
               answers[1])
        expect(f"thread {tid}:" in answers[2], f"{tid}: {answers[2]}")
        equal(answers[3].split()[-1], str(int(counter) - 1), "before it")
        expect(re.search(rf"\* \d+ .*Thread \d+\.{tid}\b.*work", answers[4]),
               answers[4])
        equal(answers[6].split()[-1], counter, "at the end")
        expect("start of the recording, t=0 " in answers[8], answers[8])
        expect(answers[10].startswith("own: ? -> 0, mapped"), answers[10])
        return f"{counter} changes"

    # The next two are told in docs/debugging.md.

    def lost_counts(self):
        program = self.example("hits.c", "-pthread")
        path = program + ".cpr"
        for _ in range(20):
            done = self.cprec("record", "-q", "--schedule=random", "-o", path,
                              "--", program)
            counted, of = map(int, re.findall(r"(\d+)", done.stdout))
            if counted < of:
                break
        expect(counted < of, "twenty times, all were counted")
        writes = self.cprec("writes", path, "--addr=page.visits").stdout
        changes = [(at, int(old), int(new)) for at, old, new in re.findall(
                       r"t=(\S+) .* wrote: (\d+) -> (\d+)\n", writes)]
        # A thread that had counted further may also write after one that
        # had not, and its number is then more than one above.
        equal(sum(old + 1 - new for _, old, new in changes), of - counted,
              "lost counts")
        at, old, new = next(one for one in changes if one[2] <= one[1])
        # Others may have their turn between any two of its instructions.
        answers, _ = self.ask(path, f"goto {at}", "p seen->visits",
                              "last $rdx", "last $rax", "p seen->visits")
        equal(answers[1].split()[-1], str(old), "before it is written")
        expect(answers[2].startswith("$rdx: ") and
               f"-> {new:#x}\n" in answers[2], answers[2])
        equal(answers[4].split()[-1], str(new - 1), "when it was read")
        return f"{of - counted} of {of} lost"

    def exception(self):
        program = self.example("orders.cc", cxx=True)
        path = program + ".cpr"
        done = self.cprec("record", "-q", "-o", path, "--", program,
                          text="3 apple\n2 pear \n5 plum\n")
        equal(done.stderr, "error: map::at\n", "printed")
        answers, _ = self.ask(
            path, "goto end", "catch throw", "reverse-continue",
            "frame function shop::price", "p asked.fruit", "last asked.fruit",
            "p orders")
        expect("(exception thrown)" in answers[2], answers[2])
        expect("shop::price" in answers[3] and "orders.cc:" in answers[3],
               answers[3])
        equal(answers[4].split(" = ")[-1], '"pear "\n', "key")
        expect(re.match(r'asked\.fruit: .*-> "pear "\n', answers[5]),
               answers[5])

    def processes(self):
        path, _ = self.record("forks", FORKS)
        listed = self.cprec("ps", "--json", path).stdout
        child = [json.loads(line)["pid"] for line in listed.splitlines()][1]
        answers, _ = self.ask(
            path, f"break {line_of(FORKS, 'meanwhile')}", "continue",
            "process", "output", f"process {child}", "p level", "output",
            "back", "p level", "goto end", f"process {child}", "p level",
            "output", "goto start", "process 999999")
        expect(f"  {child}  " in answers[2], answers[2])
        equal(answers[3], "one\n", "output of the first")
        equal(answers[5].split()[-1], "3", "level of the child meanwhile")
        equal(answers[6], "", "output of the child meanwhile")
        equal(answers[8].split()[-1], "1", "level, back in the first")
        expect("was over then" in answers[10], answers[10])
        equal(answers[11].split()[-1], "5", "level at the child's end")
        equal(answers[12], "child 5\n", "output of the child")
        expect("no process" in answers[14], answers[14])

    @staticmethod
    def plainly(answer):
        """Without what no two sessions have in common, and arguments, which
        are not there yet where a function begins."""
        return re.sub(r"^\$\d+ |^ *Num .*\n|process \d+ .* (?=/)|0x\w+|"
                      r"\(n=.*?\)|argv=\S+", "", answer)

    def programs(self):
        """Names are those of the program that runs where it has gone to, as
        gdb has them natively, told of the exec."""
        first = self.build("becomes", BECOMES)
        second = self.build("become", BECOME)
        path = os.path.join(self.folder, "becomes.cpr")
        self.cprec("record", "-q", "-o", path, "--", first, second)
        shown = ["print both", "print only_first", "print only_second",
                 "info inferiors", "backtrace"]
        commands = ["break first_work", "run", *shown, "delete", "catch exec",
                    "continue", "break second_work", "continue", *shown]
        native, _ = self.answers(
            commands, "gdb", *GDB, "-q", "-batch", "-x",
            self.script(commands), "--args", first, second)
        wanted = [native[2:2 + len(shown)], native[-len(shown):]]
        calls = self.cprec("calls", "--json", path, "first_work",
                           "second_work").stdout.splitlines()
        at = [json.loads(line)["at"] for line in calls]
        exec_at = json.loads(self.cprec("info", "--json", path).stdout)[
            "images"][1]["at"]
        # There and back, by each command that goes far.
        for moves, program in (
                ([f"goto {at[1]}"], 1), ([f"goto {at[1]}", f"goto {at[0]}"], 0),
                (["goto end", f"goto {at[0]}", f"goto {at[1]}", "back"], 0),
                ([f"goto {at[0]}", f"goto {at[1]}", "back", "forward"], 1),
                ([f"goto {exec_at}", f"goto {exec_at - 1}", f"goto {at[1]}"],
                 1)):
            answers, _ = self.ask(path, "goto start", *moves, *shown)
            for one, mine, theirs in zip(shown, answers[len(moves) + 1:],
                                         wanted[program]):
                equal(self.plainly(mine), self.plainly(theirs),
                      f"{one} after {moves}")
        # Breakpoints are met on both sides.
        answers, _ = self.ask(
            path, "goto start", "goto end", "break second_work",
            "reverse-continue", f"goto {at[0]}", "print only_first",
            "continue", "next", "last both", "goto start",
            "info inferiors")
        expect("second_work (n=3)" in answers[3], answers[3])
        expect("= 1" in answers[5], answers[5])
        return f"{len(shown)} answers, 5 ways"

    def process_names(self):
        """Those of programs are taken, too, if one process alone has them."""
        path = os.path.join(self.folder, "names.cpr")
        self.cprec("record", "-q", "-o", path, "--", "sh", "-c", "/bin/echo x;"
                   " /bin/ls / >&2; /bin/ls /tmp >&2; :")
        pids = {}
        for line in self.cprec("ps", "--json", path).stdout.splitlines():
            one = json.loads(line)
            pids.setdefault(one["name"], []).append(one["pid"])
        sh, echo, ls = pids["sh"], pids["echo"], sorted(pids["ls"])
        for how in [], ["--plain"]:
            def ask(*commands):
                done = self.cprec("debug", *how, "--batch", *(
                    word for one in commands for word in ("-ex", one)), path)
                return done.stdout + done.stderr
            listed = ask("process")
            for name, numbers in pids.items():
                for pid in numbers:
                    expect(re.search(rf"^[* ] {pid} +{name} +/", listed,
                                     re.M), f"{how} {pid} {name}: {listed}")
            for name, pid in (("echo", echo[0]), ("sh", sh[0]),
                              ("/tmp", ls[1])):
                expect(re.search(rf"^\* {pid} ", ask(
                    f"process {name}", "process"), re.M), f"{how} {name}")
            expect(f"'ls' is more than one: ls {ls[0]}, ls {ls[1]}" in
                   ask("process ls"), f"{how}: several")
            expect(f"no process 'nix': sh {sh[0]}, echo" in
                   ask("process nix"), f"{how}: none")

    def unusable(self):
        """What is no recording, or half of one, is told at once."""
        whole, _ = self.record("stock", STOCK)
        cut = os.path.join(self.folder, "cut.cpr")
        with open(whole, "rb") as file, open(cut, "wb") as half:
            half.write(file.read()[:os.path.getsize(whole) * 2 // 3])
        for how in [], ["--plain"]:
            for path, text in ((__file__, "is not a cprec recording"),
                               (cut + ".cpr", "No such file"),
                               (cut + ".none", "No such file")):
                done = self.cprec("debug", *how, "--batch", path)
                equal(done.returncode, 1, f"{how} {path}")
                expect(text in done.stderr, done.stderr)
                expect("gdb" not in done.stderr, done.stderr)
            for place in "nix", "999999999999999":
                done = self.cprec("debug", *how, f"--goto={place}", "--batch",
                                  "-ex", "echo begun", whole)
                equal(done.returncode, 1, f"{how} --goto={place}")
                expect(place in done.stderr and not done.stdout and
                       done.stderr.count("\n") == 1, done.stderr)
            done = self.cprec("debug", *how, "--batch", "-ex", "when", cut)
            equal(done.returncode, 0, done.stderr)
            expect("was cut short" in done.stderr, done.stderr)

    def positions(self):
        """Places are those of other commands, by all forms of position."""
        path, _ = self.record("positions", STOCK)
        for number, place in enumerate(("50%", "end-100", "output 2", "1k",
                                        "2k+5", "start")):
            answers, _ = self.ask(path, "goto " + place, "p/x $pc",
                                  f"bookmark place_{number} \"of {place}\"",
                                  "- 10", "goto +10", "goto -5k", "+ 100m",
                                  "when")
            at = place.replace(" ", ":")
            told = self.cprec("registers", f"--at={at}", path, "rip").stdout
            pc = answers[1].split()[-1]
            expect(re.search(pc + r"\b", told), f"{place}: {pc} {told}")
            again = self.cprec("registers", f"--at=place_{number}", path,
                               "rip").stdout
            equal(again, told, "by the bookmark")
            if place != "start":
                equal(re.findall(r"t=(\d+)", answers[4]),
                      re.findall(r"t=(\d+)", answers[0]), "there and back")
            expect("end of the recording" in answers[7], answers[7])
        answers, _ = self.ask(
            path, "info bookmarks", "delete bookmark place_0", "bookmarks",
            "goto place_0", "goto-bookmark place_1", "bookmark end",
            "bookmark x \x1b[31m", "goto 99999m", "goto", "+", "output/x 255",
            *(f"python gdb.write(gdb.execute('monitor {word}', to_string=True))"
              for word in ("help", "nothing")))
        equal(len(answers[0].splitlines()), 6, answers[0])
        equal(len(answers[2].splitlines()), 5, answers[2])
        expect("no bookmark" in answers[3], answers[3])
        expect(answers[4].startswith("t="), answers[4])
        expect("cannot be the name" in answers[5], answers[5])
        expect("control characters" in answers[6], answers[6])
        expect("ends at t=" in answers[7], answers[7])
        expect("missing" in answers[8], answers[8])
        expect(answers[9].startswith("t="), answers[9])
        equal(answers[10], "0xff", "gdb's output")
        expect("plan" in answers[11], answers[11])
        expect("no command" in answers[12], answers[12])

    def registers(self):
        """Who wrote a register, as another command says."""
        path, _ = self.record("registers", STOCK)
        answers, _ = self.ask(path, "last $rax", "when", "last $eax",
                              "goto end", "last $nothing", "last 5",
                              "last no_such_variable")
        told = self.cprec("last", "--register=rax", "--at=end", path).stdout
        equal(re.findall(r"t=(\d+)", answers[1])[:1],
              re.findall(r"t=(\d+)", told)[:1], told)
        expect(answers[2].startswith("$eax:"), answers[2])
        for one in answers[4:]:
            expect(one.startswith("error: "), one)

    def bad_bookmarks(self):
        path, _ = self.record("marks", STOCK)
        self.ask(path, "bookmark good")
        with open(path + ".marks", "rb") as file:
            good = file.read()
        for damage in (b"", b"\0", b"{}\n", good[:-1], good + b"x",
                       good + good.splitlines(True)[1],
                       good.replace(b'"at": "', b'"at": "-'),
                       good.replace(b"good", b"go\033[d"),
                       good.replace(b'"at": "', b'"at": "' + b"9" * 30)):
            with open(path + ".marks", "wb") as file:
                file.write(damage)
            done = self.cprec("registers", "--at=good", path, "rip")
            equal(done.returncode, 1, f"status of {damage!r}")
            equal(len(done.stderr.splitlines()), 1, done.stderr)
            expect(b"\033" not in done.stderr.encode(), "a control character")
        # Those of another recording are none.
        with open(path + ".marks", "wb") as file:
            file.write(re.sub(b"[0-9a-f]{32}", b"0" * 32, good))
        done = self.cprec("registers", "--at=good", path, "rip")
        expect("no bookmark" in done.stderr, done.stderr)

    def files(self):
        """Bookmarks follow the recording."""
        path, _ = self.record("follow", FORKS)
        pid = os.listdir(path + ".d")[0].removesuffix(".cpr")
        names = [path, f"{path}.d/{pid}.cpr"]
        for name in names:
            self.ask(name, "bookmark here", options=["-g", "100"])

        def look(path, *options):
            done = self.cprec("registers", "--at=here", *options, path, "rip")
            equal(done.returncode, 0, done.stderr)
        new = os.path.join(self.folder, "moved.cpr")
        packed = os.path.join(self.folder, "all.cpr")
        again = os.path.join(self.folder, "again.cpr")
        for words in (["mv", path, new], ["pack", "-o", packed, new],
                      ["rm", new], ["mv", packed, packed + "2"],
                      ["unpack", "-o", again, packed + "2"]):
            done = self.cprec(*words)
            equal(done.returncode, 0, f"{words}: {done.stderr}")
            place = words[-1] if words[0] != "rm" else packed
            if words[0] in ("pack", "unpack"):
                place = words[2]
            look(place)
            look(place, f"--pid={pid}")
        # One that is recorded in its place leaves it to the older one.
        program = path.removesuffix(".cpr")
        self.cprec("record", "-q", "-o", again, "--", program)
        look(again + ".old")
        look(again + ".old", f"--pid={pid}")
        equal(self.cprec("registers", "--at=here", again).returncode, 1,
              "status with no bookmark")
        for name in (again, again + ".old", packed + "2"):
            equal(self.cprec("rm", name).returncode, 0, "status of rm")
        left = [name for name in os.listdir(self.folder)
                if ".marks" in name and name.startswith(("follow", "moved",
                                                         "all", "again"))]
        equal(left, [], "what is left")

    # ------- front ends -------

    def machine_interface(self):
        path, _ = self.record("mi", STOCK)
        text = "\n".join((
            '-interpreter-exec console "goto 50%"',
            '-interpreter-exec console "last head"', "-stack-info-frame",
            "-gdb-exit\n"))
        done = subprocess.run(
            [self.options.cprec, "debug", path, "--", "-i=mi", *GDB],
            input=text, capture_output=True, text=True, timeout=120)
        kinds = [line[:5] for line in done.stdout.splitlines()]
        wrong = [line for line in done.stdout.splitlines()
                 if not re.match(r'[~&@=*^]|\d*\^|\(gdb\)', line)]
        equal(wrong, [], "lines that are none of the protocol")
        expect(kinds.count("*stop") >= 2, done.stdout)
        # Nothing wrote `head` by half of the time: that is an error.
        expect("^error" in done.stdout and "nothing changed" in
               done.stdout.lower(), done.stdout)

    def terminal(self):
        """Enter repeats; Ctrl-C interrupts a search, and all stays."""
        path, _ = self.record("stock2", STOCK)
        long, _ = self.record("long", LONG)
        with Terminal(self.options.cprec, path) as terminal:
            terminal.say("last total")
            first = terminal.say("last total")
            second = terminal.say("")
            third = terminal.say("")
            changes = [re.search(r"total: (\d+) -> (\d+)", one)
                       for one in (first, second, third)]
            expect(all(changes), first + second + third)
            equal(changes[1].group(2), changes[0].group(1), "further back")
            equal(changes[2].group(2), changes[1].group(1), "and further")
            moved = terminal.say("reverse-stepi")
            expect(re.search(r"t=\d+ \(\d+\.\d%\), thread \d+", moved), moved)
            ended = terminal.say("reverse-continue")
            expect("the start of the recording" in ended, ended)
        with Terminal(self.options.cprec, "-e", long) as terminal:
            before = time.monotonic()
            terminal.write("last all.never\n")
            time.sleep(0.2)
            terminal.interrupt()
            said = terminal.wait()
            took = time.monotonic() - before
            expect("Interrupted" in said or "nothing changed" in said.lower(),
                   said)
            where = terminal.say("when")
            expect("the end of the recording" in where, said + where)
        return f"interrupted after {took:.1f} s" if "Interrupted" in said \
            else "was over before"


class Terminal:
    """cprec debug on a terminal of its own."""
    prompt = "(gdb) "

    def __init__(self, cprec, *words):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "dumb"
            os.execv(cprec, [cprec, "debug", *words, "--", *GDB])
        self.said = ""

    def __enter__(self):
        self.wait()
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGTERM)
        os.close(self.fd)
        os.waitpid(self.pid, 0)

    def write(self, text):
        os.write(self.fd, text.encode())

    def interrupt(self):
        os.write(self.fd, b"\x03")

    def wait(self):
        """What is said up to the next prompt."""
        said = ""
        while not said.endswith(self.prompt):
            if not select.select([self.fd], [], [], 60)[0]:
                raise Failure(f"no prompt: {said}")
            said += os.read(self.fd, 65536).decode(errors="replace")
        return said

    def say(self, command):
        self.write(command + "\n")
        return self.wait()


def run_all(options, folder):
    tests = Session(options, folder)
    for name, test in (
            ("who wrote behind a block", tests.corruption),
            ("changes as a watchpoint has them", tests.changes),
            ("where a value was copied from", tests.copies),
            ("where a copy was never written", tests.copy_ends),
            ("C++", tests.cpp), ("threads", tests.threads),
            ("an inlined function first", tests.inlined),
            ("lost counts", tests.lost_counts),
            ("where an exception came from", tests.exception),
            ("processes", tests.processes),
            ("programs", tests.programs),
            ("processes by name", tests.process_names), ("unusable", tests.unusable),
            ("positions", tests.positions),
            ("registers", tests.registers),
            ("damaged bookmarks", tests.bad_bookmarks),
            ("bookmarks follow", tests.files),
            ("through MI", tests.machine_interface),
            ("on a terminal", tests.terminal)):
        tests.test(name, test)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, parser=argparse.ArgumentParser()))
