/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume.c - running in both directions, and telling why it stopped */
#include "debugger/server_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/target.h"
#include "debugger/wire.h"

#define SIGNAL_TRAP 5u
#define SIGNAL_INTERRUPT 2u

/* What a client asks for. */
struct resume {
	bool backwards;
	bool steps;		/* else it runs on */
	uint32_t tid;		/* of steps */
	uint64_t start, end;	/* of steps: as long as it is in between */
};

/* ------- telling ------- */

static void add_program(struct server *server)
{
	struct text path = { 0 };
	struct program_found found = { .path = &path };

	find_program_at(server, cprec_cursor_position(server->cursor), &found,
		     NULL);
	text_add(&server->reply, "exec:");
	if (path.bytes)
		text_add_hex(&server->reply, path.bytes, path.size);
	text_add(&server->reply, ";");
	text_release(&path);
}

static void add_reason(struct server *server)
{
	static const char *const watch_names[] = {
		[2] = "watch", [3] = "rwatch", [4] = "awatch",
	};
	const struct stop_told *stop = &server->stop;
	struct text *out = &server->reply;

	switch (stop->why) {
	case STOPPED_BREAK:
		text_add(out, "swbreak:;");
		break;
	case STOPPED_WATCH:
		text_add(out, "%s:%" PRIx64 ";", watch_names[stop->watch],
			 stop->addr);
		break;
	case STOPPED_AT_START:
		text_add(out, "replaylog:begin;");
		break;
	case STOPPED_AT_END:
		text_add(out, "replaylog:end;");
		break;
	case STOPPED_AT_CALL:
		text_add(out, "syscall_entry:%" PRIx64 ";", stop->call);
		break;
	case STOPPED_AT_RETURN:
		text_add(out, "syscall_return:%" PRIx64 ";", stop->call);
		break;
	case STOPPED_AT_FORK:
	case STOPPED_AT_VFORK:
		text_add(out, "%s:p%" PRIx32 ".%" PRIx32 ";",
			 stop->why == STOPPED_AT_FORK ? "fork" : "vfork",
			 stop->child, stop->child);
		break;
	case STOPPED_VFORK_DONE:
		text_add(out, "vforkdone:;");
		break;
	case STOPPED_AT_EXEC:
		add_program(server);
		break;
	case STOPPED_ELSEWHERE:
		text_add(out, "library:;");
		break;
	default:
		break;
	}
}

void reply_stop(struct server *server)
{
	const struct stop_told *stop = &server->stop;
	unsigned signal = SIGNAL_TRAP;

	if (stop->why == STOPPED_SIGNAL)
		signal = signal_for_debugger(stop->signal);
	else if (stop->why == STOPPED_BY_USER)
		signal = SIGNAL_INTERRUPT;
	/* For another thread than the one that steps, it would be a signal. */
	else if (stop->why == STOPPED_MOVED && stop->tid != server->stepping)
		signal = 0;
	text_add(&server->reply, "T%02xthread:p%" PRIx32 ".%" PRIx32 ";",
		 signal, server->pid, stop->tid);
	/* Of another program, its registers may be others. */
	if (stop->why != STOPPED_AT_EXEC)
		state_add_expedited(server, &server->reply);
	add_reason(server);
}

void on_why(struct server *server, const char *args)
{
	(void)args;
	reply_stop(server);
}

/* ------- where it stops ------- */

/* It stands there now, and time with it. */
static void stand(struct server *server, const struct cprec_stop *stop)
{
	static const enum stop_why reasons[] = {
		[CPREC_AT_POSITION] = STOPPED_PLAIN,
		[CPREC_AT_BREAK] = STOPPED_BREAK,
		[CPREC_AT_WATCH] = STOPPED_WATCH,
		[CPREC_AT_SIGNAL] = STOPPED_SIGNAL,
	};

	server->stop = (struct stop_told) {
		.why = reasons[stop->kind], .tid = stop->tid,
		.signal = stop->signal,
	};
	if (stop->kind == CPREC_AT_WATCH) {
		server->stop.watch = server->watches[stop->index].type;
		server->stop.addr = server->watches[stop->index].addr;
	}
}

/* As gdb says it of a program that it has started itself. */
static void tell_end(struct server *server)
{
	const struct cprec_info *info;
	char words[SIGNAL_WORDS], line[SIGNAL_WORDS + 64];

	if (server->target->is_machine ||
	    cprec_describe(server->recording, &info, NULL) ||
	    !info->is_complete || info->has_become)
		return;
	if (info->exit_signal)
		snprintf(line, sizeof(line), "Program terminated with signal %s.\n",
			 signal_words(words, info->exit_signal));
	else if (info->exit_code)
		snprintf(line, sizeof(line), "[Inferior 1 (process %" PRIu32
			 ") exited with code 0%" PRIo32 "]\n", server->pid,
			 info->exit_code);
	else
		snprintf(line, sizeof(line), "[Inferior 1 (process %" PRIu32
			 ") exited normally]\n", server->pid);
	tell_printed(server, line, strlen(line));
}

/* The recording goes no further. */
static int stand_at_end(struct server *server, bool backwards,
			struct cprec_failure *why)
{
	const struct cprec_state *state;
	int rc = cprec_cursor_thread(server->cursor, 0, why);

	if (!rc)
		rc = cprec_cursor_describe(server->cursor, &state, why);
	if (!rc)
		server->stop = (struct stop_told) {
			.why = backwards ? STOPPED_AT_START : STOPPED_AT_END,
			.tid = state->tid,
		};
	return rc;
}

/* ------- running on ------- */

static struct cprec_watch *list_watches(const struct server *server)
{
	struct cprec_watch *list =
		calloc(server->watch_count + 1, sizeof(*list));

	for (size_t i = 0; i < server->watch_count && list; i++) {
		const struct watchpoint *watch = &server->watches[i];

		list[i] = (struct cprec_watch) {
			.addr = watch->addr, .length = watch->length,
			.reads = watch->type != 2, .writes = watch->type != 3,
		};
	}
	return list;
}

/* Whether a run goes on behind a stop; else it stands there. */
static bool passes(struct server *server, const struct cprec_stop *stop)
{
	switch (stop->kind) {
	case CPREC_AT_CALL:
	case CPREC_AT_RETURN:
		return !catches_stand(server, stop);
	case CPREC_AT_POSITION:
		return false;
	default:
		break;
	}
	stand(server, stop);
	return false;
}

/* Whether something else may happen where it stands than what it has stopped
 * for. */
static bool stands_between(const struct server *server, bool backwards)
{
	enum stop_why why = server->stop.why;
	bool stands_before = why == STOPPED_SIGNAL || why == STOPPED_AT_CALL;

	/* What accesses comes next: it may be a signal, whose frame is
	 * written. */
	if (!backwards && why == STOPPED_WATCH)
		return !server->target->watches_before;
	return backwards ? stands_before : !stands_before;
}

static bool passes_between(bool backwards, enum cprec_stop_kind kind)
{
	return backwards ? kind == CPREC_AT_SIGNAL || kind == CPREC_AT_CALL :
			   kind == CPREC_AT_RETURN;
}

static void on_printed(void *context, uint32_t descriptor, const uint8_t *bytes,
		       uint64_t length)
{
	(void)descriptor;	/* gdb has one stream for both */
	tell_printed(context, (const char *)bytes, length);
}

/* Until something happens; what stops nobody is passed. */
static int run_until(struct server *server, struct cprec_until *until,
		     enum cprec_stop_kind *kind, struct cprec_failure *why)
{
	const struct cprec_stop *stop;
	struct cprec_watch *watches = list_watches(server);
	struct heard heard = { 0 };
	int rc;

	if (!watches || !catches_begin(server, until)) {
		free(watches);
		snprintf(why->text, sizeof(why->text), "out of memory");
		return CPREC_NO_MEMORY;
	}
	until->size = sizeof(*until);
	until->watches = watches;
	until->watch_count = server->watch_count;
	memcpy(until->passed_signals, server->passed, sizeof(server->passed));
	until->context = server;
	if (breaks_have_codes(server))
		until->is_met = on_break;
	if (until->backwards)
		server->heard = &heard;
	else
		until->printed = on_printed;
	until->here |= stands_between(server, until->backwards);
	do {
		rc = cprec_cursor_run(server->cursor, until, &stop, why);
		if (!rc)
			until->here = passes_between(until->backwards,
						     stop->kind);
	} while (!rc && passes(server, stop));
	if (!rc)
		*kind = stop->kind;
	heard_end(server, &heard, !rc);
	catches_end(until);
	free(watches);
	return rc;
}

static bool is_at(const struct server *server, struct cprec_position at)
{
	return !cprec_position_compare(cprec_cursor_position(server->cursor),
				       at);
}

static int run_on(struct server *server, bool backwards,
		  struct cprec_failure *why)
{
	struct cprec_until until = {
		.backwards = backwards, .signals = true,
		.breaks = server->breaks, .break_count = server->break_count,
	};
	const struct cprec_position from = cprec_cursor_position(server->cursor);
	enum cprec_stop_kind kind;
	bool is_told = server->stop.why == STOPPED_AT_RETURN;
	int rc = cprec_cursor_thread(server->cursor, 0, why);

	until.has_to = exec_limit(server, backwards, &until.to);
	is_told &= is_at(server, until.to);
	if (!rc)
		rc = run_until(server, &until, &kind, why);
	/* The end of the call that begins a program is told after that. */
	if (rc || (kind != CPREC_AT_POSITION &&
		   !(kind == CPREC_AT_RETURN && until.has_to &&
		     is_at(server, until.to))))
		return rc;
	if (!until.has_to) {
		if (!backwards && !is_at(server, from))
			tell_end(server);
		return stand_at_end(server, backwards, why);
	}
	if (backwards && !is_told && exec_stands_behind(server, until.to))
		return 0;
	return exec_stand(server, until.to, backwards, why);
}

/* ------- steps ------- */

/* Whether the walk's end is a stop: 1 or 0; an error is negative. */
static int stops_there(struct server *server, struct cprec_stop *walked,
		       struct cprec_failure *why)
{
	int is_met;

	/* gdb is told of each signal on the way of a step, as natively: it runs
	 * through the handler of one at which it does not stop. */
	if (walked->kind != CPREC_AT_BREAK)
		return 1;
	is_met = breaks_are_met(server, why);
	if (!is_met)
		walked->kind = CPREC_AT_POSITION;
	return is_met;
}

/*
 * Runs over what a thread has walked, tells what is printed, and stops at what a
 * walk does not see: other threads' breakpoints and signals, watchpoints, calls
 * that are caught.
 * Returns 1 if nothing stopped it.  `here`: also at what happens where it stands.
 */
static int run_along(struct server *server, struct cprec_position from,
		     bool backwards, bool here,
		     const struct cprec_stop *walked,
		     struct cprec_failure *why)
{
	struct cprec_until until = {
		.backwards = backwards, .has_to = true, .to = walked->at,
		.breaks = server->breaks, .break_count = server->break_count,
		.signals = true, .here = here,
	};
	enum cprec_stop_kind kind;
	int rc;

	if (!walked->others && !walked->prints && !server->watch_count &&
	    !server->catches)
		return 1;
	rc = cprec_cursor_move(server->cursor, from, why);
	if (!rc)
		rc = run_until(server, &until, &kind, why);
	if (rc || kind != CPREC_AT_POSITION)
		return rc;
	rc = cprec_cursor_thread(server->cursor, walked->tid, why);
	return rc ? rc : 1;
}

static bool is_inside(const struct resume *resume, uint64_t pc)
{
	return resume->start <= pc && pc < resume->end;
}

/* Walks once, to where something may stop it.  Returns 1 if nothing did. */
static int walk(struct server *server, const struct resume *resume,
		const struct cprec_walk *walk, bool here,
		struct cprec_failure *why)
{
	struct cprec_position from = cprec_cursor_position(server->cursor);
	struct cprec_position limit;
	const struct cprec_stop *found;
	struct cprec_stop walked;
	int rc = cprec_cursor_walk(server->cursor, walk, &found, why);

	if (rc)
		return rc;
	walked = *found;
	if (exec_between(server, from, walked.at, &limit)) {
		rc = cprec_cursor_move(server->cursor, from, why);
		return rc ? rc : run_on(server, walk->backwards, why);
	}
	rc = run_along(server, from, walk->backwards, here, &walked, why);
	if (rc <= 0)
		return rc;
	rc = stops_there(server, &walked, why);
	if (rc < 0)
		return rc;
	if (!rc && is_inside(resume, walked.pc))
		return 1;
	stand(server, &walked);
	return 0;
}

static int step(struct server *server, const struct resume *resume,
		struct cprec_failure *why)
{
	bool has_range = resume->start < resume->end, here = false;
	struct cprec_walk steps = {
		.size = sizeof(steps), .backwards = resume->backwards,
		.count = has_range ? 0 : 1,
		.start = resume->start, .end = resume->end,
		.breaks = server->breaks,
		.break_count = has_range ? server->break_count : 0,
		.signals = true,
		.here = stands_between(server, resume->backwards),
	};
	int rc = state_thread(server, resume->tid, why);

	if (rc)
		return rc;
	while ((rc = walk(server, resume, &steps, here, why)) > 0)
		here = steps.here = true;
	/* It has ended, or had not begun: the others run on. */
	return rc == CPREC_NOT_FOUND ?
		       run_on(server, resume->backwards, why) : rc;
}

/* ------- requests ------- */

/* Time moves; what was changed is not there any more. */
static int go_on(struct server *server, const struct resume *asked,
		 struct cprec_failure *why)
{
	diversion_over(server);
	return asked->steps ? step(server, asked, why) :
			      run_on(server, asked->backwards, why);
}

static int follow_plan(struct server *server, struct cprec_failure *why)
{
	diversion_over(server);
	return plan_run(server, why);
}

/* Something else happens where it stands; it is told once. */
static bool tells_next(struct server *server, bool backwards)
{
	const struct told_next *next = &server->next;
	bool tells = next->is_there && next->backwards == backwards &&
		     server->stop.why == STOPPED_AT_EXEC &&
		     server->plan.kind == PLAN_NONE &&
		     !cprec_position_compare(
			     next->at, cprec_cursor_position(server->cursor));

	if (tells)
		server->stop = next->stop;
	server->next.is_there = false;
	return tells;
}

static int go(struct server *server, const struct resume *asked,
	      struct cprec_failure *why)
{
	if (server->in_vfork) {
		server->stop.why = STOPPED_VFORK_DONE;
		server->in_vfork = false;
		return 0;
	}
	/* One that came before it ran. */
	if (server_is_interrupted(server))
		return CPREC_CANCELLED;
	if (tells_next(server, asked->backwards))
		return 0;
	if (!asked->backwards && diversion_runs(server))
		return diversion_run_on(server, asked->steps, why);
	if (asked->backwards && server->plan.kind != PLAN_NONE)
		return follow_plan(server, why);
	return go_on(server, asked, why);
}

/* From behind an access, as time went, to before it. */
static int undo_access(struct server *server, bool backwards,
		       struct cprec_failure *why)
{
	const struct cprec_walk walk = {
		.size = sizeof(walk), .backwards = !backwards, .count = 1,
	};
	const struct cprec_stop *unused;
	int rc = cprec_cursor_thread(server->cursor, server->stop.tid, why);

	if (!rc)
		rc = cprec_cursor_walk(server->cursor, &walk, &unused, why);
	return rc == CPREC_NOT_FOUND ? 0 : rc;
}

/* A run has been interrupted where it got to. */
static int stand_interrupted(struct server *server, struct cprec_position from,
			     struct cprec_failure *why)
{
	const struct cprec_state *state;
	uint32_t tid = server->stop.tid;
	int rc = 0;

	if (!is_at(server, from)) {
		rc = cprec_cursor_thread(server->cursor, ANY_THREAD, why);
		if (!rc)
			rc = cprec_cursor_describe(server->cursor, &state, why);
		if (!rc)
			tid = state->tid;
	}
	server->stop = (struct stop_told){ .why = STOPPED_BY_USER, .tid = tid };
	return rc;
}

static void resume(struct server *server, const struct resume *asked)
{
	const struct cprec_position from = cprec_cursor_position(server->cursor);
	struct cprec_failure why;
	int rc;

	server->is_in_line = server->was_in_line && !asked->steps;
	server->was_in_line = asked->start < asked->end;
	server->stepping = asked->tid ? asked->tid : server->stop.tid;
	rc = go(server, asked, &why);
	if (!rc && server->stop.why == STOPPED_WATCH &&
	    server->target->watches_before)
		rc = undo_access(server, asked->backwards, &why);
	if (rc == CPREC_CANCELLED)
		atomic_store(&server->interrupted_at, 0);
	server_ready(server);
	if (rc == CPREC_CANCELLED)
		rc = stand_interrupted(server, from, &why);
	if (!rc) {
		/* gdb does not say again which threads it means. */
		server->resumed = ANY_THREAD;
		server->general = asked->backwards ? ANY_THREAD :
						     server->stop.tid;
		rc = state_thread(server, ANY_THREAD, &why);
	}
	if (rc)
		reply_failure(server, &why);
	else
		reply_stop(server);
}

void on_step(struct server *server, const char *args)
{
	const struct resume asked = { .steps = true, .tid = server->resumed };

	(void)args;	/* an address, or a signal: both are recorded */
	resume(server, &asked);
}

void on_continue(struct server *server, const char *args)
{
	const struct resume asked = { 0 };

	(void)args;
	resume(server, &asked);
}

void on_step_back(struct server *server, const char *args)
{
	const struct resume asked = {
		.backwards = true, .steps = true, .tid = server->resumed,
	};

	(void)args;
	resume(server, &asked);
}

void on_continue_back(struct server *server, const char *args)
{
	const struct resume asked = { .backwards = true };

	(void)args;
	resume(server, &asked);
}

void on_resume_actions(struct server *server, const char *args)
{
	(void)args;
	reply(server, "vCont;c;C;s;S;t;r");
}

/* One of "s", "S05", "r10,20", "c", "C05", "t"; false if it is none. */
static bool parse_action(const char **args, struct resume *out)
{
	const char kind = *(*args)++;
	uint64_t signal;

	*out = (struct resume){ .steps = strchr("sSr", kind) != NULL };
	if (kind == 'r')
		return text_read_hex(args, &out->start) && text_pass(args, ',') &&
		       text_read_hex(args, &out->end);
	if (kind == 'C' || kind == 'S')
		return text_read_hex(args, &signal);
	return kind == 's' || kind == 'c' || kind == 't';
}

/* ";s:p1.2;c": one thread steps, or all run on. */
void on_resume(struct server *server, const char *args)
{
	struct resume asked = { 0 }, action;

	while (*args == ';') {
		args++;
		if (!*args || !parse_action(&args, &action))
			break;
		if (*args == ':') {
			args++;
			if (!state_parse_thread(server, &args, &action.tid))
				break;
		}
		if (action.steps && !asked.steps)
			asked = action;
	}
	if (*args)
		reply_nonsense(server);
	else
		resume(server, &asked);
}

void on_passed_signals(struct server *server, const char *args)
{
	uint64_t number;

	memset(server->passed, 0, sizeof(server->passed));
	while (text_read_hex(&args, &number)) {
		uint32_t signal = signal_from_debugger(number);

		server->passed[signal / 64] |= UINT64_C(1) << signal % 64;
		if (*args == ';')
			args++;
	}
	reply(server, "OK");
}

/* ";PROGRAM;ARG": the argument is a position, "" the start. */
void on_run(struct server *server, const char *args)
{
	const char *word = *args == ';' ? strchr(args + 1, ';') : NULL;
	const char *end = word ? strchrnul(word + 1, ';') : NULL;
	char *at = word ? text_from_hex(word + 1, end - word - 1) : NULL;
	struct cprec_failure why;
	int rc;

	diversion_over(server);
	rc = cprec_cursor_seek(server->cursor, at && *at ? at : "start", &why);
	free(at);
	if (!rc)
		rc = server_stand(server, &why);
	if (rc)
		reply_failure(server, &why);
	else
		reply_stop(server);
}
