#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records some programs and gives them to several replayers in one process.
#
# usage: replayers.sh CPREC REPLAYERS GUEST...
set -eu
cprec=$1
replayers=$2
shift 2

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
number=0
for guest; do
	number=$((number + 1))
	"$cprec" record -q --segment=200k -o "$folder/$number.cpr" "$guest" \
		>"$folder/output" 2>&1
done
"$replayers" "$folder"/*.cpr
