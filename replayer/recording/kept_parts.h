/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept_parts.h - kept files, read a part at a time
 *
 * Pieces are unpacked when bytes of them are wanted; the newest ones, of all
 * files, stay: whoever reads a file reads on where it was, mostly.
 *
 * Ownership:  kept_pieces_release() frees; zeroed, there are none.  They are
 *             released before the recording is closed.  kept_parts_release()
 *             ends the reading of one file.
 * Errors:     ERR_CORRUPT, those of trace_reader_chunk().
 * Threads:    one at a time.
 */
#ifndef CPREC_REPLAYER_RECORDING_KEPT_PARTS_H
#define CPREC_REPLAYER_RECORDING_KEPT_PARTS_H

#include <stddef.h>
#include <stdint.h>

struct failure;
struct kept_file;
struct recording;
struct trace_reader;

/* At most 4 MiB each, so that all are a small part of a session's memory. */
#define KEPT_PIECES 4u

struct kept_pieces {
	struct kept_piece {
		const struct trace_reader *reader;	/* NULL: none */
		size_t chunk;
		uint64_t used;		/* when: the least is dropped */
		uint8_t *bytes;
	} list[KEPT_PIECES];
	uint64_t now;
};

void kept_pieces_release(struct kept_pieces *pieces);

/* A file that is read. */
struct kept_parts {
	const struct trace_reader *reader;
	struct kept_part {
		uint64_t at;		/* its first byte's offset */
		size_t chunk, size;
	} *list;			/* in this order */
	size_t count, room;
};

int kept_parts_open(struct kept_parts *out, struct recording *recording,
		    const struct kept_file *file, struct failure *why);
void kept_parts_release(struct kept_parts *parts);

/* The bytes from `offset` on, which are all there. */
int kept_parts_read(const struct kept_parts *parts, struct kept_pieces *pieces,
		    uint64_t offset, uint8_t *bytes, size_t size,
		    struct failure *why);

#endif
