#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compares what cprec prints with the texts in a folder: each line of the
# folder's file `commands` is NAME STATUS ARGUMENTS, and NAME.txt is what the
# command prints, errors included.  Speaks TAP.
#
# usage: check_text.sh CPREC FOLDER [renew]
#
# With "renew" the texts are written anew instead: read the difference before
# you commit it.
cprec=$(realpath "$1")
folder=$(realpath "$2")
renew=${3-}
number=0
failures=0
work=$(mktemp -d) || exit 1
found=$work/found
trap 'rm -rf "$work"' EXIT
# A folder of their own, where one has a family: that shows.
mkdir "$work/good" "$work/text"
for name in all cut example footer kept killed later member packed programs; do
	cp "$folder/../good/$name.cpr" "$work/good" || exit 1
done
mkdir "$work/good/all.cpr.d"
cp "$folder/../good/member.cpr" "$work/good/all.cpr.d/1001.cpr" || exit 1
cp "$folder/../good/example.cpr" "$work/good/all.cpr.d/1002.cpr" || exit 1
cp "$folder/commands" "$work/text"
cd "$work/good" || exit 1

# COLUMNS and the like must not matter, nor the time zone.
while read -r name expected arguments; do
	number=$((number + 1))
	# shellcheck disable=SC2086 # the arguments are words
	env -i PATH=/usr/bin:/bin TZ=Asia/Tokyo "$cprec" $arguments \
		>"$found" 2>&1 </dev/null
	status=$?
	[ -z "$renew" ] || cp "$found" "$folder/$name.txt"
	if difference=$(diff -u "$folder/$name.txt" "$found" 2>&1) &&
		[ "$status" -eq "$expected" ]; then
		echo "ok $number - $name: cprec $arguments"
		continue
	fi
	failures=$((failures + 1))
	echo "$difference" | sed 's/^/# /'
	echo "# status $status, expected $expected"
	echo "not ok $number - $name: cprec $arguments"
done <"$folder/commands"
echo "1..$number"
[ "$failures" -eq 0 ]
