/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_waits.h - what the threads of a program wait for
 *
 * By the functions of the C library that they have called, and by what these
 * wait for: the end of a thread, a mutex that another one holds.
 */
#ifndef CPREC_TOOLS_PRINT_WAITS_H
#define CPREC_TOOLS_PRINT_WAITS_H

#include "tools/views.h"

struct thread_names;

/* How many threads wait, and a line for each; nothing if none does.  `names` may
 * be NULL. */
int print_waits(const struct view *view, struct thread_names *names,
		struct failure *why);

#endif
