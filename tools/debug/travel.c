/* SPDX-License-Identifier: GPL-2.0-or-later */
/* travel.c - commands that go to another time, and places visited */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"
#include "tools/print.h"

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
	if (!session->visited)
		return no_memory(why);
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

/* This is where it has to be replayed. */
int session_arrive(struct session *session, struct cprec_failure *why)
{
	const struct cprec_state *state;
	int rc = cprec_cursor_thread(session->cursor, 0, why);

	if (!rc)
		rc = cprec_cursor_describe(session->cursor, &state, why);
	if (rc)
		return rc;
	session->hidden = 0;
	session->at_signal = session->at_call = session->at_return = false;
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
		rc = session_arrive(session, why);
	cancelled = search_end(session);
	if (!rc)
		return show(session, why);
	cprec_cursor_move(session->cursor, from, &ignored);
	session_select(session, tid, 0, &ignored);
	return cancelled ? wrong(why, "interrupted: it stands where it was") :
			   rc;
}

static int on_place(void *context, uint64_t addr)
{
	uint64_t *place = context;

	*place = addr;
	return 1;
}

static int on_program(void *context, const struct cprec_program *program)
{
	struct cprec_position *last = context;

	*last = program->at;
	return 0;
}

/* That of the last program: what has started it, a shell say, matters less. */
int go_to_main(struct session *session, bool *found, struct cprec_failure *why)
{
	struct cprec_position begin = session->start;
	uint64_t place;
	struct cprec_until until = {
		.size = sizeof(until), .breaks = &place, .break_count = 1,
	};
	const struct cprec_stop *stop;
	int rc = cprec_each_program(session->recording, on_program, &begin,
				    why);

	*found = false;
	if (!rc && cprec_position_compare(begin, session->start) < 0)
		begin = session->start;
	if (!rc)
		rc = cprec_cursor_move(session->cursor, begin, why);
	if (rc ||
	    cprec_each_place(session->cursor, "main", on_place, &place, NULL) <=
		    0)
		return rc;
	rc = cprec_cursor_run(session->cursor, &until, &stop, why);
	if (rc)
		return rc;
	*found = stop->kind == CPREC_AT_BREAK;
	return *found ? 0 : cprec_cursor_move(session->cursor, begin, why);
}

/* "output N" is written as a position is. */
static int seek(struct session *session, const char *args,
		struct cprec_failure *why)
{
	char *text;
	bool found;
	int rc;

	if (!strcmp(args, "main")) {
		rc = go_to_main(session, &found, why);
		return rc || found ? rc : wrong(why, "'main' is not known, or"
						" was not executed");
	}
	if (!is_word(args, "output") || !args[strlen("output")])
		return cprec_cursor_seek(session->cursor, args, why);
	args += strlen("output");
	if (asprintf(&text, "output:%s", args + strspn(args, " \t")) < 0)
		return no_memory(why);
	rc = cprec_cursor_seek(session->cursor, text, why);
	free(text);
	return rc;
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
	rc = seek(session, args, why);
	return finish(session, from, rc, why);
}

int do_by(struct session *session, const char *args,
	  struct cprec_failure *why)
{
	struct cprec_position from = cprec_cursor_position(session->cursor);
	int64_t steps;
	uint64_t count;
	int rc = take_count(args + 1 + strspn(args + 1, " \t"), 1, &count,
			    why);

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
	uint64_t count;
	int rc = take_count(args, 1, &count, why);

	if (rc)
		return rc;
	if (session->visited_at < count)
		return wrong(why, "it was in no place before");
	return visit_again(session, session->visited_at - count, why);
}

int do_forward(struct session *session, const char *args,
	       struct cprec_failure *why)
{
	uint64_t count;
	int rc = take_count(args, 1, &count, why);

	if (rc)
		return rc;
	if (session->visited_count - 1 - session->visited_at < count)
		return wrong(why, "this is the last place visited");
	return visit_again(session, session->visited_at + count, why);
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
	char *old_value, *new_value;	/* NULL: not known */
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
	const struct cprec_value *value;
	struct cprec_bits found;
	int rc;

	if (!*args && !session->looked_for)
		return wrong(why, "an expression is missing");
	if (!*args)
		return 0;
	rc = cprec_find_bits(session->cursor, args, &found, why);
	if (rc)
		return rc;
	session->looked = found;
	free(session->looked_for);
	free(session->looked_shown);
	session->looked_shown = NULL;
	if (!cprec_evaluate(session->cursor, args, NULL, &value, NULL) &&
	    value->has_addr)
		session->looked_shown = shown_by(value);
	session->looked_for = strdup(args);
	if (session->looked_for)
		return 0;
	return no_memory(why);
}

static int never_changed(struct session *session, struct cprec_failure *why)
{
	struct cprec_position forked;
	uint32_t parent;

	if (cprec_find_parent(session->cursor, &parent, &forked, NULL))
		return wrong(why, "nothing changed '%s' before",
			     session->looked_for);
	return wrong(why, "nothing changed '%s' before; what was written before"
		     " the fork, the parent has: process %" PRIu32,
		     session->looked_for, parent);
}

static int find_change(struct session *session, struct found *found,
		       struct cprec_failure *why)
{
	const struct cprec_accesses question = {
		.size = sizeof(question), .addr = session->looked.addr,
		.length = session->looked.length,
		.bit_offset = session->looked.bit_offset,
		.bit_size = session->looked.bit_size, .writes = true,
		.changes = true, .last = true, .has_to = true,
		.to = cprec_cursor_position(session->cursor),
		.visit = on_change, .context = found,
	};
	int rc = cprec_each_access(session->recording, &question, why);

	return !rc && !found->any ? never_changed(session, why) : rc;
}

/* What it is at a position, where the cursor is then. */
static int value_at(struct session *session, struct cprec_position at,
		    char **out, struct cprec_failure *why)
{
	int rc = cprec_cursor_move(session->cursor, at, why);

	if (!rc)
		*out = shown_value(session->cursor, &session->looked,
				   session->looked_shown);
	return rc;
}

static void show_change(struct session *session, const struct found *found)
{
	print_escaped(stdout, session->looked_for,
		      strlen(session->looked_for));
	fputs(": ", stdout);
	print_value_text(stdout, found->old_value ? found->old_value : "?");
	fputs(" -> ", stdout);
	print_value_text(stdout, found->new_value ? found->new_value : "?");
	if (*found->by)
		printf(", by %s", found->by);
	putchar('\n');
}

static void show_bytes(const uint8_t *bytes, uint32_t length)
{
	fputs("0x", stdout);
	for (uint32_t i = length; i-- > 0;)
		printf("%02x", bytes[i]);
}

/* What wrote a register of the innermost frame: before that. */
static int last_of_register(struct session *session, const char *name,
			    struct cprec_failure *why)
{
	struct cprec_position from = cprec_cursor_position(session->cursor);
	const struct cprec_register_write *found;
	int rc;

	search_begin(session, true);
	rc = cprec_find_register_write(session->cursor, name, &found, why);
	if (!rc && !found)
		rc = wrong(why, "nothing wrote '$%s' before", name);
	if (!rc) {
		printf("$%s: ", name);
		show_bytes(found->old_bytes, found->length);
		fputs(" -> ", stdout);
		show_bytes(found->new_bytes, found->length);
		if (found->by)
			printf(", by %s", found->by);
		putchar('\n');
		rc = cprec_cursor_move(session->cursor, found->before, why);
	}
	return finish(session, from, rc, why);
}

static bool is_register(struct session *session, const char *text)
{
	const struct cprec_value *value;

	return *text == '$' && text[1] &&
	       !text[1 + strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_"
					  "0123456789")] &&
	       !cprec_evaluate(session->cursor, text, NULL, &value, NULL) &&
	       !value->has_addr;
}

/* `last $rax`; again, if that was asked before. */
static int take_register(struct session *session, const char *args,
			 const char **name)
{
	*name = NULL;
	if (!*args && session->looked_for && *session->looked_for == '$')
		args = session->looked_for;
	else if (!is_register(session, args))
		return 0;
	if (args != session->looked_for) {
		free(session->looked_for);
		session->looked_for = strdup(args);
	}
	*name = session->looked_for ? session->looked_for + 1 : NULL;
	return *name ? 0 : CPREC_NO_MEMORY;
}

int do_last(struct session *session, const char *args,
	    struct cprec_failure *why)
{
	struct cprec_position from = cprec_cursor_position(session->cursor);
	struct found found = { 0 };
	const char *name;
	int rc = take_register(session, args, &name);

	if (rc)
		return no_memory(why);
	if (name)
		return last_of_register(session, name, why);
	rc = look_for(session, args, why);
	if (rc)
		return rc;
	search_begin(session, true);
	rc = find_change(session, &found, why);
	if (!rc)
		rc = value_at(session, found.access.after, &found.new_value,
			      why);
	if (!rc)
		rc = value_at(session, found.access.before, &found.old_value,
			      why);
	if (!rc)
		show_change(session, &found);
	free(found.old_value);
	free(found.new_value);
	return finish(session, from, rc, why);
}
