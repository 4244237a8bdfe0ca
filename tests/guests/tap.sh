# SPDX-License-Identifier: GPL-2.0-or-later
# What the scripts here have in common: they make $folder, count, speak TAP,
# and end with `finish`.  To be sourced: . tap.sh, with $name set.
folder=$(mktemp -d "${TMPDIR:-/tmp}/cprec-$name-XXXXXX") || exit 1
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

# finish - the last line; what failed is kept
finish() {
	echo "1..$number"
	if [ $failed -ne 0 ]; then
		echo "# kept: $folder"
		exit 1
	fi
	cd / && rm -rf "$folder"
}
