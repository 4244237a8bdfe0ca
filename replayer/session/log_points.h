/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_points.h - each time that a line, a function or an address was executed
 *
 *	FILE:LINE, FUNCTION, *ADDRESS
 *
 * A point is met where a breakpoint there would stop: at the first instruction
 * of a line in each block of the program, behind the code that sets up a
 * function's frame, also in each copy that was inlined, or where a function has
 * returned to.
 *
 * Ownership:  log_point_release() frees.
 * Errors:     ERR_INPUT (the text makes no sense), ERR_NOT_FOUND (there is no
 *             such code); those of replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_LOG_POINTS_H
#define CPREC_REPLAYER_SESSION_LOG_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "replayer/recording/recording.h"
#include "replayer/session/query.h"
#include "replayer/symbols/symbols.h"

struct log_point {
	char *text;
	char *file;		/* NULL: no line is meant */
	unsigned line;
	bool is_addr;
	guest_addr addr;
	struct symbol_pattern function;
	bool at_return;		/* of a function: behind its calls */
	bool at_statements;	/* of a function: at its first instruction, at
				   each statement, and where control leaves
				   it */
	bool has_places;	/* there is such code */
	struct inlined_copies copies;	/* of a function */
};

int log_point_init(struct log_point *point, const char *text,
		   struct failure *why);
void log_point_release(struct log_point *point);

/*
 * `frame` is that of the function that is meant: others may be inlined there.  A
 * result other than 0 ends the visits and is returned.
 */
typedef int log_place(void *context, guest_addr addr, unsigned frame);

/*
 * Visits where a breakpoint on the point would stop, in what is mapped at time
 * `t`.  ERR_NOT_FOUND if there is no such code.
 */
int log_point_places(struct log_point *point, struct lines *lines, uint64_t t,
		     log_place *visit, void *context, struct failure *why);

struct log_met {
	size_t point;		/* its number */
	struct position at;
	uint32_t tid;
	const struct call_function *function;	/* NULL: no function is meant */
	guest_addr entry;	/* of that function */
	bool begins;		/* at_statements: a call begins */
	unsigned frame;		/* that of the function, or of the line's */
	guest_addr copy;	/* of one that was inlined: where it begins */
	guest_addr pc;
};

struct log_question {
	struct query *query;
	struct lines *lines;
	struct log_point *points;
	size_t count;
	struct position from, to;
	bool some_thread;
	uint32_t tid;

	/*
	 * The query's replayer stands there.  A result other than 0 ends all,
	 * and is returned.
	 */
	int (*met)(void *context, const struct log_met *met,
		   struct failure *why);
	void *context;
};

int log_points_find(const struct log_question *question, struct failure *why);

#endif
