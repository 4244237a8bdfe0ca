/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines_seen.h - words of memory that were just accessed
 *
 * Whoever wants to know which lines of memory are accessed, in which epochs and
 * which of their words, need not be told of an access that is like one shortly
 * before: most are.
 *
 * Units:      an epoch has 1 << shift steps, counted from `start`.
 * Ownership:  plain data; zeros are what has seen nothing.
 */
#ifndef CPREC_FORMATS_LINES_SEEN_H
#define CPREC_FORMATS_LINES_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/region.h"

#define LINE_SHIFT 6u
#define LINE_SIZE (1u << LINE_SHIFT)
#define WORD_SHIFT 3u		/* of the words of a line: eight of them */

/* Which words these bytes of a line are in, a bit each. */
static inline unsigned words_of_line(unsigned first, unsigned last)
{
	return (2u << (last >> WORD_SHIFT)) - (1u << (first >> WORD_SHIFT));
}

struct line_epochs {
	uint64_t start;
	unsigned shift;
};

#define EPOCHS_MOST 64u		/* the last one has all that comes later */

/* 4 KiB, which are soon cleared; of 4096 steps, a hundred lines are usual. */
#define LINES_KEPT 256u

struct lines_seen {
	uint64_t keys[2][LINES_KEPT];	/* of reads, of writes: addresses of
					   lines, with the epoch, ... */
	uint8_t words[2][LINES_KEPT];	/* ... and words, a bit each */
};

/*
 * Whether an access of at most LINE_SIZE bytes is like one that was seen: of
 * the same kind, in the same words of a line and epoch.  One in two lines, or in
 * the first of all, never is.
 */
static inline bool lines_seen(struct lines_seen *seen, guest_addr addr,
			      unsigned size, bool writes, uint64_t epoch)
{
	const uint64_t last = EPOCHS_MOST - 1;
	uint64_t line = addr >> LINE_SHIFT;
	uint64_t key = line << LINE_SHIFT | (epoch < last ? epoch : last);
	uint64_t *kept = &seen->keys[writes][line % LINES_KEPT];
	uint8_t *words = &seen->words[writes][line % LINES_KEPT];
	unsigned at = addr % LINE_SIZE, end = at + size - 1;
	unsigned its = words_of_line(at, end) & 0xff;
	unsigned before = *words & -(unsigned)(*kept == key);

	_Static_assert(EPOCHS_MOST <= LINE_SIZE, "one key has both");
	/* Without a branch, of which nobody could foresee where it leads. */
	*kept = key;
	*words = (uint8_t)(before | its);
	return ((its & ~before) == 0) & (line > 0) & (end < LINE_SIZE);
}

#endif
