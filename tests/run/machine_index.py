#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of a machine: the same answers with the index of the recording, with
FILE.idx and by a replay that knows neither.

usage: machine_index.py --cprec C --states S --source FILE --devices FILE
    --cores FILE

S is machine_states.c, which replays all in order and says what is there; the
FILEs are kernels, as of machine.py.  Where a kernel writes what everybody can
compute, that is asked, too.  Speaks TAP.
"""
import json
import os
import random
import shutil
import sys

sys.dont_write_bytecode = True
from machine import ALIAS, COMPILER, CORES, PAGE  # noqa: E402
from machine import RAM, SEGMENT, compile_kernel  # noqa: E402
from machine import Tests as Machines  # noqa: E402
from tap import equal, expect, main  # noqa: E402

TIMES = 40
PAGES = 12
PLACES = 24		# half of them are written
SEARCHES = 40
EVERY = 10000		# a state to start from, in instructions: the least
WORD = 8


class Tests(Machines):
    def record_cores(self):
        compile_kernel(self.options.cores, self.kernel)
        done = self.cprec("record", "--machine=virt", "--memory=32m",
                          f"--smp={CORES}", "--kernel=" + self.kernel,
                          f"--segment={SEGMENT}", "-o", self.trace, text="")
        equal((done.returncode, done.stderr), (0, ""), "record")

    def record_disks(self):
        self.make_disks()
        self.record_devices(self.disk.replace(",", ",,"),
                            self.readonly + ",readonly")

    # ------- what is asked -------

    def pages(self, chance):
        """Some that are written, by physical address."""
        lines = self.answer("dump", "-v", "--json", self.trace).splitlines()
        found = [json.loads(line) for line in lines]
        return chance.sample(*sample({one["addr"] for one in found
                                      if one["kind"] == "PAGE"}, PAGES))

    def words(self, times, addrs):
        """What a replay of all in order finds: by time and address."""
        lines = self.states("words", str(len(times)), *map(str, times),
                            *addrs).splitlines()
        return {(at, addr): lines[i * len(addrs) + k].split(" ")[-1]
                for i, at in enumerate(times) for k, addr in enumerate(addrs)}

    def choose(self):
        chance = random.Random(7)
        end = self.info()["instructions"]
        self.times = sorted(chance.sample(range(end), TIMES))
        self.addrs = [hex(int(page, 0) + offset) for page in
                      self.pages(chance) for offset in range(0, PAGE, WORD)]
        self.truth = self.words(self.times, self.addrs)
        changed = [addr for addr in self.addrs if
                   len({self.truth[at, addr] for at in self.times}) > 1]
        expect(len(changed) > 2, f"{len(changed)} words change")
        self.places = sorted(
            chance.sample(*sample(changed, PLACES // 2)) +
            chance.sample(self.addrs, PLACES // 2) + [hex(RAM + 0x200000)])
        self.truth.update(self.words(self.times, self.places[:1]))
        # By addresses of the present core: one of them is never mapped.
        self.virtual = [*self.places[::4], hex(ALIAS + 0x200000),
                        hex(0xc0000000)]
        self.means = self.words(self.times,
                                ["v" + addr for addr in self.virtual])
        self.searches = [
            (name, chance.choice(changed if name == "last" else self.places),
             chance.choice(self.times), *how)
            for name in ("last", "writes", "accesses", "reads")
            for how in ((), ("--physical",)) for _ in range(SEARCHES // 8)]

    # ------- the answers -------

    def memory(self):
        found = self.answer(
            "query", "--json", "--physical", f"--size={WORD}",
            *(f"--addr={addr}" for addr in self.places),
            *(f"--at={at}" for at in self.times), self.trace)
        found = [json.loads(line) for line in found.splitlines()]
        for one in found:
            equal(one["bytes"], self.truth[one["at"], one["addr"]],
                  f"{one['addr']} at {one['at']}")
        equal(len(found), len(self.places) * len(self.times), "answers")
        return [one["source"] for one in found].count("replay")

    def by_tables(self):
        """By virtual addresses, as the page tables of the time have them."""
        done = self.cprec(
            "query", "--json", f"--size={WORD}",
            *(f"--addr={addr}" for addr in self.virtual),
            *(f"--at={at}" for at in self.times), self.trace)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        for one in found:
            equal(one["bytes"].replace(2 * WORD * "?", "-"),
                  self.means[one["at"], "v" + one["addr"]],
                  f"{one['addr']} at {one['at']}")
        equal(len(found), len(self.virtual) * len(self.times), "answers")
        return [one.get("source") for one in found].count("replay")

    def search(self, name, addr, at, *how):
        bounds = (f"--at={at}",) if name == "last" else (f"--to={at}",)
        done = self.cprec(name, "--json", f"--addr={addr}", *how, *bounds,
                          self.trace)
        equal(done.returncode, 0 if done.stdout else 1, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def histories(self):
        return [self.search(*one) for one in self.searches]

    def are_true(self, histories):
        """What was there before and behind a write is what a replay finds, and
        what is there later is what the last one left."""
        checked = 0
        for (name, addr, at, *_), found in zip(self.searches, histories):
            if name != "last" or not found:
                continue
            one = found[0]
            first = 2 * (int(one["addr"], 0) - int(addr, 0))
            part = slice(first, first + 2 * one["size"])
            times = sorted({one["at"], one["at"] + 1})
            words = self.words(times, [addr])
            equal((one["old"], one["new"], one["new"]),
                  (words[one["at"], addr][part],
                   words[one["at"] + 1, addr][part],
                   self.truth[at, addr][part]),
                  f"{addr} before {at}: {one}")
            checked += 1
        return checked

    def whole(self):
        self.choose()
        replays, walks = self.memory(), self.by_tables()
        self.forget()
        before = []
        for one in self.searches:
            before.append(self.search(*one))
            self.forget()
        checked = self.are_true(before)
        expect(checked > 3, f"{checked} writes are known")
        found = json.loads(self.answer("index", "--json", "-j1", self.trace))
        equal(found["indexed"], found["segment_count"], "indexed")
        with_index = self.memory()
        expect(with_index < replays, f"{with_index} replays, {replays} before")
        by_tables = self.by_tables()
        expect(by_tables < walks, f"{by_tables} replays, {walks} before")
        for one, wanted, got in zip(self.searches, before, self.histories()):
            equal(got, wanted, " ".join(map(str, one)))
        return (f"{found['segment_count']} segments, {with_index} of "
                f"{len(self.places) * len(self.times)} by a replay, {replays} "
                f"without FILE.idx; by virtual addresses {by_tables} and "
                f"{walks}; {checked} writes checked")

    def states_at(self):
        """Registers of all cores, in an order in which nobody stood there."""
        at = self.times[::2]
        return [self.answer("registers", "--all", "--json", f"--at={one}",
                            self.trace) for one in reversed(at)]

    def start_points(self):
        """Kept states are those of a replay from the key frame; damaged, they
        are none."""
        self.forget()
        before = self.states_at()
        found = json.loads(self.answer("index", "--json", "-j1",
                                       f"--every={EVERY}", self.trace))
        expect(found["start_points"] > found["segment_count"] - 3, found)
        equal(found["indexed"], found["segment_count"], "indexed")
        equal(self.states_at(), before, "registers, from kept states")
        self.memory()
        self.by_tables()
        self.are_true(self.histories())
        self.answer("verify", self.trace)
        with open(self.trace + ".idx", "rb") as file:
            whole = file.read()
        for seed in range(6):
            bytes_ = bytearray(whole)
            chance = random.Random(seed)
            for _ in range(20):
                bytes_[chance.randrange(len(bytes_))] ^= 1 << seed
            with open(self.trace + ".idx", "wb") as file:
                file.write(bytes_)
            equal(self.states_at()[:6], before[:6], "from damaged ones")
        self.forget()
        self.answer("index", f"--around={self.times[5]}", self.trace)
        equal(self.states_at(), before, "registers, from one kept state")
        return f"{found['start_points']} states"

    def forget(self):
        if os.path.exists(self.trace + ".idx"):
            os.unlink(self.trace + ".idx")


def sample(some, most):
    """What random.sample() takes: not more than there are."""
    return sorted(some), min(most, len(some))


def run_all(options, folder):
    tests = Tests(options, folder)
    if not shutil.which(COMPILER):
        print("# without", COMPILER, "there is no kernel")
        print("1..0 # SKIP")
        return 0
    tests.compile_all()
    tests.test("record", tests.record)
    tests.test("a processor and a timer", tests.whole)
    tests.test("states of it", tests.start_points)
    tests.test("record, with devices", tests.record_disks)
    tests.test("devices that use memory", tests.whole)
    tests.test("states of them", tests.start_points)
    tests.test("record several cores", tests.record_cores)
    tests.test("several cores", tests.whole)
    tests.test("states of those", tests.start_points)
    return tests.summary()


if __name__ == "__main__":
    sys.exit(main(run_all, "states", "source", "devices", "cores"))
