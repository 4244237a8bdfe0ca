/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strace_filter.h - which system calls and signals are asked for
 *
 * Ownership:  nothing is allocated.
 * Errors:     ERR_INPUT.
 */
#ifndef CPREC_TOOLS_STRACE_FILTER_H
#define CPREC_TOOLS_STRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "vm/linux/abi/calls.h"

struct failure;

#define FILTER_SIGNALS 65

/* How a call ended. */
enum filter_status {
	FILTER_SUCCESSFUL, FILTER_FAILED,
	FILTER_UNFINISHED,	/* it did not come back */
	FILTER_STATUSES
};

struct strace_filter {
	bool has_calls, has_signals, has_statuses;	/* some were named:
							   else, all */
	bool calls[CALL_COUNT], other_calls;
	bool signals[FILTER_SIGNALS];
	bool statuses[FILTER_STATUSES];
};

/*
 * Takes an expression of strace(1): [trace=|signal=|status=][!]NAME[,NAME]...,
 * where a NAME of a call may be a /REGEX.  ERR_INPUT if it makes no sense.
 */
int filter_take(struct strace_filter *filter, const char *text,
		struct failure *why);

/* Only calls that end so. */
void filter_take_status(struct strace_filter *filter,
			enum filter_status status);

/* NULL: one that nobody knows. */
bool filter_has_call(const struct strace_filter *filter,
		     const struct linux_call *call);
bool filter_has_signal(const struct strace_filter *filter, uint64_t number);
bool filter_has_status(const struct strace_filter *filter,
		       enum filter_status status);

#endif
