#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of 32-bit ARM do under cprec what they do under qemu-user.

usage: arm.py --cprec C --programs FOLDER

FOLDER has programs/arm_*.c and others, compiled here by the cross compiler: as
Thumb code and as ARM code, statically, and with the compiler's own libraries as
the sysroot.  Without that compiler, or qemu-user, nothing is tested.
Speaks TAP.
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from arm64 import Tests as OtherTests, run  # noqa: E402
from tap import equal, expect, main, one_by_one, qemu_user  # noqa: E402

NAMES = [f"r{i}" for i in range(13)] + ["sp", "lr", "pc", "cpsr"]
CPSR = 16
# What qemu-user shows of it that is a program's.
STATUS = 0xfe0ffe3f


CALLS = {
    "ten": "(a=1, b=2, c=3 '\\003', d=4, e=5, f=6, g=7, h=8, i=9, j=10) = 55,",
    "mixed": "(x=0.5, a=7, y=0.25, l={a = 1, b = 2, c = 3}, s={a = 4, b = 5})"
             " = 15.75,",
    "two": "(a=6) = <no register tells where the result is>,",
    "quarter": "(a=1.5, b=6) = 1.875,",
}


LEAVES = r"""
#include <string.h>

volatile char *nowhere;
static int inner(int which)
{
	return which ? (int)strlen((char *)nowhere) :
		       memcpy((char *)nowhere, "text", 4) != NULL;
}
static int outer(int which) { return inner(which) + 1; }
int main(int argc, char **argv) { return outer(argv[argc - 1][0] == '1'); }
"""


def states_of(log):
    """Registers before each instruction, as qemu-user has logged them."""
    for block in log.decode("latin-1").split("Trace ")[1:]:
        values = re.findall(r"(?:R\d\d|PSR)=([0-9a-f]{8})", block)
        yield [int(value, 16) for value in values]


class Tests(OtherTests):
    arch = "arm"
    compiler = "arm-linux-gnueabihf-gcc"
    oracle = [qemu_user("arm"), "-cpu", "cortex-a15"]
    sysroot = "/usr/arm-linux-gnueabihf"
    ways = {"static": ["-static"], "dynamic": [],
            "ARM code": ["-static", "-marm"]}

    def assembled(self, source):
        program = os.path.join(self.folder, os.path.basename(source)[:-2])
        subprocess.run([self.compiler, "-nostdlib", "-static", "-o", program,
                        source], check=True)
        return program

    def registers(self, trace, times):
        """Of a recording, at these times."""
        questions = "".join(json.dumps({
            "id": at, "command": "registers", "file": trace, "at": str(at)})
            + "\n" for at in times)
        done = self.cprec("serve", text=questions)
        for line in done.stdout.splitlines():
            line = json.loads(line)
            if "result" in line:
                values = line["result"]["registers"]
                yield line["id"], [int(values[name], 0) for name in NAMES]

    def counted(self, source):
        """Each instruction is one, and all registers are as an oracle has
        them before each, also inside IT blocks."""
        program = self.assembled(source)
        done = subprocess.run(
            [*self.oracle, "-d", "nochain,exec,cpu", program],
            env=one_by_one(),
            capture_output=True, check=False)
        expected = list(states_of(done.stderr))
        trace = program + ".cpr"
        equal(run(self.options.cprec, "record", "-o", trace, program)[0],
              done.returncode, "status")
        self.answer("verify", "-q", trace)
        info = json.loads(self.answer("info", "--json", trace))
        equal(info["instructions"], len(expected), "instructions")
        # Stacks are elsewhere.
        moved = None
        for at, found in self.registers(trace, range(len(expected))):
            wanted = expected[at]
            wanted[CPSR] &= STATUS
            distance = [(one - other) % 2**32
                        for one, other in zip(found, wanted)]
            moved = moved or distance
            for name, here, there in zip(NAMES, distance, moved):
                expect(here in (0, there), f"{name} at {at}: "
                       f"{found} and not {wanted}")

    def last_written(self, source):
        """What is told to have written a register does so, and nothing has
        changed it since."""
        program = self.assembled(source)
        trace = program + ".cpr"
        run(self.options.cprec, "record", "-q", "-o", trace, program)
        listing = subprocess.run(
            [self.compiler.replace("gcc", "objdump"), "-d", program],
            check=True, capture_output=True, text=True).stdout
        code = dict(re.findall(r"^ +([0-9a-f]+):\t[0-9a-f ]+\t(.*)$", listing,
                               re.M))
        count = json.loads(self.answer("info", "--json", trace))["instructions"]
        states = [found for at, found in self.registers(trace, range(count))]
        for at in range(9, count, 23):
            for reg in 0, 3, 4, 6:
                name = NAMES[reg]
                done = self.cprec("last", "--json", f"--register={name}",
                                  f"--at={at}", trace)
                before = [state[reg] for state in states[:at + 1]]
                if done.returncode:
                    equal(len(set(before)), 1, f"{name} at {at}")
                    continue
                told = json.loads(done.stdout)
                text = code[told["pc"][2:]]
                equal(len(set(before[told["at"] + 1:])), 1,
                      f"{name} at {at}: {text}")
                expect(re.search(rf"\b{name}\b|\{{r4, r5, r6", text),
                       f"{name} at {at}: {text}")

    def clock(self, source):
        """The counter is captured; what does not hold does nothing."""
        program = self.assembled(source)
        trace = program + ".cpr"
        equal(run(self.options.cprec, "record", "-o", trace, program)[0], 9,
              "status")
        self.answer("verify", "-q", trace)
        info = json.loads(self.answer("info", "--json", trace))
        equal(info["instructions"], 17, "instructions")

    def leaves(self, way):
        """What calls a function of the C library without tables is in the
        link register; and the function may have put something on the stack."""
        program = os.path.join(self.folder, "leaves")
        with open(program + ".c", "w", encoding="utf-8") as out:
            out.write(LEAVES)
        subprocess.run([self.compiler, "-g", "-O0", "-fno-builtin", *self.ways[way],
                        "-o", program, program + ".c"], check=True)
        for which in "0", "1":
            trace = program + ".cpr"
            run(self.options.cprec, "record", "-q", "-o", trace,
                "--sysroot=" + self.sysroot, program, which)
            told = self.answer("backtrace", trace)
            names = re.findall(r" in (outer|inner|main|_start)\b", told)
            equal(names, ["inner", "outer", "main", "_start"], told)

    def arguments(self, source):
        """In core registers, in those of floating point, on the stack, and in
        parts of both; of both kinds of code."""
        for way in "static", "ARM code":
            trace = self.compiled(source, way) + ".cpr"
            equal(run(self.options.cprec, "record", "-o", trace,
                      trace[:-len(".cpr")])[0], 0, "status")
            for name, expected in CALLS.items():
                found = self.answer("calls", trace, name)
                expect(name + expected in found, found)

    def refused(self):
        """Code with the highest byte first; calls of another kind."""
        source = os.path.join(self.folder, "nothing.c")
        with open(source, "w", encoding="utf-8") as out:
            out.write("int main(void) { return 0; }\n")
        program = self.compiled(source, "static")
        with open(program, "r+b") as out:
            out.seek(5)
            out.write(b"\2")
            out.seek(18)
            out.write(b"\0\x28")
        done = self.cprec("run", program)
        equal(len(done.stderr.splitlines()), 1, done.stderr)
        expect("the highest byte first" in done.stderr, done.stderr)


def run_all(options, folder):
    tests = Tests(options, folder)
    if not tests.can_run():
        return 0

    def source(name):
        return os.path.join(options.programs, name)

    for name in "arm64_memory.c", "arm64_threads.c", "arm_code.c":
        for way in tests.ways:
            tests.test(f"{name}, {way}", tests.compare, source(name), way)
    for way in tests.ways:
        tests.test(f"leaves, {way}", tests.leaves, way)
    tests.test("counted", tests.counted, source("arm_counted.S"))
    tests.test("last written", tests.last_written, source("arm_counted.S"))
    tests.test("clock", tests.clock, source("arm_clock.S"))
    tests.test("monitor", tests.monitor, source("monitor_arm64.c"))
    tests.test("machines", tests.machines, source("machines.c"))
    tests.test("machines_family", tests.family, source("machines_family.c"))
    tests.test("arguments", tests.arguments, source("arguments_arm64.c"))
    tests.test("refused", tests.refused)
    for way in tests.ways:
        tests.test(f"asked of arm64_memory.c, {way}", tests.asked,
                   source("arm64_memory.c"), way)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "programs"))
