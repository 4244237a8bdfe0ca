#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings that were made before must still replay: each file of the folder
# MODEL-BEHAVIOUR must be verified.  If one diverges, the processor behaves
# otherwise than it did, and formats/processor.h says what is to be done.
# Speaks TAP.
#
# usage: check_recorded.sh CPREC FOLDER
cprec=$(realpath "$1")
number=0
status=0

for file in "$2"/*/*.cpr; do
	number=$((number + 1))
	name=${file#"$2/"}
	if said=$("$cprec" verify --quiet "$file" 2>&1) && [ -z "$said" ]; then
		echo "ok $number - $name"
		continue
	fi
	echo "$said" | sed 's/^/# /'
	echo "not ok $number - $name"
	status=1
done
echo "1..$number"
exit $status
