#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes libengine.a of an archive in which two functions have changed places.
#
# usage: swap.sh PIN FIRST SECOND ARCHIVE MANIFEST REPLACEMENTS OUTPUT
set -eu
pin=$1
first=$2
second=$3
archive=$4
shift 4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%s\n' "$first $second" "$second $first" >"$work/names"
objcopy --redefine-syms="$work/names" "$archive" "$work/archive.a"
"$pin" "$work/archive.a" "$@"
