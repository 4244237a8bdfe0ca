/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listing.h - the snapshot list of a key frame, in the making
 *
 * Pages that may have changed are stored, and listed if they have.  Whose pages
 * these are, a process's or a machine's, the calls say.
 *
 * Units:      pages are guest address / GUEST_PAGE.
 * Ownership:  the caller frees the list of a snapshot.
 * Errors:     ERR_NO_MEMORY, those of the calls.
 */
#ifndef CPREC_RECORDER_LISTING_H
#define CPREC_RECORDER_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/key_frame.h"
#include "recorder/page_store.h"

struct failure;
struct trace_writer;

struct snapshot {
	struct page_ref *list;
	size_t count, room;
};

struct listing_calls {
	/* The contents that the snapshot shows; NULL: it shows none. */
	const uint8_t *(*contents)(void *context, uint64_t page);

	/* A page is what it was before.  May be NULL. */
	void (*unchanged)(void *context, uint64_t page);

	/* Writes waiting pages; with `all`, also a chunk that is not full. */
	int (*write)(void *context, bool all, struct failure *why);
};

struct listing {
	struct page_store *store;
	struct snapshot *shot;
	const struct listing_calls *calls;
	void *context;
	size_t group;		/* where the pages of the present group begin */
	int error;
};

/* From this key frame on, the page is that stored one. */
void listing_page(struct listing *listing, uint64_t page, uint64_t id);

/* Stores a page, and lists it if its contents are others than before. */
int listing_contents(struct listing *listing, uint64_t page,
		     struct failure *why);

/* The same of those that were written, which are sorted by page. */
int listing_written(struct listing *listing, const struct page_touch *touches,
		    size_t count, struct failure *why);

/* Sorts the list; writes what waits. */
int listing_end(struct listing *listing, struct failure *why);

/* All pages of the newest snapshot that are not zeros; NULL: no memory. */
struct page_ref *listing_all(const struct page_store *store, size_t *count);

/* Whether that list is to be written again: changes were listed since then. */
bool listing_all_is_due(const struct page_store *store, uint64_t changes);

/* Writes it. */
int listing_write_all(const struct page_store *store,
		      struct trace_writer *writer, uint32_t segment,
		      struct failure *why);

/* Whether a touch changed its page. */
bool listing_was_written(const struct page_touch *touch);

#endif
