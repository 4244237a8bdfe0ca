#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a debugger waits, and how much memory it takes.

Of each recording, against the goals that are printed beside:

  open     the server until it is connected; gdb until its first prompt, which
           reads debugging information of libraries, too, as ever
  steps    reverse-stepi over the protocol, at random places
  lines    reverse-step and reverse-next, by gdb, through MI; what the server
           takes of that is what the protocol alone takes
  runs     back from end to start: past a breakpoint that is nowhere met, past a
           watchpoint beside what is often written; to a watchpoint that was met
           near the start, last
  memory   the most that a long session of gotos, steps and runs takes: what
           it does, and where, is left to chance

Times are of the connection's other end (elapsed) and of the server's processor
(cpu).  Other work on the machine makes the first longer, but not the second: a
goal counts as met if either is.  What runs on several cores counts by each:
by the processor's time.
"""
import argparse
import json
import os
import random
import re
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "run"))
import latency_recordings  # noqa: E402
from remote import Remote  # noqa: E402

PARTS = "open", "steps", "lines", "runs", "memory"


# ------- telling -------

class Table:
    """Rows of figures, with their goals."""

    def __init__(self):
        self.missed = []

    def row(self, name, text, goals=(), better=min):
        """Goals are (what, limit, elapsed, cpu)."""
        told = []
        for what, limit, *found in goals:
            is_met = (better(found) <= limit if better is min else
                      better(found) >= limit)
            told.append(f"{what} {limit:g} {'met' if is_met else 'MISSED'}")
            if not is_met:
                self.missed.append(f"{name} {what}")
        goal = ", ".join(told)
        print(f"  {name:22} {text:66} {goal and 'goal: ' + goal}".rstrip(),
              flush=True)

    def times(self, name, samples, unit=1e6, **goals):
        """Samples are (elapsed, cpu); goals as p50=..., in this unit."""
        if not samples:
            return
        columns = [sorted(column) for column in zip(*samples)]
        at = {"p50": 50, "p90": 90, "p99": 99, "most": 100}

        def value(column, what):
            index = min(len(column) - 1, len(column) * at[what] // 100)
            return column[index] * unit

        text = "   ".join(
            f"{kind} " + " ".join(f"{value(column, what):.{int(unit < 1e6)}f}"
                                  for what in at)
            for kind, column in zip(("elapsed", "cpu"), columns))
        self.row(name, text + {1e6: " us", 1e3: " ms"}[unit],
                 [(what, limit, *(value(column, what) for column in columns))
                  for what, limit in goals.items()])


def cpu_time(pid):
    """Seconds of all threads of a process, those that have ended, too."""
    return time.clock_gettime(~pid << 3 | 2)


def timed(pid, function, *arguments):
    """(elapsed, cpu) of a process, and what the function returned."""
    used, began = cpu_time(pid), time.monotonic()
    result = function(*arguments)
    return (time.monotonic() - began, cpu_time(pid) - used), result


def replay(cprec, path):
    """(elapsed, cpu) of a plain replay, and the memory that it takes."""
    began = time.monotonic()
    process = subprocess.Popen([cprec, "replay", "-q", path],
                               stdout=subprocess.DEVNULL)
    used = os.wait4(process.pid, 0)[2]
    return ((time.monotonic() - began, used.ru_utime + used.ru_stime),
            used.ru_maxrss << 10)


# ------- gdb -------

class Gdb:
    """gdb on a recording, through MI."""

    def __init__(self, cprec, path, *options):
        self.words = [cprec, "gdb", *options, path, "--", "-nx", "-i=mi"]
        self.process = subprocess.Popen(
            self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.until("(gdb)")
        self.server = self.find_server()

    def find_server(self):
        """What was started is gdb by now; the server is a copy of it."""
        wanted = "\0".join(self.words) + "\0"
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
                    if file.read() == wanted:
                        found.append(int(pid))
            except OSError:
                pass
        return max(found)

    def until(self, start):
        """The lines up to one that starts so."""
        lines = []
        while not lines or not lines[-1].startswith(start):
            lines.append(self.process.stdout.readline())
            if not lines[-1]:
                raise OSError("gdb has ended")
        return lines

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.until(("^done", "^error", "^running"))

    def resume(self, command):
        """The line that says why it stopped; None if it did not run."""
        if not self.ask(command)[-1].startswith("^running"):
            return None
        return self.until("*stopped")[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


# ------- what is measured -------

class Bench:
    def __init__(self, path, options, table):
        self.path, self.options, self.table = path, options, table
        self.cprec = options.cprec
        info = json.loads(subprocess.run(
            [self.cprec, "info", "--json", path], check=True,
            capture_output=True).stdout)
        self.length = info["instructions"]
        self.replay, self.memory = replay(self.cprec, path)
        rates = " and ".join(f"{self.length / took / 1e6:.0f}"
                             for took in self.replay)
        print(f"{path}: {self.length} instructions; a replay makes {rates} M "
              f"a second (elapsed, cpu) and takes {self.memory >> 20} MB; load "
              f"{os.getloadavg()[0]:.1f}")
        self.chance = random.Random(options.seed)

    def connect(self, *options):
        server = Remote(self.cprec, self.path, *options)
        server.pass_signals()
        self.pid = server.process.pid
        return server

    def timed(self, function, *arguments):
        return timed(self.pid, function, *arguments)

    def anywhere(self):
        return self.chance.randrange(1000, self.length)

    # ------- open -------

    def open(self):
        servers, prompts, alone = [], [], []
        for _ in range(self.options.openings):
            began = time.monotonic()
            used = os.times()
            subprocess.run(["gdb", "-nx", "-batch"], check=True)
            alone.append((time.monotonic() - began, sum(
                os.times()[2:4]) - sum(used[2:4])))
            began = time.monotonic()
            with self.connect() as server:
                server.ask("?")
                servers.append((time.monotonic() - began, cpu_time(self.pid)))
            began = time.monotonic()
            with Gdb(self.cprec, self.path) as gdb:
                prompts.append((time.monotonic() - began,
                                cpu_time(gdb.process.pid) +
                                cpu_time(gdb.server)))
        self.table.times("server connected", servers, 1e3, p50=100)
        self.table.times("gdb alone", alone, 1e3)
        self.table.times("gdb's first prompt", prompts, 1e3)
        self.table.times("  above gdb alone", [
            tuple(max(0, mine - own) for mine, own in zip(*both))
            for both in zip(prompts, alone)], 1e3, p50=100)

    # ------- steps -------

    def steps(self):
        goto, first, others = [], [], []
        with self.connect("--from=start") as server:
            for _ in range(self.options.places):
                at = self.anywhere()
                goto.append(self.timed(lambda: (server.goto(at),
                                                server.ask("?")))[0])
                for number in range(self.options.steps):
                    took, reply = self.timed(server.ask, "bs")
                    assert reply.startswith("T"), reply
                    (others if number else first).append(took)
        self.table.times("goto", goto, 1e3)
        self.table.times("first reverse-stepi", first, 1e3)
        self.table.times("reverse-stepi", first + others, p50=50, p99=30000)

    # ------- lines -------

    def lines(self):
        with Gdb(self.cprec, self.path) as gdb:
            for name in "step", "next":
                took, alone = self.walk_lines(gdb, name)
                self.table.times(f"reverse-{name}, by gdb", took, 1e3,
                                 p50=5, p99=200)
                self.table.times(f"  of that the server", alone, 1e3,
                                 p50=5, p99=200)

    def walk_lines(self, gdb, name):
        took, alone = [], []
        for _ in range(self.options.places):
            if not self.find_line(gdb):
                continue
            for _ in range(self.options.lines):
                used = cpu_time(gdb.server)
                one, why = timed(gdb.process.pid, gdb.resume,
                                 f"-exec-{name} --reverse")
                if not why or "no-history" in why:
                    break
                used = cpu_time(gdb.server) - used
                took.append((one[0], one[1] + used))
                alone.append((used, used))
        return took, alone

    def find_line(self, gdb):
        """Somewhere where the program's own lines are."""
        for _ in range(20):
            gdb.ask(f'-interpreter-exec console "monitor goto '
                    f'{self.anywhere()}"')
            gdb.ask('-interpreter-exec console "maintenance flush '
                    'register-cache"')
            gdb.ask("-stack-select-frame 0")
            frame = gdb.ask("-stack-info-frame")[-1]
            if 'fullname="' in frame and os.path.exists(
                    re.search(r'fullname="([^"]*)"', frame)[1]):
                return True
        return False

    # ------- runs -------

    def run_back(self, server, *requests, meets="replaylog:begin"):
        server.goto("end")
        server.ask("?")
        for request in requests:
            assert server.ask("Z" + request) == "OK", request
        took, reply = self.timed(server.ask, "bc")
        assert meets in reply, reply
        for request in requests:
            assert server.ask("z" + request) == "OK"
        return took

    def rate(self, name, took, goal=None):
        """How fast it was, and that as a part of replay's speed."""
        elapsed, cpu = (mine / theirs
                        for mine, theirs in zip(self.replay, took))
        self.table.row(name, f"elapsed {took[0]:.2f} s, cpu {took[1]:.2f} s; "
                       f"of replay's speed {elapsed:.2f}, by cpu {cpu:.2f}",
                       [("at least", goal, cpu)] if goal else (),
                       better=max)

    def runs(self):
        with self.connect("--from=start") as server:
            server.ask("?")
            program, early = self.find_code(server), self.find_early(server)
            # What the kernel wrote on the stack, where main() has its frame.
            beside = self.auxv(server, 25)
            self.rate("back", self.run_back(server))
            self.rate("back past a break",
                      self.run_back(server, f"0,{program:x},1"), 0.8)
            self.rate("back past a watch",
                      self.run_back(server, f"2,{beside:x},10"))
            # All that is written lies between the two.
            self.rate("back past two watches",
                      self.run_back(server, f"2,{beside:x},10",
                                    f"2,{program:x},8"))
            took = [self.run_back(server, early, meets="watch:")
                    for _ in range(self.options.openings)]
            print(f"  the watchpoint was met at {server.when()}")
            self.table.times("back to a watch", took, 1e3, p50=100)

    def auxv(self, server, wanted):
        reply = server.ask("qXfer:auxv:read::0,1000")[1:].encode("latin1")
        words = re.sub(rb"}(.)", lambda m: bytes([m[1][0] ^ 32]), reply,
                       flags=re.S)
        for at in range(0, len(words) - 15, 16):
            name, value = struct.unpack_from("<QQ", words, at)
            if name == wanted:
                return value
        raise ValueError(f"no auxiliary value {wanted}")

    def read(self, server, addr, size):
        return bytes.fromhex(server.memory(addr, size))

    def find_code(self, server):
        """The program's first bytes are mapped, and nobody executes them."""
        return self.auxv(server, 3) & ~4095

    def find_early(self, server):
        """What the dynamic loader writes, and then write-protects: all of it."""
        base = self.auxv(server, 7)
        header = self.read(server, base, 64)
        table, size, count = (struct.unpack_from("<Q", header, 32)[0],
                              *struct.unpack_from("<HH", header, 54))
        for i in range(count):
            entry = self.read(server, base + table + i * size, size)
            kind, addr, length = (
                struct.unpack_from("<I", entry)[0],
                *(struct.unpack_from("<Q", entry, at)[0] for at in (16, 40)))
            if kind == 0x6474e552:	# PT_GNU_RELRO
                return f"2,{base + addr:x},{length:x}"
        raise ValueError("the loader protects nothing")

    # ------- memory -------

    def resident(self, which="VmRSS"):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return int(re.search(which + r":\s*(\d+) kB",
                                 file.read())[1]) << 10

    def memory_of_session(self):
        told = []
        with self.connect() as server:
            for number in range(self.options.session):
                self.do_something(server)
                if number % (self.options.session // 5 or 1) == 0:
                    told.append(self.resident())
            most = self.resident("VmHWM")
        above = (most - self.memory) / (1 << 20)
        self.table.row(
            f"session of {self.options.session}",
            f"{most >> 20} MB once, {above:.0f} above a replay's; on the way "
            + " ".join(str(size >> 20) for size in told) + " MB",
            [("MB above a replay's", 300, above)])

    def do_something(self, server):
        kind = self.chance.randrange(100)
        if kind < 1:
            self.run_back(server, "2,10,8")
        elif kind < 20:
            server.goto(self.anywhere())
            server.ask("?")
        elif kind < 80:
            for _ in range(self.chance.randrange(1, 20)):
                server.ask(self.chance.choice(("bs", "bs", "vCont;s")))
            server.ask("g")
        else:
            # To where it is now, or to the last write of the stack.
            rsp = int.from_bytes(bytes.fromhex(server.ask("p7")), "little")
            point = self.chance.choice((f"0,{server.pc():x},1",
                                        f"2,{rsp:x},8"))
            server.ask("Z" + point)
            server.ask("bc")
            server.ask("z" + point)

    def measure(self):
        for part in PARTS:
            if part in self.options.parts:
                (self.memory_of_session if part == "memory" else
                 getattr(self, part))()


def record_all(options):
    os.makedirs(options.folder, exist_ok=True)
    return [latency_recordings.make(options.cprec, options.folder, name,
                                    int(options.length)).path
            for name in ("integers", "python3", "threads")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cprec", required=True, type=os.path.abspath)
    parser.add_argument("--parts", type=lambda text: text.split(","),
                        default=PARTS, help="of these, with commas: all")
    parser.add_argument("--openings", type=int, default=7, metavar="N")
    parser.add_argument("--places", type=int, default=40, metavar="N")
    parser.add_argument("--steps", type=int, default=200, metavar="N",
                        help="back, at each place")
    parser.add_argument("--lines", type=int, default=10, metavar="N",
                        help="back, at each place")
    parser.add_argument("--session", type=int, default=1000, metavar="N",
                        help="things done in the long session")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="where to record a C program, python3 "
                        "and threads, if they are\nnot there; they are measured")
    parser.add_argument("--length", type=float, default=1e9,
                        help="instructions of these")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    table = Table()
    if options.folder:
        options.files += record_all(options)
    for path in options.files:
        Bench(path, options, table).measure()
    print("missed: " + (", ".join(table.missed) or "nothing"))


if __name__ == "__main__":
    sys.exit(main())
