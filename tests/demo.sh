#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records a program of the system and asks what its memory held.
#
# usage: demo.sh CPREC
set -eu
PATH=$(cd "$(dirname "$1")" && pwd):$PATH
folder=$(mktemp -d "${TMPDIR:-/tmp}/cprec-demo-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

show() {
	printf '\n\033[1m$ %s\033[0m\n' "$*"
	"$@"
}

say() {
	printf '\n# %s\n' "$*"
}

[ -t 1 ] || show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

say 'A program of the system runs on the virtual processor and is recorded.'
show cprec record -o ls.cpr -- /bin/ls -l /usr

say 'What was recorded:'
show cprec info ls.cpr

say 'ls counts in "optind" which of its arguments it looks at. What was it at'
say 'the start, in the middle, and at the end?'
show cprec query ls.cpr --addr optind --size 4 --at start --at 50% --at end

say 'The whole run again, compared with what was recorded:'
show cprec verify ls.cpr

say 'The same output, from the recording alone:'
show cprec replay ls.cpr
