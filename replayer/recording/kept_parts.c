/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept_parts.c - see kept_parts.h */
#include "replayer/recording/kept_parts.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/trace_file.h"
#include "replayer/recording/kept_files.h"

/* ------- pieces ------- */

void kept_pieces_release(struct kept_pieces *pieces)
{
	for (size_t i = 0; i < KEPT_PIECES; i++)
		free(pieces->list[i].bytes);
	*pieces = (struct kept_pieces){ 0 };
}

static struct kept_piece *oldest(struct kept_pieces *pieces)
{
	struct kept_piece *found = pieces->list;

	for (size_t i = 1; i < KEPT_PIECES; i++)
		if (pieces->list[i].used < found->used)
			found = &pieces->list[i];
	return found;
}

static int find_piece(struct kept_pieces *pieces,
		      const struct trace_reader *reader, size_t chunk,
		      const uint8_t **out, struct failure *why)
{
	struct kept_piece *piece = pieces->list;
	size_t i = 0;

	while (i < KEPT_PIECES && (pieces->list[i].reader != reader ||
				   pieces->list[i].chunk != chunk))
		i++;
	if (i < KEPT_PIECES) {
		piece = &pieces->list[i];
	} else {
		uint8_t *bytes;
		int rc = trace_reader_chunk(reader, chunk, &bytes, why);

		if (rc)
			return rc;
		piece = oldest(pieces);
		free(piece->bytes);
		*piece = (struct kept_piece){ reader, chunk, 0, bytes };
	}
	piece->used = ++pieces->now;
	*out = piece->bytes;
	return 0;
}

/* ------- files ------- */

static int add_part(void *context, size_t chunk, size_t size)
{
	struct kept_parts *parts = context;
	uint64_t at = 0;

	if (parts->count)
		at = parts->list[parts->count - 1].at +
		     parts->list[parts->count - 1].size;
	if (array_room(parts->list, parts->count, parts->room))
		return ERR_NO_MEMORY;
	parts->list[parts->count++] = (struct kept_part){ at, chunk, size };
	return 0;
}

int kept_parts_open(struct kept_parts *out, struct recording *recording,
		    const struct kept_file *file, struct failure *why)
{
	int rc;

	*out = (struct kept_parts){ 0 };
	rc = recording_kept_pieces(recording, file, &out->reader, add_part, out,
				   why);
	if (rc == ERR_NO_MEMORY)
		failed(why, rc, "out of memory");
	if (rc)
		kept_parts_release(out);
	return rc;
}

void kept_parts_release(struct kept_parts *parts)
{
	free(parts->list);
	*parts = (struct kept_parts){ 0 };
}

/* The part with the byte at `offset`. */
static const struct kept_part *part_at(const struct kept_parts *parts,
				       uint64_t offset)
{
	size_t first = 0, count = parts->count;

	while (count > 1) {
		size_t half = count / 2;

		if (parts->list[first + half].at <= offset) {
			first += half;
			count -= half;
		} else {
			count = half;
		}
	}
	return &parts->list[first];
}

int kept_parts_read(const struct kept_parts *parts, struct kept_pieces *pieces,
		    uint64_t offset, uint8_t *bytes, size_t size,
		    struct failure *why)
{
	while (size) {
		const struct kept_part *part = part_at(parts, offset);
		uint64_t skipped = offset - part->at;
		size_t here = part->size - skipped;
		const uint8_t *piece;
		int rc = find_piece(pieces, parts->reader, part->chunk, &piece,
				    why);

		if (rc)
			return rc;
		if (here > size)
			here = size;
		memcpy(bytes, piece + skipped, here);
		bytes += here;
		offset += here;
		size -= here;
	}
	return 0;
}
