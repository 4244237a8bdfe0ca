#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The README's session: a crash, and how it came to it.  To make the picture of
# it anew, with Debian's package termtosvg:
#
#	PATH=$PWD/build/tools:$PATH termtosvg docs/example/session.svg \
#		-g 96x44 -M 1500 -D 10000 -c docs/example/session.sh
set -eu
source=$(cd "$(dirname "$0")" && pwd)/stock.c
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cp "$source" .
# So that the folder's name is not in the picture.
gcc -g -fdebug-prefix-map="$folder=." -o stock stock.c 2>/dev/null

show() {
	printf '\n\033[1m$ %s\033[0m\n' "$1"
	sleep "${PAUSE:-1}"
	eval "$1" || true
}

show 'cprec record ./stock'
show 'cprec backtrace | head -4'
show "cprec last --addr='stock->next->next'"
# When it is depends on how the output is buffered.
at=$(cprec last --addr='stock->next->next' --json | sed 's/.*"at":\([0-9]*\).*/\1/')
show "cprec backtrace --at=$at | head -4"
