/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshots.c - memory as of the key frames of a recording */
#include "replayer/recording_internal.h"

#include <assert.h>
#include <stdlib.h>

#include "formats/error.h"

int recording_snapshot(struct recording *recording, size_t segment,
		       uint64_t page, uint64_t *id, struct failure *why)
{
	struct page_versions *versions = &recording->versions;

	while (versions->segments <= segment) {
		struct key_frame frame;
		int rc = recording_key_frame(recording, versions->segments,
					     &frame, why);

		if (rc)
			return rc;
		rc = page_versions_add(versions, frame.pages, frame.page_count);
		key_frame_release(&frame);
		if (rc)
			return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	*id = page_versions_find(versions, (uint32_t)segment, page);
	return 0;
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
