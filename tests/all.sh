#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the tests: all suites as built by default, but for `whole`, of which the
# others have samples; the unit and fuzz suites with AddressSanitizer and
# UndefinedBehaviorSanitizer, and the same built by clang.  The last line is
# "N passed, N failed".
set -eu
cd "$(dirname "$0")/.."

# configure FOLDER OPTION... - makes a build folder, or keeps what is there, but
# with tests
configure() {
	folder=$1
	shift
	if [ -f "$folder/build.ninja" ]; then
		meson configure "$folder" -Dtests=true -Dwerror=true
	else
		meson setup "$folder" -Dtests=true -Dwerror=true "$@"
	fi
	rm -f "$folder/meson-logs/testlog.json"
}

status=0
# check FOLDER OPTION... - builds and runs tests of a build folder
check() {
	echo "--- $*"
	meson test -C "$@" --print-errorlogs || status=$?
}

ASAN_OPTIONS=detect_leaks=1:abort_on_error=0
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export ASAN_OPTIONS UBSAN_OPTIONS

configure build
# Compiled in two thirds of the time; stacks still have lines.  The others warn.
# What clang optimizes is seen less often than what it warns of.
configure build-sanitize -Db_sanitize=address,undefined -Doptimization=1 \
	-Dc_args='-g1 -w'
CC=clang configure build-clang -Doptimization=1 -Ddebug=false
meson compile -C build || status=$?
meson compile -C build-clang || status=$?
check build-sanitize --suite unit --suite fuzz
check build-clang --suite unit --suite fuzz
check build --no-suite whole

/usr/bin/python3 tests/count_results.py build build-sanitize build-clang ||
	status=1
exit $status
