/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outputs.h - what the program wrote to its standard streams, and when
 *
 * A recording says when something was written and from where; the bytes are
 * what memory held then.
 *
 * Units:      sizes are bytes; lines count from 1.
 * Errors:     those of query.h.
 */
#ifndef CPREC_REPLAYER_SESSION_OUTPUTS_H
#define CPREC_REPLAYER_SESSION_OUTPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "replayer/session/query.h"

struct output_part {
	struct position at;	/* the system call has been made */
	uint32_t stream;	/* of the thread that made it */
	unsigned descriptor;	/* 1 or 2 */
	uint64_t addr, size;	/* of what was written */
};

/* A result other than 0 ends the visits and is returned. */
typedef int output_visit(void *context, const struct output_part *output);

/* Visits them in the order in which they were written. */
int outputs_each(struct query *query, output_visit *visit, void *context,
		 struct failure *why);

/* The same in one segment. */
int outputs_each_in(struct recording *recording, size_t segment,
		    output_visit *visit, void *context, struct failure *why);

/*
 * Reads `size` bytes of an output, from `skip` on; those that are not known are
 * '?'.
 */
int output_read(struct query *query, const struct output_part *output,
		uint64_t skip, char *text, size_t size, struct failure *why);

/*
 * Where the last byte of a line was written, the lines of both streams counted
 * together.  ERR_NOT_FOUND if there are fewer lines.
 */
int outputs_find_line(struct query *query, uint64_t line,
		      struct position *out, struct failure *why);

#endif
