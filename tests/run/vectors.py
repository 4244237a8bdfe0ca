#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Vector registers hold what gdb says, by all names of what is in them.

usage: vectors.py --cprec C

The program is compiled for each architecture that there is a compiler for; gdb,
on the recording, is asked for the same, but for what it does not know of.  Speaks TAP.
"""
import json
import os
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "programs/vectors.c")

X86 = [f"$xmm{n}.{view}" for n in (0, 1) for view in (
    "v8_bfloat16", "v8_half", "v4_float", "v2_double", "v16_int8",
    "v8_int16", "v4_int32", "v2_int64", "uint128", "v4_float[1]")]
ARM64 = [f"$v{n}.{letter}.{kind}" for n in (0, 1) for letter, kinds in
         (("d", "fus"), ("s", "fus"), ("b", "us"), ("q", "us"),
          ("h", ("bf", "f", "u", "s"))) for kind in kinds] + [
    "$d0.f", "$d0.u", "$d1.s", "$s0.f", "$s1.s", "$h0.f", "$h1.u", "$b0.u",
    "$q0.u", "$q1.s", "$v0.s.f[3]"]
ARM = [f"${name}.{kind}" for name in ("q0", "q1", "d0", "d2") for kind in
       ("u8", "u16", "u32", "u64", "f32", "f64")] + ["$q0.f32[3]"]

WAYS = {
    "x86-64": (["gcc"], "gdb", 110, X86, []),
    "AArch64": (["aarch64-linux-gnu-gcc"], "gdb-multiarch", 173, ARM64,
                ["--sysroot=/usr/aarch64-linux-gnu"]),
    "ARM": (["arm-linux-gnueabihf-gcc", "-mfpu=neon"], "gdb-multiarch", 64,
            ARM, ["--sysroot=/usr/arm-linux-gnueabihf"]),
}


def of_gdb(tests, trace, time, names):
    """None: this gdb has no such name."""
    done = tests.cprec("gdb", f"--goto={time}", trace, "--", "-q", "-batch",
                       *(word for name in names for word in
                         ("-ex", f"echo \\n<{name}>", "-ex",
                          f"output {name}")), "-ex", "echo \\n")
    answers = {}
    for part in done.stdout.split("\n<")[1:]:
        name, _, value = part.partition(">")
        answers[name] = value.strip().split("\n")[0] or None
    return answers


# What vectors.c puts into $q0 and $q1, $d0 and $d2: gdb has these names only for
# processors that say that they have NEON.
BYTES = {
    "0": struct.pack("<4I", 0x3fc00000, 0x3eaaaaab, 0x7f800000, 0x40490fdb),
    "1": struct.pack("<8H", 0x3c00, 0x3555, 0x7c00, 0x0001, 0x7bff, 0xbc00,
                     0x3e00, 0x7e00),
}


def of_source(names):
    answers = {}
    for name in names:
        register, _, kind = name[1:].partition(".")
        if "[" in kind:
            continue
        is_half = register[0] == "d"
        data = BYTES[str(int(register[1:]) // (2 if is_half else 1))]
        data = data[:8] if is_half else data
        letter = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f32": "f",
                  "f64": "d"}[kind]
        numbers = struct.unpack(f"<{len(data) * 8 // int(kind[1:])}{letter}",
                                data)
        digits = {"f": ".9g", "d": ".17g"}.get(letter, "d")
        text = ", ".join(format(number, digits) for number in numbers)
        answers[name] = text if len(numbers) == 1 else "{" + text + "}"
    return answers


def views(tests, way):
    compiler, _, number, names, options = WAYS[way]
    program = os.path.join(tests.folder, way)
    subprocess.run([*compiler, "-g", "-O1", "-o", program, SOURCE], check=True)
    trace = program + ".cpr"
    done = tests.cprec("record", "-q", "-o", trace, *options, "--", program)
    expect(not done.returncode, done.stderr)
    done = tests.cprec("dump", trace, "--kind=syscall", "--json")
    time = [event["at"] for event in map(json.loads, done.stdout.splitlines())
            if event.get("number") == number][-1]
    expected = (of_source(names) if way == "ARM" else
                of_gdb(tests, trace, time, names))
    done = tests.cprec("query", trace, f"--at={time}", "--json", "--no-races",
                       *(f"--addr={name}" for name in names))
    compared = 0
    for name, line in zip(names, done.stdout.splitlines()):
        if expected.get(name):
            equal(json.loads(line).get("value"), expected[name], name)
            compared += 1
    expect(compared > len(names) // 2, f"{compared} compared")
    return f"{compared} views"


def wrong(tests):
    trace = os.path.join(tests.folder, "x86-64.cpr")
    done = tests.cprec("query", trace, "--at=end", "--no-races",
                       "--addr=$xmm0.v3_float")
    expect("a register of 16 bytes has no 'v3_float'" in done.stderr,
           done.stderr)


def run_all(options, folder):
    tests = CprecTap(options, folder)
    for way, (compiler, gdb, *_) in WAYS.items():
        if shutil.which(compiler[0]) and shutil.which(gdb):
            tests.test(way, views, tests, way)
        else:
            print(f"# there is no {compiler[0]}, or no {gdb}")
    tests.test("wrong", wrong, tests)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
