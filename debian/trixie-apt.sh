#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Gets packages of Debian 13 on another Debian, into the present folder, and
# changes nothing of the system: apt's sources, lists and cache are in a folder
# of their own.
#
# usage: trixie-apt.sh FOLDER download PACKAGE...
#        trixie-apt.sh FOLDER source PACKAGE
#
# FOLDER: where apt's files are, which may be used again.  The mirror, and the
# keys that its signatures are checked with, are those of this system.
set -eu
export LC_ALL=C
[ $# -ge 3 ] || { sed -n 's/^# usage:/usage:/p' "$0" >&2; exit 2; }
mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial"
folder=$(cd "$1" && pwd)
shift

die() {
	printf '%s\n' "setup: $*" >&2
	exit 1
}

# With files of its own, but the system's sources.
own_apt() {
	command=$1
	shift
	"$command" -q -o Dir::State="$folder/state" -o Dir::Cache="$folder/cache" \
		-o Acquire::Languages=none -o APT::Default-Release= \
		-o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null \
		-o APT::Sandbox::User="$(id -un)" "$@"
}

# With the one source of Debian 13.
trixie() {
	command=$1
	shift
	own_apt "$command" -o Dir::Etc::sourcelist="$source" \
		-o Dir::Etc::sourceparts=/dev/null "$@"
}

# find_entry APT... - which entry of the sources brings Debian itself: FILE:NUMBER
find_entry() {
	"$@" indextargets --format \
		'$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(SOURCESENTRY)' \
		'Identifier: Packages' |
		sed -n 's/^Debian|Debian|main|//p' | head -n 1
}

# write_source TYPE - the same source once more, but of the suite "trixie", and of
# one type, "deb" or "deb-src": same mirror, same keys, same options
write_source() {
	file=${entry%:*}
	number=${entry##*:}
	case $file in
	*.sources)	# the stanza of that number
		source=$folder/trixie.sources
		awk -v wanted="$number" -v type="$1" '
			/^#/ { next }
			/^[ \t]*$/ { inside = 0; next }
			!inside { inside = 1; stanza++ }
			stanza != wanted { next }
			/^[ \t]/ { if (keep) print; next }
			{ keep = 1 }
			tolower($1) ~ /^(types|suites|components|enabled):/ {
				keep = 0
				next
			}
			{ print }
			END {
				print "Types: " type
				print "Suites: trixie"
				print "Components: main"
			}' "$file" >"$source"
		;;
	*)		# the line of that number
		source=$folder/trixie.list
		sed -nE "${number}s/^deb( +(\[[^]]*\] +)?[^ ]+) .*/$1\1 trixie main/p" \
			"$file" >"$source"
		;;
	esac
	[ -s "$source" ] || die "cannot read the apt source $entry"
}

# The system may never have read what its sources have.
entry=$(find_entry apt-get)
[ -n "$entry" ] || {
	own_apt apt-get update
	entry=$(find_entry own_apt apt-get)
}
[ -n "$entry" ] || die "apt has no source of Debian's section 'main'"

# A mirror that is being updated fails for a moment: once more, then.
update() {
	trixie apt-get update || {
		sleep 5
		trixie apt-get update
	}
}

case $1 in
download)
	write_source deb
	update
	trixie apt-get "$@"
	;;
source)
	write_source deb-src
	update
	trixie apt-get source --only-source "$2"
	;;
*)
	die "trixie-apt.sh: no command '$1'"
	;;
esac
