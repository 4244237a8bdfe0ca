# SPDX-License-Identifier: GPL-2.0-or-later
"""What <cprec.h> declares, for ctypes; a test compares both."""
import ctypes
from ctypes import (CFUNCTYPE, POINTER, c_bool, c_char, c_char_p, c_int,
                    c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)

Bytes = POINTER(c_uint8)
Texts = POINTER(c_char_p)


def structure(name, *fields):
    """The structure cprec_NAME; fields are (name, type)."""
    made = type(name, (ctypes.Structure,), {"_fields_": list(fields)})
    STRUCTURES[name] = made
    return made


STRUCTURES = {}

Failure = structure("failure", ("text", c_char * 512))
Position = structure("position", ("time", c_uint64), ("events", c_uint32),
                     ("reserved", c_uint32))

Info = structure(
    "info", ("path", c_char_p), ("pid", c_uint32), ("start", Position),
    ("end", Position), ("arch", c_char_p), ("program", c_char_p),
    ("argv", Texts), ("directory", c_char_p), ("host", c_char_p),
    ("made_by", c_char_p), ("started", c_int64), ("threads", c_uint32),
    ("key_frames", c_uint64), ("file_size", c_uint64),
    ("is_complete", c_bool), ("exit_signal", c_uint32),
    ("exit_code", c_uint32), ("has_become", c_bool), ("is_machine", c_bool),
    ("address_size", c_uint32))
Process = structure("process", ("name", c_char_p), ("path", c_char_p),
                    ("pid", c_uint32), ("is_this", c_bool),
                    ("program", c_char_p), ("called", c_char_p))
Program = structure("program", ("at", Position), ("path", c_char_p),
                    ("argv", Texts), ("directory", c_char_p))
Thread = structure("thread", ("tid", c_uint32), ("first", c_uint64),
                   ("last", c_uint64), ("instructions", c_uint64),
                   ("has_ended", c_bool))
Crash = structure(
    "crash", ("signal", c_uint32), ("signal_name", c_char_p),
    ("at", Position), ("tid", c_uint32), ("is_fault", c_bool),
    ("has_addr", c_bool), ("is_write", c_bool), ("is_fetch", c_bool),
    ("is_mapped", c_bool), ("addr", c_uint64))

Module = structure(
    "module", ("path", c_char_p), ("build_id", c_char_p), ("kept", c_uint64),
    ("kept_debug", c_uint64))
ModuleSymbol = structure("module_symbol", ("addr", c_uint64),
                         ("length", c_uint64), ("kind", c_uint32),
                         ("is_thumb", c_bool), ("name", c_char_p))
FileInfo = structure("file_info", ("length", c_uint64), ("changed", c_int64),
                     ("path", c_char_p))

State = structure(
    "state", ("at", Position), ("tid", c_uint32), ("instructions", c_uint64),
    ("has_turn", c_bool), ("has_ended", c_bool))
Watch = structure("watch", ("addr", c_uint64), ("length", c_uint64),
                  ("reads", c_bool), ("writes", c_bool),
                  ("reserved", c_uint8 * 6))
PrintedVisit = CFUNCTYPE(None, c_void_p, c_uint32, Bytes, c_uint64)
BreakMet = CFUNCTYPE(c_int, c_void_p, c_void_p)
Until = structure(
    "until", ("size", c_size_t), ("backwards", c_bool), ("has_to", c_bool),
    ("to", Position), ("breaks", POINTER(c_uint64)),
    ("break_count", c_size_t), ("watches", POINTER(Watch)),
    ("watch_count", c_size_t), ("signals", c_bool), ("is_met", BreakMet),
    ("context", c_void_p), ("calls", c_bool), ("returns", c_bool),
    ("call_numbers", POINTER(c_uint64)), ("call_number_count", c_size_t),
    ("here", c_bool), ("passed_signals", c_uint64 * 3),
    ("printed", PrintedVisit))
Walk = structure(
    "walk", ("size", c_size_t), ("backwards", c_bool), ("count", c_uint64),
    ("start", c_uint64), ("end", c_uint64), ("breaks", POINTER(c_uint64)),
    ("break_count", c_size_t), ("signals", c_bool))
Stop = structure(
    "stop", ("kind", c_int), ("at", Position), ("tid", c_uint32),
    ("index", c_size_t), ("by_kernel", c_bool), ("is_write", c_bool),
    ("pc", c_uint64), ("addr", c_uint64), ("length", c_uint64),
    ("signal", c_uint32), ("call", c_uint64), ("result", c_int64),
    ("others", c_bool), ("prints", c_bool))

Bookmark = structure("bookmark", ("name", c_char_p), ("at", Position),
                     ("text", c_char_p))

Memory = structure(
    "memory", ("addr", c_uint64), ("length", c_uint64), ("bytes", Bytes),
    ("known", Bytes), ("source", c_int), ("is_certain", c_bool),
    ("as_of", c_uint64), ("is_mapped", c_bool))
Mapping = structure(
    "mapping", ("start", c_uint64), ("end", c_uint64),
    ("protection", c_uint32), ("is_shared", c_bool), ("offset", c_uint64),
    ("name", c_char_p))
Register = structure(
    "register", ("name", c_char_p), ("number", c_uint32),
    ("length", c_uint32), ("bytes", Bytes), ("value", c_uint64),
    ("is_known", c_bool), ("is_general", c_bool))

Unit = structure(
    "unit", ("section", c_char_p), ("file", c_char_p),
    ("directory", c_char_p), ("language", c_char_p), ("producer", c_char_p),
    ("dwarf", c_uint32), ("has_macros", c_bool))
Place = structure(
    "place", ("symbol", c_char_p), ("data", c_char_p), ("module", c_char_p),
    ("function", c_char_p), ("linkage_name", c_char_p),
    ("offset", c_uint64), ("file", c_char_p), ("directory", c_char_p),
    ("line", c_uint32))
Line = structure(
    "line", ("start", c_uint64), ("end", c_uint64), ("first", c_uint64),
    ("file", c_char_p), ("line", c_uint32), ("is_statement", c_bool),
    ("is_linker", c_bool), ("is_resolver", c_bool), ("function", c_uint64),
    ("function_end", c_uint64), ("body", c_uint64))
Inlined = structure(
    "inlined", ("start", c_uint64), ("begins", c_bool),
    ("function", c_char_p), ("file", c_char_p), ("line", c_uint32))
Symbol = structure(
    "symbol", ("addr", c_uint64), ("length", c_uint64), ("kind", c_int),
    ("name", c_char_p), ("linkage_name", c_char_p), ("module", c_char_p),
    ("is_program", c_bool), ("file", c_char_p), ("line", c_uint32))
Text = structure(
    "text", ("path", c_char_p), ("text", c_void_p), ("length", c_size_t),
    ("lines", c_size_t), ("changed", c_int64))
Code = structure("code", ("size", c_size_t), ("start", c_uint64),
                 ("end", c_uint64), ("count", c_uint64), ("att", c_bool))
Instruction = structure(
    "instruction", ("addr", c_uint64), ("bytes", Bytes),
    ("length", c_uint32), ("text", c_char_p), ("symbol", c_char_p),
    ("has_target", c_bool), ("target", c_uint64),
    ("target_symbol", c_char_p))

DiversionRun = structure(
    "diversion_run", ("size", c_size_t), ("most", c_uint64),
    ("breaks", POINTER(c_uint64)), ("break_count", c_size_t),
    ("printed", PrintedVisit), ("context", c_void_p))

Frame = structure(
    "frame", ("number", c_uint64), ("pc", c_uint64), ("sp", c_uint64),
    ("code", c_uint64), ("is_sure", c_bool), ("is_signal", c_bool),
    ("is_inlined", c_bool), ("place", POINTER(Place)),
    ("is_tail_call", c_bool))
Variable = structure(
    "variable", ("name", c_char_p), ("type", c_char_p),
    ("value", c_char_p), ("is_argument", c_bool), ("is_scalar", c_bool),
    ("entry", c_char_p), ("brief", c_char_p))
Format = structure("format", ("size", c_size_t), ("letter", c_char),
                   ("is_raw", c_bool), ("length", c_uint64),
                   ("is_value", c_bool))
Bits = structure(
    "bits", ("addr", c_uint64), ("length", c_uint64),
    ("bit_offset", c_uint32), ("bit_size", c_uint32), ("is_signed", c_bool))
Value = structure(
    "value", ("type", c_char_p), ("text", c_char_p), ("no_text", c_char_p),
    ("has_addr", c_bool), ("addr", c_uint64), ("is_code", c_bool),
    ("length", c_uint64), ("bytes", Bytes), ("known", Bytes))

Access = structure(
    "access", ("before", Position), ("after", Position), ("tid", c_uint32),
    ("kind", c_int), ("is_write", c_bool), ("is_change", c_bool),
    ("pc", c_uint64), ("by", c_char_p), ("addr", c_uint64),
    ("length", c_uint64), ("old_bytes", Bytes), ("old_known", Bytes),
    ("new_bytes", Bytes), ("new_known", Bytes), ("place", POINTER(Place)))
AccessVisit = CFUNCTYPE(c_int, c_void_p, POINTER(Access))
Accesses = structure(
    "accesses", ("size", c_size_t), ("addr", c_uint64),
    ("length", c_uint64), ("reads", c_bool), ("writes", c_bool),
    ("changes", c_bool), ("last", c_bool), ("has_value", c_bool),
    ("value", c_uint64), ("limit", c_uint64), ("has_from", c_bool),
    ("has_to", c_bool), ("from", Position), ("to", Position),
    ("visit", AccessVisit), ("context", c_void_p), ("tid", c_uint32),
    ("bit_offset", c_uint32), ("bit_size", c_uint32))
RegisterWrite = structure(
    "register_write", ("before", Position), ("tid", c_uint32),
    ("pc", c_uint64), ("by", c_char_p), ("name", c_char_p),
    ("length", c_uint32), ("old_bytes", Bytes), ("new_bytes", Bytes),
    ("place", POINTER(Place)))

Became = structure(
    "became", ("at", Position), ("old_at", Position), ("has_old", c_bool),
    ("is_place", c_bool), ("by", c_char_p), ("tid", c_uint32),
    ("pc", c_uint64), ("place", POINTER(Place)))
BecameVisit = CFUNCTYPE(c_int, c_void_p, POINTER(Became))
Condition = structure(
    "condition", ("size", c_size_t), ("text", c_char_p),
    ("where", c_char_p), ("tid", c_uint32), ("last", c_bool),
    ("has_from", c_bool), ("has_to", c_bool), ("from", Position),
    ("to", Position), ("limit", c_uint64), ("met", BecameVisit),
    ("context", c_void_p))

Call = structure(
    "call", ("number", c_uint64), ("function", c_char_p),
    ("linkage_name", c_char_p), ("module", c_char_p),
    ("is_program", c_bool), ("at", Position), ("tid", c_uint32),
    ("pc", c_uint64), ("sp", c_uint64), ("caller", c_uint64),
    ("is_jump", c_bool), ("depth", c_uint32), ("has_arguments", c_bool),
    ("arguments", POINTER(POINTER(Variable))),
    ("argument_count", c_size_t), ("end", c_int), ("ended", Position),
    ("has_instructions", c_bool), ("instructions", c_uint64),
    ("returned", POINTER(Variable)))
CallCount = structure(
    "call_count", ("function", c_char_p), ("linkage_name", c_char_p),
    ("module", c_char_p), ("is_program", c_bool), ("calls", c_uint64),
    ("instructions", c_uint64))
CallVisit = CFUNCTYPE(c_int, c_void_p, POINTER(Call), c_void_p)
CountVisit = CFUNCTYPE(c_int, c_void_p, POINTER(CallCount))
Calls = structure(
    "calls", ("size", c_size_t), ("patterns", Texts),
    ("pattern_count", c_size_t), ("tid", c_uint32), ("has_from", c_bool),
    ("has_to", c_bool), ("from", Position), ("to", Position),
    ("has_depth_most", c_bool), ("depth_most", c_uint64),
    ("limit", c_uint64), ("no_values", c_bool), ("begins", CallVisit),
    ("ends", CallVisit), ("counts", CountVisit), ("context", c_void_p))

Met = structure("met", ("point", c_size_t), ("at", Position),
                ("tid", c_uint32), ("function", c_char_p))
MetVisit = CFUNCTYPE(c_int, c_void_p, POINTER(Met), c_void_p)
Log = structure(
    "log", ("size", c_size_t), ("points", Texts), ("point_count", c_size_t),
    ("tid", c_uint32), ("has_from", c_bool), ("has_to", c_bool),
    ("from", Position), ("to", Position), ("met", MetVisit),
    ("context", c_void_p), ("expressions", Texts),
    ("expression_count", c_size_t))

Event = structure(
    "event", ("kind", c_int), ("at", Position), ("began", Position),
    ("tid", c_uint32), ("number", c_uint64), ("name", c_char_p),
    ("args", c_uint64 * 6), ("arguments", Texts),
    ("argument_count", c_size_t), ("result", c_int64),
    ("result_text", c_char_p), ("error", c_char_p), ("text", c_char_p))
EventVisit = CFUNCTYPE(c_int, c_void_p, POINTER(Event))
Events = structure(
    "events", ("size", c_size_t), ("tid", c_uint32), ("has_from", c_bool),
    ("has_to", c_bool), ("from", Position), ("to", Position),
    ("string_most", c_uint32), ("begins", c_bool), ("visit", EventVisit),
    ("context", c_void_p))
Output = structure(
    "output", ("at", Position), ("tid", c_uint32), ("descriptor", c_uint32),
    ("addr", c_uint64), ("length", c_uint64), ("text", c_void_p))
