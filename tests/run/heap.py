#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Blocks of the heap, and errors with them, are what programs and valgrind say.

usage: heap.py --cprec C --cc CC --cxx CXX

Programs (programs/heap/) say in comments what they do wrong, and print which
blocks they have.  Valgrind, if it is here, finds the same errors, and counts the
same calls.  Other allocators are asked, too, if they are here.  Speaks TAP.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from collections import Counter

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "programs", "heap")
KINDS = ("write_behind write_before write_freed free_twice free_inside"
         " free_nothing").split()
JEMALLOC = glob.glob("/usr/lib/*/libjemalloc.so.2")

# Programs in which valgrind sees no error: no more is to be found here.
RIGHT = [
    ["sort", "-k2"],
    ["gzip", "-c", "/proc/self/exe"],
    ["bzip2", "-c", sys.argv[0]],
    ["python3", "-c", "import json, re; json.dumps([re.sub('1', 'b', str(i))"
     " for i in range(99)])"],
    ["perl", "-e", "my %h; $h{$_ % 97} .= \"x$_\" for 1..5000;"
     " print join ',', map { $h{$_} } sort keys %h"],
    ["gcc", "-O1", "-S", "-o", "/dev/null"],
    ["sqlite3", ":memory:", "create table t(a, b); insert into t values(1, 2);"
     " select * from t join t u"],
    ["bash", "-c", "for i in a b; do x[$i]=${i/a/b}$(echo $i); done"],
    ["objdump", "-d"],
]


def marks(name):
    """What the comments of a source say: kinds and names by line."""
    lines = {}
    with open(os.path.join(SOURCES, name), encoding="utf-8") as source:
        for number, text in enumerate(source, 1):
            found = re.search(r"(?:/\*|//) (\w+): ?(\w*)( \*/)?$", text)
            if found:
                lines[number] = found.group(1, 2)
    return lines


def planted(name):
    """Each error as its kind, where it is, and where its block was allocated
    and freed."""
    found = marks(name)
    place = {of: number for number, of in found.items()}
    return {(kind, number, place.get(("allocated", block)),
             place.get(("freed", block)) if kind in (
                 "write_freed", "free_twice") else None)
            for number, (kind, block) in found.items() if kind in KINDS}


def line_in(frames, name):
    """The innermost line in a source."""
    for frame in frames or []:
        if os.path.basename(frame.get("file") or "") == name:
            return frame["line"]
    return None


def as_planted(error, name):
    block = error.get("block", {})
    return (error["kind"], line_in(error["frames"], name),
            line_in(block.get("allocated", {}).get("frames"), name),
            line_in(block.get("freed", {}).get("frames"), name))


# ------- valgrind -------

def stack_of(element):
    return [{"file": frame.findtext("file"),
             "line": int(frame.findtext("line") or 0)}
            for frame in element.findall("frame")]


def kind_of(error, what):
    kind = error.findtext("kind")
    if kind == "InvalidFree":
        if not what:
            return "free_nothing"
        return "free_twice" if " 0 bytes inside" in what else "free_inside"
    for word, mine in (("after", "write_behind"), ("before", "write_before"),
                       ("free'd", "write_freed")):
        if word in what:
            return mine
    raise ValueError(what)


def as_valgrind(error, name):
    """An error of valgrind, as planted() has them, with sizes."""
    what = error.findtext("auxwhat") or ""
    if "inside" not in what and "after" not in what and "before" not in what:
        what = ""
    stacks = [line_in(stack_of(stack), name)
              for stack in error.findall("stack")] + [None, None]
    kind = kind_of(error, what)
    is_freed = kind in ("write_freed", "free_twice")
    numbers = [int(number.replace(",", "")) for number in
               re.findall(r" ([\d,]+)(?= bytes|$| \w+'d)", what)]
    return (kind, stacks[0], stacks[2 if is_freed else 1],
            stacks[1] if is_freed else None), numbers


def with_sizes(error, name):
    """The same of one of ours."""
    block = error.get("block")
    if not block:
        return as_planted(error, name), []
    inside = int(error["addr"], 16) - int(block["addr"], 16)
    if error["kind"] == "write_behind":
        inside -= block["size"]
    return as_planted(error, name), [abs(inside), block["size"]]


# Each copy writes behind its block, and over the next one's beginning.
COPIES = """#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char source[100];
static void fill(char *to, int size) { memcpy(to, source, size); }
int main(void)
{
  char *blocks[4];
  for (int i = 0; i < 4; i++)
    blocks[i] = malloc(i == 3 ? 60 : 16);
  for (int i = 0; i < 3; i++)
    fill(blocks[i], 60);
  memset(blocks[3], 1, 62);
  _exit(0);
}
"""


class Heap(CprecTap):
    def build(self, name, *flags, compiler=None):
        program = os.path.join(self.folder, name.replace(".", "_") +
                               "".join(flags).replace("-", "_"))
        compiler = compiler or (
            self.options.cxx if name.endswith("pp") else self.options.cc)
        subprocess.run([*compiler.split(), "-g", "-w", "-O0", "-pthread",
                        "-fno-builtin", *flags, "-o", program,
                        os.path.join(SOURCES, name)], check=True, timeout=120)
        return program

    def record(self, *words, more=(), env=None):
        path = os.path.join(self.folder, "recorded.cpr")
        shutil.rmtree(path + ".d", ignore_errors=True)
        done = subprocess.run([self.options.cprec, "record", "-q", *more,
                               "-o", path, "--", *words], timeout=120,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              env={**os.environ, **(env or {})},
                              cwd=self.folder)
        expect(os.path.exists(path), done.stderr)
        return path, done.stdout.decode(errors="replace")

    def heap(self, path, *words):
        done = self.cprec("heap", "--json", *words, path)
        expect(not done.returncode, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        equal(lines[-1]["kind"], "summary", "the last line")
        return lines[:-1], lines[-1]

    # ------- errors -------

    def errors(self, name, program, *words, env=None, has_lines=True):
        path, _ = self.record(program, *words, env=env)
        found, summary = self.heap(path, "--errors")
        mine = Counter(as_planted(error, name) for error in found)
        if words:
            mine = {error: 1 for error in mine if error[0].startswith("free_")}
            wanted = {"i": "free_inside", "n": "free_nothing",
                      "t": "free_twice"}[words[0]]
        expected = {error: 1 for error in planted(name)
                    if (error[0] == wanted if words else
                        error[0].startswith("write_"))}
        if not has_lines:
            mine, expected = ({error[:1] + error[2:]: 1 for error in one}
                              for one in (mine, expected))
        equal(dict(mine), expected, "errors")
        equal(summary["errors"], sum(error["count"] for error in found),
              "how many there are")
        return f"{len(mine)} errors"

    def copied(self):
        """What one memcpy() writes is one error, by whatever instructions; and in
        text, frames of the C library are folded."""
        source = os.path.join(self.folder, "copies.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(COPIES)
        program = os.path.join(self.folder, "copies")
        subprocess.run(["cc", "-g", "-O0", "-o", program, source], check=True)
        path, _ = self.record(program)
        found, summary = self.heap(path, "--errors")
        told = [(one["kind"], one["size"], one["count"], one["block"]["size"])
                for one in found]
        equal(told, [("write_behind", 44, 3, 16), ("write_behind", 2, 1, 60)],
              "errors")
        equal(summary["errors"], 4, "how many")
        text = self.cprec("heap", "--errors", path).stdout
        lines = text.splitlines()
        expect(re.match(r"t=\d+: write of 44 bytes .* 0 bytes behind a block of "
                        r"16 bytes; 3 times$", lines[0]), text)
        expect(re.match(r" +#0 +libc\.so\.6!\w*mem\w+$", lines[1]), text)
        expect(re.match(r" +#1 .* in fill at .*copies\.c:5$", lines[2]), text)
        expect(re.match(r" +#2 .* in main at", lines[3]), text)
        expect(re.match(r" +#3-\d  libc\.so\.6!__libc_start_\w+$", lines[4]),
               text)
        whole = self.cprec("heap", "--errors", "--stack=9", path).stdout
        expect(re.search(r"#0 +0x\w+ in ", whole), whole)
        return f"{len(found)} errors"

    def valgrind(self, name, *program):
        path, _ = self.record(*program)
        found, summary = self.heap(path, "--errors")
        output = os.path.join(self.folder, "valgrind.xml")
        subprocess.run(["valgrind", "--xml=yes", f"--xml-file={output}",
                        "--run-libc-freeres=no", "--run-cxx-freeres=no",
                        *program], capture_output=True, timeout=300,
                       check=True)
        done = subprocess.run(["valgrind", "--run-libc-freeres=no",
                               "--run-cxx-freeres=no", *program], text=True,
                              capture_output=True, timeout=300, check=True)
        theirs = [as_valgrind(error, name) for error in
                  xml.etree.ElementTree.parse(output).findall("error")
                  if error.findtext("kind") in ("InvalidWrite", "InvalidFree",
                                                "SyscallParam")]
        equal(sorted(with_sizes(error, name) for error in found),
              sorted(theirs), "errors")
        counts = re.search(r"([\d,]+) allocs, ([\d,]+) frees", done.stderr)
        equal([summary["allocations"], summary["frees"]],
              [int(number.replace(",", "")) for number in counts.groups()],
              "calls")
        return f"{len(theirs)} errors, {counts.group()}"

    # ------- blocks -------

    def lists(self, output):
        """What the program printed: sizes by address, list after list."""
        found = [{}]
        for line in output.splitlines():
            if line == "=":
                found.append({})
            else:
                addr, size = line.split()
                found[-1][addr] = int(size)
        return found[:-1]

    def blocks(self, program, *more, env=None):
        path, output = self.record(program, more=more, env=env)
        lists = self.lists(output)
        expect(len(lists) == 4 and all(lists), output)
        lines = [number for number, line in enumerate(output.splitlines(), 1)
                 if line == "="]
        for line, blocks in zip(lines, lists):
            found, summary = self.heap(path, f"--at=output:{line}",
                                       "--no-errors")
            mine = {block["addr"]: block["size"] for block in found
                    if line_in(block["allocated"]["frames"], "blocks.c")}
            equal(mine, blocks, f"blocks at output {line}")
            equal(summary["blocks"], len(found), "their number")
            equal(summary["total"], sum(block["size"] for block in found),
                  "their size")
        equal(self.heap(path, "--errors")[0], [], "errors")
        return f"{sum(map(len, lists))} blocks"

    def sites(self, program):
        """Together, blocks of the same code are what they are one by one."""
        path, _ = self.record(program)
        for stack in ("1", "3"):
            blocks, _ = self.heap(path, "--no-errors", f"--stack={stack}")
            sites, _ = self.heap(path, "--by-site", "--no-errors",
                                 f"--stack={stack}")
            expected = Counter()
            for block in blocks:
                site = block["allocated"]
                expect(len(site["frames"]) <= int(stack), site)
                expected[site["function"], *[frame["pc"] for frame in
                                             site["frames"]]] += block["size"]
            equal({(site["function"], *[frame["pc"] for frame in
                                        site["frames"]]): site["total"]
                   for site in sites}, dict(expected), "sites")
            totals = [site["total"] for site in sites]
            equal(totals, sorted(totals, reverse=True), "their order")

    def inlined(self, program):
        """What is inlined where an allocator begins is not its caller."""
        path, _ = self.record(program)
        for stack, names in (("1", ["middle"]), ("2", ["middle", "main"])):
            blocks, _ = self.heap(path, "--no-errors", f"--stack={stack}")
            site, = (block["allocated"] for block in blocks
                     if block["allocated"]["function"] == "je_malloc")
            equal([(frame["frame"], frame["function"]) for frame in
                   site["frames"]], [*enumerate(names, 1)], "callers")
        frames = json.loads(self.cprec("backtrace", "--json", path,
                                       f"--at={site['at']}").stdout)["frames"]
        expect(frames[0]["kind"] == "inlined", frames)
        equal([frame["pc"] for frame in frames[2:4]],
              [frame["pc"] for frame in site["frames"]], "as a backtrace")

    # ------- other processes -------

    def script(self):
        """A child has blocks of before; a program that is executed has none."""
        path, _ = self.record("sh", "-c", "x=$(echo a | tr a b); exec sort",
                              more=("--aslr",))
        for one in [path, *glob.glob(path + ".d/*.cpr")]:
            equal(self.heap(one, "--errors")[0], [], f"errors of {one}")

    def forked(self, program):
        path, _ = self.record(program)
        child, = glob.glob(path + ".d/*.cpr")
        found, summary = self.heap(child)
        equal([block["size"] for block in found], [333], "the child's blocks")
        equal([summary["errors"], summary["allocations"]], [0, 1], "summary")
        found, _ = self.heap(path)
        equal([block["size"] for block in found], [222], "the parent's blocks")

    # ------- programs -------

    def right(self, words):
        if not shutil.which(words[0]):
            return "not here"
        words = [*words]
        if words[0] in ("sort", "gcc", "objdump"):
            words.append({"sort": __file__, "objdump": self.program}.get(
                words[0], os.path.join(SOURCES, "errors.c")))
        path, _ = self.record(*words)
        allocations = 0
        for one in [path, *glob.glob(path + ".d/*.cpr")]:
            found, summary = self.heap(one, "--errors")
            equal(found, [], "errors")
            allocations += summary["allocations"]
        return f"{allocations} allocations"

    # ------- a block by an address in it -------

    def places(self):
        path, output = self.record(self.program)
        block, size = max(self.lists(output)[0].items(),
                          key=lambda item: item[1])
        count = output.splitlines().index("=") + 1
        at = f"--at=output:{count}"
        inside = f"heap:{int(block, 16) + size - 1:#x}"
        done = self.cprec("query", "--json", path, at, "--addr", inside)
        answer = json.loads(done.stdout)
        equal([answer["addr"], answer["size"]], [block, size], "the block")
        last = json.loads(self.cprec("last", "--json", path, at, "--addr",
                                     inside).stdout)
        expect(int(block, 16) <= int(last["addr"], 16) <
               int(block, 16) + size, last)
        for wrong in (f"heap:{int(block, 16) + size:#x}", "heap:&blocks",
                      "heap:0"):
            done = self.cprec("query", path, at, "--addr", wrong)
            expect(done.returncode == 1 and "no block" in done.stderr,
                   done.stderr)
        # A pointer means where it points to, a part of a variable where it is.
        done = self.cprec("query", "--json", path, at, "--addr=blocks",
                          "--size=4800")
        held = bytes.fromhex(json.loads(done.stdout)["bytes"])
        number = held.index(int(block, 16).to_bytes(8, "little")) // 16
        done = self.cprec("query", "--json", path, at,
                          f"--addr=heap:blocks[{number}].addr")
        equal(json.loads(done.stdout)["addr"], block, "by a pointer")
        done = self.cprec("query", path, at,
                          f"--addr=heap:blocks[{number}].size")
        expect("no block" in done.stderr, done.stderr)


FORKS = """#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
char *mine = malloc(111), *kept = malloc(222);
if (realloc(kept, (size_t)1 << 62)) return 1;
if (!fork()) { free(mine); free(kept); malloc(333); _exit(0); }
free(mine); wait(0); return 0; }
"""


def run_all(options, folder):
    tests = Heap(options, folder)
    tests.program = tests.build("blocks.c")
    in_c, in_cxx = tests.build("errors.c"), tests.build("errors.cpp")
    tests.test("errors", tests.errors, "errors.c", in_c)
    for how in "int":
        tests.test(f"wrong frees: {how}", tests.errors, "errors.c", in_c, how)
    tests.test("errors of one copy", tests.copied)
    tests.test("errors in C++", tests.errors, "errors.cpp", in_cxx)
    tests.test("errors in a static program", tests.errors, "errors.c",
               tests.build("errors.c", "-static"))
    tests.test("blocks", tests.blocks, tests.program, "--slice=1000")
    tests.test("blocks, threads in random order", tests.blocks, tests.program,
               "--schedule=random")
    tests.test("blocks of a static program", tests.blocks,
               tests.build("blocks.c", "-static"), "--slice=500")
    tests.test("blocks together", tests.sites, tests.program)
    tests.test("an allocator with inlined functions", tests.inlined,
               tests.build("inlined.c", "-O2"))
    if shutil.which("valgrind"):
        tests.test("valgrind: errors.c", tests.valgrind, "errors.c", in_c)
        tests.test("valgrind: errors.cpp", tests.valgrind, "errors.cpp",
                   in_cxx)
        tests.test("valgrind: blocks.c", tests.valgrind, "blocks.c",
                   tests.program, "alone")
    if JEMALLOC:
        env = {"LD_PRELOAD": JEMALLOC[0]}
        tests.test("jemalloc: errors", tests.errors, "errors.c", in_c, env=env)
        tests.test("jemalloc: errors in C++", tests.errors, "errors.cpp",
                   in_cxx, env=env)
        tests.test("jemalloc: blocks", tests.blocks, tests.program,
                   "--slice=1000", env=env)
    if shutil.which("musl-gcc"):
        # Nothing tells who has called a function of it that calls the kernel.
        tests.test("musl: errors", tests.errors, "errors.c", tests.build(
            "errors.c", "-static", compiler="musl-gcc"), has_lines=False)
        tests.test("musl: blocks", tests.blocks, tests.build(
            "blocks.c", "-static", compiler="musl-gcc"),
            "--slice=1000")
    tests.test("children and programs that are executed", tests.script)
    with open(os.path.join(folder, "forks.c"), "w", encoding="utf-8") as file:
        file.write(FORKS)
    subprocess.run([*options.cc.split(), "-w", "-o",
                    os.path.join(folder, "forks"),
                    os.path.join(folder, "forks.c")], check=True)
    tests.test("a child frees its parent's blocks", tests.forked,
               os.path.join(folder, "forks"))
    for words in RIGHT:
        tests.test(f"no error: {words[0]}", tests.right, words)
    tests.test("a block by an address in it", tests.places)
    return tests.summary()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--cc", default="cc")
    arguments.add_argument("--cxx", default="c++")
    sys.exit(main(run_all, parser=arguments))
