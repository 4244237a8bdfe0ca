#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors that only a rare schedule shows, and threads that are ended from
outside.  Speaks TAP.

Guests have a planted error: a lost update or a deadlock.  Recorded as usual
they run well, every time; a random schedule finds the error, the same seed
finds it again, and its recording shows it each time.  However a program
with threads is ended, what was recorded until then is usable.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from tap import Failure, Tap, expect, recordings  # noqa: E402

STUCK = 5	# seconds without an end are a deadlock
IDLE = 1	# so are as many in which all threads sleep
LONG = 120	# seconds for what must end
TINY_SEEDS = 20	# find what a third of all seeds find


def heed_signals():
    """A shell lets what it runs in the background ignore some signals."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def taken_asleep(pid):
    """The time of the processor that a process has taken, in ticks; None if a
    thread is not asleep."""
    taken = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/stat") as stat:
            words = stat.read().rsplit(")", 1)[1].split()
        if words[0] != "S":
            return None
        taken += int(words[11]) + int(words[12])
    return taken


def has_ended(process):
    """Waits until it ends, or is in a deadlock."""
    end = time.monotonic() + STUCK
    before = since = None
    while time.monotonic() < end:
        try:
            process.wait(0.05)
            return True
        except subprocess.TimeoutExpired:
            pass
        try:
            now = taken_asleep(process.pid)
        except OSError:     # a thread has just ended
            now = None
        if now is None or now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > IDLE:
            return False
    return False


class Tests(Tap):
    def __init__(self, options, folder):
        super().__init__()
        self.options = options
        self.folder = folder
        self.guests = {os.path.basename(path): os.path.abspath(path)
                       for path in options.guests}
        self.found = {}

    def trace(self, name):
        return os.path.join(self.folder, name + ".cpr")

    def start(self, name, guest, *arguments):
        """Begins to record; `arguments` are cprec's and then the guest's."""
        options = [word for word in arguments if word.startswith("--")]
        words = [word for word in arguments if not word.startswith("--")]
        return subprocess.Popen(
            [self.options.cprec, "record", "-q", "-o", self.trace(name),
             *options, "--", self.guests[guest], *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            stdin=subprocess.DEVNULL, cwd=self.folder,
            preexec_fn=heed_signals)

    def finish(self, process, seconds=LONG):
        """Output and status; the status is None if it had to be killed."""
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "", None
        expect(not err, err.strip())
        return out, process.returncode

    def cprec(self, *arguments):
        done = subprocess.run([self.options.cprec, *arguments], text=True,
                              capture_output=True, timeout=LONG)
        expect(done.returncode == 0,
               f"{' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def usable(self, name, out, threads, whole=True):
        """Verifies, replays to the same output, knows all its threads.  Of a
        recording that was cut short, the output may be: its beginning."""
        trace = self.trace(name)
        self.cprec("verify", trace)
        replayed = self.cprec("replay", trace)
        expect(replayed == out if whole else out.startswith(replayed),
               f"replayed {replayed!r}, recorded {out!r}")
        info = json.loads(self.cprec("info", "--json", trace))
        expect(len(info["threads"]) == threads,
               f"{len(info['threads'])} threads, not {threads}")
        expect(info["complete"] == whole, f"complete: {info['complete']}")
        return info

    # ------- schedules -------

    def well_by_default(self, guest):
        for _ in range(self.options.runs):
            process = self.start("default", guest)
            out, status = self.finish(process, 4 * STUCK)
            expect(status == 0, f"status {status}: {out}")

    def lost_update_by_default(self):
        self.well_by_default("lost_update")

    def deadlock_by_default(self):
        self.well_by_default("deadlock")

    def tiny_errors_by_default(self):
        self.well_by_default("tiny_update")
        self.well_by_default("tiny_deadlock")

    def find_lost_update(self):
        for seed in range(1, self.options.seeds + 1):
            process = self.start("lost", "lost_update",
                                 f"--schedule=random:{seed}")
            out, status = self.finish(process)
            if status == 1:
                self.found["lost_update"] = seed
                self.found["output"] = out
                return f"seed {seed}"
            expect(status == 0, f"seed {seed}: status {status}")
        raise Failure(f"not with {self.options.seeds} seeds")

    def replay_lost_update(self):
        expect("output" in self.found, "it was not found")
        for _ in range(3):
            self.usable("lost", self.found["output"], 4)

    def same_seed(self):
        """Turns and steps of each thread depend on the seed alone."""
        expect("output" in self.found, "it was not found")
        seed = self.found["lost_update"]
        before = json.loads(self.cprec("info", "--json", self.trace("lost")))
        process = self.start("again", "lost_update",
                             f"--schedule=random:{seed}")
        out, status = self.finish(process)
        expect((out, status) == (self.found["output"], 1),
               f"status {status}, output {out!r}")
        after = json.loads(self.cprec("info", "--json", self.trace("again")))
        keys = "instructions", "first", "last"
        expect([[thread[key] for key in keys] for thread in before["threads"]]
               == [[thread[key] for key in keys] for thread in
                   after["threads"]],
               f"threads {before['threads']} and {after['threads']}")
        expect(self.turns("lost") == self.turns("again"), "other turns")

    def turns(self, name):
        """All SLICE packets, without the numbers of the threads."""
        lines = self.cprec("dump", "--kind=SLICE", self.trace(name))
        expect("SLICE" in lines, "no turns in the recording")
        info = json.loads(self.cprec("info", "--json", self.trace(name)))
        for number, thread in enumerate(info["threads"]):
            lines = re.sub(rf"thread={thread['thread']}\b", f"T{number}", lines)
        return lines

    def other_seeds(self):
        """Different seeds are different schedules."""
        turns = set()
        for seed in range(5):
            process = self.start("seeds", "many", f"--schedule=random:{seed}",
                                 "20")
            out, status = self.finish(process)
            expect((out, status) == ("190\n", 0), f"{out!r}, {status}")
            turns.add(self.turns("seeds"))
        expect(len(turns) >= 4, f"{len(turns)} schedules of 5 seeds")

    def find_tiny_update(self):
        """Three instructions; whole threads are shorter than a usual slice."""
        for seed in range(1, TINY_SEEDS + 1):
            process = self.start("tiny", "tiny_update",
                                 f"--schedule=random:{seed}")
            out, status = self.finish(process)
            if status == 1:
                self.usable("tiny", out, 3)
                return f"seed {seed}"
            expect(status == 0, f"seed {seed}: status {status}")
        raise Failure(f"not with {TINY_SEEDS} seeds")

    def find_tiny_deadlock(self):
        for seed in range(1, TINY_SEEDS + 1):
            out = self.is_stuck(seed, signal.SIGTERM, "tiny_deadlock")
            if out is not None:
                self.usable("stuck", out, 3)
                return f"seed {seed}"
        raise Failure(f"not with {TINY_SEEDS} seeds")

    def is_stuck(self, seed, number, guest="deadlock"):
        """If this seed ends in a deadlock, ends it by signal `number`."""
        process = self.start("stuck", guest, f"--schedule=random:{seed}")
        if not has_ended(process):
            process.send_signal(number)
        out, status = self.finish(process)
        expect(status in (0, -number), f"seed {seed}: status {status}")
        return out if status else None

    def find_deadlock(self):
        for seed in range(1, self.options.seeds + 1):
            out = self.is_stuck(seed, signal.SIGTERM)
            if out is not None:
                self.found["deadlock"] = seed
                expect(out == "begins\n", f"output {out!r}")
                self.usable("stuck", out, 3)
                return f"seed {seed}"
        raise Failure(f"not with {self.options.seeds} seeds")

    def deadlock_again(self):
        expect("deadlock" in self.found, "it was not found")
        for number in signal.SIGINT, signal.SIGTERM:
            out = self.is_stuck(self.found["deadlock"], number)
            expect(out is not None, "no deadlock with the same seed")
            for _ in range(2):
                info = self.usable("stuck", out, 3)
            expect(info["exit"] == {"signal": int(number)},
                   f"exit: {info['exit']}")

    # ------- spinning -------

    def spinning(self):
        """Threads that spin for each other say so, and soon get their turn."""
        turns = 2000
        for options in [], ["--slice=5000"], ["--schedule=random:1"]:
            process = self.start("spin", "spin", *options, str(turns))
            out, status = self.finish(process)
            expect((out, status) == (f"{turns * (turns + 1) // 2}\n", 0),
                   f"{out!r}, {status}")
            info = self.usable("spin", out, 2)
            each = info["instructions"] / turns
            expect(each < 1000, f"{each} instructions a turn")

    # ------- ends -------

    def begun(self, process, seconds):
        line = process.stdout.readline()
        time.sleep(seconds)
        return line

    def killed_in_deadlock(self):
        """cprec gets SIGKILL while all threads wait: it lacks nothing."""
        expect("deadlock" in self.found, "it was not found")
        out = self.is_stuck(self.found["deadlock"], signal.SIGKILL)
        expect(out is not None, "it did not end there again")
        self.usable("stuck", out, 3, whole=False)
        expect(self.cprec("replay", self.trace("stuck")) == out,
               "the output is not whole")

    def killed_recorder(self):
        """cprec itself gets SIGKILL."""
        for seconds in 0.3, 1.5:
            process = self.start("killed", "endless", "--segment=10m")
            line = self.begun(process, seconds)
            process.kill()
            out, status = self.finish(process)
            expect(status == -signal.SIGKILL, f"status {status}")
            # Killed early, it may not have a thread in the file yet.
            trace = self.trace("killed")
            done = subprocess.run([self.options.cprec, "verify", trace],
                                  capture_output=True, text=True, timeout=LONG)
            if seconds < 1 and "first key frame" in done.stderr:
                continue
            self.usable("killed", line + out, 5, whole=False)

    def ended_recorder(self):
        """Signals that end the guest while its threads wait and spin."""
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGQUIT:
            process = self.start("ended", "endless")
            line = self.begun(process, 0.5)
            process.send_signal(number)
            out, status = self.finish(process)
            expect(status == -number, f"status {status}")
            self.usable("ended", line + out, 5)

    def killed_child(self):
        """The child's recording is cut short, the parent's is whole."""
        process = self.start("parent", "endless", "child")
        child = int(process.stdout.readline())
        time.sleep(1)
        os.kill(child, signal.SIGKILL)
        out, status = self.finish(process)
        expect((out, status) == ("Killed\n", 0), f"{out!r}, status {status}")
        self.usable("parent", f"{child}\nKilled\n", 1)
        traces = recordings(self.trace("parent"))[1:]
        expect(len(traces) == 1, f"recordings of children: {traces}")
        self.cprec("verify", traces[0])
        self.cprec("replay", traces[0])

    def short_lived(self):
        """Memory and mappings do not grow with the threads that have been."""
        peaks = []
        for count in 200, 2000:
            process = self.start("many", "many", str(count))
            out = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            expect(process.stderr.read() == "" and process.returncode == 0,
                   f"status {process.returncode}")
            expect(int(out) == count * (count - 1) // 2, f"output {out!r}")
            peaks.append(usage.ru_maxrss)
            process.stdout.close()
            process.stderr.close()
        self.cprec("verify", self.trace("many"))
        # 1,800 threads more: what one leaves must be less than 8 KB.
        expect(peaks[1] - peaks[0] < 1800 * 8,
               f"{peaks[0]} KB after 200 threads, {peaks[1]} after 2000")
        return f"{peaks[0]} KB, then {peaks[1]} KB"

    def all(self):
        return (self.lost_update_by_default, self.deadlock_by_default,
                self.find_lost_update, self.replay_lost_update,
                self.same_seed, self.other_seeds, self.find_deadlock,
                self.deadlock_again, self.killed_in_deadlock,
                self.tiny_errors_by_default, self.find_tiny_update,
                self.find_tiny_deadlock, self.spinning,
                self.killed_recorder, self.ended_recorder,
                self.killed_child, self.short_lived)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--cprec", required=True)
    parser.add_argument("--runs", type=int, default=20,
                        help="as often, nothing must be found by default")
    parser.add_argument("--seeds", type=int, default=60,
                        help="with as many, it must be found")
    parser.add_argument("--keep", action="store_true", help="keep all files")
    parser.add_argument("--only", action="append", metavar="WORD",
                        help="only tests with this in their names")
    parser.add_argument("guests", nargs="+",
                        help="lost_update, tiny_update, deadlock, "
                             "tiny_deadlock, endless, many, spin")
    options = parser.parse_args()
    options.cprec = os.path.abspath(options.cprec)
    folder = tempfile.mkdtemp(prefix="cprec-schedules-")
    tests = Tests(options, folder)
    for test in tests.all():
        if not options.only or any(word in test.__name__
                                   for word in options.only):
            tests.test(test.__name__.replace("_", " "), test)
    status = tests.summary()
    if status or options.keep:
        print(f"# kept: {folder}")
    else:
        shutil.rmtree(folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
