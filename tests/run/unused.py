#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants and code that a program never used are as in its files, or unknown:
never those of a file that has changed.

  unused.py --cprec CPREC [--gdb GDB]
"""
import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import CprecTap, equal, expect, main  # noqa: E402

# What is far apart is on pages of its own.
SOURCE = """#include <stdio.h>
static const char pad[9000] = {1};
static const int table[3000] = {11, 22, 33};
static const char behind[9000] = {2};
static int given[6000] = {[3000] = 44, 55};
static const int *const pointer = table;
const int *use(int i) { return table + i; }
__attribute__((aligned(4096))) int never(int n) { return n * 3 + table[n]; }
__attribute__((aligned(4096))) int main(int argc, char **argv)
{
  printf("%p %p\\n", (void *)use(argc), (void *)&given[3000]);
  return pad[0] - 1 + behind[argc - 1] - 2;
}
"""
VALUES = struct.pack("<iii", 11, 22, 33)
FIRST = struct.pack("<iiii", 11, 22, 33, 0)

PLUGIN = """static const char pad[9000] = {1};
static const int table[3000] = {VALUE, 22, 33};
static const char behind[9000] = {2};
const int *find(void) { return table + pad[0] - behind[0]; }
"""
LOADS = """#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  for (int i = 2; i < 4; i++) {
    if (argc > 3)
      rename(argv[i], argv[1]);
    void *library = dlopen(argv[1], RTLD_NOW);
    const int *(*find)(void) = (const int *(*)(void))dlsym(library, "find");
    printf("%p\\n", (void *)(find() + 1));
    if (i == 2 && argc > 3)
      dlclose(library);
  }
  return 0;
}
"""


class Unused(CprecTap):
    def build(self, name, source, *options):
        path = os.path.join(self.folder, name)
        with open(path + ".c", "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run(["cc", "-g", "-O0", "-o", path, path + ".c", *options],
                       check=True)
        return path

    def record(self, program, *words):
        """The recording, and what it said."""
        path = program + ".cpr"
        done = self.cprec("record", "-q", "-o", path, "--", program, *words)
        expect(os.path.exists(path), done.stderr)
        return path, done.stdout.split()

    def ask(self, path, addr, *options, size=12):
        """Its source, bytes and the note."""
        done = self.cprec("query", path, f"--addr={addr}", f"--size={size}",
                          "--json", "--no-races", *options)
        answer = json.loads(done.stdout)
        return answer["source"], answer["bytes"], done.stderr

    def is_from_file(self, path, *options):
        source, found, _ = self.ask(path, "table", *options)
        equal((source, found), ("file", VALUES.hex()), "table")

    def is_unknown(self, path, why):
        source, found, note = self.ask(path, "table")
        equal((source, found), ("unknown", "??" * 12), "table")
        expect(re.search(why, note), note)

    def asked(self, *options):
        """By all who read memory: also of code, and in a file without a build
        id."""
        name = "asked" + "".join(options).replace(",", "")
        program = self.build(name, SOURCE, *options)
        path, said = self.record(program)
        self.is_from_file(path)
        address = hex(int(said[0], 16) - 4)
        equal(self.ask(path, address)[:2], ("file", VALUES.hex()), address)
        # What may be written is not known, though it was not.
        equal(self.ask(path, said[1])[:2], ("unknown", "??" * 12), "given")
        with open(program, "rb") as file:
            code = file.read()
        source, found, _ = self.ask(path, "never", size=16)
        equal(source, "file", "never")
        expect(bytes.fromhex(found) in code, found)
        log = self.cprec("log", path, "use => table[2]").stdout
        expect("use: table[2] = 33" in log, log)
        natively = subprocess.run(
            [self.options.gdb, "-nx", "-batch", "-ex", "p table[2]",
             "-ex", "p pad[1]", program], capture_output=True, text=True,
            check=True).stdout
        ours = self.cprec("gdb", f"--gdb={self.options.gdb}", path, "--", "-nx",
                          "-batch", "-ex", "p table[2]", "-ex", "p pad[1]",
                          "-ex", "set var given[0] = 3", "-ex", "p table[1]",
                          "-ex", "p never(1)", "-ex", "x/2i never")
        expect(natively in ours.stdout, ours.stdout + ours.stderr)
        expect(re.search(r"\$3 = 22\n\$4 = 25\n.*<never>:.*push", ours.stdout),
               ours.stdout + ours.stderr)

    def changed(self):
        """One byte of the file is another, with the same build id."""
        program = self.build("changed", SOURCE)
        path, _ = self.record(program)
        with open(program, "rb") as file:
            contents = file.read()
        at = contents.index(FIRST)
        why = "is not on this machine as it was recorded"
        for where in at, at + 2000, contents.index(struct.pack("<ii", 44, 55)):
            with open(program, "r+b") as file:
                file.seek(where)
                file.write(b"\x63")
            # Of what may be written, no byte is taken from it.
            if where == at or where == at + 2000:
                self.is_unknown(path, why)
            else:
                self.is_from_file(path)
            with open(program, "wb") as file:
                file.write(contents)
            self.is_from_file(path)
        os.rename(program, program + ".away")
        self.is_unknown(path, why)
        folder = os.path.join(self.folder, "elsewhere")
        os.mkdir(folder)
        shutil.copy(program + ".away", os.path.join(folder, "changed"))
        self.is_from_file(path, "--debug-dir=" + folder)
        with open(program, "wb") as file:
            file.write(contents[:at])
        self.is_unknown(path, why)
        os.unlink(program)
        os.mkfifo(program)
        self.is_unknown(path, why)

    def replaced(self):
        """Another library has the name while the program runs: whose bytes are
        there, nobody knows."""
        program = self.build("loads", LOADS, "-ldl")
        names = [os.path.join(self.folder, name)
                 for name in ("plugin.so", "old.so", "new.so")]
        for value, name in (("77", names[1]), ("88", names[2])):
            built = self.build(os.path.basename(name),
                               PLUGIN.replace("VALUE", value), "-shared",
                               "-fPIC", "-Wl,--build-id=0x1234")
            equal(built, name, "name")
        path, said = self.record(program, *names)
        expect(len(said) == 2, said)
        equal(self.ask(path, hex(int(said[1], 16)))[:2],
              ("unknown", "??" * 12), "replaced")
        # The same one, twice.
        path, said = self.record(program, names[0], names[0])
        expect(self.ask(path, hex(int(said[0], 16)))[0] == "file", said)


def run_all(options, folder):
    tests = Unused(options, folder)
    for flags in (), ("-Wl,--build-id=none",), ("-static",), ("-no-pie",):
        tests.test("asked: " + " ".join(flags), tests.asked, *flags)
    tests.test("a file that has changed", tests.changed)
    tests.test("a library that was replaced", tests.replaced)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--gdb", default="gdb", help="this one")
    sys.exit(main(run_all, parser=PARSER))
