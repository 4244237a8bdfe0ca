#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs check_guest.sh where the kernel allows messages of 100 MB: in a namespace
# of its own, if there may be one.  Speaks TAP.
#
# usage: check_messages.sh CPREC GUEST
own='unshare --ipc'	# root's, in a changed root directory, too
$own true 2>/dev/null || own="$own --user --map-root-user"
$own true 2>/dev/null || {
	echo '1..0 # SKIP there may be no namespace of its own here'
	exit 0
}
exec $own sh -c '
	echo 100000000 >/proc/sys/kernel/msgmax
	echo 200000000 >/proc/sys/kernel/msgmnb
	exec "$0" "$@"' "$(dirname "$0")/check_guest.sh" "$@"
