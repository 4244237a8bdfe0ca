#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that are broken, or mean harm, over a real connection.

Whatever comes, the server ends by itself with status 0 when its client has gone,
has said nothing about it, has answered those requests that were whole, and has
left the recording as it was.  `--messages` more go straight to the server, from
tests/fuzz/run_requests.c.
"""
import argparse
import hashlib
import os
import random
import re
import select
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main  # noqa: E402

LOOP = r"""
static volatile int total;
static __attribute__((noinline)) void tally(int i) { total += i; }
int main(void)
{
  for (int i = 0; i < 30000000; i++)
    tally(i);
  return total == 1;
}
"""

# Agent expressions: goto 0; a push, and again; a condition that is not met, and
# prints for ever; strings that have no end; garbage.
NEVER, ALWAYS = "X3,220027", "X3,220127"
CODES = [
    "X3,210000", "X5,2201210000", "X7,22012905210000", "X2,ffff", "X0,",
    f"{ALWAYS};cmds:0,X3,210000", f"{ALWAYS}X4,22002700;cmds:1,X0,X1,27",
    f"{ALWAYS};cmds:0,X10,22002200340000056161616161210000",
    f"{ALWAYS};cmds:0,X10,26000722002200340100022573210000",
]

ANSWER = re.compile(rb"([^$]*)\$([^#]*)#..", re.S)

ALL = (1 << 64) - 1


def packet(body):
    body = body if isinstance(body, bytes) else body.encode()
    return b"$%s#%02x" % (body, sum(body) & 255)


class Client:
    """One server, and the first connection to it."""

    def __init__(self, cprec, path, *options):
        self.process = subprocess.Popen(
            [cprec, "gdbserver", "--port=0", "--from=start", *options, path],
            stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.port = int(re.search(r":(\d+)", line)[1])
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        self.socket.settimeout(60)
        self.rest, self.at = b"", 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.process.kill()
        self.socket.close()
        said = self.process.stderr.read()
        status = self.process.wait(timeout=60)
        self.process.stderr.close()
        if not kind:
            equal((status, said), (0, ""), "exit status and what it said")

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        """The next answer, and what confirms or refuses came before."""
        while not (found := ANSWER.match(self.rest, self.at)):
            more = self.socket.recv(1 << 20)
            expect(more, "the connection is over")
            self.rest, self.at = self.rest[self.at:] + more, 0
        self.at = found.end()
        return found[2], found[1]

    def ask(self, body):
        self.send(packet(body))
        return self.receive()[0].decode("latin1")

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmHWM:\s*(\d+)", file.read())[1]) >> 10


class Hostile(CprecTap):
    def record(self, name, *program):
        path = os.path.join(self.folder, name + ".cpr")
        if not os.path.exists(path):
            done = self.cprec("record", "-q", "-o", path, "--", *program)
            expect(os.path.exists(path), done.stderr)
        return path

    def loop(self):
        program = os.path.join(self.folder, "loop")
        with open(program + ".c", "w") as file:
            file.write(LOOP)
        subprocess.run(["cc", "-O1", "-g", "-o", program, program + ".c"],
                       check=True)
        return self.record("loop", program)

    def client(self, *options, name="small"):
        path = self.record("small", "/bin/true")
        return Client(self.options.cprec,
                      path if name == "small" else self.loop(), *options)

    def state(self):
        """Of the folder: names and contents, but for what cprec keeps."""
        found = {}
        for name in sorted(os.listdir(self.folder)):
            if re.fullmatch(r".*\.cpr\.(idx|marks)", name):
                continue
            path = os.path.join(self.folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[name] = hashlib.sha256(file.read()).hexdigest()
        return found

    # ------- connections -------

    def closed(self):
        """At any byte of an exchange."""
        whole = packet("qSupported:swbreak+") + b"+" + packet("vCont;c")
        for size in 0, 1, 2, 10, len(whole) - 3, len(whole) - 1, len(whole):
            with self.client() as client:
                client.send(whole[:size])

    def silent(self):
        with self.client() as client:
            client.send(b"$vCont;s:p1")
            time.sleep(0.3)
            expect(not select.select([client.socket], [], [], 0)[0],
                   "half a request is answered")
            client.send(b".1#00" + packet("qC"))
            said, marks = client.receive()
            equal((said[:3], marks), (b"QCp", b"-+"), "answer")

    def many(self):
        with self.client() as client:
            for _ in range(50):
                try:
                    other = socket.create_connection(
                        ("127.0.0.1", client.port), timeout=1)
                    other.close()
                except OSError:
                    pass
            equal(client.ask("qAttached"), "1", "the first one's answer")

    def damaged(self):
        """What confirms or refuses each, and answers."""
        for bad, marks, answers in (
                (b"$?#00", b"-", []), (b"$?#zz", b"-", []),
                (b"$qC", b"-", None), (b"$$$?#3f", b"-", []),
                (b"#00#00\xff+-$m0,1#00", b"-", []),
                # An escape of nothing, one that is none, a run.
                (packet(b"qAttached}"), b"+", [b"1"]),
                (packet(b"}\x51Attached"), b"+", [b"1"]),
                (packet(b"q* "), b"+", [b""]), (packet(b""), b"+", [b""]),
                (b"$" + b"?" * (1 << 17) + b"#00", b"-", [])):
            with self.client() as client:
                client.send(bad)
                # What has no end takes the first bytes of what follows.
                if answers is None:
                    client.send(b"#00")
                for answer in answers or []:
                    said, mark = client.receive()
                    equal((said, mark), (answer, marks), f"{bad}")
                client.send(packet("qC"))
                said, mark = client.receive()
                equal((said[:3], mark),
                      (b"QCp", b"+" if answers else marks + b"+"), f"{bad}")

    def huge(self):
        with self.client() as client:
            before = client.memory()
            client.send(b"$" + b"m" * (20 << 20))
            client.send(b"#00" + packet("qC"))
            said, marks = client.receive()
            equal((said[:3], marks), (b"QCp", b"-+"), "answer")
            expect(client.memory() - before < 20,
                   f"{client.memory() - before} MB more")

    def flood(self):
        """Nobody reads the answers; then it has gone."""
        for body in "g", "bc", "vCont;c", "qXfer:threads:read::0,1000":
            with self.client(name="loop") as client:
                client.socket.settimeout(0.5)
                try:
                    for _ in range(200):
                        client.send(packet(body) * 100)
                except OSError:
                    pass
                begun = time.monotonic()
                client.socket.close()
                client.process.wait(timeout=60)
                took = time.monotonic() - begun
                expect(took < 20, f"{body}: it ran for {took:.1f} s more")

    def noise(self):
        chance = random.Random(1)
        for size in 1, 100, 10000, 1000000:
            with self.client() as client:
                noise = chance.randbytes(size)
                client.send(noise + b"#00#00" + packet("qC"))
                while not client.receive()[0].startswith(b"QCp"):
                    pass

    def pipes(self):
        """Standard input and output are closed, in either order."""
        for closed in "stdin", "stdout":
            server = subprocess.Popen(
                [self.options.cprec, "gdbserver", "--stdio",
                 os.path.join(self.folder, "small.cpr")],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            getattr(server, closed).close()
            try:
                if closed == "stdout":
                    server.stdin.write(packet("?") * 3)
                    server.stdin.close()
            except OSError:
                pass
            said = server.stderr.read()
            status = server.wait(timeout=60)
            equal((status, said), (0, b""), f"{closed} is closed")
            for file in server.stdout, server.stderr:
                file.close()

    # ------- requests -------

    def loops(self):
        """Conditions and commands that have no end, where all pass."""
        with self.client(name="loop") as client:
            client.ask("QStartNoAckMode")
            begin = client.ask("qXfer:auxv:read::0,1000")
            expect(begin, "auxv")
            client.ask("qRcmd," + b"goto end".hex())
            found = client.ask("qRcmd," + b"address tally".hex())
            addr = bytes.fromhex(found).decode().split()[0]
            longest = 0
            for code in CODES:
                said = client.ask(f"Z0,{int(addr, 16):x},1;{code}")
                equal(said, "OK", code)
                client.ask("qRcmd," + b"goto start".hex())
                longest = max(longest, self.interrupt(client, code))
            return f"stopped after {longest * 1000:.0f} ms at most"

    def interrupt(self, client, code):
        """The seconds until it has stopped; a loop is a breakpoint that is met,
        unless it is one of commands."""
        client.send(packet("vCont;c"))
        if ";cmds" in code:
            time.sleep(0.3)
            client.send(b"\x03")
        begun = time.monotonic()
        while not (said := client.receive()[0]).startswith(b"T"):
            expect(said.startswith(b"O"), said)
        equal(said[:3], b"T02" if ";cmds" in code else b"T05", code)
        took = time.monotonic() - begun
        expect(took < 5, f"{code}: it stopped after {took:.1f} s")
        return took

    def late(self):
        """What has stopped by itself is not interrupted the next time."""
        with self.client() as client:
            stop = client.ask("vCont;s")
            client.send(b"\x03")
            time.sleep(0.2)
            for _ in range(2):
                stop = client.ask("vCont;s")
                equal(stop[:3], "T05", "a step behind it")
            client.send(packet("vCont;c") + b"\x03")
            expect(client.receive()[0][:3] in (b"T02", b"T05"), "a stop")

    def changes(self):
        """Of a recording that may not be changed, or may."""
        with self.client("--no-diversion") as client:
            before = client.ask("g")
            stack = bytes.fromhex(before[7 * 16:8 * 16])
            stack = int.from_bytes(stack, "little")
            held = client.ask(f"m{stack:x},40")
            for one in (f"M{stack:x},4:00112233", f"X{stack:x},1:a",
                        "P0=0000000000000000", "G" + "00" * 500,
                        f"M{ALL:x},10:" + "00" * 16, f"X{ALL:x},8:abcdefgh",
                        f"M{stack:x},fffff:00", f"X{stack:x},ffff:a",
                        f"M{stack:x},{ALL:x}:00"):
                said = client.ask(one)
                expect(said.startswith("E"), f"{one}: {said}")
            equal(client.ask("g"), before, "registers")
            equal(client.ask(f"m{stack:x},40"), held, "memory")
        with self.client() as client:
            equal(client.ask(f"M{stack:x},4:00112233"), "OK", "a change")
            equal(client.ask(f"m{stack:x},4"), "00112233", "... is there")
            client.ask("vCont;s")
            client.ask("bs")
            equal(client.ask(f"m{stack:x},40"), held, "... and gone")

    def offsets(self):
        with self.client() as client:
            for one in (f"qXfer:auxv:read::{ALL:x},{ALL:x}",
                        f"qXfer:features:read:target.xml:{ALL:x},1",
                        f"qXfer:threads:read::{ALL - 1:x},{ALL:x}"):
                equal(client.ask(one), "l", one)
            pid = int(re.search(r"p(\w+)\.", client.ask("qC"))[1], 16)
            maps = f"/proc/{pid}/maps".encode().hex()
            file = client.ask(f"vFile:open:{maps},0,0")[1:]
            expect(len(client.ask(f"vFile:pread:{file},{ALL:x},0")) > 100,
                   "maps")
            for at in ALL, ALL >> 1, 1 << 40:
                said = client.ask(f"vFile:pread:{file},{ALL:x},{at:x}")
                expect(said.startswith("F-1") or said == "F0;", said)
            for one in ("m0,1", f"m{ALL:x},{ALL:x}", f"x{ALL - 3:x},100",
                        f"qSearch:memory:{ALL:x};{ALL:x};a",
                        f"qSearch:memory:0;{ALL:x};a"):
                said = client.ask(one)
                expect(said.startswith("E"), f"{one}: {said}")

    def files(self):
        """Those of the recording, to be read, and no others."""
        with self.client() as client:
            for path in ("/etc/passwd", "/etc/hostname", "/proc/self/mem",
                         "/proc/1/environ", "/proc/self/maps", "/dev/zero",
                         "/bin/../etc/passwd", "etc/passwd", "", "/",
                         os.path.join(self.folder, "small.cpr")):
                said = client.ask(f"vFile:open:{path.encode().hex()},0,0")
                expect(said.startswith("F-1"), f"{path}: {said}")
            for flags in 1, 2, 0x200, 0x601, 0x400:
                said = client.ask("vFile:open:" + b"/bin/true".hex() +
                                  f",{flags:x},1b6")
                if flags & 3:
                    expect(said.startswith("F-1"), f"{flags}: {said}")
            for one in ("vFile:pwrite:0,0,a", "vFile:unlink:2f78"):
                equal(client.ask(one), "", one)

    # ------- more of it -------

    def requests(self):
        program = os.path.join(self.options.guests,
                               "guest_threads_signals")
        paths = [self.record("threads", program),
                 self.record("shell", "/bin/sh", "-c", "/bin/true; exec id")]
        done = subprocess.run(
            [self.options.requests, f"--messages={self.options.messages}",
             f"--seed={self.options.seed}", *paths],
            capture_output=True, text=True)
        equal((done.returncode, done.stderr), (0, ""), "status")
        return done.stdout.strip()


def run_all(options, folder):
    tests = Hostile(options, folder)
    tests.record("small", "/bin/true")
    tests.loop()
    before = tests.state()
    for name, function in (
            ("closed", tests.closed), ("half a request", tests.silent),
            ("many connections", tests.many), ("damaged", tests.damaged),
            ("huge", tests.huge), ("nobody reads", tests.flood),
            ("noise", tests.noise), ("pipes", tests.pipes),
            ("loops without end", tests.loops),
            ("too late", tests.late), ("changes", tests.changes), ("offsets", tests.offsets),
            ("files", tests.files)):
        tests.test(name, function)
    tests.test("the folder is as it was",
               lambda: equal(tests.state(), before, "files"))
    tests.test("requests", tests.requests)
    return tests.summary()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--requests", help="tests/fuzz/fuzz_requests")
    PARSER.add_argument("--guests", help="where guests are")
    PARSER.add_argument("--messages", type=int, default=1000)
    PARSER.add_argument("--seed", type=int, default=1)
    sys.exit(main(run_all, parser=PARSER))
