#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines of bad input: kernels, disks and device trees that are none, disks that
fail while a machine uses them, guests that use what is not there.  One line says so,
and the status; what was recorded is whole.

usage: bad_machines.py --cprec C --devices FILE --ends FILE

The FILEs are kernels that the cross compiler makes; without it, or without dtc, what
needs them is left out.  Speaks TAP.
"""
import contextlib
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from machine import C_OPTIONS, COMPILER, RAM, compile_kernel  # noqa: E402
from tap import CprecTap, equal, expect, main  # noqa: E402

TREES = "dtc"
DISK_SIZE = 4 << 20
FILE_MOST = 1 << 20

# A device tree; with CHOSEN, MEMORY and MORE.
TREE = """/dts-v1/;
/memreserve/ 0x48000000 0x1000;
/ {
	#address-cells = <2>; #size-cells = <2>; MORE
	memory@40000000 { device_type = "memory"; reg = <0 0x40000000 MEMORY>; };
	cpus {
		#address-cells = <1>; #size-cells = <0>;
		cpu@0 { device_type = "cpu"; reg = <0>; };
	};
	bus { compatible = "simple-bus"; #address-cells = <1>; #size-cells = <1>;
		ranges;
		serial@9000000 { reg = <0x9000000 0x1000>; };
	};
	far { #address-cells = <3>; #size-cells = <3>; ranges = <1 2 3>;
		one@5 { reg = <5 0 0 0 0 1>; };
	};
	CHOSEN
};
"""
OLD_CHOSEN = """chosen { stdout-path = "/bus/serial@9000000"; bootargs = "old";
	linux,initrd-start = <1>; };"""
NEW_CHOSEN = """chosen { stdout-path = "/bus/serial@9000000"; bootargs = "a b";
	linux,initrd-start = <0 0x40400000>; linux,initrd-end = <0 0x40400014>;
	};"""


def tree(memory="0 0x1000000", chosen=OLD_CHOSEN, more=""):
    return (TREE.replace("MEMORY", memory).replace("CHOSEN", chosen)
            .replace("MORE", more))


def dtc(data, made, source="dts"):
    done = subprocess.run([TREES, "-q", "-q", "-I", source, "-O", made],
                          input=data, capture_output=True, check=True)
    return done.stdout


class Tests(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.kernel = os.path.join(folder, "kernel")
        self.tree = os.path.join(folder, "tree.dtb")
        self.disk = os.path.join(folder, "disk.img")
        self.trace = os.path.join(folder, "m.cpr")

    def answer(self, *arguments):
        done = self.cprec(*arguments)
        equal(done.returncode, 0, done.stderr)
        return done.stdout

    def machine(self, *options):
        return [self.options.cprec, "record", "--machine=virt",
                "--memory=16m", "--kernel=" + self.kernel, "-o", self.trace,
                *options]

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as out:
            out.write(data)
        return path

    def no_machine(self, what, *options, kernel=None):
        path = os.path.join(self.folder, "bad")
        if kernel is not None:
            with open(path, "wb") as out:
                out.write(kernel)
        done = self.cprec("record", "--machine=virt", "-o",
                          os.path.join(self.folder, "none.cpr"), *options,
                          *(["--kernel=" + path] if kernel is not None else
                            []), text="")
        expect(done.returncode in (2, 125), f"{what}: {done.returncode}")
        equal(done.stdout, "", what)
        equal(len(done.stderr.splitlines()), 1, f"{what}: {done.stderr}")
        expect(not os.path.exists(os.path.join(self.folder, "none.cpr")),
               f"{what}: there is a recording")

    def bad_input(self):
        head = struct.pack("<IIQQQ24s4sI", 0x14000000, 0, 0, 64, 0xa, b"",
                           b"ARM\x64", 0)
        large = os.path.join(self.folder, "large")
        with open(large, "wb") as out:
            out.truncate(20 << 20)
        self.no_machine("no kernel")
        for option in ("--sysroot=/", "--slice=1m", "--with-debug", "--aslr"):
            self.no_machine(option, option, kernel=head)
        self.no_machine("a kernel that is not there", "--kernel=/none")
        self.no_machine("a folder", "--kernel=" + self.folder)
        self.no_machine("nothing in it", kernel=b"")
        self.no_machine("no header", kernel=bytes(4096))
        self.no_machine("gzip", kernel=b"\x1f\x8b" + bytes(100))
        self.no_machine("ELF", kernel=b"\x7fELF" + bytes(100))
        self.no_machine("x86", kernel=bytes(0x202) + b"HdrS" + bytes(100))
        self.no_machine("too large a kernel", "--memory=16m",
                        kernel=head[:16] + b"\0\0\0\0\1\0\0\0" + head[24:])
        self.no_machine("too large an initrd", "--memory=16m",
                        "--initrd=" + large, kernel=head)
        self.no_machine("no initrd", "--initrd=/none", kernel=head)
        self.no_machine("too little memory", "--memory=1k", kernel=head)
        self.no_machine("another processor", "--cpu=x", kernel=head)
        for cores in "0", "9", "x", "":
            self.no_machine("cores", "--smp=" + cores, kernel=head)
        self.no_machine("another machine", "--machine=pc", kernel=head)
        self.no_machine("a program, too", "ls", kernel=head)
        for option in "--firmware=f", "--device=d":
            self.no_machine("what it does not have", option, kernel=head)
        self.no_machine("an image that was cut off",
                        kernel=b"MZ" + head[2:60] + struct.pack("<I", 64) +
                        b"PE\0\0" + struct.pack("<HH12xHH", 0xaa64, 1, 0, 0)
                        + struct.pack("<8sIIII16x", b".text", 0, 0, 5000, 0))
        small = os.path.join(self.folder, "small")
        with open(small, "wb") as out:
            out.write(b"QFI\xfb" + bytes(1020))
        odd = os.path.join(self.folder, "odd")
        with open(odd, "wb") as out:
            out.write(bytes(1000))
        for drive, what in (
                ("/none", "no disk"), (self.folder, "a folder as a disk"),
                ("/dev/null", "no file as a disk"), (small, "a qcow2 image"),
                (odd, "an odd size"), ("", "no disk's name"),
                (small + ",format=qcow2", "another format"),
                (small + ",bus=1", "what is not known"),
                (small + ",readonly=maybe", "neither on nor off"),
                ("if=virtio", "no file")):
            self.no_machine(what, "--drive=" + drive,
                            kernel=head[:16] + struct.pack("<Q", 0) +
                            head[24:] + bytes(1))
        with open(small, "wb") as out:
            out.write(bytes(1024))
        self.no_machine("a disk twice", "--drive=" + small,
                        "--drive=" + small, kernel=head)
        self.no_machine("too many disks",
                        *17 * ["--drive=" + small + ",readonly"], kernel=head)
        self.no_machine("another network", "--net=tap", kernel=head)
        self.no_machine("another console", "--console=vga", kernel=head)
        self.no_machine("a long command line", "--append=" + 2048 * "x",
                        kernel=head[:16] + struct.pack("<Q", 0) + head[24:])

    # Device trees.

    def with_tree(self, data, *options):
        self.write("tree.dtb", data)
        return subprocess.run(self.machine("--dtb=" + self.tree, *options),
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120)

    def in_memory(self):
        """What the kernel was given, as text."""
        done = json.loads(self.answer(
            "query", "--json", f"--addr={RAM:#x}", "--physical", "--at=0",
            "--size=4096", self.trace))
        return dtc(bytes.fromhex(done["bytes"]), "dts", "dtb").decode()

    def text_of(self, *words):
        """A tree as it should be, in the order that dtc has."""
        return dtc(dtc(tree(*words).encode(), "dtb"), "dts", "dtb").decode()

    def same_tree(self, expected):
        """Whatever the order of properties is."""
        equal(sorted(self.in_memory().splitlines()),
              sorted(expected.splitlines()), "the tree")

    def trees(self):
        """It is used as it is, with the command line and the initrd."""
        compile_kernel(self.options.ends, self.kernel, "-DEND=4")
        initrd = self.write("initrd", b"x" * 20)
        given = dtc(tree().encode(), "dtb")
        done = self.with_tree(given)
        equal((done.returncode, done.stderr), (0, ""), "as it is")
        self.same_tree(self.text_of())
        done = self.with_tree(given, "--append=a b", "--initrd=" + initrd)
        equal((done.returncode, done.stderr), (0, ""), "with initrd")
        self.same_tree(self.text_of("0 0x1000000", NEW_CHOSEN))
        done = self.with_tree(dtc(tree(chosen="").encode(), "dtb"),
                              "--append=words")
        equal((done.returncode, done.stderr), (0, ""), "without chosen")
        self.same_tree(self.text_of("0 0x1000000",
                                    'chosen { bootargs = "words"; };'))
        os.remove(self.tree)
        self.answer("verify", self.trace)

    def absent(self):
        """Devices and cores that are not there are told."""
        for more, words in (
                ("serial@1000 { reg = <0 0x1000 0 4>; };", "'serial@1000'"),
                ("a@40fff000 { reg = <0 0x40fff000 0 0x2000>; };",
                 "'a@40fff000'"),
                ("a { reg = <0 0x9000000 0 4>, <0 0x9100000 0 4>; };"
                 "b { reg = <1 0 1 0>; };", "'a' and 1 more"),
                ("x { ranges; #address-cells = <1>; #size-cells = <1>;"
                 " b { reg = <0xb0000000 4>; }; };", "'b'"),
                ("off { status = \"disabled\"; reg = <0 0 0 4>; };", "")):
            done = self.with_tree(dtc(tree(more="").replace(
                "chosen {", more + "chosen {").encode(), "dtb"))
            equal((done.returncode, done.stdout,
                   len(done.stderr.splitlines())), (0, "", bool(words)),
                  done.stderr)
            expect(not words or done.stderr.endswith(words + "\n"),
                   done.stderr)
        done = self.with_tree(dtc(tree().replace(
            "cpu@0 {", 'cpu@1 { device_type = "cpu"; reg = <1>; }; cpu@0 {')
            .encode(), "dtb"))
        expect(done.stderr.endswith(": 'cpu@1'\n"), done.stderr)

    def no_trees(self):
        good = dtc(tree().encode(), "dtb")
        names = good.index(b"#address-cells")
        long = self.write("long", bytes(2 << 20))
        root = struct.unpack(">I", good[8:12])[0]

        def changed(at, new):
            return good[:at] + new + good[at + len(new):]
        for words, data in (
                ("it has no such header", b""),
                ("it has no such header", bytes(4096)),
                ("source text: dtc", tree().encode()),
                ("was cut off", good[:-1]), ("was cut off", good[:6]),
                ("another version", changed(20, b"\0\0\0\2")),
                ("another version", changed(24, b"\0\0\0\x12")),
                ("damaged", changed(8, b"\x7f\xff\xff\xff")),
                ("damaged", changed(12, b"\0\0\xff\xff")),
                ("damaged", changed(16, b"\0\0\xff\xff")),
                ("damaged", changed(root, b"\0\0\0\7")),
                ("damaged", changed(root + 4, b"x")),
                ("damaged", changed(root + 12, b"\x7f\0\0\0")),
                ("damaged", changed(names, b"\n")),
                ("has no memory", dtc(tree("0 0").encode(), "dtb")),
                ("32768 KiB of memory at 0x40000000, the machine has 16 MiB"
                 " at 0x40000000", dtc(tree("0 0x2000000").encode(), "dtb")),
                ("of memory at 0x40000000", dtc(tree("1 0").encode(), "dtb")),
                ("more than 2 MiB", dtc(tree(more=f'long = /incbin/("{long}");'
                                             ).encode(), "dtb"))):
            done = self.with_tree(data)
            equal((done.returncode, done.stdout,
                   len(done.stderr.splitlines())), (125, "", 1), words)
            expect(words in done.stderr, done.stderr)
        os.remove(self.tree)
        for path in self.tree, self.folder, "/dev/null":
            done = subprocess.run(self.machine("--dtb=" + path),
                                  capture_output=True, text=True)
            equal((done.returncode, len(done.stderr.splitlines())), (125, 1),
                  done.stderr)

    # What fails while a machine is recorded.

    @contextlib.contextmanager
    def asking(self, *options, limit=None):
        """A machine that says what it got."""
        def lower():
            if limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with open(self.disk, "wb") as out:
            out.truncate(DISK_SIZE)
        compile_kernel(self.options.devices, self.kernel, *C_OPTIONS,
                       "-DASKS")
        with subprocess.Popen(self.machine(*options), preexec_fn=lower,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, bufsize=0) as cprec:
            equal(cprec.stdout.readline(), b"asks\n", "what it says")
            yield cprec

    @staticmethod
    def ask(cprec, word, expected):
        cprec.stdin.write(word.encode())
        equal(cprec.stdout.readline().decode(), expected + "\n", word)

    @staticmethod
    def last_words(cprec, typed):
        return [said.decode() for said in cprec.communicate(typed)]

    def ends_well(self, cprec, words):
        said = self.last_words(cprec, b"e")
        equal((cprec.returncode, said[0], len(said[1].splitlines())),
              (0, "bye\n", 1), said[1])
        expect(words in said[1] and "the guest gets errors" in said[1],
               said[1])
        os.remove(self.disk)
        self.answer("verify", self.trace)
        expect(self.answer("replay", self.trace).endswith("bye\n"), "replay")

    def shrinking(self):
        """A disk that becomes shorter."""
        with self.asking("--drive=" + self.disk) as cprec:
            self.ask(cprec, "r", "read")
            os.truncate(self.disk, FILE_MOST)
            self.ask(cprec, "r", "not read")
            self.ask(cprec, "r", "not read")
            # What is written makes it longer again.
            self.ask(cprec, "w", "written")
            self.ask(cprec, "r", "read")
            self.ends_well(cprec, "cannot be read: it has become shorter")

    def filling(self):
        """A disk for which this machine has no room."""
        for how in "", ",snapshot":
            with self.asking("--drive=" + self.disk + how,
                             limit=FILE_MOST) as cprec:
                self.ask(cprec, "r", "read")
                self.ask(cprec, "w", "not written")
                self.ask(cprec, "w", "not written")
                self.ask(cprec, "r", "not read" if how else "read")
                self.ends_well(cprec, "cannot be written: File too large")

    def no_room(self):
        """There is none for the recording: it is whole up to there."""
        with self.asking("--drive=" + self.disk, "--segment=20000",
                         limit=10_000) as cprec:
            said = self.last_words(cprec, b"r" * 2000 + b"e")
        equal((cprec.returncode, len(said[1].splitlines())), (125, 1),
              said[1])
        expect("cannot write" in said[1] and "File too large" in said[1],
               said[1])
        self.answer("verify", self.trace)
        replayed = self.answer("replay", self.trace)
        expect(("asks\n" + said[0]).startswith(replayed) and
               len(replayed) > 5, "the output")

    def holes(self):
        """Nothing is there; what is only read cannot be written."""
        compile_kernel(self.options.ends, self.kernel, "-DEND=10")
        done = subprocess.run(self.machine(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)
        equal((done.returncode, done.stdout, done.stderr), (0, "hrrr", ""),
              "holes")
        self.answer("verify", self.trace)
        size = os.path.getsize(self.trace)
        expect(size < 20_000, f"{size} bytes")
        return f"{size} bytes"

    def endless(self):
        """It does nothing else, until somebody ends it."""
        compile_kernel(self.options.ends, self.kernel, "-DEND=11")
        with subprocess.Popen(self.machine(), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              bufsize=0) as cprec:
            equal(cprec.stdout.read(1), b"h", "output")
            cprec.send_signal(signal.SIGTERM)
            said = cprec.communicate()
        expect(not cprec.returncode and said[1].endswith(
            b"was stopped\n") and said[1].count(b"\n") == 1, said[1])
        self.answer("verify", self.trace)
        equal(self.answer("replay", self.trace), "h" + said[0].decode(),
              "replay")


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("what is no machine", tests.bad_input)
    if not shutil.which(COMPILER):
        print("# without", COMPILER, "there is no kernel")
        return tests.summary()
    if shutil.which(TREES):
        tests.test("a device tree", tests.trees)
        tests.test("a device tree with more than there is", tests.absent)
        tests.test("no device trees", tests.no_trees)
    else:
        print("# without", TREES, "there are no device trees")
    tests.test("a disk that shrinks", tests.shrinking)
    tests.test("a disk that fills", tests.filling)
    tests.test("no room for the recording", tests.no_room)
    tests.test("holes", tests.holes)
    tests.test("holes for ever", tests.endless)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "devices", "ends"))
