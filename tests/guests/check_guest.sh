#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a program that checks itself: natively, on the virtual processor,
# recorded, replayed and verified; the same output and status each time, in
# each size of segment and cache.  Speaks TAP.
#
# usage: check_guest.sh CPREC GUEST [strange]
#
# "strange": it does what some virtual hosts get wrong.  Where it fails natively,
# all must be as under `run`, where it must not fail.
cprec=$(realpath "$1") && guest=$(realpath "$2") || exit 1
is_strange=${3:+1}
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

# go COMMAND... - what the others must do, too
go() {
	(cd "$folder" && "$@") >"$folder/native.out" 2>"$folder/native.err" \
		</dev/null
	expected=$?
}

# Whether all is right, also where the host loses what a program prints.
is_right() {
	[ $expected -eq 0 ] &&
		tail -n 1 "$folder/native.out" | grep -q ' checks, 0 failed$'
}

if [ -z "$is_strange" ]; then
	go "$guest"
	result 'natively' $expected
	try 'run' "$cprec" run -- "$guest"
elif go timeout 30 "$guest" && is_right; then
	result 'natively' 0
	try 'run' "$cprec" run -- "$guest"
else
	result 'natively # SKIP this host does not do it right' 0
	go "$cprec" run -- "$guest"
	is_right
	result 'run' $?
fi

# verify_family TRACE - a recording, and those of its children
verify_family() {
	for of_one in "$1" "$1.d"/*.cpr; do
		[ ! -e "$of_one" ] || "$cprec" verify "$of_one" || return
	done
}

# variant NAME OPTION... - options of record
variant() {
	variant=$1
	shift
	trace=$folder/$(echo "$variant" | tr ' ' '-').cpr
	try "record, $variant" "$cprec" record -o "$trace" "$@" -- "$guest"
	try_replay "replay, $variant" "$trace"
	quietly "verify, $variant" verify_family "$trace"
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
