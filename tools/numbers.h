/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numbers.h - the one way in which numbers are written on the command line
 *
 * Decimal or 0x-hex, at most 64 bits, no sign, no spaces, all of the text.
 * Every function returns false for anything else and leaves `*out` alone.
 */
#ifndef CPREC_TOOLS_NUMBERS_H
#define CPREC_TOOLS_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* "4096", "0x1000" */
bool number_parse(const char *text, uint64_t *out);

/* The same, or with k, m or g for one, two or three times `unit`. */
bool number_parse_scaled(const char *text, uint64_t unit, uint64_t *out);

/*
 * A time: a number, "start", "end", or a share of the recording like "50%"
 * and "12.5%".  It may lie past `end`.
 */
bool number_parse_time(const char *text, uint64_t end, uint64_t *out);

/*
 * Cuts "symbol+8" in two: `*plus` is where the '+' of a number at the end
 * stands (the end of the text if there is none), `*offset` that number.
 */
bool number_parse_offset(const char *text, const char **plus,
			 uint64_t *offset);

#endif
