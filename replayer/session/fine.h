/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fine.h - the fine level of the index, made when it is needed
 *
 * Whoever replays a whole segment learns at the same time which lines of
 * memory it accesses, and when; the side file keeps that.
 *
 * Units:      segments count from 0.
 * Ownership:  fine_release() frees; a collector is the caller's.
 * Errors:     ERR_NO_MEMORY, those of replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_FINE_H
#define CPREC_REPLAYER_SESSION_FINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/side_file.h"
#include "index/index.h"
#include "replayer/replayer.h"

struct failure;

/* What is known of segments; with a recording and nothing else, it is empty. */
struct fine_index {
	struct recording *recording;
	struct side_file *side;		/* opened when first needed */
	struct fine_part *kept;	/* unpacked */
	size_t count, room;
	uint64_t size, uses;
	struct output bytes;
};

void fine_release(struct fine_index *fine);

/* The side file of the recording. */
int fine_side(struct fine_index *fine, struct side_file **out,
	      struct failure *why);

/*
 * The lines of a segment that are written, or read; `*out` is NULL if that is
 * not known.  It lasts until the next call.
 */
int fine_lines(struct fine_index *fine, enum side_kind kind, size_t segment,
	       const struct line_set **out, struct failure *why);

/* The same of a machine's page tables. */
int fine_tables(struct fine_index *fine, size_t segment,
		const struct table_changes **out, struct failure *why);

/* Whether everything of a segment that can be learnt is there, and readable. */
int fine_is_complete(struct fine_index *fine, size_t segment, bool *out,
		     struct failure *why);

/* Learns of one segment. */
struct fine_collector {
	struct fine_index *fine;
	struct replayer *rep;
	size_t segment;
	uint64_t start;
	bool reads;
	struct line_epochs epochs;
	struct lines_builder written, read;
	bool has_tables;	/* it is an AArch64 machine */
	struct table_changes tables;
	struct replay_observer observer;
};

/*
 * Whether it is worth while: what a segment does is not known yet, and there
 * is a place to keep it.
 */
bool fine_is_wanted(struct fine_index *fine, enum side_kind kind, size_t segment);

/* From the segment's beginning, where the replayer stands, on to its end. */
int fine_begin(struct fine_collector *collector, struct fine_index *fine,
	       struct replayer *rep, size_t segment, bool reads,
	       struct failure *why);

/*
 * Keeps what was learnt if the replay came to the segment's end.  ERR_SYSTEM: it
 * cannot be kept; side_file_note() says why, or a record would be too large.
 * Who asked only for an answer may ignore that.
 */
int fine_end(struct fine_collector *collector, bool is_whole);

#endif
