#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Lets the dynamic linker know a library that was just installed, so that programs
# that are linked with it find it; says so if it does not look there.  Not where a
# package is made.
#
# usage: refresh.sh FOLDER
[ -z "${DESTDIR:-}" ] && [ "$(id -u)" -eq 0 ] || exit 0
ldconfig || exit 0
ldconfig -p | grep -qF " $1/libcprec.so.1" ||
	echo "The linker does not look for libraries in $1: set LD_LIBRARY_PATH, or" \
		"choose another folder by meson's option libdir"
