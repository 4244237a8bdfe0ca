/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.c - what is said of source lines, addresses and files, as gdb says it */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"
#include "tools/print.h"

static void show_text(const char *text)
{
	print_escaped(stdout, text, strlen(text));
}

/* As the compiler was told it, if it is the file that was compiled. */
static const char *compiled_name(struct session *session, uint64_t addr,
				 const char *file)
{
	const struct cprec_unit *unit;
	size_t length;

	if (cprec_find_unit(session->cursor, addr, &unit, NULL) ||
	    !unit->file || !unit->directory || *unit->directory != '/')
		return file;
	length = strlen(unit->directory);
	return !strncmp(file, unit->directory, length) &&
			       file[length] == '/' &&
			       !strcmp(file + length + 1, unit->file) ?
		       unit->file : file;
}

/* ------- symbols ------- */

/* "libc.so.6!puts+0x4" without the library: the name, and what is behind. */
static const char *split_symbol(const char *symbol, size_t *length,
				uint64_t *offset)
{
	const char *mark = strrchr(symbol, '+'), *library;

	*offset = 0;
	*length = strlen(symbol);
	if (mark && !strncmp(mark, "+0x", 3)) {
		*offset = strtoull(mark + 1, NULL, 16);
		*length = (size_t)(mark - symbol);
	}
	library = memchr(symbol, '!', *length);
	if (library && library[1] != '=') {
		*length -= (size_t)(library + 1 - symbol);
		symbol = library + 1;
	}
	return symbol;
}

int info_symbol(struct session *session, const char *args,
		struct cprec_failure *why)
{
	const struct cprec_place *place;
	const struct cprec_unit *unit;
	const char *name;
	uint64_t addr, offset;
	size_t length;
	int rc = *args ? find_address(session, args, &addr, why) :
			 wrong(why, "an address is missing");

	if (!rc)
		rc = cprec_find_place(session->cursor, addr, &place, why);
	if (rc)
		return rc;
	if (!place->symbol) {
		printf("No symbol matches %s.\n", args);
		return 0;
	}
	name = split_symbol(place->symbol, &length, &offset);
	print_escaped(stdout, name, length);
	if (offset)
		printf(" + %" PRIu64, offset);
	if (!cprec_find_unit(session->cursor, addr, &unit, NULL) &&
	    unit->section)
		printf(" in section %s", unit->section);
	if (place->module) {
		fputs(" of ", stdout);
		show_text(place->module);
	}
	putchar('\n');
	return 0;
}

/* ------- lines ------- */

/* "0x401136 <main+4>" */
static void show_address(struct session *session, uint64_t addr)
{
	const struct cprec_place *place;
	const char *name;
	uint64_t offset;
	size_t length;

	printf("0x%" PRIx64, addr);
	if (cprec_find_place(session->cursor, addr, &place, NULL) ||
	    !place->symbol)
		return;
	name = split_symbol(place->symbol, &length, &offset);
	fputs(" <", stdout);
	print_escaped(stdout, name, length);
	if (offset)
		printf("+%" PRIu64, offset);
	putchar('>');
}

/* What was asked for: a line by its number, or whatever is at a place. */
struct asked_line {
	const char *where;
	uint32_t number;	/* 0: none */
	bool is_function;
};

static void show_row(struct session *session, const struct cprec_line *line,
		     uint32_t number)
{
	uint64_t start = line->start, end = line->end;
	bool is_empty = number != line->line;

	if (is_empty && line->function)
		start = line->function;
	printf("Line %" PRIu32 " of \"", number);
	show_text(line->file ? compiled_name(session, start, line->file) : "?");
	fputs(is_empty ? "\" is at address " : "\" starts at address ", stdout);
	show_address(session, start);
	if (is_empty) {
		puts(" but contains no code.");
		return;
	}
	fputs(" and ends at ", stdout);
	show_address(session, end);
	puts(".");
}

static int show_place(struct session *session, const struct asked_line *asked,
		      uint64_t addr, struct cprec_failure *why)
{
	const struct cprec_line *line;
	int rc = cprec_find_line(session->cursor, addr, &line, why);

	/* A breakpoint stops behind what makes the frame. */
	if (!rc && line->function && line->line != asked->number &&
	    (asked->is_function || asked->number))
		rc = cprec_find_line(session->cursor, line->function, &line,
				     why);
	if (rc)
		return rc;
	if (!line->line) {
		fputs("No line number information available for address ",
		      stdout);
		show_address(session, addr);
		putchar('\n');
		return 0;
	}
	show_row(session, line, asked->number ? asked->number : line->line);
	return 0;
}

static uint32_t number_at_end(const char *where)
{
	const char *colon = strrchr(where, ':');
	const char *digits = colon ? colon + 1 : where;
	char *end;
	unsigned long number = strtoul(digits, &end, 10);

	return end != digits && !*end ? (uint32_t)number : 0;
}

/* So many lines may be comments. */
#define EMPTY_MOST 500u

/* The code of the next line that has some; NULL: there is none. */
static uint64_t *places_behind(struct session *session,
			       const struct asked_line *asked, size_t *count)
{
	const char *colon = strrchr(asked->where, ':');
	int length = colon ? (int)(colon + 1 - asked->where) : 0;
	uint64_t *places = NULL;
	struct cprec_failure ignored;
	char *where;

	for (uint32_t i = 1; i <= EMPTY_MOST && !places; i++) {
		if (asprintf(&where, "%.*s%" PRIu32, length, asked->where,
			     asked->number + i) < 0)
			return NULL;
		if (find_places(session, where, &places, count, NULL,
				&ignored))
			places = NULL;
		free(where);
	}
	return places;
}

static void say_out_of_range(struct session *session,
			     const struct asked_line *asked)
{
	const char *colon = strrchr(asked->where, ':'), *file;
	struct shown_frame frame;
	struct cprec_failure ignored;

	printf("Line number %" PRIu32 " is out of range for \"", asked->number);
	file = !colon && !find_frame(session, &frame, &ignored) && frame.file ?
		       compiled_name(session, frame.code, frame.file) : "?";
	if (colon)
		print_escaped(stdout, asked->where,
			      (size_t)(colon - asked->where));
	else
		show_text(file);
	puts("\".");
}

/* No code is of that line. */
static int show_empty(struct session *session, const struct asked_line *asked,
		      struct cprec_failure *why)
{
	size_t count;
	uint64_t *places;
	int rc;

	if (!asked->number)
		return CPREC_NOT_FOUND;
	places = places_behind(session, asked, &count);
	if (!places) {
		say_out_of_range(session, asked);
		return 0;
	}
	rc = show_place(session, asked, places[0], why);
	free(places);
	return rc;
}

/* The frame's, if nothing is said. */
static int show_here(struct session *session, struct cprec_failure *why)
{
	const struct asked_line asked = { .where = "" };
	struct shown_frame frame;
	int rc = find_frame(session, &frame, why);

	return rc ? rc : show_place(session, &asked, frame.code, why);
}

int info_line(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	struct asked_line asked = { .where = args,
				    .number = number_at_end(args) };
	uint64_t *places;
	size_t count;
	int rc;

	if (!*args)
		return show_here(session, why);
	if (*args == '*')
		asked.number = 0;
	rc = find_places(session, args, &places, &count, &asked.is_function,
			 why);
	if (rc)
		return rc == CPREC_NOT_FOUND ?
			       show_empty(session, &asked, why) : rc;
	for (size_t i = 0; i < count && !rc; i++)
		rc = show_place(session, &asked, places[i], why);
	free(places);
	return rc;
}

/* ------- the file ------- */

static void show_text_file(struct session *session,
			   const struct shown_frame *frame)
{
	const struct cprec_text *text;

	if (cprec_read_source(session->recording, frame->file,
			      frame->directory, NULL, &text, NULL))
		return;
	fputs("Located in ", stdout);
	show_text(text->path);
	printf("\nContains %zu line%s.\n", text->lines,
	       text->lines == 1 ? "" : "s");
}

int info_source(struct session *session, const char *args,
		struct cprec_failure *why)
{
	const struct cprec_unit *unit;
	struct shown_frame frame;
	int rc = find_frame(session, &frame, why);

	(void)args;
	if (rc)
		return rc;
	if (!frame.file) {
		puts("No current source file.");
		return 0;
	}
	fputs("Current source file is ", stdout);
	show_text(compiled_name(session, frame.code, frame.file));
	putchar('\n');
	if (cprec_find_unit(session->cursor, frame.code, &unit, NULL))
		unit = &(const struct cprec_unit) { .section = NULL };
	if (unit->directory) {
		fputs("Compilation directory is ", stdout);
		show_text(unit->directory);
		putchar('\n');
	}
	show_text_file(session, &frame);
	if (unit->language)
		printf("Source language is %s.\n", unit->language);
	if (unit->producer) {
		fputs("Producer is ", stdout);
		show_text(unit->producer);
		puts(".");
	}
	if (unit->dwarf)
		printf("Compiled with DWARF %" PRIu32 " debugging format.\n"
		       "%s preprocessor macro info.\n", unit->dwarf,
		       unit->has_macros ? "Includes" : "Does not include");
	return 0;
}
