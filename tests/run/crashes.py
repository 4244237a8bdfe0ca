#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A crash explains itself: signal, what was wrong, where, and who called.

gdb runs the same program natively, and says what siginfo and the frames are.
`record` says where it was in one line, without a replay.
"""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import (CprecTap, Failure, GDB_NAMES, equal, expect,  # noqa: E402
                 main)
from backtrace import plain  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# Two threads wait for each other, others for what never comes; then the signal of
# Ctrl-C.
HANG = """#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
struct { long more; pthread_mutex_t a, b; } pair = {
  1, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t both;
static void lock_two(pthread_mutex_t *one, pthread_mutex_t *other)
{
  pthread_mutex_lock(one);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(other);
}
static void *wait_never(void *unused)
{
  pthread_mutex_lock(&lock);
  for (;;)
    pthread_cond_wait(&never, &lock);
}
static void *first(void *unused) { lock_two(&pair.a, &pair.b); return unused; }
static void *second(void *unused) { lock_two(&pair.b, &pair.a); return unused; }
static void *end(void *unused)
{
  sleep(1);
  kill(getpid(), SIGINT);
  return unused;
}
int main(int argc, char **argv)
{
  pthread_t threads[3];
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&threads[0], 0, argc > 1 ? wait_never : first, 0);
  pthread_create(&threads[1], 0, argc > 1 ? wait_never : second, 0);
  if (argc == 1) {
    pthread_setname_np(threads[0], "first");
    pthread_setname_np(threads[1], "second");
  }
  pthread_create(&threads[2], 0, end, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
}
"""
# Progress, long before; then a message of two lines, and a bad status.
MESSAGE = """#include <stdio.h>
#include <stdlib.h>
static void complain(const char *what)
{
  fprintf(stderr, "cannot do %s\\n", what);
  fprintf(stderr, "try again\\n");
}
int main(int argc, char **argv)
{
  fprintf(stderr, "begins\\n");
  for (volatile int i = 0; i < 3000000; i++);
  if (argc > 1 && atoi(argv[1])) complain("it");
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""
CODES = {"SEGV_MAPERR": 1, "SEGV_ACCERR": 2, "BUS_ADRERR": 2, "FPE_INTDIV": 1,
         "ILL_ILLOPN": 2, "SI_KERNEL": 0x80}

# Kind; signal, code, access, address, and function that the note names.
KINDS = {
    "read": ("SIGSEGV", "SEGV_MAPERR", "read", "reads"),
    "write": ("SIGSEGV", "SEGV_MAPERR", "write", "writes"),
    "constant": ("SIGSEGV", "SEGV_ACCERR", "write", "writes"),
    "divide": ("SIGFPE", "FPE_INTDIV", None, "divides"),
    "jump": ("SIGSEGV", "SEGV_MAPERR", "execution", "jumps"),
    "data": ("SIGSEGV", "SEGV_ACCERR", "execution", "data"),
    "assert": ("SIGABRT", None, None, "checks"),
    "abort": ("SIGABRT", None, None, "main"),
    "library": ("SIGSEGV", "SEGV_MAPERR", "read", "is_in_library"),
    "stack": ("SIGSEGV", "SEGV_MAPERR", None, "fills_stack"),
    "handler": ("SIGABRT", None, None, "handler"),
    "thread": ("SIGSEGV", "SEGV_MAPERR", "read", "reads"),
    "bus": ("SIGBUS", "BUS_ADRERR", "read", "bus"),
    "strange": ("SIGSEGV", "SI_KERNEL", None, "strange"),
    "trap": ("SIGILL", "ILL_ILLOPN", None, "main"),
    "breakpoint": ("SIGTRAP", "SI_KERNEL", None, "main"),
    "heap": ("SIGABRT", None, None, "frees"),
    "killed": ("SIGTERM", None, None, None),
}


class Crashes(CprecTap):
    def build(self, source, *options):
        """At addresses that do not depend on who loads it."""
        program = os.path.join(self.folder, source.split(".")[0])
        compiler = self.options.cxx if source.endswith("pp") else \
            self.options.cc
        subprocess.run([*compiler.split(), "-O0", "-g", "-no-pie", *options,
                        "-o", program,
                        os.path.join(HERE, "programs", "frames", source)],
                       check=True, timeout=120)
        return program

    def gdb(self, program, *arguments):
        result = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", "-iex",
             "set debuginfod enabled off", "-ex", "set startup-with-shell off",
             *GDB_NAMES, "-x", os.path.join(HERE, "crash_gdb.py"), "--args",
             program, *arguments],
            capture_output=True, text=True, timeout=300, cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C",
                 "PYTHONPATH": HERE, "PYTHONDONTWRITEBYTECODE": "1",
                 "HANDLED": "SIGSEGV" if "handler" in arguments else ""})
        for line in result.stdout.splitlines():
            if line.startswith("CRASH "):
                return json.loads(line[6:])
        raise Failure(f"gdb: {result.stdout}{result.stderr}")

    def record(self, program, *arguments):
        path = os.path.join(self.folder, "-".join(
            (os.path.basename(program), *arguments)) + ".cpr")
        result = self.cprec("record", "-o", path, program, *arguments)
        notes = [line for line in result.stderr.splitlines()
                 if line.startswith("cprec: note: ")]
        info = json.loads(self.cprec("info", "--json", path).stdout)
        equal(info["exit"]["signal"], -result.returncode, "signal")
        return path, notes, info["crash"]

    def check_frames(self, found, wanted):
        """Natively, functions of libraries are others, with other vectors."""
        while wanted and not wanted[-1]["function"]:
            wanted.pop()
        own = [(plain(f.get("function")), f["line"]) for f in found
               if "crashes" in f["module"] and "file" in f] \
            if all("module" in f for f in found) else None
        theirs = [(plain(f["function"]), f["line"]) for f in wanted
                  if f["file"] and f["file"].endswith("crashes.c")]
        if own is not None:
            # A full stack may be noticed at a call or behind it.
            first = 1 if len(theirs) > 20 else 0
            equal(own[first:20], theirs[first:20], "frames of the program")

    def check_note(self, kind, notes, path, found):
        """Only mistakes are told of."""
        name, _code, access, function = KINDS[kind]
        if not function:
            equal(notes, [], "notes")
            return
        equal(len(notes), 1, f"number of notes {notes}")
        expect(f"died of {name}" in notes[0], notes[0])
        expect(f"cprec backtrace {path}" in notes[0], notes[0])
        equal(f"'cprec heap {path} --errors'" in notes[0], kind == "heap",
              notes[0])
        if access:
            expect(f"{access} of {found['addr']}" in notes[0],
                   notes[0])
        if kind != "data":
            expect(re.search(rf"\b{function} at .*crashes.c:\d+;", notes[0]),
                   notes[0])

    def full_stack(self, program):
        """Of a small stack, which takes less time; cprec's has its own size."""
        usual = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (512 << 10, usual[1]))
        try:
            return self.kind(program, "stack")
        finally:
            resource.setrlimit(resource.RLIMIT_STACK, usual)

    def kind(self, program, kind):
        name, code, access, _function = KINDS[kind]
        path, notes, found = self.record(program, kind)
        native = self.gdb(program, kind)
        equal(found["name"], name, "name")
        equal(found.get("function"), found["frames"][0].get("function"),
              "function")
        equal(found["pc"], found["frames"][0]["pc"], "place")
        equal(found["signal"], native["signal"], "signal")
        equal(found.get("si_code"), code, "si_code")
        if code:
            equal(CODES[code], native["code"], "code of siginfo")
        if access:
            equal(found["access"], access, "access")
            addr = int(found["addr"], 16)
            if kind not in ("bus", "stack"):    # not at the same places
                equal(addr, native["addr"], "address")
        elif kind != "stack":
            expect("access" not in found, "an access")
        self.check_frames(found["frames"], native["frames"])
        self.check_note(kind, notes, path, found)
        if kind == "assert":
            expect("Assertion `n == 3' failed." in found["stderr"]["text"],
                   found)
        if kind == "stack":
            expect("the stack is full" in found["reason"], found["reason"])
        text = self.cprec("info", path).stdout
        expect(f"crash:         {name}" in text, text)
        return found.get("reason")

    def uncaught(self):
        program = self.build("uncaught.cpp")
        path, notes, found = self.record(program)
        expect("more than there is" in found["stderr"]["text"], found)
        names = [plain(f.get("function")) for f in found["frames"]]
        expect("serve" in names and names.index("serve") <
               names.index("main"), names)
        expect("serve(int) const at" in notes[0], notes)

    def position(self, program):
        """What is shown can be asked for; registers are those of the fault."""
        path, _notes, found = self.record(program, "divide")
        out = self.cprec("registers", "--json", f"--at={found['at']}", path).stdout
        registers = json.loads(out.splitlines()[0])["registers"]
        equal(int(registers["rip"], 16), int(found["frames"][0]["pc"], 16),
              "pc")
        equal(self.cprec("backtrace", "--json", path).stdout,
              self.cprec("backtrace", "--json", f"--at={found['at']}",
                         path).stdout, "backtrace without a time")

    def dump(self, path, kind):
        out = self.cprec("dump", "--json", f"--kind={kind}", path).stdout
        return [json.loads(line) for line in out.splitlines()]

    def dumped(self, program):
        """What it wrote, and what was wrong; each line has its time."""
        path, _notes, found = self.record(program, "handler")
        fault, = self.dump(path, "fault")
        equal((fault["si_code"], fault["access"], fault["addr"]),
              ("SEGV_MAPERR", "read", "0x0"), "the fault")
        expect(fault["at"] < found["at"], "time of the fault")
        path, _notes, found = self.record(program, "assert")
        # assert() writes all at once: as one piece, or as several of a vector.
        output = self.dump(path, "output")
        equal("".join(line["text"] for line in output),
              found["stderr"]["text"], "output")
        equal({(line["stream"], line["at"]) for line in output},
              {(2, found["stderr"]["at"])}, "times of output")
        for kind in ("region", "doubtful", "page", "write", "reg", "touch"):
            lines = self.dump(path, kind)
            expect(lines, kind)
            times = [line["at"] for line in lines]
            equal(times, sorted(times), f"times of {kind}")

    def large(self):
        """More than fits into a line, with bytes that are no text."""
        path = os.path.join(self.folder, "large.cpr")
        code = "import sys; sys.stdout.buffer.write(b'a\\0b\\xff\\n' * 30000)"
        subprocess.run([self.options.cprec, "record", "-q", "-o", path,
                        sys.executable, "-S", "-c", code], timeout=120,
                       check=True, stdout=subprocess.DEVNULL)
        lines = [line for line in self.dump(path, "output")
                 if line["stream"] == 1]
        expect(len(lines) > 1, "one line")
        equal("".join(line["text"] for line in lines),
              "a\0b\ufffd\n" * 30000, "text")
        equal(sum(line["size"] for line in lines), 150000, "size")

    def message(self):
        """A status other than 0: who has written the message's first line."""
        source = os.path.join(self.folder, "message.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(MESSAGE)
        program = os.path.join(self.folder, "message")
        subprocess.run(["cc", "-g", "-O0", "-o", program, source], check=True)
        for status in "3", "0":
            path, done = os.path.join(self.folder, "message.cpr"), None
            done = self.cprec("record", "-o", path, "--", program, status)
            equal(done.returncode, int(status), done.stderr)
            told = re.findall(r"^cprec: note: (.*)$", done.stderr, re.M)
            words = json.loads(self.cprec("info", "--json", path).stdout).get(
                "stderr", {})
            if status == "0":
                equal((told, words), ([], {}), "a good end")
                continue
            expect(len(told) == 1 and "status 3: its message was written in "
                   f"complain at {source}:5; 'cprec backtrace {path} "
                   f"--at={words['at']}' tells more" in told[0], f"{told}")
            equal((words["function"], words["line"]), ("complain", 5), "info")
            shown = self.cprec("backtrace", f"--at={words['at']}", path).stdout
            expect("in complain (" in shown and ":12" in shown, shown)
            equal(self.cprec("record", "-q", "-o", path, "--", program,
                             status).stderr, done.stderr.partition("cprec:")[0],
                  "quietly")
        return told or "nothing"

    def hang(self):
        """Ended from outside: who waits for what, and who has that."""
        source = os.path.join(self.folder, "hang.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(HANG)
        program = os.path.join(self.folder, "hang")
        subprocess.run(["cc", "-g", "-O0", "-pthread", "-o", program, source],
                       check=True)
        path = os.path.join(self.folder, "hang.cpr")
        for kind in "mutex", "condition":
            done = self.cprec("record", "-o", path, "--", program,
                              *["x"] * (kind == "condition"))
            equal(done.returncode, -signal.SIGINT, done.stderr)
            told = self.cprec("backtrace", path).stdout
            waits = told.partition("threads wait:\n")
            equal(waits[0][-3:], "\n3 ", told)
            waits = re.sub(r"0x\w+ ", "", waits[2])
            waits = re.sub(r"thread \d+", "thread", waits)
            at = f"at {source}"
            if kind == "mutex":
                equal(sorted(waits.splitlines()), [
                    f'  thread "first" for the mutex (pair.b), which thread '
                    f'"second" holds, in lock_two {at}:14',
                    f'  thread "hang" for the end of thread "first", in '
                    f'main {at}:42',
                    f'  thread "second" for the mutex (pair.a), which thread '
                    f'"first" holds, in lock_two {at}:14'], "waits")
            else:
                expect(waits.count(f'  thread "hang" for the condition (never),'
                                   f" in wait_never {at}:20\n") == 2, told)
            every = self.cprec("backtrace", "--thread=all", path).stdout
            expect("wait:" not in every and "hang" in every, every)
        return "3 threads"

    def quiet(self, program):
        """No note with -q; and of a child one that needs no symbols."""
        path = os.path.join(self.folder, "quiet.cpr")
        result = self.cprec("record", "-q", "-o", path, program, "read")
        equal(result.stderr, "", "with -q")
        script = f"{program} read; {program} divide; true"
        many = f"for i in 1 2 3 4 5 6 7 8; do {program} read; done; true"
        result = self.cprec("record", "-o", path, "sh", "-c", script)
        equal(result.stderr.count("cprec: note: process "), 2, result.stderr)
        expect("died of SIGSEGV: read of 0x0" in result.stderr, result.stderr)
        child = re.search(r"cprec backtrace (\S+)' tells", result.stderr)
        out = self.cprec("backtrace", child.group(1)).stdout
        expect(" in reads (" in out, out)
        result = self.cprec("record", "-o", path, "sh", "-c", many)
        equal(result.stderr.count("cprec: note: "), 5, result.stderr)


def run_all(options, folder):
    tests = Crashes(options, folder)
    program = tests.build("crashes.c", "-pthread")
    if shutil.which("gdb"):
        for kind in KINDS:
            if options.only in kind:
                if kind == "stack":
                    tests.test(kind, tests.full_stack, program)
                    continue
                tests.test(kind, tests.kind, program, kind)
    if not options.only:
        tests.test("an exception", tests.uncaught)
        tests.test("the position", tests.position, program)
        tests.test("dump", tests.dumped, program)
        tests.test("a large output", tests.large)
        tests.test("few words", tests.quiet, program)
        tests.test("a message and a status", tests.message)
        tests.test("a hang", tests.hang)
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--only", default="", help="part of a kind")
    sys.exit(main(run_all, parser=parser))
