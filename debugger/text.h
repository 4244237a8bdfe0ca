/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - a reply that grows
 *
 * Ownership:  text_release() frees; a zeroed one is empty.
 * Errors:     when there is no memory it becomes empty and stays so, and
 *             `failed` is set: whoever sends it looks once.
 */
#ifndef CPREC_DEBUGGER_TEXT_H
#define CPREC_DEBUGGER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *bytes;		/* NUL behind the last; NULL while empty */
	size_t size, room;
	bool failed;
};

void text_clear(struct text *text);
void text_release(struct text *text);

void text_add(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *text, const void *bytes, size_t size);

/* Two digits for each byte. */
void text_add_hex(struct text *text, const void *bytes, size_t size);

/* As XML has it, in an attribute or between tags. */
void text_add_xml(struct text *text, const char *words);

/*
 * Reads digits: `*from` goes behind them.  False if there are none, or more
 * than the number has.
 */
bool text_read_hex(const char **from, uint64_t *out);

/* Goes behind a letter, if it is the next one; else nowhere. */
bool text_pass(const char **from, char letter);

/* The bytes that pairs of digits mean; false if there are not so many. */
bool text_read_bytes(const char *digits, void *out, size_t size);

/* Copy of a text that is written in pairs of digits; NULL if it is none. */
char *text_from_hex(const char *digits, size_t size);

#endif
