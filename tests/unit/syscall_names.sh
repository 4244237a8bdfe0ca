#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the host's system calls, as the compiler's headers have them, as rows
# of a table in C.
#
# usage: syscall_names.sh COMPILER...
"$@" -dM -E -xc -include asm/unistd.h /dev/null |
	sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/{ "\1", \2 },/p'
