/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_print.h - what a command of a breakpoint prints
 *
 * The format is that of printf(), as it stands in a C program: its escapes are
 * read here, too.
 */
#ifndef CPREC_DEBUGGER_AGENT_PRINT_H
#define CPREC_DEBUGGER_AGENT_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/agent_world.h"

struct agent_format {
	const char *text;
	size_t size;
	const uint64_t *args;
	unsigned arg_count;
};

/* False: it asks for what is not there, and nothing is printed. */
bool agent_print(const struct agent_format *format,
		 const struct agent_world *world);

#endif
