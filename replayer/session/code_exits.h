/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_exits.h - where control leaves a function
 *
 * It does before a call, before a jump to other code, and before a return.  Of
 * the latter two, the place is that before what only takes the frame down: there
 * variables still are where debugging information has them.  Where control goes
 * on from a copy that was inlined, it is the last instruction of the copy.
 *
 * Ownership:  everything is borrowed.
 * Errors:     those of query.h and of the visits.
 */
#ifndef CPREC_REPLAYER_SESSION_CODE_EXITS_H
#define CPREC_REPLAYER_SESSION_CODE_EXITS_H

#include <stdint.h>

struct failure;
struct function_place;
struct lines;
struct query;

/*
 * Visits these places of a function, where the query's replayer stands; of code
 * that nobody has executed there are none.  A place may come twice.  A result
 * other than 0 ends the visits and is returned.
 */
int code_exits_of_function(struct query *query, struct lines *lines,
			   const struct function_place *place,
			   int (*visit)(void *context, uint64_t addr),
			   void *context, struct failure *why);

#endif
