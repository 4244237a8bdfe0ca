/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stored_pages.c - see stored_pages.h */
#include "replayer/stored_pages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/key_frame.h"
#include "formats/trace_file.h"

int stored_pages_add(struct stored_pages *store,
		     const struct trace_reader *reader, size_t index,
		     struct failure *why)
{
	const struct chunk_info *info = trace_reader_info(reader, index);

	if (info->size == 0 || info->size % GUEST_PAGE != 0 ||
	    info->size > PAGES_PER_CHUNK * GUEST_PAGE)
		return trace_reader_damaged(reader, index, ERR_CORRUPT,
					    "size", why);
	if (info->first != store->last + 1)
		return trace_reader_damaged(reader, index, ERR_CORRUPT,
					    "first page", why);
	if (store->count == store->capacity) {
		size_t capacity = store->capacity ? store->capacity * 2 : 256;
		struct page_chunk *chunks =
			realloc(store->chunks, capacity * sizeof(*chunks));

		if (!chunks)
			return failed(why, ERR_NO_MEMORY, "out of memory");
		store->chunks = chunks;
		store->capacity = capacity;
	}
	store->chunks[store->count++] = (struct page_chunk) {
		.first = info->first,
		.index = index,
	};
	store->last += info->size / GUEST_PAGE;
	return 0;
}

int stored_pages_find(const struct stored_pages *store,
		      const struct trace_reader *reader, uint64_t id,
		      size_t *position, struct failure *why)
{
	size_t low = 0, high = store->count;

	if (id == 0 || id > store->last)
		return failed(why, ERR_CORRUPT,
			      "'%s' names page %" PRIu64 ", but has only %" PRIu64,
			      trace_reader_path(reader), id, store->last);

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (store->chunks[middle].first <= id)
			low = middle;
		else
			high = middle;
	}
	*position = low;
	return 0;
}

/* Gives a place among the kept chunks: a new one, or that of an idle chunk. */
static size_t make_place(struct stored_pages *store)
{
	if (store->kept_count < STORED_PAGES_KEPT)
		return store->kept_count++;
	for (;;) {
		size_t place = store->hand;
		struct page_chunk *chunk = &store->chunks[store->kept[place]];

		store->hand = (place + 1) % STORED_PAGES_KEPT;
		if (!chunk->used) {
			free(chunk->bytes);
			chunk->bytes = NULL;
			return place;
		}
		chunk->used = false;
	}
}

int stored_pages_read(struct stored_pages *store,
		      const struct trace_reader *reader, uint64_t id,
		      uint8_t bytes[GUEST_PAGE], struct failure *why)
{
	struct page_chunk *chunk;
	uint8_t *unpacked;
	size_t position;
	int rc;

	if (id == 0) {
		memset(bytes, 0, GUEST_PAGE);
		return 0;
	}
	rc = stored_pages_find(store, reader, id, &position, why);
	if (rc)
		return rc;
	chunk = &store->chunks[position];
	if (!chunk->bytes) {
		rc = trace_reader_chunk(reader, chunk->index, &unpacked, why);
		if (rc)
			return rc;
		store->kept[make_place(store)] = (uint32_t)position;
		chunk->bytes = unpacked;
	}
	chunk->used = true;
	memcpy(bytes, chunk->bytes + (id - chunk->first) * GUEST_PAGE,
	       GUEST_PAGE);
	return 0;
}

void stored_pages_release(struct stored_pages *store)
{
	for (size_t i = 0; i < store->kept_count; i++)
		free(store->chunks[store->kept[i]].bytes);
	free(store->chunks);
	*store = (struct stored_pages) { 0 };
}
