#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `cprec info` says of programs that start others, and of sizes.

usage: info.py --cprec C

Speaks TAP.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import Failure, Tap, equal  # noqa: E402

# The shell starts two programs and becomes a third.
SCRIPT = "/bin/echo a | /usr/bin/sort; cd /tmp; exec /bin/true x y"

# A child that has children when it is another program.
DEEP = """/bin/sh -c '/bin/echo a; exec /bin/sh -c "/bin/echo b; exit" deep'
exit"""


def last_name(path):
    return os.path.basename(path)


# Ends with an error, or not, behind a message.
FAILS = """#include <stdio.h>
#include <stdlib.h>
static void complain(void) { fputs("one\\nno such\\t\\033thing\\n", stderr); }
int main(int argc, char **argv) { fputs("before\\n", stdout); complain();
return atoi(argv[argc - 1]); }
"""


class Tests(Tap):
    def __init__(self, cprec, folder):
        super().__init__()
        self.cprec = cprec
        self.folder = folder

    def run(self, *arguments):
        return subprocess.run([self.cprec, *arguments], capture_output=True,
                              stdin=subprocess.DEVNULL, text=True,
                              timeout=120, cwd=self.folder)

    def record(self, trace, *program):
        done = self.run("record", "-o", trace, "--", *program)
        equal(done.returncode, 0, f"status of {program}: {done.stderr}")

    def info(self, trace):
        done = self.run("info", "--json", trace)
        equal(done.returncode, 0, f"status of info {trace}: {done.stderr}")
        return json.loads(done.stdout)


def images(tests):
    info = tests.info("shell.cpr")
    equal(last_name(info["path"]), "true", "path")
    equal([last_name(image["path"]) for image in info["images"]],
          ["bash", "true"], "images")
    equal(info["images"][0]["at"], 0, "first image's time")
    at = info["images"][1]["at"]
    if not 0 < at < info["instructions"]:
        raise Failure(f"second image's time is {at}")
    equal([image["program"] for image in info["images"]],
          [["/bin/bash", "-c", SCRIPT], ["/bin/true", "x", "y"]], "arguments")
    equal(info["images"][-1], {"at": at, **{key: info[key] for key in
          ("program", "path", "directory")}}, "the last program")
    equal(json.loads(tests.run("ls", "shell.cpr", "--json").stdout)["program"],
          info["program"], "ls")
    equal([image["directory"] for image in info["images"]],
          [os.path.realpath(tests.folder), "/tmp"], "directories")
    text = tests.run("info", "shell.cpr").stdout
    if not re.search(rf"^ +/\S+/true, exec at t={at}: /bin/true x y$", text,
                     re.M):
        raise Failure(f"no second image in:\n{text}")
    calls = tests.run("dump", "--kind=syscall", "shell.cpr").stdout
    if not re.search(rf"^{at} +SYSCALL +number=59 name=execve result=0$", calls, re.M):
        raise Failure(f"no execve at {at}")


def family(tests):
    first = tests.info("shell.cpr")
    members = first["family"]
    equal(sorted(last_name(member["path"]) for member in members),
          ["echo", "sort", "true"], "programs in the end")
    equal([member["pid"] for member in members],
          sorted(member["pid"] for member in members), "order")
    for member in members:
        equal(member["this"], member["recording"] == "shell.cpr", "this")
        own = tests.info(member["recording"])
        equal(own["threads"][0]["thread"], member["pid"], "pid")
        equal(own["images"][-1]["program"], member["program"], "program")
        equal(own["images"][-1]["path"], member["path"], "path")
        equal(own["instructions"], member["instructions"], "instructions")
        equal([(other["recording"], other["this"]) for other in own["family"]],
              [(other["recording"], other["recording"] == member["recording"])
               for other in members], "the family as another sees it")
        if member["recording"] != "shell.cpr":
            equal(member["recording"], f"shell.cpr.d/{member['pid']}.cpr",
                  "name")
    text = tests.run("info", "shell.cpr").stdout
    for member in members:
        if f"{member['pid']}: {member['recording']}, " not in text:
            raise Failure(f"{member['recording']} is not in:\n{text}")


def replayed(tests):
    """Of one process; how many others there are is said, if it is shown."""
    tests.record("echoes.cpr", "/bin/sh", "-c", "/bin/echo a; /bin/echo b; exit")
    others = [member["recording"] for member in tests.info("echoes.cpr")["family"]
              if not member["this"]]
    equal(len(others), 2, "other recordings")
    os.symlink("../echoes.cpr", os.path.join(tests.folder, "links", "echoes"))
    note = ("cprec: note: only the output of this process was written; 2 "
            "others of the program are recorded in files that 'cprec ps' "
            "lists\n")
    for file in "echoes.cpr", "links/echoes", *others:
        done = tests.run("replay", file)
        equal((done.returncode, done.stderr), (0, note), f"replay of {file}")
        equal(bool(done.stdout), file in others, f"output of {file}")
        equal(tests.run("replay", "-q", file).stderr, "", "with -q")
        equal(len(tests.info(file)["family"]), 3, f"family of {file}")
    shutil.copy(os.path.join(tests.folder, "echoes.cpr"),
                os.path.join(tests.folder, "copy.cpr"))
    equal(tests.run("replay", "copy.cpr").stderr, "", "a copy, elsewhere")
    equal(tests.run("replay", "unrelated.cpr").stderr, "", "without others")


def check_parent(tests, member, parents):
    """The child was made by a system call of the parent at that time."""
    parent = member["parent"]
    parents[member["pid"]] = parent["pid"]
    own = tests.info(member["recording"])
    equal(own["parent"], parent, f"parent of {member['recording']}")
    above, = [other for other in own["family"]
              if other["pid"] == parent["pid"]]
    calls = tests.run("dump", "--kind=syscall", above["recording"]).stdout
    if not re.search(rf"^{parent['at']} +SYSCALL .*"
                     rf"result={member['pid']}$", calls, re.M):
        raise Failure(f"no call at {parent['at']} in {above['recording']}")
    text = tests.run("info", member["recording"]).stdout
    line = f"parent:        {parent['pid']}, at its t={parent['at']}\n"
    if line not in text:
        raise Failure(f"no '{line}' in:\n{text}")
    if (f", child of {parent['pid']} at its t={parent['at']} (this)\n"
            not in text):
        raise Failure(f"no child in:\n{text}")


def parents(tests):
    """Who made whom; and a child says what its parent was when it made it."""
    tests.record("deep.cpr", "/bin/sh", "-c", DEEP)
    info = tests.info("deep.cpr")
    first = info["threads"][0]["thread"]
    equal(info["parent"], None, "parent of the first process")
    found = {}
    for member in info["family"]:
        if member["pid"] == first:
            equal(member["parent"], None, "the first process's parent")
            continue
        check_parent(tests, member, found)
    equal(len(found), 3, "children")
    middle = next(pid for pid in found
                  if list(found.values()).count(pid) == 2)
    equal(sorted(found.values()), sorted([first, middle, middle]), "parents")
    own = tests.info(f"deep.cpr.d/{middle}.cpr")
    equal([image["program"][3:] for image in own["images"]][-1], ["deep"],
          "what the child became")
    # Its first child was made before it became that, its second behind.
    made = sorted((member["parent"]["at"],
                   tests.info(member["recording"])["images"][0]["program"])
                  for member in info["family"]
                  if member["parent"] and member["parent"]["pid"] == middle)
    times = [image["at"] for image in own["images"]]
    equal([program for _, program in made],
          [[image["program"] for image in own["images"]
            if image["at"] <= at][-1] for at, _ in made], "programs")
    if not made[0][0] < times[-1] < made[1][0]:
        raise Failure(f"children at {made}, programs at {times}")


def renamed(tests):
    """FILE and FILE.d are found by any names, if both have the same."""
    child, = [member for member in tests.info("shell.cpr")["family"]
              if last_name(member["path"]) == "sort"]
    os.mkdir(os.path.join(tests.folder, "other"))
    for end in "", ".d":
        os.rename(os.path.join(tests.folder, "shell.cpr" + end),
                  os.path.join(tests.folder, "other", "new.name" + end))
    files = [member["recording"] for member in tests.info("other/new.name")["family"]]
    equal(len(files), 3, "members")
    folder = os.path.join(tests.folder, "other", "new.name.d")
    os.symlink(folder, os.path.join(tests.folder, "links", "folder"))
    name = f"{child['pid']}.cpr"
    equal([member["pid"]
           for member in tests.info(f"other/new.name.d/{name}")["family"]
           if member["this"]], [child["pid"]], "this")
    for path in f"{folder}//{name}", f"links/folder/{name}":
        equal([last_name(member["recording"])
               for member in tests.info(path)["family"]],
              [last_name(file) for file in files], f"family of {path}")


def damaged(tests):
    child, = [member["recording"]
              for member in tests.info("other/new.name")["family"]
              if last_name(member["path"]) == "sort"]
    with open(os.path.join(tests.folder, child), "r+b") as file:
        file.truncate(200)
    members = tests.info("other/new.name")["family"]
    bad, = [member for member in members if "error" in member]
    equal(set(bad), {"recording", "this", "error"}, "keys")
    equal(len(members), 3, "members")


def no_suffix(tests):
    tests.record("plain", "/bin/sh", "-c", "/bin/true; exit 0")
    files = [member["recording"] for member in tests.info("plain")["family"]]
    equal(len(files), 2, f"members ({files})")
    child, = [file for file in files if file != "plain"]
    equal([member["recording"] for member in tests.info(child)["family"]], files,
          "the family as the child sees it")


def alone(tests):
    """No family, no list of images: nothing to show to a person."""
    tests.record("alone.cpr", "/bin/true")
    info = tests.info("alone.cpr")
    equal(len(info["family"]), 1, "family")
    equal(len(info["images"]), 1, "images")
    text = tests.run("info", "alone.cpr").stdout
    for word in "family:", "images:", "bits per instruction":
        if word in text:
            raise Failure(f"{word} in:\n{text}")
    labels = set(re.findall(r"^ *([a-z ]+):", text, re.M))
    keys = {key.replace("_", " ") for key in info}
    keys |= {key.removesuffix(" bytes") for key in keys}
    equal(labels - keys, set(), "words that JSON has not")


def fails(tests):
    """What it said last, and when; of a success, nothing."""
    source = os.path.join(tests.folder, "fails.c")
    with open(source, "w") as file:
        file.write(FAILS)
    subprocess.run(["cc", "-g", "-O0", "-o", source[:-2], source], check=True)
    native = subprocess.run([source[:-2], "3"], capture_output=True, text=True)
    tests.run("record", "-o", "fails.cpr", source[:-2], "3")
    words = tests.info("fails.cpr")["stderr"]
    equal(words["text"], native.stderr, "what it said")
    at = ".".join(str(words[key]) for key in ("at", "events") if key in words)
    text = tests.run("info", "fails.cpr").stdout
    shown = re.search(r"\nexit: +status 3\n +stderr: +one\n +(.*)\n"
                      r" +at: +t=(\S+) in \w+ at \S+:\d+ \(", text)
    equal(shown and shown.groups(), ("no such\t\\x1bthing", at), text)
    done = tests.run("backtrace", "--json", f"--at={shown[2]}", "fails.cpr")
    frames = [frame.get("function") for frame
              in json.loads(done.stdout)["frames"]]
    if "complain" not in frames:
        raise Failure(f"complain() is not among {frames}")
    tests.run("record", "-o", "fails.cpr", source[:-2], "0")
    equal("stderr" in tests.info("fails.cpr"), False, "of a success")


def last_lines(tests):
    """Whole lines, however they were written; of many, the last ones."""
    code = ("import os\nfor i in range(%d):\n"
            "  for c in f'{i} of many\\n': os.write(2, c.encode())\n"
            "os.write(1, b'end')\nos._exit(3)")
    for count in 12, 200:
        tests.run("record", "-o", "lines.cpr", "/usr/bin/python3", "-S", "-c",
                  code % count)
        lines = tests.info("lines.cpr")["stderr"]["text"].splitlines()
        equal(lines, [f"{i} of many" for i in range(count)][-len(lines):],
              "lines")
        equal(len(lines) == 12, count == 12, f"{len(lines)} lines")


def long_enough(tests):
    tests.record("long.cpr", "/bin/sh", "-c",
                 "i=0; while [ $i -lt 40000 ]; do i=$((i + 1)); done")
    info = tests.info("long.cpr")
    bits = 8 * info["size"] / info["instructions"]
    text = tests.run("info", "long.cpr").stdout
    if f"bytes, {bits:.4f} bits per instruction" not in text:
        raise Failure(f"not {bits:.4f} bits per instruction:\n{text}")


def run_all(tests):
    tests.record("shell.cpr", "/bin/bash", "-c", SCRIPT)
    tests.record("unrelated.cpr", "/bin/true")
    os.mkdir(os.path.join(tests.folder, "links"))
    os.mkfifo(os.path.join(tests.folder, "pipe.cpr"))
    tests.test("programs that a process was", images, tests)
    tests.test("the family", family, tests)
    tests.test("replay of one process", replayed, tests)
    tests.test("parents", parents, tests)
    tests.test("files that were moved", renamed, tests)
    tests.test("a damaged member", damaged, tests)
    tests.test("a name without .cpr", no_suffix, tests)
    tests.test("a process alone", alone, tests)
    tests.test("an error, which is no crash", fails, tests)
    tests.test("last lines", last_lines, tests)
    tests.test("bits per instruction", long_enough, tests)
    return tests.summary()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cprec", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cprec-info-") as folder:
        return run_all(Tests(os.path.abspath(options.cprec), folder))


if __name__ == "__main__":
    sys.exit(main())
