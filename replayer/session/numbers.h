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

/*
 * A time: a number of instructions, with k, m or g for thousands, millions or
 * billions, "start", "end", or a share of the recording like "50%" and
 * "12.5%".  A number may lie before `start` or past `end`.
 */
bool number_parse_time(const char *text, uint64_t start, uint64_t end,
		       uint64_t *out);

/*
 * A position: a time, or a time and how many of the events at it have taken
 * effect, "5000.2".  The word "end" alone is behind all of them.
 */
struct position_number {
	uint64_t time;
	uint32_t events;
	bool is_last;		/* "end" */
};

bool number_parse_position(const char *text, uint64_t start, uint64_t end,
			   struct position_number *out);

/*
 * "TID:T", a time of one thread: `*tid` is the number, `*time` what stands
 * behind the colon.  False, with `*time` all of `text`, if it is no such.
 */
bool number_cut_thread(const char *text, uint32_t *tid, const char **time);

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
