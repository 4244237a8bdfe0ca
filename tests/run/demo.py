#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/demo.sh, which `./setup demo` runs: it shows what it says, and fails else.

usage: demo.py --cprec C

There is no gdb and no terminal, as where only building was prepared for.  Speaks TAP.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
SHELLS = "/bin/sh", "/bin/bash"
# What it needs of the system.
TOOLS = "as cat dirname gcc ld mkdir mktemp rm sed sh".split()
FILES = {"stock", "stock.c", "trace.cpr"}
MORE = {"trace.cpr.idx"}        # which questions may leave


class Demo(CprecTap):
    def prepare(self):
        """A build tree without anything else, and a PATH without gdb."""
        self.tree = os.path.join(self.folder, "my trees, 'für' mich")
        for name in "build/tools", "tests", "docs/example", "bin":
            os.makedirs(os.path.join(self.tree, name))
        for name in "tests/demo.sh", "docs/example/stock.c":
            shutil.copy(os.path.join(ROOT, name), os.path.join(self.tree, name))
        shutil.copy(self.options.cprec, os.path.join(self.tree, "build/tools"))
        with open(os.path.join(self.tree, "build/build.ninja"), "w"):
            pass
        for name in TOOLS:
            os.symlink(shutil.which(name), os.path.join(self.tree, "bin", name))

    def demo(self, *words, shell="/bin/sh", cwd=None, **environment):
        return subprocess.run(
            [shell, os.path.join(self.tree, "tests/demo.sh"), *words],
            cwd=cwd or self.tree, capture_output=True, text=True, timeout=300,
            stdin=subprocess.DEVNULL,
            env={"PATH": os.path.join(self.tree, "bin"), "LC_ALL": "C",
                 **environment})

    def shows(self, folder, done):
        """All of it: where it crashed, who wrote the value, a step back."""
        equal(done.returncode, 0, done.stdout + done.stderr)
        equal(done.stderr, "", "errors")
        for wanted in (r"died of SIGSEGV.* in total at .*stock\.c:31",
                       r"\n#1 .* in main \(\) at .*stock\.c:41",
                       r"wrote: 0x\w+ -> 0x\w+",
                       r"\n#\d .* in add \(name=.* 1 litre.*stock\.c:21",
                       r"Breakpoint 1, add .*\n21\t.*\n.*\n= .*0x\w+\n22\t",
                       r"verified \d+ instructions", "meson install -C"):
            expect(re.search(wanted, done.stdout),
                   f"no {wanted!r} in {done.stdout}")
        expect("\033" not in done.stdout, "colours, without a terminal")
        self.has_files(folder)

    def has_files(self, folder):
        equal(set(os.listdir(folder)) - MORE, FILES, f"files of {folder}")

    def in_build_tree(self, shell):
        folder = os.path.join(self.tree, "build/demo")
        for _ in range(2):
            self.shows(folder, self.demo("build/tools/cprec", shell=shell))
        shutil.rmtree(folder)

    def what_is_next(self):
        """The commands that it ends with can be typed."""
        done = self.demo("build/tools/cprec")
        lines = re.findall("^  (.*)$", done.stdout[done.stdout.index(
            "To try next"):], re.M)
        equal(len(lines), 7, f"{lines}")
        typed = [line for line in lines if "PROGRAM" not in line
                 and "meson" not in line]
        result = subprocess.run(
            ["/bin/sh", "-e", "-c", "\n".join(typed)], capture_output=True,
            text=True, stdin=subprocess.DEVNULL, timeout=120,
            env={"PATH": os.path.join(self.tree, "bin")})
        equal(result.returncode, 0, result.stderr)
        expect("sum = 824192105" in result.stdout, result.stdout)

    def folders(self):
        """The one that is asked for; without a build tree, here; where nobody may
        write, a temporary one."""
        here = os.path.join(self.folder, "here")
        os.makedirs(here)
        cprec = os.path.join(self.tree, "build/tools/cprec")
        self.shows(os.path.join(here, "x y"), self.demo(cprec, "x y", cwd=here))
        os.unlink(os.path.join(self.tree, "build/build.ninja"))
        for cwd, name in (here, "cprec-demo"), ("/proc", "cprec-demo-??????"):
            done = self.demo(cprec, cwd=cwd, TMPDIR=here)
            equal(done.returncode, 0, done.stdout + done.stderr)
            expect("meson" not in done.stdout, done.stdout)
            found = glob.glob(os.path.join(here, name))
            equal(len(found), 1, f"{name}: {found}")
            self.has_files(found[0])

    def fails(self, what, said):
        done = self.demo("build/tools/cprec")
        equal(done.returncode, 1, f"{what}: {done.stdout}")
        expect(said in done.stderr, f"{what}: {done.stderr}")

    def wrong(self):
        """Each step that goes wrong ends it: programs that do something else."""
        program = os.path.join(self.tree, "build/tools/cprec")
        real = os.path.join(self.tree, "build/tools/real")
        os.rename(program, real)
        for command, instead, said in (
                ("record", "exit 3", "status 3, not 139"),
                ("backtrace", "exit 1", "status 1, not 0"),
                ("last", "echo nothing", "did not print ' wrote: '"),
                ("backtrace --at", "echo in main", "did not print"),
                ("debug", "echo nothing", "did not print"),
                ("verify", "exit 1", "status 1, not 0")):
            with open(program, "w") as file:
                file.write(f"""#!/bin/sh
case $* in {command.replace(" ", "?")}*) {instead}; exit;; esac
exec "${{0%/*}}/real" "$@"
""")
            os.chmod(program, 0o755)
            self.fails(command, said)
        os.rename(real, program)
        source = os.path.join(self.tree, "docs/example/stock.c")
        with open(source) as file:
            text = file.read()
        with open(source, "w") as file:
            file.write(text.replace("pomegranate juice, 1 litre", "juice"))
        self.fails("a program that does not crash", "status 0, not 139")
        with open(source, "w") as file:
            file.write(text)

    def run(self):
        self.test("a tree", self.prepare)
        for shell in filter(os.path.exists, SHELLS):
            self.test(f"in a build tree, by {shell}", self.in_build_tree, shell)
        self.test("what is next", self.what_is_next)
        self.test("steps that go wrong", self.wrong)
        self.test("other folders", self.folders)
        return self.summary()


if __name__ == "__main__":
    sys.exit(main(lambda options, folder: Demo(options, folder).run()))
