/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gdb_scripts.h - what runs in gdb, debugger/gdb/, is in the program */
#ifndef CPREC_TOOLS_GDB_SCRIPTS_H
#define CPREC_TOOLS_GDB_SCRIPTS_H

/*
 * Opens the script of that name for the program that this one becomes.  Returns
 * the command of gdb's that executes it, which is the caller's to free, or NULL;
 * then errno says why.
 */
char *gdb_script_command(const char *name);

#endif
