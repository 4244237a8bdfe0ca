/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index_build.h - the fine level of the index, and start points, made at once
 *
 * Segments are independent of each other: several builders, on several
 * machines if need be, make different ones.
 *
 * Units:      times are retired instructions of the recording.
 * Ownership:  index_builder_destroy() frees; the recording is borrowed.
 * Errors:     those of replayer.h.  ERR_SYSTEM: what was made cannot be kept.
 */
#ifndef CPREC_REPLAYER_SESSION_INDEX_BUILD_H
#define CPREC_REPLAYER_SESSION_INDEX_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/recording.h"

struct failure;

struct index_wanted {
	bool lines;		/* who accesses what, in whole segments */
	uint64_t every;		/* start points so far apart; 0: none */
	struct position from, to;	/* where they are wanted */
};

struct index_builder;

/* Into the side file; `part`: into that part of it, or NULL. */
int index_builder_create(struct index_builder **out,
			 struct recording *recording, const char *part,
			 struct failure *why);
void index_builder_destroy(struct index_builder *builder);

/* Makes what is wanted of a segment, and is not there, if it can be known. */
int index_build(struct index_builder *builder, size_t segment,
		const struct index_wanted *wanted, struct failure *why);

/* What went wrong with the file before, or NULL; once. */
const char *index_builder_note(struct index_builder *builder);

/* What there is now.  Everything is read: what is damaged does not count. */
struct index_extent {
	size_t segments;	/* of which everything is known */
	size_t points;
	uint64_t size;		/* bytes of the file */
};

int index_builder_extent(struct index_builder *builder,
			 struct index_extent *out, struct failure *why);

/* ERR_NOT_FOUND: of some segment from `first` to before `end` not all is known. */
int index_builder_check(struct index_builder *builder, size_t first, size_t end,
			struct failure *why);

/* Adds what is in another part of the side file.  ERR_CHECKSUM: not all of it. */
int index_merge(struct index_builder *builder, const char *part,
		struct failure *why);

#endif
