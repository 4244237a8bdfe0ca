#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debugging information that recordings keep, and files that are other builds.

usage: kept_debug.py --cprec C

A program calls a library, which calls one that is loaded later, which crashes.
It is recorded; then its files are removed, stripped or built anew.  What was
answered before is answered again, or it is said why not.  Lines are those that
the sources have marks in; build ids those that readelf says.  Speaks TAP.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import PlaceTap, equal, expect, main, recordings  # noqa: E402

SOURCES = {
    "program": """#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
struct thing { int size; const char *name; } thing = { 7, "thing" };
int part(int (*function)(struct thing *), struct thing *which);
int main(int argc, char **argv)
{
	void *late;
	chdir("/");
	if (argc > 1 && !fork())
		argc = 1;
	if (argc > 2) {
		write(1, "waits\\n", 6), pause(); // mark waits
	}
	late = dlopen(LATE, RTLD_NOW);
	if (argc > 1)
		return wait(0) < 0;
	return part((int (*)(struct thing *))dlsym(late, "late"), &thing); // mark main
}
""",
    "libpart.so": """struct thing;
int counter = 40;
static int inner(int (*function)(struct thing *), struct thing *which)
{
	counter += 2;
	return function(which) + counter; // mark inner
}
int part(int (*function)(struct thing *), struct thing *which)
{
	return inner(function, which) + 1; // mark part
}
""",
    "liblate.so": """struct thing { int size; const char *name; };
struct state { long sum; struct thing *of; };
static int crash(struct state *state)
{
	int local = state->of->size * 3;
	*(volatile int *)8 = local; // mark crash
	return local;
}
int late(struct thing *which)
{
	struct state state = { 5, which };
	return crash(&state); // mark late
}
""",
}
FRAMES = ["crash", "late", "inner", "part", "main"]
QUESTIONS = ["local", "*state", "*state->of", "counter", "thing",
             "liblate.so!late"]
# A variable that is called "renamed" in another file: as dwz makes them.
RENAMING = """
	.data
hidden:	.long 77
	.section .debug_abbrev,"",@progbits
abbrevs:
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x3, 0x8, 0x13, 0xb, 0, 0
	.uleb128 2, 0x24
	.byte 0
	.uleb128 0x3, 0x8, 0x3e, 0xb, 0xb, 0xb, 0, 0
	.uleb128 3, 0x34
	.byte 0
	.uleb128 0x3, 0x1f21, 0x49, 0x13, 0x2, 0x18, 0, 0
	.byte 0
	.section .debug_info,"",@progbits
info:	.long end - start
start:	.value 4
	.long abbrevs
	.byte 8
	.uleb128 1
	.string "x.c"
	.byte 12
type:	.uleb128 2
	.string "int"
	.byte 5, 4
	.uleb128 3
	.long 0, type - info
	.uleb128 9
	.byte 3
	.quad hidden
	.byte 0
end:
"""
NAMES = """
	.section .debug_str,"MS",@progbits,1
	.string "renamed"
	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x3c
	.byte 0
	.uleb128 0, 0
	.byte 0
	.section .debug_info,"",@progbits
	.long end - start
start:	.value 4
	.long 0
	.byte 8, 1
end:
"""
# Another build has other lines and other addresses.
CHANGE = "\n\n\nint more(int by) { return by * 3; }\n"


def marks():
    return {name: (file, number)
            for file, text in SOURCES.items()
            for number, line in enumerate(text.splitlines(), 1)
            for name in re.findall(r"// mark (\w+)", line)}


class Tests(PlaceTap):
    def run(self, *words):
        subprocess.run(words, check=True, cwd=self.place, capture_output=True)

    def build(self, name, *options, change=""):
        source = self.path(name + ".c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(change + SOURCES[name])
        kind = {"program": [self.path("libpart.so"), "-ldl",
                            f"-Wl,-rpath,{self.place}"],
                "libpart.so": ["-shared", "-fPIC"],
                "liblate.so": ["-shared", "-fPIC"]}[name]
        self.run("gcc", "-g", "-O0", "-w", f'-DLATE="{self.path("liblate.so")}"',
                 "-o", self.path(name), source, *kind, *options)

    def build_all(self, *options):
        self.begin()
        for name in ("libpart.so", "liblate.so", "program"):
            self.build(name, *options)

    def record(self, *options, words=()):
        self.trace = self.path("t.cpr")
        done = subprocess.run(
            [self.options.cprec, "record", "-q", "-o", self.trace, *options,
             self.path("program"), *words], capture_output=True, text=True,
            cwd=self.place, timeout=60)
        equal(done.returncode, 0 if words else -signal.SIGSEGV,
              done.stderr)

    def readelf(self, name):
        done = subprocess.run(["readelf", "-n", self.path(name)], text=True,
                              capture_output=True, check=True)
        return re.search(r"Build ID: (\w+)", done.stdout).group(1)

    def info(self, trace=None):
        done = self.cprec("info", "--json", trace or self.trace)
        equal(done.stderr, "", "info")
        return json.loads(done.stdout)

    def modules(self, trace=None):
        return {module["module"]: module
                for module in self.info(trace)["modules"]}

    # ------- what is answered

    def ask(self, *options, trace=None):
        """Frames, values, and what was noted beside."""
        trace = trace or self.trace
        frames = self.cprec("backtrace", "--json", trace, *options)
        at = json.loads(frames.stdout)["at"]
        values = self.cprec("query", "--json", "--no-races", trace,
                            f"--at={at}", *options,
                            *(f"--addr={text}" for text in QUESTIONS))
        shown = [(frame["module"], frame.get("function"), frame.get("file"),
                  frame.get("line"), frame.get("sure", True))
                 for frame in json.loads(frames.stdout)["frames"][:5]]
        notes = [line for line in (frames.stderr + values.stderr).splitlines()
                 if line.startswith("cprec: note: ")]
        found = [(answer.get("value"), answer.get("error"))
                 for answer in map(json.loads, values.stdout.splitlines())]
        return shown, found, notes

    def expected(self):
        lines = marks()
        frames = [(lines[name][0], name, self.path(lines[name][0] + ".c"),
                   lines[name][1], True) for name in FRAMES]
        return frames, ["21", None, '{size = 7, name = "thing"}',
                        "42", '{size = 7, name = "thing"}', None]

    def right(self, *options, trace=None):
        frames, values, notes = self.ask(*options, trace=trace)
        expected, its_values = self.expected()
        equal(frames, expected, "frames")
        for (value, error), right, text in zip(values, its_values, QUESTIONS):
            expect(value, f"{text}: {error}")
            expect(right is None or re.sub("0x[0-9a-f]+ ", "", value) == right,
                   f"{text} is {value}, should be {right}")
        equal(notes, [], "notes")
        return frames, values

    # ------- kept

    def remove(self):
        for name in SOURCES:
            os.remove(self.path(name))

    def strip(self):
        for name in SOURCES:
            self.run("strip", self.path(name))

    def rebuild(self):
        for name in ("libpart.so", "liblate.so", "program"):
            self.build(name, change=CHANGE)

    def kept(self, change, *options):
        self.build_all(*options)
        self.record("--with-debug")
        self.kept_after(change)

    def kept_after(self, change):
        before = self.right()
        change()
        equal(self.right(), before, "answers")
        info = self.info()
        for name, module in self.modules().items():
            expect(module["kept_bytes"] > 0, f"{name} is not kept")
            equal(module["kept_by"], None, f"{name} is kept by")
        expect(info["kept_bytes"] >= sum(module["kept_bytes"] for module
                                         in info["modules"]), "bytes")
        text = self.cprec("info", self.trace).stdout
        expect(f"{self.path('liblate.so')}, " in text, text)

    def cut_off(self, name, to):
        """Its debugging information, into a file of its own."""
        os.makedirs(os.path.dirname(to), exist_ok=True)
        self.run("objcopy", "--only-keep-debug", self.path(name), to)
        self.run("strip", self.path(name))

    def by_link(self):
        self.build_all("-Wl,--build-id=none")
        for name in SOURCES:
            debug = self.path(f".debug/{name}.debug")
            self.cut_off(name, debug)
            self.run("objcopy", f"--add-gnu-debuglink={debug}",
                     self.path(name))
        self.record("--with-debug")
        self.kept_after(lambda: (self.remove(),
                                 shutil.rmtree(self.path(".debug"))))

    def by_build_id(self):
        self.build_all()
        for name in SOURCES:
            number = self.readelf(name)
            self.cut_off(name, self.path(f"debug/.build-id/{number[:2]}/"
                                         f"{number[2:]}.debug"))
        self.record("--with-debug", "--debug-dir=nowhere:debug")
        self.kept_after(lambda: (self.remove(),
                                 shutil.rmtree(self.path("debug"))))

    def extra_file(self):
        """What debugging information refers to, in a file for several."""
        self.begin()
        for name, text in ("x.s", RENAMING), ("names.s", NAMES), \
                ("main.c", "int main(void) { return 0; }"):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        self.run("gcc", "-shared", "-nostdlib", "-Wl,--build-id", "-o",
                 "names", "names.s")
        self.run("gcc", "-o", "program", "main.c", "x.s")
        with open(self.path("link"), "wb") as file:
            file.write(b"names\0" + bytes.fromhex(self.readelf("names")))
        self.run("objcopy", "--add-section=.gnu_debugaltlink=link", "program")
        self.record("--with-debug", words=["1"])
        self.renamed()
        os.remove(self.path("program"))
        os.remove(self.path("names"))
        self.renamed()

    def renamed(self):
        done = self.cprec("query", "--addr=renamed", "--at=end", "--no-races",
                          self.trace)
        equal(done.stdout.splitlines()[:1], ["renamed = 77"], done.stderr)

    def stripped(self):
        """Unwind tables are kept; what is found later goes with them."""
        self.build_all()
        for name in SOURCES:
            self.cut_off(name, self.path(f"debug/{name}.debug"))
        self.record("--with-debug")
        self.remove()
        frames, _, notes = self.ask()
        equal([(name, sure) for _, name, *_, sure in frames],
              [(None, True), ("late", True), (None, True), ("part", True),
               (None, True)], "frames")
        equal(notes, [], "notes")
        self.right("--debug-dir", self.path("debug"))

    def killed(self):
        self.build_all()
        trace = self.trace = self.path("t.cpr")
        with subprocess.Popen([self.options.cprec, "record", "-q",
                               "--with-debug", "-o", trace,
                               self.path("program"), "2", "3"],
                              stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            for _ in range(100):
                if os.path.getsize(trace) > 10000:
                    break
                time.sleep(0.05)
            time.sleep(1.5)
            process.kill()
        self.remove()
        equal(self.info()["complete"], False, "complete")
        done = self.cprec("query", "--json", "--addr=thing", "--at=end",
                          "--no-races", trace)
        expect(json.loads(done.stdout)["value"].endswith('"thing"}'),
               done.stdout)
        done = self.cprec("backtrace", "--json", trace)
        lines = [frame.get("line") for frame
                 in json.loads(done.stdout)["frames"]
                 if frame["function"] == "main"]
        equal(lines, [marks()["waits"][1]], "line of main")

    # ------- families

    def family(self):
        self.build_all()
        self.record("--with-debug", words=["2"])
        first, child = recordings(self.trace)
        pids = {module["kept_by"] for module in self.modules(child).values()}
        parent = self.info(child)["parent"]["pid"]
        own = {name for name, module in self.modules(child).items()
               if module["kept_by"] is None}
        expect(pids <= {None, parent}, pids)
        expect("program" not in own and "libpart.so" not in own and
               "libc.so.6" not in own, own)
        expect(all(module["kept_by"] is None for module
                   in self.modules(first).values()), "the first is not whole")
        before = self.right(trace=child)
        self.remove()
        equal(self.right(trace=child), before, "answers")
        self.moved(child, before)

    def moved(self, child, before):
        name = os.path.basename(child)
        equal(self.cprec("mv", self.trace, self.path("u.cpr")).returncode, 0,
              "mv")
        equal(self.right(trace=self.path(f"u.cpr.d/{name}")), before, "moved")
        packed = self.path("p.cpr")
        self.cprec("pack", self.path("u.cpr"), "-o", packed)
        pid = name.removesuffix(".cpr")
        equal(self.right(f"--pid={pid}", trace=packed), before, "packed")
        self.cprec("rm", self.path("u.cpr"))
        done = self.cprec("unpack", packed, "-o", self.path("v.cpr"))
        equal(done.returncode, 0, done.stderr)
        equal(self.right(trace=self.path(f"v.cpr.d/{name}")), before,
              "unpacked")

    # ------- other builds

    def not_kept(self):
        self.build_all()
        self.record()
        equal(self.info()["kept_bytes"], 0, "kept")
        for name, module in self.modules().items():
            expect("kept_bytes" not in module, f"{name} is kept")
            if name in SOURCES:
                equal(module["build_id"], self.readelf(name), name)
        self.right()

    def refused(self):
        self.build_all()
        self.record()
        was = self.readelf("libpart.so")
        os.rename(self.path("libpart.so"), self.path("right"))
        self.build("libpart.so", change=CHANGE)
        frames, values, notes = self.ask()
        is_ = self.readelf("libpart.so")
        line = (f"cprec: note: '{self.path('libpart.so')}' is not the file"
                f" that was recorded: build id {is_} instead of {was}")
        equal(notes, [line] * 2, "notes of two commands")
        equal([name for name, _, file, *_ in frames if not file],
              ["libpart.so"] * 2, "frames without lines")
        equal(values[0], ("21", None), "a variable of another module")
        self.run("objcopy", "--remove-section=.note.gnu.build-id",
                 self.path("libpart.so"))
        equal(self.ask()[2], [line.replace(f"build id {is_}", "no build id")]
              * 2, "notes")
        self.right("--debug-dir", self.path("right"))
        os.makedirs(self.path("debug"))
        shutil.copy(self.path("right"), self.path("debug/libpart.so"))
        self.right("--debug-dir", self.path("debug"))
        os.rename(self.path("right"), self.path("libpart.so"))
        self.right()

    def stripped_later(self):
        """The build is the same; what it lacks is elsewhere."""
        self.build_all()
        self.record()
        for name in SOURCES:
            self.cut_off(name, self.path(f"debug/{name}.debug"))
        frames, _, notes = self.ask()
        equal(notes, [], "notes")
        equal([file for _, _, file, *_ in frames], [None] * 5, "files")
        self.right("--debug-dir", self.path("debug"))
        for command in ["query", "--addr=main"], ["calls", "main"], ["info"]:
            done = self.cprec(*command[:1], f"--debug-dir=nix::{self.folder}",
                              self.trace, *command[1:])
            equal((done.returncode, done.stderr), (0, "cprec: note:"
                  " --debug-dir: there is no folder 'nix'\n"), command[0])

    def no_build_id(self):
        self.build_all("-Wl,--build-id=none")
        self.record()
        equal(self.modules()["program"]["build_id"], None, "build id")
        self.right()
        self.rebuild()
        frames, _, notes = self.ask()
        equal(notes, [], "notes")
        equal([file for _, _, file, *_ in frames], [None] * 5, "files")

    def other_commands(self):
        self.build_all()
        self.record()
        os.makedirs(self.path("debug"))
        for name in SOURCES:
            os.rename(self.path(name), self.path(f"debug/{name}"))
        for command in ("info", "backtrace"):
            done = self.cprec(command, self.trace)
            expect("liblate.so.c:" not in done.stdout, done.stdout)
            done = self.cprec(command, self.trace,
                              f"--debug-dir={self.path('debug')}")
            expect(re.search(r"\bcrash\b.* at " + re.escape(
                self.path("liblate.so.c")) + f":{marks()['crash'][1]}",
                done.stdout), done.stdout)


def run_all(options, folder):
    tests = Tests(options, folder)
    for change in (tests.remove, tests.strip, tests.rebuild):
        tests.test(f"kept: {change.__name__}", tests.kept, change)
    tests.test("kept: compressed sections", tests.kept, tests.remove, "-gz")
    for function in (tests.by_link, tests.by_build_id, tests.extra_file, tests.stripped,
                     tests.killed, tests.family, tests.not_kept,
                     tests.refused, tests.stripped_later, tests.no_build_id,
                     tests.other_commands):
        tests.test(function.__name__.replace("_", " "), function)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all))
