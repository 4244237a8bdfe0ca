#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's programs of another architecture: the same output and exit status
under qemu-user, or natively if this machine executes them, and recorded; so are
some of our own, statically linked, as static-PIE, and with musl; the
recordings of all their processes verify, and the first one's replay says the
same again.  No suite runs this: it gets some 100 MB of packages, and takes half
an hour.

usage: foreign.py --cprec C [--arch A] [--sysroot FOLDER] [--keep FOLDER] [NAME...]

The packages come from where this machine's apt gets its own, and are unpacked into
the folder of --sysroot, if they are not there yet.  Nothing is installed.  What a
program executes under qemu-user is this machine's own, as the kernel finds it.
Speaks TAP; --list shows the names.
"""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from inputs import Inputs  # noqa: E402
from matrix import ENVIRONMENT, first_difference, heed_signals  # noqa: E402
from programs import PROGRAMS, Program, fill, large, numbers, tree  # noqa: E402
from tap import (  # noqa: E402
    CprecTap, Failure, equal, expect, main, qemu_user, recordings)

HERE = os.path.dirname(os.path.abspath(__file__))
LONG = 1800
NATIVE = "x86_64-linux-gnu"

# With the sysroot's files where this machine's are, as with --sysroot, and with
# the addresses that cprec gives.
NATIVE_ORACLE = ["setarch", "-R", "unshare", "-rm", "sh", "-c",
                 """mount -t overlay overlay \
    -o "lowerdir=$0/usr:/usr" /usr && exec "$@" """]


class Architecture:
    """What it is called in names of folders, of compilers and by `cprec info`;
    how qemu-user is started.  One that `is_native` executes without it."""

    def __init__(self, triplet, gnu, name, *qemu, is_native=False):
        self.triplets = triplet, gnu
        self.compiler = gnu + "-gcc"
        self.include = f"/usr/{gnu}/include"
        self.threads = ("i386" if is_native else "arm64") + "_threads.c"
        # Its libgcc asks glibc what the processor has.
        self.flags = (["-mno-outline-atomics"] if name == "aarch64" else [])
        self.name = name
        self.qemu = qemu
        self.is_native = is_native

    def emulated(self, sysroot):
        return [*self.qemu, "-L", sysroot]

    def oracle(self, sysroot):
        return ([*NATIVE_ORACLE, sysroot] if self.is_native else
                self.emulated(sysroot))


# By Debian's names.
ARCHITECTURES = {
    "arm64": Architecture("aarch64-linux-gnu", "aarch64-linux-gnu",
                          "aarch64",
                          qemu_user("aarch64"), "-cpu", "cortex-a72"),
    "armhf": Architecture("arm-linux-gnueabihf", "arm-linux-gnueabihf",
                          "arm",
                          qemu_user("arm"), "-cpu", "cortex-a15"),
    "i386": Architecture("i386-linux-gnu", "i686-linux-gnu", "i386",
                         qemu_user("i386"), is_native=True),
}

PACKAGES = """coreutils diffutils findutils grep sed mawk tar gzip bzip2 xz-utils
    pigz bash dash busybox-static bc perl python3 sqlite3 openssl binutils gcc
    luajit redis-tools git musl-dev""".split()
PACKAGES.append(f"lib{os.path.basename(os.path.realpath('/usr/bin/python3'))}"
                "-testsuite")

# Rows of matrix.py's table.  What is not in FULL has small inputs.
SHARED = """ls cat sort sha256sum gzip gunzip bzip2 bunzip2 grep sed mawk find tar
    bc perl bash python-dicts python-re python-json python-sqlite python-sockets
    python-files cpython-test_math cpython-test_float cpython-test_struct
    cpython-test_json cpython-test_re cpython-test_zlib cpython-test_sort sqlite3
    objdump cc1 openssl-dgst busybox-sort busybox-sha1sum busybox-awk
    busybox-gzip busybox-sh luajit""".split()
FULL = "sqlite3", "cc1"

# Of each family, the first process writes all.
DASH = """set -u
add() { total=$((total + $1)); }
total=0 i=0
while [ $i -lt @N@ ]; do i=$((i + 1)); case $i in *7) add $i;; *) add 1;; esac; done
for word in a "b c" *; do printf '%s|' "$word"; done; echo
trap 'echo usr1' USR1; kill -USR1 $$
(exit 5); echo "$? $total"
read -r first rest <<END
one two  three
END
echo "${rest#* } ${first%e}"; echo to stderr >&2
exit 6
"""

PIPELINES = r"""set -o pipefail
for i in 1 2 3; do
    echo "$(seq $((i * 1000)) | sort -rn | head -n 3 | tr '\n' ' ')"
done
echo "$(sort @NUMBERS@ | uniq -c | mawk '{ n += $1 } END { print n }')"
echo "$(tar -cf - -C @TREE@ . | gzip -9 | gunzip | tar -tf - | sort | sha256sum)"
echo "$(grep -rh zebra @TREE@ | sed 's/zebra/ZEBRA/' | cut -d' ' -f1 | sort | uniq -c)"
false | true | cat; echo "$? ${PIPESTATUS[*]}"
diff <(seq 5) <(seq 2 6) >made; echo "$? $(<made)"
echo "$(find @TREE@ -type f -print0 | xargs -0 -n 50 cat | md5sum)"
coproc tr a-z A-Z; exec 3<&"${COPROC[0]}"; echo hello >&"${COPROC[1]}"
eval "exec ${COPROC[1]}>&-"; read -r answer <&3; echo "$answer"; wait
exit 8
"""

# The file is the server, too, and goes by its name.
REDIS = r"""
(exec -a redis-server /usr/bin/redis-check-rdb --port 0 --unixsocket s --save '' \
    --loglevel warning >log 2>&1) &
until ping=$(redis-cli -s s ping 2>&1); [ "$ping" = PONG ]; do sleep 0.2; done
echo "$(redis-cli -s s <<END
set greeting hello
incrby counter 41
rpush list a b c d
lrange list 0 -1
zadd sorted 3 three 1 one 2 two
zrange sorted 0 -1 withscores
eval "local s = 0 for i = 1, 1000 do s = s + i end return s" 0
nonsense
dbsize
END
)"
echo "$(redis-benchmark -s s -q -c 5 -n @N@ -t set,get,incr,lpush,mset |
    tr '\r' '\n' | sed -n 's/: .*per second.*//p' | sort -u)"
echo "$(redis-cli -s s get counter:__rand_int__)"
redis-cli -s s shutdown nosave; wait; echo "$? $(grep -c -i crash log)"
"""

GIT = r"""
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A
export GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_NOSYSTEM=1 HOME=$PWD
export GIT_AUTHOR_DATE='1000000000 +0000' GIT_COMMITTER_DATE='1000000000 +0000'
all() {
    git init -q -b main one && cd one && cp -r ../@TREE@ files || return
    git add . && git commit -q -m first && git checkout -q -b side || return
    for i in 1 2 3 4 5; do
        echo "line $i" >>files/new && git add . && git commit -q -m "side $i"
    done
    git checkout -q main && echo other >other && git add . || return
    git commit -q -m other && git merge -q -m merged side || return
    git gc -q && git fsck --strict && cd .. || return
    git clone -q --no-local one two && cd two && git log --format='%H %s' || return
    git diff --stat HEAD~1 && git blame -s files/new && git status --short
    git grep -c zebra | sort | head -n 3
}
echo "$(all 2>&1)"
"""


def script(shell, name, contents, full, small):
    """A row for a script, which may name inputs and a size."""
    def command(i):
        text = contents
        for word, make in ("@NUMBERS@", numbers), ("@TREE@", tree):
            if word in text:
                text = text.replace(word, make(i))
        return [shell, fill(i, name, text, full, small)]
    return command


OWN = [
    Program("dash", script("dash", "in.dash", DASH, 100_000, 5_000), status=6),
    Program("pipelines", script("bash", "in.bash", PIPELINES, 0, 0), status=8),
    Program("xz", lambda i: ["xz", "-T4", "--block-size=256KiB", "-c",
                             large(i)]),
    Program("pigz", lambda i: ["pigz", "-p4", "-cn", large(i)]),
    Program("redis", script("bash", "in.redis", REDIS, 5_000, 200)),
    Program("git", script("dash", "in.git", GIT, 0, 0)),
]

# ------- programs of our own -------

def can_be_linked(arch, name):
    """glibc 2.36 has no static-PIE programs of ARM."""
    return arch.name != "arm" or not name.startswith("glibc-static-pie")


# Of musl: what a program begins with, by how it is linked.
MUSL_STARTS = {"": "Scrt1.o", "-static": "crt1.o", "-static-pie": "rcrt1.o"}
# Some compilers do not know the last.
STATIC_PIE = "-Wl,-static,-pie,--no-dynamic-linker,-ztext"


def musl(i, way, source):
    """Arguments for a compiler that knows nothing of musl."""
    if not glob.glob(f"{i.sysroot}/usr/include/*-linux-musl*/"):
        raise Failure(f"{i.sysroot} was unpacked without musl-dev: unpack it"
                      " anew")
    libraries, = glob.glob(f"{i.sysroot}/usr/lib/*-linux-musl*/")
    include, = glob.glob(f"{i.sysroot}/usr/include/*-linux-musl*/")
    loader, = glob.glob(f"{i.sysroot}/usr/lib/ld-musl-*.so.1")
    own = subprocess.run([i.arch.compiler, "-print-file-name=include"],
                         check=True, capture_output=True, text=True).stdout
    link = {"": "-Wl,-pie,--dynamic-linker=/lib/" + os.path.basename(loader),
            "-static": way, "-static-pie": STATIC_PIE}[way]
    return [*i.arch.flags, "-nostdinc", "-isystem", include, "-isystem", own.strip(),
            "-nostdlib", link,
            libraries + MUSL_STARTS[way], libraries + "crti.o", source,
            "-L" + libraries, "-lc", "-lgcc", "-lc", libraries + "crtn.o"]


def glibc(i, way, source):
    return ["-isystem", i.arch.include, way, source, "-lm"]


def without_qemu(data):
    return re.sub(rb"qemu: uncaught target signal [^\n]*\n", b"", data)


def compiled(library, way, source):
    """A row for a program of programs/, of some arguments."""
    def write(i, path):
        name = os.path.join(HERE, "programs", source or i.arch.threads)
        pic = ["-fPIE"] if way != "-static" else []
        subprocess.run([i.arch.compiler, "-O1", "-g", "-pthread", *pic, "-o",
                        path, *library(i, way, name)], check=True)

    return lambda i: [i.make("program", lambda path: write(i, path)), "a",
                      "b c"]


OWN += [Program(f"{library.__name__}{way}-{name}",
                compiled(library, way, source), normal=without_qemu,
                status=status)
        for library, ways in ((glibc, ("-static", "-static-pie")),
                              (musl, MUSL_STARTS))
        for way in ways
        for name, source, status in (("memory", "arm64_memory.c", 42),
                                     ("threads", None, -signal.SIGTERM))]

ROWS = {row.name: row for row in [*PROGRAMS, *OWN]
        if row in OWN or row.name in SHARED}


# ------- Debian's packages -------

APT = """APT::Architecture "{arch}";
APT::Architectures "{arch}";
APT::Install-Recommends "false";
APT::Sandbox::User "";
Dir::State "{folder}/state";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Log "{folder}/log";
"""


def apt_get(folder, *arguments, may_fail=False):
    done = subprocess.run(
        ["apt-get", "-q", "-y", *arguments], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=dict(os.environ, APT_CONFIG=os.path.join(folder, "apt.conf"),
                 LC_ALL="C"))
    if done.returncode and not may_fail:
        sys.exit(f"foreign.py: apt-get {arguments[0]}:\n{done.stdout}")


def make_apt(folder, arch):
    """An apt of its own, which knows of all packages, and of none as installed."""
    for name in "state/lists/partial", "cache/archives/partial", "log":
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, "apt.conf"), "w") as conf:
        conf.write(APT.format(arch=arch, folder=folder))
    with open(os.path.join(folder, "status"), "w"):
        pass
    # Of several sources, some may do: what is missing then, others say.
    apt_get(folder, "update", may_fail=True)


def unpack_package(package, folder):
    """As dpkg -x does, but links to folders there stay."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package],
                          stdout=subprocess.PIPE) as source:
        subprocess.run(["tar", "-x", "--keep-directory-symlink", "-C", folder],
                       stdin=source.stdout, check=True)
    if source.returncode:
        sys.exit(f"foreign.py: {package} cannot be unpacked")


def unpack(arch, sysroot, packages=PACKAGES):
    """Unless that is done: these, and all that they need."""
    if os.path.isdir(sysroot):
        return
    folder = sysroot + ".apt"
    shutil.rmtree(sysroot + ".partial", ignore_errors=True)
    make_apt(folder, arch)
    apt_get(folder, "--download-only", "install", *packages)
    partial = sysroot + ".partial"
    for name in "bin", "sbin", "lib", "lib64":
        os.makedirs(os.path.join(partial, "usr", name))
        os.symlink("usr/" + name, os.path.join(partial, name))
    for package in glob.glob(os.path.join(folder, "cache/archives/*.deb")):
        unpack_package(package, partial)
    os.rename(partial, sysroot)
    shutil.rmtree(folder)


def find(options, name):
    """A program of the sysroot, unless it is an input.  gcc may have a name of
    its own for the architecture."""
    root = options.sysroot
    if name.startswith(".."):
        path = name
    elif "/" not in name:
        path = shutil.which(name, path=f"{root}/usr/bin")
    else:
        path = next(filter(os.path.exists, (
            root + name.replace(NATIVE, triplet)
            for triplet in ARCHITECTURES[options.arch].triplets)), None)
    expect(path, f"there is no {name}")
    return path


# ------- running -------

def without_notes(data):
    """A replay says that it is one of several processes."""
    return re.sub(rb"cprec: note: only the output of this [^\n]*\n", b"", data)


class Tests(CprecTap):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.arch = ARCHITECTURES[options.arch]

    def execute(self, place, stdin, *command):
        """Status and output, where nothing is left of an earlier run."""
        scratch = os.path.join(place, "scratch")
        shutil.rmtree(scratch, ignore_errors=True)
        os.mkdir(scratch)
        with open(os.path.join(scratch, stdin), "rb") as source:
            done = subprocess.run(command, cwd=scratch, env=ENVIRONMENT,
                                  stdin=source, capture_output=True,
                                  timeout=LONG, preexec_fn=heed_signals)
        return done.returncode, done.stdout, done.stderr

    @staticmethod
    def compare(what, found, expected, normal=bytes):
        for name, a, b in zip(("output", "errors"), expected[1:], found[1:]):
            a, b = normal(a), normal(b)
            if a != b:
                raise Failure(f"{what}, {name}: {first_difference(a, b)}")
        equal(found[0], expected[0], what + ", status")

    def program(self, row):
        place = os.path.join(self.folder, row.name)
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(os.path.join(place, "inputs"))
        inputs = Inputs(os.path.join(place, "inputs"), row.name not in FULL)
        inputs.arch, inputs.sysroot = self.arch, self.options.sysroot
        name, *arguments = row.command(inputs)
        command = [find(self.options, name), *arguments]
        stdin = row.stdin(inputs) if row.stdin else os.devnull
        trace = os.path.join(place, "trace.cpr")
        cprec, root = self.options.cprec, self.options.sysroot
        normal = row.normal or bytes
        expected = self.execute(place, stdin, *self.arch.oracle(root),
                                *command)
        equal(expected[0], row.status, f"expected: {expected[2]}; status")
        begun = time.monotonic()
        recorded = self.execute(place, stdin, cprec, "record", "-q", "-o",
                                trace, "--sysroot=" + root, "--", *command)
        seconds = time.monotonic() - begun
        self.compare("record", recorded, expected, normal)
        every = recordings(trace)
        self.verify(place, every)
        replay = self.execute(place, os.devnull, cprec, "replay", trace)
        self.compare("replay", replay, (0, *recorded[1:]), without_notes)
        size = sum(os.path.getsize(path) for path in every) / 1e6
        if not self.options.keep:
            shutil.rmtree(place)
        return (f"recorded in {seconds:.1f} s, {len(every)} recordings,"
                f" {size:.1f} MB")

    def verify(self, place, every):
        wrong = []
        for path in every:
            done = self.execute(place, os.devnull, self.options.cprec,
                                "verify", "-q", path)
            if done[0] or done[2]:
                wrong.append(f"{path}: {done[2].decode().strip()}")
            info = json.loads(self.cprec("info", "--json", path).stdout)
            if info["arch"] != self.arch.name:
                wrong.append(f"{path}: {info['arch']}")
        expect(not wrong, "\n".join(wrong))


def run_all(options, folder):
    if options.list:
        print("\n".join(ROWS))
        return 0
    unknown = set(options.names) - set(ROWS)
    if unknown:
        sys.exit(f"foreign.py: it knows no {', '.join(sorted(unknown))}")
    oracle = ARCHITECTURES[options.arch].oracle("")[0]
    if not shutil.which(oracle):
        sys.exit(f"foreign.py: there is no {oracle}: ./setup test installs it")
    options.sysroot = options.sysroot or os.path.join(folder, "sysroot")
    unpack(options.arch, options.sysroot)
    tests = Tests(options, folder)
    for name in options.names or ROWS:
        if can_be_linked(tests.arch, name):
            tests.test(name, tests.program, ROWS[name])
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--arch", choices=ARCHITECTURES, default="arm64")
    parser.add_argument("--sysroot", type=os.path.abspath, metavar="FOLDER",
                        help="where the packages are unpacked, and stay")
    parser.add_argument("--list", action="store_true", help="name all programs")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    sys.exit(main(run_all, parser=parser))
