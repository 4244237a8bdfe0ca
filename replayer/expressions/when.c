/* SPDX-License-Identifier: GPL-2.0-or-later */
/* when.c - finding out when a condition became true: see expressions.h */
#include "replayer/expressions/when_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "replayer/expressions/when_names.h"

/* ------- what is met ------- */

/* Before an instruction, all events have taken effect. */
static int complete(struct when *when, struct position *at)
{
	return at->events == EVENTS_ALL ?
		recording_events_at(when->recording, at->time, &at->events,
				    when->why) : 0;
}

int when_meet(struct when *when, const struct when_met *met)
{
	const struct when_question *question = when->question;
	struct recording *recording = when->recording;
	struct when_met *kept;
	uint32_t tid, thread = recording_thread_of(
		recording, met->access.stream, met->access.before.time);
	int rc = recording_tid(recording, thread, &tid, when->why);

	if (rc || (question->some_thread && question->tid != tid))
		return rc;
	if (question->last)
		when->count = 0;
	if (array_room(when->met, when->count, when->room))
		return failed(when->why, ERR_NO_MEMORY, "out of memory");
	kept = &when->met[when->count++];
	*kept = *met;
	kept->tid = tid;
	rc = complete(when, &kept->access.before);
	if (!rc)
		rc = complete(when, &kept->access.after);
	if (rc)
		return rc;
	return !question->last &&
	       when->told + when->count == question->limit ? WHEN_ENOUGH : 0;
}

int when_tell(struct when *when)
{
	const struct when_question *question = when->question;
	int rc = 0;

	for (size_t i = 0; i < when->count && !rc; i++) {
		when->told++;
		rc = question->met(question->context, &when->met[i],
				   when->why);
	}
	when->count = 0;
	return rc;
}

struct expression_place when_place(const struct when *when,
				   const struct position *at)
{
	return (struct expression_place) {
		.at = *at, .some_thread = when->question->some_thread,
		.tid = when->question->tid,
	};
}

/* ------- segments ------- */

/*
 * Segments that are searched in their order cost less than each alone: memory
 * stays, and what was translated.  But of the last time that it became true, what
 * is before does not matter; so a search backwards begins with one segment, and
 * takes parts that are longer as the way gets longer, up to so many steps.
 */
#define PART_MOST (UINT64_C(256) << 20)

static bool has_enough(const struct when *when)
{
	return when->told && (when->question->last ||
			      when->told == when->question->limit);
}

static int search_one(struct when *when, size_t segment, bool is_anew,
		      when_search *search, void *context)
{
	const struct when_question *question = when->question;
	struct when_part part = { .is_anew = is_anew };
	int rc = segment_begin(when->query, segment, &part.from, when->why);

	if (!rc)
		rc = segment_begin(when->query, segment + 1, &part.to,
				   when->why);
	if (rc)
		return rc;
	if (position_compare(&question->from, &part.from) > 0)
		part.from = question->from;
	if (position_compare(&question->to, &part.to) < 0)
		part.to = question->to;
	return position_compare(&part.from, &part.to) < 0 ?
		search(context, &part) : 0;
}

/* Tells what was met in some, where that is all. */
static int finish_part(struct when *when, int rc)
{
	if (!rc || rc == WHEN_ENOUGH)
		rc = when->count ? when_tell(when) : rc;
	return !rc && has_enough(when) ? WHEN_ENOUGH : rc;
}

static int search_forwards(struct when *when, size_t first, size_t last,
			   when_search *search, void *context)
{
	int rc = 0;

	for (size_t i = first; i <= last && !rc; i++)
		rc = finish_part(when, search_one(when, i, i == first, search,
						  context));
	return rc;
}

/* The first segment of a part of so many steps, or of one segment. */
static size_t begin_part(const struct when *when, size_t first, size_t last,
			 uint64_t steps)
{
	uint64_t end = recording_time(when->recording, last + 1);
	size_t begin = last;

	while (begin > first &&
	       end - recording_time(when->recording, begin - 1) <= steps)
		begin--;
	return begin;
}

static int search_backwards(struct when *when, size_t first, size_t last,
			    when_search *search, void *context)
{
	size_t begin, end = last + 1;
	uint64_t steps = 0;
	int rc = 0;

	do {
		begin = begin_part(when, first, end - 1, steps);
		for (size_t i = begin; i < end && !rc; i++)
			rc = search_one(when, i, i == begin, search, context);
		rc = finish_part(when, rc);
		steps = 2 * (recording_time(when->recording, last + 1) -
			     recording_time(when->recording, begin));
		if (steps > PART_MOST)
			steps = PART_MOST;
		end = begin;
	} while (end > first && !rc);
	return rc;
}

int when_each_segment(struct when *when, when_search *search, void *context)
{
	const struct when_question *question = when->question;
	struct segment_position first, last;
	int rc = recording_place(when->recording, &question->from, &first,
				 when->why);

	if (!rc)
		rc = recording_place(when->recording, &question->to, &last,
				     when->why);
	if (rc)
		return rc;
	return question->last ?
		search_backwards(when, first.segment, last.segment, search,
				 context) :
		search_forwards(when, first.segment, last.segment, search,
				context);
}

/* ------- all ------- */

/* "$rax", not "a$b". */
static bool names_registers(const char *text)
{
	for (const char *at = text; *at; at++)
		if (*at == '$' && isalpha((unsigned char)at[1]) &&
		    (at == text || (!isalnum((unsigned char)at[-1]) &&
				    at[-1] != '_')))
			return true;
	return false;
}

/*
 * What is wrong where the left side decides is wrong at all times, but for a name
 * that a library may bring.
 */
static int refuse_mistake(struct when *when)
{
	bool is_certain = when->condition.is_certain;
	int rc = 0;

	if (!condition_is_wrong(&when->condition))
		return 0;
	if (!is_certain)
		rc = when_lacks_name(when->context, when->question,
				     &is_certain, when->why);
	return rc || !is_certain ? rc :
		condition_refuse_operand(&when->condition, when->why);
}

/* Whether it is true at the start already. */
static int look_at_start(struct when *when)
{
	struct expression_place place = when_place(when,
						   &when->question->from);
	enum trace_answer answer;
	int rc = condition_evaluate(&when->condition, &place, NULL, &answer,
				    when->why);

	when->result->was_true = !rc && answer == TRACE_TRUE;
	return rc ? rc : refuse_mistake(when);
}

static int search(struct when *when)
{
	const struct when_question *question = when->question;
	char *function = NULL;
	int rc = 0;

	if (question->place)
		return when_search_places(when, question->place);
	rc = when_find_function(when->context, question, &function,
				when->why);
	if (!rc && function) {
		rc = when_search_places(when, function);
		free(function);
		return rc;
	}
	when->result->is_of_memory = true;
	if (!rc)
		rc = look_at_start(when);
	if (rc)
		return rc;
	return names_registers(question->text) ? when_search_steps(when) :
						 when_search_memory(when);
}

int expressions_when(struct expressions *expressions,
		     const struct when_question *question,
		     struct when_result *out, struct failure *why)
{
	struct context *context = &expressions->context;
	struct when when = {
		.question = question, .result = out, .context = context,
		.query = context->query, .recording = context->recording,
		.why = why,
	};
	const char *option = context->frame_option;
	int rc;

	*out = (struct when_result) { 0 };
	condition_init(&when.condition, context, question->text);
	context->frame_option = "";
	rc = search(&when);
	context->frame_option = option;
	if (rc == WHEN_ENOUGH)
		rc = 0;
	if (!rc)
		rc = condition_check(&when.condition, why);
	condition_release(&when.condition);
	free(when.met);
	return rc;
}
