# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions about a place in a recording, asked cold and warm."""
import json
import random
import time

from latency_processes import Server, run

WORD = 8
MB = 1 << 20
LEAST = 5		# questions, whatever time they take


def memory(addr, at):
    return {"command": "query", "addr": hex(addr), "size": WORD, "at": at,
            "no-races": True}


def last_writer(addr, at):
    return {"command": "last", "addr": hex(addr), "size": WORD, "at": at}


def registers(_, at):
    return {"command": "registers", "at": at}


def backtrace(_, at):
    return {"command": "backtrace", "at": at}


KINDS = {"memory": memory, "last writer": last_writer,
         "registers": registers, "backtrace": backtrace}

# What answers may differ in: how they were found.
WAYS = "source",


def requests(recording, kind, count):
    chance = random.Random(f"{recording.name} {kind}")
    return [KINDS[kind](*recording.place(chance)) for _ in range(count)]


def words(cprec, path, request):
    """A request as a command line."""
    line = [cprec, request["command"], path, "--json"]
    for name, value in request.items():
        if name != "command":
            line.append(f"--{name}" if value is True else f"--{name}={value}")
    return line


def same(results):
    return [{key: value for key, value in result.items() if key not in WAYS}
            if isinstance(result, dict) else result for result in results]


class Asked:
    """What questions of one kind took, one way to ask."""

    def __init__(self):
        self.wall, self.cpu, self.answers = [], [], []
        self.peak = 0
        self.began = time.monotonic()

    def is_over(self, seconds):
        """Whether so much time was taken, and something is known."""
        return (len(self.wall) >= LEAST and
                time.monotonic() - self.began > seconds)

    def add(self, answer, wall, cpu):
        self.answers.append(same(answer))
        self.wall.append(wall)
        self.cpu.append(cpu)

    def at(self, part, times):
        ordered = sorted(times)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]

    def figures(self):
        figures = {"asked": len(self.wall)}
        for name, times in (("wall", self.wall), ("cpu", self.cpu)):
            figures[name] = {"p50": self.at(.5, times),
                             "p90": self.at(.9, times),
                             "p99": self.at(.99, times), "most": max(times)}
        return figures


def ask_cold(recording, asked_of, seconds, forget):
    """Each by a process of its own; `forget`: and as if it were the first."""
    asked = Asked()
    for request in asked_of:
        if asked.is_over(seconds):
            break
        if forget:
            recording.forget()
        took = run(words(recording.cprec, recording.path, request))
        # An unknown byte, of a page that is mapped later, is an answer.
        took.check((0, 1))
        answer = [json.loads(line) for line in took.out.splitlines()]
        asked.add(answer, took.wall, took.cpu)
        asked.peak = max(asked.peak, took.peak)
    return asked


def ask_warm(recording, asked_of, seconds):
    asked = Asked()
    server = Server(recording.cprec)
    # The recording is opened before.
    server.ask({"command": "info", "file": recording.path})
    for request in asked_of:
        if asked.is_over(seconds):
            break
        asked.add(*server.ask({"file": recording.path, **request}))
    asked.peak = server.memory("VmHWM")
    server.end()
    return asked


def grow(recording, count):
    """A server's memory when a tenth of so many were asked, and at the end."""
    server = Server(recording.cprec)
    chance = random.Random("grow")
    early = 0
    for number in range(count):
        kind = (memory, memory, memory, memory, memory, memory, memory,
                last_writer, registers, backtrace)[number % 10]
        server.ask({"file": recording.path,
                    **kind(*recording.place(chance))})
        if number == count // 10:
            early = server.memory()
    late = server.memory()
    server.end()
    return early, late
