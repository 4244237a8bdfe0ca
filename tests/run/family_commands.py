#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A family is one thing: what ps, ls, mv, rm and pack say of and do to
recordings with many processes.

usage: family_commands.py --cprec C

Speaks TAP.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import PlaceTap, Failure, equal, expect, main, recordings  # noqa: E402

# A shell's name, its number and its parent's, as it says itself.
TELL = 'echo "$1 $$ $PPID"\n'

# How processes end, and who made them; each tells of itself.
TREE = """
sh -c '. ./tell; exit 3' sh second
sh -c '. ./tell; sh -c ". ./tell; kill -TERM \\$\\$" sh fourth; :' sh third
sh -c '. ./tell; exec sleep 0' sh fifth
. ./tell
exit 7
"""
ENDS = {"first": {"code": 7}, "second": {"code": 3}, "third": {"code": 0},
        "fourth": {"signal": 15}, "fifth": {"code": 0}}
PARENTS = {"second": "first", "third": "first", "fourth": "third",
           "fifth": "first"}

# As pyenv has them: a shell that starts many before it becomes what is meant.
SHIM = """#!/bin/sh
for i in $(seq 39); do version=$(sh -c 'echo 3'); done
exec /usr/bin/python3 "$@"
"""

# Threads and processes, each of which tells its number, and what it is called;
# and, executed by another name, only that.
CALLED = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *role)
{
	char name[16], text[99];

	prctl(PR_GET_NAME, name);
	if (write(1, text, (size_t)snprintf(text, sizeof(text), "%s %d %ld %s\n",
		  role, getpid(), syscall(SYS_gettid), name)) < 0)
		_exit(1);
}

static void in_child(const char *role, void (*further)(void))
{
	if (!fork()) {
		if (further)
			further();
		tell(role);
		_exit(0);
	}
	wait(NULL);
}

static void *in_thread(void *further)
{
	if (further)
		prctl(PR_SET_NAME, "of a thread");
	tell("thread");
	if (further)
		in_child("thread's child", further);
	return NULL;
}

static void make_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
}

static void rename_it(void)
{
	in_child("grandchild", NULL);
	prctl(PR_SET_NAME, "a child's own name");
	in_child("another grandchild", make_thread);
}

static void execute(void)
{
	execl("./called with a long name", "x", "-", NULL);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1) {
		in_child("child of another program", NULL);
		tell("another program");
		return 0;
	}
	in_child("child", rename_it);
	prctl(PR_SET_NAME, "(the first)");
	in_child("later child", NULL);
	in_child("", execute);
	pthread_create(&thread, NULL, in_thread, make_thread);
	pthread_join(thread, NULL);
	tell("first");
	return 0;
}
"""

# It tells that it runs, and ends when its input does.
WAITS = "sh -c 'echo begun; read x; exit 4'; exit 5"


class Tests(PlaceTap):
    def run_here(self, *arguments):
        return subprocess.run([self.options.cprec, *arguments], text=True,
                              capture_output=True, cwd=self.place, timeout=120,
                              stdin=subprocess.DEVNULL)

    def ask(self, *arguments, status=0, said=""):
        done = self.run_here(*arguments)
        equal((done.returncode, done.stderr), (status, said),
              f"cprec {' '.join(arguments)}")
        return done.stdout

    def objects(self, *arguments):
        return [json.loads(line)
                for line in self.ask(*arguments, "--json").splitlines()]

    def record(self, *program, name="t.cpr", status=0):
        done = self.run_here("record", "-o", name, "--", *program)
        equal(done.returncode, status, f"record, {done.stderr}")
        return done.stdout

    def names(self, folder=""):
        return sorted(os.listdir(self.path(folder)))

    # ------- what there is -------

    def thirty(self):
        """A script with thirty commands: one file, one folder, then nothing."""
        trace = self.begin()
        script = "\n".join(30 * ["/bin/true"]) + "\nexit 0\n"
        self.record("/bin/sh", "-c", script)
        equal(self.names(), ["t.cpr", "t.cpr.d"], "files")
        equal(len(self.names("t.cpr.d")), 30, "recordings in the folder")
        equal(len(self.objects("ps")), 31, "processes")
        listed, = self.objects("ls")
        equal((listed["recording"], listed["process_count"], listed["size"]),
              ("t.cpr", 31, sum(os.stat(path).st_size
                                for path in recordings(trace))), "ls")
        equal(self.ask("rm", "t.cpr"), "", "rm prints")
        equal(self.names(), [], "files after rm")

    def verify_all(self):
        """One line for each process, and the status of the worst."""
        trace = self.begin()
        self.record("/bin/sh", "-c", "/bin/true; /bin/echo x; exit 0")
        ps = {(one["pid"], one["name"], one["instructions"])
              for one in self.objects("ps")}
        equal(len(ps), 3, "processes")

        def verify(*arguments, status=0):
            done = self.run_here("verify", "--all", *arguments)
            equal(done.returncode, status, f"{arguments}: {done.stderr}")
            return done
        for path in recordings(trace):
            lines = verify(path).stdout.splitlines()
            found = [re.match(r"(\d+) (\w+): verified (\d+) instr", line)
                     for line in lines]
            equal({(int(one[1]), one[2], int(one[3])) for one in found}, ps,
                  "lines")
        equal(verify("-q").stdout, "", "with -q")
        alone = verify("--thread=all").stdout
        equal(len(re.findall("verified thread", alone)), 3, "threads")
        self.ask("pack", "-o", "packed.cpr", "t.cpr")
        equal(verify("packed.cpr").stdout, verify("t.cpr").stdout, "packed")
        broken = recordings(trace)[1]
        with open(broken, "r+b") as file:
            file.seek(os.path.getsize(broken) // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        done = verify("t.cpr", status=1)
        # Others may have pages there.
        bad = [path for path in recordings(trace)
               if self.run_here("verify", path).returncode]
        expect(broken in bad, f"damaged are {bad}")
        equal(len(done.stdout.splitlines()), 3 - len(bad), "good ones")
        equal(len(re.findall(r"^cprec: \d+ \S+: ", done.stderr, re.M)),
              len(bad), f"what is said: {done.stderr}")
        pid = os.path.basename(broken)[:-4]
        self.ask("verify", "t.cpr", "--all", f"--pid={pid}", status=2,
                 said="cprec: --all and --pid exclude each other; see"
                 " 'cprec verify --help'\n")

    def called(self):
        """Threads of forked processes are called as natively."""
        trace = self.begin()
        with open(self.path("called.c"), "w") as file:
            file.write(CALLED)
        subprocess.run(["cc", "-pthread", "-o", "called", "called.c"],
                       cwd=self.place, check=True)
        os.symlink("called", self.path("called with a long name"))

        def parse(text):
            return sorted(re.findall(r"^(.+?) (\d+) (\d+) (.*)$", text, re.M))
        native = subprocess.run("./called", cwd=self.place, text=True,
                                capture_output=True, check=True)
        told = parse(self.record("./called"))
        equal([(one[0], one[3]) for one in told],
              [(one[0], one[3]) for one in parse(native.stdout)], "names")
        equal(len(told), 11, "threads")
        self.ask("pack", "-o", "packed.cpr", "t.cpr")
        for path in trace, "packed.cpr":
            equal(sorted((str(process["pid"]), str(thread["thread"]),
                          thread.get("name"))
                         for process in self.objects("ps", path)
                         for info in self.objects(
                             "info", "--verbose", path,
                             f"--pid={process['pid']}")
                         for thread in info["threads"]),
                  sorted(one[1:] for one in told), path)

    def shim(self):
        """A python3 that starts forty shells does not litter."""
        self.begin()
        os.mkdir(self.path("bin"))
        with open(self.path("bin/python3"), "w") as file:
            file.write(SHIM)
        os.chmod(self.path("bin/python3"), 0o755)
        out = self.record(self.path("bin/python3"), "-c", "print(6 * 7)")
        equal(out, "42\n", "output")
        equal(self.names(), ["bin", "t.cpr", "t.cpr.d"], "files")
        first = self.objects("ps")[0]
        equal((first["name"], first["parent"]), ("python3", None), "the first")
        expect(len(self.objects("ps")) > 40, "forty shells")
        self.ask("rm", "t.cpr")
        equal(self.names(), ["bin"], "files after rm")

    def tree(self):
        """ps, compared with what each process says of itself."""
        self.begin()
        with open(self.path("tell"), "w") as file:
            file.write(TELL)
        out = self.record("/bin/bash", "-c", TREE, "sh", "first", status=7)
        told = {name: (int(pid), int(parent)) for name, pid, parent
                in (line.split() for line in out.splitlines())}
        equal(sorted(told), sorted(ENDS), "who told")
        found = {one["pid"]: one for one in self.objects("ps")}
        equal(sorted(found), sorted(pid for pid, _ in told.values()), "numbers")
        for name, (pid, parent) in told.items():
            one = found[pid]
            equal(one["exit"], ENDS[name], f"end of {name}")
            equal(one["complete"], True, name)
            expect(one["started"] <= one["ended"] <= time.time(), "times")
            if name != "first":
                equal(one["parent"]["pid"], parent, f"parent of {name}")
                equal(parent, told[PARENTS[name]][0], f"parent of {name}")
        equal(found[told["fifth"][0]]["name"], "sleep", "after an exec")
        equal([last["program"][0] for last in
               found[told["fifth"][0]]["images"]][-2:], ["sh", "sleep"], "images")
        self.forks(found)
        self.text(told)

    def forks(self, found):
        """The time of a fork is that of the system call in the parent, who then
        waits: the process ended while it did."""
        for one in found.values():
            if not one["parent"]:
                continue
            parent = found[one["parent"]["pid"]]
            calls = self.ask("dump", "--kind=syscall", parent["recording"])
            expect(re.search(rf"^{one['parent']['at']} +SYSCALL .*"
                             rf"result={one['pid']}$", calls, re.M),
                   f"no call made {one['pid']} at {one['parent']['at']}")
            waited = re.search(rf"^(\d+) .*name=wait4 result={one['pid']}$",
                               calls, re.M)
            expect(one["parent"]["at"] <= one["until"] <= int(waited[1]),
                   f"{one['pid']} ended at {one['until']}, not {waited[1]}")

    def text(self, told):
        lines = self.ask("ps").splitlines()[1:]
        depths = {int(line.split()[0]): line.find("\\_") for line in lines}
        first, *rest = (depths[told[name][0]] for name in
                        ("first", "second", "third", "fourth", "fifth"))
        equal(first, -1, "the root")
        equal([place - rest[0] for place in rest], [0, 0, 4, 0], "depths")
        line, = (line for line in lines
                 if line.split()[0] == str(told["fourth"][0]))
        expect(" SIGTERM " in line, line)
        failed = self.ask("ps", "--failed").splitlines()[1:]
        equal(sorted(int(line.split()[0]) for line in failed),
              sorted(told[name][0] for name, end in ENDS.items()
                     if end != {"code": 0}), "those that failed")
        shown = self.ask("ps", "-v")
        for path in recordings("t.cpr")[1:]:
            expect(path in shown, f"{path} in ps -v")

    def named(self):
        """--pid: numbers, names, words; what is not one is listed."""
        self.begin()
        for name in "one", "two":
            with open(self.path(name), "w") as file:
                file.write(name)
        out = self.record("/bin/bash", "-c", "cat one; cat -u one two; "
                          "cat -n sub/../two >/dev/null; sh -c 'echo $$'; "
                          "exec /bin/echo end")
        shell = out.splitlines()[-2].lstrip("onetw")
        first = str(self.objects("ps")[0]["pid"])
        found = {one["pid"]: one for one in self.objects("ps")}
        for wanted, program in ((shell, ["sh", "-c", "echo $$"]),
                                ("sh", ["sh", "-c", "echo $$"]),
                                ("dash", ["sh", "-c", "echo $$"]),
                                (first, ["/bin/echo", "end"]),
                                ("echo", ["/bin/echo", "end"]),
                                ("-u", ["cat", "-u", "one", "two"]),
                                ("sub/../two", ["cat", "-n", "sub/../two"]),
                                ("cat one", ["cat", "one"]),
                                ("sh -c echo $$", ["sh", "-c", "echo $$"])):
            info = json.loads(self.ask("info", "--json", f"--pid={wanted}"))
            equal(info["images"][-1]["program"], program, wanted)
        cats = ", ".join(f"cat {pid}" for pid, one in sorted(found.items())
                         if one["name"] == "cat")
        self.ask("info", "--pid", "cat", status=1,
                 said=f"cprec: 'cat' is more than one: {cats}\n")
        everybody = ", ".join(f"{one['name']} {pid}" for pid, one
                              in sorted(found.items(), key=lambda pair:
                                        (str(pair[0]) != first, pair[0])))
        for nobody in "1", shell + "-2", "nix", "":
            self.ask("info", "--pid", nobody, status=1, said="cprec: 't.cpr' "
                     f"has no process '{nobody}': {everybody}\n")
        self.everywhere(shell)

    def many(self):
        """Of those with one command line, ten are listed, and nobody else."""
        self.begin()
        self.record("/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do"
                    " sleep 0.01; done; sleep 0.02; true")
        one, = (one for one in self.objects("ps")
                if one["program"] == ["sleep", "0.02"])
        info = json.loads(self.ask("info", "--json", "--pid=sleep 0.02"))
        equal(info["threads"][0]["thread"], one["pid"], "the one")
        same = [one["pid"] for one in self.objects("ps")
                if one["program"] == ["sleep", "0.01"]]
        listed = ", ".join(f"sleep {pid}" for pid in sorted(same)[:10])
        self.ask("info", "--pid=sleep 0.01", status=1, said="cprec: "
                 f"'sleep 0.01' is more than one: {listed} and 2 more\n")

    def everywhere(self, shell):
        """All commands that ask a recording; also from a child's to others."""
        alone = f"t.cpr.d/{shell}.cpr"
        for command in (["query", "--addr=environ", "--at=end"], ["info"],
                        ["replay"], ["verify"], ["races"], ["dump"]):
            for one, other in (["--pid", shell], [alone]), \
                              (["--pid=echo", alone], ["t.cpr"]):
                done, same = (self.run_here(*command, *rest)
                              for rest in (one, other))
                equal((done.returncode, done.stdout), (0, same.stdout),
                      command[0])
        equal([one["pid"] for one in self.objects("ps", "--pid=sh")],
              [int(shell)], "ps")

    def listing(self):
        """Newest first, and how each ended."""
        self.begin()
        self.record("/bin/sh", "-c", "kill -SEGV $$", name="a.cpr", status=-11)
        time.sleep(1.1)
        self.record("/bin/sh", "-c", "/bin/true; exit 9", name="b.cpr",
                    status=9)
        with open(self.path("a.cpr"), "rb") as file:
            bytes_ = file.read()
        with open(self.path("cut.cpr"), "wb") as file:
            file.write(bytes_[:len(bytes_) // 2])
        with open(self.path("head.cpr"), "wb") as file:
            file.write(bytes_[:64])
        listed = self.objects("ls")
        equal([(one["recording"], one.get("exit")) for one in listed],
              [("b.cpr", {"code": 9}), ("a.cpr", {"signal": 11}),
               ("cut.cpr", None), ("head.cpr", None)], "ls")
        expect("error" in listed[3], "head.cpr has no error")
        lines = self.ask("ls").splitlines()
        equal([line.split()[6:9] for line in lines[1:3]],
              [["status", "9", "b.cpr"], ["SIGSEGV", "a.cpr", "/bin/sh"]],
              "text")
        expect("cut short" in lines[3] and "unreadable" in lines[4], lines)
        equal([one["recording"] for one in
               self.objects("ls", "a.cpr", self.path("b.cpr"))],
              [self.path("b.cpr"), "a.cpr"], "those that are named")
        os.mkdir(self.path("empty"))
        self.ask("ls", "empty", said="cprec: note: there are no recordings\n")
        self.ask("ls", "missing", status=1, said="cprec: cannot open 'missing'"
                 ": No such file or directory\n")

    # ------- changes -------

    def two(self):
        trace = self.begin()
        self.record("/bin/sh", "-c", "/bin/true; /bin/true; exit 0")
        return trace

    def verify(self, trace, count):
        found = recordings(self.path(trace))
        equal(len(found), count, f"recordings of {trace}")
        for path in found:
            self.ask("verify", "-q", path)

    def moved(self):
        self.two()
        self.ask("mv", "t.cpr", "u.cpr")
        equal(self.names(), ["u.cpr", "u.cpr.d"], "files")
        self.verify("u.cpr", 3)
        equal(len(self.objects("ps", "u.cpr")), 3, "processes")
        os.mkdir(self.path("sub"))
        self.ask("mv", "u.cpr", "sub")
        equal((self.names(), self.names("sub")),
              (["sub"], ["u.cpr", "u.cpr.d"]), "files")
        self.ask("mv", self.path("sub/u.cpr"), "plain name")
        equal(self.names(), ["plain name", "plain name.d", "sub"], "files")
        self.verify("plain name", 3)

    def elsewhere(self):
        """Into another file system, with all times."""
        other = "/dev/shm"
        self.two()
        if not os.access(other, os.W_OK) or \
                os.stat(other).st_dev == os.stat(self.place).st_dev:
            return "there is no other file system"
        before = {one["pid"]: one["ended"] for one in self.objects("ps")}
        to = os.path.join(other, f"cprec-{os.getpid()}.cpr")
        self.ask("mv", "t.cpr", to)
        equal(self.names(), [], "files")
        self.verify(to, 3)
        equal({one["pid"]: one["ended"] for one in self.objects("ps", to)},
              before, "ends")
        equal([os.stat(path).st_mode & 0o7777 for path in
               [to + ".d"] + recordings(to)], [0o700] + 3 * [0o600], "modes")
        self.ask("mv", to, "back.cpr")
        equal(os.path.exists(to) or os.path.exists(to + ".d"), False, "left")
        self.verify("back.cpr", 3)
        return None

    def not_over(self):
        """What is there is not replaced, but by --force."""
        self.two()
        self.record("/bin/sh", "-c", "/bin/true; exit 0", name="u.cpr")
        self.ask("mv", "t.cpr", "u.cpr", status=1,
                 said="cprec: 'u.cpr' exists (--force: replace it)\n")
        self.verify("t.cpr", 3)
        self.verify("u.cpr", 2)
        self.ask("mv", "t.cpr", "./t.cpr", status=1,
                 said="cprec: 't.cpr' and './t.cpr' are the same file\n")
        self.ask("mv", "-f", "t.cpr", "u.cpr")
        equal(self.names(), ["u.cpr", "u.cpr.d"], "files")
        self.verify("u.cpr", 3)
        with open(self.path("text"), "w") as file:
            file.write("text")
        self.ask("mv", "-f", "u.cpr", "text", status=1,
                 said="cprec: 'text' is not a cprec recording\n")
        os.mkdir(self.path("v.cpr.d"))
        self.ask("mv", "-f", "u.cpr", "v.cpr", status=1,
                 said="cprec: 'v.cpr.d' exists\n")
        os.mkdir(self.path("locked"), 0o500)
        self.verify("u.cpr", 3)

    def put_back(self):
        """If the file cannot be moved, the folder stays where it was too."""
        self.two()
        self.ask("mv", "t.cpr", "missing/u.cpr", status=1,
                 said=f"cprec: cannot rename '{self.names()[1]}' to "
                 "'missing/u.cpr.d': No such file or directory\n")
        long = (255 - 2) * "x"
        self.ask("mv", "t.cpr", long + "yy", status=1,
                 said="cprec: cannot rename 't.cpr.d' to "
                 f"'{long}yy.d': File name too long\n")
        equal(self.names(), ["t.cpr", "t.cpr.d"], "files")
        self.verify("t.cpr", 3)

    def written(self):
        """What is still being written stays."""
        self.begin()
        first = subprocess.Popen([self.options.cprec, "record", "-o", "t.cpr",
                                  "--", "/bin/sh", "-c", WAITS], text=True,
                                 cwd=self.place, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        equal(first.stdout.readline(), "begun\n", "the first")
        for command in ["mv", "t.cpr", "u.cpr"], ["rm", "t.cpr"]:
            self.ask(*command, status=1, said="cprec: 't.cpr' is still being "
                     "written (--force: all the same)\n")
        listed, = self.objects("ls")
        equal((listed["writing"], listed["ended"]), (True, None), "ls")
        equal([one["writing"] for one in self.objects("ps")], 2 * [True], "ps")
        expect("is recorded" in self.ask("ls"), "text of ls")
        self.ask("mv", "-f", "t.cpr", "u.cpr")
        first.communicate("x\n", timeout=60)
        equal(first.returncode, 5, "status")
        equal(self.names(), ["u.cpr", "u.cpr.d"], "files")
        self.verify("u.cpr", 2)
        self.ask("rm", "u.cpr")

    def cut(self):
        """The time of a copy's file is not when the process ended."""
        self.begin()
        self.record("/bin/sleep", "0.1")
        ended = self.objects("ls")[0]["ended"]
        size = os.path.getsize(self.path("t.cpr"))
        unknown = 0
        for part in range(1, 10):
            shutil.copy(self.path("t.cpr"), self.path("cut.cpr"))
            os.truncate(self.path("cut.cpr"), size * part // 10)
            os.utime(self.path("cut.cpr"), (ended + 1000, ended + 1000))
            one, = self.objects("ls", "cut.cpr")
            if "error" in one:
                continue
            expect(not one["complete"], "complete")
            expect(one["ended"] is None or one["ended"] <= ended, "end")
            if one["ended"] is None:
                unknown += 1
                line = self.ask("ls", "cut.cpr").splitlines()[1]
                equal(line.split()[2], "-", "TOOK")
        expect(unknown, "no cut recording without an end")

    def forced(self):
        self.two()
        self.ask("rm", "missing", "t.cpr", status=1, said="cprec: cannot open"
                 " 'missing': No such file or directory\n")
        equal(self.names(), [], "the other is removed")
        self.ask("rm", "-f", "missing")

    # ------- one file -------

    def outcome(self, *arguments):
        done = self.run_here(*arguments)
        return done.returncode, done.stdout

    def packed(self):
        """Alone in a folder, it answers as the family did."""
        trace = self.two()
        pids = [str(one["pid"]) for one in self.objects("ps")]
        commands = [["verify"], ["dump"], ["info"], ["races"], ["replay"],
                    ["query", "--addr=environ", "--at=50%"]]
        before = [self.outcome(*command, f"--pid={pid}", "t.cpr")
                  for command in commands for pid in pids]
        family = self.objects("ps")
        self.ask("pack", "t.cpr")
        equal(self.names(), ["t.cpr", "t.cpr.d", "t.packed.cpr"], "files")
        equal(os.stat(self.path("t.packed.cpr")).st_mode & 0o7777, 0o600,
              "mode")
        os.mkdir(self.path("sub"))
        self.ask("mv", "t.packed.cpr", "sub/t.cpr")
        os.rename(self.path("sub/t.cpr"), self.path("p.cpr"))
        shutil.rmtree(trace + ".d")
        os.unlink(trace)
        after = [self.outcome(*command, f"--pid={pid}", "p.cpr")
                 for command in commands for pid in pids]
        for one, other in zip(before, after):
            text = re.sub(r"p\.cpr(/(\d+))?",
                          lambda found: "t.cpr.d/" + found[2] if found[2]
                          else "t.cpr", other[1])
            equal((other[0], text), one, "what is said")
        for one, other in zip(family, self.objects("ps", "p.cpr")):
            equal(other.pop("recording"), one.pop("recording").replace(
                "t.cpr.d", "p.cpr").replace("t.cpr", "p.cpr"), "path")
            equal(other, one, "ps")
        equal([one["pid"] for one in self.objects("ps", "--pid=" + pids[2])],
              [int(pids[2])], "ps --pid")
        listed, = self.objects("ls")
        equal((listed["process_count"], listed["size"]),
              (3, os.stat(self.path("p.cpr")).st_size), "ls")
        self.ask("verify", f"p.cpr/{pids[1]}.cpr")
        self.ask("verify", "p.cpr/1.cpr", status=1, said="cprec: cannot open "
                 "'p.cpr/1.cpr': No such file or directory\n")

    def unpacked(self):
        """The same files with the same times."""
        trace = self.two()
        before = [(os.stat(path).st_mtime_ns, open(path, "rb").read())
                  for path in recordings(trace)]
        self.ask("pack", "t.cpr", "-o", "p")
        self.ask("unpack", "p", "-o", "u.cpr")
        equal([os.path.basename(path) for path in recordings("u.cpr")[1:]],
              [os.path.basename(path) for path in recordings("t.cpr")[1:]],
              "names")
        equal([(os.stat(path).st_mtime_ns, open(path, "rb").read())
               for path in recordings(self.path("u.cpr"))], before, "files")
        equal([os.stat(self.path(name)).st_mode & 0o7777 for name in
               ("u.cpr", "u.cpr.d")], [0o600, 0o700], "modes")
        for command, said in (
                (["pack", "t.cpr", "-o", "u.cpr"], "'u.cpr' exists"),
                (["pack", "p", "-o", "q"], "'p' is packed already"),
                (["pack", os.path.relpath(recordings(trace)[1], self.place)],
                 " is a part of 't.cpr'"),
                (["pack", "missing"], "cannot open 'missing'"),
                (["pack", "t.cpr", "-o", "no/where"], "cannot create"),
                (["unpack", "p", "-o", "t.cpr"], "'t.cpr' exists"),
                (["unpack", "t.cpr", "-o", "q"],
                 "'t.cpr' is not a packed recording")):
            done = self.run_here(*command)
            expect(done.returncode == 1 and said in done.stderr,
                   f"{command}: {done.stderr}")
        os.unlink(self.path("u.cpr"))
        self.ask("unpack", "p", "-o", "u.cpr", status=1,
                 said="cprec: 'u.cpr.d' exists\n")
        self.ask("rm", "p")
        equal(self.names(), ["t.cpr", "t.cpr.d", "u.cpr.d"], "files")

    def alone(self):
        """A family of one has no folder, packed or not."""
        self.begin()
        self.record("/bin/true")
        self.ask("pack", "t.cpr")
        self.ask("rm", "t.cpr")
        self.ask("unpack", "t.packed.cpr")
        equal(self.names(), ["t.cpr", "t.packed.cpr"], "files")
        equal(self.outcome("verify", "t.cpr"),
              self.outcome("verify", "t.packed.cpr"), "verify")

    def packed_damage(self):
        """A packed file that is cut or changed is refused, in one line."""
        self.two()
        self.ask("pack", "t.cpr")
        with open(self.path("t.packed.cpr"), "rb") as file:
            whole = file.read()
        for end in 0, 3, 8, 63, 64, 200, len(whole) - 33, len(whole) - 1:
            with open(self.path("cut.cpr"), "wb") as file:
                file.write(whole[:end])
            for command in "info", "verify":
                done = self.run_here(command, "cut.cpr")
                equal((done.returncode, len(done.stderr.splitlines())),
                      (1, 1), f"{command} of {end} bytes, {done.stderr}")
        self.ask("rm", "t.cpr")
        done = self.run_here("ls")
        equal(done.returncode, 0, "ls")
        for place in 9, len(whole) - 60, len(whole) - 5:
            with open(self.path("cut.cpr"), "wb") as file:
                file.write(whole[:place] + bytes([whole[place] ^ 0x5a]) +
                           whole[place + 1:])
            done = self.run_here("info", "cut.cpr")
            expect(done.returncode == 1 and "is damaged" in done.stderr,
                   f"byte {place}: {done.stderr}")
        expect("unreadable" in self.ask("ps", "cut.cpr"), "ps")
        self.ask("rm", "cut.cpr", "t.packed.cpr")
        equal(self.names(), [], "files")

    # ------- what is not ours -------

    def garbage(self):
        """Only recordings of the family are removed; nothing waits."""
        trace = self.two()
        folder = trace + ".d/"
        ours = self.names("t.cpr.d")
        with open(self.path("outside.cpr"), "wb") as file, \
                open(trace, "rb") as own:
            file.write(own.read())
        self.record("/bin/true", name="other.cpr")
        shutil.copy(self.path("other.cpr"), folder + "11.cpr")
        os.symlink(self.path("outside.cpr"), folder + "12.cpr")
        os.mkfifo(folder + "13.cpr")
        os.mkdir(folder + "14.cpr")
        for name in "15.cpr", "notes", "x\x1b[2J\n.cpr":
            with open(folder + name, "w") as file:
                file.write("garbage" * 20)
        os.symlink("/nonexistent", folder + "16.cpr")
        left = [name for name in self.names("t.cpr.d") if name not in ours]
        equal(len(self.objects("ps", "t.cpr")), 3, "processes")
        expect("\x1b" not in self.ask("ls", "t.cpr.d"), "control characters")
        self.ask("rm", "t.cpr", said="cprec: note: 't.cpr.d' is left: other "
                 "things are in it\n")
        equal(self.names("t.cpr.d"), left, "what is left")
        equal(self.names(), ["other.cpr", "outside.cpr", "t.cpr.d"], "files")

    def cut(self):
        """Damaged and empty recordings are of the family, too."""
        trace = self.two()
        first, second = recordings(trace)[1:]
        os.truncate(first, 0)
        with open(second, "r+b") as file:
            file.seek(70)
            file.write(b"xxxx")
        open(trace + ".d/77.cpr", "w").close()
        found = self.objects("ps")
        equal(["error" in one for one in found], [False, True, True, True],
              "errors")
        equal(sorted(one["pid"] for one in found[1:]), sorted(
              [77] + [int(os.path.basename(path)[:-4])
                      for path in (first, second)]), "numbers")
        expect("unreadable" in self.ask("ps"), "text")
        self.ask("rm", "t.cpr")
        equal(self.names(), [], "files")

    def links(self):
        trace = self.two()
        os.symlink("t.cpr", self.path("link"))
        expected = f"cprec: 'link' is a symbolic link; the recording is '{trace}'\n"
        self.ask("rm", "link", status=1, said=expected)
        self.ask("mv", "link", "new", status=1, said=expected)
        equal(len(self.objects("ps", "link")), 3, "processes")
        os.rename(trace + ".d", self.path("moved"))
        os.symlink("moved", trace + ".d")
        equal(len(self.objects("ps", "t.cpr")), 3, "processes")
        self.ask("rm", "t.cpr", status=1,
                 said="cprec: 't.cpr.d' is a symbolic link\n")
        equal(len(self.names("moved")), 2, "behind the link")

    def unbegun(self):
        """What was to be a recording is removed; other empty files are not."""
        with open(self.path("t.cpr"), "rb") as file:
            header = file.read(20)
        for name, content in (("none.cpr", b""), ("header", header)):
            for more in [], ["-f"]:
                with open(self.path(name), "wb") as file:
                    file.write(content)
                self.ask("rm", *more, name)
                expect(name not in self.names(), name)
        with open(self.path("empty"), "wb"):
            pass
        os.symlink("none.cpr", self.path("link.cpr"))
        for name in "empty", "link.cpr":
            equal(self.run_here("rm", name).returncode, 1, name)
            expect(os.path.lexists(self.path(name)), name)
            os.unlink(self.path(name))

    def parts(self):
        trace = self.two()
        one = os.path.relpath(recordings(trace)[1], self.place)
        for command in ["rm", one], ["mv", one, "new"]:
            self.ask(*command, status=1,
                     said=f"cprec: '{one}' is a part of 't.cpr'\n")
        for name in "/dev/null", ".", self.options.cprec:
            done = self.run_here("rm", name)
            expect(done.returncode == 1 and "is not a cprec recording" in
                   done.stderr, f"rm {name}: {done.stderr}")
        self.unbegun()
        os.mkfifo(self.path("pipe.cpr"))
        done = self.run_here("rm", "pipe.cpr")
        expect("is not a cprec recording" in done.stderr, done.stderr)
        self.verify("t.cpr", 3)


def run_all(options, folder):
    tests = Tests(options, folder)
    for name, test in (("thirty commands", tests.thirty),
                       ("verify --all", tests.verify_all),
                       ("what threads are called", tests.called),
                       ("forty shells", tests.shim),
                       ("a tree", tests.tree),
                       ("--pid", tests.named),
                       ("--pid of many", tests.many),
                       ("a list", tests.listing),
                       ("moved", tests.moved),
                       ("to another file system", tests.elsewhere),
                       ("what is there already", tests.not_over),
                       ("put back", tests.put_back),
                       ("while it is written", tests.written),
                       ("cut short", tests.cut),
                       ("removed", tests.forced),
                       ("one file", tests.packed),
                       ("made many again", tests.unpacked),
                       ("one file of one process", tests.alone),
                       ("damaged packed files", tests.packed_damage),
                       ("a folder full of other things", tests.garbage),
                       ("damaged ones", tests.cut),
                       ("links", tests.links),
                       ("parts of a family", tests.parts)):
        tests.test(name, test)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
