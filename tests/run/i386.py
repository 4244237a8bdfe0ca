#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of i386 do under cprec what they do natively.

usage: i386.py --cprec C --programs FOLDER

FOLDER has programs/i386_*.c, and two that say nothing of a machine, compiled
here by the cross compiler.  The oracle is the processor itself.  Without the
compiler nothing is tested; where this machine's kernel executes no programs of
i386, recordings are compared with what `run` does.  Speaks TAP.
"""
import glob
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from arm64 import Tests as OtherTests, run  # noqa: E402
from tap import equal, expect, is_executed_here, main  # noqa: E402

COMPILER = "i686-linux-gnu-gcc"
LIBRARIES = "/usr/i686-linux-gnu/lib"
INCLUDE = "/usr/i686-linux-gnu/include"
WAYS = {"static": ["-static"],
        "dynamic": ["-Wl,--dynamic-linker=" + LIBRARIES + "/ld-linux.so.2",
                    "-Wl,-rpath," + LIBRARIES]}


# With the addresses that cprec gives.
NATIVELY = ["setarch", "-R"]


def compile_to(program, *arguments):
    subprocess.run([COMPILER, "-isystem", INCLUDE, "-O1", "-g", "-pthread",
                    "-o", program, *arguments], check=True)


class Tests(OtherTests):
    arch = "i386"
    compiler = COMPILER
    includes = ["-idirafter", INCLUDE]

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.counting = self.assembled("counted", COUNTED)
        self.is_native = is_executed_here(self.counting)
        self.oracle = NATIVELY if self.is_native else [options.cprec, "run"]

    def assembled(self, name, text):
        program = os.path.join(self.folder, name)
        source = program + ".S"
        with open(source, "w", encoding="utf-8") as out:
            out.write(text)
        compile_to(program, "-nostdlib", "-static", source)
        return program

    def compiled(self, source, way):
        name = os.path.basename(source)[:-2]
        program = os.path.join(self.folder, f"{name}-{way}")
        compile_to(program, *WAYS[way], source, "-lm")
        return program

    def compare(self, source, way):
        program = self.compiled(source, way)
        expected = run(*self.oracle, program, "a", "b c")
        trace = program + ".cpr"
        cprec = self.options.cprec
        equal(run(cprec, "run", program, "a", "b c"), expected, "run")
        equal(run(cprec, "record", "-o", trace, program, "a", "b c"),
              expected, "record")
        self.answer("verify", "-q", trace)
        self.answer("verify", "-q", "--thread=all", trace)
        equal(self.answer("replay", trace).encode(), expected[1], "replay")
        info = json.loads(self.answer("info", "--json", trace))
        equal(info["arch"], "i386", "architecture")

    def counted(self):
        """Each instruction is one; and stops at each are exact."""
        program = self.counting
        trace = program + ".cpr"
        equal(run(*self.oracle, program)[0], 7, "status, natively")
        equal(run(self.options.cprec, "record", "-o", trace, program)[0], 7,
              "status")
        info = json.loads(self.answer("info", "--json", trace))
        equal(info["instructions"], 2 + 3 * 100 + 8, "instructions")
        for i in range(1, 10):
            at = 2 + 3 * i
            regs = json.loads(self.answer("registers", "--json",
                                          f"--at={at}", trace))
            values = regs["registers"]
            equal(int(values["ecx"], 0), 100 - i, f"ecx at {at}")
            equal(int(values["eax"], 0), sum(range(101 - i, 101)),
                  f"eax at {at}")

    def machines(self, source):
        """Programs of i386 and x86-64 execute each other, and go on in other
        recordings."""
        if not self.is_native:
            return "this machine's kernel executes no program of i386"
        program = self.compiled(source, "dynamic")
        own = os.path.join(self.folder, "machines-own")
        subprocess.run(["cc", "-o", own, source], check=True)
        trace = own + ".cpr"
        words = [own, "1", ",", program, "2", ",", program, "3", ",", own, "4"]
        expected = run(*words)
        equal(run(self.options.cprec, "run", *words), expected, "run")
        equal(run(self.options.cprec, "record", "-q", "-o", trace, *words),
              expected, "record")
        archs = []
        for line in self.answer("ps", "--json", trace).splitlines():
            path = json.loads(line)["recording"]
            self.answer("verify", "-q", path)
            archs.append(json.loads(self.answer("info", "--json",
                                                path))["arch"])
        equal(archs, ["x86_64", "i386", "x86_64"], "architectures")

    def parts(self, compiler):
        """Bytes of registers, and those of MMX, have names everywhere."""
        program = os.path.join(self.folder, "parts")
        with open(program + ".S", "w", encoding="utf-8") as out:
            out.write(PARTS)
        subprocess.run([compiler, "-nostdlib", "-static", "-o", program,
                        program + ".S"], check=True)
        trace = program + ".cpr"
        self.cprec("record", "-q", "-o", trace, program)
        for name, value in {"ah": "3c", "al": "66", "ax": "663c",
                            "mm0": "3c66221100000000",
                            "mm7": "3c66221100000000"}.items():
            told = json.loads(self.answer("query", "--json", "--at=8",
                                          f"--addr=${name}", trace))
            equal(told["bytes"], value, name)
        for name, at, last in (("ah", 8, 5), ("ah", 5, 1), ("al", 5, 2),
                               ("ax", 5, 2), ("al", 8, 6), ("mm0", 8, 3),
                               ("mm7", 8, 4)):
            told = json.loads(self.answer("last", "--json", f"--at={at}",
                                          f"--register={name}", trace))
            equal(told["at"], last, f"{name} before {at}")
        told = json.loads(self.answer("when", "--json", "--expr=$ah == 0x3c",
                                      trace))
        equal(told["at"], 6, "when")

    def calls(self, source):
        """Arguments are on the stack; results are in two registers, in one of
        x87, or in memory."""
        program = self.compiled(source, "static")
        trace = program + ".cpr"
        equal(run(self.options.cprec, "record", "-q", "-o", trace, program),
              run(*self.oracle, program), "record")
        said = self.answer("calls", trace, "mix", "wide", "make", "count")
        for text in ("mix(a=1.5, b=2.5, c=2) = 5.75",
                     "wide(value=5000000000, c=97 'a') = 15000000097",
                     "make(x=7) = {x = 7, y = 3.5}",
                     'count(n=1, name=', '"five") = 1'):
            expect(text in said, said)

    def sent(self, source):
        """What a call for several others sends races with who writes it."""
        program = self.compiled(source, "static")
        trace = program + ".cpr"
        for words, races in ([], 1), (["ordered"], 0):
            run(self.options.cprec, "record", "-q", "-o", trace, program,
                *words)
            found = self.answer("races", trace)
            equal(found.count(" (sends) races with "), races, found)

    def refused(self):
        """Files that no kernel of this machine starts, and one that has no
        libraries here."""
        source = os.path.join(self.folder, "nothing.c")
        with open(source, "w", encoding="utf-8") as out:
            out.write("int main(void) { return 0; }\n")
        program = os.path.join(self.folder, "nothing")
        compile_to(program, source,
                   "-Wl,--dynamic-linker=/nowhere/ld-linux.so.2")
        done = self.cprec("run", program)
        expect("libc6-i386" in done.stderr and done.returncode, done.stderr)
        with open(program, "r+b") as out:
            out.seek(18)
            out.write(b"\x3e")
        done = self.cprec("run", program)
        expect("it is an x32 program" in done.stderr, done.stderr)
        with open(program, "r+b") as out:
            out.seek(5)
            out.write(b"\2")
            out.seek(18)
            out.write(b"\0\3")
        done = self.cprec("run", program)
        expect("the highest byte first" in done.stderr, done.stderr)


COUNTED = """
.global _start
_start:
	xor	%eax, %eax
	mov	$100, %ecx
1:	add	%ecx, %eax
	dec	%ecx
	jnz	1b
	push	%ds
	pop	%es
	pushal
	popal
	mov	$1, %eax
	mov	$7, %ebx
	lea	1(%eax), %edx
	int	$0x80
"""


PARTS = """
.global _start
_start:
	mov	$0x11223344, %eax
	mov	$0x66, %ah
	mov	$0x3c, %al
	movd	%eax, %mm0
	movd	%eax, %mm7
	xchg	%al, %ah
	mov	$0x66, %al
	nop
	int3
"""


def run_all(options, folder):
    if not shutil.which(COMPILER):
        print(f"1..0 # SKIP there is no {COMPILER}: ./setup installs it")
        return 0
    tests = Tests(options, folder)
    memory = os.path.join(options.programs, "arm64_memory.c")
    own = sorted(glob.glob(os.path.join(options.programs, "i386_*.c")))
    calls = os.path.join(options.programs, "calls_32.c")
    for source in [memory, calls] + own:
        for way in WAYS:
            name = os.path.basename(source)
            tests.test(f"{name}, {way}", tests.compare, source, way)
    tests.test("counted", tests.counted)
    for compiler in COMPILER, "cc":
        tests.test("parts of registers, " + compiler, tests.parts, compiler)
    tests.test("machines", tests.machines,
               os.path.join(options.programs, "machines.c"))
    tests.test("machines_family", tests.family,
               os.path.join(options.programs, "machines_family.c"))
    tests.test("calls", tests.calls,
               os.path.join(options.programs, "i386_functions.c"))
    tests.test("sent", tests.sent,
               os.path.join(options.programs, "sent_i386.c"))
    tests.test("refused", tests.refused)
    tests.test("asked of arm64_memory.c", tests.asked, memory, "static")
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "programs"))
