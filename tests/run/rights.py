#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Children of programs that give up their rights, or whose recording's folder
is renamed or gone: they run as they would, and are recorded if they can be.

usage: rights.py --cprec C

Some need root, and are skipped otherwise.  Speaks TAP.
"""
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import Failure, Tap, equal, main, recordings  # noqa: E402

NOBODY = 65534

DROP = f"""
use POSIX;
$| = 1;
POSIX::setgid({NOBODY}) or die; POSIX::setuid({NOBODY}) or die;
"""

# A child, and its child, which executes a program; nobody else to wait for.
GENERATIONS = DROP + """
if (!fork()) {
	print "child of $>\\n";
	if (!fork()) { exec "/bin/echo", "grandchild" }
	print wait() > 0 ? "waited $?\\n" : "nobody\\n";
	exit 3;
}
print wait() > 0 ? "waited $?\\n" : "nobody\\n";
print wait() > 0 ? "waited $?\\n" : "nobody\\n";
"""

# The folder is there already, and is not to be made again.
BEFORE = "system '/bin/true';" + DROP + """
system "/bin/true";
print wait() > 0 ? "waited $?\\n" : "nobody\\n";
"""

# The first process, and the next, are gone long before the last makes one.
DAEMON = DROP + """
if (!fork()) {
	if (!fork()) {
		close STDOUT; close STDERR;
		sleep 1;
		system "/bin/true";
		exit 0;
	}
	exit 0;
}
wait();
print "gone\\n";
"""


class Tests(Tap):
    def __init__(self, cprec, folder):
        super().__init__()
        self.cprec = cprec
        self.folder = folder

    def begin(self):
        self.traces = os.path.join(self.folder, "traces")
        shutil.rmtree(self.traces, ignore_errors=True)
        os.mkdir(self.traces, 0o755)
        return os.path.join(self.traces, "t.cpr")

    def execute(self, *command):
        return subprocess.run(command, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60,
                              cwd=self.folder)

    def record(self, *command):
        done = self.execute(self.cprec, "record", "-o", self.begin(), "--",
                            *command)
        equal(done.returncode, 0, f"status: {done.stderr}")
        return done

    def verify(self, count, folder):
        traces = recordings(os.path.join(folder, "t.cpr"))
        equal(len(traces), count, "recordings")
        for trace in traces:
            done = self.execute(self.cprec, "verify", "-q", trace)
            equal((done.returncode, done.stderr), (0, ""), f"verify {trace}")
            equal(os.stat(trace).st_uid, os.getuid(), f"owner of {trace}")

    def is_server(self, pid):
        """Whether it is a process of this cprec that is no recorded program's,
        and makes files in our folder: other tests have such processes too."""
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            text = line.read()
        if text != b"cprec\0" or \
                os.readlink(f"/proc/{pid}/exe") != self.cprec:
            return False
        return any(os.readlink(f"/proc/{pid}/fd/{name}").startswith(self.folder)
                   for name in os.listdir(f"/proc/{pid}/fd"))

    def servers(self):
        found = set()
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                if self.is_server(entry):
                    found.add(entry)
            except OSError:
                pass
        return found

    def generations(self):
        native = self.execute("perl", "-e", GENERATIONS)
        done = self.record("perl", "-e", GENERATIONS)
        equal((done.stdout, done.stderr), (native.stdout, ""), "output")
        if "waited 768\nnobody\n" not in done.stdout:
            raise Failure(done.stdout)
        self.verify(3, self.traces)
        equal(self.servers(), set(), "left")

    def before(self):
        equal(self.record("perl", "-e", BEFORE).stdout, "nobody\n", "output")
        self.verify(3, self.traces)
        equal(self.servers(), set(), "left")

    def daemon(self):
        equal(self.record("perl", "-e", DAEMON).stdout, "gone\n", "output")
        equal(len(self.servers()), 1, "servers meanwhile")
        limit = time.monotonic() + 30
        while self.servers():
            if time.monotonic() > limit:
                raise Failure("a server is left")
            time.sleep(0.05)
        self.verify(4, self.traces)

    def renamed(self):
        script = "echo 1; mv traces moved; /bin/echo x; /bin/echo y"
        shutil.rmtree(os.path.join(self.folder, "moved"), True)
        done = self.record("sh", "-c", script)
        equal((done.stdout, done.stderr), ("1\nx\ny\n", ""), "output")
        self.verify(4, os.path.join(self.folder, "moved"))

    def gone(self):
        script = "echo 1; rm -r traces; /bin/echo x; /bin/echo y"
        done = self.record("sh", "-c", script)
        equal(done.stdout, "1\nx\ny\n", "output")
        lines = done.stderr.splitlines()
        equal(len(lines), 2, f"lines of {done.stderr}")
        for line in lines:
            if not line.startswith("cprec: note: process ") or \
                    "is not recorded: cannot create '" not in line:
                raise Failure(line)


def run_all(options, folder):
    os.chmod(folder, 0o755)
    tests = Tests(options.cprec, folder)
    for name in "generations", "before", "daemon":
        if os.getuid():
            tests.count += 1
            print(f"ok {tests.count} - {name} # SKIP needs root")
            continue
        tests.test(name, getattr(tests, name))
    tests.test("renamed", tests.renamed)
    tests.test("gone", tests.gone)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
