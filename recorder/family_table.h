/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family_table.h - what the processes of a family have stored, and where
 *
 * A table in memory that all processes share which descend from the one that
 * made it.  A process that has stored something, and has it safely in its
 * file, says so: under the hash of the content.  Another one that is about to
 * store the same names that place instead.
 *
 * Nobody waits for anybody: an entry is written, then made visible.  One that
 * a process has begun when it is killed stays unused.
 *
 * Units:      numbers of processes count from 1, in the order in which they
 *             joined; a place is such a number and an id (or an offset) in
 *             that process's file, 0 is none.
 * Ownership:  the memory goes with the last process.
 * Errors:     none: what does not fit is not shared.
 * Threads:    any number, of any process, at once.
 */
#ifndef CPREC_RECORDER_FAMILY_TABLE_H
#define CPREC_RECORDER_FAMILY_TABLE_H

#include <stdint.h>

#include "formats/member.h"
#include "formats/page_hash.h"

struct family_table;

/* Ids and offsets are below this. */
#define PLACE_IDS (UINT64_C(1) << 40)

static inline uint64_t place_make(uint32_t number, uint64_t id)
{
	return number * PLACE_IDS + id;
}

static inline uint32_t place_number(uint64_t place)
{
	return (uint32_t)(place / PLACE_IDS);
}

static inline uint64_t place_id(uint64_t place)
{
	return place % PLACE_IDS;
}

/* NULL if there can be none. */
struct family_table *family_table_create(void);

/* Gives a process its number; 0: there are too many. */
uint32_t family_table_join(struct family_table *table,
			   const struct member *who);

/* Who has a number; NULL if nobody does. */
const struct member *family_table_member(const struct family_table *table,
					 uint32_t number);

/* Says where a content is; what another one has said stays. */
void family_table_put(struct family_table *table, const struct page_key *key,
		      uint64_t place);

/* Where a content is; 0 if nobody has it. */
uint64_t family_table_find(const struct family_table *table,
			   const struct page_key *key);

#endif
