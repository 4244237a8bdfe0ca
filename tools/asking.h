/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asking.h - what a command needs that asks about a part of a recording
 *
 * Ownership:  asking_run() makes and ends what is asked; texts are borrowed.
 */
#ifndef CPREC_TOOLS_ASKING_H
#define CPREC_TOOLS_ASKING_H

#include "tools/opened.h"

struct asking {
	const char *path;
	const char *from, *to;	/* times, as they were given */
	const char *process;	/* of a machine's kernel; NULL: all */

	/* While it is asked: */
	struct position first, last;	/* those times */
	struct opened *opened;
	struct recording *recording;	/* these are of it */
	struct lines *lines;
	struct query *query;
	struct expressions *expressions;
};

/*
 * Opens the recording, has `answer` print what it is asked for, and says what
 * hinders that.  Returns the exit status.
 */
int asking_run(struct asking *asking,
	       int (*answer)(void *context, struct failure *why),
	       void *context);

#endif
