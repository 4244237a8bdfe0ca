/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bases.h - copies of stored pages that patches may be made against
 *
 * For guest pages that are stored again and again: what was stored last.
 * The room is bounded.  Pages that have not changed for some snapshots are
 * evicted; those that change all the time stay, also when there are more of
 * them than room.
 *
 * Units:      pages are guest address / GUEST_PAGE; a turn is the number of a
 *             snapshot.
 * Ownership:  bases_release() frees; a zeroed structure is empty.
 * Errors:     none: without memory there are no bases.
 *
 * In the child of a fork the copies are zeros: it can only release them.
 */
#ifndef CPREC_RECORDER_BASES_H
#define CPREC_RECORDER_BASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/number_map.h"

/*
 * 144 MiB: a choice.  A program that writes all over more memory than this has
 * its pages stored whole: larger recordings, and questions that take a second.
 */
#define BASES_MOST 36864

struct base {
	uint64_t page;
	uint64_t id;		/* stored page */
	uint64_t turn;		/* in which it was last used */
	uint64_t began;		/* turn in which its group had begun anew */
	unsigned patches;	/* between it and a whole page */
	bool changed;		/* since its group began anew */
	bool elsewhere;		/* it, or what it is a patch of in the end */
};

struct bases {
	struct number_map places;	/* page to position in `list` */
	struct base *list;		/* of BASES_MOST */
	uint8_t *bytes;			/* their contents, in the same order */
	size_t count, hand;
	uint64_t turn;
};

/* The base of a page and its contents, or NULL. */
struct base *bases_find(struct bases *bases, uint64_t page,
			const uint8_t **bytes);

/* The same, but does not count as a use: it is evicted as if unused. */
struct base *bases_look(const struct bases *bases, uint64_t page,
			const uint8_t **bytes);

/* Takes a copy, if there is room, of what was stored; sets `turn`. */
void bases_keep(struct bases *bases, const struct base *base,
		const uint8_t *bytes);

static inline void bases_next_turn(struct bases *bases)
{
	bases->turn++;
}

void bases_release(struct bases *bases);

#endif
