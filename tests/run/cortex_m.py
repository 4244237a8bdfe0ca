#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines with a Cortex-M: firmware of its own (cortex_m/) that tests exceptions,
faults, masks, timers and floating point says the same as on QEMU's machines; a
preemptive kernel; all ends that a machine has; files that are no firmware.

usage: cortex_m.py --cprec C --states S --follows F --source FOLDER
    [--sysroot FOLDER]

What QEMU says is in cortex_m/expected-*.  With --sysroot, QEMU itself is asked, too,
and a program of newlib's is recorded: the packages come from where this machine's
apt gets its own, and are unpacked into that folder, if they are not there yet.
Speaks TAP.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
import foreign  # noqa: E402
from tap import CprecTap, equal, expect, main  # noqa: E402

GDB = "gdb-multiarch"
COMPILERS = "arm-none-eabi-gcc", "arm-linux-gnueabihf-gcc"
FLAGS = """-mthumb -O2 -g -ffreestanding -fno-tree-loop-distribute-patterns -nostdlib
    -static -no-pie -fno-pic -Wl,--build-id=none""".split()
FLOATS = "-mfloat-abi=hard -mfpu=fpv4-sp-d16 -DFLOATS".split()
PACKAGES = ["qemu-system-arm", "gcc-arm-none-eabi", "libnewlib-arm-none-eabi"]
BOARDS = ("mps2-an385", "m3"), ("mps2-an386", "m4"), ("mps2-an500", "m7")
STATUS = 5		# of the firmware
STOPS = 300
PLACES = 5

# Of ends.c: status, output, what is said beside it, with which options.
ENDS = {
    1: (1, "fault 00000003\n", "is locked up: HardFault at 0x"),
    2: (0, "reset\n", "reset itself", "--no-reboot"),
    3: (0, "asleep\n", "waits for what can never come"),
    6: (1, "", "is locked up: HardFault at 0x"),
    7: (1, "fault 00000003\n", "is locked up: HardFault at 0x60000000 (there"
        " is no code); then a fault in its handler"),
}

# The vector of HardFault, and what leads there.
LOCKS = {
    "code that is not Thumb": ("stay + 1", "movs r0, #0x80\n bx r0"),
    "a handler that is not Thumb": ("0", "udf #0"),
    "no unit for floats": ("stay + 1", ".inst.w 0xee300a20"),
    "vectors that are nowhere": ("stay + 1", "ldr r0, =0xe000ed08\n"
                                 " ldr r1, =0x50000000\n str r1, [r0]\n udf #0"),
    "no memory for a frame": ("stay + 1", "movs r0, #0\n mov sp, r0\n udf #0"),
}
LOCKED = """ .syntax unified
 .thumb
 .section .vectors, "a"
 .word 0x20010000, reset + 1, 0, %s
 .text
 .thumb_func
 .global reset
reset: movs r1, #1
 %s
 .thumb_func
stay: b stay
"""

NEWLIB = r"""
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char line[80];
    FILE *file = fopen("made", "w");
    fprintf(file, "%d arguments, pi is %.4f\n", argc, 355.0 / 113.0);
    fclose(file);
    file = fopen("made", "r");
    fgets(line, sizeof(line), file);
    printf("%s", line);
    while (fgets(line, sizeof(line), stdin))
        printf("%u: %s", (unsigned)strlen(line), line);
    return 42;
}
"""


class Tests(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.trace = os.path.join(folder, "m.cpr")
        self.elf = None
        self.said = {}

    def source(self, name):
        return os.path.join(self.options.source, name)

    def compile(self, name, sources, model, *more):
        floats = ["-mfloat-abi=soft"] if model == "m3" else FLOATS
        elf = os.path.join(self.folder, name)
        done = subprocess.run(
            [self.options.compiler, *FLAGS, *floats, "-mcpu=cortex-" + model,
             "-Wl,-T" + self.source("firmware.ld"), *more, "-o", elf,
             *map(self.source, sources)], capture_output=True, text=True)
        equal(done.returncode, 0, done.stderr)
        return elf

    def firmware(self, model, *more):
        floats = "no_floats.c" if model == "m3" else "floats.c"
        return self.compile("fw-" + model, ["start.c", "firmware.c", floats],
                            "m3" if model == "m3" else "m4", *more)

    def record(self, machine, elf, *options, text=""):
        for path in self.trace, self.trace + ".idx":
            if os.path.exists(path):
                os.remove(path)
        self.elf = elf
        return self.cprec("record", "--machine=" + machine, "-o", self.trace,
                          "--firmware=" + elf, *options, text=text)

    def check_recording(self, said):
        """It replays, verifies, and has one state in its end, with and without
        stops, and from each key frame; all without the firmware's file."""
        os.rename(self.elf, self.elf + ".away")
        try:
            self.check_ends(said)
        finally:
            os.rename(self.elf + ".away", self.elf)

    def check_ends(self, said):
        done = self.cprec("replay", self.trace)
        equal((done.returncode, done.stdout), (0, said), "replay")
        done = self.cprec("verify", self.trace)
        equal(done.returncode, 0, done.stderr)
        ends = {self.states("end"), self.states("stops", "1", str(STOPS))}
        for frame in range(self.info()["key_frames"]):
            ends.add(self.states("frame", str(frame)))
            self.check_devices(frame)
        equal(len(ends), 1, "states in the end")

    def check_devices(self, frame):
        """Those that follow a replay from there on end as the recorded ones."""
        done = subprocess.run([self.options.follows, self.trace, str(frame),
                               "-"], capture_output=True, text=True)
        equal((done.returncode, done.stderr), (0, ""),
              f"devices from key frame {frame} on")

    def states(self, *arguments):
        return subprocess.run([self.options.states, self.trace, *arguments],
                              capture_output=True, text=True,
                              check=True).stdout

    def info(self):
        done = self.cprec("info", "--json", self.trace)
        equal(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def segments(self):
        done = self.cprec("info", "--json", "--verbose", self.trace)
        return json.loads(done.stdout)["segments"]

    def tests_itself(self, machine, model):
        done = self.record(machine, self.firmware(model), "--segment=5000")
        equal(done.returncode, STATUS, done.stderr)
        with open(self.source("expected-" + model)) as expected:
            equal(done.stdout, expected.read(), "output")
        self.check_recording(done.stdout)
        info = self.info()
        equal(info["arch"], "cortex-m", "architecture")
        return f"{info['instructions']} instructions"

    def asked(self):
        """By names, lines and types of the firmware's file, in which nothing is
        at the beginning of a page."""
        self.record("mps2-an385", self.firmware("m3", "-Wl,--nmagic"))

        def ask(command, *words):
            done = self.cprec(command, self.trace, *words)
            equal(done.returncode, 0, done.stderr)
            return done.stdout
        expect(re.search(r"function main at .*firmware\.c:\d+",
                         ask("symbols")), "symbols")
        calls = ask("calls", "main", "scramble").splitlines()
        expect(f" main() = {STATUS}," in calls[0], calls[0])
        # Interrupted or not, it computes the same.
        results = [re.search(r"scramble\(count=\d+\) = (\d+),", line)[1]
                   for line in calls[1:]]
        equal((len(results), len(set(results))), (2, 1), "results")
        with open(self.source("expected-m3")) as expected:
            said = expected.read()
        # All that is printed is the argument of one function.
        texts = re.findall(r'text = 0x\w+(?: <\w+>)? "(.*)"',
                           ask("log", "say => text"))
        expect(texts and all(text.replace("\\n", "\n") in said
                             for text in texts), texts)
        changed = ask("when", "--expr=order_count == 3")
        expect("in note" in changed and "2 -> 3" in changed, changed)
        self.last_register(ask)
        # It has no tasks that are known.
        done = self.cprec("ps", "--at=50%", self.trace)
        equal((done.returncode, done.stdout, done.stderr),
              (1, "", "cprec: there is no FreeRTOS or Zephyr in the firmware,"
               " or no debugging information of it\n"), "tasks")

    def last_register(self, ask):
        """As registers before and after it say."""
        at = 60_000
        told = ask("last", "--register=r0", f"--at={at}")
        found = re.match(r"t=(\d+): .* wrote r0: (\w+) -> (\w+)", told)
        expect(found, told)
        time = int(found[1])

        def value(when):
            return json.loads(ask("registers", "--json", f"--at={when}")
                              )["registers"]["r0"]
        equal([int(value(when), 0) for when in (time, time + 1, at)],
              [int(found[i], 0) for i in (2, 3, 3)], told)

    def switches(self, machine, model):
        elf = self.compile("kernel", ["start.c", "kernel.c"], model)
        done = self.record(machine, elf)
        equal(done.returncode, 0, done.stderr)
        self.said[machine] = done.stdout
        expect("both computed 00000001\n" in done.stdout, done.stdout)
        equal(self.cprec("verify", self.trace).returncode, 0, "verify")
        return f"{self.info()['instructions']} instructions"

    def ends(self, end):
        status, said, beside, *options = ENDS[end]
        elf = self.end(end)
        done = self.record("mps2-an385", elf, *options)
        equal((done.returncode, done.stdout), (status, said), done.stderr)
        expect(beside in done.stderr, done.stderr)
        self.check_recording(said)

    def locks_up(self, vector, body):
        """However it does: all that replays it comes to an end."""
        source = os.path.join(self.folder, "locked.S")
        with open(source, "w") as text:
            text.write(LOCKED % (vector, body))
        elf = self.compile("locked", [source], "m4")
        done = self.record("mps2-an386", elf)
        equal((done.returncode, done.stdout), (1, ""), done.stderr)
        expect("is locked up: HardFault at 0x" in done.stderr, done.stderr)
        self.check_recording("")
        for words in (["index"], ["calls", "reset"], ["backtrace"],
                      ["query", "--addr=$pc", "--at=end"]):
            done = self.cprec(words[0], self.trace, *words[1:])
            equal(done.returncode, 0, f"{words}: {done.stderr}")

    def end(self, end):
        return self.compile("ends", ["start.c", "ends.c"], "m3",
                            f"-DEND={end}")

    def reboots(self):
        """It begins anew, with devices as at the start, and memory as it was;
        by itself, and by the watchdog."""
        done = self.record("mps2-an385", self.end(8), "--segment=1000")
        equal(done.returncode, 3, done.stderr)
        said = ("began 00000001\nwas 00000011\n"
                "began 00000002\nwas 00000011\n"
                "began 00000003\nwas 00000011\n")
        equal(done.stdout, said, "output")
        self.check_recording(said)
        # Registers of devices are in no index.
        done = self.cprec("writes", "--json", "--addr=0x40010004", "--size=4",
                          self.trace)
        told = map(json.loads, done.stdout.splitlines())
        # A read finds that the device has changed it, too.
        equal([one["new"] for one in told if "by" not in one],
              3 * ["05000000"], done.stderr)

    def debugger(self, machine):
        """gdb knows the processor: exceptions, and back out of them."""
        elf = self.compile("kernel", ["start.c", "kernel.c"], "m4")
        equal(self.record(machine, elf).returncode, 0, "record")
        said = self.gdb(
            elf, "p/x $xpsr", "p $s0", "p/x $msp", "break consume",
            "continue", "p $control", "watch sum", "continue",
            "reverse-continue", "delete", "break systick", "continue",
            "p $xpsr & 511", "backtrace 2", "delete", "reverse-stepi",
            "p $xpsr & 511", "stepi", "p $xpsr & 511", "finish",
            "p $xpsr & 511", "reverse-stepi", "p $xpsr & 511")
        for wanted in (r"p/x \$xpsr\n.*= 0x1000000\n", r"p \$s0\n.*= 0\n",
                       r"p/x \$msp\n.*= 0x20100000\n",
                       r"consume \(\) at .*kernel.c", r"control\n.*= 2\n",
                       r"Old value = 0\nNew value = 1\n",
                       r"Old value = 1\nNew value = 0\n",
                       r"511\n.* = 15\n",
                       r"#0  systick.*\n#1  <signal handler called>",
                       r">reverse-stepi\n.*\n(.*\n)?>p \$xpsr & 511\n.* = 0\n"
                       r">stepi\n.*systick.*\n(.*\n)?"
                       r">p \$xpsr & 511\n.* = 15\n>finish\n"):
            expect(re.search(wanted, said), f"{wanted}\n{said}")

    def gdb(self, elf, *commands):
        """What it says to each command."""
        words = []
        for command in commands:
            words += ["-ex", "echo >" + command.replace("$", "\\$") + "\\n",
                      "-ex", command]
        done = subprocess.run(
            [GDB, "-nx", "-batch", "-l", "100", "-ex",
             "set pagination off", "-ex",
             "file " + elf, "-ex",
             f"target remote | exec {shlex.quote(self.options.cprec)}"
             f" gdbserver --stdio {self.trace}", *words], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=200)
        return done.stdout + done.stderr

    def answers(self, command, *words):
        done = self.cprec(command, "--json", *words, self.trace)
        equal(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def names_in(self, at):
        """Without guesses, which gdb does not make."""
        return [frame.get("function") for frame in
                self.answers("backtrace", f"--at={at}")[0]["frames"]
                if frame.get("sure", True)]

    def blinks(self):
        """Who changed a pin, and what that had interrupted."""
        elf = os.path.join(self.folder, "blink.elf")
        subprocess.run([self.options.compiler, "-mcpu=cortex-m3", "-mthumb",
                        "-mfloat-abi=soft", "-g", "-O1", "-nostdlib",
                        "-ffreestanding", "-Wl,--section-start=.vectors=0,"
                        "--build-id=none,-Ttext=0x100,-Tbss=0x20000000,"
                        "-estart", "-static", "-no-pie", "-o", elf, self.source("blink.c")],
                       check=True, stderr=subprocess.DEVNULL)
        equal(self.record("mps2-an385", elf).returncode, 0, "record")
        found = self.answers("writes", "--addr=0x40010004", "--size=4")
        found = [one for one in found if "by" not in one]
        equal([(one["new"], one["function"]) for one in found],
              [(new, "systick") for new in ("20000000", "00000000") * 2 +
               ("20000000",)], "writes")
        for one in found:
            equal(self.names_in(one["at"]), ["systick", "start"], "callers")
        calls = self.answers("calls", "systick", "start")
        equal([(call["function"], call["depth"]) for call in calls],
              [("start", 0)] + 100 * [("systick", 1)], "calls")
        expect(all("returned" in call or "instructions" in call and
                   "not_returned" not in call for call in calls[1:]),
               calls[1])
        equal({call["caller"].get("function") for call in calls[1:]},
              {"start"}, "what was interrupted")

    def callers(self, machine):
        """Also on another stack, and with floating point kept: as gdb says."""
        elf = self.compile("kernel", ["start.c", "kernel.c"], "m4")
        equal(self.record(machine, elf).returncode, 0, "record")
        for handler in "systick", "choose":
            met = self.answers("calls", handler)[0]
            said = self.gdb(elf, f"break *{self.place(elf, handler):#x}",
                            "continue", "backtrace")
            said = re.sub("<signal handler called>", "",
                          said[said.index(">backtrace"):])
            equal(self.names_in(f"{met['at']}.{met.get('events', 0)}"),
                  re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\w+) \(", said,
                             re.MULTILINE), handler)

    def prompt(self, machine):
        """Our own prompt: by addresses."""
        elf = self.compile("kernel", ["start.c", "kernel.c"], "m4")
        equal(self.record(machine, elf).returncode, 0, "record")
        at = {name: self.place(elf, name) for name in ("choose", "sum")}
        done = self.cprec("debug", "--plain", "--batch", "-ex",
                          f"break *{at['choose']:#x}", "-ex", "continue", "-ex",
                          "p $xpsr & 511", "-ex", "x/1i $pc", "-ex",
                          "reverse-stepi", "-ex", "x/1i $pc", "-ex", "delete",
                          "-ex", f"watch *(int *) {at['sum']:#x}", "-ex",
                          "continue", "-ex", "continue", "-ex",
                          "reverse-continue", self.trace)
        equal((done.returncode, done.stderr), (0, ""), done.stdout)
        first = self.mnemonic(elf, "choose")
        for wanted in (rf"= 14\n=> 0x[0-9a-f]+ <choose>:\s+{re.escape(first)}\s",
                       r"=> .*bl\s",
                       r"Old value = 0\nNew value = 1\n",
                       r"Old value = 1\nNew value = 5\n",
                       r"Old value = 5\nNew value = 1\n"):
            expect(re.search(wanted, done.stdout), f"{wanted}\n{done.stdout}")

    def place(self, elf, symbol):
        """Where the firmware has it."""
        done = subprocess.run(
            [self.options.compiler.replace("-gcc", "-nm"), elf], check=True,
            capture_output=True, text=True)
        return next(int(line.split()[0], 16) for line in
                    done.stdout.splitlines() if line.split()[2] == symbol)

    def mnemonic(self, elf, symbol):
        """Of its first instruction, as objdump says."""
        done = subprocess.run(
            [self.options.compiler.replace("-gcc", "-objdump"), "-d", elf],
            check=True, capture_output=True, text=True)
        return re.search(rf"<{symbol}>:\n[^\t]*\t[^\t]*\t(\S+)",
                         done.stdout).group(1)

    def lives(self, status, count, typed=""):
        """Alive from so many times and all key frames, it says what is left;
        devices that follow a replay are what key frames say."""
        info = self.info()
        end = info["instructions"]
        times = [end * i // count for i in range(count)]
        times += [segment["at"] for segment in self.segments()]
        whole = self.cprec("replay", self.trace).stdout
        for at in sorted(set(times)):
            before = self.cprec("replay", f"--to={at}", self.trace).stdout
            done = self.cprec("run", f"--at={at}", self.trace, text=typed)
            equal((done.stdout[-200:], len(done.stdout), done.returncode),
                  (whole[len(before):][-200:], len(whole) - len(before),
                   status), f"alive from {at} on: {done.stderr}")
            expect("not the recording" in done.stderr, done.stderr)
        for frame in range(info["key_frames"]):
            self.check_devices(frame)
        return f"from {len(times)} times"

    def goes_on(self, machine, model):
        """A kernel, with its timer."""
        elf = self.compile("kernel", ["start.c", "kernel.c"], model)
        equal(self.record(machine, elf, "--segment=20m").returncode, 0,
              "record")
        return self.lives(0, PLACES)

    def tests_go_on(self, machine, model):
        """In the middle of all kinds of exceptions."""
        self.record(machine, self.firmware(model), "--segment=50k")
        return self.lives(STATUS, PLACES)

    def files_go_on(self):
        """With files that are open; a program's arguments."""
        elf = self.compile("files", ["start.c", "files.c"], "m3")
        done = self.record("mps2-an385", elf, "--segment=500",
                           "--append=files a b")
        equal(done.returncode, 0, done.stderr)
        self.check_recording(done.stdout)
        told = self.lives(0, 5 * PLACES)
        lines = [f"line {chr(ord('a') + i)}\n" for i in range(12)]
        equal(done.stdout, "".join([
            "error 00000002\n", 12 * ".", "\n", *lines[::3],
            "length 00000054\n", "closed 00000000\n", *lines[10:],
            "again ffffffff\n", "why 00000009\n", "missing 00000000\n",
            "files a b"]), "output")
        with open("kept.txt") as file:
            equal(file.read(), "".join(lines), "the file")
        return told

    def options_of_others(self):
        """Only a machine with a kernel has these."""
        elf = self.end(2)
        for option in ("--kernel=k", "--initrd=i", "--memory=64m",
                       "--cpu=cortex-a53", "--drive=d", "--net=user",
                       "--console=virtio"):
            done = self.record("mps2-an385", elf, option)
            equal((done.returncode, done.stdout), (2, ""), option)
            equal(len(done.stderr.splitlines()), 1, done.stderr)
            expect("has no " + option.split("=")[0] in done.stderr,
                   done.stderr)
        expect(not os.path.exists(self.trace), "there is a recording")

    def unknown_devices(self):
        done = self.record("mps2-an385", self.end(4))
        equal(done.returncode, 0, done.stderr)
        equal(done.stdout, "there 00000000\n" * 3 + "and 00000000\n", "output")
        equal(len(done.stderr.splitlines()), 4, done.stderr)
        expect("reads 0x40050000" in done.stderr, done.stderr)

    def described_devices(self):
        path = os.path.join(self.folder, "devices")
        with open(path, "w") as text:
            text.write("# a device\n0x40050000 CTRL 0x11223344 read-only\n\n"
                       "0x40050004 DATA  # that keeps\n")
        done = self.record("mps2-an385", self.end(4), "--device=" + path)
        equal((done.returncode, done.stderr), (0, ""), "record")
        equal(done.stdout, "there 11223366\n" * 3 + "and 00002201\n", "output")
        self.check_recording(done.stdout)

    def typed(self):
        done = self.record("mps2-an385", self.end(5), text="some words\n")
        equal(done.returncode, 11, done.stderr)
        equal(done.stdout, "typed some words\n", "output")
        self.check_recording(done.stdout)

    def bad_input(self):
        elf = self.end(2)
        with open(elf, "rb") as file:
            good = file.read()

        def changed(at, new):
            return good[:at] + new + good[at + len(new):]

        first = struct.unpack_from("<I", good, 28)[0]
        files = {
            "it is empty": b"",
            "of another architecture": changed(18, b"\x3e\0"),
            "the other byte order": changed(5, b"\2"),
            "not an executable file": changed(16, b"\1\0"),
            "cut off": good[:60],
            "no memory for them": changed(first + 12, b"\0\0\0\x90"),
            "no entry": b"\0" * 64,
            "where this machine has no memory": b"x" * (5 << 20),
        }
        for words, data in files.items():
            path = os.path.join(self.folder, "bad")
            with open(path, "wb") as file:
                file.write(data)
            self.one_line(self.record("mps2-an385", path), words)
        self.one_line(self.record("mps2-an385", "/nowhere"), "/nowhere")
        for words, text in {"does not begin with an address": "x y\n",
                            "multiple of 4": "0x40050002 A\n",
                            "line 2": "0x40050000 A\n0x40050000 B\n",
                            "there can be no register": "0x20000000 A\n"}.items():
            path = os.path.join(self.folder, "bad")
            with open(path, "w") as file:
                file.write(text)
            self.one_line(self.record("mps2-an385", elf, "--device=" + path),
                          words)

    def one_line(self, done, words):
        equal((done.returncode, done.stdout), (125, ""), words)
        equal(len(done.stderr.splitlines()), 1, done.stderr)
        expect(words in done.stderr, done.stderr)

    # With packages.

    def qemu(self, machine, elf):
        root = self.options.sysroot
        libraries = ":".join(os.path.join(root, name, "x86_64-linux-gnu")
                             for name in ("lib", "usr/lib"))
        return subprocess.run(
            [os.path.join(root, "lib64/ld-linux-x86-64.so.2"),
             "--library-path", libraries,
             os.path.join(root, "usr/bin/qemu-system-arm"), "-M", machine,
             "-L", os.path.join(root, "usr/share/qemu"),
             "-nographic", "-monitor", "none", "-serial", "stdio",
             "-semihosting-config", "enable=on,target=native",
             "-icount", "shift=0", "-kernel", elf],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60)

    def as_qemu(self, machine, model):
        done = self.qemu(machine, self.firmware(model))
        equal(done.returncode, STATUS, done.stderr)
        with open(self.source("expected-" + model)) as expected:
            equal(done.stdout, expected.read(), "output of QEMU")

    def newlib(self):
        root = self.options.sysroot
        source = os.path.join(self.folder, "newlib.c")
        elf = os.path.join(self.folder, "newlib")
        with open(source, "w") as file:
            file.write(NEWLIB)
        subprocess.run(
            [os.path.join(root, "usr/bin/arm-none-eabi-gcc"), "-mthumb",
             "-mcpu=cortex-m3", "-O2",
             "-B" + os.path.join(root, "usr/lib/arm-none-eabi/newlib/"),
             "-B" + os.path.join(root, "usr/bin/arm-none-eabi-"),
             "-isystem", os.path.join(root, "usr/include/newlib"),
             "--specs=rdimon.specs", source, "-o", elf], check=True,
            env=dict(os.environ, PATH=os.path.join(root, "usr/bin") + ":" +
                     os.environ["PATH"]))
        done = self.record("mps2-an385", elf, "--append=newlib a b",
                           text="one\ntwo words\n")
        equal(done.returncode, 42, done.stderr)
        said = "3 arguments, pi is 3.1416\n4: one\n10: two words\n"
        equal(done.stdout, said, "output")
        os.remove(os.path.join(self.folder, "made"))
        self.check_recording(said)


def suite(options, folder):
    found = [name for name in COMPILERS if shutil.which(name)]
    if not found:
        print(f"1..0 # SKIP neither of {', '.join(COMPILERS)} is there")
        return 0
    options.compiler = found[0]
    os.chdir(folder)
    tests = Tests(options, folder)
    for machine, model in BOARDS:
        tests.test(f"{machine} tests itself", tests.tests_itself, machine,
                   model)
    for machine, model in BOARDS[:2]:
        tests.test(f"a kernel on {machine}", tests.switches, machine, model)
    for end in ENDS:
        tests.test(f"end {end}", tests.ends, end)
    for name, firmware in LOCKS.items():
        tests.test("locked up: " + name, tests.locks_up, *firmware)
    tests.test("a machine that begins anew", tests.reboots)
    if shutil.which(GDB):
        tests.test("gdb", tests.debugger, "mps2-an386")
        tests.test("callers of handlers", tests.callers, "mps2-an386")
    else:
        print("#", GDB, "is not there: it is not tried")
    tests.test("our prompt", tests.prompt, "mps2-an386")
    tests.test("a pin", tests.blinks)
    tests.test("a kernel goes on", tests.goes_on, "mps2-an386", "m4")
    for machine, model in BOARDS:
        tests.test(f"tests go on, on {machine}", tests.tests_go_on, machine,
                   model)
    tests.test("open files go on", tests.files_go_on)
    tests.test("options of other machines", tests.options_of_others)
    tests.test("asked by names", tests.asked)
    tests.test("devices that are not there", tests.unknown_devices)
    tests.test("devices that a file describes", tests.described_devices)
    tests.test("what is typed", tests.typed)
    tests.test("no firmware", tests.bad_input)
    if options.sysroot:
        if not shutil.which("apt-get") and not os.path.isdir(options.sysroot):
            print("# without apt-get there are no packages: QEMU is not asked")
            return tests.summary()
        options.sysroot = os.path.realpath(options.sysroot)
        foreign.unpack("amd64", options.sysroot, PACKAGES)
        for machine, model in BOARDS:
            tests.test(f"{machine}, as QEMU", tests.as_qemu, machine, model)
        tests.test("a program of newlib's", tests.newlib)
    return tests.summary()


def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--sysroot", metavar="FOLDER",
                      help="compare with QEMU, from packages")
    return made


if __name__ == "__main__":
    sys.exit(main(suite, "states", "follows", "source", parser=parser()))
