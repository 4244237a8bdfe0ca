#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Lets the dynamic linker know a library that was just installed: programs that are
# linked with it find it at once.  Not where a package is made.
[ -n "${DESTDIR:-}" ] || [ "$(id -u)" -ne 0 ] || ldconfig || :
