/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent_print.c - see agent_print.h */
#include "debugger/agent_print.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "debugger/text.h"

/* Bytes of one string, and of all that is printed at once. */
#define STRING_MOST 4096u
#define PRINTED_MOST 65536u

/* Widths and precisions have so many digits. */
#define DIGITS_MOST 4

struct reader {
	const char *at, *end;
	const struct agent_format *format;
	const struct agent_world *world;
	unsigned used;		/* arguments */
	struct text out;
};

static int letter(struct reader *reader)
{
	return reader->at < reader->end ? (unsigned char)*reader->at++ : -1;
}

static int next(const struct reader *reader)
{
	return reader->at < reader->end ? (unsigned char)*reader->at : -1;
}

/* ------- escapes ------- */

static char octal(struct reader *reader, int first)
{
	unsigned value = first - '0';

	for (int i = 0; i < 2 && '0' <= next(reader) && next(reader) <= '7';
	     i++)
		value = value * 8 + (letter(reader) - '0');
	return value;
}

static bool add_escape(struct reader *reader)
{
	static const char letters[] = "abefnrtv\\\"'?";
	static const char meanings[] = "\a\b\033\f\n\r\t\v\\\"'?";
	int which = letter(reader);
	const char *found = which > 0 ? strchr(letters, which) : NULL;
	char meant;

	if (found)
		meant = meanings[found - letters];
	else if ('0' <= which && which <= '7')
		meant = octal(reader, which);
	else
		return false;
	text_add_bytes(&reader->out, &meant, 1);
	return true;
}

/* ------- values ------- */

struct conversion {
	char flags[6], width[DIGITS_MOST + 1], precision[DIGITS_MOST + 2];
	unsigned bits;		/* of a number */
	int letter;
};

static bool take_digits(struct reader *reader, char *to, char *end)
{
	while ('0' <= next(reader) && next(reader) <= '9') {
		if (to == end)
			return false;
		*to++ = letter(reader);
	}
	*to = '\0';
	return true;
}

static unsigned take_length(struct reader *reader)
{
	unsigned bits = 8 * sizeof(int);

	for (; next(reader) > 0 && strchr("hlqjzt", next(reader));
	     letter(reader))
		bits = next(reader) == 'h' ? bits / 2 : 64;
	return bits;
}

static bool take_conversion(struct reader *reader, struct conversion *out)
{
	size_t flags = 0;

	*out = (struct conversion){ 0 };
	while (next(reader) > 0 && strchr("-+ #0", next(reader))) {
		if (flags == sizeof(out->flags) - 1)
			return false;
		out->flags[flags++] = letter(reader);
	}
	if (!take_digits(reader, out->width, out->width + DIGITS_MOST))
		return false;
	if (next(reader) == '.') {
		out->precision[0] = letter(reader);
		if (!take_digits(reader, out->precision + 1,
				 out->precision + 1 + DIGITS_MOST))
			return false;
	}
	out->bits = take_length(reader);
	out->letter = letter(reader);
	return true;
}

/* Numbers are printed as the longest there are. */
static void add_number(struct reader *reader, const struct conversion *how,
		       uint64_t value)
{
	bool is_signed = how->letter == 'd' || how->letter == 'i';
	unsigned left = how->bits < 8 ? 56 : 64 - how->bits;
	char spec[32], text[INT16_MAX];
	int size;

	value = is_signed ? (uint64_t)((int64_t)(value << left) >> left) :
			    value << left >> left;
	snprintf(spec, sizeof(spec), "%%%s%s%sll%c", how->flags, how->width,
		 how->precision, how->letter);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	size = snprintf(text, sizeof(text), spec, value);
#pragma GCC diagnostic pop
	if (size > 0)
		text_add_bytes(&reader->out, text, size);
}

/* Of the program's memory, to its NUL. */
static bool read_string(struct reader *reader, uint64_t addr, char *to,
			size_t most)
{
	const struct agent_world *world = reader->world;
	size_t size = 0;

	while (size < most) {
		if (!world->memory(world->context, addr + size, &to[size], 1))
			return false;
		if (!to[size])
			return true;
		size++;
	}
	to[size] = '\0';
	return true;
}

static void add_padded(struct reader *reader, const struct conversion *how,
		       const char *text, size_t size)
{
	bool is_left = strchr(how->flags, '-') != NULL;
	unsigned width = 0;

	sscanf(how->width, "%u", &width);
	for (size_t i = size; !is_left && i < width; i++)
		text_add_bytes(&reader->out, " ", 1);
	text_add_bytes(&reader->out, text, size);
	for (size_t i = size; is_left && i < width; i++)
		text_add_bytes(&reader->out, " ", 1);
}

static bool add_string(struct reader *reader, const struct conversion *how,
		       uint64_t addr)
{
	char text[STRING_MOST + 1];
	unsigned most = STRING_MOST;

	if (how->precision[0]) {
		most = 0;
		sscanf(how->precision + 1, "%u", &most);
		if (most > STRING_MOST)
			most = STRING_MOST;
	}
	if (!read_string(reader, addr, text, most))
		return false;
	add_padded(reader, how, text, strlen(text));
	return true;
}

static bool add_value(struct reader *reader)
{
	const struct agent_format *format = reader->format;
	struct conversion how;
	uint64_t value;
	char byte;

	if (next(reader) == '%') {
		letter(reader);
		text_add_bytes(&reader->out, "%", 1);
		return true;
	}
	if (!take_conversion(reader, &how) || reader->used == format->arg_count)
		return false;
	value = format->args[reader->used++];
	switch (how.letter) {
	case 'd': case 'i': case 'u': case 'o': case 'x': case 'X':
		add_number(reader, &how, value);
		return true;
	case 'c':
		byte = value;
		add_padded(reader, &how, &byte, 1);
		return true;
	case 'p':
		text_add(&reader->out, "0x%" PRIx64, value);
		return true;
	case 's':
		return add_string(reader, &how, value);
	default:
		return false;
	}
}

bool agent_print(const struct agent_format *format,
		 const struct agent_world *world)
{
	struct reader reader = {
		.at = format->text, .end = format->text + format->size,
		.format = format, .world = world,
	};
	bool is_sound = true;

	while (is_sound && next(&reader) > 0) {
		int one = letter(&reader);
		char byte = one;

		if (one == '%')
			is_sound = add_value(&reader);
		else if (one == '\\')
			is_sound = add_escape(&reader);
		else
			text_add_bytes(&reader.out, &byte, 1);
		is_sound &= reader.out.size <= PRINTED_MOST;
	}
	if (is_sound && reader.out.size)
		world->print(world->context, reader.out.bytes,
			     reader.out.size);
	text_release(&reader.out);
	return is_sound;
}
