/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stored_pages.c - see stored_pages.h */
#include "replayer/recording/stored_pages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/key_frame.h"
#include "formats/trace_file.h"

/* How many pages a chunk holds; 0 if it cannot be. */
static uint32_t count_pages(const struct chunk_info *info)
{
	return info->size <= PAGE_ITEMS_BYTES &&
			       info->stream <= PAGE_ITEMS_MOST ?
		       info->stream : 0;
}

int stored_pages_add(struct stored_pages *store,
		     const struct trace_reader *reader, size_t index,
		     struct failure *why)
{
	const struct chunk_info *info = trace_reader_info(reader, index);
	uint32_t count = count_pages(info);

	if (count == 0)
		return trace_reader_damaged(reader, index, ERR_CORRUPT,
					    "size", why);
	if (info->first != store->last + 1)
		return trace_reader_damaged(reader, index, ERR_CORRUPT,
					    "first page", why);
	if (array_room(store->chunks, store->count, store->capacity))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	store->chunks[store->count++] = (struct page_chunk) {
		.first = info->first,
		.index = index,
	};
	store->last += count;
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

/* ------- unpacking ------- */

int stored_pages_unpack(const struct stored_pages *store,
			const struct trace_reader *reader, size_t position,
			struct unpacker *unpacker, struct page_items *to,
			struct failure *why)
{
	const struct page_chunk *chunk = &store->chunks[position];
	const struct chunk_info *info =
		trace_reader_info(reader, chunk->index);
	int rc = trace_reader_unpack(reader, chunk->index, unpacker, to->bytes,
				     why);

	if (rc)
		return rc;
	rc = page_items_decode(to->list, info->stream, chunk->first, to->bytes,
			       info->size);
	return rc ? trace_reader_damaged(reader, chunk->index, rc, "pages",
					 why) : 0;
}

int stored_pages_too_many(const struct trace_reader *reader, uint64_t id,
			  struct failure *why)
{
	return failed(why, ERR_CORRUPT,
		      "'%s': page %" PRIu64 " is made of too many patches",
		      trace_reader_path(reader), id);
}

/* ------- those that are kept ------- */

/* Gives a place among the kept chunks: a new one, or that of an idle chunk. */
static size_t make_place(struct stored_pages *store)
{
	size_t most = store->kept_most ? store->kept_most : STORED_PAGES_KEPT;

	if (store->kept_count < most)
		return store->kept_count++;
	for (;;) {
		size_t place = store->hand;
		struct page_chunk *chunk = &store->chunks[store->kept[place]];

		store->hand = (place + 1) % most;
		if (!chunk->used) {
			free(chunk->items);
			chunk->items = NULL;
			return place;
		}
		chunk->used = false;
	}
}

static int open_chunk(struct stored_pages *store,
		      const struct trace_reader *reader, size_t position,
		      struct failure *why)
{
	struct page_chunk *chunk = &store->chunks[position];
	struct page_items *items;
	int rc;

	chunk->used = true;
	if (chunk->items)
		return 0;
	items = malloc(offsetof(struct page_items, list) +
		       trace_reader_info(reader, chunk->index)->stream *
			       sizeof(*items->list));
	if (!items)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = stored_pages_unpack(store, reader, position, &store->unpacker,
				 items, why);
	if (rc) {
		free(items);
		return rc;
	}
	store->kept[make_place(store)] = (uint32_t)position;
	chunk->items = items;
	return 0;
}

static int find_item(struct stored_pages *store,
		     const struct trace_reader *reader, uint64_t id,
		     const struct page_item **item, struct failure *why)
{
	const struct page_chunk *chunk;
	size_t position;
	int rc = stored_pages_find(store, reader, id, &position, why);

	if (!rc)
		rc = open_chunk(store, reader, position, why);
	if (rc)
		return rc;
	chunk = &store->chunks[position];
	*item = &chunk->items->list[id - chunk->first];
	return 0;
}

int stored_pages_apply(const struct stored_pages *store,
		       const struct trace_reader *reader, uint64_t id,
		       const struct page_place *place,
		       uint8_t bytes[GUEST_PAGE], struct failure *why)
{
	uint8_t whole[GUEST_PAGE];
	int rc;

	/* A file that is referred to must have the bytes. */
	if (!store->elsewhere.page)
		return failed(why, ERR_CORRUPT, "'%s': page %" PRIu64 " is not"
			      " stored there", trace_reader_path(reader), id);
	rc = store->elsewhere.page(store->elsewhere.context, place, whole, why);
	if (!rc)
		page_apply(whole, bytes);
	return rc;
}

int stored_pages_read(struct stored_pages *store,
		      const struct trace_reader *reader, uint64_t id,
		      uint8_t bytes[GUEST_PAGE], struct failure *why)
{
	const struct page_item *item;
	uint64_t at = id;
	unsigned patches = 0;

	memset(bytes, 0, GUEST_PAGE);
	for (; at; at = item->base) {
		int rc = find_item(store, reader, at, &item, why);

		if (rc)
			return rc;
		if (item->base && patches++ == PATCHES_MOST)
			return stored_pages_too_many(reader, id, why);
		if (!item->bytes)
			return stored_pages_apply(store, reader, at,
						  &item->place, bytes, why);
		/* In any order: they are changes. */
		page_item_apply(item, bytes);
	}
	return 0;
}

void stored_pages_release(struct stored_pages *store)
{
	for (size_t i = 0; i < store->kept_count; i++)
		free(store->chunks[store->kept[i]].items);
	free(store->chunks);
	unpacker_release(&store->unpacker);
	*store = (struct stored_pages) { 0 };
}
