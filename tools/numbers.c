/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numbers.c - see numbers.h */
#include "tools/numbers.h"

#include <stddef.h>
#include <string.h>

static int digit_value(char c)
{
	if ('0' <= c && c <= '9')
		return c - '0';
	if ('a' <= c && c <= 'f')
		return c - 'a' + 10;
	if ('A' <= c && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* Takes `length` digits, at least one. */
static bool parse_digits(const char *text, size_t length, unsigned base,
			 uint64_t *out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned digit = (unsigned)digit_value(text[i]);

		if (digit >= base || value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	if (!length)
		return false;
	*out = value;
	return true;
}

static bool parse_span(const char *text, size_t length, uint64_t *out)
{
	if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return parse_digits(text + 2, length - 2, 16, out);
	return parse_digits(text, length, 10, out);
}

bool number_parse(const char *text, uint64_t *out)
{
	return parse_span(text, strlen(text), out);
}

bool number_parse_scaled(const char *text, uint64_t unit, uint64_t *out)
{
	static const char letters[] = "kKmMgG";
	size_t length = strlen(text);
	const char *letter = length ? strchr(letters, text[length - 1]) : NULL;
	uint64_t factor = 1, value;

	if (letter) {
		length--;
		for (ptrdiff_t i = 0; i <= (letter - letters) / 2; i++)
			factor *= unit;
	}
	if (!parse_span(text, length, &value) || value > UINT64_MAX / factor)
		return false;
	*out = value * factor;
	return true;
}

/* "12.5%": at most nine digits after the point. */
static bool parse_share(const char *text, size_t length, uint64_t end,
			uint64_t *out)
{
	const char *point = memchr(text, '.', length);
	size_t whole = point ? (size_t)(point - text) : length;
	uint64_t value, part = 0, unit = 1;

	if (!parse_digits(text, whole, 10, &value) || value > 100)
		return false;
	if (point) {
		size_t digits = length - whole - 1;

		if (digits > 9 || !parse_digits(point + 1, digits, 10, &part))
			return false;
		while (digits--)
			unit *= 10;
	}
	value = value * unit + part;
	if (value > 100 * unit)
		return false;
	*out = (uint64_t)((unsigned __int128)end * value / (100 * unit));
	return true;
}

bool number_parse_time(const char *text, uint64_t end, uint64_t *out)
{
	size_t length = strlen(text);

	if (!strcmp(text, "start")) {
		*out = 0;
		return true;
	}
	if (!strcmp(text, "end")) {
		*out = end;
		return true;
	}
	if (length && text[length - 1] == '%')
		return parse_share(text, length - 1, end, out);
	return number_parse(text, out);
}

bool number_parse_offset(const char *text, const char **plus, uint64_t *offset)
{
	const char *sign = strrchr(text, '+');

	/* A '+' may also be part of a name: operator++, say. */
	if (!sign || sign == text || !number_parse(sign + 1, offset)) {
		*plus = text + strlen(text);
		*offset = 0;
		return *text != '\0';
	}
	*plus = sign;
	return true;
}
