#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records a program that crashes, finds out why, and says what to try next.
#
# usage: demo.sh CPREC [FOLDER]
#
# The program and its recording stay in FOLDER.  By default that is demo/ in the
# folder of the build; else, or where nobody may write there, cprec-demo/ in this
# folder, or a temporary one.  Ends with 1 if a step does not show what it should.
set -eu
unset CDPATH
[ $# -eq 1 ] || [ $# -eq 2 ] || {
	echo 'usage: demo.sh CPREC [FOLDER]' >&2
	exit 2
}

die() {
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

[ -f "$1" ] && [ -x "$1" ] && [ "${1##*/}" = cprec ] ||
	die "there is no program '$1' that is called cprec"
tools=$(cd -- "$(dirname -- "$1")" && pwd)
source=$(cd -- "$(dirname -- "$0")/../docs/example" && pwd)/stock.c

# --- what is printed ------------------------------------------------------

bold= plain=
if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi

say() {
	printf '\n'
	printf '# %s\n' "$@"
}

# quoted TEXT - as a shell takes it for one word
quoted() {
	printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")"
}

# show STATUS COMMAND WANTED... - executes a command line; it must end with that
# status, and print each text
show() {
	wanted=$1 command=$2 status=0
	shift 2
	printf '\n%s$ %s%s\n' "$bold" "$command" "$plain"
	answer=$(sh -c "$command" 2>&1 </dev/null) || status=$?
	[ -z "$answer" ] || printf '%s\n' "$answer"
	[ "$status" -eq "$wanted" ] ||
		die "'$command' ended with status $status, not $wanted"
	for text; do
		case $answer in
		*"$text"*) ;;
		*) die "'$command' did not print '$text'" ;;
		esac
	done
}

# --- where it is ----------------------------------------------------------

try_folder() {
	mkdir -p -- "$1" 2>/dev/null && [ -w "$1" ] &&
		folder=$(cd -- "$1" && pwd)
}

in_build() {
	[ -f "$tools/../build.ninja" ] && try_folder "$tools/../demo"
}

if [ $# -eq 2 ]; then
	try_folder "$2" || die "cannot write to the folder '$2'"
else
	in_build || try_folder ./cprec-demo ||
		folder=$(mktemp -d "${TMPDIR:-/tmp}/cprec-demo-XXXXXX")
fi
cd -- "$folder"
PATH=$tools:$PATH
ulimit -c 0	# of the crash, the recording is enough
rm -rf stock trace.cpr trace.cpr.*
cat "$source" >stock.c

# --- the steps ------------------------------------------------------------

say 'stock.c keeps a list of goods and adds up what they cost. It is compiled with' \
	'debugging information, and recorded while it runs. It crashes:'
show 0 'gcc -g -o stock stock.c'
show 139 'cprec record ./stock' \
	'added bread' "'./stock' died of SIGSEGV" 'in total at'

say 'Who called whom, then?'
show 0 'cprec backtrace' 'in total (item=' 'in main ()'

say 'The list is damaged: the item behind the first one leads nowhere. Who wrote that?'
show 0 "cprec last --addr='stock->next->next'" ' wrote: '
time=$(printf '%s\n' "$answer" | sed -n 's/^t=\([0-9.]*\): .*/\1/p')
[ -n "$time" ] || die "'cprec last' did not say when"

say 'A function of the C library. Who called it, at that time?'
show 0 "cprec backtrace --at=$time" \
	'in add (name=' '"pomegranate juice, 1 litre"' 'in main ()'

say 'From there one step back, to where line 21 begins: the pointer is good. And one' \
	'forward again: strcpy() has copied a name of 27 bytes into 16.'
show 0 "cprec debug --plain --batch -g $time -ex 'break stock.c:21' -ex reverse-continue \\
	-ex 'print item->next' -ex next -ex 'print item->next'" \
	'Breakpoint 1, add (' 'strcpy(item->name, name);' 'stock = item;'
before=$(printf '%s\n' "$answer" | sed -n 's/^= .*\(0x[0-9a-f]*\)$/\1/p')
set -- $before
[ $# -eq 2 ] && [ "$1" != "$2" ] ||
	die "one step did not change the pointer: $before"

say 'All of that is exact to the instruction: replayed, it is what was recorded.'
show 0 'cprec verify' 'verified '

# --- what is next ---------------------------------------------------------

say 'The program and its recording stay. To try next:'
cat <<END

  cd $(quoted "$folder")
  PATH=\$PATH:$(quoted "$tools")
  cprec debug              # steps back and forth, in gdb if it is installed
  cprec log 'stock.c:31 => item->name, sum'
  cprec writes --addr=stock
  cprec record PROGRAM     # one of yours, compiled with -g

The program is $tools/cprec
END
if [ -f "$tools/../build.ninja" ]; then
	cat <<END
It needs nothing else of the build: copy it into a folder of PATH, or install it
with its manual, as root:

  meson install -C $(quoted "$(dirname "$tools")")
END
fi
