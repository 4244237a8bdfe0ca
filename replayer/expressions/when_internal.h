/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * when_internal.h - a search for when a condition became true
 *
 * when.c finds out what is meant.  Conditions on memory are searched for by
 * when_memory.c, those on registers by when_steps.c, those in a function or at
 * a line by when_places.c.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_WHEN_INTERNAL_H
#define CPREC_REPLAYER_EXPRESSIONS_WHEN_INTERNAL_H

#include "replayer/expressions/condition.h"
#include "replayer/expressions/expressions_internal.h"

struct when {
	const struct when_question *question;
	struct when_result *result;
	struct context *context;
	struct query *query;
	struct recording *recording;
	struct condition condition;

	/* What was met and is not told yet: of the last ones, one. */
	struct when_met *met;
	size_t count, room;
	uint64_t told;
	struct failure *why;
};

/* It became true.  WHEN_ENOUGH: no more is wanted. */
int when_meet(struct when *when, const struct when_met *met);

/* Tells what was met.  Not while the replay runs: it will be moved. */
int when_tell(struct when *when);

/* The same place as of a position, in the thread that is meant. */
struct expression_place when_place(const struct when *when,
				   const struct position *at);

/* What is searched at once: all of a segment, or some. */
struct when_part {
	struct position from, to;
	bool is_anew;	/* else what is right before it was searched before it */
};

typedef int when_search(void *context, const struct when_part *part);

/*
 * Searches segment by segment: forwards; or parts of some segments, backwards
 * until something was met, and each part forwards.
 */
int when_each_segment(struct when *when, when_search *search, void *context);

int when_search_memory(struct when *when);
int when_search_steps(struct when *when);
int when_search_places(struct when *when, const char *place);

#endif
