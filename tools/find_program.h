/* SPDX-License-Identifier: GPL-2.0-or-later */
/* find_program.h - a program of this machine, by its name */
#ifndef CPREC_TOOLS_FIND_PROGRAM_H
#define CPREC_TOOLS_FIND_PROGRAM_H

#include <limits.h>

/*
 * Finds a program as execvp(3) does, in PATH unless there is a slash in `name`:
 * a regular file that may be executed, so neither a folder of that name nor
 * another file.  Returns 0, or what errno would be if it was started.
 */
int find_program(char path[PATH_MAX], const char *name);

#endif
