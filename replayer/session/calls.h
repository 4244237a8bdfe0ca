/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - which calls of functions there were, and how they ended
 *
 * Ownership:  as in call_stacks.h.  The caller makes and releases the
 *             functions.
 * Errors:     those of replayer.h; ERR_NOT_FOUND: no function is called so.
 */
#ifndef CPREC_REPLAYER_SESSION_CALLS_H
#define CPREC_REPLAYER_SESSION_CALLS_H

#include "replayer/recording/recording.h"
#include "replayer/session/call_stacks.h"
#include "replayer/session/query.h"

struct calls_question {
	struct query *query;
	struct position from, to;	/* calls that begin then */
	struct call_user user;
};

/* Tells all of them; what became of the functions is in `functions` then. */
int calls_find(const struct calls_question *question,
	       struct call_functions *functions, struct failure *why);

/*
 * Says that the pattern with this number means no function, and why, as far as
 * is known at the end of the question.  Returns ERR_NOT_FOUND.
 */
int calls_no_function(const struct calls_question *question,
		      const struct call_functions *functions, size_t number,
		      struct failure *why);

#endif
