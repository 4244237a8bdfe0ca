# SPDX-License-Identifier: GPL-2.0-or-later
"""The same commands to gdb and to `cprec debug --plain`, on one recording: where
each of them stops, and what it says of that."""
import json
import os
import random
import re
import subprocess

from tap import Failure, equal, expect

# Within gdb: each command, and where it stands then.
SCRIPT = """import gdb, json
def stand(command):
    error = ""
    gdb.write("@@stop\\n")
    try:
        gdb.execute(command)
    except gdb.error as failure:
        error = str(failure)
    gdb.flush()
    state = dict(line.partition(" ")[::2] for line in gdb.execute(
        "monitor state", to_string=True).splitlines())
    frame = gdb.selected_frame()
    line = frame.find_sal()
    outer = frame
    while outer.type() == gdb.INLINE_FRAME:
        outer = outer.older()
    return {"command": command, "error": error, "at": state["position"],
            "tid": state["tid"], "function": "<signal handler called>"
            if frame.type() == gdb.SIGTRAMP_FRAME else frame.name() or "??",
            "line": line.line if line.symtab else 0, "pc": frame.pc(),
            "outer": [outer.name(), outer.find_sal().line]}
for setting in ("pagination off", "confirm off", "width 0", "height 0",
                "style enabled off", "backtrace past-main on"):
    gdb.execute("set " + setting)
with open(OUT, "w") as file:
    json.dump([stand(command) for command in COMMANDS], file)
"""


def ask_gdb(cprec, gdb, path, start, commands, folder):
    """What gdb answers, as a list of dicts."""
    out = os.path.join(folder, "gdb.json")
    script = os.path.join(folder, "gdb.py")
    with open(script, "w") as file:
        file.write(SCRIPT.replace("OUT", repr(out))
                   .replace("COMMANDS", repr(commands)))
    if os.path.exists(out):
        os.remove(out)
    done = subprocess.run(
        [cprec, "gdb", f"--gdb={gdb}", "-g", start, path, "--", "-nx",
         "-batch", "-x", script], capture_output=True, text=True, timeout=40,
        stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    expect(os.path.exists(out), done.stdout + done.stderr)
    with open(out) as file:
        stops = json.load(file)
    for stop, said in zip(stops, done.stdout.split("@@stop\n")[1:]):
        stop["said"] = said + stop["error"]
    return stops


def ask_plain(cprec, path, start, commands):
    """The same of --plain, which goes on after errors."""
    lines = []
    for number, command in enumerate(commands):
        lines += [f"echo \\n@@{number}\\n", command, "echo \\n@when\\n", "when",
                  "thread", "frame", "registers rip eip pc"]
    done = subprocess.run(
        [cprec, "debug", "--plain", f"--goto={start}", path],
        input="\n".join(lines) + "\n", stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=300)
    answers = re.split(r"\n?@@\d+\n", done.stdout)[1:]
    equal(len(answers), len(commands), done.stdout)
    return [stand(*one) for one in zip(commands, answers)]


def stand(command, answer):
    said, _, where = answer.partition("\n@when\n")
    where = where.replace("<signal handler called>",
                          "<signal handler called> ()")
    found = re.match(r"(\d+(?:\.\d+)?)\n\[thread (\d+)\]\n#\d+ +"
                     r"(?:0x[0-9a-f]+ in )?(.*?) \(.*?(?::(\d+))?\n", where)
    expect(found, f"{command}: {where}")
    at, tid, function, line = found.groups()
    pc = re.search(r"^(?:rip|eip|pc) +(0x[0-9a-f]+)", where, re.M)
    return {"command": command, "said": said, "at": at, "tid": tid,
            "function": function, "line": int(line or 0),
            "pc": int(pc.group(1), 16)}


def plain_name(name):
    """Without arguments and templates, which are written differently."""
    return re.sub(r"^_*(GI_)?_*|[<(@].*", "", name)


def is_outside(one, other):
    """At a breakpoint where inlined functions begin, gdb 18 is in the innermost,
    and others are where they are inlined."""
    return re.search(r"reakpoint \d", other["said"]) and \
        one["pc"] == other["pc"] and one["at"] == other["at"] and \
        one["function"] != other["function"] and \
        [one["function"], one["line"]] == other["outer"]


def compare(ours, theirs):
    """None, or a text about the first difference."""
    for index, (one, other) in enumerate(zip(ours, theirs)):
        # gdb takes the linker's first code for calls of each other.
        if index and re.match("_start|_dl_start", theirs[index - 1]["function"]) \
                and re.search("step$|next$|finish$", one["command"]):
            break
        # gdb does not see who has called frame_dummy(), and stops in it.
        if other["function"] == "frame_dummy" and \
                one["function"] != "frame_dummy":
            break
        # What is next differs then, too.
        if is_outside(one, other):
            break
        for key in ("at", "tid", "pc", "line", "function"):
            first, second = one[key], other[key]
            if key == "function":
                if second.endswith("@plt"):
                    continue
                first, second = plain_name(first), plain_name(second)
            if first != second:
                return (f"{key} differs after {index + 1} commands:\n" +
                        "".join(told(step, what) for step, what in
                                zip(ours[:index + 1], theirs)) +
                        f"--plain said: {one['said']}\n"
                        f"gdb said: {other['said']}")
        first, second = values(one["said"]), values(other["said"])
        # Of a watch and a breakpoint at once, gdb is told one only.
        if first and second and first != second:
            return (f"values differ by '{one['command']}':\n"
                    f"{first}\n{second}\n"
                    f"--plain said: {one['said']}\ngdb said: {other['said']}"
                    + "".join(told(step, what) for step, what in
                                zip(ours[:index + 1], theirs)))
    return None


def told(one, other):
    def text(step):
        return f"{step['at']} {plain_name(step['function'])}:{step['line']}"
    same = text(one) == text(other)
    return (f"  {one['command']:<18} {text(one)}" +
            ("\n" if same else f"    gdb: {text(other)}\n"))


def values(said):
    """Of a watch, and what was returned."""
    return [(kind, value) for kind, value in re.findall(
        r"^(Old value|New value|Value returned|Value) (?:is )?(?:\$\d+ )?(?:= )?"
        r"(.*)$", said, re.M)]
