/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - the fine level of the summarization index
 *
 * For one segment it says which lines of memory were accessed, and in which
 * of its up to 64 epochs: stretches of equally many instructions.  Whoever
 * knows that replays an epoch instead of the segment.  Which words of a line
 * were accessed it says of all epochs together.
 *
 * Units:      lines are guest address / LINE_SIZE, with addresses as
 *             memory_home() has them; times are steps since the segment's key
 *             frame.
 * Ownership:  *_release() frees; zeroed structures are empty ones.
 * Errors:     ERR_NO_MEMORY, ERR_TRUNCATED, ERR_CORRUPT.
 */
#ifndef CPREC_INDEX_LINES_H
#define CPREC_INDEX_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"
#include "formats/lines_seen.h"
#include "formats/number_map.h"
#include "formats/region.h"

#define LINES_PER_PAGE (GUEST_PAGE >> LINE_SHIFT)

/* An epoch has 1 << shift steps; the least shift for a segment so long. */
unsigned lines_shift(uint64_t length);

/* ------- collecting ------- */

struct lines_page {
	uint64_t page;
	uint64_t epochs[LINES_PER_PAGE];	/* a bit each */
	uint8_t words[LINES_PER_PAGE];		/* the same */
};

/* Most accesses are to lines that were just accessed. */
#define LINES_SEEN 2048u

struct lines_builder {
	unsigned shift;
	uint64_t seen[LINES_SEEN];	/* line * EPOCHS_MOST + epoch, plus 1 */
	uint8_t words[LINES_SEEN];	/* of that line, noted since then */
	struct number_map places;	/* of pages, in `pages` */
	struct lines_page *pages;
	size_t count, room;
	size_t newest;			/* the one that was found last */
	int error;			/* ERR_NO_MEMORY: it is not complete */
};

void lines_add(struct lines_builder *builder, uint64_t line, uint64_t epoch,
	       unsigned words);

/* Of a range, the words that are in a line. */
static inline unsigned words_of_range(uint64_t line, guest_addr first,
				      guest_addr last)
{
	return words_of_line(
		first >> LINE_SHIFT < line ? 0 : first % LINE_SIZE,
		last >> LINE_SHIFT > line ? LINE_SIZE - 1 : last % LINE_SIZE);
}

static inline void lines_note(struct lines_builder *builder, uint64_t time,
			      guest_addr addr, uint64_t size)
{
	uint64_t line = addr >> LINE_SHIFT;
	uint64_t last = (addr + size - 1) >> LINE_SHIFT;
	uint64_t epoch = time >> builder->shift;

	if (epoch >= EPOCHS_MOST)
		epoch = EPOCHS_MOST - 1;
	do {
		uint64_t key = line * EPOCHS_MOST + epoch + 1;
		unsigned at = line % LINES_SEEN;
		unsigned words = words_of_range(line, addr, addr + size - 1);

		if (builder->seen[at] != key)
			builder->words[at] = 0;
		if (builder->seen[at] != key || words & ~builder->words[at]) {
			builder->seen[at] = key;
			builder->words[at] |= (uint8_t)words;
			lines_add(builder, line, epoch, words);
		}
	} while (line++ < last);
}

/*
 * Bytes for a record of the side file.  If there are more than `most`, epochs
 * are joined; then only the accessed lines are told, at last only their pages:
 * so there is a record of each segment.  The builder is of no use behind that.
 */
int lines_encode(struct output *out, struct lines_builder *builder,
		 size_t most);
void lines_release(struct lines_builder *builder);

/* ------- looking up ------- */

struct line_page {
	uint64_t page;
	uint64_t present;	/* which lines, a bit each */
	size_t first;		/* of their epochs and words */
};

struct line_set {
	unsigned shift;
	struct line_page *pages;	/* sorted */
	size_t page_count;
	uint64_t *epochs;	/* of lines; NULL: one epoch is the segment */
	size_t epoch_count;
	uint8_t *words;		/* of as many lines; NULL: not known */
};

int line_set_decode(struct line_set *out, const uint8_t *bytes, size_t size);
void line_set_release(struct line_set *set);

/* Bytes that it takes. */
size_t line_set_size(const struct line_set *set);

/* The epochs in which any of these bytes may have been accessed, a bit each. */
uint64_t line_set_epochs(const struct line_set *set, guest_addr first,
			 guest_addr last);

#endif
