/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * when_steps.c - when a condition on registers became true, in any code
 *
 * It is asked before each instruction, by the tree if there is one.
 */
#include "replayer/expressions/when_internal.h"

#include <stdlib.h>

#include "formats/array.h"
#include "replayer/expressions/when_names.h"

struct asked {
	enum trace_answer answer;
	bool has_answer;
	struct position at;
};

struct search {
	struct when *when;
	bool lacks_name;	/* at all times */
	struct asked *streams;
	size_t count, room;
};

static uint64_t read_register(void *context, unsigned reg)
{
	return steps_register(context, reg);
}

static int evaluate(struct search *search, const struct position *at,
		    struct replayer *live, enum trace_answer *out)
{
	struct when *when = search->when;
	const struct expression_place place = { .at = *at };
	int rc = condition_evaluate(&when->condition, &place, live, out,
				    when->why);

	/* A name that was needed and will never be known. */
	if (!rc && search->lacks_name && when->condition.has_mistake)
		rc = condition_refuse(&when->condition, when->why);
	return rc;
}

static int find_stream(struct search *search, uint32_t stream,
		       struct asked **out)
{
	while (search->count <= stream) {
		if (array_room(search->streams, search->count, search->room))
			return failed(search->when->why, ERR_NO_MEMORY,
				      "out of memory");
		search->streams[search->count++] = (struct asked) { 0 };
	}
	*out = &search->streams[stream];
	return 0;
}

static int tell(struct search *search, const struct step *step,
		const struct asked *before)
{
	struct when *when = search->when;
	struct when_met met = {
		.access = { .before = step->at, .stream = step->stream,
			    .pc = step->pc },
		.is_place = true, .has_old = before->has_answer,
		.old_at = before->at,
	};

	met.access.after = met.new_at = step->at;
	return when_meet(when, &met);
}

static int on_step(void *context, struct steps *steps, const struct step *step)
{
	struct search *search = context;
	struct asked *asked = NULL, before;
	enum trace_answer answer;
	int rc = find_stream(search, step->stream, &asked);

	if (rc)
		return rc;
	answer = condition_now(&search->when->condition, steps_replayer(steps),
			       read_register, steps);
	if (answer == TRACE_ANEW)
		rc = evaluate(search, &step->at, steps_replayer(steps),
			      &answer);
	if (rc)
		return rc;
	before = *asked;
	*asked = (struct asked) { answer, true, step->at };
	return answer == TRACE_TRUE && before.has_answer &&
	       before.answer != TRACE_TRUE ? tell(search, step, &before) : 0;
}

/* Modules are looked for where a segment begins. */
static int search_segment(void *context, const struct when_part *part)
{
	struct search *search = context;
	struct when *when = search->when;
	const struct steps_question question = {
		.query = when->query, .from = part->from, .to = part->to,
		.met = on_step, .context = search,
	};
	enum trace_answer answer;
	int rc = evaluate(search, &part->from, NULL, &answer);

	if (part->is_anew)
		search->count = 0;
	return rc ? rc : steps_run(&question, when->why);
}

int when_search_steps(struct when *when)
{
	struct search search = { .when = when };
	int rc = when_lacks_name(when->context, when->question,
				 &search.lacks_name, when->why);

	if (!rc)
		rc = when_each_segment(when, search_segment, &search);
	free(search.streams);
	return rc;
}
