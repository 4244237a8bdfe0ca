/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices.c - see devices.h */
#include "replayer/recording/devices.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/key_frame.h"
#include "replayer/recording/chunks.h"
#include "replayer/recording/recording_data.h"
#include "replayer/recording/snapshots.h"

#define BLOCKS_AT_ONCE 1024u

int recording_devices(struct recording *recording, size_t segment,
		      uint8_t **bytes, size_t *size, struct failure *why)
{
	const struct trace_reader *reader = recording->reader;

	*bytes = NULL;
	*size = 0;
	for (size_t i = 0; i < trace_reader_count(reader); i++) {
		const struct chunk_info *info = trace_reader_info(reader, i);

		if (info->kind != CHUNK_DEVICES || info->segment != segment)
			continue;
		*size = info->size;
		return trace_reader_chunk(reader, i, bytes, why);
	}
	return 0;
}

/* Blocks of a disk that are being read. */
struct reading {
	struct recording *recording;
	void (*block)(void *context, unsigned disk, uint64_t block,
		      const uint8_t bytes[GUEST_PAGE]);
	void *context;
	struct page_want wants[BLOCKS_AT_ONCE];
	uint8_t bytes[BLOCKS_AT_ONCE][GUEST_PAGE];
};

static int read_blocks(struct reading *reading, unsigned disk,
		       const struct page_ref *list, size_t count,
		       struct failure *why)
{
	size_t wanted = 0;
	int rc;

	memset(reading->bytes, 0, count * GUEST_PAGE);
	for (size_t i = 0; i < count; i++)
		if (list[i].id)
			reading->wants[wanted++] = (struct page_want){
				.id = list[i].id, .to = reading->bytes[i],
			};
	rc = recording_read_pages(reading->recording, reading->wants, wanted,
				  why);
	for (size_t i = 0; i < count && !rc; i++)
		reading->block(reading->context, disk, list[i].page,
			       reading->bytes[i]);
	return rc;
}

static int read_list(struct reading *reading, uint32_t chunk,
		     struct failure *why)
{
	const struct trace_reader *reader = reading->recording->reader;
	const struct chunk_info *info = trace_reader_info(reader, chunk);
	struct page_ref *list;
	size_t count;
	uint8_t *bytes;
	int rc = trace_reader_chunk(reader, chunk, &bytes, why);

	if (rc)
		return rc;
	rc = page_refs_decode(&list, &count, bytes, info->size);
	free(bytes);
	if (rc)
		return recording_damaged(reading->recording, chunk, rc,
					 "contents", why);
	for (size_t i = 0; i < count && !rc; i += BLOCKS_AT_ONCE)
		rc = read_blocks(reading, info->stream, list + i,
				 count - i < BLOCKS_AT_ONCE ? count - i :
							      BLOCKS_AT_ONCE,
				 why);
	free(list);
	return rc;
}

int recording_disks(struct recording *recording, size_t segment,
		    void (*block)(void *context, unsigned disk, uint64_t block,
				  const uint8_t bytes[GUEST_PAGE]),
		    void *context, struct failure *why)
{
	const struct trace_reader *reader = recording->reader;
	struct reading *reading = malloc(sizeof(*reading));
	int rc = 0;

	if (!reading)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	reading->recording = recording;
	reading->block = block;
	reading->context = context;
	for (size_t i = 0; i < trace_reader_count(reader) && !rc; i++) {
		const struct chunk_info *info = trace_reader_info(reader, i);

		if (info->kind == CHUNK_DISK && info->segment <= segment)
			rc = read_list(reading, (uint32_t)i, why);
	}
	free(reading);
	return rc;
}
