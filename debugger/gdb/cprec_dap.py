# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording for editors: what gdb's own DAP server lacks for it.

gdb runs this before its server begins.  Requests are registered as gdb's own
are: backwards, data breakpoints, and those that open what is to be debugged.
gdb's scripts share one namespace: no name is in cprec_commands.py, too, and its
open_static_anew() is used.

Source: the Debug Adapter Protocol 1.68; gdb.dap of gdb 14 to 18.
"""
import importlib
import inspect
import os
import re
import shlex
import tempfile
from typing import Optional, Sequence

import gdb
from gdb.dap import breakpoint as breakpoints
from gdb.dap import events, frames, varref
from gdb.dap.startup import DAPException

# gdb.dap.server is the server, too.
server = importlib.import_module("gdb.dap.server")


class Session:
    """What is known from one request to the next."""

    server = ()             # the command line of `cprec gdbserver`
    is_opening = False      # what gdb tells then is no news
    entry = None            # the stop to tell when all is configured
    start = None            # the position where it was opened
    runs_on = False         # nobody wants to see the entry
    backwards = False       # the last command
    position = None         # of the last stop
    stops = 0               # told so far
    told = {}               # more words for the stop that is told next


# ------- gdb -------

def command(name):
    """A command of gdb's, as a function."""
    class Command(gdb.Command):
        def __init__(self, run):
            super().__init__(name, gdb.COMMAND_SUPPORT)
            self.invoke = lambda words, from_tty: run(words)
    return Command


def quietly(line):
    return gdb.execute(line, to_string=True)


def request(name, **more):
    """Ours in place of gdb's, if it has one; that is `function.instead_of`."""
    def register(function):
        old = server._commands.pop(name, None)
        function = server.request(name, **more)(function)
        function.instead_of = old
        return function
    return register


def capability(name, value=True):
    server._capabilities.pop(name, None)
    return server.capability(name, value)


@command("cprec-dap")
def remember_server(words):
    Session.server = tuple(shlex.split(words))


# ------- where time stands -------

def position():
    """As text; None if nothing is open."""
    try:
        return quietly("monitor when").strip()
    except gdb.error:
        return None


def order(text):
    """That of positions: "12.1" is behind "12"."""
    return [int(part) for part in re.findall(r"\d+", text or "")]


def forget():
    """gdb does not know that time moved."""
    quietly("maintenance flush register-cache")
    quietly("maintenance flush dcache")
    for module, function in (("frames", "_clear_frame_ids"),
                             ("scopes", "clear_scopes"),
                             ("globalvars", "clear"),
                             ("varref", "clear_vars")):
        module = getattr(gdb.dap, module, None)
        getattr(module, function, lambda event: None)(None)
    threads = gdb.selected_inferior().threads()
    if threads and gdb.selected_thread() not in threads:
        threads[-1].switch()


# ------- telling that it stopped -------

def more_of_stop(event, now):
    """Words that DAP has for a stop, beside those of gdb."""
    details = getattr(event, "details", {})
    is_signal = isinstance(event, gdb.SignalEvent)
    if is_signal and event.stop_signal not in ("SIGINT", "SIGTRAP", "0"):
        return {"reason": "exception", "text": details["signal-meaning"],
                "description": f"{event.stop_signal} at {now}"}
    if is_signal or isinstance(event, gdb.BreakpointEvent):
        return {}
    if details.get("reason", "no-history") != "no-history":
        return {}
    # gdb has no reason where the recording ends.
    moved = order(now) < order(Session.position)
    still = now == Session.position and Session.backwards
    where = "start" if moved or still else "end"
    return {"reason": f"{where} of the recording"}


def on_stop(event):
    now = position()
    Session.stops += 1
    Session.told = more_of_stop(event, now)
    Session.position = now


def send_event(self, event, body=None):
    """As the server's own, which this replaces."""
    if Session.is_opening and event in ("stopped", "continued"):
        return
    if event == "stopped":
        body.update(Session.told)
        Session.told = {}
        body.setdefault("description", "Paused on {} at {}".format(
            body["reason"], Session.position))
    send_event.instead_of(self, event, body)


def tell_stop(reason, **more):
    """A stop that gdb knows nothing of."""
    Session.position = position()
    Session.told = more
    server.send_event("stopped", {
        "reason": reason, "allThreadsStopped": True,
        "threadId": gdb.selected_thread().global_num})


# What gdb calls when something happens; 18 sends it later, if it must.
SENDS = "send_event" if hasattr(server.Server, "send_event") else \
    "send_event_maybe_later"
send_event.instead_of = getattr(server.Server, SENDS)
setattr(server.Server, SENDS, send_event)
# Ours comes before gdb's, which sends the event.
gdb.events.stop.disconnect(events._on_stop)
gdb.events.stop.connect(on_stop)
gdb.events.stop.connect(events._on_stop)


# ------- ending -------

def end_what_runs(terminate):
    """gdb 18 fails if there is nothing to end any more."""
    if gdb.selected_inferior().pid:
        end_what_runs.instead_of(terminate)


if hasattr(server, "_disconnect_or_kill"):
    end_what_runs.instead_of = server._disconnect_or_kill
    server._disconnect_or_kill = end_what_runs


# ------- opening -------

def server_words(recording, goto, pid):
    """The command line that serves what the editor wants."""
    words = list(Session.server)
    file = None
    if "--" in words:
        file = words[words.index("--") + 1]
        words = words[:words.index("--")]
    if goto:
        words = [word for word in words if not word.startswith("--from=")]
        words.append(f"--from={goto}")
    if pid:
        words.append(f"--pid={pid}")
    # gdb tells the editor what is written there; what the server writes to its
    # standard error, gdb keeps.
    words.append(f"--output=/proc/{os.getpid()}/fd/1")
    if recording or file:
        words += ["--", recording or file]
    return words


def connect(words):
    """Raises what the server says if it does not come up."""
    line = " ".join(shlex.quote(word) for word in words)
    with tempfile.NamedTemporaryFile("r", errors="replace") as said:
        try:
            quietly(f"target extended-remote | {line} 2>{said.name}")
        except gdb.error as error:
            why = said.read().strip().splitlines()
            raise DAPException(why[-1] if why else str(error)) from None
    open_static_anew()


def open_for_editor(recording, goto, pid, cwd):
    if cwd:
        quietly("cd " + cwd)
    events.expect_process("attach")
    Session.is_opening = True
    try:
        connect(server_words(recording, goto, pid))
    finally:
        Session.is_opening = False
    Session.start = Session.position = position()
    Session.entry = dict(Session.told)
    Session.told = {}


def begin(*, recording=None, program=None, goto=None, pid=None, cwd=None,
          stopOnEntry=True):
    Session.runs_on = not stopOnEntry
    if Session.start is None:
        open_for_editor(recording or program, goto, pid, cwd)


@request("launch")
def launch(*, recording: Optional[str] = None,
           program: Optional[str] = None, goto=None, pid=None,
           cwd: Optional[str] = None, stopOnEntry: bool = True, **args):
    begin(recording=recording, program=program, goto=goto, pid=pid, cwd=cwd,
          stopOnEntry=stopOnEntry)


@request("attach")
def attach(*, recording: Optional[str] = None,
           program: Optional[str] = None, goto=None, pid=None,
           cwd: Optional[str] = None, stopOnEntry: bool = True, **args):
    begin(recording=recording, program=program, goto=goto, pid=pid, cwd=cwd,
          stopOnEntry=stopOnEntry)


def enter():
    if Session.start is None:
        return
    if Session.runs_on:
        run("continue")
    elif Session.entry.get("reason") == "exception":
        tell_stop(**Session.entry)
    else:
        tell_stop("entry")


@capability("supportsConfigurationDoneRequest")
@request("configurationDone", response=False)
def configuration_done(**args):
    enter()


@capability("supportsRestartRequest")
@request("restart")
def restart(**args):
    quietly(f"monitor goto {Session.start}")
    forget()
    server.send_gdb(lambda: tell_stop("entry"))


# ------- running -------

def run(line, backwards=False):
    """gdb's way of running something, by a name that it has in 14 to 18."""
    Session.backwards = backwards
    wanted = inspect.signature(events.exec_and_expect_stop).parameters
    if "reason" in wanted:
        events.exec_and_expect_stop(line, events.StopKinds.STEP)
    else:
        events.exec_and_expect_stop(line)


def choose(thread, alone):
    for one in gdb.selected_inferior().threads():
        if one.global_num == thread:
            one.switch()
    quietly(f"set scheduler-locking {'on' if alone else 'off'}")


@capability("supportsStepBack")
@request("stepBack", response=False)
def step_line_back(*, threadId: int, singleThread: bool = False,
                   granularity: str = "statement", **args):
    choose(threadId, singleThread)
    back = {"instruction": "reverse-stepi"}.get(granularity, "reverse-next")
    run(back, backwards=True)


@request("reverseContinue", response=False)
def reverse_continue(*, threadId: int, singleThread: bool = False, **args):
    choose(threadId, singleThread)
    run("reverse-continue", backwards=True)


# ------- commands of the user -------

def moved(before, stops):
    """Behind a command: whether it moved time without gdb."""
    now = position()
    if now is not None and now != before and Session.stops == stops:
        forget()
        tell_stop("goto")


@request("evaluate", on_dap_thread=True)
def evaluate(*, context: str = "variables", **args):
    if context != "repl":
        return evaluate.instead_of(context=context, **args)
    before, stops = server.send_gdb_with_response(
        lambda: (position(), Session.stops))
    try:
        return evaluate.instead_of(context=context, **args)
    finally:
        server.send_gdb(lambda: moved(before, stops))


# ------- threads -------

@request("threads")
def threads(**args):
    """Each with a name, which DAP wants."""
    return {"threads": [
        {"id": one.global_num,
         "name": one.name or one.details or f"thread {one.ptid[1]}"}
        for one in gdb.selected_inferior().threads()]}


# ------- data breakpoints -------

SIZES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int",
         8: "unsigned long"}
KINDS = {"write": gdb.WP_WRITE, "read": gdb.WP_READ,
         "readWrite": gdb.WP_ACCESS}


def value_of(name, reference, frame):
    if reference is not None:
        parent = varref.find_variable(reference)
        child = parent.find_child_by_name(name)
        # gdb 18 has it by another name.
        return child.value if hasattr(child, "value") else child._value
    if frame is not None:
        frames.select_frame(frame)
    return gdb.parse_and_eval(name)


@capability("supportsDataBreakpoints")
@request("dataBreakpointInfo")
def data_breakpoint_info(*, name: str,
                         variablesReference: Optional[int] = None,
                         frameId: Optional[int] = None, **args):
    try:
        value = value_of(name, variablesReference or None, frameId)
    except (gdb.error, DAPException) as error:
        return {"dataId": None, "description": str(error)}
    if value.address is None:
        return {"dataId": None, "description": f"{name} is not in memory"}
    size = value.type.strip_typedefs().sizeof
    return {"dataId": f"{int(value.address):#x},{size}",
            "description": f"{name}, {size} bytes", "canPersist": False,
            "accessTypes": list(KINDS)}


def watch(*, dataId, accessType):
    address, size = dataId.split(",")
    kind = SIZES.get(int(size), f"char ({{}})[{size}]")
    pointer = kind.format("*") if "{}" in kind else kind + " *"
    with gdb.with_parameter("language", "c"):
        return gdb.Breakpoint(f"* ({pointer}) {address}",
                              type=gdb.BP_WATCHPOINT,
                              wp_class=KINDS[accessType])


@request("setDataBreakpoints")
def set_data_breakpoints(*, breakpoints: Sequence, **args):
    wanted = [{"dataId": one["dataId"],
               "accessType": one.get("accessType", "write"),
               "condition": one.get("condition"),
               "hitCondition": one.get("hitCondition")}
              for one in breakpoints]
    return {"breakpoints": set_breakpoints("data", wanted, watch)}


# That of gdb, by its name in 14 to 16 and in 18.
set_breakpoints = getattr(breakpoints, "_set_breakpoints_callback", None) or \
    breakpoints._set_breakpoints
