/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshots.c - see snapshots.h */
#include "replayer/recording/snapshots.h"

#include <assert.h>
#include <stdlib.h>

#include "formats/error.h"
#include "replayer/recording/chunks.h"
#include "replayer/recording/recording_data.h"
#include "replayer/recording/segments.h"
#include "replayer/recording/unpack_pages.h"

/* The newest chunk with all pages as of a segment up to this one, or NULL. */
static const struct snapshot_place *find_place(const struct recording *recording,
					       size_t segment)
{
	size_t low = 0, high = recording->snapshot_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (recording->snapshots[middle].segment <= segment)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &recording->snapshots[low - 1] : NULL;
}

/* Begins with all pages as of a segment. */
static int begin(struct recording *recording,
		 const struct snapshot_place *place, struct failure *why)
{
	const struct chunk_info *info =
		trace_reader_info(recording->reader, place->chunk);
	struct page_ref *list;
	uint8_t *bytes;
	size_t count;
	int rc = trace_reader_chunk(recording->reader, place->chunk, &bytes,
				    why);

	if (rc)
		return rc;
	rc = page_refs_decode(&list, &count, bytes, info->size);
	free(bytes);
	if (rc)
		return recording_damaged(recording, place->chunk, rc,
					 "contents", why);
	page_versions_begin(&recording->versions, place->segment);
	rc = page_versions_add(&recording->versions, list, count);
	free(list);
	return rc ? failed(why, rc, "out of memory") : 0;
}

/* What the key frame of a segment says that has changed. */
static int add_list(struct recording *recording, size_t segment,
		    struct failure *why)
{
	struct key_frame frame;
	int rc = recording_key_frame(recording, segment, &frame, why);

	if (rc)
		return rc;
	rc = page_versions_add(&recording->versions, frame.pages,
			       frame.page_count);
	key_frame_release(&frame);
	return rc ? failed(why, rc, "out of memory") : 0;
}

int recording_snapshot(struct recording *recording, size_t segment,
		       uint64_t page, uint64_t *id, struct failure *why)
{
	struct page_versions *versions = &recording->versions;
	int rc = 0;

	if (segment < versions->first || segment >= versions->end) {
		const struct snapshot_place *place =
			find_place(recording, segment);

		if (place && (segment < versions->first ||
			      place->segment >= versions->end))
			rc = begin(recording, place, why);
		else if (segment < versions->first)
			page_versions_begin(versions, 0);
	}
	while (!rc && versions->end <= segment)
		rc = add_list(recording, versions->end, why);
	if (!rc)
		*id = page_versions_find(versions, (uint32_t)segment, page);
	return rc;
}

int recording_page(struct recording *recording, uint64_t id,
		   uint8_t bytes[GUEST_PAGE], struct failure *why)
{
	return stored_pages_read(&recording->pages, recording->reader, id,
				 bytes, why);
}

int recording_read_pages(struct recording *recording, struct page_want *list,
			 size_t count, struct failure *why)
{
	return stored_pages_read_all(&recording->pages, recording->reader,
				     list, count, why);
}
