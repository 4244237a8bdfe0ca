/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numbers.h - the one way in which users write numbers
 *
 * Decimal or 0x-hex, at most 64 bits, no sign, no spaces, all of the text.
 * Every function returns false for anything else and leaves `*out` alone.
 */
#ifndef CPREC_REPLAYER_SESSION_NUMBERS_H
#define CPREC_REPLAYER_SESSION_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "4096", "0x1000" */
bool number_parse(const char *text, uint64_t *out);

/*
 * The same, or with k, m or g for `unit`, its square or its cube; then also
 * with up to nine digits after a point, if that is a whole number: "1.5m".
 */
bool number_parse_scaled(const char *text, uint64_t unit, uint64_t *out);

/* "12.5": 12 and 5 of 10; at most nine digits after the point. */
struct decimal {
	uint64_t whole, part, parts;
};

bool number_parse_decimal(const char *text, struct decimal *out);

/* Threads that are asked for. */
struct threads_text {
	bool some;		/* only one, or `all` by that word */
	bool all;
	uint32_t tid;
};

/* "1234", "all" */
bool number_parse_threads(const char *text, struct threads_text *out);
#define NUMBER_THREADS_WANTED "the number of a thread, or 'all'"

/* An address: a number or a symbol, and what is to be added. */
struct address_text {
	const char *symbol;	/* `symbol_size` bytes; NULL: a number */
	size_t symbol_size;
	uint64_t number;
	bool is_minus;
	uint64_t offset;
};

/*
 * "0x1000", "counter", "&counter", "libc.so.6!environ", each also with "+8" or
 * "-0x10".  If it is none, `*wrong` says what is wrong with it.
 */
bool number_parse_address(const char *text, struct address_text *out,
			  const char **wrong);

/* `base` with the offset; false if there is no such address. */
bool number_add_offset(const struct address_text *address, uint64_t base,
		       uint64_t *out);

#endif
