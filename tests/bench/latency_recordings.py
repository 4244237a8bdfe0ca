# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that execute as many instructions as they are told, recorded."""
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "run"))
from inputs import Inputs, c_function  # noqa: E402
from latency_processes import run  # noqa: E402
from programs import cc1  # noqa: E402

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONHASHSEED": "0",
               "PYTHONDONTWRITEBYTECODE": "1"}
SAMPLED = 24		# segments whose pages are listed
WORD, PAGE = 8, 4096

PYTHON = r"""
import json, re, sys
class Item:
    def __init__(self, n): self.n, self.name = n, "item%d" % n
    def cost(self, x): return self.n * x & 0xffff
def turn(seed):
    items = [Item((i * 40503 + seed) % 10007) for i in range(2000)]
    items.sort(key=lambda i: (i.n, i.name))
    by = {}
    for item in items: by.setdefault(item.n % 97, []).append(item)
    total = sum(i.cost(k) for k, l in by.items() for i in l)
    text = json.dumps({str(k): [i.name for i in l] for k, l in by.items()})
    total += len(re.findall(r"item\d*7\b", text)) + len(json.loads(text))
    return total + len({"w%d" % (i * 7919 % 500) for i in range(500)})
kept = []
for i in range(int(sys.argv[1])):
    kept.append(turn(i))
print(len(kept), sum(kept))
"""


def integers(folder, amount):
    path = os.path.join(folder, "integers")
    if not os.path.exists(path):
        subprocess.run(["gcc", "-O2", "-g", "-o", path,
                        os.path.join(HERE, "integers.c")], check=True)
    return [path, str(amount)]


def python3(folder, amount):
    path = os.path.join(folder, "mix.py")
    with open(path, "w") as out:
        out.write(PYTHON)
    return ["/usr/bin/python3", path, str(amount)]


def compiler(folder, amount):
    """Compiles so many functions."""
    path = os.path.join(folder, f"in-{amount}.i")
    source = random.Random(5)
    with open(path, "w") as out:
        for number in range(amount):
            out.write(c_function(source, number))
    return [cc1(), "-quiet", "-O2", "-fpreprocessed", path, "-o",
            "/dev/null"]


def pigz(folder, amount):
    """Four threads compress so many megabytes."""
    name = f"large-{amount}"
    Inputs(folder, False).large(name, amount << 20)
    return ["pigz", "-9", "-p", "4", "-c", os.path.join(folder, name)]


# name -> (command, a small amount, functions: called now and then, and often)
PROGRAMS = {
    "integers": (integers, 1, ("sieve", "fibonacci")),
    "python3": (python3, 1, ("PyDict_New", "PyObject_Malloc")),
    "cc1": (compiler, 60, ("mmap", "malloc")),
    "threads": (pigz, 4, ("deflate", "pthread_mutex_lock")),
}


class Recording:
    def __init__(self, cprec, name, path, facts):
        self.cprec, self.name, self.path = cprec, name, path
        self.calls = PROGRAMS[name][2]
        self.info = describe(cprec, path)
        self.instructions = self.info["instructions"]
        self.size = self.info["size"]
        self.record_cpu = facts["record_cpu"]
        self.native_peak = facts["native_peak"]
        self.sample = self._sample(random.Random(name))
        self.pages = sorted({page for pages in self.sample for page in pages})

    def _sample(self, chance):
        """The pages that each of some segments writes."""
        segments = self.info["segments"]
        count = min(SAMPLED, len(segments))
        found = []
        for number in sorted(chance.sample(range(len(segments)), count)):
            lines = run([self.cprec, "dump", "-v", "--json",
                         f"--segment={number}", self.path]).check().out
            pages = [json.loads(line) for line in lines.splitlines()
                     if '"PAGE"' in line]
            pages = [int(page["addr"], 16) for page in pages
                     if page["written"]]
            if pages:
                found.append(pages)
        return found

    def place(self, chance):
        """A word of some page that is written in some segment, and some time."""
        addr = chance.choice(self.pages) + WORD * chance.randrange(
            PAGE // WORD)
        return addr, chance.randrange(self.instructions)

    def busy_word(self):
        """A word of a page that most segments write: a condition's memory."""
        counts = {}
        for pages in self.sample:
            for page in pages:
                counts[page] = counts.get(page, 0) + 1
        most = max(counts.values())
        return min(page for page in counts if counts[page] == most) + 256

    def forget(self):
        if os.path.exists(self.path + ".idx"):
            os.unlink(self.path + ".idx")


def describe(cprec, path):
    return json.loads(run([cprec, "info", "-v", "--json",
                           path]).check().out)


def record(cprec, path, command, folder):
    native = run(command, cwd=folder, env=ENVIRONMENT).check()
    took = run([cprec, "record", "-q", "--no-children", "-o", path, "--",
                *command], cwd=folder, env=ENVIRONMENT).check()
    return {"record_cpu": took.cpu, "record_wall": took.wall,
            "native_cpu": native.cpu, "native_peak": native.peak}


def amount_for(cprec, path, folder, name, length):
    """How much a program must do for so many instructions."""
    command, small, _ = PROGRAMS[name]
    counts = []
    for amount in small, 2 * small:
        record(cprec, path, command(folder, amount), folder)
        counts.append(describe(cprec, path)["instructions"])
        if counts[-1] >= length:
            return amount
    each = (counts[1] - counts[0]) / small
    return 2 * small + int((length - counts[1]) / each * 1.05) + 1


def make(cprec, folder, name, length):
    """A recording of at least so many instructions; one that is there is used."""
    path = os.path.join(folder, f"{name}-{length:.0e}.cpr")
    if not os.path.exists(path + ".json"):
        amount = amount_for(cprec, path, folder, name, length)
        facts = record(cprec, path, PROGRAMS[name][0](folder, amount), folder)
        with open(path + ".json", "w") as out:
            json.dump(facts, out)
    with open(path + ".json") as file:
        return Recording(cprec, name, path, json.load(file))
