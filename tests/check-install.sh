#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs into a folder of its own: program, library, manual, completions.  Speaks TAP.
#
# usage: check-install.sh BUILD PREFIX PYTHON HEADER
#
# HEADER: library/cprec.h.  PYTHON: the one that the installation is for.
build=$1
prefix=$2
python=$3
header=$4
number=0
failures=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# result NAME PROBLEMS
result() {
	number=$((number + 1))
	if [ -z "$2" ]; then
		echo "ok $number - $1"
		return
	fi
	failures=$((failures + 1))
	echo "$2" | sed 's/^/# /'
	echo "not ok $number - $1"
}

# Nothing of the tests; the engine is in the program, and in the library.
wanted='bin/cprec
include/cprec.h
lib/ARCH/libcprec.a
lib/ARCH/libcprec.so.1.0.0
lib/ARCH/pkgconfig/cprec.pc
lib/PYTHON/cprec/__init__.py
lib/PYTHON/cprec/binding.py
lib/PYTHON/cprec/cursors.py
lib/PYTHON/cprec/recordings.py
lib/PYTHON/cprec/structures.py
share/bash-completion/completions/cprec
share/cprec/gdb/cprec_commands.py
share/cprec/gdb/cprec_dap.py
share/doc/cprec/library.md
share/man/man1/cprec.1
share/zsh/site-functions/_cprec'

# Root may have installed from here, and has the log of that.
rm -f "$build/meson-logs/install-log.txt"
result 'installed' "$(DESTDIR=$work meson install -C "$build" --no-rebuild \
	--quiet 2>&1)"
# Where libraries and packages go differs from system to system; and newer
# Mesons compile packages for Python.
found=$(cd "$work/$prefix" &&
	find . -name __pycache__ -prune -o -type f -print | sed -E 's,^\./,,
	s,^lib(64)?/(.*-linux-gnu/)?(libcprec|pkgconfig),lib/ARCH/\3,
	s,^lib/python3.*-packages/,lib/PYTHON/,' | LC_ALL=C sort)
result 'the files' "$([ "$found" = "$wanted" ] || echo "$found")"
result 'the program' "$("$work/$prefix/bin/cprec" version |
	grep -v '^cprec [0-9.]*, unicorn')"
result 'completion for bash' "$(
	bash -n "$work/$prefix/share/bash-completion/completions/cprec" 2>&1)"

# As if $work were the root of the file system: the package is where this Python
# looks, and finds the library from there.
result 'the package for Python' "$("$python" -I - "$work" "$prefix" 2>&1 <<'END'
import os.path
import sys

work, prefix = sys.argv[1:]
usual = [folder for folder in sys.path if folder.startswith(prefix + "/lib")]
if not usual:
    print(f"nothing below {prefix} is on its path", sys.path)
found = [folder for folder in usual
         if os.path.exists(f"{work}{folder}/cprec/__init__.py")]
sys.path[:0] = [work + folder for folder in found]
import cprec
if not cprec.__file__.startswith(work + prefix) or not cprec.version():
    print("it is not the installed one:", cprec.__file__)
END
)"

# The file of symbols of the Debian package.
listed=$(sed -n 's/^ \(cprec_.*\)@CPREC_1 .*/\1/p' \
	"$(dirname "$header")/../debian/libcprec1.symbols" | sort)
result 'the symbols of the library' "$(nm -D --defined-only \
	"$work/$prefix"/lib*/*/libcprec.so.1.0.0 "$work/$prefix"/lib*/libcprec.so.1.0.0 \
	2>/dev/null | sed -n 's/.* \(cprec_[a-z_0-9]*\)@.*/\1/p' | sort |
	{ [ "$(cat)" = "$listed" ] || echo 'debian/libcprec1.symbols differs'; })"

echo "1..$number"
[ "$failures" -eq 0 ]
