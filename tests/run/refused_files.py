#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that cprec cannot run: one line says why, and nothing is left.

usage: refused_files.py --cprec C

The files are made here: headers of programs of other machines, and of others
whose interpreter is missing, or of another machine.  Speaks TAP.
"""
import os
import struct
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

X86_64, ARM, AARCH64, MIPS = 62, 40, 183, 8
FIRST, SIZE = 0x10000, 0x1000
LOAD, INTERPRETER = 1, 3
INTERPRETER_AT = 0x200

# name: machine, bits, order of bytes, flags, what must be said
OTHERS = {
    "armeb": (ARM, 32, ">", 0x05800000, "has the highest byte first"),
    "aarch64_be": (AARCH64, 64, ">", 0, "has the highest byte first"),
    "x86-64 the other way around": (X86_64, 64, ">", 0,
                                    "has the highest byte first"),
    "arm without EABI": (ARM, 32, "<", 0, "an ARM program without EABI"),
    "arm of an old EABI": (ARM, 32, "<", 0x02000016,
                           "an ARM program without EABI"),
    "x32": (X86_64, 32, "<", 0, "it is an x32 program"),
    "an ILP32 program": (AARCH64, 32, "<", 0, "it is an ILP32 program"),
    "mips": (MIPS, 32, ">", 0x50001007, "it is a MIPS program"),
    "mipsel": (MIPS, 32, "<", 0x50001007, "it is a MIPS program"),
    "riscv64": (243, 64, "<", 5, "it is a RISC-V program"),
    "ppc64el": (21, 64, "<", 2, "it is a PowerPC64 program"),
    "s390x": (22, 64, ">", 0, "it is an s390 program"),
    "of nobody": (0x1234, 64, "<", 0, "for another machine"),
}


def program_header(bits, order, kind, at, size):
    if bits == 64:
        return struct.pack(order + "IIQQQQQQ", kind, 5, at, FIRST + at,
                           FIRST + at, size, size, SIZE)
    return struct.pack(order + "IIIIIIII", kind, at, FIRST + at, FIRST + at,
                       size, size, 5, SIZE)


def elf(machine, bits=64, order="<", flags=0, interpreter=""):
    """The bytes of a program that has one page."""
    head, each, word = (64, 56, "Q") if bits == 64 else (52, 32, "I")
    path = interpreter.encode() + b"\0"
    headers = program_header(bits, order, LOAD, 0, SIZE)
    if interpreter:
        headers = program_header(bits, order, INTERPRETER, INTERPRETER_AT,
                                 len(path)) + headers
    made = b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2, 1])
    made = made.ljust(16, b"\0") + struct.pack(
        order + "HHI" + 3 * word + "IHHHHHH", 2, machine, 1, FIRST + 0x400,
        head, 0, flags, head, each, len(headers) // each, 0, 0, 0)
    return (made + headers).ljust(INTERPRETER_AT, b"\0") + path.ljust(
        SIZE - INTERPRETER_AT, b"\0")


class Tests(CprecTap):
    def made(self, name, *arguments, **more):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(elf(*arguments, **more))
        os.chmod(path, 0o755)
        return path

    def is_refused(self, why, *arguments):
        """Whether it is run or recorded."""
        trace = os.path.join(self.folder, "trace.cpr")
        for command in ("run",), ("record", "-o", trace):
            done = self.cprec(*command, *arguments)
            equal(done.returncode, 126, done.stderr)
            equal(done.stderr.count("\n"), 1, done.stderr)
            expect(why in done.stderr, done.stderr)
            expect(not os.path.exists(trace), "there is a recording")

    def other(self, name):
        *header, why = OTHERS[name]
        self.is_refused(why, self.made(name, *header))

    def no_interpreter(self):
        for machine, bits, flags in ((AARCH64, 64, 0),
                                     (ARM, 32, 0x05000400)):
            program = self.made("needs", machine, bits, "<", flags,
                                interpreter="/nowhere/ld.so")
            self.is_refused("interpreter '/nowhere/ld.so': No such file",
                            program)
            self.is_refused("--sysroot=DIR", program)

    def no_soft_float(self):
        program = self.made("soft", ARM, 32, "<", 0x05000200,
                            interpreter="/lib/ld-linux.so.3")
        self.is_refused("Debian's package libc6-armel-cross has them", program)

    def other_sysroot(self):
        program = self.made("needs", AARCH64, interpreter="/nowhere/ld.so")
        self.made("root/nowhere/ld.so", X86_64)
        self.is_refused("'/nowhere/ld.so': it is an x86-64 program, "
                        "not AArch64", "--sysroot="
                        + os.path.join(self.folder, "root"), program)


def run_all(options, folder):
    tests = Tests(options, folder)
    for name in OTHERS:
        tests.test(name, tests.other, name)
    tests.test("no interpreter", tests.no_interpreter)
    tests.test("no interpreter of soft-float programs", tests.no_soft_float)
    tests.test("a sysroot of another machine", tests.other_sysroot)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
