/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sources.c - source lines and code */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"
#include "tools/print.h"

#define LINES_SHOWN 10u

/* ------- lines ------- */

/* The first line is 1. */
static const char *line_at(const struct cprec_text *text, uint32_t line,
			   size_t *length)
{
	const char *at = text->text, *end = text->text + text->length, *next;

	for (uint32_t i = 1; at && i < line; i++) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	if (!at || at >= end || !line)
		return NULL;
	next = memchr(at, '\n', (size_t)(end - at));
	*length = (size_t)((next ? next : end) - at);
	return at;
}

int find_source_line(struct session *session, const char *file,
		     const char *directory, uint32_t line, const char **out,
		     size_t *length, struct cprec_failure *why)
{
	const struct cprec_text *text;
	int rc = cprec_read_source(session->recording, file, directory, NULL,
				   &text, why);

	if (rc)
		return rc;
	*out = line_at(text, line, length);
	return *out ? 0 : CPREC_NOT_FOUND;
}

static int show_lines(struct session *session, uint32_t first, uint32_t last,
		      struct cprec_failure *why)
{
	const struct cprec_text *text;
	int rc = cprec_read_source(session->recording, session->listed_file,
				   session->listed_directory, NULL, &text,
				   why);

	if (rc == CPREC_NOT_FOUND)
		return wrong(why, "'%s' is not on this machine",
			     session->listed_file);
	if (rc)
		return rc;
	if (first > text->lines)
		return wrong(why, "line %" PRIu32 " is behind the last of"
			     " '%s', which has %zu", first,
			     session->listed_file, text->lines);
	for (uint32_t i = first; i <= last; i++) {
		size_t length = 0;
		const char *line = line_at(text, i, &length);

		if (!line)
			break;
		printf("%" PRIu32 "\t", i);
		print_source_text(stdout, line, length);
		putchar('\n');
	}
	session->listed_first = first;
	session->listed_line = last + 1;
	return 0;
}

/* The lines around a place become those that are listed. */
static int list_place(struct session *session, const char *where,
		      struct cprec_failure *why)
{
	const struct cprec_place *place;
	uint64_t *places;
	size_t count;
	int rc = find_places(session, where, &places, &count, NULL, why);

	if (!rc)
		rc = cprec_find_place(session->cursor, places[0], &place, why);
	if (rc)
		return rc;
	free(places);
	if (!place->file)
		return wrong(why, "'%s' has no source lines", where);
	free(session->listed_file);
	free(session->listed_directory);
	session->listed_file = strdup(place->file);
	session->listed_directory = place->directory ?
		strdup(place->directory) : NULL;
	session->listed_line = place->line > LINES_SHOWN / 2 ?
		place->line - LINES_SHOWN / 2 : 1;
	return 0;
}

/* The lines before those listed last. */
static int list_before(struct session *session, struct cprec_failure *why)
{
	uint32_t first = session->listed_first, behind = first;

	if (!session->listed_file || first < 2)
		return wrong(why, "there are no lines before");
	first = first > LINES_SHOWN ? first - LINES_SHOWN : 1;
	return show_lines(session, first, behind - 1, why);
}

/* "26", "20,30", "main", "list.c:26", "-": before; "": what comes next. */
int do_list(struct session *session, const char *args,
	    struct cprec_failure *why)
{
	char *end;
	unsigned long first = strtoul(args, &end, 10), last;
	int rc = 0;

	if (!strcmp(args, "-"))
		return list_before(session, why);
	if (end != args && *end == ',') {
		last = strtoul(end + 1, &end, 10);
	} else if (end != args && !*end) {
		first = first > LINES_SHOWN / 2 ? first - LINES_SHOWN / 2 : 1;
		last = first + LINES_SHOWN - 1;
	} else {
		if (*args)
			rc = list_place(session, args, why);
		else if (!session->listed_file)
			return wrong(why, "there is no source file here");
		first = session->listed_line ? session->listed_line : 1;
		last = first + LINES_SHOWN - 1;
	}
	if (!rc && !session->listed_file)
		return wrong(why, "there is no source file here");
	return rc ? rc : show_lines(session, (uint32_t)first, (uint32_t)last,
				    why);
}

/* ------- code ------- */

struct listing {
	struct session *session;
	uint64_t pc;
	bool has_bytes, has_lines;
	uint32_t line;
};

/* The source line, where another one begins. */
static void show_line(struct listing *listing, uint64_t addr)
{
	struct session *session = listing->session;
	const struct cprec_place *found;
	const char *text;
	size_t length;

	if (cprec_find_place(session->cursor, addr, &found, NULL) ||
	    !found->line || found->line == listing->line)
		return;
	listing->line = found->line;
	printf("%" PRIu32 "\t", found->line);
	if (!find_source_line(session, found->file, found->directory,
			      found->line, &text, &length, NULL))
		print_source_text(stdout, text, length);
	putchar('\n');
}

static void show_bytes(const struct cprec_instruction *one)
{
	for (uint32_t i = 0; one->bytes && i < one->length; i++)
		printf("%02x ", one->bytes[i]);
	putchar('\t');
}

static int on_instruction(void *context, const struct cprec_instruction *one)
{
	struct listing *listing = context;
	const char *mark = one->symbol ? strrchr(one->symbol, '+') : NULL;

	if (listing->has_lines)
		show_line(listing, one->addr);
	printf("%s 0x%0*" PRIx64 " <%s>:\t",
	       one->addr == listing->pc ? "=>" : "  ",
	       listing->session->address_digits, one->addr,
	       mark ? mark : "+0");
	if (listing->has_bytes)
		show_bytes(one);
	fputs(one->text ? one->text : "(bad)", stdout);
	if (one->target_symbol) {
		fputs(" <", stdout);
		print_escaped(stdout, one->target_symbol,
			      strlen(one->target_symbol));
		putchar('>');
	}
	putchar('\n');
	return 0;
}

/* "", "EXPRESSION", "START,END" or "START,+LENGTH" */
static int take_range(struct session *session, const char *args,
		      struct cprec_code *code, struct cprec_failure *why)
{
	const struct cprec_line *line;
	const char *comma = strchr(args, ',');
	char *first = strndup(args, comma ? (size_t)(comma - args) :
					    strlen(args));
	int rc = first ? find_address(session, first, &code->start, why) :
			 no_memory(why);

	free(first);
	if (!rc && comma) {
		const char *rest = comma + 1 + strspn(comma + 1, " ");
		bool is_length = *rest == '+';

		rc = find_address(session, rest + is_length, &code->end, why);
		if (is_length)
			code->end += code->start;
		return rc;
	}
	if (!rc)
		rc = cprec_find_line(session->cursor, code->start, &line, why);
	if (!rc && !line->function)
		return wrong(why, "it is not known what function that is in:"
			     " START,END");
	if (!rc) {
		code->start = line->function;
		code->end = line->function_end;
	}
	return rc;
}

/* "/r", "/s", "/rs" at the beginning */
static int take_letters(struct listing *listing, const char **args,
			struct cprec_failure *why)
{
	if (**args != '/')
		return 0;
	while (*++*args && **args != ' ' && **args != '\t') {
		if (**args == 'r')
			listing->has_bytes = true;
		else if (**args == 's' || **args == 'm')
			listing->has_lines = true;
		else
			return wrong(why, "'%c' is none of r, for bytes, and"
				     " s, for source lines", **args);
	}
	*args += strspn(*args, " \t");
	return 0;
}

int do_disassemble(struct session *session, const char *args,
		   struct cprec_failure *why)
{
	struct cprec_code code = { .size = sizeof(code) };
	struct listing listing = { .session = session };
	int rc = take_letters(&listing, &args, why);

	if (!rc)
		rc = find_pc(session->cursor, &listing.pc, why);
	if (!rc && *args)
		rc = take_range(session, args, &code, why);
	if (rc)
		return rc;
	return cprec_each_instruction(session->cursor, &code, on_instruction,
				      &listing, why);
}
