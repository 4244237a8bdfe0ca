/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent.h - agent expressions: conditions and commands of breakpoints, as a
 * debugger compiles them
 *
 * Source: "Debugging with GDB", appendix F.
 *
 * Any bytes may be evaluated: an expression has so much of a stack, and ends
 * behind so many operations.
 */
#ifndef CPREC_DEBUGGER_AGENT_H
#define CPREC_DEBUGGER_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/agent_world.h"

struct agent_code {
	uint8_t *bytes;
	size_t size;
};

/* False: it has no value, or asks what is not known. */
bool agent_evaluate(const struct agent_code *code,
		    const struct agent_world *world, uint64_t *out);

#endif
