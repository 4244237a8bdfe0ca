/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * last_words.h - what a program wrote to its standard error, before a time
 *
 * A failed assertion and an exception that nobody caught say so there.
 *
 * Errors:     those of query.h.  That it wrote nothing is no error.
 */
#ifndef CPREC_REPLAYER_SESSION_LAST_WORDS_H
#define CPREC_REPLAYER_SESSION_LAST_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/recording.h"

struct failure;
struct query;

#define LAST_WORDS_MOST 1024u	/* bytes */

struct last_words {
	struct position at;		/* behind what its last message began
					   with: lines without much work between */
	uint32_t stream;		/* that wrote this */
	char text[LAST_WORDS_MOST];	/* `size` bytes: the last lines */
	size_t size;
};

/* Looks in the last segments up to `until`. */
int last_words_find(struct last_words *out, struct recording *recording,
		    struct query *query, const struct position *until,
		    struct failure *why);

#endif
