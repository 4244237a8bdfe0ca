/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_values.h - the values that an address may have held, if threads raced
 *
 * Writes that nothing orders might have come in any order: each of them may
 * have been the last one.  The same goes for a write and what was there
 * before it, if another thread has read since, or before, and nothing orders
 * the two.
 *
 * Units:      times are those of the recording.
 * Ownership:  race_values_release() frees; a zeroed structure is empty.
 * Errors:     those of replayer.h.
 * Threads:    one uses a search; others may run searches of their own.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_VALUES_H
#define CPREC_REPLAYER_RACES_RACE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/races/race_progress.h"
#include "replayer/symbols/symbols.h"

struct failure;
struct race_reader;
struct race_slot;
struct recording;

#define RACE_VALUE_MOST 8u	/* bytes that are shown of one write */

struct race_value {
	uint64_t addr;		/* of the part that was asked for */
	size_t size;
	uint8_t bytes[RACE_VALUE_MOST];
	bool is_known;		/* `bytes` are */
	bool has_writer;	/* it was seen to be written: */
	uint32_t tid;
	uint64_t time, pc, place;
	struct source_line line;
};

/* A question. */
struct race_question {
	uint64_t addr, size;
	uint64_t home;		/* the address that accesses are told with */
	uint64_t at;		/* after so many instructions */
	struct race_value *values;	/* the answer; none if nothing races */
	size_t count;
	uint64_t since;		/* accesses before did not count; 0: all did */
	struct race_slot *slots;	/* while it is searched */
	struct race_reader *readers;
	uint8_t *memory;	/* what is there before the next access */
	uint8_t *is_known;	/* 1 for each byte that is */
};

struct race_values {
	struct race_question *list;
	size_t count;
	struct lines *lines;	/* owns names in the answers */
};

/*
 * Answers all of them by one search, which begins at most `most` steps before
 * the first of their times.
 */
int race_values_find(struct race_values *values, struct recording *recording,
		     uint64_t most, race_progress *progress, void *context,
		     struct failure *why);
void race_values_release(struct race_values *values);

#endif
