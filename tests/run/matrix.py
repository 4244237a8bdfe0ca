#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs real programs natively, on cprec, recorded, replayed and verified.

Standard output, standard error and exit status must be the same, byte for
byte.  One line per program; the last line is "N passed, N failed".  All but node
(Debian's nodejs) is what ./setup test installs.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from inputs import Inputs  # noqa: E402
from programs import PROGRAMS  # noqa: E402

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
    "TZ": "UTC",
    "HELLO": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PERL_HASH_SEED": "0",
    # What switches parts of the engine off.
    **{name: value for name, value in os.environ.items()
       if name.startswith("CPREC_NO_")},
}


def heed_signals():
    """A shell lets what it runs in the background ignore some signals."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT,
                   signal.SIGPIPE, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


# cprec's own line about a program that a signal has ended.
DIED = re.compile(rb"cprec: note: '[^\n]*' died of [^\n]*\n")


class Result:
    """What one run left: a status and two files."""

    def __init__(self, folder, name, status, seconds):
        self.status = status
        self.seconds = seconds
        self.paths = {stream: os.path.join(folder, f"{name}.{stream}")
                      for stream in ("out", "err")}

    def read(self, stream):
        with open(self.paths[stream], "rb") as file:
            return file.read()


class Case:
    """One program, in a folder of its own."""

    def __init__(self, program, options, inputs, folder):
        self.program = program
        self.options = options
        self.folder = folder
        self.argv = program.command(inputs)
        self.stdin = program.stdin(inputs) if program.stdin else os.devnull
        self.trace = os.path.join(folder, "trace.cpr")
        self.differences = []
        os.makedirs(folder)

    def run(self, name, argv):
        """Runs it where it finds nothing that an earlier run has left."""
        scratch = os.path.join(self.folder, "..", "scratch")
        shutil.rmtree(scratch, ignore_errors=True)
        os.mkdir(scratch)
        start = time.monotonic()
        result = Result(self.folder, name, None, 0)
        with open(result.paths["out"], "wb") as out, \
                open(result.paths["err"], "wb") as err, \
                open(os.path.join(scratch, self.stdin), "rb") as stdin:
            try:
                result.status = subprocess.run(
                    argv, cwd=scratch, env=ENVIRONMENT, stdin=stdin,
                    stdout=out, stderr=err, timeout=self.options.timeout,
                    preexec_fn=heed_signals).returncode
            except subprocess.TimeoutExpired:
                result.status = "timeout"
        result.seconds = time.monotonic() - start
        return result

    def cprec(self, name, command, *arguments):
        return self.run(name, [self.options.cprec, command, *arguments])

    def compare(self, name, found, expected, status, normal=None):
        if found.status != status:
            self.differences.append(f"{name}: status {found.status}, not "
                                    f"{status}")
        for stream in "out", "err":
            a, b = (DIED.sub(b"", each.read(stream))
                    for each in (expected, found))
            if normal:
                a, b = normal(a), normal(b)
            if a != b:
                self.differences.append(
                    f"{name}: std{stream} differs: " + first_difference(a, b))

    def check(self):
        """Runs everything.  Returns the figures for a good line."""
        normal = self.program.normal
        native = self.run("native", self.argv)
        if native.status != self.program.status:
            self.differences.append(f"natively: status {native.status}, not "
                                    f"{self.program.status}")
        run = self.cprec("run", "run", "--", *self.argv)
        self.compare("run", run, native, native.status, normal)
        record = self.cprec("record", "record", "-q", "-o", self.trace, "--",
                            *self.argv)
        self.compare("record", record, native, native.status, normal)
        if not os.path.exists(self.trace):
            self.differences.append("no trace")
            return ""
        replay = self.cprec("replay", "replay", self.trace)
        self.compare("replay", replay, record, 0)
        verify = self.cprec("verify", "verify", self.trace)
        if verify.status != 0:
            self.differences.append(
                f"verify: status {verify.status}: " +
                verify.read("err").decode(errors="replace").strip()[-300:])
        size = os.path.getsize(self.trace)
        return (f"native {native.seconds:.2f} s, run {run.seconds:.2f}, "
                f"record {record.seconds:.2f}, replay {replay.seconds:.2f}, "
                f"{size / 1e6:.2f} MB")


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y),
              min(len(a), len(b)))
    start = max(0, at - 20)
    return (f"at byte {at} of {len(a)} and {len(b)}: "
            f"{a[start:at + 60]!r} became {b[start:at + 60]!r}")


def again(options, name):
    """The one command that repeats a failure."""
    words = [os.path.abspath(sys.argv[0]), "--cprec", options.cprec,
             "--only", name, "--keep"]
    return " ".join(words + (["--sample"] if options.sample else []))


def check(number, program, options, inputs, folder):
    """Prints the line.  Returns whether all was well."""
    case_folder = os.path.join(folder, program.name)
    case = Case(program, options, inputs, case_folder)
    if program.package and not shutil.which(case.argv[0],
                                            path=ENVIRONMENT["PATH"]):
        print(f"ok {number} - {program.name} # SKIP not installed: "
              f"{program.package}", flush=True)
        return True
    figures = case.check()
    good = not case.differences
    for difference in case.differences:
        print(f"# {difference}")
    if not good:
        print(f"# trace: {case.trace}\n# again: {again(options, program.name)}")
    print(f"{'ok' if good else 'not ok'} {number} - {program.name}"
          f"{' (' + figures + ')' if figures else ''}", flush=True)
    if good and not options.keep:
        shutil.rmtree(case_folder)
    return good


def parse():
    parser = argparse.ArgumentParser(
        description="Records real programs and compares with native runs.")
    parser.add_argument("--cprec", default=os.path.join(
        os.path.dirname(os.path.abspath(__file__)),
        "../../build/tools/cprec"), help="the program to test")
    parser.add_argument("--sample", action="store_true",
                        help="fewer programs, small inputs")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="only this program; may be repeated")
    parser.add_argument("--keep", action="store_true", help="keep all files")
    parser.add_argument("--folder", help="where to work (made if not there)")
    parser.add_argument("--timeout", type=float, default=900,
                        help="seconds for each run")
    parser.add_argument("--tap", action="store_true",
                        help="only what the Test Anything Protocol knows")
    parser.add_argument("--list", action="store_true", help="name all programs")
    options = parser.parse_args()
    options.cprec = os.path.abspath(options.cprec)
    return options


def chosen(options):
    names = [program.name for program in PROGRAMS]
    for name in options.only or ():
        if name not in names:
            sys.exit(f"matrix: there is no program '{name}'; see --list")
    return [program for program in PROGRAMS
            if (program.name in options.only if options.only
                else program.sample or not options.sample)]


def main():
    options = parse()
    if options.list:
        print("\n".join(program.name for program in PROGRAMS))
        return 0
    if options.folder:
        os.makedirs(options.folder, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="cprec-run-", dir=options.folder)
    os.mkdir(os.path.join(folder, "inputs"))
    inputs = Inputs(os.path.join(folder, "inputs"), options.sample)
    programs = chosen(options)
    if options.tap:
        print(f"1..{len(programs)}", flush=True)
    passed = sum(check(number, program, options, inputs, folder)
                 for number, program in enumerate(programs, 1))
    failed = len(programs) - passed
    if failed or options.keep:
        print(f"# kept: {folder}")
    else:
        shutil.rmtree(folder)
    if not options.tap:
        print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
