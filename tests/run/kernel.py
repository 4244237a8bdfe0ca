#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a machine's kernel knows, of a small one that keeps it as Linux does
(programs/small_linux.c): system calls that began before, times of its log, its
module beside its debugging information, names for gdb.

usage: kernel.py --cprec C --programs FOLDER

The kernel is made with the cross compiler; with Debian's, boot.py asks the same and
more.  Speaks TAP.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

TOOLS = "aarch64-linux-gnu-"
COMPILER = TOOLS + "gcc"
GDB = "gdb-multiarch"
BASE = 0xffffff8008000000
SIZE = 0x300000
MODULE = 0xffffff8007000000
USER = 0x400000
C_OPTIONS = ["-O1", "-ffreestanding", "-fno-builtin", "-fno-pic",
             "-mgeneral-regs-only", "-fno-stack-protector",
             "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables",
             "-fno-unwind-tables"]
CALLS = ["write", "write", "kill", "getpid", "rt_sigreturn", "write",
         "execve", "getpid", "write", "exit_group"]
LOGGED = ["Linux version 6.1.0-small (of a test)", "a module is loaded",
          "enters the program", "the module has some", "the module has some",
          "executes"]
# Any kernel has more symbols than this one.
SYMBOLS = 4352


def quads(label, numbers, size=".quad"):
    return "\n".join([f"\t.balign\t8\n\t.globl\t{label}\n{label}:"] +
                     [f"\t{size}\t{number:#x}" for number in numbers]) + "\n"


def quoted(text):
    """As the assembler has it."""
    return json.dumps(text)


def table_of_names(symbols):
    """As scripts/kallsyms.c writes it, each letter a token."""
    tokens = [chr(i) if 32 < i < 127 else f"_{i:02x}_" for i in range(256)]
    names, markers = [], []
    at = 0
    for i, (_, kind, name) in enumerate(symbols):
        if i % 256 == 0:
            markers.append(at)
        letters = (kind + name).encode()
        names += [len(letters), *letters]
        at += 1 + len(letters)
    places, used = [], 0
    for token in tokens:
        places.append(used)
        used += len(token) + 1
    return "".join((
        quads("offsets", [addr - BASE for addr, _, _ in symbols], ".word"),
        quads("base", [BASE]), quads("count", [len(symbols)]),
        quads("names", names, ".byte"), quads("markers", markers, ".word"),
        "\t.balign\t8\n", *(f"\t.asciz\t{quoted(token)}\n"
                            for token in tokens),
        quads("places", places, ".short")))


class Tests(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.trace = os.path.join(folder, "k.cpr")
        self.debug = os.path.join(folder, "debug")
        self.objects = os.path.join(folder, "objects")
        os.makedirs(os.path.join(self.debug, "boot"))
        os.makedirs(self.objects)

    def path(self, name):
        return os.path.join(self.folder, name)

    def source(self, name):
        return os.path.join(self.options.programs, name)

    def tool(self, name, *arguments):
        return subprocess.run([TOOLS + name, *arguments], check=True,
                              text=True, stdout=subprocess.PIPE).stdout

    def symbols(self, elf):
        """Address, kind, name."""
        found = []
        for line in self.tool("nm", "-n", elf).splitlines():
            words = line.split()
            if len(words) == 3 and words[2][0] != "$":
                found.append((int(words[0], 16), words[1], words[2]))
        return found

    def address(self, elf, name):
        return next(addr for addr, _, its in self.symbols(elf) if its == name)

    def compile_module(self):
        """The object, as users have it, and its code, where it will be."""
        ko = os.path.join(self.objects, "small-module.ko")
        self.tool("gcc", "-g", *C_OPTIONS, "-c", "-o", ko,
                  self.source("small_module.c"))
        elf = self.path("module.elf")
        self.tool("ld", "-o", elf, f"-Ttext={MODULE:#x}",
                  f"-Tdata={MODULE + 0x4000:#x}",
                  f"-Tbss={MODULE + 0x8000:#x}", "-e", "0", "--no-warn-rwx-segments", ko)
        self.tool("objcopy", "-O", "binary", elf, self.path("module.bin"))
        return elf

    def module_tables(self, elf):
        """As the kernel has it in memory: functions alone have symbols."""
        functions = [(addr, name) for addr, kind, name in self.symbols(elf)
                     if kind in "tT"]
        names, entries = "", []
        ends = [addr for addr, _ in functions[1:]] + [MODULE + 0x4000]
        for (addr, name), end in zip(functions, ends):
            at = 1 + len(names)
            names += name + "\0"
            entries += [at | 2 << 32 | 1 << 48, addr, end - addr]
        sections = (("text", 0), ("bss", 0x8000))
        return "".join((
            quads("module_symbols", entries),
            quads("module_symbol_count", [len(functions)], ".word"),
            "\t.globl\tmodule_names\nmodule_names:\n\t.byte\t0\n",
            *(f'\t.asciz\t"{name}"\n' for _, name in functions),
            *(f'section_{name}:\t.asciz\t".{name}"\n'
              for name, _ in sections),
            "\t.skip\t64\n"
            "\t.balign\t8\n\t.globl\tmodule_sections\nmodule_sections:\n",
            *(f"\t.quad\tsection_{name}, {MODULE + at:#x}\n"
              for name, at in sections),
            quads("module_section_count", [len(sections)], ".word"),
            quads("module_write", [self.address(elf, "small_write")]),
            quads("module_report", [self.address(elf, "report")])))

    def link(self, tables, *options):
        with open(self.path("tables.S"), "w", encoding="utf-8") as out:
            out.write("\t.section .rodata\n" + tables)
            for name in "module", "user":
                out.write(f"\t.balign 8\n\t.globl {name}_code\n"
                          f"{name}_code:\n\t.incbin \"{name}.bin\"\n"
                          f"\t.globl {name}_code_end\n{name}_code_end:\n")
            out.write('\t.balign 8\n\t.incbin "btf.bin"\n')
        elf = os.path.join(self.debug, "boot", "vmlinux-6.1.0-small")
        subprocess.run(
            [COMPILER, "-g", *C_OPTIONS, *options, "-nostdlib", "-static",
             f"-Wl,-Ttext={BASE:#x},--build-id=none,-e,{BASE:#x},"
             f"--defsym=end={BASE + SIZE:#x},-z,max-page-size=4096",
             "-I" + self.options.programs, "-o", elf,
             self.source("small_linux.S"), self.source("small_linux.c"),
             "tables.S"], check=True, cwd=self.folder)
        return elf

    def compile_kernel(self, *options):
        """Twice: the table of its symbols is in it."""
        module = self.compile_module()
        user = self.path("user.elf")
        self.tool("gcc", "-nostdlib", "-static", "-o", user,
                  f"-Wl,-Ttext={USER:#x},--build-id=none",
                  self.source("small_program.S"))
        self.tool("objcopy", "-O", "binary", "-j", ".text", user,
                  self.path("user.bin"))
        self.tool("gcc", *C_OPTIONS, "-gbtf", "-c", "-o",
                  self.path("btf.o"), self.source("small_linux.c"))
        self.tool("objcopy", "--dump-section",
                  ".BTF=" + self.path("btf.bin"), self.path("btf.o"),
                  self.path("unused.o"))
        tables = self.module_tables(module) + "".join(
            quads(name, [self.address(user, name)])
            for name in ("user_handler", "user_exec"))
        symbols = []
        for _ in range(2):
            dummies = [(BASE + SIZE, "t", f"unused_{i:06}") for i in
                       range(SYMBOLS - len(symbols))]
            elf = self.link(table_of_names(symbols + dummies) + tables,
                            *options)
            symbols = [symbol for symbol in self.symbols(elf)
                       if BASE <= symbol[0] < BASE + SIZE and
                       not symbol[2].startswith("__")]
        self.tool("objcopy", "-O", "binary", elf, self.path("kernel"))

    def record(self):
        done = self.cprec("record", "--machine=virt", "--memory=16m",
                          "--segment=20000", "-o", self.trace,
                          "--kernel=" + self.path("kernel"))
        equal((done.returncode, done.stdout, done.stderr),
              (0, "saidsaid", ""), "record")

    def ask(self, command, *options, of=()):
        done = self.cprec(command, *options, self.trace, *of)
        equal(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, command, *options, of=()):
        return [json.loads(line) for line in
                self.ask(command, "--json", *options, of=of).splitlines()]

    def calls(self):
        """What is known of each that began before: its name and result."""
        calls = [row for row in self.rows("strace") if row["kind"] == "call"]
        equal([call["name"] for call in calls], CALLS, "calls")
        for call in calls[:-1]:
            for at in call["at"] - 5, call["at"]:
                end = next(row for row in self.rows("strace", f"--from={at}")
                           if row["kind"] == "call")
                equal((end["at"], end["name"], end["number"], end["result"]),
                      (call["at"], call["name"], call["number"],
                       call["result"]), f"from {at}")
                if call["name"] in ("execve", "rt_sigreturn"):
                    equal(end["arguments"], [], "nobody knows them")
        at = next(call["at"] for call in calls if call["name"] == "execve")
        said = self.ask("strace", f"--from={at}").splitlines()[0]
        expect(re.search(r"<\.\.\. execve resumed>\) +=", said), said)

    def forgotten(self):
        """Kernels that have it forgotten that there was an execve."""
        self.compile_kernel("-DFORGETS=1")
        self.record()
        self.calls()

    def log(self):
        """Each message is there from its time on; where that is, the kernel
        stores it."""
        log = self.rows("dmesg")
        equal([row["text"] for row in log], LOGGED, "the log")
        functions = {int(row["addr"], 0): row["name"] for row in
                     self.rows("symbols", of=["prb_*commit"])}
        for i, row in enumerate(log):
            pc = self.rows("registers", f"--at={row['at']}")[0]
            equal(functions[int(pc["registers"]["pc"], 0)],
                  ("prb_final_commit", "prb_commit")[i % 2], "where it is")
            for at, count in (row["at"], i), (row["at"] + 20, i + 1):
                found = self.rows("dmesg", f"--at={at}")
                equal([one["text"] for one in found], LOGGED[:count],
                      f"at {at}")
                equal([one["at"] for one in found],
                      [one["at"] for one in log[:count]], f"times at {at}")
        equal([re.sub(r"^\[[ .0-9]*\] ", "", line) for line in
               self.ask("dmesg", "--no-times").splitlines()], LOGGED,
              "without times")

    def frames(self, at, *folders):
        where = ["--debug-dir=" + ":".join(folders)] if folders else []
        return self.rows("backtrace", f"--at={at}", *where)[0]["frames"]

    def module(self):
        """With the kernel's debugging information, a module's, both, or none,
        the callers are the same; and who is known has lines."""
        begun = self.rows("calls", of=["report"])
        equal(len(begun), 2, "calls of report()")
        at = begun[0]["at"] + 60
        plain = [frame["pc"] for frame in self.frames(at)]
        equal(len(plain), 8, plain)
        for folders in ((self.debug,), (self.objects,),
                        (self.debug, self.objects)):
            frames = self.frames(at, *folders)
            equal([frame["pc"] for frame in frames
                   if frame["kind"] != "inlined"], plain, folders)
            names = {frame["function"]: frame for frame in frames
                     if "line" in frame}
            equal("small_write" in names, self.objects in folders, names)
            equal("do_el0_svc" in names, self.debug in folders, names)
        equal(names["add_item"]["file"].split("/")[-1], "small_module.c",
              "file")
        equal(names["add_item"]["line"], self.line("report(total);"), "line")

    def line(self, text):
        with open(self.source("small_module.c"), encoding="utf-8") as source:
            return next(number for number, line in enumerate(source, 1)
                        if text in line)

    def variables(self):
        """Of the module: by its object, also where only that has debugging
        information."""
        writes = self.rows("writes", "--debug-dir=" + self.objects,
                           "--addr=small_module!total")
        equal([write["new"] for write in writes[-2:]],
              ["03000000", "05000000"], "writes")
        for folders in self.objects, self.debug + ":" + self.objects:
            for name in "small_module!total", "total":
                for write, value in zip(writes[-2:], "35"):
                    found = self.rows(
                        "query", "--debug-dir=" + folders,
                        "--addr=" + name, f"--at={write['at'] + 1}")[0]
                    equal((found["value"], found["type"]), (value, "int"),
                          name)
        found = self.rows("query", "--debug-dir=" + self.objects,
                          "--addr=last", "--at=end")[0]
        expect(found["value"].startswith("{size = 2, text = 0x4"), found)
        logged = self.rows("log", "--debug-dir=" + self.objects, of=[
            f"small_module.c:{self.line('last.size = size')} => size"])
        equal([row["values"][0]["value"] for row in logged], ["3", "2"],
              "log")

    def another_object(self):
        """One whose functions are elsewhere is another build: not used, but
        told of."""
        folder = self.path("another")
        os.makedirs(folder)
        self.tool("gcc", "-g", *C_OPTIONS, "-O0", "-c", "-o",
                  os.path.join(folder, "small-module.ko"),
                  self.source("small_module.c"))
        done = self.cprec("query", "--debug-dir=" + folder, "--addr=total",
                          self.trace)
        equal(done.returncode, 1, done.stdout)
        expect("is not the module 'small_module' that was recorded" in
               done.stderr, done.stderr)

    def debugger(self):
        """gdb has names of the kernel and of its module, where they are, and the
        callers that there are: up to the program, from a prologue and behind
        it."""
        begun = self.rows("calls", of=["report"])[1]["at"]
        done = subprocess.run(
            [self.options.cprec, "gdb", "--gdb=" + GDB,
             f"--goto={begun}", self.trace, "--", "-batch", "-ex", "bt",
             "-ex", "echo --\\n", "-ex", f"goto {begun + 60}", "-ex", "bt",
             "-ex", "echo --\\n",
             "-ex", "info symbol small_write", "-ex", "break printk", "-ex",
             "reverse-continue", "-ex", "bt 1", "-ex", "info line printk"],
            capture_output=True, text=True, timeout=120,
            stdin=subprocess.DEVNULL)
        for wanted in (r"#0 .* in report \(\)\n#1 .* in add_item \(\)",
                       "small_write in section", r"Breakpoint 1, .* in printk"):
            expect(re.search(wanted, done.stdout), done.stdout + done.stderr)
        for said, at in zip(done.stdout.split("--\n"), (begun, begun + 60)):
            names = [frame.get("function")
                     for frame in self.frames(at)]
            equal(re.findall(r"^#\d+ .* in (\w+) \(\)$", said, re.M),
                  names[:names.index("el0t_64_sync") + 1], f"callers at {at}")
        done = subprocess.run(
            [self.options.cprec, "gdb", "--gdb=" + GDB,
             f"--goto={begun}", "--debug-dir=" + self.debug, self.trace,
             "--", "-batch", "-ex", "print init_task.comm", "-ex", "bt 1"],
            capture_output=True, text=True, timeout=120,
            stdin=subprocess.DEVNULL)
        expect(re.search(r'= "swapper/0.*\n#0 +report \(total=5\) at',
                         done.stdout), done.stdout + done.stderr)


def run_all(options, folder):
    if not shutil.which(COMPILER):
        print(f"1..0 # SKIP {COMPILER} is not there")
        return 0
    tests = Tests(options, folder)
    tests.compile_kernel()
    tests.record()
    tests.test("system calls that began before", tests.calls)
    tests.test("times of the log", tests.log)
    tests.test("callers through a module", tests.module)
    tests.test("variables of a module", tests.variables)
    tests.test("an object of another build", tests.another_object)
    if shutil.which(GDB):
        tests.test("gdb", tests.debugger)
    tests.test("an execve whose number is forgotten", tests.forgotten)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "programs"))
