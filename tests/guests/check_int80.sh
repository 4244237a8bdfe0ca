#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An i386 system call in a 64-bit program: SIGILL, and one line that says so.
# Speaks TAP.
#
# usage: check_int80.sh CPREC PROGRAM
cprec=$(realpath "$1") && program=$(realpath "$2") || exit 1
name=int80
. "$(dirname "$0")/tap.sh"
trace=$folder/trace.cpr

# says NAME STATUS COMMAND... - that status, and the line
says() {
	what=$1
	expected=$2
	shift 2
	("$@") >"$folder/out" 2>"$folder/err" </dev/null
	status=$?
	line="32-bit system calls are not supported ('int 0x80' at $(cat \
		"$folder/out")): SIGILL"
	[ $status -eq "$expected" ] && [ "$(wc -l <"$folder/err")" -eq 1 ] &&
		grep -q "^cprec: .*$line\$" "$folder/err"
	good=$?
	[ $good -eq 0 ] || {
		echo "# status $status; again: $*"
		sed 's/^/# /' "$folder/out" "$folder/err"
	}
	result "$what" $good
}

says 'run' 132 "$cprec" run -- "$program"
says 'run, with a handler' 0 "$cprec" run -- "$program" handler
says 'record' 132 "$cprec" record -o "$trace" -- "$program"
"$cprec" verify "$trace" >"$folder/said" 2>&1
result 'verify' $?
says 'record, with a handler' 0 "$cprec" record -o "$trace" -- "$program" \
	handler
"$cprec" verify "$trace" >"$folder/said" 2>&1
result 'verify, with a handler' $?

finish
