#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An i386 system call in a 64-bit program: SIGILL, and one line that says so.
# Speaks TAP.
#
# usage: check_int80.sh CPREC PROGRAM
cprec=$(realpath "$1") && program=$(realpath "$2") || exit 1
folder=$(mktemp -d "${TMPDIR:-/tmp}/cprec-int80-XXXXXX") || exit 1
trace=$folder/trace.cpr
number=0
failed=0

# result NAME STATUS - one line of TAP
result() {
	number=$((number + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		failed=1
	fi
}

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

echo "1..$number"
if [ $failed -ne 0 ]; then
	echo "# kept: $folder"
	exit 1
fi
rm -rf "$folder"
