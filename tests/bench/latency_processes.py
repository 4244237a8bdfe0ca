# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes, and what they take: time, processor time, memory."""
import json
import os
import subprocess
import sys
import tempfile
import time


class Took:
    """What a process said, and what it took.

    Children that it waited for are in the processor time, as workers of `cprec
    index` are; the peak is that of the largest of them.
    """

    def __init__(self, command, wall, status, usage, out, error):
        self.wall = wall
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss * 1024
        self.status = os.waitstatus_to_exitcode(status)
        self.out, self.error, self.command = out, error, command

    def check(self, allowed=(0,)):
        if self.status not in allowed:
            sys.exit(f"latency: status {self.status} of "
                     f"{' '.join(self.command)}: {self.error.strip()}")
        return self


def run(command, **more):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=error, **more)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        error.seek(0)
        return Took(command, wall, status, usage,
                    out.read().decode(errors="replace"),
                    error.read().decode(errors="replace"))


class Server:
    """`cprec serve`, which is asked one question after the other."""

    def __init__(self, cprec):
        self.process = subprocess.Popen(
            [cprec, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def cpu(self):
        """Nanoseconds of all its threads that run."""
        folder = f"/proc/{self.process.pid}/task"
        total = 0
        for task in os.listdir(folder):
            with open(f"{folder}/{task}/schedstat") as file:
                total += int(file.read().split()[0])
        return total

    def memory(self, name="VmRSS"):
        with open(f"/proc/{self.process.pid}/status") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
        return 0

    def ask(self, request):
        """The results, seconds, and seconds of the processor."""
        line = json.dumps(request).encode() + b"\n"
        before, start = self.cpu(), time.monotonic()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        results = []
        while True:
            answer = json.loads(self.process.stdout.readline())
            if "done" in answer:
                break
            results.append(answer["result"])
        wall = time.monotonic() - start
        return results, wall, (self.cpu() - before) / 1e9

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
