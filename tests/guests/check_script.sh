#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that begin with `#!`, and files that are no programs: what the
# kernel does natively, cprec must do too.  Speaks TAP.
#
# usage: check_script.sh CPREC
cprec=$(realpath "$1")
name=script
. "$(dirname "$0")/tap.sh"
cd "$folder" || exit 1

# script NAME LINE - makes an executable script
script() {
	printf '%s\n' "$2" 'ignored' >"$1"
	chmod +x "$1"
}

# same NAME PROGRAM ARGUMENT... - the same output and status as natively
same() {
	what=$1
	shift
	"$@" >native 2>&1 </dev/null
	expected=$?
	"$cprec" run -- "$@" >run 2>&1 </dev/null
	status=$?
	cmp -s native run && [ $status -eq $expected ]
	good=$?
	[ $good -eq 0 ] || diff native run | sed 's/^/# /'
	result "$what" $good
}

# same_as_env NAME PROGRAM - as execvp(3) has it, which gives it to a shell
same_as_env() {
	env "$2" >native 2>&1 </dev/null
	expected=$?
	"$cprec" run -- "$2" >run 2>&1 </dev/null
	[ $? -eq $expected ] && cmp -s native run
	good=$?
	[ $good -eq 0 ] || diff native run | sed 's/^/# /'
	result "$1" $good
}

# refused STATUS NAME TEXT PROGRAM - that status, and one line with the text
refused() {
	expected=$1
	shift
	"$cprec" run -- "$3" >run 2>&1 </dev/null
	status=$?
	[ $status -eq "$expected" ] &&
		[ "$(wc -l <run)" -eq 1 ] && grep -q "^cprec: .*$2" run
	good=$?
	[ $good -eq 0 ] || sed "s/^/# status $status: /" run
	result "$1" $good
}

script plain '#!/bin/echo'
script argument '#!/bin/echo  one argument of  two words  '
script nested '#!./argument'
script deep '#!./nested'
script spaces '#! 	/bin/echo'
script loop '#!./loop'
script missing '#!/no/such/interpreter -x'
script nobody '#!'
script shell '#!/bin/sh'
printf '#!/bin/sh\necho "$0" "$#" "$1"\nexit 5\n' >shell
printf '#!/bin/echo' >unended
chmod +x unended
echo 'text' >text
chmod +x text
: >empty
chmod +x empty
head -c 50 /bin/sh >cut
chmod +x cut
cp text unexecutable
chmod -x unexecutable
mkdir folder

same 'no argument' ./plain
same 'its own arguments' ./plain a 'b c' ''
same 'an argument in the line' ./argument x
same 'an interpreter that is a script' ./nested x
same 'three deep' ./deep x
same 'space before the interpreter' ./spaces x
same 'a line without an end' ./unended x
same 'a shell' ./shell x
PATH=$folder:$PATH same 'found in PATH' shell y
refused 126 'an endless loop' interpreters ./loop
refused 126 'a missing interpreter' "interpreter '/no/such/interpreter'" ./missing
refused 126 'no interpreter' 'names no interpreter' ./nobody
same_as_env 'a text' ./text
same_as_env 'an empty file' ./empty
refused 126 'a cut ELF file' 'damaged ELF file' ./cut
refused 126 'not executable' 'not executable' ./unexecutable
refused 126 'a folder' 'is a directory' ./folder
refused 127 'nothing there' 'no such program' ./nothing
refused 127 'nothing in PATH' 'no such program in PATH' cprec-no-such-program

finish
