/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * condition.h - an expression that is true, false or not known, asked often
 *
 * It is computed from its text where that is needed, and by the tree that this
 * leaves behind (trace.h) else; and says which memory that depended on.
 *
 * Ownership:  condition_release() frees; expressions and text are borrowed.
 * Errors:     those of expressions.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_CONDITION_H
#define CPREC_REPLAYER_EXPRESSIONS_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/error.h"
#include "replayer/expressions/context.h"
#include "replayer/expressions/retrace.h"
#include "replayer/session/session.h"

struct condition {
	struct context *context;
	const char *text;
	bool in_frame;		/* variables of the function are meant, too */

	struct trace trace;
	bool has_tree;

	/* What it depended on last. */
	struct changes_range *reads;
	size_t read_count, read_room;
	uint64_t read_bytes;
	bool is_large;		/* more than anybody can watch */

	bool was_known;		/* at some time; or all but memory was */
	bool has_value;		/* it had one at some time */
	struct failure reason;	/* why it was not, as well as is known */
	bool has_reason;
	bool has_mistake;	/* it was not for lack of memory */
	bool lacks_name;	/* what is told first: a name, in some
				   program */

	/*
	 * What its operators combine is looked at for mistakes also where the
	 * left side decides: a bit for each of the first 64, whether it ever
	 * meant something, and whether it ever was a mistake.
	 */
	uint64_t right, wrong;
	struct failure mistake;	/* the first one */
	enum mistake kind;	/* that is */
	bool is_certain;	/* it is one at all times */
	bool all_right;		/* no more need be looked at */
};

void condition_init(struct condition *condition, struct context *context,
		    const char *text);
void condition_release(struct condition *condition);

/*
 * Computes it from its text: TRACE_FALSE, TRACE_TRUE or TRACE_UNKNOWN.  With
 * `live`, that replayer stands there.
 */
int condition_evaluate(struct condition *condition,
		       const struct expression_place *place,
		       struct replayer *live, enum trace_answer *out,
		       struct failure *why);

/*
 * By the tree, from what a source says; TRACE_ANEW: that cannot be.  What it
 * depends on stays.
 */
enum trace_answer condition_again(const struct condition *condition,
				  const struct trace_source *source);

/* The same, from the memory there is now, with what it depends on. */
enum trace_answer condition_now(struct condition *condition,
				struct replayer *live,
				uint64_t (*reg)(void *context, unsigned reg),
				void *context);

/* Fails with the reason why it was not known, which there must be. */
int condition_refuse(const struct condition *condition, struct failure *why);

/* Whether an operand was a mistake whenever it was looked at. */
bool condition_is_wrong(const struct condition *condition);

/*
 * Only looks for mistakes, where the context is: ERR_INPUT, and what is wrong.
 */
int condition_look(struct condition *condition, struct failure *why);

/* Fails with that mistake. */
int condition_refuse_operand(const struct condition *condition,
			     struct failure *why);

/*
 * That it never had a value, or that an operand never meant something, is an
 * error, which says why.
 */
int condition_check(const struct condition *condition, struct failure *why);

#endif
