/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * side_file.h - what was found out about a recording, kept beside it
 *
 * FILE.idx holds what replays of segments have told, so that nobody replays
 * them for that again.  All of it can be made anew: the file may be deleted at
 * any time, and is not used if it is damaged or of another recording.  Several
 * processes may use and write it at once.
 *
 * The file: formats/trace-format.md, section 17; its name: family_side_file().
 *
 * Ownership:  side_file_close() frees.
 * Errors:     a file that cannot be read or written is none: then less is
 *             known, or kept, and side_file_note() says why, once.
 * Threads:    one at a time.
 */
#ifndef CPREC_FORMATS_SIDE_FILE_H
#define CPREC_FORMATS_SIDE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

struct failure;
struct meta;

/* What a record is.  Written to disk. */
enum side_kind {
	SIDE_WRITES = 1,	/* index/lines.h; the place is 0 */
	SIDE_READS = 2,		/* the same */
	SIDE_POINT = 3,		/* a start point at a place */
	SIDE_TABLES = 4,	/* index/table_changes.h; the place is 0 */
};

#define SIDE_CONTENT_MAX (256u << 20)	/* bytes of one record */

struct side_record {
	enum side_kind kind;
	uint64_t segment;
	uint64_t place;		/* in the segment, as the kind says */
	uint64_t offset;	/* in the file: of its content, */
	uint64_t stored, size;	/* as it is there, and unpacked */
	uint64_t check;
};

struct side_file;

/*
 * Opens the file at `path`, of the recording that has this meta data.  If it is
 * not there, it is made with the first record.  ERR_NO_MEMORY.
 */
int side_file_open(struct side_file **out, const struct meta *meta,
		   const char *path, struct failure *why);
void side_file_close(struct side_file *side);

/* From now on nothing is written, or is again. */
void side_file_keep(struct side_file *side, bool keeps);

/* What went wrong since the last call; NULL: nothing. */
const char *side_file_note(struct side_file *side);

/*
 * A record; NULL if there is none.  The next call may move it.
 */
const struct side_record *side_file_find(struct side_file *side,
					 enum side_kind kind, uint64_t segment,
					 uint64_t place);

/* The last one of a segment that is at a place or before it. */
const struct side_record *side_file_before(struct side_file *side,
					   enum side_kind kind,
					   uint64_t segment, uint64_t place);

/* All there are, sorted by kind, segment and place. */
const struct side_record *side_file_records(struct side_file *side,
					    size_t *count);

/*
 * The content of a record.  False if it is damaged: then it is as if it were
 * not there.
 */
bool side_file_read(struct side_file *side, const struct side_record *record,
		    struct output *out);

/* Whether records may be added, as far as is known. */
bool side_file_may_add(const struct side_file *side);

/* Keeps a record.  False if that is not possible. */
bool side_file_add(struct side_file *side, enum side_kind kind,
		   uint64_t segment, uint64_t place, const uint8_t *content,
		   size_t size);

/* Bytes that the file has. */
uint64_t side_file_size(const struct side_file *side);

#endif
