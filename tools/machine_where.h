/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_where.h - where the kernel of a machine was when it panicked
 */
#ifndef CPREC_TOOLS_MACHINE_WHERE_H
#define CPREC_TOOLS_MACHINE_WHERE_H

#include <stddef.h>

/*
 * Of a recording that has just ended so: " in FUNCTION, process 1 'init'"; "" if
 * its kernel does not tell.
 */
void machine_where(const char *path, char *text, size_t room);

#endif
