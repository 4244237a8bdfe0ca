# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests in Python have in common: they count, and speak TAP."""
import argparse
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile


class Failure(Exception):
    """What was not as it should be."""


def expect(good, what):
    if not good:
        raise Failure(what)


def equal(found, expected, what):
    if found != expected:
        raise Failure(f"{what}: {found!r}, should be {expected!r}")


def qemu_user(arch):
    """qemu-user's program; its static one has a short name since Debian 14."""
    name = f"qemu-{arch}"
    return name + "-static" if shutil.which(name + "-static") else name


def one_by_one():
    """The environment in which any qemu-user translates each instruction alone:
    it is -singlestep of 7.2, -one-insn-per-tb of 10."""
    return {**os.environ, "QEMU_SINGLESTEP": "1", "QEMU_ONE_INSN_PER_TB": "1"}


# For gdb, before it is given a script: there may be letters in the folder's name
# that the locale does not have.
GDB_NAMES = "-iex", "set host-charset UTF-8"


def gdb_changes(program, what, times):
    """What gdb's watch says of a variable from main() on: pairs of the old and
    the new value.  It steps where it has no debug registers, as on some virtual
    hosts."""
    changes = []
    for hardware in 1, 0:
        out = subprocess.run(
            ["gdb", "-q", "-nx", "-batch",
             "-ex", f"set can-use-hw-watchpoints {hardware}",
             "-ex", "break main", "-ex", "run", "-ex", f"watch {what}",
             *["-ex", "continue"] * times, program],
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
            timeout=100).stdout
        changes = re.findall(r"Old value = (.*)\nNew value = (.*)\n", out)
        if changes:
            break
    return changes


def is_executed_here(program):
    """Not every kernel executes programs of i386."""
    try:
        subprocess.run([program], capture_output=True, timeout=60)
    except OSError:
        return False
    return True


def recordings(first):
    """Those of all processes, if the first one's has this name."""
    return [first] + sorted(glob.glob(os.path.join(first + ".d", "*.cpr")))


class Tap:
    """Tests derive from this."""

    def __init__(self):
        self.count = self.failed = 0

    def test(self, name, function, *arguments, **more):
        """Runs one; what it returns, if that is text, is printed too."""
        self.count += 1
        try:
            said = function(*arguments, **more)
        except (Failure, LookupError, OSError, TypeError, ValueError,
                subprocess.SubprocessError) as failure:
            self.failed += 1
            what = str(failure)
            if not isinstance(failure, Failure):
                what = f"{type(failure).__name__}: {what}"
            for line in what.splitlines():
                print("#", line)
            print(f"not ok {self.count} - {name}", flush=True)
            return
        said = f" ({said})" if isinstance(said, str) else ""
        print(f"ok {self.count} - {name}{said}", flush=True)

    def summary(self):
        """The last line; returns the exit status."""
        print(f"1..{self.count}")
        return 1 if self.failed or not self.count else 0


class CprecTap(Tap):
    """Tests that execute cprec, and have a folder for what they make."""

    def __init__(self, options, folder):
        super().__init__()
        self.options = options
        self.folder = folder

    def cprec(self, *arguments, text=None):
        return subprocess.run([self.options.cprec, *arguments], input=text,
                              capture_output=True, text=True, timeout=120)


@contextlib.contextmanager
def for_everybody(cprec):
    """The path of a copy that others may execute: the original may be in a folder
    that is closed to them, as root's home is."""
    with tempfile.TemporaryDirectory(prefix="cprec-for-everybody-") as folder:
        os.chmod(folder, 0o755)
        yield shutil.copy(cprec, folder)


def record_as_in_gdb():
    """What is recorded from here on has the addresses that gdb shows of it:
    programs that access their memory directly get others."""
    os.environ["CPREC_NO_DIRECT"] = "1"


class PlaceTap(CprecTap):
    """Tests that each begin in an empty folder, `place`."""

    def begin(self):
        """Returns the path of a recording there."""
        self.place = os.path.join(self.folder, "here")
        shutil.rmtree(self.place, ignore_errors=True)
        os.mkdir(self.place)
        return self.path("t.cpr")

    def path(self, name):
        return os.path.join(self.place, name)


def main(run_all, *programs, parser=None):
    """Returns what run_all(options, folder) does.  The options are --cprec and
    those of other `programs`, all made absolute, what `parser` knows beside,
    and --keep, which names the folder and leaves it there."""
    parser = parser or argparse.ArgumentParser()
    for name in ("cprec", *programs):
        parser.add_argument(f"--{name}", type=os.path.abspath, required=True)
    parser.add_argument("--keep", metavar="FOLDER", help="leave all files here")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
        return run_all(options, os.path.realpath(options.keep))
    name = os.path.basename(sys.argv[0]).removesuffix(".py")
    with tempfile.TemporaryDirectory(prefix=f"cprec-{name}-") as folder:
        return run_all(options, os.path.realpath(folder))
