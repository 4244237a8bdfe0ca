# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests in Python have in common: they count, and speak TAP."""
import subprocess


class Failure(Exception):
    """What was not as it should be."""


def expect(good, what):
    if not good:
        raise Failure(what)


def equal(found, expected, what):
    if found != expected:
        raise Failure(f"{what}: {found!r}, should be {expected!r}")


class Tap:
    """Tests derive from this."""

    def __init__(self):
        self.count = self.failed = 0

    def test(self, name, function, *arguments, **more):
        """Runs one; what it returns, if that is text, is printed too."""
        self.count += 1
        try:
            said = function(*arguments, **more)
        except (Failure, KeyError, OSError, TypeError, ValueError,
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
