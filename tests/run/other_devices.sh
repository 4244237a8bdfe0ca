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
name=other_devices
. "$(dirname "$0")/../guests/tap.sh"

# change FILE FROM TO - in a device; FROM must be there
change() {
	file=$folder/source/vm/board/$1
	grep -q "$2" "$file" || { echo "Bail out! $1 has no '$2'"; exit 1; }
	sed -i "s/$2/$3/" "$file"
}

mkdir "$folder/source"
(cd "$source" && git ls-files -z | xargs -0 tar c) | tar x -C "$folder/source"
change gic.c 'IDLE_PRIORITY 0xffu' 'IDLE_PRIORITY 0xf0u'
change pl011.c 'uart->out(uart->context, ' 'uart->out(uart->context, 1 ^ '
change pl031.c 'return (uint32_t)(clock->' 'return (uint32_t)(77 + clock->'
change virtio.c '0x74726976u' '0x74726977u'
change nvic.c 'CALIBRATION 0xc' 'CALIBRATION 0x8'
change cmsdk_uart.c 'uart->out(uart->context, ' 'uart->out(uart->context, 1 ^ '
change cmsdk_timer.c 'left \* (uint64_t)cycle' 'left * (uint64_t)(cycle + 5)'
change semihosting.c 'EXIT_REGULAR 0x20026u' 'EXIT_REGULAR 0x20027u'
{ meson setup "$folder/build" "$folder/source" -Dtests=false &&
  ninja -C "$folder/build" tools/cprec; } >"$folder/log" 2>&1 ||
	{ tail -20 "$folder/log"; echo 'Bail out! it does not build'; exit 1; }
other=$folder/build/tools/cprec

recorded=$source/tests/golden/recorded
for file in "$recorded"/cortex-*/machine_*.cpr "$recorded"/cortex-m*/*.cpr "$@"; do
	name=${file#"$recorded/"}
	"$other" verify --quiet "$file"
	result "$name" $?
	"$cprec" replay "$file" >"$folder/said"
	"$other" replay "$file" | cmp -s - "$folder/said"
	result "$name says the same" $?
done

cd "$folder" || exit 1
for name in cortex-a53-2/machine_checks cortex-m3-1/files; do
	"$cprec" run --at=0 "$recorded/$name.cpr" </dev/null >said 2>/dev/null
	"$other" run --at=0 "$recorded/$name.cpr" </dev/null 2>/dev/null |
		cmp -s - said
	result "$name is another one, alive" $((! $?))
done
finish
