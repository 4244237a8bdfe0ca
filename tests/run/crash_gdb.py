# SPDX-License-Identifier: GPL-2.0-or-later
"""Executed by gdb: runs a program until it dies, and prints what of."""
import json
import os

import gdb

from backtrace_gdb import frames, settings

settings()
if os.environ.get("HANDLED"):
    gdb.execute(f"handle {os.environ['HANDLED']} nostop noprint pass",
                to_string=True)
gdb.execute("run", to_string=True)
info = gdb.parse_and_eval("$_siginfo")
print("CRASH", json.dumps({
    "signal": int(info["si_signo"]),
    "code": int(info["si_code"]),
    "addr": int(info["_sifields"]["_sigfault"]["si_addr"]),
    "frames": frames()}))
