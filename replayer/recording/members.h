/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * members.h - recordings of other processes that this one refers to
 *
 * They are found by their names (formats/family_path.h), opened when something
 * of theirs is asked for, and believed only if they are the right ones: of the
 * same family, and of the run that is named.
 *
 * Units:      numbers count from 1.
 * Ownership:  members_release() frees; a zeroed structure is an empty one.
 *             The reader is borrowed.
 * Errors:     ERR_CORRUPT (also: another one is in its place), those of
 *             trace_reader_open().
 */
#ifndef CPREC_REPLAYER_RECORDING_MEMBERS_H
#define CPREC_REPLAYER_RECORDING_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/member.h"
#include "replayer/recording/stored_pages.h"

struct failure;

struct member_file {
	struct member member;
	struct trace_reader *reader;	/* NULL: it was not opened yet */
	struct stored_pages pages;
};

struct members {
	const struct trace_reader *reader;	/* of the file that refers */
	struct member_file *list;		/* by number - 1 */
	size_t count, room;
};

/* Adds the chunk `index` of the file, which names a process; in file order. */
int members_add(struct members *members, const struct trace_reader *reader,
		size_t index, struct failure *why);

/* The process, its file opened. */
int members_open(struct members *members, uint32_t number,
		 struct member_file **out, struct failure *why);

/* What stored pages need that are elsewhere: see stored_pages.h. */
int members_page(void *members, const struct page_place *place,
		 uint8_t bytes[GUEST_PAGE], struct failure *why);
int members_pages(void *members, uint32_t number, struct page_want *list,
		  size_t count, struct failure *why);

void members_release(struct members *members);

#endif
