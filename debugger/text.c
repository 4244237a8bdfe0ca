/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.c - see text.h */
#include "debugger/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_clear(struct text *text)
{
	text->size = 0;
	text->failed = false;
	if (text->bytes)
		text->bytes[0] = '\0';
}

void text_release(struct text *text)
{
	free(text->bytes);
	*text = (struct text){ 0 };
}

/* Room for so many bytes more, and a NUL. */
static bool reserve(struct text *text, size_t size)
{
	size_t room = text->room ? text->room : 256;
	char *bytes;

	if (text->failed)
		return false;
	while (room - text->size <= size)
		room *= 2;
	if (room == text->room)
		return true;
	bytes = realloc(text->bytes, room);
	if (!bytes) {
		text_release(text);
		text->failed = true;
		return false;
	}
	text->bytes = bytes;
	text->room = room;
	return true;
}

void text_add(struct text *text, const char *format, ...)
{
	va_list args, again;
	int size;

	va_start(args, format);
	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, args);
	if (size >= 0 && reserve(text, size)) {
		vsnprintf(text->bytes + text->size, size + 1, format, again);
		text->size += size;
	}
	va_end(again);
	va_end(args);
}

void text_add_bytes(struct text *text, const void *bytes, size_t size)
{
	if (!reserve(text, size))
		return;
	if (size)
		memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	text->bytes[text->size] = '\0';
}

void text_add_hex(struct text *text, const void *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *from = bytes;
	char *to;

	if (!reserve(text, 2 * size))
		return;
	to = text->bytes + text->size;
	for (size_t i = 0; i < size; i++) {
		*to++ = digits[from[i] >> 4];
		*to++ = digits[from[i] & 15];
	}
	*to = '\0';
	text->size += 2 * size;
}

void text_add_xml(struct text *text, const char *words)
{
	for (; *words; words++) {
		unsigned char letter = *words;

		if (strchr("<>&\"'", letter) || letter < ' ')
			text_add(text, "&#%u;", letter);
		else
			text_add_bytes(text, words, 1);
	}
}

static int digit(char letter)
{
	if ('0' <= letter && letter <= '9')
		return letter - '0';
	if ('a' <= letter && letter <= 'f')
		return letter - 'a' + 10;
	if ('A' <= letter && letter <= 'F')
		return letter - 'A' + 10;
	return -1;
}

bool text_read_hex(const char **from, uint64_t *out)
{
	const char *at = *from;

	for (*out = 0; digit(*at) >= 0; at++) {
		if (*out >> 60)
			return false;
		*out = *out << 4 | (unsigned)digit(*at);
	}
	if (at == *from)
		return false;
	*from = at;
	return true;
}

bool text_pass(const char **from, char letter)
{
	if (**from != letter)
		return false;
	++*from;
	return true;
}

bool text_read_bytes(const char *digits, void *out, size_t size)
{
	uint8_t *to = out;

	for (size_t i = 0; i < size; i++) {
		int high = digit(digits[2 * i]);
		int low = high < 0 ? -1 : digit(digits[2 * i + 1]);

		if (low < 0)
			return false;
		to[i] = high << 4 | low;
	}
	return true;
}

char *text_from_hex(const char *digits, size_t size)
{
	char *out = size % 2 ? NULL : malloc(size / 2 + 1);

	if (out && text_read_bytes(digits, out, size / 2)) {
		out[size / 2] = '\0';
		return out;
	}
	free(out);
	return NULL;
}
