/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bookmarks.h - positions of a recording that a user has named
 *
 * They are in a file of their own beside the recording, FILE.marks, since
 * nobody can make them anew.  The file: formats/trace-format.md, section 18.
 *
 * Ownership:  bookmarks_release() frees; a zeroed list is an empty one.
 * Errors:     ERR_SYSTEM, ERR_CORRUPT (what is there are no bookmarks),
 *             ERR_INPUT, ERR_NO_MEMORY.  That there is no file is none.
 */
#ifndef CPREC_FORMATS_BOOKMARKS_H
#define CPREC_FORMATS_BOOKMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure;
struct meta;

#define BOOKMARK_NAME_ROOM 64	/* with the NUL */
#define BOOKMARK_TEXT_MAX 1000u	/* bytes */
#define BOOKMARKS_MAX 10000u

struct bookmark {
	char name[BOOKMARK_NAME_ROOM];
	uint64_t time;
	uint32_t events;
	char *text;		/* never NULL */
};

struct bookmarks {
	struct bookmark *list;	/* by position */
	size_t count, room;
};

/*
 * Letters, digits and '_', and no digit first; nor one of the words that are
 * positions, or begin one: "start", "end", "main", "output".
 */
bool bookmark_name_is_good(const char *name);

/* Printable, and not too long. */
bool bookmark_text_is_good(const char *text);

/* Those of the recording at a path that has this meta data. */
int bookmarks_read(struct bookmarks *out, const char *recording,
		   const struct meta *meta, struct failure *why);

/* All that there are from now on; the file is removed with the last one. */
int bookmarks_write(const struct bookmarks *bookmarks, const char *recording,
		    const struct meta *meta, struct failure *why);

/* NULL: there is none. */
struct bookmark *bookmarks_find(const struct bookmarks *bookmarks,
				const char *name);

/* A new one, or another place for one that there is. */
int bookmarks_set(struct bookmarks *bookmarks, const struct bookmark *bookmark,
		  struct failure *why);

void bookmarks_remove(struct bookmarks *bookmarks, struct bookmark *bookmark);

/* The bytes of a file alone; `run` as in struct meta. */
int bookmarks_decode(struct bookmarks *out, const uint8_t *run,
		     const char *bytes, size_t size);

void bookmarks_release(struct bookmarks *bookmarks);

#endif
