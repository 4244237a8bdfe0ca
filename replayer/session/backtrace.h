/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backtrace.h - who called whom in a thread, where a replayer stands
 *
 * Ownership:  everything is borrowed.
 * Errors:     those of replayer.h: ERR_NOT_FOUND if there is no such thread
 *             then.
 */
#ifndef CPREC_REPLAYER_SESSION_BACKTRACE_H
#define CPREC_REPLAYER_SESSION_BACKTRACE_H

#include <stdint.h>

#include "replayer/symbols/symbols.h"

struct failure;
struct replayer;

struct backtrace {
	struct replayer *replayer;
	struct lines *lines;	/* of its recording */
	uint32_t stream;	/* of the thread */

	/* The first frame, if it is not the thread's innermost one: see
	 * frames.h.  NULL: it is. */
	const struct reg_file *registers;
	const bool *known;
	bool at_call;
	bool is_tail_call;

	/* As in frames.h. */
	int (*visit)(void *context, const struct frame *frame);
	void *context;
};

/* `*end` says how the walk ended. */
int backtrace_walk(const struct backtrace *backtrace, enum frames_end *end,
		   struct failure *why);

/*
 * The frame with this number, from 0; its registers are not there any more.
 * `visit` is not used.  ERR_NOT_FOUND if there is none.
 */
int backtrace_find(const struct backtrace *backtrace, uint64_t number,
		   struct frame *out, struct failure *why);

#endif
