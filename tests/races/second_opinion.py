#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A second opinion on the planted races, without cprec: ThreadSanitizer must
report marked lines in each NAME_racy, and no data race in any NAME_fixed, but
for what the tables below name with the reason.  Speaks TAP.
"""
import argparse
import functools
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from check import HERE, TIMEOUT, Problem, command, has_openmp, name_of, planted

# Programs of which ThreadSanitizer says the contrary, and why.  A line that
# is no longer true fails the test, as a missing one does.
DISAGREEMENTS = {
    # It misses these.
    "appended_racy": "the library of C++ is not instrumented: the line that "
                     "called it is not seen",
    "c11_racy": "thrd_create() is not intercepted: it sees no second thread",
    "environment_racy": "what setenv() and getenv() access is not seen",
    "repeated_racy": "instructions of assembly are not instrumented",
    "twins_racy": "knows memory that is mapped twice by its address only",
    "twins_received_racy": "the same",
    # It reports these wrongly.
    "kill_thread_fixed": "pthread_kill() does not order the handler for it",
    "lines_fixed": "the lock that fgets() takes of its stream is not seen",
}

# Whose threads seldom do what it would see: it may say either.
SELDOM = {
    "tokens_racy": "what strtok() remembers is the C library's own; seen is "
                   "only that one thread changes the other's text",
}

# Which do not end.
ENDLESS = {
    "at_end_fixed": "only the last thread's end ends the process, and "
                    "ThreadSanitizer has a thread of its own",
}
ENDLESS_TIMEOUT = 3

# It misses some races in some runs: one of so many must show a planted race.
TRIES = 5

REPORT = re.compile(r"^WARNING: ThreadSanitizer: "
                    r"(?:data race|heap-use-after-free)", re.MULTILINE)
ACCESS = re.compile(r"^  (?:Previous )?(?:atomic )?(?:read|write) of size",
                    re.IGNORECASE)


def lines_of(report, name):
    """The line of the program's own file in which each access is."""
    lines, wanted = [], False
    for text in report.splitlines():
        if ACCESS.match(text):
            wanted = True
        elif not text.strip():
            wanted = False
        frame = re.search(rf"/{re.escape(name)}:(\d+)", text)
        if wanted and frame and text.lstrip().startswith("#"):
            lines.append(int(frame[1]))
            wanted = False
    return tuple(sorted(lines))


def reports(errors, name):
    """The pair of lines of each race."""
    return [lines_of(report.split("==================")[0], name)
            for report in REPORT.split(errors)[1:]]


@functools.cache
def archer():
    """The library that tells it what orders OpenMP's threads, which comes with
    clang; "" if it is not there."""
    try:
        done = subprocess.run(["clang", "-print-resource-dir"],
                              capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    path = os.path.join(done.stdout.strip(), "../../libarcher.so")
    return path if os.path.exists(path) else ""


def build(source, folder):
    program = os.path.join(folder, name_of(source))
    done = subprocess.run(
        [*command(source, "clang" if has_openmp(source) else None),
         "-D_GNU_SOURCE", "-g", "-O0",
         "-fsanitize=thread", "-w", "-pthread", "-o", program, source],
        capture_output=True, text=True)
    if done.returncode:
        raise Problem(f"compiler: {done.stderr.strip()}")
    return program


class Endless(Problem):
    """The program did not end."""


class Cannot(Exception):
    """The sanitizer does not run here."""


@functools.cache
def fixed_addresses():
    """A command before the program's: the sanitizer's own memory can be where
    random addresses are.  Some containers do not allow it."""
    wrapper = ["setarch", "-R"]
    done = subprocess.run([*wrapper, "true"], capture_output=True)
    return [] if done.returncode else wrapper


def execute(program, folder, timeout, is_openmp=False):
    """What it reports."""
    # At the end it waits for other threads: a second, if it is not told.
    options = ("exitcode=0:report_signal_unsafe=0:color=never"
               ":atexit_sleep_ms=200")
    if is_openmp:	# whose library is not instrumented
        options += ":ignore_noninstrumented_modules=1"
    try:
        done = subprocess.run(
            [*fixed_addresses(), program], capture_output=True, text=True,
            stdin=subprocess.DEVNULL, cwd=folder, timeout=timeout,
            env=dict(os.environ, TSAN_OPTIONS=options,
                     OMP_TOOL_LIBRARIES=archer()))
    except subprocess.TimeoutExpired:
        raise Endless(f"no end after {timeout} s")
    if "FATAL: ThreadSanitizer" in done.stderr:
        raise Cannot(done.stderr.strip().splitlines()[0])
    if done.returncode < 0:
        raise Problem(f"status {done.returncode}: {done.stderr.strip()}")
    return done.stderr


def agrees(source, pairs):
    """Whether it says of a program what is planted."""
    if name_of(source).endswith("_fixed"):
        return not pairs
    marked = planted(source)[1]
    return any(len(lines) == 2 and set(lines) <= marked for lines in pairs)


def check_endless(program, folder):
    try:
        execute(program, folder, ENDLESS_TIMEOUT)
    except Endless:
        return
    raise Problem("listed as one that does not end, but it does")


def judge(source, program, folder):
    """Runs it; Problem if what is said of it is not what is expected."""
    name = name_of(source)
    expected = name not in DISAGREEMENTS
    tries = TRIES if name.endswith("_racy") and expected else 1
    for _ in range(tries):
        said = reports(execute(program, folder, TIMEOUT, has_openmp(source)),
                       os.path.basename(source))
        if name in SELDOM or agrees(source, said) == expected:
            return
    raise Problem(f"{'not ' if expected else ''}listed as a disagreement; "
                  f"reported lines: {said}")


def check(source, folder, runs):
    program = build(source, folder)
    for _ in range(runs):
        if name_of(source) in ENDLESS:
            check_endless(program, folder)
        else:
            judge(source, program, folder)
    os.unlink(program)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=1, help="of each program")
    parser.add_argument("--no-c++", dest="cpp", action="store_false",
                        help="there is no compiler for it")
    parser.add_argument("names", nargs="*", help="as counter, or counter_racy")
    options = parser.parse_args()
    sources = sorted(glob.glob(os.path.join(HERE, "*_racy.c*")) +
                     glob.glob(os.path.join(HERE, "*_fixed.c*")))
    count = failures = 0
    with tempfile.TemporaryDirectory(prefix="cprec-tsan-") as folder:
        for source in sources:
            name = name_of(source)
            if options.names and name not in options.names and \
                    name.rsplit("_", 1)[0] not in options.names:
                continue
            if source.endswith(".cpp") and not options.cpp:
                continue
            if has_openmp(source) and not archer():
                continue
            count += 1
            try:
                check(source, folder, options.runs)
                print(f"ok {count} - {name}", flush=True)
            except Cannot as reason:
                print(f"1..0 # SKIP {reason}")
                return 0
            except Problem as problem:
                failures += 1
                text = str(problem).replace("\n", "\n# ")
                print(f"not ok {count} - {name}\n# {text}", flush=True)
    print(f"1..{count}")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
