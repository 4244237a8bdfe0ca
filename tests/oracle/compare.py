#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what `cprec query` says with the real processor.

usage: compare.py --stepper S --cprec C --guest G [--every N] [--seed N]
                  [--extra BEGIN-END]... [--keep FOLDER] [--native-only]

The guest is single-stepped natively and recorded; then memory and registers
are compared at each time that the stepper chose.  Speaks TAP.
"""
import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

# Registers of which only these bits are compared: reserved bits and, in the
# status registers, flags that single-stepping or x87 leave undefined, and the
# flag of denormal operands.
MASKS = {
    "eflags": 0xED7,
    "fstat": 0xB8BD,
    "mxcsr": 0xFFFD,
}


# How it is recorded: in one segment, and in many.
VARIANTS = {
    "by default": (),
    "tiny segments": ("--segment=2k", "--cache-size=16k"),
}


def sections(path):
    """The sections of a 64-bit ELF file: name -> (begin, end)."""
    with open(path, "rb") as file:
        image = file.read()
    offset, = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<HHH", image, 58)
    headers = [struct.unpack_from("<IIQQQQ", image, offset + i * size)
               for i in range(count)]
    strings = headers[names][4]
    found = {}
    for name, _, _, addr, _, length in headers:
        at = strings + name
        text = image[at:image.index(b"\0", at)].decode()
        if addr and length:
            found[text] = (addr, addr + length)
    return found


def step_natively(options):
    """The stepper's samples and its closing line."""
    ranges = sections(options.guest)
    command = [options.stepper, "--every", str(options.every),
               "--seed", str(options.seed),
               "--hide", "%#x-%#x" % ranges[".hidden_text"]]
    for name in ".data", ".bss":
        if name in ranges:
            command += ["--memory", "%#x-%#x" % ranges[name]]
    for extra in options.extra:
        command += ["--memory", extra]
    output = subprocess.run(command + [options.guest], check=True,
                            stdout=subprocess.PIPE,
                            stdin=subprocess.DEVNULL).stdout
    lines = [json.loads(line) for line in output.splitlines()
             if line.startswith(b"{")]
    return lines[:-1], lines[-1]


class Failed(Exception):
    """A sentence for the person who reads the test's output."""


def run_cprec(options, *arguments, text=None, statuses=(0,)):
    command = [options.cprec, *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode not in statuses:
        raise Failed(f"{' '.join(command[:4])} ...: status {done.returncode}: "
                     f"{done.stderr.strip()}")
    return done.stdout


def record(options, trace, variant, end):
    """Records it and compares the totals."""
    if "signal" in end["exit"]:
        number = end["exit"]["signal"]
        statuses = -number, 128 + number
    else:
        statuses = end["exit"]["code"],
    run_cprec(options, "record", "-o", trace, *variant, "--", options.guest,
              statuses=statuses)
    info = json.loads(run_cprec(options, "info", trace, "--json"))
    for name in "instructions", "exit":
        if info[name] != end[name]:
            raise Failed(f"{name}: {info[name]}, natively {end[name]}")
    return []


def compare_memory(options, trace, samples):
    """Yields the differences."""
    asked = [(sample["at"], int(addr, 16), data)
             for sample in samples for addr, data in sample["memory"]]
    text = "".join(f"{addr:#x} {at} {len(data) // 2}\n"
                   for at, addr, data in asked)
    answers = run_cprec(options, "query", trace, "-", "--json",
                        text=text).splitlines()
    if len(answers) != len(asked):
        raise Failed(f"{len(asked)} queries, {len(answers)} answers")
    for (at, addr, data), line in zip(asked, answers):
        found = json.loads(line)["bytes"].replace(" ", "")
        if found == data:
            continue
        first = next((i for i in range(0, len(data), 2)
                      if found[i:i + 2] != data[i:i + 2]), 0)
        yield (f"at {at}: {addr + first // 2:#x}: "
               f"{found[first:first + 16]}, natively "
               f"{data[first:first + 16]}")


def compare_registers(options, trace, samples):
    """Yields the differences."""
    for start in range(0, len(samples), 200):
        part = samples[start:start + 200]
        arguments = [word for sample in part
                     for word in ("--at", str(sample["at"]))]
        answers = run_cprec(options, "registers", trace, "--json",
                            *arguments).splitlines()
        if len(answers) != len(part):
            raise Failed(f"{len(part)} times, {len(answers)} answers")
        for sample, line in zip(part, answers):
            yield from compare_register_files(
                sample, json.loads(line)["registers"])


def compare_register_files(sample, found):
    for name, text in sample["registers"].items():
        mask = MASKS.get(name, -1)
        if name == "eflags":
            mask &= ~sample["undefined"]
        expected = int(text, 16)
        if name not in found:
            yield f"at {sample['at']}: no register {name}"
        elif (int(found[name], 16) ^ expected) & mask:
            yield (f"at {sample['at']} ({sample['reason']}): {name} "
                   f"{found[name]}, natively {expected:#x}")


class Report:
    """Numbers the results, as TAP wants them."""

    def __init__(self):
        self.count = self.failures = 0

    def check(self, name, compare):
        """compare() yields differences or raises Failed."""
        self.count += 1
        try:
            differences = list(compare())
        except Failed as failed:
            differences = [str(failed)]
        for difference in differences[:12]:
            print(f"# {difference}")
        if len(differences) > 12:
            print(f"# ... and {len(differences) - 12} more")
        print(f"{'not ok' if differences else 'ok'} {self.count} - {name}")
        self.failures += bool(differences)
        return not differences


def compare_all(options, folder, report):
    samples, end = step_natively(options)
    print(f"# {end['instructions']} instructions, {len(samples)} times, "
          f"{sum(len(sample['memory']) for sample in samples)} pieces")
    if not samples:
        report.check("samples", lambda: ["no samples"])
    for name, variant in VARIANTS.items() if not options.native_only else ():
        trace = os.path.join(folder, name.replace(" ", "-") + ".cpr")
        if not report.check(f"instructions and exit, {name}",
                            lambda: record(options, trace, variant, end)):
            continue
        report.check(f"registers, {name}",
                     lambda: compare_registers(options, trace, samples))
        report.check(f"memory, {name}",
                     lambda: compare_memory(options, trace, samples))


def main():
    parser = argparse.ArgumentParser()
    for name in "stepper", "cprec", "guest":
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--every", type=int, default=150)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--extra", action="append", default=[])
    parser.add_argument("--keep")
    parser.add_argument("--native-only", action="store_true")
    options = parser.parse_args()
    options.guest = os.path.abspath(options.guest)
    folder = options.keep or tempfile.mkdtemp(prefix="cprec-oracle-")
    os.makedirs(folder, exist_ok=True)
    report = Report()
    compare_all(options, folder, report)
    print(f"1..{report.count}")
    if report.failures and not options.keep:
        print(f"# kept: {folder}")
    elif not options.keep:
        shutil.rmtree(folder)
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
