/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query_internal.h - a session of queries, for the files that answer them
 *
 * query.c finds out how a question can be answered; query_shared.c answers for
 * pages that others share; query_settled.c knows what the fine level of the
 * index says; query_places.c, what addresses of a machine mean.
 */
#ifndef CPREC_REPLAYER_SESSION_QUERY_INTERNAL_H
#define CPREC_REPLAYER_SESSION_QUERY_INTERNAL_H

#include "index/index.h"
#include "replayer/session/fine.h"
#include "replayer/session/query.h"
#include "replayer/replayer.h"
#include "replayer/symbols/symbols.h"
#include "replayer/touches.h"

struct kernel;

struct query {
	struct recording *recording;
	struct replayer *replayer;	/* made when first needed */
	struct segment_views views;
	struct touches *touches;
	struct fine_index fine;
	struct address_space space;	/* of a machine */
	struct kernel *follows;	/* one of whose processes alone is asked;
				   NULL: all are */
	const atomic_bool *cancelled;	/* NULL: never */
	struct module_bytes files;
	struct replay_unused unused;	/* of a replayer: it asks them, ... */
	bool asks_itself;	/* ... but the session does */

	/* Of the question. */
	struct position position;
	struct segment_position place;
	struct failure unknown;	/* why no file has it; "" */
};

/* What a touch found that the index of a segment names. */
int query_contents(struct query *query, size_t segment,
		   const struct page_touch *touch, uint8_t *bytes,
		   struct failure *why);

enum query_word {
	WORD_KNOWN,
	WORD_UNKNOWN,		/* nothing is there, or nobody knows it */
	WORD_CHANGED,		/* only a replay tells */
};

/* Eight bytes at an address of RAM, at the place of the question. */
int query_word(struct query *query, uint64_t addr, uint64_t *out,
	       enum query_word *how, struct failure *why);

/* ------- query_places.c ------- */

/*
 * Where an address is at the place of the question: that itself, or the
 * physical one of a machine.  `*is_known` is false if only a replay tells.
 */
int query_find_place(struct query *query, uint64_t addr, uint64_t *out,
		     bool *is_known, struct failure *why);

/* ------- query_shared.c ------- */

/* A part of a question: bytes of a page that was doubtful, and is shared. */
struct shared_part {
	uint64_t page, doubt;
	size_t offset, size;	/* in the page */
	uint8_t *bytes, *known;	/* to be filled in */
	uint64_t as_of;		/* QUERY_CERTAIN, or as in the answer */
	enum query_source source;

	/* While they are looked for. */
	bool is_late;		/* `bytes` are what a later touch found */
	uint64_t late;		/* the time of the event before that */
	bool may_be_kept;	/* more may be known of the time before: */
	size_t segment;		/* it became doubtful in this one, */
	uint64_t since;		/* at this time */
};

/*
 * Answers for all of these parts of the question.  Needs the fewest replays
 * when it has them together.
 */
int query_shared(struct query *query, struct shared_part *parts, size_t count,
		 struct failure *why);

/* ------- query_settled.c ------- */

struct settled_question {
	size_t segment;
	uint64_t time;		/* steps since its start */
	guest_addr addr;	/* mapped then as at the segment's key frame, */
	uint64_t page;		/* under which its contents are known */
	uint64_t size;		/* all in one page; at least 1 */
};

/*
 * `*segment`: at whose key frame the bytes are the same, this one or the next.
 * `*is_settled` is false if it is not known that there is one.
 */
int query_settled(size_t *segment, bool *is_settled, struct query *query,
		  const struct settled_question *question, struct failure *why);

#endif
