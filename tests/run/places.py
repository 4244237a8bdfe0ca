#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is shown of a place: mappings, instructions and source lines.

Mappings are those that the program itself found in /proc/self/maps at that
time; instructions are those of objdump; the line of each is gdb's, and source
lines are compared with the file.  Speaks TAP.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, Failure, equal, expect, main  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# Of objdump's instructions, so many in 1000 may be written in another way.
OTHERWISE = 60
# Compilers and options; optimized code has rows of lines in any order.
OPTIMIZED = [(compiler, *options) for compiler in ("gcc", "clang")
             for options in (("-O1",), ("-O2",), ("-O3", "-gdwarf-4"))
             if shutil.which(compiler)]
# Asks gdb for the line of each address of a list.
LINES_GDB = """import gdb, os
for addr in open(os.environ["addresses"]).read().split():
    sal = gdb.find_pc_line(int(addr))
    name = sal.symtab and os.path.basename(sal.symtab.filename)
    print("LINE", name if sal.line else None, sal.line)
"""
# Of the C library, in a static program.
LIBRARY = ("msort_with_tmp", "_int_malloc", "qsort", "sqrtl", "raise",
           "__libc_start_main", "_dl_relocate_static_pie", "__libc_setup_tls",
           "_dl_aux_init", "__libc_init_secure", "tunable_initialize",
           "__tunables_init", "_dl_non_dynamic_init", "exit", "sysmalloc")


def mapping(line):
    """Without device and number, which are not recorded."""
    words = line.rstrip("\n").split(None, 5)
    return words[:3] + words[5:]


def plain(text):
    """An instruction without what the two write in their own ways."""
    text = re.sub(r" *(#|<).*", "", text.strip())
    text = re.sub(r"^(\w+)\s+", r"\1 ", text)
    text = re.sub(r"-?0x([0-9a-f]+)|-?\b\d+\b", number, text)
    return text.replace(", ", ",")


def number(match):
    value = int(match.group(0), 0)
    return hex(value & 0xffffffffffffffff)


class Places(CprecTap):
    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, status=0):
        done = self.cprec(*words)
        equal(done.returncode, status, f"{words}: {done.stderr}")
        return done

    def make(self, name, source, *options):
        subprocess.run(["cc", *options, "-o", self.path(name),
                        os.path.join(HERE, "programs", source), "-lm"],
                       check=True)
        self.run("record", "-q", "-o", self.path(name + ".cpr"),
                 self.path(name))

    # ------- mappings -------

    def maps(self):
        subprocess.run(["cc", "-g", "-o", self.path("maps"),
                        os.path.join(HERE, "programs", "maps.c")], check=True)
        said = self.run("record", "-q", "-o", self.path("maps.cpr"),
                        self.path("maps")).stdout.splitlines()
        starts = [i for i, line in enumerate(said)
                  if i == 0 or int(line.split("-")[0], 16) <
                  int(said[i - 1].split("-")[0], 16)]
        equal(len(starts), 2, "lists")
        for start, end in zip(starts, starts[1:] + [len(said)]):
            wanted = [mapping(line) for line in said[start:end]
                      if "[vsyscall]" not in line]
            at = f"output:{end}"
            found = self.run("maps", self.path("maps.cpr"), f"--at={at}")
            equal([mapping(line) for line in found.stdout.splitlines()],
                  wanted, f"mappings at {at}")
            self.one_by_one(at, wanted)
        return f"{len(said)} lines"

    def one_by_one(self, at, wanted):
        trace = self.path("maps.cpr")
        objects = [json.loads(line) for line in
                   self.run("maps", trace, f"--at={at}",
                            "--json").stdout.splitlines()]
        for line, each in zip(wanted, objects):
            start, end = (int(word, 16) for word in line[0].split("-"))
            equal((int(each["addr"], 16), each["size"], each["prot"]),
                  (start, end - start, line[1][:3]), "as JSON")
            for addr in start, end - 1:
                found = self.run("maps", trace, f"--at={at}", hex(addr))
                equal(mapping(found.stdout), line, f"what holds {addr:#x}")

    def no_mapping(self):
        trace = self.path("maps.cpr")
        done = self.run("maps", trace, "--at=end", "0x10", status=1)
        expect("0x10 is not mapped at t=" in done.stderr, done.stderr)
        done = self.run("maps", trace, "--at=end", "1", "2", status=2)
        found = self.run("maps", trace, "--at=end", "$rsp").stdout
        expect(found.endswith("[stack]\n"), found)
        found = self.run("maps", trace, "--at=end", "main").stdout
        expect(found.endswith("/maps\n") and "r-xp" in found, found)

    # ------- instructions -------

    def functions(self, program):
        """{name: [(address, bytes, text, target)]}"""
        functions, name = {}, None
        out = subprocess.run(["objdump", "-d", "-w", program],
                             capture_output=True, text=True,
                             check=True).stdout
        for line in out.splitlines():
            begins = re.match(r"[0-9a-f]+ <(\w+)>:", line)
            code = re.match(r" +([0-9a-f]+):\t([0-9a-f ]+?) *\t(.*)", line)
            if begins:
                name = begins.group(1)
            elif code and name:
                target = re.search(r"([0-9a-f]+) <[^>]*>", code.group(3))
                functions.setdefault(name, []).append(
                    (int(code.group(1), 16), code.group(2).replace(" ", ""),
                     code.group(3), target and int(target.group(1), 16)))
        return functions

    def one_function(self, trace, name, wanted, counts):
        found = [json.loads(line) for line in
                 self.run("disassemble", trace, "--at=end", f"--addr={name}",
                          "--syntax=att", "--json").stdout.splitlines()]
        first = int(found[0]["addr"], 16) - wanted[0][0]
        equal(first % 4096, 0, "where it is")
        rows = {row[0] + first: row for row in wanted}
        for each in found:
            if "bytes" not in each:
                break       # nobody ever looked at it
            row = rows.get(int(each["addr"], 16))
            expect(row, f"{each} is no instruction of objdump's")
            equal(each["bytes"], row[1], f"{name}: bytes")
            text = plain(re.sub(r"\b([0-9a-f]{4,})(?= <)", lambda m: hex(
                int(m.group(1), 16) + first), row[2]))
            counts[0] += 1
            if plain(each["instruction"]) != text:
                counts[1] += 1
                self.differ.append((each["instruction"], row[2]))
            if row[3]:
                counts[2] += 1
                equal(int(each["target"], 16) - first, row[3],
                      f"{name}: target of {row[2]}")

    def disassemble(self):
        """Sizes, bytes and targets of all; in AT&T's syntax, the text."""
        counts = [0, 0, 0]
        self.differ = []
        for name, options in (("plain", ("-O0",)), ("values", ("-O2",)),
                              ("static", ("-O2", "-static"))):
            self.make(name, "frames/values.c", "-g", *options)
            functions = self.functions(self.path(name))
            for function in ("insert", "many", "less", "main", "handle",
                             "deep", *LIBRARY):
                if function in functions:
                    self.one_function(self.path(name + ".cpr"), function,
                                      functions[function], counts)
        total, otherwise, targets = counts
        expect(total > 1000 and targets > 100, f"{counts}")
        expect(otherwise * 1000 <= total * OTHERWISE,
               f"{otherwise} of {total} are written otherwise: "
               f"{self.differ[:40]}")
        return f"{total} instructions, {otherwise} otherwise, {targets} targets"

    def marked(self):
        """The instruction that comes next is where the frame is."""
        trace = self.path("values.cpr")
        frames = json.loads(self.run("backtrace", trace, "--at=70%", "--json",
                                     "--no-arguments").stdout)["frames"]
        for frame in frames:
            if frame["kind"] == "signal":
                continue
            at = "--at=70%", f"--frame={frame['frame']}"
            for more in [], ["--count=5"]:
                found = [json.loads(line) for line in
                         self.run("disassemble", trace, *at, *more,
                                  "--json").stdout.splitlines()]
                equal([each["addr"] for each in found if each.get("next")],
                      [frame["pc"]], f"of frame {frame['frame']}")
                expect(not more or len(found) <= 5, f"{len(found)}")
                text = self.run("disassemble", trace, *at, *more,
                                "--bytes").stdout.splitlines()
                equal(len(text), len(found) + 1, "lines")
                equal([line.split()[1] for line in text
                       if line.startswith("=>")], [frame["pc"]], "marked")
        return f"{len(frames)} frames"

    def with_source(self):
        trace = self.path("values.cpr")
        out = self.run("disassemble", trace, "--at=end", "--addr=less",
                       "--source").stdout
        expect("\ttotal += *a;" in out and "values.c:\n" in out, out)

    # ------- lines -------

    def lines_of_gdb(self, name, addrs):
        with open(self.path("lines.py"), "w", encoding="utf-8") as file:
            file.write(LINES_GDB)
        with open(self.path("addresses"), "w", encoding="utf-8") as file:
            file.write("\n".join(map(str, addrs)))
        out = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled"
             " off", "-x", self.path("lines.py"), self.path(name)],
            capture_output=True, text=True, check=True,
            env={**os.environ, "addresses": self.path("addresses")}).stdout
        return [(file, int(line)) if int(line) else None for file, line in
                re.findall(r"^LINE (.*) (\d+)$", out, re.M)]

    def lines(self, name, *options):
        """The line of each instruction of the program's own code."""
        subprocess.run([*options, "-g", "-no-pie", "-o", self.path(name),
                        os.path.join(HERE, "programs/frames/throws.cpp"),
                        "-lstdc++"], check=True)
        trace = self.path(name + ".cpr")
        self.run("record", "-q", "-o", trace, self.path(name))
        out = subprocess.run(["readelf", "-SW", self.path(name)], text=True,
                             capture_output=True, check=True).stdout
        addr, size = re.search(r" \.text +\w+ +(\w+) +\w+ +(\w+)",
                               out).groups()
        out = self.run("disassemble", trace, f"--addr=0x{addr}",
                       f"--size=0x{size}", "--json").stdout
        found = [json.loads(line) for line in out.splitlines()]
        expect(len(found) > 1000, f"{len(found)} instructions")
        addrs = [int(each["addr"], 16) for each in found]
        wanted = self.lines_of_gdb(name, addrs)
        equal(len(wanted), len(found), "lines")
        for each, line in zip(found, wanted):
            equal((os.path.basename(each["file"]), each["line"])
                  if each.get("line") else None, line, each["addr"])
        return f"{len(found)} instructions"

    # ------- source -------

    def source(self):
        """Lines of the file, with the right one marked."""
        trace = self.path("values.cpr")
        file = os.path.join(HERE, "programs", "frames", "values.c")
        with open(file, encoding="utf-8") as text:
            lines = text.read().rstrip("\n").split("\n")
        info = json.loads(self.run("info", "--json", trace).stdout)
        count = 0
        for i in range(12, 20):
            t = info["instructions"] * i // 20
            frames = json.loads(self.run("backtrace", trace, f"--at={t}",
                                         "--json").stdout)["frames"]
            for frame in frames:
                if not frame.get("file", "").endswith("values.c"):
                    continue
                out = self.run("source", trace, f"--at={t}",
                               f"--frame={frame['frame']}").stdout
                shown = re.findall(r"^(=>|  ) (\d+)\t(.*)$", out, re.M)
                equal([int(line[1]) for line in shown if line[0] == "=>"],
                      [frame["line"]], f"frame {frame['frame']} at {t}")
                first = max(1, frame["line"] - 5)
                equal([(int(line[1]), line[2]) for line in shown],
                      list(enumerate(lines[first - 1:first + 9], first)),
                      "lines")
                count += 1
        expect(count > 12, f"{count} places")
        return f"{count} places"

    def moved_source(self):
        """Found by --source-dir; what is newer is noted; what is not there,
        or too short, is said."""
        folder = self.path("src")
        os.mkdir(folder)
        with open(self.path("src/own.c"), "w", encoding="utf-8") as file:
            file.write("int main(void) {\n\tvolatile int x = 5;\n"
                       "\treturn x - 5; }\n")
        subprocess.run(["cc", "-g", "-o", self.path("own"), "src/own.c"],
                       check=True, cwd=self.folder)
        self.run("record", "-q", "-o", self.path("own.cpr"), self.path("own"))
        at = self.at_main()
        ask = "source", self.path("own.cpr"), f"--at={at}"
        equal(self.run(*ask).stderr, "", "no note")
        os.rename(folder, folder + ".away")
        done = self.run(*ask, status=1)
        expect("there is no 'src/own.c' here, nor in '" in done.stderr and
               "--source-dir" in done.stderr, done.stderr)
        again = *ask, f"--source-dir=/nowhere:{folder}.away"
        done = self.run(*again)
        expect("volatile int x" in done.stdout, done.stdout)
        os.utime(folder + ".away/own.c")
        done = self.run(*again)
        expect(re.match(r"cprec: note: '.*own.c' is newer than '.*own'\n$",
                        done.stderr), done.stderr)
        with open(folder + ".away/own.c", "w", encoding="utf-8") as file:
            file.write("\n")
        done = self.run(*again, status=1)
        expect("it is another version" in done.stderr, done.stderr)

    def at_main(self):
        trace = self.path("own.cpr")
        end = json.loads(self.run("info", "--json", trace).stdout)
        out = self.run("symbols", "--json", trace, "main").stdout
        line = json.loads(out.splitlines()[0])
        end = end["instructions"]
        for last in range(end - 1, end - 4000, -500):
            done = self.run("registers", trace, "--json", "rip",
                            *(f"--at={t}" for t in range(last - 499,
                                                         last + 1)))
            for each in map(json.loads, reversed(done.stdout.splitlines())):
                pc = int(each["pc"], 16)
                if 4 < pc - int(line["addr"], 16) < line["size"]:
                    return each["at"]
        raise Failure("main is never there")

    def no_source(self):
        done = self.run("source", self.path("maps.cpr"), "--at=0", "--thread",
                        "all", status=2)
        subprocess.run(["strip", self.path("own")], check=True)
        self.run("record", "-q", "-o", self.path("bare.cpr"),
                 self.path("own"))
        done = self.run("source", self.path("bare.cpr"), "--at=0", "--json",
                        status=1)
        expect("error" in json.loads(done.stdout), done.stdout)


def run_all(options, folder):
    tests = Places(options, folder)
    tests.test("maps", tests.maps)
    tests.test("no mapping", tests.no_mapping)
    tests.test("disassemble", tests.disassemble)
    tests.test("the marked one", tests.marked)
    tests.test("instructions with source lines", tests.with_source)
    for options in OPTIMIZED:
        tests.test(f"lines, {' '.join(options)}", tests.lines,
                   "".join(options), *options)
    tests.test("source", tests.source)
    tests.test("source files elsewhere", tests.moved_source)
    tests.test("no source", tests.no_source)
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    sys.exit(main(run_all, parser=parser))
