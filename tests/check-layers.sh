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

# files FOLDER - its own, not those of folders below it
files() {
	find "$1" -maxdepth 1 -name '*.[ch]' 2>/dev/null | sort
}

# includes FOLDER - "FILE:LINE HEADER" of each of our headers that they include
includes() {
	files "$1" | xargs grep -nE '^ *# *include *"' /dev/null |
		sed -E 's/:( *# *include *)"([^"]*)".*/ \2/'
}

# code FOLDER - "FILE:LINE:TEXT" of them, without comments
code() {
	files "$1" | xargs awk 'FNR == 1 { inside = 0 }
		{
			line = $0
			text = ""
			while (line != "") {
				at = index(line, inside ? "*/" : "/*")
				if (!inside)
					text = text (at ? substr(line, 1, at - 1) : line)
				if (!at)
					break
				line = substr(line, at + 2)
				inside = !inside
			}
			if (text ~ /[^ \t]/)
				print FILENAME ":" FNR ":" text
		}' /dev/null
}

# room FOLDER 'FOLDER|HEADER...' 'WORDS' - its files include only their own
# headers, those of these folders (not of folders below them) and these headers;
# their code, without comments, has no match of the expression WORDS.
room() {
	allowed=$(for item in "$1" $2; do
		case $item in
		*.h) echo "$item" ;;
		*) echo "$item/[^/]*" ;;
		esac
	done | tr '\n' '|' | sed 's,|$,,')
	result "$1 includes only: $1 $(echo $2)" "$(includes "$1" |
		grep -vE " ($allowed)\$")"
	[ -z "$3" ] || result "$1 never says: $3" "$(code "$1" | grep -E "$3")"
}

# public FOLDER HEADER... - other folders, but for tests, include only these of
# its headers; the first comment says what the room never does.
public() {
	folder=$1
	shift
	allowed=$(echo "$*" | tr ' ' '|')
	result "other rooms know of $folder only: $*" "$(
		grep -rnE "^ *# *include *\"$folder/[^/]*\"" --include='*.[ch]' \
			cache debugger formats index library recorder \
			replayer tools vm 2>/dev/null |
			grep -v "^$folder/[^/]*:" |
			grep -vE "\"$folder/($allowed)\"")"
	result "$folder/$1 says what the room never does" "$(
		sed -n '2,/\*\//p' "$folder/$1" | grep -qi never ||
			echo "$folder/$1 does not")"
}

# no_circles FOLDER - no two of its files, or more, include each other around a
# circle.  NAME.c, NAME.h and NAME_internal.h are one.
no_circles() {
	result "no circles in $1" "$(includes "$1" | grep " $1/[^/]*\$" |
		sed -E "s,^$1/([^:]*):[0-9]+ $1/(.*),\1 \2,
			s/(_internal)?\.[ch]\$//; s/(_internal)?\.[ch] / /" |
		awk '$1 != $2' | sort -u | tsort 2>&1 >/dev/null |
		sed 's/^tsort: //')"
}

# Folders as wholes, those below them too.  `allow FOLDER FOLDER...`
allow() {
	result "$1 and below includes only: $1 $2" "$(grep -rnE \
		'^ *# *include *"' "$1" --include='*.[ch]' 2>/dev/null |
		grep -vE "include *\"($(echo "$1 $2" | tr ' ' '|'))/")"
}

allow vm 'formats'

# Words that a room's code must not have.
prints='(^|[^a-z_])(printf|puts|putchar|perror)\(|\((stdout|stderr)|json_'
runs='(^|[^a-z_])(uc|vm|memory|replayer|turns|events)_[a-z]'

memory=vm/memory/memory.h
recording=replayer/recording/recording.h
symbols=replayer/symbols/symbols.h

room formats  ''        "$prints|$runs"
room cache    'formats' "$prints|$runs"
room recorder "formats cache vm $memory vm/linux vm/linux/host/host.h
	vm/board/board.h vm/board/live.h" \
	 "$prints|(^|[^a-z_])uc_|replayer"
room replayer/recording 'formats' "$prints|$runs"
room index    "formats $recording" "$prints|$runs"
room replayer/symbols "formats $recording" "$prints|$runs"
room replayer "formats cache vm $memory index/index.h $recording
	vm/board/board.h" \
	"$prints|(^|[^a-z_])(uc|names|lines|query|races)_[a-z]"
room replayer/session \
	"formats vm $memory vm/linux/abi/calls.h vm/linux/abi/names.h
	index/index.h $recording $symbols replayer/replayer.h
	replayer/touches.h replayer/machine.h" \
	"$prints|(^|[^a-z_])(uc|races?)_[a-z]"
room replayer/expressions \
	"formats $recording $symbols replayer/replayer.h
	replayer/session/session.h" \
	"$prints|(^|[^a-z_])(uc|vm|races?)_[a-z]"
room replayer/races \
	"formats vm $memory vm/linux/abi/calls.h index/index.h $recording $symbols
	replayer/replayer.h" \
	"$prints|(^|[^a-z_])(uc|query)_[a-z]"
# What other programs have of it: its header, which needs nothing of ours.
room library \
	"formats vm $memory vm/linux/abi/names.h vm/linux/text/text.h $recording
	$symbols replayer/replayer.h replayer/session/session.h
	replayer/expressions/expressions.h" \
	"$prints|(^|[^a-z_])(uc|races?)_[a-z]|packet_(decode|encode)"
result 'library/cprec.h includes nothing of ours' "$(
	grep -n '# *include *"' library/cprec.h /dev/null)"
# Debuggers' protocol; what it asks, others can ask, too.
room debugger 'library/cprec.h' \
	"$prints|$runs|(^|[^a-z_])(names|lines|query|races)_[a-z]"
# Our own prompt; what it asks, others can ask, too.
room tools/debug \
	"library/cprec.h formats/bit_field.h formats/nearest.h tools/commands.h
	tools/messages.h tools/print.h tools/print_bytes.h" \
	"$runs|(^|[^a-z_])(names|lines|query|races)_[a-z]"
room tools \
	"tools/debug/plain.h debugger/server.h library/cprec.h formats cache/cache.h index/index.h vm $memory vm/linux
	vm/linux/load/load.h vm/linux/abi/calls.h vm/linux/abi/names.h
	vm/linux/text/text.h recorder/recorder.h recorder/machine.h
	vm/board/board.h replayer/machine.h $recording $symbols replayer/replayer.h replayer/session/session.h
	replayer/expressions/expressions.h replayer/expressions/tasks.h
	replayer/races/races.h" \
	'(^|[^a-z_])uc_|packet_(decode|encode)|key_frame_decode'

public library            cprec.h
public tools/debug        plain.h
public debugger           server.h
public index              index.h
public recorder           recorder.h machine.h
public replayer/recording recording.h
public replayer/symbols   symbols.h
public replayer/session   session.h
public replayer/expressions expressions.h tasks.h
public replayer/races     races.h

no_circles cache
no_circles debugger
no_circles tools/debug
no_circles formats
no_circles index
no_circles replayer/recording
no_circles replayer/symbols
no_circles replayer/session
no_circles replayer/expressions

# The rooms of the virtual machine.  Words: of the engine, of an architecture,
# of what depends on the one build of the engine, of the guest's kernel.
engine_words='(^|[^a-z_>.])uc_[a-z]|UC_[A-Z]'
arch_words='(^|[^A-Za-z0-9_])(X86|ARM|ARM64|I386)_[A-Z]|(^|[^a-z_])cs_[a-z]'
build_words='dlsym|__builtin_return_address|[a-z]_(x86_64|aarch64)|(helper|tcg)_[a-z_0-9]+_arm'
linux_words='(^|[^a-z_])linux_'
vm_headers="formats $memory vm/engine/engine.h vm/vm.h"
room vm/memory formats \
	"$engine_words|$arch_words|$build_words|$linux_words|vm_reg"
room vm/engine "formats $memory" "$build_words|$linux_words"
room vm/engine/build 'formats vm/engine/engine_internal.h' "$linux_words"
room vm/arch "$vm_headers" \
	"$engine_words|$arch_words|$build_words|$linux_words"
room vm/arch/x86 "$vm_headers vm/arch/arch.h" \
	"$engine_words|$build_words|$linux_words"
room vm/arch/arm "$vm_headers vm/arch/arch.h" \
	"$engine_words|$build_words|$linux_words"
room vm/arch/arm64 "$vm_headers vm/arch/arch.h" \
	"$engine_words|$build_words|$linux_words"
# The processor looks up pages: it alone sees how memory keeps its mappings.
room vm/processor \
	"$vm_headers vm/arch/arch.h vm/memory/memory_internal.h vm/memory/views.h" \
	"$engine_words|$arch_words|$build_words|$linux_words"

# Machines: all that is there is the guest's, kernel and programs.
room vm/board 'formats vm/engine/machine.h vm/memory/host_faults.h' \
	"$engine_words|$build_words|$linux_words|(^|[^a-z_])(vm|memory)_[a-z]"
public vm/board board.h live.h

# The rooms of the guest's kernel, from the lowest to the highest: each may
# ask those above it in this list, and the core by kernel.h and process.h.
# The core knows all of them.  Nobody knows the recorder.
linux=vm/linux
base="formats $linux/guest_memory.h $linux/kernel.h $linux/linux.h
	$linux/process.h $memory vm/vm.h"
room $linux/abi "$base vm/arch/arm/guest.h vm/arch/arm64/guest.h vm/arch/x86/guest.h" \
	'(^|[^a-z_])host_(call|wait)|SYS_|marshal_call'
base="$base $linux/abi/abi.h $linux/abi/calls.h $linux/abi/structs.h
	$linux/abi/values.h"
room $linux/text "formats vm/vm.h $linux/abi/abi.h $linux/abi/calls.h
	$linux/abi/names.h $linux/abi/structs.h $linux/abi/values.h" \
	'(^|[^a-z_])(host_(call|wait)|linux_process|memory_[a-z])|marshal_call'
room $linux/host "$base" \
	'(^|[^a-z_])(vm_set_reg|memory_|copy_out|marshal_call)'
base="$base $linux/host"
room $linux/signals "$base" 'memory_(map|unmap|poke)|pthread_create|fork\('
room $linux/limits "$base $linux/signals" 'memory_[a-z]+\(|vm_[a-z]+\('
base="$base $linux/signals $linux/limits"
room $linux/memory "$base" 'pthread_|fork\(|sys_open|vm_set_reg'
base="$base $linux/memory"
room $linux/proc "$base" \
	'memory_(map|unmap|protect|attach|write)|vm_set_|process->[a-z_>.-]+ = '
room $linux/files "$base $linux/proc" \
	'memory_(map|unmap|protect|attach)|pthread_create|fork\(|vm_set_'
room $linux/ipc "$base" 'pthread_|fork\(|vm_set_|static [a-z ]+\[?\]? = '
base="$base $linux/files"
room $linux/tasks "$base" 'marshal_call|memory_(map|unmap)|vm_run'
room $linux/load "$base $linux/proc $linux/tasks" 'pthread_|fork\('
room $linux "formats $memory vm/vm.h $linux/abi $linux/files $linux/host
	$linux/ipc $linux/limits $linux/load $linux/memory $linux/proc
	$linux/signals $linux/tasks" ''

result 'nobody else names registers' "$(grep -rnE \
	'(^|[^A-Za-z0-9_])(X86|ARM|ARM64|I386)_[A-Z]' --include='*.[ch]' cache debugger index library \
	recorder replayer tools vm | grep -vE '^vm/(arch|engine|board|linux/abi)/')"

# The processor asks for mappings at each miss of the TLB and drops what was
# translated of them; what is built into the engine is a part of it.
result "no room includes another's *_internal.h" "$(grep -rnE \
	'^ *# *include *"[^"]*_internal\.h"' --include='*.[ch]' cache debugger formats \
	index library recorder replayer tools vm |
	sed -E 's,^([^:]*)/[^/:]*:[0-9]+: *# *include *"(.*)/[^/]*"$,\1 \2 &,' |
	awk '$1 != $2 { print $3, $4 }' |
	grep -vE '^(vm/processor|vm/engine/build)/')"

result "others include only public headers of $linux" "$(grep -rnE \
	"^ *# *include *\"$linux/" --include='*.[ch]' formats cache debugger index \
	library vm/*.[ch] recorder replayer tools | grep -vE \
	'linux/(linux|host/host|load/load|text/text|abi/(calls|names|values))\.h"')"

result "only $linux/abi names registers" "$(grep -rnE \
	'(^|[^A-Za-z0-9_])(X86_|ARM_|ARM64_|I386_|ABI_)|abi_(x86_64|arm|arm64|i386)' $linux \
	--include='*.[ch]' | grep -v "^$linux/abi/")"

result "only $linux/host has assembly" "$(grep -rnE \
	'__asm__|__builtin_ia32' $linux --include='*.[ch]' |
	grep -v "^$linux/host/")"

# only WHAT HEADERS 'FOLDER|...' - nobody else includes these headers
only() {
	result "only $3 may include $1" "$(grep -rnE \
		"^ *# *include *<($2)" --include='*.[ch]' . |
		grep -vE "^\./($3)/")"
}

# tests/bench/bare*.c are the engine alone, to compare with; tests/engine drops
# translations in all ways that there are.
only 'the engine'       'unicorn/'                 'vm/engine|tests/bench|tests/engine'
# tests/unit/test_x86_length.c compares with the decoder.
only 'the disassembler' 'capstone/'                'vm/arch|tests/unit'
only 'the compressor'   'zstd\.h|zdict\.h'         'formats'
only 'the hash'         'xxhash\.h|xxh3\.h'        'formats'
only 'the line editor'  'histedit|editline/'       'tools'
only 'debug information' 'elfutils/|dwarf\.h|libelf|gelf|elf\.h' \
	'vm|formats|recorder|replayer|debugger|tests'
only 'the test library' 'cmocka'                   'tests'

result 'layers stand in order in meson.build' "$(
	order=$(tr '\n' ' ' <meson.build |
		sed -n "s/.*foreach layer : \[\([^]]*\)\].*/\1/p" |
		tr -d "',")
	set -- $order
	[ "$*" = 'formats cache replayer/recording index vm recorder replayer library debugger tools' ] ||
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
	$(sources -name '*.[ch]' | grep -v '^docs/') /dev/null)"

# The quotes in the middle keep this file from finding itself.
result 'nothing left to do later' "$(grep -nE \
	'TO''DO|FIX''ME' \
	$(sources -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o \
		-name 'meson.build' -o -name '*.md') /dev/null)"

result 'no skipped tests' "$(grep -nE '(^|[^a-z_])skip\(\)' \
	$(sources -name '*.c') /dev/null)"

result 'only tools print' "$(grep -rnE \
	'(^|[^a-z_])(printf|puts|putchar|perror)\(|fprintf\((stdout|stderr)' \
	formats cache debugger index vm recorder replayer library --include='*.c' \
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
