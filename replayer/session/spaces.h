/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spaces.h - address spaces of a machine by their numbers (ASID)
 *
 * For kernels of which no processes are known: that of a program which was
 * executed with the number when it was last left, at a time or before.
 *
 * Errors:     ERR_INPUT: there was none, or the processor has none.
 */
#ifndef CPREC_REPLAYER_SESSION_SPACES_H
#define CPREC_REPLAYER_SESSION_SPACES_H

#include "replayer/session/query.h"

#define SPACE_MOST 0xffffu

int space_find(struct query *query, const struct position *at, unsigned number,
	       struct address_space *out, struct failure *why);

#endif
