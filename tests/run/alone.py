#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each thread of a recording is executed by itself: from a copy that has the
packets and reads of no other thread, all of them at the same time.  Without
what others wrote, it must fail.

usage: alone.py --cprec C --tamper T GUEST...

Speaks TAP.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

# Short segments: threads go on from key frames; short turns: much is shared.
WAYS = {
    "": [],
    "short segments": ["--segment", "200k"],
    "short turns": ["--slice", "20k"],
    "random turns": ["--schedule", "random:7", "--slice", "50k"],
}
MOST = 40       # threads of a recording that are tried


class Tests:
    def __init__(self, options, folder):
        self.cprec, self.tamper = options.cprec, options.tamper
        self.folder = folder
        self.count = self.failed = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def tell(self, good, name, why=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}",
              flush=True)
        for line in [] if good else why.strip().splitlines()[-5:]:
            print("#", line)

    def run(self, *command):
        return subprocess.run(command, capture_output=True, text=True,
                              errors="replace", stdin=subprocess.DEVNULL,
                              timeout=300, cwd=self.folder)

    def streams(self, trace):
        """Number of the stream and of the thread, of each thread."""
        said = json.loads(self.run(self.cprec, "info", "--json",
                                   trace).stdout)
        threads = [thread["thread"] for thread in said["threads"]]
        return list(enumerate(threads))[:MOST]

    def verify(self, what, stream, tid):
        """Starts to execute one thread from a copy of its own."""
        copy = self.path(f"{what}-{stream}.cpr")
        self.run(self.tamper, self.path("all.cpr"), copy, what, str(stream))
        return subprocess.Popen(
            [self.cprec, "verify", "--thread", str(tid), copy],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace")

    def test(self, guest, way, options):
        name = os.path.basename(guest) + (f", {way}" if way else "")
        trace = self.path("all.cpr")
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)
        done = self.run(self.cprec, "record", "-q", "-o", trace, *options,
                        "--", guest)
        self.tell(done.returncode == 0, f"{name}: record",
                  done.stdout + done.stderr)
        streams = self.streams(trace)
        running = [self.verify("only", *each) for each in streams]
        bad = [each.communicate()[0] for each in running]
        bad = [said for said, each in zip(bad, running) if each.returncode]
        self.tell(not bad, f"{name}: {len(streams)} threads, each alone",
                  "\n".join(bad[:3]))
        running = [self.verify("unseen", *each) for each in streams]
        for each in running:
            each.communicate()
        self.tell(any(each.returncode for each in running),
                  f"{name}: not without what others wrote")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cprec", required=True)
    parser.add_argument("--tamper", required=True)
    parser.add_argument("guests", nargs="+")
    options = parser.parse_args()
    options.cprec = os.path.abspath(options.cprec)
    options.tamper = os.path.abspath(options.tamper)
    with tempfile.TemporaryDirectory(prefix="cprec-alone-") as folder:
        tests = Tests(options, folder)
        for guest in map(os.path.abspath, options.guests):
            for way, extra in WAYS.items():
                tests.test(guest, way, extra)
    print(f"1..{tests.count}")
    return 1 if tests.failed else 0


sys.exit(main())
