#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's kernel for arm64 on a machine that is recorded: it boots to a shell
that checks itself, and says what it says on QEMU; the recording verifies, and its
replay says the same again.  No suite runs this: it gets some 25 MB of packages.

usage: boot.py --cprec C [--files FOLDER] [--keep FOLDER]

The packages come from where this machine's apt gets its own, and are unpacked into
the folder of --files, if they are not there yet.  Nothing is installed.  Without
qemu-system-aarch64, or packages, what needs them is left out.  Speaks TAP.
"""
import argparse
import glob
import gzip
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import foreign  # noqa: E402
from tap import CprecTap, equal, expect, main  # noqa: E402

ORACLE = "qemu-system-aarch64"
LONG = 600
CONSOLE = "console=ttyAMA0 quiet"
BEGIN, END = "CHECK-BEGIN", "CHECK-END"

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /modules/*; do insmod $module; done
case $(cat /proc/cmdline) in
*check*) sh /check; poweroff -f;;
*devices*) sh /devices; poweroff -f;;
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


def initial_files(busybox, modules_folder):
    program = contents(busybox)
    files = [(name, 0o40755) for name in ("bin", "proc", "sys", "dev",
                                          "disk", "modules")]
    files += modules(modules_folder)
    files += [("dev/console", 0o20600, b"", (5, 1)),
              ("bin/busybox", 0o100755, program),
              ("bin/sh", 0o120777, b"busybox"),
              ("init", 0o100755, INIT.encode()),
              ("check", 0o100755, CHECK.encode()),
              ("devices", 0o100755, DEVICES.encode())]
    archive = b"".join(entry(i + 1, *file) for i, file in enumerate(files))
    return gzip.compress(archive + entry(0, "TRAILER!!!", 0))


def newest_kernel(folder):
    """The package that linux-image-cloud-arm64 leads to."""
    done = subprocess.run(
        ["apt-cache", "depends", "linux-image-cloud-arm64"], text=True,
        env=dict(os.environ, APT_CONFIG=os.path.join(folder, "apt.conf")),
        capture_output=True, check=True)
    return re.search(r"Depends: (linux-image-\S+)", done.stdout)[1]


def unpack(files):
    """Unless that is done."""
    if os.path.isdir(files):
        return
    folder = files + ".apt"
    for name in "state/lists/partial", "cache/archives/partial", "log":
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, "apt.conf"), "w") as conf:
        conf.write(foreign.APT.format(arch="arm64", folder=folder))
    with open(os.path.join(folder, "status"), "w"):
        pass
    foreign.apt_get(folder, "update")
    # Without what a kernel needs to be installed.
    subprocess.run(["apt-get", "-q", "download", newest_kernel(folder),
                    "busybox-static"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL,
                   env=dict(os.environ,
                            APT_CONFIG=os.path.join(folder, "apt.conf")))
    partial = files + ".partial"
    os.makedirs(partial)
    for package in glob.glob(os.path.join(folder, "*.deb")):
        foreign.unpack_package(package, partial)
    os.rename(partial, files)
    shutil.rmtree(folder)


def between(said):
    """What the check said."""
    said = said.replace("\r", "")
    expect(BEGIN in said and END in said, said[-2000:])
    return said.split(BEGIN)[1].split(END)[0]


class Tests(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.trace = os.path.join(folder, "boot.cpr")
        self.initrd = os.path.join(folder, "initrd.gz")
        self.said = {}

    def find(self, pattern):
        return glob.glob(os.path.join(self.options.files, pattern))[0]

    def run_long(self, *command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LONG)
        equal(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def machine(self, append, *options):
        return [self.options.cprec, "record", "-o", self.trace,
                "--machine=virt", "--kernel=" + self.find("boot/vmlinuz-*"),
                "--initrd=" + self.initrd, f"--append={CONSOLE} {append}",
                *options]

    def boot(self, cpu):
        begun = time.monotonic()
        said = self.run_long(*self.machine("check", "--cpu=" + cpu))
        seconds = time.monotonic() - begun
        self.said[cpu] = between(said)
        expect("same\n" in self.said[cpu] and "through" in self.said[cpu],
               self.said[cpu])
        cprec = self.options.cprec
        equal(self.run_long(cprec, "replay", self.trace), said, "replay")
        self.run_long(cprec, "verify", "-q", self.trace)
        info = json.loads(self.run_long(cprec, "info", "--json", self.trace))
        equal(info["exit"]["code"], 0, "exit")
        return (f"{info['instructions']} instructions in {seconds:.1f} s,"
                f" {info['size'] / 1e6:.1f} MB")

    def kernel_memory(self):
        """The kernel's version, by its own page tables."""
        name = os.path.basename(self.find("boot/vmlinuz-*"))
        version = name.removeprefix("vmlinuz-")
        at = "--at=90%"
        regs = json.loads(self.run_long(self.options.cprec, "registers",
                                        "--json", at, self.trace))
        vectors = int(regs["registers"]["vbar_el1"], 0)
        done = json.loads(self.run_long(
            self.options.cprec, "query", "--json", f"--addr={vectors:#x}",
            "--size=2k", at, self.trace))
        expect(set(done["bytes"]) - set("0?"), version)

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

    def oracle(self):
        said = self.run_long(
            ORACLE, "-M", "virt,gic-version=2", "-cpu", "cortex-a53", "-m",
            "512", "-nographic", "-no-reboot", "-kernel",
            self.find("boot/vmlinuz-*"), "-initrd", self.initrd, "-append",
            CONSOLE + " check")
        equal(self.said["cortex-a53"], between(said), "what is checked")


def run_all(options, folder):
    options.files = options.files or os.path.join(folder, "files")
    tests = Tests(options, folder)
    if not shutil.which("apt-get"):
        print("1..0 # without apt-get there are no packages")
        return 0
    unpack(options.files)
    with open(tests.initrd, "wb") as out:
        out.write(initial_files(tests.find("*bin/busybox"),
                                tests.find("*lib/modules/*")))
    tests.test("cortex-a72", tests.boot, "cortex-a72")
    tests.test("cortex-a53", tests.boot, "cortex-a53")
    tests.test("the kernel's memory", tests.kernel_memory)
    tests.test("a shell", tests.shell)
    if shutil.which(ORACLE):
        tests.test("as QEMU", tests.oracle)
    else:
        print("#", ORACLE, "is not there: nothing is compared with it")
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=os.path.abspath, metavar="FOLDER",
                        help="where the packages are unpacked, and stay")
    sys.exit(main(run_all, parser=parser))
