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

# The demangler has no shared library.
iberty=$($compiler -print-file-name=libiberty.a)
ld -r -o "$work/libcprec.o" --whole-archive "$parts" --no-whole-archive \
	--start-group "$@" "$iberty" --end-group
objcopy --wildcard --keep-global-symbol='cprec_*' "$work/libcprec.o"
rm -f "$output"
ar rcsD "$output" "$work/libcprec.o"
