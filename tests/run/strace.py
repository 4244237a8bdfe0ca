#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls and signals are shown as strace shows them natively.

usage: strace.py --cprec C --calls G --threads G

The guests are in programs/strace/.  Each program is run twice, by strace and in
a recording; lines of the same thread are compared, once what no two runs have
in common is gone: addresses, processes' numbers, times.  Lines that differ all
the same must be of the RULES.  Speaks TAP.
"""
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, is_executed_here, main  # noqa: E402

# Why a line is not the same; where `{}` stands, whatever came before.
RULES = {
    "cprec has no restartable sequences": r"rseq\(",
    "signals that do nothing are not recorded": r"--- (SIGCHLD|SIGUSR2) ",
    "signals come at other moments": r"rt_sigreturn\(|ERESTARTSYS",
    "threads run at other moments": r"futex\(",
    "the loader's memory depends on the processor":
        r"mmap\(NULL, (8192|12288), PROT_READ.PROT_WRITE, \S+, -1, 0",
    "the parent is another": r"getppid\(",
    "nobody knows who sent a signal that kills":
        r"--- SIGKILL |kill\(PID, SIGKILL\)",
    "a fork does not say whose it is": r"--- SIGTERM .*=SI_TKILL, si_pid=PID",
    "strace knows for whom a call could be": r"(socketcall|ipc)\(",
    "the kernel's page of code has getrandom(), if there is a state for it":
        r"getrandom\(",
    "what the kernel says of the machine":
        r"(sysinfo|getrusage|times|statfs|sched_getaffinity)\(",
}


# Natively, these are no calls: the kernel's page of code has them.
NO_CALLS = r"(clock_gettime|gettimeofday|time|getcpu)\("


def without_times(line):
    """What differs from run to run."""
    line = re.sub(r"0x[0-9a-f]{6,16}\b", "ADDRESS", line)
    line = re.sub(r"(si_pid|si_uid)=\d+", r"\1=PID", line)
    line = re.sub(r"st_size=\d+", "st_size=N", line) \
        if "/proc" in line else line
    line = re.sub(r"\s+= ", " = ", line)
    line = re.sub(r"(left \{).*?\}", r"\1}", line)
    line = line.replace(" (core dumped)", "")
    line = re.sub(r"(set_tid_address.* =) \d+", r"\1 PID", line)
    line = re.sub(r'getrandom\(".*?"', 'getrandom("RANDOM"', line)
    line = re.sub(r"/\* \d+ vars \*/", "/* N vars */", line)
    line = re.sub(r"^((shm|sem|msg)(ctl|op|at|snd|rcv)\()\d+", r"\1ID", line)
    line = re.sub(r"^((shm|sem|msg)get\(.* =) \d+$", r"\1 ID", line)
    line = line.replace("IPC_64|", "").replace("[0x7])", "0x7)")
    return line


def as_newest(line):
    """A line of strace 6.1 as version 6.13 has it."""
    return re.sub(r"data=\{u32=\d+, u64=(\d+)\}",
                  lambda found: f"data={int(found[1]):#x}".replace(
                      "=0x0", "=0"), line)


PIDS = (r"(clone3?|v?fork|wait4|waitid|get(p|t)id|getpgid|kill|tgkill|"
        r"rt_(tg)?sigqueueinfo|futex|rt_sigreturn|set_tid_address)\(")


def with_pids(line, pids):
    """A size may be the number of a process, too."""
    if not re.match(PIDS, line):
        return line
    return re.sub(r"\b\d{2,7}\b",
                  lambda found: "PID" if found.group() in pids
                  else found.group(), line)


def without_random_state(lines):
    """Memory for the getrandom() of the kernel's page of code, which cprec
    does not have: glibc 2.41 maps it with all signals blocked."""
    kept, is_in_block = [], False
    for line, after in zip(lines, lines[1:] + [""]):
        if "MAP_DROPPABLE" in after and line.startswith(
                "rt_sigprocmask(SIG_BLOCK, ~[]"):
            is_in_block = True
        if not is_in_block:
            kept.append(line)
        elif line.startswith("rt_sigprocmask(SIG_SETMASK"):
            is_in_block = False
    return kept


def without_guards(lines):
    """Pages of guards, which cprec does not have: glibc 2.43 asks for one below
    a thread's stack, and takes away its protection where there are none."""
    kept, is_refused = [], False
    for line in lines:
        is_guard = "MADV_GUARD_INSTALL)" in line
        if not is_guard and not (is_refused and re.match(
                r"mprotect\(.*, PROT_NONE\)\s+= 0$", line)):
            kept.append(line)
        is_refused = is_guard and "EINVAL" in line
    return kept


def without_own_files(lines):
    """What is read of the kernel's files of a process, in which addresses and
    numbers are as long as they happen to be.  glibc looks there for the ends of
    a stack, and Python, before it forks, for the number of its threads."""
    kept, file = [], None
    for line in lines:
        opened = re.match(r'openat\(.*"/proc/(self|\d+)/(?:maps|stat)".*'
                          r' = (\d+)$', line)
        if opened:
            file = opened[2]
            line = re.sub(r"/proc/\d+/", "/proc/PID/", line)
        elif file and line.startswith(f"close({file})"):
            file = None
        elif file and re.match(rf"(read|lseek|fstat)\({file}, ", line):
            continue
        kept.append(line)
    return kept


class Joined:
    """Lines by thread, those that were resumed as one."""

    def __init__(self):
        self.threads = {}
        self.open = {}
        self.resumed = 0

    def add(self, tid, line):
        lines = self.threads.setdefault(tid, [])
        line = as_newest(line)
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", line)
        if line.endswith(" <unfinished ...>"):
            self.open[tid] = line[:-len(" <unfinished ...>")]
            return
        if resumed:
            self.resumed += 1
            line = self.open.pop(tid, "") + resumed.group(1)
        lines.append(line)

    def normal(self):
        pids = {str(tid) for tid in self.threads}
        return [[with_pids(without_times(line), pids)
                 for line in without_own_files(without_guards(
                     without_random_state(lines)))
                 if not re.match(NO_CALLS, line)]
                for lines in self.threads.values()]


class Tests(CprecTap):
    total = same = 0

    def place(self):
        """An empty folder: some programs look into it."""
        place = os.path.join(self.folder, "here")
        os.makedirs(place, exist_ok=True)
        return place

    def native(self, words):
        log = os.path.join(self.folder, "strace.log")
        subprocess.run(["strace", "-f", "-o", log, *words], cwd=self.place(),
                       stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=60)
        joined = Joined()
        with open(log) as file:
            for line in file:
                tid, text = line.rstrip("\n").split(maxsplit=1)
                joined.add(int(tid), text)
        return joined.normal()

    def record(self, words, name="t.cpr"):
        trace = os.path.join(self.folder, name)
        subprocess.run([self.options.cprec, "rm", "-f", trace],
                       capture_output=True)
        subprocess.run([self.options.cprec, "record", "-q", "-o", trace,
                        "--", *words], cwd=self.place(),
                       stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=60)
        return trace

    def strace(self, *words):
        done = self.cprec("strace", *words)
        equal((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.splitlines()

    def processes(self, trace):
        done = self.cprec("ps", "--json", trace)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        return sorted(one["pid"] for one in found)

    def recorded(self, trace):
        joined = Joined()
        for pid in self.processes(trace):
            for line in self.strace(trace, f"--pid={pid}"):
                text = line.split(maxsplit=1)[1]
                thread = re.match(r"\[pid +(\d+)\] (.*)", text)
                joined.add(int(thread.group(1)) if thread else pid,
                           thread.group(2) if thread else text)
        return joined.normal()

    def explain(self, line):
        if not any(re.search(rule, line) for rule in RULES.values()):
            self.unexplained.append(line)

    def likeness(self, native, recorded):
        return difflib.SequenceMatcher(None, native, recorded, False).ratio()

    def compare_thread(self, native, recorded):
        found = difflib.SequenceMatcher(None, native, recorded, False)
        same = sum(block.size for block in found.get_matching_blocks())
        self.total += max(len(native), len(recorded))
        self.same += same
        for kind, a, b, c, d in found.get_opcodes():
            for line in native[a:b] if kind != "equal" else []:
                self.explain("native:   " + line)
            for line in recorded[c:d] if kind != "equal" else []:
                self.explain("recorded: " + line)
        return same

    def compare(self, *words):
        """Programs whose lines are all there, and no others."""
        self.unexplained = []
        native = self.native(words)
        recorded = self.recorded(self.record(words))
        equal(len(recorded), len(native), "threads")
        total = same = 0
        for lines in native:
            others = max(recorded, key=lambda one: self.likeness(lines, one))
            recorded.remove(others)
            total += max(len(lines), len(others))
            same += self.compare_thread(lines, others)
        expect(not self.unexplained, "\n".join(self.unexplained))
        return f"{same} of {total} lines"

    def folded(self):
        """Calls of i386 for several others; commands are not marked."""
        if not shutil.which("i686-linux-gnu-gcc"):
            return "there is no cross compiler for i386"
        program = os.path.join(self.folder, "folded")
        subprocess.run(["i686-linux-gnu-gcc", "-isystem",
                        "/usr/i686-linux-gnu/include", "-O1", "-static",
                        "-nostdlib", "-fno-stack-protector", "-o", program,
                        os.path.join(os.path.dirname(__file__), "programs",
                                     "strace", "i386_folded.c")], check=True)
        if not is_executed_here(program):
            return "this machine's kernel executes no program of i386"
        return self.compare(program)

    def most_are_same(self):
        expect(self.same >= self.total * 0.95, "not the same")
        return f"{self.same} of {self.total} lines"

    # ------- options -------

    def native_lines(self, *words):
        """Of cat, with options of strace; without the exec."""
        log = os.path.join(self.folder, "strace.log")
        subprocess.run(["strace", "-o", log, *words, "cat", "/etc/passwd"],
                       cwd=self.place(), capture_output=True, timeout=60)
        with open(log) as file:
            lines = [without_times(line.rstrip("\n")) for line in file]
        return self.plain(lines)

    def plain(self, lines):
        return [line for line in lines
                if not any(re.search(rule, line) for rule in RULES.values())]

    def same_options(self, *words):
        """Options that strace has, too."""
        lines = [line.split(maxsplit=1)[1]
                 for line in self.strace(self.cat, *words)]
        found = self.plain(without_times(line) for line in lines)
        native = self.native_lines(*words)
        expect(found == native,
               "\n".join(difflib.unified_diff(native, found, lineterm="")))
        return f"{len(found)} lines"

    def first_line(self):
        """The exec by which all begins, as strace has it."""
        def lines(*words):
            log = os.path.join(self.folder, "strace.log")
            subprocess.run(["strace", "-o", log, *words], cwd=self.place(),
                           capture_output=True, timeout=60)
            with open(log) as file:
                native = file.readline()
            mine = self.strace(self.record(words))[0]
            return native.rstrip("\n"), mine.split(maxsplit=1)[1], mine
        for words in (["cat", "/etc/passwd"], ["/bin/true", "a b", "\n"],
                      ["sh", "-c", ":", *(["x"] * 40)]):
            native, mine, line = lines(*words)
            equal(without_times(mine), without_times(native), words)
            # It has the variables, and when: before all.
            equal(re.findall(r"\* \d+ vars", mine),
                  re.findall(r"\* \d+ vars", native), words)
            equal(line.split()[0], "0", words)

    def options_of_strace(self):
        self.cat = self.record(["cat", "/etc/passwd"], "cat.cpr")
        for words in (["-e", "trace=%file"], ["-e", "trace=%desc"],
                      ["-e", "%memory"], ["-e", "trace=%process"],
                      ["-e", "trace=!mmap,openat"], ["-e", "read,close"],
                      ["-e", "trace=all"], ["-e", "trace=none"],
                      ["-s", "5"], ["-s", "200"], ["-e", "t=%network"],
                      ["-e", "trace=/^open|sta.$,read"], ["-e", "!/m.*p"],
                      ["-e", "status=failed"], ["-e", "status=unfinished"],
                      ["-e", "status=!successful,unavailable"], ["-z"],
                      ["-Z", "-e", "trace=%file"],
                      ["-Z", "-z", "-e", "read,exit_group"]):
            self.same_options(*words)

    def statuses(self):
        """Of several threads, each call is in one line."""
        trace = self.record([self.options.threads])
        names = "read,write,futex,clone3,clone"
        lines = self.strace(trace, "-e", "status=all", "-e", names)
        expect(not any("unfinished" in line or "resumed" in line
                       for line in lines), "a call in two lines")
        parts = [self.strace(trace, "-e", "status=" + status, "-e", names)
                 for status in ("successful", "failed", "unfinished")]
        for part in parts:
            equal([line for line in lines if line in part], part, "order")
        calls = [line for part in parts for line in part if "(" in line]
        equal(sorted(calls), sorted(line for line in lines if "(" in line),
              "all of them")
        whole = self.strace(trace, "-e", names)
        equal(len(calls), sum("(" in line for line in whole), "calls")

    def clocks(self):
        """As far from each other as the program waited; what it said is what
        the program was told."""
        trace = self.record([sys.executable, "-c", "import time\ntime.sleep("
                             "0.2)\nprint(time.time())"])
        shown = [line.split() for line in self.strace(
            trace, "-ttt", "-e", "clock_nanosleep,exit_group")]
        slept, ended = float(shown[0][1]), float(shown[-2][1])
        expect(0.2 <= ended - slept < 5, f"{slept} {ended}")
        started = json.loads(self.cprec("ps", "--json", trace).stdout
                             .splitlines()[0])
        expect(abs(slept - time.time()) < 300, f"{slept}: {started}")
        for letters, form in (("-t", "%H:%M:%S"), ("-tt", "%H:%M:%S")):
            line = self.strace(trace, letters, "-e", "clock_nanosleep")[0]
            told = line.split()[1].split(".")
            equal(told[0], time.strftime(form, time.localtime(slept)), letters)
            equal(len(told), len(letters) - 1, letters)

    def sets(self):
        """Which calls of the guest are of which set, and signals."""
        trace = self.record([self.options.calls])
        log = os.path.join(self.folder, "strace.log")
        for name in ("%file", "%desc", "%network", "%process", "%memory",
                     "%signal", "%ipc", "%creds", "%stat", "%lstat",
                     "%fstat", "%%stat", "%statfs", "%fstatfs", "%%statfs",
                     "%pure"):
            subprocess.run(["strace", "-o", log, "-e", "trace=" + name,
                            "-e", "signal=none", self.options.calls],
                           cwd=self.place(), capture_output=True, timeout=60)
            with open(log) as file:
                native = self.names(file)
            mine = self.names(line.split(maxsplit=1)[1] for line in
                              self.strace(trace, "-e", name, "-e",
                                          "signal=none"))
            equal(mine - native, set(), f"{name}: too much")
            equal(native - mine, set(), f"{name}: missing")

    def names(self, lines):
        """But for that of a number that is no call."""
        return {line.split("(")[0] for line in lines
                if line[0].isalpha() and not line.startswith("syscall_")}

    def counts(self):
        log = os.path.join(self.folder, "strace.log")
        subprocess.run(["strace", "-c", "-o", log, "cat", "/etc/passwd"],
                       cwd=self.place(), capture_output=True, timeout=60)
        native, mine = {}, {}
        with open(log) as file:
            for line in file.read().splitlines()[2:-2]:
                words = line.split()
                native[words[-1]] = [int(word) for word in words[3:-1]]
        for line in self.strace(self.cat, "-c")[1:-1]:
            words = line.split()
            mine[words[-1]] = [int(word) for word in words[:-1]]
        for name in ("rseq", "mmap", "exit_group"):
            native.pop(name, None)
            mine.pop(name, None)
        equal(mine, native, "-c")

    def files(self):
        """Files of descriptors, as strace has them."""
        lines = self.strace(self.cat, "-y", "-e", "openat,read,close")
        mine = {found for line in lines
                for found in re.findall(r"\(3<(.*?)>", line)}
        native = {found for line in self.native_lines(
                      "-y", "-e", "openat,read,close")
                  for found in re.findall(r"\(3<(.*?)>", line)}
        equal({os.path.realpath(path) for path in mine}, native, "-y")
        expect("/etc/passwd" in mine, mine)

    # ------- what strace does not have -------

    def times(self):
        """Positions are those of the packets."""
        done = self.cprec("dump", "--json", "--kind=SYSCALL", self.cat)
        packets = [json.loads(line) for line in done.stdout.splitlines()]
        # The program's exec is no packet.
        equal([line.split()[0] for line in self.strace(self.cat)
               if "+++" not in line][1:],
              [str(packet["at"]) for packet in packets], "times")

    def part(self):
        lines = self.strace(self.cat)
        middle = len(lines) // 2
        first, last = (int(lines[i].split()[0])
                       for i in (middle, middle + 5))
        equal(self.strace(self.cat, f"--from={first - 1}", f"--to={last}"),
              lines[middle:middle + 6], "part")

    def objects(self):
        trace = self.record([self.options.threads])
        joined = Joined()
        for line in self.strace(trace, "--thread=all"):
            text = line.split(maxsplit=1)[1]
            thread = re.match(r"\[pid +(\d+)\] (.*)", text)
            joined.add(int(thread.group(1)), re.sub(r"\s+= ", " = ",
                                                   thread.group(2)))
        found = {}
        for line in self.strace(trace, "--json"):
            one = json.loads(line)
            text = f"+++ exited with {one['result']} +++"
            if one["kind"] == "call":
                text = one["text"]
                equal(text.rsplit(" = ", 1)[0],
                      f"{one['name']}({', '.join(one['arguments'])})", line)
                expect(one.get("began", 0) <= one["at"], line)
            found.setdefault(one["thread"], []).append(text)
        equal(found, joined.threads, "objects")
        expect(joined.resumed, "no line is unfinished")
        for tid in found:
            lines = self.strace(trace, f"--thread={tid}")
            expect(all(f"[pid {tid:5}] " in line for line in lines), "thread")

    def backtraces(self):
        trace = self.record([self.options.threads])
        found = {}
        for line in self.strace(trace, "-k", "--json", "-e", "read"):
            one = json.loads(line)
            if one["kind"] != "call":
                continue
            names = [frame.get("function") for frame in one["frames"]]
            found.setdefault(one["thread"], []).append(names)
        first, second = sorted(found)
        expect(all("main" in names for names in found[first][-20:]), "main")
        expect(all("answer" in names for names in found[second]), "answer")
        text = "\n".join(self.strace(trace, "-k", "-e", "read"))
        expect(re.search(r'resumed>"a", 1\) .*(\n +#\d.*)*\n +#\d+ .* in'
                         r" answer ", text), text[:999])

    def wrong(self):
        for expression in ("trace=openat,nothing", "signal=SIGNOTHING",
                           "%nothing", "status=nothing", "/(nothing"):
            done = self.cprec("strace", self.cat, "-e", expression)
            equal(done.returncode, 2, expression)
            expect(re.search("nothing' is no", done.stderr.lower()) and
                   done.stderr.count("\n") == 1, done.stderr)
        done = self.cprec("strace", self.cat, "-e", "abbrev=none")
        equal((done.returncode, done.stderr.count("\n")), (2, 1), "abbrev=")
        expect("only trace=, signal= and status= are" in done.stderr,
               done.stderr)
        equal(self.strace(self.cat, "-e", "?nothing"),
              self.strace(self.cat, "-e", "none"), "?")


def run_all(options, folder):
    tests = Tests(options, folder)
    for name, words in {
            "many calls": [options.calls],
            "a fault": [options.calls, "x"],
            "threads": [options.threads],
            "ls": ["ls", "-l", "/etc"],
            "cat": ["cat", "/etc/passwd", "/nowhere"],
            "a shell and its children":
                ["sh", "-c", "ls / | cat; cat /etc/passwd; (exit 3); :"],
            "python": ["/usr/bin/python3", "-c", "import json; print(json.dumps({}))"],
            "a signal to itself": [sys.executable, "-c",
                               "import os; os.abort()"],
        "a signal to itself, by kill": ["sh", "-c", "kill -TERM $$"],
        "a signal to a process of its own":
            [sys.executable, "-c", "import os, signal\nif not os.fork():\n"
             " signal.raise_signal(15)\nos._exit(os.wait()[1])"],
        "sigqueue": [sys.executable, "-c", "import ctypes, os\n"
                     "ctypes.CDLL(None).sigqueue(os.getpid(), 40, 7)"],
        "a signal": ["sh", "-c", "trap 'echo x' INT; kill -INT $$;"
                         " kill -9 $$"],
    }.items():
        tests.test(name, tests.compare, *words)
    tests.test("calls of i386", tests.folded)
    tests.test("most lines are the same", tests.most_are_same)
    tests.test("the first line", tests.first_line)
    tests.test("options of strace", tests.options_of_strace)
    tests.test("sets", tests.sets)
    tests.test("how calls end", tests.statuses)
    tests.test("-t, -tt, -ttt", tests.clocks)
    tests.test("-c", tests.counts)
    tests.test("-y", tests.files)
    tests.test("times", tests.times)
    tests.test("a part", tests.part)
    tests.test("JSON", tests.objects)
    tests.test("-k", tests.backtraces)
    tests.test("wrong expressions", tests.wrong)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "calls", "threads"))
