#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of AArch64 do under cprec what they do under qemu-user.

usage: arm64.py --cprec C --programs FOLDER

FOLDER has programs/arm64_*.c, compiled here by the cross compiler, once
statically and once with the compiler's own libraries as the sysroot.  Without
that compiler, or qemu-user, nothing is tested.  Speaks TAP.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import (  # noqa: E402
    CprecTap, equal, expect, main, one_by_one, qemu_user)


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60)
    return done.returncode, done.stdout


PARTS = """	.global _start
_start:	movz x1, #0x7788
	movk x1, #0x5566, lsl 16
	movk x1, #0x3344, lsl 32
	movk x1, #0x1122, lsl 48
	fmov d1, x1
	mov w1, #7
	mov x29, #1
	mov x16, #2
	mov x0, #0
	mov x8, #93
	svc 0
"""

class Tests(CprecTap):
    arch = "aarch64"
    compiler = "aarch64-linux-gnu-gcc"
    oracle = [qemu_user("aarch64"), "-cpu", "cortex-a72"]
    sysroot = "/usr/aarch64-linux-gnu"
    ways = {"static": ["-static"], "dynamic": []}
    includes = []

    def can_run(self):
        """Else says why not."""
        if shutil.which(self.compiler) and shutil.which(self.oracle[0]):
            return True
        print(f"1..0 # SKIP there is no {self.compiler}, or no "
              f"{self.oracle[0]}: ./setup installs both")
        return False

    def answer(self, *arguments):
        done = self.cprec(*arguments)
        equal(done.returncode, 0, done.stderr)
        return done.stdout

    def compiled(self, source, way):
        name = os.path.basename(source)[:-2]
        program = os.path.join(self.folder, f"{name}-{way}")
        subprocess.run([self.compiler, "-O1", "-g", "-pthread",
                        *self.ways[way],
                        "-o", program, source, "-lm"], check=True)
        return program

    def compare(self, source, way):
        program = self.compiled(source, way)
        expected = run(*self.oracle, "-L", self.sysroot, program, "a", "b c")
        trace = program + ".cpr"
        sysroot = "--sysroot=" + self.sysroot
        cprec = self.options.cprec
        equal(run(cprec, "run", sysroot, program, "a", "b c"), expected, "run")
        equal(run(cprec, "record", "-o", trace, sysroot, program, "a", "b c"),
              expected, "record")
        self.answer("verify", "-q", trace)
        equal(self.answer("replay", trace).encode(), expected[1], "replay")
        info = json.loads(self.answer("info", "--json", trace))
        equal(info["arch"], self.arch, "architecture")

    def counted(self):
        """Each instruction is one, as with an oracle that executes one by
        one; and stops at each are exact."""
        program = os.path.join(self.folder, "counted")
        source = program + ".S"
        with open(source, "w", encoding="utf-8") as out:
            out.write(COUNTED)
        subprocess.run([self.compiler, "-nostdlib", "-static", "-o", program,
                        source], check=True)
        done = subprocess.run([self.oracle[0], "-d", "nochain,exec", program],
                              env=one_by_one(), capture_output=True,
                              check=False)
        steps = done.stderr.count(b"Trace ")
        trace = program + ".cpr"
        equal(run(self.options.cprec, "record", "-o", trace, program)[0],
              done.returncode, "status")
        info = json.loads(self.answer("info", "--json", trace))
        equal(info["instructions"], steps, "instructions")
        for i in range(1, 10):
            at = 2 + 3 * i
            regs = json.loads(self.answer("registers", "--json",
                                          f"--at={at}", trace))
            values = regs["registers"]
            equal(int(values["x1"], 0), 100 - i, f"x1 at {at}")
            equal(int(values["x0"], 0), sum(range(101 - i, 101)),
                  f"x0 at {at}")

    def parts(self):
        """Parts of registers have names, everywhere."""
        source = os.path.join(self.folder, "parts.S")
        program = source[:-2]
        with open(source, "w", encoding="utf-8") as out:
            out.write(PARTS)
        subprocess.run([self.compiler, "-nostdlib", "-static", "-o", program,
                        source], check=True)
        trace = program + ".cpr"
        equal(run(self.options.cprec, "record", "-q", "-o", trace,
                  program)[0], 0, "status")
        for name, value in {
                "w1": "07000000", "x1": "0700000000000000",
                "b1": "88", "h1": "8877", "s1": "88776655",
                "d1": "8877665544332211",
                "q1": "8877665544332211" + 16 * "0",
                "v1": "8877665544332211" + 16 * "0",
                "fp": "0100000000000000", "ip0": "0200000000000000"}.items():
            told = json.loads(self.answer("query", "--json", "--at=9",
                                          f"--addr=${name}", trace))
            equal(told["bytes"], value, name)
        for name, at in ("w1", 5), ("s1", 4), ("d1", 4), ("ip0", 7):
            told = json.loads(self.answer("last", "--json",
                                          f"--register={name}", trace))
            equal(told["at"], at, name)
        told = json.loads(self.answer("when", "--json", "--expr=$w1 == 7",
                                      trace))
        equal(told["at"], 6, "when")

    def unknown(self):
        """What is no instruction is shown as a word, and goes on behind it."""
        source = os.path.join(self.folder, "unknown.S")
        program = source[:-2]
        with open(source, "w", encoding="utf-8") as out:
            out.write("\t.global _start\n_start:\tnop\n\tb 1f\n"
                      "\t.inst 0x00c0ffee\n1:\t.inst 0x02000001\n\tnop\n")
        subprocess.run([self.compiler, "-nostdlib", "-static", "-o", program,
                        source], check=True)
        run(self.options.cprec, "record", "-q", "-o", program + ".cpr", program)
        told = self.answer("disassemble", "--json", "--addr=_start", "--count=5",
                           program + ".cpr")
        found = [json.loads(line) for line in told.splitlines()]
        equal([one["size"] for one in found], [4] * 5, told)
        equal([one["instruction"] for one in found[2:]],
              [".inst 0x00c0ffee", ".inst 0x02000001", "nop"], told)

    def monitor(self, source):
        """Also where key frames lie in between, and of a thread alone."""
        program = self.compiled(source, "static")
        trace = program + ".cpr"
        expected = (b"nothing: 0\na clear: 1\na system call: 1\n"
                    b"another thread: 1\na signal: 1\n")
        cprec = self.options.cprec
        equal(run(cprec, "run", program), (0, expected), "run")
        equal(run(cprec, "record", "-o", trace, "--segment=1000", program),
              (0, expected), "record")
        self.answer("verify", "-q", trace)
        self.answer("verify", "-q", "--thread=all", trace)

    def scripts(self, source):
        """What a program executes is looked for under the sysroot, but keeps
        its name."""
        sysroot = os.path.join(self.folder, "system")
        program = self.compiled(source, "static")
        os.makedirs(os.path.join(sysroot, "bin"), exist_ok=True)
        shutil.copy(program, os.path.join(sysroot, "bin", "sh"))
        script = os.path.join(sysroot, "bin", "cprec-script")
        with open(script, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh -x\n")
        os.chmod(script, 0o755)
        expected = (f"aarch64: {program} first\n"
                    "aarch64: /bin/sh -x /bin/cprec-script second\n")
        trace = program + ".cpr"
        equal(run(self.options.cprec, "record", "-o", trace,
                  "--sysroot=" + sysroot, program, "first", ",",
                  "/bin/cprec-script", "second"),
              (0, expected.encode()), "record")
        self.answer("verify", "-q", trace)

    def looks(self, source):
        """The sysroot may be relative; directories are where they say."""
        program = self.compiled(source, "static")
        sysroot = os.path.join(self.folder, "cprec-root")
        os.makedirs(os.path.join(sysroot, "cprec-folder"), exist_ok=True)
        for link, target in (("cprec-link", "cprec-folder"),
                             ("cprec-dangling", "/cprec-nowhere")):
            os.symlink(target, os.path.join(sysroot, link))
        expected = """\
/: stat+ lstat+ access+ open+ link- chdir+
/cprec-folder: stat+ lstat+ access+ open+ link- chdir-
/cprec-link: stat+ lstat+ access+ open+ link+cprec-folder chdir-
/cprec-dangling: stat- lstat+ access- open- link+/cprec-nowhere chdir-
/cprec-nowhere: stat- lstat- access- open- link- chdir-
"""
        names = [line.split(":")[0] for line in expected.splitlines()]
        done = self.cprec("run", "--sysroot=" + os.path.relpath(sysroot),
                          program, *names)
        equal(done.stdout, expected, "what is there")

    def machines(self, source):
        """A process that changes its architecture goes on in another
        recording; those of its own kind do not begin one."""
        arm = self.compiled(source, "dynamic")
        own = os.path.join(self.folder, "machines-own")
        subprocess.run(["cc", "-o", own, source], check=True)
        sysroot, trace = "--sysroot=" + self.sysroot, own + ".cpr"
        words = [own, "1", ",", arm, "2", ",", arm, "3", ",", own, "4", ",",
                 "/nothing"]
        name = "armv7l" if self.arch == "arm" else self.arch
        expected = (1, (f"x86_64: {own} 1\n{name}: {arm} 2\n{name}: {arm} 3"
                        f"\nx86_64: {own} 4\n").encode())
        equal(run(self.options.cprec, "run", sysroot, *words), expected, "run")
        equal(run(self.options.cprec, "record", "-q", "-o", trace, sysroot,
                  *words), expected, "record")
        processes = [json.loads(line) for line in
                     self.answer("ps", "--json", trace).splitlines()]
        became = {"became": True}
        equal([process["exit"] for process in processes],
              [became, became, {"code": 1}], "how they ended")
        expect("exit:          none: it became" in self.answer("info", trace),
               "what info says of that")
        equal(len({process["pid"] for process in processes}), 1, "numbers")
        output = ""
        for process, arch in zip(processes, ("x86_64", self.arch, "x86_64")):
            path = process["recording"]
            info = json.loads(self.answer("info", "--json", path))
            equal(info["arch"], arch, "architecture of " + path)
            self.answer("verify", "-q", path)
            output += self.answer("replay", path)
        equal(output.encode(), expected[1], "replays")

    def family(self, source):
        """Processes of two architectures start each other, and are found by
        name, number and in a packed file."""
        theirs = os.path.join(self.folder, "family-theirs")
        ours = os.path.join(self.folder, "family-ours")
        last = os.path.join(self.folder, "family-last")
        for compiler, program in ((self.compiler, theirs), ("cc", ours),
                                  (self.compiler, last)):
            subprocess.run([compiler, *self.includes, "-g", "-static", "-o",
                            program, source], check=True)
        trace = os.path.join(self.folder, "family.cpr")
        words = [theirs, ours, last]
        status, output = run(self.options.cprec, "record", "-q", "-o", trace,
                             *words)
        name = output.split()[0].decode()
        equal((status, output.decode()),
              (3, f"{name} 3\nx86_64 2\n{name} 1\nx86_64: status 3\n"
                  f"{name}: status 2\n"), "record")
        packed = os.path.join(self.folder, "family.packed.cpr")
        self.answer("pack", "-o", packed, trace)
        for file in trace, packed:
            processes = [json.loads(line) for line in
                         self.answer("ps", "--json", file).splitlines()]
            numbers = [process["pid"] for process in processes]
            equal(len(processes), 5, "recordings")
            for number, arch, depth in (
                    ("family-theirs", self.arch, 3), ("family-ours", "x86_64", 2),
                    ("family-last", self.arch, 1),
                    (f"{numbers[1]}-1", self.arch, 3),
                    (f"{numbers[1]}-2", "x86_64", 2)):
                info = json.loads(self.answer("info", "--json",
                                              f"--pid={number}", file))
                equal(info["arch"], arch, number)
                told = self.answer("query", f"--pid={number}", "--at=end",
                                   "--addr=depth", file)
                expect(told.startswith(f"depth = {depth}\n"), told)
            done = self.cprec("info", f"--pid={numbers[1]}", file)
            expect(f"{numbers[1]}-1, " in done.stderr, done.stderr)
            equal(self.answer("verify", "--all", file).count(": verified "), 5,
                  "verified")

    def threads_change(self, source):
        """Any thread may change the process's architecture."""
        programs = []
        for compiler in "cc", self.compiler:
            programs.append(os.path.join(self.folder, "change-" + compiler))
            subprocess.run([compiler, "-static", "-pthread", "-o",
                            programs[-1], source], check=True)
        trace = os.path.join(self.folder, "change.cpr")
        equal(run(self.options.cprec, "record", "-q", "-o", trace, *programs,
                  *programs), (0, b"4\n3\n2\n1\n"), "record")
        for line in self.answer("ps", "--json", trace).splitlines():
            path = json.loads(line)["recording"]
            self.answer("verify", "-q", path)
            self.answer("verify", "-q", "--thread=all", path)

    def arguments(self, source):
        program = self.compiled(source, "static")
        trace = program + ".cpr"
        equal(run(self.options.cprec, "record", "-o", trace, program)[0], 0,
              "status")
        for name, expected in {
                "ten": "(a=1, b=2, c=3 '\\003', d=4, e=5, f=6, g=7, h=8, i=9,"
                       " j=10) = 55,",
                "mixed": "(x=0.5, a=7, y=0.25, l={a = 1, b = 2, c = 3}, "
                         "s={a = 4, b = 5}) = 15.75,",
                "two": "(a=6) = {a = 6, b = 7},",
                "four": "(a=0.5, b={a = 1, b = 2, c = 3, d = 4}) ="
                        " {a = 1, b = 2, c = 3, d = 4.5},",
                "vectors": "(a={1, 2}, b={a = {3, 4}, b = {5, 6}}) ="
                           " {a = {3, 4}, b = {6, 8}},",
                "quarter": "(a=1.5, b=6) = 1.875,"}.items():
            found = self.answer("calls", trace, name)
            expect(name + expected in found, found)
        # gcc 16 says where it is.
        found = self.answer("calls", trace, "both")
        expect(re.search(r"both\(a=(<optimized out>|\{a = 1.5, b = 7\})\) ="
                         r" \{a = 3, b = 7\},", found), found)

    def there_and_back(self, source):
        """Memory that is mapped twice, at addresses beyond those of x86-64: a
        replay that goes back unmaps it."""
        program = self.compiled(source, "dynamic")
        trace = program + ".cpr"
        self.answer("record", "-q", "-o", trace, "--sysroot=" + self.sysroot,
                    program)
        times = ["end", "50%", "end", "90%", "10%"]
        done = subprocess.run(
            [self.options.cprec, "query", "--json", trace, "-"],
            input="".join(f"$sp {at}\n" for at in times), text=True,
            capture_output=True)
        equal(done.stderr, "", "errors")
        for line, at in zip(done.stdout.splitlines(), times, strict=True):
            alone = json.loads(self.answer("query", "--json", trace,
                                           "--addr=$sp", "--at=" + at))
            equal(json.loads(line), {"question": json.loads(line)["question"],
                                     **alone}, at)

    def asked(self, source, way):
        """A variable at each time, and who wrote it, also where code is at
        the highest addresses."""
        trace = self.compiled(source, way) + ".cpr"
        found = self.answer("query", trace, "--addr=sum", "--at=100%")
        expect("sum = 499500" in found, found)
        last = self.answer("last", trace, "--addr=sum")
        expect(" in add " in last, last)
        history = self.answer("writes", trace, "--addr=sum")
        equal(history.count(" in add "), 1000, history)


COUNTED = """
.global _start
_start:
	mov	x0, #0
	mov	x1, #100
1:	add	x0, x0, x1
	subs	x1, x1, #1
	b.ne	1b
	adr	x2, word
	ldxr	x3, [x2]
	stxr	w4, x3, [x2]
	yield
	wfi
	mrs	x5, cntfrq_el0
	mrs	x6, midr_el1
	mov	x0, #7
	mov	x8, #93
	svc	#0
.data
.balign 8
word:	.quad 0
"""


def run_all(options, folder):
    tests = Tests(options, folder)
    if not tests.can_run():
        return 0
    sources = sorted(glob.glob(os.path.join(options.programs, "arm64_*.c")))
    for source in sources:
        for way in tests.ways:
            name = os.path.basename(source)
            tests.test(f"{name}, {way}", tests.compare, source, way)
    tests.test("counted", tests.counted)
    tests.test("unknown", tests.unknown)
    tests.test("parts of registers", tests.parts)
    tests.test("monitor", tests.monitor,
               os.path.join(options.programs, "monitor_arm64.c"))
    tests.test("scripts", tests.scripts,
               os.path.join(options.programs, "machines.c"))
    tests.test("looks", tests.looks,
               os.path.join(options.programs, "looks_arm64.c"))
    tests.test("machines", tests.machines,
               os.path.join(options.programs, "machines.c"))
    tests.test("machines_family", tests.family,
               os.path.join(options.programs, "machines_family.c"))
    tests.test("machines_threads", tests.threads_change,
               os.path.join(options.programs, "machines_threads.c"))
    tests.test("arguments", tests.arguments,
               os.path.join(options.programs, "arguments_arm64.c"))
    tests.test("there and back", tests.there_and_back,
               os.path.join(options.programs, "shown_twice.c"))
    for name in "arm64_memory.c", "arm64_tags.c":
        for way in tests.ways:
            tests.test(f"asked of {name}, {way}", tests.asked,
                       os.path.join(options.programs, name), way)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "programs"))
