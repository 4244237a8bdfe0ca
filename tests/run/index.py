#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The index in two levels: cprec index, and what questions leave in FILE.idx.

usage: index.py --cprec C --guest G [--some N]

What is answered without any side file, other tests
compare with the real processor; here it must be the same with all kinds of
them: whole, made in parts, with start points, damaged, of another recording,
where it cannot be written.  What the guest (programs/indexed.c) held is known.
--some says how many questions are asked with each
damaged one; there are 40.  Speaks TAP.
"""
import argparse
import ctypes
import glob
import json
import os
import random
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, for_everybody, main  # noqa: E402

NOBODY = 65534
CANNOT = 99		# the status of a process that may not mount
MANY = 400
LINES = 32768		# of the guest


def on_full_disk(trace, folder):
    """In the child: a copy of a recording, on a disk with no room left."""
    def prepare():
        libc = ctypes.CDLL(None, use_errno=True)
        room = (os.path.getsize(trace) | 4095) + 1
        with open(trace, "rb") as file:
            whole = file.read()
        if (libc.unshare(0x20000) or
                libc.mount(None, b"/", None, 0x44000, None) or
                libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0,
                           b"size=%d" % room)):
            os._exit(CANNOT)
        with open(os.path.join(folder, "x.cpr"), "wb") as file:
            file.write(whole)
    return prepare


def without_ways(text):
    """Answers, but for how they were found: an index is there to change that."""
    answers = [json.loads(line) for line in text.splitlines()]
    for answer in answers:
        answer.pop("source", None)
    return answers


class Index(CprecTap):
    def prepare(self):
        self.trace = os.path.join(self.folder, "sorted.cpr")
        numbers = os.path.join(self.folder, "numbers")
        choice = random.Random(2)
        with open(numbers, "w") as file:
            for _ in range(3000):
                print(choice.randrange(10**6), file=file)
        result = self.cprec("record", "-q", "-o", self.trace,
                            "--segment=300000", "--", "sort", "-n",
                            "--parallel=1", numbers)
        equal(result.returncode, 0, result.stderr)
        info = self.info()
        self.segments = len(info["segments"])
        expect(self.segments > 10, f"{self.segments} segments")
        self.end = info["end"] if "end" in info else info["instructions"]
        self.choose(choice)
        self.truth = self.answers()

    def choose(self, choice):
        """Questions about memory that is written now and then, or often."""
        maps = self.cprec("maps", self.trace, "--at=90%", "--json").stdout
        places = [json.loads(line) for line in maps.splitlines()]
        places = [(m["addr"], m["size"]) for m in places
                  if "w" in m["prot"]]
        self.questions = []
        for kind in ("last", "query", "writes", "accesses") * 10:
            first, size = choice.choice(places)
            first = int(first, 16) if isinstance(first, str) else first
            addr = first + choice.randrange(min(size, 1 << 16)) // 8 * 8
            if size > 1 << 20:
                addr = first + size - choice.randrange(1, 600) * 8
            at = choice.randrange(self.end)
            question = [kind, f"--addr={addr:#x}", "--size=8"]
            if kind in ("writes", "accesses"):
                question += [f"--from={at}", f"--to={at + self.end // 3}"
                             if at < self.end // 2 else "--to=end",
                             "--limit=20"]
            else:
                question += [f"--at={at}"]
            self.questions.append(question)

    def info(self):
        return json.loads(self.cprec("info", "-v", "--json",
                                     self.trace).stdout)

    def side(self):
        return self.trace + ".idx"

    def forget(self):
        for path in glob.glob(self.side() + "*"):
            os.unlink(path)

    def ask(self, question, notes=""):
        result = self.cprec(question[0], self.trace, "--json", *question[1:])
        expect(result.returncode in (0, 1), result.stderr)
        if notes is not None and result.returncode == 0:
            equal(result.stderr, notes, " ".join(question))
        return without_ways(result.stdout)

    def answers(self):
        """Each alone, without a side file."""
        found = []
        for question in self.questions:
            self.forget()
            found.append(self.ask(question, None))
        found_any = sum(bool(text) for text in found)
        expect(found_any > 10, f"only {found_any} answers")
        return found

    def compare(self, some=None):
        """All questions, or `some`, by their numbers."""
        for number in range(len(self.questions)) if some is None else some:
            question, truth = self.questions[number], self.truth[number]
            equal(self.ask(question, None), truth, " ".join(question))

    def index(self, *options):
        result = self.cprec("index", self.trace, "--json", *options)
        equal(result.returncode, 0, result.stderr)
        equal(result.stderr, "", "notes")
        return json.loads(result.stdout)

    # ------- tests

    def left_by_questions(self):
        self.forget()
        self.compare()
        expect(os.path.exists(self.side()), "nothing was left")
        equal(os.stat(self.side()).st_mode & 0o777, 0o600, "mode")
        self.compare()

    def whole(self):
        self.forget()
        found = self.index("-j2")
        equal(found["segment_count"], self.segments, "segments")
        equal(found["indexed"], self.segments, "indexed")
        equal(found["size"], os.path.getsize(self.side()), "size")
        self.compare()
        equal(self.index("-j3"), found, "made once more")

    def with_start_points(self):
        self.forget()
        found = self.index("--every=50k", "-j2")
        expect(found["start_points"] >= self.end // 50000 // 2,
               f"{found['start_points']} start points")
        self.compare()
        return f"{found['start_points']} start points"

    def near_a_time(self):
        self.forget()
        found = self.index("--around=50%", "--every=40k")
        expect(found["start_points"] > 3 and not found["indexed"], found)
        equal(self.index("--around=50%", "--every=40k"), found, "once more")
        self.compare()
        self.forget()
        found = self.index(f"--range=100k..{self.end // 2}", "--every=40k")
        expect(found["start_points"] > 3 and not found["indexed"], found)
        self.compare()

    def ask_many(self):
        """What words held at some times; and how many answers took a replay."""
        choice = random.Random(5)
        places = json.loads(self.cprec("query", self.trace, "--json",
                                       "--addr=$rsp", "--at=90%",
                                       "--no-races").stdout)
        stack = int(places["value"].split()[-1], 16)
        pages = {stack >> 12} | {int(question[1][7:], 16) >> 12
                                 for question in self.questions}
        lines = "".join(f"{(choice.choice(sorted(pages)) << 12) + word * 8:#x} "
                        f"{choice.randrange(self.end // 10, self.end)}\n"
                        for word in choice.choices(range(512), k=MANY))
        result = subprocess.run(
            [self.options.cprec, "query", self.trace, "--json", "-"],
            input=lines, capture_output=True, text=True, timeout=120)
        equal(result.stderr, "", "messages")
        return (without_ways(result.stdout),
                result.stdout.count('"source":"replay"'))

    def without_replay(self):
        """Lines tell what the next key frame knows."""
        self.forget()
        truth, slow = self.ask_many()
        equal(len(truth), MANY, "answers")
        self.forget()
        self.index()
        found, left = self.ask_many()
        for one, other in zip(found, truth):
            equal(one, other, "with the index")
        expect(left < slow / 2, f"{left} of {slow} still replay")
        return f"{left} of {MANY} instead of {slow} replay"

    def in_parts(self):
        self.forget()
        one = self.index("-j1")
        with open(self.side(), "rb") as file:
            whole = file.read()
        self.forget()
        for part in (2, 3, 1):
            self.index("-j1", f"--part={part}/3")
        equal(self.index("--merge"), one, "merged")
        with open(self.side(), "rb") as file:
            equal(len(file.read()), len(whole), "size")
        equal(glob.glob(self.side() + ".*"), [], "parts that are left")
        self.compare()
        result = self.cprec("index", self.trace, "--merge")
        expect(result.returncode == 1 and "no parts" in result.stderr,
               result.stderr)

    def several_at_once(self):
        self.forget()
        makers = [subprocess.Popen([self.options.cprec, "index", "-q", "-j2",
                                    self.trace]) for _ in range(3)]
        self.compare()
        equal([maker.wait() for maker in makers], [0, 0, 0], "statuses")
        self.compare()
        equal(self.index()["indexed"], self.segments, "indexed")

    def damaged(self):
        self.forget()
        self.index("--every=100k")
        with open(self.side(), "rb") as file:
            whole = file.read()
        choice = random.Random(3)
        for _ in range(12):
            with open(self.side(), "wb") as file:
                if choice.random() < 0.5:
                    file.write(whole[:choice.randrange(len(whole))])
                else:
                    bytes_ = bytearray(whole)
                    bytes_[choice.randrange(len(whole))] ^= 1 << 3
                    file.write(bytes_)
            self.compare(choice.sample(range(len(self.questions)),
                                       self.options.some))
        with open(self.side(), "wb") as file:
            file.write(b"This is no index." * 10)
        result = self.cprec("last", self.trace, "--addr=environ")
        equal(result.stderr.count("\n"), 1, result.stderr)
        expect("made anew" in result.stderr, result.stderr)
        self.compare()

    def fails(self, *options):
        """Returns the one line that index says."""
        result = self.cprec("index", "-q", self.trace, *options)
        equal(result.returncode, 1, f"status, {result.stderr}")
        equal(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr

    def flip_last(self, path):
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            byte = file.read(1)
            file.seek(-1, os.SEEK_END)
            file.write(bytes([byte[0] ^ 1 << 3]))

    def damaged_content(self):
        """What cannot be read is no index: it is made once more."""
        self.forget()
        self.index("-j1")
        self.flip_last(self.side())
        equal(self.index("-j1")["indexed"], self.segments, "indexed")
        self.compare(range(4))
        self.forget()
        for part in 1, 2:
            self.index("-j1", f"--part={part}/2")
        self.flip_last(self.side() + ".2of2")
        said = self.fails("--merge")
        expect("'2of2'" in said and "once more" in said, said)
        self.index("-j1", "--part=2/2")
        equal(self.index("--merge")["indexed"], self.segments, "merged")
        self.compare(range(4))

    def cut_short(self):
        """Of the segment whose end is missing nothing is kept."""
        whole, self.trace = self.trace, os.path.join(self.folder, "cut.cpr")
        try:
            with open(whole, "rb") as file, open(self.trace, "wb") as out:
                out.write(file.read(os.path.getsize(whole) * 95 // 100))
            last = len(self.info()["segments"]) - 1
            expect(last > 3, f"{last} whole segments")
            for options in (), ("-j1",), ("--every=50k",), ("--part=2/2",):
                said = self.fails(*options)
                expect(f"segment {last} of {last + 1} is not indexed: the "
                       "recording was cut short" in said, said)
            found = self.cprec("index", "--json", self.trace)
            equal(json.loads(found.stdout)["indexed"], last, "indexed")
            self.index("--part=1/2")
        finally:
            self.trace = whole

    # ------- a guest that accesses many lines with few instructions

    def is_true(self, line):
        """Whoever asks about a line's word gets what it held."""
        place = f"--addr=table+{line * 64 + line % 16 * 4}"
        first, second = 1 << 16 | line // 64, 2 << 16 | line // 64
        for at, wanted in (("output:1", 0), ("output:2", first),
                           ("output:3", second), ("end", second)):
            found = json.loads(self.cprec(
                "query", self.trace, "--json", place, "--size=4",
                f"--at={at}").stdout)
            equal(found["bytes"], wanted.to_bytes(4, "little").hex(),
                  f"{place} at {at}")
        for kind, count in ("writes", 2), ("reads", 1), ("accesses", 3):
            found = self.cprec(kind, self.trace, "--json", place, "--size=4")
            equal(found.stdout.count("\n"), count, f"{kind} of {place}")
        found = json.loads(self.cprec("last", self.trace, "--json", place,
                                      "--size=4", "--at=output:3").stdout)
        equal((found["old"], found["new"]),
              (first.to_bytes(4, "little").hex(),
               second.to_bytes(4, "little").hex()), f"last of {place}")

    def many_lines(self):
        """An index of each segment, however much of memory it accesses."""
        before = self.trace, self.segments
        self.trace = os.path.join(self.folder, "lines.cpr")
        try:
            result = self.cprec("record", "-q", "-o", self.trace,
                                "--segment=150000", "--", self.options.guest)
            equal(result.returncode, 0, result.stderr)
            self.segments = len(self.info()["segments"])
            expect(self.segments > 5, f"{self.segments} segments")
            result = self.cprec("verify", "-q", "--all", self.trace)
            equal(result.returncode, 0, result.stderr)
            return self.all_ways()
        finally:
            self.trace, self.segments = before

    def all_ways(self):
        lines = random.Random(6).sample(range(LINES), 4)
        self.forget()
        for line in lines:
            self.is_true(line)
        for ways in ((("-j1",),), (("-j3",),), (("--every=50k", "-j2"),),
                     (("--part=1/2",), ("--part=2/2",), ("--merge",))):
            self.forget()
            for options in ways:
                found = self.index(*options)
            equal(found["indexed"], self.segments, f"indexed by {ways}")
            self.is_true(lines.pop())
        length = self.info()["instructions"]
        bits = os.path.getsize(self.side()) * 8 / length
        expect(bits < 0.3, f"{bits} bits per instruction")
        return f"{self.segments} segments, {bits:.3f} bits per instruction"

    def of_another_recording(self):
        other = os.path.join(self.folder, "other.cpr")
        self.cprec("record", "-q", "-o", other, "--", "true")
        self.cprec("index", "-q", other)
        self.forget()
        shutil.copy(other + ".idx", self.side())
        result = self.cprec("last", self.trace, "--addr=environ")
        equal(result.returncode, 0, result.stderr)
        expect("another recording" in result.stderr and
               result.stderr.count("\n") == 1, result.stderr)
        self.compare()

    def where_nothing_can_be_written(self):
        """In a folder of others; what cannot be kept is noted once."""
        self.forget()
        place = os.path.join(self.folder, "readonly")
        os.mkdir(place)
        trace = os.path.join(place, "x.cpr")
        shutil.copy(self.trace, trace)
        os.chmod(trace, 0o644)
        os.chmod(place, 0o755)
        os.chmod(self.folder, 0o755)
        if os.getuid():
            os.chmod(place, 0o555)
            noted = self.note_that_nothing_is_kept(trace, self.options.cprec)
        else:
            with for_everybody(self.options.cprec) as cprec:
                noted = self.note_that_nothing_is_kept(trace, cprec, NOBODY)
        expect(noted, "nobody says that nothing is kept")
        equal(os.listdir(place), ["x.cpr"], "files")

    def note_that_nothing_is_kept(self, trace, cprec, user=None):
        noted = 0
        for question, truth in list(zip(self.questions, self.truth))[:8]:
            result = subprocess.run(
                [cprec, question[0], trace, "--json", *question[1:]],
                capture_output=True, text=True, user=user, timeout=120)
            equal(without_ways(result.stdout), truth,
                  " ".join(question) + result.stderr)
            expect(result.stderr.count("note:") <= 1, result.stderr)
            noted += result.stderr.count("cannot keep")
        return noted

    def where_nothing_fits(self):
        """What is kept on a full disk is nothing, or a part: one note."""
        folder = os.path.join(self.folder, "full")
        os.mkdir(folder)
        trace = os.path.join(folder, "x.cpr")
        noted = 0
        for question, truth in list(zip(self.questions, self.truth))[:8]:
            result = subprocess.run(
                [self.options.cprec, question[0], trace, "--json",
                 *question[1:]], capture_output=True, text=True,
                preexec_fn=on_full_disk(self.trace, folder), timeout=120)
            if result.returncode == CANNOT:
                return "left out: nothing may be mounted"
            equal(without_ways(result.stdout), truth,
                  " ".join(question) + result.stderr)
            expect(result.stderr.count("\n") <= 1 or not truth, result.stderr)
            noted += result.stderr.count("cannot keep")
        expect(noted, "nobody says that nothing is kept")
        return f"{noted} notes"

    def moved_and_removed(self):
        self.forget()
        self.index()
        there = os.path.join(self.folder, "moved.cpr")
        equal(self.cprec("mv", self.trace, there).returncode, 0, "mv")
        expect(os.path.exists(there + ".idx") and
               not os.path.exists(self.side()), "it did not follow")
        equal(self.cprec("rm", there).returncode, 0, "rm")
        expect(not os.path.exists(there + ".idx"), "it was left")

    def run(self):
        self.test("a recording of many segments, and questions", self.prepare)
        if self.failed:
            return self.summary()
        self.test("what questions leave", self.left_by_questions)
        self.test("the whole index", self.whole)
        self.test("start points", self.with_start_points)
        self.test("start points near a time", self.near_a_time)
        self.test("memory without a replay", self.without_replay)
        self.test("in parts", self.in_parts)
        self.test("several processes at once", self.several_at_once)
        self.test("cut or flipped", self.damaged)
        self.test("damaged content", self.damaged_content)
        self.test("of a recording that was cut short", self.cut_short)
        self.test("few instructions, many lines", self.many_lines)
        self.test("of another recording", self.of_another_recording)
        self.test("where nothing can be written",
                  self.where_nothing_can_be_written)
        self.test("on a full disk", self.where_nothing_fits)
        self.test("moved and removed", self.moved_and_removed)
        return self.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--some", type=int, default=12)
    sys.exit(main(lambda options, folder: Index(options, folder).run(), "guest",
                  parser=parser))
