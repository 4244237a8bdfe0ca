/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_words.h - what a program wrote to its standard error last
 */
#ifndef CPREC_TOOLS_PRINT_WORDS_H
#define CPREC_TOOLS_PRINT_WORDS_H

#include <jansson.h>

#include "replayer/recording/recording.h"

struct query;

/*
 * As an object: "at", "events" and "text"; NULL if that was nothing, or cannot
 * be found.
 */
json_t *words_describe(struct recording *recording, struct query *query,
		       const struct position *until);

/* The text, each line of it on a line of its own; NULL is nothing. */
void print_words(const json_t *words);

#endif
