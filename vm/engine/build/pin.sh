#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the private copy of the engine that cprec is linked with: one object
# of Unicorn's libunicorn.a and of our code that depends on it.  The functions of
# the manifest give way to ours of the same names, and are still there as
# engine_NAME.  Of the C library, the engine calls our_NAME for what is redirected.
#
# usage: pin.sh ARCHIVE MANIFEST REPLACEMENTS OUTPUT
#
# Its tables of the host's instructions, of x86-64, get those of the manifest.
#
# Fails, with a line that says which, if a function of the manifest is not in
# the archive, if nobody in the archive refers to it, if REPLACEMENTS (an
# archive of ours) does not define it, or if REPLACEMENTS defines one of the
# engine's functions that the manifest does not name.
set -eu
export LC_ALL=C
archive=$1
manifest=$2
replacements=$3
output=$4

die() {
	echo "the engine: $*" >&2
	exit 1
}

# rows KIND - the last word in the parentheses of each KIND(...) of the manifest
rows() {
	sed -n "s/^$1(\(.*[ ,]\)\{0,1\}\([A-Za-z0-9_]*\))\$/\2/p" "$manifest"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rows REPLACED >"$work/replaced"
rows KEPT >"$work/kept"
rows REDIRECTED >"$work/redirected"
[ -s "$work/replaced" ] || die "no rows in '$manifest'"

# Only what uc_open() leads to is taken from the archive.  The processors that
# cprec has no use for are left out: their entry points are an address that
# cannot be called.
absent=
for processor in $(rows ABSENT); do
	for entry in uc_init reg_read reg_write; do
		absent="$absent --defsym=${entry}_$processor=0"
	done
done
ld -r $absent -u uc_open "$archive" -o "$work/whole.o" ||
	die "cannot link '$archive'"

# Where each function is: "NAME SECTION OFFSET".
objdump -t "$work/whole.o" |
	awk '$2 == "g" && $3 == "F" { print $NF, $4, $1 }' >"$work/functions"
readelf -rW "$work/whole.o" | awk 'NF > 4 { print $5 }' | sort -u \
	>"$work/referred"
nm --defined-only "$replacements" | awk '$2 == "T" { print $3 }' | sort -u \
	>"$work/ours"

: >"$work/arguments"
while read -r name; do
	found=$(awk -v name="$name" '$1 == name { print $2 ":0x" $3 }' \
		"$work/functions")
	[ -n "$found" ] || die "'$archive' has no function $name"
	grep -qx "$name" "$work/referred" ||
		die "nothing in '$archive' refers to $name"
	grep -qx "$name" "$work/ours" ||
		die "$name is in the manifest, but nothing of cprec defines it"
	printf -- '--weaken-symbol=%s\n--add-symbol=engine_%s=%s,function,global\n' \
		"$name" "$name" "$found" >>"$work/arguments"
	echo "engine_$name" >>"$work/kept"
	echo "$name" >>"$work/kept"
done <"$work/replaced"
while read -r name; do
	grep -q "^$name " "$work/functions" || [ "${name#engine_}" != "$name" ] ||
		die "'$archive' has no function $name"
done <"$work/kept"
nm --undefined-only "$work/whole.o" | awk '{ print $2 }' >"$work/outside"
while read -r name; do
	grep -qx "$name" "$work/outside" ||
		die "'$archive' does not call $name of the C library"
	grep -qx "our_$name" "$work/ours" ||
		die "$name is redirected, but nothing of cprec defines our_$name"
	echo "--redefine-sym=$name=our_$name" >>"$work/arguments"
	echo "our_$name" >>"$work/kept"
done <"$work/redirected"
awk '{ print $1 }' "$work/functions" | sort -u | comm -12 - "$work/ours" |
	while read -r name; do
		grep -qx "$name" "$work/replaced" ||
			die "cprec defines $name, which is not in the manifest"
	done

# Each processor has such tables, in the order of its functions.
number=$(grep '^tcg_gen_code_' "$work/functions" | sort -k3 |
	grep -n '^tcg_gen_code_x86_64 ' | cut -d: -f1)
tables=$(objdump -h "$work/whole.o" | awk '$2 == ".rodata" { print $6 }')
objdump -t "$work/whole.o" | awk '$4 == ".rodata"' | sort >"$work/objects"
sed -n 's/^HOST(\(.*\), \(.*\), \(.*\), \(.*\), \(.*\))$/\1 \2 \3 \4 \5/p' "$manifest" |
	while read -r name table lane opcode before; do
		at=$(grep " $table\.[0-9]*\$" "$work/objects" |
			sed -n "${number}s/ .*//p")
		[ -n "$at" ] || die "'$archive' has no table $table"
		at=$((0x$tables + 0x$at + 4 * lane))
		found=$(od -An -tu4 --endian=little -j$at -N4 "$work/whole.o")
		[ "$((found))" -eq "$((before))" ] ||
			die "there is no place for $name in $table"
		printf "$(printf '\\%o\\%o\\%o\\%o' $((opcode & 255)) \
			$((opcode >> 8 & 255)) $((opcode >> 16 & 255)) 0)" |
			dd of="$work/whole.o" bs=1 seek="$at" conv=notrunc \
				status=none
	done

# All else stays inside, so that no name of the engine's meets one of ours.
awk '$1 ~ /^uc_/ { print $1 }' "$work/functions" >>"$work/kept"
objcopy "@$work/arguments" "$work/whole.o" "$work/named.o"
objcopy --keep-global-symbols="$work/kept" "$work/named.o" "$work/quiet.o"

# Together with ours it is one object: whoever links it has all of both.
ld -r "$work/quiet.o" --whole-archive "$replacements" -o "$work/engine.o"
nm --defined-only "$work/engine.o" | awk '$2 == "T" { print $3 }' | sort -u \
	>"$work/defined"
while read -r name; do
	grep -qx "$name" "$work/defined" || die "$name was not replaced"
done <"$work/replaced"
rm -f "$output"
ar rcs "$output" "$work/engine.o"
