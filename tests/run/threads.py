#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of today, with threads and processes: natively and recorded, many
times.

Each run must give the native output and status (without what differs from run
to run), leave no process behind, and every recording of the family must
verify; the first one's replay must give the recorded output.  A run that does
not end is a failure.  Speaks TAP; the last line is "# N passed, N failed".
"""
import argparse
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from inputs import Inputs  # noqa: E402
from tap import recordings  # noqa: E402
from threads_programs import PROGRAMS, Failed  # noqa: E402

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
    "LC_ALL": "C",
    "TZ": "UTC",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def heed_signals():
    """A shell lets what it runs in the background ignore some signals."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT,
                   signal.SIGPIPE, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_left(group):
    """Whether a process of this group still lives; zombies are none."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                state, _, its_group = file.read().rsplit(")")[1].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state not in "ZX":
            return True
    return False


class Run:
    """What one run left."""

    def __init__(self):
        self.status = None
        self.out = self.err = self.seen = self.left = b""
        self.problem = None
        self.seconds = 0


def difference(what, wanted, found):
    if wanted == found:
        return None
    if not isinstance(wanted, bytes):
        return f"{what}: {wanted} became {found}"
    at = next((i for i, (x, y) in enumerate(zip(wanted, found)) if x != y),
              min(len(wanted), len(found)))
    start = max(0, at - 20)
    return (f"{what}: at byte {at} of {len(wanted)} and {len(found)}: "
            f"{wanted[start:at + 80]!r} became {found[start:at + 80]!r}")


class Case:
    """One program, in a folder of its own."""

    def __init__(self, program, options, inputs, folder):
        self.program = program
        self.options = options
        self.inputs = inputs
        self.folder = folder
        self.traces = os.path.join(folder, "traces")
        self.work = os.path.join(folder, "work")
        self.number = 0
        os.makedirs(folder)

    def run(self, wrapper):
        """Runs it where it finds nothing that an earlier run has left."""
        run = Run()
        shutil.rmtree(self.work, ignore_errors=True)
        os.mkdir(self.work)
        port = free_port()
        argv = wrapper + self.program.command(self.inputs, port)
        start = time.monotonic()
        with open(os.path.join(self.folder, "out"), "w+b") as out, \
                open(os.path.join(self.folder, "err"), "w+b") as err:
            process = subprocess.Popen(
                argv, cwd=self.work, env=ENVIRONMENT, stdout=out, stderr=err,
                stdin=subprocess.DEVNULL, start_new_session=True,
                preexec_fn=heed_signals)
            try:
                self.attend(run, process, port)
            finally:
                self.sweep(run, process)
            run.seconds = time.monotonic() - start
            out.seek(0)
            err.seek(0)
            run.out, run.err = out.read(), err.read()
        if self.program.left and not run.problem:
            try:
                run.left = self.program.left(self.work)
            except (OSError, Failed) as error:
                run.problem = str(error)
        return run

    def attend(self, run, process, port):
        seconds = self.options.timeout
        try:
            if self.program.drive:
                run.seen = self.program.drive(process, port, self.work,
                                              self.options.sample, seconds)
            run.status = process.wait(seconds)
        except Failed as error:
            run.problem = str(error)
        except subprocess.TimeoutExpired:
            run.problem = f"no end after {seconds} s"

    @staticmethod
    def sweep(run, process):
        """Nothing that it started may be left, a moment later."""
        for _ in range(20):
            if not is_left(process.pid):
                break
            if run.problem:
                break
            time.sleep(0.1)
        else:
            run.problem = "processes are left"
        if run.problem:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        run.status = process.wait()

    def compare(self, native, run):
        if run.problem:
            return run.problem
        normal = self.program.normal or (lambda data: data)
        for what in "status", "out", "err", "seen", "left":
            a, b = getattr(native, what), getattr(run, what)
            if what in ("out", "err"):
                a, b = normal(a), normal(b)
            found = difference(what, a, b)
            if found:
                return found
        return None

    def cprec(self, *arguments):
        try:
            return subprocess.run([self.options.cprec, *arguments],
                                  capture_output=True, cwd=self.folder,
                                  stdin=subprocess.DEVNULL, env=ENVIRONMENT,
                                  timeout=self.options.timeout)
        except subprocess.TimeoutExpired:
            return None

    def record(self, native):
        shutil.rmtree(self.traces, ignore_errors=True)
        os.mkdir(self.traces)
        run = self.run([self.options.cprec, "record", "-o",
                        os.path.join(self.traces, "trace.cpr"), "--"])
        return run, self.compare(native, run)

    def verify(self):
        """Every process's recording."""
        traces = recordings(os.path.join(self.traces, "trace.cpr"))
        if not traces:
            return "there is no recording"
        for trace in traces:
            done = self.cprec("verify", trace)
            if not done or done.returncode:
                why = done.stderr.decode(errors="replace").strip() if done \
                    else "no end"
                return f"{os.path.basename(trace)} of {len(traces)}: {why}"
        return None

    def replay(self, run):
        done = self.cprec("replay", os.path.join(self.traces, "trace.cpr"))
        if not done:
            return "no end"
        if done.returncode:
            return done.stderr.decode(errors="replace").strip()
        if self.program.children:
            return None
        err = re.sub(rb"cprec: note: only the output of this process .*\n",
                     b"", done.stderr)
        return (difference("out", run.out, done.stdout) or
                difference("err", run.err, err))

    def natively(self):
        """Returns the run, and what was wrong with it."""
        native = self.run([])
        problem = native.problem
        if native.status != self.program.status:
            problem = f"status {native.status}: {native.err[-300:]!r}"
        return native, problem or self.compare(native, self.run([]))

    def size(self):
        return sum(os.path.getsize(trace) for trace in
                   recordings(os.path.join(self.traces, "trace.cpr")))


class Tests:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.count = self.failures = 0
        os.mkdir(os.path.join(folder, "inputs"))
        self.inputs = Inputs(os.path.join(folder, "inputs"), options.sample)

    def result(self, name, problems, figures=""):
        self.count += 1
        self.failures += bool(problems)
        for problem in problems:
            for line in problem.split("\n"):
                print(f"# {name}: {line}")
        print(f"{'not ok' if problems else 'ok'} {self.count} - {name}"
              f"{figures}", flush=True)
        return not problems

    def program(self, program):
        # Inputs are beside the folders that programs run in.
        case = Case(program, self.options, self.inputs,
                    os.path.join(self.folder, program.name))
        os.symlink(os.path.join(self.folder, "inputs"),
                   os.path.join(case.folder, "inputs"))
        native, problem = case.natively()
        if not self.result(f"{program.name}: natively",
                           [problem] if problem else [],
                           f" ({native.seconds:.2f} s)"):
            return
        if self.options.native:
            return
        found = {"record": [], "verify": [], "replay": []}
        figures = [self.once(case, native, number, found)
                   for number in range(1, self.options.runs + 1)]
        slowest = max(seconds for seconds, _ in figures)
        largest = max(size for _, size in figures)
        self.result(f"{program.name}: record", found["record"],
                    f" ({slowest:.2f} s, {largest / 1e6:.2f} MB)")
        self.result(f"{program.name}: verify", found["verify"])
        self.result(f"{program.name}: replay", found["replay"])
        if not any(found.values()) and not self.options.keep:
            shutil.rmtree(case.folder)

    def once(self, case, native, number, found):
        """One run; what is wrong is kept, and goes into `found`."""
        run, recorded = case.record(native)
        problems = {"record": recorded, "verify": case.verify(),
                    "replay": case.replay(run)}
        for step, problem in problems.items():
            if problem:
                found[step].append(f"run {number}: {problem}")
        size = case.size()
        if any(problems.values()):
            kept = f"{case.traces}-{number}"
            shutil.move(case.traces, kept)
            shutil.copytree(case.work, kept + "-work", symlinks=True)
            print(f"# {case.program.name}: kept {kept}", flush=True)
        return run.seconds, size


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--cprec", default=os.path.join(
        os.path.dirname(os.path.abspath(__file__)),
        "../../build/tools/cprec"), help="the program to test")
    parser.add_argument("--runs", type=int, default=1, metavar="N",
                        help="how often; 20 for the whole")
    parser.add_argument("--sample", action="store_true",
                        help="fewer programs, small inputs")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="only this program; may be repeated")
    parser.add_argument("--native", action="store_true",
                        help="record nothing")
    parser.add_argument("--keep", action="store_true", help="keep all files")
    parser.add_argument("--folder", help="where to work (made if not there)")
    parser.add_argument("--timeout", type=float, default=300,
                        help="seconds for each run")
    options = parser.parse_args()
    options.cprec = os.path.abspath(options.cprec)
    names = [program.name for program in PROGRAMS]
    for name in options.only or ():
        if name not in names:
            parser.error(f"no program '{name}'; there are {', '.join(names)}")
    return options


def main():
    options = parse()
    if options.folder:
        os.makedirs(options.folder, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="cprec-threads-", dir=options.folder)
    tests = Tests(options, folder)
    for program in PROGRAMS:
        if (program.name in options.only if options.only
                else program.sample or not options.sample):
            tests.program(program)
    print(f"1..{tests.count}")
    if tests.failures or options.keep:
        print(f"# kept: {folder}")
    else:
        shutil.rmtree(folder)
    print(f"# {tests.count - tests.failures} passed, {tests.failures} failed")
    return 1 if tests.failures else 0


if __name__ == "__main__":
    sys.exit(main())
