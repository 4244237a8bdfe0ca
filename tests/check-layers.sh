#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks the source itself: who includes whom, headers that compile alone,
# words that must not be there.  Speaks TAP.
#
# usage: check-layers.sh SOURCE [COMPILER...]
cd "$1" || exit 1
shift
[ $# -gt 0 ] || set -- cc
number=0
status=0

# result NAME OUTPUT - the check NAME passed if OUTPUT is empty
result() {
	number=$((number + 1))
	if [ -z "$2" ]; then
		echo "ok $number - $1"
		return
	fi
	echo "$2" | sed 's/^/# /'
	echo "not ok $number - $1"
	status=1
}

sources() {
	find . -name '.?*' -prune -o -name 'build*' -prune -o \
		-type f \( "$@" \) -print | sed 's,^\./,,' | sort
}

# allow FOLDER 'FOLDER...' - FOLDER may include itself and these
allow() {
	result "$1 includes only: $1 $2" "$(grep -rnE '^ *# *include *"' "$1" \
		--include='*.[ch]' 2>/dev/null |
		grep -vE "include *\"($(echo "$1 $2" | tr ' ' '|'))/")"
}

allow formats  ''
allow cache    'formats'
allow index    'formats replayer/recording'
allow vm       'formats'
allow recorder 'formats cache vm'
allow replayer 'formats cache vm index'
allow tools    'formats cache vm index recorder replayer'

# only WHAT HEADERS 'FOLDER|...' - nobody else includes these headers
only() {
	result "only $3 may include $1" "$(grep -rnE \
		"^ *# *include *<($2)" --include='*.[ch]' . |
		grep -vE "^\./($3)/")"
}

# tests/bench/bare.c is the engine alone, to compare with.
only 'the engine'       'unicorn/'                 'vm|tests/bench'
# tests/unit/test_x86_length.c compares with the decoder.
only 'the decoder'      'capstone/'                'vm|tests/unit'
only 'the compressor'   'zstd\.h|zdict\.h'         'formats'
only 'the hash'         'xxhash\.h|xxh3\.h'        'formats'
only 'the line editor'  'histedit|editline/'       'tools'
only 'debug information' 'elfutils/|dwarf\.h|libelf|gelf|elf\.h' \
	'vm|formats|recorder|replayer|tests'
only 'the test library' 'cmocka'                   'tests'

result 'layers stand in order in meson.build' "$(
	order=$(tr '\n' ' ' <meson.build |
		sed -n "s/.*foreach layer : \[\([^]]*\)\].*/\1/p" |
		tr -d "',")
	set -- $order
	[ "$*" = 'formats cache replayer/recording index vm recorder replayer tools tests' ] ||
		echo "the order is: $*")"

result 'each header compiles alone' "$(
	for header in $(sources -name '*.h' | grep -v '^tests/'); do
		"$@" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror \
			-Wno-unused-function -I. \
			-fsyntax-only -x c "$header" 2>&1 ||
			echo "$header does not compile alone"
	done | grep -v 'pragma once in main file' | head -n 40)"

result 'each header has its include guard' "$(
	for header in $(sources -name '*.h' | grep -v '^tests/'); do
		guard=CPREC_$(echo "$header" | tr 'a-z/.-' 'A-Z___')
		grep -q "^#ifndef $guard\$" "$header" ||
			echo "$header: expected #ifndef $guard"
	done)"

result 'no unbounded string functions' "$(grep -nE \
	'(^|[^a-z_])(strcpy|strcat|sprintf|vsprintf|gets|stpcpy)\(' \
	$(sources -name '*.[ch]') /dev/null)"

# The quotes in the middle keep this file from finding itself.
result 'nothing left to do later' "$(grep -nE \
	'TO''DO|FIX''ME' \
	$(sources -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o \
		-name 'meson.build' -o -name '*.md') /dev/null)"

result 'no skipped tests' "$(grep -nE '(^|[^a-z_])skip\(\)' \
	$(sources -name '*.c') /dev/null)"

result 'only tools print' "$(grep -rnE \
	'(^|[^a-z_])(printf|puts|putchar|perror)\(|fprintf\((stdout|stderr)' \
	formats cache index vm recorder replayer --include='*.c' \
	2>/dev/null)"

result 'each source file names the licence' "$(
	for file in $(sources -name '*.[chS]' -o -name '*.sh' -o -name '*.py' \
		-o -name meson.build); do
		head -n 3 "$file" |
			grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' ||
			echo "$file does not"
	done)"

result 'tabs, not spaces, at the start of lines of C' "$(grep -nE \
	'^ {8}' $(sources -name '*.[ch]') /dev/null | head -n 20)"

result 'no trailing blanks' "$(grep -nE '[ 	]+$' \
	$(sources -name '*.[chS]' -o -name '*.sh' -o -name '*.py' -o \
		-name meson.build) /dev/null | head -n 20)"

echo "1..$number"
exit $status
