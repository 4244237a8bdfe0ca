/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execs.c - the programs that the process was, and stops between them
 *
 * A debugger is told of an exec where the new program is about to begin; when
 * it comes there from behind, where the old one is about to make the call.  It
 * has other symbols then, and its breakpoints are gone.
 */
#include "debugger/server_internal.h"

#include <stdlib.h>

/* ------- which program ------- */

struct program_search {
	struct cprec_position now;
	struct program_found *found;
};

static int take_program(void *context, const struct cprec_program *program)
{
	const struct program_search *search = context;
	struct program_found *found = search->found;

	if (found->count && cprec_position_compare(program->at,
						   search->now) > 0) {
		found->has_next = true;
		found->next = program->at;
		return 1;
	}
	found->count++;
	found->at = program->at;
	if (found->path) {
		text_clear(found->path);
		text_add(found->path, "%s", program->path);
	}
	return 0;
}

int find_program_at(struct server *server, struct cprec_position now,
		 struct program_found *out, struct cprec_failure *why)
{
	const struct program_search search = { .now = now, .found = out };
	int rc;

	out->count = 0;
	out->has_next = false;
	rc = cprec_each_program(server->recording, take_program,
				(void *)&search, why);
	return rc < 0 ? rc : 0;
}

/* ------- going from one to the other ------- */

bool exec_limit(struct server *server, bool backwards,
		struct cprec_position *limit)
{
	struct program_found found = { 0 };

	if (!server->tells_execs ||
	    find_program_at(server, cprec_cursor_position(server->cursor), &found,
			 NULL))
		return false;
	*limit = backwards ? found.at : found.next;
	/* Before the first one is nothing. */
	return backwards ? found.count > 1 : found.has_next;
}

bool exec_between(struct server *server, struct cprec_position from,
		  struct cprec_position to, struct cprec_position *limit)
{
	bool backwards = cprec_position_compare(to, from) < 0;
	struct program_found found = { 0 };

	if (!server->tells_execs || find_program_at(server, from, &found, NULL))
		return false;
	*limit = backwards ? found.at : found.next;
	if (backwards)
		return found.count > 1 &&
		       cprec_position_compare(to, *limit) < 0;
	return found.has_next && cprec_position_compare(*limit, to) <= 0;
}

/* What belongs to the program that is left, is gone. */
static void forget_points(struct server *server)
{
	breaks_release(server);
	server->breaks = NULL;
	server->break_codes = NULL;
	server->watches = NULL;
	server->break_count = server->break_room = 0;
	server->watch_count = server->watch_room = 0;
}

int exec_stand(struct server *server, struct cprec_position limit,
	       bool backwards, struct cprec_failure *why)
{
	const struct cprec_state *state;
	int rc;

	if (backwards) {
		limit.time--;
		limit.events = CPREC_EVENTS_ALL;
	}
	rc = cprec_cursor_move(server->cursor, limit, why);
	if (!rc)
		rc = cprec_cursor_thread(server->cursor, ANY_THREAD, why);
	if (!rc)
		rc = cprec_cursor_describe(server->cursor, &state, why);
	if (rc)
		return rc;
	forget_points(server);
	server->stop = (struct stop_told) {
		.why = STOPPED_AT_EXEC, .tid = state->tid,
	};
	return 0;
}
