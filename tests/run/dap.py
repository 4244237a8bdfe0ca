#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What editors do with `cprec dap`, in the Debug Adapter Protocol.

gdb, on the program itself, says which lines it stops at and what variables
are then.  gdb 14 or newer is needed; without it, all but a few tests are left
out.
"""
import argparse
import base64
import contextlib
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from dap_client import Client  # noqa: E402
from tap import CprecTap, Failure, equal, expect, main  # noqa: E402

LEAST = 14

LINES = """#include <stdio.h>
struct pair { int first; struct pair *next; };
struct pair pairs[3];
int total;
unsigned char bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static int add(int a, int b)
{
  int sum = a + b;
  return sum;
}
static int fill(int n)
{
  for (int i = 0; i < n; i++) {
    pairs[i].first = i * i;
    total = add(total, pairs[i].first);
  }
  return total;
}
int main(void)
{
  int result;
  pairs[0].next = &pairs[1];
  result = fill(3);
  result = add(result, 100);
  printf("%d\\n", result);
  return 0;
}
"""

CRASH = """#include <stddef.h>
static int read_it(int *at) { return *at; }
int main(void)
{
  int good = 5;
  int sum = read_it(&good);
  return sum + read_it(NULL);
}
"""

THREADS = """#include <pthread.h>
int counter;
static void *work(void *name)
{
  for (int i = 0; i < 100; i++)
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
  return counter != 200;
}
"""

LONG = """int main(void)
{
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < 60000000; i++)
    sum += i;
  return sum == 1;
}
"""


def version(gdb):
    """The first number; 0 without gdb."""
    try:
        done = subprocess.run([gdb, "--version"], capture_output=True,
                              text=True, timeout=60)
    except OSError:
        return 0
    found = re.match(r"GNU gdb.* (\d+)\.", done.stdout)
    return int(found[1]) if found else 0


class Dap(CprecTap):
    def __init__(self, options, folder, gdb):
        super().__init__(options, folder)
        self.gdb = gdb
        self.recordings = {}

    def source(self, name):
        return os.path.join(self.folder, f"{name}.c")

    def record(self, name, text):
        """A program; its recording."""
        with open(self.source(name), "w") as file:
            file.write(text)
        program = os.path.join(self.folder, name)
        subprocess.run(["cc", "-g", "-O0", "-pthread", "-o", program,
                        self.source(name)], check=True)
        path = os.path.join(self.folder, f"{name}.cpr")
        done = self.cprec("record", "-q", "-o", path, "--", program)
        expect(os.path.exists(path), done.stderr)
        self.recordings[name] = path
        return path

    @contextlib.contextmanager
    def client(self, *words):
        client = Client([self.options.cprec, "dap", f"--gdb={self.gdb}",
                         *words, "--", "-nx"], self.folder)
        try:
            yield client
        finally:
            client.close()

    @contextlib.contextmanager
    def session(self, name, **more):
        """One that stands at the entry, and ends well."""
        with self.client(self.recordings[name]) as client:
            client.begin(**more)
            yield client
            equal(client.end(), 0, "exit status")

    def natively(self, name, *commands):
        """What gdb says on the program itself."""
        words = [self.gdb, "-nx", "-batch"]
        for one in ("set width 0", "set style enabled off",
                    "set debuginfod enabled off", "break main", "run",
                    *commands):
            words += ["-ex", one]
        return subprocess.run([*words, os.path.join(self.folder, name)],
                              capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL).stdout

    # ------- without a new gdb -------

    def refused(self, gdb, status, wanted):
        done = self.cprec("dap", f"--gdb={gdb}", self.record("lines", LINES),
                          text="")
        equal(done.returncode, status, "exit status")
        equal(done.stdout, "", "output")
        expect(re.fullmatch(wanted + "\n", done.stderr), done.stderr)
        return done.stderr.strip()

    def too_old(self):
        """A gdb of this machine, or else what such a one says."""
        old = shutil.which("gdb")
        if not 0 < version(old or "gdb") < LEAST:
            old = os.path.join(self.folder, "gdb13")
            with open(old, "w") as file:
                file.write("#!/bin/sh\necho 'GNU gdb (Debian 13.1-3) 13.1'\n")
            os.chmod(old, 0o755)
        return self.refused(
            old, 126, r"cprec: gdb 14 or newer is needed, but .* is version"
            r" \d+\.\d+\S*")

    def missing(self):
        return self.refused("/nowhere/gdb", 127, "cprec: cannot start "
                            "/nowhere/gdb: No such file or directory")

    def another(self):
        return self.refused("/bin/true", 126, "cprec: '/bin/true --version' "
                            "is not an answer of gdb's")

    # ------- there and back -------

    def stepped(self, commands, step, most):
        """Natively: places and values of `total`, behind each step."""
        show = ["bt 1", "output total", "echo \\n@@\\n"]
        text = self.natively("lines", *commands, *show, *[step, *show] * most)
        found = re.findall(r"#0 .*?(\w+) \(.*?\.c:(\d+)\n.*?(-?\d+)\n@@",
                           text, re.S)
        expect(len(found) == most + 1, f"natively: {text}")
        return [(f"{name}:{line}", total) for name, line, total in found]

    def goes(self, client, wanted, command, **arguments):
        """The same as that."""
        found = [(client.place(), client.value("total"))]
        while len(found) < len(wanted):
            stop = client.move(command, **arguments)
            equal(stop["reason"], "step", f"behind {found}")
            found.append((client.place(), client.value("total")))
        equal(found, wanted, command)

    def there_and_back(self):
        """As gdb steps on the program, and with its own recorder."""
        there = self.stepped(["next"], "step", 26)
        expect(there[-1][0] == "main:25", f"natively: {there}")
        back = self.stepped(["record full", "tbreak 17", "continue"],
                            "reverse-next", 11)
        path = self.source("lines")
        with self.session("lines", breakpoints=[(path, [17])]) as client:
            client.move("continue")
            client.set_breakpoints(path)
            self.goes(client, back, "stepBack", granularity="line")
            client.ask("restart")
            client.stop()
            client.move("next")
            self.goes(client, there, "stepIn")
            here = [one for one in there if one[0].startswith("main")]
            equal(len(here), 3, "lines of main")
            self.goes(client, here[::-1], "stepBack")
        return f"{len(there)} lines there, {len(back)} back"

    def instructions(self):
        with self.session("lines") as client:
            first = client.frames()[0]["instructionPointerReference"]
            client.move("next", granularity="instruction")
            second = client.frames()[0]["instructionPointerReference"]
            expect(first != second, "it did not move")
            client.move("stepBack", granularity="instruction")
            equal(client.frames()[0]["instructionPointerReference"], first,
                  "there again")

    def in_and_out(self):
        with self.session("lines") as client:
            client.move("next")
            client.move("stepIn")
            equal(client.place(), "fill:13", "in")
            equal(client.variables("Arguments"), {"n": "3"}, "arguments")
            equal([frame["name"] for frame in client.frames()],
                  ["fill", "main"], "frames")
            client.move("stepOut")
            equal(client.frames()[0]["name"], "main", "out")
            equal(client.variables("Return"), {"(return)": "5"}, "returned")

    # ------- breakpoints -------

    def breakpoints(self):
        path = self.source("lines")
        with self.session("lines", breakpoints=[(path, [9])]) as client:
            sums = []
            while client.move("continue")["reason"] == "breakpoint":
                sums.append(client.variables("Locals")["sum"])
            equal(sums, ["0", "1", "5", "105"], "forwards")
            back = []
            while client.move("reverseContinue")["reason"] == "breakpoint":
                back.append(client.variables("Locals")["sum"])
            equal(back, sums[::-1], "backwards")

            found = client.set_breakpoints(
                path, {"line": 9, "condition": "sum == 5"})
            equal([one["verified"] for one in found], [True], "verified")
            equal(client.move("continue")["hitBreakpointIds"],
                  [found[0]["id"]], "hit")
            equal(client.variables("Arguments"), {"a": "1", "b": "4"},
                  "with a condition")
            client.move("continue")
            equal(client.move("reverseContinue")["reason"], "breakpoint",
                  "reason")
            equal(client.value("sum"), "5", "with a condition, backwards")

            client.set_breakpoints(path, {"line": 9, "logMessage": "s={sum}"})
            client.ask("setFunctionBreakpoints",
                       breakpoints=[{"name": "main"}])
            client.ask("reverseContinue", threadId=client.thread)
            said = ""
            while "s=0" not in said:
                said += client.event("output")["output"]
            expect(said.index("s=1") < said.index("s=0"), said)
            equal(client.stop()["reason"], "breakpoint", "of a function")
            equal(client.place(), "main:22", "of a function")

    def data_breakpoints(self):
        """Who wrote it last, and before that."""
        with self.session("lines", breakpoints=[(self.source("lines"),
                                                 [25])]) as client:
            client.move("continue")
            client.set_breakpoints(self.source("lines"))
            named = client.ask("dataBreakpointInfo", name="total")
            watched = client.ask("dataBreakpointInfo", name="first",
                                 variablesReference=self.second(client))
            register = client.ask("dataBreakpointInfo", name="$rax")
            equal(register["dataId"], None, "of a register")
            found = client.ask("setDataBreakpoints", breakpoints=[
                {"dataId": named["dataId"], "accessType": "write"},
                {"dataId": watched["dataId"]}])["breakpoints"]
            equal([one["verified"] for one in found], [True, True],
                  f"{found}")
            seen = []
            while (stop := client.move("reverseContinue"))["reason"] == (
                    "data breakpoint"):
                seen.append((stop["hitBreakpointIds"][0] - found[0]["id"],
                             client.place(), client.value("total"),
                             client.value("pairs[1].first")))
            # A store of an equal value changes nothing.
            equal(seen, [(0, "fill:15", "1", "1"), (0, "fill:15", "0", "1"),
                         (1, "fill:14", "0", "0")], "backwards")
            client.ask("setDataBreakpoints", breakpoints=[])
            equal(client.move("continue")["reason"], "end of the recording",
                  "without them")

    def second(self, client):
        """The members of pairs[1]."""
        frame = client.frames()[0]["id"]
        array = client.ask("evaluate", expression="pairs", context="watch",
                           frameId=frame)
        members = client.ask("variables",
                             variablesReference=array["variablesReference"])
        second = members["variables"][1]["variablesReference"]
        client.ask("variables", variablesReference=second)
        return second

    # ------- where the recording ends -------

    def ends(self):
        with self.session("lines") as client:
            stop = client.move("continue")
            equal(stop["reason"], "end of the recording", "forwards")
            again = client.move("continue")
            equal(again["description"], stop["description"], "once more")
            stop = client.move("reverseContinue")
            equal(stop["reason"], "start of the recording", "backwards")
            expect(re.search(r" at 0$", stop["description"]),
                   stop["description"])
            again = client.move("stepBack")
            equal(again["reason"], "start of the recording", "once more")
            client.ask("restart")
            equal(client.stop()["reason"], "entry", "restart")
            equal(client.place(), "main:22", "restart")

    def prints(self):
        """What the program prints, forwards; and how it ends."""
        with self.session("lines") as client:
            pid = re.search(r"process (\d+)", client.value(
                "info proc", context="repl")).group(1)
            client.printed = ""
            ended = f"105\n[Inferior 1 (process {pid}) exited normally]\n"
            client.move("continue")
            client.prints(ended)
            client.move("reverseContinue")
            client.move("continue")
            client.prints(ended)

    # ------- questions -------

    def questions(self):
        with self.session("lines") as client:
            client.move("next")
            client.move("next")
            equal(client.value("total"), "5", "watched")
            equal(client.value("pairs[2].first", "hover"), "4", "hovered")
            equal(client.value("print/x total", "repl"), "$1 = 0x5\n",
                  "a command of gdb's")
            equal(client.value("add(total, 2)"), "7", "a call")
            equal(client.stop()["reason"], "function call", "a call")
            equal(client.variables("Globals")["total"], "5", "global")
            expect("no_such" in client.fails(
                "evaluate", expression="no_such", context="watch"),
                "of a wrong expression")
            names = client.ask("threads")["threads"]
            equal([bool(one["name"]) for one in names], [True], "threads")
            loaded = client.ask("modules")["modules"]
            expect(any("libc.so" in one["name"] for one in loaded), "modules")

    def memory(self):
        with self.session("lines") as client:
            address = client.value("(long)&bytes")
            answer = client.ask("readMemory", memoryReference=address,
                                offset=2, count=5)
            equal(base64.b64decode(answer["data"]), bytes(range(3, 8)),
                  "memory")
            frame = client.frames()[0]
            listed = client.ask(
                "disassemble", instructionCount=5,
                memoryReference=frame["instructionPointerReference"])
            found = [one["instruction"].split("\t")[0].split()
                     for one in listed["instructions"]]
        text = self.natively("lines", "x/5i $pc")
        wanted = re.findall(r"<main\+\d+>:\s+(.*)", text)
        equal([one[0] for one in found],
              [one.split()[0] for one in wanted], "instructions")

    def set_variable(self):
        """In a copy of the moment, which is gone when time moves."""
        with self.session("lines") as client:
            client.move("next")
            client.move("next")
            scope = client.scope("Locals")
            client.ask("variables", variablesReference=scope)
            client.ask("setVariable", name="result", value="77",
                       variablesReference=scope)
            equal(client.variables("Locals")["result"], "77", "set")
            client.move("stepBack")
            client.move("next")
            equal(client.variables("Locals")["result"], "5", "as it was")

    def commands(self):
        """Time moves by a command, and the editor hears of it."""
        with self.session("lines") as client:
            before = client.value("monitor when", "repl").strip()
            client.move("next")
            client.events = []
            client.ask("evaluate", context="repl",
                       expression=f"monitor goto {before}")
            equal(client.stop()["reason"], "goto", "reason")
            equal(client.place(), "main:22", "place")
            client.move("next")
            client.events = []
            client.ask("evaluate", context="repl", expression=f"goto {before}")
            client.stop()
            equal(client.place(), "main:22", "goto")
            client.events = []
            client.ask("evaluate", context="repl", expression="next")
            equal(client.stop()["reason"], "step", "reason")
            equal(client.place(), "main:23", "place")

    # ------- other programs -------

    def crash(self):
        with self.client(self.record("crash", CRASH)) as client:
            stop = client.begin()
            equal((stop["reason"], stop["text"]),
                  ("exception", "Segmentation fault"), "entry")
            equal(client.place(), "read_it:2", "where")
            equal(client.variables("Arguments"), {"at": "0x0"}, "arguments")
            client.move("stepBack")
            equal(client.place(), "main:7", "before")
            stop = client.move("continue")
            equal(stop["reason"], "exception", "there again")
            expect(stop["description"].startswith("SIGSEGV at "),
                   stop["description"])

    def threads(self):
        self.record("threads", THREADS)
        path = self.source("threads")
        with self.session("threads", breakpoints=[(path, [5])]) as client:
            client.move("continue")
            client.move("continue")
            listed = client.ask("threads")["threads"]
            expect(len(listed) in (2, 3) and client.thread in
                   [one["id"] for one in listed], f"{listed}")
            equal(client.place(), "work:5", "where")
            client.set_breakpoints(path, 16)
            client.move("continue")
            equal(client.value("counter"), "200", "counter")
            client.ask("setDataBreakpoints", breakpoints=[
                {"dataId": client.ask("dataBreakpointInfo",
                                      name="counter")["dataId"]}])
            client.move("reverseContinue")
            equal((client.place(), client.value("counter")),
                  ("work:6", "199"), "who wrote it last")
            listed = client.ask("threads")["threads"]
            expect(len(listed) in (2, 3), f"{listed}")

    def pause(self):
        path = self.record("long", LONG)
        with self.client(path, "--end") as client:
            client.begin(breakpoints=[(self.source("long"), [
                {"line": 5, "condition": "sum == 1"}])])
            client.events = []
            client.ask("reverseContinue", threadId=client.thread)
            time.sleep(0.3)
            equal(client.fails("stackTrace", threadId=client.thread),
                  "notStopped", "while it runs")
            client.ask("pause", threadId=client.thread)
            equal(client.stop()["reason"], "pause", "reason")
            client.place()
            equal(client.end(), 0, "exit status")

    # ------- how it begins and ends -------

    def configured(self):
        """The recording is named by the editor, and where to begin."""
        path = self.recordings["lines"]
        lines = [(self.source("lines"), [9])]
        for request, words, configuration, place in (
                ("launch", (), {"recording": path}, "main:22"),
                ("attach", (), {"program": path}, "main:22"),
                ("launch", (), {"recording": "lines.cpr",
                                "cwd": self.folder}, "main:22"),
                ("attach", (path,), {}, "main:22"),
                ("launch", (path,), {"stopOnEntry": False}, "add:9"),
                ("launch", (path,), {"goto": "0"}, "_start:0"),
                ("launch", ("--goto=0", path), {}, "_start:0")):
            with self.client(*words) as client:
                client.begin(request, breakpoints=lines, **configuration)
                equal(client.place(), place, f"{request} {configuration}")
                equal(client.end(), 0, "exit status")

    def newest(self):
        folder = os.path.join(self.folder, "one")
        os.makedirs(folder, exist_ok=True)
        shutil.copy(self.recordings["lines"], folder)
        with self.client() as client:
            client.begin(cwd=folder)
            equal(client.place(), "main:22", "place")

    def wrong(self):
        with self.client() as client:
            client.ask("initialize", adapterID="cprec")
            said = client.fails("launch", recording="/nowhere/a.cpr")
            expect("/nowhere/a.cpr" in said and "No such file" in said, said)
            said = client.fails("launch", recording=self.source("lines"))
            expect("not a cprec recording" in said, said)
            client.ask("launch", recording=self.recordings["lines"])
            client.ask("configurationDone")
            client.stop()
            equal(client.place(), "main:22", "after all")
            equal(client.end(), 0, "exit status")

    def terminated(self):
        with self.client(self.recordings["lines"]) as client:
            client.begin()
            equal(client.end("terminate"), 0, "exit status")
        with self.client(self.recordings["lines"]) as client:
            client.begin()
            equal(client.end(terminateDebuggee=True), 0, "exit status")

    def left(self):
        """The editor goes without a word."""
        with self.client(self.recordings["lines"]) as client:
            client.begin()
            client.server.stdin.close()
            equal(client.server.wait(timeout=60), 0, "exit status")


def new_gdb(options):
    """One that is new enough; or None."""
    for gdb in filter(None, (options.gdb, shutil.which("gdb"),
                             os.path.join(options.gdb_folder, "gdb"))):
        if version(gdb) >= LEAST:
            return gdb
        if gdb == options.gdb:
            raise Failure(f"{gdb} is not gdb {LEAST} or newer")
    return None


def run_all(options, folder):
    gdb = new_gdb(options)
    tests = Dap(options, folder, gdb)
    tests.test("gdb is too old", tests.too_old)
    tests.test("there is no gdb", tests.missing)
    tests.test("it is not gdb", tests.another)
    for name, test in (
            ("lines, there and back", tests.there_and_back),
            ("instructions", tests.instructions),
            ("into a function, and out", tests.in_and_out),
            ("breakpoints", tests.breakpoints),
            ("data breakpoints", tests.data_breakpoints),
            ("where the recording ends", tests.ends),
            ("what is printed", tests.prints),
            ("questions", tests.questions),
            ("memory, instructions", tests.memory),
            ("variables are set", tests.set_variable),
            ("commands of gdb", tests.commands),
            ("a crash", tests.crash),
            ("threads", tests.threads),
            ("pause", tests.pause),
            ("configurations", tests.configured),
            ("the newest recording", tests.newest),
            ("wrong recordings", tests.wrong),
            ("terminate", tests.terminated),
            ("the editor is gone", tests.left)):
        if gdb:
            tests.test(name, test)
        else:
            tests.count += 1
            print(f"ok {tests.count} - {name} # SKIP there is no gdb {LEAST}"
                  " or newer")
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--gdb", help="this one")
    PARSER.add_argument("--gdb-folder", default="", metavar="FOLDER",
                        help="where there is one if the machine's is old")
    sys.exit(main(run_all, parser=PARSER))
