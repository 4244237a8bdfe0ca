/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codes.c - conditions and commands of breakpoints, evaluated here: where
 * millions of them are passed, no debugger is asked
 *
 * A debugger asks again about what it is told, so a condition that has no value
 * counts as met.  A breakpoint that prints stops nobody.
 */
#include "debugger/server_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/target.h"

#define CODES_MOST 4096u

/* What is printed on a way back, until that is over. */
#define HEARD_MOST (UINT64_C(16) << 20)

/* ------- reading them ------- */

static void release_list(struct code_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->codes[i].bytes);
	free(list->codes);
}

void codes_release(struct break_codes *codes)
{
	release_list(&codes->conditions);
	release_list(&codes->commands);
	*codes = (struct break_codes){ 0 };
}

static bool add_code(struct code_list *list, const char *digits, uint64_t size)
{
	struct agent_code *more = reallocarray(list->codes, list->count + 1,
					       sizeof(*more));
	uint8_t *bytes;

	if (!more)
		return false;
	list->codes = more;
	bytes = malloc(size + 1);
	if (!bytes || !text_read_bytes(digits, bytes, size)) {
		free(bytes);
		return false;
	}
	more[list->count++] = (struct agent_code){ bytes, size };
	return true;
}

/* "XLENGTH,DIGITSX..." */
static bool parse_list(struct code_list *list, const char **args)
{
	uint64_t size;

	while (**args == 'X' && list->count < CODES_MOST) {
		++*args;
		if (!text_read_hex(args, &size) || !text_pass(args, ',') ||
		    size > strlen(*args) / 2 || !add_code(list, *args, size))
			return false;
		*args += 2 * size;
	}
	return true;
}

bool codes_parse(struct break_codes *codes, const char *args)
{
	uint64_t persists;

	while (*args == ';') {
		args++;
		if (!strncmp(args, "cmds:", 5)) {
			args += 5;
			/* Nobody stays when the debugger is gone. */
			if (!text_read_hex(&args, &persists) ||
			    !text_pass(&args, ',') ||
			    !parse_list(&codes->commands, &args))
				return false;
		} else if (!parse_list(&codes->conditions, &args)) {
			return false;
		}
	}
	return !*args;
}

/* ------- what they ask ------- */

static bool read_register(void *context, uint64_t number, uint64_t *out)
{
	struct server *server = context;

	return number < server->target->count &&
	       !state_number(server, number, out, NULL);
}

static bool read_memory(void *context, uint64_t addr, void *out, size_t size)
{
	return size - 1 <= UINT64_MAX - addr &&
	       state_read(context, addr, out, size);
}

/* ------- what they print ------- */

static void hear(struct server *server, const char *bytes, size_t size)
{
	struct heard *heard = server->heard;
	struct heard_part *part;

	if (heard->size + sizeof(*part) + size > HEARD_MOST) {
		heard->is_short = true;
		return;
	}
	part = malloc(sizeof(*part) + size);
	if (!part) {
		heard->is_short = true;
		return;
	}
	part->at = cprec_cursor_position(server->cursor);
	part->size = size;
	memcpy(part->bytes, bytes, size);
	part->next = heard->last;
	heard->last = part;
	heard->count++;
	heard->size += sizeof(*part) + size;
}

static void print(void *context, const char *bytes, size_t size)
{
	struct server *server = context;

	if (server->heard)
		hear(server, bytes, size);
	else
		tell_user(server, bytes, size);
}

static int latest_first(const void *left, const void *right)
{
	const struct heard_part *const *a = left, *const *b = right;

	return cprec_position_compare((*b)->at, (*a)->at);
}

/* What comes of a way back is told in the order of that way. */
static void tell_heard(struct server *server, struct heard *heard,
		       struct cprec_position to)
{
	struct heard_part **list = calloc(heard->count + 1, sizeof(*list));
	size_t count = 0;

	for (struct heard_part *part = heard->last; part && list;
	     part = part->next)
		list[count++] = part;
	if (list)
		qsort(list, count, sizeof(*list), latest_first);
	for (size_t i = 0; i < count; i++)
		if (cprec_position_compare(list[i]->at, to) >= 0)
			tell_user(server, list[i]->bytes, list[i]->size);
	if (heard->is_short || !list)
		tell_line(server, "Some of the output is left out.");
	free(list);
}

void heard_end(struct server *server, struct heard *heard, bool tells)
{
	server->heard = NULL;
	if (tells && heard->count)
		tell_heard(server, heard,
			   cprec_cursor_position(server->cursor));
	while (heard->last) {
		struct heard_part *next = heard->last->next;

		free(heard->last);
		heard->last = next;
	}
}

/* ------- whether they are met ------- */

static bool is_true(const struct code_list *conditions,
		    const struct agent_world *world)
{
	uint64_t value;

	for (size_t i = 0; i < conditions->count; i++)
		if (!agent_evaluate(&conditions->codes[i], world, &value) ||
		    value)
			return true;
	return !conditions->count;
}

static void execute(struct server *server, const struct code_list *commands,
		    const struct agent_world *world)
{
	static const char unknown[] = "A command of a breakpoint has failed.\n";
	uint64_t value;

	for (size_t i = 0; i < commands->count; i++)
		if (!agent_evaluate(&commands->codes[i], world, &value))
			print(server, unknown, sizeof(unknown) - 1);
}

/* Of all that are at `pc`, whether one stops. */
static bool is_met_at(struct server *server, uint64_t pc)
{
	const struct agent_world world = {
		.reg = read_register, .memory = read_memory, .print = print,
		.context = server,
	};
	bool stops = false;

	for (size_t i = 0; i < server->break_count; i++) {
		const struct break_codes *codes = &server->break_codes[i];

		if (server->breaks[i] != pc ||
		    !is_true(&codes->conditions, &world))
			continue;
		execute(server, &codes->commands, &world);
		/* gdb does not tell that it steps into a function to there. */
		stops |= !codes->commands.count || server->is_in_line;
	}
	return stops;
}

int breaks_are_met(struct server *server, struct cprec_failure *why)
{
	uint64_t pc;
	bool is_met;
	int rc = state_number(server, server->pc_number, &pc, why);

	if (rc)
		return rc;
	is_met = is_met_at(server, pc);
	/* A condition that could read nothing any more says nothing. */
	if (atomic_load(&server->interrupted)) {
		snprintf(why->text, sizeof(why->text), "interrupted");
		return CPREC_CANCELLED;
	}
	return is_met;
}

bool breaks_have_codes(const struct server *server)
{
	for (size_t i = 0; i < server->break_count; i++)
		if (server->break_codes[i].conditions.count ||
		    server->break_codes[i].commands.count)
			return true;
	return false;
}

int on_break(void *context, struct cprec_cursor *cursor)
{
	struct server *server = context;
	struct cprec_cursor *own = server->cursor;
	struct cprec_failure why;
	int is_met;

	server->cursor = cursor;
	is_met = breaks_are_met(server, &why);
	server->cursor = own;
	return is_met;
}
