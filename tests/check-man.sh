#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compares the manual page with the help texts: each command has a section
# that describes each of its options, and no other.  Also that the page is
# formatted without a warning, and that README names each command.
# Speaks TAP.
#
# usage: check-man.sh PAGE FOLDER README
#
# FOLDER is that of the help texts, help-COMMAND.txt.
page=$1
folder=$2
readme=$3
number=0
failures=0

# result NAME PROBLEMS
result() {
	number=$((number + 1))
	if [ -z "$2" ]; then
		echo "ok $number - $1"
		return
	fi
	failures=$((failures + 1))
	echo "$2" | sed 's/^/# /'
	echo "not ok $number - $1"
}

# What the page says of a command, up to the next section; a section may be of
# several: ".SS cprec writes, reads, accesses".
section() {
	awk -v name="$1" '
		/^\.S[SH]/ { inside = ($0 ~ "^.SS cprec ([a-z]+, )*" name "(,|$)") }
		inside' "$page" | sed 's/\\-/-/g'
}

# Names of long options, one a line; "help" is the same everywhere.
in_help() {
	sed -n 's/^ *\(-., \)\{0,1\}--\([a-z-]*\).*/\2/p' "$1" |
		grep -v '^help$' | sort
}

in_page() {
	section "$1" | grep -A 1 '^\.TP' |
		sed -n 's/^\.BI* .*--\([a-z-]*\).*/\1/p' | sort
}

for help in "$folder"/help-*.txt; do
	command=$(basename "$help" .txt)
	command=${command#help-}
	[ "$command" != nothing ] || continue
	wanted=$(in_help "$help")
	found=$(in_page "$command")
	[ "$wanted" = "$found" ] || problem=$(printf '%s\n' \
		"the help has: " "$wanted" "the page has: " "$found")
	result "$command" "${problem-}"
	unset problem
done

for help in "$folder"/help-*.txt; do
	command=$(basename "$help" .txt)
	command=${command#help-}
	[ "$command" = nothing ] ||
		result "README: $command" "$(
			grep -q "^    cprec $command " "$readme" ||
				echo "cprec $command")"
done

# Where nobody can format it, there is nobody to be warned.
if command -v groff >/dev/null; then
	result 'formatted without a warning' "$(
		groff -ww -man -Tutf8 "$page" 2>&1 >/dev/null)"
fi

# Those of JSON, like .BR addr " (address)".
keys='^\.BR [a-z_]+ " \([a-z]+\)"$'
result "keys are described once" "$(grep -E "$keys" "$page" | sort | uniq -d)"
result "each of them by itself" "$(awk -v keys="$keys" '
	$0 ~ keys && before != ".TP"
	{ before = $0 }' "$page")"
result "quotes of JSON are no macro's" "$(grep -n '^\.[BIR]* {.*"' "$page")"

echo "1..$number"
[ "$failures" -eq 0 ]
