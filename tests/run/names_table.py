# SPDX-License-Identifier: GPL-2.0-or-later
"""What names.py asks, of which program, at which of its marks."""

NUMBERS = [
    "counter", "big", "negative", "huge", "small_number", "tiny", "byte",
    "letter", "newline", "quote", "zero_char", "escape",
    "yes", "no", "third", "pi", "precise", "infinite", "not_a_number", "z", "wide", "wide_char",
    "wide_text", "color", "odd_color", "level", "flags", "no_flags",
    "odd_flags", "shared", "constant",
]
OBJECTS = [
    "table", "head", "*head", "named", "nothing", "matrix", "zeros", "mixed",
    "many", "nearly", "text", "empty", "full", "repeated", "runs", "marks",
    "odd_text", "octets", "message", "null_text", "words", "list", "pointer", "inside",
    "number", "packed", "leaf", "root", "nameless", "nothing_in_it", "call",
    "handles", "thing",
]
PARTS = [
    "no_number.value", "denormal.value", "signalling.value",
    "head->name", "head->next->id", "head->next->next->next", "table[1]",
    "table[1].name", "table[2].name[0]", "named.name", "matrix[1]",
    "matrix[1][2]", "*matrix", "**matrix", "words[0]", "*words[1]",
    "words[0][1]", "list[1]", "*list@2", "root.left->label", "*root.left",
    "root.left.leaf", "leaf.at.y", "leaf.at", "packed.a", "packed.b",
    "packed.c", "packed.d", "number.f", "number.bytes", "nameless.inner.b",
    "*inside", "inside[0]@3", "mixed[0]@5", "counter@1", "(*head).id",
    "head->name[1]", "*message", "message[4]", "(*call)", "*call",
]
ARITHMETIC = [
    "&counter", "&table[1]", "&head->name", "&head->next", "&matrix",
    "&matrix[1]", "&main", "main", "add", "&add", "*add", "head + 1",
    "head - 1 == &table[1]", "head - table", "*(head - 1)", "inside[-1]",
    "counter * 2 + 1", "counter / 5", "counter % 5", "-counter", "~counter",
    "!counter", "counter << 2", "big >> 3", "counter & 0xf", "counter | 1",
    "counter ^ 3", "counter == 42", "counter != 42", "counter < 50",
    "counter >= 50", "head && head->next", "nothing && nothing->id",
    "nothing == 0", "counter > 1 || nothing->id", "pi * 2", "pi > 3",
    "third + 1", "big * 2", "negative / 3", "negative + huge",
    "small_number + tiny", "letter + 1", "sizeof(table)", "sizeof table[0]",
    "sizeof(int)", "sizeof(struct node)", "sizeof(node_t *)",
    "(long)counter", "(char)counter", "(unsigned char)tiny", "(int)pi",
    "(double)counter", "(float)counter", "(int *)0x1000", "(long)head",
    "(struct node *)pointer", "*(struct node *)&table[1]",
    "((struct node *)&table[1])->name", "(char *)head->name",
    "*(int *)pointer", "{int}pointer", "(enum color)5", "(void *)0",
    "RED", "BLUE", "FLAG_A", "color == GREEN", "'x'", "'\\n'", "1.5 + 0",
    "3 + 4 * 2", "(3 + 4) * 2", "10 - 3 - 2", "1 ? 2 : 3",
    "1 << 40", "5u - 6", "1.0f * 2", "2e3 + 1",
]
SCOPES = [
    "hidden", "'names.c'::hidden", "'other.c'::hidden", "calls::count",
    "other::count", "stop::n", "::counter", "nowhere", "head->nowhere",
    "counter.x", "*counter_text@3", "own",
]
LOCALS = [
    "n", "list_head", "why", "factor", "local", "squares", "sum",
    "counter_text", "local.next->name", "squares[3]", "*list_head", "&n",
    "&local", "n + 1.5", "list_head->id + n", "*why@3", "sizeof(squares)",
]
FORMATS = [
    (text, letter)
    for text in ("counter", "negative", "byte", "tiny", "letter", "flags",
                 "yes", "mixed", "packed")
    for letter in "xduotc"
] + [
    ("head", "x"), ("table[0]", "x"), ("head", "a"), ("call", "a"),
    ("inside", "a"), ("pi", "f"), ("third", "f"), ("message", "s"),
    ("text", "s"), ("octets", "x"), ("octets", "d"), ("octets", "u"),
    ("full", "x"), ("full", "d"), ("full", "c"), ("words", "x"),
    ("matrix", "o"), ("pi", "x"), ("wide", "x"), ("root", "x"),
    ("zeros", "x"), ("color", "d"), ("color", "x"),
]

CXX = [
    "app::counter", "app::hidden", "app::inner::depth", "app::secret",
    "app::(anonymous namespace)::secret", "app::Point::made",
    "app::Square::grow(int)::grown", "app::twice<int>(int)::last",
    "app::twice<double>(double)::last", "app::Box<int, 3>::boxes", "numbers",
    "points", "numbers.items", "points.items[1].x", "square", "shape",
    "*shape", "shape->name", "shape->mode", "square.at", "square.at.y",
    "reference", "reference.name", "alias", "&alias", "alias + 1", "both",
    "both.r", "empty", "mode", "second", "truth", "sixteen", "thirty_two",
    "wide", "app::Mode::On", "app::First", "mode == app::Mode::On",
    "plain == 3", "!truth", "&square", "&app::counter", "sizeof(app::Point)",
    "(app::Square *)shape", "*(app::Square *)shape",
    "((app::Square *)shape)->side", "(app::Point *)0", "'app::counter'",
    "&square.at", "&shape->name", "square.side * 2", "points.items",
    "app::nothing", "square.nothing", "main",
    "numbers.items[0]@2", "&points.items[1]", "plain", "&both", "(char)mode",
]

# Members of classes and their bases; numbers in formats that are not theirs, and
# of more than 64 bits.
KINDS = [
    "shape.instances", "square.instances", "reference.instances",
    "(&shape)->instances", "&shape.instances", "square.first",
    "square.first.y", "both.limit", "left.limit", "both.app::Left::l",
    "pointer->app::v2::Point::y", "both.base", "more.base", "more.l",
    "app::Shape::instances", "shape.instances * 2 + 1", "shape.nothing",
    "both.app::Left::r", "both.app::nothing::l", "both", "more", "left",
    "square", "member", "none", "inner", "sum", "area",
    "around", "tell", "of_both", "nested", "*pointer",
    "&member", "static_cast<int>(half)", "static_cast<double>(integer) / 2",
    "static_cast<long>(half) + 1", "reinterpret_cast<long>(pointer)",
    "*reinterpret_cast<app::Shape *>(&square)",
    "reinterpret_cast<app::v2::Point *>(&point)->inner.b",
    "static_cast<app::Square *>(&reference)",
    "static_cast<app::Square &>(reference)",
    "reinterpret_cast<app::Square &>(reference)",
    "const_cast<int *>(&point.x)", "(app::Square&)reference",
    "(app::Square &)reference", "((app::Square&)reference).side",
    "&(app::Square&)reference", "static_cast<nothing>(half)",
    "alignof(int)", "alignof(double)", "alignof(long double)",
    "alignof(app::Square)", "alignof(app::Bits)", "alignof(short *)",
    "_Alignof(short)", "alignof(Kind)", "alignof(app::v2::Point::Inner)",
    "alignof(nothing)", "sizeof(app::Square&)", "integer &truth",
] + [
    (text, letter)
    for text in ("precise", "half", "large", "letter", "real", "many")
    for letter in "xoduca"
] + [
    (text, letter)
    for text in ("bits", "bits.low", "bits.wide", "integer", "small", "kind",
                 "truth")
    for letter in "xotduca"
] + [
    (text, letter)
    for text in ("big", "negative_big", "huge") for letter in "xotduca"
] + [("precise", "f"), ("half", "t"), ("text", "a"), ("text", "d")]

RUST = [
    "number", "text", "numbers", "flag", "letter", "byte", "wide", "ratio",
    "pair", "tuple", "array", "zeros", "point", "color", "some",
    "none", "unit", "nothing", "reference", "raw", "boxed", "maybe", "result",
    "sum", "point.x", "reference.y", "*reference", "*raw", "array[1]",
    "pair.0", "tuple.1", "shapes[0]", "shapes[2]", "numbers[1]", "*boxed",
    "number + 1", "number > 3", "names::COUNTER", "names::CHANGED",
    "names::NAMES", "names::inner::DEPTH", "COUNTER", "nowhere",
    "point.nowhere", "sizeof(point)", "&point", "-number", "text.length",
    "numbers.length", "array[0] + array[1]", "ratio * 2.0",
]

# gdb takes names of Go only in quotes, and says of numbers of 8 bits which
# characters they would be in C.
GO = [
    f"'main.{name}'" for name in (
        "Counter", "Big", "Ratio", "Third", "Flag", "Letter", "Text", "Head",
        "First", "Numbers", "Array", "Zeros", "Nodes", "Complex")
] + [
    "'main.Head'.Name", "*'main.Head'", "'main.Array'[1]",
    "'main.Nodes'[1].Id", "'main.Nodes'[1]", "'main.First'.Name",
    "'main.Numbers'.array[1]", "'main.Nothing'",
    "&'main.First'",
]

# Variables of libraries, of which the program has copies.
COPIED = [
    "optind", "*&optind", "environ", "*environ != 0", "&environ[1]", "stdout",
    "*stdout", "stdin", "stderr", "stdout->_fileno", "program_invocation_name",
    "program_invocation_short_name", "errno", "errno + 1", "library_number",
    "library_own", "library_pair", "library_pair.second",
    "library_names[1][1]", "**library_names", "&library_number", "&library_pair",
    "&library_pair.second", "opterr", "sizeof(library_pair)", "each",
    "nowhere",
]
# Stripped, the C library's debugging information knows its own only.
COPIED_STRIPPED = [text for text in COPIED if text != "each"] + [
    "&library_names", "sizeof(library_names)", "&optind"]

SYNTHETIC = [
    "v", "*v", "v->n", "v->m", "v->unused", "v[0]", "*(int *)v", "sizeof(*v)",
    "p", "plain", "total",
]
SYNTHETIC_NUMBERS = ["q", "*q", "r", "*r", "**r", "total"]

# Only one of them is meant.
OVERLOADS = [
    "'app::Server::serve(int)'", "app::Server::serve(int)",
    "'app::Server::serve(char const*) const'", "app::Server::once",
    "'app::plain(int)'", "'app::plain(double)'", "app::plain(double)",
    "&app::plain(double)", "'app::plain(int)'::kept",
    "app::plain(double)::kept", "only", "only(int)", "'only(long)'", "main",
    "main(void)", "'main()'", "twice<int>", "'twice<int>(int)'",
    "twice<double>(double)", "'app::Server::serve(long)'",
    "app::Server::serve", "&app::Server::serve", "'app::plain(char)'",
]

DEBUG_C = ["gcc", "-g", "-o", "OUT", "names.c", "other.c"]

TABLE = [
    ("c", "gcc", [*DEBUG_C, "-O0", "-no-pie"], False,
     [NUMBERS + OBJECTS + PARTS + ARITHMETIC + SCOPES + LOCALS + FORMATS]),
    ("c-optimized", "gcc", [*DEBUG_C, "-O2", "-no-pie"], False,
     [OBJECTS + LOCALS + [text for text in SCOPES if text != "calls::count"]]),
    ("c-dwarf4", "gcc", [*DEBUG_C, "-O1", "-gdwarf-4"], False,
     [NUMBERS + PARTS + [text for text in LOCALS if "local" not in text]]),
    ("c-separate", "objcopy", [*DEBUG_C, "-O0"], True,
     [NUMBERS[:8] + PARTS + LOCALS + SCOPES]),
    *((f"synthetic{dwarf}", "gcc",
       ["gcc", "-g", f"-gdwarf{dwarf}", "-O1", "-no-pie", "-o", "OUT",
        "synthetic.c"], False,
       [SYNTHETIC, SYNTHETIC, SYNTHETIC_NUMBERS, SYNTHETIC_NUMBERS,
        ["c", "*c"]]) for dwarf in ("-4", "-5")),
    *((name, "sh",
       ["sh", "-c", "gcc -g -O0 -shared -fPIC -o $0-lib.so copied_library.c &&"
        " gcc -g -O0 $2 -o $0 copied.c $0-lib.so -Wl,-rpath,$(dirname $0) &&"
        " $1 $0", "OUT", strip, pie], False, [asked])
      for name, strip, pie, asked in (
          ("copied", "true", "-no-pie", COPIED),
          ("copied-pie", "true", "-fpie -pie", COPIED),
          ("copied-stripped", "strip", "-no-pie", COPIED_STRIPPED))),
    ("cxx-separate", "objcopy",
     ["g++", "-g", "-O0", "-Wl,--build-id=none", "-o", "OUT", "names.cpp"],
     True, [CXX]),
    ("cxx", "g++", ["g++", "-g", "-O0", "-no-pie", "-o", "OUT", "names.cpp"],
     False,
     [CXX + ["this", "*this", "side", "by", "before", "at.x", "grown",
             "counter", "this->side", "name", "Point::made", "*this@1"],
      ["n", "inside", "__this->__captured", "app::counter"]]),
    ("overloads", "g++", ["g++", "-g", "-O0", "-no-pie", "-o", "OUT",
                          "overloads.cpp"], False, [OVERLOADS]),
    ("kinds", "g++", ["g++", "-g", "-O0", "-no-pie", "-o", "OUT",
                      "kinds.cpp"], False, [KINDS]),
    ("rust", "rustc", ["rustc", "-g", "-o", "OUT", "names.rs"], False,
     [RUST, ["self", "by", "x", "moved", "self.x", "*self", "x + by"]]),
    ("go", "go", ["go", "build", "-gcflags=all=-N -l", "-o", "OUT",
                  "names.go"], False, [GO]),
]
