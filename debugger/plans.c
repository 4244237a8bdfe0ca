/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plans.c - what a step backwards does instead: goes to a place */
#include "debugger/server_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/target.h"

void plan_release(struct plan *plan)
{
	free(plan->found);
	*plan = (struct plan){ 0 };
}

/* ------- making ------- */

static int no_plan(struct cprec_failure *why)
{
	snprintf(why->text, sizeof(why->text),
		 "monitor plan goto T | last ADDR SIZE[:BIT:BITS] [T] |"
		 " register NAME | none");
	return CPREC_INPUT;
}

/* What follows a word, if a text begins with it. */
static const char *behind(const char *text, const char *word)
{
	size_t size = strlen(word);

	return !strncmp(text, word, size) ? text + size : NULL;
}

static bool take_text(char *out, size_t room, const char *words)
{
	return (size_t)snprintf(out, room, "%s", words) < room;
}

/* ":BIT:BITS" behind a size. */
static bool take_bits(struct plan *plan, char **rest)
{
	if (**rest != ':')
		return true;
	plan->bit_offset = (uint32_t)strtoul(*rest + 1, rest, 10);
	if (**rest != ':')
		return false;
	plan->bit_size = (uint32_t)strtoul(*rest + 1, rest, 10);
	return plan->bit_size;
}

/* "ADDR SIZE", or "ADDR SIZE T" */
static bool take_memory(struct plan *plan, const char *words)
{
	char *rest;

	plan->kind = PLAN_LAST;
	plan->addr = strtoull(words, &rest, 0);
	plan->length = strtoull(rest, &rest, 0);
	if (!plan->length || plan->length > WATCHED_MOST ||
	    plan->length - 1 > UINT64_MAX - plan->addr ||
	    !take_bits(plan, &rest))
		return false;
	return !*rest || (*rest == ' ' &&
			  take_text(plan->at, sizeof(plan->at), rest + 1));
}

int plan_make(struct server *server, const char *args, struct text *out,
	      struct cprec_failure *why)
{
	struct plan *plan = &server->plan;
	const char *words;
	bool is_good;

	(void)out;
	plan_release(plan);
	if ((words = behind(args, "goto "))) {
		plan->kind = PLAN_GOTO;
		is_good = take_text(plan->at, sizeof(plan->at), words);
	} else if ((words = behind(args, "register "))) {
		plan->kind = PLAN_REGISTER;
		is_good = take_text(plan->name, sizeof(plan->name), words);
	} else if ((words = behind(args, "last "))) {
		is_good = take_memory(plan, words);
	} else {
		is_good = !strcmp(args, "none");
	}
	if (is_good)
		return 0;
	plan_release(plan);
	return no_plan(why);
}

/* ------- what was found ------- */

static const char *const kind_names[] = {
	[CPREC_BY_INSTRUCTION] = "instruction", [CPREC_BY_KERNEL] = "kernel",
	[CPREC_BY_OTHERS] = "others", [CPREC_MAPPED] = "mapped",
	[CPREC_UNMAPPED] = "unmapped", [CPREC_CLEARED] = "cleared",
};

static void add_bytes(struct text *out, const char *name,
		      const uint8_t *bytes, const uint8_t *known,
		      uint64_t length)
{
	if (!bytes)
		return;
	text_add(out, "%s ", name);
	for (uint64_t i = 0; i < length; i++)
		if (known && !known[i])
			text_add(out, "??");
		else
			text_add(out, "%02x", bytes[i]);
	text_add(out, "\n");
}

static void add_place(struct text *out, const struct cprec_place *place)
{
	if (!place)
		return;
	if (place->symbol)
		text_add(out, "symbol %s\n", place->symbol);
	if (place->function)
		text_add(out, "function %s\n", place->function);
	if (place->file && place->line)
		text_add(out, "line %s:%" PRIu32 "\n", place->file,
			 place->line);
}

/* A change that was found, of which only what is told here is kept. */
struct found {
	struct text text;
	struct cprec_access access;
	bool is_there;
};

static int take_access(void *context, const struct cprec_access *access)
{
	struct found *found = context;
	struct text *out = &found->text;

	found->is_there = true;
	found->access = *access;
	text_clear(out);
	text_add(out, "kind %s\naddr 0x%" PRIx64 "\nlength %" PRIu64 "\n"
		 "pc 0x%" PRIx64 "\n", kind_names[access->kind], access->addr,
		 access->length, access->pc);
	if (access->by)
		text_add(out, "by %s\n", access->by);
	add_bytes(out, "old", access->old_bytes, access->old_known,
		  access->length);
	add_bytes(out, "new", access->new_bytes, access->new_known,
		  access->length);
	add_place(out, access->place);
	return 0;
}

static void keep(struct plan *plan, struct text *text)
{
	free(plan->found);
	plan->found = text->size && !text->failed ?
			      strndup(text->bytes, text->size) : NULL;
}

/* ------- executing ------- */

static int stand_at(struct server *server, uint32_t tid,
		    struct cprec_failure *why)
{
	server->stop = (struct stop_told){ .why = STOPPED_MOVED, .tid = tid };
	return cprec_cursor_thread(server->cursor, tid, why);
}

/* No further than the end, which is behind all that happens there. */
static int step(struct server *server, int64_t steps,
		struct cprec_failure *why)
{
	int rc = cprec_cursor_step(server->cursor, steps, why);

	if (rc || cprec_cursor_position(server->cursor).events !=
			  CPREC_EVENTS_ALL)
		return rc;
	return cprec_cursor_seek(server->cursor, "end", why);
}

/* "main", "+N" and "-N" are those of debuggers alone. */
static int go(struct server *server, const char *at, struct cprec_failure *why)
{
	char *rest;
	long long steps;

	if (!strcmp(at, "main"))
		return server_find_main(server, why);
	if (*at != '+' && *at != '-')
		return cprec_cursor_seek(server->cursor, at, why);
	steps = strtoll(at, &rest, 10);
	if (!*rest)
		return step(server, steps, why);
	snprintf(why->text, sizeof(why->text), "'%.40s' is no number of"
		 " instructions", at);
	return CPREC_INPUT;
}

static int go_to_time(struct server *server, struct cprec_failure *why)
{
	int rc = go(server, server->plan.at, why);

	if (!rc)
		rc = server_stand(server, why);
	if (!rc && server->stop.why == STOPPED_PLAIN)
		server->stop.why = STOPPED_MOVED;
	return rc;
}

static int nothing_before(struct cprec_position to, struct cprec_failure *why)
{
	char at[CPREC_POSITION_TEXT];

	snprintf(why->text, sizeof(why->text),
		 "nothing changed it before t=%s",
		 cprec_position_text(at, to));
	return CPREC_NOT_FOUND;
}

/* Of memory; another process may have it from before. */
static int never_changed(struct server *server, struct cprec_position to,
			 struct cprec_failure *why)
{
	struct cprec_position forked;
	uint32_t parent;
	size_t size;

	nothing_before(to, why);
	size = strlen(why->text);
	if (!cprec_find_parent(server->cursor, &parent, &forked, NULL))
		snprintf(why->text + size, sizeof(why->text) - size,
			 "; what was written before the fork, the parent has:"
			 " process %" PRIu32, parent);
	return CPREC_NOT_FOUND;
}

/* Only the instructions of the program itself copy. */
static int find_source(struct server *server, const struct found *found,
		       struct cprec_failure *why)
{
	struct cprec_position at = found->access.before;
	int rc;

	if (found->access.kind != CPREC_BY_INSTRUCTION ||
	    server->plan.bit_size)
		return 0;
	rc = copy_find(server->cursor, server->target->moves, &found->access,
		       &server->plan.source, why);
	return rc ? rc : cprec_cursor_move(server->cursor, at, why);
}

static int go_to_change(struct server *server, struct cprec_failure *why)
{
	struct plan *plan = &server->plan;
	struct found found = { 0 };
	struct cprec_position to = cprec_cursor_position(server->cursor);
	struct cprec_accesses question = {
		.size = sizeof(question), .addr = plan->addr,
		.length = plan->length, .bit_offset = plan->bit_offset,
		.bit_size = plan->bit_size, .writes = true, .changes = true,
		.last = true, .has_to = true,
		.visit = take_access, .context = &found,
	};
	int rc = *plan->at ? cprec_find_position(server->recording, plan->at,
						 &to, why) : 0;

	question.to = to;
	if (!rc)
		rc = cprec_each_access(server->recording, &question, why);
	if (!rc && !found.is_there)
		rc = never_changed(server, to, why);
	if (!rc)
		rc = cprec_cursor_move(server->cursor, found.access.before,
				       why);
	if (!rc)
		rc = stand_at(server, found.access.tid, why);
	if (!rc)
		rc = find_source(server, &found, why);
	if (!rc)
		rc = stand_at(server, found.access.tid, why);
	if (!rc)
		keep(plan, &found.text);
	text_release(&found.text);
	return rc;
}

static void take_register(struct text *out,
			  const struct cprec_register_write *write)
{
	text_add(out, "kind %s\npc 0x%" PRIx64 "\n",
		 write->by ? "kernel" : "instruction", write->pc);
	if (write->by)
		text_add(out, "by %s\n", write->by);
	add_bytes(out, "old", write->old_bytes, NULL, write->length);
	add_bytes(out, "new", write->new_bytes, NULL, write->length);
	add_place(out, write->place);
}

static int go_to_register(struct server *server, struct cprec_failure *why)
{
	struct plan *plan = &server->plan;
	const struct cprec_register_write *write;
	struct cprec_position at;
	struct text text = { 0 };
	char name[16];
	uint32_t tid;
	bool by_kernel;
	struct move_part part;
	int rc = state_thread(server, server->general, why);

	if (server->target->moves->find(plan->name, &part))
		snprintf(name, sizeof(name), "%s", part.name);
	else
		snprintf(name, sizeof(name), "%s", plan->name);
	if (!rc)
		rc = cprec_find_register_write(server->cursor, name, &write,
					       why);
	if (!rc && !write)
		rc = nothing_before(cprec_cursor_position(server->cursor),
				    why);
	if (rc)
		return rc;
	take_register(&text, write);
	at = write->before;
	tid = write->tid;
	by_kernel = write->by != NULL;
	if (!by_kernel)
		rc = copy_find_register(server->cursor, server->target->moves,
					name, &plan->source, why);
	if (!rc)
		rc = cprec_cursor_move(server->cursor, at, why);
	if (!rc)
		rc = stand_at(server, tid, why);
	if (!rc)
		keep(plan, &text);
	text_release(&text);
	return rc;
}

static int execute(struct server *server, struct cprec_failure *why)
{
	const struct cprec_state *state;
	int rc;

	switch (server->plan.kind) {
	case PLAN_GOTO:
		rc = go_to_time(server, why);
		break;
	case PLAN_LAST:
		rc = go_to_change(server, why);
		break;
	case PLAN_REGISTER:
		rc = go_to_register(server, why);
		break;
	default:
		return 0;
	}
	/* Going there takes a replay; as long, it can be interrupted. */
	return rc ? rc : cprec_cursor_describe(server->cursor, &state, why);
}

int plan_run(struct server *server, struct cprec_failure *why)
{
	struct plan *plan = &server->plan;
	struct cprec_position from = cprec_cursor_position(server->cursor);
	struct stop_told stop = server->stop;
	int rc = execute(server, &plan->why);

	plan->kind = PLAN_NONE;
	if (!rc) {
		exec_moved(server, from, true);
		return 0;
	}
	plan->is_interrupted = rc == CPREC_CANCELLED;
	cprec_resume(server->recording);
	server->stop = stop;
	server->stop.why = STOPPED_MOVED;
	rc = cprec_cursor_move(server->cursor, from, why);
	return rc ? rc : cprec_cursor_thread(server->cursor, stop.tid, why);
}

/* ------- telling ------- */

static void add_source(struct text *out, const struct copy_source *source)
{
	char at[CPREC_POSITION_TEXT];

	if (source->is_found)
		text_add(out, "source 0x%" PRIx64 " %" PRIu64 " %s 0x%" PRIx64
			 "\n", source->addr, source->length,
			 cprec_position_text(at, source->at), source->pc);
}

static void add_where(struct server *server, struct text *out,
		      const struct cprec_info *info)
{
	struct cprec_position now = cprec_cursor_position(server->cursor);
	char at[CPREC_POSITION_TEXT], percent[CPREC_PERCENT_TEXT];

	text_add(out, "position %s\npercent %s\n",
		 cprec_position_text(at, now),
		 cprec_percent_text(percent, server->recording, now));
	if (!cprec_position_compare(now, info->start))
		text_add(out, "at start\n");
	else if (server->has_crash &&
		 !cprec_position_compare(now, server->crash.at))
		text_add(out, "at crash %s\n", server->crash.signal_name);
	else if (now.time == info->end.time)
		text_add(out, "at end\n");
}

int plan_tell(struct server *server, const char *args, struct text *out,
	      struct cprec_failure *why)
{
	const struct plan *plan = &server->plan;
	const struct cprec_info *info;
	int rc = cprec_describe(server->recording, &info, why);

	(void)args;
	if (rc)
		return rc;
	add_where(server, out, info);
	text_add(out, "tid %" PRIu32 "\n", server->stop.tid);
	if (plan->is_interrupted)
		text_add(out, "interrupted\n");
	else if (*plan->why.text)
		text_add(out, "error %s\n", plan->why.text);
	if (plan->found)
		text_add(out, "%s", plan->found);
	add_source(out, &plan->source);
	return 0;
}
