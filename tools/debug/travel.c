/* SPDX-License-Identifier: GPL-2.0-or-later */
/* travel.c - commands that go to another time, and places visited */
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"

/* ------- places visited ------- */

#define VISITED_MOST 1000u

int session_visit(struct session *session, struct cprec_failure *why)
{
	struct cprec_position at = cprec_cursor_position(session->cursor);
	size_t here = session->visited_at;

	if (session->visited_count &&
	    !cprec_position_compare(session->visited[here], at))
		return 0;
	if (!session->visited)
		session->visited = calloc(VISITED_MOST,
					  sizeof(*session->visited));
	if (!session->visited) {
		wrong(why, "out of memory");
		return CPREC_NO_MEMORY;
	}
	/* What was ahead is not any more. */
	if (session->visited_count)
		session->visited_count = here + 1;
	if (session->visited_count == VISITED_MOST)
		memmove(session->visited, session->visited + 1,
			--session->visited_count * sizeof(at));
	session->visited_at = session->visited_count;
	session->visited[session->visited_count++] = at;
	return 0;
}

/* ------- going somewhere ------- */

/* The cursor is there now: this is where it has to be replayed. */
static int arrive(struct session *session, struct cprec_failure *why)
{
	const struct cprec_state *state;
	int rc = cprec_cursor_thread(session->cursor, 0, why);

	if (!rc)
		rc = cprec_cursor_describe(session->cursor, &state, why);
	if (rc)
		return rc;
	session->hidden = 0;
	session->at_signal = false;
	return session_select(session, state->tid, 0, why);
}

static int show(struct session *session, struct cprec_failure *why)
{
	struct stop stop = { .kind = STOP_MOVED };
	struct cprec_position at = cprec_cursor_position(session->cursor);

	if (!cprec_position_compare(at, session->start))
		stop.kind = STOP_AT_START;
	else if (!cprec_position_compare(at, session->end))
		stop.kind = STOP_AT_END;
	return session_stopped(session, &stop, true, why);
}

/* A search may have been long; if it was interrupted, it stays. */
static int finish(struct session *session, struct cprec_position from, int rc,
		  struct cprec_failure *why)
{
	uint32_t tid = session->tid;
	struct cprec_failure ignored;
	bool cancelled;

	if (!rc)
		rc = arrive(session, why);
	cancelled = search_end(session);
	if (!rc)
		return show(session, why);
	cprec_cursor_move(session->cursor, from, &ignored);
	session_select(session, tid, 0, &ignored);
	return cancelled ? wrong(why, "interrupted: it stands where it was") :
			   rc;
}

int do_goto(struct session *session, const char *args,
	    struct cprec_failure *why)
{
	struct cprec_position from = cprec_cursor_position(session->cursor);
	int rc;

	if (!*args)
		return wrong(why, "a position is missing");
	if ((*args == '+' || *args == '-') && args[1])
		return do_by(session, args, why);
	search_begin(session, false);
	rc = cprec_cursor_seek(session->cursor, args, why);
	return finish(session, from, rc, why);
}

int do_by(struct session *session, const char *args,
	  struct cprec_failure *why)
{
	struct cprec_position from = cprec_cursor_position(session->cursor);
	int64_t steps;
	uint64_t count;
	int rc = take_count(args + 1, 1, &count, why);

	if (rc)
		return rc;
	steps = count > INT64_MAX ? INT64_MAX : (int64_t)count;
	search_begin(session, *args == '-');
	rc = cprec_cursor_step(session->cursor, *args == '-' ? -steps : steps,
			       why);
	return finish(session, from, rc, why);
}

static int visit_again(struct session *session, size_t which,
		       struct cprec_failure *why)
{
	struct cprec_position from = cprec_cursor_position(session->cursor);
	int rc;

	search_begin(session, false);
	session->visited_at = which;
	rc = cprec_cursor_move(session->cursor, session->visited[which], why);
	return finish(session, from, rc, why);
}

int do_back(struct session *session, const char *args,
	    struct cprec_failure *why)
{
	(void)args;
	if (!session->visited_at)
		return wrong(why, "it was nowhere before");
	return visit_again(session, session->visited_at - 1, why);
}

int do_forward(struct session *session, const char *args,
	       struct cprec_failure *why)
{
	(void)args;
	if (session->visited_at + 1 >= session->visited_count)
		return wrong(why, "this is the last place visited");
	return visit_again(session, session->visited_at + 1, why);
}

int do_when(struct session *session, const char *args,
	    struct cprec_failure *why)
{
	char text[CPREC_POSITION_TEXT];

	(void)args;
	(void)why;
	puts(cprec_position_text(text,
				 cprec_cursor_position(session->cursor)));
	return 0;
}

/* ------- the last change ------- */

struct found {
	bool any;
	struct cprec_access access;
	char by[64];
	char *old_value, *new_value;
};

static int on_change(void *context, const struct cprec_access *access)
{
	struct found *found = context;

	found->any = true;
	found->access = *access;
	snprintf(found->by, sizeof(found->by), "%s",
		 access->by ? access->by : "");
	return 0;
}

/* A new question, or the same again: further back. */
static int look_for(struct session *session, const char *args,
		    struct cprec_failure *why)
{
	int rc;

	if (!*args && !session->looked_for)
		return wrong(why, "an expression is missing");
	if (!*args)
		return 0;
	rc = cprec_find_address(session->cursor, args, &session->looked_addr,
				&session->looked_length, why);
	if (rc)
		return rc;
	free(session->looked_for);
	session->looked_for = strdup(args);
	if (session->looked_for)
		return 0;
	wrong(why, "out of memory");
	return CPREC_NO_MEMORY;
}

static int find_change(struct session *session, struct found *found,
		       struct cprec_failure *why)
{
	const struct cprec_accesses question = {
		.size = sizeof(question), .addr = session->looked_addr,
		.length = session->looked_length, .writes = true,
		.changes = true, .last = true, .has_to = true,
		.to = cprec_cursor_position(session->cursor),
		.visit = on_change, .context = found,
	};
	int rc = cprec_each_access(session->recording, &question, why);

	if (!rc && !found->any)
		return wrong(why, "nothing changed '%s' before",
			     session->looked_for);
	return rc;
}

int do_last(struct session *session, const char *args,
	    struct cprec_failure *why)
{
	struct cprec_position from = cprec_cursor_position(session->cursor);
	struct found found = { 0 };
	int rc = look_for(session, args, why);

	if (rc)
		return rc;
	search_begin(session, true);
	rc = find_change(session, &found, why);
	if (!rc) {
		printf("'%s' was changed here", session->looked_for);
		if (*found.by)
			printf(", by %s", found.by);
		puts(":");
		rc = cprec_cursor_move(session->cursor, found.access.before,
				       why);
	}
	return finish(session, from, rc, why);
}
