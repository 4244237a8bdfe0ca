#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a debugger waits: steps back and runs back, over its protocol.

usage: gdb_steps.py --cprec C [--places N] [--steps N] [--seed S] FILE...

At random places of each recording, a number of single steps back; the first
of each place replays, the others come from what that has found.  Then, from the
end, back to the start: past no breakpoint, and past a watchpoint that nothing
meets.  Times are microseconds, of the connection's other end; the speed of a
plain replay, of one process, is measured beside.
"""
import argparse
import json
import random
import subprocess
import sys
import time


class Server:
    """Speaks the protocol as gdb does."""

    def __init__(self, cprec, path):
        self.process = subprocess.Popen(
            [cprec, "gdbserver", "--stdio", "--from=start", path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.out = self.process.stdout
        self.ask("QStartNoAckMode", confirm=True)
        signals = ";".join(f"{one:x}" for one in range(1, 79))
        self.ask(f"QPassSignals:{signals}")

    def ask(self, request, confirm=False):
        data = request.encode()
        self.process.stdin.write(b"$%s#%02x" % (data, sum(data) & 255))
        self.process.stdin.flush()
        if confirm:
            self.out.read(1)
        reply = b""
        while not reply.endswith(b"#"):
            reply += self.out.read(1)
        self.out.read(2)
        if confirm:
            self.process.stdin.write(b"+")
        return reply[1:-1].decode()

    def go(self, time_asked):
        words = f"goto {time_asked}".encode().hex()
        reply = self.ask(f"qRcmd,{words}")
        assert not reply.startswith("E"), reply

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def percentiles(times):
    times = sorted(times)
    return " ".join(f"{name} {times[min(len(times) - 1, index)] * 1e6:.0f}"
                    for name, index in
                    (("p50", len(times) // 2), ("p90", len(times) * 9 // 10),
                     ("p99", len(times) * 99 // 100), ("most", len(times))))


def timed(function, *arguments):
    began = time.monotonic()
    result = function(*arguments)
    return time.monotonic() - began, result


def step_back(server, chance, length, options):
    first, others = [], []
    for _ in range(options.places):
        server.go(chance.randrange(1000, length))
        for number in range(options.steps):
            took, reply = timed(server.ask, "bs")
            assert reply.startswith("T"), reply
            (others if number else first).append(took)
    print(f"  first step back   {percentiles(first)}")
    print(f"  steps back        {percentiles(others)}")
    print(f"  all               {percentiles(first + others)}")


def run_back(server, length, replay):
    for name, request in (("runs back", ""), ("past a watch", "Z2,10,8")):
        server.go("end")
        if request:
            assert server.ask(request) == "OK"
        took, reply = timed(server.ask, "bc")
        assert "replaylog:begin" in reply, reply
        print(f"  {name:17} {took:.2f} s, {length / took / 1e6:.0f} M a second,"
              f" {replay / took:.2f} of replay")


def measure(path, options):
    info = json.loads(subprocess.run(
        [options.cprec, "info", "--json", path], check=True,
        capture_output=True).stdout)
    length = info["instructions"]
    replay, _ = timed(lambda: subprocess.run(
        [options.cprec, "replay", "-q", path], check=True,
        stdout=subprocess.DEVNULL))
    print(f"{path}: {length} instructions, replay "
          f"{length / replay / 1e6:.0f} M a second")
    opened, server = timed(Server, options.cprec, path)
    print(f"  opened in         {opened * 1000:.0f} ms")
    step_back(server, random.Random(options.seed), length, options)
    run_back(server, length, replay)
    server.end()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cprec", required=True)
    parser.add_argument("--places", type=int, default=50)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    for path in options.files:
        measure(path, options)


if __name__ == "__main__":
    sys.exit(main())
