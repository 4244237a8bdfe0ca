/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conditions.c - when conditions became true */
#include "library/handles.h"

#include <stdlib.h>

struct condition_visits {
	struct visits visits;
	const struct cprec_condition *asked;
	struct kept_place kept;
};

static int on_met(void *context, const struct when_met *met,
		  struct failure *why)
{
	struct condition_visits *visits = context;
	struct cprec_recording *handle = visits->visits.of;
	const struct history_access *access = &met->access;
	struct cprec_became out = {
		.at = from_position(met->new_at),
		.old_at = from_position(met->old_at), .has_old = met->has_old,
		.is_place = met->is_place, .tid = met->tid,
		.pc = access->pc, .place = &visits->kept.place,
	};
	char by[64];

	(void)why;
	if (!met->is_place && access->kind != HISTORY_INSTRUCTION &&
	    access->kind != HISTORY_OTHERS)
		out.by = agent_name(by, handle, access->event, access->number);
	place_find(&visits->kept, handle, access->before.time, access->pc);
	return visits_told(&visits->visits,
			   visits->asked->met(visits->visits.context, &out));
}

static int search(struct condition_visits *visits,
		  struct when_question *question, bool *was_true)
{
	struct cprec_recording *handle = visits->visits.of;
	struct when_result result = { 0 };
	int rc;

	question->met = on_met;
	question->context = visits;
	handle->follows = true;
	rc = expressions_when(handle->expressions, question, &result,
			      visits->visits.why);
	handle->follows = false;
	if (was_true)
		*was_true = result.was_true;
	return visits_result(&visits->visits, rc);
}

PUBLIC int cprec_each_condition(struct cprec_recording *handle,
				const struct cprec_condition *question,
				bool *was_true, struct cprec_failure *why)
{
	struct condition_visits *visits;
	struct cprec_condition asked;
	struct when_question inside;
	int rc = question_follow(handle, why);

	if (!rc)
		rc = QUESTION_TAKE(&asked, question, why);
	if (!rc && (!asked.text || !asked.met))
		rc = failed(inner(why), ERR_INPUT, "there is no condition, or"
			    " nobody is told");
	if (rc)
		return rc;
	inside = (struct when_question) {
		.text = asked.text, .place = asked.where,
		.some_thread = asked.tid != 0, .tid = asked.tid,
		.last = asked.last, .limit = asked.limit,
	};
	rc = question_range(handle, asked.has_from ? &asked.from : NULL,
			    asked.has_to ? &asked.to : NULL, &inside.from,
			    &inside.to, why);
	if (rc)
		return rc;
	visits = calloc(1, sizeof(*visits));
	if (!visits)
		return failed(inner(why), ERR_NO_MEMORY, "out of memory");
	visits->visits = (struct visits) {
		.of = handle, .why = inner(why), .context = asked.context,
	};
	visits->asked = &asked;
	rc = search(visits, &inside, was_true);
	free(visits);
	return rc;
}
