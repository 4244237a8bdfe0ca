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
import os
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "run"))
from remote import Remote  # noqa: E402


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
        server.goto(chance.randrange(1000, length))
        for number in range(options.steps):
            took, reply = timed(server.ask, "bs")
            assert reply.startswith("T"), reply
            (others if number else first).append(took)
    print(f"  first step back   {percentiles(first)}")
    print(f"  steps back        {percentiles(others)}")
    print(f"  all               {percentiles(first + others)}")


def run_back(server, length, replay):
    for name, request in (("runs back", ""), ("past a watch", "Z2,10,8")):
        server.goto("end")
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
    opened, server = timed(Remote, options.cprec, path, "--from=start")
    server.pass_signals()
    print(f"  opened in         {opened * 1000:.0f} ms")
    with server:
        step_back(server, random.Random(options.seed), length, options)
        run_back(server, length, replay)


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
