#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Finds the Unicorn Engine in a folder: its static library, or its sources, and
# its headers.  Prints three lines: "archive FILE" or "sources FOLDER", the
# folder of the headers, and the version that these have.
#
# usage: find.sh FOLDER...
#
# Takes the first folder that exists, which may be as a package is unpacked,
# with usr/lib and usr/include.
set -eu

die() {
	echo "$*" >&2
	exit 1
}

# number NAME - the value of a macro of the engine's header
number() {
	sed -n "s/^#define $1 \([0-9]*\)$/\1/p" "$headers/unicorn/unicorn.h"
}

for folder; do
	[ ! -d "$folder" ] || break
done
[ -d "$folder" ] || die "there is no folder '$folder'"
folder=$(cd "$folder" && pwd)

# Sources have both, and maybe an archive of a build in their midst.
if [ -f "$folder/uc.c" ] && [ -f "$folder/CMakeLists.txt" ]; then
	found="sources $folder"
	headers=$folder/include
else
	archive=
	headers=
	for place in "$folder" "$folder/lib" "$folder/lib64" \
		"$folder/lib/x86_64-linux-gnu" "$folder/usr/lib" \
		"$folder/usr/lib64" "$folder/usr/lib/x86_64-linux-gnu"; do
		[ ! -f "$place/libunicorn.a" ] || archive=$place/libunicorn.a
	done
	for place in "$folder" "$folder/include" "$folder/usr/include"; do
		[ ! -f "$place/unicorn/unicorn.h" ] || headers=$place
	done
	[ -n "$archive" ] || die "there is no libunicorn.a in '$folder'," \
		"and these are not the sources of Unicorn"
	found="archive $archive"
fi
[ -f "$headers/unicorn/unicorn.h" ] ||
	die "there is no unicorn/unicorn.h in '$folder'"
printf '%s\n' "$found" "$headers" \
	"$(number UC_API_MAJOR).$(number UC_API_MINOR).$(number UC_API_PATCH)"
