#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A whole machine, recorded and replayed: the same output, the same state in
the end, however it is reached.

usage: machine.py --cprec C --states S --follows F --source FILE --devices FILE
    --ends FILE --cores FILE --spaces FILE --checks FILE

The FILEs are kernels of its own, which the cross compiler makes; the second one
uses disks, a network and the like, the third one ends in many ways, the fourth one
has several cores, and says the same on QEMU, the fifth one has two address spaces,
the last one says what its processor does, as QEMU does (machine_checks.txt).  S is
machine_states.c, F machine_devices.c.
Speaks TAP.
"""
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

COMPILER = "aarch64-linux-gnu-gcc"
OBJCOPY = "aarch64-linux-gnu-objcopy"
NM = "aarch64-linux-gnu-nm"
GDB = "gdb-multiarch"
ORACLE = "qemu-system-aarch64"
TYPED = "abc\n"
SAID = "".join(line + "\n" for line in (
    "translated", "interrupts", "changed code", "faults", "program", "abbccd",
    "bye"))
DEVICES_SAY = "".join(line + "\n" for line in (
    "disk", "code", "written", "behind its end", "unknown", "readonly",
    "entropy", "random", "endless", "nowhere", "mended",
    "frames wait", "endless frames", "the router's address", "by virtio", "abc",
    "bye"))
C_OPTIONS = ["-Os", "-ffreestanding", "-fno-builtin", "-fno-pic", "-no-pie",
             "-mgeneral-regs-only", "-mstrict-align", "-fno-stack-protector",
             "-fno-reorder-functions", "-Wl,-z,max-page-size=4096"]
# Of machine_ends.S: options, status, output, what is said beside it.
WORDS = ("[    0.8] Kernel panic - not syncing: no more\r\n"
         "[    0.9] ---[ end Kernel panic - not syncing: no more ]---\r\n")
ENDS = {
    1: ("", 1, "", "locked up: an undefined instruction, and no memory where"
        " its handler would be, 0x8000000200, at 0x402000"),
    2: ("", 1, "", "locked up: a fault of 0xffff.*, again and again in the"
        " handler of faults, at 0x40200"),
    3: ("", 1, "", "locked up: a loop that does nothing, with interrupts off,"
        " at 0x402000"),
    4: ("", 0, "", ""),
    5: ("", 0, "1a2a3a", ""),
    6: ("", 1, WORDS, "panicked: no more"),
    7: ("", 0, WORDS + "f", ""),
    8: ("--no-reboot", 1, WORDS, "panicked: no more"),
    9: ("", 0, "f", ""),
}
CORES = 4
CORE_ROUNDS = 3000
CORE_STOPS = 60
CODES = 40
PAGE = 4096
WRITTEN = bytes((i * 7 + i // PAGE) & 0xff for i in range(2 * PAGE))
WRITTEN_AT = 1000 * 512
SEGMENT = 20_000
STOPS = 500
SPACES = 5, 9  # as machine_spaces.S has them
SPACE_DATA = 0x80400000
SPACE_ROUNDS = 200
RAM = 0x40000000
ALIAS = 0x80000000


def compile_kernel(source, kernel, *options):
    elf = kernel + ".elf"
    subprocess.run([COMPILER, "-nostdlib", "-static", *options,
                    "-Wl,-Ttext=0x40200000,--build-id=none,-e,0x40200000",
                    "-o", elf, source], check=True)
    subprocess.run([OBJCOPY, "-O", "binary", "-j", ".text", "-j",
                    ".rodata", "-j", ".data", elf, kernel], check=True)


class Tests(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.kernel = os.path.join(folder, "kernel")
        self.devices_kernel = os.path.join(folder, "devices-kernel")
        self.disk = os.path.join(folder, "disk,1.img")
        self.readonly = os.path.join(folder, "readonly.img")
        self.trace = os.path.join(folder, "m.cpr")

    def answer(self, *arguments):
        done = self.cprec(*arguments)
        equal(done.returncode, 0, done.stderr)
        return done.stdout

    def info(self):
        return json.loads(self.answer("info", "--json", self.trace))

    def registers(self, at):
        return json.loads(self.answer("registers", "--json", f"--at={at}",
                                      self.trace))["registers"]

    def compile_all(self):
        compile_kernel(self.options.source, self.kernel)
        compile_kernel(self.options.devices, self.devices_kernel, *C_OPTIONS)

    def record(self, *options):
        done = self.cprec("record", "--machine=virt", "--memory=16m",
                          "--kernel=" + self.kernel, "-o", self.trace,
                          f"--segment={SEGMENT}", *options, text=TYPED)
        equal((done.returncode, done.stderr), (0, ""), "record")
        equal(done.stdout, SAID, "output")

    def replays(self):
        equal(self.answer("replay", self.trace), SAID, "replay")
        expect("verified" in self.answer("verify", self.trace), "verify")
        info = self.info()
        equal(info["arch"], "aarch64-machine", "architecture")
        equal(info["exit"]["code"], 0, "exit")
        expect(info["key_frames"] > 10, "key frames")
        return f"{info['instructions']} instructions, {info['size']} bytes"

    def without_kernel(self):
        """A recording has all that it needs."""
        os.rename(self.kernel, self.kernel + ".away")
        equal(self.answer("replay", self.trace), SAID, "replay")
        os.rename(self.kernel + ".away", self.kernel)

    def states(self, *how):
        done = subprocess.run([self.options.states, self.trace, *how],
                              capture_output=True, text=True, timeout=120)
        equal(done.returncode, 0, done.stderr)
        return done.stdout

    def make_disks(self):
        disk = bytearray(1 << 20)
        for i in range(CODES):
            struct.pack_into("<II", disk, PAGE * i, 0x52800000 | i << 5,
                             0xd65f03c0)
        with open(self.disk, "wb") as out:
            out.write(disk)
        with open(self.readonly, "wb") as out:
            out.write(bytes(PAGE))
        return bytes(disk)

    def record_devices(self, disk, readonly):
        done = self.cprec("record", "--machine=virt", "--memory=16m",
                          "--kernel=" + self.devices_kernel, "-o", self.trace,
                          f"--segment={SEGMENT}", "--drive=" + disk,
                          "--drive", readonly, "--net=user",
                          "--console=virtio", text=TYPED)
        equal((done.returncode, done.stderr), (0, ""), "record")
        equal(done.stdout, DEVICES_SAY, "output")

    def devices(self):
        """Disks are as they were written; replays need none of them."""
        before = self.make_disks()
        name = self.disk.replace(",", ",,")
        self.record_devices(name + ",snapshot",
                            f"file={self.readonly},if=virtio,format=raw,"
                            "readonly=on")
        with open(self.disk, "rb") as disk:
            equal(disk.read(), before, "an image whose snapshot was used")
        self.record_devices(name, self.readonly + ",readonly")
        with open(self.disk, "rb") as disk:
            after = disk.read()
        equal(after, before[:WRITTEN_AT] + WRITTEN +
              before[WRITTEN_AT + len(WRITTEN):], "the image")
        for path in self.disk, self.readonly:
            os.remove(path)
        equal(self.answer("replay", self.trace), DEVICES_SAY, "replay")
        self.answer("verify", self.trace)
        kinds = [json.loads(line)["kind"] for line in self.answer(
            "dump", "--json", self.trace).splitlines()]
        expect(kinds.count("STORED") > CODES / 2, "stored pages")
        return f"{kinds.count('DMA')} times"

    def goes_on(self):
        """Alive from any time: the disk is as it was then; other input."""
        disk = self.make_disks()
        name = self.disk.replace(",", ",,")
        self.record_devices(name, self.readonly + ",readonly")
        with open(self.disk, "wb") as out:
            out.write(disk)
        drives = ["--drive=" + name, "--drive", self.readonly + ",readonly"]
        expected = DEVICES_SAY.replace("abc", "xyz")
        end = self.info()["instructions"]
        for at in [0, 1000, 4000, *(end * i // 12 for i in range(1, 12))]:
            done = self.cprec("run", f"--at={at}", *drives, "--net=user",
                              self.trace, text="xyz\n")
            equal((done.returncode, len(done.stderr.splitlines())), (0, 1),
                  done.stderr)
            expect("not the recording" in done.stderr, done.stderr)
            expect(done.stdout.endswith("by virtio\nxyz\nbye\n") and
                   expected.endswith(done.stdout), done.stdout)
        with open(self.disk, "rb") as image:
            equal(image.read(), disk, "the image")
        frames = self.info()["key_frames"]
        for frame in range(frames):
            done = subprocess.run([self.options.follows, self.trace,
                                   str(frame), "-", self.disk, self.readonly],
                                  capture_output=True, text=True, timeout=120)
            equal((done.returncode, done.stderr), (0, ""),
                  f"devices from key frame {frame} on")
        for arguments in ([], drives[:1], [*drives, drives[0]]):
            done = self.cprec("run", "--at=50", *arguments, self.trace)
            equal((done.returncode, done.stdout,
                   len(done.stderr.splitlines())), (125, "", 1),
                  done.stderr)

    def without_devices(self):
        """Nothing of devices is in a program that replays: whatever becomes of
        them, a recording is replayed as it was."""
        done = subprocess.run(["nm", self.options.states], text=True,
                              capture_output=True, check=True)
        names = set(re.findall(r" [tTdDrRbB] (\w+)", done.stdout))
        expect({"board_run", "machine_replay_seek"} <= names, "names")
        for name in names:
            expect(not re.match("(gic|pl0..|virtio?|live|disk|user_net)_|"
                                "psci_call|state_part", name), name)

    def same_end(self):
        expected = self.states("straight")
        for seed in "1", "2":
            equal(self.states("stops", seed, str(STOPS)), expected,
                  f"{STOPS} exact stops, seed {seed}")
        frames = self.info()["key_frames"]
        for frame in range(frames):
            equal(self.states("frame", str(frame)), expected,
                  f"from key frame {frame}")
        return f"{frames} key frames"

    def lines(self):
        """Where each line on the console ended: not an instruction before."""
        def said(at):
            return self.answer("replay", f"--to={at}", self.trace)
        lines = SAID.splitlines(keepends=True)
        ends = []
        for number in range(1, len(lines) + 1):
            at = json.loads(self.answer(
                "query", "--json", f"--addr={RAM:#x}", "--physical",
                f"--at=output:{number}", self.trace))["at"]
            so_far = "".join(lines[:number])
            equal(said(at), so_far, f"line {number}")
            equal(said(at - 1), so_far[:-1], f"before the end of {number}")
            ends.append(at)
        equal(ends, sorted(ends), "times")
        done = self.cprec("query", "--addr=0", f"--at=output:{len(lines) + 1}",
                          self.trace)
        expect(f"this machine wrote {len(lines)}" in done.stderr, done.stderr)
        return f"{len(lines)} lines"

    def kept_states(self):
        """Those that are kept are there, as they were, whatever the segment."""
        done = subprocess.run([self.options.kept, self.trace, "1", "20",
                               hex(RAM), hex(4 << 20)], capture_output=True,
                              text=True, timeout=120)
        equal((done.returncode, done.stdout), (0, "20 of 20 are kept\n"),
              done.stderr)

    def other_frames(self):
        """Positions have the same states, wherever key frames are."""
        end = self.info()["instructions"]
        places = [end * i // 7 for i in range(8)]
        before = [self.registers(at) for at in places]
        self.record("--segment=1m")
        equal(self.info()["key_frames"], 2, "key frames")
        # Input comes when it comes: up to there, all is the same.
        equal([self.registers(at) for at in places[:3]], before[:3],
              "registers")

    def memory(self):
        """By both addresses, and by the page tables of the time."""
        def read(addr, *how):
            return json.loads(self.answer("query", "--json", "--at=end",
                                          f"--addr={addr:#x}", *how,
                                          self.trace))
        with open(self.kernel, "rb") as kernel:
            head = kernel.read(8).hex()
        where = RAM + 0x200000
        equal(read(where)["bytes"], head, "virtual")
        equal(read(where, "--physical")["bytes"], head, "physical")
        alias = read(where + RAM)
        equal((alias["bytes"], int(alias["physical"], 0)), (head, where),
              "the other address")
        for how, addr in ((), 0xc0000000), (("--physical",), ALIAS):
            done = self.cprec("query", f"--addr={addr:#x}", *how, self.trace)
            equal(done.returncode, 1, hex(addr))
            equal(len(done.stderr.splitlines()), 1, done.stderr)
        # Before translation begins, only RAM is there.
        done = self.cprec("query", f"--addr={ALIAS:#x}", "--at=5", self.trace)
        equal(done.returncode, 1, "before translation")

    def levels(self):
        """The program at EL0 is executed where EL1 sees it elsewhere."""
        end = self.info()["instructions"]
        found = [int(self.registers(end * i // 40)["cpsr"], 0) >> 2 & 3
                 for i in range(1, 40)]
        equal(set(found), {0, 1}, "levels")

    def steps(self):
        """Where the guest is, instruction by instruction."""
        first = [int(self.registers(i)["pc"], 0) for i in range(6)]
        equal(first, [RAM + 0x200000, *(first[1] + 4 * i for i in range(5))],
              "program counters")

    def place(self, symbol):
        """Where the kernel has it."""
        done = subprocess.run([NM, self.kernel + ".elf"], check=True,
                              capture_output=True, text=True)
        return next(int(line.split()[0], 16) for line in
                    done.stdout.splitlines() if line.split()[2] == symbol)

    def accesses(self, name, addr, *options):
        done = self.answer(name, "--json", f"--addr={addr:#x}", *options,
                           self.trace)
        return [json.loads(line) for line in done.splitlines()]

    def word(self, addr, at):
        done = json.loads(self.answer("query", "--json", f"--addr={addr:#x}",
                                      f"--at={at}", self.trace))
        return int.from_bytes(bytes.fromhex(done["bytes"]), "little")

    @staticmethod
    def number(text):
        return int.from_bytes(bytes.fromhex(text), "little")

    def history(self):
        """Who accessed memory: by any address that it has."""
        where = self.place("sum")
        values = [sum(range(100, 100 - i, -1)) for i in range(101)]
        for how in ((), ("--physical",)):
            found = self.accesses("writes", where, *how)
            equal([self.number(one["new"]) for one in found], values[1:], how)
            equal([self.number(one["old"]) for one in found], values[:-1], how)
        for one in found[::9]:
            equal((self.word(where, one["at"]),
                   self.word(where, one["at"] + 1)),
                  (self.number(one["old"]), self.number(one["new"])), one)
            regs = self.registers(one["at"])
            equal(int(regs["pc"], 0), int(one["pc"], 0), "who wrote")
            equal(int(regs["x1"], 0), where, "where to")
        equal(len(self.accesses("reads", where)), 101, "reads")
        last = self.accesses("last", where, f"--at={found[40]['at']}")
        equal(last[0]["at"], found[39]["at"], "the last before a time")
        # It is written by another address, and not by this one.
        changed = self.accesses("writes", self.place("changed"), "--size=4")
        equal([self.number(one["new"]) >> 5 & 0xffff for one in changed],
              list(range(40)), "by another address")
        return f"{len(found)} writes"

    def debugger(self):
        """gdb goes between levels, in both directions."""
        at = {name: self.place(name) for name in
              ("at_el0", "on_call", "on_interrupt", "sum")}
        user = at["at_el0"] + RAM
        said = self.gdb(
            f"break *{user:#x}", "continue", "p ($cpsr >> 2) & 3",
            "p/x $pc",
            f"break *{at['on_call']:#x}", "continue", "p ($cpsr >> 2) & 3",
            "p/x $pc",
            "p $x8", "reverse-stepi", "reverse-stepi", "p ($cpsr >> 2) & 3",
            "x/i $pc", "stepi", "p ($cpsr >> 2) & 3", "delete",
            f"watch *(long *) {at['sum']:#x}", "continue", "continue",
            "reverse-continue", "p $x0", "delete",
            f"break *{at['on_interrupt']:#x}", "reverse-continue", "p/x $pc",
            "info registers vbar_el1 elr_el1", "delete", "continue",
            f"x/wx {ALIAS + 0x200000:#x}", f"x/wx {RAM + 0x200000:#x}",
            "maintenance packet qqemu.PhyMemMode",
            "maintenance packet Qqemu.PhyMemMode:1",
            f"x/wx {RAM + 0x200004:#x}", f"x/wx {ALIAS + 0x200004:#x}")
        for wanted in (r"p \(\$cpsr >> 2\) & 3\n.*= 0",
                       f"p/x \\$pc\n.*= {user:#x}",
                       f"p/x \\$pc\n.*= {at['on_call']:#x}", r"p \$x8\n.*= 1",
                       r"p \(\$cpsr >> 2\) & 3\n.*= 0\n>x/i \$pc\n.*svc",
                       r"stepi\n.*\n>p \(\$cpsr >> 2\) & 3\n.*= 1",
                       r"Old value = 0\n+New value = 100\n",
                       r"Old value = 100\n+New value = 199\n",
                       r"Old value = 199\n+New value = 100\n",
                       f"p/x \\$pc\n.*= {at['on_interrupt']:#x}",
                       f"vbar_el1 +{self.place('vectors'):#x}",
                       f"{ALIAS + 0x200000:#x}:\t0x14", 'received: "0"',
                       'received: "OK"', f"{RAM + 0x200004:#x}:\t0x0000000",
                       f"Cannot access .*{ALIAS + 0x200004:#x}"):
            expect(re.search(wanted, said), f"{wanted}\n{said}")

    def gdb(self, *commands):
        """What it says to each command."""
        words = []
        for command in commands:
            words += ["-ex", "echo >" + command.replace("$", "\\$") + "\\n",
                      "-ex", command]
        done = subprocess.run(
            [GDB, "-nx", "-batch", "-l", "100", "-ex",
             "set pagination off", "-ex",
             "set architecture aarch64", "-ex",
             f"target remote | exec {shlex.quote(self.options.cprec)}"
             f" gdbserver --stdio {self.trace}", *words], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=200)
        return done.stdout + done.stderr

    def prompt(self):
        """Our own prompt does the same."""
        call = self.place("on_call")
        done = self.cprec("debug", "--plain", "--batch", "-ex",
                          f"break *{call:#x}", "-ex", "continue", "-ex",
                          "continue", "-ex", "reverse-continue", "-ex",
                          "reverse-stepi", "-ex", "reverse-stepi", "-ex",
                          "p $cpsr >> 2 & 3", "-ex", "x/1i $pc",
                          self.trace)
        equal((done.returncode, done.stderr), (0, ""), done.stdout)
        expect(re.search(r"= 0\n.*svc", done.stdout), done.stdout)

    def refused(self):
        """What cannot be asked of machines is said in one line."""
        for command in (["maps"], ["strace"], ["races"], ["heap"],
                        ["replay", "--thread=0"], ["verify", "--thread=all"]):
            name, *rest = command
            done = self.cprec(name, *rest, self.trace, text="")
            expect(done.returncode, f"{command}: status 0")
            equal(done.stdout, "", f"{command}")
            equal(len(done.stderr.splitlines()), 1,
                  f"{command}: {done.stderr!r}")
            expect("machine" in done.stderr, done.stderr)

    def damaged(self):
        """Cut anywhere, it replays up to there, or says what is wrong."""
        with open(self.trace, "rb") as trace:
            whole = trace.read()
        cut = os.path.join(self.folder, "cut.cpr")
        good = 0
        for size in range(100, len(whole), 997):
            with open(cut, "wb") as out:
                out.write(whole[:size])
            done = self.cprec("verify", "-q", cut)
            expect(done.returncode in (0, 1), f"{size}: {done}")
            good += not done.returncode
        expect(good > 3, "some of it can be replayed")

    def ends(self, end):
        option, status, said, beside = ENDS[end]
        compile_kernel(self.options.ends, self.kernel, f"-DEND={end}")
        done = self.cprec("record", "--machine=virt", "--memory=32m",
                          "--kernel=" + self.kernel, "-o", self.trace,
                          *option.split(), text="")
        equal((done.returncode, done.stdout),
              (status, said.replace("\r\n", "\n")), done.stderr)
        equal(len(done.stderr.splitlines()), int(bool(beside)), done.stderr)
        expect(re.search(beside, done.stderr), done.stderr)
        self.answer("verify", self.trace)
        equal(self.answer("replay", self.trace), done.stdout, "replay")
        if end not in (3, 6, 7):
            equal(self.states("stops", "1", "50"), self.states("straight"),
                  "the end")

    def cores_say(self, cores):
        """How many there are; what they counted; who sent to each; and that the
        machine began anew."""
        senders = [(i - 1) % cores << 10 | 1 for i in range(cores)]
        lines = [cores, cores * CORE_ROUNDS, *senders]
        if cores > 1:
            lines = [*lines, 1, *lines, 2]
        return "".join(f"{line:08x}\n" for line in lines)

    def cores(self):
        compile_kernel(self.options.cores, self.kernel)
        for cores in 1, 2, 8, CORES:
            said = self.cores_say(cores)
            done = self.cprec("record", "--machine=virt", "--memory=32m",
                              f"--smp={cores}", "--kernel=" + self.kernel,
                              f"--segment={SEGMENT}", "-o", self.trace,
                              text="")
            equal((done.returncode, done.stdout, done.stderr), (0, said, ""),
                  f"{cores} cores")
            equal(self.answer("replay", self.trace), said, "replay")
            self.answer("verify", self.trace)
        if shutil.which(ORACLE):
            equal(self.oracle("-smp", str(CORES)), said, "on QEMU")
        return f"{self.info()['instructions']} instructions"

    def cores_same_end(self):
        """Between turns and in them, back and from each key frame."""
        expected = self.states("straight")
        equal(self.states("stops", "1", str(CORE_STOPS)), expected, "stops")
        for frame in range(self.info()["key_frames"]):
            equal(self.states("frame", str(frame)), expected,
                  f"from key frame {frame}")

    def cores_asked(self):
        """Each has registers, and instructions of its own."""
        info = self.info()
        threads = info["threads"]
        equal([thread["thread"] for thread in threads],
              list(range(1, CORES + 1)), "threads")
        equal(sum(thread["instructions"] for thread in threads),
              info["instructions"], "their instructions")
        for at in [*(f"{i}0%" for i in range(1, 10)), "3:1", "3:100",
                   f"3:{threads[2]['instructions']}"]:
            found = [json.loads(line) for line in self.answer(
                "registers", "--json", f"--at={at}", self.trace).splitlines()]
            equal(len(found), CORES, "cores")
            equal(sum(one["instructions"] for one in found), found[0]["at"],
                  "the machine's time")
            turns = [one for one in found if one["runs"]]
            equal(len(turns), 1, "turns")
            if at.startswith("3:"):
                equal((turns[0]["thread"], turns[0]["instructions"]),
                      (3, int(at[2:])), at)
            for one in found:
                regs = {name: int(value, 0) for name, value in
                        one["registers"].items() if name in ("x20", "x21")}
                expect(not regs["x20"] or
                       regs["x21"] == one["thread"] - 1, one)
                expect(one["runs"] or json.loads(self.answer(
                    "registers", "--json", f"--at={at}",
                    f"--thread={one['thread']}", self.trace)) == one, one)
        equal(self.cprec("registers", "--thread=9",
                         self.trace).returncode, 1, "another core")

    def cores_in_gdb(self):
        work = self.place("on_interrupt")
        said = self.gdb("info threads", f"break *{work:#x}", "continue",
                        "continue", "info threads", "thread 2", "p $x21",
                        "thread 3", "p $x21", "reverse-continue",
                        "stepi", "p/x $pc")
        expect(re.search(r"info threads\n.*\n(.* Thread 1\.[1-4] .*\n){4}",
                         said), said)
        for number in 1, 2:
            expect(re.search(rf">thread {number + 1}\n.*\n.*\n?>p \$x21\n"
                             rf"\$\d+ = {number}\n", said), said)
        expect(f"= {work + 4:#x}" in said, said)

    def spaces(self):
        """Addresses of programs by the numbers of their address spaces."""
        compile_kernel(self.options.spaces, self.kernel)
        done = self.cprec("record", "--machine=virt", "--memory=16m",
                          "--kernel=" + self.kernel, "-o", self.trace,
                          "--segment=1000", text="")
        equal((done.returncode, done.stdout, done.stderr), (0, "", ""),
              "record")
        self.answer("verify", self.trace)
        expect(self.info()["key_frames"] > 5, "key frames")
        for number, physical in (SPACES[0], 0x40400000), (SPACES[1],
                                                          0x40600000):
            by_number = f"--asid={number}"
            for at in "20%", "60%", "97%", "end":
                values = [json.loads(self.answer(
                    "query", "--json", f"--addr={addr:#x}", how,
                    f"--at={at}", self.trace))["bytes"] for addr, how in
                    ((SPACE_DATA, by_number), (physical, "--physical"))]
                equal(values[0], values[1], f"{number} at {at}")
                expect(self.number(values[0]) % number == 0 and
                       self.number(values[0]), values)
            found = self.accesses("writes", SPACE_DATA, by_number)
            equal([self.number(one["new"]) for one in found],
                  [number * (i + 1) for i in range(SPACE_ROUNDS)], "writes")
            equal(len(self.accesses("reads", SPACE_DATA, by_number)),
                  SPACE_ROUNDS, "reads")
            last = self.accesses("last", SPACE_DATA, by_number,
                                 f"--at={found[-1]['at']}")
            equal(last[0]["at"], found[-2]["at"], "the last before a time")
        for at, options, status in (("end", ["--asid=7"], 1),
                                    ("20", [f"--asid={SPACES[0]}"], 1),
                                    ("end", ["--asid=65536"], 2),
                                    ("end", ["--asid=x"], 2),
                                    ("end", ["--asid=5", "--physical"], 2),
                                    ("end", ["--asid=5", "--process=x"], 2)):
            done = self.cprec("query", f"--addr={SPACE_DATA:#x}",
                              f"--at={at}", *options, self.trace)
            equal((done.returncode, done.stdout,
                   len(done.stderr.splitlines())), (status, "", 1),
                  done.stderr)

    def checks(self):
        """Exceptions, page tables, registers, timers: as on QEMU."""
        compile_kernel(self.options.checks, self.kernel, *C_OPTIONS)
        with open(os.path.splitext(self.options.checks)[0] + ".txt") as file:
            said = file.read()
        done = self.cprec("record", "--machine=virt", "--memory=32m",
                          "--kernel=" + self.kernel, "-o", self.trace,
                          f"--segment={SEGMENT}", text="")
        equal((done.returncode, done.stderr), (0, ""), "record")
        equal(done.stdout.splitlines(), said.splitlines(), "output")
        if shutil.which(ORACLE):
            equal(self.oracle().splitlines(), said.splitlines(), "on QEMU")
        return f"{len(said.splitlines())} lines; {self.same_end()}"

    def oracle(self, *options):
        return subprocess.run(
            [ORACLE, "-M", "virt,gic-version=2", "-cpu", "cortex-a53", "-m",
             "32m", *options, "-nodefaults", "-display", "none", "-serial",
             "stdio", "-kernel", self.kernel], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120).stdout

    def cores_go_on(self):
        """Alive from any time, whichever core has its turn then."""
        said = self.cores_say(CORES)
        half = len(said) // 2
        end = self.info()["instructions"]
        for i in range(1, 16):
            done = self.cprec("run", f"--at={end * i // 16}", self.trace,
                              text="")
            before = len(self.answer("replay", f"--to={end * i // 16}",
                                     self.trace))
            # After a reset there is no kernel to begin with.
            rest = [said[before:half] if before < half else said[before:]]
            if before == half:
                rest.append("")
            expect(not done.returncode and done.stdout in rest, done)
        for frame in range(self.info()["key_frames"]):
            done = subprocess.run([self.options.follows, self.trace,
                                   str(frame), "-"], capture_output=True,
                                  text=True, timeout=120)
            equal((done.returncode, done.stderr), (0, ""),
                  f"devices from key frame {frame} on")


def run_all(options, folder):
    tests = Tests(options, folder)
    if not shutil.which(COMPILER):
        print("1..0 # SKIP without", COMPILER, "there is no kernel")
        return 0
    tests.compile_all()
    tests.test("record", tests.record)
    tests.test("replay, verify", tests.replays)
    tests.test("without the kernel's file", tests.without_kernel)
    tests.test("the same end", tests.same_end)
    tests.test("lines of the console", tests.lines)
    tests.test("states that are kept", tests.kept_states)
    tests.test("without devices", tests.without_devices)
    tests.test("memory", tests.memory)
    tests.test("levels", tests.levels)
    tests.test("steps", tests.steps)
    tests.test("accesses", tests.history)
    if shutil.which(GDB):
        tests.test("gdb", tests.debugger)
    else:
        print("#", GDB, "is not there: it is not tried")
    tests.test("our prompt", tests.prompt)
    tests.test("what is refused", tests.refused)
    tests.test("damage", tests.damaged)
    tests.test("other key frames", tests.other_frames)
    tests.test("devices that use memory", tests.devices)
    tests.test("the same end, with devices", tests.same_end)
    tests.test("states that are kept, with devices", tests.kept_states)
    tests.test("a machine that goes on", tests.goes_on)
    tests.test("address spaces", tests.spaces)
    tests.test("the processor, as on QEMU", tests.checks)
    tests.test("several cores", tests.cores)
    tests.test("the same end, with several cores", tests.cores_same_end)
    tests.test("states that are kept, of several cores", tests.kept_states)
    tests.test("each core", tests.cores_asked)
    if shutil.which(GDB):
        tests.test("each core in gdb", tests.cores_in_gdb)
    tests.test("several cores go on", tests.cores_go_on)
    tests.test("damage, with several cores", tests.damaged)
    for end in ENDS:
        tests.test(f"end {end}", tests.ends, end)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "states", "kept", "follows", "source", "devices", "ends",
                  "cores", "spaces", "checks"))
