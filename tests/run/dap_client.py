# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of the Debug Adapter Protocol, as an editor is one."""
import json
import queue
import subprocess
import threading

from tap import Failure, equal, expect

PATIENCE = 60       # seconds


class Client:
    def __init__(self, command, folder):
        self.server = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.messages = queue.SimpleQueue()
        self.events = []        # that nobody has waited for yet
        self.answers = {}       # likewise, by numbers of requests
        self.sent = 0
        self.thread = None      # that stopped last
        self.printed = ""       # by the program
        threading.Thread(target=self.read_all, daemon=True).start()

    # ------- messages -------

    def read_one(self):
        size = None
        while (line := self.server.stdout.readline()).strip():
            name, value = line.split(b":")
            if name == b"Content-Length":
                size = int(value)
        return json.loads(self.server.stdout.read(size)) if line else None

    def read_all(self):
        while (message := self.read_one()) is not None:
            self.messages.put(message)
        self.messages.put(None)

    def send(self, command, **arguments):
        self.sent += 1
        text = json.dumps({"seq": self.sent, "type": "request",
                           "command": command, "arguments": arguments})
        self.server.stdin.write(
            f"Content-Length: {len(text)}\r\n\r\n{text}".encode())
        self.server.stdin.flush()
        return self.sent

    def receive(self):
        try:
            message = self.messages.get(timeout=PATIENCE)
        except queue.Empty:
            raise Failure("nothing comes any more") from None
        expect(message is not None, "the server ended")
        return message

    def take_one(self):
        message = self.receive()
        if message["type"] == "event":
            self.events.append(message)
            if message["event"] == "output" and \
                    message["body"]["category"] == "stdout":
                self.printed += message["body"]["output"]
        else:
            self.answers[message["request_seq"]] = message

    def answer(self, number):
        while number not in self.answers:
            self.take_one()
        return self.answers.pop(number)

    # ------- requests -------

    def fails(self, command, **arguments):
        """What it says then."""
        answer = self.answer(self.send(command, **arguments))
        expect(not answer["success"], f"{command} succeeded: {answer}")
        return answer["message"]

    def ask(self, command, **arguments):
        answer = self.answer(self.send(command, **arguments))
        expect(answer["success"],
               f"{command} {arguments}: {answer.get('message')}")
        return answer.get("body")

    def event(self, name):
        """The next of that name; those before it are gone."""
        while True:
            while not self.events:
                self.take_one()
            message = self.events.pop(0)
            if message["event"] == name:
                return message.get("body")

    def prints(self, text):
        """Waits until that is all that was printed."""
        while self.printed != text and text.startswith(self.printed):
            self.take_one()
        equal(self.printed, text, "printed")
        self.printed = ""

    def stop(self):
        body = self.event("stopped")
        self.thread = body["threadId"]
        return body

    def move(self, command, **arguments):
        """The stop behind it."""
        self.events = []
        self.ask(command, threadId=self.thread, **arguments)
        return self.stop()

    def begin(self, request="launch", breakpoints=(), **configuration):
        """As VS Code does it; the stop behind it."""
        self.ask("initialize", adapterID="cprec", linesStartAt1=True,
                 columnsStartAt1=True, pathFormat="path",
                 supportsVariablePaging=True)
        begun = self.send(request, **configuration)
        self.event("initialized")
        for path, lines in breakpoints:
            self.set_breakpoints(path, *lines)
        done = self.send("configurationDone")
        for number in sorted((begun, done)):
            answer = self.answer(number)
            expect(answer["success"], f"{answer}")
        return self.stop()

    def set_breakpoints(self, path, *lines):
        """A line is a number, or has more than that."""
        lines = [line if isinstance(line, dict) else {"line": line}
                 for line in lines]
        found = self.ask("setBreakpoints", source={"path": path},
                         breakpoints=lines)["breakpoints"]
        return found

    def frames(self):
        return self.ask("stackTrace", threadId=self.thread,
                        startFrame=0, levels=20)["stackFrames"]

    def place(self):
        """"function:line" of the innermost frame."""
        frame = self.frames()[0]
        return f"{frame['name']}:{frame['line']}"

    def scope(self, name, frame=0):
        frames = self.frames()
        for scope in self.ask("scopes",
                              frameId=frames[frame]["id"])["scopes"]:
            if scope["name"] == name:
                return scope["variablesReference"]
        raise Failure(f"there is no scope {name}")

    def variables(self, name, frame=0):
        """Of a scope: values by names."""
        listed = self.ask("variables",
                          variablesReference=self.scope(name, frame))
        return {one["name"]: one["value"] for one in listed["variables"]}

    def value(self, expression, context="watch"):
        return self.ask("evaluate", expression=expression, context=context,
                        frameId=self.frames()[0]["id"])["result"]

    # ------- the end -------

    def end(self, command="disconnect", **arguments):
        """The exit status."""
        self.ask(command, **arguments)
        if command == "terminate":
            self.event("terminated")
            self.ask("disconnect")
        self.server.stdin.close()
        return self.server.wait(timeout=PATIENCE)

    def close(self):
        if self.server.poll() is None:
            self.server.kill()
            self.server.wait()
