/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorded_calls.h - system calls of a recording, by what they do
 *
 * Finds the last one before a position, or the first one behind it, by a replay
 * of what lies between.
 *
 * Ownership:  none.
 * Errors:     those of replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_RECORDED_CALLS_H
#define CPREC_REPLAYER_SESSION_RECORDED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/registers.h"
#include "replayer/recording/recording.h"

struct failure;
struct linux_call;
struct query;

struct recorded_call {
	const struct linux_call *call;
	uint64_t number, args[KERNEL_ARGS];
	struct position end;	/* it is over, its results are there */
	int64_t result;
};

struct recorded_calls {
	struct query *query;
	const unsigned *kinds;	/* rows of the table of calls */
	size_t kind_count;

	/* Which one of them is meant; NULL: any.  `end` and `result` are not
	 * known yet. */
	bool (*is_meant)(void *context, const struct recorded_call *call);
	void *context;
};

/*
 * The replayer of the query stands behind the call then.  A call that did not
 * come back is none.
 */
int recorded_call_before(const struct recorded_calls *calls,
			 const struct position *from, const struct position *to,
			 struct recorded_call *out, bool *is_found,
			 struct failure *why);
int recorded_call_behind(const struct recorded_calls *calls,
			 const struct position *from, const struct position *to,
			 struct recorded_call *out, bool *is_found,
			 struct failure *why);

#endif
