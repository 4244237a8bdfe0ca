#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One vocabulary: what keys of JSON mean, and are, is the same everywhere.

usage: vocabulary.py --cprec C --page PAGE [--list]

PAGE is the manual page, which lists all keys with their types (section JSON).
All commands are asked about recordings of all kinds; each key that they use
must be there, with the type that it has, and each that is there must be used by
a command.  --list prints what was found.  Speaks TAP.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main, recordings  # noqa: E402

CRASH = """#include <stdio.h>
#include <string.h>
struct node { struct node *volatile next; int number; } first = { 0, 3 };
static volatile struct { unsigned low : 3, high : 5; } bits;
static int count(struct node *node) {
bits.high = 3;
int sum = 0;
for (;; node = node->next) sum += node->number;
return sum; }
int main(void) { fputs("oh no\\n", stderr); return count(&first); }
"""

ABORT = """#include <assert.h>
int main(int argc, char **argv) { assert(argc > 5); return 0; }
"""

RACE = """#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
int shared;
static void *add(void *unused) {
for (int i = 0; i < 3000; i++) shared++;
return unused; }
int main(void) { pthread_t a, b;
char *both = mmap(0, 8192, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0);
pthread_join(a, 0); pthread_join(b, 0);
both[0] = shared;
both = mremap(both, 8192, 4096, 0);
mprotect(both, 4096, PROT_READ);
usleep(20000);
return 0; }
"""

SHARES = """#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
char *own = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
volatile int *both = mmap(0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
if (!fork()) { both[0] = 1; _exit(3); }
wait(0); both[1] = 2;
mremap((void *)both, 0, 4096, MREMAP_MAYMOVE);
own[0] = 1; mremap(own, 4096, 1 << 20, MREMAP_MAYMOVE);
madvise((void *)both, 4096, MADV_DONTNEED);
read(0, (void *)both, 4096);
return 0; }
"""

HEAP = """#include <stdlib.h>
int main(void) { char *freed = malloc(100), *left = malloc(7);
free(freed); *(volatile char *)(freed + 50) = *left = 1;
return 0; }
"""

SCRIPT = "ls / >/dev/null; sh -c 'kill -9 $$'; exit 2"


# These need memory that others have changed at the right moment, a container, a
# stack without unwind tables, and a function that ends with a jump.
SELDOM = {"as_of", "brief", "jumped", "linkage_name", "sure"}


def kind_of(key, value):
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, list):
        return "list"
    if isinstance(value, dict):
        return "object"
    if re.fullmatch("0x[0-9a-f]+", value):
        return "text" if key in ("value", "entry") else "address"
    return "text"


class Tests(CprecTap):
    keys = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, name, *words):
        done = subprocess.run([self.options.cprec, "record", "-q", "-o",
                               self.path(name + ".cpr"), *words],
                              cwd=self.folder, capture_output=True, timeout=60)
        expect(os.path.exists(self.path(name + ".cpr")), done.stderr)

    def make(self, name, source, *options):
        with open(self.path(name + ".c"), "w") as file:
            file.write(source)
        subprocess.run(["cc", "-g", "-O1", "-w", "-o", self.path(name),
                        self.path(name + ".c"), *options], check=True)
        self.record(name, *options_of(name), self.path(name))

    def recordings(self):
        self.make("crash", CRASH)
        self.make("abort", ABORT)
        self.make("race", RACE, "-pthread")
        self.make("shares", SHARES)
        self.make("heap", HEAP)
        self.record("family", "--with-debug", "sh", "-c", SCRIPT)
        with open(self.path("race.cpr"), "rb") as whole:
            bytes_ = whole.read()
        with open(self.path("cut.cpr"), "wb") as part:
            part.write(bytes_[:len(bytes_) * 9 // 10])
        with open(self.path("bad.cpr"), "wb") as bad:
            bad.write(b"nothing")
        self.cprec("pack", self.path("family.cpr"), "-o",
                   self.path("packed.cpr"))

    def note(self, key, value, where):
        if value is None:
            return
        self.keys.setdefault(key, {}).setdefault(
            kind_of(key, value), set()).add(where)

    def look(self, thing, where, of=""):
        """Registers have names of their own."""
        if isinstance(thing, list):
            for each in thing:
                self.look(each, where, of)
        elif isinstance(thing, dict) and of != "registers":
            for key, value in thing.items():
                self.note(key, value, where)
                self.look(value, where, key)

    def ask(self, *words, text=None):
        done = self.cprec(*words, "--json", text=text)
        for line in done.stdout.splitlines():
            self.look(json.loads(line), words[0])

    def ask_all(self):
        for name in ("crash", "abort", "race", "shares", "family", "cut",
                     "packed"):
            trace = self.path(name + ".cpr")
            self.ask("info", "-v", trace)
            self.ask("ps", "-v", trace)
            self.ask("index", trace)
            self.ask("dump", "-v", trace)
            self.ask("dump", "--kind=FAULT", trace)
            self.ask("dump", "--kind=OUTPUT", trace)
            self.ask("last", trace, "--register=rax")
            self.ask("writes", trace, "--addr=environ", "--size=8")
            self.ask("races", trace)
            self.ask("backtrace", "--thread=all", "--full", trace)
            self.ask("backtrace", "--at=50%", trace)
            self.ask("strace", trace)
            self.ask("strace", "-c", trace)
            self.ask("strace", "-k", "--from=50%", trace)
            self.ask("registers", trace, "--at=50%", "--at=end.0")
            self.ask("registers", trace, "--at=50%", "--frame=0")
            self.ask("maps", trace, "--at=50%")
            self.ask("disassemble", trace, "--at=50%")
            self.ask("query", trace, "--addr=environ", "--addr=0",
                     "--at=end", "--at=output:99", "--at=999g")
            self.ask("query", trace, "-", text="environ end\nx\n")
            # Long, and much the same of all.
            for command in self.more_commands() \
                    if name in ("crash", "packed") else ():
                self.ask(*command, trace)
        self.ask("last", self.path("crash.cpr"), "--addr=bits.high")
        self.ask("query", self.path("race.cpr"), "--addr=shared", "--at=end",
                 "--races")
        self.ask("query", self.path("crash.cpr"), "--addr=first", "--at=end")
        self.ask("source", self.path("crash.cpr"))
        self.ask("calls", self.path("crash.cpr"), "count", "main")
        self.ask("calls", self.path("race.cpr"), "add")
        self.ask("calls", "--count", self.path("crash.cpr"), "count", "main")
        self.ask("log", self.path("crash.cpr"), "main => first, *(int *)0")
        self.ask("when", self.path("race.cpr"), "--expr=shared >= 3000")
        self.ask("heap", self.path("heap.cpr"))
        self.ask("heap", self.path("heap.cpr"), "--by-site")
        for trace in recordings(self.path("family.cpr")):
            self.ask("info", trace)
        self.ask("ls", self.folder)
        self.ask("info", self.path("bad.cpr"))

    def more_commands(self):
        """Those that only some versions have."""
        done = self.cprec("help")
        return [words for words in (["symbols"],)
                if f"\n  {words[0]} " in done.stdout]

    def one_type(self):
        several = {key: kinds for key, kinds in self.keys.items()
                   if len(kinds) > 1}
        equal(several, {}, "keys of several types")

    def manual(self):
        """`.BR key " (type)"` of the section JSON."""
        with open(self.options.page) as page:
            text = page.read().split(".SH JSON")[1].split("\n.SH ")[0]
        listed = dict(re.findall(r'^\.BR (\S+) " \((\w+)\)"$', text, re.M))
        found = {key: next(iter(kinds)) for key, kinds in self.keys.items()}
        equal({key: kind for key, kind in found.items()
               if listed.get(key) != kind}, {}, "not in the manual")
        equal(sorted(set(listed) - set(found) - SELDOM), [],
              "not in any answer")


def options_of(name):
    return ["--slice=100"] if name == "race" else []


def run_all(options, folder):
    tests = Tests(options, folder)
    tests.test("recordings", tests.recordings)
    tests.test("all commands answer in JSON", tests.ask_all)
    if options.list:
        for key, kinds in sorted(tests.keys.items()):
            for kind, where in kinds.items():
                print(f"# {key} ({kind}): {', '.join(sorted(where))}")
    tests.test("a key has one type", tests.one_type)
    tests.test("the manual has the keys", tests.manual)
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    sys.exit(main(run_all, "page", parser=parser))
