#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's kernels for arm64 on a machine that is recorded: they boot to a shell
that checks itself, and say what they say on QEMU; the recording verifies, and its
replay says the same again.  So they do with four cores.  A file system on a disk is read and written, a file comes
from a server on this machine.  No suite runs this: it gets some 50 MB of packages.

usage: boot.py --cprec C [--files FOLDER] [--keep FOLDER] [--with-debug]
    [--states S --follows F] [--only NAME...]

With S, machine_states.c, and F, machine_devices.c, what a machine is in the end -
registers, memory, devices - is the same of the recording and of replays: with 500
exact stops, from each key frame in a process of its own, and without the images.
--with-debug also gets the kernels' debugging information, 260 MB for each, and looks
at names, lines and variables of the kernel.

The packages come from where this machine's apt gets its own, and are unpacked into
the folder of --files, if they are not there yet.  Nothing is installed.  Without
qemu-system-aarch64, or packages, what needs them is left out.  Speaks TAP.
"""
import argparse
import ast
import contextlib
import glob
import gzip
import hashlib
import http.server
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import foreign  # noqa: E402
from tap import CprecTap, equal, expect, main  # noqa: E402

COMPILER = "aarch64-linux-gnu-gcc"
NAMES = "aarch64-linux-gnu-nm"
ADDR_TO_LINE = "aarch64-linux-gnu-addr2line"
DEBUGGER = "gdb-multiarch"
ORACLE = "qemu-system-aarch64"
MAKE_DISK = "mke2fs"
DISK_SIZE = 64 << 20
RELEASES = ["bookworm", "trixie"]
LONG = 600
STOPS = 500
FAR = 12
CONSOLE = "console=ttyAMA0 quiet"
BEGIN, END = "CHECK-BEGIN", "CHECK-END"
LISTED = "CHECK-LISTED"

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /modules/*; do insmod $module; done
case $(cat /proc/cmdline) in
*cores*) sh /cores; sh /check; poweroff -f;;
*check*) sh /check; sh /list; poweroff -f;;
*devices*) sh /devices; poweroff -f;;
*program*) /bin/program; poweroff -f;;
*twice*) /bin/moved & /bin/moved; wait; poweroff -f;;
*disk-init*) mount -t ext4 /dev/vda /disk; exec switch_root /disk /sbin/init;;
*run=load*) scale=$(sed 's/.*scale=//' /proc/cmdline); . /load; poweroff -f;;
*crash*) echo c >/proc/sysrq-trigger;;
*leave*) exit 3;;
esac
exec setsid cttyhack sh
"""

# What is the same on any machine.
CHECK = f"""echo {BEGIN}
uname -m
i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done; echo $i
dd if=/dev/zero bs=1M count=8 2>/dev/null | md5sum
sha256sum /bin/busybox
gzip -c /bin/busybox | md5sum
gzip -c /bin/busybox | gunzip | cmp - /bin/busybox && echo same
awk 'BEGIN {{ for (i = 0; i < 50000; i++) s += i * 1.5; print s }}'
find /bin | sort | md5sum
for i in 1 2 3 4 5; do (sleep 0.$i; echo $i) & done; wait
sh -c 'kill -SEGV $$'; echo $?; mkfifo f; (echo through >f) & cat f
ls -l /proc/self/exe | sed 's/.*-> //'
echo {END}
"""

# A core is switched off, and on again.
CPU1 = "/sys/devices/system/cpu/cpu1/online"
CORES = f"""nproc
echo 0 >{CPU1}; nproc; echo 1 >{CPU1}; nproc
"""

# What only this boot has.
LIST = f"""echo {LISTED}
dmesg
echo {LISTED}
for p in /proc/[0-9]*; do echo ${{p#/proc/}} $(cat $p/comm); done
echo {LISTED}
cat /proc/1/maps
echo {LISTED}
grep '\\[' /proc/kallsyms
echo {LISTED}
"""

# A program with debugging information, whose names are found.
PROGRAM = """#include <unistd.h>

int counter;
static volatile unsigned spin;

__attribute__((noinline)) int inner(int number)
{
	for (unsigned i = 0; i < 2000000; i++)
		spin += i;
	counter = number;
	write(1, ".", 1);
	return counter + 1;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 60; i++)
		sum += inner(i);
	return sum == 0;
}
"""

# What devices do that use memory: a disk, which has FILE; entropy; the network.
DEVICES = f"""echo {BEGIN}
mount -t ext4 /dev/vda /disk || exit
cat /disk/FILE | md5sum
cp /bin/busybox /disk/busybox
sync; echo 3 >/proc/sys/vm/drop_caches
/disk/busybox md5sum </disk/busybox; md5sum </bin/busybox
umount /disk; mount -t ext4 -o ro /dev/vda /disk
/disk/busybox cat /disk/FILE | md5sum
umount /disk
blockdev --getsize64 /dev/vda
cat /sys/class/misc/hw_random/rng_current
[ $(dd if=/dev/hwrng bs=64 count=1 2>/dev/null | wc -c) = 64 ] && echo random
ip link set lo up; ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up
ip route add default via 10.0.2.2
port=$(sed 's/.*port=//' /proc/cmdline)
wget -q -O- http://10.0.2.2:$port/FILE | md5sum
udhcpc -q -n -f -i eth0 -s /bin/true 2>&1 | grep -o 'lease of [0-9.]*'
echo {END}
"""

# In the order in which they need each other.
MODULES = ["drivers/virtio/virtio_ring", "drivers/virtio/virtio",
           "drivers/virtio/virtio_mmio", "drivers/block/virtio_blk",
           "drivers/char/hw_random/virtio-rng",
           "drivers/char/virtio_console", "net/core/failover",
           "drivers/net/net_failover", "drivers/net/virtio_net"]


def entry(number, name, mode, data=b"", device=(0, 0)):
    """A file of an archive as cpio makes it, newc."""
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device,
              len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields)
    head += name.encode() + b"\0"
    return (head + b"\0" * (-len(head) % 4) +
            data + b"\0" * (-len(data) % 4))


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def modules(folder):
    """Those of the kernel that are there; Debian 13's are packed."""
    for i, name in enumerate(MODULES):
        for path in glob.glob(f"{folder}/kernel/{name}.ko*"):
            unpack_module = lzma.decompress if path.endswith("xz") else bytes
            yield (f"modules/{i}.ko", 0o100644,
                   unpack_module(contents(path)))


def initial_files(busybox, modules_folder, load="", built=(b"", b"")):
    """`load` is a script that run=load runs, with $scale; `built` are two
    programs."""
    program = contents(busybox)
    files = [(name, 0o40755) for name in ("bin", "proc", "sys", "dev",
                                          "disk", "modules")]
    files += modules(modules_folder)
    files += [("dev/console", 0o20600, b"", (5, 1)),
              ("bin/busybox", 0o100755, program),
              ("bin/sh", 0o120777, b"busybox"),
              ("bin/packed", 0o100644, gzip.compress(program, mtime=0)),
              ("bin/program", 0o100755, built[0]),
              ("bin/moved", 0o100755, built[1]),
              ("load", 0o100755, load.encode()),
              ("init", 0o100755, INIT.encode()),
              ("list", 0o100755, LIST.encode()),
              ("check", 0o100755, CHECK.encode()),
              ("cores", 0o100755, CORES.encode()),
              ("devices", 0o100755, DEVICES.encode())]
    archive = b"".join(entry(i + 1, *file) for i, file in enumerate(files))
    return gzip.compress(archive + entry(0, "TRAILER!!!", 0))


def get(folder, packages):
    """Into the folder of an apt."""
    subprocess.run(["apt-get", "-q", "download", *packages], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ,
                            APT_CONFIG=os.path.join(folder, "apt.conf")))


def newest_kernels(folder):
    """The packages that linux-image-cloud-arm64 leads to, of each release that
    apt knows."""
    found = set()
    for release in RELEASES:
        done = subprocess.run(
            ["apt-cache", "-t", release, "depends",
             "linux-image-cloud-arm64"], text=True, capture_output=True,
            env=dict(os.environ, APT_CONFIG=os.path.join(folder, "apt.conf")))
        found.update(re.findall(r"Depends: (linux-image-\S+)", done.stdout))
    return sorted(found)


def unpack(files):
    """Unless that is done."""
    if os.path.isdir(files):
        return
    folder = files + ".apt"
    foreign.make_apt(folder, "arm64")
    # Without what a kernel needs to be installed.
    get(folder, [*newest_kernels(folder), "busybox-static"])
    partial = files + ".partial"
    os.makedirs(partial)
    for package in glob.glob(os.path.join(folder, "*.deb")):
        foreign.unpack_package(package, partial)
    os.rename(partial, files)
    shutil.rmtree(folder)


def unpack_debug(folder, versions):
    """What vmlinux has of each kernel, below boot/, and what modules have, below
    lib/."""
    if os.path.isdir(os.path.join(folder, "boot")):
        return
    foreign.make_apt(folder, "arm64")
    get(folder, [f"linux-image-{version}-dbg" for version in versions])
    for package in glob.glob(os.path.join(folder, "*.deb")):
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package],
                              stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "-x", "-C", folder, "--wildcards",
                            "--strip-components=4",
                            "./usr/lib/debug/boot/vmlinux*",
                            "./usr/lib/debug/lib/modules/*virtio*.ko*"],
                           stdin=archive.stdout, check=True)
        os.remove(package)


def between(said):
    """What the check said."""
    said = said.replace("\r", "")
    expect(BEGIN in said and END in said, said[-2000:])
    return said.split(BEGIN)[1].split(END)[0]


@contextlib.contextmanager
def serve(folder):
    """A server of this machine's, for as long: its port."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class Tests(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.trace = os.path.join(folder, "boot.cpr")
        self.initrd = os.path.join(folder, "initrd.gz")
        self.disk = os.path.join(folder, "disk.img")
        self.version = None
        self.said = {}

    def test(self, name, function, *arguments, **more):
        only = self.options.only
        if not only or name.split(": ")[-1] in only:
            super().test(name, function, *arguments, **more)

    def find(self, pattern):
        return glob.glob(os.path.join(self.options.files, pattern))[0]

    def versions(self):
        return [os.path.basename(path).removeprefix("vmlinuz-") for path in
                sorted(glob.glob(os.path.join(self.options.files,
                                              "boot/vmlinuz-*")))]

    def choose(self, version):
        self.version = version
        shutil.copy(self.find("boot/vmlinuz-" + version), self.image())
        with open(self.initrd, "wb") as out:
            out.write(initial_files(self.find("*bin/busybox"), glob.glob(
                os.path.join(self.options.files, "**/lib/modules/" + version),
                recursive=True)[0], built=[self.build("-static"),
                                           self.build("-static-pie")]))

    def build(self, how):
        """The program, or one that is somewhere else each time; nothing without
        a compiler."""
        source = os.path.join(self.folder, "program.c")
        built = os.path.join(self.folder, "program")
        if not shutil.which(COMPILER):
            return b""
        with open(source, "w", encoding="utf-8") as out:
            out.write(PROGRAM)
        self.run_long(COMPILER, "-g", "-O1", how, "-o", built, source)
        program = contents(built)
        # Only what the guest has is left.
        os.remove(built)
        return program

    def image(self):
        return os.path.join(self.folder, "vmlinuz-" + self.version)

    def run_long(self, *command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LONG)
        equal(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def machine(self, append, *options):
        return [self.options.cprec, "record", "-o", self.trace,
                "--machine=virt", "--kernel=" + self.image(),
                "--initrd=" + self.initrd, f"--append={CONSOLE} {append}",
                *options]

    def boot(self, cpu):
        begun = time.monotonic()
        said = self.run_long(*self.machine("check", "--cpu=" + cpu))
        seconds = time.monotonic() - begun
        self.said[cpu] = between(said)
        self.listed = said
        expect("same\n" in self.said[cpu] and "through" in self.said[cpu],
               self.said[cpu])
        cprec = self.options.cprec
        equal(self.run_long(cprec, "replay", self.trace), said, "replay")
        self.run_long(cprec, "verify", "-q", self.trace)
        info = json.loads(self.run_long(cprec, "info", "--json", self.trace))
        equal(info["exit"]["code"], 0, "exit")
        return (f"{info['instructions']} instructions in {seconds:.1f} s,"
                f" {info['size'] / 1e6:.1f} MB; {self.same_end(said)}")

    def same_end(self, said, *drives):
        """What a recording of this output is in the end, it is however that is
        reached; and its images are not needed for that."""
        states, follows = self.options.states, self.options.follows
        if not states or not follows:
            return "its end is not looked at"
        cprec = self.options.cprec
        info = json.loads(self.run_long(cprec, "info", "--json", self.trace))
        begun = time.monotonic()
        images = self.image(), self.initrd
        for image in images:
            os.rename(image, image + ".away")
        try:
            equal(self.run_long(cprec, "replay", self.trace), said, "replay")
            # Registers and memory, as the recording's last key frame has them.
            self.run_long(cprec, "verify", "-q", self.trace)
            expected = self.run_long(states, self.trace, "frames").split()
            equal(self.run_long(states, self.trace, "stops", "1",
                                str(STOPS)).split(), expected[-1:], "stops")
            # From each to the next one, from some to the end.
            count = info["key_frames"]
            for i in range(count):
                to = [str(i + 1)] if i % FAR and i + 1 < count else []
                equal(self.run_long(states, self.trace, "frame", str(i),
                                    *to).split(),
                      expected[i:i + 1] if to else expected[-1:],
                      f"from key frame {i}")
                self.run_long(follows, self.trace, str(i), *(to or "-"),
                              *drives)
        finally:
            for image in images:
                os.rename(image + ".away", image)
        return (f"the same end in {info['key_frames'] + 3} ways,"
                f" {time.monotonic() - begun:.0f} s")

    def cores(self):
        """They check the same; what each does at a time is known."""
        said = self.run_long(*self.machine("cores", "--smp=4"))
        equal(said.replace("\r", "").split(BEGIN)[0].split()[-3:],
              ["4", "3", "4"], "cores")
        equal(between(said), self.said["cortex-a53"], "what is checked")
        cprec = self.options.cprec
        equal(self.run_long(cprec, "replay", self.trace), said, "replay")
        self.run_long(cprec, "verify", "-q", self.trace)
        # Not each time that a core looks for something to do.
        turns = self.run_long(cprec, "dump", self.trace).count(" SLICE ")
        expect(1000 < turns < 20000, f"{turns} turns")
        busy = 0
        for at in range(50, 100, 5):
            runs = [json.loads(line)["runs"] for line in self.run_long(
                cprec, "ps", "--json", f"--at={at}%",
                self.trace).splitlines()]
            busy = max(busy, sum(runs))
            stacks = self.run_long(cprec, "backtrace", f"--at={at}%",
                                   "--thread=all", self.trace)
            equal(re.findall(r"^thread (\d)", stacks, re.M),
                  ["1", "2", "3", "4"], "threads")
        expect(busy > 1, "never two processes at once")
        info = json.loads(self.run_long(cprec, "info", "--json", self.trace))
        return (" and ".join(str(thread["instructions"]) for thread in
                             info["threads"]) + " instructions; " +
                self.same_end(said))

    def kernel_memory(self):
        """The kernel's version, by its own page tables."""
        at = "--at=90%"
        regs = json.loads(self.run_long(self.options.cprec, "registers",
                                        "--json", at, self.trace))
        vectors = int(regs["registers"]["vbar_el1"], 0)
        done = json.loads(self.run_long(
            self.options.cprec, "query", "--json", f"--addr={vectors:#x}",
            "--size=2k", at, self.trace))
        expect(set(done["bytes"]) - set("0?"), self.version)
        # Also while programs execute from which it hides.
        code = {json.loads(self.run_long(
            self.options.cprec, "query", "--json", "--addr=do_exit",
            f"--at={at}%", self.trace))["bytes"] for at in range(50, 100, 4)}
        expect(len(code) == 1 and "?" not in code.pop(), code)

    def kernel(self):
        """What it knows of itself: names, processes, its log; as it said."""
        def ask(*words):
            return self.run_long(self.options.cprec, *words, self.trace)
        expect(self.version in ask("dmesg"), "the version")
        told = self.listed.replace("\r", "").split(LISTED)
        log = [line.rstrip() for line in
               ask("dmesg", "--no-times").splitlines()]
        self.log_times(ask)
        for line in told[1].strip().splitlines():
            line = line.replace("\t", "\\x09").rstrip()
            expect(line in log, f"not in the log: {line}")
        found = set()
        for at in range(60, 100, 2):
            for line in ask("ps", "--json", f"--at={at}%").splitlines():
                process = json.loads(line)
                found.add((process["pid"], process["name"]))
        for line in told[2].strip().splitlines():
            pid, process = line.split(None, 1)
            # What a worker does is not in its name, nor what is behind 15
            # letters.
            process = re.sub("(kworker/[^-+R][^-+]*)[-+].*", r"\1",
                             process)[:15]
            expect(int(pid) > 60 or (int(pid), process) in found,
                   f"no process {line}")
        expect(re.search("machine_power_off(.|\n)*el0t_64_sync(.|\n)*busybox",
                         ask("backtrace")), "callers")
        return f"{len(log)} messages, {len(found)} processes"

    def log_times(self, ask):
        """Each message is in the log from its time on, where the kernel stores
        it; one that is being stored does not hide the others."""
        log = [json.loads(line) for line in
               ask("dmesg", "--json").splitlines()]
        equal([message["at"] for message in log],
              sorted(message["at"] for message in log), "times")
        for i in range(5, len(log), len(log) // 8):
            at = log[i]["at"]
            for there, later in (i, 0), (i + 1, 500):
                found = ask("dmesg", "--no-times", f"--at={at + later}")
                equal(len(found.splitlines()), there, f"{at} + {later}")
            expect(re.search("prb_(final_)?commit(.|\n)*vprintk",
                             ask("backtrace", f"--at={at}")), "who logged it")

    def system_calls(self):
        """As many as the exception vector sees; what programs wrote to the
        console is what it said, and each process ended as its parent was
        told."""
        def ask(*words):
            return [json.loads(line) for line in self.run_long(
                self.options.cprec, *words, "--json",
                self.trace).splitlines()]
        counted = sum(row["calls"] for row in ask("strace", "-c"))
        vector = self.run_long(self.options.cprec, "log", self.trace,
                               "el0t_64_sync => $esr_el1 >> 26")
        equal(counted, len(re.findall("= 21$", vector, re.MULTILINE)),
              "how many")
        written, ends, waited = "", {}, {}
        for told in ask("strace", "-y", "-s", "65536"):
            if told["kind"] == "exit":
                ends[told["thread"]] = told["result"]
            elif told["kind"] == "call" and told["name"] == "write":
                file, text = told["arguments"][:2]
                if file.endswith("</dev/console>"):
                    written += ast.literal_eval(text)
            elif told["kind"] == "call" and told["name"] == "wait4":
                if told["result"] > 0:
                    waited[told["result"]] = told["arguments"][1]
        equal(between(written), self.said["cortex-a53"], "what was written")
        expect(len(waited) > 20, waited)
        for pid, status in waited.items():
            said = (f"WIFEXITED(s) && WEXITSTATUS(s) == {ends[pid]}"
                    if ends[pid] >= 0 else "WIFSIGNALED(s)")
            expect(said in status, f"{pid}: {ends[pid]}, {status}")
        self.from_inside(ask)
        fault = self.run_long(self.options.cprec, "strace", "-e",
                              "trace=kill", self.trace)
        expect(re.search(r"kill\((\d+), SIGSEGV\) += 0\n.*--- SIGSEGV "
                         r"{si_signo=SIGSEGV, si_code=SI_USER, si_pid=\1,"
                         r".*\n.*\[pid +\1<sh>\] \+\+\+ killed by SIGSEGV",
                         fault), fault)
        return f"{counted} calls, {len(ends)} threads ended"

    @staticmethod
    def from_inside(ask):
        """Of a call that began before, the end is told as that of the same
        call."""
        calls = {call["name"]: call for call in ask("strace", "-z")
                 if call["kind"] == "call"}
        expect({"execve", "rt_sigreturn", "wait4"} <= set(calls), calls)
        for name, call in calls.items():
            at = call["at"]
            ends = [end for end in ask("strace", f"--from={at - 1}",
                                       f"--to={at + 1}")
                    if end["at"] == at]
            equal([(end["name"], end["result"]) for end in ends],
                  [(name, call["result"])], call)

    def kernel_maps(self):
        """What a process has mapped, as it says itself."""
        told = self.listed.replace("\r", "").split(LISTED)[3]
        told = [line.split(None, 5) for line in told.strip().splitlines()]
        said = [line.split(None, 5) for line in self.run_long(
            self.options.cprec, "maps", "--process=1", "--at=95%",
            self.trace).splitlines()]
        # Only files have names.
        equal([line[:3] + [name for name in line[5:] if name[0] == "/"]
               for line in said],
              [line[:3] + [name for name in line[5:] if name[0] == "/"]
               for line in told], "mappings")
        return f"{len(said)} mappings"

    def modules(self):
        """Symbols of its modules are where it says itself; they are not only
        names."""
        told = self.listed.replace("\r", "").split(LISTED)[4].split("\n")
        told = {(int(words[0], 16), words[2], words[3].strip("[]"))
                for words in map(str.split, told)
                if words and words[2][0] != "$"}
        lines = self.run_long(self.options.cprec, "symbols", "--json",
                              self.trace).splitlines()
        found = {(int(symbol["addr"], 0), symbol["name"], symbol["module"])
                 for symbol in map(json.loads, lines)}
        modules = {module for _, _, module in told}
        found = {symbol for symbol in found if symbol[2] in modules}
        expect(len(modules) > 3 and len(told) > 100, told)
        equal(found ^ told, set(), "symbols")
        entered = [json.loads(line) for line in self.run_long(
            self.options.cprec, "calls", "--json", self.trace,
            "virtio_mmio!vm_find_vqs", "virtrng_probe").splitlines()]
        expect(len(entered) > 1 and {call["module"] for call in entered} <=
               modules, entered)
        return f"{len(told)} symbols of {len(modules)} modules"

    def programs(self):
        """A program that the recording alone has: names, lines, variables,
        and the way from the kernel to its code."""
        def ask(*words):
            return self.run_long(self.options.cprec, *words, self.trace)
        self.run_long(*self.machine("program"))
        chains, counters = set(), []
        # In between, others may have the processor.
        for at in range(60, 98, 3):
            frames = json.loads(ask("backtrace", "--json",
                                    f"--at={at}%"))["frames"]
            names = [frame.get("function") for frame in frames]
            if "inner" not in names:
                continue
            inner = frames[names.index("inner")]
            expect(os.path.basename(inner["file"]) == "program.c" and
                   6 <= inner["line"] <= 13, inner)
            chains.add(tuple(names[names.index("inner"):]))
            value = json.loads(ask("query", "--json", "--addr=counter",
                                   f"--at={at}%"))
            counters.append(int(value["value"]))
        expect(len(counters) > 4, f"{len(counters)} times")
        equal(chains, {("inner", "main", "__libc_start_call_main",
                        "__libc_start_main_impl", "_start")}, "callers")
        equal(counters, sorted(set(counters)), "counters")
        done = subprocess.run(
            [self.options.cprec, "debug", "--plain", self.trace], text=True,
            input="goto 85%\nbreak ksys_write\ncontinue\nbt\n"
            "reverse-finish\n", capture_output=True, timeout=LONG)
        expect(re.search(r"in el0t_64_sync .*\n.* in (__libc_)?write .*\n.*"
                         r" in inner \(.*\n.* in main \(\)", done.stdout),
               done.stdout)

    def one_process(self):
        """Of the whole recording, what one process did: its own functions, with
        their arguments, and those of the kernel that it came to."""
        def ask(command, *words):
            return [json.loads(line) for line in self.run_long(
                self.options.cprec, command, "--json", "--process=program",
                self.trace, *words).splitlines()]
        calls = ask("calls", "inner")
        equal([(call["passed"][0]["value"], call["returned"]["value"])
               for call in calls],
              [(str(i), str(i + 1)) for i in range(60)], "calls")
        logged = ask("log", "program.c:10 => number, counter")
        equal([[value["value"] for value in met["values"]]
               for met in logged],
              [[str(i), str(max(i - 1, 0))] for i in range(60)], "log")
        equal(len(ask("calls", "do_exit")), 1, "ends of this process")
        ends = self.run_long(self.options.cprec, "calls", self.trace,
                             "do_exit").splitlines()
        expect(len(ends) > 10, f"{len(ends)} ends")
        at = [f"--from={calls[30]['at']}", f"--to={calls[45]['at']}"]
        met = ask("when", *at, "--expr=counter == 40")[0]
        equal((met["function"], met["values"]),
              ("inner", [{"expression": "counter", "before": "39",
                          "value": "40"}]), "when")
        equal([write["at"] for write in
               ask("writes", *at, "--addr=counter", "--value=40")],
              [met["at"]], "writes")
        last = ask("last", "--addr=counter", f"--at={met['at'] + 1}")[0]
        equal((last["at"], last["line"]), (met["at"], met["line"]), "last")
        self.by_number(calls[40]["at"])
        done = subprocess.run(
            [self.options.cprec, "debug", "--plain", self.trace], text=True,
            input="process program\nbreak do_exit\ncontinue\nprint $x0\n"
            "goto 75%\nbreak inner\ncontinue\nprint number\n"
            "reverse-continue\nprint number\n",
            capture_output=True, timeout=LONG)
        values = [int(value) for value in
                  re.findall(r"^= (\d+)$", done.stdout, re.MULTILINE)]
        expect(values[0] == 0 and values[1] - values[2] == 1, done.stdout)
        return f"{len(calls)} calls, {len(ends)} processes ended"

    def all_processes(self):
        """Without a process that is named, the same of two that take turns, from
        each one's first call on."""
        def ask(command, *words):
            return [json.loads(line) for line in self.run_long(
                self.options.cprec, command, "--json", self.trace,
                *words).splitlines()]
        for cores in "1", "2":
            self.run_long(*self.machine("twice", "--smp=" + cores))
            calls = ask("calls", "inner", "main")
            mains = [call for call in calls if call["function"] == "main"]
            calls = [call for call in calls if call["function"] == "inner"]
            equal(sorted((int(call["passed"][0]["value"]),
                          int(call["returned"]["value"]), call["depth"])
                         for call in calls),
                  sorted(2 * [(i, i + 1, 1) for i in range(60)]), "calls")
            equal([main["depth"] for main in mains], [0, 0], "main")
            starts = [call["at"] for call in calls]
            between = any(mains[1]["at"] < at for at in starts[:60])
            expect(between, "they never took turns")
            logged = ask("log", "program.c:10 => number, counter")
            equal(sorted(int(met["values"][0]["value"]) for met in logged),
                  sorted(2 * list(range(60))), "log")
            expect(all(int(met["values"][1]["value"]) in
                       (0, int(met["values"][0]["value"]) - 1)
                       for met in logged), "counters")
        return f"{len(calls)} calls"

    def by_number(self, at):
        """Its address space, by the number that it has while it executes."""
        def ask(*words):
            return json.loads(self.run_long(self.options.cprec, *words,
                                            "--json", self.trace))
        upper = int(ask("registers", "--all", f"--at={at}")["registers"]
                    ["ttbr1_el1"], 0)
        number = f"--asid={upper >> 48}"
        for at in at, at + 5_000_000, at + 30_000_000:
            equal(ask("query", number, "--addr=counter", f"--at={at}"),
                  ask("query", "--process=program", "--addr=counter",
                      f"--at={at}"), "by number")

    def debug_file(self):
        return os.path.join(self.options.debug, "boot",
                            "vmlinux-" + self.version)

    def moved(self, ask):
        """How far the kernel has moved itself: that of one symbol."""
        linked = next(int(line.split()[0], 16) for line in self.run_long(
            NAMES, self.debug_file()).splitlines() if line.endswith(" _stext"))
        return int(json.loads(ask("query", "--json", "--addr=_stext",
                                  "--at=10%"))["addr"], 0) - linked

    def debug_names(self):
        """Lines are those that addr2line finds, also of what was inlined,
        wherever the kernel has moved itself to; variables have values."""
        def ask(*words):
            return self.run_long(self.options.cprec, *words, self.trace)
        folder = "--debug-dir=" + self.options.debug
        said, code, moved = "", [], self.moved(ask)
        for at in range(5, 30, 3):
            for frame in json.loads(ask("backtrace", folder, "--json",
                                        f"--at={at}%"))["frames"]:
                if int(frame["pc"], 0) >> 48 != 0xffff:
                    continue
                if not said or said.endswith("*"):
                    # A caller is the call before where it goes on.
                    code.append(hex(int(frame["pc"], 0) - moved -
                                    4 * (frame["frame"] > 0)))
                    said = said.removesuffix("*")
                name = os.path.basename(frame.get("file", "??"))
                said += f"{name}:{frame.get('line', '?')}\n"
                said += "*" if frame["kind"] == "function" else ""
        expect(len(code) > 50, f"{len(code)} frames")
        lines = re.sub(" .discriminator.*", "", self.run_long(
            ADDR_TO_LINE, "-i", "-s", "-e", self.debug_file(), *code))
        equal(said.removesuffix("*"), lines, "lines")
        value = json.loads(ask("query", folder, "--json", "--at=10%",
                               "--addr=init_task.comm"))
        expect("swapper/0" in value["value"], value)
        if shutil.which(DEBUGGER):
            said = self.run_long(
                self.options.cprec, "gdb", "--gdb=" + DEBUGGER, folder,
                "--goto=90%", self.trace, "--", "-batch", "-ex",
                "print init_task.comm", "-ex", "print linux_banner")
            expect(re.search('= "swapper/0', said) and self.version in said,
                   said)
        return f"{len(code)} frames, moved by {moved:#x}"

    def debug_modules(self):
        """Functions of modules on the stack: callers are the same whatever has
        debugging information, and their own has lines."""
        def ask(*words):
            return self.run_long(self.options.cprec, *words, self.trace)
        folder = "--debug-dir=" + self.options.debug
        begun = [json.loads(line)["at"] for line in self.run_long(
            self.options.cprec, "calls", "--json", "--limit=40", self.trace,
            "virtio_mmio!vm_find_vqs", "virtqueue_add_sgs").splitlines()]
        expect(begun, "no calls of modules")
        for at in begun[::max(len(begun) // 4, 1)]:
            at += 200
            plain, both = (json.loads(ask("backtrace", "--json", f"--at={at}",
                                          *where))["frames"]
                           for where in ((), (folder,)))
            equal([frame["pc"] for frame in both
                   if frame["kind"] != "inlined"],
                  [frame["pc"] for frame in plain], f"callers at {at}")
            expect(any("virtio" in frame.get("file", "") and "line" in frame
                       for frame in both), both)

    def ends(self):
        """A panic says what, where and who; a reset begins a boot anew."""
        for append, status, words in (
                ("crash", 1, "panicked: sysrq triggered crash, in"
                 " sysrq_handle_crash, process 1 'init'"),
                ("crash --smp=3", 1, "panicked: sysrq triggered crash, in"
                 " sysrq_handle_crash, process 1 'init'"),
                ("leave", 1, "panicked: Attempted to kill init! exitcode="
                 "0x00000300, in do_exit, process 1 'init'"),
                ("crash panic=-1", 1, "panicked: sysrq triggered crash")):
            append, *more = append.split(" --")
            done = subprocess.run(self.machine(append, "--no-reboot",
                                               *("--" + one for one in more)),
                                  stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=LONG)
            equal(done.returncode, status, done.stderr)
            expect(words in done.stderr.decode(), done.stderr)
        with subprocess.Popen(self.machine("crash panic=-1"),
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as cprec:
            for _ in range(2):
                for line in cprec.stderr:
                    if "panicked" in line and "; it resets" in line:
                        break
            cprec.terminate()
            said = cprec.communicate()[0]
        equal(cprec.returncode, 0, "a machine that was stopped")
        expect(said.count("end Kernel panic") >= 2 or
               said.count("not syncing") >= 2, said[-2000:])
        self.run_long(self.options.cprec, "verify", "-q", self.trace)

    def shell(self):
        """Somebody types, and there is nobody who waits for a boot."""
        with subprocess.Popen(self.machine(""), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, bufsize=0) as cprec:
            said = b""
            while not said.endswith(b"# "):
                got = cprec.stdout.read(1)
                expect(got, said)
                said += got
            cprec.stdin.write(b"echo $((6 * 7)) typed; sleep 3; echo slept\n"
                              b"poweroff -f\n")
            said += cprec.stdout.read()
        said = said.decode()
        expect("42 typed" in said and "slept" in said, said[-2000:])
        equal(self.run_long(self.options.cprec, "replay", self.trace), said,
              "replay")

    def real_time(self):
        """Idle time is waited for, if that is wanted."""
        took = {}
        for how in "real", "virtual":
            with subprocess.Popen(self.machine("", "--time=" + how),
                                  stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, bufsize=0) as cprec:
                said = b""
                while not said.endswith(b"# "):
                    got = cprec.stdout.read(1)
                    expect(got, said)
                    said += got
                begun = time.monotonic()
                cprec.stdin.write(b"sleep 30; poweroff -f\n")
                cprec.stdin.close()
                cprec.stdout.read()
                took[how] = time.monotonic() - begun
            self.run_long(self.options.cprec, "verify", "-q", self.trace)
        expect(took["real"] >= 29 and took["virtual"] < took["real"] - 10,
               took)
        return f"{took['real']:.1f} s and {took['virtual']:.1f} s"

    def make_disk(self):
        """A file system with FILE; what is in it."""
        folder = os.path.join(self.folder, "disk")
        os.makedirs(folder, exist_ok=True)
        data = os.urandom(6_000_000)
        with open(os.path.join(folder, "FILE"), "wb") as out:
            out.write(data)
        with open(self.disk, "wb") as out:
            out.truncate(DISK_SIZE)
        subprocess.run([MAKE_DISK, "-q", "-t", "ext4", "-d", folder,
                        self.disk], check=True)
        return folder, data

    def go_on(self, said, began):
        """Alive from before the disk is mounted, and from later: as it went on,
        with what had been written to the disk until then."""
        before = contents(began)
        for at in "40%", "75%":
            live = self.run_long(self.options.cprec, "run", f"--at={at}",
                                 "--drive=" + began, "--net=user", self.trace)
            expect(END in live, live)
            live = live.replace("\r", "").split(END)[0].split(BEGIN)[-1]
            expect(live and between(said).endswith(live), live)
        expect(contents(began) == before, "the image has changed")

    def devices(self):
        """A disk, entropy, and the network; no replay needs any."""
        folder, data = self.make_disk()
        began = self.disk + ".began"
        shutil.copy(self.disk, began)
        with serve(folder) as port:
            said = self.run_long(*self.machine(
                f"devices port={port}", "--drive=" + self.disk, "--net=user"))
            self.go_on(said, began)
        file = hashlib.md5(data).hexdigest() + "  -"
        program = hashlib.md5(contents(self.find("*bin/busybox"))).hexdigest()
        program += "  -"
        equal(between(said).split("\n")[1:-1],
              [file, program, program, file, str(DISK_SIZE), "virtio_rng.0",
               "random", file, "lease of 10.0.2.15"], "what is checked")
        if shutil.which("e2fsck"):
            self.run_long("e2fsck", "-fn", self.disk)
        os.remove(self.disk)
        cprec = self.options.cprec
        equal(self.run_long(cprec, "replay", self.trace), said, "replay")
        self.run_long(cprec, "verify", "-q", self.trace)
        size = os.path.getsize(self.trace)
        return (f"{size / 1e6:.1f} MB, {len(data) / 1e6} MB of them read; " +
                self.same_end(said, began))

    def bad_input(self):
        """Of what the kernel cannot use, it says itself; of the rest, one
        line."""
        def cut(path, size):
            short = os.path.join(self.folder, f"cut-{size}")
            with open(short, "wb") as out:
                out.write(contents(path)[:size])
            return short
        for options, status, words in (
                (["--memory=16m"], 125, "the 16 MiB of the machine"),
                (["--memory=40m"], 1, "panicked: System is deadlocked on"
                 " memory"),
                (["--kernel=" + cut(self.image(), 9_000_000)], 125,
                 "was cut off"),
                (["--initrd=" + cut(self.initrd, 900_000)], 1,
                 "panicked: VFS: Unable to mount root fs")):
            done = subprocess.run(self.machine("check earlycon", *options),
                                  stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=LONG)
            equal(done.returncode, status, done.stderr)
            expect(words in done.stderr.decode() and
                   done.stderr.count(b"\n") == 1, done.stderr)

    def other_tree(self):
        """With QEMU's device tree, which has more than is there."""
        tree = os.path.join(self.folder, "qemu.dtb")
        self.run_long(ORACLE, "-M", "virt,gic-version=2,dumpdtb=" + tree,
                      "-cpu", "cortex-a53", "-m", "512", "-nodefaults",
                      "-display", "none")
        done = subprocess.run(self.machine("check", "--dtb=" + tree),
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=LONG)
        equal(done.returncode, 0, done.stderr)
        expect(b"'fw-cfg@9020000' and 4 more\n" in done.stderr, done.stderr)
        equal(between(done.stdout.decode()), self.said["cortex-a53"],
              "what is checked")

    def oracle(self):
        said = self.run_long(
            ORACLE, "-M", "virt,gic-version=2", "-cpu", "cortex-a53", "-m",
            "512", "-nic", "none", "-nographic", "-no-reboot", "-kernel",
            self.image(), "-initrd", self.initrd, "-append",
            CONSOLE + " check")
        equal(self.said["cortex-a53"], between(said), "what is checked")


def test_kernel(tests, of):
    tests.test(of + "cortex-a72", tests.boot, "cortex-a72")
    tests.test(of + "cortex-a53", tests.boot, "cortex-a53")
    tests.test(of + "the kernel's memory", tests.kernel_memory)
    tests.test(of + "the kernel's processes and log", tests.kernel)
    tests.test(of + "system calls", tests.system_calls)
    if tests.options.with_debug:
        tests.test(of + "debugging information", tests.debug_names)
        tests.test(of + "debugging information of modules",
                   tests.debug_modules)
    tests.test(of + "mappings", tests.kernel_maps)
    tests.test(of + "modules", tests.modules)
    if shutil.which(COMPILER):
        tests.test(of + "programs", tests.programs)
        tests.test(of + "one process", tests.one_process)
        tests.test(of + "all processes", tests.all_processes)
    tests.test(of + "four cores", tests.cores)
    tests.test(of + "a shell", tests.shell)
    tests.test(of + "real time", tests.real_time)
    tests.test(of + "ends", tests.ends)
    if shutil.which(MAKE_DISK):
        tests.test(of + "devices", tests.devices)
    tests.test(of + "bad input", tests.bad_input)
    if shutil.which(ORACLE):
        tests.test(of + "as QEMU", tests.oracle)
        tests.test(of + "QEMU's device tree", tests.other_tree)


def run_all(options, folder):
    options.files = options.files or os.path.join(folder, "files")
    tests = Tests(options, folder)
    if not shutil.which("apt-get"):
        print("1..0 # without apt-get there are no packages")
        return 0
    unpack(options.files)
    for program in ORACLE, MAKE_DISK:
        if not shutil.which(program):
            print("#", program, "is not there: what needs it is left out")
    options.debug = options.files + ".debug"
    if options.with_debug:
        unpack_debug(options.debug, tests.versions())
    for version in tests.versions():
        tests.choose(version)
        test_kernel(tests, version + ": ")
    return tests.summary()


def parser_of(about):
    """For a test that gets packages."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=os.path.abspath, metavar="FOLDER",
                        help="where the packages are unpacked, and stay")
    parser.add_argument("--states", type=os.path.abspath, metavar="S")
    parser.add_argument("--follows", type=os.path.abspath, metavar="F")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="these alone, as 'devices'")
    return parser


def own_parser():
    parser = parser_of(__doc__)
    parser.add_argument("--with-debug", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main(run_all, parser=own_parser()))
