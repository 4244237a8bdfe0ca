#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a program that checks itself: natively, on the virtual processor,
# recorded, replayed and verified; the same output and status each time, in
# each size of segment and cache.  Speaks TAP.
#
# usage: check_guest.sh CPREC GUEST
cprec=$(realpath "$1") && guest=$(realpath "$2") || exit 1
name=$(basename "$guest")
. "$(dirname "$0")/tap.sh"
# What replay says when the program had children, and record when they died.
ignored='^cprec: note: only the output of this process was written'
ignored="$ignored\\|^cprec: note: .* died of "

# try NAME COMMAND... - output and status must be those of the native run
try() {
	what=$1
	shift
	(cd "$folder" && "$@") >"$folder/out" 2>"$folder/said" </dev/null
	status=$?
	grep -v "$ignored" "$folder/said" >"$folder/err"
	same=0
	if [ $status -ne "$expected" ]; then
		echo "# status $status, natively $expected"
		same=1
	fi
	for stream in out err; do
		cmp -s "$folder/$stream" "$folder/native.$stream" && continue
		diff "$folder/native.$stream" "$folder/$stream" |
			head -n 20 | sed "s/^/# $stream: /"
		same=1
	done
	[ $same -eq 0 ] || echo "# again: $*"
	result "$what" $same
}

# quietly NAME COMMAND... - must succeed
quietly() {
	what=$1
	shift
	"$@" >"$folder/said" 2>&1
	status=$?
	[ $status -eq 0 ] || {
		sed 's/^/# /' "$folder/said"
		echo "# status $status; again: $*"
	}
	result "$what" $status
}

(cd "$folder" && "$guest") >"$folder/native.out" 2>"$folder/native.err" \
	</dev/null
expected=$?
result 'natively' $expected
try 'run' "$cprec" run -- "$guest"

# variant NAME OPTION... - options of record
variant() {
	variant=$1
	shift
	trace=$folder/$(echo "$variant" | tr ' ' '-').cpr
	try "record, $variant" "$cprec" record -o "$trace" "$@" -- "$guest"
	try_replay "replay, $variant" "$trace"
	quietly "verify, $variant" "$cprec" verify "$trace"
}

# The guest's status is not replay's own.
try_replay() {
	native=$expected
	expected=0
	try "$1" "$cprec" replay "$2"
	expected=$native
}

variant 'by default'
variant 'smallest cache' --cache-size=16k
variant 'tiny segments' --segment=1k

finish
