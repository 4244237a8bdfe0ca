#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Variables and registers of callers are those that gdb finds in its frames.

usage: names_frames.py --cprec C [--keep FOLDER]

The program run/programs/names/callers.c, as compilers make it with and without
optimization, stops in a system call below functions that call themselves and
some that are inlined.  gdb, natively, and cprec, in a recording, are asked for
the same in each frame.  Speaks TAP.
"""
import json
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from names import Program, alike  # noqa: E402
from tap import (CprecTap, Failure, equal, expect, main,  # noqa: E402
                 record_as_in_gdb)

# gdb stops at the system call so often before it is asked.
MARKS = 0, 4
NAMES = ["i", "k", "own", "own.id", "n->id", "name", "text", "text[2]", "left",
         "twice", "total", "argc", "round", "sum", "&own", "i + argc", "d",
         "sink", "$pc", "$rip", "$sp", "$rbp", "$rbx", "$r12", "$r13", "$r14"]
FRAMES = 7

ASKING = """
import gdb, json
for command in ("set confirm off", "set pagination off", "set width 0",
                "set debuginfod enabled off", "set auto-load no",
                "catch syscall 110", "run"):
    gdb.execute(command)
for _ in range({stop}):
    gdb.execute("continue")
answers = []
for frame in range({frames}):
    gdb.execute("frame %d" % frame)
    function = gdb.selected_frame().name()
    found = []
    for name in {names!r}:
        try:
            text = gdb.execute("print " + name, to_string=True)
            found.append(text.partition(" = ")[2].rstrip("\\n"))
        except gdb.error as error:
            found.append(None)
    answers.append((function, found))
json.dump(answers, open({answers!r}, "w"))
gdb.execute("kill")
"""


def of_gdb(program, mark):
    answers, script = program.path + ".answers", program.path + ".gdb.py"
    with open(script, "w", encoding="utf-8") as file:
        file.write(ASKING.format(stop=2 * mark + 1, frames=FRAMES, names=NAMES,
                                 answers=answers))
    done = subprocess.run(["gdb", "-q", "-batch", "-nx", "-x", script,
                           "--args", program.path, "more"], capture_output=True, text=True,
                          timeout=120)
    expect(done.returncode == 0, done.stderr[-500:])
    with open(answers, encoding="utf-8") as file:
        return json.load(file)


def of_cprec(tests, program, time, frame):
    done = tests.cprec("query", program.trace, f"--at={time}", "--json",
                       "--no-races", f"--frame={frame}",
                       *(f"--addr={name}" for name in NAMES))
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) != len(NAMES):
        raise Failure(f"{len(found)} answers: {done.stderr}")
    return found


def functions(tests, program, time, expected):
    done = tests.cprec("backtrace", program.trace, f"--at={time}", "--json")
    frames = json.loads(done.stdout)["frames"]
    equal([frame["function"] for frame in frames[:FRAMES]],
          [function for function, _ in expected], "functions")


def plain(text):
    """Without how a pointer to code is written, and where the stack is."""
    text = re.sub(r"\(void (\*|\(\*\)\(\))\) ", "", alike(text))
    return re.sub(r"1407374883\d{5}$", "stack", text)


def is_lost(answer):
    """gdb believes in registers that nothing keeps; cprec says that it does not
    know."""
    return "functions need not keep it" in answer.get("error", "")


def check(program, value, answer):
    program.asked += value is not None
    if value is None or value == "<not saved>":
        if "error" not in answer:
            raise Failure(f"gdb says {value}; {answer}")
    elif is_lost(answer) and "optimized out" not in value and \
            "-O0" not in program.name:
        program.lost += 1
    elif "error" in answer and value != "<optimized out>":
        raise Failure(f"{answer['error']}; should be {value}")
    elif "error" not in answer:
        equal(plain(answer.get("value")), plain(value), "value")


def most_are_known(program):
    expect(program.lost <= program.asked // 20,
           f"{program.lost} of {program.asked} are lost")
    return f"{program.asked - program.lost} of {program.asked}"


def compare(tests, program):
    times = program.times()
    program.asked = program.lost = 0
    for mark in MARKS:
        expected = of_gdb(program, mark)
        tests.test(f"{program.name} {mark}: functions", functions, tests,
                   program, times[mark], expected)
        for frame, (function, values) in enumerate(expected):
            found = of_cprec(tests, program, times[mark], frame)
            for name, value, answer in zip(NAMES, values, found):
                tests.test(f"{program.name} {mark}: {name} in {frame},"
                           f" {function}: {value}", check, program, value,
                           answer)


    tests.test(f"{program.name}: what gdb knows", most_are_known, program)


def lines(tests, program):
    """Lines of standard input are about the same frame."""
    time = program.times()[0]
    for frame in 3, 4:
        asked = tests.cprec("query", program.trace, f"--frame={frame}",
                            "--addr=i", f"--at={time}", "--no-races")
        found = tests.cprec("query", program.trace, f"--frame={frame}", "-",
                            text=f"i {time}\n")
        equal((found.returncode, found.stdout), (0, asked.stdout), "answer")


def no_frame(tests, program):
    time = program.times()[0]
    for frame, status, says in (
            (10000, 1, "there is no frame 10000: the outermost is"),
            ("x", 2, "'--frame' takes a number")):
        done = tests.cprec("query", program.trace, f"--frame={frame}",
                           "--addr=i", f"--at={time}")
        equal(done.returncode, status, "status")
        expect(says in done.stderr, done.stderr)


def run_all(options, folder):
    tests = CprecTap(options, folder)
    for compiler, *flags in (["gcc", "-O0"], ["gcc", "-O2"], ["gcc", "-O1"],
                             ["gcc", "-O2", "-fno-omit-frame-pointer"],
                             ["clang", "-O0"], ["clang", "-O2"]):
        if not shutil.which(compiler):
            print(f"# there is no {compiler}")
            continue
        name = compiler + "".join(flags)
        program = Program(tests, name, [compiler, "-g", *flags, "callers.c",
                                        "-o", "OUT"], False)
        tests.test(f"{name} is recorded", program.build)
        compare(tests, program)
        if flags == ["-O0"]:
            tests.test(f"{name}: lines of standard input", lines, tests,
                       program)
            tests.test(f"{name}: no such frame", no_frame, tests, program)
    return tests.summary()


if __name__ == "__main__":
    record_as_in_gdb()
    sys.exit(main(run_all))
