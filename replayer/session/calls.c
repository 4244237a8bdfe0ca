/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls.c - see calls.h */
#include "replayer/session/calls.h"

#include <string.h>

#include "formats/error.h"
#include "replayer/replayer.h"
#include "replayer/session/marks.h"

struct calls {
	const struct calls_question *question;
	struct call_functions *functions;
	struct call_functions cuts;
	struct call_stacks stacks;
	bool only_resolvers;
	struct failure *why;
};

/* ------- where stacks were cut ------- */

#define MARK_CUT SIZE_MAX

#define BEGIN_CATCH "__cxa_begin_catch"

/*
 * What these return to is where calls have been left: a handler of an exception,
 * or where longjmp() jumps.
 */
static bool is_cut(const char *name)
{
	static const char *const names[] = {
		BEGIN_CATCH, "__sigsetjmp", "_setjmp", "setjmp", "sigsetjmp",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int mark_cuts(struct calls *calls, struct marks *marks, uint64_t t,
		     size_t number)
{
	struct call_functions *cuts = &calls->cuts;
	uint64_t bias;
	int rc = call_functions_list(cuts, t, number, calls->why);

	names_mapped(lines_names(cuts->lines), t, number, &bias);
	for (size_t i = cuts->module; i < cuts->count && !rc; i++)
		rc = marks_add_lasting(marks, cuts->list[i]->addr + bias,
				       MARK_CUT);
	return rc;
}

/* Where a C library jumps by itself, a thread ends. */
static bool is_end_of_thread(const struct calls *calls, uint64_t t,
			     guest_addr pc, guest_addr back)
{
	struct names *names = lines_names(calls->cuts.lines);
	uint64_t bias;
	const struct symbols *own = names_module(names, t, pc, &bias);

	for (size_t i = 0; i < calls->cuts.count; i++) {
		const struct call_function *cut = calls->cuts.list[i];

		if (cut->symbols == own && cut->addr + bias == pc &&
		    (cut->is_program || !strcmp(cut->name, BEGIN_CATCH)))
			return false;
	}
	return names_module(names, t, back, &bias) == own;
}

static int on_cut(struct calls *calls, struct marks *marks,
		  const struct vm_stop *stop, const struct position *at)
{
	guest_addr back;
	int rc = call_stacks_back(&calls->stacks, marks, &back);

	if (rc || is_end_of_thread(calls, at->time, stop->pc, back))
		return rc;
	return marks_watch(marks, back);
}

/* ------- what marks tell ------- */

static int on_module(void *context, struct marks *marks, uint64_t t,
		     size_t number)
{
	struct calls *calls = context;
	struct call_functions *functions = calls->functions;
	uint64_t bias;
	const struct symbols *symbols = names_mapped(
		lines_names(functions->lines), t, number, &bias);
	int rc = call_functions_list(functions, t, number, calls->why);

	for (size_t i = 0; i < functions->count && !rc; i++) {
		const struct call_function *function = functions->list[i];

		if (function->symbols == symbols &&
		    (i >= functions->module || function->is_resolved) &&
		    (function->is_resolver || !calls->only_resolvers))
			rc = marks_add(marks, function->addr + bias, i);
	}
	return rc || calls->only_resolvers ? rc :
		mark_cuts(calls, marks, t, number);
}

static int on_entry(void *context, struct marks *marks, size_t number,
		    const struct vm_stop *stop, const struct position *at)
{
	struct calls *calls = context;

	if (number == MARK_CUT)
		return on_cut(calls, marks, stop, at);
	return call_stacks_enter(&calls->stacks, marks,
				 calls->functions->list[number], stop, at);
}

static int on_return(void *context, struct marks *marks,
		     const struct vm_stop *stop, const struct position *at)
{
	struct calls *calls = context;

	return call_stacks_return(&calls->stacks, marks, stop, at);
}

static int on_replaced(void *context, uint64_t t)
{
	struct calls *calls = context;

	return call_stacks_replace(&calls->stacks, t);
}

static int on_resolved(void *context, struct marks *marks,
		       struct call_function *resolver, guest_addr entry,
		       guest_addr addr)
{
	struct calls *calls = context;
	struct call_function *function;
	int rc = call_functions_add(calls->functions, resolver,
				    addr - (entry - resolver->addr),
				    &function, calls->why);

	if (rc || !function || calls->only_resolvers)
		return rc;
	return marks_add(marks, addr, calls->functions->count - 1);
}

/* ------- all of it ------- */

static int run(struct calls *calls, struct position from, struct position to)
{
	const struct marks_user user = {
		.module = on_module, .met = on_entry, .watched = on_return,
		.replaced = on_replaced, .context = calls,
	};
	const struct marks_question question = {
		.query = calls->question->query,
		.lines = calls->functions->lines,
		.from = from, .to = to, .user = &user,
	};
	int rc = marks_run(&question, calls->why);

	return rc == CALLS_ENOUGH ? 0 : rc;
}

/* What resolvers told before the calls begin that are asked for. */
static int run_before(struct calls *calls)
{
	const struct position from = calls->question->from, start = {
		recording_start(calls->stacks.recording), 0
	};
	bool any;
	int rc;

	if (position_compare(&start, &from) >= 0)
		return 0;
	rc = call_functions_resolve(calls->functions, from.time, &any,
				    calls->why);
	if (rc || !any)
		return rc;
	calls->only_resolvers = true;
	rc = run(calls, start, from);
	calls->only_resolvers = false;
	call_stacks_forget(&calls->stacks);
	return rc;
}

static int run_all(struct calls *calls)
{
	const struct calls_question *question = calls->question;
	int rc = run_before(calls);

	if (!rc)
		rc = run(calls, question->from, question->to);
	if (!rc)
		rc = call_stacks_end(&calls->stacks, &question->to);
	return rc;
}

int calls_no_function(const struct calls_question *question,
		      const struct call_functions *functions, size_t number,
		      struct failure *why)
{
	struct recording *recording = names_recording(
		lines_names(functions->lines));
	const struct symbol_pattern *pattern = &functions->patterns[number];
	char text[ABSENT_TEXT];

	return failed(why, ERR_NOT_FOUND, "no function of '%s' is called"
		      " '%s'%s", trace_reader_path(recording_reader(recording)),
		      pattern->asked, absent_text(functions->lines,
						  question->to.time, pattern,
						  text));
}

int calls_find(const struct calls_question *question,
	       struct call_functions *functions, struct failure *why)
{
	struct recording *recording = names_recording(
		lines_names(functions->lines));
	struct calls calls = {
		.question = question, .functions = functions, .why = why,
		.cuts = { .lines = functions->lines, .is_wanted = is_cut },
		.stacks = { .user = &question->user, .resolved = on_resolved,
			    .kernel = query_followed(question->query),
			    .context = &calls, .why = why },
	};
	int rc = 0;

	if (question->user.some_thread)
		rc = recording_has_tid(recording, question->user.tid, why);

	for (size_t i = 0; i < functions->pattern_count && !rc; i++)
		rc = short_name_find(functions->lines, question->to.time,
				     &functions->patterns[i], why);
	if (!rc)
		rc = call_stacks_init(&calls.stacks, recording);
	if (!rc)
		rc = run_all(&calls);
	call_stacks_release(&calls.stacks);
	call_functions_release(&calls.cuts);
	if (!rc && !functions->count && functions->pattern_count)
		rc = calls_no_function(question, functions, 0, why);
	return rc;
}
