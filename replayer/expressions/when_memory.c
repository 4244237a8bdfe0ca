/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * when_memory.c - when a condition on memory became true
 *
 * What the condition depends on is watched in a replay, and it is computed again
 * whenever that changes.  What it depends on may change, too, as with
 * "head->next->id": then it must be asked where the replay stood behind that
 * change, from where the search goes on.  To go back there takes long; so the
 * replay stands behind the instruction when it executes again.
 */
#include "replayer/expressions/when_internal.h"


#include "formats/number_map.h"

/* How far around new memory more of it is expected, at first. */
#define SLACK_LEAST 4096u

#define GO_ON_THERE 2		/* a result of a visit: from `next` on */

struct search {
	struct when *when;
	enum trace_answer answer;	/* so far */
	bool has_answer;

	guest_addr first, last;	/* in which writes are told */
	uint64_t slack;
	struct number_map behind;	/* instructions */

	/* What made it change, of which the rest of the search begins. */
	struct history_access change;
	bool has_change;
	struct position next;
};

/* ------- answers ------- */

static int settle(struct search *search, enum trace_answer answer,
		  const struct history_access *access)
{
	bool became = search->has_answer && search->answer != TRACE_TRUE &&
		      answer == TRACE_TRUE;
	struct when_met met;

	search->has_answer = true;
	search->answer = answer;
	if (!became)
		return 0;
	met = (struct when_met) {
		.access = *access, .has_old = true,
		.old_at = access->before, .new_at = access->after,
	};
	return when_meet(search->when, &met);
}

static enum trace_answer read_changed(void *context, uint64_t addr, size_t size,
				      uint8_t *bytes)
{
	bool known;

	if (!changes_bytes(context, addr, size, bytes, &known))
		return TRACE_ANEW;
	return known ? TRACE_TRUE : TRACE_UNKNOWN;
}

static uint64_t no_register(void *context, unsigned reg)
{
	(void)context;
	(void)reg;
	return 0;
}

/* Whose variable it is, the condition does not say. */
static int check_threads(struct when *when, enum trace_answer answer)
{
	const struct trace *trace = &when->condition.trace;

	if (!trace->asks_registers ||
	    (answer == TRACE_UNKNOWN && !trace->is_unknown))
		return 0;
	return failed(when->why, ERR_INPUT, "each thread has variables of '%s'"
		      " of its own: choose the code with --in",
		      when->question->text);
}

/* Asked where the replay stands. */
static int ask_now(struct search *search, struct changes *changes,
		   const struct history_access *access,
		   enum trace_answer *answer, bool *is_watched)
{
	struct condition *condition = &search->when->condition;
	struct replayer *rep = changes_replayer(changes);
	struct expression_place place = when_place(search->when,
						   &access->after);
	int rc = 0;

	*answer = condition_now(condition, rep, no_register, NULL);
	if (*answer == TRACE_ANEW)
		rc = condition_evaluate(condition, &place, rep, answer,
					search->when->why);
	if (!rc)
		rc = check_threads(search->when, *answer);
	*is_watched = !rc && changes_watch(changes, condition->reads,
					   condition->read_count);
	return rc;
}

static int on_changed(void *context, struct changes *changes,
		      const struct history_access *access, bool is_now)
{
	struct search *search = context;
	const struct trace_source source = { read_changed, no_register,
					     changes };
	enum trace_answer answer;
	bool is_watched = true;
	int rc = 0;

	answer = condition_again(&search->when->condition, &source);
	if (answer == TRACE_ANEW && is_now)
		rc = ask_now(search, changes, access, &answer, &is_watched);
	if (rc)
		return rc;
	/* Where the replay does not know what a query may. */
	if (answer == TRACE_UNKNOWN && is_now &&
	    !(is_watched && changes_is_all(changes)))
		answer = TRACE_ANEW;
	if (answer != TRACE_ANEW)
		rc = settle(search, answer, access);
	if (rc || (answer != TRACE_ANEW && is_watched))
		return rc;
	search->next = access->after;
	search->change = *access;
	search->has_change = true;
	return GO_ON_THERE;
}

/* ------- what is watched ------- */

static void widen(struct search *search)
{
	const struct condition *condition = &search->when->condition;
	bool is_new = search->first > search->last;

	for (size_t i = 0; i < condition->read_count; i++) {
		guest_addr first = condition->reads[i].addr;
		guest_addr last = first + condition->reads[i].size - 1;
		uint64_t slack = is_new ? 0 : search->slack;

		if (first >= search->first && last <= search->last)
			continue;
		if (first < search->first)
			search->first = first > slack ? first - slack : 0;
		if (last > search->last)
			search->last = last < UINT64_MAX - slack ?
					       last + slack : UINT64_MAX;
		if (!is_new)
			search->slack *= 2;
	}
}

/* Where the thread stands at a position. */
static int find_place(struct search *search, const struct position *at,
		      uint32_t *stream, guest_addr *pc)
{
	struct when *when = search->when;
	const struct reg_table *table = recording_reg_table(when->recording);
	struct replayer *rep;
	struct reg_file file;
	int rc = query_replayer(when->query, &rep, when->why);

	if (!rc)
		rc = replayer_seek(rep, at, when->why);
	if (rc)
		return rc;
	replayer_registers(rep, &file);
	*stream = replayer_stream(rep);
	*pc = reg_get(table, &file, table->pc);
	return 0;
}

/* What comes behind the instruction: it is asked there the next time. */
static int learn(struct search *search)
{
	guest_addr pc;
	uint32_t stream;
	int rc;

	if (search->change.kind != HISTORY_INSTRUCTION)
		return 0;
	rc = find_place(search, &search->next, &stream, &pc);
	if (!rc && number_map_set(&search->behind, pc, 0))
		rc = failed(search->when->why, ERR_NO_MEMORY, "out of memory");
	return rc;
}

/* Modules come and go: something else has changed than memory. */
static int fill_in_change(struct search *search, const struct position *at)
{
	struct history_access *access = &search->change;

	*access = (struct history_access) {
		.before = *at, .after = *at, .kind = HISTORY_MAPPED,
		.writes = true,
	};
	return find_place(search, at, &access->stream, &access->pc);
}

static int ask_at(struct search *search, const struct position *at)
{
	struct when *when = search->when;
	struct expression_place place = when_place(when, at);
	enum trace_answer answer;
	int rc = condition_evaluate(&when->condition, &place, NULL, &answer,
				    when->why);

	if (!rc)
		rc = check_threads(when, answer);
	if (!rc && !search->has_change && search->has_answer &&
	    answer != search->answer)
		rc = fill_in_change(search, at);
	if (!rc)
		rc = settle(search, answer, &search->change);
	if (!rc && search->has_change)
		rc = learn(search);
	search->has_change = false;
	return rc;
}

/* ------- parts ------- */

static int run(struct search *search, const struct position *from,
	       const struct position *to)
{
	struct when *when = search->when;
	struct changes_question question = {
		.query = when->query, .from = *from, .to = *to,
		.behind = &search->behind, .changed = on_changed,
		.context = search,
	};

	widen(search);
	question.ranges = when->condition.reads;
	question.count = when->condition.read_count;
	question.first = search->first;
	question.last = search->last;
	return changes_run(&question, when->why);
}

/*
 * Behind what changed.  An event that positions do not count would be met there
 * again.
 */
static struct position go_on(const struct search *search,
			     const struct position *at)
{
	if (position_compare(&search->next, at) > 0)
		return search->next;
	return (struct position){ at->time + 1, 0 };
}

/* As long as the modules stay where they are. */
static int search_part(struct search *search, const struct position *from,
		       const struct position *to)
{
	struct when *when = search->when;
	struct position at = *from;
	bool may = true;
	int rc;

	do {
		rc = ask_at(search, &at);
		if (!rc)
			rc = changes_may_be(when->query, &at,
					    when->condition.reads,
					    when->condition.read_count, &may,
					    when->why);
		if (!rc && may && position_compare(&at, to) < 0)
			rc = run(search, &at, to);
		if (rc == GO_ON_THERE)
			at = go_on(search, &at);
	} while (rc == GO_ON_THERE && position_compare(&at, to) <= 0);
	if (rc == GO_ON_THERE)
		rc = 0;
	return rc;
}

static int search_segment(void *context, const struct when_part *part)
{
	struct search *search = context;
	struct when *when = search->when;
	struct names *names = lines_names(when->context->lines);
	struct position at = part->from, end;
	bool is_last = false;
	uint64_t until;
	int rc = 0;

	search->has_answer &= !part->is_anew;
	while (!rc && !is_last) {
		rc = names_until(names, at.time, &until, when->why);
		is_last = until >= part->to.time || until <= at.time;
		end = is_last ? part->to : (struct position){ until, 0 };
		if (!rc)
			rc = search_part(search, &at, &end);
		at = end;
	}
	return rc;
}

int when_search_memory(struct when *when)
{
	struct search search = {
		.when = when, .first = UINT64_MAX, .slack = SLACK_LEAST,
	};
	int rc = when_each_segment(when, search_segment, &search);

	number_map_release(&search.behind);
	return rc;
}
