#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An engine that is not the one that the manifest describes is refused, with a
# line that says what is wrong.  Speaks TAP.
#
# usage: check-pin.sh SOURCE PIN ARCHIVE MANIFEST REPLACEMENTS SELFTEST...
#
# SOURCE: the project's folder.  The self-tests are linked with engines that give
# wrong results, have another layout, and crash.
set -u
source=$1
pin=$2
archive=$3
manifest=$4
ours=$5
results=$6
layout=$7
crash=$8
number=0
status=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fails NAME PATTERN COMMAND... - it must fail and say so
fails() {
	number=$((number + 1))
	name=$1
	pattern=$2
	shift 2
	if ! "$@" >"$work/said" 2>&1 && grep -q "$pattern" "$work/said"; then
		echo "ok $number - $name"
		return
	fi
	sed 's/^/# /' "$work/said"
	echo "not ok $number - $name"
	status=1
}

# changed SCRIPT - the manifest, changed by sed
changed() {
	sed "$1" "$manifest" >"$work/manifest"
}

objcopy --redefine-sym helper_addss_x86_64=helper_other "$archive" \
	"$work/less.a"
fails 'an archive without a function of the manifest' \
	'has no function helper_addss_x86_64$' \
	"$pin" "$work/less.a" "$manifest" "$ours" "$work/out.a"

changed '$a REPLACED(sse, helper_pshufd_xmm_x86_64)'
fails 'a function of the manifest that nothing defines' \
	'helper_pshufd_xmm_x86_64 is in the manifest, but nothing' \
	"$pin" "$archive" "$work/manifest" "$ours" "$work/out.a"

changed '/helper_addss_x86_64/d'
fails 'a function that the manifest leaves out' \
	'defines helper_addss_x86_64, which is not in the manifest$' \
	"$pin" "$archive" "$work/manifest" "$ours" "$work/out.a"

changed '$a REPLACED(jumps, tb_check_watchpoint_x86_64)'
fails 'a function that the engine never calls' \
	'refers to tb_check_watchpoint_x86_64$' \
	"$pin" "$archive" "$work/manifest" "$ours" "$work/out.a"

changed 's/aesenc, shlv_insn, 2, 0x6dc, 0x647/aesenc, shlv_insn, 2, 0x6dc, 0x646/'
fails 'a place that has something else' 'no place for aesenc in shlv_insn$' \
	"$pin" "$archive" "$work/manifest" "$ours" "$work/out.a"

fails 'an engine that computes something else' '^the engine: SSE: byte ' \
	"$results"
fails 'an engine with another layout' \
	'not laid out as it should be: its registers cannot' "$layout"
fails 'an engine that crashes' \
	'^the engine: AArch64: SIG[A-Z]*, behind the first call of .* (.*)$' "$crash"

# engine VERSION - a folder with an engine's archive and header
engine() {
	mkdir -p "$work/engine/include/unicorn"
	: >"$work/engine/libunicorn.a"
	printf '#define UC_API_%s\n' "MAJOR ${1%%.*}" \
		"MINOR $(echo "$1" | cut -d. -f2)" "PATCH ${1##*.}" \
		>"$work/engine/include/unicorn/unicorn.h"
}

fails 'a folder without an engine' "no libunicorn.a in '.*'.*-Dengine=FOLDER" \
	meson setup "$work/build" "$source" "-Dengine=$work"
engine 2.1.4
fails 'an engine of another version' \
	'is 2\.1\.4, but .* fits 2\.1\.1 alone\..*-Dengine=FOLDER' \
	meson setup "$work/build" "$source" "-Dengine=$work/engine"

echo "1..$number"
exit $status
