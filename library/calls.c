/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls.c - calls of functions, and each time that code was executed */
#include "library/handles.h"

#include <stdlib.h>
#include <string.h>

/* What a callback gets is a cursor of its own. */
static struct cprec_cursor cursor_at(struct cprec_recording *handle,
				     const struct position *at, uint32_t tid)
{
	return (struct cprec_cursor) {
		.of = handle, .at = *at, .some_thread = true, .tid = tid,
	};
}

/*
 * Whatever the callback has asked, others who are told of the same place find
 * the replayer there.
 */
static int go_back(struct visits *visits, int rc, const struct position *at)
{
	struct replayer *replayer;
	int told = visits_told(visits, rc);

	if (told)
		return told;
	rc = query_replayer(visits->of->query, &replayer, visits->why);
	return rc ? rc : replayer_seek(replayer, at, visits->why);
}

/* ------- values ------- */

/* Arguments, or what was returned. */
struct value_list {
	struct cprec_variable *values;
	const struct cprec_variable **pointers;
	size_t count, room;
};

static void free_values(struct value_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free((char *)list->values[i].name);
		free((char *)list->values[i].type);
		free((char *)list->values[i].value);
	}
	free(list->values);
	free(list->pointers);
	*list = (struct value_list){ 0 };
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int add_value(void *context, const struct call_value *value)
{
	struct value_list *list = context;
	struct cprec_variable *added;

	if (list->count == list->room) {
		size_t room = 2 * list->room + 4;

		added = reallocarray(list->values, room, sizeof(*added));
		if (!added)
			return ERR_NO_MEMORY;
		list->values = added;
		list->room = room;
	}
	added = &list->values[list->count++];
	*added = (struct cprec_variable) {
		.name = copy(value->name), .type = copy(value->type),
		.value = copy(value->value), .is_argument = true,
	};
	return added->value ? 0 : ERR_NO_MEMORY;
}

/* Callers see pointers: what they point to may grow. */
static int point_to_values(struct value_list *list)
{
	list->pointers = calloc(list->count + 1, sizeof(*list->pointers));
	if (!list->pointers)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < list->count; i++)
		list->pointers[i] = &list->values[i];
	return 0;
}

typedef int values_find(struct expressions *expressions,
			const struct position *at, uint64_t entry,
			call_visit *visit, void *context, struct failure *why);

static int find_values(struct cprec_recording *handle, values_find *find,
		       const struct position *at, uint64_t entry,
		       struct value_list *out, struct failure *why)
{
	int rc = find(handle->expressions, at, entry, add_value, out, why);

	if (!rc)
		rc = point_to_values(out);
	return rc == ERR_NO_MEMORY ? failed(why, rc, "out of memory") : rc;
}

/* ------- calls ------- */

/* A call that has begun. */
struct open_call {
	struct open_call *next, **link;
	uint64_t number;
	struct value_list arguments;
};

struct calls_visits {
	struct visits visits;
	const struct cprec_calls *asked;
	struct open_call *open;
	uint64_t begun;
};

static void free_open(struct open_call *open)
{
	*open->link = open->next;
	if (open->next)
		open->next->link = open->link;
	free_values(&open->arguments);
	free(open);
}

static struct cprec_call describe(const struct open_call *open,
				  const struct call *call, bool has_arguments)
{
	const struct call_function *function = call->function;

	return (struct cprec_call) {
		.number = open->number, .function = function->name,
		.linkage_name = function->linkage_name,
		.module = function->module, .is_program = function->is_program,
		.at = from_position(call->at), .tid = call->tid,
		.pc = call->pc, .sp = call->sp,
		/* In the instruction that calls, or jumps. */
		.caller = call->from ? call->from : call->back - 1,
		.is_jump = call->from != 0, .depth = call->depth,
		.has_arguments = has_arguments,
		.arguments = open->arguments.pointers,
		.argument_count = open->arguments.count,
	};
}

static int on_begin(void *context, struct call *call, struct failure *why)
{
	struct calls_visits *visits = context;
	struct cprec_recording *handle = visits->visits.of;
	const struct cprec_calls *asked = visits->asked;
	struct open_call *open = calloc(1, sizeof(*open));
	struct cprec_cursor cursor;
	struct cprec_call out;
	int rc = 0;

	if (!open)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	open->number = visits->begun++;
	open->next = visits->open;
	open->link = &visits->open;
	if (open->next)
		open->next->link = &open->next;
	visits->open = open;
	call->kept = open;
	if (!asked->no_values)
		rc = find_values(handle, expressions_arguments, &call->at,
				 call->pc, &open->arguments, why);
	if (rc || !asked->begins)
		return rc;
	cursor = cursor_at(handle, &call->at, call->tid);
	out = describe(open, call, !asked->no_values);
	rc = asked->begins(visits->visits.context, &out, &cursor);
	cursor_release(&cursor);
	return go_back(&visits->visits, rc, &call->at);
}

static int tell_end(struct calls_visits *visits, struct call *call,
		    struct failure *why)
{
	static const enum cprec_call_end ends[] = {
		[CALL_RUNS] = CPREC_CALL_RUNS,
		[CALL_RETURNED] = CPREC_CALL_RETURNED,
		[CALL_LEFT] = CPREC_CALL_LEFT,
		[CALL_THREAD_ENDED] = CPREC_CALL_THREAD_ENDED,
		[CALL_PROCESS_ENDED] = CPREC_CALL_PROCESS_ENDED,
		[CALL_REPLACED] = CPREC_CALL_REPLACED,
	};
	struct cprec_recording *handle = visits->visits.of;
	bool returned = call->end == CALL_RETURNED;
	struct cprec_call out = describe(call->kept, call,
					 !visits->asked->no_values);
	struct value_list values = { 0 };
	struct cprec_cursor cursor = cursor_at(handle, &call->ended, call->tid);
	int rc = 0;

	if (returned && !visits->asked->no_values)
		rc = find_values(handle, expressions_returned, &call->ended,
				 call->pc, &values, why);
	if (!rc) {
		out.end = ends[call->end];
		out.ended = from_position(call->ended);
		out.has_instructions = call->has_steps;
		out.instructions = call->steps;
		out.returned = values.count ? values.pointers[0] : NULL;
		rc = visits->asked->ends(visits->visits.context, &out,
					 returned ? &cursor : NULL);
		rc = returned ? go_back(&visits->visits, rc, &call->ended) :
				visits_told(&visits->visits, rc);
	}
	cursor_release(&cursor);
	free_values(&values);
	return rc;
}

static int on_end(void *context, struct call *call, struct failure *why)
{
	struct calls_visits *visits = context;
	int rc = visits->asked->ends ? tell_end(visits, call, why) : 0;

	free_open(call->kept);
	return rc;
}

static int tell_counts(struct calls_visits *visits,
		       const struct call_functions *functions)
{
	int rc = 0;

	for (size_t i = 0; i < functions->count && !rc; i++) {
		const struct call_function *function = functions->list[i];
		const struct cprec_call_count count = {
			.function = function->name,
			.linkage_name = function->linkage_name,
			.module = function->module,
			.is_program = function->is_program,
			.calls = function->calls,
			.instructions = function->steps,
		};

		rc = visits_told(&visits->visits, visits->asked->counts(
			visits->visits.context, &count));
	}
	return rc;
}

/* ------- the question ------- */

static void free_patterns(struct symbol_pattern *patterns, size_t count)
{
	for (size_t i = 0; patterns && i < count; i++)
		symbol_pattern_release(&patterns[i]);
	free(patterns);
}

static int take_patterns(struct symbol_pattern **out,
			 const struct cprec_calls *asked, struct failure *why)
{
	int rc = 0;

	*out = NULL;
	if (!asked->pattern_count)
		return failed(why, ERR_INPUT, "a pattern is missing: which"
			      " functions");
	*out = calloc(asked->pattern_count, sizeof(**out));
	for (size_t i = 0; *out && i < asked->pattern_count && !rc; i++)
		rc = symbol_pattern_init(&(*out)[i], asked->patterns[i]);
	return *out && !rc ? 0 :
		failed(why, ERR_NO_MEMORY, "out of memory");
}

static int find_calls(struct calls_visits *visits,
		      struct symbol_pattern *patterns,
		      const struct position *from, const struct position *to)
{
	const struct cprec_calls *asked = visits->asked;
	struct cprec_recording *handle = visits->visits.of;
	struct call_functions functions = {
		.lines = handle->lines, .patterns = patterns,
		.pattern_count = asked->pattern_count,
	};
	const struct calls_question question = {
		.query = handle->query, .from = *from, .to = *to,
		.user = {
			.some_thread = asked->tid != 0, .tid = asked->tid,
			.depth_most = asked->has_depth_most ?
					      asked->depth_most : UINT64_MAX,
			.limit = asked->limit ? asked->limit : UINT64_MAX,
			.begins = on_begin, .ends = on_end, .context = visits,
		},
	};
	int rc;

	handle->follows = true;
	rc = calls_find(&question, &functions, visits->visits.why);
	handle->follows = false;
	if (!rc && asked->counts)
		rc = tell_counts(visits, &functions);
	while (visits->open)
		free_open(visits->open);
	call_functions_release(&functions);
	return visits_result(&visits->visits, rc);
}

PUBLIC int cprec_each_call(struct cprec_recording *handle,
			   const struct cprec_calls *question,
			   struct cprec_failure *why)
{
	struct cprec_calls asked;
	struct calls_visits visits = {
		.visits = { .of = handle, .why = inner(why) }, .asked = &asked,
	};
	struct symbol_pattern *patterns = NULL;
	struct position from, to;
	int rc = question_follow(handle, why);

	if (!rc)
		rc = QUESTION_TAKE(&asked, question, why);
	if (!rc)
		rc = question_range(handle, asked.has_from ? &asked.from : NULL,
				    asked.has_to ? &asked.to : NULL, &from,
				    &to, why);
	if (rc)
		return rc;
	visits.visits.context = asked.context;
	rc = take_patterns(&patterns, &asked, inner(why));
	if (!rc)
		rc = find_calls(&visits, patterns, &from, &to);
	free_patterns(patterns, asked.pattern_count);
	return rc;
}

/* ------- each time that code was executed ------- */

struct log_visits {
	struct visits visits;
	const struct cprec_log *asked;
};

static int on_met(void *context, const struct log_met *met,
		  struct failure *why)
{
	struct log_visits *visits = context;
	const struct cprec_met out = {
		.point = met->point, .at = from_position(met->at),
		.tid = met->tid,
		.function = met->function ? met->function->name : NULL,
	};
	struct cprec_cursor cursor = cursor_at(visits->visits.of, &met->at,
					       met->tid);
	int rc;

	(void)why;
	cursor.frame = met->frame;
	rc = visits->asked->met(visits->visits.context, &out, &cursor);
	cursor_release(&cursor);
	return go_back(&visits->visits, rc, &met->at);
}

static void free_points(struct log_point *points, size_t count)
{
	for (size_t i = 0; points && i < count; i++)
		log_point_release(&points[i]);
	free(points);
}

static int take_points(struct log_point **out, const struct cprec_log *asked,
		       struct failure *why)
{
	int rc = 0;

	*out = calloc(asked->point_count + 1, sizeof(**out));
	if (!*out)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (!asked->point_count || !asked->met)
		return failed(why, ERR_INPUT, "there is no point, or nobody is"
			      " told");
	for (size_t i = 0; i < asked->point_count && !rc; i++)
		rc = log_point_init(&(*out)[i], asked->points[i], why);
	return rc;
}

/* What can never have a value is told before all visits. */
static int check_expressions(struct cprec_recording *handle,
			     const struct cprec_log *asked,
			     const struct log_question *inside,
			     struct failure *why)
{
	struct expressions_asked check = {
		.points = inside->points, .count = inside->count,
		.from = inside->from, .to = inside->to,
	};
	bool is_elsewhere;
	int rc = 0;

	for (size_t i = 0; i < asked->expression_count && !rc; i++) {
		check.text = asked->expressions[i];
		rc = expressions_check_asked(handle->expressions, &check,
					     &is_elsewhere, why);
	}
	return rc;
}

PUBLIC int cprec_each_visit(struct cprec_recording *handle,
			    const struct cprec_log *question,
			    struct cprec_failure *why)
{
	struct cprec_log asked;
	struct log_visits visits = {
		.visits = { .of = handle, .why = inner(why) }, .asked = &asked,
	};
	struct log_question inside = {
		.query = handle->query, .lines = handle->lines, .met = on_met,
		.context = &visits,
	};
	int rc = question_follow(handle, why);

	if (!rc)
		rc = QUESTION_TAKE(&asked, question, why);
	if (!rc)
		rc = question_range(handle, asked.has_from ? &asked.from : NULL,
				    asked.has_to ? &asked.to : NULL,
				    &inside.from, &inside.to, why);
	if (rc)
		return rc;
	visits.visits.context = asked.context;
	inside.some_thread = asked.tid != 0;
	inside.tid = asked.tid;
	inside.count = asked.point_count;
	rc = take_points(&inside.points, &asked, inner(why));
	handle->follows = true;
	if (!rc)
		rc = check_expressions(handle, &asked, &inside, inner(why));
	if (!rc)
		rc = log_points_find(&inside, inner(why));
	handle->follows = false;
	free_points(inside.points, asked.point_count);
	return visits_result(&visits.visits, rc);
}
