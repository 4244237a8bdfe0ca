#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Registers of programs of another architecture, at hundreds of times, are what
an oracle has there: qemu-user, which executes one instruction after the other,
or for i386 the processor itself, by ptrace(2).

usage: foreign_values.py --cprec C --program SOURCE [--times N] [--seed S]

SOURCE is programs/values.c, compiled here by the cross compilers, where these
are.  N times are drawn by S, 300 without that; 0: all.  Speaks TAP.
"""
import argparse
import ctypes
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import (  # noqa: E402
    CprecTap, equal, expect, is_executed_here, main, one_by_one, qemu_user)


# Instructions until all registers are the program's own, or more.
BEGIN = 40

# ------- qemu-user -------

def logged(command):
    """What it says before each instruction."""
    done = subprocess.run([*command[:-1], "-d", "nochain,exec,cpu,fpu",
                           command[-1]], env=one_by_one(),
                          capture_output=True, check=False)
    equal(done.returncode, 0, "status, by the oracle")
    return done.stderr.decode("latin-1").split("Trace ")[1:]


def numbers(pattern, block):
    return {name: int("".join(digits), 16)
            for name, *digits in re.findall(pattern, block)}


ARM64_FLAGS = 0xf0000000


def arm64_state(block):
    found = numbers(r"(X\d\d|SP|PC|PSTATE|FP[CS]R)=([0-9a-f]+)", block)
    vectors = numbers(r"Q(\d\d)=([0-9a-f]{16}):([0-9a-f]{16})", block)
    state = {f"x{i}": found[f"X{i:02}"] for i in range(31)}
    state |= {f"v{int(i)}": value for i, value in vectors.items()}
    return state | {"sp": found["SP"], "pc": found["PC"],
                    "cpsr": found["PSTATE"] & ARM64_FLAGS,
                    "fpcr": found["FPCR"], "fpsr": found["FPSR"]}


# What qemu-user shows of it that is a program's.
ARM_FLAGS = 0xfe0ffe3f


def arm_state(block):
    found = numbers(r"(R\d\d|PSR)=([0-9a-f]{8})", block)
    state = {f"r{i}": found[f"R{i:02}"] for i in range(13)}
    state |= {f"d{int(i)}": value for i, value in
              numbers(r"d(\d\d)=([0-9a-f]{16})", block).items()}
    state |= {"fpscr": value for value in
              numbers(r"(FPSCR): ([0-9a-f]+)", block).values()}
    return state | {"sp": found["R13"], "lr": found["R14"],
                    "pc": found["R15"], "cpsr": found["PSR"] & ARM_FLAGS}


# ------- the processor -------

TRACEME, GETREGS, GETFPREGS, SINGLESTEP = 0, 12, 14, 9

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                        ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long

# Of struct user_regs_struct of 64 bits.
REGISTERS = {"eax": 10, "ebx": 5, "ecx": 11, "edx": 12, "esi": 13, "edi": 14,
             "ebp": 4, "esp": 19, "eip": 16, "eflags": 18}
I386_FLAGS = 0xcd5


def i386_state(pid):
    words = (ctypes.c_uint64 * 27)()
    saved = (ctypes.c_uint8 * 512)()
    libc.ptrace(GETREGS, pid, None, words)
    libc.ptrace(GETFPREGS, pid, None, saved)
    saved = bytes(saved)

    def at(place, size):
        return int.from_bytes(saved[place:place + size], "little")

    state = {name: words[i] & 0xffffffff for name, i in REGISTERS.items()}
    state |= {f"st{i}": at(32 + 16 * i, 10) for i in range(8)}
    state |= {f"xmm{i}": at(160 + 16 * i, 16) for i in range(8)}
    state["eflags"] &= I386_FLAGS
    return state | {"fctrl": at(0, 2), "fstat": at(2, 2), "mxcsr": at(24, 4)}


CF, PF, AF, ZF, SF, OF = 1, 4, 0x10, 0x40, 0x80, 0x800

# What instructions leave undefined (Intel SDM, volume 2); others that are not
# of MOVES leave nothing so.
UNDEFINED = {"imul": PF | AF | ZF | SF, "mul": PF | AF | ZF | SF,
             "div": I386_FLAGS, "idiv": I386_FLAGS, "shl": AF | OF,
             "shr": AF | OF, "sar": AF | OF, "shld": AF | OF, "shrd": AF | OF,
             "and": AF, "or": AF, "xor": AF, "test": AF,
             "ror": OF, "rol": OF, "bsr": I386_FLAGS & ~ZF}
SETS = "add sub cmp neg adc sbb inc dec ucomiss ucomisd comiss comisd fucomi " \
       "fucomip fcomi fcomip sahf".split()


def instructions(program):
    """Names by addresses."""
    listing = subprocess.run(["objdump", "-d", "-M", "intel",
                              "--no-show-raw-insn", program], check=True,
                             capture_output=True, text=True).stdout
    return {int(at, 16): name for at, name in
            re.findall(r"^ +([0-9a-f]+):\t(\w+)", listing, re.M)}


def i386_states(program):
    names = instructions(program)
    undefined = 0
    for state in stepped(program):
        yield state | {"undefined": undefined}
        name = names[state["eip"]]
        if name in UNDEFINED or name in SETS:
            undefined = UNDEFINED.get(name, 0)


def stepped(program):
    pid = os.fork()
    if not pid:
        libc.ptrace(TRACEME, 0, None, None)
        os.execv(program, [program])
    while os.WIFSTOPPED(os.waitpid(pid, 0)[1]):
        yield i386_state(pid)
        libc.ptrace(SINGLESTEP, pid, None, None)


# ------- and cprec -------

class Kind:
    """How its programs are compiled, which bits of flags are compared, and what
    an oracle has before each instruction: qemu-user in words."""

    def __init__(self, compiler, options, flags, qemu=None, state=None):
        self.compiler = compiler
        self.options = options
        self.flags, self.mask = flags
        self.qemu = qemu
        self.state = state or dict

    def states(self, program):
        return (logged([*self.qemu, program]) if self.qemu else
                list(i386_states(program)))


I386 = ["-isystem", "/usr/i686-linux-gnu/include"]
KINDS = {
    "AArch64": Kind("aarch64-linux-gnu-gcc", [], ("cpsr", ARM64_FLAGS),
                    [qemu_user("aarch64"), "-cpu", "cortex-a72"], arm64_state),
    "ARM": Kind("arm-linux-gnueabihf-gcc", ["-mfpu=neon-vfpv4"],
                ("cpsr", ARM_FLAGS), [qemu_user("arm"), "-cpu", "cortex-a15"],
                arm_state),
    "i386": Kind("i686-linux-gnu-gcc", ["-msse2", "-mfpmath=sse", *I386],
                 ("eflags", I386_FLAGS)),
    "i386, x87": Kind("i686-linux-gnu-gcc", ["-mno-sse", *I386],
                      ("eflags", I386_FLAGS)),
}


class Tests(CprecTap):
    def compiled(self, kind):
        program = os.path.join(self.folder, "values")
        subprocess.run([kind.compiler, *kind.options, "-O1", "-g", "-static",
                        "-nostdlib", "-fno-stack-protector", "-fno-pie",
                        "-no-pie", "-fno-builtin", "-o", program,
                        self.options.program, "-lgcc"], check=True)
        return program

    def found(self, trace, times):
        """Registers of a recording, all at each of these times."""
        asked = "".join(json.dumps({"id": at, "command": "registers",
                                    "file": trace, "at": str(at)}) + "\n"
                        for at in times)
        done = self.cprec("serve", text=asked)
        for line in done.stdout.splitlines():
            line = json.loads(line)
            if "result" in line:
                yield line["id"], {name: int(value, 0) for name, value
                                   in line["result"]["registers"].items()}

    def values(self, kind):
        program = self.compiled(kind)
        trace = program + ".cpr"
        if not kind.qemu and not is_executed_here(program):
            return "this machine's kernel executes no program of i386"
        states = kind.states(program)
        done = self.cprec("record", "-q", "-o", trace, program)
        equal(done.returncode, 0, done.stderr)
        info = json.loads(self.cprec("info", "--json", trace).stdout)
        equal(info["instructions"], len(states), "instructions")
        times = self.drawn(len(states))
        count = 0
        for at, found in self.found(trace, times):
            state = kind.state(states[at])
            mask = kind.mask & ~state.pop("undefined", 0)
            for flags in state, found:
                flags[kind.flags] &= mask
            wrong = [f"{name} {found[name]:#x} and not {value:#x}"
                     for name, value in state.items()
                     if found[name] != value]
            expect(not wrong, f"at {at}: " + ", ".join(wrong))
            count += len(state)
        expect(count, "nothing was compared")
        return f"{count} values at {len(times)} times"

    def drawn(self, count):
        """Not those before all registers are the program's own."""
        times = range(BEGIN, count)
        if not self.options.times:
            return times
        chance = random.Random(self.options.seed)
        return sorted(chance.sample(times, self.options.times))


def run_all(options, folder):
    tests = Tests(options, folder)
    for name, kind in KINDS.items():
        if shutil.which(kind.compiler):
            tests.test(name, tests.values, kind)
    return tests.summary()


def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--times", type=int, default=300)
    made.add_argument("--seed", type=int, default=1)
    return made


if __name__ == "__main__":
    sys.exit(main(run_all, "program", parser=parser()))
