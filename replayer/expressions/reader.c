/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader.c - see reader.h */
#include "replayer/expressions/reader.h"

#include <ctype.h>
#include <string.h>

#include "formats/error.h"

void reader_blanks(struct reader *reader)
{
	reader->at += strspn(reader->at, " \t\r\n");
}

bool reader_take(struct reader *reader, const char *mark)
{
	reader_blanks(reader);
	if (strncmp(reader->at, mark, strlen(mark)) != 0)
		return false;
	reader->at += strlen(mark);
	return true;
}

int reader_wrong(struct reader *reader, const char *what)
{
	reader_blanks(reader);
	if (!*reader->at)
		return failed(reader->why, ERR_INPUT, "%s at the end", what);
	return failed(reader->why, ERR_INPUT, "%s before '%.40s'", what,
		      reader->at);
}

int reader_nothing(struct reader *reader, struct value *out)
{
	return value_of_integer(reader->context, out,
				type_by_words(&reader->context->types, "int"),
				0, reader->why);
}

bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_' || (c & 0x80);
}

bool is_name_part(char c)
{
	return is_name_start(c) || isdigit((unsigned char)c) || c == '$';
}

const char *reader_brackets(const char *at, char open, char close)
{
	unsigned depth = 0;

	for (; *at; at++) {
		depth += *at == open;
		if (*at == close && !--depth)
			return at + 1;
		if (*at == '\'' || *at == '"')
			return NULL;
	}
	return NULL;
}

char *reader_copy(struct reader *reader, const char *start, const char *end)
{
	size_t length = (size_t)(end - start);
	char *name = context_take(reader->context, length + 1);

	if (name)
		memcpy(name, start, length);
	return name;
}

const char *reader_version(const char *at)
{
	const char *end = at;

	if (*end++ != '@')
		return at;
	end += *end == '@';
	while (is_name_part(*end))
		end++;
	if (*end != '.' || !isdigit((unsigned char)end[1]))
		return at;
	while (is_name_part(*end) || *end == '.')
		end++;
	return end;
}

const char *reader_library_name(const char *at)
{
	at += strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_.+-");
	if (*at != '!' || !is_name_start(at[1]))
		return NULL;
	for (at++; is_name_part(*at) || !strncmp(at, "::", 2) ||
	     *at == ':';)
		at++;
	return reader_version(at);
}
