# SPDX-License-Identifier: GPL-2.0-or-later
"""Speaks gdb's protocol with cprec gdbserver, as gdb does."""
import re
import subprocess

# Numbers of pc and sp, how many general registers, and their bytes.
MACHINES = {"aarch64": (32, 31, 33, 8), "i386": (8, 4, 9, 4),
            "arm": (15, 13, 17, 4)}


class Remote:
    """One connection.  Positions are texts."""

    def __init__(self, cprec, path, *options):
        self.process = subprocess.Popen(
            [cprec, "gdbserver", "--stdio", *options, path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.send("QStartNoAckMode")
        self.process.stdout.read(1)
        self.receive()
        self.process.stdin.write(b"+")
        features = self.ask("qXfer:features:read:target.xml:0,200")
        # There, an access stops it before.
        arch = next((name for name in MACHINES if f">{name}<" in features),
                    None)
        self.watches_before = arch in ("aarch64", "arm")
        self.pc_number, self.sp_number, self.general, self.word = MACHINES.get(
            arch, (16, 7, 17, 8))
        self.watches = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def send(self, request):
        data = request.encode()
        self.process.stdin.write(b"$%s#%02x" % (data, sum(data) & 255))
        self.process.stdin.flush()

    def receive(self):
        """The text of a reply; gdb's escapes are not needed for these."""
        reply = b""
        while not reply.endswith(b"#"):
            byte = self.process.stdout.read(1)
            if not byte:
                raise OSError("the server has ended")
            reply += byte
        self.process.stdout.read(2)
        return reply[1:-1].decode("latin1")

    def ask(self, request):
        self.send(request)
        return self.receive()

    def pass_signals(self):
        """None stops the program."""
        self.ask("QPassSignals:" + ";".join(f"{n:x}" for n in range(1, 79)))

    def monitor(self, words):
        reply = self.ask(f"qRcmd,{words.encode().hex()}")
        if reply.startswith("E"):
            raise ValueError(reply)
        return bytes.fromhex(reply).decode().strip()

    def goto(self, position):
        return self.monitor(f"goto {position}")

    def when(self):
        return self.monitor("when")

    def resume(self, request):
        """What a stop tells: its thread, and why, if there is a reason.  What the
        program prints on the way is passed over."""
        reply = self.ask(request)
        while reply.startswith("O"):
            reply = self.receive()
        if not reply.startswith("T"):
            raise ValueError(f"{request}: {reply}")
        thread = re.search(r"thread:p[0-9a-f]+\.([0-9a-f]+);", reply)[1]
        why = re.search(r"(swbreak|r?watch|awatch|replaylog|syscall_entry|"
                        r"syscall_return|v?fork|vforkdone|exec):([^;]*);",
                        reply)
        return int(thread, 16), int(reply[1:3], 16), why and why[0]

    def registers(self):
        return self.ask("g")

    def pc(self):
        return self.register(self.pc_number)

    def insert(self, point):
        reply = self.ask("Z" + point)
        if not point.startswith("0"):
            self.watches.add(point)
        return reply

    def access(self, stop, request):
        """Lets an access happen that it has stopped before, as gdb does."""
        for point in self.watches:
            self.ask("z" + point)
        self.ask(f"Hcp0.{stop[0]:x}")
        self.ask(request)
        for point in self.watches:
            self.ask("Z" + point)

    def register(self, number):
        return int.from_bytes(bytes.fromhex(self.ask(f"p{number:x}")),
                              "little")

    def memory(self, addr, size):
        return self.ask(f"m{addr:x},{size:x}")
