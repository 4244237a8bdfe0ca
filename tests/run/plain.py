#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of `cprec debug --plain`: what it says, and that gdb, on the same
recording, stops at the same places.

With --rounds N, that many lists of random commands are compared for each
program.  Older versions of gdb go back by lines in another way than newer ones:
those commands are compared if there is gdb 15 or newer, the machine's or that of
--gdb-folder, which `run/gdb16.sh` makes.

Known exceptions:
- reverse-finish out of a function that has called itself: gdb stops at the
  innermost call of it, --plain goes back to that of the frame.
- Lines of optimized C++, which has many inlined functions at one address.
- The dynamic linker's first instructions, which gdb takes for calls.
- Names in tables of jumps to libraries: gdb has "pthread_create@plt" there.
"""
import argparse
import json
import os
import pty
import random
import re
import shutil
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True
from agree import ask_gdb, ask_plain, compare  # noqa: E402
from dap import version  # noqa: E402
from debug import LONG, STOCK, Terminal, line_of  # noqa: E402
from gdb import CPP, LIST, PLAIN, THREADS, Gdb  # noqa: E402
from tap import Failure, equal, expect, gdb_changes, main  # noqa: E402

# The first one that goes back to where a line begins.
LEAST = 15

STRAIGHT = """static int table[16];
static int mix(int x)
{
  int y = x * 7;
  y += x >> 2;
  return y;
}
static int sum(int n)
{
  int a;
  if (!n)
    return 1;
  a = mix(n);
  table[n & 15] = a;
  n--;
  a += sum(n);
  return a;
}
int main(void)
{
  int a, b;
  a = sum(3);
  b = sum(4);
  table[3] = a;
  table[4] = b;
  return table[3] & 1;
}
"""


# Variables of which parts are written, each by an instruction of its own.
PARTS = """struct corner { int x, y; char name[8]; } corner;
long wide;
enum color { RED, GREEN } color;
int row[3];
short grid[2][2];
int main(void)
{
  corner.x = 3;
  corner.y = 4;
  corner.name[0] = 'a';
  corner.name[1] = 'b';
  wide = 0x100000000;
  *(int *)&wide = 7;
  color = GREEN;
  row[1] = 2;
  row[2] = 9;
  color = RED;
  grid[1][0] = -1;
  grid[0][1] = 5;
  corner.y = 0;
  return 0;
}
"""


class Plain(Gdb):
    def plain(self, path, commands):
        """The answer of each command, the exit status, the errors."""
        words = [self.options.cprec, "debug", "--plain", "--batch",
                 "--goto=main"]
        for number, command in enumerate(commands):
            words += ["-ex", f"echo \\n@@{number}\\n", "-ex", command]
        done = subprocess.run(words + [path], capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)
        return (re.split(r"\n?@@\d+\n", done.stdout)[1:], done.returncode,
                done.stderr)

    def asks(self, path, *steps):
        """Pairs of a command and a pattern."""
        answers, status, errors = self.plain(path, [one for one, _ in steps])
        for index, (asked, wanted) in enumerate(steps):
            found = answers[index] if index < len(answers) else "(nothing)"
            if not re.search(wanted, found, re.S):
                raise Failure(f"{asked}\nwanted: {wanted}\nfound: {found}"
                              f"\nstatus: {status}\nerrors: {errors}")
        equal(status, 0, errors)
        return f"{len(steps)} commands"

    # ------- sessions -------

    def lines(self):
        program = self.build("lines", LIST, "-g", "-O0")
        printed = subprocess.run([program], capture_output=True, text=True)
        # It crashes, so what it had printed to a pipe is lost.
        equal((printed.returncode, printed.stdout), (-11, ""), "natively")
        path = self.record("lines", program)
        told = self.cprec("registers", "--at=end", "--json", path).stdout
        last = json.loads(told)
        end = f"{last['at']}" + (f"\\.{last['events']}" if "events" in last
                                 else "") + r"\n?"
        return self.asks(
            path,
            # Nobody has called it yet.
            ("disassemble push", r"call +0x[0-9a-f]+ <malloc@plt>"),
            ("break push", r"Breakpoint 1 at .*line 11"),
            ("continue", r"Breakpoint 1, push \(id=0\).*:11"),
            ("continue", r"push \(id=10\)"),
            ("print id", "= 10"),
            ("next", "^12\t"),
            ("reverse-next", r"Breakpoint 1, push \(id=10\).*:11"),
            ("backtrace", r"#0  push \(id=10\).*#1 .*main \(\)"),
            ("delete", ""),
            ("finish", r"main \(\).*\n2[78]\t"),
            ("tbreak length", ""),
            ("continue", r"length \(node="),
            ("finish", r"main \(\).*:30"),
            ("watch total", "Watchpoint 3: total"),
            ("continue", r"Old value = 0\nNew value = 5\n"),
            ("continue", "SIGUSR1"),
            ("continue", r"Old value = 5\nNew value = 15\n"),
            ("delete", ""),
            ("goto end", "100.0%"),
            ("print caught", "= 10"),
            ("when", f"^{end}$"), ("goto -9999999999", "begins here"),
            ("goto +9999999999", "ends here: SIGSEGV"), ("when", f"^{end}$"),
            ("reverse-continue", "SIG|begins here"),
            ("help cprec", "goto .*last .*query"),
            ("goto start", r"\[0 "),
            ("reverse-continue", "The recording begins here"),
            ("goto end", "100.0%"),
            ("continue", "The recording ends here: SIGSEGV"))

    def shapes(self):
        program = self.build("shapes", CPP, "-g", "-O0", cxx=True)
        path = self.record("shapes", program)
        return self.asks(
            path,
            ("break Square::area", "Breakpoint 1 at .*line 9"),
            ("continue", r"Breakpoint 1, Square::area.*:9"),
            ("print this->side", "= 1"),
            ("continue", ""),
            ("print this->side", "= 2"),
            ("backtrace", r"#0 .*Square::area.*#1 .*add<Square>.*main"),
            ("finish", r"add<Square>.*:15"),
            ("reverse-continue", r"Breakpoint 1, Square::area"),
            ("reverse-continue", r"Breakpoint 1, Square::area"),
            ("print this->side", "= 1"),
            ("reverse-continue", "The recording begins here"))

    def work(self):
        program = self.build("threads", THREADS, "-g", "-O0", "-pthread")
        path = self.record("threads", program)
        return self.asks(
            path,
            ("break work", ""),
            ("continue", r"Breakpoint 1, work"),
            ("continue", r"Breakpoint 1, work"),
            ("delete", ""),
            ("tbreak 17", ""),
            ("continue", r"main \(\).*:17"),
            ("print counter", "= 2000"),
            ("watch counter", ""),
            ("reverse-continue", "Old value = 2000\nNew value = 1999.*work"),
            ("continue", "Old value = 1999\nNew value = 2000.*work"),
            ("output", ""),
            ("goto end", "100.0%"),
            ("output", "2000"))

    def bare(self):
        program = self.build("bare", PLAIN, "-O2", "-s", "-static")
        status = subprocess.run([program]).returncode
        path = self.record("bare", program)
        return self.asks(
            path,
            ("goto start", r"\[0 "),
            ("x/3i $pc", r"=> 0x.*\n.*0x.*\n.*0x"),
            ("stepi 50", r"\[50 "),
            ("when", r"^50\b"),
            ("reverse-stepi 50", r"\[0 "),
            ("when", r"^0\b"),
            ("continue", f"exited with status {status}" if status
             else "The recording ends here"),
            ("reverse-continue", "The recording begins here"))

    def errors(self):
        path = os.path.join(self.folder, "lines.cpr")
        # Conditions are looked at when they are set, as code there has names.
        for bad in ("bogus", "break nowhere", "print nothing", "delete 7",
                    "break push if nothing == 3", "break push if id ==",
                    "break push if id == -1 && head->nix",
                    "break length if id == 3", "break push if $zzz",
                    "watch total if nothing"):
            answers, status, errors = self.plain(path, [bad, "when"])
            equal(status, 1, bad)
            equal(len(answers), 1, f"commands behind '{bad}'")
            expect(errors.startswith("cprec: "), errors)

        _, _, errors = self.plain(path, ["break push", "continue", "print i"])
        expect("is a variable of frame 1, main: use frame 1" in errors, errors)

    def gone(self):
        """Without the program's file."""
        program = self.build("gone", PLAIN, "-g", "-O0")
        path = self.record("gone", program)
        os.remove(program)
        return self.asks(path, ("goto start", r"\[0 "), ("stepi", r"\[1 "),
                         ("when", "^1\n?"), ("backtrace", "#0 "),
                         ("continue", "The recording ends here"))

    # ------- places -------

    def places(self):
        path, program = self.stock()
        answers, status, errors = self.plain(path, [
            'bookmark here "some words"', "when", "goto output 1", "when",
            "goto here", "when", "bookmarks", "delete bookmark here",
            "info bookmarks", "back", "back 1", "forward 2", "when",
            "goto main", "+ 5", "-5", "when", "goto end", "last total",
            "last", "last $rax", "when", "goto end", "when", "goto main",
            "goto +99999999999", "when"])
        equal((status, errors), (0, ""), "status, errors")
        when = answers[1]
        equal(answers[5], when, "by the bookmark")
        equal(answers[0], f"here is {when.strip()}.\n", "bookmark")
        expect(re.fullmatch(rf"{when.strip()} +here  some words\n",
                            answers[6]), answers[6])
        equal(answers[8], "There are no bookmarks.\n", "deleted")
        equal(answers[12], when, "back and forward")
        equal(answers[16], when, "main")
        equal((answers[25], answers[26]), (answers[22], answers[23]),
              "behind the end")
        told = self.cprec("registers", "--at=output:1", path, "rip").stdout
        expect(f"t={answers[3].strip()}" in told or answers[3] != when, told)
        # What gdb has seen of the same changes.
        changes = gdb_changes(program, "-l total", 30)
        found = [re.match(r"total: (.*) -> (.*)\n", answers[i]).groups()
                 for i in (18, 19)]
        equal(found, changes[:-3:-1], "changes")
        equal(self.cprec("rm", path).returncode, 0, "rm")

    def stock(self):
        """A recording that it can leave files beside, and the program."""
        program = self.build("stock", STOCK, "-g", "-O0")
        return self.record("stock", program), program

    def looks(self):
        """What is shown of code, values and sources, as gdb shows it."""
        path = os.path.join(self.folder, "lines.cpr")
        return self.asks(
            path,
            ("break push if id == 20", ""), ("continue", r"id=20"),
            ("list", "6\t.*11\t.*15\t"), ("list", "^16\t"),
            ("list -", "^6\t.*15\t"), ("list 1,2", "^1\t.*\n2\t.*\n$"),
            ("list length", "17\t{"),
            ("disassemble", r"=> 0x[0-9a-f]+ <\+0x[0-9a-f]+>:\tmov"),
            ("disassemble /r push", r"\t?55 \t+push +rbp"),
            ("disassemble /s push", r"11\t  struct node.*12\t  node->id"),
            ("x/4xb &total", "<total>:\t0x00\t0x00\t0x00\t0x00"),
            ("x", "<caught>:\t0x00\n"), ("x/2dw &id", ":\t20\t"),
            ("x/2i $pc", r"=> 0x.*\n +0x"),
            ("whatis head", r"type = struct node \*"),
            ("print/x id", "= 0x14"), ("print *head", "id = 10"),
            ("display id", "1: id = 20"), ("display/i $pc", "2: x/i"),
            ("next", r"12\t.*1: id = 20.*2: x/i \$pc\n=> 0x"),
            ("undisplay", ""), ("next", r"^13\t[^\n]*\n\[[^\n]*\n$"),
            ("info locals", "node = 0x"), ("info args", "id = 20"),
            ("registers rip", r"rip +0x"), ("info symbol main", "main"),
            ("threads", r'^\* \d+ +"lines" (0x\S+ in )?push'),
            ("processes", r"^\* \d+"),
            ("calls length", "length returned 5"),
            ("log 12 => id, head->id", "id = 40, head->id = 30"),
            ("history total", r"\t5 -> 15\t"),
            ("history head", r"\t\(struct node \*\) 0x0 -> \(struct node \*\) 0x[0-9a-f]+"),
            ("strace rt_sigaction", "=> here.*rt_sigaction|rt_sigaction"),
            ("delete 1", ""),
            ("catch syscall rt_sigaction", "Catchpoint 2"),
            ("reverse-continue", "returned from rt_sigaction = 0"),
            ("reverse-continue", "call of rt_sigaction"),
            ("catch signal SIGUSR1", ""),
            ("continue", "returned from"),
            ("continue", "signal SIGUSR1"),
            ("info b", "catchpoint.*catchpoint.*met 1 time"))

    def refused(self):
        """What can never have a value is displayed nowhere."""
        path = os.path.join(self.folder, "lines.cpr")
        begin = ["break push", "continue"]
        for wrong, said in (("nosuch", "cannot find a symbol 'nosuch'"),
                            ("node % 2", "does not fit"),
                            ("node->nix", "no member 'nix'")):
            _, _, errors = self.plain(path, begin + [f"display {wrong}"])
            expect(said in errors, errors)
        answers, _, _ = self.plain(path, begin + [
            "display total", "display *(int *)8", "next"])
        equal(re.findall(r"^(\d+: \S+)", answers[-1], re.M),
              ["1: total", "2: *(int"], "displays")

    def tables(self, *options):
        """Code that linkers make is called as objdump calls it."""
        program = self.build("tables", LIST, "-g", "-O0", "-no-pie", *options)
        path = self.record("tables", program)
        code = subprocess.run(
            ["objdump", "-d", *(f"--section=.plt{more}" for more in
                                ("", ".sec", ".got")), program],
            capture_output=True, text=True, check=True).stdout
        heads = re.findall(r"^([0-9a-f]{16}) <(.*)>:$", code, re.M)
        expect(len(heads) > 3, f"objdump says {code}")
        for addr, name in heads:
            # The first entry has no name, and is said to be before another.
            name = ".plt" if name.endswith("-0x10") else name
            told, status, errors = self.plain(
                path, [f"x/2i 0x{addr}", f"info symbol 0x{addr}"])
            equal((status, errors), (0, ""), "status, errors")
            expect(re.search(rf"<{re.escape(name)}>.*\n.*"
                             rf"<{re.escape(name)}\+", told[0]),
                   f"{name}: {told[0]}")
            expect(told[1].startswith(name + " "), f"{name}: {told[1]}")
        return f"{len(heads)} names"

    def history(self):
        """The whole variable before and after, though a part was written, as
        gdb's watchpoint on the program itself shows it."""
        program = self.build("parts", PARTS, "-g", "-O0")
        path = self.record("parts", program)
        names = ("corner", "wide", "color", "row", "corner.name", "grid")
        answers, status, errors = self.plain(
            path, [f"history {name}" for name in names])
        equal((status, errors), (0, ""), "status, errors")
        for name, answer in zip(names, answers):
            changes = gdb_changes(program, name, 12)
            expect(len(changes) > 1, f"gdb's of {name}: {changes}")
            equal([tuple(line.split("\t")[2].split(" -> "))
                   for line in answer.splitlines()], changes, name)

    def percents(self):
        """Both kinds of prompt say the same of a position."""
        path = os.path.join(self.folder, "lines.cpr")
        places = ("start", "50%", "12.5%", "33.3%", "99.9%", "end-1", "end")
        plain, status, errors = self.plain(
            path, [f"goto {place}" for place in places])
        equal((status, errors), (0, ""), "status, errors")
        words = [one for place in places for one in ("-ex", f"goto {place}")]
        gdb = self.cprec("debug", "--batch", *words, path).stdout
        said = [re.findall(r"\(([0-9.]+)%\)", text)
                for text in (" ".join(plain), gdb)]
        # gdb's first one is where it begins.
        equal(said[0], ["0.0", "50.0", "12.5", "33.3", "99.9", "99.9",
                        "100.0"], "plain")
        equal(said[1][1:], said[0], "gdb")

    def scripts(self):
        """Errors name the file and its line; the status tells of them."""
        path = os.path.join(self.folder, "lines.cpr")
        names = [os.path.join(self.folder, name) for name in "abc"]
        for name, text in zip(names, (
                "echo one\\n\n# nothing\n\nbogus\necho two\\n\n",
                f"source {names[0]}\n", "echo three\\n\nquit 7\n")):
            with open(name, "w") as file:
                file.write(text)

        def run(*words):
            done = self.cprec("debug", "--plain", *words, path, text="when\n")
            return (done.returncode, done.stderr, "one\n" in done.stdout,
                    "two\n" in done.stdout)
        status, errors, *printed = run("--batch", "-x", names[0])
        equal((status, printed), (1, [True, False]), "status, output")
        expect(errors.startswith(f"cprec: {names[0]}:4: there is no command "
                                 "'bogus'"), errors)
        status, errors, *_ = run("--batch", "--command", names[1])
        expect(errors.startswith(f"cprec: {names[1]}:1: {names[0]}:4: "),
               errors)
        equal(run("--batch", "-x", names[2], "-ex", "bogus")[:2], (7, ""),
              "quit 7")
        # A prompt goes on.
        equal(run("-x", names[0])[0], 0, "status of a prompt")
        equal(run("--batch", "-x", names[0] + "nowhere")[0], 1, "no file")

    def stripped(self):
        """Static, without any symbol, and its file is gone."""
        busybox = shutil.which("busybox")
        if not busybox:
            return "there is no busybox"
        program = os.path.join(self.folder, "busybox")
        shutil.copy(busybox, program)
        path = os.path.join(self.folder, "busybox.cpr")
        printed = self.cprec("record", "-q", "-o", path, "--", program,
                             "echo", "hello").stdout
        equal(printed, "hello\n", "printed")
        os.remove(program)
        return self.asks(
            path,
            ("goto start", "The recording begins here"),
            ("x/3i $pc", r"=> 0x.*\n +0x.*\n +0x"),
            ("print 1+1", "^= 2$"), ("print 7 == 7", "^= 1$"),
            ("catch syscall write", "Catchpoint 1"),
            ("continue", "call of write"), ("print/x $rdi", "= 0x1"),
            ("x/s $rsi", r'"hello\\x0a'), ("backtrace", "#0 .*#1 "),
            ("finish", r"\[\d+ "), ("reverse-stepi", r"returned from|\["),
            ("watch *(long *) $rsp", "Watchpoint 2"),
            ("reverse-continue", "."), ("delete", ""),
            ("break *$pc", "Breakpoint 3"), ("stepi", r"\["),
            ("reverse-continue", "Breakpoint 3"),
            ("registers rip", "rip +0x"), ("last $rax", r"\$rax: 0x"),
            ("info maps", "busybox"), ("goto end", "ends here: .*status 0"),
            ("output", "hello\n"), ("delete", ""),
            ("reverse-continue", "The recording begins here"))

    def processes(self):
        """At the same moment, or where the other one was nearest to it."""
        path = os.path.join(self.folder, "family.cpr")
        done = self.cprec("record", "-q", "-o", path, "--", "/bin/sh", "-c",
                          "/bin/true; exit 3")
        equal(done.returncode, 3, "status")
        listed = self.cprec("ps", "--json", path).stdout.splitlines()
        mother, child = (json.loads(line)["pid"] for line in listed)
        return self.asks(
            path, ("goto end", "status 3"),
            (f"process {child}", "It was over then: .*Switching to .*status 0"),
            (f"process {mother}", "Switching to process"),
            ("goto start", "The recording begins here"),
            (f"process {child}", "It had not begun then: .*The recording begins"),
            ("process", rf"\* {child}"))

    def executed(self):
        """'main' is that of the program that a child has become."""
        became = self.build("became", "int pad(int n)\n{\n  return n + 1;\n}\n"
                            "int main(int argc, char **argv)\n{\n"
                            "  (void)argv;\n  return pad(argc);\n}\n",
                            "-g", "-O0")
        program = self.build("becomes", "#include <unistd.h>\n"
                             "#include <sys/wait.h>\n"
                             "int main(int argc, char **argv)\n{\n"
                             "  if (!fork())\n    execl(\"" + became +
                             "\", argv[0], \"x\", NULL);\n"
                             "  wait(NULL);\n  return 0;\n}\n", "-g", "-O0")
        path = self.record("becomes", program)
        listed = self.cprec("ps", "--json", path).stdout.splitlines()
        child = json.loads(listed[1])["pid"]
        return self.asks(path, ("print argc", "= 1$"),
                         (f"process {child}", "Switching to process"),
                         ("goto main", r"main \(argc=2,"),
                         ("print argc", "= 2$"), ("step", r"pad \(n=2\)"),
                         ("goto start", "begins here"),
                         ("goto main", r"main \(argc=2,"))

    # ------- there and back -------

    def steps_back(self, name, start, count):
        """So many instructions on, and back: the same, in reverse."""
        path = os.path.join(self.folder, name + ".cpr")
        steps = ["stepi"] * count + ["reverse-stepi"] * count
        stops = [(one["at"], one["tid"], one["pc"], one["function"])
                 for one in ask_plain(self.options.cprec, path, start,
                                      ["when"] + steps)]
        equal(stops[count:], stops[count::-1], "there and back")
        for at, _, pc, _ in stops[:count:7]:
            told = self.cprec("registers", f"--at={at}", path, "rip").stdout
            expect(re.search(rf"0x0*{pc:x}\b", told), f"{at} {pc:#x}: {told}")
        return f"{count} instructions"

    def points_back(self, name, *points):
        """Each is met backwards in reverse; a watch, between its values."""
        path = os.path.join(self.folder, name + ".cpr")
        commands = [*points, "goto start", *["continue"] * 60]
        there = self.met(ask_plain(self.options.cprec, path, "start",
                                   commands)[len(points):])
        commands = [*points, "goto end", *["reverse-continue"] * 60]
        back = self.met(ask_plain(self.options.cprec, path, "end",
                                  commands)[len(points):])
        expect(len(there) > 3, f"{there}")
        equal([(what, new, old) for what, old, new in back[::-1]], there,
              "backwards")
        return f"{len(there)} stops"

    @staticmethod
    def met(stops):
        """What they stopped at: places of breakpoints, values of watches."""
        found = []
        for stop in stops:
            said = stop["said"]
            values = re.search(r"Old value = (.*)\nNew value = (.*)\n", said)
            if values:
                found.append(("watch", *values.groups()))
            elif "reakpoint" in said:
                found.append((stop["at"], None, None))
        return found

    def goes_where_it_stepped(self):
        """goto T is where so many steps lead: all registers."""
        path = os.path.join(self.folder, "straight.cpr")
        stepped, _, _ = self.plain(path, [
            word for count in (1, 6, 25, 60)
            for word in (f"stepi {count}", "when", "info all-registers",
                         "backtrace")])
        for i in range(0, len(stepped), 4):
            gone, _, _ = self.plain(path, [
                f"goto {stepped[i + 1].strip()}", "info all-registers",
                "backtrace"])
            equal(gone[1:], stepped[i + 2:i + 4], stepped[i + 1])

    # ------- on a terminal -------

    def terminal(self):
        stock, _ = self.stock()
        home = os.path.join(self.folder, "home")
        with Prompt(self, home, stock) as prompt:
            expect("\033[" in prompt.begun, "no color")
            expect("reverse-step" in prompt.say("rev\t\tco\t\x15print 1"),
                   "completion of commands")
            expect(re.search(r"= \d+", prompt.say("print to\t")), "of variables")
            expect("breakpoints" in prompt.say("info br\t"), "of topics")
            expect("line 14" in prompt.say("break sto\t14"), "of files")
            prompt.say("bookmark somewhere")
            expect(re.search(r"\[\d+ \(", prompt.say("goto some\t")),
                   "of bookmarks")
            first = prompt.say("last total")
            second = prompt.say("")
            before = [re.search(r"total: (\d+) -> (\d+)", one).groups()
                      for one in (first, second)]
            equal(before[1][1], before[0][0], "Enter goes further back")
            prompt.write("half of a li")
            time.sleep(0.5)		# until it is being read
            prompt.interrupt()
            prompt.wait()
            expect(re.search(r"\n\d+\r\n", prompt.say("when")), "Ctrl-C")
            prompt.leave()
        with Prompt(self, home, stock) as prompt:
            expect(re.search(r"\n\d+\r\n", prompt.say("\x1b[A")),
                   "the history is kept")

    def interrupted(self):
        program = self.build("long", LONG, "-g", "-O0")
        path = self.record("long", program)
        with Prompt(self, self.folder, "-e", path) as prompt:
            where = prompt.position()
            prompt.say("watch all.other[0] if all.other[0] < 0")
            took = 0
            for search in ("last all.never", "reverse-continue"):
                prompt.write(search + "\n")
                time.sleep(0.7)
                began = time.monotonic()
                prompt.interrupt()
                said = prompt.wait()
                took = max(took, time.monotonic() - began)
                expect("nterrupted" in said, said)
                expect("searching backwards" in said, said)
                at = prompt.position()
                if search == "reverse-continue":
                    expect(0 < float(at) < float(where), f"{at}, {where}")
                else:
                    equal(at, where, "it stands elsewhere")
        expect(took < 5, f"it took {took:.1f} s")
        return f"after {took:.2f} s"

    # ------- as gdb -------

    def agrees(self, name, seed, choice, gdb):
        """The same random commands; how many were alike."""
        chosen = random.Random(f"{name} {seed} {bool(choice.points)}")
        path = os.path.join(self.folder, name + ".cpr")
        commands = ["next", "next"]
        if choice.points:
            commands = ["break main", *chosen.sample(
                choice.points, chosen.randint(1, 3))]
        moves = MOVES + (BACK if version(gdb) >= LEAST else BACK_SHORT)
        moves += RUNS if choice.points else []
        if choice.calls_itself:
            moves = [move for move in moves if move != "reverse-finish"]
        commands += chosen.choices(moves, k=22)
        try:
            theirs = ask_gdb(self.options.cprec, gdb, path, "main", commands,
                             self.folder)
        except subprocess.TimeoutExpired:
            # It steps through a library, one instruction after the other.
            return self.agrees(name, seed + 1000, choice, gdb)
        return self.same(path, commands, theirs)

    def same(self, path, commands, theirs):
        ours = ask_plain(self.options.cprec, path, "main", commands)
        found = compare(ours, theirs)
        if found:
            raise Failure(found)
        return f"{len(commands)} commands"

    def turns(self, gdb):
        """Places of one thread while others pass them, too; functions that
        are chosen when they are called first."""
        program = self.build("turns", TURNS, "-g", "-O0", "-pthread")
        path = self.record("turns", program)
        for commands in TURNS_COMMANDS:
            self.same(path, commands, ask_gdb(self.options.cprec, gdb, path,
                                              "main", commands, self.folder))


    def alike(self, name, source, options, commands, gdb):
        """gdb and --plain, by a list of commands."""
        program = self.build(name, source, "-g", *options)
        path = self.record(name, program)
        ours = ask_plain(self.options.cprec, path, "main", commands)
        theirs = ask_gdb(self.options.cprec, gdb, path, "main", commands,
                         self.folder)
        found = compare(ours, theirs)
        if found:
            raise Failure(found)
        return f"{len(commands)} commands"


class Prompt(Terminal):
    prompt = "(cprec) "

    def __init__(self, tests, home, *words):
        os.makedirs(home, exist_ok=True)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm", HOME=home, LC_ALL="C.UTF-8")
            for name in ("XDG_STATE_HOME", "NO_COLOR"):
                os.environ.pop(name, None)
            os.execv(tests.options.cprec,
                     [tests.options.cprec, "debug", "--plain", *words])
        self.begun = ""

    def write(self, text):
        """Once each key is read by itself: that begins behind the prompt."""
        for _ in range(500):
            if not termios.tcgetattr(self.fd)[3] & termios.ICANON:
                break
            time.sleep(0.01)
        super().write(text)

    def __enter__(self):
        self.begun = self.wait()
        return self

    def position(self):
        return re.search(r"\n([\d.]+)\r\n", self.say("when")).group(1)

    def leave(self):
        """By Ctrl-D; the history is written then."""
        self.write("\x04")
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass


class Choice:
    """What random commands are chosen from, for a program."""

    def __init__(self, source, *options, points=(), calls_itself=False,
                 cxx=False, is_slow=False):
        self.source, self.options = source, options
        self.points, self.calls_itself, self.cxx = points, calls_itself, cxx
        self.is_slow = is_slow		# gdb is: not in one round


TURNS = """#include <pthread.h>
#include <string.h>
static int total;
static void *work(void *turns)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += i * *(int *)turns;
	total += sum;
	return 0;
}
int main(void)
{
	pthread_t threads[2];
	int turns[2] = { 1, 2 };
	char text[100];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, &turns[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	memset(text, total, sizeof(text));
	return text[0] & 1;
}
"""
TURNS_COMMANDS = (
    ["advance work"], ["advance 23"],
    ["tbreak work", "continue", "advance 10", "until 11", "reverse-finish"],
    ["tbreak 23", "continue", "step", "step", "reverse-step", "reverse-step",
     "reverse-step", "reverse-step", "reverse-next", "reverse-next"],
    ["tbreak 23", "continue", "next", "reverse-finish"])

MOVES = ["next", "next", "step", "step", "step", "stepi", "nexti", "finish"]
BACK_SHORT = ["reverse-stepi", "reverse-stepi", "reverse-nexti"]
BACK = [*BACK_SHORT, "reverse-next", "reverse-next", "reverse-step",
        "reverse-step", "reverse-step", "reverse-finish"]
RUNS = ["continue"] * 5 + ["reverse-continue"] * 4

CHOICES = {
    "straight": Choice(STRAIGHT, "-O0", calls_itself=True, points=[
        "break mix", "break sum", "tbreak sum if n == 2", "break 15",
        "break sum if n == 1", "watch -l table[3]", "watch -l table[1]",
        "break mix if x > 2", "awatch -l table[2]"]),
    "loops": Choice(PLAIN, "-O0", is_slow=True, points=[
        "break mix", "break fill", "break 7", "break mix if x == 3",
        "watch -l table[2]", "rwatch -l table[3]", "break 8 if i == 2",
        "tbreak 17", "break 8"]),
    "loops-O2": Choice(PLAIN, "-O2", is_slow=True),
    "lines": Choice(LIST, "-O0", calls_itself=True, points=[
        "break push", "break length", "break handler", "break 12 if id > 20",
        "watch -l total", "watch -l head", "watch -l caught", "break 30",
        "tbreak malloc", "break length if node == 0", "break 19"]),
    "shapes": Choice(CPP, "-O0", cxx=True, points=[
        "break Square::area", "break 16", "break 24", "break 26",
        "break Square::Square if s == 2", "break 15", "tbreak 26"]),
    "threads": Choice(THREADS, "-O0", "-pthread", points=[
        "break work", "break 8", "watch -l counter if counter > 1990",
        "break 7 if i == 500", "tbreak 16", "break 17"]),
    "threads-O2": Choice(THREADS, "-O2", "-pthread", is_slow=True),
}


def find_gdb(options):
    """A new one if there is any; else the machine's."""
    new = os.path.join(options.gdb_folder, "gdb")
    return new if version("gdb") < LEAST <= version(new) else "gdb"


def compare_with_gdb(tests, options):
    gdb = find_gdb(options)
    for name, choice in CHOICES.items():
        if choice.is_slow and options.rounds == 1:
            continue
        if not os.path.exists(os.path.join(tests.folder, name + ".cpr")):
            program = tests.build(name, choice.source, "-g", *choice.options,
                                  cxx=choice.cxx)
            tests.record(name, program)
        for seed in range(options.rounds):
            # One kind a round, so that a few rounds are short.
            plain = Choice(choice.source, calls_itself=choice.calls_itself)
            tests.test(f"as gdb {version(gdb)}: {name}, {seed}", tests.agrees,
                       name, seed, choice if seed % 2 == 0 else plain, gdb)
    if version(gdb) >= LEAST:
        tests.test(f"as gdb {version(gdb)}: threads' places, resolvers",
                   tests.turns, gdb)


# The same functions are inlined in several places.
INLINED = """#define INLINED static inline __attribute__((always_inline))
INLINED int twice(int n)
{
  volatile int sum = n + n;
  return sum;
}
INLINED int square(int n)
{
  volatile int sum = twice(n) - n;
  sum *= n;
  return sum;
}
int main(void)
{
  volatile int sum = 0;
  int i;
  for (i = 1; i < 4; i++)
    sum += square(i);
  sum += twice(sum);
  return sum & 1;
}
"""

def scripts_with_gdb(tests, options):
    gdb = find_gdb(options)
    for level in "-O0", "-O1", "-O2":
        tests.test(f"as gdb: inlined functions, {level}", tests.alike,
                   "inlined" + level, INLINED, [level],
                   ["break square", "continue", "continue", "break twice",
                    *["continue"] * 3, *["reverse-continue"] * 3, "delete",
                    "break twice if n == 3", "continue",
                    "reverse-continue"], gdb)


def run_all(options, folder):
    tests = Plain(options, folder)
    tests.test("lines, there and back", tests.lines)
    tests.test("C++", tests.shapes)
    tests.test("threads", tests.work)
    tests.test("a stripped program", tests.bare)
    tests.test("errors end it", tests.errors)
    tests.test("without the program", tests.gone)
    tests.test("bookmarks, changes, places visited", tests.places)
    tests.test("what is shown", tests.looks)
    tests.test("what is not displayed", tests.refused)
    tests.test("tables of jumps", tests.tables)
    tests.test("tables of jumps, with marks", tests.tables,
               "-fcf-protection=full", "-Wl,-z,ibtplt")
    tests.test("a history of parts", tests.history)
    tests.test("percents", tests.percents)
    tests.test("scripts", tests.scripts)
    tests.test("no symbols, no file", tests.stripped)
    tests.test("processes", tests.processes)
    tests.test("a program that another one became", tests.executed)
    tests.test("on a terminal", tests.terminal)
    tests.test("interrupted", tests.interrupted)
    compare_with_gdb(tests, options)
    scripts_with_gdb(tests, options)
    for name in "lines", "threads":
        tests.test(f"steps back: {name}", tests.steps_back, name, "main", 60)
    tests.test("steps back: the end", tests.steps_back, "lines", "end-40", 30)
    loops = tests.build("loops", PLAIN, "-g", "-O0")
    tests.record("loops", loops)
    for name, *points in (("straight", "break mix", "watch table[3]"),
                          ("loops", "break mix if x > 2", "watch table[2]"),
                          ("threads", "break threads.c:7 if i % 100 == 0"),
                          ("lines", "break length", "watch total")):
        tests.test(f"points back: {name}", tests.points_back, name, *points)
    tests.test("goto is stepping", tests.goes_where_it_stepped)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--rounds", type=int, default=1)
    PARSER.add_argument("--gdb-folder", default="", metavar="FOLDER",
                        help="where there is one if the machine's is old")
    sys.exit(main(run_all, parser=PARSER))
