#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How commands are asked: a recording that is not named, mistyped words.

usage: command_line.py --cprec C

Speaks TAP.
"""
import datetime
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

ANSWERED, FAILED, USAGE = 0, 1, 2

# A line is two writes, every third goes to standard error.
LINES = """#include <stdio.h>
#include <unistd.h>
int lines, writes;
int main(void) { char text[20];
for (int i = 0; i < 40; i++) {
int fd = i % 3 == 2 ? 2 : 1;
int size = sprintf(text, "line %d", i);
lines++;
writes += write(fd, text, size) == size;
write(fd, "\\n", 1); }
return 0; }
"""


SLEEPS = """#include <stdio.h>
#include <time.h>
#include <unistd.h>
int number;
int main(void) {
for (int i = 0; i < 4; i++) {
struct timespec now;
number++;
clock_gettime(CLOCK_REALTIME, &now);
printf("%ld.%09ld\\n", (long)now.tv_sec, now.tv_nsec);
fflush(stdout);
usleep(400000); }
return 0; }
"""


class Tests(CprecTap):
    def here(self, *arguments, folder=None, text=None):
        return subprocess.run([self.options.cprec, *arguments], text=True,
                              capture_output=True, timeout=120, input=text,
                              cwd=folder or self.folder)

    def none(self):
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty)
        # Neither a folder nor something else is a recording.
        os.mkdir(os.path.join(empty, "folder.cpr"))
        with open(os.path.join(empty, "text.cpr"), "w") as file:
            file.write("Only its name is a recording's.\n")
        open(os.path.join(empty, "other.txt"), "w").close()
        found = self.here("info", folder=empty)
        equal(found.returncode, FAILED, "status")
        equal(found.stderr, "cprec: no FILE is given, and no recording"
              " (*.cpr) is in this folder\n", "message")

    def one(self):
        equal(self.here("record", "/bin/true").returncode, 0, "record")
        named = self.here("info", "trace.cpr")
        found = self.here("info")
        equal(found.returncode, ANSWERED, "status")
        equal(found.stderr, "", "message")
        equal(found.stdout, named.stdout, "answer")

    def newest(self):
        """Of what is a recording: a text that is newer counts for nothing."""
        with open(os.path.join(self.folder, "text.cpr"), "w") as file:
            file.write("Only its name is a recording's.\n")
        equal(self.here("record", "-o", "b.cpr", "/bin/echo", "b").returncode,
              0, "record")
        os.utime(os.path.join(self.folder, "trace.cpr"), (1, 1))
        found = self.here("replay")
        equal((found.returncode, found.stdout), (ANSWERED, "b\n"), "answer")
        equal(found.stderr, "cprec: note: 'b.cpr' is taken, the newest of 2"
              " recordings here\n", "note")
        os.utime(os.path.join(self.folder, "b.cpr"), (0, 0))
        found = self.here("replay")
        equal((found.returncode, found.stdout), (ANSWERED, ""), "answer")

    def every_command(self):
        """All that ask a recording, with its name and without."""
        os.unlink(os.path.join(self.folder, "b.cpr"))
        for words in (["info", "--json"], ["replay"], ["verify"], ["races"],
                      ["dump", "--kind=SYSCALL"],
                      ["query", "--addr=environ", "--at=50%"],
                      ["registers", "--at=end"]):
            named = self.here(*words[:1], "trace.cpr", *words[1:])
            found = self.here(*words)
            what = " ".join(words)
            equal(named.returncode, ANSWERED, what)
            equal((found.returncode, found.stdout, found.stderr),
                  (ANSWERED, named.stdout, named.stderr), what)

    def lines(self):
        named = self.here("query", "trace.cpr", "-", text="environ 50%\n")
        found = self.here("query", "-", text="environ 50%\n")
        equal((found.returncode, found.stdout), (0, named.stdout), "answer")
        for options in (["--format=x"], ["--format=raw", "--json"]):
            asked = self.here("query", *options, "--addr=environ", "--at=50%",
                              "--no-races")
            found = self.here("query", *options, "-", text="environ 50%\n")
            lines = found.stdout.replace('{"question":1,', "{")
            equal(lines, asked.stdout, f"{options}")

    def symbol(self):
        found = self.here("query", "--addr=envirn", "--at=50%")
        equal(found.returncode, FAILED, "status")
        expect("(did you mean 'environ'?)" in found.stderr, found.stderr)

    def library(self):
        """The dynamic linker's first instruction has no source line."""
        found = self.here("backtrace", "trace.cpr", "--at=1")
        expect(" in ld-linux-x86-64.so.2" in found.stdout, found.stdout)

    def meant(self, typed, message):
        found = self.here(*typed)
        equal(found.returncode, USAGE, "status")
        expect(message in found.stderr, found.stderr)


class Times(CprecTap):
    """Of a program that knows how many lines it has written."""

    def make(self):
        source = os.path.join(self.folder, "lines.c")
        guest = os.path.join(self.folder, "lines")
        self.trace = guest + ".cpr"
        with open(source, "w") as file:
            file.write(LINES)
        subprocess.run(["cc", "-O1", "-static", "-o", guest, source],
                       check=True)
        done = self.cprec("record", "-o", self.trace, guest)
        equal(done.returncode, 0, "record")
        done = self.cprec("info", "--json", self.trace)
        self.end = json.loads(done.stdout)["instructions"]

    def ask(self, at, *words):
        done = self.cprec("query", self.trace, "--json", f"--at={at}", *words)
        answer = json.loads(done.stdout)
        if done.returncode:
            expect(answer["error"] in done.stderr, done.stderr)
        return answer

    def line(self, number):
        """The program counts a line before it writes it, in pieces."""
        for at, lines in (f"output:{number}", number), (
                f"output:{number}-1", number):
            answer = self.ask(at, "--addr=lines")
            equal(answer["bytes"], lines.to_bytes(4, "little").hex(), at)
        answer = self.ask(f"output:{number}", "--addr=writes")
        expect(int.from_bytes(bytes.fromhex(answer["bytes"]), "little")
               >= number, answer)

    def no_line(self):
        expect("this process wrote 40" in
               self.ask("output:41", "--addr=lines")["error"], "message")

    def relative(self, at, time):
        equal(self.ask(at, "--addr=lines")["at"], time, at)

    def outside(self, at, message):
        expect(message in self.ask(at, "--addr=lines")["error"], message)

    def all(self):
        self.test("a program that counts its lines", self.make)
        for number in 1, 2, 3, 17, 39, 40:
            self.test(f"output:{number}", self.line, number)
        self.test("output:41", self.no_line)
        end = self.end
        for at, time in (("end-1", end - 1), ("end-0x10", end - 16),
                         ("start+1k", 1000), ("50%+3", end // 2 + 3),
                         ("50%-3", end // 2 - 3), ("5000+100", 5100),
                         ("100%-1.0", end - 1)):
            self.test(at, self.relative, at, time)
        self.test("before the start", self.outside, "5-10",
                  "there is no time '5-10': it is before 0")
        self.test("behind the end", self.outside, "end+1", "ends at t=")
        self.test("far behind the end", self.outside,
                  f"end+{2**64 - 1}", "it is no number of 64 bits")


class Clock(CprecTap):
    """Of a program that sleeps for most of the time."""

    def make(self):
        source = os.path.join(self.folder, "sleeps.c")
        guest = os.path.join(self.folder, "sleeps")
        self.trace = guest + ".cpr"
        with open(source, "w") as file:
            file.write(SLEEPS)
        subprocess.run(["cc", "-O1", "-static", "-o", guest, source],
                       check=True)
        done = self.cprec("record", "-o", self.trace, guest)
        equal(done.returncode, 0, "record")
        self.clocks = [float(line) for line in done.stdout.split()]
        equal(len(self.clocks), 4, "lines")

    def ask(self, at):
        return self.cprec("query", self.trace, "--json", f"--at={at}",
                          "--addr=number")

    def asleep(self, number):
        """In the middle of a sleep, the line before it is the newest."""
        clock = self.clocks[number] + 0.2
        for zone, form in ((datetime.timezone.utc, "%H:%M:%S.%fZ"),
                           (None, "%H:%M:%S.%f"),
                           (None, "%Y-%m-%d %H:%M:%S.%f")):
            text = datetime.datetime.fromtimestamp(clock, zone).strftime(form)
            answer = json.loads(self.ask(text).stdout)
            equal(answer["bytes"][:2], f"{number + 1:02x}", text)

    def outside(self):
        done = self.ask("2001-01-01 00:00:00")
        equal(done.returncode, FAILED, "status")
        expect("was recorded from 20" in done.stderr, done.stderr)
        start = re.search(r"recorded from (\S+ \S+) to", done.stderr)[1]
        self.start = datetime.datetime.fromisoformat(start)

    def around_start(self):
        """The second, and the minute, that it began in mean its start."""
        for form in ("%H:%M:%S.%f", "%H:%M:%S", "%H:%M", "%Y-%m-%d %H:%M"):
            answer = json.loads(self.ask(self.start.strftime(form)).stdout)
            equal(answer["at"], 0, form)

    def before_start(self):
        """What is before it is no time of it, however little that is."""
        for micros in (1, 1000):
            before = self.start - datetime.timedelta(microseconds=micros)
            for form in ("%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f"):
                done = self.ask(before.strftime(form))
                equal(done.returncode, FAILED, form)
                expect("was recorded from" in done.stderr, done.stderr)

    def no_thread(self):
        """Hours and minutes of which there is neither thread nor time."""
        before = self.start - datetime.timedelta(minutes=2)
        text = before.strftime("%H:%M")
        done = self.ask(text)
        equal(done.returncode, FAILED, "status")
        expect(f"has no thread {before.hour}, and was not recorded at {text}"
               in done.stderr, done.stderr)

    def all(self):
        self.test("a program that sleeps", self.make)
        for number in range(4):
            self.test(f"in sleep {number}", self.asleep, number)
        self.test("another year", self.outside)
        self.test("when it began", self.around_start)
        self.test("before it began", self.before_start)
        self.test("hours and minutes of another time", self.no_thread)


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("no recording is here", tests.none)
    tests.test("the only recording here", tests.one)
    tests.test("the newest recording here", tests.newest)
    tests.test("every command", tests.every_command)
    tests.test("lines of standard input", tests.lines)
    tests.test("a symbol", tests.symbol)
    tests.test("a frame in a library", tests.library)
    for typed, message in (
            (["recrod", "true"], "(did you mean 'record'?)"),
            (["info", "--verbos", "--jsn"], "(did you mean '--json'?)"),
            (["record", "--no-childern", "true"],
             "(did you mean '--no-children'?)"),
            (["query", "--adr=5"], "(did you mean '--addr'?)")):
        tests.test(" ".join(typed), tests.meant, typed, message)
    times = Times(options, folder)
    times.count, times.failed = tests.count, tests.failed
    times.all()
    clock = Clock(options, folder)
    clock.count, clock.failed = times.count, times.failed
    clock.all()
    return clock.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
