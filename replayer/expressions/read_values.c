/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read_values.c - names, numbers, characters and registers in expressions */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/error.h"
#include "replayer/expressions/operations.h"
#include "replayer/expressions/reader.h"
#include "replayer/expressions/resolve.h"
#include "replayer/expressions/unknown.h"
#include "replayer/expressions/vector_views.h"
#include "replayer/recording/recording.h"

#define NAME_MOST 4096u
#define ENDS_MOST 64u

/* ------- names ------- */

static const char *skip_identifier(const char *at)
{
	if (!strncmp(at, "{impl#", 6) || !strncmp(at, "{closure", 8)) {
		at = strchr(at, '}');
		return at ? at + 1 : "";
	}
	at += *at == '~';
	while (is_name_part(*at))
		at++;
	return at;
}

/*
 * All places where a name may end, the shortest first: "a<b>(c)::d" may be a
 * name, or a comparison.
 */
static size_t find_ends(const char *at, const char *ends[ENDS_MOST])
{
	size_t count = 0;

	if (!strncmp(at, "::", 2))
		at += 2;
	while (count + 3 < ENDS_MOST) {
		const char *more;

		more = skip_identifier(at);
		if (more == at || !*(more - 1))
			break;
		at = ends[count++] = more;
		more = *at == '<' ? reader_brackets(at, '<', '>') : NULL;
		if (more)
			at = ends[count++] = more;
		more = *at == '(' ? reader_brackets(at, '(', ')') : NULL;
		if (more)
			at = ends[count++] = more;
		if (!strncmp(at, "::", 2))
			at += 2;
		else if (*at == '.' || (*at == ':' && is_name_part(at[1])))
			at++;
		else if (*at == '/' && is_name_part(at[1]))
			at++;
		else
			break;
	}
	return count;
}

static int resolve_longest(struct reader *reader, struct value *out,
			   int (*resolve)(struct context *context,
					  const char *name, struct value *out,
					  struct failure *why))
{
	const char *ends[ENDS_MOST];
	size_t count = find_ends(reader->at, ends);
	int rc = ERR_NOT_FOUND;

	while (count-- && rc == ERR_NOT_FOUND) {
		struct failure why = { "" };
		char *name = reader_copy(reader, reader->at, ends[count]);

		if (!name)
			return failed(reader->why, ERR_NO_MEMORY,
				      "out of memory");
		rc = resolve(reader->context, name, out, &why);
		/* That it is nowhere now is an answer, too. */
		if (rc == ERR_NOT_FOUND && strstr(why.text, "cannot tell"))
			rc = ERR_INPUT;
		if (rc && *why.text && reader->why)
			*reader->why = why;
		if (!rc)
			reader->at = ends[count];
	}
	return rc;
}

/* As other debuggers take them. */
static bool is_register(struct reader *reader, const char *name, size_t length)
{
	const struct reg_table *table =
		recording_reg_table(reader->context->recording);

	for (unsigned i = 0; i < table->count; i++)
		if (strlen(table->regs[i].name) == length &&
		    !strncasecmp(table->regs[i].name, name, length))
			return true;
	return false;
}

/* The longest that is only a name, without what may be more. */
static const char *end_of_name(const char *at, const char *const *ends,
			       size_t count)
{
	while (count-- > 1) {
		const char *part = at;

		while (is_name_part(*part) || !strncmp(part, "::", 2))
			part += *part == ':' ? 2 : 1;
		if (part >= ends[count])
			return ends[count];
	}
	return ends[0];
}

/* Where it ends if nobody looks it up: brackets before "::" are part of it. */
static const char *end_of_skipped(const char *at)
{
	const char *behind;

	for (;;) {
		behind = *at == '<' ? reader_brackets(at, '<', '>') : NULL;
		if (!strncmp(at, "::", 2))
			at += 2;
		else if (behind && !strncmp(behind, "::", 2))
			at = behind;
		else if (is_name_part(*at))
			at++;
		else
			return at;
	}
}

/* Why there is nothing of this name. */
static int unknown_name(struct reader *reader, const char *end)
{
	char *name = reader_copy(reader, reader->at, end);

	if (!name || !reader->why)
		return ERR_NOT_FOUND;
	if (!strncmp(reader->at, "heap:", 5) && reader->at[5] != ':')
		return failed(reader->why, ERR_INPUT, "'heap:' stands before"
			      " a whole expression, not in one: heap:p is the"
			      " block that p points into");
	resolve_symbol(reader->context, name, &(struct value){ 0 },
		       reader->why);
	unknown_explain(reader->context, name, reader->why);
	return ERR_NOT_FOUND;
}

static int read_symbol(struct reader *reader, const char *end,
		       struct value *out)
{
	char *name = reader_copy(reader, reader->at, end);

	if (!name)
		return failed(reader->why, ERR_NO_MEMORY, "out of memory");
	reader->at = end;
	reader->context->mistake = MISTAKE_HERE;
	return resolve_symbol(reader->context, name, out, reader->why);
}

static int read_plain_name(struct reader *reader, struct value *out)
{
	const char *start = reader->at, *ends[ENDS_MOST];
	size_t count = find_ends(start, ends);
	int rc;

	if (!count)
		return reader_wrong(reader, "a name or a number is missing");
	if (reader->skipped) {
		reader->at = end_of_skipped(start);
		return reader_nothing(reader, out);
	}
	if (reader_version(ends[0]) > ends[0])
		return read_symbol(reader, reader_version(ends[0]), out);
	rc = resolve_longest(reader, out, resolve_name);
	if (rc == ERR_NOT_FOUND)
		rc = resolve_longest(reader, out, resolve_symbol);
	/* "function::variable", of a function that does not run. */
	if (!rc && !strncmp(reader->at, "::", 2)) {
		reader->at = start;
		return unknown_name(reader, end_of_name(start, ends, count));
	}
	if (rc != ERR_NOT_FOUND)
		return rc;
	if (is_register(reader, reader->at, (size_t)(ends[0] - reader->at)))
		return failed(reader->why, rc, "cannot find a symbol '%.*s':"
			      " the register is called '$%.*s'",
			      (int)(ends[0] - reader->at), reader->at,
			      (int)(ends[0] - reader->at), reader->at);
	return unknown_name(reader, end_of_name(reader->at, ends, count));
}

/* 'file.c'::name, 'a::b(int)'. */
static int read_quoted_name(struct reader *reader, struct value *out)
{
	const char *start = reader->at + 1;
	const char *end = strchr(start, '\''), *rest;
	char name[NAME_MOST];
	size_t length;
	int rc;

	if (!end)
		return reader_wrong(reader, "a ' is missing");
	length = (size_t)(end - start);
	rest = end + 1;
	if (!strncmp(rest, "::", 2))
		rest = skip_identifier(rest + 2);
	if (length + (size_t)(rest - end) >= sizeof(name))
		return reader_wrong(reader, "the name is too long");
	memcpy(name, start, length);
	memcpy(name + length, end + 1, (size_t)(rest - end - 1));
	name[length + (size_t)(rest - end - 1)] = '\0';
	reader->at = rest;
	if (reader->skipped)
		return reader_nothing(reader, out);
	rc = resolve_name(reader->context, name, out, reader->why);
	if (rc == ERR_NOT_FOUND)
		rc = resolve_symbol(reader->context, name, out, reader->why);
	if (rc == ERR_NOT_FOUND)
		unknown_explain(reader->context, name, reader->why);
	return rc;
}

int read_name(struct reader *reader, struct value *out)
{
	const char *end = reader_library_name(reader->at);

	if (!end)
		return read_plain_name(reader, out);
	if (!reader->skipped)
		return read_symbol(reader, end, out);
	reader->at = end;
	return reader_nothing(reader, out);
}

/* ------- constants ------- */

static int read_number_text(struct reader *reader, struct value *out)
{
	struct types *types = &reader->context->types;
	const char *at = reader->at;
	bool is_hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	size_t digits = strspn(at, "0123456789");
	bool is_unsigned = false, is_long = false;
	unsigned long long number;
	char *end;

	if (!is_hex && (at[digits] == '.' ||
			(at[digits] | 0x20) == 'e')) {
		long double value = strtold(at, &end);
		bool is_float = *end == 'f';

		reader->at = end + is_float;
		return value_of_double(reader->context, out,
			type_by_words(types, is_float ? "float" : "double"),
			value, reader->why);
	}
	number = strtoull(at, &end, is_hex ? 16 : 10);
	for (; *end && strchr("uUlL", *end); end++) {
		is_unsigned |= (*end | 0x20) == 'u';
		is_long |= (*end | 0x20) == 'l';
	}
	if (is_name_part(*end))
		return reader_wrong(reader, "a number makes no sense");
	reader->at = end;
	is_long |= number > (is_hex || is_unsigned ? UINT32_MAX : INT32_MAX);
	is_unsigned |= number > INT64_MAX ||
		       (is_hex && !is_long && number > INT32_MAX);
	return value_of_integer(reader->context, out, type_by_words(types,
		is_long ? is_unsigned ? "unsigned long" : "long" :
		is_unsigned ? "unsigned int" : "int"), number, reader->why);
}

int read_number(struct reader *reader, struct value *out)
{
	int rc = read_number_text(reader, out);

	if (!rc)
		trace_constant(reader->context->trace, out);
	return rc;
}

/* What stands behind a '\\'. */
static char escaped(char letter)
{
	static const char letters[] =
		"n\nt\tr\r0\0\\\\''\"\"a\ab\bf\fv\v";

	for (size_t i = 0; i + 1 < sizeof(letters); i += 2)
		if (letters[i] == letter)
			return letters[i + 1];
	return '\\';
}

/* "text", as an array of characters with a zero at its end. */
int read_string(struct reader *reader, struct value *out)
{
	struct types *types = &reader->context->types;
	const char *at = reader->at + 1;
	uint8_t *bytes = context_take(reader->context, strlen(at) + 1);
	size_t size = 0;

	if (!bytes)
		return failed(reader->why, ERR_NO_MEMORY, "out of memory");
	for (; *at && *at != '"'; at++) {
		bool is_escaped = *at == '\\' && at[1];

		at += is_escaped;
		bytes[size++] = (uint8_t)(is_escaped ? escaped(*at) : *at);
	}
	if (!*at)
		return reader_wrong(reader, "a \" is missing");
	reader->at = at + 1;
	*out = (struct value) {
		.type = type_array(types, type_by_words(types, "char"),
				   size + 1),
		.bytes = bytes,
	};
	if (!out->type)
		return failed(reader->why, ERR_NO_MEMORY, "out of memory");
	return 0;
}

/* 'a', '\n': else it is a name. */
static bool read_character(struct reader *reader, struct value *out, int *rc)
{
	const char *at = reader->at + 1;
	char c = *at;

	if (c == '\\') {
		c = escaped(at[1]);
		at++;
	}
	if (!*at || at[1] != '\'' || (at[2] == ':' && at[3] == ':'))
		return false;
	reader->at = at + 2;
	*rc = value_of_integer(reader->context, out,
			       type_by_words(&reader->context->types, "char"),
			       (uint64_t)c, reader->why);
	if (!*rc)
		trace_constant(reader->context->trace, out);
	return true;
}

int read_quoted(struct reader *reader, struct value *out)
{
	int rc;

	return read_character(reader, out, &rc) ? rc :
						  read_quoted_name(reader, out);
}

/* ------- registers ------- */

int read_register(struct reader *reader, struct value *out)
{
	const char *start = reader->at + 1, *end = start, *view;
	char name[32] = "";
	int rc;

	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	if (end == start || end - start >= (ptrdiff_t)sizeof(name))
		return reader_wrong(reader, "the name of a register is missing");
	memcpy(name, start, (size_t)(end - start));
	reader->at = end;
	if (reader->skipped)
		return reader_nothing(reader, out);
	rc = value_of_register(reader->context, name, out, reader->why);
	view = reader->at;
	reader->at = vector_view_end(view);
	if (rc || reader->at == view)
		return rc;
	return vector_view(reader->context, view + 1,
			   (size_t)(reader->at - view - 1),
			   (unsigned)out->type->size, out, reader->why);
}
