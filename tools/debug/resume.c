/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume.c - running and walking, until something happens */
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"

void stop_release(struct stop *stop)
{
	free(stop->old_value);
	free(stop->new_value);
	free(stop->event);
	free(stop->returned);
	free(stop->problem);
	*stop = (struct stop){ 0 };
}

static bool passes(const struct session *session, uint32_t signal)
{
	return signal < 192 && session->passed[signal / 64] >> signal % 64 & 1;
}

/* ------- what stops it ------- */

/* What the library is asked to stop at. */
struct wanted {
	struct session *session;
	const struct resume_break *own;
	uint32_t tid;		/* whose `own` is */
	uint64_t *breaks;
	size_t break_count;
	struct cprec_watch *watches;
	struct point **watched;	/* of each */
	size_t watch_count;
	struct catching catching;
};

static void wanted_release(struct wanted *wanted)
{
	free(wanted->breaks);
	free(wanted->watches);
	free(wanted->watched);
	free(wanted->catching.text);
}

static size_t count_places(const struct session *session)
{
	size_t count = 1;

	for (size_t i = 0; i < session->point_count; i++)
		count += session->points[i]->place_count;
	return count;
}

static void add_point(struct wanted *wanted, struct point *point)
{
	if (point->is_off)
		return;
	for (size_t i = 0; i < point->place_count; i++)
		if (!point->lacks || !point->lacks[i])
			wanted->breaks[wanted->break_count++] =
				point->places[i];
	if (point->kind == POINT_WATCH) {
		wanted->watched[wanted->watch_count] = point;
		wanted->watches[wanted->watch_count++] = point->watch;
	}
}

static int wanted_begin(struct wanted *wanted, struct session *session,
			const struct resume_break *own,
			struct cprec_failure *why)
{
	size_t most = session->point_count + 1;

	*wanted = (struct wanted) {
		.session = session, .own = own, .tid = session->tid,
		.breaks = calloc(count_places(session), sizeof(uint64_t)),
		.watches = calloc(most, sizeof(*wanted->watches)),
		.watched = calloc(most, sizeof(*wanted->watched)),
	};
	if (!wanted->breaks || !wanted->watches || !wanted->watched)
		return no_memory(why);
	for (size_t i = 0; i < session->point_count; i++)
		add_point(wanted, session->points[i]);
	if (own && own->is_set)
		wanted->breaks[wanted->break_count++] = own->pc;
	return 0;
}

/* Whether the thread that is there is the one whose step ends there. */
static int is_own(const struct wanted *wanted, struct cprec_cursor *cursor)
{
	const struct cprec_state *state;
	uint64_t base;
	int rc = cprec_cursor_describe(cursor, &state, NULL);

	if (rc || state->tid != wanted->tid)
		return rc < 0 ? rc : 0;
	if (!wanted->own->base)
		return 1;
	rc = cprec_find_base(cursor, &base, NULL);
	if (rc == CPREC_NOT_FOUND)
		return 0;
	return rc ? rc : base == wanted->own->base;
}

static int is_met(void *context, struct cprec_cursor *cursor)
{
	const struct wanted *wanted = context;
	const struct session *session = wanted->session;
	uint64_t pc;
	int rc = find_pc(cursor, &pc, NULL);

	if (!rc && wanted->own && wanted->own->is_set &&
	    pc == wanted->own->pc)
		rc = is_own(wanted, cursor);
	for (size_t i = 0; !rc && i < session->point_count; i++)
		if (point_has(session->points[i], pc))
			rc = point_is_met(cursor, session->points[i],
					  NULL);
	return rc;
}

/* Any breakpoint has a condition, or is not everybody's. */
static bool has_conditions(const struct wanted *wanted)
{
	const struct session *session = wanted->session;

	if (wanted->own && wanted->own->is_set)
		return true;
	for (size_t i = 0; i < session->point_count; i++)
		if (session->points[i]->condition || session->points[i]->tid)
			return true;
	return false;
}

/* ------- what has stopped it ------- */

/* A point counts, and stops unless that is not to be yet. */
static bool stops(struct point *point)
{
	point->hits++;
	if (!point->ignored)
		return true;
	point->ignored--;
	return false;
}

/* The first breakpoint that stops where it stands, if any. */
static int take_breaks(struct session *session, uint64_t pc,
		       struct stop *stop, struct cprec_failure *why)
{
	for (size_t i = 0; i < session->point_count; i++) {
		struct point *point = session->points[i];
		char *problem = NULL;
		int rc;

		if (!point_has(point, pc))
			continue;
		rc = point_is_met(session->cursor, point, &problem);
		if (rc < 0)
			return wrong(why, "interrupted"), rc;
		if (rc && stops(point) && stop->kind != STOP_AT_POINT) {
			stop->kind = STOP_AT_POINT;
			stop->point = point;
			free(stop->problem);
			stop->problem = problem;
		} else {
			free(problem);
		}
	}
	return 0;
}

int points_look(struct session *session, struct cprec_failure *why)
{
	(void)why;
	for (size_t i = 0; i < session->point_count; i++) {
		struct point *point = session->points[i];

		if (point->kind != POINT_WATCH)
			continue;
		free(point->last_bytes);
		free(point->last_value);
		point->last_bytes = watch_bytes(session, point);
		point->last_value = watch_value(session, point);
	}
	return 0;
}

/* A watch for writes tells of changes only. */
static int take_watch(struct session *session, struct point *point,
		      struct stop *stop, struct cprec_failure *why)
{
	char *bytes = watch_bytes(session, point);
	bool counts = point->watch.reads || !bytes || !point->last_bytes ||
		      strcmp(bytes, point->last_bytes) != 0;
	char *problem = NULL;
	int met = counts ? point_is_met(session->cursor, point, &problem) : 0;

	free(point->last_bytes);
	point->last_bytes = bytes;
	free(stop->problem);
	stop->problem = problem;
	if (met < 0)
		return wrong(why, "interrupted"), met;
	if (!counts)
		return 0;
	free(stop->old_value);
	free(stop->new_value);
	stop->old_value = point->last_value;
	point->last_value = watch_value(session, point);
	stop->new_value = point->last_value ? strdup(point->last_value) :
					      NULL;
	if (met && stops(point)) {
		stop->kind = STOP_AT_POINT;
		stop->point = point;
	}
	return 0;
}

static struct point *signal_point(struct session *session, uint32_t signal)
{
	for (size_t i = 0; i < session->point_count; i++) {
		struct point *point = session->points[i];

		if (point->kind == POINT_SIGNAL && !point->is_off &&
		    (!point->watch.addr || point->watch.addr == signal))
			return point;
	}
	return NULL;
}

static int take_catch(struct session *session, const struct wanted *wanted,
		      struct stop *stop)
{
	session->at_call = !wanted->catching.is_return;
	session->at_return = wanted->catching.is_return;
	if (stops(wanted->catching.point)) {
		stop->kind = STOP_AT_POINT;
		stop->point = wanted->catching.point;
		free(stop->event);
		stop->event = wanted->catching.text ?
				      strdup(wanted->catching.text) : NULL;
	}
	return 0;
}

/* What that stop means; `*reached`, that it is at the step's own break. */
static int take_stop(struct session *session, const struct wanted *wanted,
		     bool backwards, struct stop *stop, bool *reached,
		     struct cprec_failure *why)
{
	const struct cprec_stop *how = &stop->how;
	struct point *caught;
	uint64_t pc;
	int rc;

	*reached = false;
	stop->kind = STOP_STEPPED;
	session->at_call = session->at_return = false;
	switch (how->kind) {
	case CPREC_AT_POSITION:
		if (wanted->catching.is_found)
			return take_catch(session, wanted, stop);
		stop->kind = backwards ? STOP_AT_START : STOP_AT_END;
		return 0;
	case CPREC_AT_SIGNAL:
		caught = signal_point(session, how->signal);
		stop->signal = how->signal;
		if (caught && stops(caught)) {
			stop->kind = STOP_AT_POINT;
			stop->point = caught;
		} else if (!passes(session, how->signal)) {
			stop->kind = STOP_AT_SIGNAL;
		}
		return 0;
	case CPREC_AT_WATCH:
		rc = take_watch(session, wanted->watched[how->index], stop,
				why);
		if (rc)
			return rc;
		break;
	default:
		break;
	}
	rc = find_pc(session->cursor, &pc, why);
	if (!rc)
		rc = take_breaks(session, pc, stop, why);
	if (!rc && how->kind == CPREC_AT_BREAK && wanted->own &&
	    wanted->own->is_set && pc == wanted->own->pc) {
		rc = is_own(wanted, session->cursor);
		*reached = rc > 0;
	}
	return rc < 0 ? rc : 0;
}

/* ------- running ------- */

/* Has the run end at the next call that is caught, or at the limit, which may be
 * NULL. */
static int set_end(struct session *session, struct wanted *wanted,
		   const struct cprec_position *limit,
		   struct cprec_until *until, struct cprec_failure *why)
{
	struct catching *catching = &wanted->catching;
	int rc;

	free(catching->text);
	*catching = (struct catching){ 0 };
	rc = catch_next(session, until->backwards, limit, catching, why);
	until->has_to = limit || catching->is_found;
	if (catching->is_found)
		until->to = catching->at;
	else if (limit)
		until->to = *limit;
	return rc;
}

/* Has the run pass signals at which it is not to stop, unless signals are
 * caught. */
static void pass_signals(const struct session *session,
			 struct cprec_until *until)
{
	for (size_t i = 0; i < session->point_count; i++)
		if (session->points[i]->kind == POINT_SIGNAL &&
		    !session->points[i]->is_off)
			return;
	memcpy(until->passed_signals, session->passed,
	       sizeof(session->passed));
}

static void on_printed(void *context, uint32_t descriptor, const uint8_t *bytes,
		       uint64_t length)
{
	(void)context;
	(void)descriptor;	/* both are on the terminal */
	search_speaks();
	fwrite(bytes, 1, length, stdout);
	fflush(stdout);
}

/* `here`: also to a signal that is delivered where it stands. */
static int run_once(struct session *session, struct wanted *wanted,
		    bool backwards, bool here,
		    const struct cprec_position *limit,
		    struct stop *stop, struct cprec_failure *why)
{
	struct cprec_until until = {
		.size = sizeof(until), .backwards = backwards,
		.breaks = wanted->breaks, .break_count = wanted->break_count,
		.watches = wanted->watches,
		.watch_count = wanted->watch_count, .signals = true,
		.here = here,
		.is_met = has_conditions(wanted) ? is_met : NULL,
		.context = (void *)wanted,
		.printed = backwards ? NULL : on_printed,
	};
	const struct cprec_stop *how;
	int rc = cprec_cursor_thread(session->cursor, 0, why);

	pass_signals(session, &until);
	if (!rc)
		rc = set_end(session, wanted, limit, &until, why);
	if (!rc && until.has_to &&
	    !cprec_position_compare(until.to,
				    cprec_cursor_position(session->cursor))) {
		stop->how = (struct cprec_stop) {
			.kind = CPREC_AT_POSITION, .at = until.to,
			.tid = session->tid,
		};
		return cprec_cursor_thread(session->cursor, session->tid, why);
	}
	if (!rc)
		rc = cprec_cursor_run(session->cursor, &until, &how, why);
	if (rc)
		return rc;
	stop->how = *how;
	return cprec_cursor_thread(session->cursor, how->tid, why);
}

/* Where the thread stands now is what is looked at. */
static int stand(struct session *session, const struct stop *stop,
		 struct cprec_failure *why)
{
	session->hidden = 0;
	session->at_signal = stop->how.kind == CPREC_AT_SIGNAL;
	return session_select(session, stop->how.tid, 0, why);
}

/* At a breakpoint where it stood already. */
static bool is_here(const struct stop *stop, bool backwards,
		    struct cprec_position from)
{
	return !backwards && stop->how.kind == CPREC_AT_BREAK &&
	       !cprec_position_compare(stop->how.at, from);
}

/* Ends a step where its thread has walked to.  `looked`: breakpoints and signals
 * there were already looked for. */
static int arrive(struct session *session, const struct wanted *wanted,
		  bool backwards, bool looked,
		  const struct cprec_stop *walked, struct stop *stop,
		  struct cprec_failure *why)
{
	bool unused;

	stop->how = *walked;
	if (!looked && walked->kind != CPREC_AT_POSITION)
		return take_stop(session, wanted, backwards, stop, &unused,
				 why);
	stop->kind = STOP_STEPPED;
	session->at_call = session->at_return = false;
	return 0;
}

/* Runs until something stops it, or to where its thread has walked; `walked` is
 * NULL if there is no such limit. */
static int run_on(struct session *session, struct wanted *wanted,
		  bool backwards, const struct cprec_stop *walked,
		  struct stop *stop, bool *reached, struct cprec_failure *why)
{
	const struct cprec_position *limit = walked ? &walked->at : NULL;
	struct cprec_position from;
	bool at_limit = false;
	bool here = !backwards && !session->at_signal;
	int rc;

	*reached = false;
	do {
		from = cprec_cursor_position(session->cursor);
		rc = run_once(session, wanted, backwards, here, limit, stop,
			      why);
		/* A watch has stopped it here before. */
		if (!rc && is_here(stop, backwards, from))
			rc = run_once(session, wanted, backwards, here, limit,
				      stop, why);
		if (rc)
			return rc;
		here = !backwards && stop->how.kind != CPREC_AT_SIGNAL;
		at_limit = limit && stop->how.kind == CPREC_AT_POSITION &&
			   !wanted->catching.is_found;
		if (!at_limit)
			rc = take_stop(session, wanted, backwards, stop,
				       reached, why);
	} while (!rc && !at_limit && !*reached && stop->kind == STOP_STEPPED);
	if (rc || !at_limit)
		return rc;
	rc = cprec_cursor_thread(session->cursor, walked->tid, why);
	return rc ? rc : arrive(session, wanted, backwards,
				backwards || !cprec_position_compare(from,
								     *limit),
				walked, stop, why);
}

int run_until(struct session *session, bool backwards,
	      const struct resume_break *own, struct stop *stop, bool *reached,
	      struct cprec_failure *why)
{
	struct wanted wanted;
	int rc = wanted_begin(&wanted, session, own, why);

	*reached = false;
	if (!rc)
		rc = run_on(session, &wanted, backwards, NULL, stop, reached,
			    why);
	wanted_release(&wanted);
	return rc ? rc : stand(session, stop, why);
}

/* ------- walking ------- */

static int walk_once(struct session *session, const struct wanted *wanted,
		     const struct cprec_walk *walk, struct stop *stop,
		     struct cprec_failure *why)
{
	struct cprec_walk on = *walk;
	const struct cprec_stop *how;
	int rc;

	on.breaks = wanted->breaks;
	on.break_count = wanted->break_count;
	rc = cprec_cursor_walk(session->cursor, &on, &how, why);
	if (!rc)
		stop->how = *how;
	return rc;
}

/* Whether what one instruction did is seen by what memory has then. */
static bool are_changes(const struct wanted *wanted,
			const struct cprec_walk *walk)
{
	for (size_t i = 0; i < wanted->watch_count; i++)
		if (wanted->watches[i].reads || !wanted->watched[i]->last_bytes)
			return false;
	return walk->count == 1;
}

/* The same without going there again. */
static void watch_changes(struct session *session, const struct wanted *wanted,
			  struct stop *stop, bool *seen)
{
	*seen = false;
	for (size_t i = 0; i < wanted->watch_count && !*seen; i++) {
		const struct point *point = wanted->watched[i];
		char *bytes = watch_bytes(session, point);

		*seen = !bytes || strcmp(bytes, point->last_bytes) != 0;
		free(bytes);
		if (!*seen)
			continue;
		stop->how.kind = CPREC_AT_WATCH;
		stop->how.index = i;
	}
}

/* Walks; then runs over the same way, if anything may be there that a walk does
 * not see. */
static int walk_and_look(struct session *session, struct wanted *wanted,
			 const struct cprec_walk *walk, struct stop *stop,
			 struct cprec_failure *why)
{
	struct cprec_position from = cprec_cursor_position(session->cursor);
	struct cprec_stop walked;
	bool runs, seen = false, unused;
	int rc = walk_once(session, wanted, walk, stop, why);

	if (rc)
		return rc;
	walked = stop->how;
	runs = walked.others || walked.prints || catches_calls(session) ||
	       (wanted->watch_count && !are_changes(wanted, walk));
	if (runs) {
		rc = cprec_cursor_move(session->cursor, from, why);
		return rc ? rc : run_on(session, wanted, walk->backwards,
					&walked, stop, &unused, why);
	}
	if (wanted->watch_count)
		watch_changes(session, wanted, stop, &seen);
	if (!seen)
		return arrive(session, wanted, walk->backwards, false, &walked,
			      stop, why);
	return take_stop(session, wanted, walk->backwards, stop, &unused, why);
}

int walk_on(struct session *session, bool backwards, uint64_t start,
	    uint64_t end, struct stop *stop, bool *happened,
	    struct cprec_failure *why)
{
	const struct cprec_walk walk = {
		.size = sizeof(walk), .backwards = backwards,
		.count = start < end ? 0 : 1,
		.start = start < end ? start : 0,
		.end = start < end ? end : 0, .signals = true,
		.here = !backwards && !session->at_signal,
	};
	struct wanted wanted;
	bool reached;
	int rc = wanted_begin(&wanted, session, NULL, why);

	if (!rc)
		rc = walk_and_look(session, &wanted, &walk, stop, why);
	wanted_release(&wanted);
	*happened = true;
	/* Its thread goes no further; others do. */
	if (rc == CPREC_NOT_FOUND)
		return run_until(session, backwards, NULL, stop, &reached,
				 why);
	*happened = !rc && stop->kind != STOP_STEPPED;
	return rc ? rc : stand(session, stop, why);
}
