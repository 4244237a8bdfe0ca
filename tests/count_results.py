#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds up what meson's test logs say, in one line: N passed, N failed.

A test that speaks TAP counts once per subtest, any other once, and one that is
skipped does not.  A test that failed without saying which subtest failed counts
as one failure more.
"""
import json
import re
import sys

SUBTEST = re.compile(r"^(not )?ok\b", re.MULTILINE)
MOST_LINES = 60


def count(test):
    results = SUBTEST.findall(test.get("stdout") or "")
    failed = sum(1 for failure in results if failure)
    passed = len(results) - failed
    if test["result"] == "SKIP":
        return passed, failed
    if test["result"] != "OK" and not failed:
        failed = 1
    elif not results:
        passed = 1
    return passed, failed


def show(folder, test):
    """Meson keeps what a test that speaks TAP has to say to itself."""
    print(f"--- failed: {folder}: {test['name']}")
    lines = [line for line in (test.get("stdout") or "").splitlines()
             if line.startswith(("# ", "not ok"))]
    print("\n".join(lines[:MOST_LINES]))


def main(folders):
    passed = failed = 0
    for folder in folders:
        try:
            with open(f"{folder}/meson-logs/testlog.json") as log:
                tests = [json.loads(line) for line in log]
        except OSError as error:
            print(f"no results of {folder}: {error}")
            failed += 1
            continue
        for test in tests:
            more_passed, more_failed = count(test)
            passed += more_passed
            failed += more_failed
            if more_failed:
                show(folder, test)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main(sys.argv[1:]))
