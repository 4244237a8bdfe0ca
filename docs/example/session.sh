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
show "cprec query --addr='stock->next' --addr='*stock->next' --at=end"
# Where it is depends on how the output is buffered.
item=$(cprec query --addr='stock->next' --at=end | sed -n '1s/.*) //p')
next="((struct item *)$item)->next"
show "cprec query --addr='$next' --at=output:1+340 --at=output:1+380"
show 'cprec backtrace --at=output:1+360 | head -4'
