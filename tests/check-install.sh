#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs into a folder of its own: program, library, manual, completions.  Speaks TAP.
#
# usage: check-install.sh BUILD PREFIX
build=$1
prefix=$2
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

result 'installed' "$(DESTDIR=$work meson install -C "$build" --no-rebuild \
	--quiet 2>&1)"
# Where libraries and packages go differs from system to system.
found=$(cd "$work/$prefix" && find . -type f | sed -E 's,^\./,,
	s,^lib(64)?/(.*-linux-gnu/)?(libcprec|pkgconfig),lib/ARCH/\3,
	s,^lib/python3.*-packages/,lib/PYTHON/,' | LC_ALL=C sort)
result 'the files' "$([ "$found" = "$wanted" ] || echo "$found")"
result 'the program' "$("$work/$prefix/bin/cprec" version |
	grep -v '^cprec [0-9.]*, unicorn')"
result 'completion for bash' "$(
	bash -n "$work/$prefix/share/bash-completion/completions/cprec" 2>&1)"

echo "1..$number"
[ "$failures" -eq 0 ]
