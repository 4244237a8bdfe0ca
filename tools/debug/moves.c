/* SPDX-License-Identifier: GPL-2.0-or-later */
/* moves.c - commands that step and run */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"
#include "tools/print.h"

/* ------- what all have in common ------- */

/* Where it was, should the command fail. */
struct before {
	struct cprec_position at;
	uint32_t tid;
	uint64_t frame;
	unsigned hidden;
	bool at_signal;
	char function[1024];
};

static int begin(struct session *session, struct before *origin,
		 bool backwards, struct cprec_failure *why)
{
	struct shown_frame frame;
	int rc;

	*origin = (struct before) {
		.at = cprec_cursor_position(session->cursor),
		.tid = session->tid, .frame = session->frame,
		.hidden = session->hidden, .at_signal = session->at_signal,
	};
	if (!find_frame(session, &frame, NULL))
		memcpy(origin->function, frame.function,
		       sizeof(origin->function));
	rc = points_look(session, why);
	search_begin(session, backwards);
	return rc;
}

static int go_back_to(struct session *session, const struct before *origin,
		      struct cprec_failure *why)
{
	int rc = cprec_cursor_move(session->cursor, origin->at, why);

	session->hidden = origin->hidden;
	session->at_signal = origin->at_signal;
	return rc ? rc : session_select(session, origin->tid, origin->frame,
					why);
}

/* Where a run got to that was interrupted; or where it was, if none did run. */
static int stand_interrupted(struct session *session,
			     const struct before *origin,
			     struct cprec_failure *why)
{
	struct cprec_position at = cprec_cursor_position(session->cursor);

	return cprec_position_compare(at, origin->at) ?
		       session_arrive(session, why) :
		       go_back_to(session, origin, why);
}

static bool is_other_function(struct session *session,
			      const struct before *origin)
{
	struct shown_frame frame;

	return find_frame(session, &frame, NULL) ||
	       strcmp(frame.function, origin->function) != 0;
}

/* Tells where it stopped.  `rc` is what the command has come to. */
static int end(struct session *session, const struct before *origin,
	       struct stop *stop, int rc, struct cprec_failure *why)
{
	bool cancelled = search_end(session);
	bool shows_frame;

	if (rc == CPREC_CANCELLED || (rc && cancelled)) {
		rc = stand_interrupted(session, origin, why);
		stop->kind = STOP_INTERRUPTED;
		if (!rc)
			rc = session_stopped(session, stop, true, why);
	} else if (!rc) {
		if (session->tid != origin->tid)
			printf("[Switching to thread %" PRIu32 "]\n",
			       session->tid);
		shows_frame = stop->kind != STOP_STEPPED ||
			      is_other_function(session, origin);
		rc = session_stopped(session, stop, shows_frame, why);
	} else {
		struct cprec_failure ignored;

		go_back_to(session, origin, &ignored);
	}
	stop_release(stop);
	return rc;
}

/* ------- steps ------- */

static int step(struct session *session, const char *args,
		const struct step_kind *kind, struct cprec_failure *why)
{
	struct stop stop = { .kind = STOP_STEPPED };
	struct before origin;
	uint64_t count;
	int rc = take_count(args, 1, &count, why);

	if (rc)
		return rc;
	rc = begin(session, &origin, kind->backwards, why);
	for (uint64_t i = 0; !rc && i < count; i++) {
		stop_release(&stop);
		rc = step_once(session, kind, &stop, why);
		if (stop.kind != STOP_STEPPED)
			break;
	}
	return end(session, &origin, &stop, rc, why);
}

#define STEP(name, ...)                                                      \
	int name(struct session *session, const char *args,                  \
		 struct cprec_failure *why)                                  \
	{                                                                    \
		static const struct step_kind kind = { __VA_ARGS__ };        \
									     \
		return step(session, args, &kind, why);                      \
	}

STEP(do_step, .one = false)
STEP(do_next, .over_calls = true)
STEP(do_stepi, .one = true)
STEP(do_nexti, .one = true, .over_calls = true)
STEP(do_reverse_step, .backwards = true)
STEP(do_reverse_next, .backwards = true, .over_calls = true)
STEP(do_reverse_stepi, .backwards = true, .one = true)
STEP(do_reverse_nexti, .backwards = true, .one = true, .over_calls = true)

/* ------- running ------- */

static int run(struct session *session, const char *args, bool backwards,
	       struct cprec_failure *why)
{
	struct stop stop = { 0 };
	struct before origin;
	uint64_t count;
	bool reached;
	int rc = take_count(args, 1, &count, why);

	if (rc)
		return rc;
	rc = begin(session, &origin, backwards, why);
	do {
		struct point *point = stop.point;

		stop_release(&stop);
		if (!rc)
			rc = run_until(session, backwards, NULL, &stop,
				       &reached, why);
		/* So many times at the same point, as in gdb. */
		if (rc || stop.kind != STOP_AT_POINT ||
		    (point && stop.point != point))
			break;
	} while (--count > 0);
	if (!rc)
		rc = session_hide(session, why);
	return end(session, &origin, &stop, rc, why);
}

int do_continue(struct session *session, const char *args,
		struct cprec_failure *why)
{
	return run(session, args, false, why);
}

int do_reverse_continue(struct session *session, const char *args,
			struct cprec_failure *why)
{
	return run(session, args, true, why);
}

int do_run(struct session *session, const char *args,
	   struct cprec_failure *why)
{
	int rc = cprec_cursor_move(session->cursor, session->start, why);

	if (!rc)
		rc = session_arrive(session, why);
	return rc ? rc : run(session, args, false, why);
}

/* ------- leaving functions ------- */

/* What is left, if its result can be told: 0 of what is inlined. */
static uint64_t find_function(struct session *session)
{
	const struct cprec_line *line;
	struct shown_frame frame;

	if (find_frame(session, &frame, NULL) || frame.is_inlined ||
	    frame.is_signal ||
	    cprec_find_line(session->cursor, frame.code, &line, NULL))
		return 0;
	return line->function;
}

/* As of other values, pointers tell what they point to. */
static char *with_type(const struct cprec_variable *found)
{
	char *text;

	if (strncmp(found->value, "0x", 2) != 0 || !strchr(found->type, '*') ||
	    strchr(found->value, '"'))
		return strdup(found->value);
	return asprintf(&text, "(%s) %s", found->type, found->value) < 0 ?
		       NULL : text;
}

static void find_returned(struct session *session, uint64_t function,
			  struct stop *stop)
{
	const struct cprec_variable *found;

	if (!function ||
	    cprec_find_returned(session->cursor, function, &found, NULL) ||
	    !found || !found->type)
		return;
	stop->returned = with_type(found);
}

static int leave(struct session *session, bool backwards,
		 struct cprec_failure *why)
{
	uint64_t function = backwards ? 0 : find_function(session);
	struct stop stop = { 0 };
	struct before origin;
	bool reached;
	int rc = begin(session, &origin, backwards, why);

	fputs(backwards ? "Run back to call of " : "Run till exit from ",
	      stdout);
	if (!rc)
		rc = show_frame(session, true, why);
	if (!rc)
		rc = backwards ? step_back_out(session, &stop, why) :
				 step_out(session, &stop, &reached, why);
	if (!rc && !backwards && reached)
		find_returned(session, function, &stop);
	return end(session, &origin, &stop, rc, why);
}

int do_finish(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	(void)args;
	return leave(session, false, why);
}

int do_reverse_finish(struct session *session, const char *args,
		      struct cprec_failure *why)
{
	(void)args;
	return leave(session, true, why);
}

/* ------- until ------- */

/* A temporary point that nobody has set, of this thread alone. */
static int run_to_place(struct session *session, const char *args,
			struct stop *stop, struct cprec_failure *why)
{
	struct point made = { .kind = POINT_BREAK, .tid = session->tid }, *point;
	struct resume_break own = { .is_set = true };
	struct caller caller;
	bool reached;
	int rc = find_places(session, args, &made.places, &made.place_count,
			     &made.is_function, why);

	if (rc)
		return rc;
	made.where = strdup(args);
	rc = caller_find(session, session->frame + session->hidden, &caller,
			 why);
	if (!rc)
		rc = point_add(session, &made, &point, why);
	if (rc || !made.where) {
		free(made.where);
		free(made.places);
		return rc ? rc : no_memory(why);
	}
	session->next_point--;
	own.is_set = caller.is_known;
	own.pc = caller.pc;
	own.base = caller.frame.base;
	rc = run_until(session, false, &own, stop, &reached, why);
	if (stop->point == point) {
		stop->point = NULL;
		stop->kind = STOP_STEPPED;
	}
	point_delete(session, point);
	return rc ? rc : session_hide(session, why);
}

int do_advance(struct session *session, const char *args,
	       struct cprec_failure *why)
{
	struct stop stop = { 0 };
	struct before origin;
	int rc;

	if (!*args)
		return wrong(why, "a place is missing: FILE:LINE, FUNCTION or"
			     " *ADDRESS");
	rc = begin(session, &origin, false, why);
	if (!rc)
		rc = run_to_place(session, args, &stop, why);
	return end(session, &origin, &stop, rc, why);
}

int do_until(struct session *session, const char *args,
	     struct cprec_failure *why)
{
	static const struct step_kind kind = {
		.over_calls = true, .until = true,
	};

	return *args ? do_advance(session, args, why) :
		       step(session, args, &kind, why);
}
