/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history.h - who accessed memory, and when
 *
 * Segments that cannot have accessed it, which the summarization index tells,
 * are left out.  The others are replayed once, with a log of the accesses to
 * that range only; backwards, until the question is answered.
 *
 * Units:      times are retired instructions of the recording.
 * Ownership:  what is visited lasts until the visit returns.
 * Errors:     those of replayer.h; whatever a visit returns.
 */
#ifndef CPREC_REPLAYER_SESSION_HISTORY_H
#define CPREC_REPLAYER_SESSION_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/packet.h"
#include "replayer/recording/recording.h"
#include "replayer/session/query.h"

/* Values of more bytes are not told. */
#define HISTORY_BYTES_MOST (UINT64_C(1) << 20)

/* What accessed memory. */
enum history_kind {
	HISTORY_INSTRUCTION,
	HISTORY_KERNEL,		/* in a call, or for a signal */
	HISTORY_OTHERS,		/* another process, some time before the event
				   or the read that found it */
	HISTORY_MAPPED,		/* there is other memory from here on, */
	HISTORY_UNMAPPED,	/* or none, */
	HISTORY_CLEARED,	/* or zeros */
};

struct history_access {
	struct position before, after;	/* the instruction or event */
	uint32_t stream;	/* whose it is */
	enum history_kind kind;
	bool writes;
	guest_addr pc;		/* of the instruction, or of the call's */
	enum packet_kind event;	/* of another kind: what happened, */
	uint64_t number;	/* and its number: of the call or signal */

	/* The part of what was asked for that is accessed: what it was
	 * before and is behind.  NULL: more than HISTORY_BYTES_MOST.  All
	 * that was asked for is around `new`. */
	guest_addr addr;
	uint64_t size;
	const uint8_t *old, *old_known, *new, *new_known;
};

/* Whether it leaves other bytes behind, as far as they are known. */
bool history_changes(const struct history_access *access);

struct history_question {
	guest_addr addr;
	uint64_t size;		/* at least 1 */

	/* Bits of these bytes: only writes that change them count, and accesses
	 * are told with all bytes.  0: no bits are meant. */
	unsigned bit_offset, bit_size;
	bool reads, writes;
	struct position from, to;	/* what begins behind `from`, and is
					   done at `to` */
	bool some_thread;	/* only what this thread does: */
	uint32_t tid;

	/* Those that it returns false for do not count.  May be NULL. */
	bool (*is_meant)(void *context, const struct history_access *access);
	void *context;		/* of this, and of visits */
};

/* Whether it leaves, or finds, a number: in the bits, or in 8 bytes at most. */
bool history_has_value(const struct history_question *question,
		       const struct history_access *access, uint64_t value);

/* A visit that returns HISTORY_ENOUGH ends them. */
#define HISTORY_ENOUGH 1
typedef int history_visit(void *context, const struct history_access *access,
			  struct failure *why);

/* Visits all that are meant, oldest first. */
int history_each(struct query *query, const struct history_question *question,
		 history_visit *visit, struct failure *why);

/* Visits the last one; `*found` is false if there is none. */
int history_last(struct query *query, const struct history_question *question,
		 history_visit *visit, bool *found, struct failure *why);

#endif
