#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Debian system for arm64 on a disk of a gigabyte: systemd starts it on a machine
that is recorded, somebody logs in, looks at it and turns it off; the recording
verifies, its replay says the same again, and the kernel's processes in it are those
that ps told.  No suite runs this: it gets some 100 MB of packages.

usage: systemd.py --cprec C [--files FOLDER] [--keep FOLDER] [--smp N]

Kernels are those of boot.py; the system is made of packages that are unpacked, not
installed, with the few files in /etc that installing would have made.  --files has
both, if they are there already.  Speaks TAP.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import boot  # noqa: E402
import foreign  # noqa: E402
from tap import CprecTap, equal, expect, main  # noqa: E402

PACKAGES = """systemd systemd-sysv udev dbus login passwd bash dash coreutils mount
    util-linux libpam-modules libpam-runtime libpam-systemd base-files base-passwd
    kmod procps sed grep findutils e2fsprogs""".split()

# What installing makes.
FILES = {
    "passwd": "root::0:0:root:/root:/bin/bash\n"
              "messagebus:x:100:100::/nonexistent:/usr/sbin/nologin\n"
              "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": "root:x:0:\nadm:x:4:\ntty:x:5:\ndisk:x:6:\nutmp:x:43:\n"
             "messagebus:x:100:\nnogroup:x:65534:\n",
    "fstab": "/dev/vda / ext4 defaults 0 0\n",
    "hostname": "recorded\n",
    "machine-id": "0123456789abcdef0123456789abcdef\n",
    "pam.d/common-auth": "auth required pam_unix.so nullok\n",
    "pam.d/common-account": "account required pam_unix.so\n",
    "pam.d/common-password": "password required pam_unix.so\n",
    "pam.d/common-session": "session required pam_unix.so\n"
                            "session optional pam_systemd.so\n",
    "pam.d/common-session-noninteractive": "session required pam_unix.so\n",
}
FOLDERS = ("root", "proc", "sys", "dev", "run", "tmp", "etc/pam.d", "var/log",
           "var/lib", "var/tmp")
SIZE = 1 << 30
LONG = 900
APPEND = "console=ttyAMA0 disk-init systemd.show_status=0 quiet"
MARK = "CHECK"
ASKED = ("systemctl is-system-running --wait; systemctl --failed --no-legend",
         "cat /proc/1/comm; systemctl is-active dbus systemd-journald",
         "df -B1 --output=size,target / | tail -n 1",
         "journalctl -b --no-pager | grep -c systemd",
         "ps -e -o pid=,comm=")


class Tests(boot.Tests):
    def __init__(self, options, folder):
        CprecTap.__init__(self, options, folder)
        self.trace = os.path.join(folder, "systemd.cpr")
        self.initrd = os.path.join(folder, "initrd.gz")
        self.disk = os.path.join(folder, "system.img")
        self.said = ""

    def make_system(self):
        root = os.path.join(self.options.files, "system")
        foreign.unpack("arm64", root, PACKAGES)
        for name in FOLDERS:
            os.makedirs(os.path.join(root, name), exist_ok=True)
        for name, text in FILES.items():
            with open(os.path.join(root, "etc", name), "w") as file:
                file.write(text)
        with open(self.disk, "wb") as out:
            out.truncate(SIZE)
        self.run_long(boot.MAKE_DISK, "-q", "-t", "ext4", "-d", root,
                      self.disk)

    def until(self, cprec, end):
        """Reads until it has said that."""
        begun = len(self.said)
        while not self.said[begun:].rstrip("\0").endswith(end):
            got = os.read(cprec.stdout.fileno(), 4096)
            expect(got, self.said[-3000:])
            self.said += got.decode(errors="replace")
            if "emergency mode" in self.said[begun:]:
                expect(False, self.said[-3000:])
        return self.said[begun:]

    def starts(self):
        begun = time.monotonic()
        with subprocess.Popen(
                self.machine("")[:-1] + [
                    f"--append={APPEND}", f"--drive={self.disk},snapshot",
                    "--memory=1g", f"--smp={self.options.smp}"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                bufsize=0) as cprec:
            self.until(cprec, "login: ")
            seconds = time.monotonic() - begun
            cprec.stdin.write(b"root\n")
            self.until(cprec, "# ")
            cprec.stdin.write(f"export SYSTEMD_PAGER=cat PS1='{MARK}> '\n".encode())
            self.until(cprec, f"\n{MARK}> ")
            self.answers = []
            for command in ASKED:
                cprec.stdin.write(command.encode() + b"\n")
                said = self.until(cprec, MARK + "> ").replace("\r", "")
                self.answers.append(said.partition("\n")[2]
                                    .rpartition(MARK)[0])
            cprec.stdin.write(b"poweroff\n")
            while got := cprec.stdout.read(65536):
                self.said += got.decode(errors="replace")
            equal(cprec.wait(), 0, "status")
        state, active, size, log, _ = self.answers
        equal(state, "running\n", "the system")
        equal(active, "systemd\nactive\nactive\n", "services")
        expect(int(size.split()[0]) > 9e8 and size.split()[1] == "/", size)
        expect(int(log) > 20, log)
        return f"a login after {seconds:.0f} s"

    def replays(self):
        cprec = self.options.cprec
        equal(self.run_long(cprec, "replay", self.trace), self.said, "replay")
        self.run_long(cprec, "verify", "-q", self.trace)
        info = json.loads(self.run_long(cprec, "info", "--json", self.trace))
        return (f"{info['instructions'] / 1e9:.2f} billion instructions,"
                f" {info['size'] / 1e6:.1f} MB")

    def processes(self):
        """Those that were there when somebody asked."""
        told = {(int(line.split()[0]), line.split(None, 1)[1][:15])
                for line in self.answers[-1].splitlines()}
        seen = set()
        for at in range(40, 100, 3):
            for line in self.run_long(self.options.cprec, "ps", "--json",
                                      f"--at={at}%",
                                      self.trace).splitlines():
                process = json.loads(line)
                seen.add((process["pid"], process["name"][:15]))
        lost = {one for one in told - seen
                if not re.match("kworker|ps$|bash$", one[1])}
        expect(not lost, f"not seen: {lost}")
        return f"{len(told)} processes"


def run_all(options, folder):
    options.files = options.files or os.path.join(folder, "files")
    if not shutil.which("apt-get") or not shutil.which(boot.MAKE_DISK):
        print("1..0 # without apt-get and mke2fs there is no system")
        return 0
    kernels = os.path.join(options.files, "kernels")
    os.makedirs(options.files, exist_ok=True)
    boot.unpack(kernels)
    tests = Tests(options, folder)
    tests.make_system()
    system, options.files = options.files, kernels
    for version in tests.versions():
        tests.choose(version)
        tests.said = ""
        tests.test(version + ": systemd, to a login", tests.starts)
        tests.test(version + ": replay", tests.replays)
        tests.test(version + ": processes", tests.processes)
    options.files = system
    return tests.summary()


def own_parser():
    parser = boot.parser_of(__doc__)
    parser.add_argument("--smp", default="1", metavar="N",
                        help="how many cores there are")
    return parser


if __name__ == "__main__":
    sys.exit(main(run_all, parser=own_parser()))
