/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_detector.h - finds accesses of threads that nothing orders
 *
 * It is told the accesses of all threads, in the order in which they took
 * place, and what orders threads.  Two accesses to the same byte race if they
 * are of different threads, at least one writes, and none happened before the
 * other.  Bytes that serve to synchronize do not race but order: a load of
 * them acquires what a store before it has released.
 *
 * All pairs of places are found of which both take place and that nothing
 * orders, but for words that very many places use.
 *
 * Units:      threads count from 0; a time is anything that grows.
 * Ownership:  race_detector_release() frees.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_DETECTOR_H
#define CPREC_REPLAYER_RACES_RACE_DETECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/races/clocks.h"
#include "replayer/races/race_words.h"

struct race_access {
	uint64_t addr, size;
	uint64_t pc, place, time;	/* as in race_entry */
	bool writes;
	bool has_value;		/* that it writes: */
	uint64_t value;
	bool is_library;
	bool is_atomic;		/* its instruction is indivisible */
	bool is_change;		/* it writes what was computed from what the
				   thread has read of the same bytes */
	bool changes_nothing;	/* an indivisible comparison that failed */
	bool is_hidden;		/* of bytes that do not synchronize, it is
				   nobody's business */
	bool orders_nothing;	/* of those that do */
	bool is_order;		/* all bytes synchronize, just now */
	bool keeps_value;	/* indivisible, but writes what is there */
	bool is_plain;		/* a store, not of an atomic object for sure */
};

/* `now`, by `thread`, races with `before`, which came first, at `addr`. */
typedef void race_found(void *context, const struct race_entry *before,
			uint32_t thread, const struct race_access *now,
			uint64_t addr);

struct race_detector {
	struct race_words words;
	struct clock *clocks;	/* by thread */
	uint32_t threads;
	race_found *found;
	void *context;
};

int race_detector_init(struct race_detector *detector, uint32_t threads,
		       race_found *found, void *context);
void race_detector_release(struct race_detector *detector);

/* What others acquire from `from` later happens after what this thread did. */
int race_detector_publish(struct race_detector *detector, uint32_t thread,
			  struct clock *from);

/* What the thread does from now on happens after all that `from` knows. */
int race_detector_acquire(struct race_detector *detector, uint32_t thread,
			  const struct clock *from);

/* The same through synchronizing bytes, as an instruction would do it. */
int race_detector_publish_at(struct race_detector *detector, uint32_t thread,
			     uint64_t addr);
int race_detector_acquire_at(struct race_detector *detector, uint32_t thread,
			     uint64_t addr);

int race_detector_access(struct race_detector *detector, uint32_t thread,
			 const struct race_access *access);

#endif
