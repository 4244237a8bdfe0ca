/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numbers.c - see numbers.h */
#include "replayer/session/numbers.h"

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

static bool parse_decimal(const char *text, size_t length, struct decimal *out)
{
	const char *point = memchr(text, '.', length);
	size_t whole = point ? (size_t)(point - text) : length;
	size_t digits = point ? length - whole - 1 : 0;

	*out = (struct decimal){ .parts = 1 };
	if (!parse_digits(text, whole, 10, &out->whole) || digits > 9)
		return false;
	for (size_t i = 0; i < digits; i++)
		out->parts *= 10;
	return !point || parse_digits(point + 1, digits, 10, &out->part);
}

bool number_parse_decimal(const char *text, struct decimal *out)
{
	return parse_decimal(text, strlen(text), out);
}

/* "1.5m"; what is no whole number then is none. */
static bool parse_fraction(const char *text, size_t length, uint64_t factor,
			   uint64_t *out)
{
	struct decimal value;
	uint64_t rest;

	if (!parse_decimal(text, length, &value))
		return false;
	rest = value.part * factor;	/* less than 10^9 times 2^30 */
	if (rest % value.parts || value.whole > UINT64_MAX / factor)
		return false;
	rest /= value.parts;
	if (rest > UINT64_MAX - value.whole * factor)
		return false;
	*out = value.whole * factor + rest;
	return true;
}

static bool parse_scaled(const char *text, size_t length, uint64_t unit,
			 uint64_t *out)
{
	static const char letters[] = "kKmMgG";
	const char *letter = length ? strchr(letters, text[length - 1]) : NULL;
	uint64_t factor = 1, value;

	if (letter) {
		length--;
		for (ptrdiff_t i = 0; i <= (letter - letters) / 2; i++)
			factor *= unit;
	}
	if (letter && memchr(text, '.', length))
		return parse_fraction(text, length, factor, out);
	if (!parse_span(text, length, &value) || value > UINT64_MAX / factor)
		return false;
	*out = value * factor;
	return true;
}

bool number_parse_scaled(const char *text, uint64_t unit, uint64_t *out)
{
	return parse_scaled(text, strlen(text), unit, out);
}

bool number_parse_threads(const char *text, struct threads_text *out)
{
	bool all = !strcmp(text, "all");
	uint64_t number = 0;

	if (!all && (!number_parse(text, &number) || number > UINT32_MAX))
		return false;
	*out = (struct threads_text) {
		.some = true, .all = all, .tid = (uint32_t)number,
	};
	return true;
}

/* ------- addresses ------- */

/* Behind the module's name, if there is one. */
static const char *skip_module(const char *text)
{
	const char *mark = strrchr(text, '!');

	return mark ? mark + 1 : text;
}

/*
 * Where the sign of an offset stands; the end if there is none.  Names of
 * modules have signs too: libstdc++.so.6.
 */
static size_t find_sign(const char *text)
{
	const char *name = skip_module(text);

	return (size_t)(name - text) + strcspn(name, "+-");
}

static const char *take_offset(const char *sign, struct address_text *out)
{
	out->is_minus = *sign == '-';
	if (!*sign || number_parse(sign + 1, &out->offset))
		return NULL;
	if (!sign[1])
		return *sign == '+' ? "a number is missing behind the '+'" :
				      "a number is missing behind the '-'";
	return *sign == '+' ? "what is behind the '+' is no number" :
			      "what is behind the '-' is no number";
}

/* What is wrong with the name of a symbol; NULL: nothing. */
static const char *check_symbol(const char *text, size_t size)
{
	const char *mark = memchr(text, '!', size);

	if (mark == text)
		return "a library is missing before the '!'";
	if (mark && mark != memrchr(text, '!', size))
		return "there is more than one '!'";
	if (mark)
		size -= (size_t)(mark + 1 - text);
	if (!size)
		return mark ? "a symbol is missing behind the '!'" :
			      "an address or a symbol is missing";
	text = mark ? mark + 1 : text;
	if (*text == '&')
		return "the '&' is in the wrong place";
	if (mark || digit_value(*text) >= 10)
		return NULL;
	if (strspn(text, "0123456789abcdefABCDEF") >= size &&
	    strspn(text, "0123456789") < size)
		return "a hexadecimal number begins with 0x";
	return "it begins with a digit, but is no number of 64 bits";
}

bool number_parse_address(const char *text, struct address_text *out,
			  const char **wrong)
{
	struct address_text address = { 0 };
	size_t size = find_sign(text);

	*wrong = take_offset(text + size, &address);
	if (!*wrong && !parse_span(text, size, &address.number)) {
		/* As debuggers write the address of a variable. */
		if (*text == '&') {
			text++;
			size--;
		}
		*wrong = check_symbol(text, size);
		address.symbol = text;
		address.symbol_size = size;
	}
	if (*wrong)
		return false;
	*out = address;
	return true;
}

bool number_add_offset(const struct address_text *address, uint64_t base,
		       uint64_t *out)
{
	uint64_t most = address->is_minus ? base : UINT64_MAX - base;

	if (address->offset > most)
		return false;
	*out = address->is_minus ? base - address->offset :
				   base + address->offset;
	return true;
}
