#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints files as rows of a table in C: name, bytes, size.
#
# usage: embed.sh FILE...
set -eu
for file; do
	printf '{ "%s", (const unsigned char[]){\n' "${file##*/}"
	od -An -v -tx1 "$file" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
	printf '}, %s },\n' $(($(wc -c < "$file")))
done
