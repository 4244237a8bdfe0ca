#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of gdb on recordings: what it says, command by command.

A session is a list of commands, each with what its answer must match.  Where
gdb can do the same by itself, on the program or with its own recorder, it is
asked that.
"""
import argparse
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, Failure, equal, expect, main  # noqa: E402

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

SETTINGS = ["set pagination off", "set confirm off", "set width 0",
            "set style enabled off", "set debuginfod enabled off"]


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
        words = [*start, "-nx", "-batch"]
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
            ("p head->next->next", r"= \(struct node \*\) 0x5"),
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
            ("p *head", r"= \{id = 40, next = 0x5"),
            ("info sharedlibrary", r"libc\.so\.6"),
            ("info proc mappings", r"libc\.so\.6.*\[stack\]"),
            ("set var total = 99", ""),
            ("p total", "= 99"),
            ("stepi", ""),
            ("p total", "= 0"),
            at=())

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
            ("p length(head)", "= 5"),
            ("p *head", r"= \{id = 40, next = 0x5"),
            ("handle SIGUSR1 nostop noprint", ""),
            ("reverse-next", "32"),
            ("reverse-next", "31"),
            ("p caught", r"= 0"),
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
        return self.session(
            path,
            ("break __cxa_throw", ""),
            ("continue", "Breakpoint 1, .*__cxa_throw"),
            ("up", r"Square::area"),
            ("info frame", "rip = "),
            ("up", r"add<Square>|main"),
            ("delete", ""),
            ("break Square::area", ""),
            ("reverse-continue", r"Square::area"),
            ("reverse-continue", r"Square::area"),
            ("info locals", ""),
            ("bt", r"#0 .*Square::area.*main"))

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
            ("up", "main"),
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
                [self.options.gdb, os.path.join(self.folder, "lines")],
                [f"target extended-remote :{port}", "info registers rip",
                 "run 1000", "info registers rip"])
            expect("main" in answers[1], f"{answers} {errors}")
        finally:
            status = server.wait(timeout=60)
            server.stderr.close()
        equal(status, 0, "exit status")


def run_all(options, folder):
    tests = Gdb(options, folder)
    for flags in ("-O0",), ("-O2",):
        tests.test(f"a crash, {flags[0]}", tests.crash, flags)
        tests.test(f"C++, {flags[0]}", tests.cpp, flags)
    tests.test("lines, there and back", tests.moves)
    tests.test("threads", tests.threads)
    tests.test("a stripped program", tests.stripped)
    tests.test("python3", tests.python)
    tests.test("forks and execs", tests.execs)
    tests.test("conditions and printing", tests.conditions)
    tests.test("as gdb's own recorder", tests.records)
    tests.test("the machine interface", tests.machine)
    tests.test("a port", tests.client)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--passes", type=int, default=1000000)
    PARSER.add_argument("--gdb", default="gdb", help="this one")
    sys.exit(main(run_all, parser=PARSER))
