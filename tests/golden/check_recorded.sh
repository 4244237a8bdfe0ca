#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings that were made before must still replay: each file of the folder
# MODEL-BEHAVIOUR must be verified.  If one diverges, the processor behaves
# otherwise than it did, and formats/processor.h says what is to be done.  Machines
# also go on, alive, with the devices of today: they say what was recorded.
# Speaks TAP.
#
# usage: check_recorded.sh CPREC FOLDER
cprec=$(realpath "$1")
folder=$(realpath "$2")
own=$(mktemp -d) || exit 1
trap 'rm -rf "$own"' EXIT
number=0
status=0

# result NAME TEXT - what is wrong; nothing if it is empty
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

for file in "$folder"/*/*.cpr; do
	said=$("$cprec" verify --quiet "$file" 2>&1) || said="$said (failed)"
	result "${file#"$folder/"}" "$said"
done

# goes_on NAME TIME
goes_on() {
	file=$folder/$1
	cd "$own" || exit 1
	"$cprec" replay "$file" >whole
	{ "$cprec" replay --to="$2" "$file"
	  "$cprec" run --at="$2" "$file" </dev/null 2>/dev/null; } >parts
	result "$1 goes on at $2" "$(cmp whole parts 2>&1)"
}

goes_on cortex-a53-2/machine_checks.cpr 0
goes_on cortex-a53-2/machine_checks.cpr 50%
goes_on cortex-a53-2/machine_cores.cpr 80%
goes_on cortex-m3-1/files.cpr 0
goes_on cortex-m4-1/firmware.cpr 0
goes_on cortex-m4-1/firmware.cpr 50%
echo "1..$number"
exit $status
