#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What becomes of devices does not matter to recordings: a cprec is built with
# devices that were changed, and replays machines that were recorded before, bit
# by bit, and says the same; alive, its machines say something else.  No suite runs
# this: it builds cprec.  Speaks TAP.
#
# usage: other_devices.sh CPREC SOURCE [RECORDING...]
#
# Recordings are those of SOURCE/tests/golden/recorded, and others of machines that
# CPREC has made.
cprec=$(realpath "$1")
source=$(realpath "$2")
shift 2
own=$(mktemp -d) || exit 1
trap 'rm -rf "$own"' EXIT
number=0
status=0

result() {
	number=$((number + 1))
	[ "$2" = 0 ] || { printf 'not '; status=1; }
	echo "ok $number - $1"
}

# change FILE FROM TO - in a device; FROM must be there
change() {
	file=$own/source/vm/board/$1
	grep -q "$2" "$file" || { echo "Bail out! $1 has no '$2'"; exit 1; }
	sed -i "s/$2/$3/" "$file"
}

mkdir "$own/source"
(cd "$source" && git ls-files -z | xargs -0 tar c) | tar x -C "$own/source"
change gic.c 'IDLE_PRIORITY 0xffu' 'IDLE_PRIORITY 0xf0u'
change pl011.c 'uart->out(uart->context, ' 'uart->out(uart->context, 1 ^ '
change pl031.c 'return (uint32_t)(clock->' 'return (uint32_t)(77 + clock->'
change virtio.c '0x74726976u' '0x74726977u'
change nvic.c 'CALIBRATION 0xc' 'CALIBRATION 0x8'
change cmsdk_uart.c 'uart->out(uart->context, ' 'uart->out(uart->context, 1 ^ '
change cmsdk_timer.c 'left \* (uint64_t)cycle' 'left * (uint64_t)(cycle + 5)'
change semihosting.c 'EXIT_REGULAR 0x20026u' 'EXIT_REGULAR 0x20027u'
{ meson setup "$own/build" "$own/source" -Dtests=false &&
  ninja -C "$own/build" tools/cprec; } >"$own/log" 2>&1 ||
	{ tail -20 "$own/log"; echo 'Bail out! it does not build'; exit 1; }
other=$own/build/tools/cprec

folder=$source/tests/golden/recorded
for file in "$folder"/cortex-*/machine_*.cpr "$folder"/cortex-m*/*.cpr "$@"; do
	name=${file#"$folder/"}
	"$other" verify --quiet "$file"
	result "$name" $?
	"$cprec" replay "$file" >"$own/said"
	"$other" replay "$file" | cmp -s - "$own/said"
	result "$name says the same" $?
done

cd "$own" || exit 1
for name in cortex-a53-2/machine_checks cortex-m3-1/files; do
	"$cprec" run --at=0 "$folder/$name.cpr" </dev/null >said 2>/dev/null
	"$other" run --at=0 "$folder/$name.cpr" </dev/null 2>/dev/null |
		cmp -s - said
	result "$name is another one, alive" $((! $?))
done
echo "1..$number"
exit $status
