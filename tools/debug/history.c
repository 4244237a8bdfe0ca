/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history.c - all changes of a variable, with what it was and became
 *
 * A change may be of a part of it.  What all of it was is looked up where the
 * change is made, when all are known: a search answers no other questions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"
#include "tools/print.h"
#include "tools/print_bytes.h"

struct change {
	struct cprec_position before, after;
	uint32_t tid;
	char *bytes;		/* of the part: "0x0 -> 0x5" */
	char *place;
};

struct history {
	struct cprec_bits what;
	char *shown;		/* an expression for all of it; NULL */
	struct change *list;
	size_t count, room;
};

static void print_text(FILE *out, const char *text)
{
	print_escaped(out, text, strlen(text));
}

/* ------- finding them ------- */

static void print_place(FILE *out, const struct cprec_access *access)
{
	const struct cprec_place *place = access->place;
	const char *slash = place && place->file ? strrchr(place->file, '/') :
						   NULL;

	if (place && place->function)
		print_text(out, place->function);
	else if (place && place->symbol)
		print_text(out, place->symbol);
	else
		fprintf(out, "0x%" PRIx64, access->pc);
	if (place && place->file) {
		fputc(' ', out);
		print_text(out, slash ? slash + 1 : place->file);
		fprintf(out, ":%" PRIu32, place->line);
	}
	if (access->by)
		fprintf(out, ", %s", access->by);
}

static void print_part(FILE *out, const uint8_t *bytes, const uint8_t *known,
		       uint64_t length)
{
	if (bytes)
		print_bytes(out, NULL, bytes, known, length);
	else
		fputs("...", out);
}

static void print_parts(FILE *out, const struct cprec_access *access)
{
	print_part(out, access->old_bytes, access->old_known, access->length);
	fputs(" -> ", out);
	print_part(out, access->new_bytes, access->new_known, access->length);
}

static char *as_text(void (*print)(FILE *out,
				   const struct cprec_access *access),
		     const struct cprec_access *access)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	print(out, access);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static bool has_room(struct history *history)
{
	size_t room = 2 * history->room + 16;
	struct change *more;

	if (history->count < history->room)
		return true;
	more = reallocarray(history->list, room, sizeof(*more));
	if (!more)
		return false;
	history->list = more;
	history->room = room;
	return true;
}

static int take_change(void *context, const struct cprec_access *access)
{
	struct history *history = context;
	struct change *change;

	if (!has_room(history))
		return CPREC_NO_MEMORY;
	change = &history->list[history->count++];
	*change = (struct change) {
		.before = access->before, .after = access->after,
		.tid = access->tid, .bytes = as_text(print_parts, access),
		.place = as_text(print_place, access),
	};
	return change->bytes && change->place ? 0 : CPREC_NO_MEMORY;
}

/* ------- showing them ------- */

static int value_at(const struct history *history, struct cprec_cursor *cursor,
		    struct cprec_position at, char **out,
		    struct cprec_failure *why)
{
	int rc = cprec_cursor_move(cursor, at, why);

	*out = rc ? NULL : shown_value(cursor, &history->what, history->shown);
	return rc;
}

static void show_values(const struct change *change, const char *before,
			const char *after)
{
	char text[CPREC_POSITION_TEXT];

	search_speaks();
	printf("%s\tthread %" PRIu32 "\t",
	       cprec_position_text(text, change->before), change->tid);
	if (before && after) {
		print_value_text(stdout, before);
		fputs(" -> ", stdout);
		print_value_text(stdout, after);
	} else {
		fputs(change->bytes, stdout);
	}
	printf("\t%s\n", change->place);
}

static bool is_shown(const struct history *history)
{
	return history->shown || history->what.bit_size;
}

static int show_changes(const struct history *history,
			struct cprec_cursor *cursor, struct cprec_failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < history->count && !rc; i++) {
		const struct change *change = &history->list[i];
		char *before = NULL, *after = NULL;

		if (is_shown(history))
			rc = value_at(history, cursor, change->before, &before,
				      why);
		if (is_shown(history) && !rc)
			rc = value_at(history, cursor, change->after, &after,
				      why);
		if (!rc)
			show_values(change, before, after);
		free(before);
		free(after);
	}
	return rc;
}

static void release(struct history *history)
{
	for (size_t i = 0; i < history->count; i++) {
		free(history->list[i].bytes);
		free(history->list[i].place);
	}
	free(history->list);
	free(history->shown);
}

/* Where the session stands does not change. */
static int show_all(struct session *session, const struct history *history,
		    struct cprec_failure *why)
{
	struct cprec_cursor *cursor = NULL;
	int rc = 0;

	if (is_shown(history))
		rc = cprec_cursor_create(&cursor, session->recording, "start",
					 why);
	if (!rc)
		rc = show_changes(history, cursor, why);
	cprec_cursor_destroy(cursor);
	return rc;
}

int do_history(struct session *session, const char *args,
	       struct cprec_failure *why)
{
	struct history history = { 0 };
	struct cprec_accesses question = {
		.size = sizeof(question), .writes = true, .changes = true,
		.visit = take_change, .context = &history,
	};
	const struct cprec_value *value;
	int rc;

	if (!*args)
		return wrong(why, "an expression is missing");
	rc = cprec_find_bits(session->cursor, args, &history.what, why);
	if (rc)
		return rc;
	question.addr = history.what.addr;
	question.length = history.what.length;
	question.bit_offset = history.what.bit_offset;
	question.bit_size = history.what.bit_size;
	if (!cprec_evaluate(session->cursor, args, NULL, &value, NULL) &&
	    value->has_addr)
		history.shown = shown_by(value);
	search_begin(session, false);
	rc = cprec_each_access(session->recording, &question, why);
	if (!rc)
		rc = show_all(session, &history, why);
	release(&history);
	return ask_end(session, rc, why);
}
