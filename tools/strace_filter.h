/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strace_filter.h - which system calls and signals are asked for
 *
 * Ownership:  nothing is allocated.
 */
#ifndef CPREC_TOOLS_STRACE_FILTER_H
#define CPREC_TOOLS_STRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "vm/linux/abi/calls.h"

#define FILTER_SIGNALS 65

/* How a call ended; those that strace has besides do not occur. */
enum call_status { STATUS_SUCCESSFUL, STATUS_FAILED, STATUS_UNFINISHED,
		   STATUS_UNAVAILABLE, STATUS_DETACHED, STATUS_COUNT };

struct strace_filter {
	bool has_calls, has_signals;	/* some were named: else, all */
	bool calls[CALL_COUNT], other_calls;
	bool signals[FILTER_SIGNALS];
	bool has_statuses, statuses[STATUS_COUNT];
};

/*
 * Takes an expression of strace(1): [trace=|signal=|status=][!]NAME[,NAME]...
 * where a name of calls may be a /REGEX.  Returns NULL, or the name that there is
 * not.
 */
const char *filter_take(struct strace_filter *filter, const char *text);

bool filter_has_call(const struct strace_filter *filter, unsigned arch,
		     uint64_t number);
bool filter_has_signal(const struct strace_filter *filter, uint64_t number);
bool filter_has_status(const struct strace_filter *filter,
		       enum call_status status);

#endif
