/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query.h - what an address held at a time
 *
 * The procedure of US 7,620,938 B2: code space, summarization index,
 * snapshot, replay of the part that matters; else, of read-only pages that were
 * not used, the file that is mapped; else unknown.
 *
 * Ownership:  the caller's buffers are filled; the recording is borrowed.
 * Errors:     those of replayer.h.  Unknown bytes are an answer, no error.
 */
#ifndef CPREC_REPLAYER_SESSION_QUERY_H
#define CPREC_REPLAYER_SESSION_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/recording.h"
#include "replayer/replayer.h"

/* Where an answer came from; of several, the last in this order. */
enum query_source {
	QUERY_UNKNOWN,
	QUERY_CODE,
	QUERY_SNAPSHOT,
	QUERY_REPLAY,
	QUERY_FILE,		/* the program never used it */
};

#define QUERY_CERTAIN UINT64_MAX

struct query_answer {
	enum query_source source;

	/*
	 * QUERY_CERTAIN; or the bytes are those of this time, or some of them
	 * are, and others may have changed them between it and the time asked
	 * for.  Of several such times, the first.
	 */
	uint64_t as_of;
};

struct kernel;
struct query;

/* A session of queries on one recording; makes a replayer when it needs one. */
int query_create(struct query **out, struct recording *recording,
		 struct failure *why);
void query_destroy(struct query *query);

/*
 * What went wrong with the side file since the last call, which changes no
 * answer; NULL: nothing.
 */
const char *query_note(struct query *query);

/*
 * ERR_CANCELLED if it is (recording_cancel_by()); for those who take long
 * without a replay.
 */
int query_is_wanted(const struct query *query, struct failure *why);

/*
 * A question is over, and the next one may be a while off: what takes much
 * memory, and is quickly made again, goes, the replayer among it.
 */
void query_rest(struct query *query);

/* What it is of. */
struct recording *query_recording(const struct query *query);

/* The session's replayer, for what memory does not answer. */
int query_replayer(struct query *query, struct replayer **out,
		   struct failure *why);

/*
 * Gives away the session's replayer, to somebody who changes what it holds; the
 * session makes another one for what is asked meanwhile.
 */
int query_lend_replayer(struct query *query, struct replayer **out,
			struct failure *why);

/* Takes it back, as one that stands nowhere. */
void query_take_back(struct query *query, struct replayer *replayer);

/* Which addresses of a machine are meant from now on: see replayer.h. */
struct address_space;
void query_use_space(struct query *query, const struct address_space *space);

/* Of a machine: whose processes, one or all, are followed; NULL: none are. */
struct kernel *query_followed(const struct query *query);

/* The same, but for which core of a machine is meant, if it has several: that
 * of a stream; or the one that has its turn. */
void query_use_core(struct query *query, uint32_t stream);
void query_use_turn(struct query *query);

/*
 * Fills in `size` bytes at `addr` as of a position (at most the recording's
 * end) and which of them are known (1 or 0).
 */
int query_memory(struct query *query, uint64_t addr,
		 const struct position *at, uint8_t *bytes, uint8_t *known,
		 size_t size, struct query_answer *answer,
		 struct failure *why);

/*
 * Why bytes that were asked for last, and are not known, were in no file either;
 * NULL: that is not known, or they are in none.
 */
const char *query_why_unknown(const struct query *query);

/*
 * Where a machine has what is at an address then; HOME_NONE: nowhere.  Of a
 * program, the address.
 */
int query_home(struct query *query, uint64_t addr, const struct position *at,
	       guest_addr *out, struct failure *why);

#endif
