#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes libcprec.a: one object with the library and all that is ours below it,
# the engine included, of which nothing but cprec_* is seen from outside.
#
# usage: archive.sh OUTPUT COMPILER PARTS ARCHIVE...
set -eu
output=$1
compiler=$2
parts=$3
shift 3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# By the compiler, which knows what to do with parts that are to be optimized
# when they are linked (-Db_lto=true): the object is to have machine code.
link() {
	if $compiler -flinker-output=nolto-rel -E -x c - </dev/null >/dev/null 2>&1
	then
		$compiler -flinker-output=nolto-rel -O2 -r -nostdlib "$@"
	else
		$compiler -r -nostdlib "$@"
	fi
}

# The demangler has no shared library.
iberty=$($compiler -print-file-name=libiberty.a)
link -o "$work/libcprec.o" -Wl,--whole-archive "$parts" -Wl,--no-whole-archive \
	-Wl,--start-group "$@" "$iberty" -Wl,--end-group
objcopy --wildcard --keep-global-symbol='cprec_*' "$work/libcprec.o"
rm -f "$output"
ar rcsD "$output" "$work/libcprec.o"
