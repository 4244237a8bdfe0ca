#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `cprec debug --plain` says of types, source lines, addresses and the
source file: the same as gdb on the program itself, blanks apart.

usage: ptype.py --cprec C --programs FOLDER

Speaks TAP.
"""
import argparse
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from tap import CprecTap, equal, main  # noqa: E402

TYPES = {
    "types.c": (
        "first", "head", "pt", "hidden", "length", "nodes", "work", "sum",
        "nothing", "find", "main", "words", "head->next", "*head->next",
        "first.named", "first.parts", "first.grid", "&first.grid[1]",
        "first.called", "first.flags", "first.fixed", "first.text",
        "first.rows", "head->color", "&first", "*head", "&sum", "argv",
        "argv[0]", "argc", "RED", "1+2", "'a'", "1.5", "first.id == 1",
        "(char)65", "struct node", "struct node *", "node_t", "node_p",
        "enum color", "choice", "callback", "union either", "point",
        "other_size", "unsigned", "unsigned long", "long long", "int*",
        "char**", "unsigned char", "short"),
    "classes.cc": (
        "shape", "virt", "plain", "mixed", "any", "old_one", "level",
        "hidden", "ref", "constant", "method", "member", "lambda", "Shape",
        "Shape*", "Plain", "app::Base", "app::Level", "app::Outer",
        "app::Outer::Deep", "app::outer", "Old", "&shape", "shape.pub",
        "shape.level", "Shape::make", "main"),
}

# Where each of them stops, and asks.
MARKS = {"types.c": "return find(0)", "classes.cc": "return virt.area()"}


def line_of(path, mark):
    with open(path) as file:
        for number, line in enumerate(file, 1):
            if mark in line:
                return number
    raise LookupError(mark)


def without_idle_labels(text):
    """Up to gdb 14, there are labels that say what is so anyway."""
    inside, word, kept = [], "struct", []
    for part in re.split(r"(\b(?:class|struct|union)\b|[{}]|"
                         r"\b(?:public|protected|private): )", text):
        if part in ("class", "struct", "union"):
            word = part
        elif part == "{":
            inside.append("private: " if word == "class" else "public: ")
        elif part == "}":
            inside.pop()
        elif part.endswith(": ") and inside:
            if part == inside[-1]:
                continue
            inside[-1] = part
        kept.append(part)
    return "".join(kept)


def without_idle_values(text):
    """gdb 18 has the values of all enumerators, and blanks around them."""
    def shorter(body):
        kept, next_one = [], 0
        for one in body[2].strip().split(", "):
            name, _, value = one.partition(" = ")
            kept.append(name if value == str(next_one) else one)
            next_one = int(value or next_one) + 1
        return body[1] + "{" + ", ".join(kept) + "}"
    return re.sub(r"(\benum\b[^{}]*)\{([^{}.]*)\}", shorter, text)


class Tests(CprecTap):
    def build(self, name):
        source = os.path.join(self.options.programs, name)
        program = os.path.join(self.folder, name.partition(".")[0])
        compiler = "g++" if name.endswith(".cc") else "gcc"
        subprocess.run([compiler, "-g", "-O0", "-w", "-no-pie", "-o", program,
                        os.path.basename(source)], check=True,
                       cwd=os.path.dirname(source))
        self.cprec("record", "-q", "-o", program + ".cpr", "--", program)
        return program, f"{name}:{line_of(source, MARKS[name])}"

    def answers(self, words, commands, program):
        asked = [word for number, one in enumerate(commands)
                 for word in ("-ex", f"echo \\n@@{number}\\n", "-ex", one)]
        done = subprocess.run([*words, *asked, program], capture_output=True,
                              text=True, timeout=120,
                              stdin=subprocess.DEVNULL)
        found = re.split(r"\n?@@\d+\n", done.stdout)[1:]
        equal(len(found), len(commands), f"answers: {done.stderr}")
        return [" ".join(one.split()) for one in found]

    def compare(self, name, commands, change=lambda text: text):
        program, place = self.build(name)
        theirs = self.answers(
            ["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled"
             " off", "-ex", f"break {place}", "-ex", "run"], commands, program)
        theirs[-1] = re.sub(r" \[Inferior .*", "", theirs[-1])
        theirs = [without_idle_values(without_idle_labels(one))
                  for one in theirs]
        mine = self.answers(
            [self.options.cprec, "debug", "--plain", "--batch", "--goto=main",
             "-ex", f"break {place}", "-ex", "continue"], commands,
            program + ".cpr")
        for command, one, other in zip(commands, mine, theirs):
            equal(change(one), change(other), command)
        return f"{len(commands)} commands"

    def types(self, name):
        return self.compare(name, [f"{word} {text}" for text in TYPES[name]
                                   for word in ("whatis", "ptype")])

    def lines(self):
        source = os.path.join(self.options.programs, "types.c")
        marks = [line_of(source, mark) for mark in (
            "No code is", "static int work", "int both", "return both",
            "int sum(", "int main", "struct node *find")]
        return self.compare("types.c", [
            "info line", "info line main", "info line sum", "info line work",
            "info line *main", "info line *$pc", "info line *($pc+2)",
            "info line 9999", *(f"info line {number}" for number in marks),
            *(f"info line types.c:{number}" for number in marks)])

    def symbols(self):
        return self.compare("types.c", [
            "info symbol main", "info symbol main+4", "info symbol &first",
            "info symbol &first.name[3]", "info symbol $pc", "info symbol 5",
            "info symbol $sp", "info symbol &stdout", "info symbol words",
            "info symbol &words"],
            lambda text: text.replace(" /usr/lib/", " /lib/"))

    def source(self):
        return self.compare("types.c", ["info source"])


def run_all(options, folder):
    tests = Tests(options, folder)
    for name in TYPES:
        tests.test(f"types of {name}", tests.types, name)
    tests.test("info line", tests.lines)
    tests.test("info symbol", tests.symbols)
    tests.test("info source", tests.source)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--programs", type=os.path.abspath, required=True)
    sys.exit(main(run_all, parser=PARSER))
