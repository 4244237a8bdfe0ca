#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What ThreadSanitizer says of the programs with planted races, and of the same
without.  It must agree with what is planted, but for the programs that are named
here with the reason.  Speaks TAP.

usage: second_opinion.py [NAME...]
"""
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILERS = {".c": ("gcc", "-std=c11"), ".cpp": ("g++", "-std=c++17")}
RACES = 66          # exit status of a program that races
TIMES = 5           # some races show only in some schedules

# Programs whose race ThreadSanitizer does not see.
BLIND = {
    "environment_racy": "setenv() and getenv() are not instrumented",
    "repeated_racy": "it keeps few of many accesses to one word",
    "twins_racy": "the memory is mapped twice, at two addresses",
    "twins_received_racy": "the memory is mapped twice, at two addresses",
}

# Those whose race it sees in some schedules only.
SELDOM = {
    "given_away_racy": "the threads seldom meet",
    "tokens_racy": "strtok() is not instrumented, what it writes to is",
}


def build(source, program):
    subprocess.run([*COMPILERS[os.path.splitext(source)[1]], "-D_GNU_SOURCE",
                    "-g", "-O0", "-fsanitize=thread", "-pthread", "-o",
                    program, source], check=True, capture_output=True)


class Cannot(Exception):
    """The sanitizer does not run here."""


def fixed_addresses():
    """A command before the program's: the sanitizer wants addresses that do
    not change.  Some containers do not allow that; it mostly runs even so."""
    wrapper = ["setarch", "-R"]
    done = subprocess.run([*wrapper, "true"], capture_output=True)
    return [] if done.returncode else wrapper


def races(program):
    """Whether a race is reported in one of several runs."""
    environment = dict(os.environ,
                       TSAN_OPTIONS=f"exitcode={RACES} history_size=7")
    for _ in range(TIMES):
        done = subprocess.run([*fixed_addresses(), program], env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60)
        if b"FATAL: ThreadSanitizer" in done.stderr:
            raise Cannot(done.stderr.decode(errors="replace").strip())
        if done.returncode == RACES:
            return True
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, program)
    return False


def judge(name, source, folder):
    """What is wrong, or None."""
    program = os.path.join(folder, name)
    try:
        build(source, program)
        found = races(program)
        os.unlink(program)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    planted = name.endswith("_racy")
    if name in BLIND:
        return "it sees the race now: not to be named" if found else None
    if found != planted and name not in SELDOM:
        return "no race found" if planted else "a race found"
    return None


def main(names):
    sources = sorted(glob.glob(os.path.join(HERE, "*_*.c")) +
                     glob.glob(os.path.join(HERE, "*_*.cpp")))
    count = failed = 0
    with tempfile.TemporaryDirectory(prefix="cprec-opinion-") as folder:
        for source in sources:
            name = os.path.splitext(os.path.basename(source))[0]
            if names and name.rsplit("_", 1)[0] not in names:
                continue
            try:
                problem = judge(name, source, folder)
            except Cannot as reason:
                print(f"1..0 # SKIP {str(reason).splitlines()[0]}")
                return 0
            count += 1
            failed += bool(problem)
            said = f" # {BLIND[name]}" if name in BLIND else ""
            print(f"{'not ok' if problem else 'ok'} {count} - {name}{said}")
            if problem:
                print("#", problem, flush=True)
    print(f"1..{count}")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
