/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader.h - the text of an expression, while it is read
 *
 * Ownership:  as in values.h.
 * Errors:     ERR_INPUT (the text makes no sense); ERR_NOT_FOUND (a name);
 *             those of values.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_READER_H
#define CPREC_REPLAYER_EXPRESSIONS_READER_H

#include <stdbool.h>

#include "replayer/expressions/values.h"

struct reader {
	struct context *context;
	const char *text, *at;
	unsigned depth;
	unsigned skipped;	/* nothing is computed */
	struct failure *why;

	/* Told of operands; may be NULL. */
	void (*operand)(void *opaque, const char *text, size_t size);
	void *opaque;
};

/* Goes on to what is no blank. */
void reader_blanks(struct reader *reader);

/* Whether this stands next: then it is taken. */
bool reader_take(struct reader *reader, const char *mark);

/* Says what is wrong, and where.  Returns the error. */
int reader_wrong(struct reader *reader, const char *what);

/* A value for what is left out. */
int reader_nothing(struct reader *reader, struct value *out);

/* Whether such a character may begin a name, or be in one. */
bool is_name_start(char c);
bool is_name_part(char c);

/* Behind the closing bracket; NULL if there is none. */
const char *reader_brackets(const char *at, char open, char close);

/* Behind "@GLIBC_2.2.5", which no operator is; `at` if none is there. */
const char *reader_version(const char *at);

/* Behind a name like "libc.so.6!environ"; NULL if none is there. */
const char *reader_library_name(const char *at);

/* A copy of what stands there, of the context; NULL without memory. */
char *reader_copy(struct reader *reader, const char *start, const char *end);

/* ------- what stands for a value by itself ------- */

/*
 * A name: of a variable, a function or a symbol, also 'file.c'::name and
 * LIBRARY!NAME; a number; a text; a character; a register.
 */
int read_name(struct reader *reader, struct value *out);
int read_number(struct reader *reader, struct value *out);
int read_string(struct reader *reader, struct value *out);
int read_quoted(struct reader *reader, struct value *out);
int read_register(struct reader *reader, struct value *out);

#endif
