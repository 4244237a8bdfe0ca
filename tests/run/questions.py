#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How questions are asked: symbols, sizes, several at once, lines of input.

usage: questions.py --cprec C

Records a small program and asks.  Speaks TAP.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import Failure, Tap, equal  # noqa: E402

GUEST = """#include <stdio.h>
int counter = 5;
int numbers[3] = { 1, 2, 3 };
char text[5000] = "hello";
static __thread volatile int own = 7;
int main(void) { counter++; printf("%d\\n", counter + own); return 0; }
"""

UNKNOWN = """#include <unistd.h>
int main(void) { return syscall(999) == -1 ? 7 : 1; }
"""

# Each thread counts in its own place.
THREADS = """#include <pthread.h>
#include <stdio.h>
volatile long places[3];
static void *count(void *place) {
for (int i = 0; i < 5000; i++) (*(volatile long *)place)++;
return NULL; }
int main(void) { pthread_t threads[3];
for (int i = 0; i < 3; i++)
pthread_create(&threads[i], NULL, count, (void *)&places[i]);
for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
printf("%ld\\n", places[0] + places[1] + places[2]); return 0; }
"""

ANSWERED, FAILED, USAGE = 0, 1, 2


class Tests(Tap):
    def __init__(self, cprec, folder):
        super().__init__()
        self.cprec = cprec
        self.folder = folder

    def run(self, *arguments, text=None):
        return subprocess.run([self.cprec, *arguments], input=text,
                              capture_output=True, text=True, timeout=120,
                              cwd=self.folder)

    def info(self, trace):
        return json.loads(self.run("info", "--json", trace).stdout)

    def ask(self, *words, text=None, status=ANSWERED, errors=(),
            trace="trace.cpr", command="query"):
        """The answers, after a look at what goes with them."""
        done = self.run(command, trace, *words, "--json", text=text)
        equal(done.returncode, status, f"status of {words}: {done.stderr}")
        lines = done.stderr.splitlines()
        equal(len(lines), len(errors), f"lines on standard error: {lines}")
        for line, error in zip(lines, errors):
            if not line.startswith("cprec: " + error):
                raise Failure(f"'{line}' does not begin with '{error}'")
        return [json.loads(line) for line in done.stdout.splitlines()]


def symbol(tests, words, size, data):
    """`data` is how the bytes begin."""
    for name in words:
        answer, = tests.ask("--addr", name, "--at", "end")
        equal(answer["size"], size, f"size of {name}")
        equal(answer["symbol"], name, "symbol")
        if not answer["bytes"].startswith(data):
            raise Failure(f"{name}: {answer['bytes'][:40]}")


def offsets(tests):
    """Each way to name the same place."""
    number = tests.ask("--addr", "numbers", "--at", "end")[0]["addr"]
    place = int(number, 16)
    for text, difference in (("numbers+4", 4), ("numbers-0x10", -16),
                             ("&numbers", 0), ("&numbers+0x8", 8),
                             (number + "+4", 4), (str(place) + "-4", -4)):
        answer, = tests.ask("--addr", text, "--at", "end", "--size=1")
        equal(int(answer["addr"], 16), place + difference, text)
    equal(tests.ask("--addr=numbers"), tests.ask("--addr=numbers", "--at=end"),
          "without a time")
    answer, = tests.ask("--addr=numbers+4", "--at=end")
    equal(answer["size"], 8, "size with an offset")
    answer, = tests.ask("--addr=numbers", "--at=end", "--size=1k")
    equal(answer["size"], 1024, "size as asked for")


def thread_local(tests):
    """The debugging information says where it is."""
    answer, = tests.ask("--addr=own", "--at=end")
    equal((answer["value"], answer["type"]), ("7", "volatile int"), "own")


def several(tests):
    """What has no answer does not hinder what has."""
    end = tests.info("trace.cpr")["instructions"]
    answers = tests.ask(
        "--addr=nothing", "--addr=counter", "--addr=0x10", "--addr=0x5+0",
        "--at=end", f"--at={end + 1}", "--at=0", status=FAILED,
        errors=("nothing at end: cannot find a symbol 'nothing'",
                "0x10 is not mapped at t=", "0x5 is not mapped at t=",
                *(f"{addr} at {end + 1}: 'trace.cpr' ends at t={end}, before"
                  f" t={end + 1}"
                  for addr in ("nothing", "counter", "0x10", "0x5+0")),
                "nothing at 0: cannot find a symbol 'nothing'",
                "0x10 is not mapped at t=0", "0x5 is not mapped at t=0"))
    equal(len(answers), 12, "answers")
    equal(["error" in answer for answer in answers],
          [True, False, False, False, True, True, True, True,
           True, False, False, False], "which have failed")
    for answer in answers:
        if "error" in answer:
            equal({key.removeprefix("asked_") for key in answer} - {"events"},
                  {"addr", "at", "error"}, "keys")
    equal([answer["at"] for answer in answers],
          [end] * 4 + [end + 1] * 4 + [0] * 4, "times")
    equal((answers[0]["asked_addr"], answers[2]["addr"]), ("nothing", "0x10"),
          "addresses")
    equal(answers[1]["bytes"], "06000000", "counter at the end")
    equal(answers[9]["bytes"], "05000000", "counter at the start")


def several_as_text(tests):
    done = tests.run("query", "trace.cpr", "--addr=nothing", "--addr=counter",
                     "--at=0")
    equal(done.returncode, FAILED, "status")
    if not done.stdout.startswith("counter = 5\n  int at 0x"):
        raise Failure(f"no answer: {done.stdout}")
    equal(len(done.stderr.splitlines()), 1, "lines on standard error")


def lines(tests):
    text = "\n".join(("counter end", "", "nothing 5", "counter", "0x10 5 4",
                      "counter soon", "counter 0 2", "counter 0 2 2",
                      "# counter 0", "  #", "   \t", "counter+ 0",
                      "counter 1k # 2", " counter 1k 2 "))
    answers = tests.ask("-", text=text, status=FAILED, errors=(
        "line 3: cannot find a symbol 'nothing'",
        'line 4: cannot answer: not "A T [N]"',
        "line 5: 0x10 is not mapped at t=5",
        "line 6: cannot take 'soon' for a time",
        'line 8: cannot answer: not "A T [N]"',
        "line 12: cannot take 'counter+' for an address: a number is missing",
        'line 13: cannot answer: not "A T [N]"'))
    equal([answer["question"] for answer in answers],
          [1, 3, 4, 5, 6, 7, 8, 12, 13, 14], "numbers of lines")
    equal([answer.get("bytes") for answer in answers],
          ["06000000", None, None, "????????", None, "0500", None, None, None,
           "0500"], "bytes")
    equal(answers[-1]["at"], 1000, "time of '1k'")


def quoted_lines(tests):
    """What has blanks in it, as in a shell; other quotes are the expression's."""
    text = "\n".join(("'counter + 1' end", '"counter  +  2" \'end\' "4"',
                      "counter\t'0'", "'counter + 1 end", "'counter'+1 end",
                      "\"numbers [ 1 ]\" end", "''  0"))
    answers = tests.ask("-", text=text, status=FAILED, errors=(
        'line 4: cannot answer: not "A T [N]"',
        "line 7: cannot take '' for an address"))
    equal([answer.get("value") for answer in answers[:3]],
          ["7", "8", "5"], "values")
    equal(["error" in answer for answer in answers[3:]],
          [True, False, False, True], "which have failed")
    equal(answers[5].get("type"), "int", "an element")


def ask_bytes(tests, text):
    """The answers, and the lines on standard error as bytes."""
    done = subprocess.run([tests.cprec, "query", "trace.cpr", "-", "--json"],
                          input=text, capture_output=True, timeout=120,
                          cwd=tests.folder)
    answers = [json.loads(line.decode()) for line in done.stdout.splitlines()]
    return done.returncode, answers, done.stderr.splitlines()


def strange_bytes(tests):
    """Shown so that they harm no terminal; JSON is UTF-8."""
    text = (b"a\xffb\x1b[31m end\n\xc2\x9bx end\ncounter \xfe\x01\n"
            b"gr\xc3\xbc\xc3\x9fe end\nback\\slash end\n" +
            b"x" * 79 + b"\xc3\xbc- 0\n")
    status, answers, errors = ask_bytes(tests, text)
    equal(status, FAILED, "status")
    equal([answer["asked_addr"] for answer in answers][:5],
          ["a\ufffdb\x1b[31m", "\x9bx", "counter", "grüße", "back\\slash"],
          "addresses")
    equal(answers[2]["asked_at"], "\ufffd\x01", "time")
    shown = (b"a\\xffb\\x1b[31m'", b"'\\xc2\\x9bx'", b"'\\xfe\\x01'",
             "'grüße'".encode(), b"'back\\\\slash'", b"x\\xc3...'")
    equal(len(errors), len(shown), "lines on standard error")
    for line, part in zip(errors, shown):
        if part not in line:
            raise Failure(f"no {part} in {line}")
        if any(byte < 0x20 or byte == 0x7f for byte in line):
            raise Failure(f"control characters in {line}")
        line.decode()


def odd_lines(tests):
    """Too long, or with NULs: an error, and the next line is answered."""
    long_text, nul = "the line is too long", "a NUL is in the line"
    for text, wrong in ((bytes(100_000), long_text), (b"x" * 100_000, long_text),
                        (b" " * 100_000, long_text), (bytes(10), nul),
                        (b"counter 0\0 4", nul), (b"counter 0 4\0", nul),
                        (b"x" * 65537, long_text)):
        status, answers, errors = ask_bytes(tests, text + b"\ncounter 0\n")
        equal(status, FAILED, f"status of {text[:10]}")
        equal(errors, [f"cprec: line 1: cannot answer: {wrong}".encode()],
              f"what is said of {text[:10]}")
        equal([answer["question"] for answer in answers], [1, 2], "answers")
    status, answers, errors = ask_bytes(tests, b"#" + bytes(100_000) +
                                        b"\ncounter 0 " + b" " * 65000)
    equal((status, len(answers), errors), (ANSWERED, 1, []), "a long comment")


def formats(tests):
    """Bytes as numbers, with and without a type."""
    addr = tests.ask("--addr=numbers", "--at=end")[0]["addr"]
    text = tests.ask("--addr=text", "--at=end")[0]["addr"]
    for what, format, size, value in (
            ("numbers", "x", None, "{0x1, 0x2, 0x3}"),
            ("numbers", "d", "8", "{1, 2}"), ("numbers", "x", "4", "0x1"),
            ("numbers+4", "d", "4", "2"), (addr, "u", "4", "1"),
            (addr, "x", None, "0x200000001"), (addr, "x", "2", "0x1"),
            (addr, "o", "1", "01"), (addr, "t", "8",
                                     "1000000000000000000000000000000001"),
            (text, "x", "16", "{0x6f6c6c6568, 0x0}"),
            (addr, "a", None, "0x200000001"),
            (text, "s", None, text + ' <text> "hello"'),
            (text, "s", "3", '"hel"'),
            (text, "c", "2", "{104 'h', 101 'e'}"),
            ("counter", "raw", None, None), (addr, None, "4", None),
            ("numbers", None, "4", None)):
        answer, = tests.ask(
            "--addr", what, "--at=end",
            *([f"--format={format}"] if format else []),
            *([f"--size={size}"] if size else []))
        equal(answer.get("value"), value, f"{what} /{format} {size}")


def not_understood(tests):
    """What is wrong is said, with all of the expression."""
    for text, wrong in (
            ("counter[1]", "it is no pointer or array"),
            ("(counter", "a ')' is missing at the end"),
            ("counter*", "a name or a number is missing at the end"),
            ("counter]", "']' is not understood"),
            ("counter.x", "there is no 'x' in what is no structure"),
            ("*nothing", "cannot find a symbol 'nothing'"),
            ("$rop+1", "there is no register '$rop'"),
            ("(" * 500, "the expression is too deep"),
            ("counter@0", "there must be 1 to"),
            ("numbers[0]/0", "division by zero")):
        tests.ask("--addr", text, "--at=end", status=FAILED, errors=(
            f"cannot evaluate '{text[:80]}{'...' * (len(text) > 80)}': "
            + wrong,))
    tests.ask("--addr=rsp", "--at=end", status=FAILED, errors=(
        "cannot find a symbol 'rsp': the register is called '$rsp'",))
    end = tests.info("trace.cpr")["instructions"]
    remark = " (given in decimal; hexadecimal numbers begin with 0x)"
    for text, shown in (("555555558060", "0x8159b112ac" + remark),
                        ("12+4", "0x10" + remark), ("7", "0x7"),
                        ("0x555", "0x555"), ("0X555", "0x555")):
        tests.ask("--addr", text, "--at=end", status=FAILED, errors=(
            f"{shown} is not mapped at t={end}",))
    done = tests.run("query", "trace.cpr", "--addr=5555abcd", "--at=0")
    equal((done.returncode, done.stderr), (USAGE, "cprec: cannot take "
          "'5555abcd' for an address: a hexadecimal number begins with 0x; see "
          "'cprec query --help'\n"), "hexadecimal without 0x")


def thousands(tests):
    """Numbers of instructions may be written with k, m and g."""
    end = tests.info("trace.cpr")["instructions"]
    answers = tests.ask("--addr=counter", "--at=2k", "--at=0x2K",
                        "--at=1.5k", f"--at={end // 1000}k")
    equal([answer["at"] for answer in answers],
          [2000, 2000, 1500, end // 1000 * 1000], "times")
    for text, t in (("1m", 10 ** 6), ("2G", 2 * 10 ** 9)):
        tests.ask("--addr=counter", f"--at={text}", status=FAILED, errors=(
            f"'trace.cpr' ends at t={end}, before t={t}",))
    tid = tests.info("threads.cpr")["threads"][1]["thread"]
    answer, = tests.ask(f"--thread={tid}", f"--at={tid}:2k",
                        trace="threads.cpr", command="registers")
    equal(answer["instructions"], 2000, f"{tid}:2k")
    done = tests.run("replay", "-q", "--to=2k", "trace.cpr")
    equal(done.returncode, ANSWERED, f"status of --to=2k: {done.stderr}")
    done = tests.run("replay", "-q", "--to=1m", "trace.cpr")
    equal(done.stderr, f"cprec: 'trace.cpr' ends at t={end}, before "
          "t=1000000\n", "message of --to=1m")


def registers(tests):
    answers = tests.ask("--at=end", "--at=1" + 15 * "0", "--at=0",
                        status=FAILED, command="registers",
                        errors=("'trace.cpr' ends at t=",))
    equal(["registers" in answer for answer in answers], [True, False, True],
          "registers")
    equal(answers[1]["at"], 10 ** 15, "the time that failed")


def threads_listed(tests):
    info = tests.info("threads.cpr")
    threads = info["threads"]
    equal(len(threads), 4, "threads")
    equal(sum(thread["instructions"] for thread in threads),
          info["instructions"], "instructions of all threads")
    equal(threads[0]["thread"], info["family"][0]["pid"], "the first thread")
    for thread in threads:
        if not 0 <= thread["first"] < thread["last"] <= info["instructions"]:
            raise Failure(f"odd times: {thread}")
    equal([thread["first"] for thread in threads],
          sorted(thread["first"] for thread in threads), "order")
    for thread in threads:
        done = tests.run("info", "--json", f"--thread={thread['thread']}",
                         "threads.cpr")
        equal(json.loads(done.stdout), {**info, "threads": [thread]},
              "one thread")
    done = tests.run("info", "--json", "--thread=all", "threads.cpr")
    equal(json.loads(done.stdout), info, "all threads")


def all_states(tests):
    """Whatever the time: the threads' own counts add up to it."""
    info = tests.info("threads.cpr")
    times = [info["instructions"] * i // 20 for i in range(21)]
    answers = tests.ask(*(f"--at={t}" for t in times),
                        trace="threads.cpr", command="registers")
    for t in times:
        states = [answer for answer in answers if answer["at"] == t]
        equal(sum(state["runs"] for state in states), 1,
              f"threads whose turn it is at {t}")
        there = {state["thread"]: state["instructions"] for state in states}
        for thread in info["threads"]:
            if thread["first"] < t and thread["thread"] not in there:
                there[thread["thread"]] = thread["instructions"]
        equal(sum(there.values()), t, f"instructions at {t}")


def thread_times(tests):
    threads = tests.info("threads.cpr")["threads"]
    for thread in threads:
        tid, steps = thread["thread"], thread["instructions"]
        for text, count in (("start", 0), ("1", 1), ("50%", steps // 2),
                            (str(steps - 1), steps - 1)):
            answer, = tests.ask(f"--thread={tid}", f"--at={tid}:{text}",
                                trace="threads.cpr", command="registers")
            equal(answer["thread"], tid, "tid")
            equal(answer["instructions"], count, f"{tid}:{text}")
            if not thread["first"] <= answer["at"] <= thread["last"]:
                raise Failure(f"{tid}:{text} is {answer['at']}: {thread}")
        if tid == threads[0]["thread"]:
            continue
        # Its place holds what it has counted, and nobody else counts there.
        answers = tests.ask("--addr=places", f"--at={tid}:start",
                            f"--at={tid}:end", trace="threads.cpr")
        place = 16 * (threads.index(thread) - 1)
        equal([answer["bytes"][place:place + 4] for answer in answers],
              ["0000", "8813"], f"what thread {tid} has counted")
    text = f"{tid}:{steps + 1}"
    answer, = tests.ask("--addr=places", f"--at={text}", status=FAILED, errors=(
        f"thread {tid} ends at {tid}:{steps}, before {text}",),
        trace="threads.cpr")
    equal(answer["asked_at"], text, "the time that failed")


def no_thread(tests):
    """Said in the same words, whoever was asked."""
    info = tests.info("threads.cpr")
    end = info["instructions"]
    for words in (("query", "--addr=places", "--at=1:0"),
                  ("registers", "--at=1:0"),
                  ("registers", "--at=end", "--thread=1"),
                  ("dump", "--thread=1"), ("verify", "--thread=1"),
                  ("info", "--thread=1"), ("replay", "--thread=1")):
        done = tests.run(*words, "threads.cpr")
        equal(done.returncode, FAILED, f"status of {words}")
        equal(done.stdout, "", f"output of {words}")
        equal(done.stderr, f"cprec: 'threads.cpr' has no thread 1 at t={end}\n",
              f"message of {words}")
    # One that is there, but not then.
    second = info["threads"][1]
    tid, t = second["thread"], second["last"] + 5
    tests.ask(f"--thread={tid}", "--at=5", status=FAILED,
              errors=(f"'threads.cpr' has no thread {tid} at t=5",),
              trace="threads.cpr", command="registers")
    tests.ask(f"--thread={tid}", f"--at={t}", status=FAILED,
              errors=(f"thread {tid} has ended before t={t}",),
              trace="threads.cpr", command="registers")


def all_threads(tests):
    """`all` is what nothing is."""
    for words in (("registers", "--at=50%"), ("dump",)):
        equal(tests.run(*words, "threads.cpr", "--thread=all").stdout,
              tests.run(*words, "threads.cpr").stdout, f"with {words}")


def thread_dump(tests):
    tids = [thread["thread"] for thread in tests.info("threads.cpr")["threads"]]
    for tid in tids:
        done = tests.run("dump", "--json", f"--thread={tid}", "threads.cpr")
        found = {json.loads(line)["thread"] for line in done.stdout.splitlines()}
        equal(found, {tid}, "threads in the dump")


def dump_names(tests):
    """A dump names calls, errors, signals and what a call has mapped."""
    done = tests.run("record", "-q", "-o", "names.cpr", "sh", "-c",
                     "trap : USR1; kill -USR1 $$; exec 2>/dev/null; "
                     "cat </nowhere; kill -SEGV $$")
    equal(done.returncode, -11, f"status: {done.stderr}")
    lines = [json.loads(line) for line in
             tests.run("dump", "--json", "names.cpr").stdout.splitlines()]
    calls = [line for line in lines if line["kind"] == "SYSCALL"]
    missed, = [line for line in calls if line["name"] == "openat" and
               line.get("errno") == "ENOENT"]
    equal((missed["number"], missed["result"]), (257, -2), "a failed call")
    for line in calls:
        equal("errno" in line, -4096 < line["result"] < 0, f"an error: {line}")
        if line["name"] in ("mmap", "brk"):
            equal(int(line["addr"], 16), line["result"], f"address of {line}")
        elif "addr" in line:
            raise Failure(f"an address: {line}")
    equal([(line["number"], line["name"]) for line in lines
           if line["kind"] == "SIGNAL"], [(10, "SIGUSR1"), (11, "SIGSEGV")],
          "signals")
    ends = [line for line in lines if line["kind"] == "EXIT"]
    equal([(end["result"], end["signal"], end["name"]) for end in ends],
          [(-11, 11, "SIGSEGV")], "the end")
    unknown = tests.run("dump", "--kind=syscall", "unknown.cpr").stdout
    if not re.search(r"^\d+ +SYSCALL +number=999 result=-38 errno=ENOSYS$",
                     unknown, re.M):
        raise Failure(f"no call 999 in:\n{unknown}")


def notes(tests):
    """What is good to know is called a note, and the status is 0."""
    with open(os.path.join(tests.folder, "trace.cpr"), "rb") as file:
        contents = file.read()
    # The summary is what is cut off first.
    for size in range(len(contents), 0, -16):
        with open(os.path.join(tests.folder, "cut.cpr"), "wb") as file:
            file.write(contents[:size])
        info = tests.info("cut.cpr")
        if info["exit"] is None:
            break
    end = info["instructions"]
    for words in (("query", "--addr=counter", "--at=0"), ("replay", "-q"),
                  ("registers", "--at=0"), ("verify",), ("dump",),
                  ("races",)):
        done = tests.run(*words, "cut.cpr")
        equal(done.returncode, ANSWERED, f"status of {words}: {done.stderr}")
        equal(done.stderr, "cprec: note: 'cut.cpr' was cut short: it ends at "
              f"t={end}\n", f"what {words} says")
    quiet = tests.run("verify", "-q", "cut.cpr")
    equal(quiet.stdout, "", "with -q")
    equal(quiet.stderr.count("cprec: note: "), 1, quiet.stderr)
    for command in "record", "run":
        done = tests.run(command, "./unknown")
        equal(done.returncode, 7, f"status of {command}")
        equal(done.stderr, "cprec: note: system call 999 is not known: the "
              "program gets ENOSYS\n", f"what {command} says")
    equal(tests.run("record", "-q", "./unknown").stderr, "", "record -q")


def turns(tests, trace, *options):
    done = tests.run("record", *options, "-o", trace, "./threads")
    equal(done.returncode, 0, f"status with {options}: {done.stderr}")
    equal(done.stdout, "15000\n", "output")
    lines = tests.run("dump", "--kind=slice", trace).stdout.splitlines()
    return len(lines)


def schedules(tests):
    few = turns(tests, "few.cpr", "--slice=1m")
    many = turns(tests, "many.cpr", "--slice=1k")
    if many < 2 * few:
        raise Failure(f"{few} turns with slices of 1m, {many} of 1k")
    turns(tests, "random.cpr", "--schedule=random")
    made_by = tests.info("random.cpr")["made_by"]
    found = re.search(r"\bschedule (random:\d+)\b", made_by)
    if not found:
        raise Failure(f"no seed in '{made_by}'")
    count = turns(tests, "again.cpr", "--schedule=" + found.group(1))
    equal(count, turns(tests, "again.cpr", "--schedule=" + found.group(1)),
          "turns with the same seed")


def refused(tests, *words):
    """Wrong usage is told from a question that has no answer."""
    done = tests.run(*words)
    equal(done.returncode, USAGE, f"status of {words}")
    equal(done.stdout, "", "output")
    equal(len(done.stderr.splitlines()), 1, "lines on standard error")


def usage(tests):
    for option, texts in (
            ("--at", ("", "-1", "1.5x", "1.", "101%", "0x", "9" * 25, "5:",
                      ":5", "x:5", "4294967296:5", "1.0005k", "5kk", "5t",
                      "50k%", "99999999999g", "5:1x")),
            ("--addr", ("", "-5", "+8", "0x", "12g", "&", "&5", "counter+",
                        "counter-", "counter+8+8", "a!!b",
                        "a!", "a!b!c", "0x1" + "0" * 16)),
            ("--size", ("", "0", "-1", "x", "1.5", "17m", "9" * 25))):
        for text in texts:
            words = {"--at": "0", "--addr": "counter", option: text}
            refused(tests, "query", "trace.cpr",
                    *(f"{name}={value}" for name, value in words.items()))
            # Also if the file is not there: it is not needed to know.
            refused(tests, "query", "nonexistent.cpr",
                    *(f"{name}={value}" for name, value in words.items()))
    refused(tests, "replay", "--to=soon-", "trace.cpr")
    refused(tests, "registers", "trace.cpr", "--at=0", "--thread=x")
    refused(tests, "query", "trace.cpr", "--addr=counter", "--at=0",
            "--thread=all")
    refused(tests, "query", "trace.cpr", "-", "--thread=all")
    for words in (("registers", "--at=0"), ("dump",), ("verify",)):
        for text in "x", "", "-1", "every", "4294967296":
            refused(tests, *words, f"--thread={text}", "trace.cpr")
    for option in ("--slice=0", "--slice=x", "--slice=", "--schedule=",
                   "--schedule=fair", "--schedule=random:",
                   "--schedule=random:x", "--schedule=random5"):
        refused(tests, "record", option, "./guest")


def make(tests, name, source, *options, status=0):
    """Compiles and records."""
    with open(os.path.join(tests.folder, name + ".c"), "w") as file:
        file.write(source)
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", name, name + ".c"],
                   check=True, cwd=tests.folder)
    done = tests.run("record", *options, "./" + name)
    if done.returncode != status:
        raise Failure(f"no recording of {name}: {done.stderr}")


def few_turns(tests):
    """Threads that hardly met: races says so, unless they were made to."""
    def note(*options):
        done = tests.run("record", "-q", "-o", "turns.cpr", *options, "--",
                         "./threads")
        equal((done.returncode, done.stdout), (0, "15000\n"), "record")
        done = tests.run("races", "turns.cpr")
        equal((done.returncode, done.stdout), (0, "no races found\n"), "races")
        return re.fullmatch(r"cprec: note: threads were interrupted by others"
                            r" only (\d+) times?; 'cprec record"
                            r" --schedule=random' makes that more\n|",
                            done.stderr)[1]
    # A new thread may begin at once: that interrupts who made it.
    times = int(note())
    if times > 3:
        raise Failure(f"interrupted {times} times by three threads")
    steps = tests.info("turns.cpr")["instructions"]
    # A slice is an eighth shorter at most.
    times = int(note(f"--slice={steps // 4}"))
    if not 1 <= times <= 3 + 5:
        raise Failure(f"interrupted {times} times in five turns")
    equal(note("--slice=1k"), None, "with short turns")
    equal(note("--schedule=random:1"), None, "with random turns")


def run_all(tests):
    make(tests, "guest", GUEST, "-o", "trace.cpr")
    make(tests, "unknown", UNKNOWN, "-q", "-o", "unknown.cpr", status=7)
    make(tests, "threads", THREADS, "-o", "threads.cpr", "--slice=3k")
    tests.test("a variable's size", symbol, tests,
               ("counter", "guest!counter"), 4, "06000000")
    tests.test("an array's size", symbol, tests, ("numbers",), 12,
               "010000000200000003")
    tests.test("a large array", symbol, tests, ("text",), 4096, "68656c6c6f00")
    tests.test("a function", symbol, tests, ("main", "&main"), 8, "")
    tests.test("offsets", offsets, tests)
    tests.test("a thread-local variable", thread_local, tests)
    tests.test("several questions", several, tests)
    tests.test("several questions, as text", several_as_text, tests)
    tests.test("lines of input", lines, tests)
    tests.test("lines with quotes", quoted_lines, tests)
    tests.test("strange bytes", strange_bytes, tests)
    tests.test("lines that are too long, or hold a NUL", odd_lines, tests)
    tests.test("addresses of other kinds", not_understood, tests)
    tests.test("formats", formats, tests)
    tests.test("thousands, millions, billions", thousands, tests)
    tests.test("registers", registers, tests)
    tests.test("wrong usage", usage, tests)
    tests.test("a list of threads", threads_listed, tests)
    tests.test("the state of every thread", all_states, tests)
    tests.test("times of a thread", thread_times, tests)
    tests.test("threads that are not there", no_thread, tests)
    tests.test("all threads", all_threads, tests)
    tests.test("a dump of one thread", thread_dump, tests)
    tests.test("names in a dump", dump_names, tests)
    tests.test("notes", notes, tests)
    tests.test("turns of threads", schedules, tests)
    tests.test("few turns of threads", few_turns, tests)
    return tests.summary()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cprec", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cprec-questions-") as folder:
        return run_all(Tests(os.path.abspath(options.cprec), folder))


if __name__ == "__main__":
    sys.exit(main())
