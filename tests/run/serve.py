#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cprec serve answers as the commands do, in any order, and does not grow.

usage: serve.py --cprec C [--questions N] [--every N] [--seed S]

A question's answer, asked of a server that has been asked others before, is
compared with the lines that the command prints; values with those that the
program itself has printed.  --questions says how many a server is asked while
its memory is looked at; --every=1, that one that keeps little is asked all of
the others, too.  Speaks TAP.
"""
import argparse
import json
import os
import random
import re
import select
import signal
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402
from vocabulary import CRASH, RACE, SHARES  # noqa: E402

ANSWERED, FAILED, USAGE = 0, 1, 2
LINE_MOST = 65536

COUNTS = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; int number; };
int counter; struct node *head; char text[32];
static int add(int n) {
struct node *node = malloc(sizeof *node);
node->next = head; node->number = n; head = node;
return counter += n; }
int main(void) {
for (int i = 1; i <= 50; i++) {
int sum = add(i * i % 37);
sprintf(text, "round %d", i);
printf("%d %d %s\\n", i, sum, text);
fflush(stdout); }
return 3; }
"""

# Some seconds under the virtual processor, a few more in a replay.
LONG = """#include <stdio.h>
volatile unsigned long sum;
__attribute__((noinline)) unsigned long add(unsigned long n) {
return sum += n * sum + 1; }
int main(void) {
for (unsigned long i = 0; i < 30000000; i++) add(i);
printf("%lu\\n", sum);
return 0; }
"""

TIMES = ["0", "1000", "50%", "90%", "end", "end-1", "output:1"]

# What commands are asked.  Of one that is not here: nothing, but FILE.
REQUESTS = {
    "query": [{"addr": a, "at": t, **more}
              for t in TIMES
              for a, more in (("environ", {}), ("$rsp", {"size": 64}),
                              ("0x7fffffffe000", {"format": "raw"}),
                              ("nothing", {}))] +
             [{"addr": ["environ", "$rip", "$rsp+8"], "at": ["50%", "1000"],
               "no-races": True},
              {"addr": "environ"}, {"addr": "1+", "at": 5},
              {"addr": 4096, "at": 7, "no-races": False}],
    "last": [{"addr": "environ"}, {"addr": "environ", "at": "50%"},
             {"register": "rax", "at": 5000}, {"register": "rax"},
             {"addr": "environ", "writes": True}, {}],
    "writes": [{"addr": "environ"}, {"addr": "environ", "limit": 2},
               {"addr": "environ", "first": True, "last": True}],
    "reads": [{"addr": "environ"}, {"addr": "environ", "limit": 1}],
    "accesses": [{"addr": "environ"}, {"addr": "environ", "last": True}],
    "calls": [{"arguments": ["main"]}, {"arguments": "write", "count": True},
              {"arguments": ["nothing_such"]}, {}],
    "log": [{"arguments": ["main => $rsp, environ"]}, {}],
    "strace": [{}, {"trace": "write"}, {"follow-forks": True}, {"to": "50%"},
               {"decode-fds": True, "stack-trace": True}],
    "backtrace": [{}, {"at": TIMES}, {"at": "50%", "full": True},
                  {"thread": "all"}, {"at": "soon"}],
    "registers": [{"at": t} for t in TIMES] +
                 [{"arguments": ["rip", "rax"]}, {"arguments": ["rxa"]}],
    "source": [{}, {"at": "90%"}],
    "disassemble": [{}, {"at": "50%", "count": 3}, {"addr": "main"}],
    "maps": [{}, {"at": ["0", "50%"]}, {"arguments": ["environ"]}],
    "symbols": [{}, {"arguments": ["main"]}, {"arguments": "*env*"}],
    "dump": [{}, {"verbose": True}, {"kind": "fault"}, {"kind": "OUTPUT"},
             {"kind": "nothing"}],
    "info": [{}, {"verbose": True}],
    "ls": [{"arguments": ["counts.cpr", "nothing.cpr"]}],
}


class Server:
    """One that runs; answers are (results, the last line)."""

    def __init__(self, cprec, folder, *options, **more):
        self.process = subprocess.Popen(
            [cprec, "serve", *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, cwd=folder, **more)
        self.read = b""
        self.count = 0

    def send(self, line):
        if not isinstance(line, bytes):
            line = json.dumps(line).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def line(self, timeout=120):
        end = time.monotonic() + timeout
        while b"\n" not in self.read:
            left = end - time.monotonic()
            expect(left > 0 and
                   select.select([self.process.stdout], [], [], left)[0],
                   f"no answer in {timeout} s")
            more = os.read(self.process.stdout.fileno(), 1 << 20)
            expect(more, "the server has ended")
            self.read += more
        line, self.read = self.read.split(b"\n", 1)
        return json.loads(line)

    def answer(self, number=None, timeout=120):
        results = []
        while True:
            line = self.line(timeout)
            equal(line.get("id"), number, "id")
            if "done" in line:
                expect("result" not in line, "a result in the last line")
                return results, line
            equal(sorted(line), ["id", "result"] if number is not None
                  else ["result"], "keys")
            results.append(line["result"])

    def ask(self, request, timeout=120):
        self.count += 1
        self.send({"id": self.count, **request})
        return self.answer(self.count, timeout)

    def memory(self):
        """KiB that it has."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s*(\d+)", status.read())[1])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.stdin.close()
        return self.process.wait(60)


def words(request):
    """The command line that asks the same."""
    line = [request["command"], "--json"]
    for key, value in request.items():
        if key in ("id", "command", "file", "arguments"):
            continue
        if value is True:
            line.append(f"--{key}")
        elif value is not False:
            line += [f"--{key}={one}"
                     for one in (value if isinstance(value, list)
                                 else [value])]
    arguments = request.get("arguments", [])
    return line + ["--", *([request["file"]] if "file" in request else []),
                   *(arguments if isinstance(arguments, list)
                     else [arguments])]


class Tests(CprecTap):
    def server(self, *options, **more):
        return Server(self.options.cprec, self.folder, *options, **more)

    def record(self, name, source, *flags):
        program = os.path.join(self.folder, name)
        subprocess.run(["gcc", "-x", "c", "-", "-g", "-O1", "-w", "-pthread",
                        "-o", program], input=source, text=True, check=True)
        return subprocess.run(
            [self.options.cprec, "record", *flags, "-o", f"{name}.cpr",
             program], cwd=self.folder, text=True, capture_output=True).stdout

    def record_all(self):
        self.printed = self.record("counts", COUNTS)
        self.record("crash", CRASH)
        self.record("race", RACE, "--slice=100")
        self.record("shares", SHARES)
        self.names = ["counts", "crash", "race", "shares"]
        packed = os.path.join(self.folder, "packed")
        equal(self.cprec("pack", os.path.join(self.folder, "shares.cpr"),
                         "-o", packed).returncode, ANSWERED, "pack")
        lines = self.cprec("ps", "--json", packed).stdout.splitlines()
        self.child = json.loads(lines[1])["pid"]

    # ------- right answers -------

    def truth(self):
        """The program prints its variables."""
        count = 0
        with self.server() as server:
            for line, text in enumerate(self.printed.splitlines(), 1):
                number, total, round_text = text.split(" ", 2)
                results, end = server.ask({
                    "command": "query", "file": "counts.cpr",
                    "addr": ["counter", "text", "head->number"],
                    "at": f"output:{line}"})
                equal(end["status"], ANSWERED, "status")
                equal([one["value"] for one in results],
                      [total, f'"{round_text}", \'\\000\' <repeats '
                       f"{31 - len(round_text)} times>",
                       str(int(number) ** 2 % 37)], text)
                count += 1
            equal(server.end(), ANSWERED, "exit status")
        expect(count == 50, f"{count} lines were printed")

    def command(self, request):
        found = subprocess.run([self.options.cprec, *words(request)],
                               cwd=self.folder, text=True,
                               capture_output=True, timeout=120)
        said = [line.removeprefix("cprec: ")
                for line in found.stderr.splitlines()]
        end = {"done": True, "status": found.returncode}
        errors = [line for line in said if not line.startswith("note: ")]
        notes = [line.removeprefix("note: ") for line in said
                 if line.startswith("note: ")]
        if errors:
            end["error"] = "\n".join(errors)
        if notes:
            end["notes"] = notes
        return [json.loads(line) for line in found.stdout.splitlines()], end

    def requests(self, commands):
        """Of all commands; of `every` so many one."""
        return list(self.all_requests(commands))[::self.options.every]

    def all_requests(self, commands):
        count = 0
        for name in commands:
            for more in REQUESTS.get(name, [{}]):
                if name == "ls":
                    yield {"command": name, **more}
                    continue
                # Each is asked of some, and all of them are asked it.
                for file in (self.names[count % 4], self.names[-1 - count % 3]):
                    yield {"command": name, "file": f"{file}.cpr", **more}
                count += 1
        for file in ("shares.cpr", "packed"):
            for command in ("info", "backtrace", "maps"):
                yield {"command": command, "file": file, "pid": self.child}
        yield {"command": "info", "file": "shares.cpr", "pid": "nobody"}
        yield {"command": "maps", "file": "nothing.cpr", "at": "0"}
        yield {"command": "query", "addr": "environ", "at": "50%"}

    def all_commands(self, keep):
        """Twice, in some order: what was asked before must not matter."""
        with self.server(f"--keep={keep}") as server:
            results, _ = server.ask({"command": "hello"})
            commands = [one["name"] for one in results[0]["commands"]]
            expect(set(REQUESTS) <= set(commands), f"only {commands}")
            requests = self.requests(commands)
            if not hasattr(self, "expected"):
                with ThreadPoolExecutor(os.cpu_count()) as pool:
                    self.expected = list(pool.map(self.command, requests))
            order = list(range(len(requests))) * 2
            random.Random(self.options.seed).shuffle(order)
            wrong = []
            for index in order:
                results, end = server.ask(requests[index])
                del end["id"]
                if (results, end) != self.expected[index]:
                    wrong.append((requests[index], results[:3], end,
                                  self.expected[index][0][:3],
                                  self.expected[index][1]))
            expect(not wrong, f"{len(wrong)} of {len(order)} are others:\n" +
                   "\n".join(str(one)[:1000] for one in wrong[:5]))
            equal(server.end(), ANSWERED, "exit status")
        answered = sum(end["status"] == ANSWERED for _, end in self.expected)
        return (f"{len(order)} questions; of {len(requests)} requests "
                f"{answered} are answered")

    def hello(self):
        """Names of all options that the help has."""
        with self.server() as server:
            (said,), end = server.ask({"command": "hello"})
            equal(end["status"], ANSWERED, "status")
        version = self.cprec("version").stdout.split()[1].rstrip(",")
        equal((said["version"], said["protocol"]), (version, 1), "version")
        for command in said["commands"]:
            text = self.cprec(command["name"], "--help").stdout
            found = re.findall(r"^ +(?:-\w, )?--([a-z-]+)(?:=(\S+))?", text,
                               re.M)
            equal([(one["name"], one.get("argument", ""))
                   for one in command["options"]],
                  [one for one in found if one[0] not in ("help", "json")],
                  command["name"])

    # ------- wrong requests -------

    def mistakes(self):
        rows = [
            ({"command": "qurey"}, "did you mean 'query'"),
            ({}, "'command' is missing"),
            ({"command": 5}, "'command' is missing"),
            ({"command": "record", "arguments": ["true"]}, "cannot be asked"),
            ({"command": "serve"}, "cannot be asked here"),
            ({"command": "query", "adr": "x"}, "did you mean 'addr'"),
            ({"command": "query", "addr=5 --at": "x"}, "has no option"),
            ({"command": "query", "": "x"}, "has no option ''"),
            ({"command": "query", "help": True}, "has no option 'help'"),
            ({"command": "query", "registers": True, "at": 0},
             "there is no option '--registers'"),
            ({"command": "query", "addr": True}, "text or a whole number"),
            ({"command": "query", "addr": {"a": 1}}, "text or a whole number"),
            ({"command": "query", "addr": [["a"]]}, "text or a whole number"),
            ({"command": "query", "at": 0.5}, "text or a whole number"),
            ({"command": "query", "no-races": 1}, "takes true or false"),
            ({"command": "query", "arguments": ["-"]}, "'-' cannot be asked"),
            ({"command": "ls", "file": "a"}, "takes its files as 'arguments'"),
            ({"command": "info", "file": ["a", "b"]}, "text or a whole"),
            ({"command": "info", "file": "counts.cpr",
              "arguments": ["--help"]}, "only one FILE"),
            ({"command": "query", "file": "--addr", "addr": "0", "at": "0"},
             "cannot open '--addr'"),
        ]
        with self.server() as server:
            for request, wanted in rows:
                results, end = server.ask(request)
                equal(results, [], f"{request}")
                expect(wanted in end["error"], f"{request}: {end}")
                expect(end["status"] in (FAILED, USAGE), f"{request}: {end}")
            self.still_right(server)

    def still_right(self, server):
        results, end = server.ask({"command": "query", "file": "counts.cpr",
                                   "addr": "counter", "at": "output:50"})
        equal((end["status"], [one["value"] for one in results]),
              (ANSWERED, [self.printed.splitlines()[-1].split()[1]]),
              "the next answer")

    def hostile(self):
        """Bytes that are no request get one answer each, without an id."""
        most = LINE_MOST
        lines = [b"x\n", b"{\n", b"[]\n", b"7\n", b"null\n", b'"text"\n',
                 b"\0\n", b'{"id":1,"command":"in\0fo"}\n',
                 b'{"id":1,"command":"\\u0000"}\n',
                 b'{"id":1,"command":"\xff\xfe"}\n',
                 b'{"id":1,"command":"\\ud800"}\n',
                 b'{"id":1,"id":2,"command":"hello"}\n',
                 b'{"id":1} {"id":2}\n',
                 b'{"id":' + b"9" * 400 + b',"command":"hello"}\n',
                 b'{"id":1e999,"command":"hello"}\n',
                 b"[" * (most - 1) + b"\n", b'{"a":' * 10000 + b"\n",
                 b"[" * most + b"]" * (most * 50) + b"\n",
                 b"\0" * (64 << 20) + b"\n"]
        with self.server() as server:
            self.still_right(server)
            before = server.memory()
            for line in lines:
                server.send(line)
                results, end = server.answer()
                equal((results, end["status"]), ([], USAGE), f"{line[:50]}")
                expect("the line is " in end["error"], f"{end}")
            # Blank ones are nobody's question.
            server.send(b"\n \t\r\n\n")
            # What is deep but sound is an id.
            deep = 5
            for _ in range(200):
                deep = [deep]
            server.send({"id": deep, "command": "info", "file": "nothing"})
            equal(server.answer(deep)[1]["status"], FAILED, "status")
            server.send({"id": 5, "command": "info", "file": "x" * 60000})
            equal(server.answer(5)[1]["status"], FAILED, "status")
            many = {"command": "query", "file": "counts.cpr",
                    "addr": ["0"] * 6000, "at": ["0"] * 6000}
            expect("at most" in server.ask(many)[1]["error"], "too many")
            self.still_right(server)
            grown = server.memory() - before
        expect(grown < 16 << 10, f"it has grown by {grown} KiB")
        return f"it has grown by {grown} KiB"

    def random_bytes(self):
        """Requests with bytes that are others."""
        chance = random.Random(self.options.seed)
        sound = [json.dumps({"id": 1, **one}).encode() for one in
                 self.requests(["query", "maps", "calls", "info"])]
        with self.server() as server:
            for _ in range(500):
                line = bytearray(chance.choice(sound))
                for _ in range(chance.randrange(1, 4)):
                    line[chance.randrange(len(line))] = chance.choice(
                        b'"{}[],:\\ 0-\x80xz')
                if not line.strip() or b"cancel" in line:
                    continue
                server.send(bytes(line) + b"\n")
                while "done" not in server.line():
                    pass
            self.still_right(server)

    # ------- what changes -------

    def another_file(self):
        """A recording that is made again, under the same name."""
        os.rename(os.path.join(self.folder, "counts.cpr"),
                  os.path.join(self.folder, "first.cpr"))
        request = {"command": "query", "file": "now.cpr", "addr": "counter",
                   "at": "end"}
        with self.server() as server:
            for factor in (1, 2, 3):
                printed = self.record(
                    "now", COUNTS.replace("add(i *", f"add({factor} * i *"))
                for _ in range(2):
                    equal(server.ask(request)[0][0]["value"],
                          printed.splitlines()[-1].split()[1], "the last")
            os.unlink(os.path.join(self.folder, "now.cpr"))
            equal(server.ask(request)[1]["status"], FAILED, "removed")
        os.rename(os.path.join(self.folder, "first.cpr"),
                  os.path.join(self.folder, "counts.cpr"))

    def growing(self):
        """A recording that is being written: each answer is of now."""
        program = os.path.join(self.folder, "grows")
        source = COUNTS.replace("fflush(stdout);",
                                "fflush(stdout); getchar();")
        subprocess.run(["gcc", "-x", "c", "-", "-g", "-o", program],
                       input=source, text=True, check=True)
        writer = subprocess.Popen(
            [self.options.cprec, "record", "-o", "grows.cpr", "--segment=1000",
             program], cwd=self.folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        ends = []
        with self.server() as server:
            for _ in range(3):
                for _ in range(10):
                    writer.stdout.readline()
                    writer.stdin.write("\n")
                    writer.stdin.flush()
                time.sleep(1)
                (info,), end = server.ask({"command": "info",
                                           "file": "grows.cpr"})
                expect(info["writing"] and "still being written" in
                       end["notes"][0] if "notes" in end else
                       info["writing"], f"{end}")
                ends.append(info["instructions"])
            writer.communicate("\n" * 30, timeout=60)
            (info,), end = server.ask({"command": "info", "file": "grows.cpr"})
            ends.append(info["instructions"])
            expect(info["complete"] and "writing" not in info, "it has ended")
        expect(ends == sorted(set(ends)), f"it ended at {ends}")

    def bound(self):
        """So many files are open, and no more."""
        copies = []
        for number in range(5):
            name = f"copy{number}.cpr"
            with open(os.path.join(self.folder, "counts.cpr"), "rb") as file:
                data = file.read()
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(data)
            copies.append(name)
        with self.server("--keep=2") as server:
            counts = []
            for name in copies * 2:
                server.ask({"command": "backtrace", "file": name})
                targets = [os.readlink(f"/proc/{server.process.pid}/fd/{fd}")
                           for fd in os.listdir(
                               f"/proc/{server.process.pid}/fd")]
                counts.append(sum(one.endswith(".cpr") for one in targets))
            equal(max(counts), 2, "recordings open")

    # ------- ends -------

    def cancel(self):
        """A question that takes long ends when it is told to."""
        asked = [{"command": "calls", "arguments": ["add"], "count": True},
                 {"command": "log", "arguments": ["add => sum"]},
                 {"command": "writes", "addr": "sum"},
                 {"command": "accesses", "addr": "sum", "value": 2}]
        took = []
        with self.server() as server:
            for number, request in enumerate(asked, 1000):
                server.send({"id": number, "file": "long.cpr", **request})
                server.send({"id": "waits", "command": "info",
                             "file": "long.cpr"})
                server.send({"id": "other", "command": "hello"})
                time.sleep(0.3)
                began = time.monotonic()
                server.send({"command": "cancel", "id": "waits"})
                server.send({"command": "cancel", "id": "nobody"})
                server.send({"command": "cancel", "id": number})
                _, end = server.answer(number)
                took.append(time.monotonic() - began)
                equal((end["status"], end.get("error")),
                      (FAILED, "cancelled"), f"{request}")
                results, end = server.answer("waits")
                equal((results, end["error"]), ([], "cancelled"), "waits")
                equal(server.answer("other")[1]["status"], ANSWERED, "other")
                self.still_right(server)
            (found,), _ = server.ask({"command": "query", "file": "long.cpr",
                                      "addr": "sum", "at": "end"})
            equal(found["value"], self.long.strip(), "what it printed")
        expect(max(took) < 3, f"it took {max(took):.1f} s")
        return f"at most {max(took) * 1000:.0f} ms"

    def interrupted(self):
        with self.server() as server:
            server.send({"id": 1, "command": "calls", "file": "long.cpr",
                         "arguments": ["add"], "count": True})
            server.send({"id": 2, "command": "hello"})
            time.sleep(0.3)
            server.process.send_signal(signal.SIGINT)
            for number in (1, 2):
                equal(server.answer(number)[1]["error"], "cancelled", "end")
            equal(server.process.wait(10), ANSWERED, "exit status")

    def unread(self):
        """Nobody reads answers any more: it ends, whatever it does."""
        for waits in (0.3, 0):
            server = self.server(stderr=subprocess.PIPE)
            server.send({"id": 1, "command": "calls", "file": "long.cpr",
                         "arguments": ["add"], "count": True})
            time.sleep(waits)
            server.process.stdout.close()
            status = server.process.wait(10)
            expect(status in (FAILED, -signal.SIGPIPE), f"status {status}")
            server.process.stderr.close()
            server.process.stdin.close()
        with open("/dev/full", "wb") as full:
            found = subprocess.run([self.options.cprec, "serve"],
                                   input=b'{"command":"hello"}\n' * 9,
                                   stdout=full, stderr=subprocess.PIPE)
        equal((found.returncode, found.stderr),
              (FAILED, b"cprec: cannot write the answer\n"), "/dev/full")
        for closed, said in ((">&-", "cannot write answers: "),
                             ("<&-", "cannot read standard input: ")):
            found = subprocess.run(f"'{self.options.cprec}' serve {closed}",
                                   shell=True, text=True, input="",
                                   stderr=subprocess.PIPE)
            equal(found.returncode, FAILED, closed)
            expect(found.stderr.startswith(f"cprec: {said}"), found.stderr)

    def input_ends(self):
        """What was asked before is answered; the last line needs no end."""
        lines = b"\n".join(json.dumps(
            {"id": number, "command": "query", "file": "counts.cpr",
             "addr": "counter", "at": f"output:{number}"}).encode()
            for number in range(1, 51))
        found = subprocess.run([self.options.cprec, "serve"], input=lines,
                               cwd=self.folder, capture_output=True,
                               timeout=60)
        equal((found.returncode, found.stderr), (ANSWERED, b""), "end")
        equal([json.loads(line)["result"]["value"]
               for line in found.stdout.splitlines()[::2]],
              [line.split()[1] for line in self.printed.splitlines()],
              "values")
        equal(subprocess.run([self.options.cprec, "serve"], input=b"",
                             capture_output=True).returncode, ANSWERED,
              "nothing")

    # ------- many -------

    def many(self):
        """Mixed questions, with mistakes: the server stays as it was."""
        chance = random.Random(self.options.seed)
        total = self.options.questions
        # One less than there are, so that some are opened again and again.
        with self.server("--keep=6") as server:
            names = [one["name"] for one in
                     server.ask({"command": "hello"})[0][0]["commands"]]
            requests = self.requests(names)
            took = {}
            for _ in range(2):
                # What is asked for the first time takes longer.
                for index, request in enumerate(requests):
                    began = time.monotonic()
                    server.ask(request)
                    took[index] = ("pid" in request, time.monotonic() - began)
            order = sorted(took, key=took.get)
            quick = order[:len(order) * 2 // 3]
            slow = order[len(quick):]
            sizes, files = [], []
            began = time.monotonic()
            for number in range(total):
                index = chance.choice(slow if number % 200 == 0 else quick)
                results, end = server.ask(requests[index])
                # Without a file it is the newest: another one by now.
                if number % 50 == 0 and ("file" in requests[index] or
                                         "arguments" in requests[index]):
                    del end["id"]
                    equal((results, end), self.expected[index],
                          f"{requests[index]}")
                if number % (total // 20) == 0:
                    sizes.append(server.memory())
                    files.append(server.descriptors())
            each = (time.monotonic() - began) / total
        half = len(sizes) // 2
        print(f"# {total} questions; KiB: {sizes}; descriptors: {files}")
        # Replayers come and go, each with up to 40 MB of translated code: at
        # most times there are as many.
        grown = (statistics.median(sizes[half:]) -
                 statistics.median(sizes[:half]))
        expect(grown < 24576, f"it has grown by {grown} KiB")
        expect(max(files) < 64, "there are more descriptors")
        return (f"{sizes[0]} KiB, then {sizes[-1]} KiB; {each * 1000:.1f} ms"
                " each")

    def speed(self):
        """Not a test of it: it is told."""
        took = []
        request = {"command": "query", "file": "counts.cpr",
                   "addr": "counter"}
        with self.server() as server:
            times = [server.ask({**request, "at": f"output:{line}"})[0][0]
                     for line in range(1, 51)]
            for number in range(300):
                expected = times[number * 7 % 50]
                began = time.monotonic()
                results, _ = server.ask({**request, "at": expected["at"]})
                took.append(time.monotonic() - began)
                equal(results[0]["value"], expected["value"], "value")
        began = time.monotonic()
        self.command({**request, "at": times[7]["at"]})
        alone = time.monotonic() - began
        took = sorted(took[100:])
        return (f"p50 {took[100] * 1000:.2f} ms, p95 {took[190] * 1000:.2f}"
                f" ms; a process {alone * 1000:.0f} ms")


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("recordings", tests.record_all)
    tests.test("values that the program prints", tests.truth)
    for keep in 4, 1:
        tests.test(f"all commands, {keep} kept", tests.all_commands, keep)
    tests.test("hello tells what help tells", tests.hello)
    tests.test("mistakes", tests.mistakes)
    tests.test("lines that are no requests", tests.hostile)
    tests.test("requests with other bytes", tests.random_bytes)
    tests.test("a recording that is made anew", tests.another_file)
    tests.test("a recording that is being written", tests.growing)
    tests.test("how many are open", tests.bound)
    tests.test("many questions", tests.many)
    # It is the newest from here on.
    tests.long = tests.record("long", LONG)
    tests.test("cancel", tests.cancel)
    tests.test("SIGINT", tests.interrupted)
    tests.test("nobody reads", tests.unread)
    tests.test("the input ends", tests.input_ends)
    tests.test("how long a warm question takes", tests.speed)
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--every", type=int, default=4,
                        help="asks one request of so many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(main(run_all, parser=parser))
