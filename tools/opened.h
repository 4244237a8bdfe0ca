/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * opened.h - a recording that is open, and what is asked of it
 *
 * Commands that answer questions open recordings here.  A command line ends
 * what it has opened; a server keeps it, so that the next question finds all
 * that the last ones have found out.  Nobody must be able to tell which of
 * the two it was: a command leaves behind no observer, no breakpoint and no
 * mode.
 *
 * Ownership:  opened_end() takes it back; its members are borrowed until then.
 * Errors:     those of recording.h, lines.h, query.h and expressions.h.
 * Threads:    one at a time.
 */
#ifndef CPREC_TOOLS_OPENED_H
#define CPREC_TOOLS_OPENED_H

#include <stdatomic.h>
#include <stddef.h>

#include "replayer/expressions/expressions.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"

struct failure;

struct opened {
	struct recording *recording;

	/* From opened_ask() on: */
	struct lines *lines;
	struct query *query;
	struct expressions *expressions;
	struct kernel_programs *programs;

	/* From opened_kernel() on: */
	struct kernel *kernel;
};

/*
 * A file, or one that was kept, if nobody has changed it.  It is of a program,
 * unless it may be of any.
 */
int opened_begin(struct opened **out, const char *path, struct failure *why);
int opened_begin_any(struct opened **out, const char *path,
		     struct failure *why);

/* Makes what questions need beyond what the recording itself answers. */
int opened_ask(struct opened *opened, struct failure *why);

/* The kernel of a machine, after opened_ask(). */
int opened_kernel(struct opened *opened, struct failure *why);

/* NULL is allowed. */
void opened_end(struct opened *opened);

/* At most so many are kept from now on; 0, at first: none. */
void opened_keep(size_t most);

/* What is opened from now on is cancelled by it; NULL, at first: never. */
void opened_cancel_by(const atomic_bool *flag);

#endif
