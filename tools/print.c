/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print.c - see print.h */
#include "tools/print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINE 16		/* bytes */

static const char digits[] = "0123456789abcdef";

static void print_line(FILE *out, uint64_t addr, const uint8_t *bytes,
		       const uint8_t *known, size_t size)
{
	char text[LINE + 1];

	fprintf(out, "  %012" PRIx64 ": ", addr);
	for (size_t i = 0; i < LINE; i++) {
		if (i == LINE / 2)
			fputc(' ', out);
		if (i >= size)
			fputs("   ", out);
		else if (!known[i])
			fputs(" ??", out);
		else
			fprintf(out, " %02x", bytes[i]);
		if (i >= size)
			continue;
		text[i] = '?';
		if (known[i])
			text[i] = bytes[i] >= ' ' && bytes[i] < 0x7f ?
					  (char)bytes[i] : '.';
	}
	text[size] = '\0';
	fprintf(out, "  |%s|\n", text);
}

void print_memory(FILE *out, uint64_t addr, const uint8_t *bytes,
		  const uint8_t *known, size_t size)
{
	for (size_t at = 0; at < size; at += LINE)
		print_line(out, addr + at, bytes + at, known + at,
			   size - at < LINE ? size - at : LINE);
}

char *memory_text(const uint8_t *bytes, const uint8_t *known, size_t size)
{
	char *text = malloc(2 * size + 1);

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		text[2 * i] = known[i] ? digits[bytes[i] >> 4] : '?';
		text[2 * i + 1] = known[i] ? digits[bytes[i] & 15] : '?';
	}
	text[2 * size] = '\0';
	return text;
}

void register_text(char text[REGISTER_TEXT], const struct reg_info *info,
		   const struct reg_file *file)
{
	char *at = text;

	*at++ = '0';
	*at++ = 'x';
	for (unsigned i = info->size; i-- > 0;) {
		uint8_t byte = file->bytes[info->offset + i];

		*at++ = digits[byte >> 4];
		*at++ = digits[byte & 15];
	}
	*at = '\0';
}

/* Length of the UTF-8 character at the start of `text`; 0 if it is none. */
static size_t utf8_length(const char *text, size_t left)
{
	for (size_t length = 1; length <= 4 && length <= left; length++) {
		json_t *string = json_stringn(text, length);

		/* Jansson checks; only whole characters pass. */
		if (string) {
			json_decref(string);
			return length;
		}
	}
	return 0;
}

/* U+0080 to U+009F do to a terminal what ESC and a letter do. */
static bool is_control(const char *text, size_t length)
{
	unsigned char c = (unsigned char)text[0];

	if (length == 1)
		return c < ' ' || c == 0x7f;
	return length == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0;
}

static void print_controlled(FILE *out, const char *text, size_t size,
			     const char *backslash)
{
	for (size_t at = 0, length; at < size; at += length) {
		bool is_shown;

		length = utf8_length(text + at, size - at);
		is_shown = length && !is_control(text + at, length);
		length = length ? length : 1;
		if (is_shown && text[at] == '\\')
			fputs(backslash, out);
		else if (is_shown)
			fwrite(text + at, 1, length, out);
		for (size_t i = 0; i < length && !is_shown; i++)
			fprintf(out, "\\x%02x", (unsigned char)text[at + i]);
	}
}

void print_escaped(FILE *out, const char *text, size_t size)
{
	print_controlled(out, text, size, "\\\\");
}

void print_value_text(FILE *out, const char *text)
{
	print_controlled(out, text, strlen(text), "\\");
}

/* Parts are not shown, but that they cannot be read. */
static void print_value(FILE *out, const char *value, const char *brief)
{
	if (!value)
		fputc('?', out);
	else if (!brief || !strncmp(value, "<error", 6))
		print_value_text(out, value);
	else
		print_value_text(out, brief);
}

void print_argument(FILE *out, const struct shown_argument *argument)
{
	const char *name = argument->name ? argument->name : "?";
	const char *value = argument->value, *entry = argument->entry;
	bool is_same = value && entry && !strcmp(value, entry);

	print_value_text(out, name);
	fputc('=', out);
	if (is_same) {
		print_value_text(out, name);
		fputs("@entry=", out);
	}
	print_value(out, value, argument->brief);
	if (!entry || is_same)
		return;
	fputs(", ", out);
	print_value_text(out, name);
	fputs("@entry=", out);
	print_value(out, entry, argument->brief ? "..." : NULL);
}

void print_source_text(FILE *out, const char *text, size_t size)
{
	const char *tab;

	while ((tab = memchr(text, '\t', size))) {
		print_controlled(out, text, (size_t)(tab - text), "\\");
		fputc('\t', out);
		size -= (size_t)(tab - text) + 1;
		text = tab + 1;
	}
	print_controlled(out, text, size, "\\");
}

json_t *json_text_of(const char *text, size_t size)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t length = 0;
	json_t *string = json_stringn(text, size);
	char *valid;

	if (string)
		return string;
	valid = malloc(3 * size + 1);
	if (!valid)
		return NULL;
	for (size_t at = 0; at < size;) {
		size_t whole = utf8_length(text + at, size - at);

		memcpy(valid + length, whole ? text + at : replacement,
		       whole ? whole : 3);
		length += whole ? whole : 3;
		at += whole ? whole : 1;
	}
	string = json_stringn(valid, length);
	free(valid);
	return string;
}

json_t *json_text(const char *text)
{
	return json_text_of(text, strlen(text));
}

json_t *json_arguments(char *const *argv, size_t argc)
{
	json_t *arguments = json_array();

	for (size_t i = 0; i < argc; i++)
		json_array_append_new(arguments, json_text(argv[i]));
	return arguments;
}

json_t *json_count(uint64_t value)
{
	if (value > INT64_MAX)
		return json_real((double)value);
	return json_integer((json_int_t)value);
}

void json_set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, json_text(text));
}

void json_set_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_count(value));
}

void json_set_position(json_t *object, const struct position *at)
{
	json_set_count(object, "at", at->time);
	if (at->events)
		json_set_count(object, "events", at->events);
}

void json_set_address(json_t *object, const char *key, uint64_t addr)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	json_object_set_new(object, key, json_string(text));
}

const char *without_module(const char *function, const char *module)
{
	size_t size = strlen(module);

	return size && !strncmp(function, module, size) &&
			       function[size] == '!' ?
		       function + size + 1 : function;
}

void print_json_line(FILE *out, json_t *object)
{
	if (json_dumpf(object, out, JSON_COMPACT | JSON_PRESERVE_ORDER))
		fputs("{\"error\":\"out of memory\"}", out);
	fputc('\n', out);
	json_decref(object);
}

static const struct json_sink *json_sink;

void print_json_to(const struct json_sink *sink)
{
	json_sink = sink;
}

bool print_is_over(void)
{
	return json_sink ? json_sink->is_over(json_sink->context) :
			   ferror(stdout);
}

void print_json(json_t *object)
{
	if (json_sink) {
		json_sink->take(json_sink->context, object);
		return;
	}
	print_json_line(stdout, object);
}
