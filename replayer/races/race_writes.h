/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_writes.h - who wrote and read the memory of race_values.h's questions
 *
 * Kept while a search replays: of each question, the writes that no later one
 * has replaced for certain, and the last reads.
 *
 * Units:      as in race_replay.h.
 * Ownership:  the questions own their slots and readers.
 * Errors:     none: of very many writes the oldest are forgotten.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_WRITES_H
#define CPREC_REPLAYER_RACES_RACE_WRITES_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/races/race_replay.h"
#include "replayer/races/race_values.h"

/* So many writes are kept for one question. */
#define RACE_SLOTS 32u

/* A write that no later one has replaced. */
struct race_slot {
	bool is_there;
	bool is_fresh;		/* what it writes is still to be read */
	bool is_read;		/* by a thread that it is not ordered with, or
				   it may have undone the change before it */
	bool is_library;
	bool is_sync;		/* its bytes serve to synchronize */
	uint32_t thread;
	uint32_t count;		/* of the thread's clock */
	uint32_t rivals;	/* slots that it is not ordered with; bits */
	struct race_value now, old;
};

/* So many reads are kept for one question. */
#define RACE_READERS 32u

/* The last read of some bytes by a thread. */
struct race_reader {
	bool is_there;
	bool is_library;
	uint32_t thread;
	uint32_t count;		/* of the thread's clock */
	uint64_t addr, size, time;
};

struct race_writes {
	struct race_replay replay;
	struct race_values *values;	/* the questions */
	bool is_fresh;		/* some slot is */
	bool is_stale;		/* memory may not be as questions have it */

	/* An indivisible change that was found to race when it read. */
	bool has_change;
	uint32_t change_thread;
	uint64_t change_time;
};

/* For race_replay's `on_access`; the context is a `struct race_writes`. */
void race_writes_access(void *context, uint32_t thread,
			const struct race_access *access);

/* For race_replay's `on_store`, with the same context. */
void race_writes_store(void *context, uint64_t addr, uint64_t value,
		       unsigned size);

/* For race_replay's `on_forget`, with the same context. */
void race_writes_forget(void *context, uint64_t addr, uint64_t size);

/* For race_replay_init(), with the same context. */
void race_writes_found(void *context, const struct race_entry *before,
		       uint32_t thread, const struct race_access *now,
		       uint64_t addr);

#endif
