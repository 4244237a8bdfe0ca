#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs ./setup on fresh systems: Debian 12, 13 and unstable, as small as
# debootstrap makes them, by root and by a user with sudo.  Prints a line for each
# step, with how long it took, and what failed.  Takes some two hours; run it
# before each release.
#
# usage: fresh.sh [--suites="SUITE..."] [--users="USER..."] [--steps="STEP..."]
#                 FOLDER
#
# SUITE: bookworm, trixie, sid.  USER: root, user.  STEP:
#   demo     ./setup demo, the README's first command
#   again    what the machine says of itself after it: apt's settings are as they
#            were, all packages are the system's own
#   install  meson install: the program, the library for C and for Python
#   test     ./setup test, the README's second command
#   offline  what ./setup build does without network but the loopback; then the
#            tests, of the suite `run` a sample, also without /dev/shm, with the
#            sources read-only, in a build folder elsewhere
#   package  ./setup package; the packages are installed on another fresh system,
#            used, and purged
#   upgrade  of Debian 12: what ./setup left of old is removed, and it becomes 13
# All of them by default, in this order.
#
# FOLDER: where the systems are, some 25 GB.  Those that debootstrap made are
# kept there, as base-SUITE, and logs, as SUITE-USER-STEP.log.
#
# Needs root, debootstrap and ip.  What is tested is this repository's last commit.
set -eu
export LC_ALL=C
repository=$(cd "$(dirname "$0")/.." && pwd)

usage() {
	sed -n 's/^# usage:/usage:/p; s/^#                 FOLDER/                FOLDER/p' \
		"$0" >&2
	exit 2
}

suites='bookworm trixie sid'
users='root user'
steps='demo again install test offline package upgrade'
for argument; do
	case $argument in
	--suites=*) suites=${argument#*=} ;;
	--users=*) users=${argument#*=} ;;
	--steps=*) steps=${argument#*=} ;;
	-*) usage ;;
	*) folder=$argument ;;
	esac
done
[ -n "${folder:-}" ] || usage
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
failures=

say() {
	printf '%s\n' "$*"
}

# inside TREE USER COMMAND - in a tree, in namespaces of its own, with the
# environment of a container: none.  Reads nothing.
inside() {
	inside_tree=$1 inside_user=$2
	shift 2
	cp /etc/resolv.conf "$inside_tree/etc/resolv.conf"
	# Everything that is started there ends with it.
	unshare --mount --pid --fork --kill-child ${network_off:+--net} sh -ec '
		mount --rbind /dev "$1/dev"
		mount --make-rslave "$1/dev"
		mount -t tmpfs shm "$1/dev/shm" -o "mode=$4"
		mount -t proc proc "$1/proc"
		mount -t sysfs sys "$1/sys"
		[ -z "$5" ] || ip link set lo up
		[ -z "$6" ] || mount --bind -o ro "$1$6" "$1$6"
		home=$(awk -F: -v user="$2" "\$1 == user { print \$6 }" "$1/etc/passwd")
		exec chroot --userspec="$2" --groups= "$1" env -i HOME="$home" \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			sh -ec "$3"
	' inside "$inside_tree" "$inside_user" "$*" "${shm_mode:-1777}" "${network_off:-}" \
		"${read_only:-}" </dev/null
}

# The mirror of this machine's own Debian.
mirror() {
	apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)' \
		'Identifier: Packages' |
		sed -n 's/^Debian|Debian|main|//p' | head -n 1
}

# base SUITE - makes FOLDER/base-SUITE, with this machine's settings of apt for
# downloads, and the names of hosts that installers and containers write
base() {
	[ ! -d "$folder/base-$1" ] || return 0
	say "# making $folder/base-$1"
	rm -rf "$folder/new"
	debootstrap --variant=minbase "$1" "$folder/new" "$(mirror)" \
		>"$folder/base-$1.log" 2>&1 || {
		tail "$folder/base-$1.log"
		exit 1
	}
	apt-config dump Acquire >"$folder/new/etc/apt/apt.conf.d/90machine"
	printf '127.0.0.1 localhost %s\n' "$(uname -n)" >"$folder/new/etc/hosts"
	mv "$folder/new" "$folder/base-$1"
}

# fresh NAME SUITE - a copy of the system of a suite
fresh() {
	rm -rf "$folder/$1"
	cp -a --reflink=auto "$folder/base-$2" "$folder/$1"
}

# A copy with the repository at $place: for root below a folder of mode 0700,
# for the other in one with blanks and umlauts.
populate() {
	fresh "$1" "$2"
	tree=$folder/$1
	case $3 in
	root)
		place=/root/cprec
		;;
	user)
		place="/home/user/a folder of Jürgen Groß/cprec"
		inside "$tree" root 'apt-get -q update
			apt-get -q -y install --no-install-recommends sudo
			useradd -m -s /bin/sh user
			echo "user ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/user' \
			>"$folder/$1-sudo.log" 2>&1
		;;
	esac
	git clone -q "$repository" "$tree$place"
	[ "$3" = root ] || chown -R 1000:1000 "$tree/home/user"
	snapshot "$tree" >"$folder/$1.before"
}

# What apt knows, and of which version the system is.
snapshot() {
	(cd "$1/etc/apt" && find . -type f -exec sha256sum {} + | sort -k2)
}

# step SUITE USER STEP COMMAND... - runs it, prints one line
step() {
	name="$1 $2 $3"
	log=$folder/$1-$2-$3.log
	shift 3
	began=$(date +%s)
	if "$@" >"$log" 2>&1; then
		result=ok
	else
		result='not ok'
		failures="$failures
$name: $log"
	fi
	say "$result - $name, $(($(date +%s) - began)) s"
	[ "$result" = ok ] || tail -n 15 "$log" | sed 's/^/# /'
}

setup() {
	inside "$tree" "$user_now" "cd '$place' && exec ./setup $1"
}

# Whether apt's settings are untouched, and each package comes from them.
look_again() {
	snapshot "$tree" | diff "$folder/$suite-$user_now.before" - || return 1
	inside "$tree" root 'apt-get -q update >/dev/null
		apt list --installed 2>/dev/null >/tmp/installed
		! grep "installed,local" /tmp/installed
		wc -l </tmp/installed'
}

# What is installed is found, in a folder that has nothing of the sources.
use_library='
	cd /
	command -v cprec
	/usr/bin/python3 -c "import cprec; print(cprec.__file__, cprec.version())"
	printf "#include <cprec.h>\nint main(void)
		{ return !cprec_version(); }\n" >/tmp/library.c
	gcc /tmp/library.c $(pkg-config --cflags --libs cprec) -o /tmp/library
	/tmp/library
'

install() {
	inside "$tree" root "meson install -C '$place/build'
		$use_library
		ninja -C '$place/build' uninstall"
}

offline() {
	network_off=yes inside "$tree" "$user_now" "cd '$place'
		./setup build" || return 1
	network_off=yes shm_mode=0000 read_only=$place inside "$tree" "$user_now" "
		rm -rf /var/tmp/build
		meson setup -Dtests=true /var/tmp/build '$place'
		meson test -C /var/tmp/build --print-errorlogs --suite unit \
			--suite fuzz --suite source --suite engine --suite guests
		meson test -C /var/tmp/build --print-errorlogs bad_input index debug \
			gdb plain library races strace"
}

# The packages, on a system that has nothing else.
packages() {
	setup package || return 1
	fresh "$suite-install" "$suite"
	other=$folder/$suite-install
	mkdir "$other/packages"
	cp "$tree$place"/build-package/*.deb "$other/packages/"
	du -ch "$other"/packages/*.deb
	(cd "$other" && find . -xdev) | sort >"$folder/$suite.files"
	cp "$repository/docs/example/stock.c" "$repository/docs/example/explore.py" \
		"$other/packages/"
	inside "$other" root '
		apt-get -q update
		apt-get -q -y install --no-install-recommends /packages/*.deb gcc \
			libc6-dev pkgconf
		cd /packages
		gcc -g -o stock stock.c
		cprec record ./stock || [ $? -ge 128 ]
		cprec backtrace | grep "in main"
		cprec last --addr="stock->next->next"
		python3 explore.py trace.cpr
		'"$use_library"'
		ls /usr/share/doc/cprec/examples/stock.c \
			/usr/share/doc/cprec/trace-format.md* \
			/usr/share/doc/cprec/changelog.gz \
			/usr/share/man/man1/cprec.1.gz
		apt-get -q -y purge cprec libcprec1 libcprec-dev python3-cprec
		! find / -xdev -path /packages -prune -o -path /proc -prune -o \
			-name "*cprec*" -print | grep .' || return 1
}

# Debian 12 with what earlier versions of ./setup left, which made an upgrade to
# Debian 13 find nothing.
upgrade() {
	printf 'deb %s trixie main\n' "$(mirror)" \
		>"$tree/etc/apt/sources.list.d/cprec-trixie.list"
	printf '%s\n' 'Package: *' 'Pin: release n=trixie*' 'Pin-Priority: 50' \
		>"$tree/etc/apt/preferences.d/cprec-trixie"
	setup install || return 1
	snapshot "$tree" | diff "$folder/$suite-$user_now.before" - || return 1
	inside "$tree" root 'sed -i s/bookworm/trixie/ /etc/apt/sources.list
		export DEBIAN_FRONTEND=noninteractive
		apt-get -q update
		apt-get -q -y -o Dpkg::Options::=--force-confnew dist-upgrade
		grep -q "^13" /etc/debian_version
		dpkg-query -W -f "\${Package} \${Version}\n" libc6 gcc' || return 1
	setup demo
}

for suite in $suites; do
	base "$suite"
	for user_now in $users; do
		populate "$suite-$user_now" "$suite" "$user_now"
		for one in $steps; do
			case $one in
			demo | test) step "$suite" "$user_now" "$one" setup "$one" ;;
			again) step "$suite" "$user_now" "$one" look_again ;;
			install) step "$suite" "$user_now" "$one" install ;;
			offline) step "$suite" "$user_now" "$one" offline ;;
			package) step "$suite" "$user_now" "$one" packages ;;
			upgrade)
				[ "$suite" != bookworm ] ||
					step "$suite" "$user_now" "$one" upgrade
				;;
			*) usage ;;
			esac
		done
		say "# $suite $user_now: $(du -xsh "$folder/$suite-$user_now" |
			cut -f1), $(cat "$folder/$suite-$user_now/var/lib/dpkg/status" |
			grep -c '^Package:') packages"
	done
done
[ -n "$failures" ] || {
	say "nothing failed"
	exit 0
}
say "failed:$failures"
exit 1
