/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_words.h - what a program wrote to its standard error last
 */
#ifndef CPREC_TOOLS_PRINT_WORDS_H
#define CPREC_TOOLS_PRINT_WORDS_H

#include <stdio.h>

#include <jansson.h>

#include "replayer/recording/recording.h"

struct lines;
struct query;

/*
 * As an object: "at", "events" and "text"; NULL if that was nothing, or cannot
 * be found.  With `lines`, which may be NULL, also "function", "file" and "line",
 * if they are known: where the program began with its last message.
 */
json_t *words_describe(struct recording *recording, struct query *query,
		       struct lines *lines, const struct position *until);

/* " in sum at seg.c:4"; nothing if that is not known. */
void print_words_place(FILE *out, const json_t *words);

/* The text, each line of it on a line of its own; NULL is nothing. */
void print_words(const json_t *words);

#endif
