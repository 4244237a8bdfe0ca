#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of the program that a debugger reads: out of the recording, or others.

usage: gdb_files.py --cprec C [--gdb GDB]

A program, its library, the C library and the dynamic linker are in a folder.
What gdb says of the recording must be the same when that folder is gone, and no
file of another build, nor one that was not recorded, may be read.  Speaks TAP.
"""
import argparse
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from remote import Remote  # noqa: E402
from tap import PlaceTap, equal, expect, main, recordings  # noqa: E402

PROGRAM = """#include <stdio.h>
struct thing { int size; const char *name; } thing = { 7, "thing" };
int part(int (*function)(struct thing *), struct thing *which);
static int crash(struct thing *which)
{
	int local = which->size * 3;
	*(volatile int *)8 = local; // mark crash
	return local;
}
int main(void)
{
	printf("hello\\n");
	return part(crash, &thing); // mark main
}
"""
LIBRARY = """struct thing;
int counter = 40;
static int inner(int (*function)(struct thing *), struct thing *which)
{
	int before = counter;
	counter += 2;
	return function(which) + before; // mark inner
}
int part(int (*function)(struct thing *), struct thing *which)
{
	return inner(function, which) + 1; // mark part
}
"""
CHANGE = "\n\n\nint more(int by) { return by * 3; }\n"
NAMES = ("program", "libpart.so.1.2", "libc.so.6", "ld.so")
SETTINGS = ("pagination off", "confirm off", "width 0", "style enabled off",
            "debuginfod enabled off")
COMMANDS = ("bt 4", "info locals", "frame 1", "info locals", "info args",
            "p *which", "ptype which", "frame 0", "p *which", "p counter",
            "info line inner", "break part", "reverse-continue", "finish",
            "info sharedlibrary")


def mark(name):
    for file, text in ("program.c", PROGRAM), ("libpart.so.1.2.c", LIBRARY):
        for number, line in enumerate(text.splitlines(), 1):
            if line.endswith("// mark " + name):
                return file, number
    raise LookupError(name)


class Files(PlaceTap):
    def run(self, *words):
        return subprocess.run(words, check=True, cwd=self.place, text=True,
                              capture_output=True).stdout

    # ------- programs

    def source(self, name, text):
        with open(self.path(name + ".c"), "w", encoding="utf-8") as file:
            file.write(text)
        os.utime(self.path(name + ".c"), (0, 0))

    def compile(self, name, text, *options):
        self.source(name, text)
        self.run("gcc", "-g", "-O0", "-o", self.path("bin/" + name),
                 name + ".c", *options)

    def library(self, *options, change=""):
        self.compile("libpart.so.1.2", change + LIBRARY, "-shared", "-fPIC",
                     "-Wl,-soname,libpart.so.1", *options)

    def build(self, *options):
        self.begin()
        os.mkdir(self.path("bin"))
        for name in "libpart.so.1", "libpart.so":
            os.symlink("libpart.so.1.2", self.path("bin/" + name))
        self.library(*options)
        # Copies of those of the system, which stays as it is.
        libc = self.run("gcc", "-print-file-name=libc.so.6").strip()
        linker = self.run("gcc", "-print-file-name=ld-linux-x86-64.so.2")
        shutil.copy(libc, self.path("bin/libc.so.6"))
        shutil.copy(linker.strip(), self.path("bin/ld.so"))
        self.compile("program", PROGRAM, "-Lbin", "-lpart",
                     f"-Wl,-rpath,{self.path('bin')}",
                     f"-Wl,--dynamic-linker={self.path('bin/ld.so')}",
                     *options)

    def record(self, *options, program="bin/program"):
        self.trace = self.path("t.cpr")
        done = self.cprec("record", "-q", "-o", self.trace, *options, "--",
                          self.path(program))
        equal(done.returncode, -11, done.stderr)

    def gone(self, *names):
        for name in names or ("bin",):
            os.rename(self.path(name), self.path(name + ".gone"))

    def build_id(self, name):
        return re.search(r"Build ID: (\w+)", self.run(
            "readelf", "-n", self.path("bin/" + name)))[1]

    # ------- gdb

    def gdb(self, *words, commands=COMMANDS):
        """What it says, without the names that it gives to files."""
        words = list(words)
        for setting in SETTINGS:
            words += ["-iex", "set " + setting]
        for command in commands:
            words += ["-ex", f"echo @@{command}\\n", "-ex", command]
        done = subprocess.run([*words, "-nx", "-batch"], text=True, timeout=60,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, "LC_ALL": "C"})
        said = done.stdout[done.stdout.find("@@"):].replace("target:", "")
        said = re.sub(r"^\[Inferior.*\n?", "", said, flags=re.M)
        return re.sub(r"^Reading .* from remote target.*\n", "", said,
                      flags=re.M), done.stderr

    def ours(self, *options, command="gdb"):
        return self.gdb(self.options.cprec, command,
                        f"--gdb={self.options.gdb}", *options, self.trace,
                        "--")

    def by_hand(self, *options):
        """gdb's own settings."""
        server = f"exec {shlex.quote(self.options.cprec)} gdbserver --stdio" \
                 f" {' '.join(options)} {self.trace}"
        return self.gdb(self.options.gdb, "-l", "100", "-ex",
                        f"target extended-remote | {server}")

    def by_port(self):
        with subprocess.Popen(
                [self.options.cprec, "gdbserver", "--port=0", self.trace],
                stderr=subprocess.PIPE, text=True) as server:
            port = re.search(r"127\.0\.0\.1:(\d+)",
                             server.stderr.readline())[1]
            try:
                answer = self.gdb(self.options.gdb, "-l", "100", "-ex",
                                  f"target remote :{port}")
                server.wait(timeout=30)
            finally:
                server.kill()
        return answer

    def good(self, said):
        """Lines, types and values: those of the sources."""
        for name in "crash", "inner", "part", "main":
            file, line = mark(name)
            expect(re.search(rf"^#\d .*\b{name} \(.* at {file}:{line}$", said,
                             re.M), f"{name}: {said}")
        for text in ("local = 21", "before = 40", "counter\n$5 = 42",
                     '{size = 7, name = 0x', '"thing"}'):
            expect(text.replace("$5", "$3") in said, f"{text}: {said}")
        expect(re.search(r"Breakpoint 1, part \(", said), said)
        expect(re.search(r"Yes +\S*libpart\.so\.1$", said, re.M), said)

    # ------- out of the recording

    def same(self, before, *ways):
        self.good(before)
        for way in ways:
            said, errors = way()
            # A front end may stop with other words.
            equal(re.sub(r"^(t=|The program|where).*\n", "", said,
                         flags=re.M) if "t=" in said else said, before,
                  errors)
            expect("warning: Unable" not in errors, errors)

    def kept(self, *options):
        self.build(*options)
        self.record("--with-debug")
        before, _ = self.ours()
        self.gone()
        return before

    def all_ways(self):
        self.same(self.kept(), self.ours, self.by_hand, self.by_port,
                  lambda: self.ours(command="debug"))

    def compressed(self):
        self.same(self.kept("-gz"), self.ours)

    def cut_off(self, name, to):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        self.run("objcopy", "--only-keep-debug", "bin/" + name, to)
        self.run("strip", "bin/" + name)

    def by_build_id(self):
        self.build()
        before = self.record("--with-debug") or self.ours()[0]
        for name in NAMES[:2]:
            number = self.build_id(name)
            self.cut_off(name, self.path(
                f"debug/.build-id/{number[:2]}/{number[2:]}.debug"))
        self.record("--with-debug", f"--debug-dir={self.path('debug')}")
        self.gone("bin", "debug")
        self.same(before, self.by_hand)

    def by_link(self):
        self.build("-Wl,--build-id=none")
        before = self.record() or self.ours()[0]
        for name in NAMES[:2]:
            debug = self.path(f"bin/.debug/{name}.debug")
            self.cut_off(name, debug)
            self.run("objcopy", f"--add-gnu-debuglink={debug}", "bin/" + name)
        self.record("--with-debug")
        self.gone()
        self.same(before, self.ours)

    def stripped_later(self):
        """The build is the same, but what was kept is there no more."""
        self.build()
        self.record("--with-debug")
        before, _ = self.ours()
        for name in NAMES[:2]:
            self.run("strip", "bin/" + name)
        self.same(before, self.ours)

    # ------- of this machine

    def same_here(self):
        """Nothing is kept, and a debugger is given what is here."""
        self.build()
        self.record()
        before, _ = self.ours()
        self.good(before)
        equal(self.by_hand()[0], before, "by hand")
        listing = self.monitor("files")
        expect(f"+ {self.path('bin/program')}: the same on this machine"
               in listing, listing)

    def other_folder(self):
        """... or where --debug-dir says, also debugging information."""
        self.build()
        self.record()
        before, _ = self.ours()
        os.mkdir(self.path("debug"))
        for name in NAMES[:2]:
            self.cut_off(name, self.path(f"debug/{name}.debug"))
        for name in NAMES:
            shutil.copy(self.path("bin/" + name), self.path("debug/" + name))
        self.gone()
        said, errors = self.by_hand("--debug-dir", self.path("debug"))
        equal(said, before, errors)

    def refused(self):
        """Another build is there: it is not used, and that is said."""
        self.build()
        self.record()
        path = self.path("bin/libpart.so.1.2")
        was = self.build_id("libpart.so.1.2")
        self.library(change=CHANGE)
        line = f"'{path}' is not the file that was recorded: build id" \
               f" {self.build_id('libpart.so.1.2')} instead of {was}"
        said, errors = self.ours()
        equal(errors.count("cprec: note: " + line), 1, errors)
        expect(re.search(r"^#0 .* crash \(which=", said, re.M), said)
        self.named(said, "inner", "part")
        expect(f"- {path}: {line}" in self.monitor("files"), "files")
        self.run("objcopy", "--remove-section=.note.gnu.build-id", path)
        expect("no build id instead of" in self.monitor("files"), "no id")

    def links(self):
        """Links may lead to other builds; what was recorded is still here."""
        self.build()
        os.symlink("program", self.path("bin/link"))
        self.record(program="bin/link")
        before, _ = self.ours()
        shutil.move(self.path("bin/libpart.so.1.2"), self.path("kept"))
        self.library(change=CHANGE)
        shutil.move(self.path("bin/libpart.so.1.2"),
                    self.path("bin/libpart.so.1.3"))
        self.source("libpart.so.1.2", LIBRARY)
        shutil.move(self.path("kept"), self.path("bin/libpart.so.1.2"))
        for link, to in ("link", "ld.so"), ("libpart.so.1", "libpart.so.1.3"):
            os.remove(self.path("bin/" + link))
            os.symlink(to, self.path("bin/" + link))
        for way in self.ours, self.by_hand:
            said, errors = way()
            equal(re.sub(r"(/libpart\.so\.1)\.2$", r"\1", said,
                         flags=re.M), before, errors)
            expect("cprec: note" not in errors, errors)

    def child(self):
        """Files that another process's recording has."""
        self.build()
        self.trace = self.path("t.cpr")
        program, path = self.path("bin/program"), self.path("bin/ld.so")
        with open(path, "rb") as file:
            size = len(file.read())
        self.cprec("record", "-q", "-o", self.trace, "--with-debug", "--",
                   "sh", "-c", f"{program}; {program}; true")
        self.gone()
        children = recordings(self.trace)[1:]
        equal(len(children), 2, "children")
        files = []
        for self.trace in children:
            self.good(self.ours()[0])
            with Remote(self.options.cprec, self.trace) as remote:
                files.append(self.file(remote, self.open(remote, path)[1:]))
        equal(len(files[0]), size, "size")
        equal(files[0] == files[1], True, "the same")
        equal(len({os.path.getsize(trace) > 100000
                   for trace in children}), 2, "one of them has it")

    def extra(self):
        """What debugging information refers to, in a file for several."""
        self.build()
        shutil.copy(self.path("bin/libpart.so.1.2"), self.path("extra"))
        number = self.build_id("libpart.so.1.2")
        with open(self.path("extra"), "rb") as file:
            wanted = file.read()
        self.library(change=CHANGE)
        with open(self.path("link"), "wb") as file:
            file.write(self.path("extra").encode() + b"\0"
                       + bytes.fromhex(number))
        self.run("objcopy", "--add-section=.gnu_debugaltlink=link",
                 "bin/program")
        self.record("--with-debug")
        self.gone("bin", "extra")
        with Remote(self.options.cprec, self.trace) as remote:
            name = f"/usr/lib/debug/.build-id/{number[:2]}/{number[2:]}.debug"
            found = self.file(remote, self.open(remote, name)[1:])
        equal(found == wanted, True, "the file")

    def not_kept(self):
        self.build()
        self.record()
        self.gone()
        said, errors = self.by_hand()
        for name in "program", "libpart.so.1.2":
            expect(f"cprec: note: '{self.path('bin/' + name)}' is not on this"
                   " machine, and the recording has not kept it" in errors,
                   errors)
        self.named(said, "crash", "inner", "part", "main")
        expect("Breakpoint 1 at" in said and
               re.search(r"Breakpoint 1, 0x\w+ in part \(\)", said), said)
        expect("BFD: warning" not in errors, errors)

    def named(self, said, *names):
        """By the symbols of the recording, and by nothing else."""
        frames = re.findall(r"^#\d .*?(\w+) \(\)(?: from \S+)?$",
                            said.partition("@@info locals")[0], re.M)
        equal(frames, list(names), said)

    # ------- what a debugger may read

    def monitor(self, words):
        with Remote(self.options.cprec, self.trace) as remote:
            return remote.monitor(words)

    def open(self, remote, path, flags=0):
        reply = remote.ask(f"vFile:open:{path.encode().hex()},{flags:x},0")
        return reply

    def nothing_else(self):
        self.build()
        self.record()
        self.gone()
        shutil.copytree(self.path("bin.gone"), self.path("bin"),
                        symlinks=True)
        os.remove(self.path("bin/program"))
        os.mkfifo(self.path("bin/program"))
        os.remove(self.path("bin/libc.so.6"))
        os.symlink("/etc/passwd", self.path("bin/libc.so.6"))
        good = self.path("bin/ld.so")
        build_id = self.build_id("ld.so")
        with Remote(self.options.cprec, self.trace) as remote:
            for path in ("/etc/passwd", "/proc/self/maps", "/", "", ".",
                         "etc/passwd", self.trace, self.path("bin"),
                         self.path("bin/../bin/ld.so"), good + "/", good + "\0x",
                         self.path("program.c"), "x" * 30000,
                         "/.build-id/", "/.build-id/ab/", "/.build-id/a",
                         "/.build-id/" + "ab/" + "cd" * 500 + ".debug",
                         f"/.build-id/{build_id[:2]}/{build_id[2:]}x"):
                equal(self.open(remote, path)[:4], "F-1,", path)
            for name in "program", "libc.so.6":
                number = self.open(remote, self.path("bin/" + name))[1:]
                found = self.file(remote, number).rstrip(b"\0")
                equal(found[:4], b"\x7fELF", name)
                expect(b"root:" not in found, "what the link leads to")
            for flags in 1, 2, 0x201, 0x401:
                equal(self.open(remote, good, flags), "F-1,d", "writing")
            for path in good, f"/.build-id/{build_id[:2]}/{build_id[2:]}":
                equal(re.match(r"F\d+$", self.open(remote, path)) is None,
                      False, path)
            for request in ("pread:0", "pread:0,10", "pread:99,10,0",
                            "pread:0,10,ffffffffffffffff",
                            "pread:0,zz,0", "close:99", "close:", "fstat:99",
                            "fstat:", "stat:2f657463", "stat:z", "open:2f",
                            "open:zz,0,0", "open:,0,0", "open:", "readlink:",
                            "readlink:2f6574632f6d746162", "unlink:" + good,
                            "pwrite:0,0,x"):
                expect(remote.ask("vFile:" + request)[:3] in ("F-1", ""),
                       request)
            equal(remote.ask("vFile:pread:0,4,7fffffffffffffff"), "F0;", "end")

    def many(self):
        """As many as there are libraries, and more; each is the file."""
        self.build()
        self.record()
        path = self.path("bin/ld.so")
        with open(path, "rb") as file:
            bytes_ = file.read()
        with Remote(self.options.cprec, self.trace) as remote:
            numbers = [self.open(remote, path) for _ in range(100)]
            equal(len(set(numbers)), 100, "numbers")
            last = numbers[-1][1:]
            equal(self.file(remote, last), bytes_, "bytes")
            status = remote.ask(f"vFile:fstat:{last}")
            equal(status, remote.ask(f"vFile:stat:{path.encode().hex()}"),
                  "stat")
            fields = self.bytes(status)
            equal(struct.unpack(">Q", fields[28:36])[0], len(bytes_), "size")
            equal(remote.ask(f"vFile:close:{last}"), "F0", "close")
            equal(remote.ask(f"vFile:close:{last}")[:4], "F-1,", "again")

    def kept_bytes(self):
        """What is kept is the file, with holes."""
        self.build()
        self.record("--with-debug")
        path = self.path("bin/ld.so")
        with open(path, "rb") as file:
            bytes_ = file.read()
        self.gone()
        with Remote(self.options.cprec, self.trace) as remote:
            found = self.file(remote, self.open(remote, path)[1:])
        equal(len(found), len(bytes_), "size")
        wrong = [at for at in range(len(found))
                 if found[at] not in (0, bytes_[at])]
        equal(wrong[:1], [], "bytes that differ")
        equal(found[:64], bytes_[:64], "header")
        expect(found.count(0) < 0.95 * len(found), "most is gone")

    @staticmethod
    def bytes(reply):
        """Those of a reply with an attachment."""
        data = reply.partition(";")[2].encode("latin1")
        return re.sub(rb"\}(.)", lambda found: bytes([found[1][0] ^ 32]), data,
                      flags=re.S)

    def file(self, remote, number):
        found = b""
        while True:
            piece = self.bytes(remote.ask(
                f"vFile:pread:{number},1ffff,{len(found):x}"))
            if not piece:
                return found
            found += piece


def run_all(options, folder):
    tests = Files(options, folder)
    for function in (tests.all_ways, tests.compressed, tests.by_build_id, tests.by_link, tests.stripped_later,
                     tests.same_here, tests.other_folder, tests.refused,
                     tests.links, tests.child, tests.extra,
                     tests.not_kept, tests.nothing_else, tests.many,
                     tests.kept_bytes):
        tests.test(function.__name__.replace("_", " "), function)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--gdb", default="gdb", help="this one")
    sys.exit(main(run_all, parser=PARSER))
