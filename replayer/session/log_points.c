/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_points.c - see log_points.h */
#include "replayer/session/log_points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/number_map.h"
#include "replayer/replayer.h"
#include "replayer/session/call_functions.h"
#include "replayer/session/call_stacks.h"
#include "replayer/session/code_exits.h"
#include "replayer/session/function_places.h"
#include "replayer/session/marks.h"
#include "replayer/session/numbers.h"
#include "vm/vm.h"

/* ------- points ------- */

/* "file.c:12": the digits at the end, and the ':' before them. */
static const char *line_mark(const char *text)
{
	const char *mark = strrchr(text, ':');

	return mark && mark > text && mark[-1] != ':' && mark[1] &&
	       !mark[1 + strspn(mark + 1, "0123456789")] ? mark : NULL;
}

static int take_line(struct log_point *point, const char *mark,
		     struct failure *why)
{
	uint64_t line;

	if (!number_parse(mark + 1, &line) || !line || line > INT32_MAX)
		return failed(why, ERR_INPUT, "'%s' is no line", point->text);
	point->line = (unsigned)line;
	point->file = strndup(point->text, (size_t)(mark - point->text));
	return point->file ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

static int take_place(struct log_point *point, struct failure *why)
{
	const char *mark = line_mark(point->text);

	if (*point->text == '*' && point->text[1] &&
	    strchr("0123456789", point->text[1])) {
		point->is_addr = true;
		return number_parse(point->text + 1, &point->addr) ? 0 :
			failed(why, ERR_INPUT, "'%s' is no address",
			       point->text);
	}
	if (mark)
		return take_line(point, mark, why);
	if (symbol_pattern_init(&point->function, point->text))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return 0;
}

int log_point_init(struct log_point *point, const char *text,
		   struct failure *why)
{
	*point = (struct log_point) { .text = strdup(text) };
	if (!point->text)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (!*text)
		return failed(why, ERR_INPUT, "a place is missing: a line, like"
			      " 'hello.c:12', a function or '*ADDRESS'");
	return take_place(point, why);
}

void log_point_release(struct log_point *point)
{
	free(point->text);
	free(point->file);
	symbol_pattern_release(&point->function);
	*point = (struct log_point) { 0 };
}

/* ------- where breakpoints stop ------- */

struct finding {
	struct log_point *point;
	struct lines *lines;
	uint64_t t;
	log_place *visit;
	void *context;
};

static int found(struct finding *finding, uint64_t addr, unsigned frame)
{
	finding->point->has_places = true;
	return finding->visit(finding->context, addr, frame);
}

static int on_line_found(void *context, uint64_t addr)
{
	struct finding *finding = context;

	return found(finding, addr,
		     code_line_inlines(finding->lines, finding->t, addr,
				       finding->point->file,
				       finding->point->line));
}

/* What a resolver chooses is not known yet. */
static int on_function_found(void *context, const struct function_place *place)
{
	struct finding *finding = context;

	if (place->function && place->function->is_resolver)
		return 0;
	return found(finding, place->stop,
		     function_place_inlines(finding->lines, place,
					    place->stop));
}

static int find_functions(struct finding *finding, size_t number,
			  struct failure *why)
{
	struct call_functions functions = {
		.lines = finding->lines, .pattern_count = 1,
		.patterns = &finding->point->function,
	};
	int rc = function_places_visit(&functions, finding->t, number,
				       &finding->point->copies,
				       on_function_found, finding, why);

	call_functions_release(&functions);
	return rc;
}

static int find_places(struct finding *finding, struct failure *why)
{
	const struct log_point *point = finding->point;
	struct names *names = lines_names(finding->lines);
	uint64_t bias;
	int rc = point->is_addr ? found(finding, point->addr, 0) : 0;

	for (size_t i = 0; !rc && !point->is_addr &&
			   names_mapped(names, finding->t, i, &bias); i++) {
		if (point->file)
			rc = code_places_of_line(finding->lines, finding->t, i,
						 point->file, point->line,
						 on_line_found, finding);
		else
			rc = find_functions(finding, i, why);
	}
	return rc == ERR_NO_MEMORY ? failed(why, rc, "out of memory") : rc;
}

static int no_line(const struct log_point *point, struct lines *lines,
		   uint64_t t, struct failure *why)
{
	struct code_lines_around near;
	char text[64] = "no such file, or no debugging information";

	code_lines_around(lines, t, point->file, point->line, &near);
	if (near.before && near.behind)
		snprintf(text, sizeof(text), "lines %u and %u have some",
			 near.before, near.behind);
	else if (near.before || near.behind)
		snprintf(text, sizeof(text), "the %s line that has some is %u",
			 near.before ? "last" : "first",
			 near.before + near.behind);
	return failed(why, ERR_NOT_FOUND, "there is no code of '%s': %s",
		      point->text, text);
}

static int no_code(const struct log_point *point, struct lines *lines,
		   uint64_t t, struct failure *why)
{
	char text[ABSENT_TEXT];

	if (point->function.asked)
		return failed(why, ERR_NOT_FOUND, "there is no code of '%s'%s",
			      point->text, absent_text(lines, t,
						       &point->function, text));
	if (point->file)
		return no_line(point, lines, t, why);
	return failed(why, ERR_NOT_FOUND, "there is no code of '%s'",
		      point->text);
}

int log_point_places(struct log_point *point, struct lines *lines, uint64_t t,
		     log_place *visit, void *context, struct failure *why)
{
	struct finding finding = { point, lines, t, visit, context };
	int rc = short_name_find(lines, t, &point->function, why);

	if (!rc)
		rc = find_places(&finding, why);
	return rc || point->has_places ? rc : no_code(point, lines, t, why);
}

/* ------- where they are ------- */

/* What a mark stands for. */
struct target {
	size_t point;
	struct call_function *function;	/* NULL: no function is meant */
	bool is_entry;		/* what is told is how its calls end */
	bool begins;		/* at_statements: calls begin there */
	unsigned frame;		/* that of the function that is meant */
	guest_addr copy;	/* of one that was inlined: where it begins */
	size_t next;		/* another one of the same calls; or NO_TARGET */
};
#define NO_TARGET SIZE_MAX

struct log {
	const struct log_question *question;
	struct call_functions *functions;	/* of each point */
	struct target *targets;
	size_t target_count, target_room;
	struct call_user user;
	struct call_stacks stacks;
	size_t entered;		/* the target whose call begins */
	struct failure *why;

	/* While places are looked for. */
	struct marks *marks;
	uint64_t t;
	size_t point;
};

/* The calls of one function are followed once, whoever wants them. */
static bool join(struct log *log, size_t number)
{
	const struct target *target = &log->targets[number];

	for (size_t i = 0; i < number && target->is_entry; i++) {
		struct target *other = &log->targets[i];

		if (!other->is_entry ||
		    other->function->symbols != target->function->symbols ||
		    other->function->addr != target->function->addr)
			continue;
		log->targets[number].next = other->next;
		other->next = number;
		return true;
	}
	return false;
}

static int add_mark(struct log *log, guest_addr addr,
		    const struct target *target)
{
	size_t number = log->target_count;

	if (array_room(log->targets, log->target_count, log->target_room))
		return failed(log->why, ERR_NO_MEMORY, "out of memory");
	log->targets[log->target_count++] = *target;
	log->targets[number].next = NO_TARGET;
	log->question->points[target->point].has_places = true;
	return join(log, number) ? 0 : marks_add(log->marks, addr, number);
}

static int on_addr(struct log *log, uint64_t addr, unsigned frame)
{
	return add_mark(log, addr, &(struct target) { .point = log->point,
						      .frame = frame });
}

static int on_line(void *context, uint64_t addr)
{
	struct log *log = context;
	const struct log_point *point = &log->question->points[log->point];

	return on_addr(log, addr,
		       code_line_inlines(log->question->lines, log->t, addr,
					 point->file, point->line));
}

struct statements {
	struct log *log;
	const struct function_place *place;
	const struct target *target;
	struct number_map seen;	/* places */
};

static int on_statement(void *context, uint64_t addr)
{
	struct statements *statements = context;
	struct log *log = statements->log;
	struct target target = *statements->target;

	if (number_map_find(&statements->seen, addr))
		return 0;
	if (number_map_set(&statements->seen, addr, 0))
		return failed(log->why, ERR_NO_MEMORY, "out of memory");
	target.frame = function_place_inlines(log->question->lines,
					      statements->place, addr);
	return add_mark(log, addr, &target);
}

/* Of the marks at one place, the last one is told first. */
static int add_statements(struct log *log, const struct function_place *place,
			  const struct target *target)
{
	const struct log_question *question = log->question;
	struct statements statements = { log, place, target, { 0 } };
	struct target begin = *target;
	int rc = place->has_code ?
			 function_code_statements(question->lines,
						  &place->code, on_statement,
						  &statements) : 0;

	if (!rc)
		rc = code_exits_of_function(question->query, question->lines,
					    place, on_statement, &statements,
					    log->why);
	number_map_release(&statements.seen);
	begin.begins = true;
	begin.frame = function_place_inlines(question->lines, place,
					     place->entry);
	return rc ? rc : add_mark(log, place->entry, &begin);
}

static int on_function(void *context, const struct function_place *place)
{
	struct log *log = context;
	const struct log_point *point = &log->question->points[log->point];
	struct target target = {
		.point = log->point, .function = place->function,
		.copy = place->function ? 0 : place->entry,
		.is_entry = point->at_return ||
			    (place->function && place->function->is_resolver),
	};

	/* What was inlined does not return. */
	if (point->at_return && !place->function)
		return 0;
	if (target.is_entry)
		return add_mark(log, place->entry, &target);
	if (point->at_statements)
		return add_statements(log, place, &target);
	target.frame = function_place_inlines(log->question->lines, place,
					      place->stop);
	return add_mark(log, place->stop, &target);
}

static int add_functions(struct log *log, uint64_t t, size_t number)
{
	return function_places_visit(&log->functions[log->point], t, number,
				     &log->question->points[log->point].copies,
				     on_function, log, log->why);
}

/* An address is wherever it is: it belongs to what is mapped there. */
static int add_address(struct log *log, uint64_t t, size_t number)
{
	struct names *names = lines_names(log->question->lines);
	guest_addr addr = log->question->points[log->point].addr;
	uint64_t bias;

	if (names_module(names, t, addr, &bias) !=
	    names_mapped(names, t, number, &bias))
		return 0;
	return on_addr(log, addr, 0);
}

static int on_module(void *context, struct marks *marks, uint64_t t,
		     size_t number)
{
	struct log *log = context;
	const struct log_question *question = log->question;
	int rc = 0;

	log->marks = marks;
	log->t = t;
	/* Of several at one place, the last one that is added is told first. */
	for (size_t i = question->count; i-- > 0 && !rc;) {
		const struct log_point *point = &question->points[i];

		log->point = i;
		if (point->file)
			rc = code_places_of_line(question->lines, t, number,
						 point->file, point->line,
						 on_line, log);
		else if (point->is_addr)
			rc = add_address(log, t, number);
		else
			rc = add_functions(log, t, number);
	}
	return rc == ERR_NO_MEMORY ?
		failed(log->why, rc, "out of memory") : rc;
}

/* ------- what happens there ------- */

static int tell(struct log *log, const struct target *target,
		const struct position *at, uint32_t tid, guest_addr entry)
{
	const struct log_question *question = log->question;
	const struct log_met met = {
		.point = target->point, .at = *at, .tid = tid,
		.function = target->function, .entry = entry,
		.pc = entry, .begins = target->begins,
		.frame = target->frame, .copy = target->copy,
	};

	if (question->some_thread && question->tid != tid)
		return 0;
	return question->met(question->context, &met, log->why);
}

static int on_begin(void *context, struct call *call, struct failure *why)
{
	struct log *log = context;

	(void)why;
	call->number = log->entered;
	return 0;
}

static int on_end(void *context, struct call *call, struct failure *why)
{
	struct log *log = context;
	int rc = 0;

	(void)why;
	if (call->end != CALL_RETURNED)
		return 0;
	for (size_t i = call->number; i != NO_TARGET && !rc;
	     i = log->targets[i].next)
		rc = tell(log, &log->targets[i], &call->ended, call->tid,
			  call->pc);
	return rc;
}

static int on_met(void *context, struct marks *marks, size_t number,
		  const struct vm_stop *stop, const struct position *at)
{
	struct log *log = context;
	const struct target *target = &log->targets[number];
	struct recording *recording = log->stacks.recording;
	uint32_t stream = replayer_stream(marks_replayer(marks)), tid;
	int rc;

	log->entered = number;
	if (target->is_entry)
		return call_stacks_enter(&log->stacks, marks,
					 target->function, stop, at);
	rc = recording_tid(recording,
			   recording_thread_of(recording, stream, at->time),
			   &tid, log->why);
	return rc ? rc : tell(log, target, at, tid, stop->pc);
}

static int on_return(void *context, struct marks *marks,
		     const struct vm_stop *stop, const struct position *at)
{
	struct log *log = context;

	return call_stacks_return(&log->stacks, marks, stop, at);
}

static int on_replaced(void *context, uint64_t t)
{
	struct log *log = context;

	return call_stacks_replace(&log->stacks, t);
}

/* Which function a resolver chose, for whoever wants that. */
static int on_resolved(void *context, struct marks *marks,
		       struct call_function *resolver, guest_addr entry,
		       guest_addr addr)
{
	struct log *log = context;
	uint64_t t = replayer_time(marks_replayer(marks));
	size_t count = log->target_count;
	int rc = 0;

	log->marks = marks;
	for (size_t i = 0; i < count && !rc; i++) {
		const struct target target = log->targets[i];
		struct call_function *function;
		struct function_place place;

		if (!target.function || !target.is_entry ||
		    target.function->symbols != resolver->symbols ||
		    target.function->addr != resolver->addr)
			continue;
		rc = call_functions_add(&log->functions[target.point],
					target.function,
					addr - (entry - resolver->addr),
					&function, log->why);
		if (rc || !function)
			continue;
		function_place_find(log->question->lines, t, function, addr,
				    &place);
		log->point = target.point;
		rc = on_function(log, &place);
	}
	return rc;
}

/* ------- all of it ------- */

static int check_places(const struct log_question *question,
			struct failure *why)
{
	for (size_t i = 0; i < question->count; i++)
		if (!question->points[i].has_places)
			return no_code(&question->points[i], question->lines,
				       question->to.time, why);
	return 0;
}

static int run(struct log *log)
{
	const struct log_question *question = log->question;
	const struct marks_user user = {
		.module = on_module, .met = on_met, .watched = on_return,
		.replaced = on_replaced, .context = log,
	};
	const struct marks_question asked = {
		.query = question->query, .lines = question->lines,
		.from = question->from, .to = question->to, .user = &user,
	};
	int rc = call_stacks_init(&log->stacks, names_recording(
		lines_names(question->lines)));

	for (size_t i = 0; i < question->count; i++)
		log->functions[i] = (struct call_functions) {
			.lines = question->lines, .pattern_count = 1,
			.patterns = &question->points[i].function,
		};
	if (!rc)
		rc = marks_run(&asked, log->why);
	return rc ? rc : check_places(question, log->why);
}

int log_points_find(const struct log_question *question, struct failure *why)
{
	struct log log = {
		.question = question, .why = why,
		.functions = calloc(question->count + 1,
				    sizeof(*log.functions)),
		.user = { .limit = UINT64_MAX, .depth_most = UINT64_MAX,
			  .begins = on_begin, .ends = on_end,
			  .context = &log },
		.stacks = { .user = &log.user, .resolved = on_resolved,
			    .kernel = query_followed(question->query),
			    .context = &log, .why = why },
	};
	int rc = log.functions ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");

	if (!rc && question->some_thread)
		rc = recording_has_tid(
			names_recording(lines_names(question->lines)),
			question->tid, why);
	for (size_t i = 0; i < question->count && !rc; i++)
		rc = short_name_find(question->lines, question->to.time,
				     &question->points[i].function, why);
	if (!rc)
		rc = run(&log);
	call_stacks_release(&log.stacks);
	for (size_t i = 0; i < question->count && log.functions; i++)
		call_functions_release(&log.functions[i]);
	free(log.functions);
	free(log.targets);
	return rc;
}
