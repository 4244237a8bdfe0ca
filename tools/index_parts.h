/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index_parts.h - parts of an index that were made apart, and joined
 *
 * Part 3 of 8 is in "FILE.idx.3of8".
 *
 * Errors:     those of index_build.h; ERR_NOT_FOUND: there are no parts.
 */
#ifndef CPREC_TOOLS_INDEX_PARTS_H
#define CPREC_TOOLS_INDEX_PARTS_H

#include <stdbool.h>
#include <stddef.h>

struct failure;
struct index_builder;

struct index_part {
	size_t number, count;	/* from 1 */
};

#define INDEX_PARTS_MOST 100000u
#define INDEX_PART_ROOM 32

/* "3/8" */
bool index_part_parse(const char *text, struct index_part *out);

/* "3of8" */
const char *index_part_name(char name[INDEX_PART_ROOM],
			    const struct index_part *part);

/*
 * Adds all parts that are beside a recording to its side file, and removes
 * them.  `*merged` is how many that were, `*missing` how many there should be
 * besides.
 */
int index_parts_merge(const char *recording, struct index_builder *builder,
		      size_t *merged, size_t *missing, struct failure *why);

#endif
