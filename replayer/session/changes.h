/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * changes.h - a replay that tells of each change of some memory
 *
 * Told is every instruction and every event that leaves other bytes in one of
 * several ranges, with what is in all of them behind it.  The replay itself is
 * further then; but it can be told of instructions behind which it is to stand
 * while it tells.
 *
 * Units:      times are retired instructions of the recording.
 * Ownership:  changes_run() ends with nothing left.
 * Errors:     those of replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_CHANGES_H
#define CPREC_REPLAYER_SESSION_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "replayer/recording/recording.h"
#include "replayer/session/history.h"
#include "replayer/session/query.h"

struct changes;
struct number_map;

/* Together at most CHANGES_BYTES_MOST; at least 1 each. */
struct changes_range {
	guest_addr addr;
	uint64_t size;
};
#define CHANGES_BYTES_MOST (UINT64_C(1) << 20)

struct changes_question {
	struct query *query;
	const struct changes_range *ranges;
	size_t count;

	/* Writes in here are told to the run: all ranges are in it, and others
	 * that changes_watch() may ask for. */
	guest_addr first, last;

	struct position from, to;	/* in one segment */

	/* Instructions before which it stands, if the one before has changed
	 * something. */
	const struct number_map *behind;

	/*
	 * What has changed.  `is_now`: the replay stands right behind it, as
	 * behind all events.  Of the access, addresses and bytes are left out.
	 * A result other than 0 ends the run and is returned.
	 */
	int (*changed)(void *context, struct changes *changes,
		       const struct history_access *access, bool is_now);
	void *context;
};

int changes_run(const struct changes_question *question, struct failure *why);

/* Whether any of these ranges may be written to in the segment of a time. */
int changes_may_be(struct query *query, const struct position *at,
		   const struct changes_range *ranges, size_t count, bool *may,
		   struct failure *why);

/* ------- for those who are told ------- */

/*
 * What is in a part of a range behind the change; false if it is in none.
 * `*known` if all of it is known.
 */
bool changes_bytes(const struct changes *changes, guest_addr addr,
		   uint64_t size, uint8_t *out, bool *known);

/* From now on these; only if it is now.  False: some are out of its sight. */
bool changes_watch(struct changes *changes, const struct changes_range *ranges,
		   size_t count);

/*
 * Whether what is not known is not there.  Else a query, which knows what is
 * found there later, may know it.
 */
bool changes_is_all(const struct changes *changes);

struct replayer *changes_replayer(const struct changes *changes);

#endif
