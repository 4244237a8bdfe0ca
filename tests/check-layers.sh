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

# allow FOLDER 'FOLDER...' - FOLDER may include itself and these
allow() {
	result "$1 includes only: $1 $2" "$(grep -rnE '^ *# *include *"' "$1" \
		--include='*.[ch]' 2>/dev/null |
		grep -vE "include *\"($(echo "$1 $2" | tr ' ' '|'))/")"
}

allow formats  ''
allow cache    'formats'
allow index    'formats'
allow vm       'formats'
allow recorder 'formats cache vm'
allow replayer 'formats cache vm index'
allow tools    'formats cache vm index recorder replayer'

# room FOLDER 'HEADER|FOLDER|...' 'REGEX' - the files in FOLDER itself, without
# the folders in it, include only their own headers and these, no other room's
# *_internal.h, and have no such word outside comments.  '' is no word.
room() {
	result "room $1 includes what it may" "$(
		grep -nE '^ *# *include *"' "$1"/*.[ch] |
		grep -vE "include *\"(($1/[^/]*|($2)(/[^\"]*)?)\"|formats/)"
		grep -nE '^ *# *include *".*_internal\.h"' "$1"/*.[ch] |
		grep -vE "include *\"($1/[^/]*_internal\.h|($2)\")")"
	[ -z "$3" ] || result "room $1 does without certain words" "$(
		for file in "$1"/*.[ch]; do
			code "$file" | grep -nE "$3" | sed "s,^,$file:,"
		done)"
}

# code FILE - the file without its comments, line by line
code() {
	sed -e 's,/\*.*\*/,,' -e '/\/\*/,/\*\//d' "$1"
}

# The rooms of the virtual machine.  Words: of the engine, of an architecture,
# of what depends on the one build of the engine, of the guest's kernel.
engine_words='(^|[^a-z_>.])uc_[a-z]|UC_[A-Z]'
arch_words='(^|[^A-Za-z0-9_])X86_[A-Z]|(^|[^a-z_])cs_[a-z]'
build_words='dlsym|__builtin_return_address|[a-z]_x86_64'
linux_words='(^|[^a-z_])linux_'
vm_headers='vm/(memory/memory|engine/engine|vm)\.h'
room vm/memory '' "$engine_words|$arch_words|$build_words|$linux_words|vm_reg"
room vm/engine 'vm/memory/memory\.h' "$build_words|$linux_words"
room vm/engine/build 'vm/engine/engine_internal\.h' "$linux_words"
room vm/arch "$vm_headers" \
	"$engine_words|$arch_words|$build_words|$linux_words"
room vm/arch/x86 "$vm_headers|vm/arch/arch\.h" \
	"$engine_words|$build_words|$linux_words"
# The processor looks up pages: it alone sees how memory keeps its mappings.
room vm/processor \
	"$vm_headers|vm/arch/arch\.h|vm/memory/(memory_internal|views)\.h" \
	"$engine_words|$arch_words|$build_words|$linux_words"

# The rooms of the guest's kernel, from the lowest to the highest: each may
# ask those above it in this list, and the core by kernel.h and process.h.
# The core knows all of them.  Nobody knows the recorder.
linux='vm/linux'
base="$linux/(guest_memory|kernel|linux|process)\.h|vm/memory/memory\.h|vm/vm\.h"
room $linux/abi "$base|vm/arch/x86/cpuid\.h" '(^|[^a-z_])host_(call|wait)|SYS_|marshal_call'
base="$base|$linux/abi/(abi|calls|structs|values)\.h"
room $linux/host "$base" \
	'(^|[^a-z_])(vm_set_reg|memory_|copy_out|marshal_call)'
base="$base|$linux/host"
room $linux/signals "$base" 'memory_(map|unmap|poke)|pthread_create|fork\('
room $linux/limits "$base|$linux/signals" 'memory_[a-z]+\(|vm_[a-z]+\('
base="$base|$linux/signals|$linux/limits"
room $linux/memory "$base" 'pthread_|fork\(|sys_open|vm_set_reg'
base="$base|$linux/memory"
room $linux/proc "$base" \
	'memory_(map|unmap|protect|attach|write)|vm_set_|process->[a-z_>.-]+ = '
room $linux/files "$base|$linux/proc" \
	'memory_(map|unmap|protect|attach)|pthread_create|fork\(|vm_set_'
room $linux/ipc "$base" 'pthread_|fork\(|vm_set_|static [a-z ]+\[?\]? = '
base="$base|$linux/files"
room $linux/tasks "$base" 'marshal_call|memory_(map|unmap)|vm_run'
room $linux/load "$base|$linux/proc|$linux/tasks" 'pthread_|fork\('
room $linux "$linux|vm/memory/memory\.h|vm/vm\.h" ''

result "others include only public headers of $linux" "$(grep -rnE \
	"^ *# *include *\"$linux/" --include='*.[ch]' formats cache index \
	vm/*.[ch] recorder replayer tools | grep -vE \
	'linux/(linux|host/host|load/load|abi/(calls|names|values))\.h"')"

result "only $linux/abi names registers" "$(grep -rnE \
	'(^|[^A-Za-z0-9_])(X86_|ARM_|ARM64_|ABI_)|abi_x86_64' $linux \
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

# tests/bench/bare.c is the engine alone, to compare with; tests/engine drops
# translations in all ways that there are.
only 'the engine'       'unicorn/'                 'vm/engine|tests/bench|tests/engine'
# tests/unit/test_x86_length.c compares with the decoder.
only 'the disassembler' 'capstone/'                'vm/arch|tests/unit'
only 'the compressor'   'zstd\.h|zdict\.h'         'formats'
only 'the hash'         'xxhash\.h|xxh3\.h'        'formats'
only 'the line editor'  'histedit|editline/'       'tools'
only 'debug information' 'elfutils/|dwarf\.h|libelf|gelf|elf\.h' \
	'vm|formats|recorder|replayer|tests'
only 'the test library' 'cmocka'                   'tests'

result 'layers stand in order in meson.build' "$(
	order=$(tr '\n' ' ' <meson.build |
		sed -n "s/.*foreach layer : \[\([^]]*\)\].*/\1/p" |
		tr -d "',")
	set -- $order
	[ "$*" = 'formats cache index vm recorder replayer tools tests' ] ||
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
	$(sources -name '*.[ch]') /dev/null)"

# The quotes in the middle keep this file from finding itself.
result 'nothing left to do later' "$(grep -nE \
	'TO''DO|FIX''ME' \
	$(sources -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o \
		-name 'meson.build' -o -name '*.md') /dev/null)"

result 'no skipped tests' "$(grep -nE '(^|[^a-z_])skip\(\)' \
	$(sources -name '*.c') /dev/null)"

result 'only tools print' "$(grep -rnE \
	'(^|[^a-z_])(printf|puts|putchar|perror)\(|fprintf\((stdout|stderr)' \
	formats cache index vm recorder replayer --include='*.c' \
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
