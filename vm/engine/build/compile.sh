#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles the Unicorn Engine's static library from its sources, for the
# processors that cprec has use for.
#
# usage: compile.sh SOURCES ARCHIVE
#
# The flags are always the same, whatever the environment says: the self-test
# (tests/engine/selftest.c) and the measurements in docs/processor.md are of a
# library that is compiled so.  A function that cprec replaces must be called
# by its name, also from within its own file, hence -fsemantic-interposition.
set -eu
sources=$1
archive=$2
unset CFLAGS CPPFLAGS LDFLAGS CC
flags='-std=gnu11 -O2 -fPIC -fsemantic-interposition -fno-lto -w'

command -v cmake >/dev/null || {
	echo "the engine: cmake is needed to compile it" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S "$sources" -B "$work" -G Ninja -DCMAKE_C_COMPILER=gcc \
	-DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" \
	-DUNICORN_ARCH='x86;arm;aarch64' -DBUILD_SHARED_LIBS=OFF \
	-DUNICORN_BUILD_TESTS=OFF -DUNICORN_INSTALL=OFF >"$work/log" 2>&1 &&
	ninja -C "$work" >>"$work/log" 2>&1 || {
	tail -n 30 "$work/log" >&2
	echo "the engine: '$sources' cannot be compiled" >&2
	exit 1
}
cp "$work/libunicorn.a" "$archive"
