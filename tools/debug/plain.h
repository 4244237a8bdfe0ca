/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain.h - a debugger of our own, for where there is no gdb
 *
 * This room reads commands and carries them out: it goes through a recording in
 * both directions, and stops, steps and shows as gdb does.  It asks by
 * library/cprec.h alone, and never looks into a recording by itself.
 *
 * Ownership:  all is borrowed.
 */
#ifndef CPREC_TOOLS_DEBUG_PLAIN_H
#define CPREC_TOOLS_DEBUG_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* What is to be done before commands are read. */
struct plain_command {
	bool is_file;		/* of commands; else one itself */
	const char *text;
};

struct plain_options {
	const char *path;	/* of the recording */
	const char *from;	/* a position; NULL: where the program died of a
				   signal, else where 'main' begins */
	const struct plain_command *commands;
	size_t command_count;
	bool is_batch;		/* the first error ends it; nothing is read */
	bool has_color;
};

/* Returns a status to exit with. */
int plain_run(const struct plain_options *options);

#endif
