/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table_changes.h - of a machine: which page tables were in use, and when
 *
 * For one segment it says what tables each core had (formats/page_tables.h),
 * and which core had its turn.  With that, and memory, it is known what an
 * address meant.
 *
 * Units:      times are steps since the segment's key frame; events are those
 *             of that time, in this segment, that have taken effect.
 * Ownership:  *_release() frees; zeroed structures are empty ones.
 * Errors:     ERR_NO_MEMORY, ERR_INPUT, ERR_TRUNCATED, ERR_CORRUPT.
 */
#ifndef CPREC_INDEX_TABLE_CHANGES_H
#define CPREC_INDEX_TABLE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"
#include "formats/page_tables.h"

/* From then on the core has its turn, and these tables. */
struct table_change {
	uint64_t time;
	uint32_t events;
	uint32_t core;
	uint32_t tables;	/* which of them */
};

struct table_changes {
	struct page_tables *tables;	/* that differ */
	size_t table_count, table_room;
	struct table_change *list;	/* in order of time */
	size_t count, room;
	int error;		/* ERR_NO_MEMORY: it is not complete */
};

/* ------- collecting ------- */

/* In order of time; those of all cores at the beginning, the present one's
 * last.  `change->tables` is found out. */
void table_changes_add(struct table_changes *changes,
		       const struct table_change *change,
		       const struct page_tables *tables);

/* Bytes for a record of the side file.  ERR_INPUT: more than may be in one. */
int table_changes_encode(struct output *out,
			 const struct table_changes *changes);
void table_changes_release(struct table_changes *changes);

/* ------- looking up ------- */

int table_changes_decode(struct table_changes *out, const uint8_t *bytes,
			 size_t size);

/* Bytes that it takes. */
size_t table_changes_size(const struct table_changes *changes);

/*
 * The tables of a core at a time, or, if `core` is NULL, of the one that has
 * its turn; NULL: they are not known.
 */
const struct page_tables *table_changes_at(const struct table_changes *changes,
					   uint64_t time, uint32_t events,
					   const uint32_t *core);

#endif
