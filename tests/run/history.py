#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who accessed memory: `last`, `writes`, `reads`, `accesses`.

usage: history.py --cprec C --program P

P is programs/history.c.  gdb's watchpoints say which values a variable has had,
natively; valgrind's lackey, which accesses there were.  What the kernel, other
threads and other processes write is known from the program.  (Each write of
programs without a library is compared with the real processor by
oracle/writes.py.)  Speaks TAP.
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

PLACE, TWIN = 0x10000000, 0x10100000
WATCH = r"""
set $n = 0
set can-use-hw-watchpoints %d
break main
run > /dev/null
watch %s
commands
silent
printf "value %%d\n", %s
continue
end
continue
"""


def word(access):
    """What an access leaves, as a number."""
    return int.from_bytes(bytes.fromhex(access["new"]), "little")


# Variables of programs/typed.c, and what they may have been.
TYPED = (("number", "-1", "0", "row[0]", "0x7fffffff"), ("bits", "-1", "2"),
         ("letter", "'a'", "98", "'z'"), ("small", "-2"), ("wide", "-3", "3"),
         ("real", "2.5", "-0.5", "2", "1e-1"), ("single", "0.5", "-0.25"),
         ("large", "1", "-2"), ("color", "RED", "BLUE", "GREEN", "-3"),
         ("flag", "1", "0"), ("pointer", "&number", "row + 1", "0"),
         ("row[1]", "1", "-3"), ("state.field", "-1", "3"))


class History(CprecTap):
    def record(self, name, *options):
        self.trace = os.path.join(self.folder, name)
        result = self.cprec("record", "-q", "-o", self.trace, *options, "--",
                            self.options.program)
        equal(result.returncode, 0, result.stderr)

    def ask(self, command, *arguments, status=0):
        result = self.cprec(command, self.trace, "--json", *arguments)
        equal(result.returncode, status, result.stderr)
        # The first question has left an index for the second.
        again = self.cprec(command, self.trace, "--json", *arguments)
        equal(again.stdout, result.stdout, "asked once more")
        return [json.loads(line) for line in result.stdout.splitlines()]

    def symbol(self, name):
        out = subprocess.run(["nm", self.options.program], check=True,
                             capture_output=True, text=True).stdout
        return int(re.search(rf"^([0-9a-f]+) . {name}$", out, re.M)[1], 16)

    # ------- oracles

    def watchpoints(self):
        """gdb steps where it has no debug registers, as on some virtual
        hosts."""
        commands = os.path.join(self.folder, "gdb")
        for hardware in (1, 0):
            with open(commands, "w") as file:
                file.write(WATCH % (hardware, "counter", "counter"))
            result = subprocess.run(
                ["gdb", "-q", "-batch", "-nx", "-x", commands,
                 self.options.program], capture_output=True, text=True,
                timeout=100)
            native = [int(value) for value in
                      re.findall(r"^value (-?\d+)$", result.stdout, re.M)]
            if native:
                break
        expect(len(native) >= 8, result.stdout + result.stderr)
        found = self.ask("writes", "--addr=counter", "--changes")
        equal([word(access) for access in found], native, "values")
        return f"{len(native)} values"

    def lackey(self):
        """What was loaded and stored, of which sizes, in this order."""
        result = subprocess.run(
            ["valgrind", "--tool=lackey", "--trace-mem=yes",
             self.options.program], capture_output=True, text=True,
            timeout=200)
        addr = self.symbol("counter")
        native = []
        for kind, at, size in re.findall(
                r"^ ([LSM]) ([0-9a-f]+),(\d+)$", result.stderr, re.M):
            if addr <= int(at, 16) < addr + 4:
                native += [(way, int(size)) for way in
                           {"L": ["read"], "S": ["write"],
                            "M": ["read", "write"]}[kind]]
        # It does not survive that memory is mapped twice.
        expect(len(native) > 20, result.stderr[-1000:])
        found = self.ask("accesses", "--addr=counter")
        equal([(a["access"], a["size"]) for a in found][:len(native)], native,
              "accesses")
        return f"{len(native)} accesses"

    # ------- who else writes

    def by_kernel(self):
        found = self.ask("writes", "--addr=buffer", "--size=10")
        equal([(a.get("by"), a["size"]) for a in found],
              [(None, 1), ("read()", 10)], "writes")
        equal(bytes.fromhex(found[1]["new"]),
              self.options.program.encode()[:10], "bytes")
        at = f"{found[1]['at']}"
        for behind, first in (0, "61"), (1, found[1]["new"][:2]):
            told = self.ask("query", "--addr=buffer", "--size=1",
                            f"--at={found[1]['at'] + behind}")
            equal(told[0]["bytes"], first, f"{behind} behind {at}")

    def large(self):
        """A call that writes many pages: what is before and behind is not."""
        for offset, by in (0, None), (99, None), (100, "read()"), \
                (150_000, "read()"), (299_899, "read()"), (299_900, None):
            found = self.ask("last", f"--addr=large+{offset}", "--size=1")
            equal([a.get("by") for a in found], [by], f"large+{offset}")
            # What nobody has looked at is not known.
            expect(found[0]["new"] in (("00", "??") if by else ("78",)),
                   f"large+{offset}: {found[0]['new']}")

    def mappings(self):
        found = self.ask("writes", f"--addr={PLACE + 8:#x}", "--size=1",
                         "--from=output:2", "--to=output:3")
        equal([(a["access"], a["new"]) for a in found],
              [("map", "00"), ("write", "01"), ("unmap", "??"),
               ("map", "00"), ("write", "02"), ("unmap", "??"),
               ("map", "00"), ("write", "07"), ("clear", "00"),
               ("write", "08"), ("unmap", "??")], "accesses")
        equal([a.get("by") for a in found if a["access"] != "write"],
              ["mmap()", "munmap()"] * 2 + ["mmap()", "madvise()",
                                            "mremap()"], "calls")
        found = self.ask("writes", f"--addr={TWIN + 8:#x}", "--size=1",
                         "--from=output:2", "--to=output:3")
        equal([(a["access"], a["new"]) for a in found],
              [("map", "08"), ("write", "09"), ("unmap", "??")],
              "where it was moved")

    def twins(self):
        """Whatever address it is asked for, and was written through."""
        for place in PLACE, TWIN:
            found = self.ask("writes", f"--addr={place + 16:#x}", "--size=1",
                             "--from=output:3", "--to=output:4")
            equal([word(a) for a in found if a["access"] == "write"],
                  [1, 2, 3], f"{place:#x}")

    def processes(self):
        """The child's copy is its own; what is shared, another has written."""
        equal(self.ask("last", "--addr=outside[1]", status=1), [],
              "what the parent wrote")
        found = self.ask("last", f"--addr={PLACE + 24:#x}", "--size=1",
                         "--at=end")
        equal([(a["access"], word(a)) for a in found], [("write", 6)], "last")
        found = self.ask("writes", f"--addr={PLACE + 24:#x}", "--size=1",
                         "--from=output:4")
        equal([(word(a), a.get("by")) for a in found],
              [(5, "another process"), (6, None)], "writes")

    def threads(self):
        for number in range(2):
            found = self.ask("writes", f"--addr=by_threads[{number}]")
            equal([word(a) for a in found], [1, 2, 3], "values")
            equal(len({a["thread"] for a in found}), 1, "threads")
            equal({a["function"] for a in found}, {"count"}, "functions")
        all_of = self.ask("writes", "--addr=by_threads", "--size=8")
        equal(len({a["thread"] for a in all_of}), 2, "threads")
        equal([a["at"] for a in all_of], sorted(a["at"] for a in all_of),
              "order")
        for command in "writes", "reads", "accesses":
            whole = self.ask(command, "--addr=by_threads", "--size=8")
            for tid in {a["thread"] for a in whole}:
                own = [a for a in whole if a["thread"] == tid]
                for options, part in (([], own), (["--last"], own[-1:]),
                                      (["--limit=2"], own[:2])):
                    equal(self.ask(command, "--addr=by_threads", "--size=8",
                                   f"--thread={tid}", *options), part,
                          f"{command} --thread {options}")
        none = self.cprec("writes", self.trace, "--addr=by_threads",
                          "--thread=5")
        equal(none.returncode, 1, "status")
        expect("has no thread 5" in none.stderr, none.stderr)

    # ------- choosing

    def choices(self):
        every = self.ask("writes", "--addr=counter")
        equal(self.ask("writes", "--addr=counter", "--first"), every[:1],
              "--first")
        equal(self.ask("writes", "--addr=counter", "--last"), every[-1:],
              "--last")
        equal(self.ask("last", "--writes", "--addr=counter"), every[-1:],
              "last")
        equal(self.ask("writes", "--addr=counter", "--limit=3"), every[:3],
              "--limit")
        at = every[5]["at"]
        equal(self.ask("writes", "--addr=counter", f"--from={at}"), every[5:],
              "--from")
        equal(self.ask("writes", "--addr=counter", f"--to={at}"), every[:5],
              "--to")
        equal(self.ask("last", "--writes", "--addr=counter", f"--at={at}"),
              every[4:5], "--at")
        # Without --writes, as last in debug: the same value again is none.
        changes = self.ask("writes", "--addr=counter", "--changes")
        equal(self.ask("last", "--addr=counter"), changes[-1:], "a change")
        expect(changes[-1]["at"] < every[-1]["at"], "the same value again")
        value = word(every[7])
        equal(self.ask("writes", "--addr=counter", f"--value={value}"),
              [a for a in every if word(a) == value], "--value")
        none = self.cprec("last", self.trace, "--addr=counter", "--at=start")
        equal(none.returncode, 1, "status")
        expect("was not changed" in none.stderr, none.stderr)

    def told(self, name, values, hardware):
        """Of each change that gdb sees: which of the values it is then."""
        words = ["-ex", f"set can-use-hw-watchpoints {hardware}",
                 "-ex", "break main", "-ex", "run", "-ex", f"watch {name}"]
        for _ in range(8):
            words += ["-ex", "continue", "-ex", " ".join(
                ["printf \"told", *["%d"] * len(values), "\\n\","]) +
                ",".join(f"(int)({name} == ({value}))" for value in values)]
        native = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", *words, self.options.typed],
            capture_output=True, text=True, timeout=100).stdout
        changes = re.findall(r"New value = .*|^told ([01 ]+)$", native, re.M)
        return [[int(one) for one in line.split()]
                for before, line in zip([None, *changes], changes)
                if line and before == ""]

    def typed(self):
        """Values as the program has them: those that gdb's watchpoint sees
        come, and no other."""
        path = os.path.join(self.folder, "typed")
        done = self.cprec("record", "-q", "-o", path, "--", self.options.typed)
        equal(done.returncode, 0, done.stderr)
        count = 0
        for name, *values in TYPED:
            told = self.told(name, values, 1) or self.told(name, values, 0)
            expect(told, f"gdb does not watch {name}")
            for index, value in enumerate(values):
                done = self.cprec("writes", path, f"--addr={name}",
                                  "--changes", f"--value={value}")
                expect(done.returncode < 2, done.stderr)
                equal(done.stdout.count("\n"),
                      sum(line[index] for line in told), f"{name} = {value}")
                count += done.stdout.count("\n")
        for name, value in (("number", "2.5"), ("number", "nix"),
                            ("number", "("), ("0x1000", "2.5")):
            done = self.cprec("writes", path, f"--addr={name}",
                              f"--value={value}")
            equal((done.returncode, done.stdout, done.stderr.count("\n")),
                  (1, "", 1), f"{name} = {value}: {done.stderr}")
        return f"{count} writes"

    def run(self):
        for name, options in {"by default": (),
                              "short segments": ("--segment=10k",)}.items():
            self.test(f"{name}: record", self.record, name.replace(" ", "-"),
                      *options)
            for test in (self.watchpoints, self.lackey, self.by_kernel,
                         self.large, self.mappings, self.twins,
                         self.processes, self.threads, self.choices):
                self.test(f"{name}: {test.__name__}", test)
        self.test("values as the program has them", self.typed)
        return self.summary()


if __name__ == "__main__":
    sys.exit(main(lambda options, folder: History(options, folder).run(),
                  "program", "typed"))
