#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong must go wrong well: one clear line, the documented status.

usage: bad_input.py --cprec C [--long] [--tap] [--only WORD]

Each line of the tables below is a test.  A crash, a second line, a line that
does not start with "cprec: ", another status or a lost file is a failure.
"""
import argparse
import ctypes
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import Failure, Tap, for_everybody  # noqa: E402

NO_PROGRAM, UNUSABLE, CPREC_FAILED = 127, 126, 125	# record and run
FAILED, USAGE = 1, 2					# the others

GUEST = """#include <stdio.h>
#include <string.h>
int counter = 5;
char text[5000];
int main(void) {
for (int i = 0; i < 2000; i++) { counter += i; text[i] = (char)i; }
FILE *f = fopen("/dev/zero", "r"); fread(text + 100, 1, 3000, f);
printf("%d %d\\n", counter, text[5]); return 3; }
"""

# 4 instructions that this processor does not have, one per program.
WITHOUT_AVX = {
    "avx-256": "vaddps %ymm1, %ymm2, %ymm3",
    "avx-128": "vaddps %xmm1, %xmm2, %xmm3",
    "avx-move": "vmovdqu (%rsp), %xmm1",
    "bmi": "andn %rax, %rbx, %rcx",
}

# The same of other architectures: by which compiler, and what is said of it.
WITHOUT_OTHERS = {
    "avx-i386": ("i686-linux-gnu-gcc", "CODE vaddps %ymm1, %ymm2, %ymm3",
                 "'vaddps"),
    "sve": ("aarch64-linux-gnu-gcc", "CODE .inst 0x2518e3e0", "SVE"),
    "v8-thumb": ("arm-linux-gnueabihf-gcc",
                 ".syntax unified\n.thumb\n.thumb_func\n"
                 "CODE .inst.w 0xffb003c0", "'.inst.w 0xffb003c0'"),
    "v8-arm": ("arm-linux-gnueabihf-gcc", ".arm\nCODE .inst 0xf3b003c0",
               "'.inst 0xf3b003c0'"),
}

# Noise that it looks at: nothing of it can be predicted or compressed.
BIG = """#include <stdio.h>
static unsigned char noise[1 << 20];
int main(void) { unsigned long sum = 0; FILE *f = fopen("/dev/urandom", "r");
for (int i = 0; i < 8; i++) { if (fread(noise, sizeof(noise), 1, f) != 1) return 1;
for (int j = 0; j < 1 << 20; j++) sum += noise[j]; }
printf("%d\\n", sum > 5); return 4; }
"""


# Its status tells which descriptors are open.
OPEN = """#include <fcntl.h>
int main(void) { int found = 0; for (int fd = 0; fd < 6; fd++)
if (fcntl(fd, F_GETFD) >= 0) found |= 1 << fd; return found; }
"""


class Tests(Tap):
    """Runs cprec in a folder."""

    def __init__(self, options, folder):
        super().__init__()
        self.options = options
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, contents, mode=0o644):
        with open(self.path(name), "wb") as file:
            file.write(contents)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def compile(self, name, source, *options):
        text = self.write(name + ".c", source.encode())
        subprocess.run(["gcc", "-O1", "-static", "-o", self.path(name), text,
                        *options], check=True)
        return self.path(name)

    def cprec(self, *arguments, text=None, prepare=None):
        return subprocess.run(
            [self.options.cprec, *arguments], input=text or b"",
            capture_output=True, cwd=self.folder, timeout=120,
            preexec_fn=prepare)

    def test(self, name, function, *arguments, **more):
        if not self.options.only or self.options.only in name:
            super().test(name, function, *arguments, **more)

    def refused(self, statuses, *arguments, says=None, **more):
        """Fails with one of `statuses`, and says why in one line.  That names
        are missing does not hinder anything."""
        done = self.cprec(*arguments, **more)
        expect_status(done, statuses, arguments)
        lines = [line for line in
                 done.stderr.decode(errors="replace").splitlines()
                 if not re.search(r"is damaged \(checksum of its \w+\): its"
                                  " names are missing$", line)]
        if len(lines) != 1 or not lines[0].startswith("cprec: "):
            raise Failure(f"{arguments}: not one line: {lines[:5]}")
        if says and says not in lines[0]:
            raise Failure(f"{arguments}: no '{says}' in: {lines[0]}")
        return done


def expect_status(done, statuses, arguments):
    statuses = statuses if isinstance(statuses, tuple) else (statuses,)
    if done.returncode not in statuses:
        raise Failure(f"{arguments}: status {done.returncode}, not "
                      f"{statuses}\n{done.stderr.decode(errors='replace')}")


# ------- programs that cannot be run -------

def elf(machine=62, kind=2, bits=2, order=1, entry=0x400000, headers=1,
        size=64, p_type=1, p_filesz=0x1000, cut=None):
    """A 64-bit ELF header with one program header, or a damaged one."""
    ident = b"\x7fELF" + bytes([bits, order, 1]) + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, entry,
                                 64, 0, 0, size, 56, headers, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", p_type, 5, 0, 0x400000, 0x400000,
                          p_filesz, p_filesz, 0x1000)
    return (header + segment + bytes(0x1000 - 120))[:cut]


UNUSABLE_PROGRAMS = {
    "no text": b"words\0",
    "an interpreter that is not there": b"#!/nonexistent/interpreter\n",
    "an empty interpreter": b"#!\n",
    "32-bit x86": elf(machine=3, bits=1),
    "PowerPC64": elf(machine=21),
    "ARM": elf(machine=40, bits=1),
    "RISC-V": elf(machine=243),
    "another byte order": elf(order=2),
    "an object file": elf(kind=1),
    "a core file": elf(kind=4),
    "4 bytes of ELF": elf(cut=4),
    "half an ELF header": elf(cut=40),
    "an ELF header without segments": elf(headers=0),
    "an ELF header and no more": elf(cut=64),
    "segments of another size": elf()[:54] + b"\1\0" + elf()[56:],
    "65,535 segments": elf(headers=65535),
    "a segment past the end of the file": elf(p_filesz=1 << 40),
    "no segment to load": elf(p_type=4),
}


# What execvp(3) has the shell read.
TEXT_PROGRAMS = {
    "words": b"just some words\n",
    "an empty file": b"",
    "a shell script without #!": b"echo \"$0\" \"$@\"\nexit 3\n",
    "a script that begins with a comment": b"# !/bin/sh\necho hello\n",
}


def is_run_by_shell(tests, command, program):
    """As env(1) does it."""
    arguments = program, "a b", "c"
    native = subprocess.run(["env", *arguments], capture_output=True)
    done = subprocess.run([tests.options.cprec, command, *(
        ["-o", tests.path("text.cpr")] if command == "record" else []), "--",
        *arguments], capture_output=True, timeout=60)
    if (done.returncode, done.stdout, done.stderr) != (
            native.returncode, native.stdout, native.stderr):
        raise Failure(f"{done}, natively {native}")


def test_texts(tests):
    for name, contents in TEXT_PROGRAMS.items():
        program = tests.write("text program", contents, 0o755)
        for command in "record", "run":
            tests.test(f"{command}: {name}", is_run_by_shell, tests, command,
                       program)


def test_programs(tests):
    for name, contents in UNUSABLE_PROGRAMS.items():
        program = tests.write("program", contents, 0o755)
        for command in "record", "run":
            expected = (NO_PROGRAM if "not there" in name else UNUSABLE)
            tests.test(f"{command}: {name}", tests.refused,
                       (expected, UNUSABLE), command, "--", program)
    plain = tests.write("plain", b"\x7fELF", 0o644)
    for command in "record", "run":
        for name, status, program in (
                ("no such program", NO_PROGRAM, "/nonexistent/program"),
                ("not in PATH", NO_PROGRAM, "no-such-program-anywhere"),
                ("a file for a folder", (NO_PROGRAM, UNUSABLE),
                 "/dev/null/program"),
                ("an empty name", NO_PROGRAM, ""),
                ("a name that is too long", (NO_PROGRAM, UNUSABLE),
                 "/" + "x" * 5000),
                ("a folder", UNUSABLE, tests.folder),
                ("a device", UNUSABLE, "/dev/null"),
                ("not executable", UNUSABLE, plain)):
            tests.test(f"{command}: {name}", tests.refused, status, command,
                       "--", program)


def test_avx(tests):
    for name, instruction in WITHOUT_AVX.items():
        source = tests.write(name + ".s", (
            ".globl _start\n_start: mov $1, %eax\n\t" + instruction +
            "\n\tmov $60, %eax\n\txor %edi, %edi\n\tsyscall\n").encode())
        program = tests.path(name)
        subprocess.run(["gcc", "-nostdlib", "-static", "-o", program, source],
                       check=True)
        for command in ("record", "run"):
            tests.test(f"{command}: {name}", tests.refused,
                       (-signal.SIGILL, 128 + signal.SIGILL), command, "--",
                       program, says=instruction.split()[0])
        tests.test(f"record -q: {name}", tests.refused,
                   (-signal.SIGILL, 128 + signal.SIGILL), "record", "-q",
                   "--", program, says=instruction.split()[0])


def test_other_processors(tests):
    """The first instruction is one that the processor does not have."""
    for name, (compiler, instruction, said) in WITHOUT_OTHERS.items():
        if not shutil.which(compiler):
            continue
        source = tests.write(name + ".s", (
            "\t.globl _start\n" + instruction.replace("CODE", "_start:") +
            "\n\tnop\n").encode())
        program = tests.path(name)
        subprocess.run([compiler, "-nostdlib", "-static", "-o", program,
                        source], check=True)
        tests.test(f"run: {name}", tests.refused,
                   (-signal.SIGILL, 128 + signal.SIGILL), "run", "--",
                   program, says=said)


# ------- recordings that cannot be written -------

NOBODY = 65534


def not_here(tests):
    """Where nobody may write, the option that helps is named."""
    folder = tests.path("closed")
    os.mkdir(folder, 0o555)
    if os.getuid():
        not_here_as(tests.options.cprec, folder, None)
        return
    with for_everybody(tests.options.cprec) as cprec:
        not_here_as(cprec, folder, NOBODY)


def not_here_as(cprec, folder, user):
    for options, hint in (([], "; -o FILE puts the recording elsewhere"),
                          (["-o", os.path.join(folder, "trace.cpr")], "")):
        done = subprocess.run([cprec, "record", *options, "true"], user=user,
                              cwd=folder, text=True, capture_output=True,
                              timeout=60)
        wanted = (f"cprec: cannot create '{folder}/trace.cpr': Permission"
                  f" denied{hint}\n")
        if (done.returncode, done.stderr) != (CPREC_FAILED, wanted):
            raise Failure(f"{done}, not {wanted}")


def limit_file_size():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def full_disk(folder):
    """Runs in the child: a disk of 200 kB at `folder`.  Root only."""
    def prepare():
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x20000) or libc.mount(None, b"/", None, 0x44000,
                                               None):
            os._exit(99)
        if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0,
                      b"size=200k"):
            os._exit(99)
    return prepare


def fills_up(tests, program, trace, prepare, old):
    """One line; what was written is readable; what was there is still."""
    done = tests.refused(CPREC_FAILED, "record", "-o", trace, "--", program,
                         prepare=prepare)
    if done.stdout not in (b"", b"1\n"):
        raise Failure(f"odd output {done.stdout[:100]}")
    if old:
        expect_old(trace, old)


def expect_old(trace, old):
    for name in trace + ".old", trace:
        if os.path.exists(name):
            with open(name, "rb") as file:
                if file.read() == old:
                    return
    raise Failure("the old recording is lost")


def can_mount(tests):
    folder = tests.path("try")
    os.mkdir(folder)
    return subprocess.run(["true"], preexec_fn=full_disk(folder)
                          ).returncode == 0


def test_output(tests, guest, big):
    file = tests.write("a-file", b"contents")
    for name, path in (("in a folder that is not there", "nowhere/t.cpr"),
                       ("in a file", file + "/t.cpr"),
                       ("a folder", tests.folder),
                       ("a device", "/dev/null"),
                       ("a name that is too long", "y" * 5000)):
        tests.test(f"output: {name}", tests.refused, CPREC_FAILED, "record",
                   "-o", path, "--", guest)
    tests.test("output: an empty name", tests.refused, USAGE, "record",
               "-o", "", "--", guest)
    old = b"an older recording"
    trace = tests.write("limited.cpr", old)
    tests.test("output: a file that may not grow", fills_up, tests, big,
               trace, limit_file_size, old)
    tests.test("output: what was written is readable", readable, tests, trace)
    folder = tests.path("small-disk")
    os.mkdir(folder)
    # Without the right to mount, the limit above has to do.
    if can_mount(tests):
        tests.test("output: a full disk", fills_up, tests, big,
                   os.path.join(folder, "t.cpr"), full_disk(folder), None)
    kept = tests.write("kept.cpr", old)
    tests.test("output: the program cannot be run", tests.refused, NO_PROGRAM,
               "record", "-o", kept, "--", "/nonexistent/program")
    tests.test("output: ... and the old recording is there", expect_old, kept,
               old)
    tests.test("output: the program itself", spared, tests, guest)
    tests.test("output: a symbolic link", linked, tests, guest)


def spared(tests, guest):
    """The program is not moved away before it runs."""
    with open(guest, "rb") as file:
        contents = file.read()
    for name in "self", "self.old", "self.old~":
        tests.write("self", b"an older recording")
        path = tests.write(name, contents, 0o755)
        tests.refused(CPREC_FAILED, "record", "-o", "self", "--", path,
                      says="the program that is recorded")
        script = tests.write("script", f"#!{path}\n".encode(), 0o755)
        tests.refused(CPREC_FAILED, "record", "-o", "self", "--", script,
                      says="the program that is recorded")
        with open(path, "rb") as file:
            if file.read() != contents:
                raise Failure(f"{name} has changed")
        os.unlink(path)


def linked(tests, guest):
    """The file that a link leads to is replaced, and kept beside it."""
    os.mkdir(tests.path("far"))
    old = b"an older recording"
    tests.write("far/t.cpr", old)
    os.symlink("far/t.cpr", tests.path("link.cpr"))
    done = tests.cprec("record", "-o", "link.cpr", "--", guest)
    expect_status(done, 3, "record through a link")
    expect_status(tests.cprec("verify", "far/t.cpr"), 0, "verify")
    if not os.path.islink(tests.path("link.cpr")):
        raise Failure("the link is gone")
    with open(tests.path("far/t.cpr.old"), "rb") as file:
        if file.read() != old:
            raise Failure("the old recording is lost")
    os.symlink("nowhere", tests.path("dangling"))
    tests.refused(CPREC_FAILED, "record", "-o", "dangling", "--", guest,
                  says="cannot follow the symbolic link")
    os.unlink(tests.path("far/t.cpr.old"))
    os.symlink("../a-file", tests.path("far/t.cpr.old"))
    tests.refused(CPREC_FAILED, "record", "-o", "link.cpr", "--", guest,
                  says="t.cpr.old': it is a symbolic link")


def readable(tests, trace):
    """What there is can be used, or one line says that nothing is there."""
    if not os.path.exists(trace):
        return
    done = tests.cprec("info", "--json", trace)
    if done.returncode:
        tests.refused(FAILED, "info", "--json", trace)
        return
    if json.loads(done.stdout)["complete"]:
        raise Failure("called complete")
    if not json.loads(done.stdout)["instructions"]:
        tests.refused(FAILED, "verify", trace,
                      says="there is nothing to verify: ")
    else:
        expect_status(tests.cprec("verify", trace), 0, "verify")
    for words in (("query", "--addr=noise", "--at=end"),
                  ("registers", "--at=end")):
        expect_status(tests.cprec(*words, trace), 0, words)


def nothing_left(tests, trace):
    """Cut behind the first key frame: a state without an instruction."""
    with open(trace, "rb") as file:
        whole = file.read()
    low, high = 64, len(whole)
    while high - low > 1:	# the shortest that has a key frame
        middle = (low + high) // 2
        path = tests.write("short.cpr", whole[:middle])
        if tests.cprec("info", path).returncode:
            low = middle
        else:
            high = middle
    path = tests.write("short.cpr", whole[:high])
    info = json.loads(tests.cprec("info", "--json", path).stdout)
    if (info["instructions"], info["complete"]) != (0, False):
        raise Failure(f"what is there: {info}")
    said = f"'{path}' was cut short: it ends at t=0"
    for words in ((), ("--thread=all",), ("--quiet",)):
        tests.refused(FAILED, "verify", path, *words,
                      says=f"there is nothing to verify: {said}")
    for words in (("registers", "--at=end"), ("dump",),
                  ("replay",)):
        done = tests.cprec(*words, path)
        expect_status(done, 0, words)
        if said not in done.stderr.decode():
            raise Failure(f"{words}: {done.stderr}")
    path = tests.write("short.cpr", whole[:high - 1])
    for words in ("verify",), ("info",), ("registers", "--at=end"):
        tests.refused(FAILED, *words, path,
                      says="ends before its first key frame")


# ------- files that are no recordings -------

COMMANDS = {
    "info": ("info",),
    "dump": ("dump",),
    "verify": ("verify",),
    "replay": ("replay",),
    "query": ("query", "--addr", "0x1000", "--at", "0"),
}


def with_file(command, path):
    words = COMMANDS[command]
    return (words[0], path, *words[1:])


def test_no_traces(tests, guest):
    files = {
        "not there": tests.path("nonexistent.cpr"),
        "a folder": tests.folder,
        "empty": tests.write("empty.cpr", b""),
        "text": tests.write("text.cpr", b"These are words.\n" * 50),
        "a program": guest,
        "zeros": tests.write("zeros.cpr", bytes(100_000)),
        "noise": tests.write("noise.cpr",
                             random.Random(6).randbytes(100_000)),
        "a device": "/dev/null",
        "an endless device": "/dev/zero",
    }
    for name, path in files.items():
        for command in COMMANDS:
            tests.test(f"{command}: {name}", tests.refused, FAILED,
                       *with_file(command, path))


def survives(tests, command, path, original=None):
    """Answers like the original, or fails in one line."""
    done = tests.cprec(*with_file(command, path))
    if done.returncode == 0:
        if original and done.stdout != original.stdout:
            raise Failure(f"{command}: another answer:\n"
                          f"{done.stdout[:300]}\n{original.stdout[:300]}")
        return
    tests.refused(FAILED, *with_file(command, path))


REGISTERS = "registers", "--at=50%"


def names_or_says_why(tests, path, original):
    """Without the names it says so; in all else as survives()."""
    done = tests.cprec(*REGISTERS, path)
    if done.returncode:
        tests.refused(FAILED, *REGISTERS, path)
    elif done.stdout != original.stdout and b"cprec: note: " not in done.stderr:
        raise Failure(f"registers: another answer:\n"
                      f"{done.stdout[:300]}\n{original.stdout[:300]}")


MOMENTS = "end", *(f"{10 * i}%" for i in (7, 1, 4, 9, 2, 6, 3, 8, 5))


def session(tests, path):
    """What one session answers: an error must not change what comes after."""
    lines = "".join(f"{addr} {t} 64\n" for t in MOMENTS
                    for addr in ("0x7fffffffe000", "0x404000"))
    memory = tests.cprec("query", path, "-", "--json", text=lines.encode())
    registers = tests.cprec("registers", path, "--json",
                            *(f"--at={t}" for t in MOMENTS))
    answers = memory.stdout.splitlines() + registers.stdout.splitlines()
    return [json.loads(line) for line in answers]


def goes_on(tests, path, original):
    """Other questions are answered alike, or not, where one has failed."""
    known = {(answer["at"], answer.get("addr")): answer for answer in original}
    for answer in session(tests, path):
        if "diverged" in answer.get("error", ""):
            raise Failure(f"in a session: {answer['error']}")
        right = known.get((answer.get("at"), answer.get("addr")))
        for what in "bytes", "registers":
            if right and answer.get(what, right.get(what)) != right.get(what):
                raise Failure(f"in a session: {answer}, not {right}")


def places(tests, size, count):
    """Where to damage a file: all around its ends, and anywhere."""
    source = random.Random(7)
    if tests.options.long:
        count *= 20
    ends = list(range(0, 66, 5)) + list(range(size - 40, size, 6))
    return sorted(set(ends + [source.randrange(size) for _ in range(count)]))


CHUNK_PAGES, GROUPS = 5, 12


def page_groups(contents):
    """The middle of some chunks of pages, which are missed by what runs."""
    found = []
    for match in re.finditer(rb"chnk", contents):
        kind, = struct.unpack_from("<I", contents, match.start() + 4)
        size, = struct.unpack_from("<I", contents, match.start() + 16)
        if kind == CHUNK_PAGES:
            found.append(match.start() + 48 + size // 2)
    return found[::max(len(found) // GROUPS, 1)]


def answers_about_cut(tests, path, size):
    """A recording that was cut answers for the time that it has."""
    for command in "info", "verify", "replay", "query", "dump":
        done = tests.cprec(*with_file(command, path))
        expect_status(done, (0, FAILED), (command, f"cut at {size}"))
        lines = done.stderr.decode(errors="replace").splitlines()
        ours = [line for line in lines if line.startswith("cprec: ")]
        if len(ours) > 1 or len(ours) != len(lines) or (
                done.returncode and len(ours) != 1):
            raise Failure(f"{command}, cut at {size}: {lines[:4]}")
    done = tests.cprec("info", "--json", path)
    if done.returncode == 0 and json.loads(done.stdout)["complete"]:
        raise Failure(f"cut at {size}: called complete")


def test_damage(tests, trace):
    with open(trace, "rb") as file:
        contents = file.read()
    size = len(contents)
    damaged = tests.path("damaged.cpr")

    def cut():
        for at in places(tests, size, 8):
            tests.write("damaged.cpr", contents[:at])
            answers_about_cut(tests, damaged, at)

    def flip():
        originals = {command: tests.cprec(*with_file(command, trace))
                     for command in ("verify", "replay", "query")}
        registers = tests.cprec(*REGISTERS, trace)
        for at in places(tests, size, 20):
            other = bytearray(contents)
            other[at] ^= 1 << at % 8
            tests.write("damaged.cpr", bytes(other))
            for command, original in originals.items():
                try:
                    survives(tests, command, damaged, original)
                except Failure as failure:
                    raise Failure(f"bit {at % 8} of byte {at} flipped: "
                                  f"{failure}") from None
            names_or_says_why(tests, damaged, registers)

    def in_session():
        path = tests.path("true.cpr")
        tests.cprec("record", "-q", "-o", path, "--", "/bin/true")
        sound = session(tests, path)
        with open(path, "rb") as file:
            right = file.read()
        for at in page_groups(right):
            other = bytearray(right)
            other[at] ^= 4
            tests.write("damaged.cpr", bytes(other))
            goes_on(tests, damaged, sound)

    def longer():
        tests.write("damaged.cpr", contents + b"more")
        survives(tests, "verify", damaged)
        tests.write("damaged.cpr", contents + contents)
        survives(tests, "verify", damaged)

    def damaged_end():
        """All chunks are found by walking; one line says so."""
        footer, = struct.unpack_from("<Q", contents, size - 24)
        ends = ([("footer", footer, at) for at in (0, 5, 30, 48, 60)] +
                [("trailer", size - 24, at) for at in (0, 9, 23)])
        for name, start, at in ends:
            other = bytearray(contents)
            other[start + at] ^= 4
            tests.write("damaged.cpr", bytes(other))
            note = (f"the {name} at byte {start} is damaged; its chunks were "
                    f"found without it")
            for command, *more in (("dump",), ("verify",), ("replay",),
                                   ("query", "--addr=counter", "--at=end")):
                original = tests.cprec(command, trace, *more)
                done = tests.cprec(command, damaged, *more)
                if (done.stdout, done.returncode) != (original.stdout,
                                                      original.returncode):
                    raise Failure(f"{command}, {name} at {at}: "
                                  f"{done.returncode} {done.stderr}")
                said = done.stderr.decode()[len(original.stderr):]
                if note not in said or len(said.splitlines()) != 1:
                    raise Failure(f"{command}, {name} at {at}: {said}")
            info = json.loads(tests.cprec("info", "--json", damaged).stdout)
            if not info["complete"] or note not in info["note"]:
                raise Failure(f"info, {name} at {at}: {info}")
            if note not in tests.cprec("info", damaged).stdout.decode():
                raise Failure(f"no note in info, {name} at {at}")

    def cut_end():
        """Nothing is lost but the table; one line says so."""
        footer, = struct.unpack_from("<Q", contents, size - 24)
        note = "the end of the file is missing, but nothing that was recorded"
        for at in (footer, footer + 1, footer + 48, size - 100, size - 25,
                   size - 24, size - 23, size - 1):
            tests.write("damaged.cpr", contents[:max(at, footer)])
            for command, *more in (("dump",), ("verify",), ("replay",),
                                   ("query", "--addr=counter", "--at=end"),
                                   ("registers", "--at=end"),
                                   ("races",)):
                original = tests.cprec(command, trace, *more)
                done = tests.cprec(command, damaged, *more)
                if (done.stdout, done.returncode) != (original.stdout, 0):
                    raise Failure(f"{command}, cut at {at}: {done.stderr}")
                said = done.stderr.decode()[len(original.stderr):]
                if note not in said or len(said.splitlines()) != 1:
                    raise Failure(f"{command}, cut at {at}: {said}")
            info = json.loads(tests.cprec("info", "--json", damaged).stdout)
            if info["complete"] or note not in info["note"] or \
                    info["exit"] != {"code": 3}:
                raise Failure(f"info, cut at {at}: {info}")
            if note not in tests.cprec("info", damaged).stdout.decode():
                raise Failure(f"no note in info, cut at {at}")

    tests.test("trace: cut anywhere", cut)
    tests.test("trace: cut behind all chunks", cut_end)
    tests.test("trace: a damaged footer or trailer", damaged_end)
    tests.test("trace: a bit flipped anywhere", flip)
    tests.test("trace: pages damaged, several questions", in_session)
    tests.test("trace: something behind its end", longer)


# ------- questions that have no answer -------

def test_questions(tests, trace):
    info = json.loads(tests.cprec("info", "--json", trace).stdout)
    end = info["instructions"]
    query = ("query", trace)

    def unmapped():
        done = tests.cprec(*query, "--addr", "0x123", "--at", "10", "--json")
        expect_status(done, (0, FAILED), "an address never mapped")
        answer = json.loads(done.stdout)
        if set(answer["bytes"].replace(" ", "")) != {"?"} or \
                answer["source"] != "unknown":
            raise Failure(f"not unknown: {answer}")

    tests.test("query: an address never mapped", unmapped)
    for name, text in (("past the end", str(end + 1)),
                       ("far past the end", "1" + "0" * 18),
                       ("no bookmark", "soon")):
        tests.test(f"query: a time that is {name}", tests.refused,
                   FAILED, *query, "--addr", "counter", "--at", text)
    for name, text in (
            ("too large", "9" * 30), ("negative", "-1"), ("two words", "so on"),
            ("empty", ""), ("half a hexadecimal", "0x"), ("with a tail", "12x"),
            ("with a blank", "1 2"), ("101 percent", "101%"),
            ("a fraction", "1.5x"), ("half a position", "1.")):
        tests.test(f"query: a time that is {name}", tests.refused,
                   USAGE, *query, "--addr", "counter", "--at", text)
    for name, status, text in (
            ("no symbol", FAILED, "no_such_symbol"), ("empty", USAGE, ""),
            ("negative", USAGE, "-5"), ("too large", USAGE, "0x1" + "0" * 16),
            ("half a hexadecimal", USAGE, "0x"),
            ("a number with a tail", USAGE, "0x12g"),
            ("half a sum", USAGE, "counter+"),
            ("a sum of words", FAILED, "counter+x"),
            ("no sum", USAGE, "+8"), ("two names", USAGE, "a!!b"),
            ("before the first address", FAILED, "0x10-0x11"),
            ("past the last address", FAILED, "counter+0xffffffffffffffff"),
            ("long", FAILED, "x" * 5000)):
        tests.test(f"query: an address that is {name}", tests.refused,
                   status, *query, "--addr", text, "--at", "5")
    for text in "0", "-1", "x", "", "9" * 25, "1000000000000":
        tests.test(f"query: the size '{text}'", tests.refused,
                   USAGE, *query, "--addr", "counter", "--at", "5",
                   "--size", text)
    tests.test("query: lines that make no sense", tests.refused,
               FAILED, *query, "-", text=b"0x1000\n", says="line 1: ")
    tests.test("query: no address", tests.refused, USAGE, *query, "--at", "1")


def test_closed(tests, trace):
    """No file gets the number of a standard stream that is closed."""
    def refused_without(fds, says, *words):
        def close():
            for fd in fds:
                os.close(fd)
        if 2 in fds:
            done = tests.cprec(*words, prepare=close)
            expect_status(done, FAILED, words)
            if done.stdout or done.stderr:
                raise Failure(f"{words}: {done}")
        else:
            tests.refused(FAILED, *words, prepare=close, says=says)

    ask = ("query", trace, "-")
    for fds in (0,), (0, 1), (0, 2), (0, 1, 2):
        tests.test(f"closed {fds}: query -", refused_without, fds,
                   "cannot read standard input: ", *ask)
    for words in (("info",), ("dump",), ("verify",), ("replay",),
                  ("query", "--addr=counter", "--at=end")):
        for fds in (1,), (0, 1), (1, 2), (0, 1, 2):
            tests.test(f"closed {fds}: {words[0]}", refused_without, fds,
                       "cannot write the ", *words, trace)
    tests.test("closed: record, run", program_without, tests)
    tests.test("query: a folder for standard input", folder_as_input, tests,
               trace)


def program_without(tests):
    """The program finds closed what was closed."""
    program = tests.compile("open", OPEN)
    for fds in (0,), (1,), (0, 2), (0, 1, 2):
        def close(fds=fds):
            for fd in fds:
                os.close(fd)
        status = 7 - sum(1 << fd for fd in fds)
        for words in ("run",), ("record", "-o", "closed.cpr"):
            expect_status(tests.cprec(*words, "--", program, prepare=close),
                          status, (words, fds))
        expect_status(tests.cprec("verify", "closed.cpr"), 0, fds)


def folder_as_input(tests, trace):
    folder = os.open("/", os.O_RDONLY)
    tests.refused(FAILED, "query", trace, "-",
                  says="cannot read standard input: ",
                  prepare=lambda: os.dup2(folder, 0))
    os.close(folder)


def test_usage(tests, trace):
    for words in (["nonsense"], ["info", "--nonsense", trace],
                  ["info", trace, trace], ["query"],
                  ["query", trace, "--addr"],
                  ["query", trace, "--addr=1", "--at=1", "--races",
                   "--no-races"]):
        tests.test("usage: " + " ".join(os.path.basename(word)
                                        for word in words),
                   tests.refused, USAGE, *words)
    for words in (["record"], ["run"], ["record", "--nonsense", "true"],
                  ["record", "--cache-size", "5", "true"],
                  ["record", "--segment", "x", "true"], ["record", "-o"]):
        tests.test("usage: " + " ".join(words), tests.refused, USAGE,
                   *words)


def run_all(tests):
    guest = tests.compile("guest", GUEST)
    big = tests.compile("big", BIG)
    trace = tests.path("good.cpr")
    done = tests.cprec("record", "-o", trace, "--", guest)
    if done.returncode != 3:
        print(f"# no recording: {done.stderr}")
        tests.failed += 1
        return
    test_usage(tests, trace)
    test_programs(tests)
    test_texts(tests)
    tests.test("a folder that nobody may write to", not_here, tests)
    test_avx(tests)
    test_other_processors(tests)
    test_output(tests, guest, big)
    test_no_traces(tests, guest)
    test_questions(tests, trace)
    tests.test("cut behind the first key frame", nothing_left, tests, trace)
    test_damage(tests, trace)
    test_closed(tests, trace)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cprec", required=True)
    parser.add_argument("--long", action="store_true",
                        help="damage many more places")
    parser.add_argument("--tap", action="store_true")
    parser.add_argument("--only", help="only tests with this in their name")
    options = parser.parse_args()
    options.cprec = os.path.abspath(options.cprec)
    folder = tempfile.mkdtemp(prefix="cprec-bad-input-")
    tests = Tests(options, folder)
    run_all(tests)
    if options.tap:
        print(f"1..{tests.count}")
    else:
        print(f"{tests.count - tests.failed} passed, {tests.failed} failed")
    if tests.failed:
        print(f"# kept: {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
    return 1 if tests.failed else 0


sys.exit(main())
