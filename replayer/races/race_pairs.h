/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_pairs.h - the races of a recording, by pairs of source lines
 *
 * Units:      times are those of the recording.
 * Ownership:  races_release() frees; the recording is borrowed.
 * Errors:     those of replayer.h.
 * Threads:    one uses a search; others may run searches of their own.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_PAIRS_H
#define CPREC_REPLAYER_RACES_RACE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/races/race_progress.h"
#include "replayer/recording/recording.h"
#include "replayer/symbols/symbols.h"

struct failure;
struct recording;

struct race_side {
	uint32_t tid;
	struct position at;	/* before the instruction */
	uint64_t pc;
	uint64_t place;		/* `pc`, or where the C library was called */
	bool writes;
	struct source_line line;	/* of `place` */
};

enum race_kind {
	RACE_OF_WRITES,
	RACE_WITH_READ,		/* one of the two accesses reads */
	RACE_KINDS
};

/* Two lines that race; an example, and how often it was so. */
struct race {
	uint64_t count;		/* instructions that raced with an earlier one
				   of the other line */
	uint64_t address;
	char symbol[160];	/* at `address`, or the module that has it and
				   the address in its file; "": not known */
	struct race_side sides[2];	/* the earlier access first */
	bool has_kind[RACE_KINDS];	/* among all that were counted */
	uint64_t last_time;	/* that was counted */
};

struct races {
	struct lines *lines;	/* owns the names in `list` */
	struct race *list;	/* in the order of their examples' times */
	size_t count;
};

/* `progress` may be NULL. */
int races_find(struct races *out, struct recording *recording,
	       race_progress *progress, void *context, struct failure *why);
void races_release(struct races *races);

/* What the example is. */
enum race_kind race_kind_of(const struct race *race);

#endif
