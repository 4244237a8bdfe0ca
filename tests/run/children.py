#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that start others: the same natively, run and recorded; and each
process's recording verifies."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import recordings  # noqa: E402

PYTHON = "/usr/bin/python3"

POOL = """
import multiprocessing
def add(lock, total, queue):
    for i in range(20):
        with lock:
            total.value += 1
    queue.put(True)
lock, total = multiprocessing.Lock(), multiprocessing.Value("i", 0)
queue = multiprocessing.SimpleQueue()
jobs = [multiprocessing.Process(target=add, args=(lock, total, queue))
        for i in range(2)]
for job in jobs: job.start()
for job in jobs: queue.get()
for job in jobs: job.join()
print(total.value == 40)
"""

SUBPROCESS = """
import os, subprocess
print(subprocess.run(["echo", "hi"], capture_output=True).stdout)
print(subprocess.run("exit 5", shell=True).returncode)
for name in "/nonexistent", "/etc/passwd":
    try: subprocess.run([name])
    except OSError as error: print(error)
    try: os.posix_spawn(name, [name], {})
    except OSError as error: print(error)
child = os.fork()
if not child: os._exit(9)
print(os.waitpid(child, 0)[1])
"""

FORKS = """
import os
for i in range(@N@):
    child = os.fork()
    if not child: os._exit(i % 7)
    assert os.waitpid(child, 0)[1] == i % 7 << 8
children = []
for i in range(20):
    child = os.fork()
    if not child: os._exit(0)
    children.append(child)
for child in children: os.waitpid(child, 0)
"""

PERL = """print `echo hi`; print system("sh", "-c", "exit 3") >> 8, "\\n";
print system("/nonexistent/x"), " $!\\n";
$p = fork; exit 7 if !$p; waitpid $p, 0; print $? >> 8, "\\n";"""

MAKE = """
rm -rf made && mkdir made && cd made
for i in 1 2; do echo "int f$i(int x) { return x + $i; }" >f$i.c; done
printf 'all: f1.o f2.o\\n\\t@echo $(words $^)\\n' >Makefile
printf '%%.o: %%.c\\n\\t@gcc -c -o $@ $<\\n' >>Makefile
printf 'bad:\\n\\t/nonexistent/command\\n' >>Makefile
make -j2; make bad; echo $?
"""

SCRIPTS = """
printf '#!/bin/sh\\necho "$0 $@"\\n' >script; chmod +x script; ./script a b
chmod -x script; ./script; echo $?
printf '#!/nonexistent\\n' >script2; chmod +x script2; ./script2; echo $?
./nothing; echo $?; /etc; echo $?
exec /bin/echo end
"""

GIT = """
rm -rf g g2; git init -q g; cd g
git config user.email a@b; git config user.name x
for i in 1 2 3; do echo $i >f$i; git add .; git commit -qm $i; done
cd ..; git clone -q g g2; cd g2; git log --format=%s
"""

# A string is for bash.
PROGRAMS = [
    ("pipeline", "seq 1000 | sort -rn | head -n 3; echo ${PIPESTATUS[@]}"),
    ("substitution", "echo $(echo $(echo deep)); (exit 3); echo $?"),
    ("background",
     "for i in 1 2 3; do (sleep 0.$((3 * i)); exit $i) & done;"
     " for i in 1 2 3; do wait -n; echo $?; done; wait"),
    ("trap", "trap 'echo got' USR1; (kill -USR1 $$); sleep 0.1; echo end"),
    ("killed", "sleep 100 & kill -9 $!; wait $! 2>/dev/null; echo $?"),
    ("kill self", "kill -TERM $$"),
    ("child's signal", "(kill -SEGV $BASHPID) 2>/dev/null; echo $?"),
    ("timeout", "timeout 0.3 sleep 5; echo $?"),
    ("find -exec", "find /etc/apt -maxdepth 1 -exec echo {} \\;"),
    ("xargs -P2", "seq 8 | xargs -P2 -n1 expr 1 + | sort -n"),
    ("scripts", SCRIPTS),
    ("make", MAKE),
    ("git", GIT),
    ("perl", ["perl", "-e", PERL]),
    ("subprocess", [PYTHON, "-c", SUBPROCESS]),
    ("forks", [PYTHON, "-c", FORKS]),
    ("multiprocessing", [PYTHON, "-c", POOL]),
]


def run(command, folder, timeout):
    """The status and what was written, without what differs each time."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=timeout)
    except subprocess.TimeoutExpired:
        return "timeout", b"", b""
    return done.returncode, done.stdout, re.sub(rb"\d{3,}", b"N", done.stderr)


def difference(native, ours):
    for name, want, got in zip(("status", "output", "errors"), native, ours):
        if want != got:
            return f"{name}: natively {want!r}, now {got!r}"
    return None


class Tests:
    def __init__(self, options):
        self.cprec = os.path.realpath(options.cprec)
        self.timeout = options.timeout
        self.count = self.failures = 0
        self.folder = tempfile.mkdtemp(prefix="cprec-children-")

    def result(self, name, problem):
        self.count += 1
        print(f"{'not ok' if problem else 'ok'} {self.count} - {name}")
        if problem:
            self.failures += 1
            print(f"# {problem}")

    def verify_all(self, name):
        """The recordings of all processes."""
        traces = recordings(os.path.join(self.folder, "trace.cpr"))
        problem = None
        for trace in traces:
            done = subprocess.run([self.cprec, "verify", trace],
                                  capture_output=True, timeout=self.timeout)
            if done.returncode:
                problem = f"{trace}: {done.stderr.decode().strip()}"
            elif os.stat(trace).st_mode & 0o777 != 0o600:
                problem = f"{trace}: others may open it"
        self.result(f"{name}: verify", problem)
        os.unlink(traces[0])
        shutil.rmtree(traces[0] + ".d", ignore_errors=True)

    def program(self, name, command):
        if isinstance(command, str):
            command = ["bash", "-c", command]
        for number, how in ("60", "run"), ("5", "record"):
            command_here = [part.replace("@N@", number) for part in command]
            wrapper = [self.cprec, how]
            if how == "record":
                wrapper += ["-o", "trace.cpr"]
            native = run(command_here, self.folder, self.timeout)
            ours = run(wrapper + ["--"] + command_here, self.folder,
                       self.timeout)
            self.result(f"{name}: {how}", difference(native, ours))
        self.verify_all(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cprec", required=True)
    parser.add_argument("--timeout", type=int, default=120)
    parser.add_argument("--guest", help="guest_shared of tests/guests")
    parser.add_argument("names", nargs="*", help="only these programs")
    options = parser.parse_args()
    tests = Tests(options)
    programs = list(PROGRAMS)
    if options.guest:
        programs.append(("shared memory", [os.path.realpath(options.guest)]))
    for name, command in programs:
        if not options.names or name in options.names:
            tests.program(name, command)
    print(f"1..{tests.count}")
    if tests.failures:
        print(f"# kept: {tests.folder}")
        return 1
    shutil.rmtree(tests.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
