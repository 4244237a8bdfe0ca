/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cursors.c - cursors: made, moved, run */
#include "library/handles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------- where it stands ------- */

int cursor_begin(struct cprec_cursor *cursor, struct replayer **out,
		 struct cprec_failure *why)
{
	struct cprec_recording *handle = cursor->of;
	int rc = question_begin(handle, true, why);

	if (!rc)
		rc = query_replayer(handle->query, out, inner(why));
	return rc ? rc : replayer_seek(*out, &cursor->at, inner(why));
}

int cursor_find_thread(struct cprec_cursor *cursor, uint32_t *stream,
		       uint32_t *tid, struct failure *why)
{
	struct cprec_recording *handle = cursor->of;
	struct replayer *replayer;
	int rc = query_replayer(handle->query, &replayer, why);

	if (rc)
		return rc;
	*stream = replayer_stream(replayer);
	if (cursor->some_thread)
		rc = recording_find_stream(handle->recording, cursor->tid,
					   cursor->at.time, stream, why);
	return rc ? rc : tid_of(handle, *stream, cursor->at.time, tid, why);
}

struct expression_place cursor_place(const struct cprec_cursor *cursor)
{
	return (struct expression_place) {
		.at = cursor->at, .some_thread = cursor->some_thread,
		.tid = cursor->tid, .frame = cursor->frame,
	};
}

/* ------- making one ------- */

/* Where it died, if it did. */
static int find_end(struct cprec_recording *handle, struct position *out,
		    struct failure *why)
{
	struct crash crash;
	bool is_time;

	if (!crash_find(&crash, handle->recording, NULL)) {
		*out = crash.at;
		return 0;
	}
	return place_position(out, &is_time, handle->recording, "end", why);
}

static int find(struct cprec_recording *handle, const char *at,
		struct position *out, struct cprec_failure *why)
{
	bool is_time;
	int rc = question_begin(handle, false, why);

	if (rc)
		return rc;
	return at ? place_position(out, &is_time, handle->recording, at,
				   inner(why)) :
		    find_end(handle, out, inner(why));
}

PUBLIC int cprec_cursor_create(struct cprec_cursor **out,
			       struct cprec_recording *handle, const char *at,
			       struct cprec_failure *why)
{
	struct cprec_cursor *cursor;
	struct position position;
	int rc = find(handle, at, &position, why);

	if (rc)
		return rc;
	cursor = calloc(1, sizeof(*cursor));
	if (!cursor)
		return failed(inner(why), ERR_NO_MEMORY, "out of memory");
	cursor->of = handle;
	cursor->at = position;
	cursor->next = handle->cursors;
	handle->cursors = cursor;
	*out = cursor;
	return 0;
}

void cursor_release(struct cprec_cursor *cursor)
{
	free(cursor->bytes);
	free(cursor->known);
	free(cursor->value_bytes);
	free(cursor->value_known);
	free(cursor->returned_type);
	free(cursor->returned_value);
	free(cursor->type);
	expression_release(&cursor->found);
}

PUBLIC void cprec_cursor_destroy(struct cprec_cursor *cursor)
{
	struct cprec_cursor **at;

	if (!cursor)
		return;
	at = &cursor->of->cursors;
	while (*at && *at != cursor)
		at = &(*at)->next;
	/* That of a callback is in no list, and is not the caller's. */
	if (!*at)
		return;
	*at = cursor->next;
	cursor_release(cursor);
	free(cursor);
}

/* ------- moving ------- */

static void go(struct cprec_cursor *cursor, struct position to)
{
	cursor->at = to;
	cursor->frame = 0;
}

PUBLIC int cprec_cursor_seek(struct cprec_cursor *cursor, const char *at,
			     struct cprec_failure *why)
{
	struct position position;
	int rc = find(cursor->of, at, &position, why);

	if (!rc)
		go(cursor, position);
	return rc;
}

PUBLIC int cprec_cursor_move(struct cprec_cursor *cursor,
			     struct cprec_position to,
			     struct cprec_failure *why)
{
	struct position position, last;
	int rc = question_begin(cursor->of, false, why);

	if (!rc)
		rc = question_range(cursor->of, &to, NULL, &position, &last,
				    why);
	if (!rc)
		go(cursor, position);
	return rc;
}

PUBLIC struct cprec_position
cprec_cursor_position(const struct cprec_cursor *cursor)
{
	return from_position(cursor->at);
}

PUBLIC int cprec_cursor_step(struct cprec_cursor *cursor, int64_t instructions,
			     struct cprec_failure *why)
{
	uint64_t start = recording_start(cursor->of->recording);
	uint64_t end = recording_end(cursor->of->recording);
	uint64_t now = cursor->at.time;
	uint64_t count = instructions < 0 ? -(uint64_t)instructions :
					    (uint64_t)instructions;
	struct position to = { 0 };
	int rc = question_begin(cursor->of, false, why);

	if (rc || !count)
		return rc;
	if (instructions < 0)
		to.time = count > now - start ? start : now - count;
	else if (count > end - now)
		return cprec_cursor_seek(cursor, "end", why);
	else
		to.time = now + count;
	go(cursor, to);
	return 0;
}

/* ------- threads and frames ------- */

PUBLIC int cprec_cursor_thread(struct cprec_cursor *cursor, uint32_t tid,
			       struct cprec_failure *why)
{
	uint32_t stream;
	int rc = question_begin(cursor->of, false, why);

	if (!rc && tid)
		rc = recording_find_stream(cursor->of->recording, tid,
					   cursor->at.time, &stream,
					   inner(why));
	if (rc)
		return rc;
	cursor->some_thread = tid != 0;
	cursor->tid = tid;
	cursor->frame = 0;
	return 0;
}

PUBLIC int cprec_cursor_describe(struct cprec_cursor *cursor,
				 const struct cprec_state **out,
				 struct cprec_failure *why)
{
	struct recording *recording = cursor->of->recording;
	struct cprec_state *state = &cursor->state;
	struct replayer *replayer;
	uint32_t stream;
	int rc = cursor_begin(cursor, &replayer, why);

	if (!rc)
		rc = cursor_find_thread(cursor, &stream, &state->tid,
					inner(why));
	if (!rc)
		rc = recording_steps(recording,
				     recording_thread_of(recording, stream,
							 cursor->at.time),
				     cursor->at.time, &state->instructions,
				     inner(why));
	if (rc)
		return rc;
	state->at = from_position(cursor->at);
	state->has_turn = replayer_stream(replayer) == stream;
	state->has_ended = state->has_turn && replayer_has_ended(replayer);
	*out = state;
	return 0;
}

struct threads_at {
	struct cprec_cursor *cursor;
	int (*visit)(void *context, const struct cprec_thread *thread);
	void *context;
	struct cprec_failure *why;
};

/* Whether a thread has not ended yet, at the time at which it ends: 1, 0, or
 * less. */
static int is_left(struct cprec_cursor *cursor, uint32_t tid,
		   struct cprec_failure *why)
{
	struct replayer *replayer;
	struct reg_file unused;
	uint32_t stream;
	int rc = cursor_begin(cursor, &replayer, why);

	if (!rc)
		rc = recording_find_stream(cursor->of->recording, tid,
					   cursor->at.time, &stream,
					   inner(why));
	if (!rc)
		rc = replayer_thread_registers(replayer, stream, &unused,
					       inner(why));
	if (rc)
		return rc == ERR_NOT_FOUND ? 0 : rc;
	return 1;
}

static int visit_if_there(void *context, const struct cprec_thread *thread)
{
	const struct threads_at *at = context;
	uint64_t now = at->cursor->at.time;
	int is_there = thread->first <= now &&
		       (!thread->has_ended || now <= thread->last);

	if (is_there && thread->has_ended && now == thread->last)
		is_there = is_left(at->cursor, thread->tid, at->why);
	return is_there > 0 ? at->visit(at->context, thread) : is_there;
}

PUBLIC int cprec_each_thread_at(struct cprec_cursor *cursor,
				int (*visit)(void *context,
					     const struct cprec_thread *thread),
				void *context, struct cprec_failure *why)
{
	struct threads_at at = { cursor, visit, context, why };

	return cprec_each_thread(cursor->of, visit_if_there, &at, why);
}

PUBLIC int cprec_find_thread_name(struct cprec_cursor *cursor, uint32_t tid,
				  const char **out, struct cprec_failure *why)
{
	struct cprec_recording *handle = cursor->of;
	uint32_t thread;
	int rc = question_begin(handle, false, why);

	*out = NULL;
	if (rc || recording_is_machine(handle->recording))
		return rc;
	if (!handle->thread_names)
		rc = thread_names_create(&handle->thread_names,
					 handle->recording, inner(why));
	if (!rc)
		rc = recording_find_thread(handle->recording, tid,
					   cursor->at.time, &thread,
					   inner(why));
	if (rc)
		return rc;
	rc = thread_names_find(handle->thread_names, thread, &cursor->at,
			       handle->thread_name, inner(why));
	if (!rc)
		*out = handle->thread_name;
	return rc == ERR_NOT_FOUND ? 0 : rc;
}

PUBLIC int cprec_find_parent(struct cprec_cursor *cursor, uint32_t *pid,
			     struct cprec_position *at,
			     struct cprec_failure *why)
{
	struct origin origin;
	int rc = question_begin(cursor->of, false, why);

	if (rc)
		return rc;
	if (!recording_find_parent(cursor->of->recording, cursor->at.time,
				   &origin))
		return failed(inner(why), ERR_NOT_FOUND,
			      "no recorded process has forked it");
	*pid = origin.parent;
	*at = (struct cprec_position){ .time = origin.time };
	return 0;
}

PUBLIC int cprec_cursor_frame(struct cprec_cursor *cursor, uint64_t frame,
			      struct cprec_failure *why)
{
	struct backtrace backtrace = { .lines = cursor->of->lines };
	struct frame found;
	uint32_t tid;
	int rc = cursor_begin(cursor, &backtrace.replayer, why);

	if (!rc)
		rc = cursor_find_thread(cursor, &backtrace.stream, &tid,
					inner(why));
	if (!rc)
		rc = backtrace_find(&backtrace, frame, &found, inner(why));
	if (!rc)
		cursor->frame = frame;
	return rc;
}

PUBLIC int cprec_cursor_keep(struct cprec_cursor *cursor,
			     struct cprec_failure *why)
{
	struct replayer *replayer;
	int rc = cursor_begin(cursor, &replayer, why);

	return rc ? rc : replayer_keep_point(replayer, inner(why));
}

/* ------- running ------- */

/* Watches are known by the addresses under which memory keeps contents. */
static int take_watches(struct replay_watch **out,
			const struct cprec_until *until, bool is_machine,
			struct replayer *replayer, struct failure *why)
{
	*out = calloc(until->watch_count + 1, sizeof(**out));
	if (!*out)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < until->watch_count; i++) {
		const struct cprec_watch *watch = &until->watches[i];
		uint64_t first = replayer_home(replayer, watch->addr);

		if (first == HOME_NONE && is_machine)
			return failed(why, ERR_NOT_FOUND, "0x%" PRIx64
				      " is not mapped", watch->addr);
		if (!watch->length || watch->length - 1 > UINT64_MAX - first)
			return failed(why, ERR_INPUT,
				      "what is watched has no bytes");
		(*out)[i] = (struct replay_watch) {
			.data = { first, first + watch->length - 1 },
			.addr = watch->addr,
			.reads = watch->reads, .writes = watch->writes,
		};
	}
	return 0;
}

static int take_stop(struct cprec_cursor *cursor,
		     const struct replay_stop *stop, struct failure *why)
{
	static const enum cprec_stop_kind kinds[] = {
		[REPLAY_AT_POSITION] = CPREC_AT_POSITION,
		[REPLAY_AT_BREAK] = CPREC_AT_BREAK,
		[REPLAY_AT_WATCH] = CPREC_AT_WATCH,
		[REPLAY_AT_EVENT] = CPREC_AT_SIGNAL,
		[REPLAY_AT_CALL] = CPREC_AT_CALL,
		[REPLAY_AT_RETURN] = CPREC_AT_RETURN,
	};
	struct replayer *replayer;
	int rc = query_replayer(cursor->of->query, &replayer, why);

	if (rc)
		return rc;
	go(cursor, stop->at);
	cursor->stop = (struct cprec_stop) {
		.kind = kinds[stop->kind], .at = from_position(stop->at),
		.index = stop->index,
	};
	if (stop->kind == REPLAY_AT_EVENT)
		cursor->stop.signal = stop->number;
	if (stop->kind == REPLAY_AT_CALL || stop->kind == REPLAY_AT_RETURN) {
		cursor->stop.call = stop->number;
		cursor->stop.result = stop->result;
	}
	if (stop->kind == REPLAY_AT_WATCH) {
		cursor->stop.by_kernel = stop->by_event;
		cursor->stop.is_write = stop->access == ACCESS_WRITE;
		cursor->stop.pc = stop->by_event ? 0 : stop->pc;
		cursor->stop.addr = replayer_address(replayer, stop->addr);
		cursor->stop.length = stop->size;
	}
	return tid_of(cursor->of, replayer_stream(replayer), stop->at.time,
		      &cursor->stop.tid, why);
}

/* One cursor for all of them: it is large, and they may be millions. */
struct break_visits {
	struct cprec_cursor cursor;
	const struct cprec_until *asked;
};

static int ask_caller(void *context, const struct vm_stop *met,
		      const struct position *at)
{
	struct break_visits *visits = context;
	struct cprec_cursor *cursor = &visits->cursor;

	(void)met;	/* the cursor stands there */
	go(cursor, *at);
	cursor->some_thread = false;
	return visits->asked->is_met(visits->asked->context, cursor);
}

/* What is printed on the way, once each: whoever is asked may go back. */
struct printing {
	const struct cprec_until *asked;
	struct replayer *replayer;
	struct position last;		/* the last event that was told */
	bool has_last, is_new;
};

static void on_event(void *context, const struct replay_event *event)
{
	struct printing *printing = context;
	struct position now = replayer_now(printing->replayer);

	(void)event;
	printing->is_new = !printing->has_last ||
			   position_compare(&printing->last, &now) < 0;
	if (!printing->is_new)
		return;
	printing->last = now;
	printing->has_last = true;
}

static void on_output(void *context, int descriptor, const uint8_t *bytes,
		      size_t size)
{
	struct printing *printing = context;

	if (printing->is_new)
		printing->asked->printed(printing->asked->context,
					 (uint32_t)descriptor, bytes, size);
}

/* Runs forwards, and tells what is printed. */
static int run_printing(const struct cprec_until *asked,
			struct replayer *replayer,
			const struct replay_until *until,
			struct replay_stop *stop, struct failure *why)
{
	struct printing printing = { .asked = asked, .replayer = replayer };
	const struct replay_observer observer = {
		.event = on_event, .output = on_output, .context = &printing,
	};
	int rc = replayer_observe(replayer, &observer, why);

	if (!rc)
		rc = replayer_run(replayer, until, stop, why);
	replayer_unobserve(replayer, &observer);
	return rc;
}

static int run_towards(const struct cprec_until *asked,
		       struct replayer *replayer,
		       const struct replay_until *until,
		       struct replay_stop *stop, struct failure *why)
{
	if (asked->backwards)
		return replayer_run_back(replayer, until, stop, why);
	if (asked->printed)
		return run_printing(asked, replayer, until, stop, why);
	return replayer_run(replayer, until, stop, why);
}

static int run(struct cprec_cursor *cursor, const struct cprec_until *asked,
	       struct replayer *replayer, const struct position *to,
	       struct failure *why)
{
	struct break_visits visits = {
		.cursor = { .of = cursor->of, .told = replayer },
		.asked = asked,
	};
	struct replay_watch *watches;
	struct replay_stop stop;
	int rc = take_watches(&watches, asked,
			      recording_is_machine(cursor->of->recording),
			      replayer, why);
	struct replay_until until = {
		.to = *to, .breaks = asked->breaks,
		.break_count = asked->break_count, .watches = watches,
		.watch_count = asked->watch_count,
		.interrupt = &cursor->of->cancelled,
		.events = asked->signals ? 1u << PACKET_SIGNAL |
						   1u << PACKET_FAULT : 0,
		.calls = asked->calls, .returns = asked->returns,
		.here = asked->here,
		.call_numbers = asked->call_numbers,
		.call_number_count = asked->call_number_count,
		.is_met = asked->is_met ? ask_caller : NULL,
		.context = &visits,
	};

	memcpy(until.passed_signals, asked->passed_signals,
	       sizeof(until.passed_signals));
	if (!rc)
		rc = run_towards(asked, replayer, &until, &stop, why);
	cursor_release(&visits.cursor);
	free(watches);
	if (!rc && stop.kind == REPLAY_INTERRUPTED) {
		go(cursor, stop.at);
		rc = failed(why, ERR_CANCELLED, "cancelled");
	}
	return rc ? rc : take_stop(cursor, &stop, why);
}

PUBLIC int cprec_cursor_run(struct cprec_cursor *cursor,
			    const struct cprec_until *until,
			    const struct cprec_stop **out,
			    struct cprec_failure *why)
{
	struct cprec_until asked;
	struct replayer *replayer;
	struct position first, last;
	const struct cprec_position *to;
	int rc = QUESTION_TAKE(&asked, until, why);

	to = asked.has_to ? &asked.to : NULL;
	if (!rc)
		rc = question_range(cursor->of, asked.backwards ? to : NULL,
				    asked.backwards ? NULL : to, &first, &last,
				    why);
	if (!rc)
		rc = cursor_begin(cursor, &replayer, why);
	if (!rc)
		rc = run(cursor, &asked, replayer,
			 asked.backwards ? &first : &last, inner(why));
	if (!rc)
		*out = &cursor->stop;
	return rc;
}
