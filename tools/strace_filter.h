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

struct strace_filter {
	bool has_calls, has_signals;	/* some were named: else, all */
	bool calls[CALL_COUNT], other_calls;
	bool signals[FILTER_SIGNALS];
};

/* What an expression may be, for messages. */
#define FILTER_WANTED \
	"like trace=openat,close, trace=%%file, trace=!futex or signal=SIGINT"

/*
 * Takes an expression of strace(1): [trace=|signal=][!]NAME[,NAME]...  Returns
 * NULL, or the name that there is not.
 */
const char *filter_take(struct strace_filter *filter, const char *text);

bool filter_has_call(const struct strace_filter *filter, unsigned arch,
		     uint64_t number);
bool filter_has_signal(const struct strace_filter *filter, uint64_t number);

#endif
