#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The library, as it is installed: programs that only have its header and itself,
one in C, linked in both ways, and one in Python, ask a recording of guest.c.
All three say the same; what they say is what the guest printed of itself, what
nm, readelf and gdb know of it, and what the commands answer.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "run"))
import tap
from tap import equal, expect

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "guest.c")
WARN = ["-Wall", "-Wextra", "-Werror"]


def output_of(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=300, **more)
    if done.returncode:
        raise tap.Failure(f"{command[0]}: {done.returncode}\n{done.stdout}"
                          f"{done.stderr}")
    return done.stdout


def flags_of(*arguments, **environment):
    """What pkg-config says; it may quote a byte, and half a letter so."""
    return shlex.split(output_of("pkg-config", *arguments, "cprec",
                                 errors="surrogateescape",
                                 env={**os.environ, **environment}))


def line_with(mark):
    with open(SOURCE) as file:
        return 1 + [mark in line for line in file].index(True)


class Tests(tap.CprecTap):
    def run_all(self):
        self.test("it is installed", self.install)
        self.test("the header alone, in C and C++", self.header)
        self.test("only cprec_* is seen, with a version", self.exports)
        self.test("what Python knows of structures", self.structures)
        self.test("a program against the library", self.link, "answers")
        self.test("a program against the archive", self.link_archive)
        self.test("a program before it is installed", self.uninstalled)
        self.test("a program with handlers", self.link, "handlers")
        self.test("the guest is recorded", self.record)
        self.test("the program answers", self.ask_c)
        self.test("the archive answers the same", self.ask_archive)
        self.test("Python answers the same", self.ask_python)
        self.test("Python in the source's folder", self.source)
        self.test("what the guest says of itself", self.compare_guest)
        self.test("what nm knows", self.compare_nm)
        self.test("files of modules", self.compare_files)
        self.test("what gdb sees of the program itself", self.compare_gdb)
        self.test("callbacks, cancelling", self.compare_callbacks)
        for name in ("last", "when", "writes", "backtrace", "calls", "strace", "maps",
                     "symbols", "registers", "disassemble", "info"):
            self.test(f"cprec {name} says the same",
                      getattr(self, "command_" + name))
        self.test("inlined functions", self.inlined)
        self.test("other processes", self.processes)
        self.test("the example finds the mistake", self.explore)
        self.test("the programs of its page", self.page)
        self.test("handlers, threads, cancelling", self.handlers)
        return self.summary()

    def path(self, name):
        return os.path.join(self.folder, name)

    # ------- building -------

    def install(self):
        # Root may have installed from here, and has the log of that.
        log = os.path.join(self.options.build, "meson-logs", "install-log.txt")
        if os.path.exists(log):
            os.remove(log)
        output_of("meson", "install", "-C", self.options.build,
                  "--no-rebuild", "--quiet",
                  env={**os.environ, "DESTDIR": self.path("root")})
        self.prefix = self.path("root") + self.options.prefix
        self.libdir = os.path.join(self.prefix, self.options.libdir)
        self.python = None
        for folder, _, files in os.walk(self.prefix):
            if folder.endswith("/cprec") and "__init__.py" in files:
                self.python = os.path.dirname(folder)
        expect(self.python, "no package for Python")

    def pkg_config(self, *arguments):
        return flags_of(*arguments, PKG_CONFIG_SYSROOT_DIR=self.path("root"),
                        PKG_CONFIG_PATH=os.path.join(self.libdir, "pkgconfig"))

    def compile(self, name, out, *libraries):
        output_of(*self.options.compiler.split(), "-std=gnu11", "-g", *WARN,
                  "-pthread", "-o", self.path(out),
                  os.path.join(HERE, name + ".c"), *self.cflags(), *libraries)

    def cflags(self):
        """Its own header, and nothing else of this project."""
        return self.pkg_config("--cflags")

    def header(self):
        header = os.path.join(self.prefix, "include/cprec.h")
        for language, standard in (("c", "c99"), ("c", "c11"),
                                   ("c++", "c++11"), ("c++", "c++20")):
            output_of("cc", "-x", language, f"-std={standard}", *WARN,
                      "-pedantic", "-fsyntax-only", header)

    def exports(self):
        library = os.path.join(self.libdir, "libcprec.so")
        defined = [line.split()[-1] for line in output_of(
            "nm", "-D", "--defined-only", library).splitlines()]
        names = {name for name in defined if name != "CPREC_1"}
        wrong = [name for name in names
                 if not re.fullmatch(r"cprec_\w+@@CPREC_1", name)]
        equal(wrong, [], "others")
        with open(os.path.join(self.prefix, "include/cprec.h")) as file:
            declared = set(re.findall(r"\b(cprec_[a-z_]+)\(", re.sub(
                r"/\*.*?\*/", "", file.read(), flags=re.S)))
        equal({name.split("@")[0] for name in names}, declared,
              "what is declared")
        archive = output_of("nm", "-g", "--defined-only",
                            os.path.join(self.libdir, "libcprec.a"))
        equal({line.split()[-1] for line in archive.splitlines()
               if len(line.split()) == 3}, declared, "in the archive")
        return f"{len(names)} functions"

    def structures(self):
        sys.path.insert(0, self.python)
        import cprec
        from cprec import structures
        equal(os.path.dirname(cprec.__file__),
              os.path.join(self.python, "cprec"), "the package")
        lines, fields = [], 0
        for name, kind in structures.STRUCTURES.items():
            struct = f"struct cprec_{name}"
            lines.append(f'check("{name}", sizeof({struct}),'
                         f" {structures.ctypes.sizeof(kind)});")
            for field, _ in kind._fields_:
                where = getattr(kind, field)
                fields += 1
                lines.append(
                    f'check("{name}.{field}", offsetof({struct}, {field}),'
                    f" {where.offset});")
                lines.append(
                    f'check("{name}.{field}", sizeof((({struct} *)0)'
                    f"->{field}), {where.size});")
        with open(self.path("structures.c"), "w") as file:
            file.write("#include <cprec.h>\n#include <stdio.h>\n"
                       "static void check(const char *name, size_t is,"
                       " size_t should)\n{ if (is != should) printf("
                       '"%s: %zu, not %zu\\n", name, is, should); }\n'
                       "int main(void)\n{\n" + "\n".join(lines) +
                       "\nreturn 0;\n}\n")
        output_of("cc", *self.cflags(), "-o", self.path("structures"),
                  self.path("structures.c"))
        equal(output_of(self.path("structures")), "", "sizes and places")
        with open(os.path.join(self.prefix, "include/cprec.h")) as file:
            declared = set(re.findall(r"^struct cprec_(\w+) \{", file.read(),
                                      re.M))
        equal(set(structures.STRUCTURES), declared, "structures")
        return f"{fields} fields"

    def link(self, name):
        self.compile(name, name, *self.pkg_config("--libs"),
                     f"-Wl,-rpath,{self.libdir}")

    def uninstalled(self):
        """Out of the folder that it is built in."""
        flags = flags_of("--cflags", "--libs", PKG_CONFIG_PATH=os.path.join(
            self.options.build, "meson-uninstalled"))
        with open(self.path("built.c"), "w") as file:
            file.write("#include <cprec.h>\n#include <stdio.h>\n"
                       "int main(void)\n{\nputs(cprec_version());\n"
                       "return 0;\n}\n")
        output_of(*self.options.compiler.split(), "-o", self.path("built"),
                  self.path("built.c"), *flags,
                  "-Wl,-rpath," + os.path.join(self.options.build, "library"))
        expect(output_of(self.path("built")) and
               self.options.build in output_of("ldd", self.path("built")),
               "another library")

    def link_archive(self):
        flags = [flag for flag in self.pkg_config("--libs", "--static")
                 if flag != "-lcprec"]
        self.compile("answers", "answers-static",
                     os.path.join(self.libdir, "libcprec.a"), *flags)
        needed = output_of("readelf", "-d", self.path("answers-static"))
        expect("libcprec" not in needed, "it needs the shared library")

    # ------- answers -------

    def record(self):
        """A copy: rows of words say where it is, and that has no blanks."""
        self.options.guest = shutil.copy(self.options.guest, self.folder)
        done = self.cprec("record", "-q", "-o", self.path("t.cpr"),
                          self.options.guest)
        expect(done.returncode in (-signal.SIGSEGV, 128 + signal.SIGSEGV),
               f"exit status {done.returncode}: {done.stderr}")
        self.said = {}
        for line in done.stdout.splitlines():
            words = line.split()
            self.said[words[0]] = words[1:]
        self.stdout = done.stdout
        self.line = line_with("this line writes it")

    def ask(self, *command, **more):
        return output_of(*command, self.path("t.cpr"), SOURCE,
                         f"guest.c:{self.line}", **more).splitlines()

    def ask_c(self):
        self.lines = self.ask(self.path("answers"))
        expect(len(self.lines) > 200, f"{len(self.lines)} lines")
        return f"{len(self.lines)} lines"

    def rows(self, kind):
        return [line.split()[1:] for line in self.lines
                if line.startswith(kind + " ")]

    def ask_archive(self):
        equal(self.ask(self.path("answers-static")), self.lines, "lines")

    def ask_python(self):
        """Callbacks of C are not asked there."""
        answers = self.ask(sys.executable, os.path.join(HERE, "answers.py"),
                           env={**os.environ, "PYTHONPATH": self.python})
        for mine, other in zip((line for line in self.lines
                                if not re.match("stopped|inside|later", line)),
                               answers):
            equal(other.rstrip(), mine.rstrip(), "a line")
        equal(len(answers), len(self.lines) - 3, "lines")

    def source(self):
        """Without an installation, by what is in its build folder."""
        tree = self.path("tree")
        shutil.copytree(self.python, os.path.join(tree, "python"))
        for folder in "library", "build/library":
            os.makedirs(os.path.join(tree, folder))
        shutil.copy(os.path.join(self.prefix, "include/cprec.h"),
                    os.path.join(tree, "library"))
        os.symlink(os.path.join(self.libdir, "libcprec.so.1"),
                   os.path.join(tree, "build/library/libcprec.so.1"))
        output_of(sys.executable, "-c", "import cprec; cprec.version()",
                  cwd=tree, env={**os.environ, "PYTHONPATH": "python"})

    # ------- what is true -------

    def compare_guest(self):
        said = self.said
        info = self.rows("info")[0]
        equal(info[0], said["pid"][0], "pid")
        tids = [row[0] for row in self.rows("thread")]
        equal(tids, [said["pid"][0], said["tid"][0]], "threads")
        equal(self.rows("there"), [[said["pid"][0]]], "before the other one")
        counter, head, first, pattern = said["addresses"]
        equal(self.rows("address")[0], [counter, "8"], "&counter")
        values = {}
        for line in self.lines:
            found = re.match(r"value (.*?): (.*)", line)
            if found:
                values.setdefault(found.group(1), found.group(2))
        total = int(said["counter"][0])
        equal(values["counter"].split()[:3],
              ["(volatile", "long)", str(total)], "counter")
        equal(values["pattern"].split()[-1],
              "".join(f"{i * 17:02x}" for i in range(16)), "pattern")
        equal(values["head->price * 2 + 1"].split()[1], "15", "computed")
        expect('"pears' in values["head->next->name"], "a name")
        equal(self.rows("crash")[0][3], hex(0x10 + 8), "what was read")
        printed = b"".join(bytes.fromhex(row[3])
                           for row in self.rows("output"))
        equal(printed.decode(), self.stdout, "what was printed")
        equal(self.rows("name"), [["library_guest"]], "what a thread is called")
        equal(sum(int(row[1]) for row in self.rows("printed")), len(printed),
              "what was printed in a run")
        # All that was ever in it, by the loops of the source.
        wanted = [3, 8, 15] + list(range(16, total + 1))
        writes = [row for row in self.rows("access") if row[4] == "1"]
        new = [int.from_bytes(bytes.fromhex(row[-1]), "little")
               for row in writes]
        equal(new[:len(wanted)], wanted, "all writes")
        equal(new[len(wanted)], total, "the last one")
        equal(new[len(wanted) + 1], 15, "the one of a value")
        for row, value in zip(writes, wanted):
            equal(row[2], said["tid" if value > 15 else "pid"][0],
                  "whose it is")
            equal(row[5], f"add:{self.line}" if value <= 15 else
                  f"work:{line_with('counter++')}", "where it is")
        registers = {row[0]: row[1] for row in self.rows("register")
                     if len(row) == 3}
        equal((registers["r12"], registers["r13"]),
              ("0x1122334455667788", "0x2345"), "registers at the mark")
        ends = [(row[1], row[-2]) for row in self.rows("call")]
        equal(ends, [("add", "None")] * 3 +
              [("total", value) for value in ("0", "3", "8", "15")] +
              [("total", "None")] * 3, "calls")
        equal([row[3:] for row in self.rows("met")],
              [["0", "3", "-"], ["3", "5", "-"], ["8", "7", "-"],
               [str(total), "-", "-"]], "what was logged")
        loop = f"work:{line_with('counter++')}"
        equal([row[2:] for row in self.rows("became")],
              [[said["pid"][0], f"add:{self.line}", "15"]] +
              [[said["tid"][0], loop, str(value)] for value in (16, 32, 48)],
              "when conditions became true")
        with open(SOURCE, "rb") as file:
            text = file.read()
        equal(self.rows("source")[0],
              [str(text.count(b"\n")), str(len(text))], "the source")

    def compare_files(self):
        modules = self.rows("module")
        expect(any(os.path.samefile(row[0], self.options.guest)
                   for row in modules), "the guest")
        for (path, build_id, *kept), (length, here, first, rest) in zip(
                modules, self.rows("file")):
            notes = output_of("readelf", "-n", path)
            found = re.search(r"Build ID: (\w+)", notes)
            equal(build_id, found[1] if found else "None", path)
            equal(kept, ["0", "0"], path)
            equal([length, here], [str(os.path.getsize(path)), path], path)
            with open(path, "rb") as file:
                equal(first, file.read(64).hex(), path)
            equal(rest, "0", "behind the end")
        equal(self.rows("file")[-1], ["none", "-8"], "another file")

    def compare_nm(self):
        known = {line.split()[-1]: int(line.split()[0], 16)
                 for line in output_of("nm", self.options.guest).splitlines()
                 if len(line.split()) == 3}
        base = int(self.said["code"][0], 16) - known["main"]
        equal(self.rows("linked"), [["counter", hex(known["counter"]), "8",
                                     "1"]], "in the file")
        found = {row[3]: int(row[0], 16) for row in self.rows("symbol")
                 if len(row) == 6}
        expect({"counter", "total", "work", "ratio"} <= set(found),
               f"only {sorted(found)}")
        for name, addr in found.items():
            if name in known:
                equal(addr, known[name] + base, name)
        rip = [row[1] for row in self.rows("register")
               if row[0] == "rip"][0]
        equal(int(rip, 16), known["marked"] + base, "where the mark is")
        bytes_of = "".join(row[1] for row in self.rows("instruction"))
        dump = output_of("objdump", "-d", "--no-show-raw-insn",
                         "--disassemble=total", self.options.guest)
        starts = re.findall(r"^ +([0-9a-f]+):\t\S", dump, re.M)
        shown = [int(row[0], 16) - base for row in self.rows("instruction")]
        equal(shown, [int(start, 16) for start in starts
                      if int(start, 16) <= shown[-1]], "instructions")
        return f"{len(bytes_of) // 2} bytes of code"

    def compare_gdb(self):
        """The frames of the crash, natively."""
        said = output_of("gdb", "-batch", "-nx", "-ex", "run", "-ex", "bt",
                         self.options.guest)
        native = re.findall(r"^#\d+ .*?(\w+) \(.*\) at .*?:(\d+)$", said,
                            re.M)
        expect(len(native) >= 4, said)
        found = [(row[2], row[3]) for row in self.rows("frame")
                 if len(row) == 4]
        equal(found[:len(native)], native, "frames")
        return f"{len(native)} frames"

    def compare_callbacks(self):
        equal(self.rows("stopped"), [["77"]], "a callback's value")
        total = self.said["counter"][0]
        mark = [row for row in self.rows("stop") if row[0] == "1"][0][1]
        equal([row[1:] for row in self.rows("far") if len(row) == 5],
              [[total, mark, "0", "-11"]] * 7, "asked in a visit")
        equal(self.rows("inside"), [["0", "-11"]], "asked in a callback")
        equal(self.rows("cancelled"), [["-10"]], "cancelled")
        equal(self.rows("later"), [["0", "-4", "-9", "0"]], "other versions")
        equal(self.rows("open"), [["-6"], ["-8"]], "what cannot be opened")
        equal(self.rows("seek"), [["-9"]], "no position")
        equal(self.rows("nobody"), [["-8"]], "no thread")

    # ------- the commands -------

    def json(self, command, *arguments):
        done = self.cprec(command, self.path("t.cpr"), *arguments, "--json")
        expect(not done.returncode, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def writes(self):
        """Of the counter, all of them: those up to the first that is again."""
        rows = self.rows("access")
        return rows[:len({row[0] for row in rows if row[4] == "1"})]

    def compare_accesses(self, row, told):
        equal(row[0], str(told["at"]), "when")
        equal(int(row[2]), told["thread"], "thread")
        equal(row[5], f"{told['function']}:{told['line']}", "where")
        equal((row[6], row[7]), (told["old"], told["new"]), "bytes")

    def command_writes(self):
        told = self.json("writes", "--addr=counter")
        rows = self.writes()
        equal(len(rows), len(told), "writes")
        for row, one in zip(rows, told):
            self.compare_accesses(row, one)
        return f"{len(told)} writes"

    def command_when(self):
        told = self.json("when", "--expr=counter % 16 == 0", "--limit=3")
        equal([row[2] for row in self.rows("became")][1:],
              [str(one["thread"]) for one in told], "threads")
        equal([row[3] for row in self.rows("became")][1:],
              [f"{one['function']}:{one['line']}" for one in told], "where")

    def command_last(self):
        told = self.json("last", "--addr=counter")
        self.compare_accesses(self.writes()[-1], told[0])

    def command_backtrace(self):
        told = self.json("backtrace")[0]["frames"]
        rows = [row for row in self.rows("frame") if len(row) == 4]
        equal([(row[1], row[2], int(row[3])) for row in rows],
              [(one["pc"], one["function"], one.get("line", 0))
               for one in told], "frames")

    def command_calls(self):
        told = self.json("calls", "add", "total")
        rows = sorted(self.rows("call"), key=lambda row: int(row[0]))
        equal([(row[1], int(row[2]), int(row[3]), int(row[4]))
               for row in rows],
              [(one["function"], one["at"], one["thread"], one["depth"])
               for one in told], "calls")
        for row, one in zip(rows, told):
            values = "".join(f"{value['name']}={value['value']},"
                             for value in one["passed"])
            expect(f"({values})" in " ".join(row), f"arguments: {row}")
            equal(row[-1], str(one["instructions"]), "instructions")

    def command_strace(self):
        told = [one for one in self.json("strace") if one["kind"] == "call"]
        rows = [line for line in self.lines if line.startswith("event 1 ")]
        equal(len(rows), len(told), "system calls")
        for row, one in zip(rows, told):
            expect(one["text"] in row, f"{one['text']}\n{row}")
            equal(row.split()[4:7], [str(one["number"]), one["name"],
                                     str(one["result"])], "a call")
        return f"{len(told)} calls"

    def command_maps(self):
        told = self.json("maps")
        equal([(row[0], row[1], row[4] if len(row) > 4 else "")
               for row in self.rows("mapping")],
              [(one["addr"], hex(int(one["addr"], 16) + one["size"]),
                one.get("name", "")) for one in told], "mappings")

    def command_symbols(self):
        told = self.json("symbols", "library_guest!*o*")
        rows = [row for row in self.rows("symbol") if len(row) == 6]
        equal([(row[0], int(row[1]), row[3], int(row[5])) for row in rows],
              [(one["addr"], one["size"], one["name"], one.get("line", 0))
               for one in told], "symbols")

    def command_registers(self):
        told = self.json("registers", f"--thread={self.said['pid'][0]}")[0]
        equal(self.rows("state")[0],
              [str(told["at"]), str(told["thread"]),
               str(told["instructions"]), str(int(told["runs"])), "0"],
              "the thread's state")
        stop = [row for row in self.rows("stop") if row[0] == "1"][0]
        told = self.json("registers", f"--at={stop[1]}",
                         f"--thread={stop[2]}")[0]["registers"]
        for row in self.rows("register"):
            if len(row) == 3:
                equal(int(row[1], 16), int(told[row[0]], 16), row[0])

    def command_disassemble(self):
        told = self.json("disassemble")
        equal([(row[0], row[1], " ".join(row[2:]))
               for row in self.rows("instruction")],
              [(one["addr"], one["bytes"],
                " ".join(one["instruction"].split())) for one in told],
              "instructions")

    def command_info(self):
        told = self.json("info")[0]
        row = self.rows("info")[0]
        equal((row[1], int(row[3]), int(row[5])),
              (told["arch"], len(told["threads"]), told["exit"]["signal"]),
              "info")
        for row, one in zip(self.rows("thread"), told["threads"]):
            equal([int(word) for word in row[:4]],
                  [one["thread"], one["first"], one["last"],
                   one["instructions"]], "a thread")

    # ------- more -------

    def inlined(self):
        """The cursor is in the frame of the function that is meant, also where
        one that is inlined in it begins: the program passes 0, 1, 2, 3."""
        program = self.path("copies")
        subprocess.run([*self.options.compiler.split(), "-g", "-O2", "-o",
                        program, os.path.join(
                            HERE, "../run/programs/calls/copies.c")],
                       check=True)
        self.cprec("record", "-q", "-o", program + ".cpr", program)
        script = ("import sys, cprec\n"
                  "with cprec.open(sys.argv[1]) as recording:\n"
                  "    for _, values in recording.log('push', values=('id',)):\n"
                  "        print(*values)\n")
        equal(output_of(sys.executable, "-c", script, program + ".cpr",
                        env={**os.environ, "PYTHONPATH": self.python}
                        ).split(), list("0123"), "id")

    def processes(self):
        self.cprec("record", "-q", "-o", self.path("f.cpr"), "sh", "-c",
                   f"{self.options.guest} & wait")
        told = [json.loads(line) for line in self.cprec(
            "ps", self.path("f.cpr"), "--json").stdout.splitlines()]
        equal(len(told), 2, "processes")
        import cprec
        with cprec.open(self.path("f.cpr")) as first:
            equal({one.pid for one in first.processes()},
                  {one["pid"] for one in told}, "their numbers")
            child = [one.pid for one in first.processes()
                     if not one.is_this][0]
        with cprec.open(self.path("f.cpr"), process=child) as recording:
            equal(recording.info.pid, child, "the child")
        name = os.path.basename(self.options.guest)
        with cprec.open(self.path("f.cpr"), process=name) as recording:
            equal(recording.info.pid, child, "the child, by its name")
            equal(recording.crash().signal, signal.SIGSEGV, "its crash")
            equal(str(recording.at()["counter"]), self.said["counter"][0],
                  "its counter")
        try:
            cprec.open(self.path("f.cpr"), process=1)
            raise tap.Failure("another process was opened")
        except cprec.NotFound:
            pass
        with cprec.open(self.path("t.cpr")) as recording:
            here = recording.at()
        for late in (lambda: here["counter"], lambda: here.position,
                     lambda: recording.info, recording.at):
            try:
                late()
                raise tap.Failure("it answers when it is closed")
            except cprec.Closed as closed:
                expect("recording is closed" in str(closed), closed)

    def explore(self):
        docs = os.path.join(HERE, "../../docs/example")
        output_of("cc", "-g", os.path.join(docs, "stock.c"), "-o",
                  self.path("stock"))
        self.cprec("record", "-q", "-o", self.path("s.cpr"),
                   self.path("stock"))
        said = output_of(sys.executable, os.path.join(docs, "explore.py"),
                         self.path("s.cpr"),
                         env={**os.environ, "PYTHONPATH": self.python})
        expect("strcpy(item->name, name);" in said, said)
        expect("26 characters and a NUL go into 16 bytes" in said, said)
        # A library ends the program, with a signal and no bad address.
        with open(self.path("twice.c"), "w") as file:
            file.write("#include <stdlib.h>\n"
                       "int main(void)\n{\n\tchar *p = malloc(9);\n\n"
                       "\tfree(p);\n\tfree(p);\n}\n")
        output_of("cc", "-g", "-w", self.path("twice.c"), "-o",
                  self.path("twice"))
        self.cprec("record", "-q", "-o", self.path("twice.cpr"),
                   self.path("twice"))
        done = subprocess.run(
            [sys.executable, os.path.join(docs, "explore.py"),
             self.path("twice.cpr")], capture_output=True, text=True,
            timeout=120, env={**os.environ, "PYTHONPATH": self.python})
        expect(re.search(r"^#\d+: free\(p\);$", done.stdout, re.M) and
               done.stderr.startswith("no access failed"),
               done.stdout + done.stderr)

    def page(self):
        """Those of docs/library.md."""
        with open(os.path.join(HERE, "../../docs/library.md")) as file:
            parts = re.findall(r"(?:^(?:    .*)?\n)+", file.read(), re.M)
        program = [part for part in parts if "int main(" in part][0]
        program = program.split("    $ ")[0]
        with open(self.path("page.c"), "w") as file:
            file.write(re.sub("^    ", "", program, flags=re.M))
        output_of("cc", *WARN, *self.cflags(), "-o", self.path("page"),
                  self.path("page.c"), *self.pkg_config("--libs"),
                  f"-Wl,-rpath,{self.libdir}")
        said = output_of(self.path("page"), self.path("t.cpr"), "counter")
        equal(re.sub("t=[0-9]+", "t=N", said).splitlines()[:2],
              [f"t=N: work, line {line_with('counter++')}", "#0 work"],
              "who wrote it")
        script = [part for part in parts if "import cprec" in part][0]
        with open(self.path("page.py"), "w") as file:
            file.write(re.sub("^    ", "", script, flags=re.M))
        os.replace(self.path("s.cpr"), self.path("trace.cpr"))
        said = output_of(sys.executable, "page.py", cwd=self.folder,
                         env={**os.environ, "PYTHONPATH": self.python})
        for wanted in ('"bread', "0 total 31", '"pomegranate juice'):
            expect(wanted in said, said)

    def handlers(self):
        self.cprec("record", "-q", "-o", self.path("long.cpr"),
                   self.options.long)
        said = output_of(self.path("handlers"), self.path("t.cpr"),
                         self.path("long.cpr"))
        bad = [line for line in said.splitlines()
               if line.startswith("not ok")]
        equal(bad, [], said)
        return f"{said.count('ok ')} things"


def run_all(options, folder):
    return Tests(options, folder).run_all()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--libdir", required=True)
    parser.add_argument("--compiler", required=True)
    sys.exit(tap.main(run_all, "build", "guest", "long", parser=parser))
