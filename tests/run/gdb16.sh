#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes FOLDER/gdb and FOLDER/gdb-multiarch: Debian 13's gdb 16, for Debian 12,
# with the libraries that it needs from there; the others are those of Debian 12's own gdb, which must
# be installed.  Nothing is installed.
#
# usage: gdb16.sh FOLDER
set -eu
[ $# -eq 1 ] || { sed -n 's/^# usage:/usage:/p' "$0" >&2; exit 2; }
trixie_apt=$(cd "$(dirname "$0")/../.." && pwd)/debian/trixie-apt.sh
mkdir -p "$1/packages"
cd "$1"

packages='gdb gdb-multiarch libc6 libexpat1 libgcc-s1 libpython3.13 libpython3.13-minimal
	libpython3.13-stdlib libstdc++6'
(cd packages && "$trixie_apt" ../apt download $packages)
rm -r apt
for package in packages/*.deb; do
	dpkg -x "$package" root
done
rm -r packages

for name in gdb-multiarch gdb; do
	cat >$name.new <<-END
		#!/bin/sh
		# Its own loader, libraries and Python.
		usr=\$(dirname "\$(realpath "\$0")")/root/usr
		own=\$usr/lib/x86_64-linux-gnu
		PYTHONHOME=\$usr exec "\$own/ld-linux-x86-64.so.2" \\
			--library-path "\$own:/usr/lib/x86_64-linux-gnu" \\
			"\$usr/bin/$name" --data-directory "\$usr/share/gdb" "\$@"
	END
	chmod +x $name.new
	./$name.new -nx -batch -ex 'python import gdb.dap'
	mv $name.new $name
done
