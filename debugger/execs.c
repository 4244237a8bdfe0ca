/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execs.c - the programs that the process was, and stops between them
 *
 * A debugger is told of an exec where the new program is about to begin; when
 * it comes there from behind, where the old one is about to make the call; and
 * when it goes to a place in another program, there.  It has other symbols then,
 * and its breakpoints are gone.
 */
#include "debugger/server_internal.h"

#include <stdlib.h>

#include "debugger/target.h"

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

/* Goes before the call; its number is in a register then. */
static int go_before(struct server *server, struct cprec_position limit,
		     uint64_t *number, struct cprec_failure *why)
{
	int rc;

	limit.time--;
	limit.events = CPREC_EVENTS_ALL;
	rc = cprec_cursor_move(server->cursor, limit, why);
	if (!rc)
		rc = cprec_cursor_thread(server->cursor, ANY_THREAD, why);
	return rc ? rc : state_register(server, server->target->call, number,
					why);
}

static int stand_behind(struct server *server, struct cprec_position limit,
			struct cprec_failure *why)
{
	int rc = cprec_cursor_move(server->cursor, limit, why);

	return rc ? rc : cprec_cursor_thread(server->cursor, ANY_THREAD, why);
}

/* A debugger that is told of an exec goes on, and is told the rest then. */
bool exec_moved(struct server *server, struct cprec_position from,
		bool backwards)
{
	struct cprec_position now = cprec_cursor_position(server->cursor);
	struct program_found before = { 0 }, after = { 0 };

	if (!server->tells_execs ||
	    find_program_at(server, from, &before, NULL) ||
	    find_program_at(server, now, &after, NULL) ||
	    before.count == after.count)
		return false;
	forget_points(server);
	server->next = (struct told_next) {
		.is_there = true, .backwards = backwards, .at = now,
		.stop = server->stop,
	};
	if (server->stop.why == STOPPED_MOVED)
		server->next.stop.why = STOPPED_ELSEWHERE;
	server->stop = (struct stop_told) {
		.why = STOPPED_AT_EXEC, .tid = server->stop.tid,
	};
	return true;
}

bool exec_stands_behind(struct server *server, struct cprec_position limit)
{
	const struct cprec_state *state;
	uint64_t number;

	if (go_before(server, limit, &number, NULL) ||
	    !catches_call(server, number) ||
	    stand_behind(server, limit, NULL) ||
	    cprec_cursor_describe(server->cursor, &state, NULL))
		return false;
	server->stop = (struct stop_told) {
		.why = STOPPED_AT_RETURN, .tid = state->tid, .call = number,
	};
	return true;
}

int exec_stand(struct server *server, struct cprec_position limit,
	       bool backwards, struct cprec_failure *why)
{
	const struct cprec_state *state;
	uint64_t number;
	int rc = go_before(server, limit, &number, why);

	if (!rc && !backwards)
		rc = stand_behind(server, limit, why);
	if (!rc)
		rc = cprec_cursor_describe(server->cursor, &state, why);
	if (rc)
		return rc;
	forget_points(server);
	server->stop = (struct stop_told) {
		.why = STOPPED_AT_EXEC, .tid = state->tid,
	};
	server->next = (struct told_next) {
		.is_there = catches_call(server, number),
		.backwards = backwards,
		.at = cprec_cursor_position(server->cursor),
		.stop = {
			.why = backwards ? STOPPED_AT_CALL : STOPPED_AT_RETURN,
			.tid = state->tid, .call = number,
		},
	};
	return 0;
}
