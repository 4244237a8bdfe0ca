/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retrace.h - computing an expression again, by the tree of a trace
 *
 * Ownership:  nothing is allocated.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_RETRACE_H
#define CPREC_REPLAYER_EXPRESSIONS_RETRACE_H

#include <stddef.h>
#include <stdint.h>

#include "replayer/expressions/trace.h"

enum trace_answer {
	TRACE_FALSE,
	TRACE_TRUE,
	TRACE_UNKNOWN,		/* some memory is not known */
	TRACE_ANEW,		/* the tree does not say it */
};

struct trace_source {
	/* `bytes` has room for 16.  TRACE_TRUE if it is known; else the
	 * answer. */
	enum trace_answer (*memory)(void *context, uint64_t addr, size_t size,
				    uint8_t *bytes);
	uint64_t (*reg)(void *context, unsigned reg);
	void *context;
};

enum trace_answer trace_answer(const struct trace *trace,
			       const struct trace_source *source);

#endif
