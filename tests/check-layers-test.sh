#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Plants faults into a copy of the source: check-layers.sh must report each of
# them, in the check that is for it, and nothing else.  Speaks TAP.
#
# usage: check-layers-test.sh SOURCE
source=$(realpath "$1")
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
number=0
status=0

for folder in formats cache index vm recorder replayer library tools tests; do
	cp -r "$source/$folder" "$copy" || exit 1
done
cp "$source/meson.build" "$copy"

plant() {
	printf '%s\n' "$2" >>"$copy/$1"
	echo "$1|$2|$3" >>"$copy/planted"
}

plant cache/cache.c      '#include "vm/vm.h"' 'cache includes only'
plant index/page_index.c '#include "formats/../recorder/pacing.h"' \
	'index includes only'
plant replayer/recording/packets.c '#include "index/index.h"' \
	'replayer/recording includes only'
plant replayer/recording/mapped.c 'int x = vm_run(0);' \
	'replayer/recording never says'
plant replayer/turns.c 'int x = names_of(0);' 'replayer never says'
plant replayer/session/query.c 'int x = races_find(0);' \
	'replayer/session never says'
plant library/calls.c '#include "replayer/races/races.h"' \
	'library includes only'
plant library/values.c 'int x = uc_emu_stop(0);' 'library never says'
plant library/cprec.h '#include "formats/error.h"' \
	'library/cprec.h includes nothing of ours'
plant tools/debug/stops.c '#include "replayer/replayer.h"' \
	'tools/debug includes only'
plant tools/newest.c '#include "library/handles.h"' \
	'other rooms know of library only'
plant recorder/pacing.c '#include "index/index.h"' 'recorder includes only'
plant tools/damage.c 'int x = packet_decode(0);' 'tools never says'
plant vm/vm.c '#include "recorder/recorder.h"' 'vm and below includes only'
plant tools/family.c '#include "replayer/script.h"' 'tools includes only'
plant tools/info.c '#include "replayer/recording/slices.h"' \
	'other rooms know of replayer/recording only'
plant replayer/recording/slices.h '#include "replayer/recording/threads.h"' \
	'no circles in replayer/recording'
plant replayer/symbols/modules.h '#include "replayer/symbols/names.h"' \
	'no circles in replayer/symbols'
plant vm/memory/pages.c 'int x = vm_reg(0, 0);' 'vm/memory never says'
plant vm/processor/clock.c 'int x = uc_emu_stop(0);' 'vm/processor never says'
plant vm/processor/tlb.c 'int x = X86_RIP;' 'vm/processor never says'
plant vm/engine/engine.c 'void *x = dlsym(0, 0);' 'vm/engine never says'
plant vm/arch/x86/flow.c '#include "vm/processor/processor.h"' \
	'vm/arch/x86 includes only'
plant vm/linux/proc/proc.c '#include "vm/linux/tasks/tasks.h"' \
	'vm/linux/proc includes only'
plant vm/linux/text/special.c '#include "vm/linux/kernel.h"' \
	'vm/linux/text includes only'
plant vm/linux/files/files.c 'int x = X86_RAX;' 'names registers'
# What a comment says is no fault.
echo '/* vm_run() would be wrong here */' >>"$copy/replayer/recording/mapped.c"
sed -i 's/never/not/g' "$copy/replayer/session/session.h"
echo 'replayer/session/session.h|no first comment|says what the room never does' \
	>>"$copy/planted"

sh "$source/tests/check-layers.sh" "$copy" true >"$copy/found" 2>&1

# reports FILE CHECK - whether a check of this name failed and named the file
reports() {
	awk -v file="$1" -v check="$2" '
		/^# / { said = said "\n" $0 }
		/^ok/ { said = "" }
		/^not ok/ {
			if (index($0, check) && index(said, file))
				found = 1
			said = ""
		}
		END { exit !found }' "$copy/found"
}

while IFS='|' read -r file fault check; do
	number=$((number + 1))
	case $check in
	'no circles'*) name=$(basename "$file" .h) ;;
	*) name=$file ;;
	esac
	if reports "$name" "$check"; then
		echo "ok $number - $file: $fault"
		continue
	fi
	echo "not ok $number - $file: $fault: '$check' does not name it"
	status=1
done <"$copy/planted"

# A private header of another room is also one that may not be included.
number=$((number + 1))
expected=$(cut -d'|' -f3 "$copy/planted" | sort -u)
others=$(grep '^not ok' "$copy/found" | grep -vF "$expected")
if [ -z "$others" ]; then
	echo "ok $number - nothing else is reported"
else
	echo "$others" | sed 's/^/# /'
	echo "not ok $number - nothing else is reported"
	status=1
fi
echo "1..$number"
exit $status
