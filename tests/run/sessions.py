#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The sessions that README and docs/ show are what happens.

Their commands are executed on a terminal.  The lines below each must be among
what it prints, in this order.  "..." stands for anything.  What is typed at a
prompt of cprec's or gdb's is given to it as options.  Addresses, times, threads
and frames may be others, but the same ones everywhere, also in later commands.
"""
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
EXAMPLES = os.path.join(ROOT, "docs/example")
VARYING = re.compile(r"0x[0-9a-f]{6,}|(?<=t=)[0-9]+|(?<=thread )[0-9]+|"
                     r"(?<=^#)[0-9]+|(?<=--frame=)[0-9]+|(?<=^\[)[0-9]+|"
                     r"[0-9.]+(?=%\))")
VERSION = "3.11"            # of the Python that the page shows
HEADERS = f"/usr/include/python{VERSION}/Python.h"
PATIENCE = 120


def one_blank(line):
    """Behind the number of a frame, which may have another length."""
    return re.sub(r"^(#\d+) +", r"\1 ", line)


PROMPTED = re.compile(r"\((?:gdb|cprec)\) (.*)")


def sessions(page):
    """By headings: lists of commands, each with the lines below it."""
    found, heading = {}, ""
    with open(os.path.join(ROOT, page)) as file:
        for line in file.read().splitlines():
            if line.startswith("#"):
                heading = line.strip("# ")
            elif line.startswith("    $ "):
                found.setdefault(heading, []).append((line[6:], []))
            elif line.startswith("    ") and heading in found:
                found[heading][-1][1].append(one_blank(line[4:]))
    return found


def on_terminal(command, folder, path):
    """Returns the lines that a terminal shows."""
    ours, its = pty.openpty()
    with subprocess.Popen(["bash", "-c", command], cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=its, stderr=its,
                          env={"PATH": path, "LC_ALL": "C",
                               "NO_COLOR": "1"}) as process:
        os.close(its)
        watch = threading.Timer(PATIENCE, process.kill)
        watch.start()
        said = b""
        try:
            while more := os.read(ours, 65536):
                said += more
        except OSError:
            pass            # nobody has it open any more
        os.close(ours)
        process.wait()
        watch.cancel()
    lines = [one_blank(line) for line in
             said.decode().replace(folder + "/", "./").splitlines()]
    if process.returncode < 0:
        lines.append(signal.strsignal(-process.returncode))
    return lines


class Session:
    """What is shown, beside what happens."""

    def __init__(self, folder, path):
        self.folder = folder
        self.path = path
        self.now = {}       # what varies, by what is shown

    def here(self, text):
        return VARYING.sub(lambda of: self.now.get(of[0], of[0]), text)

    def fits(self, shown, line):
        """Notes what varies, if it fits."""
        pattern, names, at = "", [], 0
        # Numbers of frames are filled up with blanks.
        shown, line = (re.sub(r"^(#\d+) +", r"\1 ", text)
                       for text in (shown, line))
        # glibc 2.42 says it of the size that was overwritten, in a function that
        # free() jumps to.
        line = line.replace("free(): invalid size", "free(): invalid pointer") \
            .replace("in malloc_printerr_tail (", "in __GI___libc_free (")
        for word in VARYING.finditer(shown):
            pattern += re.escape(shown[at:word.start()])
            pattern += f"({VARYING.pattern})"
            names.append(word[0])
            at = word.end()
        pattern += re.escape(shown[at:])
        found = re.fullmatch(pattern.replace(r"\.\.\.", ".*"), line)
        if not found:
            return False
        values = dict(zip(names, found.groups()))
        if any(self.now.get(name, values[name]) != values[name]
               for name in values):
            return False
        self.now.update(values)
        return True

    def run(self, command, shown):
        typed = [found[1] for found in map(PROMPTED.fullmatch, shown) if found]
        if typed:
            command += "".join(f" -ex {shlex.quote(one)}" for one in typed)
            command += " --batch"
            shown = [line for line in shown if not PROMPTED.fullmatch(line)]
        lines = on_terminal(self.here(command), self.folder, self.path)
        rest = iter(lines)
        for line in shown:
            if line and line != "...":
                expect(any(self.fits(line, other) for other in rest),
                       f"{self.here(command)}: no {line!r}, as a "
                       f"{self.here(line)!r}, where it should be in\n" +
                       "\n".join(lines))


class Tests(CprecTap):
    def session(self, page, heading, before=None):
        """Returns how many commands of cprec there were."""
        name = re.sub(r"\W+", "-", page + heading)
        folder = os.path.join(self.folder, name)
        bin_folder = os.path.join(folder, "bin")
        shutil.copytree(EXAMPLES, folder)
        os.mkdir(bin_folder)
        os.symlink(self.options.cprec, os.path.join(bin_folder, "cprec"))
        session = Session(folder, bin_folder + ":/usr/bin:/bin")
        if before:
            equal(on_terminal(before, folder, session.path), [], before)
        commands = sessions(page)[heading]
        for command, shown in commands:
            session.run(command, shown)
        return sum("cprec " in command for command, _ in commands)

    def few(self, page, heading, before=None):
        count = self.session(page, heading, before)
        expect(2 < count < 10, f"{count} commands")
        return f"{count} commands"

    def not_what_happens(self):
        """It notices what is not so."""
        session = Session(self.folder, "/usr/bin:/bin")
        session.run("echo at t=1234567, by 7", ["at t=1000000, by ..."])
        session.run("echo --at=1000000", ["--at=1000000"])
        for command, shown in (("echo by 7", "by 8"),
                               ("echo t=7654321", "t=1000000"),
                               ("echo a; echo b", "c"),
                               ("kill -ABRT $$", "Segmentation fault")):
            try:
                session.run(command, [shown])
            except Exception:
                continue
            expect(False, f"{command!r} prints no {shown!r}")


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("what does not fit", tests.not_what_happens)
    tests.test("README: stock.c", tests.few, "README.md", "cprec",
               "gcc -g -w -o stock stock.c")
    for heading in "Debugging with cprec", "Without gdb":
        tests.test(f"docs/debugging.md: {heading}", tests.session,
                   "docs/debugging.md", heading,
                   "gcc -g -w -o stock stock.c; "
                   "(cprec record -q ./stock; :) >/dev/null 2>&1")
    tests.test("docs/heap.md: tally.c", tests.few, "docs/heap.md",
               "A program that damages its heap")
    name = "docs/heap.md: wordindex.c"
    python = os.path.realpath("/usr/bin/python3")
    if python.endswith(VERSION) and os.path.exists(HEADERS):
        tests.test(name, tests.few, "docs/heap.md",
                   "An extension of Python that counts wrong")
    else:
        tests.count += 1
        print(f"ok {tests.count} - {name} # SKIP needs python{VERSION} and "
              f"{HEADERS}")
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
