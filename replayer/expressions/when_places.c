/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * when_places.c - when a condition became true in a function, or at a line
 *
 * In a function it is asked where each statement begins, as the breakpoints of a
 * debugger would, and where control leaves it: what the last statement did is true
 * then.  Each call is asked for itself, and so is each copy that was inlined.
 */
#include "replayer/expressions/when_internal.h"

#include <stdlib.h>

#include "formats/array.h"

/* A call of the function that a thread is in. */
struct asked {
	uint32_t tid;
	uint64_t frame;		/* its canonical address; 0: a line is meant */
	uint64_t copy;		/* of one that was inlined: where it begins */
	bool has_answer;
	enum trace_answer answer;
	struct position at;
};

struct search {
	struct when *when;
	bool is_line;
	struct asked *calls;
	size_t count, room;
};

/* The stack grows down: calls that are deeper have returned. */
static int find_call(struct search *search, const struct log_met *met,
		     uint64_t frame, struct asked **out)
{
	uint32_t tid = met->tid;
	size_t left = 0;

	*out = NULL;
	for (size_t i = 0; i < search->count; i++) {
		struct asked *call = &search->calls[i];

		if (call->tid == tid && call->frame < frame)
			continue;
		search->calls[left] = *call;
		if (call->tid == tid && call->frame == frame &&
		    call->copy == met->copy)
			*out = &search->calls[left];
		left++;
	}
	search->count = left;
	if (*out)
		return 0;
	if (array_room(search->calls, search->count, search->room))
		return failed(search->when->why, ERR_NO_MEMORY,
			      "out of memory");
	*out = &search->calls[search->count++];
	**out = (struct asked) { .tid = tid, .frame = frame,
				 .copy = met->copy };
	return 0;
}

static int find_frame(struct search *search, const struct log_met *met,
		      uint64_t *out)
{
	const struct expression_place place = { .at = met->at,
						.frame = met->frame };
	struct context *context = search->when->context;
	struct failure ignored;
	int rc = context_set(context, &place, search->when->why);

	*out = 0;
	if (rc || search->is_line)
		return rc;
	/* Without one, calls of a thread cannot be told apart. */
	if (context_frame_address(context, out, &ignored))
		*out = 0;
	return 0;
}

static int tell(struct search *search, const struct log_met *met,
		const struct asked *call)
{
	struct when *when = search->when;
	struct when_met told = {
		.access = { .before = met->at, .after = met->at,
			    .pc = met->pc },
		.is_place = true, .has_old = call->has_answer,
		.old_at = call->at, .new_at = met->at,
	};
	struct replayer *rep;
	int rc = query_replayer(when->query, &rep, when->why);

	if (rc)
		return rc;
	told.access.stream = replayer_stream(rep);
	return when_meet(when, &told);
}

static int on_met(void *context, const struct log_met *met,
		  struct failure *why)
{
	struct search *search = context;
	const struct expression_place place = { .at = met->at,
						.frame = met->frame };
	enum trace_answer answer;
	struct asked *call, before;
	uint64_t frame;
	int rc = find_frame(search, met, &frame);

	if (!rc)
		rc = find_call(search, met, frame, &call);
	if (!rc && met->begins) {
		call->has_answer = false;
		return 0;
	}
	if (!rc)
		rc = condition_evaluate(&search->when->condition, &place, NULL,
					&answer, why);
	if (rc)
		return rc;
	before = *call;
	call->has_answer = true;
	call->answer = answer;
	call->at = met->at;
	return answer == TRACE_TRUE &&
	       (!before.has_answer || before.answer != TRACE_TRUE) ?
		       tell(search, met, &before) : 0;
}

int when_search_places(struct when *when, const char *place)
{
	const struct when_question *asked = when->question;
	struct search search = { .when = when };
	struct log_point point;
	const struct log_question question = {
		.query = when->query, .lines = when->context->lines,
		.points = &point, .count = 1, .from = asked->from,
		.to = asked->to, .some_thread = asked->some_thread,
		.tid = asked->tid, .met = on_met, .context = &search,
	};
	int rc = log_point_init(&point, place, when->why);

	when->condition.in_frame = true;
	point.at_statements = point.function.asked != NULL;
	search.is_line = !point.at_statements;
	if (!rc)
		rc = log_points_find(&question, when->why);
	if (!rc || rc == WHEN_ENOUGH)
		rc = when_tell(when);
	when->result->copies = point.copies;
	log_point_release(&point);
	free(search.calls);
	return rc;
}
