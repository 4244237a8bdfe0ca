#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Lets the build go on if the engine's archive is one that the manifest knows,
# or if the self-test, which was linked with it, finds all as it should be.
#
# usage: check.sh ARCHIVE MANIFEST SELFTEST STAMP
set -eu
sum=$(sha256sum "$1" | cut -d ' ' -f 1)
if ! grep -qx "KNOWN($sum)" "$2"; then
	echo "the engine: '$1' is not one that is known; testing it"
	"$3"
fi
echo "/* The engine was checked: $sum */" >"$4"
