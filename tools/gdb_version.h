/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gdb_version.h - whether a gdb is new enough */
#ifndef CPREC_TOOLS_GDB_VERSION_H
#define CPREC_TOOLS_GDB_VERSION_H

/*
 * Asks gdb, the program `name`.  EXIT_ANSWERED if its version is `least` or
 * newer; else a status to exit with, and it is told why.
 */
int gdb_check_version(const char *name, unsigned least);

#endif
