#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with planted races: `cprec query --races` must tell the values that
a variable may have held, and that there are none where nothing races.  Speaks
TAP.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# program, variable, values that it may have held at the end: bytes and line
CASES = [
    ("counter_racy", "counter", {("0a000000", 10), ("14000000", 10)}),
    ("counter_fixed", "counter", set()),
    ("spin_flag_racy", "data", {("00000000", None), ("07000000", 10)}),
    ("spin_flag_fixed", "data", set()),
    ("handler_fixed", "caught", set()),
]


def run(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60).stdout


def check(cprec, folder, name, variable, wanted):
    program = os.path.join(folder, name)
    trace = program + ".cpr"
    run("gcc", "-std=c11", "-D_GNU_SOURCE", "-g", "-O0", "-pthread", "-o",
        program, os.path.join(HERE, name + ".c"))
    run(cprec, "record", "-q", "-o", trace, "--", program)
    asked = cprec, "query", trace, "--addr", variable, "--at=end", "--races"
    values = json.loads(run(*asked, "--json"))["race"]
    found = {(value["bytes"], value["line"]) for value in values}
    if found != wanted:
        return f"found {sorted(found, key=str)}"
    if ("may have held" in run(*asked)) != bool(wanted):
        return "the text says something else"
    # Before anything took place there was no race.
    values = json.loads(run(cprec, "query", trace, "--addr", variable,
                            "--at=10", "--races", "--json"))["race"]
    return "a race at t=10" if values else None


def main():
    cprec = os.path.abspath(sys.argv[1])
    failures = 0
    with tempfile.TemporaryDirectory(prefix="cprec-races-") as folder:
        for number, case in enumerate(CASES, 1):
            try:
                problem = check(cprec, folder, *case)
            except (subprocess.SubprocessError, KeyError,
                    ValueError) as error:
                problem = f"{type(error).__name__}: {error}"
            failures += bool(problem)
            print(f"{'not ok' if problem else 'ok'} {number} - {case[0]}")
            if problem:
                print(f"# {problem}")
    print(f"1..{len(CASES)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
