/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gdb_find.h - which gdb knows the processor of a recording */
#ifndef CPREC_TOOLS_GDB_FIND_H
#define CPREC_TOOLS_GDB_FIND_H

#include <stdbool.h>

/* Whether it is this machine's; else the files of its system are elsewhere. */
bool arch_is_own(unsigned arch);

#define GDB_WHY 128

/*
 * The program to start for the recording at `path`; NULL: any may come.  Returns
 * NULL if there is none; then `why` says so.
 */
const char *gdb_find(const char *path, char why[GDB_WHY]);

#endif
